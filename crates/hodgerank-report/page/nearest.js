// Hit testing: which element of a chart is under the pointer.
//
// A target is an element of a mark that has a tooltip: `{ mark, index }`. Points have one anchor,
// lines and segments have several along their length, and rectangles are tested by their area. If
// there are many anchors, they are indexed in a grid whose cells are as wide as the pointer's reach,
// so that a search visits nine cells.

import { boxOf, isShown, pointX } from "./marks.js";

/** Maximum distance in pixels between the pointer and a target. */
export const REACH = 24;
/** Distance in pixels between the anchors of a line. */
const SPACING = 12;
/** From this number of anchors on, they are indexed in a grid. */
const MIN_GRID_ANCHORS = 2000;
/** A target this close takes precedence over the rectangle below it. */
const BOX_DISTANCE = 8;

/** Returns the targets of a chart, in the order of its marks. */
export function targetsOf(chart, state) {
  const targets = [];
  for (const mark of chart.marks) {
    for (let index = 0; index < countOf(mark); index += 1) {
      if (isShown(mark, index, state)) {
        targets.push({ mark, index });
      }
    }
  }
  return targets;
}

function countOf(mark) {
  if (["texts", "intervals", "bands"].includes(mark.kind)) {
    return 0;
  }
  const hasNoTooltip = mark.kind === "line" ? mark.hover === "" : mark.hover?.from === "nothing";
  return hasNoTooltip ? 0 : (mark.x ?? mark.x0).length;
}

/** Returns the position of a target in pixels: that of its point, or its middle. */
export function positionOf(mark, index, frame, state) {
  switch (mark.kind) {
    case "points":
      return [frame.x(pointX(mark, index, state)), frame.y(mark.y[index])];
    case "line":
      return [frame.x(mark.x[index]), frame.y(mark.y[index])];
    case "segments":
      return [
        frame.x((mark.x0[index] + mark.x1[index]) / 2),
        frame.y((mark.y0[index] + mark.y1[index]) / 2),
      ];
    default: {
      const [left, top, width, height] = boxOf(mark, index, frame);
      return [left + width / 2, top + height / 2];
    }
  }
}

/** Returns a function from a position to the nearest target within reach, or null. */
export function nearestOf(chart, frame, state) {
  const anchors = { x: [], y: [], mark: [], index: [] };
  const boxes = [];
  for (const mark of chart.marks) {
    for (let index = 0; index < countOf(mark); index += 1) {
      if (mark.kind === "bars" || mark.kind === "cells") {
        boxes.push({ mark, index, box: boxOf(mark, index, frame) });
      } else {
        addAnchors(anchors, mark, index, frame, state);
      }
    }
  }
  const around =
    anchors.x.length > MIN_GRID_ANCHORS ? gridOf(anchors, frame) : () => anchors.x.keys();
  return (x, y) => {
    let best = boxAt(boxes, x, y);
    let nearest = best ? BOX_DISTANCE : REACH;
    for (const anchor of around(x, y)) {
      const distance = Math.hypot(anchors.x[anchor] - x, anchors.y[anchor] - y);
      const [mark, index] = [anchors.mark[anchor], anchors.index[anchor]];
      if (distance <= nearest && isShown(mark, index, state)) {
        nearest = distance;
        best = { mark, index };
      }
    }
    return best;
  };
}

function addAnchors(anchors, mark, index, frame, state) {
  const add = (x, y, at) => {
    if (Number.isFinite(x) && Number.isFinite(y)) {
      anchors.x.push(x);
      anchors.y.push(y);
      anchors.mark.push(mark);
      anchors.index.push(at);
    }
  };
  if (mark.kind === "points") {
    add(...positionOf(mark, index, frame, state), index);
    return;
  }
  const isLine = mark.kind === "line";
  const next = isLine ? Math.min(index + 1, mark.x.length - 1) : index;
  const [xs, ys] = isLine ? [mark.x, mark.y] : [mark.x0, mark.y0];
  const [xe, ye] = isLine ? [mark.x, mark.y] : [mark.x1, mark.y1];
  const [x0, y0] = [frame.x(xs[index]), frame.y(ys[index])];
  const [x1, y1] = [frame.x(xe[next]), frame.y(ye[next])];
  const steps = Math.ceil(Math.hypot(x1 - x0, y1 - y0) / SPACING) || 1;
  for (let step = 0; step < steps; step += 1) {
    const part = step / steps;
    // Anchors in the second half belong to the far end, which is nearer.
    add(x0 + part * (x1 - x0), y0 + interpolate(part, mark) * (y1 - y0), part > 0.5 ? next : index);
  }
}

// The relative height at a relative position: smooth lines have horizontal tangents at both ends,
// steps are constant up to the next point.
function interpolate(part, mark) {
  if (mark.curve === "step") {
    return 0;
  }
  return mark.curve === "smooth" ? part * part * (3 - 2 * part) : part;
}

function gridOf(anchors, frame) {
  const columns = Math.ceil(frame.width / REACH) + 1;
  const cells = new Map();
  const cellOf = (x, y) => Math.floor(y / REACH) * columns + Math.floor(x / REACH);
  for (const anchor of anchors.x.keys()) {
    const cell = cellOf(anchors.x[anchor], anchors.y[anchor]);
    const list = cells.get(cell);
    list ? list.push(anchor) : cells.set(cell, [anchor]);
  }
  return function* around(x, y) {
    for (let down = -1; down <= 1; down += 1) {
      for (let across = -1; across <= 1; across += 1) {
        yield* cells.get(cellOf(x + across * REACH, y + down * REACH)) ?? [];
      }
    }
  };
}

// The last rectangle is drawn on top.
function boxAt(boxes, x, y) {
  const contains = ({ box: [left, top, width, height] }) =>
    x >= left - 1 && x <= left + width + 1 && y >= top - 1 && y <= top + height + 1;
  return boxes.findLast(contains) ?? null;
}
