// From values to pixels, and which values get a tick.

import { decimals, exact, percent, powerOfTen } from "./format.js";

/** The straight map that takes `from` to `start` and `to` to `end`. */
export function linear(from, to, start, end) {
  const slope = to === from ? 0 : (end - start) / (to - from);
  return (value) => start + (value - from) * slope;
}

/** Steps of 1, 2 or 5 times a power of ten, at most about `most` of them within the range. */
export function roundTicks(from, to, most) {
  const [low, high] = from < to ? [from, to] : [to, from];
  if (!(high > low)) {
    return { values: [low], digits: 0 };
  }
  const rough = (high - low) / Math.max(most, 1);
  const power = Math.floor(Math.log10(rough));
  const factor = [1, 2, 5, 10].find((candidate) => candidate * 10 ** power >= rough * (1 - 1e-9));
  // A negative power as a divisor keeps 3 × 0.1 at 0.3.
  const unit = power < 0 ? 1 / 10 ** -power : 10 ** power;
  const place = (index) =>
    power < 0 ? (index * factor) / 10 ** -power : index * factor * 10 ** power;
  const step = factor * unit;
  const values = [];
  for (let index = Math.ceil(low / step - 1e-9) || 0; index <= high / step + 1e-9; index += 1) {
    values.push(place(index));
  }
  const digits = Math.max(0, -(factor === 10 ? power + 1 : power));
  return { values, digits };
}

/** Every first, second, fifth, tenth, … so that neighbours are at least `gap` pixels apart. */
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

function powerTicks(from, to, most) {
  const [low, high] = from < to ? [from, to] : [to, from];
  const [first, last] = [Math.ceil(low - 1e-9), Math.floor(high + 1e-9)];
  if (last - first >= 1) {
    const stride = strideFor(1, (last - first) / Math.max(most, 1));
    const ticks = [];
    for (let exponent = first; exponent <= last; exponent += stride) {
      ticks.push({ at: exponent, text: powerOfTen(exponent) });
    }
    return ticks;
  }
  // Less than two powers in sight: round numbers say more.
  const { values } = roundTicks(10 ** low, 10 ** high, most);
  return values
    .filter((value) => value > 0)
    .map((value) => ({ at: Math.log10(value), text: exact(value) }));
}

/** The ticks of an axis that is `room` pixels long, where neighbours need `gap` pixels. */
export function ticksOf(axis, room, gap) {
  const { kind, labels } = axis.ticks;
  const { from, to } = axis;
  const most = Math.max(1, Math.floor(room / gap));
  switch (kind) {
    case "numbers": {
      const { values, digits } = roundTicks(from, to, most);
      return values.map((at) => ({ at, text: numberText(at, digits) }));
    }
    case "shares": {
      const { values, digits } = roundTicks(from, to, most);
      return values.map((at) => ({ at, text: percent(at, Math.max(0, digits - 2)) }));
    }
    case "powers":
      return powerTicks(from, to, most);
    case "labels": {
      const stride = strideFor(room / Math.abs(to - from || 1), gap);
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
  return large ? exact(number) : decimals(number, digits).replace(/\B(?=(\d{3})+$)/g, wholeOnly);
}

// Commas belong before the point only; a text with a point has none here.
function wholeOnly(_match, _group, _offset, text) {
  return text.includes(".") ? "" : ",";
}
