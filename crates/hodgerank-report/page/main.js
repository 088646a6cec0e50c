// Entry point: reads the report and shows the selected study.

import { make } from "./dom.js";
import { truncate, visible } from "./format.js";
import { makeTooltip } from "./hover.js";
import { studyView } from "./study.js";
import { themeButton } from "./theme.js";

const report = JSON.parse(document.getElementById("report").textContent);
const page = document.getElementById("page");
const tip = makeTooltip();
const studyElement = make("div", { class: "study" });
const column = report.by === undefined ? undefined : truncate(visible(report.by), 80);
let current = null;

function choose(index) {
  current?.close();
  current = studyView(report.studies[index], column, tip);
  studyElement.replaceChildren(current.element);
  openTarget();
}

// Opens the section that the address names: a link to a folded section would show its heading only.
function openTarget() {
  const target = document.getElementById(decodeURIComponent(window.location.hash.slice(1)));
  if (target?.matches("details")) {
    target.open = true;
    target.scrollIntoView();
  }
}

function chooser() {
  const options = report.studies.map(({ by }, index) =>
    make("option", { value: index, dir: "auto" }, truncate(visible(by ?? String(index + 1)), 80)),
  );
  const select = make("select", { id: "chooser" }, ...options);
  select.addEventListener("change", () => choose(Number(select.value)));
  const label = column === undefined ? "Study" : `Study where ${column} is`;
  return make("p", { class: "chooser" }, make("label", { for: "chooser" }, label), select);
}

const heading = make("h1", { dir: "auto", title: visible(report.title) }, visible(report.title));
const header = make("header", {}, heading, themeButton());
if (report.studies.length > 1) {
  header.append(chooser());
}
page.append(header, studyElement, make("footer", {}, visible(report.program)), tip.element);
choose(0);
window.addEventListener("hashchange", openTarget);

// Browsers announce printing by events, by a media query, or both.
const preparePrint = (printing) => current.print(printing);
window.addEventListener("beforeprint", () => preparePrint(true));
window.addEventListener("afterprint", () => preparePrint(false));
window.matchMedia("print").addEventListener("change", (event) => preparePrint(event.matches));
