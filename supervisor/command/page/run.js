// One run: what is known of it, and the views of its text.

const CONTEXT = 3, FEW = 20;
const VIEWS = { shown: "Shown", whole: "Whole text", beside: "Beside", changes: "Changes", recording: "Recording" };

class RunView {
  // `page`: {runs, wanted(), stateChanged(changes), choose(run)}
  constructor(page) {
    Object.assign(this, { page, run: null, view: null, texts: new Map() });
    this.element = make("section.run", { ariaLabel: "Run" });
  }

  // The texts of a run, what was shown of it, and its colours; those of the last few are kept.
  read(run) {
    if (!this.texts.has(run)) this.texts.set(run, this.readNow(run));
    if (this.texts.size > 4) this.texts.delete(this.texts.keys().next().value);
    return this.texts.get(run);
  }

  async readNow(run) {
    const spans = [];
    for (const name of STREAMS) if (run[name]) spans.push(...await readText(run, name));
    const all = spans.filter((span) => span.lines), record = await readShown(run), isWhole = record?.isWhole ?? false, shown = isWhole ? null : record;
    const ranges = (name) => (isWhole ? [[1, Infinity]] : [shown?.ranges?.[name]].flat().filter((range) => Array.isArray(range) && range.every(Number.isInteger)))
      .sort((a, b) => a[0] - b[0]);
    const seen = { stdout: ranges("stdout"), stderr: ranges("stderr") };
    const written = (await readString(run, "raw")) ?? (run.recording ? recorded(await readString(run, "recording")) : null);
    return { spans, shown, isWhole, seen, colours: written ? readColours(written, all) : new Map() };
  }

  views(run) {
    const has = STREAMS.some((name) => run[name]);
    return Object.keys(VIEWS).filter((view) => ({ shown: true, whole: has, beside: has && run.shown && run.shown_bytes !== run.text_bytes, changes: has && run.before, recording: run.recording })[view]);
  }

  // Shows a run; `state` is {view, line, to, top, exact}.
  async show(run, state) {
    const views = this.views(run), round = (this.round = (this.round ?? 0) + 1);
    // The best view: what was not shown stands beside what was.
    const isCut = run.shown && run.shown_bytes < run.text_bytes;
    const isSilent = run.text_bytes === 0 && !run.lives;
    const best = !views.includes("whole") || isSilent ? "shown" : state.line || !isCut ? "whole" : innerWidth > 1100 ? "beside" : "shown";
    const view = views.includes(state.view) ? state.view : best;
    Object.assign(this, { run, view, main: null, side: null });
    this.player?.stop();
    this.player = null;
    this.panel = make("div.panel", { id: "panel", role: "tabpanel", ariaLabel: VIEWS[view] }, make("p.note", {}, "…"));
    this.status = make("span.soft", { role: "status" });
    this.element.replaceChildren(...this.drawHead(run), this.drawTabs(run, views, view), this.panel);
    const text = await this.read(run);
    if (this.round !== round) return;
    this.text = text;
    this.panel.replaceChildren(...await this.drawView(run, view, text, state.exact));
    if (this.round !== round) return;
    this.drawTold(run, text);
    this.find(this.page.wanted());
    const row = state.line ? this.main?.rowOf(state.name, state.line) ?? -1 : -1;
    if (this.main) this.main.chosen = state.line ? { name: state.name, from: state.line, to: state.to ?? state.line } : null;
    if (state.top !== undefined) this.main?.toRow(state.top, 0);
    else if (row >= 0) this.main.toRow(row);
    else if (this.main?.hits?.length) this.nextHit(1);
    // The end tells why it failed, and what comes now.
    else if (run.lives || run.failed) for (const lines of [this.main, this.side]) lines?.toRow(lines.rows, 1);
    else this.main?.draw();
  }

