// The slider along the path: how many votes are flagged.

import { make } from "./dom.js";
import { percent, significant, thousands } from "./format.js";

/** Parts of all votes: class and name. */
const PARTS = [
  ["agree", "agree with the ranking"],
  ["disagree", "disagree"],
  ["flagged", "flagged"],
  ["tied", "ties"],
];

/** Returns the share of each part at a stop. */
export function partsAt(slider, stop) {
  const [agree, disagree] = [slider.agree[stop], slider.disagree[stop]];
  const flagged = slider.share[stop];
  // The shares are rounded.
  return [agree, disagree, flagged, Math.max(0, 1 - agree - disagree - flagged)];
}

/** Describes a stop. */
export function stopText(slider, stop) {
  const count = slider.flagged[stop];
  const votes = count === 1 ? "vote" : "votes";
  const letter = slider.parameter === "lambda" ? "λ" : "t";
  const at = slider.at[stop];
  const where = typeof at === "number" ? ` · ${letter} = ${significant(at, 4)}` : "";
  return `${thousands(count)} ${votes} flagged (${percent(slider.share[stop])})${where}`;
}

/** Creates the slider. `move` is called with the new stop and must update the page. */
export function sliderPanel(slider, move) {
  const last = slider.at.length - 1;
  const input = make("input", { type: "range", id: "stop", min: 0, max: last, step: 1 });
  const output = make("output", { for: "stop" });
  const chosen = make("span", { class: "chosen" }, "the report’s ranking");
  const back = make("button", { type: "button", class: "back" }, "Back to the report’s ranking");
  const mark = make("span", { class: "mark", title: "the report’s ranking" });
  const bar = voteBar();
  // The thumb's centre is half its width away from both ends of the track.
  mark.style.setProperty("--at", last === 0 ? 0 : slider.chosen / last);
  const ends = make(
    "div",
    { class: "ends", "aria-hidden": "true" },
    make("span", {}, "none"),
    make("span", {}, "many"),
  );
  const label = make("label", { for: "stop" }, "How many votes to flag");
  const control = make(
    "div",
    { class: "control" },
    label,
    make("div", { class: "track" }, input, mark),
    ends,
  );
  const description = make("p", { class: "description" }, output, chosen, back);
  const element = make(
    "details",
    { class: "slider" },
    make("summary", {}, "What if fewer or more votes were flagged?"),
    control,
    make("div", { class: "outcome" }, description, bar.element),
  );

  function show(stop) {
    const started = performance.now();
    move(stop);
    const text = stopText(slider, stop);
    output.textContent = text;
    input.value = stop;
    input.setAttribute("aria-valuetext", text);
    chosen.hidden = stop !== slider.chosen;
    back.hidden = stop === slider.chosen;
    bar.show(partsAt(slider, stop));
    element.dataset.stop = stop;
    // Reading a size forces the browser to lay out the page, so that the time includes it.
    element.dataset.height = document.body.offsetHeight;
    element.dataset.redrawMs = (performance.now() - started).toFixed(2);
  }

  input.addEventListener("input", () => show(Number(input.value)));
  back.addEventListener("click", () => {
    show(slider.chosen);
    input.focus();
  });
  return { element, show };
}

/** Creates a bar with the parts of the votes, and its legend. */
function voteBar() {
  const parts = PARTS.map(([name]) => make("span", { class: `share ${name}` }));
  const figures = PARTS.map(() => make("b"));
  const entries = PARTS.map(([name, words], index) =>
    make("li", {}, make("span", { class: `key ${name}` }), figures[index], ` ${words}`),
  );
  const bar = make("div", { class: "bar", "aria-hidden": "true" }, ...parts);
  const list = make("ul", { class: "legend", "aria-label": "All votes" }, ...entries);
  return {
    element: make("div", { class: "votes", title: "All votes" }, bar, list),
    show(shares) {
      for (const [index, share] of shares.entries()) {
        entries[index].hidden = PARTS[index][0] === "tied" && share < 0.0005;
        parts[index].style.width = `${100 * share}%`;
        figures[index].textContent = percent(share);
      }
    },
  };
}
