// Planning a day: the list of routes, limits, moving and locking, sheets, links, tiles, and who uses a keyboard or a phone.
import { test } from "node:test";
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { serve, withPage, shots, said, headline, text, openText, status } from "./harness.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const bakery = path.join(here, "../../examples/bakery.csv"), axe = readFileSync(path.join(here, "node_modules/axe-core/axe.min.js"), "utf8");
const totals = async (page) => Number((await text(page, "#length")).replace(/[^0-9.]/g, ""));

async function openBakery(page) {
  await page.setInputFiles("#file", bakery);
  await headline(page, "bakery: 19 stops");
}
async function solveBakery(page) {
  await openBakery(page);
  await page.fill("#time", "1");
  await page.click("#solve");
  await said(page, "solved and checked");
}
// Nothing serious or critical by WCAG 2.2 A and AA.
async function accessible(page) {
  await page.evaluate(axe); // evaluate is not bound by the page's policy
  const found = await page.evaluate(async () => {
    const result = await axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] });
    return result.violations.map((v) => `${v.impact} ${v.id}: ${v.nodes.map((n) => n.target.join(" ")).join(", ")}`);
  });
  assert.deepEqual(found, []);
}

test("routes are listed with stops, kilometres and load; list and map light each other up", () => withPage("desktop", "plan", async (page) => {
  await solveBakery(page);
  const routes = await page.locator(".route").count();
  assert.ok(routes >= 3);
  assert.equal(await text(page, "#routes"), String(routes));
  assert.match(await text(page, "#length"), /^\d+\.\d km$/);
  assert.match(await page.locator(".route .facts").first().textContent(), /^\d+ stops \u00b7 [\d.]+ km \u00b7 load \d+ of 45/);
  await page.locator(".route-head").nth(1).click();
  const names = await page.locator(".stops .name").allTextContents();
  assert.ok(names.length > 1 && names.every((n) => /[A-Z]/.test(n)), "stops by name");
  await page.mouse.move(5, 400);
  await page.screenshot({ path: path.join(shots, "desktop-route.png") });
  // The stop chosen in the list is the one that the map finds at its place.
  await page.locator(".stops > li > button").first().click();
  assert.equal(await text(page, "#stop-name"), names[0]);
  const place = await page.evaluate(() => { // the ring around the chosen stop: by hovering over the map until its name comes
    const map = document.getElementById("map").getBoundingClientRect();
    return [map.x, map.y, map.width, map.height];
  });
  let lit = false;
  for (let y = 20; y < place[3] && !lit; y += 14) for (let x = 20; x < place[2] - 70 && !lit; x += 14) {
    await page.mouse.move(place[0] + x, place[1] + y);
    lit = await page.evaluate((name) => !document.getElementById("tip").hidden && document.getElementById("tip").textContent.startsWith(name), names[0]);
  }
  assert.ok(lit, "hovering finds the stop by its name");
  assert.equal(await page.locator(".route.lit").getAttribute("data-route"), "1", "and lights its route up in the list");
}));

test("a stop moved by hand: what it costs, and back again", () => withPage("desktop", "moved", async (page) => {
  await page.fill("#temperature", "0.5");
  const sent = page.waitForRequest((r) => r.method() === "POST" && r.url().endsWith("/v1/jobs"));
  await solveBakery(page);
  assert.equal((await sent).postDataJSON().temperature, 0.5);
  const before = await totals(page), routes = await page.locator(".route").count();
  await page.locator(".route-head").first().click();
  const name = await page.locator(".stops .name").first().textContent(), stops = await page.locator(".stops .name").count();
  await page.locator(".stops > li > button").first().click();
  const option = page.locator("#move-to option").last(), about = /^a van of its own, about \+([\d.]+) km$/.exec(await option.textContent());
  await page.selectOption("#move-to", await option.getAttribute("value"));
  await page.click("#move-button");
  await said(page, `${name} moved: `);
  assert.equal(/moved: \+([\d.]+) km$/.exec(await status(page))?.[1], about?.[1], "what it was said to cost");
  assert.ok(await totals(page) > before);
  assert.equal(await page.locator(".route").count(), stops > 1 ? routes + 1 : routes);
  await page.click("#undo");
  assert.equal(await totals(page), before);
  assert.equal(await page.locator(".route").count(), routes);
}));

