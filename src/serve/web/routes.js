// The list of routes beside the map, the stop that is selected, and the sheets for the drivers.
import { colourOf } from "./map.js";
import * as units from "./units.js";

const $ = (id) => document.getElementById(id);

function element(tag, properties = {}, ...children) {
  const e = document.createElement(tag);
  for (const [key, value] of Object.entries(properties)) {
    if (key.startsWith("on")) e[key] = value;
    else if (value !== undefined && value !== false) e.setAttribute(key, value === true ? "" : value);
  }
  e.append(...children.filter((c) => c != null));
  return e;
}

function swatch(r) {
  const s = element("span", { class: "swatch", "aria-hidden": "true" });
  s.style.backgroundColor = colourOf(r);
  return s;
}

export class RouteList {
  // `on` has: light(r), open(r), lock(r), choose(node)
  constructor(plan, on) {
    this.plan = plan; this.on = on;
    this.opened = -1;
    this.chosen = -1;       // the stop that is selected,
    this.inList = false;    // in the list: its facts stand below it there, so that nothing moves away under the hand
    this.box = $("stop");
    this.home = this.box.nextElementSibling;
  }

  title(r) { return this.plan.vehicles ? `Van ${r + 1}` : "Tour"; }

  show() {
    const { plan } = this, list = $("route-list");
    $("routes-empty").hidden = Boolean(plan.routes);
    this.home.before(this.box);
    list.replaceChildren();
    if (!plan.routes) { this.opened = -1; return; }
    const many = plan.routes.length > 300 ? plan.routes.slice(0, 300) : plan.routes;
    many.forEach((_, r) => list.append(this.#item(r)));
    if (many.length < plan.routes.length) list.append(element("li", {}, `and ${plan.routes.length - many.length} more`));
    this.#place();
  }

  #item(r) {
    const { plan, on } = this, s = plan.summary(r), { instance } = plan, open = r === this.opened;
    const facts = [units.stops(s.stops)];
    if (s.length !== undefined) facts.push(units.length(instance, s.length));
    if (plan.carries) facts.push(`load ${units.load(s.load)} of ${units.load(instance.capacity)}`);
    if (s.time !== undefined) facts.push(`${units.moment(instance, s.from)} to ${units.moment(instance, s.to)} (${units.duration(instance, s.time)})`);
    const head = element("button", { type: "button", class: "route-head", "aria-expanded": String(open), onclick: () => on.open(open ? -1 : r) },
      swatch(r), element("b", {}, this.title(r)), element("span", { class: "facts" }, facts.join(" \u00b7 ")));
    const locked = plan.locked.has(r);
    const lock = plan.vehicles && plan.result ? element("button", { type: "button", class: "lock", "aria-pressed": String(locked),
      "aria-label": `Lock ${this.title(r)}`, title: "A locked route stays as it is when you solve again", onclick: () => on.lock(r) }, locked ? "locked" : "lock") : null;
    const item = element("li", { class: "route", "data-route": r, onmouseenter: () => on.light(r), onmouseleave: () => on.light(this.opened) },
      element("div", { class: "route-row" }, head, lock));
    head.onfocus = () => on.light(r);
    if (open) item.append(this.#stops(r));
    return item;
  }

  #stops(r) {
    const { plan, on } = this, { instance } = plan, told = plan.result?.stops?.[r];
    const at = new Map((told ?? []).slice(plan.vehicles ? 1 : 0).map((stop) => [stop.node, stop]));
    return element("ol", { class: "stops" }, ...plan.routes[r].slice(0, 500).map((node) => {
      const stop = at.get(node), facts = [];
      if (stop?.arrival != null) facts.push(units.moment(instance, stop.arrival + (stop.waiting ?? 0)));
      if (plan.vehicles && plan.demand(node)) facts.push(`load ${units.load(plan.demand(node))}`);
      if (stop && stop.arrival == null) facts.push(`at ${units.length(instance, stop.distance)}`);
      return element("li", {}, element("button", { type: "button", "data-node": node, onclick: () => on.choose(node, true) },
        element("span", { class: "name" }, plan.name(node)), element("span", { class: "facts" }, facts.join(" \u00b7 "))));
    }));
  }

  #place() {
    const item = this.inList && document.querySelector(`.stops [data-node="${this.chosen}"]`)?.closest("li");
    if (item) item.append(this.box); else this.home.before(this.box);
    document.querySelectorAll(".stops [aria-current]").forEach((b) => b.removeAttribute("aria-current"));
    document.querySelector(`.stops [data-node="${this.chosen}"]`)?.setAttribute("aria-current", "true");
  }

  // The routes lit up in the list when the map shows them.
  light(r) {
    document.querySelectorAll(".route").forEach((e) => e.classList.toggle("lit", Number(e.dataset.route) === r));
  }

