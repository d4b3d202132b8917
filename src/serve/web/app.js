// The page: what the person does, what the solver says, and what is shown of it.
import * as api from "./api.js";
import { MapView } from "./map.js";
import { Plan, EMPTY, placed, toSend } from "./plan.js";
import { RouteList, makeSheets } from "./routes.js";
import { Film } from "./film.js";
import { fillFields, limitsOf } from "./fields.js";
import { makeZip } from "./zip.js";
import * as units from "./units.js";

const $ = (id) => document.getElementById(id);
const stage = $("stage"), plan = new Plan(), map = new MapView($("map")), film = new Film(plan, map);
const list = new RouteList(plan, { light, open: openRoute, lock: toggleLock, choose: chooseStop });

let job = null;        // {id, abort} while one runs; it belongs to its instance and is dropped with it
let opening = 0;       // counts what was opened, so that a late answer does not replace a newer one
let drawing = false;
let chosen = -1;       // the selected stop

// ---- showing -------------------------------------------------------------------------------------------------

function showAll(fit) {
  const { instance } = plan, named = instance.coords.length <= 60 && (instance.labels || plan.vehicles);
  map.setInstance(instance, named ? (node) => instance.labels?.[node] ?? (plan.vehicles && node === 0 ? "Depot" : "") : null);
  if (fit) map.fit();
  chosen = -1;
  fillFields(instance);
  $("empty").hidden = instance.coords.length > 0;
  $("headline").textContent = instance.coords.length ? `${instance.name}: ${units.stops(plan.stops)}` : "Open a table of stops, then press Solve.";
  showSolution();
}

function showSolution() {
  const { instance, result, shots } = plan, last = shots.at(-1), length = result?.length ?? last?.length;
  $("length").textContent = length == null ? "-" : units.length(instance, length);
  $("elapsed").textContent = result ? `${result.seconds.total.toFixed(1)} s` : last ? `${last.t.toFixed(1)} s` : "-";
  $("routes-term").hidden = !plan.vehicles;
  $("routes").textContent = plan.routes?.length ?? "-";
  $("constructed").textContent = shots.length ? units.length(instance, shots[0].length) : "-";
  $("gain").textContent = shots.length && shots[0].length > 0 ? `${(100 * (1 - length / shots[0].length)).toFixed(2)} %` : "-";
  const hours = result?.stops?.[0]?.[0]?.departure == null ? null : plan.routes.reduce((sum, _, r) => sum + plan.summary(r).time, 0);
  $("hours-term").hidden = hours == null;
  $("hours").textContent = hours == null ? "-" : units.duration(instance, hours);
  $("take").hidden = !result;
  $("print").disabled = !result?.stops;
  $("drivers").hidden = !plan.vehicles;
  document.querySelectorAll("[data-globe]").forEach((b) => { b.disabled = instance.metric !== "haversine"; });
  if (film.shown) film.show(); else { film.show(); map.setRoutes(plan.routes); }
  list.show();
  list.showStop(chosen);
  map.choose(chosen);
  light(list.opened);
  buttons();
}

function buttons() {
  document.body.classList.toggle("planned", Boolean(plan.routes || job)); // on a phone the list has no place before
  $("solve").disabled = !!job; $("cancel").disabled = !job; $("undo").disabled = !plan.past.length;
  $("improve").hidden = !plan.result; $("improve").disabled = !!job;
  $("move-button").disabled = !!job;
}

function say(text, bad = false) { $("status").textContent = text; $("status").classList.toggle("bad", bad); }
async function guarded(work) { try { await work(); } catch (e) { if (e.name !== "AbortError") say(e.message, true); } }

function light(r) { map.light(film.shown ? -1 : r); list.light(r); }
function openRoute(r) {
  list.opened = r;
  list.show();
  light(r);
  document.querySelector(`.route[data-route="${r}"] .route-head`)?.focus();
}
function chooseStop(node, inList = false) {
  chosen = node;
  list.showStop(node, inList);
  map.choose(node);
}

