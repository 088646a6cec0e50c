// The colour theme: light, dark, or the system's.

import { make } from "./dom.js";

const THEMES = ["auto", "light", "dark"];

/** Creates the button that switches to the next theme. */
export function themeButton() {
  const root = document.documentElement;
  const button = make("button", { type: "button", class: "theme" });
  const choose = (theme) => {
    root.dataset.theme = theme;
    button.textContent = `Colours: ${theme}`;
  };
  button.addEventListener("click", () => {
    choose(THEMES[(THEMES.indexOf(root.dataset.theme) + 1) % THEMES.length]);
  });
  choose("auto");
  return button;
}
