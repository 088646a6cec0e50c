// Charts of the fixture: every kind of mark, tick, hover and sign.

const numbers = { kind: "numbers" };
const shares = { kind: "shares" };
const hidden = { kind: "hidden" };
const axis = (name, from, to, ticks) => ({ name, from, to, ticks });
const words = (list) => ({ from: "words", words: list });
const nothing = { from: "nothing" };
const kind = (place) => `kind-${place % 8}`;

/** All charts of a study. */
export function charts({ names, pairs, slider, random }) {
  const labels = names.map((name) => (name.length > 24 ? `${name.slice(0, 23)}…` : name));
  const count = names.length;
  const labelled = (name) => axis(name, -0.5, count - 0.5, { kind: "labels", labels });
  const down = (name) => axis(name, count - 0.5, -0.5, { kind: "labels", labels });
  const base = (id, title, x, y, aspect, marks, legend = []) => {
    return { id, title, alt: `${title}, in words.`, x, y, aspect, marks, legend };
  };
  const all = Array.from(names.keys());
  const scoreAxis = axis("score", -2, 2, numbers);

  const scores = base(
    "scores",
    "Scores, plain against robust",
    scoreAxis,
    down(""),
    Math.min(4, Math.max(0.5, count / 30)),
    [
      {
        kind: "points",
        colour: "muted",
        shape: "plus",
        size: 4,
        x: slider.scores[0],
        y: all,
        hover: words(
          names.map(
            (name, item) => `${name.slice(0, 60)}\nplain ${slider.scores[0][item].toFixed(3)}`,
          ),
        ),
      },
      {
        kind: "points",
        colour: "kind-0",
        shape: "circle",
        size: 4.5,
        x: slider.scores[slider.chosen],
        y: all,
        hover: { from: "rows", table: "ranking", rows: all },
        follows: "scores",
      },
    ],
    [
      { name: "plain", colour: "muted", sign: { kind: "point", shape: "plus" } },
      { name: "robust", colour: "kind-0", sign: { kind: "point", shape: "circle" } },
    ],
  );

  const methods = ["plain", "lasso", "huber", "lbi", "median"];
  const shown = all.slice(0, 40);
  const lowest = Math.max(
    ...slider.ranks.slice(0, 21).flatMap((ranks) => shown.map((item) => ranks[item])),
  );
  const bump = base(
    "bump",
    "Ranks across methods",
    axis("method", -0.2, 5.2, { kind: "labels", labels: methods }),
    axis("rank", lowest + 0.5, 0.5, numbers),
    0.8,
    [
      ...shown.map((item) => ({
        kind: "line",
        colour: kind(item),
        width: 2,
        dashed: false,
        curve: "smooth",
        x: [0, 1, 2, 3, 4],
        y: [0, 5, 10, 15, 20].map(
          (stop) => slider.ranks[Math.min(stop, slider.ranks.length - 1)][item],
        ),
        hover: names[item].slice(0, 60),
      })),
      {
        kind: "texts",
        colour: "ink",
        anchor: "start",
        x: shown.map(() => 4.1),
        y: shown.map((item) => slider.ranks[Math.min(20, slider.ranks.length - 1)][item]),
        text: shown.map((item) => labels[item]),
      },
    ],
  );

  const path = {
    ...base(
      "path",
      "Scores along the path",
      axis("share of votes set aside", 0, Math.max(...slider.share), shares),
      scoreAxis,
      0.5,
      all.slice(0, 100).map((item) => ({
        kind: "line",
        colour: kind(item),
        width: 1.5,
        dashed: item % 2 === 1,
        curve: "straight",
        x: slider.share,
        y: slider.scores.map((row) => row[item]),
        hover: names[item].slice(0, 60),
      })),
      [
        { name: "items", colour: "kind-0", sign: { kind: "line" } },
        { name: "every second item", colour: "kind-1", sign: { kind: "dashes" } },
      ],
    ),
    note: "Only the first 100 items are drawn.",
  };

  const shapes = ["circle", "square", "triangle", "diamond", "cross", "plus"];
  const map = base(
    "map",
    "Outlier map: item against item",
    labelled("left, by score"),
    down("right, by score"),
    1,
    shapes.map((shape, place) => {
      const rows = Array.from(pairs.keys()).filter((row) => row % 6 === place);
      return {
        kind: "points",
        colour: `step-${(place * 2) % 10}`,
        shape,
        size: count > 100 ? 1.5 : 5,
        x: rows.map((row) => pairs[row][0]),
        y: rows.map((row) => pairs[row][1]),
        hover: { from: "rows", table: "suspects", rows },
        follows: "flags",
      };
    }),
    shapes.map((shape, place) => ({
      name: `strength in band ${place + 1}, found by ${place + 1} methods`,
      colour: `step-${(place * 2) % 10}`,
      sign: { kind: "point", shape },
    })),
  );

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
    ["gradient", "curl", "harmonic"].map((name, place) => ({
      name,
      colour: ["kind-0", "kind-1", "kind-7"][place],
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
  return { scores, bump, path, map, arrows, hodge, graph, picture, strength, heat };
}
