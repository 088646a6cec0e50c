// The voter's page: shows a pair, sends the vote, shows the next pair, which is already loaded.

import { newId, pause, RequestError, request } from "/page/request.js";

const element = (id) => document.getElementById(id);
const UNSENT = "hodgerank-unsent";
let words = {};
let secret = "";
let state = { pairs: [], voted: 0, last: null };
let isBusy = false;
/** Items that are loaded, by address. */
const loaded = new Map();

function storage(name, value) {
  try {
    if (value === undefined) {
      return localStorage.getItem(name);
    }
    if (value === null) {
      localStorage.removeItem(name);
    } else {
      localStorage.setItem(name, value);
    }
  } catch {
    // Private windows may have no storage: the link still works, only a reload forgets.
  }
  return null;
}

function show(section) {
  for (const id of ["welcome", "vote", "message"]) {
    element(id).hidden = id !== section;
  }
}

function showMessage(text) {
  element("message-text").textContent = text;
  show("message");
}

function say(text) {
  const status = element("status");
  if (status.textContent !== text) {
    status.textContent = text;
  }
}

/** Makes the element of an item; it starts to load at once. */
function load(side) {
  if (!loaded.has(side.address)) {
    const tags = { image: "img", video: "video", audio: "audio", text: "p" };
    const node = document.createElement(tags[side.kind] ?? "p");
    if (side.kind === "text") {
      fetch(side.address)
        .then((response) => response.text())
        .then((text) => {
          node.textContent = text;
        })
        .catch(() => loaded.delete(side.address));
    } else {
      node.src = side.address;
    }
    if (side.kind === "image") {
      node.alt = "";
      node.draggable = false;
    }
    if (side.kind === "video") {
      Object.assign(node, { muted: true, loop: true, autoplay: true, playsInline: true });
    }
    if (side.kind === "audio") {
      node.controls = true;
      node.addEventListener("click", (event) => event.stopPropagation());
    }
    loaded.set(side.address, node);
  }
  return loaded.get(side.address);
}

/** Forgets items that are on neither of the pairs, so that memory does not grow. */
function forget() {
  const needed = new Set(state.pairs.flatMap((pair) => [pair.left.address, pair.right.address]));
  for (const address of loaded.keys()) {
    if (!needed.has(address)) {
      loaded.delete(address);
    }
  }
}

function render() {
  for (const place of document.querySelectorAll(".question")) {
    place.textContent = state.question;
  }
  document.title = state.question;
  if (!state.consented) {
    element("keys-tie").hidden = !state.ties;
    show("welcome");
    return;
  }
  const [pair, next] = state.pairs;
  if (!pair) {
    showMessage(endOf(state));
    waitForPairs();
    return;
  }
  show("vote");
  element("pair").dataset.shown = pair.shown;
  for (const side of ["left", "right"]) {
    const button = element(side);
    button.setAttribute("aria-label", `${words.item}: ${words[side]}`);
    button.replaceChildren(load(pair[side]));
  }
  const total = Math.max(state.all, state.voted);
  element("progress").max = total;
  element("progress").value = state.voted;
  const count = words.progress.replace("{done}", state.voted).replace("{all}", total);
  element("count").textContent = count;
  element("progress").setAttribute("aria-label", count);
  element("tie").hidden = !state.ties;
  element("undo").disabled = !state.last;
  if (next) {
    load(next.left);
    load(next.right);
  }
  forget();
}

/** Why there is nothing to vote on. */
function endOf({ ended, paused, voted }) {
  if (ended) {
    return words.ended;
  }
  return paused || voted === 0 ? words.paused : words.done;
}

/** Asks now and then whether a study that was paused goes on. */
async function waitForPairs() {
  if (state.paused && !isBusy) {
    await pause(5000);
    change("/api/state");
  }
}

/** Sends until there is an answer; a vote that is sent twice has the same id and counts once. */
async function sendUntilAnswered(path, body) {
  for (let wait = 300; ; wait = Math.min(2 * wait, 5000)) {
    try {
      return await request(path, secret, body);
    } catch (error) {
      const isTemporary = error instanceof RequestError && [0, 429, 503].includes(error.status);
      if (!isTemporary) {
        throw error;
      }
      say(error.status === 429 ? words.tooFast : words.offline);
      await pause(wait);
    }
  }
}

/** Carries out one request at a time and shows what the server answers. */
async function change(path, body) {
  if (isBusy) {
    return;
  }
  isBusy = true;
  try {
    state = await sendUntilAnswered(path, body);
    say("");
  } catch (error) {
    // Voted in another window, paused, or excluded: the server knows what comes next.
    state = await sendUntilAnswered("/api/state").catch(() => state);
    say(error.status === 423 ? words.paused : "");
  } finally {
    isBusy = false;
    storage(UNSENT, null);
  }
  render();
}

function vote(choice) {
  const [pair] = state.pairs;
  if (!pair || isBusy || element("vote").hidden || (choice === "tie" && !state.ties)) {
    return;
  }
  const body = { id: newId(), shown: pair.shown, choice };
  // A page that is closed before the answer arrives sends the vote when it is opened again.
  storage(UNSENT, JSON.stringify({ secret, body }));
  change("/api/vote", body);
}

function undo() {
  if (state.last && !element("vote").hidden) {
    change("/api/undo", { id: state.last });
  }
}

function onKey(event) {
  if (event.ctrlKey || event.altKey || event.metaKey || event.repeat || element("vote").hidden) {
    return;
  }
  const actions = {
    ArrowLeft: () => vote("left"),
    ArrowRight: () => vote("right"),
    " ": () => vote("tie"),
    Backspace: undo,
  };
  // The space bar presses a button that has the focus.
  const isOnButton = event.key === " " && ["undo", "tie"].includes(document.activeElement?.id);
  if (actions[event.key] && !isOnButton && document.activeElement?.tagName !== "AUDIO") {
    event.preventDefault();
    actions[event.key]();
  }
}

/** The secret of this voter: from a link of their own, or given by the server for the open link. */
async function identify() {
  const link = new URLSearchParams(location.hash.slice(1));
  if (link.has("v")) {
    return link.get("v");
  }
  const open = link.get("open");
  if (!open) {
    return null;
  }
  const name = `hodgerank-voter-${open.slice(0, 8)}`;
  const known = storage(name);
  if (known) {
    return known;
  }
  const joined = await request("/api/join", open);
  storage(name, joined.secret);
  return joined.secret;
}

async function start() {
  words = await (await fetch("/language.json")).json();
  document.documentElement.lang = words.language;
  for (const place of document.querySelectorAll("[data-text]")) {
    place.textContent = words[place.dataset.text];
  }
  try {
    secret = await identify();
    if (!secret) {
      showMessage(words.noLink);
      return;
    }
    const unsent = JSON.parse(storage(UNSENT) ?? "null");
    if (unsent?.secret === secret) {
      await change("/api/vote", unsent.body);
    } else {
      state = await sendUntilAnswered("/api/state");
      render();
    }
  } catch {
    showMessage(words.noLink);
  }
}

element("left").addEventListener("click", () => vote("left"));
element("right").addEventListener("click", () => vote("right"));
element("tie").addEventListener("click", () => vote("tie"));
element("undo").addEventListener("click", undo);
element("start").addEventListener("click", () => change("/api/consent"));
document.addEventListener("keydown", onKey);
// A page that the back button brings back may be old.
window.addEventListener("pageshow", (event) => {
  if (event.persisted) {
    location.reload();
  }
});
window.addEventListener("hashchange", () => location.reload());
start();
