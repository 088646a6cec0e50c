// How wide texts are in charts, and what of them fits.

import { cut, visible } from "./format.js";

const widths = new Map();
let pen = null;

/** The width of a text in pixels, in the font of the charts. */
export function textWidth(text) {
  const known = widths.get(text);
  if (known !== undefined) {
    return known;
  }
  if (pen === null) {
    pen = document.createElement("canvas").getContext("2d");
    pen.font = `12px ${getComputedStyle(document.body).fontFamily}`;
  }
  const width = pen.measureText(cut(text, 200)).width;
  widths.set(text, width);
  return width;
}

/** As much of a text as fits, cut with an ellipsis; empty where not even one letter does. */
export function fitted(label, room) {
  const text = visible(label);
  if (textWidth(text) <= room) {
    return text;
  }
  let [fits, breaks] = [0, Math.min(text.length, 200)];
  while (breaks - fits > 1) {
    const middle = (fits + breaks) >> 1;
    if (textWidth(cut(text, middle)) <= room) {
      fits = middle;
    } else {
      breaks = middle;
    }
  }
  return fits < 2 ? "" : cut(text, fits);
}
