// The state of a study's page: its data, and the stop of its slider.

import { nameRanks } from "./table-rows.js";

/** Whether a vote is flagged at a stop: after an odd number of changes. */
export function flaggedAt(turns, stop) {
  let changes = 0;
  while (changes < turns.length && turns[changes] <= stop) {
    changes += 1;
  }
  return changes % 2 === 1;
}

/** Columns of the ranking that are known at the stop of the report's ranking only. */
const RANKING_ONLY = ["margin", "tier"];

/** Creates the state that tables and charts read. The columns of `study` are copied. */
export function stateOf(study) {
  const tables = new Map();
  for (const section of study.sections) {
    for (const table of section.tables) {
      tables.set(table.id, { ...table, columns: table.columns.map(copied) });
    }
  }
  return {
    items: study.items,
    nameRanks: nameRanks(study.items),
    tables,
    slider: study.slider ?? null,
    stop: 0,
    flags: study.slider ? new Uint8Array(study.slider.turns.length) : null,
  };
}

function copied(column) {
  return { ...column, own: column.values };
}

/** Sets the stop: updates the ranking's columns and the flags. */
export function setStop(state, stop) {
  const { slider, flags } = state;
  state.stop = stop;
  const columns = { rank: slider.ranks, score: slider.scores, flagged: slider.item_flagged };
  for (const column of state.tables.get("ranking")?.columns ?? []) {
    if (stop === slider.chosen) {
      column.values = column.own;
    } else if (Object.hasOwn(columns, column.id)) {
      column.values = columns[column.id][stop];
    } else if (RANKING_ONLY.includes(column.id)) {
      column.values = column.own.map(() => null);
    }
  }
  // On the path, all votes of a row are flagged or none is.
  const suspects = state.tables.get("suspects")?.columns ?? [];
  const flagged = suspects.find((column) => column.id === "flagged");
  if (flagged) {
    const votes = suspects.find((column) => column.id === "votes");
    flagged.values = stop === slider.chosen ? flagged.own : votes.own;
  }
  for (let row = 0; row < flags.length; row += 1) {
    flags[row] = Number(flaggedAt(slider.turns[row], stop));
  }
}
