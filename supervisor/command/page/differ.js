// In which lines two texts differ. Unless they are compared exactly, lines that differ only in what
// changes from run to run (numbers, times, hashes) count as the same.

const DIFFER_MOST = 1200;
const masked = (line) => line.replace(/0x[0-9a-f]+|\b(?=\w*\d)[0-9a-f]{7,}\b|\d+(?:[.,:]\d+)*/gi, "0");

// Returns [[kind, from, to]...]: kind "same" has lines of b, "gone" of a, "new" of b.
function differ(a, b, isExact) {
  const numbers = new Map(), number = (line) => {
    const key = isExact ? line : masked(line);
    if (!numbers.has(key)) numbers.set(key, numbers.size);
    return numbers.get(key);
  };
  const x = a.map(number), y = b.map(number), found = [];
  const add = (kind, from, to) => {
    const last = found.at(-1);
    if (from === to) return;
    if (last?.[0] === kind && last[2] === from) last[2] = to;
    else found.push([kind, from, to]);
  };
  let head = 0, tail = 0;
  // Equal lines first: of many that count as the same, the one that is gone is named.
  for (const [p, q] of [[a, b], [x, y]]) {
    const inside = () => head + tail < Math.min(x.length, y.length);
    while (inside() && p[head] === q[head]) head++;
    while (inside() && p.at(-1 - tail) === q.at(-1 - tail)) tail++;
  }
  const n = x.length - head - tail, m = y.length - head - tail;
  add("same", 0, head);
  for (const [kind, i, k] of script(x.slice(head, head + n), y.slice(head, head + m))) {
    if (kind === "gone") add("gone", head + i, head + i + 1);
    else add(kind, head + k, head + k + 1);
  }
  add("same", head + m, head + m + tail);
  return found;
}

// The shortest script (Myers), as [[kind, index in x, index in y]...]; of texts that differ too much
// it is told which lines the other one has nowhere.
function script(x, y) {
  const n = x.length, m = y.length, most = Math.min(n + m, DIFFER_MOST), middle = most + 1, trace = [];
  let reach = new Int32Array(2 * most + 3);
  for (let d = 0; d <= most; d++) {
    for (let k = -d; k <= d; k += 2) {
      let i = k === -d || (k !== d && reach[middle + k - 1] < reach[middle + k + 1]) ? reach[middle + k + 1] : reach[middle + k - 1] + 1;
      for (; i < n && i - k < m && x[i] === y[i - k]; ) i++;
      reach[middle + k] = i;
      if (i >= n && i - k >= m) return walkBack(trace, x, y, d, middle);
    }
    trace.push(reach.slice(middle - d - 1, middle + d + 2));
  }
  const has = new Set(x), wants = new Set(y), found = [];
  x.forEach((line, i) => { if (!wants.has(line)) found.push(["gone", i, 0]); });
  y.forEach((line, k) => found.push([has.has(line) ? "same" : "new", 0, k]));
  return found;
}

function walkBack(trace, x, y, d, middle) {
  const found = [];
  let i = x.length, k = y.length;
  for (; d > 0; d--) {
    const reach = trace[d - 1], at = (diagonal) => reach[diagonal + d] ?? 0, diagonal = i - k;
    const down = diagonal === -d || (diagonal !== d && at(diagonal - 1) < at(diagonal + 1));
    const before = diagonal + (down ? 1 : -1), from = at(before), to = from - before;
    while (i > from + !down && k > to + down) found.push(["same", --i, --k]);
    if (down) found.push(["new", i, --k]);
    else found.push(["gone", --i, k]);
  }
  while (i > 0 && k > 0) found.push(["same", --i, --k]);
  return found.reverse();
}
