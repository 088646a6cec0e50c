// The page of a study.

import { chartView } from "./chart.js";
import { make } from "./dom.js";
import { truncate, visible } from "./format.js";
import { sliderPanel } from "./slider.js";
import { setStop, stateOf } from "./state.js";
import { tableView } from "./table.js";

/** Width of a chart in print, in pixels: A4 without its margins, and half of it for two next to each other. */
const PRINT_WIDTH = 660;
const HALF_PRINT_WIDTH = 326;
/** Charts with more rows of labels are printed on the whole width. */
const MAX_HALF_ROWS = 30;
/** Charts with more rows are printed as high as they need. */
const MAX_LOW_ROWS = 16;
const MAX_NAME = 300;
const MAX_FACT = 60;

/** Creates the view of a study. `print` prepares it for printing; `close` releases it. */
export function studyView(study, by, tip) {
  const state = stateOf(study);
  const views = { charts: [], tables: [] };
  const panel = study.slider ? sliderPanel(study.slider, follow) : null;
  if (panel) {
    setStop(state, study.slider.chosen);
  }
  const overview = study.overview ? chartView(study.overview, state, tip) : null;
  if (overview) {
    overview.printWidth = HALF_PRINT_WIDTH;
  }
  views.charts.push(...(overview ? [overview] : []));
  const sections = study.sections.map((section) => sectionOf(section, state, views, tip));
  const element = make("main", {}, ...introduction(study, by, overview));
  element.append(...(panel ? [panel.element] : []), ...sections);
  panel?.show(study.slider.chosen);

  function follow(stop) {
    setStop(state, stop);
    for (const view of [...views.tables, ...views.charts]) {
      view.update();
    }
  }

  let printing = false;
  const folded = Array.from(element.querySelectorAll("details.part, details.results"));
  // What is open is printed, and what is folded on the screen only.
  const opened = new Set();
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
      if (on !== printing) {
        openForPrint(folded, opened, on);
      }
      printing = on;
      for (const table of views.tables) {
        table.print(on);
      }
      for (const chart of views.charts) {
        chart.drawAt(on ? chart.printWidth : Math.floor(chart.plot.clientWidth), on);
      }
    },
    close() {
      observer.disconnect();
      tip.hide();
    },
  };
}

/** Whether the axes of a chart have at most this number of labels. */
function hasLabelsUpTo(max, { x, y }) {
  const labels = [x, y].filter(({ ticks }) => ticks.kind === "labels");
  return labels.every(({ ticks }) => ticks.labels.length <= max);
}

// Opens what is printed in any case, or closes it again.
function openForPrint(folded, opened, on) {
  for (const part of folded) {
    if (on && !part.open && part.dataset.fold === "screen") {
      part.open = true;
      opened.add(part);
    } else if (!on && opened.has(part)) {
      part.open = false;
    }
  }
  if (!on) {
    opened.clear();
  }
}

/** Returns the name of a study: the value of a column that its votes have in common. */
export function studyName(by, value) {
  return by === undefined ? `Study: ${value}` : `Study where ${by} is ${value}`;
}

/** The first screen: a number, the best items and a few sentences; then figures and warnings. */
function introduction(study, by, overview) {
  const parts = [];
  if (study.by !== undefined) {
    const name = studyName(by, truncate(visible(study.by), MAX_NAME));
    parts.push(make("p", { class: "by" }, make("bdi", {}, name)));
  }
  const first = make("div", { class: overview ? "first" : "first alone" });
  if (study.headline) {
    const { value, text } = study.headline;
    const number = make("strong", {}, visible(value));
    first.append(make("p", { class: "headline" }, number, ` ${visible(text)}`));
  }
  if (overview) {
    first.append(overview.element);
  }
  const told = make("div", { class: "told" });
  if (study.summary.length > 0) {
    const sentences = study.summary.map((sentence) => sentenceOf(sentence, study.sections));
    told.append(make("div", { class: "summary" }, ...sentences));
  }
  if (study.more?.length > 0) {
    const sentences = study.more.map((sentence) => sentenceOf(sentence, study.sections));
    const summary = make("summary", {}, "More results");
    told.append(
      make("details", { class: "results", "data-fold": "screen" }, summary, ...sentences),
    );
  }
  first.append(told);
  parts.push(first);
  if (study.facts.length > 0) {
    parts.push(factList(study.facts));
  }
  if (study.warnings.length > 0) {
    const warnings = study.warnings.map((text) => make("li", {}, visible(text)));
    const list = make("ul", {}, ...warnings);
    const heading = make("h2", {}, warnings.length === 1 ? "Note" : "Notes");
    parts.push(make("section", { class: "warnings" }, heading, list));
  }
  return parts;
}

function factList(facts) {
  const entries = facts.map(({ name, value }) =>
    make(
      "div",
      {},
      make("dt", {}, visible(name)),
      make("dd", { title: visible(value) }, make("bdi", {}, truncate(visible(value), MAX_FACT))),
    ),
  );
  return make("dl", { class: "facts" }, ...entries);
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
  for (const [index, chart] of charts.entries()) {
    const isLow = hasLabelsUpTo(MAX_LOW_ROWS, section.charts[index]);
    const isHalf = charts.length > 1 && hasLabelsUpTo(MAX_HALF_ROWS, section.charts[index]);
    chart.element.classList.toggle("low", isLow);
    chart.element.classList.toggle("half", isHalf);
    chart.printWidth = isHalf ? HALF_PRINT_WIDTH : PRINT_WIDTH;
  }
  views.charts.push(...charts);
  views.tables.push(...tables);
  const heading = make("h2", {}, visible(section.title));
  const { fold = "never", help = [] } = section;
  const attributes = { class: "part", id: section.id, "data-fold": fold };
  const element = make(fold === "never" ? "section" : "details", attributes);
  element.append(fold === "never" ? heading : make("summary", {}, heading));
  element.append(...section.text.map(paragraph));
  if (help.length > 0) {
    const summary = make("summary", {}, "How to read this");
    element.append(make("details", { class: "help" }, summary, ...help.map(paragraph)));
  }
  if (charts.length > 0) {
    element.append(make("div", { class: "charts" }, ...charts.map((chart) => chart.element)));
  }
  element.append(...tables.map((table) => table.element));
  return element;
}
