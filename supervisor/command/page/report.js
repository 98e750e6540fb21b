// The page of terse report. Data come from the elements of class facts, r (runs) and t (their texts);
// everything is put into the page as text, never as HTML.
"use strict";

const data = (id) => {
  const element = document.getElementById(id);
  return element ? JSON.parse(element.textContent) : null;
};
const facts = data("facts0");
const runs = [...document.querySelectorAll("script.r")].map((element) => {
  const run = JSON.parse(element.textContent);
  run.number = Number(element.id.slice(1));
  return run;
});

// make("p.soft", {title: "x"}, "text", child)
function make(what, properties, ...children) {
  const [tag, ...classes] = what.split(".");
  const element = document.createElement(tag);
  element.className = classes.join(" ");
  Object.assign(element, properties);
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

function draw(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

// --- numbers, as terse prints them

function size(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  const units = ["KB", "MB", "GB", "TB"];
  let value = bytes / 1024, unit = 0;
  for (; value >= 1023.5 && unit < 3; unit++) value /= 1024;
  return `${value < 99.95 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

const count = (n) => n.toLocaleString("en");

function duration(ms) {
  if (ms < 1000) return `${ms} ms`;
  if (ms < 60000) return `${(ms / 1000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60000);
  return minutes < 60 ? `${minutes} min ${Math.floor(ms / 1000) % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

function clock(ms) {
  const at = new Date(ms), two = (n) => String(n).padStart(2, "0");
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

function result(run) {
  if (run.state === "running") return "runs";
  if (run.timed_out) return "timed out";
  if (run.signal) return String(run.signal);
  if (run.state === "interrupted") return "interrupted";
  return `exit ${run.exit ?? "?"}`;
}

const tone = (run) => (run.state === "running" ? "live" : run.failed ? "bad" : "good");

// --- sums and plots

function tile(value, ...lines) {
  return make("div.tile", {}, make("b", {}, value), ...lines.map((line) => make("span", {}, line)));
}

function tiles() {
  const failed = runs.filter((run) => run.failed).length, live = runs.filter((run) => run.state === "running").length;
  const tokens = (n) => (n > 0 ? [`about ${count(n)} token${n === 1 ? "" : "s"}`] : []);
  // Bytes decide; tokens of the other sign would only confuse.
  const saved = facts.saved >= 0
    ? tile(size(facts.saved), "saved", ...tokens(facts.saved_tokens))
    : tile(size(-facts.saved), "more than the agent's own cut", ...tokens(-facts.saved_tokens));
  return make("div.tiles", {},
    tile(count(runs.length), "runs", `${count(failed)} failed${live ? `, ${count(live)} running` : ""}`),
    tile(size(facts.written), "written for the agent"),
    tile(size(facts.shown[0]), "shown", ...tokens(facts.shown[1])),
    tile(size(facts.read[0]), facts.reads ? `read back in ${count(facts.reads)} ${facts.reads === 1 ? "read or search" : "reads or searches"}` : "read back", ...tokens(facts.read[1])),
    tile(size(facts.own[0]), "the agent's own cut", ...tokens(facts.own[1])),
    saved);
}

const key = () => make("span.soft", {}, make("span.key.key-written", {}, "written"), make("span.key.key-shown", {}, "shown"));

// Bytes of each run in their order, on a logarithmic scale.
function plotOverTime() {
  const width = 400, height = 120, most = Math.log10(Math.max(1000, ...runs.map((run) => run.text_bytes)));
  const y = (bytes) => (bytes > 0 ? (Math.max(0.02, Math.log10(bytes) / most)) * (height - 14) : 0);
  const step = width / Math.max(1, runs.length), svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img", "aria-label": "bytes written and shown by each run" });
  runs.forEach((run, i) => {
    for (const [bytes, name] of [[run.text_bytes, "written"], [run.shown_bytes, "shown"]])
      svg.append(draw("rect", { class: `bar-${name}`, x: (i * step).toFixed(2), width: Math.max(step * 0.85, 0.4).toFixed(2), y: (height - y(bytes)).toFixed(1), height: y(bytes).toFixed(1) }));
  });
  return make("div.plot", {}, make("h2", {}, "Bytes by run ", key()), svg, make("span.soft", {}, `logarithmic; the largest wrote ${size(Math.max(0, ...runs.map((run) => run.text_bytes)))}`));
}

function plotByCommand() {
  const sums = new Map();
  for (const run of runs) {
    const sum = sums.get(run.name) ?? { written: 0, shown: 0, runs: 0 };
    sum.written += run.text_bytes;
    sum.shown += run.shown_bytes;
    sum.runs++;
    sums.set(run.name, sum);
  }
  const top = [...sums].sort((a, b) => b[1].shown - a[1].shown).slice(0, 8), most = Math.max(1, ...top.map(([, sum]) => sum.shown));
  const rows = top.map(([name, sum]) => {
    const bar = make("i.bar-shown", {});
    bar.style.width = `${(100 * sum.shown) / most}%`;
    return make("div.row", {}, make("span.command", { title: name ?? "" }, name ?? "?"), make("span", {}, bar), make("span.soft", {}, `${size(sum.shown)}, ${count(sum.runs)} run${sum.runs === 1 ? "" : "s"}`));
  });
  return make("div.plot", {}, make("h2", {}, "Shown by command"), ...rows);
}

function timeLine() {
  const from = Math.min(...runs.map((run) => run.started)), to = Math.max(...runs.map((run) => run.started + run.duration), from + 1);
  const svg = draw("svg", { class: "times", viewBox: "0 0 1000 40", preserveAspectRatio: "none", role: "img", "aria-label": "runs over time" });
  for (const run of runs) {
    const end = run.state === "running" ? to : run.started + run.duration, x = (1000 * (run.started - from)) / (to - from);
    const bar = draw("rect", { class: `fill-${tone(run)}`, x: x.toFixed(2), width: Math.max(4, (1000 * (end - run.started)) / (to - from)).toFixed(2), y: run.failed ? 0 : 8, height: run.failed ? 40 : 24 }, draw("title", {}));
    bar.firstChild.textContent = `${run.command}\n${result(run)}, ${duration(run.duration)}, ${clock(run.started)}`;
    bar.addEventListener("click", () => run.element.scrollIntoView({ block: "start" }));
    svg.append(bar);
  }
  return make("div.plot", {}, make("h2", {}, "Time line "), svg, make("span.soft", {}, `${clock(from)} to ${clock(to)}, ${duration(to - from)}; high bars failed`));
}

// --- one run

// Text with the matches of the search marked.
function marked(text, wanted) {
  const parts = document.createDocumentFragment();
  const low = wanted ? text.toLowerCase() : "";
  let at = 0;
  // Lower case may have another length in a few scripts; then nothing is marked.
  for (let found; wanted && low.length === text.length && (found = low.indexOf(wanted, at)) >= 0; at = found + wanted.length)
    parts.append(text.slice(at, found), make("mark", {}, text.slice(found, found + wanted.length)));
  parts.append(text.slice(at));
  return parts;
}

// A text as [[number, line, seen]...]; a number of 0 is a remark.
function linesOf(text) {
  const seen = (number) => (text.ranges ?? []).some(([from, to]) => number >= from && number <= to);
  const split = (part, first) => {
    const lines = part.split("\n");
    if (lines.at(-1) === "") lines.pop();
    return lines.map((line, i) => [first + i, line, seen(first + i)]);
  };
  const head = split(text.head, 1);
  if (text.tail === undefined) return head;
  const left = text.tail_from - head.length - 1;
  return [...head, [0, `[... ${left > 0 ? `${count(left)} lines` : "a part of a line"} not in this page]`, false], ...split(text.tail, text.tail_from)];
}

function numbered(label, line, seen) {
  const element = make(seen ? "span.line.seen" : "span.line", {}, marked(line, search.value.toLowerCase()));
  element.dataset.number = label;
  return element;
}

const textsOf = (run) => (run.loaded ??= data(`t${run.number}`) ?? { texts: [] });

function showTexts(run, box) {
  const loaded = textsOf(run), parts = [];
  if (loaded.texts.some((text) => text.ranges?.length > 0)) parts.push(make("div.facts", {}, "Shaded: what the agent was shown."));
  for (const text of loaded.texts) {
    if (loaded.texts.length > 1 || text.name !== "stdout") parts.push(make("div.facts", {}, text.name));
    const body = make("div.text", {});
    for (const [number, line, seen] of linesOf(text)) {
      if (!number) body.append(make("div.note", {}, line));
      else body.append(numbered(number, line, seen));
    }
    parts.push(body);
  }
  if (parts.length === 0) parts.push(make("div.note", {}, `The text is not in this page: terse read ${run.id}`));
  box.replaceChildren(...parts);
}

// --- recordings

// Text in the colours of a terminal: [ink, paper, attributes], see html.h.
function styled([ink, paper, attributes], text) {
  const element = make("span", {}, text), style = element.style, hex = (n) => `#${n.toString(16).padStart(6, "0")}`;
  if (ink !== null) style.color = hex(ink);
  if (paper !== null) style.backgroundColor = hex(paper);
  if (attributes & 1) style.fontWeight = "bold";
  if (attributes & 2) style.opacity = 0.65;
  if (attributes & 4) style.fontStyle = "italic";
  if (attributes & (8 | 32)) style.textDecoration = attributes & 8 ? "underline" : "line-through";
  return element;
}

function player(run, recording) {
  const frames = recording.frames, screen = make("pre.screen", {}), seek = make("input", { type: "range", min: 0, max: frames.length - 1, value: 0, ariaLabel: "position" });
  const button = make("button", { type: "button" }, "Play"), speed = make("select", { ariaLabel: "speed" });
  for (const n of [0.5, 1, 2, 4, 16]) speed.append(make("option", { value: n, selected: n === 1 }, `${n}×`));
  const at = make("span.soft", {}), rows = Array(recording.rows).fill([]);
  let now = -1, timer = 0;
  const apply = (frame) => frame[3].forEach(([row, ...pieces]) => { rows[row] = pieces.map((piece) => (typeof piece === "string" ? [null, piece] : piece)); });
  const paint = ([style, text]) => (style === null ? text : styled(recording.styles[style], text));
  const show = (index) => {
    if (index < now) { rows.fill([]); now = -1; }
    while (now < index) apply(frames[++now]);
    const [ms, row, col] = frames[now], last = Math.max(rows.findLastIndex((pieces) => pieces.length > 0), row - 1);
    const parts = rows.slice(0, last + 1).flatMap((pieces, i) => {
      if (i !== row - 1) return [...pieces.map(paint), "\n"];
      const cells = pieces.flatMap(([style, text]) => [...text].map((character) => [style, character]));
      while (cells.length < col) cells.push([null, " "]);
      return [...cells.slice(0, col - 1).map(paint), make("span.cursor", {}, cells[col - 1][1]), ...cells.slice(col).map(paint), "\n"];
    });
    screen.replaceChildren(...parts);
    seek.value = now;
    at.textContent = `${duration(ms)} of ${duration(frames.at(-1)[0])}${recording.cut ? ", cut" : ""}`;
  };
  const stop = () => { clearTimeout(timer); timer = 0; button.textContent = "Play"; };
  const step = () => {
    show(now + 1);
    if (now + 1 < frames.length) timer = setTimeout(step, (frames[now + 1][0] - frames[now][0]) / speed.value);
    else stop();
  };
  button.addEventListener("click", () => {
    if (timer) return stop();
    if (now + 1 >= frames.length) show(0);
    button.textContent = "Pause";
    timer = setTimeout(step, 0);
  });
  seek.addEventListener("input", () => { stop(); show(Number(seek.value)); });
  show(0);
  return make("div", {}, screen, make("div.buttons.player", {}, button, seek, speed, at));
}

// What the agent was shown, or why that is not here.
function shownOf(run) {
  if (run.shown !== null)
    return [make("pre", {}, run.shown), run.shown_cut ? make("div.note", {}, `${size(run.shown_cut)} more were shown; they are not in this page`) : null];
  const note = run.state === "running" ? "runs now: not ended when this page was written"
    : run.shown_bytes > 0 && !run.id ? `printed whole, ${size(run.shown_bytes)}, not kept`
    : run.shown_bytes > 0 ? `${size(run.shown_bytes)} were printed; they are not in this page`
    : "an agent was shown nothing of it";
  return [make("div.note", {}, note)];
}

function toggle(label, box, open) {
  const button = make("button", { type: "button", ariaExpanded: "false" }, label);
  button.addEventListener("click", () => {
    const opens = box.hidden;
    if (opens) open();
    box.hidden = !opens;
    button.ariaExpanded = String(opens);
  });
  return button;
}

function article(run) {
  const buttons = make("div.buttons", {}), boxes = [];
  const link = run.path ? make("a", { href: "file://" + run.path.split("/").map(encodeURIComponent).join("/") }, run.id) : null;
  const add = (label, open) => {
    const box = make("div", { hidden: true });
    boxes.push(box);
    buttons.append(toggle(label, box, () => open(box)));
    return box;
  };
  if (document.getElementById(`t${run.number}`)) {
    run.box = add(`Whole text, ${size(run.text_bytes)}`, (box) => showTexts(run, box));
    if (document.getElementById(`t${run.number}`).textContent.includes('"recording":'))
      add("Recording", (box) => { if (!box.firstChild) box.append(player(run, textsOf(run).recording)); });
  }
  const about = [clock(run.started), run.cwd, run.profile && `profile ${run.profile}`, run.agent,
    run.shown_bytes > 0 && `${size(run.shown_bytes)} shown (about ${count(run.tokens)} tokens) of ${size(run.text_bytes)}`].filter(Boolean).join("  ·  ");
  run.hits = make("div", { hidden: true });
  run.element = make(`article.run.${tone(run)}-run`, {},
    make("header", {}, make("span.command", {}, run.command), make(`span.${tone(run)}`, {}, result(run)), make("span.soft", {}, run.state === "running" ? `since ${duration(Math.max(0, facts.written_ms - run.started))}` : duration(run.duration))),
    make("div.facts", {}, about, link ? "  ·  " : null, link), run.hits, ...shownOf(run).filter(Boolean), buttons.firstChild ? buttons : null, ...boxes);
  run.element.dataset.number = run.number;
  return run.element;
}

// --- search and filters

const search = make("input", { type: "search", placeholder: "Search all texts", ariaLabel: "Search all texts" });
const choices = (label, values) => {
  const list = make("select", { ariaLabel: label });
  list.append(make("option", { value: "" }, label), ...values.map((value) => make("option", { value }, value)));
  list.addEventListener("change", filter);
  return list;
};
const names = (field) => [...new Set(runs.map((run) => run[field]).filter(Boolean))].sort();
const byResult = choices("All results", ["failed", "succeeded", "running"]);
const byCommand = choices("All commands", names("name")), byProfile = choices("All profiles", names("profile"));
const found = make("span.soft", { role: "status" });

const HITS = 5;

// The first lines of a run that match, as [[label, line]...]; none: it does not match.
function hitsOf(run, wanted) {
  const hits = [], add = (label, line) => hits.length < HITS && line.toLowerCase().includes(wanted) && hits.push([label, line]);
  add("command", run.command);
  for (const text of textsOf(run).texts)
    if (`${text.head}\n${text.tail ?? ""}`.toLowerCase().includes(wanted))
      for (const [number, line] of linesOf(text)) if (number) add(number, line);
  if (run.shown && textsOf(run).texts.length === 0) for (const line of run.shown.split("\n")) add("shown", line);
  return hits;
}

function filter() {
  const wanted = search.value.toLowerCase();
  let left = 0;
  for (const run of runs) {
    const right = { failed: run.failed, succeeded: !run.failed && run.state !== "running", running: run.state === "running" };
    let fits = (!byResult.value || right[byResult.value]) && (!byCommand.value || run.name === byCommand.value) && (!byProfile.value || run.profile === byProfile.value);
    const hits = fits && wanted ? hitsOf(run, wanted) : [];
    if (wanted && hits.length === 0) fits = false;
    run.element.hidden = !fits;
    left += fits;
    run.hits.hidden = hits.length === 0;
    run.hits.replaceChildren(...hits.map(([label, line]) => numbered(label, line.slice(0, 400), false)));
    if (run.box && !run.box.hidden) showTexts(run, run.box);
  }
  found.textContent = `${count(left)} of ${count(runs.length)} runs`;
}

let waiting = 0;
search.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(filter, 150); });
search.addEventListener("change", filter);

// --- the page

const page = document.getElementById("page");
page.append(make("header", {}, make("h1", {}, facts.session),
  make("span.soft", {}, `what an agent did, written ${clock(facts.written_ms)} by terse; tokens are estimates${facts.older ? `; the newest ${count(runs.length)} runs, ${count(facts.older)} older ones are left out` : ""}`)));
if (runs.length > 0) {
  page.append(tiles(), make("div.plots", {}, timeLine(), plotOverTime(), plotByCommand()));
  page.append(make("div.tools", {}, search, byResult, byCommand, byProfile, found), ...runs.map(article));
  filter();
} else {
  page.append(make("p.soft", {}, "No runs."));
}
