// Exact values under the pointer, the finger, or the arrow keys.

import { draw, make } from "./dom.js";
import { cellText, cut, placeText, visible } from "./format.js";
import { boxOf, linePath } from "./marks.js";
import { nearestOf, piecesOf, placeOf } from "./nearest.js";

const LONG_WORD = 160;

/** The element that tells values: one for the page. */
export function makeTip() {
  const element = make("div", { class: "tip", role: "status", hidden: "" });
  let release = () => {};
  return {
    element,
    /** Gives the tip to a chart: `clear` takes back what the one before it showed. */
    take(clear) {
      release();
      release = clear;
    },
    hide() {
      element.hidden = true;
    },
    /** Shows these parts near a place of the window, inside the window. */
    show(parts, x, y) {
      element.replaceChildren(...parts);
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

/** What is said of a piece: elements for the tip. */
export function sayPiece(chart, mark, place, state) {
  const line = (text) => make("p", { dir: "auto" }, cut(visible(text), LONG_WORD));
  if (mark.kind === "line") {
    const pairs = [
      [chart.x.name, placeText(chart.x, mark.x[place])],
      [chart.y.name, placeText(chart.y, mark.y[place])],
    ];
    return [line(mark.hover), pairList(pairs.filter(([, text]) => text !== ""))];
  }
  if (mark.hover.from === "words") {
    return mark.hover.words[place].split("\n").map(line);
  }
  const table = state.tables.get(mark.hover.table);
  const row = mark.hover.rows[place];
  const pairs = (table?.columns ?? []).map((column) => [
    column.name,
    cellText(column, row, state.items),
  ]);
  return [pairList(pairs.filter(([, text]) => text !== ""))];
}

function pairList(pairs) {
  const parts = pairs.flatMap(([name, text]) => [
    make("dt", {}, visible(name)),
    make("dd", {}, make("bdi", {}, cut(text, LONG_WORD))),
  ]);
  return make("dl", {}, ...parts);
}

/** Makes the plot of a chart tell its values. `now` gives what is drawn: its svg and its frame. */
export function attachHover(plot, chart, state, tip, now) {
  let nearest = null;
  let walked = 0;
  let ring = null;

  // The tip is shared: only the chart that shows it may hide it.
  function clear() {
    if (ring !== null) {
      ring.remove();
      ring = null;
      tip.hide();
    }
  }

  function tell({ mark, place }) {
    tip.take(clear);
    const { svg, frame } = now();
    ring = ringAround(mark, place, frame, state);
    svg.append(ring);
    const [x, y] = placeOf(mark, place, frame, state);
    const box = svg.getBoundingClientRect();
    const scale = box.width / frame.width;
    tip.show(sayPiece(chart, mark, place, state), box.left + x * scale, box.top + y * scale);
  }

  function point(event) {
    const { svg, frame } = now();
    const box = svg.getBoundingClientRect();
    const scale = frame.width / box.width;
    nearest ??= nearestOf(chart, frame, state);
    const found = nearest((event.clientX - box.left) * scale, (event.clientY - box.top) * scale);
    found ? tell(found) : clear();
  }

  function walk(event) {
    const pieces = piecesOf(chart, state);
    const next = pieces.length === 0 ? null : stepTo(event.key, pieces, walked);
    if (event.key === "Escape") {
      clear();
    } else if (next !== null) {
      event.preventDefault();
      walked = next;
      tell(pieces[walked]);
    }
  }

  plot.addEventListener("pointermove", point);
  plot.addEventListener("pointerdown", point);
  plot.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && clear());
  plot.addEventListener("keydown", walk);
  plot.addEventListener("blur", clear);
  return {
    /** The drawing changed. */
    forget() {
      nearest = null;
      clear();
    },
  };
}

/** Left and right go from piece to piece, up and down from mark to mark. */
export function stepTo(key, pieces, from) {
  const here = Math.min(from, pieces.length - 1);
  const last = pieces.length - 1;
  const { mark } = pieces[here];
  switch (key) {
    case "ArrowRight":
      return Math.min(here + 1, last);
    case "ArrowLeft":
      return Math.max(here - 1, 0);
    case "ArrowDown": {
      const next = pieces.findIndex((piece, place) => place > here && piece.mark !== mark);
      return next < 0 ? here : next;
    }
    case "ArrowUp": {
      const before = pieces.findLastIndex((piece, place) => place < here && piece.mark !== mark);
      return before < 0 ? here : pieces.findIndex((piece) => piece.mark === pieces[before].mark);
    }
    case "Home":
      return 0;
    case "End":
      return last;
    default:
      return null;
  }
}

function ringAround(mark, place, frame, state) {
  const group = draw("g", { class: "ring" });
  if (mark.kind === "bars" || mark.kind === "cells") {
    const [x, y, width, height] = boxOf(mark, place, frame);
    group.append(draw("rect", { x, y, width, height }));
    return group;
  }
  if (mark.kind === "line") {
    const path = draw("path", { d: linePath(mark, frame), "stroke-width": mark.width + 1.5 });
    path.style.color = `var(--${mark.colour})`;
    group.append(path);
  }
  const [cx, cy] = placeOf(mark, place, frame, state);
  group.append(draw("circle", { cx, cy, r: (mark.size ?? 3) + 3 }));
  return group;
}
