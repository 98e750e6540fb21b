// See wording.h.

#include "supervisor/report/wording.h"

#include "lib/buffer.h"
#include "lib/human.h"
#include "lib/quote.h"
#include "lib/tool_names.h"
#include "lib/utf8.h"
#include "supervisor/preview/preview.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum {
	/* If a gap has at least this many bytes, its marker states the size, since reading the gap
	   costs more than the number of its lines suggests. */
	LARGE = 10 * 1024,
};

/* The "s" of a plural. */
static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

const struct vocabulary vocabularies[] = {
	[WORDS_COMMANDS] =
		{
			.read = "terse read ",
			.search = "terse search ",
			.raw_bytes = "terse path --raw %s",
			.wait = "; wait: terse await %s",
			.look = "; screen: terse snapshot %s",
			.answer = "; answer: terse send %s TEXT --key enter --await",
			.standard_error = " --stderr",
			.raw = " --raw",
			.any_lines = " --lines FROM-TO",
			.offset = "--offset",
			.limit = "--limit",
			.lines = "--lines",
			.bytes = "--bytes",
			.pattern = "--for",
			.is = " ",
			.read_it = "terse read ID",
			.screen_also = "terse snapshot, ",
			.type_also = "terse send ID TEXT, terse snapshot, ",
			.answer_also = "terse send ID TEXT --key enter --await, ",
			.end_it = "terse signal",
			.list = "terse list",
			.keys = "see terse help send",
			.check_project = "terse config check",
		},
	[WORDS_TOOLS] =
		{
			.read = TOOL_READ TOOL_ID,
			.search = TOOL_READ TOOL_ID,
			.raw_bytes = TOOL_READ TOOL_ID "%s stream=raw",
			.wait = "; wait: " TOOL_AWAIT TOOL_ID "%s",
			.look = "; screen: " TOOL_SCREEN TOOL_ID "%s",
			.answer = "; answer: " TOOL_SEND TOOL_ID "%s text=TEXT keys=[\"enter\"]",
			.standard_error = " stream=stderr",
			.raw = " stream=raw",
			.any_lines = " offset=FROM limit=COUNT",
			.offset = "offset",
			.limit = "limit",
			.lines = "offset",
			.bytes = "bytes",
			.pattern = "for",
			.is = "=",
			.read_it = TOOL_READ,
			.screen_also = TOOL_SCREEN ", ",
			.type_also = TOOL_SEND ", " TOOL_SCREEN ", ",
			.answer_also = TOOL_SEND " text=TEXT keys=[\"enter\"], ",
			.end_it = TOOL_SIGNAL,
			.list = TOOL_LIST,
			.keys = "there are " TOOL_KEYS,
			.check_project = TOOL_RUN " command=\"terse config check\"",
		},
};

static void wording_read(struct buffer *out, const struct wording_place *place)
{
	const struct vocabulary *words = &vocabularies[place->words];
	buffer_printf(out, "%s%s%s%s", words->read, place->id,
		      place->is_stderr ? words->standard_error : "",
		      place->is_raw ? words->raw : "");
	if (place->words == WORDS_COMMANDS)
		buffer_printf(out, "%s%s", place->binary ? " -a" : "",
			      place->json ? " --json" : "");
}

void wording_read_lines(struct buffer *out, const struct wording_place *place, uint64_t first,
			uint64_t count)
{
	const struct vocabulary *words = &vocabularies[place->words];
	wording_read(out, place);
	buffer_printf(out, "%s %s%s%" PRIu64, place->numbered ? " -n" : "", words->offset,
		      words->is, first);
	if (count)
		buffer_printf(out, " %s%s%" PRIu64, words->limit, words->is, count);
}

void wording_read_bytes(struct buffer *out, const struct wording_place *place, uint64_t from,
			uint64_t length)
{
	const struct vocabulary *words = &vocabularies[place->words];
	wording_read(out, place);
	buffer_printf(out, " %s%s%" PRIu64, words->bytes, words->is, from);
	if (length)
		buffer_printf(out, "-%" PRIu64, from + length - 1);
}

void wording_omitted(struct buffer *out, const struct wording_place *place, uint64_t first,
		     uint64_t count)
{
	buffer_printf(out, "[... %s line%s: ", HUMAN_COUNT(count), plural(count));
	wording_read_lines(out, place, first, count);
	buffer_append_string(out, "]\n");
}

