import assert from "node:assert/strict";
import { test } from "node:test";
import { linear, roundTicks, strideFor, ticksOf } from "../scale.js";

const texts = (axis, room, gap) => ticksOf(axis, room, gap).map(({ text }) => text);

test("a scale maps ends to ends, also reversed", () => {
  const scale = linear(10, 20, 300, 100);
  assert.deepEqual([10, 15, 20].map(scale), [300, 200, 100]);
  assert.equal(linear(3, 3, 5, 9)(3), 5);
});

test("ticks are round, inside the axis, and few enough", () => {
  assert.deepEqual(roundTicks(0, 1, 5), { values: [0, 0.2, 0.4, 0.6, 0.8, 1], digits: 1 });
  assert.deepEqual(roundTicks(-2, 2, 4).values, [-2, -1, 0, 1, 2]);
  assert.deepEqual(roundTicks(12.5, 0.5, 6).values, [2, 4, 6, 8, 10, 12]);
  assert.deepEqual(roundTicks(0, 0.3, 3).values, [0, 0.1, 0.2, 0.3]);
  assert.deepEqual(roundTicks(5, 5, 3).values, [5]);
  for (const width of [1e-7, 0.03, 7, 12345, 8e9]) {
    for (const most of [1, 3, 10]) {
      const { values } = roundTicks(0.1 * width, 1.1 * width, most);
      assert.ok(values.length <= Math.max(most + 1, 5), `${values.length} ticks for ${most}`);
      assert.ok(values.every((value) => value >= 0.0999 * width && value <= 1.1001 * width));
    }
  }
});

test("an axis has more than one tick, however short it is", () => {
  for (const [from, to] of [
    [-0.9, 0.9],
    [-3, 3.4],
    [0.55, 0.98],
    [-0.02, 1.7],
    [12, 47],
  ]) {
    for (const length of [40, 120, 200]) {
      const axis = { from, to, ticks: { kind: "numbers" } };
      assert.ok(texts(axis, length, 64).length > 1, `${from} to ${to} on ${length} pixels`);
    }
  }
});

test("each kind of axis has its own ticks", () => {
  const axis = (from, to, kind, labels) => ({ from, to, ticks: { kind, labels } });
  assert.deepEqual(texts(axis(0, 5000, "numbers"), 150, 50), ["0", "2,000", "4,000"]);
  assert.deepEqual(texts(axis(-0.5, 0.5, "numbers"), 100, 50), ["-0.5", "0.0", "0.5"]);
  assert.deepEqual(texts(axis(0, 0.2, "shares"), 200, 50), ["0%", "5%", "10%", "15%", "20%"]);
  assert.deepEqual(texts(axis(0, 0.01, "shares"), 100, 50), ["0.0%", "0.5%", "1.0%"]);
  assert.deepEqual(texts(axis(-2, 1, "powers"), 400, 50), ["10⁻²", "10⁻¹", "10⁰", "10¹"]);
  assert.deepEqual(texts(axis(0, Math.log10(5), "powers"), 200, 50), ["1", "2", "3", "4", "5"]);
  assert.deepEqual(texts(axis(0, 1, "hidden"), 200, 50), []);
});

test("labels are omitted if they do not fit", () => {
  const labels = Array.from({ length: 100 }, (_, index) => `l${index}`);
  const axis = { from: 99.5, to: -0.5, ticks: { kind: "labels", labels } };
  assert.equal(texts(axis, 1400, 14).length, 100);
  assert.deepEqual(texts(axis, 80, 14), ["l0", "l20", "l40", "l60", "l80"]);
  assert.equal(strideFor(14, 14), 1);
  assert.equal(strideFor(0.01, 14), 2000);
});
