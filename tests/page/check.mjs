#!/usr/bin/env node
// make check-page: the page of terse report in a real browser (Debian's chromium, without a window).
//
//   check.mjs BUILD MODULES [PICTURES]
//
// Nothing is printed to the console, nothing is requested, hostile output stays text; search, filters
// and folds work; recordings end as terse snapshot --svg has them; 1,000 runs with 200 MB of text make a page of at most 20 MB. PICTURES: a
// directory for pictures of the page, to be looked at.

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

function report(name, ...argv) {
  const path = join(work, name), done = spawnSync(terse, ["report", ...argv, "-o", path], { env, cwd: work, encoding: "utf8" });
  assert.equal(done.status, 0, done.stderr);
  return path;
}

const HOSTILE = `printf '</script><script>document.title="owned"</script><img src=x onerror="document.title=1">\\n'; ` +
  `printf '\\033]0;owned\\007\\342\\200\\256backwards\\000\\377\\376\\n<!--<script>\\n'; head -c 1000000 /dev/zero | tr '\\0' x; seq 1 3000`;

const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"], headless: true });

// Opens a page whose every complaint is a failure. Returns it, and how long it took.
async function open(path, { width = 1200, height = 1400, dark = false } = {}) {
  const page = await browser.newPage(), url = "file://" + path;
  const complaints = [];
  page.on("console", (message) => complaints.push("console: " + message.text()));
  page.on("pageerror", (error) => complaints.push("error: " + error.message));
  page.on("request", (request) => { if (request.url() !== url && !request.url().startsWith("data:")) complaints.push("request: " + request.url()); });
  page.on("dialog", (dialog) => { complaints.push("dialog: " + dialog.message()); dialog.dismiss(); });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }]);
  await page.setViewport({ width, height });
  const began = performance.now();
  await page.goto(url);
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0))));
  return { page, complaints, took: performance.now() - began };
}

const visible = (page) => page.$$eval("article.run:not([hidden])", (all) => all.map((one) => one.querySelector(".command").textContent));

async function choose(page, label, value) {
  await page.select(`select[aria-label="${label}"]`, value);
}

const search = (page, text) => page.$eval("input[type=search]", (input, value) => {
  input.value = value;
  input.dispatchEvent(new Event("change"));
}, text);

