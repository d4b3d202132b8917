// How fast the solver is in the browser beside the native program: decisions of the policy and steps of the search per
// second of one core, by processor time, so that a busy machine does not matter. Best of two.
// usage: INVIT=build/invit WEB=build-web node tests/browser/bench.mjs (Linux)
import { spawn, execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { chromium } from "playwright-core";

const scratch = mkdtempSync(path.join(tmpdir(), "invit-bench-")), { INVIT, WEB } = process.env;
const host = spawn("python3", ["-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "-d", WEB], { stdio: ["ignore", "pipe", "ignore"] });
let heard = "";
const at = await new Promise((resolve) => host.stdout.on("data", (line) => {
  const address = /http:\/\/[^/]+\//.exec(heard += line);
  if (address) resolve(address[0]);
}));
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
const page = await browser.newPage();
await page.goto(at);

// Processor seconds of all workers of browsers on this machine, which is to be only ours: by the names of their threads.
function workers() {
  let sum = 0;
  for (const id of readdirSync("/proc").filter((n) => /^\d+$/.test(n))) try {
    if (!readFileSync(`/proc/${id}/cmdline`, "utf8").includes("--type=renderer")) continue;
    for (const task of readdirSync(`/proc/${id}/task`)) {
      const stat = readFileSync(`/proc/${id}/task/${task}/stat`, "utf8");
      if (/\(DedicatedWorker/.test(stat)) sum += stat.slice(stat.lastIndexOf(")") + 2).split(" ").slice(11, 13).reduce((a, b) => a + Number(b), 0) / 100;
    }
  } catch { /* it has ended */ }
  return sum;
}
async function inBrowser(file, request) {
  const before = workers();
  const result = await page.evaluate(async ({ contents, name, request }) => {
    const api = await import("./api.js"), instance = await api.parse(new File([contents], name));
    const { id } = await api.submit({ instance, seed: 1, ...request });
    let last;
    await api.follow(id, (_, data) => { last = data; });
    return last;
  }, { contents: readFileSync(file, "utf8"), name: path.basename(file), request });
  return { ...result, cpu: workers() - before };
}
function native(file, kernels, ...options) {
  const out = path.join(scratch, "native.json");
  const times = execFileSync("bash", ["-c", 'exec 3>"$0"; "$@" >&3; times', out, INVIT, "solve", file, "--threads", "1", "--seed", "1", "--json", ...options],
    { env: { ...process.env, INVIT_KERNELS: kernels }, encoding: "utf8" });
  const [minutes, seconds] = times.trim().split("\n")[1].split(/[ms ]+/).map(Number);
  return { ...JSON.parse(readFileSync(out, "utf8")), cpu: 60 * minutes + seconds };
}
// All search from the same solution.
function construct(file, out) {
  execFileSync(INVIT, ["solve", file, "--construct", "nearest", "--time", "0", "-o", out]);
  const text = readFileSync(out, "utf8"), numbers = (line) => line.trim().split(/\s+/).map(Number);
  if (out.endsWith(".sol")) return [...text.matchAll(/^Route #\d+: (.*)$/gm)].map((m) => numbers(m[1]));
  return [numbers(/TOUR_SECTION\n([^-]*)/.exec(text)[1]).map((node) => node - 1)];
}

const places = ["browser", "portable", "avx2"], rate = (v) => Math.round(v).toLocaleString("en").padStart(12);
await inBrowser(new URL("../../examples/tsp1000.tsp", import.meta.url).pathname, { rollouts: 1, time: 0 }); // compiled, weights there
console.log(" ".repeat(24) + places.map((p) => p.padStart(12)).join(" "));
for (const [kind, size, rollouts, iterations] of [["tsp", 1000, 1, 10000], ["cvrp", 1000, 1, 50000], ["tsp", 20000, 0, 50000]]) {
  const file = path.join(scratch, `${kind}${size}.${kind === "tsp" ? "tsp" : "vrp"}`), from = path.join(scratch, kind === "tsp" ? "start.tour" : "start.sol");
  execFileSync(INVIT, ["gen", kind, "-n", String(size), "-s", "5", "-o", file]);
  const start = construct(file, from), best = { decisions: [0, 0, 0], steps: [0, 0, 0] };
  for (let i = 0; i < 2; i++) for (const [k, kernels] of places.entries()) {
    const solve = (ours, ...theirs) => k === 0 ? inBrowser(file, ours) : native(file, kernels, ...theirs);
    if (rollouts) {
      const { decisions, cpu } = await solve({ rollouts, time: 0 }, "--rollouts", String(rollouts), "--time", "0");
      best.decisions[k] = Math.max(best.decisions[k], decisions / cpu);
    }
    const { cpu } = await solve({ start, iterations }, "--start", from, "--iterations", String(iterations));
    best.steps[k] = Math.max(best.steps[k], iterations / cpu);
  }
  if (rollouts) console.log(`${kind}-${size} decisions/s`.padEnd(24) + best.decisions.map(rate).join(" "));
  console.log(`${kind}-${size} steps/s`.padEnd(24) + best.steps.map(rate).join(" "));
}
await browser.close();
host.kill();
