// Error bars, tiers, ranges of ranks and predictions, in a real browser.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { shadeOf } from "../marks.js";
import { moveSlider, openBrowser, overflow, rowsOf } from "./browser.js";
import { COFFEES, coffeeReport } from "./fixture.js";
import { axesOf, chartOf } from "./fixture-parts.js";

let browser;
before(async () => {
  browser = await openBrowser();
});
after(() => browser.close());

/** A report whose ranking has intervals, and predictions. */
function uncertainReport() {
  const report = coffeeReport();
  const [study] = report.studies;
  const { slider, sections } = study;
  const [section] = sections;
  const scores = slider.scores[slider.chosen];
  const all = Array.from(COFFEES.keys());
  section.charts[0].marks.unshift(
    { kind: "bands", y0: [-0.45, 3.55], y1: [3.45, 11.45], follows: "ranking" },
    {
      kind: "intervals",
      colour: "kind-0",
      width: 1.5,
      x0: scores.map((score) => score - 0.2),
      x1: scores.map((score) => score + 0.3),
      y: all,
      follows: "ranking",
    },
  );
  const [{ columns }] = section.tables;
  const ranks = slider.ranks[slider.chosen];
  columns[0] = {
    ...columns[0],
    kind: "rank",
    values: ranks.map((rank) => [rank, Math.max(1, rank - 1), Math.min(12, rank + 1), rank === 12]),
  };
  const margins = all.map(() => 0.25);
  columns.push({ id: "margin", name: "±", hint: "", kind: "number", values: margins });
  const { labelled, down } = axesOf(COFFEES);
  const cells = all.flatMap((row) =>
    all.flatMap((column) => (row === column ? [] : [[row, column]])),
  );
  sections.push({
    id: "predictions",
    title: "Predictions",
    text: [],
    tables: [],
    charts: [
      chartOf("predictions", "Predictions", labelled("other item"), down("preferred item"), 1, [
        {
          kind: "cells",
          x: cells.map(([, column]) => column),
          y: cells.map(([row]) => row),
          width: 1,
          height: 1,
          value: cells.map(([row, column]) => 0.5 + (column - row) / 24),
          ramp: "diverging",
          hover: {
            from: "cells",
            name: "probability",
            interval: "95% interval",
            intervals: cells.map(() => [0.25, 0.75]),
          },
        },
      ]),
    ],
  });
  return report;
}

test("error bars and bands are drawn in both themes, and at the report's ranking only", async () => {
  const report = uncertainReport();
  const { slider } = report.studies[0];
  for (const colorScheme of ["light", "dark"]) {
    const { page, faults } = await browser.open(report, { colorScheme });
    const bars = page.locator("#chart-scores .intervals");
    const bands = page.locator("#chart-scores .bands");
    // A bar and two caps for each item.
    assert.equal((await bars.getAttribute("d")).split("M").length - 1, 3 * COFFEES.length);
    assert.equal((await bands.getAttribute("d")).split("M").length - 1, 2);
    const fill = await bands.evaluate((path) => getComputedStyle(path).fill);
    assert.match(fill, /^rgba\(.*0\.(07|1)\)$/, "translucent");
    await moveSlider(page, slider.chosen + 1);
    assert.ok((await bars.isHidden()) && (await bands.isHidden()));
    await moveSlider(page, slider.chosen);
    assert.ok((await bars.isVisible()) && (await bands.isVisible()));
    assert.deepEqual(faults, []);
  }
});

test("ranges and margins are listed at the report's ranking only", async () => {
  const report = uncertainReport();
  const { slider } = report.studies[0];
  const { page } = await browser.open(report);
  const columns = async () =>
    (await rowsOf(page, "ranking")).map((row) => [row[0], row[row.length - 1]]);
  const ranked = await columns();
  assert.deepEqual(ranked[0], ["1 (1–2)", "0.250"]);
  assert.deepEqual(ranked[11], ["12 (11–12) *", "0.250"]);
  await moveSlider(page, slider.chosen + 1);
  const moved = await columns();
  assert.deepEqual(
    moved,
    moved.map((_, place) => [String(place + 1), ""]),
  );
  await moveSlider(page, slider.chosen);
  assert.deepEqual(await columns(), ranked);
});

test("predictions have diverging colours and tooltips, and fit a phone", async () => {
  const shades = [0, 0.04, 0.46, 0.5, 0.54, 1].map((value) => shadeOf(value, "diverging"));
  assert.deepEqual(shades, [0, 0, 5, 5, 5, 10]);
  const { page, faults } = await browser.open(uncertainReport(), {
    viewport: { width: 390, height: 800 },
  });
  assert.equal(await overflow(page), 0);
  const plot = page.locator("#chart-predictions .plot");
  assert.ok((await plot.locator("svg").boundingBox()).width <= 390);
  await plot.focus();
  await page.keyboard.press("Home");
  assert.equal(
    (await page.locator(".tip").innerText()).replace(/\s+/g, " "),
    `preferred item ${COFFEES[0]} other item ${COFFEES[1]} probability 54.2% 95% interval 25.0%–75.0%`,
  );
  assert.deepEqual(faults, []);
});
