// The list of runs, of which only those are in the page that are to be seen; its filters, and the
// search through all texts.

const ROW_HEIGHT = 46, HITS_SHOWN = 3;

class List {
  // `onchoose(run)`
  constructor(runs, onchoose) {
    Object.assign(this, { runs, onchoose, shown: runs, chosen: null, found: new Map(), wanted: null });
    this.body = make("div.list-body", {});
    this.space = make("div.list-space", {}, this.body);
    this.element = make("div.list", { tabIndex: 0, role: "listbox", ariaLabel: "Runs", onscroll: () => this.draw() }, this.space);
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  show(runs) {
    this.shown = runs;
    this.space.style.height = `${runs.length * ROW_HEIGHT}px`;
    this.draw();
  }

  draw() {
    const { scrollTop, clientHeight } = this.element, first = this.all ? 0 : Math.max(0, Math.floor(scrollTop / ROW_HEIGHT) - 4);
    const last = Math.min(this.shown.length, this.all ? PRINTED : Math.ceil((scrollTop + clientHeight) / ROW_HEIGHT) + 4);
    this.body.style.transform = `translateY(${first * ROW_HEIGHT}px)`;
    this.body.replaceChildren(...this.shown.slice(first, last).map((run, i) => this.drawRow(run, first + i)));
    if (this.shown.length === 0) this.body.replaceChildren(make("p.empty", {}, this.runs.length ? "No run fits the filters." : "No runs."));
  }

  drawRow(run, index) {
    const hit = this.found.get(run), chosen = run === this.chosen, cut = run.shown_bytes > 0 && run.shown_bytes < run.text_bytes;
    const row = make(`div.row.${tone(run)}-run${chosen ? ".chosen" : ""}`, { id: `row-${run.key}`, role: "option", ariaSelected: String(chosen), ariaSetSize: String(this.shown.length), ariaPosInSet: String(index + 1), onclick: () => this.onchoose(run) },
      make(`span.sign.${tone(run)}`, { ariaHidden: "true" }, SIGNS[tone(run)]),
      make("span.command", { title: `${run.command.slice(0, 2000)}${run.description ? `\n\n${run.description}` : ""}` }, run.label.slice(0, 300)),
      make(`span.result.${tone(run)}`, {}, result(run)),
      make("span.about", {}, `${time(run.started)}  ·  ${duration(run.took)}`,
        run.text_bytes > 0 && [`  ·  ${size(run.text_bytes)}`, cut && make("span.cut", {}, `, ${size(run.shown_bytes)} shown`)],
        run.waits && make("span.live", {}, `  ·  ${run.waits.ended ? "waited" : "waits"} ${duration(run.waits.duration_ms)}`),
        hit && make("span.hit-count", {}, hit.lines > 0 ? some(hit.lines, "line") : "command")));
    if (chosen) this.element.setAttribute("aria-activedescendant", row.id);
    return row;
  }

  choose(run) {
    this.chosen = run;
    const top = this.shown.indexOf(run) * ROW_HEIGHT, { scrollTop, clientHeight } = this.element;
    if (top >= 0 && (top < scrollTop || top + ROW_HEIGHT > scrollTop + clientHeight)) this.element.scrollTop = top - clientHeight / 2;
    this.draw();
  }

  // The next run of the list from the chosen one on, or the one before, that is wanted.
  next(by, isWanted = () => true) {
    let at = this.shown.indexOf(this.chosen);
    if (at < 0) at = this.chosen ? this.shown.findLastIndex((run) => run.started < this.chosen.started) + (by < 0) : by > 0 ? -1 : this.shown.length;
    for (at += by; at >= 0 && at < this.shown.length; at += by) if (isWanted(this.shown[at])) return this.shown[at];
    return null;
  }

  // Looks through commands and texts; `progress(share)` is called as it goes on, with 1 at its end.
  async search(wanted, progress) {
    const found = new Map(), round = (this.round = (this.round ?? 0) + 1);
    this.wanted = wanted;
    this.found = found;
    if (!wanted) return progress(1);
    const place = (run) => run.stdout?.pieces?.find(Array.isArray)?.[1] ?? 0;
    const order = [...this.runs].sort((a, b) => place(a) - place(b));
    let yielded = performance.now(), told = yielded;
    // Lets the page do other things now and then; false: another search has begun.
    const goesOn = async (i) => {
      if (performance.now() - yielded < 30) return this.round === round;
      if (performance.now() - told > 400) {
        progress(i / order.length);
        told = performance.now();
      }
      await new Promise((done) => setTimeout(done));
      yielded = performance.now();
      return this.round === round;
    };
    for (const run of order) {
      if (matches(wanted, `${run.command}\n${run.description ?? ""}`, 1).length > 0) found.set(run, { lines: 0, first: [] });
      if (!(await goesOn(0))) return;
    }
    for (let i = 0; i < order.length; i++) {
      const hit = await this.searchRun(order[i], wanted);
      if (hit.lines > 0) found.set(order[i], hit);
      if (!(await goesOn(i))) return;
    }
    progress(1);
  }

  async searchRun(run, wanted) {
    const hit = { lines: 0, first: [] };
    for (const name of STREAMS) {
      for (const piece of run[name]?.pieces ?? []) {
        if (typeof piece === "string") continue;
        const text = await textOf(piece[1], piece[2]);
        let at = 0, n = piece[0];
        wanted.lastIndex = 0;
        for (let match; (match = wanted.exec(text)); ) {
          hit.lines++;
          if (hit.first.length < HITS_SHOWN && n > 0) {
            for (let end; (end = text.indexOf("\n", at)) >= 0 && end < match.index; at = end + 1) n++;
            hit.first.push([name, n]);
          }
          const end = text.indexOf("\n", match.index + match[0].length);
          if (end < 0) break;
          wanted.lastIndex = end + 1;
        }
      }
    }
    return hit;
  }
}
