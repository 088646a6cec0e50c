// More charts of the fixture: arrows, bars, a graph, images, powers of ten.

import {
  axesOf,
  axis,
  chartOf as base,
  hidden,
  nothing,
  numbers,
  shares,
  words,
} from "./fixture-parts.js";

/** Returns charts that do not follow the slider. */
export function pictures({ names, pairs, slider, random }) {
  const { labels, labelled, down } = axesOf(names);
  const all = Array.from(names.keys());
  const few = pairs.slice(0, 14);
  const arrows = base(
    "arrows",
    "Top flagged votes against the order",
    axis("", -0.5, 13.5, hidden),
    axis("score", -2, 2, numbers),
    0.6,
    [
      {
        kind: "segments",
        colour: "kind-1",
        width: 1.5,
        arrow: true,
        x0: few.map((_, row) => row),
        x1: few.map((_, row) => row),
        y0: few.map(([left]) => slider.scores[0][left]),
        y1: few.map(([, right]) => slider.scores[0][right]),
        hover: words(
          few.map(([left, right]) => `${names[left].slice(0, 40)} → ${names[right].slice(0, 40)}`),
        ),
      },
    ],
  );

  const hodge = base(
    "hodge",
    "Hodge shares",
    axis("share of energy", 0, 1, shares),
    axis("", 0, 1, hidden),
    0.12,
    [
      ["gradient", 0, 0.62, "kind-0"],
      ["curl", 0.62, 0.93, "kind-1"],
      ["harmonic", 0.93, 1, "kind-7"],
    ].map(([name, from, to, colour]) => ({
      kind: "bars",
      colour,
      x0: [from],
      x1: [to],
      y0: [0.2],
      y1: [0.8],
      hover: words([`${name}\n${(100 * (to - from)).toFixed(1)}%`]),
    })),
    ["gradient", "curl", "harmonic"].map((name, index) => ({
      name,
      colour: ["kind-0", "kind-1", "kind-7"][index],
      sign: { kind: "bar" },
    })),
  );

  const nodes = all.slice(0, 12);
  const around = (item) => (2 * Math.PI * item) / nodes.length;
  const [nx, ny] = [
    nodes.map((item) => Math.cos(around(item))),
    nodes.map((item) => Math.sin(around(item))),
  ];
  const graph = base(
    "graph",
    "Comparison graph",
    axis("", -1.3, 1.3, hidden),
    axis("", -1.3, 1.3, hidden),
    1,
    [
      {
        kind: "segments",
        colour: "faint",
        width: 1,
        arrow: false,
        x0: nodes.map((item) => nx[item]),
        y0: nodes.map((item) => ny[item]),
        x1: nodes.map((item) => nx[(item * 5 + 1) % nodes.length]),
        y1: nodes.map((item) => ny[(item * 5 + 1) % nodes.length]),
        hover: nothing,
      },
      {
        kind: "points",
        colour: "kind-2",
        shape: "circle",
        size: 6,
        x: nx,
        y: ny,
        hover: words(nodes.map((item) => names[item].slice(0, 60))),
      },
      {
        kind: "texts",
        colour: "ink",
        anchor: "middle",
        x: nx,
        y: ny.map((y) => y + 0.12),
        text: nodes.map((item) => labels[item]),
      },
    ],
  );

  const side = Array.from({ length: 144 }, (_, cell) => cell);
  const cells = (ramp) => ({
    kind: "cells",
    x: side.map((cell) => cell % 12),
    y: side.map((cell) => Math.floor(cell / 12)),
    width: 1,
    height: 1,
    value: side.map((cell) => (cell % 12) / 11),
    ramp,
    hover: words(side.map((cell) => `cell ${cell}`)),
  });
  const space = axis("", -0.5, 11.5, hidden);
  const picture = base("picture", "A picture", space, space, 1, [cells("grey")]);
  const strength = base(
    "strength",
    "How the penalty falls",
    axis("λ", -4, 1, { kind: "powers" }),
    axis("share", 0, 0.3, shares),
    0.6,
    [
      {
        kind: "line",
        colour: "kind-4",
        width: 2,
        dashed: false,
        curve: "step",
        x: [-4, -3, -2, -1, 0, 1],
        y: [0.28, 0.21, 0.2, 0.08 + random() / 100, 0.02, 0],
        hover: "flagged",
      },
    ],
  );
  const heat = base("heat", "Votes for each pair", labelled("left"), down("right"), 1, [
    { ...cells("steps"), y: side.map((cell) => Math.floor(cell / 12)) },
  ]);
  return { arrows, hodge, graph, picture, strength, heat };
}
