// An asciicast as its size, and frames [[ms, events]...]: what comes within a moment is seen at
// once, and an hour has no more frames than a minute. A damaged recording ends there.
function readRecording(text) {
  const events = [];
  let header = null;
  for (const line of text.split("\n").slice(0, -1)) {
    let value;
    try { value = JSON.parse(line); } catch { break; }
    if (!header) header = value;
    else if (Array.isArray(value) && value[0] >= 0 && typeof value[2] === "string") events.push(value);
    else break;
  }
  const limit = (n, most) => Math.max(2, Math.min(Number(n) || 0, most)), frames = [], apart = Math.max(40, (events.at(-1)?.[0] ?? 0) / 2);
  for (const [at, kind, data] of events) {
    const ms = Math.floor(at * 1000);
    if (frames.length === 0 || ms - frames.at(-1)[0] >= apart) frames.push([ms, []]);
    if (kind === "o") frames.at(-1)[1].push((terminal) => terminal.feed(data));
    const size = kind === "r" && /^(\d+)x(\d+)$/.exec(data);
    if (size) frames.at(-1)[1].push((terminal) => terminal.resize(limit(size[1], 1000), limit(size[2], 500)));
  }
  if (frames.length === 0) frames.push([0, []]);
  return { frames, begin: () => new Terminal(limit(header?.width, 1000), limit(header?.height, 500)) };
}

function player({ recording, recording_cut }) {
  const { frames, begin } = readRecording(recording), screen = make("pre.screen", {}), seek = make("input", { type: "range", min: 0, max: frames.length - 1, value: 0, ariaLabel: "position" });
  const play = button("Play", "play or pause", () => toggle()), speed = make("select", { ariaLabel: "speed" });
  for (const n of [0.5, 1, 2, 4, 16]) speed.append(make("option", { value: n, selected: n === 1 }, `${n}×`));
  const at = make("span.soft", {});
  let now = -1, timer = 0, terminal = begin();
  const show = (index) => {
    if (index < now) { terminal = begin(); now = -1; }
    while (now < index) for (const act of frames[++now][1]) act(terminal);
    screen.replaceChildren(...terminal.paint());
    seek.value = now;
    at.textContent = `${duration(frames[now][0])} of ${duration(frames.at(-1)[0])}${recording_cut ? ", cut" : ""}`;
  };
  const stop = () => { clearTimeout(timer); timer = 0; play.textContent = "Play"; };
  const step = () => {
    show(now + 1);
    if (now + 1 < frames.length) timer = setTimeout(step, (frames[now + 1][0] - frames[now][0]) / speed.value);
    else stop();
  };
  const toggle = () => {
    if (timer) return stop();
    if (now + 1 >= frames.length) show(0);
    play.textContent = "Pause";
    timer = setTimeout(step, 0);
  };
  seek.addEventListener("input", () => { stop(); show(Number(seek.value)); });
  show(0);
  return { element: make("div.player", {}, screen, make("div.buttons", {}, play, seek, speed, at)), stop, plays: () => timer !== 0 };
}
