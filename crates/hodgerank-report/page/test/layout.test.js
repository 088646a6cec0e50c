import assert from "node:assert/strict";
import { test } from "node:test";
import { drawnWidth, layoutOf } from "../layout.js";

const measure = (text) => 7 * text.length;
const axis = (kind, from, to, labels) => ({ name: "axis", from, to, ticks: { kind, labels } });
const names = (count, length) => new Array(count).fill("x".repeat(length));
const chart = (x, y, aspect = 0.5, marks = []) => ({ x, y, aspect, marks });

test("labels on the left take at most 35% of the width", () => {
  const long = chart(axis("numbers", 0, 1), axis("labels", -0.5, 4.5, names(5, 60)));
  for (const width of [300, 400, 1000]) {
    const frame = layoutOf(long, width, measure);
    assert.ok(frame.left <= 0.35 * width, `${frame.left} of ${width}`);
    assert.ok(frame.right <= width && frame.right - frame.left > 0.5 * width);
  }
});

test("the ends of the axes are the ends of the plotting area", () => {
  const frame = layoutOf(chart(axis("numbers", 0, 1), axis("numbers", 9, 3)), 800, measure);
  assert.deepEqual([frame.x(0), frame.x(1)], [frame.left, frame.right]);
  assert.deepEqual([frame.y(9), frame.y(3)], [frame.bottom, frame.top]);
  assert.ok(frame.height > frame.bottom);
});

test("a narrow chart stays legible; a chart with a fixed aspect ratio keeps it", () => {
  const plain = layoutOf(chart(axis("numbers", 0, 1), axis("numbers", 0, 1)), 350, measure);
  assert.equal(plain.bottom - plain.top, 210);
  const many = chart(axis("numbers", 0, 1), axis("labels", -0.5, 29.5, names(30, 4)), 1);
  const lines = layoutOf(many, 350, measure);
  assert.ok(lines.yTicks.length === 30, "all labels fit");
  for (const kind of ["hidden", "labels"]) {
    const side = axis(kind, -0.5, 11.5, names(12, 4));
    for (const width of [300, 1100]) {
      const frame = layoutOf(chart(side, side, 1), width, measure);
      assert.ok(Math.abs(frame.bottom - frame.top - (frame.right - frame.left)) < 1e-9);
    }
  }
});

test("the cells of a matrix are never tiny: it is wider than a narrow window", () => {
  const matrix = (count) => {
    const side = axis("labels", -0.5, count - 0.5, names(count, 12));
    return chart(side, side, 1);
  };
  assert.equal(drawnWidth(matrix(12), 380), 380);
  const width = drawnWidth(matrix(60), 380);
  const frame = layoutOf(matrix(60), width, measure);
  assert.ok((frame.right - frame.left) / 60 >= 9, `${width}`);
  assert.equal(drawnWidth(chart(axis("numbers", 0, 1), axis("numbers", 0, 1)), 380), 380);
});

test("labels below the axis are slanted if they do not fit", () => {
  const below = (length) =>
    chart(axis("labels", -0.5, 5.5, names(6, length)), axis("numbers", 0, 1));
  assert.equal(layoutOf(below(4), 800, measure).slanted, false);
  assert.equal(layoutOf(below(30), 800, measure).slanted, true);
  assert.equal(layoutOf(below(30), 800, measure).xTicks.length, 6);
});

test("texts beyond the edge widen the margin", () => {
  const texts = { kind: "texts", anchor: "start", x: [1], y: [0], text: ["x".repeat(20)] };
  const sides = [axis("numbers", 0, 1), axis("numbers", 0, 1)];
  const without = layoutOf(chart(...sides), 800, measure);
  const frame = layoutOf(chart(...sides, 0.5, [texts]), 800, measure);
  assert.ok(frame.right + 140 <= 800, `${frame.right}`);
  assert.ok(without.right > frame.right);
});
