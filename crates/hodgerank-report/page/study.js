// The page of a study.

import { chartView } from "./chart.js";
import { make } from "./dom.js";
import { truncate, visible } from "./format.js";
import { sliderPanel } from "./slider.js";
import { setStop, stateOf } from "./state.js";
import { tableView } from "./table.js";

/** Width of a chart in print, in pixels: A4 without its margins. */
const PRINT_WIDTH = 660;
const MAX_NAME = 300;
const MAX_FACT = 60;

/** Creates the view of a study. `print` prepares it for printing; `close` releases it. */
export function studyView(study, tip) {
  const state = stateOf(study);
  const views = { charts: [], tables: [] };
  const panel = study.slider ? sliderPanel(study.slider, follow) : null;
  if (panel) {
    setStop(state, study.slider.chosen);
  }
  const sections = study.sections.map((section) => sectionOf(section, state, views, tip));
  const element = make("main", {}, ...introduction(study), contents(study.sections));
  element.append(...(panel ? [panel.element] : []), ...sections);
  panel?.show(study.slider.chosen);

  function follow(stop) {
    setStop(state, stop);
    for (const view of [...views.tables, ...views.charts]) {
      view.update();
    }
  }

  let printing = false;
  const byPlot = new Map(views.charts.map((chart) => [chart.plot, chart]));
  const observer = new ResizeObserver((entries) => {
    for (const { target, contentRect } of entries) {
      if (!printing) {
        byPlot.get(target).drawAt(Math.floor(contentRect.width));
      }
    }
  });
  for (const plot of byPlot.keys()) {
    observer.observe(plot);
  }
  return {
    element,
    print(on) {
      printing = on;
      for (const table of views.tables) {
        table.print(on);
      }
      for (const chart of views.charts) {
        chart.drawAt(on ? PRINT_WIDTH : Math.floor(chart.plot.clientWidth));
      }
    },
    close() {
      observer.disconnect();
      tip.hide();
    },
  };
}

function introduction(study) {
  const parts = [];
  if (study.by !== undefined) {
    const name = make("bdi", {}, truncate(visible(study.by), MAX_NAME));
    parts.push(make("p", { class: "by" }, "Study: ", name));
  }
  if (study.facts.length > 0) {
    const facts = study.facts.map(({ name, value }) =>
      make(
        "div",
        {},
        make("dt", {}, visible(name)),
        make("dd", { title: visible(value) }, make("bdi", {}, truncate(visible(value), MAX_FACT))),
      ),
    );
    parts.push(make("dl", { class: "facts" }, ...facts));
  }
  if (study.summary.length > 0) {
    const sentences = study.summary.map((sentence) => sentenceOf(sentence, study.sections));
    parts.push(make("div", { class: "summary" }, ...sentences));
  }
  if (study.warnings.length > 0) {
    const warnings = study.warnings.map((text) => make("li", {}, visible(text)));
    const list = make("ul", {}, ...warnings);
    const heading = make("h2", {}, "Warnings");
    parts.push(make("section", { class: "warnings" }, heading, list));
  }
  return parts;
}

function contents(sections) {
  const links = sections.map(({ id, title }) =>
    make("li", {}, make("a", { href: `#${id}` }, visible(title))),
  );
  return make("nav", { "aria-label": "Sections" }, make("ul", {}, ...links));
}

/** Creates a sentence of the summary, with a link to the section that says more. */
function sentenceOf({ text, section }, sections) {
  const target = sections.find(({ id }) => id === section);
  const link = target && make("a", { href: `#${target.id}` }, visible(target.title));
  return make("p", {}, visible(text), ...(link ? [" See ", link, "."] : []));
}

function paragraph(text) {
  return make("p", {}, visible(text));
}

function sectionOf(section, state, views, tip) {
  const charts = section.charts.map((chart) => chartView(chart, state, tip));
  const tables = section.tables.map((table) => tableView(state.tables.get(table.id), state));
  views.charts.push(...charts);
  views.tables.push(...tables);
  const element = make("section", { class: "part", id: section.id });
  element.append(make("h2", {}, visible(section.title)), ...section.text.map(paragraph));
  if (charts.length > 0) {
    element.append(make("div", { class: "charts" }, ...charts.map((chart) => chart.element)));
  }
  element.append(...tables.map((table) => table.element));
  return element;
}