// ---- the instance --------------------------------------------------------------------------------------------

// Whatever replaces the instance ends its job, takes its message away, and can be undone.
function drop() {
  opening++;
  say("");
  if (!job) return;
  const old = job;
  job = null;
  old.abort.abort();
  if (old.id) api.cancel(old.id).catch(() => { /* it ends by itself */ });
}
function change(next, fit = true) {
  drop();
  plan.replace(next);
  list.opened = -1;
  film.rewind();
  api.setHash("job", null);
  showAll(fit);
}
function undo() {
  drop();
  if (!plan.undo()) return;
  film.now = film.total;
  list.opened = -1;
  api.setHash("job", plan.id);
  showAll(false);
}

const chosenProblem = () => document.querySelector("input[name=problem]:checked").value;

function setDrawing(on) {
  drawing = on;
  $("draw").setAttribute("aria-pressed", String(on));
  stage.classList.toggle("drawing", on);
  map.crosshair = on && document.activeElement === map.canvas;
  map.refresh();
}
// A drawn stop counts 1, the depot nothing.
function addStop(x, y) {
  const instance = limitsOf(plan.instance); // what was typed stays
  if (instance.distances) { say("Stops cannot be added: their distances would be missing in the matrix.", true); return; }
  const next = { ...instance, coords: [...instance.coords, [x, y]] };
  if (plan.vehicles && instance.demands) next.demands = [...instance.demands, instance.coords.length ? 1 : 0];
  if (instance.labels) next.labels = [...instance.labels, `drawn ${next.coords.length}`];
  if (Array.isArray(instance.service)) next.service = [...instance.service, 0];
  if (instance.time_windows) next.time_windows = [...instance.time_windows, null];
  if (instance.table?.rows) next.table = { ...instance.table, rows: [...instance.table.rows, instance.table.columns.map(() => "")] };
  change(next, false);
}

function setProblem(problem) {
  if (problem === plan.instance.problem) return;
  const instance = limitsOf(plan.instance);
  const told = instance.demands?.length === instance.coords.length && instance.coords.length > 0;
  const demands = told ? instance.demands : instance.coords.map((_, i) => i === 0 ? 0 : 1);
  change({ ...instance, problem, demands, capacity: Number($("capacity").value) });
  if (problem === "cvrp" && instance.coords.length && !told) say("There are no demands: every stop counts 1, and the first one is the depot.");
}

async function generate() {
  const ticket = ++opening;
  await guarded(async () => {
    const made = await api.generate({
      problem: chosenProblem(), distribution: $("dist").value, size: Number($("size").value),
      capacity: Number($("capacity").value), seed: Math.floor(Math.random() * 1e9),
    });
    if (ticket === opening) change(made);
  });
}

// A table with demands that does not say the capacity: asked for, never assumed.
function askCapacity(name) {
  const dialog = $("ask");
  $("ask-text").textContent = `${name} has demands but no capacity. How much does one vehicle carry?`;
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "ok" ? Number($("ask-value").value) : 0), { once: true });
  });
}
async function open(file) {
  const ticket = ++opening;
  await guarded(async () => {
    let read;
    try { read = await api.parse(file); }
    catch (e) {
      if (e.needs !== "capacity" || ticket !== opening) throw e;
      const capacity = await askCapacity(file.name);
      if (!capacity) return;
      read = await api.parse(file, capacity);
    }
    if (ticket !== opening) return;
    change({ ...placed(read), name: file.name.replace(/\.[a-z]+$/i, "") });
    if (!read.coords) say("There are no coordinates, only distances: the stops are drawn on a circle.");
  });
}

// Distances or travel times of the stops that are there, from a matrix.
async function openMatrix(kind, file) {
  const ticket = ++opening, { instance } = plan, n = instance.coords.length;
  await guarded(async () => {
    const { distances } = await api.parse(file);
    if (ticket !== opening) return;
    if (!distances) throw new Error(`${file.name}: expected a matrix of ${n} rows of ${n} numbers`);
    if (distances.length !== n) throw new Error(`${file.name}: expected a matrix with a row for each of the ${n} places, in the order of the table; it has ${distances.length}`);
    change({ ...limitsOf(instance), [kind]: distances });
  });
}

