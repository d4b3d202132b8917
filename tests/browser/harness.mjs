// A server, a browser and the words the tests share.
// usage: INVIT=path/to/invit SHOTS=folder/for/screenshots node --test tests/browser/
import { before, after } from "node:test";
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { chromium } from "playwright-core";

export const scratch = mkdtempSync(path.join(tmpdir(), "invit-browser-"));
export const shots = process.env.SHOTS ?? scratch;
mkdirSync(shots, { recursive: true });
export const views = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };
const servers = [];
let address, browser;

export async function serve(...options) {
  return (await start(...options)).address;
}

// The same with its process, for tests that end it.
export async function start(...options) {
  const server = spawn(process.env.INVIT, ["serve", "--port", "0", ...options], { stdio: ["ignore", "pipe", "inherit"] });
  servers.push(server);
  return new Promise((resolve, reject) => {
    server.stdout.on("data", (text) => resolve({ server, address: /http:\/\/[^/]+\//.exec(String(text))[0] }));
    server.on("error", reject);
    server.on("exit", (code) => reject(new Error(`the server ended with ${code}`)));
  });
}

before(async () => {
  address = await serve();
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--disable-sync"],
  });
});
after(async () => { await browser?.close(); servers.forEach((s) => s.kill("SIGTERM")); });

// Opens the page, works on it, keeps a picture under the given name, and fails on any error the page had.
export async function withPage(view, name, work, { options = {}, at = address, hash = "", others = [] } = {}) {
  const phone = view === "phone";
  const context = await browser.newContext({ viewport: views[view], hasTouch: phone, isMobile: phone, acceptDownloads: true, ...options });
  const page = await context.newPage();
  const faults = [];
  page.on("pageerror", (e) => faults.push(String(e)));
  page.on("request", (r) => { if (!/^(data|blob):/.test(r.url()) && ![at, ...others].some((from) => r.url().startsWith(from))) faults.push(`fetched ${r.url()}`); });
  await page.goto(at + hash);
  await page.evaluate(() => document.querySelectorAll("details").forEach((d) => { d.open = true; })); // tests use them all
  await work(page);
  await page.screenshot({ path: path.join(shots, `${view}-${name}.png`) });
  await context.close();
  assert.deepEqual(faults, [], "no errors on the page, nothing fetched from elsewhere");
}
export const said = (page, text) => page.waitForFunction((t) => document.getElementById("status").textContent.includes(t), text, { timeout: 60000 });
export const headline = (page, text) => page.waitForFunction((t) => document.getElementById("headline").textContent.includes(t), text, { timeout: 60000 });
export const moment = (page, text) => page.waitForFunction((t) => document.getElementById("moment").textContent.startsWith(t), text);
// The end of the time line: an improved solution, or the constructed one where nothing beat it.
export const end = (page) => page.waitForFunction(() => /^(construct|improve) at/.test(document.getElementById("moment").textContent));
export const text = (page, id) => page.locator(id).textContent();
export const save = async (page, format) => {
  const [file] = await Promise.all([page.waitForEvent("download"), page.click(`[data-format=${format}]`)]);
  return { name: file.suggestedFilename(), text: readFileSync(await file.path(), "utf8") };
};
// How many pixels of the map are drawn upon.
export const inked = (page) => page.evaluate(() => {
  const map = document.getElementById("map"), data = map.getContext("2d").getImageData(0, 0, map.width, map.height).data;
  let count = 0;
  for (let i = 3; i < data.length; i += 4) count += data[i] > 0;
  return count;
});


// A file with that text, opened through the button.
export async function openText(page, name, contents) {
  const file = path.join(scratch, name);
  writeFileSync(file, contents);
  await page.setInputFiles("#file", file);
}
export const film = (page) => page.click("#tab-film");
export const status = (page) => page.locator("#status").textContent();
