// Charts of the fixture: every kind of mark, tick, tooltip and legend symbol.

import { axesOf, axis, chartOf as base, kind, numbers, shares, words } from "./fixture-parts.js";
import { pictures } from "./fixture-pictures.js";

/** Returns all charts of a study. */
export function charts({ names, pairs, slider, random }) {
  const { labels, count, labelled, down } = axesOf(names);
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
      axis("share of votes flagged", 0, Math.max(...slider.share), shares),
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
    shapes.map((shape, index) => {
      const rows = Array.from(pairs.keys()).filter((row) => row % 6 === index);
      return {
        kind: "points",
        colour: `step-${(index * 2) % 10}`,
        shape,
        size: count > 100 ? 1.5 : 5,
        x: rows.map((row) => pairs[row][0]),
        y: rows.map((row) => pairs[row][1]),
        hover: { from: "rows", table: "suspects", rows },
        follows: "flags",
      };
    }),
    shapes.map((shape, index) => ({
      name: `strength in band ${index + 1}, found by ${index + 1} methods`,
      colour: `step-${(index * 2) % 10}`,
      sign: { kind: "point", shape },
    })),
  );

  return { scores, bump, path, map, ...pictures({ names, pairs, slider, random }) };
}
