import assert from "node:assert/strict";
import { test } from "node:test";
import { stepTo } from "../hover.js";
import { nearestOf, piecesOf, placeOf, REACH } from "../nearest.js";
import { randomFrom } from "./fixture.js";

const frame = { width: 600, x: (value) => 10 * value, y: (value) => 300 - 10 * value };
const state = { slider: null, flags: null };
const words = (count) => ({ from: "words", words: new Array(count).fill("w") });
const points = (x, y, more = {}) => ({
  kind: "points",
  size: 3,
  x,
  y,
  hover: words(x.length),
  ...more,
});
const line = (curve) => ({ kind: "line", curve, x: [0, 20, 40], y: [0, 0, 20], hover: "line" });

const found = (marks, x, y, at = state) => nearestOf({ marks }, frame, at)(x, y);

test("points are found within reach", () => {
  const marks = [points([1, 5], [1, 5])];
  assert.equal(found(marks, 12, 288).place, 0);
  assert.equal(found(marks, 45, 255).place, 1);
  assert.equal(found(marks, 10, 290 - REACH - 1), null);
});

test("a line is found anywhere along it and tells its nearest point", () => {
  assert.equal(found([line("straight")], 80, 300).place, 0);
  assert.equal(found([line("straight")], 120, 303).place, 1);
  assert.equal(found([line("straight")], 290, 210).place, 1);
  assert.equal(found([line("straight")], 399, 101).place, 2);
  // Halfway up a smooth line is halfway, near its start it is still level.
  assert.equal(found([line("smooth")], 300, 200).mark.kind, "line");
  assert.equal(found([line("smooth")], 240, 296).mark.kind, "line");
  assert.equal(found([line("step")], 300, 300).place, 1);
});

test("rectangles are found by what is inside, and give way to points on them", () => {
  const bars = {
    kind: "bars",
    x0: [0, 20],
    x1: [20, 30],
    y0: [0, 0],
    y1: [10, 10],
    hover: words(2),
  };
  const cells = { kind: "cells", x: [1, 2], y: [1, 1], width: 1, height: 1, hover: words(2) };
  assert.equal(found([bars], 100, 250).place, 0);
  assert.equal(found([bars], 250, 250).place, 1);
  assert.equal(found([bars], 350, 250), null);
  assert.equal(found([cells], 18, 290).place, 1);
  assert.equal(found([bars, points([10], [5])], 103, 252).mark.kind, "points");
  assert.equal(found([bars, points([10], [5])], 130, 252).mark.kind, "bars");
});

test("arrows are found along their way; what says nothing is not found", () => {
  const arrow = { kind: "segments", x0: [0], y0: [0], x1: [40], y1: [0], hover: words(1) };
  assert.equal(found([arrow], 200, 305).place, 0);
  assert.equal(found([{ ...arrow, hover: { from: "nothing" } }], 200, 305), null);
  assert.equal(found([{ kind: "texts", x: [1], y: [1], text: ["t"] }], 10, 290), null);
});

test("points that follow are where the stop has them", () => {
  const rows = { from: "rows", table: "t", rows: [1, 0] };
  const slider = { scores: [[3, 8]] };
  const at = { slider, stop: 0, flags: Uint8Array.from([1, 0]) };
  const scores = points([0, 0], [1, 1], { follows: "scores", hover: rows });
  assert.deepEqual(placeOf(scores, 0, frame, at), [80, 290]);
  assert.equal(found([scores], 80, 290, at).place, 0);
  const flags = points([2, 20], [1, 1], { follows: "flags", hover: rows });
  assert.equal(found([flags], 20, 290, at), null);
  assert.equal(found([flags], 200, 290, at).place, 1);
  assert.equal(piecesOf({ marks: [flags] }, at).length, 1);
});

test("the grid of many points finds what a search of all finds", () => {
  const random = randomFrom(5);
  const many = Array.from({ length: 5000 }, () => [60 * random(), 30 * random()]);
  const marks = [
    points(
      many.map(([x]) => x),
      many.map(([, y]) => y),
    ),
  ];
  const nearest = nearestOf({ marks }, frame, state);
  for (let trial = 0; trial < 200; trial += 1) {
    const [x, y] = [600 * random(), 300 * random()];
    const far = many.map(([a, b]) => Math.hypot(frame.x(a) - x, frame.y(b) - y));
    const least = Math.min(...far);
    assert.equal(far[nearest(x, y).place], least);
  }
});

test("arrow keys walk pieces and marks", () => {
  const [a, b, c] = ["a", "b", "c"];
  const pieces = [a, a, b, b, c].map((mark) => ({ mark }));
  assert.equal(stepTo("ArrowRight", pieces, 0), 1);
  assert.equal(stepTo("ArrowRight", pieces, 4), 4);
  assert.equal(stepTo("ArrowLeft", pieces, 0), 0);
  assert.equal(stepTo("ArrowDown", pieces, 0), 2);
  assert.equal(stepTo("ArrowDown", pieces, 4), 4);
  assert.equal(stepTo("ArrowUp", pieces, 4), 2);
  assert.equal(stepTo("ArrowUp", pieces, 3), 0);
  assert.equal(stepTo("Home", pieces, 3), 0);
  assert.equal(stepTo("End", pieces, 3), 4);
  assert.equal(stepTo("Tab", pieces, 3), null);
  assert.equal(stepTo("ArrowLeft", pieces, 99), 3);
});
