#!/usr/bin/env node
// make bench-tokens: how far the estimate of lib/tokens.h is from three real tokenizers, for 20
// kinds of text. Each kind has two texts that differ: weights are fitted to the first (--fit prints
// those that fit best), and the error is that of the second.
//
//   tokens.mjs BUILD MODULES [--fit]
//
// MODULES: where npm has installed the tokenizers. Exits with 1 if the median error is over 10 %.

import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const [build, modules] = process.argv.slice(2);
const fit = process.argv.includes("--fit");
const source = resolve(import.meta.dirname, "../..");
const require = createRequire(join(resolve(modules), "node_modules", "x.js"));

const o200k = require("gpt-tokenizer/encoding/o200k_base");
const claude = require("@anthropic-ai/tokenizer");
const llama = (await import(require.resolve("llama3-tokenizer-js"))).default;
const tokenizers = {
  o200k: (text) => o200k.encode(text, { disallowedSpecial: new Set() }).length,
  claude: (text) => claude.countTokens(text),
  llama3: (text) => llama.encode(text, { bos: false, eos: false }).length,
};

// The same numbers each time.
let state = 1;
const random = (n) => (state = (state * 48271) % 2147483647) % n;
const pick = (list) => list[random(list.length)];
const times = (n, line) => Array.from({ length: n }, (_, i) => line(i)).join("\n") + "\n";
const hex = (n) => Array.from({ length: n }, () => random(16).toString(16)).join("");
const clock = () => `2026-11-${10 + random(20)}T${10 + random(13)}:${10 + random(50)}:${10 + random(50)}.${100 + random(900)}Z`;
const words = ["server", "request", "failed", "connection", "timeout", "user", "cache", "worker", "started", "message",
  "configuration", "retry", "database", "response", "handler", "upload", "token", "queue", "index", "schema"];
const some = (n) => Array.from({ length: n }, () => pick(words)).join(" ");
const name = () => pick(words) + pick(["_id", "Count", "-list", "Manager", "_path", ".test"]);
const path = () => `/${pick(["usr", "home/ana", "srv/app", "work"])}/${pick(words)}/${name()}/${name()}.${pick(["ts", "py", "c", "go"])}`;

const file = (...names) => names.map((n) => readFileSync(join(source, n), "utf8")).join("");
const folder = (dir, end, from) => file(...readdirSync(join(source, dir)).filter((n) => n.endsWith(end)).slice(from, from + 4).map((n) => join(dir, n)));
const prose = {
  chinese: ["今天的构建失败了，因为测试服务器无法连接到数据库。请检查网络设置，然后重新运行所有的测试。",
    "用户登录以后可以看到最近的订单和消息。如果页面没有更新，请清除缓存再试一次。"],
  japanese: ["テストは三つ失敗しました。設定ファイルを確認してから、もう一度実行してください。",
    "新しいバージョンでは、検索の速度が大きく改善されました。詳しくは文書を読んでください。"],
  russian: ["Сборка завершилась с ошибкой: не удалось подключиться к серверу базы данных. Проверьте настройки сети.",
    "После входа пользователь видит последние заказы и сообщения. Если страница не обновилась, очистите кэш."],
  french: ["La compilation a échoué : le serveur n'a pas répondu à temps. Vérifiez la configuration du réseau.",
    "Après la connexion, l'utilisateur voit ses dernières commandes. Réessayez si la page n'a pas changé."],
};
const said = (language) => (which) => times(12, () => prose[language][which]);

