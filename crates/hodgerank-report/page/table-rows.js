// Sorts and filters the rows of a table. Rows are row numbers; the data do not move.

import { cellText, visible } from "./format.js";

const collator = new Intl.Collator("en", { numeric: true });

/** Returns the alphabetical rank of each item, so that sorting by item compares numbers. */
export function nameRanks(items) {
  const order = Array.from(items.keys()).sort((a, b) => collator.compare(items[a], items[b]));
  const ranks = new Uint32Array(items.length);
  for (const [rank, item] of order.entries()) {
    ranks[item] = rank;
  }
  return ranks;
}

/** Returns all rows sorted by a column. Missing values are last; the sort is stable. */
export function sortedRows(column, descending, ranks) {
  const { kind, values } = column;
  const rows = Array.from(values.keys());
  const missing = (row) => values[row] === null || values[row] === undefined;
  const compare = {
    text: (a, b) => collator.compare(values[a], values[b]),
    item: (a, b) => ranks[values[a]] - ranks[values[b]],
    // A rank is a number, or starts with one.
    rank: (a, b) => [values[a]].flat()[0] - [values[b]].flat()[0],
    interval: (a, b) => values[a][0] - values[b][0] || values[a][1] - values[b][1],
  }[kind];
  const inOrder = compare ?? ((a, b) => values[a] - values[b]);
  const sign = descending ? -1 : 1;
  return rows.sort(
    (a, b) => missing(a) - missing(b) || (missing(a) ? 0 : sign * inOrder(a, b)) || a - b,
  );
}

/** Returns for each row whether a cell, as shown, contains the text; null if the text is blank. */
export function matchingRows(columns, items, text) {
  const needle = text.trim().toLowerCase();
  if (needle === "") {
    return null;
  }
  const matchesText = (cell) => cell.toLowerCase().includes(needle);
  // Each name is tested once: a table has many rows but few items, and names can be long.
  const itemMatches = columns.some((column) => column.kind === "item")
    ? items.map((name) => matchesText(visible(name)))
    : [];
  const matches = new Uint8Array(columns[0]?.values.length ?? 0);
  for (const column of columns) {
    for (const [row, value] of column.values.entries()) {
      if (!matches[row]) {
        matches[row] = Number(
          column.kind === "item" ? itemMatches[value] : matchesText(cellText(column, row, items)),
        );
      }
    }
  }
  return matches;
}
