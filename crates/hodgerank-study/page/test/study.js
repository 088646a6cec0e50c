// Starts a study with the real program, and opens its pages in Chromium.

import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { chromium } from "playwright-core";

const PROGRAM = process.env.HODGERANK_BIN ?? "../../../target/release/hodgerank";
const ARGUMENTS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-sync",
];

function chromiumProgram() {
  const folders = (process.env.PATH ?? "").split(delimiter);
  const names = ["chromium", "chromium-browser"];
  const candidates = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  const found = process.env.CHROMIUM ?? candidates.find((file) => existsSync(file));
  if (!found) {
    throw new Error("no Chromium: install it (scripts/setup), or set CHROMIUM to its program");
  }
  return found;
}

/** A picture of a bar; item 9 has the longest. */
function picture(item) {
  const width = 20 + 20 * item;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="240" height="160"><rect width="240" height="160" fill="#ddd"/><rect x="10" y="60" width="${width}" height="40" fill="#0a5cc0"/></svg>`;
}

/** The files of ten pictures. */
export function pictures() {
  return Array.from({ length: 10 }, (_, item) => [`bar-${item}.svg`, picture(item)]);
}

/** A study of items in files, with a server that can be killed and started again. */
export async function startStudy(options = [], files = pictures()) {
  const place = mkdtempSync(join(tmpdir(), "hodgerank-study-"));
  const [folder, items] = [join(place, "study"), join(place, "items")];
  mkdirSync(items);
  for (const [name, content] of files) {
    writeFileSync(join(items, name), content);
  }
  const question = "Which bar is longer?";
  const create = ["study", "new", folder, "--items", items, "--question", question, "--ties"];
  execFileSync(PROGRAM, [...create, ...options, "--quiet"]);
  const lines = readFileSync(join(folder, "links.txt"), "utf8").trim().split("\n");
  const links = new Map(lines.map((line) => line.split("\t")));
  const study = { folder, links, port: 0, server: null };
  study.serve = async () => {
    const listen = `127.0.0.1:${study.port}`;
    study.server = spawn(PROGRAM, ["study", "serve", folder, "--listen", listen, "--quiet"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const address = await new Promise((resolve) => {
      study.server.stdout.once("data", (data) => resolve(data.toString().trim()));
    });
    study.port = Number(new URL(address).port);
  };
  study.kill = () =>
    new Promise((resolve) => {
      study.server.once("exit", resolve);
      study.server.kill("SIGKILL");
    });
  study.url = (who) => `http://127.0.0.1:${study.port}${links.get(who)}`;
  study.votes = () =>
    execFileSync(PROGRAM, ["study", "export", folder, "--quiet"])
      .toString()
      .trim()
      .split("\n")
      .slice(1);
  study.close = async () => {
    await study.kill();
    rmSync(place, { recursive: true });
  };
  await study.serve();
  return study;
}

/** Starts a browser whose pages record their faults: errors, messages and requests to elsewhere. */
export async function openBrowser() {
  const browser = await chromium.launch({ executablePath: chromiumProgram(), args: ARGUMENTS });
  return {
    close: () => browser.close(),
    async open(address, options = {}) {
      const context = await browser.newContext({
        viewport: { width: 1200, height: 900 },
        ...options,
      });
      const page = await context.newPage();
      const faults = [];
      page.on("console", (message) => faults.push(`console: ${message.text()}`));
      page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
      page.on("request", (request) => {
        if (
          new URL(request.url()).host !== new URL(address).host &&
          !request.url().startsWith("blob:")
        ) {
          faults.push(`request: ${request.url()}`);
        }
      });
      await page.goto(address);
      return { page, faults };
    },
  };
}

/** Waits until the page shows that so many votes are stored. */
export function votedTo(page, count) {
  return page.waitForFunction(
    (wanted) => document.getElementById("count").textContent.startsWith(`${wanted} `),
    count,
  );
}

/** The side with the longer bar, from the pixels of the pictures. */
export function longer(page) {
  return page.evaluate(async () => {
    const length = async (side) => {
      const image = document.querySelector(`#${side} img`);
      await image.decode();
      const text = await (await fetch(image.src)).text();
      return Number(text.match(/y="60" width="(\d+)"/)[1]);
    };
    return (await length("left")) > (await length("right")) ? "left" : "right";
  });
}
