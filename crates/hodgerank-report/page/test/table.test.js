// Tables in a real browser.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { moveSlider, openBrowser, rowsOf } from "./browser.js";
import { COFFEES, coffeeReport, reportOf, studyOf } from "./fixture.js";

let browser;
before(async () => {
  browser = await openBrowser();
});
after(() => browser.close());

const firsts = async (page, table, column) => (await rowsOf(page, table)).map((row) => row[column]);

test("tables are sorted by click and by key and expose their order", async () => {
  const { page, faults } = await browser.open(coffeeReport());
  const head = page.locator("#table-annotators th").nth(1);
  const votes = () => firsts(page, "annotators", 1);
  assert.deepEqual(await votes(), ["1,200", "950", "", "3"]);
  await head.locator("button").click();
  assert.deepEqual(await votes(), ["3", "950", "1,200", ""]);
  assert.equal(await head.getAttribute("aria-sort"), "ascending");
  await page.keyboard.press("Enter");
  assert.deepEqual(await votes(), ["1,200", "950", "3", ""]);
  assert.equal(await head.getAttribute("aria-sort"), "descending");
  await page.locator("#table-annotators th button").nth(0).click();
  assert.deepEqual(await firsts(page, "annotators", 0), [
    "taster 0",
    "taster 1",
    "taster 2",
    "taster 10",
  ]);
  assert.equal(await head.getAttribute("aria-sort"), "none");
  const share = page.locator("#table-annotators th button").nth(2);
  assert.equal(await share.getAttribute("title"), "Share of flagged votes");
  const hint = page.locator(`#${await share.getAttribute("aria-describedby")}`);
  assert.equal(await hint.textContent(), "Share of flagged votes");
  assert.ok(await page.locator("#table-annotators .tools").isHidden(), "four rows need no filter");
  await moveSlider(page, 20);
  await page.locator("#table-suspects input").fill("Antigua");
  const found = await rowsOf(page, "suspects");
  assert.ok(found.length > 0 && found.every((row) => row.includes("Antigua")));
  const count = await page.locator("#table-suspects .count").textContent();
  assert.match(count, new RegExp(`^${found.length} of \\d+ rows$`));
  await page.locator("#table-suspects input").fill("nowhere");
  assert.ok(await page.locator("#table-suspects .none").isVisible());
  assert.deepEqual(faults, []);
});

test("long tables show their first rows, and more on request", async () => {
  const { page } = await browser.open(reportOf(studyOf({ names: COFFEES, suspects: 1200 })));
  await moveSlider(page, 20);
  assert.equal((await rowsOf(page, "suspects")).length, 50);
  await page.locator("#table-suspects .more").click();
  assert.equal((await rowsOf(page, "suspects")).length, 550);
  await moveSlider(page, 0);
  assert.equal((await rowsOf(page, "suspects")).length, 0);
});