async function session() {
  await run("--", "sh", "-c", "seq 1 3000; echo nee'dle in' the middle; seq 1 3000");
  await run("sh", "-c", HOSTILE);
  await run("sh", "-c", "seq 1 4000; echo 'error: it broke'; exit 3");
  await run("--record", "--spill", "always", "--tty", "printf one; sleep 0.3; printf '\\r\\033[1;31mtwo\\033[m'; sleep 0.3; echo; echo end");
  await run("true");
  await run("sh", "-c", "seq 5000 # \u202e<b>");
  await run("seq", "6000");
  // Files that somebody else has written.
  const store = join(env.TERSE_HOME, "sessions/default"), files = readdirSync(store).filter((name) => name.endsWith(".shown")).sort();
  writeFileSync(join(store, files.at(-2)), '{"stdout":[[1,"2"],"x",[5,1],{},[3,4]],"stderr":7}\n<b>\u001b[31m\u202eshown\u0007');
  writeFileSync(join(store, files.at(-1)), "no json\nat all");
  const path = report("page.html");
  const { page, complaints } = await open(path);
  assert.equal(await page.title(), "default - terse");
  assert.equal((await visible(page)).length, 7);
  // Nothing of a command became an element.
  assert.equal(await page.$$eval("img, iframe, object, form, body > :not(main, script, noscript)", (all) => all.length), 0);
  assert.equal(await page.$$eval("script:not([type])", (all) => all.length), 1);
  // All but one have kept their text.
  assert.deepEqual(await page.$$eval("a", (all) => all.map((one) => one.protocol + one.closest("article").querySelector(".command").textContent)),
    (await visible(page)).filter((command) => command !== "true").map((command) => "file:" + command));
  const shown = await page.$$eval("article.run pre", (all) => all[1].textContent);
  assert.ok(shown.startsWith(`</script><script>document.title="owned"</script><img src=x onerror="document.title=1">\n`), shown.slice(0, 200));
  const texts = await page.$$eval("article.run", (all) => all.map((one) => one.textContent));
  for (const text of texts) assert.doesNotMatch(text, /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
  assert.ok(texts[5].includes("seq 5000 # \ufffd<b>") && texts[5].includes("<b>\ufffd[31m\ufffdshown\ufffd"), texts[5]);
  assert.ok(texts[6].includes("they are not in this page"), texts[6]);

  // Filters.
  await choose(page, "All results", "failed");
  const failed = await visible(page);
  assert.equal(failed.length, 1);
  assert.ok(failed[0].includes("it broke"), failed[0]);
  await choose(page, "All results", "");
  await choose(page, "All commands", "true");
  assert.deepEqual(await visible(page), ["true"]);
  await choose(page, "All commands", "");

  // Search in what the agent was not shown.
  await search(page, "NEEDLE in");
  assert.equal((await visible(page)).length, 1);
  assert.equal(await page.$eval("article.run:not([hidden]) .line", (line) => line.dataset.number), "3001");
  await search(page, "no such text");
  assert.equal((await visible(page)).length, 0);
  await search(page, "");
  assert.equal((await visible(page)).length, 7);

  // The whole text, with what was shown of it.
  const fold = await page.$("article.run button");
  await fold.click();
  const lines = await page.$$eval("article.run:first-of-type .text .line", (all) => all.map((line) => [line.dataset.number, line.textContent, line.classList.contains("seen")]));
  assert.equal(lines.length, 6001);
  assert.deepEqual([lines[0], lines[6000]], [["1", "1", true], ["6001", "3000", true]]);
  assert.ok(lines.some(([, , seen]) => !seen));
  await fold.click();
  assert.ok(await page.$eval("article.run:first-of-type .text", (text) => text.parentElement.hidden));

  // The recording plays to its end, and can be sought.
  const buttons = await page.$$("article.run:nth-of-type(4) .buttons button");
  await buttons[1].click();
  const screen = () => page.$eval("article.run:nth-of-type(4) .screen", (pre) => pre.textContent.trim());
  await page.select("article.run:nth-of-type(4) .player select", "4");
  await (await page.$("article.run:nth-of-type(4) .player button")).click();
  await page.waitForFunction(() => document.querySelector("article.run:nth-of-type(4) .screen").textContent.includes("end"));
  assert.match(await screen(), /^two *\n *end/);
  assert.deepEqual(await page.$eval("article.run:nth-of-type(4) .screen span", (span) => [span.textContent, getComputedStyle(span).color, getComputedStyle(span).fontWeight]),
    ["two", "rgb(205, 49, 49)", "700"]);
  await page.$eval("article.run:nth-of-type(4) .player input", (input) => { input.value = 0; input.dispatchEvent(new Event("input")); });
  assert.equal(await screen(), "one");
  assert.deepEqual(complaints, []);
  await page.close();

  for (const [name, look] of Object.entries({ light: {}, dark: { dark: true }, phone: { width: 390 } })) {
    const { page, complaints } = await open(path, look);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `${name}: ${wide} pixels too wide`);
    if (pictures) await page.screenshot({ path: join(pictures, `page-${name}.png`) });
    assert.deepEqual(complaints, []);
    await page.close();
  }
}

