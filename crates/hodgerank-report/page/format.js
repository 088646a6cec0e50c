// How values are written: the rules of the program's own lists, and labels as text.

/** Whole numbers with commas: 1234567 is 1,234,567. */
export function thousands(number) {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** A number with so many decimals; zero has no sign. */
export function decimals(number, digits) {
  const text = number.toFixed(digits);
  return Number(text) === 0 ? text.replace("-", "") : text;
}

/** A share as a percentage: 0.0512 is 5.1%. */
export function percent(share, digits = 1) {
  return `${decimals(100 * share, digits)}%`;
}

/** A probability; small ones as powers of ten. */
export function probability(p) {
  return p < 1e-4 ? p.toExponential(0).replace("+", "") : p.toFixed(4);
}

/** A number with at most so many digits that matter, as short as it can be. */
export function exact(number, digits = 6) {
  const short = Number(number.toPrecision(digits));
  return Math.abs(short) >= 1e6 && Number.isInteger(short) ? thousands(short) : String(short);
}

/** Ten to a whole power, as people write it: 10⁻³. */
export function powerOfTen(exponent) {
  const raised = { "-": "⁻" };
  for (const [digit, sign] of Array.from("⁰¹²³⁴⁵⁶⁷⁸⁹").entries()) {
    raised[digit] = sign;
  }
  return `10${Array.from(String(exponent), (letter) => raised[letter]).join("")}`;
}

/** A label as text on one line: control characters and marks of direction become symbols. */
export function visible(label) {
  return label.replace(/\p{Cc}|\p{Bidi_Control}|\u2028|\u2029|\ufeff/gu, (letter) => {
    const code = letter.codePointAt(0);
    if (code < 0x20) {
      return String.fromCodePoint(0x2400 + code);
    }
    return code === 0x7f ? "␡" : "\ufffd";
  });
}

/** At most so many letters of a text, cut with an ellipsis; a letter is what a reader sees as one. */
export function cut(text, most) {
  if (text.length <= most) {
    return text;
  }
  // A seen letter may be many code units, but nobody needs more than this to tell labels apart.
  const start = text.slice(0, 16 * most);
  const letters = [];
  for (const { segment } of new Intl.Segmenter().segment(start)) {
    if (letters.length === most) {
      return `${letters.slice(0, -1).join("")}…`;
    }
    letters.push(segment);
  }
  return start.length < text.length ? `${letters.join("")}…` : text;
}

/** A cell of a table as text; a missing value is empty. */
export function cellText(column, row, items) {
  const value = column.values[row];
  if (value === null || value === undefined) {
    return "";
  }
  switch (column.kind) {
    case "item":
      return visible(items[value]);
    case "whole":
      return thousands(value);
    case "number":
      return decimals(value, 3);
    case "share":
      return percent(value);
    case "interval":
      return `${percent(value[0])}–${percent(value[1])}`;
    case "probability":
      return probability(value);
    default:
      return visible(value);
  }
}

/** Where on an axis, in words; empty on an axis that is only a space to draw in. */
export function placeText(axis, value) {
  switch (axis.ticks.kind) {
    case "numbers":
      return exact(value);
    case "shares":
      return percent(value, 2);
    case "powers":
      return exact(10 ** value, 4);
    case "labels":
      return axis.ticks.labels[Math.round(value)] ?? "";
    default:
      return "";
  }
}
