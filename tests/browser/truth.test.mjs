// What the page shows belongs together: the instance, its job, its routes, its message.
import { test } from "node:test";
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { scratch, start, withPage, said, headline, text, save, openText, status } from "./harness.mjs";

const square = "id,x,y\nA,0,0\nB,9,0\nC,9,9\nD,0,9\n";
const downloads = (page) => page.locator("[data-format=csv]").isVisible();

async function solveSquare(page, seconds = "0.3") {
  await openText(page, "square.csv", square);
  await headline(page, "square: 4 stops");
  await page.fill("#time", seconds);
  await page.click("#solve");
  await said(page, "solved and checked");
}

// Whatever replaces the instance ends its job; nothing of it arrives afterwards.
for (const [name, replace, stops] of [
  ["a file", async (page) => openText(page, "square.csv", square), "square: 4 stops"],
  ["generate", async (page) => { await page.fill("#size", "30"); await page.click("#generate"); }, "30 stops"],
  ["clear", async (page) => page.click("#clear"), ""],
  ["the problem", async (page) => page.check("input[value=cvrp]"), "299 stops"],
]) test(`${name} while a solve runs ends it`, () => withPage("desktop", "replaced", async (page) => {
  await page.fill("#size", "300");
  await page.click("#generate");
  await headline(page, "300 stops");
  await page.fill("#time", "8");
  const cancelled = page.waitForRequest((r) => r.method() === "DELETE" && r.url().includes("/v1/jobs/"));
  await page.click("#solve");
  await said(page, "improve");
  await replace(page);
  await headline(page, stops);
  await cancelled;
  await page.waitForTimeout(3500);
  assert.doesNotMatch(await status(page), /solved|cancelled|improve/);
  assert.equal(await downloads(page), false, "there is nothing to download");
  assert.equal(await text(page, "#length"), "-");
  assert.equal(await page.locator("#solve").isEnabled(), true);
}));

test("a file's own capacity counts, and a missing one is asked for", () => withPage("desktop", "capacity", async (page) => {
  await openText(page, "toobig.csv", "x,y,demand,capacity\n0,0,0,30\n1,1,31,30\n2,2,5,30\n");
  await said(page, "toobig.csv:");
  assert.match(await status(page), /31.*at most the capacity, 30/);
  await openText(page, "silent.csv", "x,y,demand\n0,0,0\n1,1,31\n2,2,5\n");
  await page.waitForSelector("#ask[open]");
  assert.match(await text(page, "#ask-text"), /silent.csv has demands but no capacity/);
  await page.fill("#ask-value", "40");
  await page.keyboard.press("Enter");
  await headline(page, "silent: 2 stops");
  assert.equal(await page.inputValue("#capacity"), "40");
  assert.equal(await status(page), "", "the refused file's message is gone");
}));

test("stops without demands count 1 each, and the page says so", () => withPage("desktop", "ones", async (page) => {
  await openText(page, "square.csv", square);
  await headline(page, "square: 4 stops");
  await page.check("input[value=cvrp]");
  await said(page, "every stop counts 1");
  await page.fill("#capacity", "2");
  await page.fill("#time", "0.3");
  await page.click("#solve");
  await said(page, "solved and checked");
  const rows = (await save(page, "csv")).text.trim().split("\n"), column = rows[0].split(",").indexOf("demand");
  for (const row of rows.slice(1)) assert.ok(["0", "1", ""].includes(row.split(",")[column]), row);
}));

test("a stray click changes nothing, drawing is a mode, and everything can be undone", () => withPage("desktop", "undo", async (page) => {
  await solveSquare(page);
  const length = await text(page, "#length");
  await page.mouse.click(400, 300);
  await page.waitForTimeout(200);
  assert.equal(await text(page, "#length"), length);
  assert.match(await text(page, "#headline"), /square: 4 stops/);
  await page.check("#open");
  await page.click("#draw");
  await page.mouse.click(400, 300);
  await headline(page, "square: 5 stops");
  assert.equal(await page.isChecked("#open"), true, "what was typed stays");
  assert.equal(await status(page), "", "five stops are not solved");
  assert.equal(await downloads(page), false);
  await page.click("#draw");
  await page.click("#undo");
  await headline(page, "square: 4 stops");
  assert.equal(await text(page, "#length"), length);
  assert.match((await save(page, "csv")).text, /,C,/, "solution and names are back");
  await page.click("#clear");
  assert.equal(await status(page), "");
  await page.focus("#map");
  await page.keyboard.press("Control+z");
  await headline(page, "square: 4 stops");
  assert.equal(await text(page, "#length"), length);
}));

