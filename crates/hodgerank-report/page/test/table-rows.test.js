import assert from "node:assert/strict";
import { test } from "node:test";
import { flaggedAt, setStop, stateOf } from "../state.js";
import { matchingRows, nameRanks, sortedRows } from "../table-rows.js";
import { coffeeReport } from "./fixture.js";

const items = ["Sidamo", "antigua", "item 10", "item 9"];

test("rows are sorted by the kind of their column", () => {
  const sort = (kind, values, descending = false) =>
    sortedRows({ kind, values }, descending, nameRanks(items));
  assert.deepEqual(sort("number", [3, null, -1, 2]), [2, 3, 0, 1]);
  assert.deepEqual(sort("number", [3, null, -1, 2], true), [0, 3, 2, 1]);
  assert.deepEqual(sort("whole", [1, 0, 1, 0]), [1, 3, 0, 2]);
  assert.deepEqual(sort("whole", [1, 0, 1, 0], true), [0, 2, 1, 3]);
  assert.deepEqual(sort("item", [0, 1, 2, 3]), [1, 3, 2, 0]);
  assert.deepEqual(sort("text", ["b", "a10", "a9"]), [2, 1, 0]);
  const intervals = [
    [0.2, 0.3],
    [0.1, 0.9],
    [0.1, 0.2],
  ];
  assert.deepEqual(sort("interval", intervals), [2, 1, 0]);
  assert.deepEqual(
    sort("rank", [
      [2, 1, 9, true],
      [10, 8, 12, false],
      [1, 1, 1, false],
    ]),
    [2, 0, 1],
  );
  assert.deepEqual(sort("rank", [3, 1, 2]), [1, 2, 0]);
  assert.deepEqual(sort("interval", [null, ...intervals], true), [1, 2, 3, 0]);
});

test("a filter matches the text of any cell", () => {
  const columns = [
    { kind: "item", values: [0, 1, 2] },
    { kind: "share", values: [0.125, 0.5, null] },
  ];
  const found = (words) => Array.from(matchingRows(columns, items, words));
  assert.deepEqual(found("SIDA"), [1, 0, 0]);
  assert.deepEqual(found("12.5%"), [1, 0, 0]);
  assert.deepEqual(found("i"), [1, 1, 1]);
  assert.deepEqual(found("nowhere"), [0, 0, 0]);
  assert.equal(matchingRows(columns, items, "  "), null);
});

test("a vote is flagged after an odd number of changes", () => {
  const at = (turns) => [0, 1, 2, 3, 4, 5].map((stop) => flaggedAt(turns, stop));
  assert.deepEqual(at([]), [false, false, false, false, false, false]);
  assert.deepEqual(at([2]), [false, false, true, true, true, true]);
  assert.deepEqual(at([0, 3, 5]), [true, true, true, false, false, true]);
});

test("a stop has the values of the path", () => {
  const [study] = coffeeReport().studies;
  const state = stateOf(study);
  for (const stop of [20, 0, 7]) {
    setStop(state, stop);
    const column = (id) => state.tables.get("ranking").columns.find((one) => one.id === id).values;
    assert.deepEqual(column("rank"), study.slider.ranks[stop]);
    assert.deepEqual(column("score"), study.slider.scores[stop]);
    assert.deepEqual(column("flagged"), study.slider.item_flagged[stop]);
    assert.deepEqual(column("plain"), study.slider.scores[0]);
    const flagged = state.flags.reduce((sum, flag) => sum + flag, 0);
    assert.equal(flagged, study.slider.flagged[stop]);
  }
});
