// The slider in a real browser.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { cellText } from "../format.js";
import { flaggedAt } from "../state.js";
import { moveSlider, openBrowser, rowsOf } from "./browser.js";
import { COFFEES, coffeeReport, reportOf, studyOf } from "./fixture.js";

let browser;
before(async () => {
  browser = await openBrowser();
});
after(() => browser.close());

const firsts = async (page, table, column) => (await rowsOf(page, table)).map((row) => row[column]);

test("the ranking and the flags show the values of each stop", async () => {
  const report = coffeeReport();
  const [study] = report.studies;
  const { slider } = study;
  const { page, faults } = await browser.open(report);
  const suspects = study.sections[2].tables[0].columns;
  const panel = page.locator(".slider");
  assert.equal(await panel.getAttribute("data-stop"), String(slider.chosen));
  for (const stop of [slider.chosen, ...slider.at.keys()]) {
    await moveSlider(page, stop);
    const order = Array.from(COFFEES.keys()).sort(
      (a, b) => slider.ranks[stop][a] - slider.ranks[stop][b],
    );
    const wanted = order.map((item) => [
      String(slider.ranks[stop][item]),
      COFFEES[item],
      slider.scores[stop][item].toFixed(3).replace(/^-(0\.000)$/, "$1"),
      String(slider.item_flagged[stop][item]),
    ]);
    const shown = await rowsOf(page, "ranking");
    assert.deepEqual(
      shown.map((row) => row.slice(0, 4)),
      wanted,
    );
    const flagged = slider.turns.flatMap((turns, row) => (flaggedAt(turns, stop) ? [row] : []));
    assert.deepEqual(
      await rowsOf(page, "suspects"),
      flagged.map((row) => suspects.map((column) => cellText(column, row, COFFEES))),
    );
    assert.match(
      await panel.locator("output").textContent(),
      new RegExp(`^${slider.flagged[stop]} votes? flagged`),
    );
    const paths = await page
      .locator("#chart-map .plot svg > path")
      .evaluateAll((all) => all.map((path) => path.getAttribute("d")));
    const drawn = paths.join("").split("M").length - 1;
    assert.equal(drawn, flagged.length, "one mark on the map per flagged vote");
    const votes = await panel
      .locator(".bar span")
      .evaluateAll((all) => all.map((part) => Number.parseFloat(part.style.width)));
    for (const [index, name] of ["agree", "disagree", "share"].entries()) {
      assert.ok(Math.abs(votes[index] - 100 * slider[name][stop]) < 0.01);
    }
    assert.ok(Math.abs(votes.reduce((sum, part) => sum + part) - 100) < 0.01);
  }
  await page.getByRole("button", { name: "Back to the report’s ranking" }).click();
  assert.equal(await panel.getAttribute("data-stop"), String(slider.chosen));
  assert.deepEqual(faults, []);
});

test("points and the line of the path follow the slider", async () => {
  const report = coffeeReport();
  const { slider } = report.studies[0];
  const { page } = await browser.open(report);
  const cursor = page.locator("#chart-path .cursor");
  const at = async () => Number((await cursor.getAttribute("d")).match(/M([\d.]+)/)[1]);
  await moveSlider(page, 0);
  const start = await at();
  await moveSlider(page, 20);
  const end = await at();
  await moveSlider(page, 10);
  const part = slider.share[10] / slider.share[20];
  assert.ok(Math.abs((await at()) - start - part * (end - start)) < 0.2);
  const positions = () => page.locator("#chart-scores .plot svg > path.round").getAttribute("d");
  const middle = await positions();
  await moveSlider(page, 20);
  assert.notEqual(await positions(), middle);
});

test("the slider works by keyboard and keeps sorting and filter", async () => {
  const names = [...COFFEES, "tea", "mate", "cocoa"];
  const report = reportOf(studyOf({ names }));
  const { slider } = report.studies[0];
  const { page } = await browser.open(report);
  await page.locator("#table-ranking thead button").nth(2).click();
  await page.locator("#table-ranking input").fill("an");
  await page.locator("#stop").focus();
  await page.keyboard.press("End");
  assert.equal(await page.locator(".slider").getAttribute("data-stop"), "20");
  const named = Array.from(names.keys()).filter((item) => /an/i.test(names[item]));
  named.sort((a, b) => slider.scores[20][a] - slider.scores[20][b]);
  assert.deepEqual(
    await firsts(page, "ranking", 1),
    named.map((item) => names[item]),
  );
  const count = await page.locator("#table-ranking .count").textContent();
  assert.equal(count, `${named.length} of 15 rows`);
  const text = await page.locator("#stop").getAttribute("aria-valuetext");
  assert.match(text, new RegExp(`^${slider.flagged[20]} votes flagged .*λ = 0\\.01563`));
});

test("a study without a path has no slider and its tables stay", async () => {
  const { slider: _, ...study } = studyOf({ names: COFFEES });
  const { page, faults } = await browser.open(reportOf(study));
  assert.equal(await page.locator(".slider").count(), 0);
  assert.equal((await rowsOf(page, "suspects")).length, 60);
  assert.deepEqual(faults, []);
});
