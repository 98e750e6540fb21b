// The page of terse report. What others wrote comes into the page as text, never as HTML, and through
// clean() alone.

// What does more than to be seen.
const UNCLEAN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069\u2028\u2029\ufeff\u{e0000}-\u{e007f}\ud800-\udfff]/gu;
const clean = (text) => String(text).replace(UNCLEAN, "\ufffd");

// make("p.soft", {title: "x"}, "text", child)
function make(what, properties, ...children) {
  const [tag, ...classes] = what.split(".");
  const element = document.createElement(tag);
  if (classes.length > 0) element.className = classes.join(" ");
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element[name] = typeof value === "string" ? clean(value) : value;
  }
  for (const child of children.flat(Infinity))
    if (child !== null && child !== undefined && child !== false) element.append(child instanceof Node ? child : clean(child));
  return element;
}

const button = (label, title, onclick) => make("button", { type: "button", title, onclick }, label);

// --- numbers, as terse prints them

function size(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  const units = ["KB", "MB", "GB", "TB"];
  let value = bytes / 1024, unit = 0;
  for (; value >= 1023.5 && unit < 3; unit++) value /= 1024;
  return `${value < 99.95 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

const count = (n) => n.toLocaleString("en");
const some = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;

function duration(ms) {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60000) return `${(ms / 1000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60000);
  if (minutes < 60) return `${minutes} min ${Math.floor(ms / 1000) % 60} s`;
  return minutes < 2880 ? `${Math.floor(minutes / 60)} h ${minutes % 60} min` : `${Math.floor(minutes / 1440)} d ${Math.floor(minutes / 60) % 24} h`;
}

// An estimate has no more than three digits that mean something.
const about = (n) => count(n < 1000 ? n : Number(n.toPrecision(3)));

const two = (n) => String(n).padStart(2, "0");

function time(ms) {
  const at = new Date(ms);
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

function day(ms) {
  const at = new Date(ms);
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

const clock = (ms) => `${day(ms)} ${time(ms)}`;

// --- what is searched for: words, or /an expression/

function pattern(wanted) {
  const expression = /^\/(.+?)\/?$/.exec(wanted);
  try {
    return wanted ? new RegExp(expression ? expression[1] : wanted.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), "gim") : null;
  } catch {
    return null;
  }
}

// Where it matches a line, as [[from, to]...] of at most so many.
function matches(wanted, line, most = 200) {
  const found = [];
  if (!wanted) return found;
  wanted.lastIndex = 0;
  for (let match; found.length < most && (match = wanted.exec(line)); )
    if (match[0]) found.push([match.index, match.index + match[0].length]);
    else wanted.lastIndex++;
  return found;
}

async function copy(text, said) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Without the right to it, as some browsers see a file.
    const area = make("textarea", { value: text });
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  say(said);
}
