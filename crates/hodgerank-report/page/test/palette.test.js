// Colours are colour-blind safe and legible in both themes.

import assert from "node:assert/strict";
import { test } from "node:test";
import { style } from "./bundle.js";

const VISIONS = {
  normal: [1, 0, 0, 0, 1, 0, 0, 0, 1],
  protanopia: [0.1523, 1.0526, -0.2049, 0.1145, 0.7863, 0.0992, -0.0039, -0.0481, 1.052],
  deuteranopia: [0.3673, 0.8606, -0.228, 0.2801, 0.6725, 0.0474, -0.0118, 0.0429, 0.9689],
  tritanopia: [1.2555, -0.0767, -0.1788, -0.0784, 0.9308, 0.1476, 0.0047, 0.6914, 0.3039],
};

function colour(name, side) {
  const pair = style().match(new RegExp(`--${name}: light-dark\\((#\\w{6}), (#\\w{6})\\)`));
  return [1, 3, 5].map((from) => {
    const part = Number.parseInt(pair[side].slice(from, from + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
}

const luminance = ([red, green, blue]) => 0.2126 * red + 0.7152 * green + 0.0722 * blue;

function contrast(one, other) {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

/** Converts a colour to Oklab as seen with this colour vision. */
function seen(rgb, matrix) {
  const dot = (from, by) => by.reduce((sum, part, k) => sum + part * from[k], 0);
  const rows = [0, 3, 6].map((from) => Math.max(0, dot(rgb, matrix.slice(from, from + 3))));
  const cones = [
    [0.4122214708, 0.5363325363, 0.0514459929],
    [0.2119034982, 0.6806995451, 0.1073969566],
    [0.0883024619, 0.2817188376, 0.6299787005],
  ].map((row) => Math.cbrt(dot(rows, row)));
  return [
    [0.2104542553, 0.793617785, -0.0040720468],
    [1.9779984951, -2.428592205, 0.4505937099],
    [0.0259040371, 0.7827717662, -0.808675766],
  ].map((row) => dot(cones, row));
}

for (const [side, theme] of [
  [1, "light"],
  [2, "dark"],
]) {
  test(`kinds are visible and differ for every colour vision (${theme})`, () => {
    const kinds = Array.from({ length: 8 }, (_, kind) => colour(`kind-${kind}`, side));
    for (const [kind, one] of kinds.entries()) {
      assert.ok(contrast(one, colour("card", side)) >= 3, `contrast of kind-${kind}`);
      for (const [vision, matrix] of Object.entries(VISIONS)) {
        for (const [before, other] of kinds.slice(0, kind).entries()) {
          const [a, b] = [seen(one, matrix), seen(other, matrix)];
          const far = Math.hypot(...a.map((part, k) => part - b[k]));
          assert.ok(far > 0.06, `kind-${before} and kind-${kind}, ${vision}: ${far}`);
        }
      }
    }
  });

  test(`steps increase in contrast (${theme})`, () => {
    const background = colour("card", side);
    const steps = Array.from({ length: 10 }, (_, step) =>
      contrast(colour(`step-${step}`, side), background),
    );
    assert.ok(steps[0] > 1.6, `the weakest step is visible: ${steps[0]}`);
    for (let step = 1; step < 10; step += 1) {
      assert.ok(steps[step] > 1.08 * steps[step - 1], `step-${step} against step-${step - 1}`);
    }
  });

  test(`diverging colours increase in contrast towards both ends (${theme})`, () => {
    const steps = Array.from({ length: 11 }, (_, step) => colour(`diverging-${step}`, side));
    const contrasts = steps.map((step) => contrast(step, colour("card", side)));
    for (let step = 0; step < 5; step += 1) {
      assert.ok(contrasts[step] > 1.05 * contrasts[step + 1], `diverging-${step}`);
      assert.ok(contrasts[10 - step] > 1.05 * contrasts[9 - step], `diverging-${10 - step}`);
      for (const [vision, matrix] of Object.entries(VISIONS)) {
        const [a, b] = [seen(steps[step], matrix), seen(steps[10 - step], matrix)];
        const far = Math.hypot(...a.map((part, k) => part - b[k]));
        assert.ok(far > 0.05, `diverging-${step} and its opposite, ${vision}: ${far}`);
      }
    }
  });

  test(`texts are legible (${theme})`, () => {
    for (const name of ["ink", "muted", "accent"]) {
      for (const under of ["card", "page"]) {
        assert.ok(contrast(colour(name, side), colour(under, side)) >= 4.5, `${name} on ${under}`);
      }
    }
  });
}
