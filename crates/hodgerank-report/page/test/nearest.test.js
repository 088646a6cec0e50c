import assert from "node:assert/strict";
import { test } from "node:test";
import { stepTo } from "../hover.js";
import { nearestOf, positionOf, REACH, targetsOf } from "../nearest.js";
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
  assert.equal(found(marks, 12, 288).index, 0);
  assert.equal(found(marks, 45, 255).index, 1);
  assert.equal(found(marks, 10, 290 - REACH - 1), null);
});

test("a line is found along its whole length and returns its nearest point", () => {
  assert.equal(found([line("straight")], 80, 300).index, 0);
  assert.equal(found([line("straight")], 120, 303).index, 1);
  assert.equal(found([line("straight")], 290, 210).index, 1);
  assert.equal(found([line("straight")], 399, 101).index, 2);
  // A smooth line is halfway up at its middle and nearly horizontal near its start.
  assert.equal(found([line("smooth")], 300, 200).mark.kind, "line");
  assert.equal(found([line("smooth")], 240, 296).mark.kind, "line");
  assert.equal(found([line("step")], 300, 300).index, 1);
});

test("rectangles are found by their area; points on them take precedence", () => {
  const bars = {
    kind: "bars",
    x0: [0, 20],
    x1: [20, 30],
    y0: [0, 0],
    y1: [10, 10],
    hover: words(2),
  };
  const cells = { kind: "cells", x: [1, 2], y: [1, 1], width: 1, height: 1, hover: words(2) };
  assert.equal(found([bars], 100, 250).index, 0);
  assert.equal(found([bars], 250, 250).index, 1);
  assert.equal(found([bars], 350, 250), null);
  assert.equal(found([cells], 18, 290).index, 1);
  assert.equal(found([bars, points([10], [5])], 103, 252).mark.kind, "points");
  assert.equal(found([bars, points([10], [5])], 130, 252).mark.kind, "bars");
});

test("arrows are found along their length; elements without tooltips are not found", () => {
  const arrow = { kind: "segments", x0: [0], y0: [0], x1: [40], y1: [0], hover: words(1) };
  assert.equal(found([arrow], 200, 305).index, 0);
  assert.equal(found([{ ...arrow, hover: { from: "nothing" } }], 200, 305), null);
  assert.equal(found([{ kind: "texts", x: [1], y: [1], text: ["t"] }], 10, 290), null);
});

test("points that follow the slider are found at their current positions", () => {
  const rows = { from: "rows", table: "t", rows: [1, 0] };
  const slider = { scores: [[3, 8]] };
  const at = { slider, stop: 0, flags: Uint8Array.from([1, 0]) };
  const scores = points([0, 0], [1, 1], { follows: "scores", hover: rows });
  assert.deepEqual(positionOf(scores, 0, frame, at), [80, 290]);
  assert.equal(found([scores], 80, 290, at).index, 0);
  const flags = points([2, 20], [1, 1], { follows: "flags", hover: rows });
  assert.equal(found([flags], 20, 290, at), null);
  assert.equal(found([flags], 200, 290, at).index, 1);
  assert.equal(targetsOf({ marks: [flags] }, at).length, 1);
});

test("the grid finds the same point as an exhaustive search", () => {
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
    const nearestDistance = Math.min(...far);
    assert.equal(far[nearest(x, y).index], nearestDistance);
  }
});

test("arrow keys move between targets and marks", () => {
  const [a, b, c] = ["a", "b", "c"];
  const targets = [a, a, b, b, c].map((mark) => ({ mark }));
  assert.equal(stepTo("ArrowRight", targets, 0), 1);
  assert.equal(stepTo("ArrowRight", targets, 4), 4);
  assert.equal(stepTo("ArrowLeft", targets, 0), 0);
  assert.equal(stepTo("ArrowDown", targets, 0), 2);
  assert.equal(stepTo("ArrowDown", targets, 4), 4);
  assert.equal(stepTo("ArrowUp", targets, 4), 2);
  assert.equal(stepTo("ArrowUp", targets, 3), 0);
  assert.equal(stepTo("Home", targets, 3), 0);
  assert.equal(stepTo("End", targets, 3), 4);
  assert.equal(stepTo("Tab", targets, 3), null);
  assert.equal(stepTo("ArrowLeft", targets, 99), 3);
});