  // Facts about one stop, and where it could go.
  showStop(node, inList = this.inList) {
    const { plan } = this, { instance } = plan;
    this.box.hidden = node < 0;
    this.chosen = node;
    this.inList = inList;
    this.#place();
    if (node < 0) return;
    const r = plan.routeOf(node), lines = [];
    const told = plan.result?.stops?.[r]?.find((s) => s.node === node);
    const window = instance.time_windows?.[node];
    if (r >= 0) lines.push(`stop ${plan.routes[r].indexOf(node) + 1} of ${this.title(r)}`);
    if (plan.carries && node) lines.push(`demand ${units.load(plan.demand(node))}`);
    if (window && (window[0] > 0 || window[1] != null)) lines.push(`open ${units.window(instance, window)}`);
    if (told?.arrival != null) lines.push(`arrival ${units.moment(instance, told.arrival)}${told.waiting > 0.5 ? `, waits ${units.duration(instance, told.waiting)}` : ""}, leaves ${units.moment(instance, told.departure)}`);
    $("stop-name").textContent = plan.name(node);
    $("stop-facts").textContent = lines.join(" \u00b7 ");
    $("stop-about").replaceChildren(...plan.about(node).map(([name, text]) => element("div", {}, element("dt", {}, name), element("dd", {}, text))));
    const movable = plan.vehicles && plan.result && node !== 0 && r >= 0 && !plan.locked.has(r);
    $("move").hidden = !movable;
    if (!movable) return;
    const options = plan.routes.map((_, k) => k).filter((k) => k !== r && !plan.locked.has(k));
    const known = plan.instance.coords.length <= 5000, about = (to) => known ? `, about ${units.difference(instance, plan.cost(node, to, (a, b) => units.distance(instance, a, b)))}` : "";
    $("move-to").replaceChildren(...options.map((k) => element("option", { value: k }, `${this.title(k)}${about(k)}`)),
      element("option", { value: plan.routes.length }, `a van of its own${about(plan.routes.length)}`));
  }
}

// One page per driver: the order of stops with times, loads and legs, and a sketch of the way.
export function makeSheets(plan) {
  const { instance } = plan, box = $("sheets");
  box.replaceChildren();
  if (!plan.result?.stops) return;
  plan.routes.forEach((_, r) => {
    const s = plan.summary(r), told = plan.result.stops[r], timed = told[0].departure != null;
    const windows = timed && instance.time_windows?.some((w, i) => i > 0 && w && (w[0] > 0 || w[1] != null));
    const columns = ["", "Stop", ...(timed ? ["Arrival"] : []), ...(windows ? ["Open"] : []), ...(plan.carries ? ["Load"] : []), "Way", ""];
    const cell = (text, properties = {}) => element("td", properties, text);
    const rows = told.map((stop, k) => {
      const ends = plan.vehicles && stop.node === 0, again = !plan.vehicles && k > 0 && k === told.length - 1 && stop.node === told[0].node;
      const what = element("td", {}, element("b", {}, plan.name(stop.node)));
      if (!ends && !again) for (const [name, text] of plan.about(stop.node)) what.append(element("div", {}, /^(address|adresse|street|phone|telefon|tel)/i.test(name) ? text : `${name}: ${text}`));
      return element("tr", {}, cell(ends || again ? "" : String(plan.vehicles ? k : k + 1)), what,
        ...(timed ? [cell(units.moment(instance, k ? stop.arrival + (stop.waiting ?? 0) : stop.departure))] : []),
        ...(windows ? [cell(ends ? "" : units.window(instance, instance.time_windows[stop.node]))] : []),
        ...(plan.carries ? [cell(ends ? "" : units.load(plan.demand(stop.node)))] : []),
        cell(k ? units.length(instance, stop.leg) : ""), cell("", { class: ends || again ? "" : "tick" }));
    });
    const facts = [units.stops(s.stops), units.length(instance, s.length)];
    if (plan.carries) facts.push(`load ${units.load(s.load)} of ${units.load(instance.capacity)}`);
    if (timed) facts.push(`${units.moment(instance, s.from)} to ${units.moment(instance, s.to)}`);
    box.append(element("section", { class: "sheet" }, element("h2", {}, `${plan.vehicles ? `Van ${r + 1}` : "Tour"}: ${instance.name}`),
      element("p", {}, facts.join(" \u00b7 ")), sketch(plan, r),
      element("table", {}, element("thead", {}, element("tr", {}, ...columns.map((t) => element("th", {}, t)))), element("tbody", {}, ...rows))));
  });
}

function sketch(plan, r) {
  const narrow = plan.instance.metric === "haversine" ? Math.cos(plan.instance.coords[0][1] * Math.PI / 180) : 1;
  const at = (node) => { const [x, y] = plan.instance.coords[node]; return [x * narrow, -y]; };
  const order = plan.vehicles ? [0, ...plan.routes[r], ...(plan.instance.open ? [] : [0])] : [...plan.routes[r], plan.routes[r][0]], points = order.map(at);
  const xs = points.map((p) => p[0]), ys = points.map((p) => p[1]), x0 = Math.min(...xs), y0 = Math.min(...ys);
  const k = Math.min(640 / Math.max(1e-12, Math.max(...xs) - x0), 200 / Math.max(1e-12, Math.max(...ys) - y0));
  const svg = (tag, properties, text) => {
    const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [key, value] of Object.entries(properties)) e.setAttribute(key, value);
    if (text) e.textContent = text;
    return e;
  };
  const place = ([x, y]) => [12 + k * (x - x0), 12 + k * (y - y0)], root = svg("svg", { viewBox: "0 0 664 224", role: "img", "aria-label": "Sketch of the way" });
  root.append(svg("polyline", { points: points.map((p) => place(p).map((v) => v.toFixed(1)).join(",")).join(" "), fill: "none", stroke: "#555", "stroke-width": 1.5 }));
  if (plan.vehicles) {
    const [x, y] = place(at(0));
    root.append(svg("rect", { x: x - 6, y: y - 6, width: 12, height: 12, fill: "#000" }));
  }
  if (plan.routes[r].length <= 80) plan.routes[r].forEach((node, i) => {
    const [x, y] = place(at(node));
    root.append(svg("circle", { cx: x, cy: y, r: 7, fill: "#fff", stroke: "#000" }), svg("text", { x, y: y + 3, "font-size": 8, "text-anchor": "middle" }, String(i + 1)));
  });
  return root;
}
