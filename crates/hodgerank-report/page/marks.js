// Draws marks. Marks that follow the slider return a function that updates them.

import { draw, tint } from "./dom.js";
import { fitted, textWidth } from "./measure.js";
import { isDense, rasterPath } from "./raster.js";
import { outline, pointsPath } from "./shapes.js";

const round = (pixels) => Math.round(pixels * 10) / 10;
const known = (...values) => values.every(Number.isFinite);
/** Number of shades in which a grey image is drawn. */
const SHADES = 63;
/** Half the height of the cap of an error bar, in pixels. */
const HALF_CAP = 3.5;

/** Draws a mark. Returns `{ element, follow }`. */
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
    case "intervals":
      return shownAtRanking(intervalsMark(mark, frame), mark, state);
    case "bands":
      return shownAtRanking(bandsMark(mark, frame), mark, state);
    default:
      return { element: textsMark(mark, frame) };
  }
}

// Hides a mark that belongs to the report's ranking at other stops of the slider.
function shownAtRanking(element, mark, state) {
  const follow = () =>
    element.toggleAttribute("hidden", state.slider !== null && state.stop !== state.slider.chosen);
  if (mark.follows !== "ranking") {
    return { element };
  }
  follow();
  return { element, follow };
}

/** Returns the x value of a point: the score at the current stop if it follows the scores. */
export function pointX(mark, index, state) {
  return mark.follows === "scores" && state.slider
    ? state.slider.scores[state.stop][mark.hover.rows[index]]
    : mark.x[index];
}

/** Whether an element of a mark is shown at the current stop. */
export function isShown(mark, index, state) {
  return mark.follows !== "flags" || !state.flags || state.flags[mark.hover.rows[index]] === 1;
}

function pointsMark(mark, frame, state) {
  if (mark.follows !== "scores" && isDense(mark)) {
    return rasterMark(mark, frame, state);
  }
  const subpath = (index) => {
    const x = pointX(mark, index, state);
    return known(x, mark.y[index])
      ? outline(mark.shape, frame.x(x), frame.y(mark.y[index]), mark.size)
      : "";
  };
  const all = () => Array.from(mark.y.keys(), subpath);
  const fixed = mark.follows === "scores" ? null : all();
  const now = () => {
    const subpaths = fixed ?? all();
    const drawn =
      mark.follows === "flags"
        ? subpaths.filter((_, index) => isShown(mark, index, state))
        : subpaths;
    return drawn.join("");
  };
  const element = tint(pointsPath(mark.shape, mark.size, now()), mark.colour);
  return { element, follow: mark.follows && (() => element.setAttribute("d", now())) };
}

function rasterMark(mark, frame, state) {
  const path = rasterPath(
    mark.x.map((x) => frame.x(x)),
    mark.y.map((y) => frame.y(y)),
  );
  const now = () => path((index) => isShown(mark, index, state));
  const element = tint(draw("path", { class: "fill raster", d: now() }), mark.colour);
  return { element, follow: mark.follows && (() => element.setAttribute("d", now())) };
}

