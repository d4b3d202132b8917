// The page: an instance, a job, and a time line of what happened to it.
import * as api from "/api.js";
import { MapView } from "/map.js";
import { drawCurve, format } from "/curve.js";

const $ = (id) => document.getElementById(id);
const stage = $("stage"), map = new MapView($("map"));

let instance = { problem: "tsp", name: "drawn", coords: [], demands: [], capacity: 50, metric: "exact" };
let job = null;          // {id, abort, instance} while one runs; it belongs to its instance and is dropped with it
let opening = 0;         // counts files and generated instances, so that a late answer does not replace a newer one
let past = [];           // what Undo goes back to
let result = null;       // the last event of that job
let finished = null;     // id of the job whose solution can be downloaded
let steps = [];          // the policy's decisions: [node, [candidate], [probability], [radius]]
let shots = [];          // the improver's solutions: {t, length, routes}
let now = 0;             // position on the time line: 0..steps.length are decisions, then one place per shot
let playing = true;

// ---- instance ------------------------------------------------------------------------------------------------

const empty = () => ({ problem: chosenProblem(), name: "drawn", coords: [], demands: [], capacity: Number($("capacity").value), metric: "exact" });

// Everything that replaces the instance goes through here, so that everything can be undone.
function change(next, fit = true) {
  if (instance.coords.length || past.length) past.push({ instance, finished, result, steps, shots });
  if (past.length > 50) past.shift();
  show(next, fit);
}

function undo() {
  const last = past.pop();
  if (!last) return;
  show(last.instance, false);
  ({ finished, result, steps, shots } = last);
  now = total();
  if (shots.length) better(shots.pop());
  if (result) done(result);
  timeline();
  buttons();
}

function drop() {
  if (!job) return;
  const old = job;
  job = null;
  old.abort.abort();
  if (old.id) api.cancel(old.id).catch(() => { /* it ends by itself */ });
}

function show(next, fit = true) {
  drop();
  opening++;
  instance = next;
  result = null;
  say("");
  finished = null; steps = []; shots = []; now = 0;
  layOut();
  if (fit) map.fit();
  document.querySelector(`input[name=problem][value=${instance.problem}]`).checked = true;
  $("capacity-label").hidden = instance.problem !== "cvrp";
  if (instance.problem === "cvrp") $("capacity").value = instance.capacity;
  $("empty").hidden = instance.coords.length > 0;
  for (const id of ["length", "routes", "constructed", "gain", "elapsed"]) $(id).textContent = "-";
  document.querySelectorAll(".downloads button").forEach((b) => { b.disabled = true; });
  $("headline").textContent = instance.coords.length
    ? `${instance.name}: ${stops()} stops` : "Draw some stops, generate them, or drop a file. Then press Solve and watch.";
  timeline();
  buttons();
}

// Where the stops are drawn. On the globe, degrees of longitude shrink with the latitude, and the date line is crossed.
let narrow = 1;
function layOut() {
  const xy = Float64Array.from(instance.coords.flat());
  narrow = 1;
  if (instance.metric === "haversine" && xy.length) {
    let [x0, x1, y0, y1] = [Infinity, -Infinity, Infinity, -Infinity];
    for (let i = 0; i < xy.length; i += 2) {
      x0 = Math.min(x0, xy[i]); x1 = Math.max(x1, xy[i]); y0 = Math.min(y0, xy[i + 1]); y1 = Math.max(y1, xy[i + 1]);
    }
    narrow = Math.cos((y0 + y1) / 2 * Math.PI / 180);
    for (let i = 0; i < xy.length; i += 2) xy[i] = narrow * (x1 - x0 > 180 && xy[i] < 0 ? xy[i] + 360 : xy[i]);
  }
  map.setStops(xy, instance.problem === "cvrp");
}
const stops = () => (instance.coords.length - (instance.problem === "cvrp" ? 1 : 0)).toLocaleString("en");

// Drawing is a mode, so that a stray click changes nothing. A drawn stop counts 1, the depot nothing.
let drawing = false;
function setDrawing(on) {
  drawing = on;
  $("draw").setAttribute("aria-pressed", String(on));
  stage.classList.toggle("drawing", on);
}
function addStop(x, y) {
  if (!drawing) return;
  const next = { ...instance, coords: [...instance.coords, [x / narrow, y]] };
  if (instance.problem === "cvrp") next.demands = [...instance.demands, instance.coords.length ? 1 : 0];
  if (instance.labels) next.labels = [...instance.labels, `drawn ${next.coords.length}`];
  change(next, false);
}

