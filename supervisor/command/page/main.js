// The page: its state is in the URL, #ID:LINE?view=whole&q=words, so that a link leads to what one sees.

const page = document.getElementById("page");
const said = make("div.said", { role: "status" });
let silence = 0;

function say(text) {
  said.textContent = clean(text);
  clearTimeout(silence);
  silence = setTimeout(() => { said.textContent = ""; }, 2500);
}

const FILTERS = ["q", "only", "command", "agent", "from", "until"], STATE = ["view", ...FILTERS, "top", "paused", "exact"];

function readState() {
  const [place, query = ""] = location.hash.slice(1).split("?"), [key, line = ""] = place.split(":"), [, name, from, to] = /^(e?)(\d+)(?:-(\d+))?$/.exec(line) ?? [];
  const state = Object.fromEntries([...new URLSearchParams(query)].filter(([name]) => STATE.includes(name)));
  if (key) state.key = decodeURIComponent(key);
  if (from) Object.assign(state, { name: name ? "stderr" : "stdout", line: Number(from), to: to ? Number(to) : null });
  for (const name of ["from", "until", "top"]) if (state[name] !== undefined) state[name] = Number(state[name]);
  return state;
}

function writeState(state, isStep) {
  const line = state.line ? `:${state.name === "stderr" ? "e" : ""}${state.line}${state.to ? `-${state.to}` : ""}` : "";
  const query = new URLSearchParams(STATE.filter((name) => state[name] !== undefined && state[name] !== null && state[name] !== "").map((name) => [name, state[name]]));
  const hash = `#${state.key ?? ""}${line}${query.size > 0 ? `?${query}` : ""}`;
  if (hash === (location.hash || "#")) return;
  history[isStep ? "pushState" : "replaceState"]("own", "", hash);
}

const KEYS = [
  ["j  k", "next run, run before"], ["J  K", "next failed run, failed run before"], ["n  p", "next match, match before: in this text, then in the next runs; without a search the next change"],
  ["/", "search all commands and texts; /words/ is an expression"], ["Enter", "into the text; from the search to the first match"], ["1 2 3 4 5", "views: shown, whole text, beside, changes, recording"],
  ["u", "next lines that the agent was not shown"], ["f", "failed runs only"], ["c", "copy the text, or the chosen lines"], ["+  -  0", "zoom the time line; drag in it to choose a time"], ["Escape", "back to the list; clear the search"], ["?", "this help"]];

function tiles(facts, runs) {
  const failed = runs.filter((run) => run.failed).length, live = runs.filter((run) => run.lives).length, waiting = runs.filter((run) => run.lives && run.waits).length;
  const tokens = (of) => (of.tokens_estimated > 0 ? `, about ${about(of.tokens_estimated)} tokens` : "");
  const tile = (value, label) => make("div.tile", {}, make("b", {}, value), " ", make("span", {}, label));
  return make("div.tiles", {},
    tile(some(runs.length, "run"), [failed > 0 ? `${count(failed)} failed` : "none failed", live > 0 && `${count(live)} running`, waiting > 0 && `${count(waiting)} waiting for input`].filter(Boolean).join(", ")),
    tile(size(facts.written_bytes), "written"),
    tile(size(facts.shown.bytes), `shown${tokens(facts.shown)}`),
    tile(size(facts.read_back.bytes), `read back${facts.reads ? ` in ${some(facts.reads, "read")}` : ""}`),
    tile(size(Math.abs(facts.saved.bytes)), facts.saved.bytes >= 0 ? `saved against the agent's own cut${tokens(facts.saved)}` : "more than the agent's own cut"));
}

