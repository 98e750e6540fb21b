#!/usr/bin/env node
// make check-page: the page of terse report in a real browser (Debian's chromium, without a window).
//
//   check.mjs BUILD MODULES [PICTURES]
//
// Nothing is printed to the console, nothing is requested, hostile output stays text; filters, search, keys,
// links, views and folds work; who does not know a session of 200 runs finds what broke its build; recordings end as terse snapshot has them; a page that is written anew keeps its
// place; 20,000 runs with 200 MB of text open and scroll. PICTURES: a directory for pictures of the page, to be
// looked at.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const [build, modules, pictures] = process.argv.slice(2);
const puppeteer = createRequire(join(resolve(modules), "node_modules", "x.js"))("puppeteer-core");
const terse = resolve(build, "terse"), work = mkdtempSync(join(tmpdir(), "page-"));
const env = { PATH: process.env.PATH, HOME: work, TERSE_HOME: join(work, "store"), LANG: "C.UTF-8" };

// Runs terse for an agent: its output is a socket, as node makes one. A file for its errors would be one of the run's,
// whose text is kept then.
const run = (...argv) => new Promise((done, failed) => {
  const child = spawn(terse, argv, { env, cwd: work, stdio: ["ignore", "pipe", "ignore"] });
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (text) => { out += text; });
  child.on("error", failed).on("close", () => done(out));
});
const keep = (...argv) => run("--spill", "always", ...argv);

function report(name, argv = [], home = env.TERSE_HOME) {
  const path = join(work, name), done = spawnSync(terse, ["report", ...argv, "-o", path], { env: { ...env, TERSE_HOME: home }, cwd: work, encoding: "utf8" });
  assert.equal(done.status, 0, done.stderr);
  return path;
}

const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"], headless: true, timeout: 300000, protocolTimeout: 600000 });

const ready = (page) => page.waitForSelector("[data-ready]");

// Opens a page whose every complaint is a failure. Returns it, and how long it took.
async function open(path, { width = 1400, height = 1000, dark = false, hash = "" } = {}) {
  const page = await browser.newPage(), url = "file://" + path;
  const complaints = [];
  page.setDefaultTimeout(300000);
  page.on("console", (message) => complaints.push("console: " + message.text()));
  page.on("pageerror", (error) => complaints.push("error: " + error.stack));
  page.on("request", (request) => { if (request.url().split("#")[0] !== url && !request.url().startsWith("data:")) complaints.push("request: " + request.url()); });
  page.on("dialog", (dialog) => { complaints.push("dialog: " + dialog.message()); dialog.dismiss(); });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }]);
  await page.setViewport({ width, height });
  const began = performance.now();
  await page.goto(url + hash, { waitUntil: "domcontentloaded" });
  await ready(page);
  return { page, complaints, took: performance.now() - began };
}

// Waits for what is drawn once a text is there. `what` is a function in the page.
const until = (page, what, ...values) => page.waitForFunction(what, { polling: "raf" }, ...values);
const commands = (page) => page.$$eval(".list .row", (all) => all.map((row) => row.querySelector(".command").textContent));
const told = (page) => page.$eval(".found .soft", (one) => one.textContent);
const lines = (page, where = ".panel") => page.$$eval(`${where} .line`, (all) => all.map((line) => [line.querySelector(".number").textContent, line.querySelector(".code").textContent, line.className]));
const press = async (page, ...keys) => { for (const key of keys) await page.keyboard.press(key); };
const hash = (page) => page.evaluate(() => location.hash);

// Chooses the run whose command has these words, and waits for its text.
async function choose(page, words) {
  await page.evaluate((wanted) => [...document.querySelectorAll(".list .row")].find((row) => row.querySelector(".command").title.includes(wanted)).click(), words);
  await until(page, (wanted) => document.querySelector(".run-head .command")?.textContent.includes(wanted) && document.querySelector(".told")?.textContent, words);
}

const view = async (page, name) => {
  await page.evaluate((label) => [...document.querySelectorAll("[role=tab]")].find((tab) => tab.textContent === label).click(), name);
  await until(page, (label) => document.querySelector("[role=tab][aria-selected=true]").textContent === label && document.querySelector(".told").textContent, name);
};