function setProblem(problem) {
  if (problem === instance.problem) return;
  const told = instance.demands?.length === instance.coords.length && instance.coords.length > 0;
  const demands = told ? instance.demands : instance.coords.map((_, i) => i === 0 ? 0 : 1);
  change({ ...instance, problem, demands, capacity: Number($("capacity").value) });
  if (problem === "cvrp" && instance.coords.length && !told)
    say("There are no demands: every stop counts 1, and the first one is the depot.");
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
const chosenProblem = () => document.querySelector("input[name=problem]:checked").value;

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
    if (ticket === opening) change({ ...read, name: file.name.replace(/\.[a-z]+$/i, "") });
  });
}

// ---- solving -------------------------------------------------------------------------------------------------

async function solve() {
  if (job) return;
  if (!instance.coords.length) { say("There are no stops yet: open a file, generate some, or draw them.", true); return; }
  if (instance.problem === "cvrp") instance = { ...instance, capacity: Number($("capacity").value) };
  show(instance, false);
  setPlaying(true);
  setDrawing(false);
  stage.scrollIntoView({ block: "start" }); // on a phone the map is above the button
  const mine = job = { id: null, abort: new AbortController() };
  buttons();
  say("sending the stops");
  await guarded(async () => {
    try {
      const { id } = await api.submit({
        instance, rollouts: Number($("rollouts").value), time: Number($("time").value), seed: Number($("seed").value), watch: true,
      });
      mine.id = id;
      if (job !== mine) { await api.cancel(id); return; } // dropped before it had a name
      say("waiting for a place in the queue");
      await api.follow(id, (name, data) => { if (job === mine) event(name, data); }, mine.abort.signal);
      if (job === mine && !result) throw new Error("the server ended before the solution was there");
    } catch (e) {
      if (job === mine) throw e; // what becomes of a dropped job interests nobody
    } finally {
      if (job === mine) { job = null; buttons(); }
    }
  });
}

function event(name, data) {
  if (name === "steps") steps.push(...data.steps);
  else if (name === "solution") better({ t: data.elapsed, ...data });
  else if (name === "progress") say(`${data.stage}: ${data.elapsed.toFixed(1)} s${data.best == null ? "" : `, best ${format(data.best)}`}`);
  else if (name === "done") done(data);
  else if (name === "failed") { result = {}; say(data.message, true); }
  timeline();
}

function better({ t, length, routes, stage }) {
  shots.push({ t, length, routes, stage });
  $("constructed").textContent = format(shots[0].length);
  outcome(length, t, routes.length);
}

function outcome(length, seconds, routes) {
  $("length").textContent = format(length);
  $("gain").textContent = shots.length && shots[0].length > 0 ? `${(100 * (1 - length / shots[0].length)).toFixed(2)} %` : "-";
  $("elapsed").textContent = `${seconds.toFixed(2)} s`;
  $("routes").hidden = $("routes-term").hidden = instance.problem !== "cvrp";
  $("routes").textContent = routes;
}

function done(data) {
  result = data;
  finished = result.id;
  outcome(result.length, result.seconds.total, result.routes?.length ?? 1);
  document.querySelectorAll(".downloads button").forEach((b) => { b.disabled = false; });
  say(result.cancelled ? "cancelled: this is the best solution so far, checked" : "solved and checked");
}

async function cancel() { if (job?.id) await guarded(() => api.cancel(job.id)); }