// ---- solving -------------------------------------------------------------------------------------------------

// Submits a job and follows it to its end; on(name, data) hears of it as long as it is the page's job.
async function run(request, on) {
  const mine = job = { id: null, abort: new AbortController() };
  buttons();
  try {
    const { id } = await api.submit(request);
    mine.id = id;
    if (job !== mine) { await api.cancel(id); return false; } // dropped before it had a name
    await follow(mine, on);
    return job === mine;
  } catch (e) {
    if (job === mine) throw e; // what becomes of a dropped job interests nobody
    return false;
  } finally {
    if (job === mine) { job = null; buttons(); }
  }
}
async function follow(mine, on) {
  let ended = false;
  await api.follow(mine.id, (name, data) => {
    if (job !== mine) return;
    ended ||= name === "done" || name === "failed";
    on(name, data);
  }, mine.abort.signal);
  if (job === mine && !ended) throw new Error("it ended before the solution was there");
}

// `on`: from the routes that are there; otherwise from nothing, unless some are locked.
async function solve(on = false) {
  if (job) return;
  if (!plan.instance.coords.length) { say("There are no stops yet: open a file, generate some, or draw them.", true); return; }
  const start = plan.result && (on || plan.locked.size) ? plan.routes : null, locked = [...plan.locked];
  drop();
  if (plan.result) plan.keep();
  plan.instance = limitsOf(plan.instance);
  plan.clearSolution();
  if (start) { plan.from = true; plan.routes = start; plan.locked = new Set(locked); }
  setDrawing(false);
  list.opened = -1;
  film.rewind();
  showAll(false);
  window.scrollTo(0, 0); // on a phone the map is above
  say("sending the stops");
  await guarded(async () => {
    const request = { instance: toSend(plan.instance), time: Number($("time").value), seed: Number($("seed").value), rollouts: Number($("rollouts").value), watch: true };
    if (Number($("stop-after").value) > 0) request.stop_after = Number($("stop-after").value);
    if (Number($("temperature").value) > 0) request.temperature = Number($("temperature").value);
    if (start) Object.assign(request, { start, locked });
    await run(request, (name, data) => event(name, data, locked.length));
  });
}

function event(name, data, locks = 0) {
  if (name === "steps") { plan.steps.push(...data.steps); film.show(); return; }
  if (name === "solution") {
    if (!plan.shots.length && plan.steps.length < plan.stops) plan.steps = []; // the policy had no time, and others built them
    plan.shots.push({ t: data.elapsed, length: data.length, routes: data.routes, stage: data.stage });
    plan.routes = data.routes;
    if (locks) plan.locked = new Set([...Array(locks).keys()]); // locked routes come first
    showSolution();
  } else if (name === "progress") {
    if (job?.id) api.setHash("job", job.id);
    say(`${data.stage}: ${data.elapsed.toFixed(1)} s${data.best == null ? "" : `, best ${units.length(plan.instance, data.best)}`}`);
  } else if (name === "done") {
    plan.accept(data);
    if (locks) plan.locked = new Set([...Array(locks).keys()]);
    api.setHash("job", data.id);
    say(data.cancelled ? "cancelled: this is the best solution so far, checked" : "solved and checked");
    showSolution();
  } else if (name === "failed") {
    say(data.message, true);
    showSolution();
    const [, node] = /\bstop (\d+)\b/.exec(data.message) ?? []; // the one that cannot be served
    if (plan.vehicles && Number(node) < plan.instance.coords.length) chooseStop(Number(node));
  }
}

async function cancel() { if (job?.id) await guarded(() => api.cancel(job.id)); }

