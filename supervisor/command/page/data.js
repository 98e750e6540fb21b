// What the page has: facts and runs, and their texts as parts of one stream of bytes, which are
// unpacked when a text is looked at.

const PARTS_KEPT = 32;
const parsed = new Promise((done) => (document.readyState === "loading" ? addEventListener("DOMContentLoaded", done) : done()));
const parts = { elements: null, from: [], kept: new Map() };

async function unpack(element) {
  const packed = atob(element.textContent), bytes = new Uint8Array(packed.length);
  for (let i = 0; i < packed.length; i++) bytes[i] = packed.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function partOf(index) {
  const kept = parts.kept.get(index) ?? unpack(parts.elements[index]);
  // The one used last is the newest.
  parts.kept.delete(index);
  parts.kept.set(index, kept);
  if (parts.kept.size > PARTS_KEPT) parts.kept.delete(parts.kept.keys().next().value);
  return kept;
}

async function textOf(from, to) {
  await parsed;
  if (!parts.elements) {
    parts.elements = document.querySelectorAll("script.part");
    parts.from = [...parts.elements].map((element) => Number(element.dataset.from));
  }
  const decoder = new TextDecoder();
  let index = parts.from.findLastIndex((at) => at <= from), text = "";
  for (let at = from; at < to; index++) {
    const bytes = await partOf(index), begin = at - parts.from[index];
    const piece = bytes.subarray(begin, begin + to - at);
    if (piece.length === 0) break;
    at += piece.length;
    text += decoder.decode(piece, { stream: at < to });
  }
  return text;
}

const STREAMS = ["stdout", "stderr"];

// A text of a run as spans [{name, first, lines}...]; one with a remark tells what is not there.
async function readText(run, name) {
  const text = run[name], spans = [];
  for (const piece of text?.pieces ?? []) {
    if (typeof piece === "string") {
      spans.push({ name, remark: piece });
      continue;
    }
    const [first, from, to] = piece, lines = (await textOf(from, to)).split("\n");
    if (lines.at(-1) === "") lines.pop();
    if (first > 0) {
      spans.push({ name, first, lines });
      continue;
    }
    // Both ends of a long text are cut anywhere: whole lines of them, unless there is none.
    const before = spans.at(-1);
    if (before?.lines.length > 1) before.lines.pop();
    if (lines.length > 1) lines.shift();
    const at = Math.max(1, text.lines + 1 - lines.length), left = at - 1 - (before ? before.first + before.lines.length - 1 : 0);
    if (left > 0) spans.push({ name, remark: `${some(left, "line")} not in this page` });
    spans.push({ name, first: at, lines });
  }
  return spans;
}

async function readString(run, name) {
  const piece = run[name]?.pieces?.find(Array.isArray);
  return piece ? textOf(piece[1], piece[2]) : null;
}

// What was printed of a run, behind a line of JSON with the lines of each text that it had. Others
// may have written it.
async function readShown(run) {
  const file = await readString(run, "shown"), end = file?.indexOf("\n") ?? -1;
  try {
    const ranges = JSON.parse(file.slice(0, Math.max(0, end)));
    // All lines, and as many bytes as they have: the text as it is, which is not there again.
    const isWhole = ranges.bytes === run.text_bytes && JSON.stringify(ranges.stdout) === JSON.stringify([[1, run.stdout?.lines]]);
    return { ranges, isWhole, text: isWhole ? null : file.slice(end + 1) };
  } catch {
    return null;
  }
}

// A command as terse list has it: the string of a shell, else words, in quotes where they need some.
function commandLine(words, cut) {
  const isString = words.length === 3 && words[1] === "-c" && /^\/.*sh$/.test(words[0]);
  const quoted = (word) => (words.length === 1 || /^[\w@%+=:,./\u0080-\u{10ffff}-]+$/u.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
  return (isString ? words[2] : words.map(quoted).join(" ")) + (cut ? " ..." : "");
}

// Reads the index: facts, and all runs in the order of their starts.
async function readIndex() {
  const facts = JSON.parse(new TextDecoder().decode(await unpack(document.querySelector("script.index"))));
  const names = new Map();
  const runs = facts.list.map((run) => {
    const words = run.command ?? [], key = words.join("\0"), command = commandLine(words, run.command_cut), started = Date.parse(run.started) || 0, lives = run.state === "running";
    const took = run.duration_ms ?? (lives ? Math.max(0, facts.written_ms - started) : 0);
    const waits = run.waits && { ...run.waits, from: Date.parse(run.waits.started), to: Date.parse(run.waits.ended ?? "") || started + took };
    if (waits && !run.waits.ended) waits.duration_ms = Math.max(0, waits.to - waits.from);
    if (!names.has(key)) names.set(key, nameOf(words));
    return {
      ...run, command, started, took, lives, waits, ended: started + took, failed: !lives && !run.success, name: names.get(key),
      label: (shellString(words) ?? command).replace(/\s+/g, " ").trim() || "(no command)", same: JSON.stringify([run.command, run.cwd]),
    };
  }).sort((a, b) => a.started - b.started);
  // A run without an ID has its place for one.
  const last = new Map();
  runs.forEach((run, index) => {
    run.key = run.id ?? `run-${index + 1}`;
    run.before = last.get(run.same) ?? null;
    last.set(run.same, run);
  });
  delete facts.list;
  return { facts, runs };
}

function result(run) {
  if (run.lives) return run.waits ? "waits" : "runs";
  if (run.timed_out) return "timed out";
  if (run.signal) return String(run.signal);
  if (run.state === "interrupted") return "interrupted";
  return `exit ${run.exit_code ?? "?"}`;
}

// How it waited for somebody to type: "asked "Go on? [y/N]", waited 3 times, 5.0 s in all".
function waited({ waits }) {
  const how = waits.ended ? `waited ${waits.count > 1 ? `${count(waits.count)} times, ` : ""}${duration(waits.duration_ms)}${waits.count > 1 ? " in all" : ""}` : `waits for input since ${duration(waits.duration_ms)}`;
  return waits.question?.trim() ? `asked “${waits.question.trim()}”, ${how}` : how;
}

const tone = (run) => (run.lives ? "live" : run.failed ? "bad" : "good");
const SIGNS = { good: "✓", bad: "✗", live: "●" };
