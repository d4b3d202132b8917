// What the page shows belongs together: the instance, its job, its routes, its message.
import { test } from "node:test";
import assert from "node:assert/strict";
import { start, withPage, said, headline, text, save, openText, status } from "./harness.mjs";

const square = "id,x,y\nA,0,0\nB,9,0\nC,9,9\nD,0,9\n";
const downloads = (page) => page.locator("[data-format=csv]").isEnabled();

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
  await page.click("#draw");
  await page.mouse.click(400, 300);
  await headline(page, "square: 5 stops");
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
