// The page in print.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { thousands } from "../format.js";
import { moveSlider, openBrowser, overflow, rowsOf } from "./browser.js";
import { COFFEES, coffeeReport, reportOf, studyOf } from "./fixture.js";

/** A4 without its margins of 14 mm, in pixels of CSS. */
const PAPER = Math.floor(((210 - 28) / 25.4) * 96);

let browser;
before(async () => {
  browser = await openBrowser();
});
after(() => browser.close());

test("in print nothing is wider than the page and controls are hidden", async () => {
  const { page, faults } = await browser.open(coffeeReport(), {
    viewport: { width: PAPER, height: 1000 },
    colorScheme: "dark",
  });
  await page.locator(".theme").click();
  await page.locator(".theme").click();
  await page.emulateMedia({ media: "print" });
  await page.waitForFunction(
    () => document.querySelector("#chart-path svg").getAttribute("width") === "660",
  );
  assert.equal(await overflow(page), 0);
  const wide = await page.evaluate((room) => {
    const all = Array.from(document.querySelectorAll("main *"));
    return all.filter((one) => one.getBoundingClientRect().right > room + 0.5).length;
  }, PAPER);
  assert.equal(wide, 0);
  for (const control of [".slider", "#stop", ".help", ".tools", ".theme", ".back", ".tip"]) {
    assert.ok(await page.locator(control).first().isHidden(), control);
  }
  const look = await page.evaluate(() => [
    getComputedStyle(document.body).backgroundColor,
    getComputedStyle(document.querySelector(".chart")).breakInside,
  ]);
  assert.deepEqual(look, ["rgb(255, 255, 255)", "avoid"]);
  await page.emulateMedia({ media: "screen" });
  await page.waitForFunction(
    () => document.querySelector("#chart-path svg").getAttribute("width") !== "660",
  );
  assert.deepEqual(faults, []);
});

test("print names the study", async () => {
  const studies = ["morning", "evening"].map((by) => studyOf({ names: COFFEES, by }));
  const { page } = await browser.open({ ...reportOf(...studies), by: "time" });
  assert.ok(await page.locator(".by").isHidden());
  await page.locator("#chooser").selectOption({ index: 1 });
  await page.emulateMedia({ media: "print" });
  assert.ok(await page.locator(".by").isVisible());
  assert.equal(await page.locator(".by").textContent(), "Study where time is evening");
  assert.ok(await page.locator("#chooser").isHidden());
});

test("print has what is open and the main sections", async () => {
  const { page } = await browser.open(coffeeReport(), { folded: true });
  await page.locator("#consistency > summary").click();
  await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
  await page.emulateMedia({ media: "print" });
  for (const [id, isPrinted] of [
    ["outliers", true],
    ["consistency", true],
    ["path", false],
  ]) {
    assert.equal(await page.locator(`#${id}`).isVisible(), isPrinted, id);
  }
  assert.ok(await page.locator("#chart-map .plot svg").isVisible());
  await page.emulateMedia({ media: "screen" });
  await page.evaluate(() => window.dispatchEvent(new Event("afterprint")));
  const open = await page
    .locator("details.part[open]")
    .evaluateAll((all) => all.map(({ id }) => id));
  assert.deepEqual(open, ["consistency"]);
});

test("print has up to 20 rows of a list and says how many are omitted", async () => {
  const { page } = await browser.open(reportOf(studyOf({ names: COFFEES, suspects: 1200 })));
  await moveSlider(page, 20);
  const { length: all } = await page.evaluate(() => ({
    length: Number(
      document.querySelector("#table-suspects .count").textContent.split(" ")[0].replace(",", ""),
    ),
  }));
  await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
  await page.emulateMedia({ media: "print" });
  assert.equal((await rowsOf(page, "suspects")).length, 20);
  const rest = page.locator("#table-suspects .unprinted");
  assert.ok(await rest.isVisible());
  assert.equal(await rest.textContent(), `${thousands(all - 20)} more rows are not printed.`);
  await page.emulateMedia({ media: "screen" });
  await page.evaluate(() => window.dispatchEvent(new Event("afterprint")));
  assert.equal((await rowsOf(page, "suspects")).length, 50);
  const pdf = await page.pdf({ preferCSSPageSize: true });
  assert.ok(pdf.length > 10000);
});