  drawHead(run) {
    const facts = [clock(run.started), run.lives ? `for ${duration(run.took)}` : `took ${duration(run.took)}`, run.cwd, run.profile && `profile ${run.profile}`, run.agent, ...Object.entries(run.labels ?? {}).map(([name, value]) => `${name}=${value}`)].filter(Boolean);
    return [
      make("header.run-head", {},
        button("‹ Back", "to what failed, and to the list (Escape)", () => this.page.choose(null)),
        make("h2.command", { title: "the command" }, run.command),
        make(`span.badge.${tone(run)}`, {}, `${SIGNS[tone(run)]} ${result(run)}`)),
      make("div.facts", {}, facts.join("  ·  "),
        run.id && ["  ·  ", make("code", {}, run.id)],
        " ", button("Copy command", "copy the command", () => copy(run.command, "command copied")),
        run.id && [" ", button("Copy ID", "copy the ID, for terse read", () => copy(run.id, "ID copied"))]),
      run.description && make("div.facts", {}, run.description),
      this.drawHistory(run),
    ].filter(Boolean);
  }

  // The last runs of the same command.
  drawHistory(run) {
    const same = this.page.runs.filter((other) => other.same === run.same), at = same.indexOf(run), near = same.slice(Math.max(0, at - 9), at + 5);
    if (same.length < 2) return make("div", { hidden: true });
    return make("nav.history", { ariaLabel: "Runs of the same command" }, make("span.soft", {}, `run ${at + 1} of ${same.length} of this command`),
      near.map((other) => make(`a.${tone(other)}${other === run ? ".chosen" : ""}`, { href: `#${other.key}`, title: `${result(other)}, ${clock(other.started)}`, ariaLabel: `${result(other)}, ${clock(other.started)}`, onclick: (event) => { event.preventDefault(); this.page.choose(other); } }, SIGNS[tone(other)])),
      run.failed && run.before && !run.before.failed && button("Runs since its last success ›", "what ran between the last success of this command and this failure", () => this.page.showTime(run.before.started, run.ended)));
  }

  drawTabs(run, views, view) {
    this.told = make("div.told", {});
    this.wrapper = make("div.tabs-row", {}, make("div.tabs", { role: "tablist", ariaLabel: "Views" }, views.map((name, i) =>
      make("button", { type: "button", role: "tab", title: `key ${i + 1}`, ariaSelected: String(name === view), onclick: () => this.page.stateChanged({ view: name }) }, VIEWS[name]))),
      this.status, button("Copy text", "copy the text, or the lines that are chosen", () => this.copyText()));
    return make("div", {}, this.wrapper, this.told);
  }

  // How much the agent has seen, in lines where that is known.
  drawTold(run, text) {
    const parts = [], total = STREAMS.reduce((sum, name) => sum + (run[name]?.lines ?? 0), 0), seen = STREAMS.reduce((sum, name) => sum + seenLines(text.seen[name], run[name]?.lines ?? 0), 0);
    if (run.lives) parts.push("runs now: its last lines when this page was written");
    else if (run.left_out) parts.push(`its text is not in this page: terse read ${run.id}`);
    else if (text.isWhole) parts.push(`the agent was shown the whole text, ${some(total, "line")}`);
    else if (text.shown?.ranges && total > 0) {
      parts.push(make("b", {}, `The agent was shown ${count(seen)} of ${some(total, "line")}`), run.shown_bytes < run.text_bytes ? `, ${size(run.shown_bytes)} of ${size(run.text_bytes)}` : "");
      if (seen < total) parts.push(" ", button(`${some(total - seen, "line")} not shown ›`, "the next lines that were not shown (u)", () => this.nextUnseen()));
    } else if (text.shown) parts.push(`the agent was shown ${size(run.shown_bytes)}`);
    else if (run.shown_bytes > 0) parts.push(`${size(run.shown_bytes)} were printed; ${text.spans.length > 0 ? "which lines is not known" : "they are not in this page"}`);
    else if (run.stdout_file) parts.push(`it wrote into ${run.stdout_file}`);
    else parts.push(run.text_bytes > 0 ? "an agent was shown nothing of it" : "it printed nothing");
    if (run.waits) parts.push("  ·  ", make("span.live", {}, waited(run)));
    this.told.replaceChildren(...make("div", {}, ...parts).childNodes);
  }

  about(label, text) {
    return {
      label, key: this.run.key,
      isSeen: (name, n) => isInside(text.seen[name], n),
      seenRanges: (name) => text.seen[name],
      colours: (name, n) => text.colours.get(`${name}:${n}`),
      online: (name, n, extends_) => this.chooseLine(name, n, extends_),
    };
  }

