#!/usr/bin/env node
// oracle.js < list: what xterm.js makes of streams.
//
// Each input line is "STREAM<TAB>ANSWER<TAB>COLS<TAB>ROWS": two file names and a
// size. The answer is the text of scrollback and screen, soft-wrapped rows
// joined, blanks at the ends of lines and blank lines at the end trimmed, and
// nothing shown deleted: ED 2 scrolls the screen into scrollback, ED 3 is
// ignored, RIS starts a new terminal below.
//
// Needs @xterm/headless and @xterm/addon-unicode11 from npm in $TERSE_XTERM (a
// folder with node_modules). Bugs of xterm.js that would delete text or that stop
// it are mended here, and some of what terse means to do otherwise is put in: see
// `deviations`.
'use strict';
const fs = require('fs');
const path = require('path');

const modules = path.resolve(process.env.TERSE_XTERM || '.', 'node_modules', '@xterm');
const { Terminal } = require(path.join(modules, 'headless'));
const { Unicode11Addon } = require(path.join(modules, 'addon-unicode11'));

// States and actions of its parser's table.
const STRING = 7, DCS_ENTRY = 9, DCS_IGNORE = 11, DCS_INTERMEDIATE = 12, DCS_PASSTHROUGH = 13;
const C1 = 0x80, ANY_CHARACTER = 0xa0, IGNORE = 0;

// More than any terminal has.
const MOST = 65535;

// Its widths, but for C1 controls (a column, as what a reader is shown of them), and emoji that ZWJ
// or a skin tone joins.
class Widths {
	constructor() {
		this.version = 'terse';
		new Unicode11Addon().activate({ unicode: { register: p => { this.base = p; } } });
	}

	wcwidth(c) {
		return c >= C1 && c < ANY_CHARACTER ? 1 : this.base.wcwidth(c);
	}

	// What it is to xterm.js: width and join; above that: 1 an emoji, 2 with a ZWJ at its end.
	charProperties(c, before) {
		const emoji = /\p{Extended_Pictographic}/u.test(String.fromCodePoint(c));
		const join = emoji && before >> 3 === 2 || before >> 3 && c >= 0x1f3fb && c <= 0x1f3ff;
		if (join)
			return 1 << 3 | 2 << 1 | 1;
		if (c >= C1 && c < ANY_CHARACTER)
			return 1 << 1;
		const plain = this.base.charProperties(c, before & 7);
		const mark = plain & 1 && before >> 3;
		return plain | (mark ? c === 0x200d ? 2 : 1 : emoji ? 1 : 0) << 3;
	}
}

function mendParser(table) {
	// A character beyond ASCII would end such a string and print its rest.
	table[STRING << 8 | ANY_CHARACTER] = IGNORE << 4 | STRING;
	for (let state = DCS_ENTRY; state <= DCS_INTERMEDIATE; state++)
		table[state << 8 | ANY_CHARACTER] = IGNORE << 4 | DCS_IGNORE;
	for (let state = 0; state <= DCS_PASSTHROUGH; state++)
		for (let c = C1; c < ANY_CHARACTER; c++)
			table[state << 8 | c] = table[state << 8 | ANY_CHARACTER];
}

// Pictures show as a word, whatever character set is in use.
function showPictures(term, handler) {
	const word = Uint32Array.from('[image]', c => c.charCodeAt(0));
	const show = () => {
		const { charset } = handler._charsetService;
		handler._charsetService.charset = undefined;
		handler.print(word, 0, word.length);
		handler._charsetService.charset = charset;
		return true;
	};
	term.parser.registerDcsHandler({ final: 'q' }, show);
	term.parser.registerOscHandler(1337, data =>
		/^(Multipart)?File=[^:]*inline=1/.test(data) ? show() : true);
}

