// Made-up reports of realistic structure and size.

import { charts } from "./fixture-charts.js";

export const COFFEES = [
  "Yirgacheffe",
  "Sidamo",
  "Huehuetenango",
  "Antigua",
  "Tarrazú",
  "Supremo Popayán",
  "Kona extra fancy",
  "Blue Mountain",
  "Mandheling",
  "Monsooned Malabar",
  "Santos No. 2",
  "House blend of the canteen on the second floor",
];

/** Returns a reproducible generator of numbers from 0 to 1. */
export function randomFrom(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Returns the ranks of scores: 1 for the highest. */
export function ranksOf(scores) {
  const order = Array.from(scores.keys()).sort((a, b) => scores[b] - scores[a]);
  const ranks = new Array(scores.length);
  for (const [index, row] of order.entries()) {
    ranks[row] = index + 1;
  }
  return ranks;
}

/** Returns a made-up path: votes become flagged at random stops, scores drift. */
export function sliderOf({ items, suspects, stops, votes, random, pairs }) {
  const turns = Array.from({ length: suspects }, (_, row) => {
    const first = 1 + Math.floor(random() * (stops - 1));
    const list = [first];
    if (row % 7 === 0 && first + 2 < stops) {
      list.push(first + 1, first + 2);
    }
    return list;
  });
  const isFlagged = (row, stop) => turns[row].filter((turn) => turn <= stop).length % 2 === 1;
  const start = Array.from({ length: items }, (_, item) => 1.5 - (3 * item) / items);
  const drift = start.map(() => (random() - 0.5) * 0.9);
  const slider = { parameter: "lambda", chosen: Math.floor(stops / 3), at: [], flagged: [] };
  const lists = ["share", "agree", "disagree", "ranks", "scores"];
  for (const name of [...lists, "item_flagged"]) {
    slider[name] = [];
  }
  for (let stop = 0; stop < stops; stop += 1) {
    const part = stop / (stops - 1);
    const perItem = new Array(items).fill(0);
    let flagged = 0;
    for (const row of turns.keys()) {
      if (isFlagged(row, stop)) {
        flagged += 1;
        perItem[pairs[row][0]] += 1;
        perItem[pairs[row][1]] += 1;
      }
    }
    const scores = start.map((score, item) => score + drift[item] * part);
    slider.at.push(2 ** (-6 * part));
    slider.flagged.push(flagged);
    slider.share.push(flagged / votes);
    slider.agree.push(0.7 * (1 - flagged / votes));
    slider.disagree.push(0.25 * (1 - flagged / votes));
    slider.scores.push(scores);
    slider.ranks.push(ranksOf(scores));
    slider.item_flagged.push(perItem);
  }
  return { ...slider, turns };
}

/** Returns a study of these items. */
export function studyOf({ names, suspects = 60, stops = 21, seed = 7, by }) {
  const random = randomFrom(seed);
  const items = names.length;
  const votes = 10 * suspects;
  const pairs = Array.from({ length: suspects }, () => {
    const left = Math.floor(random() * items);
    return [left, (left + 1 + Math.floor(random() * (items - 1))) % items];
  });
  const slider = sliderOf({ items, suspects, stops, votes, random, pairs });
  const tables = tablesOf({ items, pairs, slider, random });
  const drawn = charts({ names, pairs, slider, random });
  return {
    ...(by === undefined ? {} : { by }),
    items: names,
    facts: [
      { name: "items", value: String(items) },
      { name: "votes", value: votes.toLocaleString("en") },
      { name: "annotators", value: "4" },
      { name: "flagged votes", value: `${slider.flagged[slider.chosen]}` },
    ],
    headline: {
      value: "74%",
      text: "of votes agree with this ranking; careful annotators would reach about 81%.",
    },
    overview: { ...drawn.scores, id: "overview", title: "The best items" },
    summary: [
      { text: `${names[0].slice(0, 40)} is first, ahead of ${names[1].slice(0, 40)} by 0.25.` },
      {
        text: `${slider.flagged[slider.chosen]} votes are flagged; without them two items change rank.`,
      },
    ],
    more: [{ text: "1 annotator always chooses the same side: taster 1.", section: "annotators" }],
    warnings: ["One annotator chose the left cup in 81.0% of the votes."],
    slider,
    sections: [
      {
        id: "ranking",
        title: "Ranking",
        fold: "never",
        text: ["Method: tasting."],
        help: ["Scores are differences of taste: only their distances mean something."],
        charts: [drawn.scores, drawn.bump],
        tables: [tables.ranking],
      },
      {
        id: "path",
        title: "The path",
        fold: "detail",
        text: ["More votes are flagged from left to right."],
        help: [],
        charts: [drawn.path],
        tables: [],
      },
      {
        id: "outliers",
        title: "Flagged votes",
        fold: "screen",
        text: [],
        help: [],
        charts: [drawn.map, drawn.arrows],
        tables: [tables.suspects],
      },
      {
        id: "consistency",
        title: "Consistency",
        fold: "detail",
        text: [],
        help: [],
        charts: [drawn.hodge, drawn.graph, drawn.picture, drawn.strength, drawn.heat],
        tables: [],
      },
      {
        id: "annotators",
        title: "Annotators",
        fold: "screen",
        text: [],
        help: [],
        charts: [],
        tables: [tables.annotators],
      },
    ],
  };
}

function tablesOf({ items, pairs, slider, random }) {
  const { chosen } = slider;
  const all = Array.from({ length: items }, (_, item) => item);
  const column = (id, name, kind, values, hint = "") => ({ id, name, hint, kind, values });
  return {
    ranking: {
      id: "ranking",
      title: "Ranking",
      columns: [
        column("rank", "rank", "whole", slider.ranks[chosen]),
        column("item", "item", "item", all),
        column("score", "score", "number", slider.scores[chosen], "Robust score at this stop"),
        column("flagged", "flagged", "whole", slider.item_flagged[chosen], "Flagged votes"),
        column("plain", "plain score", "number", slider.scores[0], "Score of least squares"),
      ],
    },
    suspects: {
      id: "suspects",
      title: "Flagged votes",
      note: "Equal votes share a row.",
      columns: [
        column(
          "order",
          "order",
          "whole",
          pairs.map((_, row) => row + 1),
        ),
        column(
          "left",
          "left",
          "item",
          pairs.map(([left]) => left),
        ),
        column(
          "right",
          "right",
          "item",
          pairs.map(([, right]) => right),
        ),
        column(
          "annotator",
          "annotator",
          "text",
          pairs.map((_, row) => `taster ${row % 4}`),
        ),
        column(
          "residual",
          "residual",
          "number",
          pairs.map(() => random() * 3),
          "Of the vote",
        ),
      ],
    },
    annotators: {
      id: "annotators",
      title: "Annotators",
      columns: [
        column("name", "annotator", "text", ["taster 0", "taster 1", "taster 2", "taster 10"]),
        column("votes", "votes", "whole", [1200, 950, null, 3]),
        column("share", "flagged", "share", [0.05, 0.125, 0, null], "Share of flagged votes"),
        column("interval", "95% interval", "interval", [
          [0.03, 0.07],
          [0.1, 0.15],
          [0, 0.01],
          [0, 0.7],
        ]),
        column("p", "p (flags)", "probability", [0.0321, 3.2e-7, 1, null]),
      ],
    },
  };
}

/** Returns a report. */
export function reportOf(...studies) {
  return {
    schema: "hodgerank/report/1",
    title: "Which coffee tastes best?",
    program: "hodgerank 0.2.0",
    studies,
  };
}

export const coffeeReport = () => reportOf(studyOf({ names: COFFEES }));

/** A report of the maximum size. */
export const largeReport = () =>
  reportOf(
    studyOf({
      names: Array.from({ length: 500 }, (_, item) => `item ${item}`),
      suspects: 20000,
      stops: 101,
    }),
  );
