// Measures and shortens texts of charts.

import { truncate, visible } from "./format.js";

const widths = new Map();
let context = null;

/** Returns the width of a text in pixels, in the font of the charts. */
export function textWidth(text) {
  const known = widths.get(text);
  if (known !== undefined) {
    return known;
  }
  if (context === null) {
    context = document.createElement("canvas").getContext("2d");
    context.font = `12px ${getComputedStyle(document.body).fontFamily}`;
  }
  const width = context.measureText(truncate(text, 200)).width;
  widths.set(text, width);
  return width;
}

/** Truncates a label to a width in pixels; empty if nothing fits. */
export function fitted(label, width) {
  const text = visible(label);
  if (textWidth(text) <= width) {
    return text;
  }
  let [fits, tooLong] = [0, Math.min(text.length, 200)];
  while (tooLong - fits > 1) {
    const middle = (fits + tooLong) >> 1;
    if (textWidth(truncate(text, middle)) <= width) {
      fits = middle;
    } else {
      tooLong = middle;
    }
  }
  return fits < 2 ? "" : truncate(text, fits);
}