  async drawView(run, view, text, exact) {
    if (view === "recording") {
      this.player = player({ recording: (await readString(run, "recording")) ?? "", recording_cut: run.recording.pieces.length > 1 });
      return [this.player.element];
    }
    if (view === "changes") return this.drawChanges(run, text, exact);
    const shown = view !== "whole" && (text.shown || text.isWhole) ? new LinesView({ ...this.about("What the agent was shown", text), isSeen: null, seenRanges: null }) : null;
    const whole = view === "whole" || view === "beside" ? new LinesView(this.about("Whole text", text)) : null;
    this.main = whole ?? shown;
    this.side = whole ? shown : null;
    if (run.text_bytes === 0 && !run.lives && !text.shown?.text) return (this.main = null), [];
    if (!this.main) return [make("p.note", {}, run.left_out ? "This page has the texts of newer runs only." : "No text was kept.")];
    const frames = [shown, whole].filter(Boolean).map((lines) => make("section.column", {}, view === "beside" && make("h3", {}, lines === shown ? "What the agent was shown" : "Whole text, what was shown is marked"), lines.frame));
    const panel = make(`div.columns${view === "beside" ? ".two" : ""}`, {}, frames);
    // In the page first: rows are as high as it says.
    this.panel.replaceChildren(panel);
    shown?.show(this.shownSpans(text, shown));
    whole?.show(headed(text.spans));
    // A view that is gone may still tell that it was scrolled.
    if (this.side) this.side.onscroll = () => this.side === shown && this.follow();
    this.watchScroll(this.main);
    return [panel];
  }

