import assert from "node:assert/strict";
import { test } from "node:test";
import * as format from "../format.js";

test("numbers are formatted as by the program", () => {
  assert.equal(format.thousands(7), "7");
  assert.equal(format.thousands(1234567), "1,234,567");
  assert.equal(format.thousands(-123456), "-123,456");
  assert.equal(format.percent(0.0512), "5.1%");
  assert.equal(format.decimals(-0.0001, 3), "0.000");
  assert.equal(format.decimals(-1.25, 3), "-1.250");
  assert.equal(format.probability(0.04321), "0.0432");
  assert.equal(format.probability(1e-4), "0.0001");
  assert.equal(format.probability(3.2e-7), "3e-7");
  assert.equal(format.probability(0), "0e0");
  assert.equal(format.significant(0.1 + 0.2), "0.3");
  assert.equal(format.powerOfTen(-12), "10⁻¹²");
});

test("cells are formatted by their kind", () => {
  const text = (kind, value) => format.cellText({ kind, values: [value] }, 0, ["first", "a\nb"]);
  assert.equal(text("item", 1), "a␊b");
  assert.equal(text("whole", 12345), "12,345");
  assert.equal(text("number", 0.12345), "0.123");
  assert.equal(text("share", 0.5), "50.0%");
  assert.equal(text("interval", [0.03, 0.071]), "3.0%–7.1%");
  assert.equal(text("probability", 0.5), "0.5000");
  assert.equal(text("rank", [3, 2, 5, false]), "3 (2–5)");
  assert.equal(text("rank", [1234, 1234, 1234, true]), "1,234 *");
  assert.equal(text("rank", 7), "7");
  assert.equal(text("text", "x"), "x");
  assert.equal(text("number", null), "");
});

test("control characters and directional marks are visible", () => {
  assert.equal(format.visible("a\nb\u202ec"), "a␊b\ufffdc");
  assert.equal(format.visible("\u0000\u007f\u0085\u2028\ufeff"), "␀␡\ufffd\ufffd\ufffd");
  assert.equal(format.visible("קפה ☕️ <b>"), "קפה ☕️ <b>");
});

test("texts are truncated between grapheme clusters", () => {
  assert.equal(format.truncate("espresso", 8), "espresso");
  assert.equal(format.truncate("espresso", 5), "espr…");
  assert.equal(format.truncate("👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧", 3), "👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧");
  assert.equal(format.truncate("👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧", 2), "👩‍👩‍👧…");
  assert.equal(Array.from(format.truncate("x".repeat(10000), 120)).length, 120);
  assert.ok(format.truncate(`e${"\u0301".repeat(10000)}`, 5).endsWith("…"));
});

test("values of axes are formatted by the kind of axis", () => {
  const on = (ticks, value) => format.axisText({ ticks }, value);
  assert.equal(on({ kind: "numbers" }, 1 / 3), "0.333333");
  assert.equal(on({ kind: "shares" }, 0.12345), "12.35%");
  assert.equal(on({ kind: "powers" }, -2), "0.01");
  assert.equal(on({ kind: "labels", labels: ["a", "b"] }, 1), "b");
  assert.equal(on({ kind: "labels", labels: ["a", "b"] }, 7), "");
  assert.equal(on({ kind: "hidden" }, 1), "");
});
