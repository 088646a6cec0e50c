import assert from "node:assert/strict";
import { test } from "node:test";
import { crowd, isCrowd } from "../crowd.js";

/** Every square that a path covers, as "column,row". */
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

test("points side by side become one piece", () => {
  const path = crowd([0.5, 2.2, 4.9, 10, 0], [0, 1, 1.9, 0, 7]);
  assert.equal(
    path(() => true),
    "M0 0h6v2h-6zM10 0h2v2h-2zM0 6h2v2h-2z",
  );
});

test("only points that are there are drawn, each square once", () => {
  const [x, y] = [[], []];
  for (let place = 0; place < 4000; place += 1) {
    x.push((place * 7919) % 331);
    y.push((place * 104729) % 217);
  }
  const path = crowd(x, y);
  for (const step of [1, 2, 7]) {
    const isThere = (place) => place % step === 0;
    const wanted = new Set();
    for (const place of x.keys()) {
      if (isThere(place)) {
        wanted.add(`${Math.floor(x[place] / 2)},${Math.floor(y[place] / 2)}`);
      }
    }
    assert.deepEqual(squares(path(isThere)), [...wanted].sort());
  }
  assert.equal(
    path(() => false),
    "",
  );
});

test("few or large points are no crowd", () => {
  const mark = (length, size) => ({ y: new Array(length).fill(0), size });
  assert.ok(isCrowd(mark(5000, 1.6)));
  assert.ok(!isCrowd(mark(100, 1.6)));
  assert.ok(!isCrowd(mark(5000, 5)));
});
