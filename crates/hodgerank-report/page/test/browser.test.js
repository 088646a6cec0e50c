// The page as a whole in a real browser.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { moveSlider, openBrowser, overflow, rowsOf } from "./browser.js";
import { COFFEES, coffeeReport, reportOf, studyOf } from "./fixture.js";

let browser;
before(async () => {
  browser = await openBrowser();
});
after(() => browser.close());

const firsts = async (page, table, column) => (await rowsOf(page, table)).map((row) => row[column]);

test("a page opens without faults and network requests", async () => {
  const { page, faults } = await browser.open(coffeeReport());
  assert.equal(await page.title(), "Which coffee tastes best?");
  assert.equal(await page.locator(".chart svg[role=img]").count(), 11);
  for (const svg of await page.locator(".chart svg[role=img]").all()) {
    assert.ok(await svg.getAttribute("aria-label"));
    const described = await svg.getAttribute("aria-describedby");
    assert.match(await page.locator(`#${described}`).textContent(), /in words/);
  }
  assert.deepEqual(faults, []);
});

test("a sentence of the summary links to its section", async () => {
  const { page, faults } = await browser.open(coffeeReport(), { folded: true });
  assert.equal(await page.locator("#annotators").getAttribute("open"), null);
  await page.locator(".results > summary").click();
  const links = page.locator(".results a");
  assert.deepEqual(await links.allTextContents(), ["Annotators"]);
  await links.first().click();
  assert.match(page.url(), /#annotators$/);
  assert.equal(await page.locator("#annotators:target h2").textContent(), "Annotators");
  await page.locator("#table-annotators").waitFor();
  assert.deepEqual(faults, []);
});

test("a report of several studies has a chooser", async () => {
  const other = {
    ...studyOf({ names: ["tea", "mate", "cocoa"], suspects: 6, seed: 3 }),
    by: "<b>evening</b>",
  };
  const { page, faults } = await browser.open({
    ...reportOf(studyOf({ names: COFFEES, by: "morning" }), other),
    by: "time of day",
  });
  assert.equal(await page.locator(".chooser label").textContent(), "Study where time of day is");
  assert.deepEqual(await page.locator("#chooser option").allTextContents(), [
    "morning",
    "<b>evening</b>",
  ]);
  assert.equal((await rowsOf(page, "ranking")).length, 12);
  await page.locator("#chooser").selectOption({ index: 1 });
  assert.deepEqual((await firsts(page, "ranking", 1)).toSorted(), ["cocoa", "mate", "tea"]);
  await moveSlider(page, 20);
  assert.deepEqual((await rowsOf(page, "ranking")).length, 3);
  await page.waitForFunction(() => document.querySelector("#chart-scores .plot svg"));
  assert.equal(await page.locator("main").count(), 1);
  assert.deepEqual(faults, []);
});

test("the page follows the system's theme and the reader's choice", async () => {
  const colours = (page) =>
    page.evaluate(() => {
      const point = document.querySelector("#chart-scores .plot svg > path.round");
      return [getComputedStyle(document.body).backgroundColor, getComputedStyle(point).stroke];
    });
  const light = ["rgb(246, 247, 249)", "rgb(8, 98, 218)"];
  const dark = ["rgb(15, 18, 22)", "rgb(63, 143, 251)"];
  const { page } = await browser.open(coffeeReport(), { colorScheme: "dark" });
  assert.deepEqual(await colours(page), dark);
  await page.locator(".theme").click();
  assert.deepEqual(await colours(page), light);
  await page.emulateMedia({ colorScheme: "light" });
  await page.locator(".theme").click();
  assert.deepEqual(await colours(page), dark);
  await page.locator(".theme").click();
  assert.deepEqual(await colours(page), light);
});

test("the first screen shows the ranking, and the rest is folded", async () => {
  for (const width of [1200, 400]) {
    const { page, faults } = await browser.open(coffeeReport(), {
      viewport: { width, height: 800 },
      folded: true,
    });
    const top = (selector) =>
      page.locator(selector).evaluate((one) => one.getBoundingClientRect().top);
    assert.equal(await page.locator(".headline strong").textContent(), "74%");
    assert.ok((await top(".headline")) < 200);
    assert.ok((await top("#chart-overview .plot svg")) < 400, `${width}`);
    assert.equal(await page.locator(".summary p").count(), 2);
    assert.equal(await page.locator("details[open]").count(), 0);
    assert.ok(await page.locator("#chart-scores").isVisible());
    assert.ok(await page.locator("#chart-map").isHidden());
    await page.locator("#outliers > summary").click();
    await page.locator("#chart-map .plot svg").waitFor();
    assert.deepEqual(faults, []);
  }
});

test("narrow windows never scroll horizontally", async () => {
  const { page, faults } = await browser.open(coffeeReport(), {
    viewport: { width: 400, height: 800 },
  });
  assert.equal(await overflow(page), 0);
  for (const plot of await page.locator(".plot").all()) {
    assert.ok((await plot.boundingBox()).width <= 400);
  }
  await page.setViewportSize({ width: 900, height: 800 });
  await page.waitForFunction(
    () => document.querySelector("#chart-path .plot svg").clientWidth > 600,
  );
  assert.equal(await overflow(page), 0);
  assert.deepEqual(faults, []);
});
