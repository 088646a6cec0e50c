// Labels are data and are always shown as text.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { visible } from "../format.js";
import { openBrowser, overflow, rowsOf } from "./browser.js";
import { reportOf, studyOf } from "./fixture.js";
import { HOSTILE } from "./hostile.js";

let browser;
before(async () => {
  browser = await openBrowser();
});
after(() => browser.close());

function hostileReport() {
  const study = studyOf({ names: HOSTILE });
  study.summary.push(...HOSTILE.map((text) => ({ text, section: text })));
  study.warnings.push(HOSTILE[0]);
  study.facts.push({ name: HOSTILE[2], value: HOSTILE[4] });
  const [ranking, , outliers] = study.sections;
  ranking.charts[0].title = HOSTILE[1];
  ranking.charts[0].alt = HOSTILE[2];
  ranking.charts[0].legend[0].name = HOSTILE[5];
  ranking.title = HOSTILE[4].slice(0, 300);
  outliers.tables[0].columns[3].name = HOSTILE[2];
  outliers.tables[0].columns[3].hint = HOSTILE[0];
  outliers.tables[0].columns[3].values = outliers.tables[0].columns[3].values.map(
    (_, row) => HOSTILE[row % HOSTILE.length],
  );
  const other = studyOf({ names: ["a", "b"], suspects: 4, by: HOSTILE[0] });
  return { ...reportOf({ ...study, by: HOSTILE[4] }, other), title: HOSTILE[1] };
}

for (const width of [1200, 400]) {
  test(`hostile labels stay text, ${width} pixels wide`, async () => {
    const { page, faults } = await browser.open(hostileReport(), {
      viewport: { width, height: 900 },
    });
    assert.equal(await page.title(), HOSTILE[1]);
    assert.equal(await page.locator("h1").textContent(), HOSTILE[1]);
    assert.equal(await page.locator("img, iframe, object, embed").count(), 0);
    assert.equal(await page.locator("script").count(), 2);
    assert.equal(await overflow(page), 0);
    const names = page.locator("#table-ranking tbody tr td:nth-child(2)");
    const shown = await names.evaluateAll((cells) =>
      cells.map((cell) => (cell.querySelector("details > bdi") ?? cell).textContent),
    );
    assert.deepEqual(shown.toSorted(), HOSTILE.map(visible).toSorted());
    assert.equal(await page.locator("#table-ranking details.long").count(), 2);
    for (const row of await page.locator("#table-ranking tbody tr").all()) {
      assert.ok((await row.boundingBox()).height < 400, "a collapsed row stays low");
    }
    await page.locator("#table-suspects input").fill("alert(1)");
    const found = await rowsOf(page, "suspects");
    assert.ok(found.length > 0 && found.every((row) => row.join().includes("alert(1)")));
    await page.locator("#chart-scores .plot").focus();
    await page.keyboard.press("Home");
    assert.equal(await page.locator(".tip p").first().textContent(), "<script>alert(1)</script>");
    for (let press = 0; press < 24; press += 1) {
      await page.keyboard.press("ArrowRight");
      const box = await page.locator(".tip").boundingBox();
      assert.ok(box.width <= width && box.x >= 0 && box.x + box.width <= width);
    }
    await page.locator("#chooser").selectOption({ index: 1 });
    await page.locator("#chooser").selectOption({ index: 0 });
    assert.equal(await overflow(page), 0);
    assert.deepEqual(faults, []);
  });
}