test("messages do not outlive what they are about", () => withPage("desktop", "messages", async (page) => {
  await page.click("#solve");
  await said(page, "There are no stops yet");
  await openText(page, "bad.csv", "x,y\n1,one\n");
  await said(page, "bad.csv:2:");
  await openText(page, "square.csv", square);
  await headline(page, "square: 4 stops");
  assert.equal(await status(page), "");
  await solveSquare(page);
  await page.click("#clear");
  assert.equal(await status(page), "");
}));

// A German spreadsheet: semicolons, decimal commas, CRLF, a byte order mark, and columns that routes do not need.
const german = "\uFEFFName;Adresse;Telefon;lat;lon;Menge;capacity;Priority\r\n" +
  "Lager;\"Hafenweg 1; Tor 2\";+49 89 123;48,174;11,601;0;6;\r\nMeier;Am Anker 3;0891234;48,2826;11,6274;2,5;;3\r\n" +
  "Huber;Ring 7;089/77;48,1935;11,4047;3,5;;\r\nM\u00fcller;Ring 9;089/78;48,1026;11,4041;4;;\r\n";

test("all columns of a table come through to lists, sheets and maps, in its dialect", () => withPage("desktop", "columns", async (page) => {
  await openText(page, "de.csv", german);
  await headline(page, "de: 3 stops");
  assert.match(await text(page, "#remarks"), /column 'Priority' is not used/, "nothing is passed over in silence");
  await page.fill("#time", "0.5");
  await page.click("#solve");
  await said(page, "solved and checked");
  assert.match((await page.locator(".route .facts").allTextContents()).join(), /load (6|4) of 6/);
  const header = "\uFEFFroute;stop;node;id;lat;lon;demand;load;leg;distance;Adresse;Telefon;capacity;Priority\r\n";
  const stops = (await save(page, "csv")).text;
  assert.ok(stops.startsWith(header), stops.slice(0, 200));
  assert.match(stops, /;Meier;48,2826;11,6274;2,5;[\d,]+;[\d,]+;[\d,]+;Am Anker 3;0891234;;3\r\n/);
  assert.match(stops, /;"Hafenweg 1; Tor 2";\+49 89 123;6;\r\n/);
  assert.match((await save(page, "gpx")).text, /<gpx [^]*Adresse: Ring 7/);
  assert.match((await save(page, "kml")).text, /<kml [^]*Telefon: 089\/78/);
  assert.match((await save(page, "html")).text, /driver sheets<\/title>[^]*Am Anker 3/);
  // The folder of -o drivers/, as one file that zip programs read.
  const [file] = await Promise.all([page.waitForEvent("download"), page.click("[data-format=zip]")]);
  const unzip = (...what) => execFileSync("python3", ["-c", "import sys, zipfile\nz = zipfile.ZipFile(sys.argv[1])\n" +
    "assert z.testzip() is None\nprint(z.read(sys.argv[2]).decode() if len(sys.argv) > 2 else ' '.join(z.namelist()), end='')", ...what]).toString();
  const zip = await file.path();
  assert.equal(file.suggestedFilename(), "de.zip");
  assert.equal(unzip(zip), "stops.csv summary.csv route-1.csv route-2.csv");
  assert.equal(unzip(zip, "stops.csv"), stops);
  assert.match(unzip(zip, "route-2.csv"), /^\uFEFFroute;[^\n]*\n2;0;0;Lager;/);
  assert.match(unzip(zip, "summary.csv"), /\r\ntotal;3;10;12;/);
  // On the page and on its printed sheets too, and after a reload.
  await page.reload();
  await said(page, "solved and checked");
  await page.locator(".route-head").first().click();
  await page.locator(".stops > li > button").first().click();
  assert.match(await text(page, "#stop-about"), /Adresse(Am Anker 3|Ring \d)/);
  await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
  assert.match((await page.locator(".sheet").allTextContents()).join(), /Am Anker 3[^]*0891234/);
}));

