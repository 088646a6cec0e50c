// Axes: grid lines, ticks and titles.

import { draw } from "./dom.js";
import { visible } from "./format.js";
import { shows } from "./layout.js";
import { fitted } from "./measure.js";

/** Draws the axes. */
export function drawAxes(chart, frame) {
  const group = draw("g", { class: "axes" });
  if (shows(chart.y)) {
    group.append(...verticalAxis(chart.y, frame));
  }
  if (shows(chart.x)) {
    group.append(...horizontalAxis(chart.x, frame));
  }
  return group;
}

function verticalAxis(axis, frame) {
  const { left, right, top } = frame;
  const grid = frame.yTicks.map(({ at }) => `M${left} ${frame.y(at).toFixed(1)}H${right}`);
  const texts = frame.yTicks.map(({ at, text }) =>
    draw(
      "text",
      { x: left - 8, y: frame.y(at).toFixed(1), dy: "0.33em", "text-anchor": "end" },
      fitted(text, left - 9),
    ),
  );
  const name = draw("text", { class: "name", x: 2, y: top - 16 }, fitted(axis.name, frame.width));
  return [draw("path", { class: "grid", d: grid.join("") }), ...texts, name];
}

function horizontalAxis(axis, frame) {
  const { left, right, top, bottom } = frame;
  const isLabels = axis.ticks.kind === "labels";
  const grid = frame.xTicks.map(({ at }) => `M${frame.x(at).toFixed(1)} ${top}V${bottom}`);
  const line = draw("path", { class: "axis", d: `M${left} ${bottom}H${right}` });
  const texts = frame.xTicks.map(({ at, text }) => tickText(text, frame.x(at), frame));
  const name = draw(
    "text",
    { class: "name", x: (left + right) / 2, y: frame.height - 6, "text-anchor": "middle" },
    fitted(axis.name, 2 * Math.min((left + right) / 2, frame.width - (left + right) / 2)),
  );
  const lines = draw("path", { class: isLabels ? "grid weak" : "grid", d: grid.join("") });
  return [lines, line, ...texts, name];
}

function tickText(text, x, { bottom, slanted }) {
  if (!slanted) {
    return draw(
      "text",
      { x: x.toFixed(1), y: bottom + 17, "text-anchor": "middle" },
      visible(text),
    );
  }
  const [left, top] = [(x + 3).toFixed(1), bottom + 12];
  return draw(
    "text",
    { transform: `translate(${left} ${top}) rotate(-45)`, "text-anchor": "end" },
    fitted(text, Math.min(110, x / 0.71)),
  );
}