void wording_cut(struct buffer *out, const struct wording_place *place, uint64_t at, uint64_t bytes,
		 uint64_t line)
{
	buffer_printf(out, "[... bytes %" PRIu64 "-%" PRIu64, at, at + bytes - 1);
	if (line)
		buffer_printf(out, " of line %s", HUMAN_COUNT(line));
	buffer_append_string(out, ": ");
	wording_read_bytes(out, place, at, bytes);
	buffer_append_string(out, "]\n");
}

/* Appends which parts of the text were not kept, with `before` in front of each. */
static void append_gaps(struct buffer *out, const char *before, const struct wording_place *place)
{
	for (int i = 0; i < place->gaps.count; i++) {
		char words[GAP_ANNOUNCE_MAX];
		gap_describe(words, &place->gaps.items[i]);
		buffer_printf(out, "%s%s", before, words);
	}
}

/* Appends ": terse read ID", or ": not kept: " and why; nothing if the reader has the text in a
   file (terse filter). */
static void append_reading(struct buffer *out, const struct wording_place *place)
{
	if (place->id) {
		buffer_append_string(out, ": ");
		wording_read(out, place);
	} else if (place->error) {
		buffer_printf(out, ": not kept: %s", gap_reason(place->error));
	}
}

/* Appends "31-1234", or "7". */
static void append_numbers(struct buffer *out, uint64_t from, uint64_t to)
{
	buffer_append_string(out, HUMAN_NUMBER(from));
	if (to > from) {
		buffer_append_string(out, "-");
		buffer_append_string(out, HUMAN_NUMBER(to));
	}
}

void wording_marker(struct buffer *out, const struct preview_piece *piece,
		    const struct wording_place *place)
{
	bool many = piece->to > piece->from;
	if (piece->kind == PREVIEW_JUMP) {
		buffer_printf(out,
			      piece->back ? "[... back to line %" PRIu64 "]\n"
					  : "[... continues with line %" PRIu64 "]\n",
			      piece->from);
		return;
	}
	buffer_append_string(out, many ? "[... lines " : "[... line ");
	append_numbers(out, piece->from, piece->to);
	if (piece->kind == PREVIEW_FOLD) {
		buffer_append_string(out, many ? " repeat the line above]\n"
					       : " repeats the line above]\n");
		return;
	}
	if (piece->kind == PREVIEW_ALIKE)
		buffer_append_string(out, piece->text ? " like this" : " alike");
	if (piece->threads)
		buffer_printf(out, ", %s thread%s", HUMAN_COUNT(piece->threads),
			      plural(piece->threads));
	if (piece->bytes >= LARGE)
		buffer_printf(out, ", %s", HUMAN_SIZE(piece->bytes));
	/* How to read it, or why it can't be read. */
	if (piece->spelled)
		append_reading(out, place);
	if (piece->spelled && place->id)
		buffer_printf(out, " %s%s", vocabularies[place->words].lines,
			      vocabularies[place->words].is);
	if (piece->spelled && place->id && place->words == WORDS_TOOLS)
		buffer_printf(out, "%" PRIu64 " limit=%" PRIu64, piece->from,
			      piece->to - piece->from + 1);
	else if (piece->spelled && place->id)
		append_numbers(out, piece->from, piece->to);
	if (piece->kind == PREVIEW_ALIKE && piece->text) {
		bool returns = piece->len > 0 && piece->text[piece->len - 1] == '\r';
		buffer_append_string(out, "; last: ");
		utf8_clean(out, piece->text, piece->len - returns);
	}
	buffer_append_string(out, "]\n");
}

void wording_read_some_bytes(struct buffer *out, const struct wording_place *place)
{
	if (!place->id)
		return;
	wording_read(out, place);
	buffer_printf(out, " %s%s", vocabularies[place->words].bytes,
		      vocabularies[place->words].is);
}

static void append_quoted(struct buffer *out, const char *what, const char *text)
{
	buffer_append_string(out, what);
	quote_text(out, text, strlen(text), '"');
}

/* Appends 'waiting for input: "Password: "'. */
static void append_prompt(struct buffer *out, const char *what, const char *prompt)
{
	buffer_append_string(out, what);
	if (*prompt)
		append_quoted(out, ": ", prompt);
}

