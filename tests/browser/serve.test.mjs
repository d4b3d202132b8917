// Drives the page of `invit serve` in a real browser, on a desktop and on a phone.
import { test } from "node:test";
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { serve, withPage, views, scratch, shots, said, headline, moment, end, text, save, inked, film } from "./harness.mjs";

for (const view of Object.keys(views)) {
  test(`${view}: draw, solve, watch, step and scrub`, () => withPage(view, "watched", async (page) => {
    await page.click("#draw");
    const box = await page.locator("#map").boundingBox();
    for (let i = 0; i < 24; i++) {
      const angle = i * 2.4, r = 0.017 * (i + 1);
      const x = box.x + box.width * (0.5 + r * Math.cos(angle)), y = box.y + box.height * (0.5 + r * Math.sin(angle));
      await (view === "phone" ? page.touchscreen.tap(x, y) : page.mouse.click(x, y));
    }
    await headline(page, "24 stops");
    assert.equal(await page.isVisible("#empty"), false, "the hint goes when there are stops");
    await page.fill("#time", "0.8");
    await page.click("#solve");
    await said(page, "solved and checked");
    assert.ok(await page.locator("#map").evaluate((m) => m.getBoundingClientRect().top >= 0), "the map is in sight after Solve");
    await film(page);
    await page.waitForFunction(() => Number(document.getElementById("scrub").max) > 24);
    await end(page); // it plays by itself
    await page.locator("#scrub").fill("8");
    await moment(page, "decision 8 of 24");
    await page.screenshot({ path: path.join(shots, `${view}-views.png`) });
    await page.click("#back");
    await moment(page, "decision 7");
    await page.click("#forward");
    await page.click("#forward");
    await moment(page, "decision 9");
    await page.click("#first");
    await moment(page, "decision 0");
    await page.click("#final");
    await end(page);
    await page.click("#tab-plan");
    const tour = await save(page, "solution");
    assert.match(tour.name, /\.tour$/);
    assert.match(tour.text, /DIMENSION *: *24\n[^]*TOUR_SECTION\n(\d+\n){24}-1/);
  }));

  test(`${view}: generate vehicles, solve, download`, () => withPage(view, "vehicles", async (page) => {
    await page.check("input[value=cvrp]");
    await page.fill("#size", "60");
    await page.selectOption("#dist", "clustered");
    await page.click("#generate");
    await headline(page, "60 stops");
    await page.fill("#time", "0.5");
    await page.click("#solve");
    await said(page, "solved and checked");
    assert.ok(Number(await text(page, "#routes")) >= 6, "330 units on average, 50 a vehicle");
    const routes = await save(page, "solution");
    assert.match(routes.name, /\.sol$/);
    assert.match(routes.text, /Route #1: \d+[^]*Cost/);
    const map = JSON.parse((await save(page, "geojson")).text);
    assert.equal(map.type, "FeatureCollection");
    assert.equal(map.features.filter((f) => f.geometry.type === "Point").length, 61);
    assert.match((await save(page, "svg")).text, /<svg[^]*<\/svg>/);
    const list = (await save(page, "csv")).text.trim().split("\n");
    assert.ok(list.length > 61, "a line for the header and each stop");
  }));

  test(`${view}: drop a file, pause, cancel keeps the best so far`, () => withPage(view, "cancelled", async (page) => {
    let csv = "\uFEFFid;x;y\r\n";
    for (let i = 0; i < 400; i++) csv += `"stop ${i}";${(i * 7919) % 101},5;${(i * 104729) % 97}\r\n`;
    const dropped = await page.evaluateHandle((text) => {
      const carried = new DataTransfer();
      carried.items.add(new File([text], "stops.csv", { type: "text/csv" }));
      return carried;
    }, csv);
    await page.dispatchEvent("#stage", "dragover", { dataTransfer: dropped });
    assert.ok(await page.locator("#stage.over").count(), "the page shows that it takes the file");
    await page.dispatchEvent("#stage", "drop", { dataTransfer: dropped });
    await headline(page, "400 stops");
    await page.fill("#time", "60");
    await page.click("#solve");
    await said(page, "improve");
    await film(page);
    await page.click("#play");
    const held = await text(page, "#moment");
    await page.waitForTimeout(400);
    assert.equal(await text(page, "#moment"), held, "paused is paused");
    assert.notEqual(await text(page, "#length"), "-", "a length is known while it runs");
    await page.click("#cancel");
    await said(page, "cancelled: this is the best solution so far");
    await page.click("#tab-plan");
    assert.equal((await save(page, "csv")).text.trim().split("\n").length, 402, "header, stops, and back to the first");
  }));
}

test("the keyboard alone: solve, pause, step, zoom, cancel", () => withPage("desktop", "keyboard", async (page) => {
  await page.fill("#size", "150");
  await page.focus("#generate");
  await page.keyboard.press("Enter");
  await headline(page, "150 stops");
  await page.fill("#time", "60");
  await page.focus("#map");
  await page.keyboard.press("Enter");
  await said(page, "improve");
  await page.focus("#tab-plan");
  await page.keyboard.press("ArrowRight");
  await page.focus("#map");
  await page.keyboard.press("Space");
  await page.keyboard.press("Home");
  await moment(page, "decision 0");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowLeft");
  await moment(page, "decision 1 of 150");
  await page.keyboard.press("End");
  const whole = await inked(page);
  for (let i = 0; i < 8; i++) await page.keyboard.press("+");
  await page.waitForTimeout(200);
  assert.notEqual(await inked(page), whole, "+ zooms");
  await page.keyboard.press("0");
  await page.keyboard.press("Escape");
  await said(page, "cancelled");
}));

test("dark mode: light ink on a dark ground", () => withPage("desktop", "dark", async (page) => {
  const luminance = (property, id) => page.locator(id).evaluate((e, p) => {
    const [r, g, b] = getComputedStyle(e)[p].match(/[\d.]+/g).map(Number);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  }, property);
  assert.ok(await luminance("backgroundColor", "body") < 50);
  assert.ok(await luminance("color", "body") > 180);
  await page.click("#generate");
  await headline(page, "200 stops");
  await page.fill("#time", "2");
  await page.click("#solve");
  await said(page, "solved and checked");
  await moment(page, "improve");
}, { options: { colorScheme: "dark" } }));

test("places on the globe: names come through to the list of stops", () => withPage("desktop", "places", async (page) => {
  await page.setInputFiles("#file", path.join(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), "../../examples/bakery.csv"));
  await headline(page, "bakery: 19 stops");
  assert.equal(await page.isChecked("input[value=cvrp]"), true, "a table with demands is for vehicles");
  assert.equal(await page.inputValue("#capacity"), "45", "the table's own");
  await page.fill("#time", "1.5");
  await page.click("#solve");
  await said(page, "solved and checked");
  const list = (await save(page, "csv")).text;
  assert.match(list, /"Caf\u00e9 Amsel, Hafenweg",47.4312,8.5611,6/);
  const longest = Math.max(...list.trim().split("\n").slice(1).map((line) => Number(line.split(",").at(-2)))); // before the capacity
  assert.ok(longest > 5000 && longest < 40000, "metres");
}));

