// Charts: title, drawing, legend, alternative text, and updates when the slider moves.

import { drawAxes } from "./axes.js";
import { draw, make } from "./dom.js";
import { visible } from "./format.js";
import { attachHover } from "./hover.js";
import { drawnWidth, layoutOf } from "./layout.js";
import { legendList } from "./legend.js";
import { drawMark } from "./marks.js";
import { textWidth } from "./measure.js";

/** Creates the view of a chart. `drawAt` draws it at a width; `update` follows the slider. */
export function chartView(chart, state, tip) {
  const id = `chart-${chart.id}`;
  const plot = make("div", {
    class: "plot",
    tabindex: "0",
    role: "group",
    "aria-label": `${visible(chart.title)}: use the arrow keys to read the values`,
  });
  const element = figureOf(chart, id, plot);
  const drawn = { svg: null, frame: null, following: [], cursor: null };
  const hover = attachHover(plot, chart, state, tip, () => drawn);
  const hasCursor = chart.id === "path" && state.slider !== null;

  function moveCursor() {
    if (drawn.cursor) {
      const { top, bottom, x } = drawn.frame;
      const position = x(state.slider.share[state.stop]).toFixed(1);
      drawn.cursor.setAttribute("d", `M${position} ${top}V${bottom}`);
    }
  }

  return {
    element,
    plot,
    /** Draws the chart in a space of this width; in print it cannot be scrolled. */
    drawAt(space, isPrint = false) {
      const width = isPrint ? space : drawnWidth(chart, space);
      if (space < 1 || drawn.frame?.width === width) {
        return;
      }
      const frame = layoutOf(chart, width, textWidth);
      const marks = chart.marks.map((mark) => drawMark(mark, frame, state));
      const svg = emptyDrawing(chart, id, frame);
      svg.append(drawAxes(chart, frame), ...marks.map((mark) => mark.element));
      drawn.cursor = hasCursor ? draw("path", { class: "cursor" }) : null;
      if (drawn.cursor) {
        svg.append(drawn.cursor);
      }
      Object.assign(drawn, { svg, frame, following: marks.filter((mark) => mark.follow) });
      moveCursor();
      plot.classList.toggle("scrolled", width > space);
      plot.replaceChildren(svg);
      hover.reset();
    },
    update() {
      if (drawn.frame) {
        for (const mark of drawn.following) {
          mark.follow();
        }
        moveCursor();
        hover.reset();
      }
    },
  };
}

function emptyDrawing(chart, id, { width, height }) {
  const high = Math.ceil(height);
  const attributes = {
    class: chart.marks.some((mark) => mark.kind === "cells") ? "matrix" : "",
    viewBox: `0 0 ${width} ${high}`,
    width,
    height: high,
    role: "img",
    "aria-label": visible(chart.title),
    "aria-describedby": `${id}-alt`,
  };
  return draw("svg", attributes, draw("desc", {}, visible(chart.alt)));
}

function figureOf(chart, id, plot) {
  const title = make("figcaption", {}, visible(chart.title));
  const element = make("figure", { class: "chart", id }, title, plot);
  if (chart.legend.length > 0) {
    element.append(legendList(chart.legend));
  }
  if (chart.note) {
    element.append(make("p", { class: "note" }, visible(chart.note)));
  }
  const alt = make("p", { id: `${id}-alt` }, visible(chart.alt));
  element.append(make("details", { class: "alt" }, make("summary", {}, "Description"), alt));
  return element;
}