  // What was printed, line for line; the lines of the text that it has get their numbers, and its
  // markers can be unfolded.
  shownSpans(text, view) {
    if (!text.shown) return headed(text.spans);
    const lines = text.shown.text.split("\n"), spans = [];
    if (lines.at(-1) === "") lines.pop();
    const queue = STREAMS.flatMap((name) => rangesToLines(text, name)), at = new Map(queue.map((one, i) => [i, one]));
    let next = 0, open = null;
    for (const line of lines) {
      const marker = /^\[\.\.\. lines? (\d+)(?:-(\d+))?(?:, |[ :\]])/.exec(line);
      if (/^\[(?:\.\.\. |terse)/.test(line)) {
        open = null;
        spans.push(marker ? this.markerSpan(line, Number(marker[1]), Number(marker[2] ?? marker[1]), text, queue[next] ?? queue.at(-1), view) : { text: line, row: () => make("div.line.notice", {}, make("span.number", {}, ""), make("span.code", {}, line)) });
        continue;
      }
      // A line that is cut, or terse's own, has no number; the next ones have theirs again.
      let known = null;
      for (let ahead = next; ahead < Math.min(next + 50, queue.length) && !known; ahead++)
        if (at.get(ahead).line === line) { known = at.get(ahead); next = ahead + 1; }
      const name = known?.name ?? "stdout";
      if (!open || open.name !== name) spans.push((open = { name, first: 0, lines: [], numbers: [] }));
      open.lines.push(line);
      open.numbers.push(known?.n ?? 0);
    }
    return spans;
  }

  markerSpan(line, from, to, text, near, view) {
    const name = near?.name ?? "stdout", lines = linesBetween(text.spans, name, from, to), span = { text: line, open: false };
    span.row = () => make("div.line.marker", {}, make("span.number", {}, span.open ? "▾" : "▸"), make("button.code", { type: "button", ariaExpanded: String(span.open), disabled: lines.length === 0, onclick: () => this.unfold(view, span, lines) }, line));
    return span;
  }

  unfold(view, span, lines) {
    const spans = view.spans.filter((other) => other.of !== span), at = spans.indexOf(span), top = view.element.scrollTop;
    span.open = !span.open;
    if (span.open) spans.splice(at + 1, 0, ...lines.map((one) => ({ ...one, kind: "unfolded", of: span })));
    view.show(spans);
    view.find(this.page.wanted());
    view.element.scrollTop = top;
    view.draw();
  }

  // Lines that differ in numbers alone are left out where they are many, and more than the others. `exact`: "1" or "0" is
  // what the reader chose.
  async drawChanges(run, text, exact) {
    const isExact = exact === "1", before = await this.read(run.before), view = new LinesView({ ...this.about("Changes", text), isSeen: null, seenRanges: null }), spans = [];
    let gone = 0, fresh = 0, alike = 0;
    for (const name of STREAMS) {
      const a = linesOf(before.spans, name), b = linesOf(text.spans, name);
      if (a.length + b.length === 0) continue;
      if (run.stderr || run.before.stderr) spans.push(heading(name));
      const changes = differ(a, b, isExact);
      let old = 0;
      changes.forEach(([kind, from, to], i) => {
        const lines = (kind === "gone" ? a : b).slice(from, to), number = { name, first: kind === "gone" ? 0 : from + 1 };
        if (kind === "same") lines.forEach((line, k) => { alike += line !== a[old + k]; });
        if (kind !== "new") old += to - from;
        if (kind === "gone") gone += to - from;
        if (kind === "new") fresh += to - from;
        if (kind !== "same") { spans.push({ ...number, kind, lines, sign: kind === "gone" ? "−" : "+" }); return; }
        const head = i > 0 ? CONTEXT : 0, tail = i < changes.length - 1 ? CONTEXT : 0, left = lines.length - head - tail;
        if (left < 4) { spans.push({ ...number, lines }); return; }
        if (head) spans.push({ ...number, lines: lines.slice(0, head) });
        const rest = [{ ...number, first: number.first + head, lines: lines.slice(head, lines.length - tail) }], span = { open: false };
        span.row = () => make("div.line.marker", {}, make("span.number", {}, span.open ? "▾" : "▸"), make("button.code", { type: "button", ariaExpanded: String(span.open), onclick: () => this.unfold(view, span, rest) }, `${some(left, "line")} as before`));
        spans.push(span);
        if (tail) spans.push({ ...number, first: number.first + lines.length - tail, lines: lines.slice(lines.length - tail) });
      });
    }
    if (!exact && alike > 0 && alike <= Math.max(FEW, gone + fresh)) return this.drawChanges(run, text, "1");
    const panel = make("div.columns", {}, make("section.column", {},
      make("h3", {}, `Against the last run of this command, ${clock(run.before.started)} (`, make(`span.${tone(run.before)}`, {}, result(run.before)), `): ${some(fresh, "new line")}, ${count(gone)} gone`,
        alike > 0 && `; ${some(alike, "line")} differ${alike === 1 ? "s" : ""} in numbers, times or hashes alone`, ". ",
        (alike > 0 || isExact) && button(isExact ? "Leave numbers out" : "Show them, too", "whether lines that differ in numbers, times or hashes alone count", () => this.page.stateChanged({ exact: isExact ? "0" : "1" }, true))), view.frame));
    this.main = view;
    this.panel.replaceChildren(panel);
    view.show(spans);
    this.watchScroll(view);
    return [panel];
  }

  watchScroll(view) { view.onscroll = () => this.main === view && this.page.scrolled(view.topRow); }

  // The whole text goes to the line that is at the top of what was shown.
  follow() {
    const { side, main } = this, [span, k] = side.at(side.topRow), n = span.numbers?.[k] ?? (span.first > 0 ? span.first + k : 0);
    const row = n ? main.rowOf(span.name, n) : -1;
    if (row >= 0 && side.element.matches(":hover, :focus, :focus-within")) main.toRow(row, 0);
  }

  chooseLine(name, n, isExtending) {
    const { chosen } = this.main, from = isExtending && chosen?.name === name ? Math.min(chosen.from, n) : n, to = isExtending && chosen?.name === name ? Math.max(chosen.to, n) : n;
    for (const view of [this.main, this.side]) if (view) view.chosen = { name, from, to };
    const row = this.main.rowOf(name, n);
    this.main.draw();
    this.side?.draw();
    if (this.side && row >= 0 && (this.main.topRow > row || this.main.rowAt(this.main.tops[this.main.topRow] + this.main.element.clientHeight) < row)) this.main.toRow(row);
    this.page.stateChanged({ name, line: from, to: to > from ? to : null }, true);
  }

  copyText() {
    const { chosen } = this.main ?? {}, all = this.text.spans.filter((span) => span.lines);
    if (chosen) return copy(linesBetween(this.text.spans, chosen.name, chosen.from, chosen.to).flatMap(({ lines }) => lines).join("\n") + "\n", `${some(chosen.to - chosen.from + 1, "line")} copied`);
    return copy(this.view === "shown" && this.text.shown ? this.text.shown.text : all.flatMap(({ lines }) => lines).join("\n") + "\n", "text copied");
  }

  find(wanted) {
    this.side?.find(wanted);
    const hits = this.main?.find(wanted) ?? [];
    if (this.main) this.main.currentRow = -1;
    this.status.textContent = wanted && this.main ? some(hits.length, "match", "matches") : hits.length > 0 ? some(hits.length, "change") : "";
    return hits;
  }

  // Goes to the next match in this text, or the next change. Returns false where there is none.
  nextHit(by) {
    const { main } = this, hits = main?.hits ?? [];
    if (hits.length === 0) return false;
    const now = main.currentRow >= 0 ? main.currentRow : by > 0 ? -1 : main.rows;
    const next = by > 0 ? hits.find((row) => row > now) : hits.findLast((row) => row < now);
    if (next === undefined) return false;
    main.currentRow = next;
    main.toRow(next);
    this.status.textContent = `${this.page.wanted() ? "match" : "change"} ${count(hits.indexOf(next) + 1)} of ${count(hits.length)}`;
    return true;
  }

  // Goes to the next lines that were not shown.
  nextUnseen() {
    const { main, text } = this;
    if (this.view !== "whole" && this.view !== "beside") {
      const span = text?.spans.find((one) => one.lines?.some((_, k) => !isInside(text.seen[one.name], one.first + k)));
      return this.page.stateChanged({ view: "whole", name: span?.name, line: span && span.first + span.lines.findIndex((_, k) => !isInside(text.seen[span.name], span.first + k)) });
    }
    const from = main.rowAt((main.element.scrollTop + main.element.clientHeight * 0.3) * main.scale + 1);
    let inside = true;
    for (let turn = 0; turn < 2; turn++) {
      for (let row = turn ? 0 : from; row < main.rows; row++) {
        const [span, k] = main.at(row);
        if (!span.lines) continue;
        const unseen = !isInside(text.seen[span.name], span.first + k);
        if (unseen && (!inside || turn)) return main.toRow(row);
        inside = unseen;
      }
    }
  }

  print(on) {
    for (const view of [this.main, this.side]) {
      if (!view) continue;
      view.all = on;
      view.draw();
    }
  }
}

// --- lines of texts

const isInside = (ranges, n) => ranges.some(([from, to]) => n >= from && n <= to);

const heading = (name) => ({ row: () => make("div.stream", {}, name === "stderr" ? "standard error" : "standard output"), height: 30 });

// Standard error has a heading, and so has the other then.
function headed(spans) {
  return STREAMS.flatMap((name) => {
    const own = spans.filter((span) => span.name === name);
    return own.length > 0 && spans.some((span) => span.name === "stderr") ? [heading(name), ...own] : own;
  });
}

const linesOf = (spans, name) => spans.filter((span) => span.name === name && span.lines).flatMap(({ lines }) => lines);

function linesBetween(spans, name, from, to) {
  return spans.filter((span) => span.name === name && span.lines && span.first <= to && span.first + span.lines.length > from).map((span) => {
    const begin = Math.max(from, span.first), end = Math.min(to + 1, span.first + span.lines.length);
    return { name, first: begin, lines: span.lines.slice(begin - span.first, end - span.first) };
  });
}

// The lines in ranges, as [{name, n, line}...].
function rangesToLines(text, name) {
  return [text.shown.ranges?.[name]].flat().filter((range) => Array.isArray(range) && range.every(Number.isInteger))
    .flatMap(([from, to]) => linesBetween(text.spans, name, from, to).flatMap(({ first, lines }) => lines.map((line, k) => ({ name, n: first + k, line }))));
}

// How many of so many lines are in ranges, which may overlap.
function seenLines(ranges, most) {
  let sum = 0, done = 0;
  for (const [from, to] of ranges) {
    const begin = Math.max(from, done + 1), end = Math.min(to, most);
    if (end >= begin) { sum += end - begin + 1; done = end; }
  }
  return sum;
}

// What a recording has of output.
function recorded(text) {
  let written = "";
  for (const line of (text ?? "").split("\n")) {
    try {
      const [, kind, data] = JSON.parse(line);
      if (kind === "o" && typeof data === "string") written += data;
    } catch {
      // A header is no array; a damaged line ends nothing that stands before it.
    }
  }
  return written;
}
