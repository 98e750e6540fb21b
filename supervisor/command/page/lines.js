// A view of lines, of which only those are in the page that are to be seen. It shows spans: lines of a
// text, {name, first, lines}, in which `kind` is how they stand out, or one row that is no line,
// {row: () => element, text}.

const LINE_HEIGHT = 19, TALLEST = 8e6, LONG = 2000, PRINTED = 3000;
const FULL_WIDTH = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1f300}-\u{1f9ff}\u{20000}-\u{3fffd}]/gu;

class LinesView {
  // `about`: {label, key, isSeen(name, n), colours(name, n), online(name, n, extends)}
  constructor(about) {
    Object.assign(this, about, { spans: [], starts: [0], tops: new Float64Array(1), wanted: null, chosen: null, all: false });
    this.body = make("div.lines-body", {});
    this.space = make("div.lines-space", {}, this.body);
    this.element = make("div.lines", { tabIndex: 0, role: "region", ariaLabel: about.label, onscroll: () => { this.draw(); this.onscroll?.(); } }, this.space);
    this.ruler = make("canvas.ruler", { ariaHidden: "true", onclick: (event) => this.toRow(this.rowAt((event.offsetY / this.ruler.clientHeight) * this.tops.at(-1))) });
    this.frame = make("div.lines-frame", {}, this.element, this.ruler);
    new ResizeObserver(() => { if (this.element.clientWidth !== this.width) this.measure(); this.draw(); this.drawRuler(); }).observe(this.element);
  }

  show(spans) {
    this.spans = spans;
    this.starts = [0];
    for (const span of spans) this.starts.push(this.starts.at(-1) + (span.lines?.length ?? 1));
    this.measure();
    this.draw();
    this.drawRuler();
  }

  get rows() { return this.starts.at(-1); }