void wording_asked(struct buffer *out, enum wait_kind asked, const char *prompt, const char *id)
{
	if (asked == WAIT_SECRET)
		buffer_append_string(out, "a secret is asked for");
	else
		append_prompt(out, "a person is asked", prompt);
	buffer_printf(out, "; a person has to run: terse attach %s", id);
}

/* Appends a pattern in quotes, unescaped. */
static void append_missed(struct buffer *out, const char *pattern)
{
	buffer_append_string(out, "\"");
	utf8_clean(out, pattern, strlen(pattern));
	buffer_append_string(out, "\"");
}

static void append_how(struct buffer *out, const struct wording_ending *e)
{
	const char *name = sigabbrev_np(e->signal);
	if (e->timed_out)
		buffer_append_string(out, "timed out (exit 124");
	else if (e->state == WORDING_INTERRUPTED)
		buffer_append_string(out, "interrupted");
	else if (e->state == WORDING_RUNNING)
		buffer_append_string(out, "running");
	else if (e->exit_code >= 0)
		buffer_printf(out, "exit %d", e->exit_code);
	else if (name)
		buffer_printf(out, "killed by SIG%s", name);
	else
		buffer_printf(out, "killed by signal %d", e->signal);
}

static void append_end(struct buffer *out, const struct wording_ending *e)
{
	const char *next = e->timed_out ? "; " : " (";
	append_how(out, e);
	if (e->prompt) {
		buffer_append_string(out, next);
		append_prompt(out, "waited for input", e->prompt);
		next = "; ";
	}
	if (e->hung_up) {
		buffer_printf(out,
			      "%shung up: it waited for keys that nobody can type; a run with "
			      "yield=5s lets you",
			      next);
		next = "; ";
	}
	if (e->missed) {
		buffer_printf(out, "%snot found: ", next);
		append_missed(out, e->missed);
		next = "; ";
	}
	if (e->picture)
		buffer_printf(out, "%sabove: its screen, as it was last", next);
	if (e->picture || *next == ';')
		buffer_append_string(out, ")");
}

void wording_end(struct buffer *out, const struct wording_ending *e)
{
	append_end(out, e);
	buffer_printf(out, " after %s", HUMAN_DURATION(e->duration_ms));
}

static void append_start(struct buffer *out, const struct wording_ending *e)
{
	const struct wording_since *s = e->since;
	buffer_append_string(out, "[terse: ");
	if (e->state == WORDING_FILE)
		return;
	wording_end(out, e);
	/* Appends ", as cmd-… 3 min ago" or "; cmd-… 3 min ago: exit 1"; nothing if both runs
	   succeeded and their texts differ. */
	bool alike = s && e->exit_code == s->exit_code && e->signal == s->signal;
	if (s && s->id[0] && (!alike || e->exit_code || s->identical)) {
		const struct wording_ending then = {.exit_code = s->exit_code, .signal = s->signal};
		char age[HUMAN_LEN];
		buffer_append_string(out, s->identical ? "; same text as "
					  : alike      ? ", as "
						       : "; ");
		buffer_printf(out, "%s %s ago%s", s->id, human_age(age, s->age_ms),
			      alike ? "" : ": ");
		if (!alike)
			append_how(out, &then);
		if (*s->tests)
			buffer_printf(out, "; %s", s->tests);
	}
	buffer_append_string(out, "; ");
}

static void append_totals(struct buffer *out, uint64_t lines, uint64_t bytes)
{
	buffer_printf(out, "%s line%s, %s", HUMAN_COUNT(lines), plural(lines), HUMAN_SIZE(bytes));
}

/* Appends "30 KB": in the unit that a user has written, if that is exact. */
static void append_size_of_limit(struct buffer *out, uint64_t bytes)
{
	static const uint64_t kb = 1024, mb = 1024 * 1024;
	if (bytes < kb)
		buffer_printf(out, "%" PRIu64 " bytes", bytes);
	else if (bytes % mb == 0)
		buffer_printf(out, "%" PRIu64 " MB", bytes / mb);
	else if (bytes % kb == 0)
		buffer_printf(out, "%s KB", HUMAN_COUNT(bytes / kb));
	else
		buffer_append_string(out, HUMAN_SIZE(bytes));
}

