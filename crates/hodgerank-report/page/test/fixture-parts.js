// Parts of the fixture's charts.

export const numbers = { kind: "numbers" };
export const shares = { kind: "shares" };
export const hidden = { kind: "hidden" };
export const axis = (name, from, to, ticks) => ({ name, from, to, ticks });
export const words = (list) => ({ from: "words", words: list });
export const nothing = { from: "nothing" };
export const kind = (index) => `kind-${index % 8}`;

export const chartOf = (id, title, x, y, aspect, marks, legend = []) => {
  return { id, title, alt: `${title}, in words.`, x, y, aspect, marks, legend };
};

/** Returns the labels of the items, and axes with these labels. */
export function axesOf(names) {
  const labels = names.map((name) => (name.length > 24 ? `${name.slice(0, 23)}…` : name));
  const count = names.length;
  const labelled = (name) => axis(name, -0.5, count - 0.5, { kind: "labels", labels });
  const down = (name) => axis(name, count - 0.5, -0.5, { kind: "labels", labels });
  return { labels, count, labelled, down };
}
