// The entry: reads the report and shows the chosen study.

import { make } from "./dom.js";
import { cut, visible } from "./format.js";
import { makeTip } from "./hover.js";
import { studyView } from "./study.js";
import { themeButton } from "./theme.js";

const report = JSON.parse(document.getElementById("report").textContent);
const page = document.getElementById("page");
const tip = makeTip();
const chosenPlace = make("div", { class: "study" });
let current = null;

function choose(place) {
  current?.close();
  current = studyView(report.studies[place], tip);
  chosenPlace.replaceChildren(current.element);
}

function chooser() {
  const options = report.studies.map(({ by }, place) =>
    make("option", { value: place, dir: "auto" }, cut(visible(by ?? String(place + 1)), 80)),
  );
  const select = make("select", { id: "chooser" }, ...options);
  select.addEventListener("change", () => choose(Number(select.value)));
  return make("p", { class: "chooser" }, make("label", { for: "chooser" }, "Study"), select);
}

const heading = make("h1", { dir: "auto", title: visible(report.title) }, visible(report.title));
const header = make("header", {}, heading, themeButton());
if (report.studies.length > 1) {
  header.append(chooser());
}
page.append(header, chosenPlace, make("footer", {}, visible(report.program)), tip.element);
choose(0);

// Some browsers tell of printing by events, some by the medium; both may come.
const toPaper = (printing) => current.paper(printing);
window.addEventListener("beforeprint", () => toPaper(true));
window.addEventListener("afterprint", () => toPaper(false));
window.matchMedia("print").addEventListener("change", (event) => toPaper(event.matches));
