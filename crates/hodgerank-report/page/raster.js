// Draws thousands of tiny points on a grid of small squares: painting each point separately would
// make the slider slow. Adjacent squares become one rectangle of the path.

/** Marks with at least this number of points, all smaller than this radius, are drawn on a grid. */
const MIN_POINTS = 1500;
const MAX_RADIUS = 2.5;
/** Side of a square in pixels. */
const SIDE = 2;

/** Whether points are drawn on a grid. */
export function isDense(mark) {
  return mark.y.length >= MIN_POINTS && mark.size < MAX_RADIUS;
}

/** Returns a function from a predicate `isShown(index)` to the path of the points that satisfy it. */
export function rasterPath(x, y) {
  const cellOf = (pixels) => Math.floor(pixels / SIDE);
  const columns = x.map(cellOf);
  const rows = y.map(cellOf);
  const max = (cells) => cells.reduce((a, b) => Math.max(a, b), 0);
  const width = max(columns) + 2;
  const filled = new Uint8Array(width * (max(rows) + 1));
  return (isShown) => {
    filled.fill(0);
    for (let index = 0; index < columns.length; index += 1) {
      if (columns[index] >= 0 && rows[index] >= 0 && isShown(index)) {
        filled[rows[index] * width + columns[index]] = 1;
      }
    }
    return runs(filled, width);
  };
}

/** One rectangle for each run of filled squares in a row; the last column is always empty. */
function runs(filled, width) {
  const rectangles = [];
  let start = filled.indexOf(1);
  while (start >= 0) {
    const end = filled.indexOf(0, start);
    const [left, top] = [(start % width) * SIDE, Math.floor(start / width) * SIDE];
    const length = (end - start) * SIDE;
    rectangles.push(`M${left} ${top}h${length}v${SIDE}h${-length}z`);
    start = filled.indexOf(1, end);
  }
  return rectangles.join("");
}
