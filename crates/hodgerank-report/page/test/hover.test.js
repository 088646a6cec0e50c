// Tooltips by pointer, touch and arrow keys, in a real browser.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { moveSlider, openBrowser } from "./browser.js";
import { coffeeReport } from "./fixture.js";

let browser;
before(async () => {
  browser = await openBrowser();
});
after(() => browser.close());

test("tooltips show exact values of rows, texts and lines", async () => {
  const report = coffeeReport();
  const { slider } = report.studies[0];
  const { page, faults } = await browser.open(report);
  const tip = page.locator(".tip");
  const over = async (chart, x, y) => {
    const plot = page.locator(`#chart-${chart} .plot svg`);
    await plot.scrollIntoViewIfNeeded();
    const box = await plot.boundingBox();
    await page.mouse.move(box.x + x, box.y + y);
  };
  // The position of the first robust score, read from the drawing.
  const d = await page.locator("#chart-scores .plot svg > path.round").getAttribute("d");
  const [, x, y] = d.match(/^M([\d.]+) ([\d.]+)/).map(Number);
  await over("scores", x, y);
  const text = await tip.innerText();
  assert.match(text, /Yirgacheffe/);
  assert.ok(text.includes(slider.scores[slider.chosen][0].toFixed(3)), text);
  const bar = await page.locator("#chart-hodge .plot svg").boundingBox();
  await over("hodge", bar.width * 0.3, bar.height * 0.35);
  assert.ok(await tip.isVisible());
  assert.deepEqual(await tip.locator("p").allTextContents(), ["gradient", "62.0%"]);
  const line = await page.locator("#chart-strength .plot svg > path.line").getAttribute("d");
  const [, lx, ly] = line.match(/^M([\d.]+) ([\d.]+)/).map(Number);
  await over("strength", lx + 2, ly);
  assert.equal((await tip.innerText()).replace(/\s+/g, " "), "flagged λ 0.0001 share 28.00%");
  await over("strength", 1, 1);
  assert.ok(await tip.isHidden());
  assert.deepEqual(faults, []);
});

test("votes that are not flagged at the stop have no tooltip", async () => {
  const { page } = await browser.open(coffeeReport());
  await moveSlider(page, 20);
  const path = page.locator("#chart-map .plot svg > path.round");
  const [, x, y] = (await path.getAttribute("d")).match(/^M([\d.]+) ([\d.]+)/).map(Number);
  const svg = page.locator("#chart-map .plot svg");
  const point = async () => {
    await svg.scrollIntoViewIfNeeded();
    const box = await svg.boundingBox();
    await page.mouse.move(box.x + x + 1, box.y + y);
    await page.mouse.move(box.x + x, box.y + y);
  };
  await point();
  assert.match(await page.locator(".tip").innerText(), /residual/);
  await moveSlider(page, 0);
  await point();
  assert.ok(await page.locator(".tip").isHidden());
});

test("arrow keys and touch show tooltips", async () => {
  const { page } = await browser.open(coffeeReport(), { hasTouch: true });
  const tip = page.locator(".tip");
  const plot = page.locator("#chart-graph .plot");
  await plot.focus();
  await page.keyboard.press("Home");
  assert.equal(await tip.innerText(), "Yirgacheffe");
  await page.keyboard.press("ArrowRight");
  assert.equal(await tip.innerText(), "Sidamo");
  await page.keyboard.press("ArrowLeft");
  assert.equal(await tip.innerText(), "Yirgacheffe");
  await page.keyboard.press("Escape");
  assert.ok(await tip.isHidden());
  await page.locator("#chart-bump .plot").focus();
  await page.keyboard.press("ArrowDown");
  assert.match(await tip.innerText(), /^Sidamo/);
  const bar = page.locator("#chart-hodge .plot svg");
  await bar.scrollIntoViewIfNeeded();
  const box = await bar.boundingBox();
  await page.touchscreen.tap(box.x + box.width * 0.3, box.y + box.height * 0.35);
  assert.ok(await tip.isVisible());
  assert.deepEqual(await tip.locator("p").allTextContents(), ["gradient", "62.0%"]);
});
