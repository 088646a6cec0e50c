// A table that sorts and filters. A long one shows its first rows; rows on the page are reused, so
// that following the slider only changes texts.

import { make } from "./dom.js";
import { cellText, cut, thousands, visible } from "./format.js";
import { matchingRows, sortedRows } from "./rows.js";

const SMALL_TABLE = 100;
const FIRST_ROWS = 50;
const MORE_ROWS = 500;
const PAPER_ROWS = 500;
const LONG_CELL = 120;
const LEFT_KINDS = ["text", "item"];

/** The view of a table: `update` after its values or the flags changed, `paper` around printing. */
export function tableView(table, state) {
  const { columns } = table;
  const follows = state.slider !== null && ["ranking", "suspects"].includes(table.id);
  const ranked = columns.findIndex((column) => column.id === "rank");
  const view = {
    sort: { column: follows ? ranked : -1, descending: false },
    words: "",
    limit: columns[0]?.values.length > SMALL_TABLE ? FIRST_ROWS : SMALL_TABLE,
    order: null,
    matches: null,
  };
  const parts = skeleton(table);
  const shown = [];

  function eligible() {
    const flags = follows && table.id === "suspects" ? state.flags : null;
    const { column, descending } = view.sort;
    view.order ??= column < 0 ? null : sortedRows(columns[column], descending, state.places);
    const order = view.order ?? Array.from(columns[0]?.values.keys() ?? []);
    const there = flags ? order.filter((row) => flags[row]) : order;
    const matching = view.matches ? there.filter((row) => view.matches[row]) : there;
    return { matching, total: there.length };
  }

  function refresh() {
    const { matching, total } = eligible();
    const visibleRows = Math.min(matching.length, view.limit);
    for (let place = 0; place < visibleRows; place += 1) {
      shown[place] ??= emptyRow(columns);
      fillRow(shown[place], columns, matching[place], state.items);
    }
    for (const [place, row] of shown.entries()) {
      if (place < visibleRows !== row.element.isConnected) {
        place < visibleRows ? parts.body.append(row.element) : row.element.remove();
      }
    }
    const more = matching.length - visibleRows;
    parts.count.textContent = `${thousands(matching.length)} of ${thousands(total)}`;
    parts.none.hidden = visibleRows > 0;
    parts.more.hidden = more === 0;
    parts.more.textContent = `Show more (${thousands(more)} not shown)`;
    parts.unprinted.hidden = more === 0;
    parts.unprinted.textContent = `${thousands(more)} more rows are not printed.`;
  }

  function sortBy(column) {
    const { sort } = view;
    view.sort = { column, descending: sort.column === column && !sort.descending };
    view.order = null;
    markSort(parts.heads, view.sort);
    refresh();
  }

  for (const [place, button] of parts.buttons.entries()) {
    button.addEventListener("click", () => sortBy(place));
  }
  parts.filter.addEventListener("input", () => {
    view.words = parts.filter.value;
    view.matches = matchingRows(columns, state.items, view.words);
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
    update() {
      if (table.id === "ranking") {
        // Only the ranking's values move; the order of suspects stays as it was sorted.
        view.order = null;
        view.matches = matchingRows(columns, state.items, view.words);
      }
      if (follows) {
        refresh();
      }
    },
    paper(printing) {
      const limit = printing ? Math.max(view.limit, PAPER_ROWS) : view.limit;
      const before = view.limit;
      view.limit = limit;
      refresh();
      view.limit = before;
    },
  };
}

function markSort(heads, sort) {
  for (const [place, head] of heads.entries()) {
    const direction = sort.descending ? "descending" : "ascending";
    head.setAttribute("aria-sort", place === sort.column ? direction : "none");
  }
}

/** Everything but the rows. */
function skeleton(table) {
  const id = `table-${table.id}`;
  const buttons = table.columns.map((column) => sortButton(column, id));
  const heads = table.columns.map((column, place) =>
    make("th", { scope: "col", class: sideOf(column) }, buttons[place]),
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

/** What the columns mean, for readers without a pointer. */
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

function sideOf(column) {
  return LEFT_KINDS.includes(column.kind) ? "left" : "right";
}

function emptyRow(columns) {
  const cells = columns.map((column) => {
    const text = document.createTextNode("");
    const short = sideOf(column) === "left" ? make("bdi", {}, text) : text;
    const element = make("td", { class: sideOf(column) }, short);
    return { element, short, text, isLong: false };
  });
  return { element: make("tr", {}, ...cells.map((cell) => cell.element)), cells };
}

// Most cells only get another text: that is what keeps the slider fast.
function fillRow(row, columns, number, items) {
  for (const [place, column] of columns.entries()) {
    const cell = row.cells[place];
    const text = cellText(column, number, items);
    const isLong = text.length > LONG_CELL;
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

/** The start of a very long text, and the whole where asked for. */
function longText(text) {
  const summary = make("summary", {}, make("bdi", {}, cut(text, LONG_CELL)));
  return make("details", { class: "long" }, summary, make("bdi", {}, text));
}