  // The span of a row, and which of its lines that is.
  at(row) {
    let low = 0, high = this.spans.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.starts[middle] <= row) low = middle;
      else high = middle - 1;
    }
    return [this.spans[low], row - this.starts[low]];
  }

  // How high rows are, as far as their characters tell: a line breaks anywhere.
  measure() {
    const probe = make("span.probe", {}, "0".repeat(100));
    this.body.append(probe);
    this.width = this.element.clientWidth;
    const cell = probe.getBoundingClientRect().width / 100 || 8, gutter = parseFloat(getComputedStyle(this.element).getPropertyValue("--gutter")) || 70;
    probe.remove();
    this.columns = Math.max(10, Math.floor((this.width - gutter) / cell));
    this.tops = new Float64Array(this.rows + 1);
    let row = 0, top = 0;
    for (const span of this.spans) {
      for (let k = 0; k < (span.lines?.length ?? 1); k++) {
        top += span.lines ? this.heightOf(span.lines[k], span.opened?.has(k)) : span.height ?? this.heightOf(span.text ?? "", false) + 6;
        this.tops[++row] = top;
      }
    }
    this.scale = Math.max(1, top / TALLEST);
    this.space.style.height = `${Math.ceil(top / this.scale)}px`;
  }

  heightOf(line, isOpen) {
    let cells = isOpen ? line.length : Math.min(line.length, LONG);
    if (cells <= this.columns / 2) return LINE_HEIGHT;
    if (/[^ -~]/.test(line.slice(0, 4000))) cells += (line.slice(0, cells).match(FULL_WIDTH)?.length ?? 0) + 7 * (line.slice(0, cells).match(/\t/g)?.length ?? 0);
    return LINE_HEIGHT * Math.max(1, Math.ceil(cells / this.columns)) + (line.length > LONG && !isOpen ? LINE_HEIGHT : 0);
  }

  // The last row that begins at or above this height.
  rowAt(top) {
    let low = 0, high = Math.max(0, this.rows - 1);
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.tops[middle] <= top) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  draw() {
    const { scrollTop, clientHeight } = this.element, top = scrollTop * this.scale;
    const first = this.all ? 0 : Math.max(0, this.rowAt(top) - 8), last = this.all ? Math.min(this.rows, PRINTED) : Math.min(this.rows, this.rowAt(top + clientHeight) + 9);
    const nodes = [];
    for (let row = first; row < last; row++) nodes.push(this.drawRow(row));
    if (this.all && last < this.rows) nodes.push(make("div.note", {}, `${some(this.rows - last, "more line")} not printed`));
    this.body.style.transform = `translateY(${this.all ? 0 : scrollTop - (top - this.tops[first])}px)`;
    this.body.replaceChildren(...nodes);
  }

  drawRow(row) {
    const [span, k] = this.at(row);
    if (!span.lines) return span.row ? span.row() : make("div.note", {}, `[... ${span.remark}]`);
    const line = span.lines[k], n = span.first > 0 ? span.first + k : span.numbers?.[k] ?? 0, element = make("div.line", {});
    const add = (name, on) => on && element.classList.add(name);
    add(span.kind, span.kind);
    const isSeen = n && this.isSeen?.(span.name, n);
    add("seen", isSeen);
    add("chosen", n && this.chosen && this.chosen.name === span.name && n >= this.chosen.from && n <= this.chosen.to);
    add("current", row === this.currentRow);
    element.append(n ? make("a.number", { href: `#${this.key}:${span.name === "stderr" ? "e" : ""}${n}`, onclick: (event) => { event.preventDefault(); this.online?.(span.name, n, event.shiftKey); }, ariaLabel: `line ${n}${isSeen ? ", shown" : ""}` }, String(n)) : make("span.number", {}, span.sign ?? ""));
    const isCut = line.length > LONG && !span.opened?.has(k) && !(this.all && line.length < 4 * LONG);
    const code = make("span.code", {}, ...this.styledPieces(isCut ? line.slice(0, LONG) : line, n ? this.colours?.(span.name, n) : null));
    if (isCut)
      code.append(make("button.more", { type: "button", onclick: () => { (span.opened ??= new Set()).add(k); this.measure(); this.draw(); } }, `… ${some(line.length - LONG, "more character")}`));
    element.append(code, "\n");
    return element;
  }

  // A line with its colours and the matches of the search.
  styledPieces(line, colours) {
    const found = matches(this.wanted, line), pieces = [];
    let at = 0, hit = 0;
    for (const [text, pen] of colours ?? [[line, null]]) {
      const part = text.slice(0, line.length - at), end = at + part.length;
      for (let from = at; from < end; ) {
        while (hit < found.length && found[hit][1] <= from) hit++;
        const [begin, stop] = found[hit] ?? [end, end], inside = from >= begin, to = Math.min(end, inside ? stop : begin);
        let piece = line.slice(from, to);
        if (inside) piece = make("mark", {}, piece);
        pieces.push(pen && Object.keys(pen).length > 0 ? themed(pen, piece) : piece);
        from = to;
      }
      at = end;
    }
    return pieces;
  }

  // Where in the text marks are: what was shown, what was found.
  drawRuler() {
    const { clientWidth: width, clientHeight: height } = this.ruler, context = this.ruler.getContext("2d"), style = getComputedStyle(document.documentElement);
    if (!width || !height) return;
    this.ruler.width = width;
    this.ruler.height = height;
    const total = Math.max(1, this.tops.at(-1)), paint = (row, rows, colour, x, wide) => {
      context.fillStyle = style.getPropertyValue(colour);
      context.fillRect(x, (this.tops[row] / total) * height, wide, Math.max(2, ((this.tops[row + rows] - this.tops[row]) / total) * height));
    };
    this.spans.forEach((span, index) => {
      if (!span.lines) return;
      if (span.kind === "gone" || span.kind === "new") paint(this.starts[index], span.lines.length, span.kind === "new" ? "--good" : "--bad", 0, width);
      for (const [from, to] of this.seenRanges?.(span.name) ?? []) {
        const begin = Math.max(from, span.first), end = Math.min(to, span.first + span.lines.length - 1);
        if (span.first > 0 && end >= begin) paint(this.starts[index] + begin - span.first, end - begin + 1, "--shown", 0, width / 2);
      }
    });
    for (const row of this.hits ?? []) paint(row, 1, "--found", width / 2, width / 2);
  }

  // The rows that match, the first 100,000 of them; without a search those where changes begin.
  find(wanted) {
    const isChange = ({ kind }) => kind === "gone" || kind === "new";
    this.wanted = wanted;
    this.hits = wanted ? [] : this.starts.filter((row, index) => this.spans[index] && isChange(this.spans[index]) && !(index > 0 && isChange(this.spans[index - 1])));
    for (let index = 0; wanted && index < this.spans.length; index++) {
      const { lines } = this.spans[index];
      for (let k = 0; lines && k < lines.length && this.hits.length < 100000; k++) {
        wanted.lastIndex = 0;
        if (wanted.test(lines[k])) this.hits.push(this.starts[index] + k);
      }
    }
    this.draw();
    this.drawRuler();
    return this.hits;
  }

  toRow(row, ratio = 0.3) {
    this.element.scrollTop = Math.max(0, this.tops[Math.max(0, Math.min(row, this.rows))] - this.element.clientHeight * ratio) / this.scale;
    this.draw();
  }

  get topRow() { return this.rowAt(this.element.scrollTop * this.scale); }

  get isAtEnd() { return this.element.scrollTop + this.element.clientHeight >= this.element.scrollHeight - 4; }

  // The row of a line; -1: it is not here.
  rowOf(name, n) {
    return this.spans.reduce((row, span, index) => (row < 0 && span.lines && span.name === name && span.first > 0 && n >= span.first && n < span.first + span.lines.length ? this.starts[index] + n - span.first : row), -1);
  }
}

