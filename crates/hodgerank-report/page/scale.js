// Scales from values to pixels, and ticks.

import { decimals, percent, powerOfTen, significant } from "./format.js";

/** Returns the linear function that maps `from` to `start` and `to` to `end`. */
export function linear(from, to, start, end) {
  const slope = to === from ? 0 : (end - start) / (to - from);
  return (value) => start + (value - from) * slope;
}

/** Ticks at 1, 2 or 5 times a power of ten: at most about `maxTicks` of them, but at least two. */
export function roundTicks(from, to, maxTicks) {
  const [low, high] = from < to ? [from, to] : [to, from];
  if (!(high > low)) {
    return { values: [low], digits: 0 };
  }
  const rough = (high - low) / Math.max(maxTicks, 1);
  // A single tick does not show a scale: then the next finer steps are tried.
  for (let finer = 1; finer <= 4; finer *= 2) {
    const ticks = ticksAtSteps(low, high, rough / finer);
    if (ticks.values.length > 1 || finer === 4) {
      return ticks;
    }
  }
}

/** Ticks at 1, 2 or 5 times a power of ten, at least `rough` apart. */
function ticksAtSteps(low, high, rough) {
  const power = Math.floor(Math.log10(rough));
  const factor = [1, 2, 5, 10].find((candidate) => candidate * 10 ** power >= rough * (1 - 1e-9));
  // Dividing by the inverse of a negative power avoids rounding errors: 3 / 10 is 0.3, 3 × 0.1 is not.
  const unit = power < 0 ? 1 / 10 ** -power : 10 ** power;
  const valueAt = (index) =>
    power < 0 ? (index * factor) / 10 ** -power : index * factor * 10 ** power;
  const step = factor * unit;
  const values = [];
  for (let index = Math.ceil(low / step - 1e-9) || 0; index <= high / step + 1e-9; index += 1) {
    values.push(valueAt(index));
  }
  const digits = Math.max(0, -(factor === 10 ? power + 1 : power));
  return { values, digits };
}

/** Returns the smallest of 1, 2, 5, 10, … at which every n-th label is at least `gap` pixels apart. */
export function strideFor(slot, gap) {
  for (let power = 1; power < 1e9; power *= 10) {
    for (const factor of [1, 2, 5]) {
      if (slot * factor * power >= gap) {
        return factor * power;
      }
    }
  }
  return 1e9;
}

function powerTicks(from, to, maxTicks) {
  const [low, high] = from < to ? [from, to] : [to, from];
  const [first, last] = [Math.ceil(low - 1e-9), Math.floor(high + 1e-9)];
  if (last - first >= 1) {
    const stride = strideFor(1, (last - first) / Math.max(maxTicks, 1));
    const ticks = [];
    for (let exponent = first; exponent <= last; exponent += stride) {
      ticks.push({ at: exponent, text: powerOfTen(exponent) });
    }
    return ticks;
  }
  // With fewer than two powers of ten, round numbers are more useful.
  const { values } = roundTicks(10 ** low, 10 ** high, maxTicks);
  return values
    .filter((value) => value > 0)
    .map((value) => ({ at: Math.log10(value), text: significant(value) }));
}

/** Returns the ticks of an axis that is `length` pixels long, at least `gap` pixels apart. */
export function ticksOf(axis, length, gap) {
  const { kind, labels } = axis.ticks;
  const { from, to } = axis;
  const maxTicks = Math.max(1, Math.floor(length / gap));
  switch (kind) {
    case "numbers": {
      const { values, digits } = roundTicks(from, to, maxTicks);
      return values.map((at) => ({ at, text: numberText(at, digits) }));
    }
    case "shares": {
      const { values, digits } = roundTicks(from, to, maxTicks);
      return values.map((at) => ({ at, text: percent(at, Math.max(0, digits - 2)) }));
    }
    case "powers":
      return powerTicks(from, to, maxTicks);
    case "labels": {
      const stride = strideFor(length / Math.abs(to - from || 1), gap);
      const [low, high] = from < to ? [from, to] : [to, from];
      return labels
        .map((text, at) => ({ at, text }))
        .filter(({ at }) => at % stride === 0 && at >= low && at <= high);
    }
    default:
      return [];
  }
}

function numberText(number, digits) {
  const large = Math.abs(number) >= 1e7 || digits > 6;
  return large
    ? significant(number)
    : decimals(number, digits).replace(/\B(?=(\d{3})+$)/g, separator);
}

// Numbers with a decimal point have no thousands separators.
function separator(_match, _group, _offset, text) {
  return text.includes(".") ? "" : ",";
}
