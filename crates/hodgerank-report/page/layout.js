// Where things are in a chart of a given width: the plotting area, its scales and its ticks.

import { linear, ticksOf } from "./scale.js";

/** The width, in pixels, that a chart's `aspect` speaks of. */
const ORDINARY = 680;
/** Below this width a chart whose two axes have nothing to do with each other stays this high. */
const LOWEST = 420;
const LINE = 14;

/** How a chart of this width is laid out. `measure` gives the width of a text in pixels. */
export function layoutOf(chart, width, measure) {
  const { x: across, y: up } = chart;
  const sides = sidesOf(chart, width, measure);
  const plotWidth = Math.max(40, width - sides.left - sides.right);
  const drawn = isPicture(chart) ? Math.min(plotWidth, ORDINARY) : plotWidth;
  const height = heightOf(chart, drawn);
  const top = shows(up) && up.name !== "" ? 28 : 8;
  const x = linear(across.from, across.to, sides.left, sides.left + drawn);
  const y = linear(up.from, up.to, top + height, top);
  const xTicks = acrossTicks(across, drawn, measure);
  const yTicks = ticksOf(up, height, up.ticks.kind === "labels" ? LINE : 42);
  const slanted = xTicks.slanted ? Math.min(110, xTicks.widest) * 0.75 + 8 : LINE;
  const bottom = shows(across) ? slanted + (across.name === "" ? 12 : 32) : 8;
  return {
    width,
    left: sides.left,
    right: sides.left + drawn,
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

// In a picture both axes measure the same, so that its shape must not change.
function isPicture({ x, y }) {
  return x.ticks.kind === y.ticks.kind && ["hidden", "labels"].includes(x.ticks.kind);
}

function heightOf(chart, width) {
  const { aspect, y } = chart;
  if (isPicture(chart)) {
    return aspect * width;
  }
  const height = aspect * Math.min(Math.max(width, LOWEST), ORDINARY);
  const lines = y.ticks.kind === "labels" ? LINE * Math.abs(y.to - y.from) : 0;
  return Math.max(height, Math.min(lines, aspect * ORDINARY));
}

function acrossTicks(axis, room, measure) {
  const { kind, labels } = axis.ticks;
  if (kind !== "labels") {
    return { ticks: ticksOf(axis, room, 64), slanted: false, widest: 0 };
  }
  const widest = Math.max(0, ...labels.slice(0, 2000).map(measure));
  const slot = room / Math.abs(axis.to - axis.from || 1);
  const slanted = widest + 10 > slot;
  return { ticks: ticksOf(axis, room, slanted ? 16 : 0), slanted, widest };
}

/** Room beside the plotting area: for the ticks' labels, and for words that reach over its edge. */
function sidesOf(chart, width, measure) {
  const { x: across, y: up } = chart;
  const most = 0.35 * width;
  const labels = ticksOf(up, 400, up.ticks.kind === "labels" ? 0 : 42).map(({ text }) => text);
  const widest = Math.max(0, ...labels.slice(0, 2000).map(measure));
  const base = {
    left: shows(up) ? Math.min(most, widest + 12) : 8,
    right: shows(across) && across.ticks.kind !== "labels" ? 20 : 10,
  };
  const x = linear(across.from, across.to, base.left, width - base.right);
  const sides = { ...base };
  for (const mark of chart.marks) {
    if (mark.kind === "texts") {
      for (const [place, text] of mark.text.entries()) {
        const wide = measure(text) + 4;
        const start = x(mark.x[place]) - wide * { start: 0, middle: 0.5, end: 1 }[mark.anchor];
        const over = start + wide - width;
        sides.left = Math.max(sides.left, Math.min(0.25 * width, base.left - start));
        sides.right = Math.max(sides.right, Math.min(0.3 * width, base.right + over));
      }
    }
  }
  return sides;
}
