// Formats values as the program does, and makes labels safe to show.

/** Formats a whole number with thousands separators: 1,234,567. */
export function thousands(number) {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** Formats a number with a fixed number of decimals; zero has no sign. */
export function decimals(number, digits) {
  const text = number.toFixed(digits);
  return Number(text) === 0 ? text.replace("-", "") : text;
}

/** Formats a share as a percentage: 0.0512 is 5.1%. */
export function percent(share, digits = 1) {
  return `${decimals(100 * share, digits)}%`;
}

/** Formats an interval of shares: 3.0%–7.0%. */
export function shareInterval([low, high]) {
  return `${percent(low)}–${percent(high)}`;
}

/** Formats a rank with its range, and `*` if it is provisional: 3 (2–5) *. Other stops have no ranges. */
function rankText(value) {
  if (!Array.isArray(value)) {
    return thousands(value);
  }
  const [rank, low, high, isProvisional] = value;
  const range = low < high ? ` (${thousands(low)}–${thousands(high)})` : "";
  return `${thousands(rank)}${range}${isProvisional ? " *" : ""}`;
}

/** Formats a probability; small ones in scientific notation. */
export function probability(p) {
  return p < 1e-4 ? p.toExponential(0).replace("+", "") : p.toFixed(4);
}

/** Formats a number with at most `digits` significant digits, without trailing zeros. */
export function significant(number, digits = 6) {
  const short = Number(number.toPrecision(digits));
  return Math.abs(short) >= 1e6 && Number.isInteger(short) ? thousands(short) : String(short);
}

/** Formats an integer power of ten: 10⁻³. */
export function powerOfTen(exponent) {
  const superscript = { "-": "⁻" };
  for (const [digit, sign] of Array.from("⁰¹²³⁴⁵⁶⁷⁸⁹").entries()) {
    superscript[digit] = sign;
  }
  return `10${Array.from(String(exponent), (digit) => superscript[digit]).join("")}`;
}

/** Returns a label on one line: control characters and directional marks become symbols. */
export function visible(label) {
  return label.replace(/\p{Cc}|\p{Bidi_Control}|\u2028|\u2029|\ufeff/gu, (character) => {
    const code = character.codePointAt(0);
    if (code < 0x20) {
      return String.fromCodePoint(0x2400 + code);
    }
    return code === 0x7f ? "␡" : "\ufffd";
  });
}

/** Truncates a text with an ellipsis; `max` counts grapheme clusters. */
export function truncate(text, max) {
  if (text.length <= max) {
    return text;
  }
  // A grapheme cluster can have many code units; the limit bounds the cost.
  const start = text.slice(0, 16 * max);
  const graphemes = [];
  for (const { segment } of new Intl.Segmenter().segment(start)) {
    if (graphemes.length === max) {
      return `${graphemes.slice(0, -1).join("")}…`;
    }
    graphemes.push(segment);
  }
  return start.length < text.length ? `${graphemes.join("")}…` : text;
}

/** Formats a cell of a table; a missing value is empty. */
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
      return shareInterval(value);
    case "rank":
      return rankText(value);
    case "probability":
      return probability(value);
    default:
      return visible(value);
  }
}

/** Formats a value of an axis; empty on a hidden axis. */
export function axisText(axis, value) {
  switch (axis.ticks.kind) {
    case "numbers":
      return significant(value);
    case "shares":
      return percent(value, 2);
    case "powers":
      return significant(10 ** value, 4);
    case "labels":
      return axis.ticks.labels[Math.round(value)] ?? "";
    default:
      return "";
  }
}