static const struct {
	const char *one, *many, *hint;
} units[] = {
	[UNIT_LINES] = {"line", "lines", ""},
	[UNIT_MATCHES] = {"match", "matches", ", or narrow the pattern"},
	[UNIT_RESULTS] = {"result", "results", ", or narrow the search"},
	[UNIT_ENTRIES] = {"entry", "entries", ", or list less"},
};

/* "match" for one, else "matches". */
static const char *unit_name(enum unit unit, uint64_t n)
{
	return n == 1 ? units[unit].one : units[unit].many;
}

/* Appends one part of a limit: " (limit 100 matches)", " (limit 30 KB)", " (limit 500 bytes a
   line)". */
static void append_limit(struct buffer *out, const struct limit *l, enum limit_part part)
{
	buffer_append_string(out, " (limit ");
	if (part == LIMIT_COUNT)
		buffer_printf(out, "%s %s", HUMAN_COUNT(l->count), unit_name(l->unit, l->count));
	else
		append_size_of_limit(out, part == LIMIT_CUT ? l->max_line : l->bytes);
	buffer_append_string(out, part == LIMIT_CUT ? " a line)" : ")");
}

/* The line about a run that is still live: what can be done with it. */
static void append_running(struct buffer *out, const struct wording_ending *e,
			   const struct wording_place *place)
{
	const struct vocabulary *words = &vocabularies[place->words];
	const char *also = e->typing ? words->type_also : "";
	buffer_append_string(out, "[terse: ");
	if (e->asked) {
		wording_asked(out, e->asked, e->prompt, place->id);
		buffer_append_string(out, "]\n");
		return;
	}
	if (e->prompt) {
		append_prompt(out, "waiting for input", e->prompt);
		/* If the text has no question, the screen may show what the command waits for. */
		buffer_printf(out, *e->prompt ? words->answer : words->look, place->id);
		also = *e->prompt ? words->screen_also : words->answer_also;
	} else if (e->handed_over) {
		buffer_printf(out, "handed over after %s, it goes on: terse await %s",
			      HUMAN_DURATION(e->duration_ms), place->id);
		if (!e->omits && !e->cuts) {
			buffer_append_string(out, "]\n");
			return;
		}
	} else {
		/* How an await has ended. */
		if (e->found) {
			append_quoted(out, "found ", e->found);
			buffer_append_string(out, "; ");
		} else if (e->missed) {
			buffer_printf(out, "not found in %s: ", HUMAN_DURATION(e->waited_ms));
			append_missed(out, e->missed);
			buffer_append_string(out, "; ");
		} else if (e->waited_ms) {
			buffer_printf(out, "waited %s; ", HUMAN_DURATION(e->waited_ms));
		}
		buffer_printf(out, "running after %s; ", HUMAN_DURATION(e->duration_ms));
		append_totals(out, e->lines, e->bytes);
		buffer_printf(out, words->wait, place->id);
	}
	buffer_append_string(out, "; with that ID: ");
	if (e->omits || e->cuts) {
		buffer_printf(out, "%s%s%s%s", words->read_it,
			      place->is_stderr ? words->standard_error : "",
			      e->omits ? words->any_lines : "", e->omits && e->cuts ? " |" : "");
		if (e->cuts)
			buffer_printf(out, " %s%sFROM-TO", words->bytes, words->is);
		buffer_append_string(out, ", ");
	}
	buffer_printf(out, "%s%s (ends it)]\n", also, words->end_it);
}

static void append_background(struct buffer *out, const struct wording_ending *e)
{
	if (e->background)
		buffer_printf(out, "; %s",
			      *e->background ? e->background : "background processes still write");
}

/* Appends notes on background processes and on the project's .terse.ini. */
static void append_notes(struct buffer *out, const struct wording_ending *e,
			 const struct wording_place *place)
{
	append_background(out, e);
	if (e->by_project && *e->by_project)
		buffer_printf(out, "; .terse.ini sets %s", e->by_project);
	if (e->project_ignored)
		buffer_printf(out, "; .terse.ini is ignored: %s",
			      vocabularies[place->words].check_project);
}

