// Drives the page of `invit serve` in a real browser, on a desktop and on a phone.
// usage: INVIT=path/to/invit SHOTS=folder/for/screenshots node --test
import { test, before, after } from "node:test";
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { chromium } from "playwright-core";

const shots = process.env.SHOTS ?? mkdtempSync(path.join(tmpdir(), "invit-shots-"));
mkdirSync(shots, { recursive: true });
const views = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };
let server, address, browser;

before(async () => {
  server = spawn(process.env.INVIT, ["serve", "--port", "0"], { stdio: ["ignore", "pipe", "inherit"] });
  address = await new Promise((resolve, reject) => {
    server.stdout.on("data", (text) => resolve(/http:\/\/[^/]+\//.exec(String(text))[0]));
    server.on("exit", (code) => reject(new Error(`the server ended with ${code}`)));
  });
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--disable-sync"],
  });
});
after(async () => { await browser?.close(); server?.kill("SIGTERM"); });

async function withPage(view, work) {
  const context = await browser.newContext({ viewport: views[view], hasTouch: view === "phone", acceptDownloads: true });
  const page = await context.newPage();
  const faults = [];
  page.on("pageerror", (e) => faults.push(String(e)));
  await page.goto(address);
  await work(page);
  await page.screenshot({ path: path.join(shots, `${view}-${Date.now()}.png`) });
  await context.close();
  assert.deepEqual(faults, [], "no errors on the page");
}
const said = (page, text) => page.waitForFunction((t) => document.getElementById("status").textContent.includes(t), text, { timeout: 60000 });

for (const view of Object.keys(views)) {
  test(`${view}: draw, solve and watch`, () => withPage(view, async (page) => {
    const box = await page.locator("#map").boundingBox();
    for (let i = 0; i < 12; i++) {
      const angle = i * 2.4, r = 0.03 * (i + 1);
      await page.mouse.click(box.x + box.width * (0.5 + r * Math.cos(angle)), box.y + box.height * (0.5 + r * Math.sin(angle)));
    }
    await page.waitForFunction(() => document.getElementById("headline").textContent.includes("12 stops"));
    assert.equal(await page.isVisible("#empty"), false, "the hint goes when there are stops");
    await page.fill("#time", "0.5");
    await page.click("#solve");
    await said(page, "solved and checked");
    await page.waitForFunction(() => Number(document.getElementById("scrub").max) > 12);
    await page.locator("#scrub").fill("5");
    await page.waitForFunction(() => document.getElementById("moment").textContent.startsWith("decision 5"));
    await page.screenshot({ path: path.join(shots, `${view}-views.png`) });
    await page.click("#back");
    await page.waitForFunction(() => document.getElementById("moment").textContent.startsWith("decision 4"));
  }));

  test(`${view}: generate vehicles, solve, download`, () => withPage(view, async (page) => {
    await page.check("input[value=cvrp]");
    await page.fill("#size", "60");
    await page.click("#generate");
    await page.waitForFunction(() => document.getElementById("headline").textContent.includes("60 stops"));
    await page.fill("#time", "1");
    await page.click("#solve");
    await said(page, "solved and checked");
    for (const [format, ending] of [["solution", "sol"], ["geojson", "geojson"], ["svg", "svg"], ["csv", "csv"]]) {
      const [file] = await Promise.all([page.waitForEvent("download"), page.click(`[data-format=${format}]`)]);
      assert.match(file.suggestedFilename(), new RegExp(`\\.${ending}$`));
      assert.ok(readFileSync(await file.path(), "utf8").length > 100, `${format} has content`);
    }
  }));

  test(`${view}: open a file, cancel keeps the best so far`, () => withPage(view, async (page) => {
    const file = path.join(shots, "square.csv");
    let text = "x,y\n";
    for (let i = 0; i < 400; i++) text += `${(i * 7919) % 101},${(i * 104729) % 97}\n`;
    writeFileSync(file, text);
    await page.setInputFiles("#file", file);
    await page.waitForFunction(() => document.getElementById("headline").textContent.includes("400 stops"));
    await page.fill("#time", "60");
    await page.click("#solve");
    await said(page, "improve");
    await page.click("#cancel");
    await said(page, "cancelled: this is the best solution so far");
  }));

  test(`${view}: a bad file gets a clear message`, () => withPage(view, async (page) => {
    const file = path.join(shots, "bad.tsp");
    writeFileSync(file, "NAME: bad\nTYPE: TSP\nDIMENSION: 3\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n1 0 0\n2 x 1\n");
    await page.setInputFiles("#file", file);
    await page.waitForFunction(() => document.getElementById("status").classList.contains("bad"));
    assert.match(await page.textContent("#status"), /line 7|:7/);
  }));
}

test("a hundred thousand stops can be moved and zoomed", () => withPage("desktop", async (page) => {
  await page.fill("#size", "100000");
  await page.click("#generate");
  await page.waitForFunction(() => document.getElementById("headline").textContent.includes("100,000 stops"), null, { timeout: 60000 });
  const slowest = await page.evaluate(async () => {
    const map = document.getElementById("map"), box = map.getBoundingClientRect();
    let last = performance.now(), slow = 0;
    for (let i = 0; i < 30; i++) {
      map.dispatchEvent(new WheelEvent("wheel", { deltaY: i % 2 ? 60 : -60, clientX: box.x + 300, clientY: box.y + 200, cancelable: true }));
      await new Promise(requestAnimationFrame);
      const now = performance.now();
      slow = Math.max(slow, now - last);
      last = now;
    }
    return slow;
  });
  assert.ok(slowest < 1000, `no frame hangs (slowest ${slowest.toFixed(0)} ms)`);
}));
