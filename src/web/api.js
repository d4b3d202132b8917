// The calls of the server's api.js without a server: two workers answer them, one that solves and one for everything
// that must not wait for it. Nothing leaves the browser.
import { Engine } from "./engine.js";
import { find, keep } from "./kept.js";
import { drawSvg } from "./svg.js";
export { hash, setHash } from "./address.js";

export const seconds = 10; // what the page suggests: one core, and a few times slower
export const where = "Solved in this browser: nothing is uploaded, and it works offline. Uses one core; invit serve uses them all. " +
  "Links to a solution (#job=) work in this browser only, and there is no map behind the grid.";

let desk = null, solver = null;
const atDesk = (name, args) => (desk ??= new Engine()).call(name, args);

export const generate = (what) => atDesk("generate", [JSON.stringify(what)]);
export const parse = async (file, capacity) => atDesk("parse", [await file.arrayBuffer(), file.name, capacity || 0]);
export const config = async () => ({ tiles: null });

// ---- jobs ----

const jobs = new Map();

class Job {
  constructor(id, request, events = []) {
    this.id = id; this.request = request;
    this.events = events;           // [name, data]
    this.ended = events.length > 0;
    this.began = performance.now();
    this.waiting = [];
  }
  tell(name, data) {
    this.events.push([name, data]);
    this.ended ||= name === "done" || name === "failed";
    this.waiting.splice(0).forEach((wake) => wake());
  }
  get routes() { return this.events.findLast(([name]) => name === "solution")?.[1].routes ?? null; }
  get result() { return this.events.findLast(([name]) => name === "done")?.[1]; }
}

const newId = () => [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, "0")).join("");

async function solve(job, request, stopped) {
  try {
    const done = await (solver ??= new Engine()).call("solve", [JSON.stringify(request), job.id, stopped ? 1 : 0],
      (name, data) => { if (!stopped || name !== "solution" || !job.routes) job.tell(name, data); });
    if (stopped) done.seconds.total = (performance.now() - job.began) / 1000;
    job.tell("done", done);
    await keep({ id: job.id, request: { instance: job.request.instance }, events: job.events.filter(([name]) => name === "done") })
      .catch(() => { /* private windows have no store: the job lives as long as the page */ });
  } catch (e) {
    if (e.name === "AbortError") return; // stopped: the next worker goes on with it
    solver?.end();
    solver = null;
    job.tell("failed", { message: e.message });
  }
}

export async function submit(request) {
  const job = new Job(newId(), request);
  jobs.set(job.id, job);
  solve(job, request, false);
  return { id: job.id };
}

// Ends the worker; a new one checks and measures the best routes so far, or constructs some quickly when there are none.
export async function cancel(id) {
  const job = jobs.get(id);
  if (!job || job.ended || job.stopped) return;
  job.stopped = true;
  solver?.end();
  solver = new Engine();
  const { routes, request } = job, locked = (request.locked ?? []).map((_, i) => i); // locked routes come first
  solve(job, routes ? { ...request, start: routes, ...(locked.length ? { locked } : {}) } : request, true);
}

async function get(id) {
  const kept = jobs.get(id) ?? await find(id).catch(() => null);
  if (!kept) throw new Error("this browser does not have that solution (any more); links work where they were solved");
  if (!(kept instanceof Job)) jobs.set(id, new Job(id, kept.request, kept.events));
  return jobs.get(id);
}
export const instance = async (id) => (await get(id)).request.instance;

export async function follow(id, on, signal) {
  const job = await get(id);
  for (let next = 0; !signal?.aborted;) {
    while (next < job.events.length && !signal?.aborted) on(...job.events[next++]);
    if (job.ended) return;
    await new Promise((wake) => { job.waiting.push(wake); signal?.addEventListener("abort", wake, { once: true }); });
  }
}

export async function download(id, format, route = 0) {
  const { request, result } = await get(id), { instance } = request;
  const start = result.routes ?? [result.tour.map((node) => node - 1)];
  if (format === "svg") return new Blob([drawSvg(instance, start)], { type: "image/svg+xml" });
  const ending = format !== "solution" ? format : instance.problem === "cvrp" ? "sol" : "tour";
  return new Blob([(await atDesk("write", [JSON.stringify({ instance, start }), ending, route])).text]);
}

// Kept for when there is no network. Browsers allow it on https and on this machine.
if (isSecureContext) navigator.serviceWorker?.register("./offline.js").catch(() => { /* then it needs the network */ });
