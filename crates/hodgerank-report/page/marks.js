// Marks as drawings. Each gives its element, and how it follows the slider if it does.

import { crowd, isCrowd } from "./crowd.js";
import { draw, tint } from "./dom.js";
import { fitted, textWidth } from "./measure.js";
import { outline, pointsPath } from "./shapes.js";

const round = (pixels) => Math.round(pixels * 10) / 10;
const known = (...values) => values.every(Number.isFinite);
const SHADES = 63;

/** Draws a mark: `{ element, follow }`. */
export function drawMark(mark, frame, state) {
  switch (mark.kind) {
    case "points":
      return pointsMark(mark, frame, state);
    case "line":
      return { element: lineMark(mark, frame) };
    case "segments":
      return { element: segmentsMark(mark, frame) };
    case "bars":
      return { element: barsMark(mark, frame) };
    case "cells":
      return { element: cellsMark(mark, frame) };
    default:
      return { element: textsMark(mark, frame) };
  }
}

/** Where a point is: on the slider's path if it follows the scores. */
export function pointX(mark, place, state) {
  return mark.follows === "scores" && state.slider
    ? state.slider.scores[state.stop][mark.hover.rows[place]]
    : mark.x[place];
}

/** Whether a piece is drawn now. */
export function isThere(mark, place, state) {
  return mark.follows !== "flags" || !state.flags || state.flags[mark.hover.rows[place]] === 1;
}

function pointsMark(mark, frame, state) {
  if (mark.follows !== "scores" && isCrowd(mark)) {
    return crowdMark(mark, frame, state);
  }
  const piece = (place) => {
    const x = pointX(mark, place, state);
    return known(x, mark.y[place])
      ? outline(mark.shape, frame.x(x), frame.y(mark.y[place]), mark.size)
      : "";
  };
  const all = () => Array.from(mark.y.keys(), piece);
  const fixed = mark.follows === "scores" ? null : all();
  const now = () => {
    const pieces = fixed ?? all();
    const drawn =
      mark.follows === "flags" ? pieces.filter((_, place) => isThere(mark, place, state)) : pieces;
    return drawn.join("");
  };
  const element = tint(pointsPath(mark.shape, mark.size, now()), mark.colour);
  return { element, follow: mark.follows && (() => element.setAttribute("d", now())) };
}

function crowdMark(mark, frame, state) {
  const path = crowd(
    mark.x.map((x) => frame.x(x)),
    mark.y.map((y) => frame.y(y)),
  );
  const now = () => path((place) => isThere(mark, place, state));
  const element = tint(draw("path", { class: "fill crowd", d: now() }), mark.colour);
  return { element, follow: mark.follows && (() => element.setAttribute("d", now())) };
}

/** The path of a line. */
export function linePath(mark, frame) {
  let d = "";
  let [lastX, lastY] = [Number.NaN, Number.NaN];
  for (const place of mark.x.keys()) {
    if (!known(mark.x[place], mark.y[place])) {
      [lastX, lastY] = [Number.NaN, Number.NaN];
      continue;
    }
    const [x, y] = [round(frame.x(mark.x[place])), round(frame.y(mark.y[place]))];
    const middle = round((lastX + x) / 2);
    const step = { straight: `L${x} ${y}`, step: `H${x}V${y}` }[mark.curve];
    d += known(lastX) ? (step ?? `C${middle} ${lastY} ${middle} ${y} ${x} ${y}`) : `M${x} ${y}`;
    [lastX, lastY] = [x, y];
  }
  return d;
}

function lineMark(mark, frame) {
  const path = draw("path", {
    class: "line",
    d: linePath(mark, frame),
    "stroke-width": mark.width,
  });
  if (mark.dashed) {
    path.setAttribute("stroke-dasharray", "5 4");
  }
  return tint(path, mark.colour);
}