// Recordings of real tools, cut in their middles: the page's terminal shows what terse's own does.
async function recordings() {
  env.TERSE_SESSION = "recordings";
  const captures = join(import.meta.dirname, "../terminal/captures"), pictures = [];
  for (const name of readdirSync(captures).filter((name) => name.endsWith(".raw") && !name.startsWith("vttest"))) {
    const path = join(captures, name), [cols, rows] = readFileSync(path.replace(/raw$/, "size"), "utf8").split(/\s/);
    await run("--record", "--spill", "always", "--tty", "--cols", cols, "--rows", rows, "--", "head", "-c", String(Math.floor(statSync(path).size * 0.6)), path);
    pictures.push([name, spawnSync(terse, ["snapshot", "last", "--svg", "-"], { env, encoding: "utf8" }).stdout]);
  }
  const { page, complaints } = await open(report("recordings.html"));
  const shown = await page.$$eval("article.run", (all) => all.map((article) => {
    article.querySelectorAll(".buttons button")[1].click();
    const seek = article.querySelector(".player input");
    seek.value = seek.max;
    seek.dispatchEvent(new Event("input"));
    const screen = article.querySelector(".screen");
    return [screen.textContent, [...screen.querySelectorAll("span:not(.cursor)")].map((span) => [span.textContent, getComputedStyle(span).color])];
  }));
  assert.equal(shown.length, pictures.length);
  pictures.forEach(([name, svg], i) => {
    const rows = [], text = (piece) => piece.replace(/&#(\d+);/g, (all, code) => String.fromCodePoint(code));
    const colours = new Set(), hex = (colour) => `#${colour.match(/\d+/g).map((level) => Number(level).toString(16).padStart(2, "0")).join("")}`;
    for (const [, x, y, colour, piece] of svg.matchAll(/<text x="(\d+)" y="(\d+)" textLength="\d+" fill="(#\w+)"[^>]*>([^<]*)</g)) {
      (rows[(y - 21) / 17] ??= []).push(text(piece).replaceAll(" ", ""));
      colours.add(colour);
    }
    assert.equal(shown[i][0].replaceAll(" ", "").trimEnd(), [...rows].map((pieces) => (pieces ?? []).join("")).join("\n").trimEnd(), name);
    for (const [piece, colour] of shown[i][1]) assert.ok(!piece.trim() || colours.has(hex(colour)), `${name}: ${piece} in ${colour}`);
  });
  assert.deepEqual(complaints, []);
  await page.close();
  console.log(`${pictures.length} recordings end as terse has them`);
}

// 1,000 runs, each as one that printed 200 KB; most are copies, which is quicker than to run them.
async function many() {
  env.TERSE_SESSION = "many";
  await run("--", "seq", "-f", "2026-11-22 a line of a log with <words> & number %g", "4200");
  const copy = spawnSync("sh", ["-euc", `
    cd "$TERSE_HOME/sessions/many"; line=$(grep '"terse.run"' journal.jsonl); id=$(printf %s "$line" | sed "s/.*\\"id\\":\\"\\([^\\"]*\\).*/\\1/")
    for i in $(seq 1 999); do
      new=$(printf '%s%03d' "\${id%???}" "$i" )
      for end in txt json shown; do ln "$id.$end" "$new.$end"; done
      printf '%s\\n' "$line" | sed "s/$id/$new/"
    done >more; cat more >>journal.jsonl; rm more`], { env, encoding: "utf8" });
  assert.equal(copy.status, 0, copy.stderr);
  const began = performance.now(), path = report("many.html"), wrote = performance.now() - began, bytes = statSync(path).size;
  const { page, complaints, took } = await open(path);
  assert.equal((await visible(page)).length, 1000);
  console.log(`1,000 runs, 200 MB: ${(bytes / 1048576).toFixed(1)} MB, written in ${wrote.toFixed(0)} ms, opened in ${took.toFixed(0)} ms`);
  assert.ok(bytes <= 20 << 20);
  const searched = performance.now();
  await search(page, "number 4200");
  console.log(`a search through all of it: ${(performance.now() - searched).toFixed(0)} ms, ${(await visible(page)).length} runs`);
  assert.deepEqual(complaints, []);
}

try {
  await session();
  await recordings();
  await many();
  console.log("ok");
} finally {
  await browser.close();
  rmSync(work, { recursive: true });
}