async function filter(page, label, value) {
  await page.select(`select[aria-label="${label}"]`, value);
}

async function search(page, text) {
  await page.$eval("input[type=search]", (input, value) => {
    input.value = value;
    input.dispatchEvent(new Event("input"));
  }, text);
  await until(page, (value) => (new URLSearchParams(location.hash.split("?")[1]).get("q") ?? "") === value, text);
  await until(page, () => !document.querySelector(".found .soft").textContent.includes("searching"));
}

// What a page would run, load or be if it were taken for HTML, script, style or a link.
const PAYLOADS = [
  `</script><script>document.title="owned"</script>`, `<img src=x onerror="document.title=1">`, `<svg/onload=document.title=1>`, `<!--<script>`, `--><iframe src="https://example.org/">`,
  `<base href="https://example.org/">`, `<link rel=stylesheet href="https://example.org/x.css">`, `<style>*{display:none}</style>`, `<meta http-equiv=refresh content="0;url=https://example.org/">`,
  `<a href="javascript:document.title=1">x</a>`, `<form action="https://example.org/"><input autofocus onfocus=document.title=1>`, `<details open ontoggle=document.title=1>`, `<math><mtext></title><img src=x onerror=document.title=1>`,
  "\${document.title=1}`;document.title=1;`", `";document.title=1;//`, `@NONCE@ @SCRIPT@ @PARTS@`, `{{constructor.constructor('document.title=1')()}}`, `\\u003cscript>document.title=1</script>`, `__proto__ constructor toString`,
  `<object data="https://example.org/">`, `<video src=x onerror=document.title=1>`, `]]><x:script xmlns:x="http://www.w3.org/1999/xhtml">document.title=1</x:script>`, `<template><script>document.title=1</script></template>`, `[... lines 1-99 omitted, 1 KB]`, `[terse: exit 0]`,
  `</title></style></textarea></noscript><script>document.title=1</script>`, `<embed src="https://example.org/">`, `<body onload=document.title=1>`, `javascript:document.title=1`, `&lt;script&gt;document.title=1&lt;/script&gt;`,
  `<input type=image src="https://example.org/" onerror=document.title=1>`, `<portal src="https://example.org/">`, `url(https://example.org/x.png)`, `" autofocus onfocus="document.title=1" x="`];

