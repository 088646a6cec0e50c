// Layout of a chart of a given width: the plotting area, its scales and ticks.

import { linear, ticksOf } from "./scale.js";

/** The width in pixels at which a chart has its `aspect`; wider charts do not get higher. */
const DEFAULT_WIDTH = 680;
/** Below this width in pixels charts do not get lower. */
const MIN_WIDTH = 420;
/** Height of a line of text in pixels. */
const LINE_HEIGHT = 14;

/** Cells and places of a matrix are at least so wide, in pixels: narrow windows scroll it. */
const MIN_SLOT = 11;

/** Returns the width of a drawing in a space of this width: a matrix can be wider, to be scrolled. */
export function drawnWidth(chart, width) {
  const { x, y } = chart;
  if (x.ticks.kind !== "labels" || y.ticks.kind !== "labels") {
    return width;
  }
  const names = Math.min(0.35 * width, 120);
  return Math.max(width, Math.ceil(names + MIN_SLOT * Math.abs(x.to - x.from)));
}

/** Returns the layout of a chart. `measure` returns the width of a text in pixels. */
export function layoutOf(chart, width, measure) {
  const { x: xAxis, y: yAxis } = chart;
  const margins = marginsOf(chart, width, measure);
  const plotWidth = Math.max(40, width - margins.left - margins.right);
  const drawn = hasFixedAspect(chart) ? Math.min(plotWidth, DEFAULT_WIDTH) : plotWidth;
  const height = heightOf(chart, drawn);
  const top = shows(yAxis) && yAxis.name !== "" ? 28 : 8;
  const x = linear(xAxis.from, xAxis.to, margins.left, margins.left + drawn);
  const y = linear(yAxis.from, yAxis.to, top + height, top);
  const xTicks = xAxisTicks(xAxis, drawn, measure);
  const yTicks = ticksOf(yAxis, height, yAxis.ticks.kind === "labels" ? LINE_HEIGHT : 42);
  const slanted = xTicks.slanted ? Math.min(110, xTicks.widest) * 0.75 + 8 : LINE_HEIGHT;
  const bottom = shows(xAxis) ? slanted + (xAxis.name === "" ? 12 : 32) : 8;
  return {
    width,
    left: margins.left,
    right: margins.left + drawn,
    top,
    bottom: top + height,
    height: top + height + bottom,
    x,
    y,
    xTicks: xTicks.ticks,
    slanted: xTicks.slanted,
    yTicks,
  };
}

/** Whether an axis has a line, ticks and a name. */
export function shows(axis) {
  return axis.ticks.kind !== "hidden";
}

// Whether both axes have the same unit, so that the aspect ratio is fixed.
function hasFixedAspect({ x, y }) {
  return x.ticks.kind === y.ticks.kind && ["hidden", "labels"].includes(x.ticks.kind);
}

function heightOf(chart, width) {
  const { aspect, y } = chart;
  if (hasFixedAspect(chart)) {
    return aspect * width;
  }
  const height = aspect * Math.min(Math.max(width, MIN_WIDTH), DEFAULT_WIDTH);
  const lines = y.ticks.kind === "labels" ? LINE_HEIGHT * Math.abs(y.to - y.from) : 0;
  return Math.max(height, Math.min(lines, aspect * DEFAULT_WIDTH));
}

function xAxisTicks(axis, length, measure) {
  const { kind, labels } = axis.ticks;
  if (kind !== "labels") {
    return { ticks: ticksOf(axis, length, 64), slanted: false, widest: 0 };
  }
  const widest = Math.max(0, ...labels.slice(0, 2000).map(measure));
  const slot = length / Math.abs(axis.to - axis.from || 1);
  const slanted = widest + 10 > slot;
  return { ticks: ticksOf(axis, length, slanted ? 16 : 0), slanted, widest };
}

/** Returns the margins left and right: for tick labels and for texts that extend beyond the axes. */
function marginsOf(chart, width, measure) {
  const { x: xAxis, y: yAxis } = chart;
  const maxLeft = 0.35 * width;
  const labels = ticksOf(yAxis, 400, yAxis.ticks.kind === "labels" ? 0 : 42).map(
    ({ text }) => text,
  );
  const widest = Math.max(0, ...labels.slice(0, 2000).map(measure));
  const base = {
    left: shows(yAxis) ? Math.min(maxLeft, widest + 12) : 8,
    right: shows(xAxis) && xAxis.ticks.kind !== "labels" ? 20 : 10,
  };
  const x = linear(xAxis.from, xAxis.to, base.left, width - base.right);
  const margins = { ...base };
  for (const mark of chart.marks) {
    if (mark.kind === "texts") {
      for (const [index, text] of mark.text.entries()) {
        const textWidth = measure(text) + 4;
        const start = x(mark.x[index]) - textWidth * { start: 0, middle: 0.5, end: 1 }[mark.anchor];
        const overflow = start + textWidth - width;
        margins.left = Math.max(margins.left, Math.min(0.25 * width, base.left - start));
        margins.right = Math.max(margins.right, Math.min(0.3 * width, base.right + overflow));
      }
    }
  }
  return margins;
}
