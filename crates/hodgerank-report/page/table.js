// Sortable, filterable tables. Long tables show their first rows. Row elements are reused, so that
// moving the slider only changes texts.

import { make } from "./dom.js";
import { cellText, thousands, truncate, visible } from "./format.js";
import { matchingRows, sortedRows } from "./table-rows.js";

const SMALL_TABLE = 100;
const FIRST_ROWS = 50;
const MORE_ROWS = 500;
/** Rows that are printed: of the ranking, and of other tables. */
const PRINT_RANKING = 100;
const PRINT_ROWS = 20;
/** Shorter tables have no filter. */
const MIN_FILTERED = 15;
const MAX_CELL_TEXT = 120;
const LEFT_ALIGNED_KINDS = ["text", "item"];

/**
 * Creates the view of a table. `update` follows the slider; `print` adds rows for printing. A table that replaces
 * another one gets its `view`: it is sorted and filtered in the same way.
 */
export function tableView(table, state, previous) {
  const { columns } = table;
  const follows = state.slider !== null && ["ranking", "suspects"].includes(table.id);
  const rankColumn = columns.findIndex((column) => column.id === "rank");
  const view = {
    sort: { column: follows ? rankColumn : -1, descending: false },
    filter: "",
    limit: columns[0]?.values.length > SMALL_TABLE ? FIRST_ROWS : SMALL_TABLE,
    ...previous,
    order: null,
    matches: null,
  };
  const parts = skeleton(table);
  if (view.filter !== "") {
    parts.filter.value = view.filter;
    view.matches = matchingRows(columns, state.items, view.filter);
  }
  const shown = [];

  function eligible() {
    const flags = follows && table.id === "suspects" ? state.flags : null;
    const { column, descending } = view.sort;
    view.order ??= column < 0 ? null : sortedRows(columns[column], descending, state.nameRanks);
    const order = view.order ?? Array.from(columns[0]?.values.keys() ?? []);
    const listed = flags ? order.filter((row) => flags[row]) : order;
    const matching = view.matches ? listed.filter((row) => view.matches[row]) : listed;
    return { matching, total: listed.length };
  }

  function refresh() {
    const { matching, total } = eligible();
    const visibleRows = Math.min(matching.length, view.limit);
    for (let index = 0; index < visibleRows; index += 1) {
      shown[index] ??= emptyRow(columns);
      fillRow(shown[index], columns, matching[index], state.items);
    }
    for (const [index, row] of shown.entries()) {
      if (index < visibleRows !== row.element.isConnected) {
        index < visibleRows ? parts.body.append(row.element) : row.element.remove();
      }
    }
    const more = matching.length - visibleRows;
    parts.count.textContent = view.matches
      ? `${thousands(matching.length)} of ${thousands(total)} rows`
      : `${thousands(total)} ${total === 1 ? "row" : "rows"}`;
    parts.none.hidden = visibleRows > 0;
    parts.more.hidden = more === 0;
    parts.more.textContent = `Show more (${thousands(more)} not shown)`;
    parts.unprinted.hidden = more === 0;
    const rows = more === 1 ? "row is" : "rows are";
    parts.unprinted.textContent = `${thousands(more)} more ${rows} not printed.`;
  }

  function sortBy(column) {
    const { sort } = view;
    view.sort = { column, descending: sort.column === column && !sort.descending };
    view.order = null;
    markSort(parts.heads, view.sort);
    refresh();
  }

  for (const [index, button] of parts.buttons.entries()) {
    button.addEventListener("click", () => sortBy(index));
  }
  parts.filter.addEventListener("input", () => {
    view.filter = parts.filter.value;
    view.matches = matchingRows(columns, state.items, view.filter);
    refresh();
  });
  parts.more.addEventListener("click", () => {
    view.limit += MORE_ROWS;
    refresh();
  });
  markSort(parts.heads, view.sort);
  refresh();
  return {
    element: parts.element,
    view,
    update() {
      if (table.id === "ranking") {
        // Only the ranking's values change with the stop; flagged votes keep their order.
        view.order = null;
        view.matches = matchingRows(columns, state.items, view.filter);
      }
      if (follows) {
        refresh();
      }
    },
    print(printing) {
      const limit = printing ? ({ ranking: PRINT_RANKING }[table.id] ?? PRINT_ROWS) : view.limit;
      const previous = view.limit;
      view.limit = limit;
      refresh();
      view.limit = previous;
    },
  };
}