test("a move that breaks the capacity is refused with the reason", () => withPage("desktop", "refused-move", async (page) => {
  await openText(page, "full.csv", "id,x,y,demand,capacity\nDepot,0,0,0,5\nA,1,0,5,5\nB,0,1,5,5\n");
  await headline(page, "full: 2 stops");
  await page.fill("#time", "0.3");
  await page.click("#solve");
  await said(page, "solved and checked");
  await page.locator(".route-head").first().click();
  await page.locator(".stops > li > button").first().click();
  await page.selectOption("#move-to", "1");
  await page.click("#move-button");
  await said(page, "cannot move there");
  assert.match(await status(page), /exceeds the capacity/);
  assert.equal(await page.locator(".route").count(), 2);
}));

test("a locked route stays when the rest is solved again", () => withPage("desktop", "locked", async (page) => {
  await solveBakery(page);
  await page.locator(".route-head").nth(1).click();
  const kept = await page.locator(".stops .name").allTextContents();
  await page.locator(".lock").nth(1).click();
  await page.fill("#seed", "7");
  await page.click("#improve");
  await said(page, "solved and checked");
  assert.equal(await page.locator(".lock[aria-pressed=true]").count(), 1);
  await page.locator(".route-head").first().click(); // locked routes come first
  assert.deepEqual(await page.locator(".stops .name").allTextContents(), kept);
  const all = await page.evaluate(async (id) => (await (await fetch(`/v1/jobs/${id}`)).json()).solution.routes.flat().length,
    new URLSearchParams(new URL(page.url()).hash.slice(1)).get("job"));
  assert.equal(all, 19, "every stop is served");
}));

test("times: windows from the table, minutes per stop, arrivals in the list, and why it cannot be", () => withPage("desktop", "times", async (page) => {
  await openText(page, "day.csv", "id,lat,lon,demand,capacity,earliest,latest,service\nDepot,47.40,8.50,0,20,8:00,17:00,0\n" +
    "Early,47.41,8.52,5,20,9:00,10:00,10\nNoon,47.42,8.48,5,20,11:30,12:00,10\nAny,47.38,8.51,8,20,,,10\nFar,47.37,8.55,9,20,,,5\n");
  await headline(page, "day: 4 stops");
  assert.match(await text(page, "#windows"), /^\d stops have time windows/);
  await page.fill("#time", "0.5");
  await page.click("#solve");
  await said(page, "solved and checked");
  assert.match((await page.locator(".route-head .facts").allTextContents()).join(), /\d\d:\d\d to \d\d:\d\d/);
  const at = {};
  for (let r = 0; r < await page.locator(".route").count(); r++) {
    await page.locator(".route-head").nth(r).click();
    for (const row of await page.locator(".stops > li > button").all())
      at[await row.locator(".name").textContent()] = (await row.locator(".facts").textContent()).slice(0, 5);
  }
  assert.ok(at.Early >= "09:00" && at.Early <= "10:00", at.Early);
  assert.ok(at.Noon >= "11:30" && at.Noon <= "12:00", at.Noon);
  await page.click("#tab-film");
  assert.match(await text(page, "#film-note"), /knows nothing of time windows/, "why there are no decisions to watch");
  await page.click("#tab-plan");
  await page.fill("#max-duration", "0:10");
  await page.click("#solve");
  await page.waitForFunction(() => document.getElementById("status").classList.contains("bad"));
  assert.match(await status(page), /duration|max_duration|time/, "the reason is given");
}));