async function session() {
  await keep("--", "sh", "-c", "seq 1 3000; echo nee'dle in' the middle; seq 1 3000");
  writeFileSync(join(work, "payloads"), PAYLOADS.join("\n") + "\n");
  await keep("sh", "-c", "cat payloads; printf '\\033]0;owned\\007\\342\\200\\256backwards\\000\\377\\376\\n'; head -c 1000000 /dev/zero | tr '\\0' x; echo; seq 1 3000");
  await keep("sh", "-c", "seq 1 4000; echo 'error: it broke'; exit 3");
  await run("--record", "--spill", "always", "--tty", "printf one; sleep 0.3; printf '\\r\\033[1;31mtwo\\033[m'; sleep 0.3; echo; echo end");
  await keep("true");
  await keep("sh", "-c", "seq 5000 # \u202e<b>");
  await keep("seq", "6000");
  await keep("--timeout", "100ms", "sleep", "600");
  await keep("sh", "-c", "seq 1 2500; while [ -e payloads ]; do sleep 0.1; done &");
  for (const payload of PAYLOADS) await keep("--description", payload, "sh", "-c", ": " + JSON.stringify(payload).replace(/[$`]/g, "\\$&") + "; exit 7");
  for (const shift of [0, 1]) {
    writeFileSync(join(work, "rows"), Array.from({ length: 400 }, (_, i) => `row ${String(i).replace(/\d/g, (digit) => "abcdefghij"[digit])} took ${i * (shift + 1)} ms${shift && i % 200 === 50 ? " and changed" : ""}`).join("\n") + "\n");
    await keep("--keep-raw", "sh", "-c", "printf '\\033[32mgreen\\033[m and \\033[1;31mred\\033[m\\n'; cat rows; cat payloads >&2");
  }
  // Files that somebody else has written.
  const store = join(env.TERSE_HOME, "sessions/default"), ids = (words) => readFileSync(join(store, "journal.jsonl"), "utf8").split("\n").filter((line) => line.includes("terse.run") && line.includes(words)).map((line) => JSON.parse(line).id);
  writeFileSync(join(store, `${ids("seq 5000 #")[0]}.shown`), '{"stdout":[[1,"2"],"x",[5,1],{},[3,4]],"stderr":7}\n<b>\u001b[31m\u202eshown\u0007\n[... lines 4,001-4,003 (3, 9 B) not kept: full]');
  writeFileSync(join(store, `${ids('"seq","6000"')[0]}.shown`), "no json\nat all");

  const path = report("page.html"), all = 11 + PAYLOADS.length;
  // High enough for all rows of the list.
  const { page, complaints } = await open(path, { height: 2400 });
  assert.equal(await page.title(), "default - terse");
  assert.equal(await told(page), `${all} runs`);

  // Nothing of a command became an element, whatever is looked at.
  for (let i = 0; i < all; i++) {
    await press(page, "j");
    await until(page, (n) => document.querySelector(".row.chosen")?.getAttribute("aria-posinset") === String(n) && document.querySelector(".told")?.textContent, i + 1);
    for (const name of await page.$$eval("[role=tab]", (tabs) => tabs.map((tab) => tab.textContent))) await view(page, name);
    assert.equal(await page.title(), "default - terse");
    assert.equal(await page.$$eval("img, iframe, object, form, video, svg, math, base, style ~ style, link[rel=stylesheet], b:not(.tile b, .told b), script:not([type]) ~ script:not([type]), body > :not(main, script, noscript)", (found) => found.map((one) => one.outerHTML).join()), "");
    assert.doesNotMatch(await page.evaluate(() => document.querySelector("main").textContent), /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
  }
  assert.equal(await page.$$eval("script:not([type])", (scripts) => scripts.length), 1);
  await choose(page, "cat payloads; printf");
  await view(page, "Whole text");
  assert.deepEqual((await lines(page)).slice(0, PAYLOADS.length).map(([, text]) => text), PAYLOADS);

  // A line that is too long is cut, and unfolds.
  const cut = () => page.$$eval(".panel .line", (found) => found.map((line) => line.querySelector(".code").textContent).find((text) => text.startsWith("xxx")).length);
  await page.waitForSelector(".panel button.more");
  assert.ok((await cut()) < 2100);
  await page.click(".panel button.more");
  assert.equal(await cut(), 1000000);

  // Files of others: what can't be right is no line that was shown.
  await choose(page, "seq 5000 #");
  assert.match(await page.$eval(".told", (one) => one.textContent), /shown 2 of 5,000 lines/);
  await view(page, "Shown");
  assert.ok((await lines(page)).some(([, text]) => text === "<b>\ufffd[31m\ufffdshown\ufffd"), JSON.stringify(await lines(page)));
  // A gap stands for no lines that could be unfolded.
  assert.equal(await page.$$eval(".panel .marker", (found) => found.length), 0);
  await choose(page, "seq 6000");
  assert.match(await page.$eval(".told", (one) => one.textContent), /which lines is not known/);
  // What terse said of a run that printed nothing is there, too.
  await choose(page, "sleep 600");
  assert.deepEqual((await lines(page)).map(([, text]) => text), ["[terse: timed out (exit 124)]"]);
  // How much was shown of one that has left a process behind.
  await choose(page, "seq 1 2500");
  assert.match(await page.$eval(".told", (one) => one.textContent), /was shown \d+ of 2,500 lines, [1-9][\d.]* K?B of /);
  await run("signal", /cmd-\w+/.exec(await hash(page))[0]);
  await choose(page, "exit 7");
  assert.equal(await page.$eval(".facts:nth-of-type(2)", (one) => one.textContent), PAYLOADS[0]);

  // Filters, by keys and by lists.
  await filter(page, "All results", "failed");
  assert.equal(await told(page), `${2 + PAYLOADS.length} of ${all} runs`);
  assert.match(await hash(page), /only=failed/);
  await filter(page, "All results", "");
  await filter(page, "All commands", "true");
  assert.deepEqual(await commands(page), ["true"]);
  await filter(page, "All commands", "");
  await press(page, "f");
  assert.equal(await told(page), `${2 + PAYLOADS.length} of ${all} runs`);
  await press(page, "f");

  // Search in what the agent was not shown; n goes to the match, its line can be linked to.
  await search(page, "NEEDLE in");
  assert.equal(await told(page), `1 of ${all} runs`);
  await press(page, "n");
  await page.waitForSelector(".line.current");
  assert.deepEqual((await lines(page)).find(([, , look]) => look.includes("current")).slice(0, 2), ["3001", "needle in the middle"]);
  await page.evaluate(() => document.querySelector(".line.current a.number").click());
  const link = await hash(page);
  assert.match(link, /^#cmd-\w+:3001\?/);
  // The line that is chosen is copied, else the text, and a command as a shell takes it.
  await page.evaluate(() => { navigator.clipboard.writeText = async (text) => { document.copied = text; }; });
  const copied = () => page.evaluate(() => document.copied);
  await press(page, "c");
  assert.equal(await copied(), "needle in the middle\n");
  await page.click(".facts button");
  assert.equal(await copied(), "sh -c 'seq 1 3000; echo nee'\\''dle in'\\'' the middle; seq 1 3000'");
  // Enter goes into the text.
  await page.focus(".list");
  await press(page, "Enter");
  assert.equal(await page.evaluate(() => document.activeElement.ariaLabel), "Whole text");
  await search(page, "/^error: .t/");
  assert.equal(await told(page), `1 of ${all} runs`);
  await search(page, "no such text");
  assert.equal(await told(page), `0 of ${all} runs`);
  await search(page, "");
  assert.equal(await told(page), `${all} runs`);

  // What was shown beside the whole; a marker unfolds in its place, and folds.
  await choose(page, "seq 1 4000");
  await view(page, "Beside");
  assert.match(await page.$eval(".told", (one) => one.textContent), /The agent was shown [\d,]+ of 4,001 lines.* not shown/);
  // A run that failed begins at its end.
  assert.ok((await lines(page, ".column:first-child")).some(([number, text]) => number === "4001" && text === "error: it broke"));
  const top = () => page.$$eval(".panel .lines", (all) => all.forEach((one) => { one.scrollTop = 0; one.dispatchEvent(new Event("scroll")); }));
  await top();
  const whole = await lines(page, ".column:last-child");
  assert.deepEqual(whole[0].slice(0, 2), ["1", "1"]);
  assert.match(whole[0][2], /seen/);
  const shown = await lines(page, ".column:first-child"), marker = shown.findIndex(([, text]) => text.startsWith("[... lines "));
  assert.ok(marker > 0, JSON.stringify(shown));
  await page.click(".column:first-child .marker button");
  const unfolded = await lines(page, ".column:first-child"), [, from] = /lines (\d+)-/.exec(shown[marker][1]);
  assert.deepEqual(unfolded[marker + 1].slice(0, 2), [from, from]);
  await page.click(".column:first-child .marker button");
  assert.deepEqual((await lines(page, ".column:first-child")).map(([, text]) => text), shown.map(([, text]) => text));
  // The next lines that were not shown.
  await view(page, "Whole text");
  await top();
  await press(page, "u");
  assert.ok((await lines(page)).some(([number, , look]) => number === from && !look.includes("seen")));
  await view(page, "Shown");
  await page.click(".told button");
  await until(page, () => document.querySelector("[role=tab][aria-selected=true]").textContent === "Whole text" && document.querySelector(".panel .line"));
  assert.ok((await lines(page)).some(([number, , look]) => number === from && !look.includes("seen")));
  // The way back keeps what is searched for.
  await search(page, "it broke");
  await page.goBack();
  await until(page, () => location.hash.includes("q=it+broke") && !document.querySelector(".found .soft").textContent.includes("searching"));
  assert.notEqual(await told(page), `${all} runs`);
  await search(page, "");
  // Of many lines that differ in numbers alone, the one that is gone.
  const differ = new Function(`${readFileSync(new URL("../../supervisor/command/page/differ.js", import.meta.url), "utf8")}; return differ;`)();
  assert.deepEqual(differ(["t 1 ok", "t 2 ok", "t 3 ok"], ["t 1 ok", "t 3 ok"], false), [["same", 0, 1], ["gone", 1, 2], ["same", 1, 2]]);

  // Colours, and what differs from the last run of the command.
  await page.evaluate(() => [...document.querySelectorAll(".list .row")].at(-1).scrollIntoView());
  await press(page, "Escape", "k");
  await until(page, () => document.querySelector(".history .chosen") && document.querySelector(".told").textContent);
  await view(page, "Whole text");
  assert.deepEqual(await page.$$eval(".panel .line .code span", (all) => all.map((span) => [span.textContent, span.style.color, span.style.fontWeight])), [["green", "var(--ansi-2)", ""], ["red", "var(--ansi-1)", "bold"]]);
  await view(page, "Changes");
  const changes = (await lines(page)).filter(([, , look]) => /new|gone/.test(look)).map(([number, text, look]) => [number, text, look.includes("new")]);
  assert.deepEqual(changes, [["−", "row fa took 50 ms", false], ["52", "row fa took 100 ms and changed", true], ["−", "row cfa took 250 ms", false], ["252", "row cfa took 500 ms and changed", true]]);

  // The recording plays to its end, and can be sought.
  await choose(page, "printf one");
  await view(page, "Recording");
  const screen = () => page.$eval(".screen", (pre) => pre.textContent.trim());
  await page.select(".player select", "4");
  await page.click(".player button");
  await until(page, () => document.querySelector(".screen").textContent.includes("end"));
  assert.match(await screen(), /^two *\n *end/);
  assert.deepEqual(await page.$eval(".screen span", (span) => [span.textContent, getComputedStyle(span).color, getComputedStyle(span).fontWeight]), ["two", "rgb(205, 49, 49)", "700"]);
  await page.$eval(".player input", (input) => { input.value = 0; input.dispatchEvent(new Event("input")); });
  assert.equal(await screen(), "one");

  // The time line zooms to what is drawn over, and back.
  const box = await (await page.$(".time-canvas canvas")).boundingBox();
  await page.mouse.move(box.x + box.width * 0.7, box.y + 30);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width, box.y + 30, { steps: 4 });
  await page.mouse.up();
  assert.match(await hash(page), /from=\d+&until=\d+/);
  assert.notEqual(await told(page), `${all} runs`);
  await press(page, "0");
  assert.equal(await told(page), `${all} runs`);
  await page.keyboard.press("?");
  assert.ok(await page.$eval(".keys", (dialog) => dialog.open));
  await page.keyboard.press("Escape");

  // Screen readers: what can be operated has a name, what is chosen is said.
  const tree = JSON.stringify(await page.accessibility.snapshot({ interestingOnly: false }));
  assert.ok(/"name":"printf one; [^"]* exit 0 [^"]*","selected":true/.test(tree), "the chosen run");
  for (const name of ["Runs", "Search commands and texts", "Whole text", "Recording", "Time line of the runs", "zoom in"]) assert.ok(tree.includes(name), name);
  assert.equal(await page.$$eval("button, input, select", (all) => all.filter((one) => !one.textContent.trim() && !one.ariaLabel).length), 0);
  assert.deepEqual(complaints, []);
  await page.close();

  // The URL is what one sees.
  {
    const { page, complaints } = await open(path, { hash: link });
    await page.waitForSelector(".line.chosen");
    assert.deepEqual((await lines(page)).find(([, , look]) => look.includes("chosen")).slice(0, 2), ["3001", "needle in the middle"]);
    await page.emulateMediaType("print");
    await page.pdf({ path: join(pictures ?? work, "page.pdf") });
    assert.deepEqual(complaints, []);
    await page.close();
  }
  for (const [name, look] of Object.entries({ light: {}, dark: { dark: true }, phone: { width: 390, height: 667 } })) {
    for (const [place, at] of [["list", ""], ["run", link]]) {
      const { page, complaints } = await open(path, { ...look, hash: at });
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(wide <= 0, `${name}: ${wide} pixels too wide`);
      if (!at) assert.deepEqual(await page.$$eval(".overview h2, .list", (all) => all.map((one) => one.clientHeight > 20)), [true, true, true], name);
      else { await page.click(".run-head > button"); await page.waitForSelector(".overview"); await page.goBack(); await page.waitForSelector(".run-head"); await page.waitForSelector(".told"); }
      if (pictures) await page.screenshot({ path: join(pictures, `page-${name}-${place}.png`) });
      assert.deepEqual(complaints, []);
      await page.close();
    }
  }
}

// The way of somebody who has this page of 200 runs and nothing else: which command broke the build, and what was
// the agent not shown? (See session.)
async function tried() {
  const place = join(work, "tried"), made = spawnSync(join(import.meta.dirname, "session"), [terse, place], { encoding: "utf8" });
  assert.equal(made.status, 0, made.stderr);
  const path = report("tried.html", ["afternoon"], join(place, "store"));
  const { page, complaints } = await open(path);
  if (pictures) await page.screenshot({ path: join(pictures, "tried.png") });
  assert.equal(await told(page), "200 runs");
  // Each round time of the axis is there, and whole.
  await page.evaluate(() => {
    const { prototype } = CanvasRenderingContext2D, plain = prototype.fillText;
    window.ticks = [];
    prototype.fillText = function (text, x, y) { window.ticks.push([x, x + this.measureText(text).width, this.canvas.clientWidth]); plain.call(this, text, x, y); };
  });
  for (const key of "+++0") {
    await page.evaluate(() => { window.ticks = []; });
    await press(page, key);
    await until(page, () => window.ticks.length > 2);
    const ticks = await page.evaluate(() => window.ticks);
    assert.ok(ticks.every(([, end, width], i) => end <= width && (i < 2 || Math.abs(ticks[i][0] - 2 * ticks[i - 1][0] + ticks[i - 2][0]) < 1)), JSON.stringify(ticks));
  }
  // What failed is the first that is to be seen, and what has run since it last did not.
  const [build] = await page.$$eval(".overview li", (all) => all.map((item) => item.textContent).filter((text) => text.startsWith("make ")));
  assert.match(build, /^make exit 2, .*; succeeds again: .* Runs since its last success/);
  await page.evaluate(() => [...document.querySelectorAll(".overview li")].find((item) => item.textContent.startsWith("make ")).querySelector("a").click());
  await page.waitForSelector(".history button");
  assert.match(await page.$eval(".told", (one) => one.textContent), /The agent was shown [\d,]+ of 709 lines/);
  // The line that differs in a number alone is among its changes: few of them do.
  await view(page, "Changes");
  await until(page, () => document.querySelector("h3 button")?.textContent === "Leave numbers out" && document.querySelector(".line.current"));
  await page.click("h3 button");
  await until(page, () => document.querySelector("h3 button")?.textContent === "Show them, too");
  assert.match(await page.$eval("h3", (one) => one.textContent), /differ in numbers/);
  await page.click("h3 button");
  await until(page, () => document.querySelector("h3 button")?.textContent === "Leave numbers out" && document.querySelector(".line.current"));
  assert.ok((await lines(page)).some(([number, text, look]) => number === "213" && text === "units.conf:212: unit211 is 21 base1" && look.includes("new")));
  if (pictures) await page.screenshot({ path: join(pictures, "tried-changes.png") });
  const first = await page.$eval(".line.current", (one) => one.textContent);
  await press(page, "n");
  await until(page, (before) => document.querySelector(".line.current").textContent !== before, first);
  // The agent was not shown that.
  await view(page, "Whole text");
  await search(page, "unit211 is 21 ");
  await until(page, () => document.querySelector(".line.current"));
  assert.deepEqual((await lines(page)).find(([, , look]) => look.includes("current")), ["213", "units.conf:212: unit211 is 21 base1", "line current"]);
  await page.click(".history button");
  assert.match(await told(page), /^\d+ of 200 runs$/);
  await search(page, "units.conf");
  assert.ok((await commands(page)).includes("sed -i 's/ 212$/ 21/' units.conf"));
  // Who types quickly gets the first match, too.
  const quick = (await open(path)).page;
  await press(quick, "/");
  await quick.keyboard.type("unit211");
  await press(quick, "Enter");
  await until(quick, () => document.querySelector(".line.current .code")?.textContent === "units.conf:212: unit211 is 212 base1");
  // The first click behind a search opens what was clicked; Enter takes a command that fits where no text does.
  await press(quick, "/");
  await quick.keyboard.type("units.conf");
  await until(quick, () => location.hash.includes("q=units.conf") && /^\d+ of 200 runs$/.test(document.querySelector(".found .soft").textContent));
  for (const row of await quick.$$(".list .row")) if ((await row.$eval(".command", (one) => one.textContent)) === "sed -i 's/ 212$/ 21/' units.conf") { await row.click(); break; }
  await until(quick, () => document.querySelector(".run-head .command").textContent.includes("s/ 212$/ 21/"));
  await press(quick, "/");
  await quick.keyboard.type("212$/ 21/");
  await press(quick, "Enter");
  await until(quick, () => document.querySelector(".found .soft").textContent === "1 of 200 runs" && document.querySelector(".run-head .command").textContent.includes("212$/ 21/"));
  await quick.close();
  // What waited for somebody to type.
  await page.click(".found button");
  await filter(page, "All results", "waited for input");
  assert.equal(await told(page), "1 of 200 runs");
  await choose(page, "Overwrite");
  assert.match(await page.$eval(".told", (one) => one.textContent), /asked “Overwrite units.h\? \[y\/N\]”, waited \d/);
  assert.deepEqual(complaints, []);
  await page.close();
}

// Recordings of real tools, cut in their middles: the page's terminal shows what terse's own does.
async function recordings() {
  env.TERSE_SESSION = "recordings";
  const captures = join(import.meta.dirname, "../terminal/captures"), drawn = [];
  for (const name of readdirSync(captures).filter((name) => name.endsWith(".raw") && !name.startsWith("vttest"))) {
    const path = join(captures, name), [cols, rows] = readFileSync(path.replace(/raw$/, "size"), "utf8").split(/\s/);
    // It yields once it waits for input, so all has been drawn.
    await run("--record", "--yield", "600s", "--tty", "--cols", cols, "--rows", rows, "--", "sh", "-c", `head -c ${Math.floor(statSync(path).size * 0.6)} '${path}'; read x`);
    drawn.push([name, spawnSync(terse, ["snapshot", "last"], { env, encoding: "utf8" }).stdout]);
    await run("signal", "last", "KILL");
    await run("await", "last");
  }
  const { page, complaints } = await open(report("recordings.html"), { hash: "#?view=recording" });
  for (const [name, wanted] of drawn) {
    await press(page, "j");
    await until(page, (wanted) => document.querySelector(".run-head .command")?.textContent.includes(wanted) && document.querySelector(".told")?.textContent, name);
    await view(page, "Recording");
    const shown = await page.evaluate(() => {
      const seek = document.querySelector(".player input"), screen = document.querySelector(".screen");
      seek.value = seek.max;
      seek.dispatchEvent(new Event("input"));
      return screen.textContent;
    });
    const rows = (text) => text.split("\n").map((row) => row.trimEnd()).join("\n").trimEnd();
    assert.equal(rows(shown), rows(wanted), name);
  }
  assert.deepEqual(complaints, []);
  await page.close();
  console.log(`${drawn.length} recordings end as terse has them`);
}

// A page that is written anew: it loads itself again, keeps its place, and shows what a run prints.
async function watched() {
  env.TERSE_SESSION = "watched";
  await keep("seq", "1", "5");
  const path = join(work, "watched.html"), watch = spawn(terse, ["report", "--watch", "-o", path], { env, cwd: work, stdio: ["ignore", "pipe", "inherit"] });
  await new Promise((done) => watch.stdout.once("data", done));
  const { page, complaints } = await open(path, { hash: "#?only=succeeded" });
  assert.equal((await commands(page)).length, 1);
  await run("--detach", "--", "sh", "-c", "echo begun; while [ ! -e go ]; do sleep 0.1; done; echo ended");
  const seen = (what, ...values) => page.waitForFunction(what, { polling: 100, timeout: 120000 }, ...values);
  await seen(() => document.querySelector(".tiles")?.textContent.includes("1 running"));
  await run("--yield", "20s", "sh", "-c", "printf 'Go on? '; read answer; echo $answer");
  await seen(() => document.querySelector(".tiles").textContent.includes("1 waiting for input"));
  await run("send", "last", "y", "--key", "enter");
  await seen(() => document.querySelector(".tiles").textContent.includes(", 1 running"));
  assert.match(await hash(page), /only=succeeded/);
  await filter(page, "All results", "running");
  await choose(page, "echo begun");
  await seen(() => document.querySelector(".panel")?.textContent.includes("begun"));
  writeFileSync(join(work, "go"), "");
  await seen(() => !document.querySelector(".tiles").textContent.includes("running") && document.querySelector(".panel")?.textContent.includes("ended"));
  watch.kill("SIGINT");
  assert.equal(await new Promise((done) => watch.once("exit", done)), 0);
  await seen(() => !document.querySelector(".watch"));
  assert.deepEqual(complaints, []);
  await page.close();
}

// 20,000 runs, each as one that printed 10 KB; most are copies, which is quicker than to run them.
async function many() {
  env.TERSE_SESSION = "many";
  await keep("--", "seq", "-f", "2026-11-22 a line of a log with <words> & number %g", "200");
  const copy = spawnSync("sh", ["-euc", `
    cd "$TERSE_HOME/sessions/many"; line=$(grep terse.run journal.jsonl); id=$(printf %s "$line" | grep -o 'cmd-[0-9a-z]*' | head -1)
    seq 10000 29998 | awk -v id="$id" -v line="$line" '{ new = substr(id, 1, 11) $1; copy = line; sub(id, new, copy); print copy; print new >"/dev/stderr" }' >more 2>ids
    while read new; do ln "$id.txt" "$new.txt"; ln "$id.json" "$new.json"; done <ids
    cat more >>journal.jsonl; rm more ids`], { env, encoding: "utf8" });
  assert.equal(copy.status, 0, copy.stderr);
  const began = performance.now(), path = report("many.html"), wrote = performance.now() - began, bytes = statSync(path).size;
  const { page, complaints, took } = await open(path);
  assert.equal(await told(page), "20,000 runs");
  console.log(`20,000 runs, 200 MB: ${(bytes / 1048576).toFixed(1)} MB, written in ${wrote.toFixed(0)} ms, opened in ${took.toFixed(0)} ms`);
  const worst = await page.evaluate(async () => {
    const list = document.querySelector(".list");
    let worst = 0;
    for (let i = 0, last = performance.now(); i < 60; i++) {
      list.scrollTop += 9000;
      await new Promise(requestAnimationFrame);
      worst = Math.max(worst, performance.now() - last);
      last = performance.now();
    }
    return worst;
  });
  // No more than what is seen is there.
  assert.ok((await commands(page)).length < 60);
  const searched = performance.now();
  await search(page, "number 200");
  console.log(`scrolled with ${worst.toFixed(0)} ms between two pictures at most; a search through all of it: ${(performance.now() - searched).toFixed(0)} ms, ${await told(page)}`);
  assert.equal(await told(page), "20,000 runs");
  assert.deepEqual(complaints, []);
}

try {
  for (const part of [session, tried, recordings, watched, many]) await part();
  console.log("ok");
} finally {
  await browser.close();
  rmSync(work, { recursive: true });
}
