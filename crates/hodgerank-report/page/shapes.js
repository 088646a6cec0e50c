// Shapes of points as subpaths: all points of a mark form one path.

import { draw } from "./dom.js";

const SHAPES = {
  // A disc is a line of zero length with round caps, which needs few characters. Square caps are not
  // printed.
  circle: { class: "stroke round", at: (x, y) => `M${x} ${y}h0`, width: (size) => 2 * size },
  square: {
    class: "fill",
    at: (x, y, size) => {
      const half = 0.9 * size;
      return `M${x} ${y}m${-half} ${-half}h${2 * half}v${2 * half}h${-2 * half}z`;
    },
  },
  triangle: {
    class: "fill",
    at: (x, y, size) => `M${x} ${y}m0 ${-1.2 * size}l${1.15 * size} ${2 * size}h${-2.3 * size}z`,
  },
  diamond: {
    class: "fill",
    at: (x, y, size) => {
      const half = 1.25 * size;
      return `M${x} ${y}m0 ${-half}l${half} ${half}l${-half} ${half}l${-half} ${-half}z`;
    },
  },
  cross: {
    class: "stroke",
    at: (x, y, size) => {
      const half = 0.85 * size;
      const whole = 2 * half;
      return `M${x} ${y}m${-half} ${-half}l${whole} ${whole}m${-whole} 0l${whole} ${-whole}`;
    },
    width: strokeOf,
  },
  plus: {
    class: "stroke",
    at: (x, y, size) => `M${x} ${y}m${-size} 0h${2 * size}m${-size} ${-size}v${2 * size}`,
    width: strokeOf,
  },
};

function strokeOf(size) {
  return Math.max(1.5, 0.6 * size);
}

/** Returns the subpath of a point. */
export function outline(shape, x, y, size) {
  return SHAPES[shape].at(Math.round(x * 10) / 10, Math.round(y * 10) / 10, size);
}

/** Creates the path element of these subpaths. */
export function pointsPath(shape, size, d) {
  const { class: name, width } = SHAPES[shape];
  const path = draw("path", { class: name, d });
  if (width) {
    path.setAttribute("stroke-width", width(size));
  }
  return path;
}
