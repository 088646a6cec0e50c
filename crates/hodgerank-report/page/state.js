// What the page knows of one study, and where its slider stands.

import { alphabet } from "./rows.js";

/** Whether a vote with these turns is flagged at a stop: it is after an odd number of turns. */
export function flaggedAt(turns, stop) {
  let past = 0;
  while (past < turns.length && turns[past] <= stop) {
    past += 1;
  }
  return past % 2 === 1;
}

/** The state of a study that tables and charts read. Given columns are replaced, never changed. */
export function stateOf(study) {
  const tables = new Map();
  for (const section of study.sections) {
    for (const table of section.tables) {
      tables.set(table.id, { ...table, columns: table.columns.map((column) => ({ ...column })) });
    }
  }
  return {
    items: study.items,
    places: alphabet(study.items),
    tables,
    slider: study.slider ?? null,
    stop: 0,
    flags: study.slider ? new Uint8Array(study.slider.turns.length) : null,
  };
}

/** Moves the state to a stop: the ranking's columns and the flags are those of the stop. */
export function moveTo(state, stop) {
  const { slider, flags } = state;
  state.stop = stop;
  const columns = { rank: slider.ranks, score: slider.scores, flagged: slider.item_flagged };
  for (const column of state.tables.get("ranking")?.columns ?? []) {
    if (Object.hasOwn(columns, column.id)) {
      column.values = columns[column.id][stop];
    }
  }
  for (let row = 0; row < flags.length; row += 1) {
    flags[row] = Number(flaggedAt(slider.turns[row], stop));
  }
}