function segmentsMark(mark, frame) {
  const shafts = [];
  const heads = [];
  const long = 5 + 2 * mark.width;
  for (const place of mark.x0.keys()) {
    const [x0, y0] = [frame.x(mark.x0[place]), frame.y(mark.y0[place])];
    const [x1, y1] = [frame.x(mark.x1[place]), frame.y(mark.y1[place])];
    const length = Math.hypot(x1 - x0, y1 - y0);
    const [ux, uy] = [(x1 - x0) / length, (y1 - y0) / length];
    const headed = mark.arrow && length > 0;
    const head = headed ? Math.min(long, length) : 0;
    const [bx, by] = headed ? [x1 - head * ux, y1 - head * uy] : [x1, y1];
    shafts.push(`M${round(x0)} ${round(y0)}L${round(bx)} ${round(by)}`);
    if (headed) {
      const [sx, sy] = [-uy * head * 0.42, ux * head * 0.42];
      const corners = `L${round(bx + sx)} ${round(by + sy)}L${round(bx - sx)} ${round(by - sy)}z`;
      heads.push(`M${round(x1)} ${round(y1)}${corners}`);
    }
  }
  const shaft = draw("path", { class: "stroke", d: shafts.join(""), "stroke-width": mark.width });
  const group = draw("g", {}, shaft, draw("path", { class: "fill", d: heads.join("") }));
  return tint(group, mark.colour);
}

/** The rectangle of a bar or a cell in pixels: left, top, width, height. */
export function boxOf(mark, place, frame) {
  const isCell = mark.kind === "cells";
  const ends = isCell
    ? [mark.x[place] - mark.width / 2, mark.x[place] + mark.width / 2]
    : [mark.x0[place], mark.x1[place]];
  const levels = isCell
    ? [mark.y[place] - mark.height / 2, mark.y[place] + mark.height / 2]
    : [mark.y0[place], mark.y1[place]];
  const [left, right] = ends.map(frame.x).sort((a, b) => a - b);
  const [top, bottom] = levels.map(frame.y).sort((a, b) => a - b);
  return [left, top, right - left, bottom - top];
}

function boxPath(box) {
  const [left, top, width, height] = box.map((pixels) => Math.round(pixels * 100) / 100);
  return `M${left} ${top}h${width}v${height}h${-width}z`;
}

function barsMark(mark, frame) {
  const d = Array.from(mark.x0.keys(), (place) => boxPath(boxOf(mark, place, frame))).join("");
  return tint(draw("path", { class: "fill", d }), mark.colour);
}

// Cells of one shade are one path.
function cellsMark(mark, frame) {
  const shades = new Map();
  for (const [place, value] of mark.value.entries()) {
    const inside = Math.min(1, Math.max(0, value));
    const shade =
      mark.ramp === "grey" ? Math.round(inside * SHADES) : Math.min(9, Math.floor(inside * 10));
    const pieces = shades.get(shade) ?? [];
    pieces.push(boxPath(boxOf(mark, place, frame)));
    shades.set(shade, pieces);
  }
  const group = draw("g", { class: "cells" });
  for (const [shade, pieces] of shades) {
    const path = draw("path", { class: "fill", d: pieces.join("") });
    const grey = Math.round((255 * shade) / SHADES);
    path.style.color =
      mark.ramp === "grey" ? `rgb(${grey} ${grey} ${grey})` : `var(--step-${shade})`;
    group.append(path);
  }
  return group;
}

// Words that would stand on other words are left out: hover still tells them.
function textsMark(mark, frame) {
  const group = tint(draw("g", { class: "texts" }), mark.colour);
  const taken = [];
  for (const [place, full] of mark.text.entries()) {
    const [x, y] = [frame.x(mark.x[place]), frame.y(mark.y[place])];
    const [before, after] = [x - 1, frame.width - x - 1];
    const room = { start: after, middle: 2 * Math.min(before, after), end: before }[mark.anchor];
    const text = fitted(full, room);
    const wide = textWidth(text);
    const left = x - wide * { start: 0, middle: 0.5, end: 1 }[mark.anchor];
    const meets = (box) =>
      Math.abs(box.y - y) < 11 && left < box.left + box.wide && box.left < left + wide;
    if (text !== "" && !taken.some(meets)) {
      taken.push({ left, wide, y });
      const attributes = { x: round(x), y: round(y), dy: "0.33em", "text-anchor": mark.anchor };
      group.append(draw("text", attributes, text));
    }
  }
  return group;
}
