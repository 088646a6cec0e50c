// The owner's page: asks for the live ranking once a second while it is visible.

import { download, pause, request } from "/page/request.js";

const element = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";
const secret = location.hash.slice(1);
let isPaused = false;

function cell(text, isNumber = false) {
  const node = document.createElement("td");
  node.textContent = text;
  if (isNumber) {
    node.className = "number";
  }
  return node;
}

function shape(name, attributes) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) {
    node.setAttribute(key, value);
  }
  return node;
}

function row(cells) {
  const node = document.createElement("tr");
  node.append(...cells);
  return node;
}

/** The interval of a score on the scale of all scores. */
function interval(place, low, high) {
  const x = (value) => (high > low ? (100 * (value - low)) / (high - low) : 50);
  const svg = shape("svg", { viewBox: "-3 0 106 10", role: "img" });
  const ends =
    place.low === null ? "unbounded" : `${place.low.toFixed(2)} to ${place.high?.toFixed(2)}`;
  svg.setAttribute("aria-label", ends);
  const [from, to] = [place.low ?? low, place.high ?? high];
  svg.append(shape("line", { class: "interval", x1: x(from), x2: x(to), y1: 5, y2: 5 }));
  svg.append(shape("circle", { class: "score", cx: x(place.score), cy: 5, r: 2.5 }));
  const node = document.createElement("td");
  node.append(svg);
  return node;
}

function showRanking(live) {
  const ends = live.ranking.flatMap((place) => [place.low, place.high, place.score]);
  const known = ends.filter((end) => end !== null);
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const ranks = (place) =>
    place.rank_low === null ? "" : `${place.rank_low} to ${place.rank_high}`;
  const rows = live.ranking.map((place) =>
    row([
      cell(place.rank, true),
      cell(live.components > 1 ? `${place.item} (part ${place.component})` : place.item),
      cell(place.score.toFixed(2), true),
      interval(place, low, high),
      cell(ranks(place), true),
      cell(place.tier ?? "", true),
      cell(place.votes, true),
    ]),
  );
  element("ranking").replaceChildren(...rows);
  const missing = live.without_votes.length;
  element("without-votes").textContent = missing > 0 ? `Without votes so far: ${missing}` : "";
}

function showVoters(live) {
  const rows = live.voters.map((voter) => {
    const [same, all] = voter.repeated;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = voter.is_excluded ? "Include" : "Exclude";
    button.setAttribute("aria-label", `${button.textContent} ${voter.name}`);
    button.addEventListener("click", async () => {
      button.disabled = true;
      const body = { voter: voter.name, excluded: !voter.is_excluded };
      await attempt(() => request("/api/owner/exclude", secret, body));
    });
    const action = document.createElement("td");
    action.append(button);
    return row([
      cell(voter.name),
      cell(voter.votes, true),
      cell(voter.is_excluded ? "excluded" : (voter.class ?? "")),
      cell(all > 0 ? `${same} of ${all}` : ""),
      cell(voter.verdict ?? ""),
      action,
    ]);
  });
  element("voters").replaceChildren(...rows);
}

function showMinutes(minutes) {
  const most = Math.max(1, ...minutes);
  const bars = minutes.map((votes, age) => {
    const height = (40 * votes) / most;
    return shape("rect", { x: 290 - 10 * age, y: 40 - height, width: 9, height });
  });
  document.querySelector(".minutes").replaceChildren(...bars);
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

function problem(text) {
  element("problem").textContent = text;
  element("problem").hidden = text === "";
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

function show(state) {
  const { live } = state;
  problem(live.problem ?? "");
  isPaused = state.paused;
  document.title = state.question;
  element("question").textContent = state.question;
  element("pause").textContent = isPaused ? "Go on" : "Pause";
  element("pause").disabled = false;
  element("download").disabled = false;
  element("votes").textContent = live.votes;
  element("voter-count").textContent = live.voters.length;
  element("last-minute").textContent = live.per_minute[0] ?? 0;
  element("method").textContent = live.method ?? "–";
  const rule = live.is_settled
    ? ` The first ${state.until_top} places are settled: voting has ended.`
    : "";
  const parts = live.components > 1 ? `${live.components} parts are not connected yet.` : "";
  element("settled").textContent =
    `${live.settled ?? parts} ${live.is_settled ? "" : missing(live.next_place)}${rule}`.trim();
  showRanking(live);
  showVoters(live);
  showMinutes(live.per_minute);
}

element("pause").addEventListener("click", () =>
  attempt(() => request("/api/owner/pause", secret, { paused: !isPaused })),
);
element("download").addEventListener("click", async () => {
  const file = await attempt(() => download("/api/owner/votes.csv", secret));
  if (file) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(file);
    link.download = "votes.csv";
    link.click();
    URL.revokeObjectURL(link.href);
  }
});
window.addEventListener("hashchange", () => location.reload());

let shown = "";
while (true) {
  if (!document.hidden) {
    const state = await attempt(() => request("/api/owner/state", secret));
    // A table that did not change is left alone, so that a button keeps the focus.
    const text = JSON.stringify(state);
    if (state && (text !== shown || !element("problem").hidden)) {
      shown = text;
      show(state);
    }
  }
  await pause(1000);
}
