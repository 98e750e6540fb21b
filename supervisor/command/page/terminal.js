// A terminal, as far as recordings need one: text, cursor, erasing, scrolling, colours, the
// alternate screen. What asks, sounds or sets titles is nothing here.
const PALETTE = ["#000000", "#cd3131", "#0dbc79", "#e5e510", "#2472c8", "#bc3fbc", "#11a8cd", "#e5e5e5",
  "#666666", "#f14c4c", "#23d18b", "#f5f543", "#3b8eea", "#d670d6", "#29b8db", "#ffffff"];
const LINES = "◆▒␉␌␍␊°±␤␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·";
const NONE = {}, PENS = new Map([["{}", NONE]]);
const WIDE = /^[\p{Emoji_Presentation}\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u;
const MARK = /^[\p{Mn}\p{Me}\u200b-\u200d\ufe0f]/u;
const STYLE_ON = { 1: "bold", 2: "faint", 3: "italic", 4: "underline", 7: "inverse", 9: "struck", 21: "underline" };
const STYLE_OFF = { 22: ["bold", "faint"], 23: ["italic"], 24: ["underline"], 27: ["inverse"], 29: ["struck"] };

function paletteColour(n) {
  if (n < 16) return PALETTE[n];
  const hex = (...levels) => `#${levels.map((level) => level.toString(16).padStart(2, "0")).join("")}`;
  if (n >= 232) return hex(...Array(3).fill(8 + (n - 232) * 10));
  const level = (i) => [0, 95, 135, 175, 215, 255][i % 6];
  return hex(level(Math.floor((n - 16) / 36)), level(Math.floor((n - 16) / 6)), level(n - 16));
}

class Terminal {
  constructor(cols, rows) {
    this.reset();
    this.resize(cols, rows);
  }

  reset() {
    this.main = { lines: [], x: 0, y: 0, saved: null };
    this.screen = this.main;
    Object.assign(this, { pen: NONE, rest: "", insert: false, wrap: true, origin: false, newline: false, cursor: true, sets: ["B", "B"], set: 0, last: "" });
    if (this.cols) this.resize(this.cols, this.rows);
  }

  blank() { return Array.from({ length: this.cols }, () => [" ", NONE]); }

  resize(cols, rows) {
    Object.assign(this, { cols, rows, top: 0, bottom: rows - 1 });
    for (const screen of new Set([this.main, this.screen])) {
      screen.lines = screen.lines.map((line) => [...line, ...this.blank()].slice(0, cols));
      // Rows go off at the top if the cursor would be below the last one.
      screen.lines.splice(0, Math.max(0, screen.y + 1 - rows));
      screen.y = Math.min(screen.y, rows - 1);
      screen.lines.length = Math.min(screen.lines.length, rows);
      while (screen.lines.length < rows) screen.lines.push(this.blank());
    }
  }

  feed(data) {
    // What a sequence lacks comes with the next output; one that never ends is dropped.
    const text = this.rest + data, unfinished = /^\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x18\x1a\x1b]{0,65536}\x1b?|[ -/]*)$/;
    const token = /\x1b\[([0-?]*)([ -/]*)([@-~])|\x1b[\]PX^_][^\x07\x18\x1a\x1b]*(?:\x07|\x18|\x1a|\x1b\\|(?=\x1b[^\\]))|\x1b([ -/]*)([0-OQ-WYZ\\`-~])|[\0-\x1f\x7f]|[^\0-\x1f\x7f]+/gy;
    this.rest = "";
    for (const { 0: all, 1: params, 2: between, 3: final, 4: collected, 5: escape, index } of text.matchAll(token)) {
      if (all === "\x1b") {
        if (unfinished.test(text.slice(index))) { this.rest = text.slice(index); return; }
      } else if (final) this.csi(params, between, final);
      else if (escape) this.escape(collected, escape);
      else if (all.length === 1 && all < " ") this.control(all);
      else if (all[0] >= " ") for (const character of all) this.put(character);
    }
  }

  control(c) {
    const s = this.screen;
    if (c === "\r") s.x = 0;
    else if (c === "\n" || c === "\v" || c === "\f") { if (this.newline) s.x = 0; this.index(); }
    else if (c === "\b") s.x = Math.max(0, Math.min(s.x, this.cols - 1) - 1);
    else if (c === "\t") s.x = Math.min(this.cols - 1, (s.x >> 3) * 8 + 8);
    else if (c === "\x0e" || c === "\x0f") this.set = c === "\x0e" ? 1 : 0;
  }

  put(character) {
    const s = this.screen, drawn = this.sets[this.set] === "0" && character >= "`" && character <= "~";
    if (drawn) character = [...LINES][character.charCodeAt(0) - 96];
    if (MARK.test(character) && s.x > 0) {
      const line = s.lines[s.y], at = line[s.x - 1][0] ? s.x - 1 : s.x - 2;
      line[at] = [line[at][0] + character, line[at][1]];
      return;
    }
    const width = WIDE.test(character) ? 2 : 1;
    if (s.x + width > this.cols) {
      if (this.wrap) { s.x = 0; this.index(); } else s.x = this.cols - width;
    }
    const line = s.lines[s.y];
    if (this.insert) line.splice(s.x, 0, ...this.blank().slice(0, width));
    this.clearWide(line, s.x);
    this.clearWide(line, s.x + width);
    line[s.x] = [character, this.pen];
    if (width === 2) line[s.x + 1] = ["", this.pen];
    line.length = this.cols;
    s.x += width;
    this.last = character;
  }

  // Half of a wide character is a blank.
  clearWide(line, x) {
    if (line[x]?.[0] === "") line[x - 1] = line[x] = [" ", NONE];
  }

  index() {
    const s = this.screen;
    if (s.y === this.bottom) this.scroll(this.top, 1);
    else if (s.y < this.rows - 1) s.y++;
  }

  // Rows from `from` to the end of the region move up, or down if `count` is negative.
  scroll(from, count) {
    const { lines } = this.screen;
    for (let n = Math.min(Math.abs(count), this.rows); n > 0; n--) {
      lines.splice(count > 0 ? from : this.bottom, 1);
      lines.splice(count > 0 ? this.bottom : from, 0, this.blank());
    }
  }

  erase(y, from, to) {
    for (let x = from; x < Math.min(to, this.cols); x++) this.screen.lines[y][x] = [" ", NONE];
  }

  move(x, y) {
    const s = this.screen, [top, bottom] = this.origin ? [this.top, this.bottom] : [0, this.rows - 1];
    s.x = Math.max(0, Math.min(x, this.cols - 1));
    s.y = Math.max(top, Math.min(y, bottom));
  }

  save() { this.screen.saved = { x: this.screen.x, y: this.screen.y, pen: this.pen, sets: [...this.sets], set: this.set }; }

  restore() {
    const saved = this.screen.saved ?? { x: 0, y: 0, pen: NONE, sets: ["B", "B"], set: 0 };
    this.move(saved.x, saved.y);
    Object.assign(this, { pen: saved.pen, sets: [...saved.sets], set: saved.set });
  }

  escape(between, final) {
    const s = this.screen;
    if (between === "(" || between === ")") this.sets[between === "(" ? 0 : 1] = final;
    else if (between) return;
    else if (final === "7") this.save();
    else if (final === "8") this.restore();
    else if (final === "c") this.reset();
    else if (final === "D" || final === "E") { if (final === "E") s.x = 0; this.index(); }
    else if (final === "M") { if (s.y === this.top) this.scroll(this.top, -1); else s.y = Math.max(0, s.y - 1); }
  }

  csi(params, between, final) {
    const private_ = params.startsWith("?"), s = this.screen;
    if (between === "!" && final === "p") Object.assign(this, { pen: NONE, insert: false, wrap: true, origin: false, cursor: true, top: 0, bottom: this.rows - 1, sets: ["B", "B"], set: 0 });
    if (between || /^[<=>]/.test(params)) return;
    const numbers = params.replace("?", "").split(/[;:]/).map(Number), n = Math.max(1, numbers[0]), line = s.lines[s.y], x = Math.min(s.x, this.cols - 1);
    const inside = s.y >= this.top && s.y <= this.bottom;
    if (private_ && !"hlJK".includes(final)) return;
    const actions = {
      A: () => this.move(x, Math.max(s.y - n, s.y >= this.top ? this.top : 0)),
      B: () => this.move(x, Math.min(s.y + n, s.y <= this.bottom ? this.bottom : this.rows - 1)),
      C: () => this.move(x + n, s.y),
      D: () => this.move(x - n, s.y),
      E: () => { actions.B(); s.x = 0; },
      F: () => { actions.A(); s.x = 0; },
      G: () => this.move(n - 1, s.y),
      H: () => this.move(Math.max(1, numbers[1] ?? 1) - 1, n - 1 + (this.origin ? this.top : 0)),
      I: () => { for (let i = 0; i < Math.min(n, this.cols); i++) this.control("\t"); },
      J: () => {
        if (numbers[0] === 0) this.erase(s.y, s.x, this.cols);
        if (numbers[0] === 1) this.erase(s.y, 0, s.x + 1);
        for (let y = 0; y < this.rows; y++)
          if ((numbers[0] === 0 && y > s.y) || (numbers[0] === 1 && y < s.y) || numbers[0] === 2) this.erase(y, 0, this.cols);
      },
      K: () => this.erase(s.y, numbers[0] === 0 ? s.x : 0, numbers[0] === 1 ? s.x + 1 : this.cols),
      L: () => { if (inside) { this.scroll(s.y, -n); s.x = 0; } },
      M: () => { if (inside) { this.scroll(s.y, n); s.x = 0; } },
      P: () => { line.splice(x, n); line.push(...this.blank().slice(line.length)); },
      S: () => this.scroll(this.top, n),
      T: () => this.scroll(this.top, -n),
      X: () => this.erase(s.y, x, x + n),
      Z: () => { for (let i = 0; i < Math.min(n, this.cols); i++) s.x = Math.max(0, (Math.ceil(s.x / 8) - 1) * 8); },
      "@": () => { line.splice(x, 0, ...this.blank().slice(0, n)); line.length = this.cols; },
      b: () => { for (let i = 0; this.last && i < Math.min(n, this.cols * this.rows); i++) this.put(this.last); },
      d: () => this.move(x, n - 1 + (this.origin ? this.top : 0)),
      e: () => this.move(x, s.y + n),
      h: () => numbers.forEach((mode) => this.mode(private_, mode, true)),
      l: () => numbers.forEach((mode) => this.mode(private_, mode, false)),
      m: () => this.style(numbers),
      r: () => {
        const bottom = Math.min(numbers[1] || this.rows, this.rows);
        if (bottom > n) { Object.assign(this, { top: n - 1, bottom: bottom - 1 }); this.move(0, this.origin ? this.top : 0); }
      },
      s: () => this.save(),
      u: () => this.restore(),
    };
    Object.assign(actions, { "`": actions.G, a: actions.C, f: actions.H });
    if (Object.hasOwn(actions, final)) actions[final]();
  }

  mode(private_, number, on) {
    if (!private_ && number === 4) this.insert = on;
    else if (!private_ && number === 20) this.newline = on;
    else if (!private_) return;
    else if (number === 6) { this.origin = on; this.move(0, on ? this.top : 0); }
    else if (number === 7) this.wrap = on;
    else if (number === 25) this.cursor = on;
    else if (number === 1048) { if (on) this.save(); else this.restore(); }
    else if (number === 47 || number === 1047 || number === 1049) {
      if (on && number === 1049) this.save();
      const { x, y } = this.screen;
      if (!on) this.screen = this.main;
      else if (this.screen === this.main) this.screen = { lines: Array.from({ length: this.rows }, () => this.blank()), saved: null };
      Object.assign(this.screen, { x, y });
      if (!on && number === 1049) this.restore();
    }
  }

  style(numbers) {
    const pen = { ...this.pen };
    for (let i = 0; i < numbers.length; i++) {
      const n = numbers[i];
      if (n === 0) { for (const name of Object.keys(pen)) delete pen[name]; }
      else if (n === 38 || n === 48) {
        const name = n === 38 ? "ink" : "paper";
        if (numbers[i + 1] === 5 && i + 2 < numbers.length) { pen[name] = paletteColour(numbers[i + 2] & 255); i += 2; }
        else if (numbers[i + 1] === 2 && i + 4 < numbers.length) { pen[name] = `rgb(${numbers.slice(i + 2, i + 5).map((level) => level & 255)})`; i += 4; }
        else break;
      } else if ((n >= 30 && n <= 37) || (n >= 90 && n <= 97)) pen.ink = PALETTE[n < 90 ? n - 30 : n - 82];
      else if ((n >= 40 && n <= 47) || (n >= 100 && n <= 107)) pen.paper = PALETTE[n < 100 ? n - 40 : n - 92];
      else if (n === 39) delete pen.ink;
      else if (n === 49) delete pen.paper;
      else if (STYLE_ON[n]) pen[STYLE_ON[n]] = true;
      else for (const name of STYLE_OFF[n] ?? []) delete pen[name];
    }
    // The same look is the same object.
    const look = JSON.stringify(pen);
    if (!PENS.has(look)) PENS.set(look, pen);
    this.pen = PENS.get(look);
  }

  // What is to be seen, as nodes: down to the last row with something on it.
  paint() {
    const s = this.screen, nodes = [], cursorX = Math.min(s.x, this.cols - 1);
    const used = (line) => line.findLastIndex(([text, pen]) => text !== " " || pen.paper || pen.inverse) + 1;
    const last = Math.max(s.lines.findLastIndex((line) => used(line) > 0), this.cursor ? s.y : -1);
    for (let y = 0; y <= last; y++) {
      const line = s.lines[y], end = Math.max(used(line), this.cursor && y === s.y ? cursorX + 1 : 0);
      for (let x = 0; x < end; ) {
        const [, pen] = line[x], here = this.cursor && y === s.y && x === cursorX;
        let text = "", from = x;
        do text += line[x++][0]; while (x < end && !here && line[x][1] === pen && !(this.cursor && y === s.y && x === cursorX));
        text = text.replace(UNCLEAN, "\ufffd");
        if (here && from === cursorX) nodes.push(make("span.cursor", {}, text || " "));
        else nodes.push(pen === NONE ? text : styled(pen, text));
      }
      nodes.push("\n");
    }
    return nodes;
  }
}

function styled(pen, text) {
  const element = make("span", {}, text), style = element.style, ink = pen.inverse ? pen.paper ?? "#16191d" : pen.ink, paper = pen.inverse ? pen.ink ?? "#d8dee4" : pen.paper;
  if (ink) style.color = ink;
  if (paper) style.backgroundColor = paper;
  if (pen.bold) style.fontWeight = "bold";
  if (pen.faint) style.opacity = 0.65;
  if (pen.italic) style.fontStyle = "italic";
  style.textDecoration = [pen.underline && "underline", pen.struck && "line-through"].filter(Boolean).join(" ");
  return element;
}