async function download(format) {
  await guarded(async () => {
    const text = await api.download(finished, format);
    const ending = format === "solution" ? (instance.problem === "cvrp" ? "sol" : "tour") : format;
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([typeof text === "string" ? text : JSON.stringify(text)]));
    link.download = `${instance.name}.${ending}`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
}

// ---- time line -----------------------------------------------------------------------------------------------

const total = () => steps.length + shots.length;

function go(to, pause = true) {
  if (pause) setPlaying(false);
  now = Math.max(0, Math.min(total(), to));
  timeline();
}
function setPlaying(on) { playing = on; $("play").textContent = on ? "II" : "\u25B7"; }

function timeline() {
  $("scrub").max = total(); $("scrub").value = now;
  const shot = now > steps.length ? shots[now - steps.length - 1] : null;
  drawCurve($("curve"), shots, now - steps.length - 1);
  if (!total()) { $("moment").textContent = "nothing yet"; return; }
  if (shot) {
    map.setRoutes(shot.routes);
    $("moment").textContent = `${shot.stage} at ${shot.t.toFixed(2)} s: ${format(shot.length)}`;
  } else {
    const order = steps.slice(0, now).map((s) => s[0]);
    const next = now < steps.length ? steps[now] : null;
    const overlay = next && order.length
      ? { last: order.at(-1), candidates: next[1], probabilities: next[2], radii: next[3] } : null;
    map.setWalk(order, overlay);
    $("moment").textContent = `decision ${now} of ${steps.length}`;
  }
}

// Plays decisions so that a construction takes some seconds whatever its size, then one improvement a frame.
function tick() {
  if (playing && now < total()) {
    const stride = now < steps.length ? Math.max(1, Math.ceil(steps.length / 300)) : 1;
    now = now < steps.length ? Math.min(steps.length, now + stride) : now + 1;
    timeline();
  }
  requestAnimationFrame(tick);
}

// ---- wiring --------------------------------------------------------------------------------------------------

function say(text, bad = false) { $("status").textContent = text; $("status").classList.toggle("bad", bad); }
async function guarded(work) { try { await work(); } catch (e) { if (e.name !== "AbortError") say(e.message, true); } }
function buttons() { $("solve").disabled = !!job; $("cancel").disabled = !job; $("undo").disabled = !past.length; }

map.onclick = addStop;
document.querySelectorAll("input[name=problem]").forEach((r) => r.addEventListener("change", () => setProblem(r.value)));
$("generate").onclick = generate;
$("clear").onclick = () => change(empty());
$("draw").onclick = () => setDrawing(!drawing);
$("undo").onclick = undo;
$("file").onchange = (e) => { if (e.target.files[0]) open(e.target.files[0]); e.target.value = ""; };
$("solve").onclick = solve;
$("cancel").onclick = cancel;
$("first").onclick = () => go(0);
$("back").onclick = () => go(now - 1);
$("forward").onclick = () => go(now + 1);
$("final").onclick = () => go(total());
$("play").onclick = () => setPlaying(!playing);
$("scrub").oninput = (e) => go(Number(e.target.value));
$("zoom-in").onclick = () => map.zoom(1.4);
$("zoom-out").onclick = () => map.zoom(1 / 1.4);
$("zoom-fit").onclick = () => map.fit();
$("help-button").onclick = () => {
  $("help").hidden = !$("help").hidden;
  $("help-button").setAttribute("aria-expanded", String(!$("help").hidden));
};
document.querySelectorAll(".downloads button").forEach((b) => { b.onclick = () => download(b.dataset.format); });

stage.addEventListener("dragover", (e) => { e.preventDefault(); stage.classList.add("over"); });
stage.addEventListener("dragleave", () => stage.classList.remove("over"));
stage.addEventListener("drop", (e) => {
  e.preventDefault(); stage.classList.remove("over");
  if (e.dataTransfer.files[0]) open(e.dataTransfer.files[0]);
});

const KEYS = {
  Enter: solve, Escape: cancel, " ": () => setPlaying(!playing), ArrowLeft: () => go(now - 1), ArrowRight: () => go(now + 1),
  Home: () => go(0), End: () => go(total()), "+": () => map.zoom(1.4), "=": () => map.zoom(1.4), "-": () => map.zoom(1 / 1.4),
  0: () => map.fit(),
};
document.addEventListener("keydown", (e) => {
  if (e.key === "z" && (e.ctrlKey || e.metaKey) && !e.shiftKey && !/^(INPUT|SELECT)$/.test(e.target.tagName)) { e.preventDefault(); undo(); return; }
  if ($("ask").open) return;
  if (/^(INPUT|SELECT|BUTTON)$/.test(e.target.tagName) && e.key !== "Escape") return;
  const act = KEYS[e.key];
  if (act && !e.ctrlKey && !e.metaKey && !e.altKey) { e.preventDefault(); act(); }
});

setPlaying(true);
tick();