function toggleLock(r) {
  if (job) return;
  if (!plan.locked.delete(r)) plan.locked.add(r);
  list.show();
  list.showStop(chosen);
  light(list.opened);
  document.querySelector(`.route[data-route="${r}"] .lock`)?.focus();
}

// The server checks and measures the changed routes; what it refuses is not done.
async function moveStop() {
  const node = chosen, to = Number($("move-to").value), before = plan.result.length, { instance } = plan;
  const { routes, locked } = plan.moved(node, to, (a, b) => units.distance(instance, a, b));
  let refused = null;
  say("");
  await guarded(async () => {
    const whole = await run({ instance: toSend(limitsOf(instance)), time: 0, start: routes }, (name, data) => {
      if (name === "failed") refused = data.message.replace(/^.*does not fit the instance: /, "");
      if (name !== "done") return;
      plan.keep();
      plan.accept(data);
      plan.locked = locked;
      plan.shots = []; plan.steps = []; plan.from = true;
    });
    if (!whole) return;
    if (refused) { say(`${plan.name(node)} cannot move there: ${refused}`, true); return; }
    api.setHash("job", plan.id);
    showSolution();
    say(`${plan.name(node)} moved: ${units.difference(instance, plan.result.length - before)}`);
  });
}

async function download(format) {
  await guarded(async () => {
    const ending = format === "solution" ? (plan.vehicles ? "sol" : "tour") : format;
    saveAs(format === "zip" ? await lists() : await api.download(plan.id, format), `${plan.instance.name}.${ending}`);
  });
}
function saveAs(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
// What -o FOLDER/ writes, as one file: all stops, the summary, and a list for each van.
async function lists() {
  const digits = String(plan.routes.length).length;
  const names = [["stops.csv", "csv"], ["summary.csv", "summary"], ...plan.routes.map((_, r) => [`route-${String(r + 1).padStart(digits, "0")}.csv`, "csv", r + 1])];
  const files = [];
  for (const [name, ...what] of names) files.push([name, new Uint8Array(await (await api.download(plan.id, ...what)).arrayBuffer())]);
  return makeZip(files);
}

// A link to a job brings its stops and its routes back, also while it is still solved.
async function restore(id) {
  await guarded(async () => {
    const instance = placed(await api.instance(id));
    drop();
    plan.instance = instance;
    plan.clearSolution();
    showAll(true);
    const mine = job = { id, abort: new AbortController() };
    buttons();
    try { await follow(mine, event); } finally { if (job === mine) { job = null; buttons(); } }
  });
}

// ---- wiring --------------------------------------------------------------------------------------------------

function showTab(name) {
  film.shown = name === "film";
  for (const tab of ["plan", "film"]) {
    $(`tab-${tab}`).setAttribute("aria-selected", String(tab === name));
    $(`tab-${tab}`).tabIndex = tab === name ? 0 : -1;
    $(tab).hidden = tab !== name;
  }
  showSolution();
}
for (const [tab, other] of [["plan", "film"], ["film", "plan"]]) {
  $(`tab-${tab}`).onclick = () => showTab(tab);
  $(`tab-${tab}`).onkeydown = (e) => { if (/^Arrow(Left|Right)$/.test(e.key)) { showTab(other); $(`tab-${other}`).focus(); } };
}

map.onclick = (x, y, node) => {
  if (drawing) { addStop(x, y); return; }
  if (film.shown || node < 0) { chooseStop(-1); return; }
  const r = plan.routeOf(node);
  chooseStop(node);
  if (r >= 0 && r !== list.opened) { list.opened = r; list.show(); light(r); }
};
map.onhover = (node, px, py) => {
  $("tip").hidden = node < 0 || drawing;
  if (film.shown) return;
  const r = node < 0 ? -1 : plan.routeOf(node);
  light(r < 0 ? list.opened : r);
  if (node < 0) return;
  $("tip").textContent = plan.name(node) + (r >= 0 ? `, ${list.title(r)}` : "");
  $("tip").style.left = `${Math.min(px + 14, map.width - 140)}px`;
  $("tip").style.top = `${py + 14}px`;
};
map.canvas.addEventListener("focus", () => { map.crosshair = drawing && map.canvas.matches(":focus-visible"); map.refresh(); });
map.canvas.addEventListener("blur", () => { map.crosshair = false; map.refresh(); });

document.querySelectorAll("input[name=problem]").forEach((r) => r.addEventListener("change", () => setProblem(r.value)));
$("generate").onclick = generate;
$("clear").onclick = () => change({ ...EMPTY, problem: chosenProblem(), capacity: Number($("capacity").value) });
$("draw").onclick = () => setDrawing(!drawing);
$("undo").onclick = undo;
$("file").onchange = (e) => { if (e.target.files[0]) open(e.target.files[0]); e.target.value = ""; };
for (const kind of ["distances", "durations"])
  $(kind).onchange = (e) => { if (e.target.files[0]) openMatrix(kind, e.target.files[0]); e.target.value = ""; };
$("solve").onclick = () => solve();
$("improve").onclick = () => solve(true);
$("cancel").onclick = cancel;
$("move-button").onclick = moveStop;
$("print").onclick = () => { makeSheets(plan); window.print(); };
window.addEventListener("beforeprint", () => makeSheets(plan));
$("zoom-in").onclick = () => map.zoom(1.4);
$("zoom-out").onclick = () => map.zoom(1 / 1.4);
$("zoom-fit").onclick = () => map.fit();
$("help-button").onclick = () => {
  $("help").hidden = !$("help").hidden;
  $("help-button").setAttribute("aria-expanded", String(!$("help").hidden));
};
document.querySelectorAll("[data-format]").forEach((b) => { b.onclick = () => download(b.dataset.format); });

stage.addEventListener("dragover", (e) => { e.preventDefault(); stage.classList.add("over"); });
stage.addEventListener("dragleave", () => stage.classList.remove("over"));
stage.addEventListener("drop", (e) => {
  e.preventDefault(); stage.classList.remove("over");
  if (e.dataTransfer.files[0]) open(e.dataTransfer.files[0]);
});

const step = (dx, dy, by) => () => { if (film.shown && by) film.go(film.now + by); else map.pan(dx, dy); };
const KEYS = {
  Enter: () => { if (drawing) addStop(...map.place()); else solve(); }, Escape: () => { if (drawing) setDrawing(false); else cancel(); },
  " ": () => film.play(!film.playing), ArrowLeft: step(40, 0, -1), ArrowRight: step(-40, 0, 1), ArrowUp: step(0, 40), ArrowDown: step(0, -40),
  Home: () => film.go(0), End: () => film.go(film.total), "+": () => map.zoom(1.4), "=": () => map.zoom(1.4), "-": () => map.zoom(1 / 1.4), 0: () => map.fit(),
};
document.addEventListener("keydown", (e) => {
  const field = /^(INPUT|SELECT)$/.test(e.target.tagName);
  if (e.key === "z" && (e.ctrlKey || e.metaKey) && !e.shiftKey && !field) { e.preventDefault(); undo(); return; }
  if ($("ask").open || ((field || /^(BUTTON|SUMMARY)$/.test(e.target.tagName)) && e.key !== "Escape")) return;
  const act = KEYS[e.key];
  if (act && !e.ctrlKey && !e.metaKey && !e.altKey) { e.preventDefault(); act(); }
});

api.config().then(({ tiles, tiles_credit }) => {
  if (!tiles) return;
  map.ground.url = tiles;
  $("credit").hidden = false;
  $("credit").textContent = tiles_credit ?? `Map: ${new URL(tiles.replace(/[{}]/g, "")).host}`;
  map.refresh();
}).catch(() => { /* without one there is the grid */ });

window.addEventListener("hashchange", () => { const id = api.hash("job"); if (id && id !== plan.id && id !== job?.id) restore(id); });
$("where").textContent = api.where;
$("time").value = api.seconds;
showAll(true);
if (api.hash("job")) restore(api.hash("job"));
