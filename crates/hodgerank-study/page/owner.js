// The owner's page: asks for the live ranking once a second while it is visible, and draws it with the modules of
// the report.

import { download, pause, request } from "/page/request.js";
import { chartView } from "/report/chart.js";
import { make } from "/report/dom.js";
import { thousands, visible } from "/report/format.js";
import { makeTooltip } from "/report/hover.js";
import { stateOf } from "/report/state.js";
import { tableView } from "/report/table.js";
import { themeButton } from "/report/theme.js";

const element = (id) => document.getElementById(id);
const secret = location.hash.slice(1);
const tip = makeTooltip();
let isPaused = false;

/** Charts by their plots, so that they are drawn again when the window changes. */
const charts = new WeakMap();
const observer = new ResizeObserver((entries) => {
  for (const { target, contentRect } of entries) {
    charts.get(target)?.drawAt(Math.floor(contentRect.width));
  }
});

/**
 * Replaces the content of an element and keeps what the owner has done to it: the focus, what is unfolded, and how
 * far it is scrolled. Old and new content have the same structure.
 */
function replace(place, ...content) {
  const all = (selector) => Array.from(place.querySelectorAll(selector));
  const focusable = "a, button, input, summary, [tabindex]";
  const focused = all(focusable).indexOf(document.activeElement);
  const open = all("details").map((part) => part.open);
  const scrolled = all(".scroller").map(({ scrollTop, scrollLeft }) => [scrollLeft, scrollTop]);
  for (const plot of all(".plot")) {
    observer.unobserve(plot);
  }
  place.replaceChildren(...content);
  for (const plot of all(".plot")) {
    charts.get(plot)?.drawAt(plot.clientWidth);
    observer.observe(plot);
  }
  for (const [index, part] of all("details").entries()) {
    part.open = open[index] ?? false;
  }
  for (const [index, part] of all(".scroller").entries()) {
    part.scrollTo(...(scrolled[index] ?? [0, 0]));
  }
  if (focused >= 0) {
    all(focusable)[focused]?.focus({ preventScroll: true });
  }
}

function drawn(chart, state) {
  const view = chartView(chart, state, tip);
  charts.set(view.plot, view);
  return view.element;
}

let rankingTable = null;

function showRanking({ ranking, without_votes: without }) {
  if (ranking) {
    const sections = [{ tables: [ranking.table] }];
    const state = stateOf({ items: ranking.items, sections });
    rankingTable = tableView(state.tables.get(ranking.table.id), state, rankingTable?.view);
    const help = make(
      "details",
      { class: "help" },
      make("summary", {}, "How to read this"),
      make("p", {}, visible(ranking.help ?? "")),
    );
    replace(element("ranking"), help, drawn(ranking.chart, state), rankingTable.element);
  }
  const missing = without.length;
  element("without-votes").textContent =
    missing > 0 ? `Items without votes so far: ${thousands(missing)}.` : "";
}

function showMinutes(chart) {
  replace(element("minutes"), drawn(chart, stateOf({ items: [], sections: [] })));
}

function voterRow(voter) {
  const [same, all] = voter.repeated;
  const action = voter.is_excluded ? "Include" : "Exclude";
  const label = `${action} ${visible(voter.name)}`;
  const button = make("button", { type: "button", "aria-label": label }, action);
  button.addEventListener("click", async () => {
    button.disabled = true;
    const body = { voter: voter.name, excluded: !voter.is_excluded };
    await attempt(() => request("/api/owner/exclude", secret, body));
    button.disabled = false;
  });
  const verdict = make("span", { class: "verdict" }, visible(voter.verdict ?? ""));
  return make(
    "tr",
    { class: voter.is_excluded ? "excluded" : "" },
    make("td", { class: "left" }, make("bdi", {}, visible(voter.name)), verdict),
    make("td", { class: "right" }, thousands(voter.votes)),
    make("td", { class: "left" }, voter.is_excluded ? "excluded" : (voter.class ?? "")),
    make("td", { class: "right" }, all > 0 ? `${same} of ${all}` : ""),
    make("td", { class: "right" }, button),
  );
}

