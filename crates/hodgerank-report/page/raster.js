// Thousands of tiny points: painting each of them would hold up the slider. They fall on a grid of
// small squares, and squares side by side become one piece of the path.

/** Points from this number on are a crowd, if they are tiny. */
const MANY = 1500;
const TINY = 2.5;
/** Side of a square, in pixels. */
const SIDE = 2;

/** Whether points are drawn as a crowd. */
export function isCrowd(mark) {
  return mark.y.length >= MANY && mark.size < TINY;
}

/**
 * Lays points out on the grid. The result gives the path of those points for which
 * `isThere(place)` holds.
 */
export function crowd(x, y) {
  const cellOf = (pixels) => Math.floor(pixels / SIDE);
  const columns = x.map(cellOf);
  const rows = y.map(cellOf);
  const most = (cells) => cells.reduce((a, b) => Math.max(a, b), 0);
  const wide = most(columns) + 2;
  const filled = new Uint8Array(wide * (most(rows) + 1));
  return (isThere) => {
    filled.fill(0);
    for (let place = 0; place < columns.length; place += 1) {
      if (columns[place] >= 0 && rows[place] >= 0 && isThere(place)) {
        filled[rows[place] * wide + columns[place]] = 1;
      }
    }
    return runs(filled, wide);
  };
}

/** One rectangle for each run of filled squares in a row; the last column is always empty. */
function runs(filled, wide) {
  const pieces = [];
  let start = filled.indexOf(1);
  while (start >= 0) {
    const end = filled.indexOf(0, start);
    const [left, top] = [(start % wide) * SIDE, Math.floor(start / wide) * SIDE];
    const length = (end - start) * SIDE;
    pieces.push(`M${left} ${top}h${length}v${SIDE}h${-length}z`);
    start = filled.indexOf(1, end);
  }
  return pieces.join("");
}
