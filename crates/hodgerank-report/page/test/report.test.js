// Reports written by the program itself; HODGERANK_BIN is its path.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { cellText } from "../format.js";
import { flaggedAt } from "../state.js";
import { moveSlider, openAll, openBrowser, overflow, rowsOf } from "./browser.js";
import { COFFEES, randomFrom } from "./fixture.js";
import { HOSTILE } from "./hostile.js";

const PROGRAM = process.env.HODGERANK_BIN;
const skip = !PROGRAM && process.env.SKIP_PROGRAM === "1" ? "SKIP_PROGRAM=1" : false;

let browser;
before(async () => {
  if (!PROGRAM && !skip) {
    throw new Error("set HODGERANK_BIN to the built program, or SKIP_PROGRAM=1 to leave this out");
  }
  browser = skip ? null : await openBrowser();
});
after(() => browser?.close());

const quoted = (text) => `"${text.replaceAll('"', '""')}"`;

/**
 * Returns the votes of a made-up study: earlier names are better, some votes say the opposite, and
 * taster 4 always chooses the left.
 */
function votesOf(names, seed) {
  const random = randomFrom(seed);
  const rows = ["left,right,winner,annotator,scene"];
  for (let vote = 0; vote < 60 * names.length; vote += 1) {
    const left = Math.floor(random() * names.length);
    const right = (left + 1 + Math.floor(random() * (names.length - 1))) % names.length;
    const honest = random() > 0.12;
    const taster = vote % 5;
    const winner = left < right === honest || taster === 4 ? "left" : "right";
    const cells = [names[left], names[right], winner, `taster ${taster}`, `<i>${vote % 2}</i>`];
    rows.push(cells.map(quoted).join(","));
  }
  return `${rows.join("\n")}\n`;
}

/** Writes votes, creates their report and opens it. */
async function opened(names, flags = [], options = {}) {
  const [votes, file] = ["votes.csv", "report.html"].map((name) => join(browser.folder, name));
  writeFileSync(votes, votesOf(names, 11));
  execFileSync(PROGRAM, ["report", votes, "-o", file, ...flags], { stdio: "pipe" });
  const { page, faults } = await browser.openFile(file, options);
  const data = await page.locator("#report").evaluate((element) => element.textContent);
  return { page, faults, report: JSON.parse(data) };
}

const tableOf = (study, id) =>
  study.sections.flatMap((section) => section.tables).find((table) => table.id === id);

/** Checks that every stop shows its ranking and flagged votes. */
async function checkStops(page, study) {
  const { slider, items } = study;
  const ranking = tableOf(study, "ranking");
  const suspects = tableOf(study, "suspects");
  const last = slider.at.length - 1;
  for (const stop of new Set([slider.chosen, 0, 1, last >> 1, last])) {
    await moveSlider(page, stop);
    const follow = { rank: slider.ranks, score: slider.scores, flagged: slider.item_flagged };
    const valuesOf = ({ id, values }) => {
      if (stop === slider.chosen) {
        return values;
      }
      return ["margin", "tier"].includes(id)
        ? values.map(() => null)
        : (follow[id]?.[stop] ?? values);
    };
    const columns = ranking.columns.map((column) => ({ ...column, values: valuesOf(column) }));
    const rows = Array.from(slider.ranks[stop].keys());
    rows.sort((a, b) => slider.ranks[stop][a] - slider.ranks[stop][b] || a - b);
    const texts = (table, row) => table.map((column) => cellText(column, row, items));
    const shown = await wholeRows(page, "ranking");
    assert.deepEqual(shown, rows.map((row) => texts(columns, row)).slice(0, shown.length));
    const flagged = slider.turns.flatMap((turns, row) => (flaggedAt(turns, stop) ? [row] : []));
    const listed = await wholeRows(page, "suspects");
    assert.ok(listed.length === flagged.length || listed.length >= 50);
    const wanted = flagged.slice(0, listed.length);
    const votes = suspects.columns.find((column) => column.id === "votes");
    // At other stops than that of the ranking, all votes of a row are flagged.
    const flags = suspects.columns.map((column) =>
      column.id === "flagged" && stop !== slider.chosen
        ? { ...column, values: votes.values }
        : column,
    );
    assert.deepEqual(
      listed,
      wanted.map((row) => texts(flags, row)),
    );
  }
}

/** Returns rows with long texts in full. */
function wholeRows(page, table) {
  return page
    .locator(`#table-${table} tbody tr`)
    .evaluateAll((rows) =>
      rows.map((row) =>
        Array.from(row.cells, (cell) => (cell.querySelector("details > bdi") ?? cell).textContent),
      ),
    );
}

