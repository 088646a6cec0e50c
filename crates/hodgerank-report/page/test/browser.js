// Opens pages in Chromium and records faults: errors, messages, dialogs and requests.

import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { page as build } from "./bundle.js";

const ARGUMENTS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

function binary() {
  if (process.env.CHROMIUM) {
    return process.env.CHROMIUM;
  }
  const folders = (process.env.PATH ?? "").split(delimiter);
  const candidates = ["chromium", "chromium-browser"].flatMap((name) =>
    folders.map((folder) => join(folder, name)),
  );
  const found = candidates.find((file) => existsSync(file));
  if (!found) {
    throw new Error("no Chromium: install it (scripts/setup), or set CHROMIUM to its program");
  }
  return found;
}

/** Starts a browser for a test file, with a folder for its pages. */
export async function openBrowser() {
  const browser = await chromium.launch({ executablePath: binary(), args: ARGUMENTS });
  const folder = mkdtempSync(join(tmpdir(), "hodgerank-page-"));
  let pages = 0;
  return {
    folder,
    async close() {
      await browser.close();
      rmSync(folder, { recursive: true });
    },
    /** Opens a report's page, and all of its sections unless `folded` is set. */
    async open(report, options = {}) {
      pages += 1;
      const file = join(folder, `report-${pages}.html`);
      writeFileSync(file, build(report));
      return openFile(browser, file, options);
    },
    openFile: (file, options = {}) => openFile(browser, file, options),
  };
}

/** Opens everything that is folded, in the page. */
export function openAll() {
  for (const part of document.querySelectorAll("details.part, details.results, details.slider")) {
    part.open = true;
  }
}

async function openFile(browser, file, { folded = false, ...options }) {
  const page = await browser.newPage({ viewport: { width: 1200, height: 900 }, ...options });
  const address = pathToFileURL(file).href;
  const faults = [];
  page.on("console", (message) => faults.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("request", (request) => {
    if (request.url().split("#")[0] !== address) {
      faults.push(`request: ${request.url()}`);
    }
  });
  await page.addInitScript(() => {
    window.addEventListener("securitypolicyviolation", (event) => {
      console.error(`policy: ${event.violatedDirective}`);
    });
  });
  await page.goto(address);
  if (!folded) {
    await page.evaluate(openAll);
  }
  await page.waitForFunction(() =>
    Array.from(document.querySelectorAll("[open] .plot, section .plot, .first .plot")).every(
      (plot) => plot.firstElementChild,
    ),
  );
  return { page, faults };
}

/** Moves the slider to a stop as a reader would: changes the value, then sends the event. */
export async function moveSlider(page, stop) {
  await page.locator("#stop").evaluate((input, value) => {
    input.value = value;
    input.dispatchEvent(new Event("input", { bubbles: true }));
  }, stop);
}

/** Returns the rows of a table as texts. */
export function rowsOf(page, table) {
  return page
    .locator(`#table-${table} tbody tr`)
    .evaluateAll((rows) => rows.map((row) => Array.from(row.cells, (cell) => cell.textContent)));
}

/** Returns how many pixels the page is wider than its window. */
export function overflow(page) {
  return page.evaluate(() => {
    const root = document.documentElement;
    return root.scrollWidth - root.clientWidth;
  });
}