test("files go to the server byte for byte: names in Windows-1252, NumPy arrays", () => withPage("desktop", "bytes", async (page) => {
  const table = path.join(scratch, "older.csv"), array = path.join(scratch, "array.npy");
  writeFileSync(table, Buffer.from("id;x;y\r\nCaf\u00e9;0;0\r\nM\u00fchle;3;0\r\nHof;3;4\r\n", "latin1"));
  await page.setInputFiles("#file", table);
  await headline(page, "older: 3 stops");
  await page.fill("#time", "0.2");
  await page.click("#solve");
  await said(page, "solved and checked");
  const list = (await save(page, "csv")).text;
  assert.match(list, /;Caf\u00e9;/);
  assert.match(list, /;M\u00fchle;/);

  const shape = "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }".padEnd(117) + "\n";
  const numbers = Buffer.from(Float64Array.of(0.1, 0.2, 3.3, 0.7, 3.1, 4.9).buffer);
  writeFileSync(array, Buffer.concat([Buffer.from(`\x93NUMPY\x01\x00${String.fromCharCode(shape.length)}\x00${shape}`, "latin1"), numbers]));
  await page.setInputFiles("#file", array);
  await headline(page, "array: 3 stops");
  await page.click("#solve");
  await said(page, "solved and checked");
  assert.match((await save(page, "csv")).text, /,3.1,4.9,/);
}));

test("a bad file gets a clear message", () => withPage("phone", "refused", async (page) => {
  const file = path.join(scratch, "bad.tsp");
  writeFileSync(file, "NAME: bad\nTYPE: TSP\nDIMENSION: 3\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n1 0 0\n2 x 1\n");
  await page.setInputFiles("#file", file);
  await page.waitForFunction(() => document.getElementById("status").classList.contains("bad"));
  assert.match(await text(page, "#status"), /^bad\.tsp:7: .*'x'/);
}));

test("a hundred thousand stops can be moved and zoomed", () => withPage("desktop", "large", async (page) => {
  await page.fill("#size", "100000");
  await page.click("#generate");
  await headline(page, "100,000 stops");
  const usual = await page.evaluate(async () => {
    const map = document.getElementById("map"), box = map.getBoundingClientRect();
    const frames = [];
    let last = performance.now();
    for (let i = 0; i < 30; i++) {
      map.dispatchEvent(new WheelEvent("wheel", { deltaY: i % 2 ? 60 : -60, clientX: box.x + 300, clientY: box.y + 200, cancelable: true }));
      await new Promise(requestAnimationFrame);
      const now = performance.now();
      frames.push(now - last);
      last = now;
    }
    return frames.sort((a, b) => a - b)[frames.length / 2];
  });
  assert.ok(usual < 1000, `the map follows the wheel (half of the frames took ${usual.toFixed(0)} ms or more)`); // tens on an idle machine
}));

test("with a secret: refused without it, at work with #token=", async () => {
  const secret = "a-secret-of-some-length", file = path.join(scratch, "token");
  writeFileSync(file, `${secret}\n`);
  const guarded = await serve("--token-file", file);
  await withPage("desktop", "no-token", async (page) => {
    await page.click("#generate");
    await said(page, "token");
  }, { at: guarded });
  await withPage("desktop", "token", async (page) => {
    await page.click("#generate");
    await headline(page, "200 stops");
  }, { at: guarded, hash: `#token=${secret}` });
});
