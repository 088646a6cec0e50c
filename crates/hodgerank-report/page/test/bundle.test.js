import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { order, page, script, source, style } from "./bundle.js";
import { coffeeReport } from "./fixture.js";

const home = new URL("../", import.meta.url);

test("order.txt lists every file of the page once, the entry point last", () => {
  const files = readdirSync(home).filter((name) => /\.(js|css)$/.test(name));
  assert.deepEqual(order().toSorted(), files.toSorted());
  assert.equal(order().at(-1), "main.js");
});

test("modules use only what works after concatenation", () => {
  const seen = new Map();
  for (const name of order().filter((file) => file.endsWith(".js"))) {
    for (const line of source(name).split("\n")) {
      if (/^import\b/.test(line)) {
        assert.match(line, /^import \{ [\w, ]+ \} from "\.\/[\w-]+\.js";$/, name);
        assert.doesNotMatch(line, / as /, name);
        const needed = line.match(/"\.\/(.+)"/)[1];
        assert.ok(order().indexOf(needed) < order().indexOf(name), `${name} before ${needed}`);
      }
      assert.doesNotMatch(line, /^export (default|\{|\*)/, name);
      const top = line.match(/^(?:export )?(?:async )?(?:function\*?|const|let|class) (\w+)/)?.[1];
      if (top) {
        assert.ok(!seen.has(top), `${top} is defined in ${seen.get(top)} and in ${name}`);
        seen.set(top, name);
      }
    }
  }
});

test("script and style do not close their elements or use the network", () => {
  assert.doesNotMatch(script(), /<\/script|<!--|innerHTML|outerHTML|document\.write|\beval\b/i);
  assert.doesNotMatch(style(), /<\/style|@import|url\(/i);
  assert.doesNotMatch(script() + style(), /https?:(?!\/\/www\.w3\.org\/2000\/svg)/);
});

test("all placeholders of the template are filled", () => {
  const html = page(coffeeReport());
  assert.doesNotMatch(html, /\{\{\w+\}\}/);
  assert.match(html, /default-src 'none'; script-src 'sha256-/);
});
