// Which piece of a chart is under the pointer.
//
// Every piece that says something leaves anchors: a point one, a line or a segment some along the
// way, a rectangle its middle. Many anchors are kept in a grid of cells as wide as the pointer's
// reach, so that a search looks at nine cells.

import { boxOf, isThere, pointX } from "./marks.js";

/** How far from the pointer a piece may be, in pixels. */
export const REACH = 24;
const SPACING = 12;
const GRID_FROM = 2000;
/** Under other marks a rectangle gives way to what is drawn over it. */
const BOX_DISTANCE = 8;

/** The pieces of a chart that say something, in the order of its marks: `{ mark, place }`. */
export function piecesOf(chart, state) {
  const pieces = [];
  for (const mark of chart.marks) {
    for (let place = 0; place < countOf(mark); place += 1) {
      if (isThere(mark, place, state)) {
        pieces.push({ mark, place });
      }
    }
  }
  return pieces;
}

function countOf(mark) {
  const silent = mark.kind === "line" ? mark.hover === "" : mark.hover?.from === "nothing";
  return mark.kind === "texts" || silent ? 0 : (mark.x ?? mark.x0).length;
}

/** Where a piece is: the place in pixels of its sign, or its middle. */
export function placeOf(mark, place, frame, state) {
  switch (mark.kind) {
    case "points":
      return [frame.x(pointX(mark, place, state)), frame.y(mark.y[place])];
    case "line":
      return [frame.x(mark.x[place]), frame.y(mark.y[place])];
    case "segments":
      return [
        frame.x((mark.x0[place] + mark.x1[place]) / 2),
        frame.y((mark.y0[place] + mark.y1[place]) / 2),
      ];
    default: {
      const [left, top, width, height] = boxOf(mark, place, frame);
      return [left + width / 2, top + height / 2];
    }
  }
}

/** An index of a drawn chart: a function from a place to the nearest piece within reach, or null. */
export function nearestOf(chart, frame, state) {
  const anchors = { x: [], y: [], mark: [], place: [] };
  const boxes = [];
  for (const mark of chart.marks) {
    for (let place = 0; place < countOf(mark); place += 1) {
      if (mark.kind === "bars" || mark.kind === "cells") {
        boxes.push({ mark, place, box: boxOf(mark, place, frame) });
      } else {
        leaveAnchors(anchors, mark, place, frame, state);
      }
    }
  }
  const around = anchors.x.length > GRID_FROM ? gridOf(anchors, frame) : () => anchors.x.keys();
  return (x, y) => {
    let best = boxAt(boxes, x, y);
    let least = best ? BOX_DISTANCE : REACH;
    for (const index of around(x, y)) {
      const distance = Math.hypot(anchors.x[index] - x, anchors.y[index] - y);
      const [mark, place] = [anchors.mark[index], anchors.place[index]];
      if (distance <= least && isThere(mark, place, state)) {
        least = distance;
        best = { mark, place };
      }
    }
    return best;
  };
}

function leaveAnchors(anchors, mark, place, frame, state) {
  const leave = (x, y, at) => {
    if (Number.isFinite(x) && Number.isFinite(y)) {
      anchors.x.push(x);
      anchors.y.push(y);
      anchors.mark.push(mark);
      anchors.place.push(at);
    }
  };
  if (mark.kind === "points") {
    leave(...placeOf(mark, place, frame, state), place);
    return;
  }
  const isLine = mark.kind === "line";
  const next = isLine ? Math.min(place + 1, mark.x.length - 1) : place;
  const [xs, ys] = isLine ? [mark.x, mark.y] : [mark.x0, mark.y0];
  const [xe, ye] = isLine ? [mark.x, mark.y] : [mark.x1, mark.y1];
  const [x0, y0] = [frame.x(xs[place]), frame.y(ys[place])];
  const [x1, y1] = [frame.x(xe[next]), frame.y(ye[next])];
  const steps = Math.ceil(Math.hypot(x1 - x0, y1 - y0) / SPACING) || 1;
  for (let step = 0; step < steps; step += 1) {
    const part = step / steps;
    // The last anchors of a piece of a line tell of its far end, which is nearer.
    leave(x0 + part * (x1 - x0), y0 + bend(part, mark) * (y1 - y0), part > 0.5 ? next : place);
  }
}

// A smooth line is level at both ends; a step rises at its end.
function bend(part, mark) {
  if (mark.curve === "step") {
    return 0;
  }
  return mark.curve === "smooth" ? part * part * (3 - 2 * part) : part;
}

function gridOf(anchors, frame) {
  const columns = Math.ceil(frame.width / REACH) + 1;
  const cells = new Map();
  const cellOf = (x, y) => Math.floor(y / REACH) * columns + Math.floor(x / REACH);
  for (const index of anchors.x.keys()) {
    const cell = cellOf(anchors.x[index], anchors.y[index]);
    const indices = cells.get(cell);
    indices ? indices.push(index) : cells.set(cell, [index]);
  }
  return function* around(x, y) {
    for (let down = -1; down <= 1; down += 1) {
      for (let across = -1; across <= 1; across += 1) {
        yield* cells.get(cellOf(x + across * REACH, y + down * REACH)) ?? [];
      }
    }
  };
}

// The last one drawn is on top.
function boxAt(boxes, x, y) {
  const over = ({ box: [left, top, width, height] }) =>
    x >= left - 1 && x <= left + width + 1 && y >= top - 1 && y <= top + height + 1;
  return boxes.findLast(over) ?? null;
}
