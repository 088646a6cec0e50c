// Legends.

import { draw, make, tint } from "./dom.js";
import { visible } from "./format.js";
import { outline, pointsPath } from "./shapes.js";

/** Creates the legend of a chart. */
export function legendList(entries) {
  const rows = entries.map((entry) =>
    make("li", {}, symbolOf(entry), make("bdi", {}, visible(entry.name))),
  );
  return make("ul", { class: "legend" }, ...rows);
}

function symbolOf({ colour, sign }) {
  const drawing = draw("svg", {
    viewBox: "0 0 20 12",
    width: 20,
    height: 12,
    "aria-hidden": "true",
  });
  drawing.append(tint(symbolShape(sign), colour));
  return drawing;
}

function symbolShape(sign) {
  switch (sign.kind) {
    case "point":
      return pointsPath(sign.shape, 4, outline(sign.shape, 10, 6, 4));
    case "line":
      return draw("path", { class: "stroke", d: "M1 6H19", "stroke-width": 2.5 });
    case "dashes": {
      const dashes = { "stroke-width": 2.5, "stroke-dasharray": "5 2" };
      return draw("path", { class: "stroke", d: "M1 6H19", ...dashes });
    }
    default:
      return draw("rect", { class: "fill", x: 3, y: 1, width: 14, height: 10, rx: 1.5 });
  }
}