async function begin() {
  const began = performance.now(), { facts, runs } = await readIndex();
  let state = readState();
  document.title = `${clean(facts.session)} - terse`;

  // --- parts of the page
  const choose = (run, isQuiet) => change({ key: run?.key, line: null, to: null, top: undefined, view: run && list.chosen && state.view }, isQuiet);
  const list = new List(runs, choose);
  const timeLine = new TimeLine(runs, { onchoose: choose, onzoom: (from, until) => change({ from, until }, true) });
  const view = new RunView({
    runs, choose, showTime,
    wanted: () => list.wanted,
    stateChanged: (changes, isQuiet) => change({ top: undefined, ...changes }, isQuiet),
    scrolled: (top) => { clearTimeout(settling); settling = setTimeout(() => { state.top = top || undefined; writeState(state); }, 250); },
  });
  let settling = 0, typing = 0, seen = null, searching = Promise.resolve();
  const search = make("input", { type: "search", placeholder: "Search commands and texts  (/)", ariaLabel: "Search commands and texts", oninput: () => { clearTimeout(typing); typing = setTimeout(() => change({ q: search.value }, true), 200); } });
  const choice = (name, label, values) => {
    const select = make("select", { ariaLabel: label, onchange: () => change({ [name]: select.value }, true) }, make("option", { value: "" }, label), values.map((value) => make("option", { value }, value)));
    return select;
  };
  const names = (field) => [...new Set(runs.map((run) => run[field]).filter(Boolean))].sort();
  const choices = { only: choice("only", "All results", ["failed", "succeeded", "running", "not shown whole", ...(runs.some((run) => run.waits) ? ["waited for input"] : [])]), command: choice("command", "All commands", names("name")), agent: choice("agent", "All agents", names("agent")) };
  choices.agent.hidden = names("agent").length < 2;
  const found = make("span.soft", { role: "status" });
  const clear = button("Clear", "no search, no filter", () => change({ q: "", only: "", command: "", agent: "", from: undefined, until: undefined }, true));
  const keys = make("dialog.keys", { ariaLabel: "Keys" }, make("h2", {}, "Keys"), make("dl", {}, KEYS.map(([key, what]) => [make("dt", {}, key), make("dd", {}, what)])), button("Close", "close (Escape)", () => keys.close()));
  const written = `written ${clock(facts.written_ms)} by terse; tokens are estimates${facts.older ? `; the newest ${count(runs.length)} runs, ${count(facts.older)} older ones are left out` : ""}`;
  const pause = button("Pause", "", () => change({ paused: state.paused ? "" : "1" }, true));
  page.append(
    make("header.top", {}, make("h1", {}, facts.session), make("span.soft.about", {}, written), facts.watch && make("span.watch", {}, make("span.live", {}, "● live"), " ", pause), button("Keys ?", "what keys do (?)", () => keys.showModal())),
    tiles(facts, runs), timeLine.element,
    make("div.split", {}, make("section.runs", { ariaLabel: "Runs" }, make("div.tools", { role: "search" }, search, choices.only, choices.command, choices.agent, make("div.found", {}, found, clear)), list.element), view.element),
    said, keys);
  list.element.addEventListener("keydown", (event) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    step(by);
  });

  // --- what changes
  function showTime(from, until) {
    timeLine.zoomTo(from, until);
    change({ from, until, only: "", command: "", q: "" }, true);
  }

  function change(changes, isQuiet) {
    const before = state;
    state = { ...state, ...changes };
    writeState(state, !isQuiet && state.key !== before.key);
    draw(before);
  }

  function fits(run) {
    const right = { failed: run.failed, succeeded: !run.failed && !run.lives, running: run.lives, "waited for input": run.waits, "not shown whole": run.shown_bytes > 0 && run.shown_bytes < run.text_bytes };
    return (!state.only || right[state.only]) && (!state.command || run.name === state.command) && (!state.agent || run.agent === state.agent) &&
      (state.from === undefined || state.from === null || (run.ended >= state.from && run.started <= state.until)) && (!list.wanted || list.found.has(run));
  }

  function filter(searched = 1) {
    const shown = runs.filter(fits);
    list.show(shown);
    timeLine.shown = new Set(shown);
    timeLine.draw();
    found.textContent = `${shown.length === runs.length ? "" : `${count(shown.length)} of `}${some(runs.length, "run")}${searched < 1 ? `, searching ${Math.floor(searched * 100)} %` : ""}`;
    clear.hidden = !["q", "only", "command", "agent", "from"].some((name) => state[name]);
  }

  function draw(before) {
    const isNew = (name) => !before || before[name] !== state[name];
    const run = runs.find((one) => one.key === state.key) ?? null;
    if (document.activeElement !== search || !before) search.value = state.q ?? "";
    for (const [name, select] of Object.entries(choices)) select.value = state[name] ?? "";
    pause.textContent = state.paused ? "Go on" : "Pause";
    if (!before && state.from) timeLine.zoomTo(state.from, state.until);
    if (before && isNew("from") && !state.from) timeLine.view = [0, 1];
    if (isNew("q")) {
      const wanted = pattern(state.q ?? "");
      search.setAttribute("aria-invalid", String(Boolean(state.q) && !wanted));
      searching = list.search(wanted, filter);
      if (view.run && view.text && view.find(wanted).length > 0 && wanted) view.nextHit(1);
    }
    timeLine.chosen = list.chosen = run;
    if (FILTERS.some(isNew)) filter(list.wanted ? 0 : 1);
    else timeLine.draw();
    document.body.classList.toggle("has-run", Boolean(run));
    list.choose(run);
    const moved = isNew("line") || isNew("name") || isNew("to");
    if (!run) { view.run = null; view.element.replaceChildren(...(seen ??= overview())); }
    else if (view.run !== run || (state.view && state.view !== view.view) || isNew("exact") || (moved && !(view.main?.chosen?.from === state.line))) return view.show(run, state);
    return null;
  }

  // Without a run: what needs to be looked at.
  function overview() {
    const failed = runs.filter((run) => run.failed), sums = new Map(), next = new Map(runs.filter((run) => run.before).map((run) => [run.before, run]));
    for (const run of runs) {
      const sum = sums.get(run.name) ?? { name: run.name, runs: 0, failed: 0, took: 0, shown: 0, text: 0 };
      Object.assign(sum, { runs: sum.runs + 1, failed: sum.failed + run.failed, took: sum.took + run.took, shown: sum.shown + run.shown_bytes, text: sum.text + run.text_bytes });
      sums.set(run.name, sum);
    }
    const link = (run, words = run.label.slice(0, 160)) => make("a", { href: `#${run.key}`, onclick: (event) => { event.preventDefault(); choose(run); } }, words);
    // The last failure of each command, since when it fails, and what has run between that and its last success.
    const item = (run) => {
      let first = run, fails = 1;
      for (; first.before?.failed; fails++) first = first.before;
      const after = next.get(run);
      return make("li", {}, link(run), " ", make("span.soft", {}, `${result(run)}, ${time(run.started)}`, fails > 1 && [`; ${count(fails)} times since ${time(first.started)}: `, link(first, "the first")], after && [after.lives ? "; runs again: " : "; succeeds again: ", link(after, time(after.started))]),
        first.before && [" ", button("Runs since its last success ›", "what ran between its last success and its first failure", () => showTime(first.before.started, first.ended))]);
    };
    // What failed without a word, as test and grep do, is an answer more often than a fault.
    const last = failed.filter((run) => !next.get(run)?.failed), isQuiet = (run) => run.text_bytes === 0 && !run.stdout_file && !run.stderr_file && run.exit_code === 1 && !run.before, quiet = last.filter(isQuiet);
    const list = (title, some) => some.length > 0 && [make("p.soft", {}, `${title} (${count(some.length)})${some.length > 12 ? ", the last 12" : ""}:`), make("ul", {}, some.slice(-12).reverse().map(item))];
    const only = (sum, changes, words, title) => button(words, title, () => change({ command: sum.name, ...changes }, true));
    const names = [...new Set(quiet.map((run) => run.name))];
    const rows = [...sums.values()].sort((a, b) => b.took - a.took).slice(0, 12).map((sum) => make("tr", {}, make("th", { scope: "row" }, only(sum, { only: "" }, sum.name || "?", "only this command")),
      make("td", {}, count(sum.runs)), make("td", {}, sum.failed > 0 && only(sum, { only: "failed" }, count(sum.failed), "only its failures")),
      [duration(sum.took), size(sum.text), size(sum.shown)].map((cell) => make("td", {}, cell))));
    return [make("div.overview", {},
      make("section", {}, make("h2", {}, failed.length ? `${some(failed.length, "run")} failed` : runs.length ? "No run failed" : "No runs"),
        list("Failed, and not run again with success since", last.filter((run) => !next.has(run) && !isQuiet(run))),
        list("Failed, and succeeded later", last.filter((run) => next.has(run))),
        quiet.length > 0 && make("p.soft", {}, `${count(quiet.length)} printed nothing and ended with 1: `, names.slice(0, 12).map((name) => [only({ name }, { only: "failed" }, name, "only its failures"), " "])),
        make("p.soft", {}, "Choose a run: j, k, or a bar of the time line. ? lists the keys.")),
      runs.length > 0 && make("section", {}, make("h2", {}, "Commands"), make("table", {}, make("thead", {}, make("tr", {}, ["command", "runs", "failed", "time", "written", "shown"].map((name) => make("th", { scope: "col" }, name)))), make("tbody", {}, rows))))];
  }

  const step = (by, isWanted) => {
    const run = list.next(by, isWanted);
    if (run) choose(run, true);
  };

  async function nextHit(by) {
    if (view.nextHit(by) || !list.wanted) return;
    const has = (one) => list.found.get(one)?.lines > 0, following = list.next(by, has), run = following ?? (by > 0 ? list.shown.find(has) : list.shown.findLast(has));
    // A command that fits is found, too.
    if (!run) return list.shown.length > 0 ? choose(list.next(by) ?? list.shown[0], true) : say("no match");
    if (!following) say("from the other end again");
    if (run !== view.run || view.view !== "whole") {
      state = { ...state, key: run.key, line: null, to: null, top: undefined, view: "whole" };
      writeState(state);
      await draw({ ...state, key: null });
    }
    if (view.main && (by < 0 || run === view.run)) { view.main.currentRow = -1; view.nextHit(by); }
  }

  const acts = {
    j: () => step(1), k: () => step(-1), J: () => step(1, (run) => run.failed), K: () => step(-1, (run) => run.failed), n: () => nextHit(1), p: () => nextHit(-1), N: () => nextHit(-1),
    "/": () => { search.focus(); search.select(); }, "?": () => keys.showModal(), f: () => change({ only: state.only === "failed" ? "" : "failed" }, true), u: () => view.run && view.nextUnseen(), c: () => view.run && view.copyText(),
    "+": () => timeLine.zoomBy(0.5), "-": () => timeLine.zoomBy(2), 0: () => timeLine.zoom(null),
    Enter: () => (list.chosen ? view.main?.element.focus() : step(1)),
    Escape: () => (state.key ? choose(null) : change({ q: "", from: undefined, until: undefined }, true)),
  };
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || keys.open) return;
    const inField = event.target.matches("input, select, textarea");
    if (event.target === search && event.key === "Enter") { clearTimeout(typing); change({ q: search.value }, true); search.blur(); const begun = searching, at = list.chosen; begun.then(() => begun === searching && at === list.chosen && nextHit(1)); return; }
    if (event.target === search && event.key === "Escape") { search.value = ""; change({ q: "" }, true); search.blur(); return; }
    if (inField || (event.key === "Enter" && event.target.matches("button, a"))) return;
    const views = view.run ? view.views(view.run) : [], act = acts[event.key] ?? (views[event.key - 1] && (() => change({ view: views[event.key - 1], top: undefined }, true)));
    if (!act) return;
    event.preventDefault();
    act();
  });
  history.replaceState("own", "");
  // The way back leads through runs, and keeps the search and the filters; a link that is typed has its own.
  addEventListener("popstate", (event) => {
    const before = state;
    state = readState();
    if (event.state) for (const name of FILTERS) state[name] = before[name];
    writeState(state);
    draw(before);
  });
  addEventListener("beforeprint", () => { list.all = true; list.draw(); view.print(true); });
  addEventListener("afterprint", () => { list.all = false; list.draw(); view.print(false); });

  // --- a page that is written anew: it loads itself again when nobody is busy with it
  if (facts.watch) {
    let used = performance.now();
    for (const name of ["keydown", "pointerdown", "pointermove", "wheel", "touchmove"]) addEventListener(name, () => { used = performance.now(); }, { passive: true });
    parsed.then(() => {
      const apart = Math.max(2000, 20 * (performance.now() - began));
      setInterval(() => {
        const now = performance.now();
        if (now - used < 2000 || now - began < apart || state.paused || document.hidden || keys.open || view.player?.plays() || document.activeElement === search || !getSelection().isCollapsed) return;
        // What runs is followed at its end.
        if (view.main && view.run?.lives && view.main.isAtEnd) state.top = undefined;
        writeState(state);
        location.reload();
      }, 500);
    });
  }

  await draw(null);
  page.dataset.ready = String(Math.round(performance.now() - began));
}

begin().catch((error) => page.append(make("p.note", {}, typeof DecompressionStream === "undefined" ? "This browser is too old for this page: it has no DecompressionStream." : `This page is damaged: ${error.message}`)));