function mend(term) {
	const handler = term._core._inputHandler;
	mendParser(handler._parser._transitions.table);
	showPictures(term, handler);
	// What no program sends.
	const ignore = () => true;
	for (const final of '0AB4C5RQKYE6ZH7=')
		for (const intermediates of '*+-./')
			term.parser.registerEscHandler({ intermediates, final }, ignore);
	for (const final of 'no|}~')
		term.parser.registerEscHandler({ final }, ignore);
	for (const final of '@G')
		term.parser.registerEscHandler({ intermediates: '%', final }, ignore);
	term.parser.registerCsiHandler({ intermediates: '"', final: 'q' }, ignore);
	// It would count on for ever, or repeat a character for gigabytes.
	for (const [name, most] of [['scrollUp', MOST], ['scrollDown', MOST], ['insertLines', MOST],
		['deleteLines', MOST], ['cursorForwardTab', MOST], ['cursorBackwardTab', MOST],
		['repeatPrecedingCharacter', term.cols * term.rows]]) {
		const run = handler[name];
		handler[name] = function (params) {
			params.params[0] = Math.min(params.params[0], most);
			return run.call(this, params);
		};
	}

	const erase = handler.eraseInDisplay;
	handler.eraseInDisplay = function (params, selective) {
		const buffer = this._activeBuffer;
		if (params.params[0] === 3)
			return true;
		if (params.params[0] === 2) {
			// With margins set it would scroll only the region.
			const { scrollTop, scrollBottom } = buffer;
			buffer.scrollTop = 0;
			buffer.scrollBottom = term.rows - 1;
			const done = erase.call(this, params, selective);
			buffer.scrollTop = scrollTop;
			buffer.scrollBottom = scrollBottom;
			return done;
		}
		if (params.params[0] === 1 && buffer.x + 1 >= term.cols) {
			// It takes the row below from the wrong place, or fails.
			const get = buffer.lines.get;
			const { y, ybase } = buffer;
			let first = true;
			buffer.lines.get = function (i) {
				if (i === y + 1 && first) {
					first = false;
					i = ybase + y + 1;
					return i < this.length ? get.call(this, i) : {};
				}
				return get.call(this, i);
			};
			// The row of the cursor itself is fetched before.
			if (ybase === 1) {
				const fetch = buffer.lines.get;
				let skip = true;
				buffer.lines.get = function (i) {
					if (i === y + 1 && skip) {
						skip = false;
						return get.call(this, i);
					}
					return fetch.call(this, i);
				};
			}
			try {
				return erase.call(this, params, selective);
			} finally {
				delete buffer.lines.get;
			}
		}
		return erase.call(this, params, selective);
	};
}

function lineText(buffer, y, cols, previous) {
	const line = buffer.getLine(y);
	const text = line.translateToString(false);
	if (!line.isWrapped || previous === null)
		return { text, joined: false };
	// A wide character that did not fit leaves an empty cell behind.
	const last = buffer.getLine(y - 1).getCell(cols - 1);
	if (last.getCode() === 0 && line.getCell(0).getWidth() === 2 && previous.endsWith(' '))
		previous = previous.slice(0, -1);
	return { text: previous + text, joined: true };
}

async function renderPart(data, cols, rows) {
	const term = new Terminal({
		cols, rows, scrollback: 1000000, allowProposedApi: true, logLevel: 'off',
		scrollOnEraseInDisplay: true,
	});
	term.unicode.register(new Widths());
	term.unicode.activeVersion = 'terse';
	mend(term);
	// It loses characters that are cut.
	for (let i = 0, end; i < data.length; i = end) {
		end = Math.min(i + 65536, data.length);
		while (end < data.length && end > i + 65532 && (data[end] & 0xc0) === 0x80)
			end--;
		await new Promise(done => term.write(data.subarray(i, end), done));
	}

	const lines = [];
	let current = null;
	for (let y = 0; y < term.buffer.normal.length; y++) {
		const { text, joined } = lineText(term.buffer.normal, y, cols, current);
		if (!joined && current !== null)
			lines.push(current);
		current = text;
	}
	lines.push(current);
	term.dispose();
	const trimmed = lines.map(line => line.replace(/[ \0]+$/, ''));
	while (trimmed.length && trimmed[trimmed.length - 1] === '')
		trimmed.pop();
	return trimmed.length ? trimmed.join('\n') + '\n' : '';
}

async function render(data, cols, rows) {
	const parts = data.toString('latin1').split('\x1bc');
	let text = '';
	for (let i = 0; i < parts.length; i++) {
		const end = i + 1 < parts.length ? '\x1b[?1049l\x1b[2J' : '';
		text += await renderPart(Buffer.from(parts[i] + end, 'latin1'), cols, rows);
	}
	return text;
}

async function main() {
	for (const line of fs.readFileSync(0, 'utf8').split('\n')) {
		if (!line)
			continue;
		const [stream, answer, cols, rows] = line.split('\t');
		fs.writeFileSync(answer, await render(fs.readFileSync(stream), +cols, +rows));
	}
}

main().then(() => process.exit(0), error => {
	console.error(error);
	process.exit(1);
});
