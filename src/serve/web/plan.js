// The plan: an instance, its solution, what is locked, and the way back. Nothing here touches the page.

// Columns that are told elsewhere: demands, windows, limits. As in csv_columns.c, for the common names.
const RULES = /^(demand|menge|qty|quantity|amount|weight|gewicht|load|volume|packages|parcels|pakete|.*capacity|kapazit.t|service.*|standzeit|open|close|opens|closes|earliest|latest|tw_.*|window_.*|ready_time|due_date|start_time|end_time|von|bis|vehicles|vans|trucks|drivers|fahrzeuge|max_.*|speed.*|kmh)$/i;

export const EMPTY = { problem: "tsp", name: "drawn", coords: [], demands: [], capacity: 50, metric: "exact" };

// A matrix without places is drawn on a circle; the circle is not part of the problem.
export function placed(instance) {
  if (instance.coords) return instance;
  const n = instance.distances.length, at = (i) => [Math.sin(2 * Math.PI * i / n), Math.cos(2 * Math.PI * i / n)];
  return { ...instance, metric: "exact", coords: Array.from({ length: n }, (_, i) => at(i)), placeless: true };
}

// Members for routes, and for one tour: a problem has only its own.
const ROUTES_ONLY = ["demands", "capacity", "vehicles", "max_length", "max_duration", "max_stops", "service", "time_windows", "speed", "clock"];
const TOUR_ONLY = ["start_node", "end_node"];

// The problem as the solver gets it.
export function toSend(instance) {
  const { remarks: _, placeless, ...problem } = instance;
  if (placeless) { delete problem.coords; delete problem.metric; }
  for (const name of instance.problem === "cvrp" ? TOUR_ONLY : ROUTES_ONLY) delete problem[name];
  return problem;
}

export class Plan {
  constructor() {
    this.instance = EMPTY;
    this.clearSolution();
    this.past = [];
  }

  clearSolution() {
    this.result = null;       // the last event of the job: lengths, routes, stops
    this.routes = null;       // [[node]], also while a job still improves them
    this.from = false;        // solved on from routes that were there
    this.steps = [];          // the policy's decisions: [node, [candidate], [probability], [radius]]
    this.shots = [];          // solutions on the way: {t, length, routes, stage}
    this.locked = new Set();  // indices of routes
    this.id = null;           // job whose solution can be downloaded
  }

  get vehicles() { return this.instance.problem === "cvrp"; }
  get carries() { return this.vehicles && Boolean(this.instance.demands && this.instance.capacity); }
  get stops() { return this.instance.coords.length - (this.vehicles && this.instance.coords.length ? 1 : 0); }
  name(node) { return this.instance.labels?.[node] || (this.vehicles && node === 0 ? "Depot" : `Stop ${this.vehicles ? node : node + 1}`); }
  demand(node) { return this.instance.demands?.[node] ?? 0; }
  routeOf(node) { return this.routes ? this.routes.findIndex((r) => r.includes(node)) : -1; }

  // Remembers how things are before they change.
  keep() {
    if (!this.instance.coords.length && !this.past.length) return;
    const { instance, result, routes, from, steps, shots, id } = this;
    this.past.push({ instance, result, routes, from, steps, shots, id, locked: new Set(this.locked) });
    if (this.past.length > 50) this.past.shift();
  }
  undo() {
    const last = this.past.pop();
    if (last) Object.assign(this, last);
    return Boolean(last);
  }

  replace(instance) { this.keep(); this.instance = instance; this.clearSolution(); }

  accept(result) {
    this.result = result;
    this.routes = result.routes ?? [result.tour.map((node) => node - 1)];
    this.id = result.id;
  }

  // What the table says of a stop beyond what routes need: [[column, text], ...].
  about(node) {
    const { columns = [], rows = [] } = this.instance.table ?? {};
    return columns.map((name, k) => [name, String(rows[node]?.[k] ?? "")]).filter(([name, text]) => text && !RULES.test(name.trim()));
  }

  // One line per route: number of stops, length, load, time.
  summary(r) {
    const told = this.result?.stops?.[r], route = this.routes[r];
    const load = route.reduce((sum, node) => sum + this.demand(node), 0);
    if (!told) return { stops: route.length, load };
    const first = told[0], last = told.at(-1);
    return { stops: route.length, load, length: last.distance, from: first.departure, to: last.arrival,
             time: last.arrival != null ? last.arrival - first.departure : undefined };
  }

  // What moving a stop there adds to the length, about: windows and matrices are the solver's business.
  cost(node, to, distance) {
    const ends = (route) => this.vehicles ? [0, ...route, ...(this.instance.open ? [] : [0])] : [...route, route[0]];
    const long = (route) => { const at = ends(route); let sum = 0; for (let i = 0; i + 1 < at.length; i++) sum += distance(at[i], at[i + 1]); return sum; };
    const from = this.routeOf(node), { routes } = this.moved(node, to, distance, true);
    const before = long(this.routes[from]) + (to < this.routes.length ? long(this.routes[to]) : 0);
    return (routes[from].length ? long(routes[from]) : 0) + long(routes[to]) - before;
  }

  // The routes with a stop moved to where it adds least to another one (index == routes.length: a route of its own).
  moved(node, to, distance, all = false) {
    const routes = this.routes.map((r) => r.filter((n) => n !== node));
    if (to === routes.length) routes.push([node]);
    else {
      const route = routes[to], ends = this.vehicles ? [0, ...route, 0] : [...route, route[0]];
      let best = Infinity, place = 0;
      for (let i = 0; i + 1 < ends.length; i++) {
        const more = distance(ends[i], node) + distance(node, ends[i + 1]) - distance(ends[i], ends[i + 1]);
        if (more < best) { best = more; place = this.vehicles ? i : i + 1; }
      }
      route.splice(place, 0, node);
    }
    if (all) return { routes }; // emptied ones too
    // Locks follow their routes when an emptied one goes.
    const locked = new Set(), kept = [];
    routes.forEach((route, r) => {
      if (!route.length) return;
      if (this.locked.has(r)) locked.add(kept.length);
      kept.push(route);
    });
    return { routes: kept, locked };
  }
}
