// Which rows of a table are shown, and in which order. Rows are numbers; columns never move.

import { cellText, visible } from "./format.js";

const collator = new Intl.Collator("en", { numeric: true });

/** For each item its place among all names: so that sorting by item compares numbers. */
export function alphabet(items) {
  const order = Array.from(items.keys()).sort((a, b) => collator.compare(items[a], items[b]));
  const places = new Uint32Array(items.length);
  for (const [place, item] of order.entries()) {
    places[item] = place;
  }
  return places;
}

/** All rows in the order of a column. Missing values are last, equal ones stay as they were. */
export function sortedRows(column, descending, places) {
  const { kind, values } = column;
  const rows = Array.from(values.keys());
  const missing = (row) => values[row] === null || values[row] === undefined;
  const compare = {
    text: (a, b) => collator.compare(values[a], values[b]),
    item: (a, b) => places[values[a]] - places[values[b]],
    interval: (a, b) => values[a][0] - values[b][0] || values[a][1] - values[b][1],
  }[kind];
  const inOrder = compare ?? ((a, b) => values[a] - values[b]);
  const sign = descending ? -1 : 1;
  return rows.sort(
    (a, b) => missing(a) - missing(b) || (missing(a) ? 0 : sign * inOrder(a, b)) || a - b,
  );
}

/** For each row whether any of its cells, as shown, contains the words; null where all do. */
export function matchingRows(columns, items, words) {
  const needle = words.trim().toLowerCase();
  if (needle === "") {
    return null;
  }
  const holds = (text) => text.toLowerCase().includes(needle);
  // Names are asked once each: a table has many rows but few items, and names may be long.
  const named = columns.some((column) => column.kind === "item")
    ? items.map((name) => holds(visible(name)))
    : [];
  const matches = new Uint8Array(columns[0]?.values.length ?? 0);
  for (const column of columns) {
    for (const [row, value] of column.values.entries()) {
      if (!matches[row]) {
        matches[row] = Number(
          column.kind === "item" ? named[value] : holds(cellText(column, row, items)),
        );
      }
    }
  }
  return matches;
}
