// The time line: runs as bars in lanes, so that those that ran at the same time stand beside each
// other. Long pauses between runs are folded. It can be zoomed and moved.

const LANES = 10, PAUSE = 30000, PAUSE_WIDTH = 0.02;

// Round times on the axis, in ms.
const SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE;
const ROUND = [1, 2, 5, 10, 20, 50, 100, 200, 500, ...[1, 2, 5, 10, 15, 30].map((n) => n * SECOND), ...[1, 2, 5, 10, 15, 30].map((n) => n * MINUTE),
  ...[1, 2, 3, 6, 12, 24].map((n) => n * HOUR)];

class TimeLine {
  // `onchoose(run)`, `onzoom(from, to)`; both null: all of it
  constructor(runs, { onchoose, onzoom }) {
    Object.assign(this, { runs, onchoose, onzoom, shown: new Set(runs), chosen: null, unfolded: false });
    this.assign();
    this.fold();
    this.canvas = make("canvas", { role: "img", ariaLabel: "Time line of the runs; the list has the same runs" });
    this.tip = make("div.tip", { hidden: true, ariaHidden: "true" });
    this.legend = make("span.soft", {});
    this.reset = button("Whole time", "show the whole time (0)", () => this.zoom(null));
    this.folds = button("Show pauses", "give long pauses their true length", () => { this.unfolded = !this.unfolded; this.folds.textContent = this.unfolded ? "Fold pauses" : "Show pauses"; this.fold(); this.draw(); });
    const zoom = (sign, label, key, factor) => Object.assign(button(sign, `${label} (${key})`, () => this.zoomBy(factor)), { ariaLabel: label });
    this.element = make("section.time-line", { ariaLabel: "Time line" }, make("div.time-canvas", {}, this.canvas, this.tip),
      make("div.time-tools", {}, this.legend, zoom("−", "zoom out", "-", 2), zoom("+", "zoom in", "+", 0.5), this.pauses.length > 0 && this.folds, this.reset));
    this.listen();
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  // The first lane that is free; of very many the one that is free first.
  assign() {
    const free = [];
    for (const run of this.runs) {
      let lane = free.findIndex((until) => until <= run.started);
      if (lane < 0) lane = free.length < LANES ? free.length : free.indexOf(Math.min(...free));
      free[lane] = Math.max(free[lane] ?? 0, run.ended);
      run.lane = lane;
    }
    this.lanes = Math.max(1, free.length);
  }

  // Pieces of time [[at, place]...]: places grow from 0 to 1, and little in a pause.
  fold() {
    const from = this.runs[0]?.started ?? 0, to = Math.max(from + 1000, ...this.lastEnds());
    this.pauses = [];
    let until = from, busy = 0;
    for (const run of this.runs) {
      if (run.started - until > PAUSE) this.pauses.push([until, run.started]);
      until = Math.max(until, run.ended);
    }
    // Only what is long beside what was done is worth a fold.
    busy = to - from - this.pauses.reduce((sum, [a, b]) => sum + b - a, 0);
    this.pauses = this.pauses.filter(([a, b]) => b - a > busy * PAUSE_WIDTH * 2);
    const folded = this.unfolded ? [] : this.pauses, wide = Math.min(PAUSE_WIDTH, 0.3 / Math.max(1, folded.length));
    const rest = to - from - folded.reduce((sum, [a, b]) => sum + b - a, 0), room = 1 - wide * folded.length;
    this.pieces = [[from, 0]];
    let at = from, place = 0;
    for (const [a, b] of folded) {
      place += ((a - at) / rest) * room;
      this.pieces.push([a, place], [b, (place += wide)]);
      at = b;
    }
    this.pieces.push([to, 1]);
    for (const run of this.runs) run.places = [this.translate(run.started, 0, 1), this.translate(run.ended, 0, 1)];
    this.view ??= [0, 1];
  }

  // 20,000 are too many for the arguments of Math.max.
  lastEnds() {
    return [this.runs.reduce((last, run) => Math.max(last, run.ended), 0)];
  }

  translate(value, from, to) {
    const index = Math.max(1, this.pieces.findIndex((piece) => piece[from] >= value)), b = this.pieces[index] ?? this.pieces.at(-1), a = this.pieces[this.pieces.indexOf(b) - 1];
    return b[from] === a[from] ? a[to] : a[to] + ((Math.min(value, b[from]) - a[from]) / (b[from] - a[from])) * (b[to] - a[to]);
  }

  x(at) { return this.xOf(this.translate(at, 0, 1)); }

  xOf(place) { return ((place - this.view[0]) / (this.view[1] - this.view[0])) * this.width; }

  timeAt(x) { return this.translate(this.view[0] + (x / this.width) * (this.view[1] - this.view[0]), 1, 0); }

  get height() { return 20 + this.lanes * this.laneHeight + 4; }

  get laneHeight() { return this.lanes > 5 ? 10 : 16; }

  // Draws with the next picture, however often something changes before.
  draw() {
    this.due ??= requestAnimationFrame(() => { this.due = null; this.paint(); });
  }

  paint() {
    const style = getComputedStyle(document.documentElement), ratio = devicePixelRatio || 1;
    const colours = Object.fromEntries(["good", "live", "bad", "ink", "paper", "panel", "soft", "line"].map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
    this.canvas.style.height = `${this.height}px`;
    const width = (this.width = this.canvas.clientWidth), context = this.canvas.getContext("2d");
    this.canvas.width = width * ratio;
    this.canvas.height = this.height * ratio;
    context.scale(ratio, ratio);
    if (!width || this.runs.length === 0) return;
    this.drawAxis(context, colours, width);
    // Bars that are too thin to stand alone are put together by their places, 2 pixels wide.
    const thin = new Map(), high = this.laneHeight - 3, places = (width >> 1) + 2;
    for (const run of this.runs) {
      const from = this.xOf(run.places[0]), to = Math.max(from + 3, this.xOf(run.places[1]) - 0.5), top = 20 + run.lane * this.laneHeight, isShown = this.shown.has(run);
      run.bar = to < 0 || from > width ? null : [from, to, top];
      if (!run.bar) continue;
      if (to - from <= 3 && run !== this.chosen) {
        const key = (run.lane * 2 + isShown) * places + Math.round(from / 2);
        let sum = thin.get(key);
        if (!sum) thin.set(key, (sum = { from: Math.round(from / 2) * 2, top, isShown, good: 0, live: 0, bad: 0, waits: 0 }));
        sum[tone(run)]++;
        sum.waits += Boolean(run.waits);
        continue;
      }
      context.globalAlpha = isShown ? 1 : 0.18;
      context.fillStyle = colours[tone(run)];
      context.fillRect(from, top, to - from, high);
      if (run.waits) this.drawWait(context, colours, run, high);
      if (run.timed_out || run.signal || run.state === "interrupted") {
        // Ended from outside: its end is marked.
        context.fillStyle = colours.ink;
        context.fillRect(to - 2, top, 2, high);
      }
    }
    // Of runs that share a place each kind has its share of the bar; what failed is to be seen among many.
    for (const { from, top, isShown, waits, ...kinds } of thin.values()) {
      const sum = kinds.good + kinds.live + kinds.bad, bad = kinds.bad && Math.max(high / 2, (high * kinds.bad) / sum), live = kinds.live && (high - bad) * (kinds.live / (sum - kinds.bad));
      context.globalAlpha = isShown ? 1 : 0.18;
      let at = top;
      for (const [kind, part] of [["good", high - bad - live], ["live", live], ["bad", bad]]) {
        context.fillStyle = colours[kind];
        context.fillRect(from, at, 2, part);
        at += part;
      }
      if (waits) {
        context.fillStyle = colours.live;
        context.fillRect(from - 1, top - 2, 4, 4);
      }
    }
    context.globalAlpha = 1;
    if (this.chosen?.bar) {
      const [from, to, top] = this.chosen.bar;
      context.strokeStyle = colours.ink;
      context.lineWidth = 2;
      context.strokeRect(from - 1, top - 1, to - from + 2, this.laneHeight - 1);
    }
    if (this.drag) {
      context.fillStyle = "rgba(100, 150, 230, 0.3)";
      context.fillRect(this.drag[0], 0, this.drag[1] - this.drag[0], this.height);
    }
    const zoomed = this.view[0] > 0 || this.view[1] < 1;
    this.reset.hidden = !zoomed;
    this.legend.textContent = `${clock(this.timeAt(0))} to ${clock(this.timeAt(width))}${this.pauses.length > 0 && !this.unfolded ? `, ${some(this.pauses.length, "pause")} folded` : ""}`;
  }

  // Where a run waited for input its bar is hatched.
  drawWait(context, colours, { bar: [left, right, top], waits }, high) {
    const from = Math.max(left, 0, Math.min(this.x(waits.from), right - 3)), to = Math.min(right, this.width, Math.max(from + 3, this.x(waits.to)));
    context.save();
    context.beginPath();
    context.rect(from, top, to - from, high);
    context.clip();
    context.fillStyle = colours.live;
    context.fillRect(from, top, to - from, high);
    context.strokeStyle = colours.paper;
    context.lineWidth = 1.5;
    for (let x = from - high; x < to; x += 6) {
      context.beginPath();
      context.moveTo(x, top + high);
      context.lineTo(x + high, top);
      context.stroke();
    }
    context.restore();
  }

  drawAxis(context, colours, width) {
    context.font = "10px system-ui, sans-serif";
    let free = 0;
    for (const [a, b] of this.unfolded ? [] : this.pauses) {
      const from = this.x(a), to = this.x(b), text = duration(b - a), wide = context.measureText(text).width;
      if (to < 0 || from > width) continue;
      context.fillStyle = colours.panel;
      context.fillRect(from, 16, to - from, this.height - 16);
      context.fillStyle = colours.soft;
      if (from >= free) { context.fillText(text, Math.max(0, (from + to - wide) / 2), 10); free = (from + to + wide) / 2 + 8; }
    }
    const steps = Math.max(1, Math.floor(width / 65)), zone = new Date(this.timeAt(0)).getTimezoneOffset() * 60000;
    for (let i = 0, last = -100; i < steps; i++) {
      // The first round time behind each place, as round as times there are far apart.
      const place = ((i + 0.2) * width) / steps, rate = (this.timeAt(place + 30) - this.timeAt(place)) / 30;
      const unit = ROUND.find((unit) => unit >= rate * 110) ?? ROUND.at(-1), at = Math.ceil((this.timeAt(place) - zone) / unit) * unit + zone, x = this.x(at);
      if (x - last < 90 || x > width - 50 || (!this.unfolded && this.pauses.some(([a, b]) => at > a && at < b))) continue;
      last = x;
      context.fillStyle = colours.line;
      context.fillRect(x, 14, 1, this.height - 14);
      if (this.unfolded || this.pauses.every(([a, b]) => Math.abs(x - (this.x(a) + this.x(b)) / 2) > 60)) {
        context.fillStyle = colours.soft;
        context.fillText(unit < 1000 ? `${time(at)}.${String(Math.floor(at) % 1000).padStart(3, "0")}` : time(at), x - 20, 10);
      }
    }
  }

  zoom(view) {
    const [from, to] = view ?? [0, 1], wide = Math.min(1, Math.max(1e-7, to - from)), left = Math.min(1 - wide, Math.max(0, from));
    this.view = [left, left + wide];
    this.draw();
    if (wide >= 1) this.onzoom(null, null);
    else this.onzoom(Math.floor(this.translate(left, 1, 0)), Math.ceil(this.translate(left + wide, 1, 0)));
  }

  zoomTo(from, to) { this.view = [this.translate(from, 0, 1), this.translate(to, 0, 1)]; }

  zoomBy(factor, at = this.chosen ? this.translate(this.chosen.started, 0, 1) : (this.view[0] + this.view[1]) / 2) {
    const inside = Math.min(this.view[1], Math.max(this.view[0], at));
    this.zoom(this.view.map((edge) => inside + (edge - inside) * factor));
  }

  runAt(x, y) {
    let best = null;
    for (const run of this.runs) {
      const [from, to, top] = run.bar ?? [Infinity];
      if (x >= from - 2 && x <= to + 2 && y >= top - 1 && y <= top + this.laneHeight && (!best || this.shown.has(run))) best = run;
    }
    return best;
  }

  listen() {
    const { canvas, tip } = this, place = (x) => this.view[0] + (x / this.width) * (this.view[1] - this.view[0]);
    let begin = null;
    canvas.addEventListener("wheel", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) this.zoomBy(event.deltaY > 0 ? 1.25 : 0.8, place(event.offsetX));
      else if (this.view[1] - this.view[0] < 1 && (event.deltaX || event.shiftKey)) {
        const by = ((event.deltaX || event.deltaY) / canvas.clientWidth) * (this.view[1] - this.view[0]);
        this.zoom([this.view[0] + by, this.view[1] + by]);
      } else return;
      event.preventDefault();
    }, { passive: false });
    canvas.addEventListener("pointerdown", (event) => { begin = event.offsetX; canvas.setPointerCapture(event.pointerId); });
    canvas.addEventListener("pointermove", (event) => {
      const run = this.runAt(event.offsetX, event.offsetY);
      tip.hidden = !run || begin !== null;
      canvas.style.cursor = run ? "pointer" : "crosshair";
      if (run) {
        tip.textContent = clean(`${run.label.slice(0, 120)}\n${result(run)}, ${duration(run.took)}, ${clock(run.started)}${run.waits ? `\n${waited(run)}` : ""}`);
        tip.style.left = `${Math.max(0, Math.min(event.offsetX, canvas.clientWidth - 320))}px`;
      }
      if (begin === null || Math.abs(event.offsetX - begin) < 5) return;
      this.drag = [begin, event.offsetX];
      this.draw();
    });
    canvas.addEventListener("pointerup", (event) => {
      const from = begin, to = event.offsetX, run = this.runAt(to, event.offsetY);
      begin = this.drag = null;
      this.draw();
      if (from !== null && Math.abs(to - from) >= 5) this.zoom([place(Math.min(from, to)), place(Math.max(from, to))]);
      else if (run) this.onchoose(run);
    });
    canvas.addEventListener("pointercancel", () => { begin = this.drag = null; this.draw(); });
    canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
    canvas.addEventListener("dblclick", () => this.zoom(null));
  }
}
