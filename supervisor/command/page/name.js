// A short name for a command, by which runs are put together: "npm test", "make"; of a shell string that
// of the command whose output comes last.

// Programs whose second word says what they do.
const WITH_VERBS = new Set(`git npm npx pnpm yarn cargo go docker pip podman kubectl uv poetry dotnet gradle mvn make brew apt apt-get bundle
  terse systemctl deno bun gh helm terraform composer mix rustup nix`.split(/\s+/));
// Commands that print nothing, so that they give no string its name.
const SILENT = new Set("cd exit : true false set unset kill wait export source . sleep done fi esac }".split(" "));
const KEYWORDS = new Set("if then elif else while until do ! time {".split(" "));
const SHELL_TOKEN = /[ \t\r]*(?:(#[^\n]*)|(&&|\|\|?&?|;+&?|\n|&(?!>)|[()])|((?:\d*|&)[<>]+[|&]?)[ \t]*((?:'[^']*'|"(?:\\[^]|[^"\\])*"|[^\s;&|()])*)|((?:'[^']*'|"(?:\\[^]|[^"\\])*"|\$\([^)]*\)|`[^`]*`|\\[^]|[^\s;&|()<>'"\\])+)|(.))/y;

// What a shell is given to run, if it is one.
const shellString = (words) => (words.length === 3 && words[1] === "-c" && /(?:^|\/)(?:ba|da|z|k|a|fi)?sh$/.test(words[0]) ? words[2] : null);

function nameOfWords(words) {
  const name = words[0].replace(/^.*\/(?=.)/, "");
  if (!WITH_VERBS.has(name)) return name;
  // The word behind the options; those of one letter have a value (git -C DIR log).
  let at = 1;
  while (words[at]?.startsWith("-")) at += words[at].length === 2 && words[at + 1] ? 2 : 1;
  return /^[a-z][a-z0-9:_-]*$/.test(words[at] ?? "") ? `${name} ${words[at]}` : name;
}

function nameOfString(text) {
  const commands = [], script = text.slice(0, 4096).replace(/<<-?[ \t]*(['"]?)(\w+)\1([^\n]*)\n[^]*?\n[ \t]*\2(?!\w)/g, "$3");
  let command = { words: [], fed: false, hidden: false };
  const end = (feeds) => {
    if (command.words.length > 0) commands.push(command);
    command = { words: [], fed: feeds && commands.length > 0, hidden: false };
  };
  SHELL_TOKEN.lastIndex = 0;
  for (let token; SHELL_TOKEN.lastIndex < script.length && (token = SHELL_TOKEN.exec(script)); ) {
    const [, , operator, redirect, , word] = token;
    if (operator) end(/^\|&?$/.test(operator));
    else if (redirect) command.hidden ||= redirect.includes(">") && !/^2|&$/.test(redirect);
    else if (word && (command.words.length > 0 || !(KEYWORDS.has(word) || /^\w+=/.test(word)))) command.words.push(word);
  }
  end(false);
  for (let last = commands.length - 1; last >= 0; last--) {
    let first = last;
    while (commands[first].fed) first--;
    const { words } = commands[first];
    if (!commands[last].hidden && !SILENT.has(words[0]) && !/^(?:for|case|function)$/.test(words[0])) return nameOfWords(words);
  }
  return /^\S*/.exec(text.trim())[0];
}

function nameOf(words) {
  if (words.length === 0) return "";
  const string = shellString(words) ?? (words.length === 1 ? words[0] : null);
  return string === null ? nameOfWords(words) : nameOfString(string);
}
