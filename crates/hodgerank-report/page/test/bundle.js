// Builds a page as the program does: one file from the template, styles, scripts and data.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

const HOME = new URL("../", import.meta.url);

/** Returns the content of a file of the page. */
export const source = (name) => readFileSync(new URL(name, HOME), "utf8");

/** Returns the files of the page in order. */
export const order = () => source("order.txt").trim().split("\n");

/** Joins all styles. */
export function style() {
  const files = order().filter((name) => name.endsWith(".css"));
  return files.map(source).join("");
}

/** Joins all scripts, without imports and exports. */
export function script() {
  const files = order().filter((name) => name.endsWith(".js"));
  const lines = files.flatMap((name) => source(name).split("\n"));
  return lines
    .filter((line) => !line.startsWith("import "))
    .map((line) => line.replace(/^export /, ""))
    .join("\n");
}

const hashOf = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

const escaped = (text) => text.replace(/[&<>"]/g, (letter) => `&#${letter.codePointAt(0)};`);

/** Builds the page of a report. */
export function page(report) {
  const parts = {
    csp: [
      "default-src 'none'",
      `script-src ${hashOf(script())}`,
      `style-src ${hashOf(style())}`,
      "base-uri 'none'",
      "form-action 'none'",
    ].join("; "),
    title: escaped(report.title),
    style: style(),
    script: script(),
    data: JSON.stringify(report).replaceAll("<", "\\u003c"),
    noscript: "<p>This report needs a browser with JavaScript.</p>",
  };
  return source("template.html").replace(/\{\{(\w+)\}\}/g, (_, name) => parts[name]);
}
