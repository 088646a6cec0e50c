import assert from "node:assert/strict";
import { test } from "node:test";
import { isDense, rasterPath } from "../raster.js";

/** Returns every square that a path covers, as "column,row". */
function squares(d) {
  const found = new Set();
  for (const [, left, top, length] of d.matchAll(/M(\d+) (\d+)h(\d+)v2h-\d+z/g)) {
    for (let step = 0; step < length / 2; step += 1) {
      const square = `${left / 2 + step},${top / 2}`;
      assert.ok(!found.has(square), `${square} is drawn once`);
      found.add(square);
    }
  }
  return [...found].sort();
}

test("adjacent points become one rectangle", () => {
  const path = rasterPath([0.5, 2.2, 4.9, 10, 0], [0, 1, 1.9, 0, 7]);
  assert.equal(
    path(() => true),
    "M0 0h6v2h-6zM10 0h2v2h-2zM0 6h2v2h-2z",
  );
});

test("only shown points are drawn, each square once", () => {
  const [x, y] = [[], []];
  for (let index = 0; index < 4000; index += 1) {
    x.push((index * 7919) % 331);
    y.push((index * 104729) % 217);
  }
  const path = rasterPath(x, y);
  for (const step of [1, 2, 7]) {
    const isShown = (index) => index % step === 0;
    const wanted = new Set();
    for (const index of x.keys()) {
      if (isShown(index)) {
        wanted.add(`${Math.floor(x[index] / 2)},${Math.floor(y[index] / 2)}`);
      }
    }
    assert.deepEqual(squares(path(isShown)), [...wanted].sort());
  }
  assert.equal(
    path(() => false),
    "",
  );
});

test("few or large points are not drawn on a grid", () => {
  const mark = (length, size) => ({ y: new Array(length).fill(0), size });
  assert.ok(isDense(mark(5000, 1.6)));
  assert.ok(!isDense(mark(100, 1.6)));
  assert.ok(!isDense(mark(5000, 5)));
});