/** Returns the path data of a line. */
export function linePath(mark, frame) {
  let d = "";
  let [lastX, lastY] = [Number.NaN, Number.NaN];
  for (const index of mark.x.keys()) {
    if (!known(mark.x[index], mark.y[index])) {
      [lastX, lastY] = [Number.NaN, Number.NaN];
      continue;
    }
    const [x, y] = [round(frame.x(mark.x[index])), round(frame.y(mark.y[index]))];
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
  const headLength = 5 + 2 * mark.width;
  for (const index of mark.x0.keys()) {
    const [x0, y0] = [frame.x(mark.x0[index]), frame.y(mark.y0[index])];
    const [x1, y1] = [frame.x(mark.x1[index]), frame.y(mark.y1[index])];
    const length = Math.hypot(x1 - x0, y1 - y0);
    const [ux, uy] = [(x1 - x0) / length, (y1 - y0) / length];
    const headed = mark.arrow && length > 0;
    const head = headed ? Math.min(headLength, length) : 0;
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

/** Returns the rectangle of a bar or a cell in pixels: left, top, width, height. */
export function boxOf(mark, index, frame) {
  const isCell = mark.kind === "cells";
  const ends = isCell
    ? [mark.x[index] - mark.width / 2, mark.x[index] + mark.width / 2]
    : [mark.x0[index], mark.x1[index]];
  const levels = isCell
    ? [mark.y[index] - mark.height / 2, mark.y[index] + mark.height / 2]
    : [mark.y0[index], mark.y1[index]];
  const [left, right] = ends.map(frame.x).sort((a, b) => a - b);
  const [top, bottom] = levels.map(frame.y).sort((a, b) => a - b);
  return [left, top, right - left, bottom - top];
}

function boxPath(box) {
  const [left, top, width, height] = box.map((pixels) => Math.round(pixels * 100) / 100);
  return `M${left} ${top}h${width}v${height}h${-width}z`;
}

function barsMark(mark, frame) {
  const d = Array.from(mark.x0.keys(), (index) => boxPath(boxOf(mark, index, frame))).join("");
  return tint(draw("path", { class: "fill", d }), mark.colour);
}

function intervalsMark(mark, frame) {
  const d = Array.from(mark.y.keys(), (index) => {
    const y = round(frame.y(mark.y[index]));
    const [x0, x1] = [mark.x0[index], mark.x1[index]].map((x) => round(frame.x(x)));
    const cap = (x) => `M${x} ${round(y - HALF_CAP)}v${2 * HALF_CAP}`;
    return `M${x0} ${y}H${x1}${cap(x0)}${cap(x1)}`;
  });
  const attributes = { class: "stroke intervals", d: d.join(""), "stroke-width": mark.width };
  return tint(draw("path", attributes), mark.colour);
}

function bandsMark(mark, frame) {
  const d = Array.from(mark.y0.keys(), (index) => {
    const [top, bottom] = [mark.y0[index], mark.y1[index]].map(frame.y).sort((a, b) => a - b);
    return boxPath([frame.left, top, frame.right - frame.left, bottom - top]);
  });
  return tint(draw("path", { class: "fill bands", d: d.join("") }), "band");
}

/** Returns the shade of a value from 0 to 1. */
export function shadeOf(value, ramp) {
  const inside = Math.min(1, Math.max(0, value));
  switch (ramp) {
    case "grey":
      return Math.round(inside * SHADES);
    case "diverging":
      return Math.round(inside * 10);
    default:
      return Math.min(9, Math.floor(inside * 10));
  }
}

function shadeColour(shade, ramp) {
  if (ramp === "grey") {
    const grey = Math.round((255 * shade) / SHADES);
    return `rgb(${grey} ${grey} ${grey})`;
  }
  return `var(--${ramp === "diverging" ? "diverging" : "step"}-${shade})`;
}

// Cells of the same shade form one path.
function cellsMark(mark, frame) {
  const shades = new Map();
  for (const [index, value] of mark.value.entries()) {
    const shade = shadeOf(value, mark.ramp);
    const subpaths = shades.get(shade) ?? [];
    subpaths.push(boxPath(boxOf(mark, index, frame)));
    shades.set(shade, subpaths);
  }
  const group = draw("g", { class: "cells" });
  for (const [shade, subpaths] of shades) {
    const path = draw("path", { class: "fill", d: subpaths.join("") });
    path.style.color = shadeColour(shade, mark.ramp);
    group.append(path);
  }
  return group;
}

// Texts that would overlap earlier ones are omitted; tooltips still show them.
function textsMark(mark, frame) {
  // An outline in the colour of the page keeps texts legible, unless they have this colour themselves.
  const outlined = mark.colour === "card" ? "" : " outlined";
  const group = tint(draw("g", { class: `texts${outlined}` }), mark.colour);
  const taken = [];
  for (const [index, full] of mark.text.entries()) {
    const [x, y] = [frame.x(mark.x[index]), frame.y(mark.y[index])];
    const [before, after] = [x - 1, frame.width - x - 1];
    const space = { start: after, middle: 2 * Math.min(before, after), end: before }[mark.anchor];
    const text = fitted(full, space);
    const width = textWidth(text);
    const left = x - width * { start: 0, middle: 0.5, end: 1 }[mark.anchor];
    const overlaps = (box) =>
      Math.abs(box.y - y) < 11 && left < box.left + box.width && box.left < left + width;
    if (text !== "" && !taken.some(overlaps)) {
      taken.push({ left, width, y });
      const attributes = { x: round(x), y: round(y), dy: "0.33em", "text-anchor": mark.anchor };
      group.append(draw("text", attributes, text));
    }
  }
  return group;
}