static void append_brief(struct buffer *out, const struct wording_ending *e)
{
	buffer_append_string(out, "[terse: ");
	if (e->state == WORDING_RUNNING && e->prompt) {
		size_t len = strlen(e->prompt);
		size_t most = len < WORDING_BRIEF ? len : WORDING_BRIEF;
		append_prompt(out, "waiting for input",
			      e->prompt + utf8_floor(e->prompt, len, len - most));
	} else if (e->found) {
		buffer_append_string(out, "found ");
		quote_text(out, e->found, utf8_floor(e->found, strlen(e->found), WORDING_BRIEF),
			   '"');
		buffer_append_string(out, e->state == WORDING_RUNNING ? "; running" : "");
	} else {
		if (e->waited_ms)
			buffer_printf(out, "%s %s; ", e->missed ? "not found in" : "waited",
				      HUMAN_DURATION(e->waited_ms));
		append_how(out, e);
		buffer_append_string(out, "; ");
		append_totals(out, e->lines, e->bytes);
	}
	buffer_append_string(out, "]\n");
}

void wording_footer(struct buffer *out, const struct wording_ending *e,
		    const struct wording_place *place)
{
	if (e->brief && !e->asked) {
		append_brief(out, e);
		return;
	}
	if (e->state == WORDING_RUNNING && place->id) {
		append_running(out, e, place);
		return;
	}
	append_start(out, e);
	append_totals(out, e->lines, e->bytes);
	/* The limit of bytes is not named: every preview has it. */
	if (e->broken != LIMIT_NONE && e->broken != LIMIT_BYTES)
		append_limit(out, &e->limit, e->broken);
	const size_t totals = out->len;
	append_notes(out, e, place);
	append_gaps(out, "; ", place);
	if (place->id && out->len > totals)
		buffer_append_string(out, place->gaps.count ? "; the rest" : "; full text");
	else if (!place->id && place->error)
		buffer_printf(out, "; not kept: %s", gap_reason(place->error));
	if (place->id)
		append_reading(out, place);
	if (place->id && place->words == WORDS_TOOLS)
		buffer_printf(out, " [offset=FROM limit=COUNT%s | search=REGEX]",
			      e->cuts ? " | bytes=FROM-TO" : "");
	else if (place->id)
		buffer_printf(out, " [--lines%s FROM-TO], terse search %s%s REGEX",
			      e->cuts ? "|--bytes" : "",
			      e->state == WORDING_FILE ? place->id : "ID",
			      place->is_stderr ? " --stderr" : "");
	buffer_append_string(out, "]\n");
}

void wording_head(struct buffer *out, const struct wording_head *h, const struct wording_ending *e,
		  const struct wording_place *place)
{
	const struct vocabulary *words = &vocabularies[place->words];
	const enum unit unit = e->limit.unit;
	bool is_success = e->exit_code == 0 && !e->timed_out && e->state != WORDING_INTERRUPTED;
	bool is_part = e->omits;
	const char *shown = HUMAN_COUNT(h->units), *name = unit_name(unit, h->units);
	buffer_append_string(out, "[terse: ");
	if (!is_success || h->with_status) {
		append_end(out, e);
		buffer_append_string(out, "; ");
	}
	if (is_part) {
		if (h->units == 0)
			buffer_printf(out, "no %s", units[unit].one);
		else if (unit != UNIT_LINES)
			buffer_printf(out, "%s %s", shown, name);
		else
			buffer_printf(out, h->units == 1 ? "line %s" : "lines 1-%s", shown);
		buffer_printf(out, " of %s shown", HUMAN_COUNT(h->total_units));
		/* "100 matches of 2,431 shown" names the limit already. */
		if (e->broken != LIMIT_COUNT || unit == UNIT_LINES)
			append_limit(out, &e->limit, e->broken);
	}
	/* "3 long lines cut to 500 bytes" */
	if (h->cut > 0) {
		buffer_printf(out, "%s%s long line%s cut", is_part ? ", " : "", HUMAN_COUNT(h->cut),
			      plural(h->cut));
		if (!e->limit.grow)
			buffer_append_string(out, " to ");
		if (!e->limit.grow)
			append_size_of_limit(out, e->limit.max_line);
	}
	if (is_part) {
		append_gaps(out, ", ", place);
		append_reading(out, place);
		if (place->id)
			buffer_printf(out, " %s%s%" PRIu64 "%s", words->offset, words->is,
				      h->lines + 1, units[unit].hint);
		if (place->id && h->cut)
			buffer_append_string(out, "; cut bytes");
	}
	/* Adds ": terse read ID --bytes FROM-TO", which reads what is cut out of lines. */
	if (h->cut && (place->id || !is_part))
		append_reading(out, place);
	if (h->cut && place->id)
		buffer_printf(out, " %s%sFROM-TO", words->bytes, words->is);
	append_notes(out, e, place);
	buffer_append_string(out, "]\n");
}