// --- colours of a text

// The sixteen colours of a terminal are those of the page's theme.
function themed(pen, piece) {
  const element = styled({ ...pen, ink: undefined, paper: undefined }, piece), [ink, paper] = pen.inverse ? [pen.paper ?? "var(--paper)", pen.ink ?? "var(--ink)"] : [pen.ink, pen.paper];
  const colour = (value) => (PALETTE.includes(value) ? `var(--ansi-${PALETTE.indexOf(value)})` : value);
  element.style.color = ink ? colour(ink) : "";
  element.style.backgroundColor = paper ? colour(paper) : "";
  return element;
}

// What the command wrote itself, as pieces [[text, pen]...] for each line of its text that stands
// there as it is. Lines that were redrawn have none.
function readColours(written, spans) {
  const found = new Map(), pens = new Terminal(2, 2), raw = written.split("\n");
  if (!written.includes("\x1b[")) return found;
  let at = 0;
  const next = (line) => {
    const pieces = [];
    let plain = "";
    for (const [, params, text] of line.replace(/\r+$/, "").matchAll(/\x1b\[([\d;:]*)m|((?:[^\x1b]|\x1b(?!\[[\d;:]*m))+)/g)) {
      if (text === undefined) pens.style(params.split(/[;:]/).map(Number));
      else { plain += text; pieces.push([text, pens.pen]); }
    }
    return { plain, pieces };
  };
  const heads = [];
  for (const { name, first, lines } of spans.filter((span) => span.lines)) {
    lines.forEach((line, k) => {
      for (let ahead = 0; ahead < 40 && at + ahead < raw.length; ahead++) {
        heads[at + ahead] ??= next(raw[at + ahead]);
        if (heads[at + ahead].plain !== line) continue;
        const { pieces } = heads[at + ahead];
        if (pieces.some(([, pen]) => pen !== NONE)) found.set(`${name}:${first + k}`, pieces);
        at += ahead + 1;
        return;
      }
    });
  }
  return found;
}
