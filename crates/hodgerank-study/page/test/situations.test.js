// What happens around voting: lost connections, pauses, the end of a study, other kinds of items.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openBrowser, startStudy, votedTo } from "./study.js";

let browser;

before(async () => {
  browser = await openBrowser();
});
after(() => browser.close());

async function openVoter(study, name, options) {
  const opened = await browser.open(study.url(name), options);
  await opened.page.click("#start");
  await votedTo(opened.page, 0);
  return opened;
}

const message = (page, text) =>
  page.waitForFunction(
    (wanted) =>
      !document.getElementById("message").hidden &&
      document.getElementById("message-text").textContent.includes(wanted),
    text,
  );

test("a vote during a lost connection arrives once when the connection is back", async () => {
  const study = await startStudy(["--voters", "1"]);
  const { page } = await openVoter(study, "voter-1");
  await page.context().setOffline(true);
  await page.click("#left");
  await page.waitForFunction(() =>
    document.getElementById("status").textContent.includes("could not be saved yet"),
  );
  assert.equal(study.votes().length, 0);
  await page.context().setOffline(false);
  await votedTo(page, 1);
  assert.equal(study.votes().length, 1);
  // An answer that is lost: the server has the vote, and the page sends it again.
  let lost = 0;
  await page.route("**/api/vote", async (route) => {
    lost += 1;
    if (lost <= 2) {
      await route.fetch();
      await route.abort();
    } else {
      await route.continue();
    }
  });
  await page.click("#right");
  await votedTo(page, 2);
  assert.deepEqual([lost, study.votes().length], [3, 2]);
  // A page that is closed before the vote is sent sends it when it is opened again.
  await page.unroute("**/api/vote");
  await page.route("**/api/vote", (route) => route.abort());
  await page.click("#left");
  await page.waitForFunction(() => document.getElementById("status").textContent !== "");
  await page.unroute("**/api/vote");
  const context = page.context();
  await page.close();
  const again = await context.newPage();
  await again.goto(study.url("voter-1"));
  await votedTo(again, 3);
  assert.equal(study.votes().length, 3);
  await context.close();
  await study.close();
});

test("a pause is shown to voters and survives a restart", async () => {
  const study = await startStudy(["--voters", "1"]);
  const owner = await browser.open(study.url("owner"));
  const { page } = await openVoter(study, "voter-1");
  await owner.page.click("#pause");
  await owner.page.waitForFunction(() => document.getElementById("pause").textContent === "Go on");
  await page.click("#left");
  await message(page, "nothing to vote on at the moment");
  await study.kill();
  await study.serve();
  await page.reload();
  await message(page, "nothing to vote on at the moment");
  await owner.page.waitForFunction(() => document.getElementById("problem").hidden);
  assert.equal(await owner.page.textContent("#pause"), "Go on");
  await owner.page.click("#pause");
  // The page asks every five seconds.
  await votedTo(page, 0);
  await page.click("#left");
  await votedTo(page, 1);
  assert.equal(study.votes().length, 1);
  await page.context().close();
  await owner.page.context().close();
  await study.close();
});

test("everybody sees when they have voted on all pairs", async () => {
  const study = await startStudy(["--voters", "1", "--pairs", "3"]);
  const { page, faults } = await openVoter(study, "voter-1");
  for (const count of [1, 2]) {
    await page.click("#left");
    await votedTo(page, count);
  }
  await page.click("#left");
  await message(page, "That was all");
  assert.deepEqual(faults, []);
  await page.context().close();
  await study.close();
});

test("a study that is settled ends for voters, and the owner is told", async () => {
  const texts = ["a", "b", "c"].map((name) => [`${name}.txt`, `text ${name}`]);
  const options = ["--voters", "40", "--repeats", "0", "--until", "top=1"];
  const study = await startStudy(options, texts);
  const owner = await browser.open(study.url("owner"));
  const sides = ["left", "right"];
  let [hasEnded, votes] = [false, 0];
  for (let voter = 1; voter <= 40 && !hasEnded; voter += 1) {
    const { page, faults } = await browser.open(study.url(`voter-${voter}`));
    await page.click("#start");
    for (let count = 0; count < 3 && !hasEnded; count += 1) {
      await page.waitForFunction(
        (wanted) =>
          !document.getElementById("message").hidden ||
          (document.getElementById("count").textContent.startsWith(`${wanted} `) &&
            document.querySelectorAll(".item p:not(:empty)").length === 2),
        count,
      );
      hasEnded = await page.locator("#message").isVisible();
      if (!hasEnded) {
        // Nearly everybody prefers the text that comes first.
        const [left, right] = await page.locator(".item p").allTextContents();
        const first = left < right ? 0 : 1;
        await page.click(`#${sides[votes % 9 === 8 ? 1 - first : first]}`);
        votes += 1;
      }
    }
    if (hasEnded) {
      await message(page, "The study has ended");
    }
    assert.deepEqual(faults, []);
    await page.context().close();
  }
  assert.ok(hasEnded, `${votes} votes settle nothing`);
  await owner.page.waitForFunction(() =>
    document.getElementById("settled").textContent.includes("voting has ended"),
  );
  assert.deepEqual(owner.faults, []);
  await owner.page.context().close();
  await study.close();
});