function markSort(heads, sort) {
  for (const [index, head] of heads.entries()) {
    const direction = sort.descending ? "descending" : "ascending";
    head.setAttribute("aria-sort", index === sort.column ? direction : "none");
  }
}

/** Creates everything but the rows. */
function skeleton(table) {
  const id = `table-${table.id}`;
  const buttons = table.columns.map((column) => sortButton(column, id));
  const heads = table.columns.map((column, index) =>
    make("th", { scope: "col", class: alignmentOf(column) }, buttons[index]),
  );
  const body = make("tbody");
  const none = make("p", { class: "none" }, "No rows.");
  const count = make("span", { class: "count", role: "status" });
  const filter = make("input", {
    type: "search",
    placeholder: "Filter",
    "aria-label": `Filter ${visible(table.title)}`,
    autocomplete: "off",
    spellcheck: "false",
  });
  const more = make("button", { type: "button", class: "more" });
  const unprinted = make("p", { class: "unprinted" });
  const caption = make("caption", {}, visible(table.title));
  const grid = make("table", {}, caption, make("thead", {}, make("tr", {}, ...heads)), body);
  const scroller = make(
    "div",
    { class: "scroller", tabindex: "0", role: "region", "aria-label": visible(table.title) },
    grid,
  );
  const tools = make("div", { class: "tools" }, filter, count);
  tools.hidden = (table.columns[0]?.values.length ?? 0) < MIN_FILTERED;
  const element = make("div", { class: "table", id }, tools, scroller, none, more, unprinted);
  if (table.note) {
    element.append(make("p", { class: "note" }, visible(table.note)));
  }
  const hints = hintList(table.columns, id);
  if (hints) {
    element.append(hints);
  }
  return { element, buttons, heads, body, none, count, filter, more, unprinted };
}

function sortButton(column, id) {
  const button = make("button", { type: "button" }, visible(column.name));
  if (column.hint) {
    button.title = visible(column.hint);
    button.setAttribute("aria-describedby", `${id}-${column.id}`);
  }
  return button;
}

/** Explains the columns for readers who cannot use tooltips. */
function hintList(columns, id) {
  const hinted = columns.filter((column) => column.hint);
  if (hinted.length === 0) {
    return null;
  }
  const entries = hinted.flatMap((column) => [
    make("dt", {}, visible(column.name)),
    make("dd", { id: `${id}-${column.id}` }, visible(column.hint)),
  ]);
  const summary = make("summary", {}, "What the columns mean");
  return make("details", { class: "hints" }, summary, make("dl", {}, ...entries));
}

function alignmentOf(column) {
  return LEFT_ALIGNED_KINDS.includes(column.kind) ? "left" : "right";
}

function emptyRow(columns) {
  const cells = columns.map((column) => {
    const text = document.createTextNode("");
    const short = alignmentOf(column) === "left" ? make("bdi", {}, text) : text;
    const element = make("td", { class: alignmentOf(column) }, short);
    return { element, short, text, isLong: false };
  });
  return { element: make("tr", {}, ...cells.map((cell) => cell.element)), cells };
}

// Most cells only change their text, which keeps the slider fast.
function fillRow(row, columns, number, items) {
  for (const [index, column] of columns.entries()) {
    const cell = row.cells[index];
    const text = cellText(column, number, items);
    const isLong = text.length > MAX_CELL_TEXT;
    if (isLong) {
      cell.element.replaceChildren(longText(text));
    } else if (cell.isLong) {
      cell.element.replaceChildren(cell.short);
    }
    cell.isLong = isLong;
    if (!isLong && cell.text.data !== text) {
      cell.text.data = text;
    }
  }
}

/** Shows the start of a long text, and all of it on demand. */
function longText(text) {
  const summary = make("summary", {}, make("bdi", {}, truncate(text, MAX_CELL_TEXT)));
  return make("details", { class: "long" }, summary, make("bdi", {}, text));
}