void wording_status(struct buffer *out, const struct wording_ending *e,
		    const struct wording_place *place)
{
	buffer_append_string(out, "[terse: ");
	append_end(out, e);
	append_background(out, e);
	if (e->background)
		append_reading(out, place);
	buffer_append_string(out, "]\n");
}

/* Options are named without "terse", since the reader may start runs by another command. */
static const char *const waits[] = {
	[WAIT_UNKNOWN] = NULL,
	[WAIT_ALONE] = NULL,
	[WAIT_SLEEP] = " sleeps",
	[WAIT_SOCKET] = " waits for data on a socket",
	[WAIT_LOCK] = " waits for a lock",
	[WAIT_STDIN] = " waits for its standard input",
	[WAIT_KEYS] = " waits for keys that nobody can type (a run with yield=5s lets you)",
	[WAIT_SCREEN] =
		"it draws on a screen that nobody sees (a run with timeout=5s shows the last)",
};

void wording_heartbeat(struct buffer *out, int64_t elapsed_ms, uint64_t lines, uint64_t bytes,
		       enum wait_kind wait, const char *who, const struct wording_place *place)
{
	if (wait >= WAIT_PERSON) {
		append_running(out, &(struct wording_ending){.prompt = who, .asked = wait}, place);
		return;
	}
	buffer_printf(out, "[terse: still running after %s; ", HUMAN_DURATION(elapsed_ms));
	append_totals(out, lines, bytes);
	buffer_append_string(out, " so far");
	append_reading(out, place);
	if (waits[wait]) {
		buffer_append_string(out, "; ");
		utf8_clean(out, who, strlen(who));
		buffer_append_string(out, waits[wait]);
	}
	buffer_append_string(out, "]\n");
}

void wording_binary(struct buffer *out, const struct wording_ending *e, const char *kind,
		    const struct wording_place *place)
{
	append_start(out, e);
	buffer_printf(out, "%s of binary output", HUMAN_SIZE(e->bytes));
	if (kind)
		buffer_printf(out, " (%s)", kind);
	append_background(out, e);
	append_gaps(out, ", ", place);
	/* Both streams share one file of raw bytes. */
	if (place->id) {
		buffer_append_string(out, ": ");
		buffer_printf(out, vocabularies[place->words].raw_bytes, place->id);
	} else {
		append_reading(out, place);
	}
	buffer_append_string(out, "]\n");
}

void wording_person(struct buffer *out, const struct wording_ending *e,
		    const struct wording_place *place)
{
	buffer_append_string(out, "[terse: ");
	append_totals(out, e->lines, e->bytes);
	append_background(out, e);
	append_gaps(out, "; ", place);
	if (place->gaps.count)
		buffer_append_string(out, "; the rest");
	append_reading(out, place);
	buffer_append_string(out, "]\n");
}

void wording_cached(struct buffer *out, const char *id, const char *age)
{
	buffer_printf(out, "[terse: not run again: this is %s, %s old (--cached)]\n", id, age);
}

void wording_not_printed(struct buffer *out, int error, const struct wording_place *place)
{
	const char *why = error == ETIMEDOUT ? "its reader takes nothing" : strerror(error);
	buffer_printf(out, "terse: standard output could not be written: %s", why);
	if (place->error)
		buffer_printf(out, "; output not kept: %s", gap_reason(place->error));
	else if (place->id) {
		buffer_append_string(out, "; full text: ");
		wording_read(out, place);
	}
	buffer_append_string(out, "\n");
}

void wording_listens(struct buffer *out, const char *id, unsigned port, enum next_words words)
{
	buffer_printf(out, "[terse: %s still listens on port %u: %s%s, or %s to end it]\n", id,
		      port, vocabularies[words].read, id, vocabularies[words].end_it);
}
