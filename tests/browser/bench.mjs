// How fast the solver is in the browser beside the native program: decisions of the policy and steps of the search per
// second, one thread each. Best of three. usage: INVIT=build/invit WEB=build-web node tests/browser/bench.mjs
import { spawn, execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
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

const inBrowser = (file, request) => page.evaluate(async ({ contents, name, request }) => {
  const api = await import("./api.js"), instance = await api.parse(new File([contents], name));
  const { id } = await api.submit({ instance, seed: 1, ...request });
  let last;
  await api.follow(id, (_, data) => { last = data; });
  return last;
}, { contents: readFileSync(file, "utf8"), name: path.basename(file), request });

function native(file, kernels, ...options) {
  return JSON.parse(execFileSync(INVIT, ["solve", file, "--threads", "1", "--seed", "1", "--json", ...options],
    { env: { ...process.env, INVIT_KERNELS: kernels }, encoding: "utf8", maxBuffer: 1 << 28 }));
}
// Both search from the same solution.
function construct(file, out) {
  execFileSync(INVIT, ["solve", file, "--construct", "nearest", "--time", "0", "-o", out]);
  const text = readFileSync(out, "utf8"), numbers = (line) => line.trim().split(/\s+/).map(Number);
  if (out.endsWith(".sol")) return [...text.matchAll(/^Route #\d+: (.*)$/gm)].map((m) => numbers(m[1]));
  return [numbers(/TOUR_SECTION\n([^-]*)/.exec(text)[1]).map((node) => node - 1)];
}

const rate = (v) => Math.round(v).toLocaleString("en").padStart(12);
console.log("                             browser     portable         AVX2   (decisions/s, steps/s)");
for (const [kind, size, iterations] of [["tsp", 1000, 100000], ["tsp", 20000, 200000], ["cvrp", 1000, 100000]]) {
  const file = path.join(scratch, `${kind}${size}.${kind === "tsp" ? "tsp" : "vrp"}`), best = { decisions: [0, 0, 0], steps: [0, 0, 0] };
  execFileSync(INVIT, ["gen", kind, "-n", String(size), "-s", "5", "-o", file]);
  const small = size <= 1000;
  const from = path.join(scratch, kind === "tsp" ? "start.tour" : "start.sol"), start = construct(file, from);
  for (let i = 0; i < 3; i++) {
    const rates = [];
    for (const kernels of ["browser", "portable", "avx2"]) {
      const here = kernels === "browser";
      const built = !small ? { decisions: 0, seconds: { construct: 1 } }
        : here ? await inBrowser(file, { rollouts: 2, time: 0 }) : native(file, kernels, "--rollouts", "2", "--time", "0");
      const better = here ? await inBrowser(file, { start, iterations }) : native(file, kernels, "--start", from, "--iterations", String(iterations));
      rates.push({ decisions: built.decisions / built.seconds.construct, steps: iterations / better.seconds.improve });
    }
    rates.forEach((r, k) => { for (const what of ["decisions", "steps"]) best[what][k] = Math.max(best[what][k], r[what]); });
  }
  if (small) console.log(`${kind}-${size} decisions/s`.padEnd(24) + best.decisions.map(rate).join(" "));
  console.log(`${kind}-${size} steps/s`.padEnd(24) + best.steps.map(rate).join(" "));
}
await browser.close();
host.kill();