test("a link to a job brings it back", () => withPage("desktop", "link", async (page) => {
  await solveBakery(page);
  const length = await text(page, "#length");
  assert.match(page.url(), /#job=[0-9a-f]{32}$/);
  await page.reload();
  await said(page, "solved and checked");
  assert.equal(await text(page, "#length"), length);
  await page.locator(".route-head").first().click();
  assert.match((await page.locator(".stops .name").allTextContents()).join(), /[A-Z]/, "with names");
}));

test("printing gives one page per driver", () => withPage("desktop", "print", async (page) => {
  await solveBakery(page);
  const routes = await page.locator(".route").count();
  await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
  await page.emulateMedia({ media: "print" });
  assert.equal(await page.locator(".sheet").count(), routes);
  assert.equal(await page.isVisible("#stage"), false);
  assert.match(await page.locator(".sheet").first().textContent(), /Van 1: bakery\d+ stops/);
  const pdf = (await page.pdf()).toString("latin1");
  assert.equal(pdf.match(/\/Type\s*\/Page\b/g).length, routes);
  await page.screenshot({ path: path.join(shots, "print.png"), fullPage: true });
  await page.emulateMedia({ media: "screen" });
}));

for (const view of ["desktop", "phone"]) for (const colorScheme of ["light", "dark"])
  test(`${view}, ${colorScheme}: nothing that WCAG 2.2 AA forbids`, () => withPage(view, `axe-${colorScheme}`, async (page) => {
    await accessible(page);
    await solveBakery(page);
    await page.locator(".route-head").first().click();
    await page.locator(".stops > li > button").first().click();
    await page.click("#help-button");
    await accessible(page);
    await page.click("#tab-film");
    await accessible(page);
  }, { options: { colorScheme } }));

test("phone: the file's name and Solve are in sight, and the routes fit between the controls", () => withPage("phone", "plan", async (page) => {
  await openBakery(page);
  const inside = async (id) => {
    const box = await page.locator(id).boundingBox();
    return box.y >= 0 && box.y + box.height <= 844 && box.x >= 0 && box.x + box.width <= 390;
  };
  assert.ok(await inside("#headline"));
  assert.ok(await inside("#solve"));
  assert.ok((await page.locator("#solve").boundingBox()).y > 600, "in reach of the thumb");
  await page.fill("#time", "1");
  await page.click("#solve");
  await said(page, "solved and checked");
  assert.ok(await inside("#map"));
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390, "nothing to scroll sideways");
}));

test("the keyboard alone: draw, solve, open a route, choose a stop, lock", () => withPage("desktop", "keys", async (page) => {
  await page.focus("#draw");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab"); // Undo is off, so Clear; then on to the map
  await page.focus("#map");
  for (const key of ["ArrowLeft", "ArrowUp", "ArrowRight", "ArrowRight", "ArrowDown"]) {
    await page.keyboard.press(key);
    await page.keyboard.press("Enter");
  }
  await headline(page, "drawn: 5 stops");
  await page.focus("input[value=tsp]");
  await page.keyboard.press("ArrowRight");
  await headline(page, "drawn: 4 stops");
  await page.fill("#time", "0.3");
  await page.focus("#solve");
  await page.keyboard.press("Enter");
  await said(page, "solved and checked");
  await page.focus(".route-head");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter"); // the lock
  assert.equal(await page.locator(".lock[aria-pressed=true]").count(), 1);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter"); // the first stop
  assert.equal(await page.isVisible("#stop"), true);
}));

test("tiles only from the server that was named, with its credit", async () => {
  const pixel = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");
  const asked = [], tiles = createServer((q, a) => { asked.push(q.url); a.writeHead(200, { "Content-Type": "image/png" }); a.end(pixel); });
  await new Promise((resolve) => tiles.listen(0, "127.0.0.1", resolve));
  const from = `http://127.0.0.1:${tiles.address().port}/`;
  const at = await serve("--tiles", `${from}{z}/{x}/{y}.png`, "--tiles-credit", "Map data by the town");
  await withPage("desktop", "tiles", async (page) => {
    await openBakery(page);
    await page.waitForTimeout(1000);
    assert.equal(await text(page, "#credit"), "Map data by the town");
    assert.ok(asked.length > 3 && asked.every((url) => /^\/\d+\/\d+\/\d+\.png$/.test(url)));
  }, { at, others: [from] });
  tiles.close();
});