const kinds = {
  "C code": (w) => folder("lib", ".c", w * 4),
  "C headers": (w) => folder("supervisor/artifact", ".h", w * 4),
  "Python code": (w) => folder("tests/cli", ".py", 2 + w * 4).slice(0, 60000),
  "Markdown": (w) => file(w ? "docs/store.md" : "docs/preview.md"),
  "manual page": (w) => file(w ? "docs/terse-agents.7" : "docs/terse.1"),
  "ini file": (w) => { const all = file("config/terse.ini"); return w ? all.slice(all.length / 2) : all.slice(0, all.length / 2); },
  "makefile": (w) => { const all = file("Makefile"); return w ? all.slice(all.length / 2) : all.slice(0, all.length / 2); },
  "server log": () => times(200, () => `${clock()} ${pick(["INFO", "WARN", "ERROR"])} [${name()}] ${some(5)} id=${random(99999)} took ${random(900)}ms`),
  "JSON lines": () => times(150, () => JSON.stringify({ id: random(1e6), name: name(), ok: !random(2), path: path(), tags: [pick(words), pick(words)], at: clock() })),
  "indented JSON": () => JSON.stringify(Array.from({ length: 60 }, () => ({ id: random(1e6), user: { name: name(), email: `${name()}@example.com` }, total: random(1e5) / 100 })), null, 2),
  "paths": () => times(200, path),
  "ls -l": () => times(150, () => `-rw-r--r-- 1 ana  staff ${String(random(99999)).padStart(8)} Nov ${10 + random(20)} ${10 + random(13)}:${10 + random(49)} ${name()}.${pick(["ts", "py", "md"])}`),
  "test results": () => times(150, (i) => `  ${pick(["✓", "✓", "✗"])} ${some(4)} (${random(90)} ms)${i % 9 ? "" : `\n    AssertionError: expected ${random(9)} to equal ${random(9)}\n      at ${name()} (${path()}:${random(400)}:${random(80)})`}`),
  "compiler errors": () => times(100, () => `${path()}:${random(900)}:${random(80)}: ${pick(["error", "warning"])}: '${name()}' ${some(3)} [-W${pick(words)}]\n  ${random(900)} |         ${name()}(${name()}, &${name()});\n      |         ^~~~~~~~`),
  "stack traces": () => times(100, () => `    at com.example.${pick(words)}.${name()}.${name()}(${name()}.java:${random(900)})`),
  "hex dump": () => times(150, (i) => `${(i * 16).toString(16).padStart(8, "0")}  ${Array.from({ length: 16 }, () => hex(2)).join(" ")}`),
  "hashes": () => times(150, () => `${hex(40)}  ${path()}`),
  "numbers": () => times(300, () => `${random(100000)}\t${random(1000)}.${random(100)}\t${random(100)}`),
  "Chinese": said("chinese"),
  "Japanese": said("japanese"),
  "Russian": said("russian"),
  "French": said("french"),
};

const work = mkdtempSync(join(tmpdir(), "tokens-"));
const samples = [0, 1].map((which) => Object.entries(kinds).map(([kind, make]) => {
  const text = make(which), at = join(work, `${kind.replaceAll(/\W/g, "-")}-${which}`);
  writeFileSync(at, text);
  return { kind, at, bytes: Buffer.byteLength(text), real: Object.values(tokenizers).map((count) => count(text)) };
}));
for (const list of samples) {
  const lines = execFileSync(join(build, "bench/tokens"), list.map((s) => s.at), { encoding: "utf8" }).trim().split("\n");
  lines.forEach((line, i) => { [list[i].estimate, ...list[i].counts] = line.split(" ").map(Number); });
}
rmSync(work, { recursive: true });

const mean = (list) => list.reduce((a, b) => a + b, 0) / list.length;
const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1];

// The weights, none below 0, with the least sum of squares of relative errors: each in its turn.
function fitted(list) {
  const rows = list.map((s) => s.counts.map((c) => c / mean(s.real)));
  const weights = rows[0].map(() => 0.5);
  for (let round = 0; round < 20000; round++)
    for (let f = 0; f < weights.length; f++) {
      let up = 0, down = 1e-9;
      for (const row of rows) {
        const rest = 1 - row.reduce((sum, c, i) => sum + (i === f ? 0 : c * weights[i]), 0);
        up += row[f] * rest;
        down += row[f] * row[f];
      }
      weights[f] = Math.max(0, up / down);
    }
  return weights;
}

if (fit)
  console.log("weights, in thousandths:", fitted(samples[0]).map((w) => Math.round(w * 1000)).join(" "));

console.log(`${"kind".padEnd(18)} ${"bytes".padStart(7)} ${Object.keys(tokenizers).map((t) => t.padStart(7)).join(" ")} estimate   error`);
const errors = samples[1].map((s) => {
  const off = s.real.map((real) => Math.abs(s.estimate - real) / real), error = Math.abs(s.estimate - mean(s.real)) / mean(s.real);
  console.log(`${s.kind.padEnd(18)} ${String(s.bytes).padStart(7)} ${s.real.map((n) => String(n).padStart(7)).join(" ")} ${String(s.estimate).padStart(8)} ${(error * 100).toFixed(1).padStart(6)} %`);
  return { error, off };
});
const middle = median(errors.map((e) => e.error)), each = median(errors.flatMap((e) => e.off));
console.log(`median error: ${(middle * 100).toFixed(1)} % of the mean of the three, ${(each * 100).toFixed(1)} % of each of them`);
process.exit(middle < 0.1 ? 0 : 1);