/** A second of a tone: WAV with 8 bits and 8,000 samples a second. */
function tone(frequency) {
  const samples = 8000;
  const file = Buffer.alloc(44 + samples, 128);
  file.write("RIFF", 0);
  file.writeUInt32LE(36 + samples, 4);
  file.write("WAVEfmt ", 8);
  file.writeUInt32LE(16, 16);
  file.writeUInt16LE(1, 20);
  file.writeUInt16LE(1, 22);
  file.writeUInt32LE(samples, 24);
  file.writeUInt32LE(samples, 28);
  file.writeUInt16LE(1, 32);
  file.writeUInt16LE(8, 34);
  file.write("data", 36);
  file.writeUInt32LE(samples, 40);
  for (let k = 0; k < samples; k += 1) {
    file[44 + k] = 128 + Math.round(60 * Math.sin((2 * Math.PI * frequency * k) / samples));
  }
  return file;
}

/** A short video of a coloured area, made by the browser. */
async function video(page, colour) {
  const bytes = await page.evaluate(async (fill) => {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [64, 48];
    const drawing = canvas.getContext("2d");
    const recorder = new MediaRecorder(canvas.captureStream(20), { mimeType: "video/webm" });
    const parts = [];
    recorder.ondataavailable = ({ data }) => parts.push(data);
    recorder.start();
    for (let frame = 0; frame < 15; frame += 1) {
      drawing.fillStyle = fill;
      drawing.fillRect(0, 0, 64, 48);
      drawing.fillStyle = "white";
      drawing.fillRect(4 * frame, 10, 4, 20);
      await new Promise((resolve) => setTimeout(resolve, 40));
    }
    await new Promise((resolve) => {
      recorder.onstop = resolve;
      recorder.stop();
    });
    return Array.from(new Uint8Array(await new Blob(parts).arrayBuffer()));
  }, colour);
  return Buffer.from(bytes);
}

test("videos, sounds and texts are shown", async () => {
  const blank = await browser.open("about:blank");
  const videos = [
    ["red.webm", await video(blank.page, "red")],
    ["blue.webm", await video(blank.page, "blue")],
  ];
  await blank.page.context().close();
  const kinds = {
    video: videos,
    audio: [
      ["low.wav", tone(220)],
      ["high.wav", tone(880)],
    ],
    p: [
      ["one.txt", "First line\nSecond line <b>"],
      ["two.txt", "Another text"],
    ],
  };
  for (const [tag, files] of Object.entries(kinds)) {
    const study = await startStudy(["--voters", "1"], files);
    const { page, faults } = await openVoter(study, "voter-1");
    await page.waitForFunction((name) => {
      const items = Array.from(document.querySelectorAll(`.item ${name}`));
      const isShown = (item) => (name === "p" ? item.textContent !== "" : item.readyState >= 2);
      return items.length === 2 && items.every(isShown);
    }, tag);
    if (tag === "p") {
      const texts = await page.locator(".item p").allTextContents();
      assert.deepEqual(texts.toSorted(), ["Another text", "First line\nSecond line <b>"]);
    }
    if (tag === "audio") {
      // Listening is not voting.
      await page.locator(".item audio").first().click();
      assert.equal(study.votes().length, 0);
    }
    await page.locator("#right").press("ArrowRight");
    await message(page, "That was all");
    assert.equal(study.votes().length, 1);
    assert.deepEqual(faults, []);
    await page.context().close();
    await study.close();
  }
});

test("the owner's page fits a phone and keeps what the owner does", async () => {
  const study = await startStudy(["--voters", "2", "--repeats", "0"]);
  const { page: voter } = await openVoter(study, "voter-1");
  const vote = async (from, to) => {
    for (let count = from; count <= to; count += 1) {
      await voter.click("#left");
      await votedTo(voter, count);
    }
  };
  await vote(1, 20);
  const phone = { viewport: { width: 400, height: 800 }, hasTouch: true, isMobile: true };
  const { page, faults } = await browser.open(study.url("owner"), phone);
  await page.waitForSelector("#ranking tbody tr");
  const excess = await page.evaluate(() =>
    [document.documentElement, ...document.querySelectorAll(".scroller")].map(
      (part) => part.scrollWidth - part.clientWidth,
    ),
  );
  assert.deepEqual(excess, [0, 0, 0], "no sideways scrolling");
  // Sorted by item, with the focus on the heading, while votes arrive.
  const heading = page.locator("#ranking th", { hasText: "item" });
  await heading.locator("button").focus();
  await page.keyboard.press("Enter");
  await page.locator(".help summary").tap();
  await heading.locator("button").focus();
  await vote(21, 24);
  await page.waitForFunction(() => document.getElementById("votes").textContent === "24");
  assert.equal(await heading.getAttribute("aria-sort"), "ascending");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "item");
  assert.ok(await page.locator(".help").evaluate((help) => help.open));
  const names = await page.locator("#ranking tbody td:nth-child(2)").allTextContents();
  assert.deepEqual(names, names.toSorted());
  assert.deepEqual(faults, []);
  await study.close();
});