test("a matrix is solved by its distances, and an open tour from its beginning to its end", () => withPage("desktop", "matrix", async (page) => {
  await openText(page, "m.csv", "0,1,9,9\n9,0,1,9\n9,9,0,1\n1,9,9,0\n");
  await headline(page, "m: 4 stops");
  await said(page, "only distances");
  await page.fill("#time", "0.3");
  await page.click("#solve");
  await said(page, "solved and checked");
  assert.equal(await text(page, "#length"), "4.000");
  assert.equal(await page.locator("[data-format=gpx]").isEnabled(), false, "there are no places");
  await page.reload();
  await said(page, "solved and checked");
  assert.equal(await text(page, "#length"), "4.000");
  await openText(page, "line.csv", "id,x,y\nA,0,0\nB,1,0\nC,2,0\nD,3,0\n");
  await headline(page, "line: 4 stops");
  await page.selectOption("#start_node", { label: "B" });
  await page.selectOption("#end_node", { label: "D" });
  await page.click("#solve");
  await said(page, "solved and checked");
  assert.equal(await text(page, "#length"), "4.000");
  await page.locator(".route-head").first().click();
  assert.deepEqual(await page.locator(".stops .name").allTextContents(), ["B", "A", "C", "D"]);
  await page.selectOption("#start_node", "");
  await page.selectOption("#end_node", "");
  await page.check("#open");
  await page.click("#solve");
  await said(page, "solved and checked");
  assert.equal(await text(page, "#length"), "3.000");
  // Distances of one's own for the stops of a table; those of other stops are refused.
  await page.uncheck("#open");
  const matrix = (name, contents) => { writeFileSync(path.join(scratch, name), contents); return path.join(scratch, name); };
  await page.setInputFiles("#distances", matrix("small.csv", "0,1,2\n1,0,3\n2,3,0\n"));
  await said(page, "a row for each of the 4 places");
  await page.setInputFiles("#distances", matrix("own.csv", "0,9,9,1\n1,0,9,9\n9,1,0,9\n9,9,1,0\n"));
  await page.waitForFunction(() => document.getElementById("matrices").textContent.includes("Your own distances are used"));
  await page.click("#solve");
  await said(page, "solved and checked");
  assert.equal(await text(page, "#length"), "4.000");
  await page.click("#undo");
  assert.equal(await page.isVisible("#matrices"), false);
  // The other problem gets nothing of it.
  await page.check("input[value=cvrp]");
  await page.uncheck("#open");
  await page.fill("#capacity", "2");
  await page.evaluate(() => document.querySelectorAll("details").forEach((d) => { d.open = true; }));
  await page.fill("#stop-after", "0.1");
  await page.check("#fewest");
  const sent = page.waitForRequest((r) => r.method() === "POST" && r.url().endsWith("/v1/jobs"));
  await page.click("#solve");
  const request = (await sent).postDataJSON();
  assert.deepEqual([request.stop_after, request.instance.vehicles, request.instance.start_node], [0.1, "fewest", undefined]);
  await said(page, "solved and checked");
  assert.equal(await text(page, "#routes"), "2");
}));

test("a stop that cannot be served is named and shown", () => withPage("desktop", "unserved", async (page) => {
  await openText(page, "far.csv", "id,lat,lon,demand,capacity,open,close\nDepot,48,11,0,9,8:00,17:00\nNear,48.1,11,2,,,\nFar,52,11,2,,8:00,9:00\n");
  await headline(page, "far: 2 stops");
  await page.click("#solve");
  await said(page, "Far");
  assert.match(await status(page), /stop 2 'Far'.*leaves the depot 08:00, arrives 1\d:\d\d, closes 09:00/);
  assert.equal(await text(page, "#stop-name"), "Far");
  assert.match(await text(page, "#stop-facts"), /open 08:00 to 09:00/);
  // A table without demands has no loads and no capacity to ask for.
  await openText(page, "near.csv", "id,lat,lon,open,close\nDepot,48,11,8:00,17:00\nA,48.1,11,9:00,\nB,48.1,11.1,,\n");
  await headline(page, "near: 2 stops");
  assert.equal(await page.isVisible("#capacity"), false);
  assert.match(await text(page, "#remarks"), /straight lines at 50 km\/h; set the speed below/);
  await page.fill("#time", "0.3");
  await page.click("#solve");
  await said(page, "solved and checked");
  assert.doesNotMatch(await page.locator(".route .facts").first().textContent(), /load/);
  assert.match((await save(page, "csv")).text, /^route,stop,node,id,lat,lon,arrival,waiting,departure,leg,distance,open,close\n1,0,0,Depot,48,11,08:\d\d,/);
}));

test("a server that has died is called so", async () => {
  const { server, address } = await start();
  await withPage("desktop", "dead", async (page) => {
    await page.click("#generate");
    await headline(page, "200 stops");
    await page.fill("#time", "30");
    await page.click("#solve");
    await said(page, "improve");
    server.kill("SIGKILL");
    await said(page, "does not answer; is invit serve still running?");
    await page.click("#solve");
    await said(page, "does not answer");
  }, { at: address });
});
