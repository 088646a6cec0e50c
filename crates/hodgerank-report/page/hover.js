// Tooltips with exact values, by pointer, touch or arrow keys.

import { draw, make } from "./dom.js";
import { axisText, cellText, percent, shareInterval, truncate, visible } from "./format.js";
import { boxOf, linePath } from "./marks.js";
import { nearestOf, positionOf, targetsOf } from "./nearest.js";

const MAX_TEXT = 160;

/** Creates the tooltip, which all charts of the page share. */
export function makeTooltip() {
  const element = make("div", { class: "tip", role: "status", hidden: "" });
  let release = () => {};
  return {
    element,
    /** Assigns the tooltip to a chart and clears that of the previous one. `clear` is called later. */
    take(clear) {
      release();
      release = clear;
    },
    hide() {
      element.hidden = true;
    },
    /** Shows content near a position, inside the window. */
    show(content, x, y) {
      element.replaceChildren(...content);
      element.hidden = false;
      const { width, height } = element.getBoundingClientRect();
      const room = document.documentElement.clientWidth;
      const left = x + 14 + width > room ? x - 14 - width : x + 14;
      const top = y - height - 12 < 0 ? y + 16 : y - height - 12;
      element.style.left = `${Math.max(4, Math.min(left, room - width - 4))}px`;
      element.style.top = `${Math.max(4, top)}px`;
    },
  };
}

/** Returns the content of the tooltip of a target. */
export function tooltipContent(chart, mark, index, state) {
  const line = (text) => make("p", { dir: "auto" }, truncate(visible(text), MAX_TEXT));
  if (mark.kind === "line") {
    const pairs = [
      [chart.x.name, axisText(chart.x, mark.x[index])],
      [chart.y.name, axisText(chart.y, mark.y[index])],
    ];
    return [line(mark.hover), pairList(pairs.filter(([, text]) => text !== ""))];
  }
  if (mark.hover.from === "words") {
    return mark.hover.words[index].split("\n").map(line);
  }
  if (mark.hover.from === "cells") {
    return [pairList(cellPairs(chart, mark, index))];
  }
  const table = state.tables.get(mark.hover.table);
  const row = mark.hover.rows[index];
  const pairs = (table?.columns ?? []).map((column) => [
    column.name,
    cellText(column, row, state.items),
  ]);
  return [pairList(pairs.filter(([, text]) => text !== ""))];
}

// Labels of row and column, the value, and its interval if it is known.
function cellPairs(chart, mark, index) {
  const { name, interval, intervals } = mark.hover;
  const pairs = [
    [chart.y.name, axisText(chart.y, mark.y[index])],
    [chart.x.name, axisText(chart.x, mark.x[index])],
    [name, percent(mark.value[index])],
  ];
  if (intervals.length > 0) {
    pairs.push([interval, shareInterval(intervals[index])]);
  }
  return pairs;
}

function pairList(pairs) {
  const parts = pairs.flatMap(([name, text]) => [
    make("dt", {}, visible(name)),
    make("dd", {}, make("bdi", {}, truncate(text, MAX_TEXT))),
  ]);
  return make("dl", {}, ...parts);
}

/** Adds tooltips to a chart. `now` returns what is drawn: the SVG element and the frame. */
export function attachHover(plot, chart, state, tip, now) {
  let nearest = null;
  let focused = 0;
  let highlight = null;

  // The tooltip is shared: only the chart that shows it may hide it.
  function clear() {
    if (highlight !== null) {
      highlight.remove();
      highlight = null;
      tip.hide();
    }
  }

  function showTarget({ mark, index }) {
    tip.take(clear);
    const { svg, frame } = now();
    highlight = highlightOf(mark, index, frame, state);
    svg.append(highlight);
    const [x, y] = positionOf(mark, index, frame, state);
    const box = svg.getBoundingClientRect();
    const scale = box.width / frame.width;
    tip.show(tooltipContent(chart, mark, index, state), box.left + x * scale, box.top + y * scale);
  }

  function onPointer(event) {
    const { svg, frame } = now();
    const box = svg.getBoundingClientRect();
    const scale = frame.width / box.width;
    nearest ??= nearestOf(chart, frame, state);
    const found = nearest((event.clientX - box.left) * scale, (event.clientY - box.top) * scale);
    found ? showTarget(found) : clear();
  }

  function onKey(event) {
    const targets = targetsOf(chart, state);
    const next = targets.length === 0 ? null : stepTo(event.key, targets, focused);
    if (event.key === "Escape") {
      clear();
    } else if (next !== null) {
      event.preventDefault();
      focused = next;
      showTarget(targets[focused]);
    }
  }

  plot.addEventListener("pointermove", onPointer);
  plot.addEventListener("pointerdown", onPointer);
  plot.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && clear());
  plot.addEventListener("keydown", onKey);
  plot.addEventListener("blur", clear);
  return {
    /** Must be called when the drawing has changed. */
    reset() {
      nearest = null;
      clear();
    },
  };
}

/** Returns the next target: left and right go from target to target, up and down from mark to mark. */
export function stepTo(key, targets, from) {
  const here = Math.min(from, targets.length - 1);
  const last = targets.length - 1;
  const { mark } = targets[here];
  switch (key) {
    case "ArrowRight":
      return Math.min(here + 1, last);
    case "ArrowLeft":
      return Math.max(here - 1, 0);
    case "ArrowDown": {
      const next = targets.findIndex((target, index) => index > here && target.mark !== mark);
      return next < 0 ? here : next;
    }
    case "ArrowUp": {
      const before = targets.findLastIndex((target, index) => index < here && target.mark !== mark);
      return before < 0
        ? here
        : targets.findIndex((target) => target.mark === targets[before].mark);
    }
    case "Home":
      return 0;
    case "End":
      return last;
    default:
      return null;
  }
}

function highlightOf(mark, index, frame, state) {
  const group = draw("g", { class: "ring" });
  if (mark.kind === "bars" || mark.kind === "cells") {
    const [x, y, width, height] = boxOf(mark, index, frame);
    group.append(draw("rect", { x, y, width, height }));
    return group;
  }
  if (mark.kind === "line") {
    const path = draw("path", { d: linePath(mark, frame), "stroke-width": mark.width + 1.5 });
    path.style.color = `var(--${mark.colour})`;
    group.append(path);
  }
  const [cx, cy] = positionOf(mark, index, frame, state);
  group.append(draw("circle", { cx, cy, r: (mark.size ?? 3) + 3 }));
  return group;
}
