import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { longer, openBrowser, startStudy, votedTo } from "./study.js";

const PHONE = { viewport: { width: 400, height: 800 }, hasTouch: true, isMobile: true };
let browser;
let study;

before(async () => {
  browser = await openBrowser();
  study = await startStudy(["--voters", "8", "--repeats", "0"]);
});
after(async () => {
  await browser.close();
  await study.close();
});

const votesOf = (name) => study.votes().filter((line) => line.includes(`,${name},`)).length;

async function openVoter(name, options) {
  const opened = await browser.open(study.url(name), options);
  await opened.page.click("#start");
  await votedTo(opened.page, 0);
  return opened;
}

test("thirty pairs by mouse, by keyboard and on a phone, and the owner sees the ranking", async () => {
  const act = {
    "voter-1": (page, side) => page.click(`#${side}`),
    "voter-2": (page, side) => page.keyboard.press(side === "left" ? "ArrowLeft" : "ArrowRight"),
    "voter-3": (page, side) => page.tap(`#${side}`),
  };
  const owner = await browser.open(study.url("owner"));
  for (const [name, choose] of Object.entries(act)) {
    const { page, faults } = await openVoter(name, name === "voter-3" ? PHONE : {});
    for (let count = 1; count <= 30; count += 1) {
      await choose(page, await longer(page));
      await votedTo(page, count);
    }
    assert.equal(votesOf(name), 30);
    const excess = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    assert.equal(excess, 0, "no sideways scrolling");
    assert.deepEqual(faults, []);
    await page.context().close();
  }
  await owner.page.waitForFunction(() => document.getElementById("votes").textContent === "90");
  const first = "#ranking tbody tr:first-child td:nth-child(2)";
  assert.equal(await owner.page.locator(first).textContent(), "bar-9.svg");
  const names = await owner.page.locator("#ranking .chart svg text").allTextContents();
  assert.equal(names.filter((name) => /^\d+\. bar-\d/.test(name)).length, 10, `${names}`);
  assert.deepEqual(owner.faults, []);
  // Somebody who prefers the short bars moves it, and excluding them moves it back.
  const scores = () => owner.page.locator("#ranking tbody td:nth-child(3)").allTextContents();
  const scoresBefore = await scores();
  const { page } = await openVoter("voter-4");
  for (let count = 1; count <= 10; count += 1) {
    await page.click((await longer(page)) === "left" ? "#right" : "#left");
    await votedTo(page, count);
  }
  await owner.page.waitForFunction(() => document.getElementById("votes").textContent === "100");
  assert.notDeepEqual(await scores(), scoresBefore);
  await owner.page.click('button[aria-label="Exclude voter-4"]');
  await owner.page.waitForFunction(() => document.getElementById("votes").textContent === "90");
  assert.deepEqual(await scores(), scoresBefore);
});

test("space is a tie, backspace takes the last vote back", async () => {
  const { page, faults } = await openVoter("voter-5");
  const shown = () => page.locator("#pair").getAttribute("data-shown");
  const first = await shown();
  await page.keyboard.press("Space");
  await votedTo(page, 1);
  assert.notEqual(await shown(), first);
  await page.keyboard.press("Backspace");
  await votedTo(page, 0);
  assert.equal(await shown(), first);
  assert.equal(votesOf("voter-5"), 0);
  await page.keyboard.press("Space");
  await votedTo(page, 1);
  assert.ok(study.votes().some((line) => line.includes(",tie,voter-5,")));
  assert.deepEqual(faults, []);
});

test("two people at once, reload and the back button", async () => {
  const both = await Promise.all([openVoter("voter-6"), openVoter("voter-7")]);
  for (let count = 1; count <= 5; count += 1) {
    await Promise.all(both.map(({ page }) => page.click("#left")));
    await Promise.all(both.map(({ page }) => votedTo(page, count)));
  }
  const [{ page }] = both;
  const shown = await page.locator("#pair").getAttribute("data-shown");
  await page.reload();
  await votedTo(page, 5);
  assert.equal(await page.locator("#pair").getAttribute("data-shown"), shown);
  await page.goto("about:blank");
  await page.goBack();
  await votedTo(page, 5);
  await page.click("#right");
  await votedTo(page, 6);
  assert.deepEqual([votesOf("voter-6"), votesOf("voter-7")], [6, 5]);
  assert.deepEqual([both[0].faults, both[1].faults], [[], []]);
});

test("a server that is killed and started again loses and doubles no vote", async () => {
  const { page } = await openVoter("voter-8");
  for (let count = 1; count <= 12; count += 1) {
    if (count % 4 === 0) {
      await study.kill();
      await page.click("#left");
      await page.waitForFunction(() => document.getElementById("status").textContent !== "");
      await study.serve();
    } else {
      await page.click("#left");
    }
    await votedTo(page, count);
  }
  assert.equal(votesOf("voter-8"), 12);
});

test("items have labels for screen readers and no names", async () => {
  const { page } = await browser.open(study.url("voter-8"));
  await votedTo(page, 12);
  const labels = await page
    .locator(".item")
    .evaluateAll((all) => all.map((item) => item.ariaLabel));
  assert.deepEqual(labels, ["Item: Choose the left item", "Item: Choose the right item"]);
  assert.ok(!(await page.content()).includes("bar-"));
});
