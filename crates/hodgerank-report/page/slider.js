// The panel of the path: from "trust everything" to "trust less".

import { make } from "./dom.js";
import { exact, percent, thousands } from "./format.js";

const PARTS = [
  ["explained", "explained"],
  ["unexplained", "unexplained"],
  ["set_aside", "set aside"],
];

/** What is said of a stop. */
export function stopText(slider, stop) {
  const count = slider.flagged[stop];
  const votes = count === 1 ? "vote" : "votes";
  const letter = slider.parameter === "lambda" ? "λ" : "t";
  const at = slider.at[stop];
  const where = typeof at === "number" ? ` · ${letter} = ${exact(at, 4)}` : "";
  return `${thousands(count)} ${votes} flagged (${percent(slider.share[stop])})${where}`;
}

/** The panel; `move` is called with the stop and must bring the page there. */
export function sliderPanel(slider, move) {
  const last = slider.at.length - 1;
  const input = make("input", { type: "range", id: "stop", min: 0, max: last, step: 1 });
  const output = make("output", { for: "stop" });
  const chosen = make("span", { class: "chosen" }, "the report’s choice");
  const back = make("button", { type: "button", class: "back" }, "Back to the report’s choice");
  const mark = make("span", { class: "mark", title: "the report’s choice" });
  const energy = energyBar();
  // The middle of the thumb goes from half a thumb to half a thumb before the end.
  mark.style.setProperty("--at", last === 0 ? 0 : slider.chosen / last);
  const ends = make(
    "div",
    { class: "ends", "aria-hidden": "true" },
    make("span", {}, "trust everything"),
    make("span", {}, "trust less"),
  );
  const label = make("label", { for: "stop" }, "How many votes to set aside");
  const control = make(
    "div",
    { class: "control" },
    label,
    make("div", { class: "track" }, input, mark),
    ends,
  );
  const said = make("p", { class: "said" }, output, chosen, back);
  const element = make(
    "section",
    { class: "slider", "aria-label": "The path" },
    control,
    make("div", { class: "outcome" }, said, energy.element),
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
    energy.show(PARTS.map(([name]) => slider[name][stop]));
    element.dataset.stop = stop;
    // Reading a size makes the browser lay the page out now, so that its time is counted.
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

/** The votes' energy as a bar of three parts with its legend. */
function energyBar() {
  const pieces = PARTS.map(([name]) => make("span", { class: `share ${name}` }));
  const figures = PARTS.map(() => make("b"));
  const entries = PARTS.map(([name, words], place) =>
    make("li", {}, make("span", { class: `key ${name}` }), figures[place], ` ${words}`),
  );
  const bar = make("div", { class: "bar", "aria-hidden": "true" }, ...pieces);
  const list = make("ul", { class: "legend", "aria-label": "Energy of the votes" }, ...entries);
  return {
    element: make("div", { class: "energy", title: "Energy of the votes" }, bar, list),
    show(shares) {
      for (const [place, share] of shares.entries()) {
        pieces[place].style.width = `${100 * share}%`;
        figures[place].textContent = percent(share);
      }
    },
  };
}