/** About how many votes are missing for the next place. */
function missing(next) {
  if (!next) {
    return "";
  }
  const place = `place ${next.places} (${next.item} or ${next.rival})`;
  const texts = {
    about: `About ${next.more_votes} more votes like these would settle ${place}.`,
    "more-than": `More than ${next.more_votes} further votes would be needed to settle ${place}.`,
    tie: `${next.item} and ${next.rival} are as good as equal: votes would not settle place ${next.places}.`,
    "few-votes": `${next.item} needs ${next.more_votes_on_item} more votes before place ${next.places} can be judged.`,
  };
  return texts[next.estimate] ?? "";
}

/** What is settled, and what is missing. */
function settled({ until_top: top, live }) {
  if (live.is_settled) {
    return `${live.settled ?? ""} The first ${top} places are settled: voting has ended.`;
  }
  if (live.components > 1) {
    return `${live.components} components are not connected by votes yet.`;
  }
  return `${live.settled ?? ""} ${missing(live.next_place)}`;
}

function problem(text) {
  if (element("problem-text").textContent !== text) {
    element("problem-text").textContent = text;
  }
  element("problem").hidden = text === "";
}

/** What keeps votes from being stored or ranked. */
function problemOf({ storage_problem: storage, live }) {
  if (storage) {
    return `Votes cannot be stored (${storage}). Voters' pages send them again until they are stored. Check the free space of the disk, and whether another program uses study.db.`;
  }
  return live.problem ? `The ranking cannot be updated: ${live.problem}` : "";
}

async function attempt(action) {
  try {
    return await action();
  } catch (error) {
    problem(
      error.status === 401
        ? "This link is incomplete. Open the owner's link from links.txt."
        : "The server does not answer. Trying again…",
    );
    return null;
  }
}

/** Calls a function when its value is not the one of the last call: what did not change is left alone. */
function onChange(show) {
  let last = "";
  return (value) => {
    const text = JSON.stringify(value);
    if (text !== last) {
      last = text;
      show(value);
    }
  };
}

const parts = {
  ranking: onChange(showRanking),
  voters: onChange((voters) => replace(element("voters"), ...voters.map(voterRow))),
  minutes: onChange(showMinutes),
};

function show(state) {
  const { live } = state;
  problem(problemOf(state));
  isPaused = state.paused;
  document.title = state.question;
  element("question").textContent = state.question;
  element("pause").textContent = isPaused ? "Go on" : "Pause";
  element("paused").textContent = isPaused ? "The study is paused: nobody can vote." : "";
  element("pause").disabled = false;
  element("download").disabled = false;
  element("votes").textContent = thousands(live.votes);
  element("voter-count").textContent = thousands(live.voters.length);
  element("last-minute").textContent = thousands(state.last_minute ?? 0);
  element("method").textContent = live.method ?? "–";
  element("settled").textContent = visible(settled(state).trim());
  parts.ranking({ ranking: live.ranking, without_votes: live.without_votes });
  parts.voters(live.voters);
  parts.minutes(state.minutes);
}

element("pause").addEventListener("click", () =>
  attempt(() => request("/api/owner/pause", secret, { paused: !isPaused })),
);
element("download").addEventListener("click", async () => {
  const file = await attempt(() => download("/api/owner/votes.csv", secret));
  if (file) {
    const link = make("a", { href: URL.createObjectURL(file), download: "votes.csv" });
    link.click();
    URL.revokeObjectURL(link.href);
  }
});
window.addEventListener("hashchange", () => location.reload());
element("theme").append(themeButton());
document.body.append(tip.element);

while (true) {
  if (!document.hidden) {
    const state = await attempt(() => request("/api/owner/state", secret));
    if (state) {
      show(state);
    }
  }
  await pause(1000);
}