test("a report opens, and its slider shows the path", { skip }, async () => {
  const { page, faults, report } = await opened(COFFEES);
  assert.equal(report.schema, "hodgerank/report/1");
  const charts = report.studies[0].sections.flatMap((section) => section.charts);
  assert.ok(charts.length > 0);
  for (const chart of charts) {
    const svg = page.locator(`#chart-${chart.id} .plot svg`);
    assert.equal(await svg.getAttribute("aria-label"), chart.title);
    assert.doesNotMatch(await svg.evaluate((drawing) => drawing.outerHTML), /NaN|undefined/);
  }
  await checkStops(page, report.studies[0]);
  for (const plot of await page.locator(".plot").all()) {
    await plot.focus();
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowRight");
  }
  assert.deepEqual(faults, []);
});

test("annotators are judged, and the summary links to them", { skip }, async () => {
  const { page, faults } = await opened(COFFEES);
  const sentence = page.locator(".results p", { has: page.locator("a") });
  assert.equal(
    await sentence.textContent(),
    "1 annotator always chooses the same side: taster 4. See Annotators.",
  );
  const [first] = await rowsOf(page, "annotators");
  assert.deepEqual(first.slice(0, 3), ["taster 4", "always left", "left"]);
  await page.locator("#chart-annotators .plot").focus();
  await page.keyboard.press("End");
  assert.match(await page.locator(".tip").textContent(), /^taster 4: always left/);
  assert.deepEqual(faults, []);
});

test("hostile labels of a file stay text", { skip }, async () => {
  const names = HOSTILE.filter((name) => name !== "" && !name.includes("\u0000"));
  const { page, faults, report } = await opened(names, [], {
    viewport: { width: 400, height: 800 },
  });
  assert.equal(await page.locator("img, iframe, object, embed").count(), 0);
  assert.equal(await page.locator("script").count(), 2);
  assert.equal(await overflow(page), 0);
  await checkStops(page, report.studies[0]);
  assert.deepEqual(faults, []);
});

test("a report by the values of a column has a chooser", { skip }, async () => {
  const { page, faults, report } = await opened(COFFEES, ["--by", "scene"]);
  assert.deepEqual(
    await page.locator("#chooser option").allTextContents(),
    report.studies.map((study) => study.by),
  );
  assert.deepEqual(
    report.studies.map((study) => study.by),
    ["<i>0</i>", "<i>1</i>"],
  );
  assert.equal(await page.locator(".chooser label").textContent(), "Study where scene is");
  await page.locator("#chooser").selectOption({ index: 1 });
  await page.evaluate(openAll);
  await checkStops(page, report.studies[1]);
  assert.ok((await rowsOf(page, "ranking")).length > 0);
  assert.deepEqual(faults, []);
});

test("the ranking shows error bars, tiers and ranges, and predictions follow it", {
  skip,
}, async () => {
  const { page, faults, report } = await opened(COFFEES);
  assert.match(report.studies[0].summary[0].text, /settled|certain/);
  assert.ok(await page.locator("#chart-ranking .intervals").isVisible());
  assert.ok(await page.locator("#chart-ranking .bands").isVisible());
  const heads = await page.locator("#table-ranking th").allTextContents();
  assert.ok(heads.includes("±") && heads.includes("tier"), heads.join());
  await page.locator("#chart-predictions .plot").focus();
  await page.keyboard.press("Home");
  assert.match(await page.locator(".tip").innerText(), /probability\s+\d+\.\d%\s+95% interval/);
  assert.deepEqual(faults, []);
});

/** Writes the report of the demo and opens it. */
async function openedDemo(options) {
  const file = join(browser.folder, "demo.html");
  execFileSync(PROGRAM, ["demo", "-o", file], { stdio: "pipe" });
  return browser.openFile(file, options);
}

test("the demo's ranking is on the first screen of a window and of a phone", { skip }, async () => {
  for (const width of [1200, 400]) {
    const viewport = { width, height: 800 };
    const { page, faults } = await openedDemo({ viewport, folded: true });
    const drawing = await page.locator("#chart-overview .plot svg").boundingBox();
    assert.ok(drawing.y + drawing.height < 800, `${width}: ends at ${drawing.y + drawing.height}`);
    const headline = await page.locator(".headline").textContent();
    assert.match(
      headline,
      /^\d+% of votes agree with this ranking; careful annotators would reach/,
    );
    assert.equal(await page.locator(".summary p").count(), 3);
    assert.equal(await overflow(page), 0);
    assert.deepEqual(faults, []);
  }
});

test("the demo prints on five pages at most", { skip }, async () => {
  const { page } = await openedDemo({ folded: true });
  const pdf = await page.pdf({ preferCSSPageSize: true });
  const pages = pdf.toString("latin1").match(/\/Type\s*\/Page\b/g).length;
  assert.ok(pages >= 2 && pages <= 5, `${pages} pages`);
});
