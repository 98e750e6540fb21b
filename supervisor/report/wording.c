// See wording.h.

#include "supervisor/report/wording.h"

#include "lib/buffer.h"
#include "lib/human.h"
#include "lib/quote.h"
#include "lib/utf8.h"
#include "supervisor/preview/preview.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static int append_lines(struct buffer *out, uint64_t lines)
{
	char count[HUMAN_LEN];
	return buffer_printf(out, "%s line%s", human_count(count, lines), lines == 1 ? "" : "s");
}

static int append_size(struct buffer *out, uint64_t bytes)
{
	char size[HUMAN_LEN];
	return buffer_append_string(out, human_size(size, bytes));
}

/* Whether there is anything to say about where the text is. */
static bool has_place(const struct wording_place *place)
{
	return place->id || place->error;
}

/* "terse read ID [--stderr]", or why there is nothing to read. */
static int append_place(struct buffer *out, const char *verb, const struct wording_place *place)
{
	if (!place->id)
		return buffer_printf(out, "not kept: %s", strerror(place->error));
	return buffer_printf(out, "terse %s %s%s", verb, place->id,
			     place->is_stderr ? " --stderr" : "");
}

/* What of it was not kept, with `before` it each time. */
static int append_gaps(struct buffer *out, const char *before, const struct wording_place *place)
{
	for (int i = 0; i < place->gaps.count; i++) {
		char words[GAP_ANNOUNCE_MAX];
		gap_describe(words, &place->gaps.items[i]);
		if (buffer_append_string(out, before) < 0 || buffer_append_string(out, words) < 0)
			return -1;
	}
	return 0;
}

/* ": terse read ID", or nothing. */
static int append_behind(struct buffer *out, const char *verb, const struct wording_place *place)
{
	if (!has_place(place))
		return 0;
	return buffer_append_string(out, ": ") < 0 ? -1 : append_place(out, verb, place);
}

static int append_bytes(struct buffer *out, const struct line_gap *gap)
{
	return buffer_printf(out, " --bytes %" PRIu64 ":%" PRIu64, gap->from, gap->bytes);
}

/* "first cut: terse read ID --bytes 496:4441"; nothing where nothing is cut. */
static int append_first_cut(struct buffer *out, const char *before, const struct line_gap *cut,
			    const struct wording_place *place)
{
	if (!cut->bytes || !place->id)
		return 0;
	if (buffer_append_string(out, before) < 0 || buffer_append_string(out, "first cut: ") < 0 ||
	    append_place(out, "read", place) < 0)
		return -1;
	return append_bytes(out, cut);
}

static int append_range(struct buffer *out, const struct preview_piece *piece,
			const struct wording_place *place)
{
	/* Read from a file that is still there (filter). */
	if (!has_place(place))
		return buffer_printf(out, "lines %" PRIu64 "-%" PRIu64, piece->from, piece->to);
	if (append_place(out, "read", place) < 0)
		return -1;
	if (!place->id)
		return 0;
	return buffer_printf(out, " --offset %" PRIu64 " --limit %" PRIu64, piece->from,
			     piece->to - piece->from + 1);
}

/* "[... 412 more lines like this (21.0 KB): terse read ID --offset 12 --limit 412; last: TEXT]" */
static int append_alike(struct buffer *out, const struct preview_piece *piece,
			const struct wording_place *place)
{
	char count[HUMAN_LEN];
	bool returns = piece->len > 0 && piece->text[piece->len - 1] == '\r';

	human_count(count, piece->to - piece->from + 1);
	if (buffer_printf(out, "[... %s more lines like this (", count) < 0 ||
	    append_size(out, piece->bytes) < 0 || buffer_append_string(out, "): ") < 0 ||
	    append_range(out, piece, place) < 0 || buffer_append_string(out, "; last: ") < 0 ||
	    utf8_clean(out, piece->text, piece->len - returns) < 0)
		return -1;
	return buffer_append_string(out, "]\n");
}

int wording_marker(struct buffer *out, const struct preview_piece *piece,
		   const struct wording_place *place)
{
	if (piece->kind == PREVIEW_FOLD) {
		if (piece->from == piece->to)
			return buffer_printf(out, "[... line %" PRIu64 " repeats the line above]\n",
					     piece->from);
		return buffer_printf(out,
				     "[... lines %" PRIu64 "-%" PRIu64 " repeat the line above]\n",
				     piece->from, piece->to);
	}
	if (piece->kind == PREVIEW_ALIKE)
		return append_alike(out, piece, place);
	if (buffer_append_string(out, "[... ") < 0 ||
	    append_lines(out, piece->to - piece->from + 1) < 0 ||
	    buffer_append_string(out, " (") < 0 || append_size(out, piece->bytes) < 0 ||
	    buffer_append_string(out, ") omitted: ") < 0 || append_range(out, piece, place) < 0)
		return -1;
	return buffer_append_string(out, "]\n");
}

static int append_quoted(struct buffer *out, const char *what, const char *text)
{
	if (buffer_append_string(out, what) < 0)
		return -1;
	return quote_text(out, text, strlen(text), '"');
}

/* "waiting for input: "Password: "" */
static int append_prompt(struct buffer *out, const char *what, const char *prompt)
{
	if (buffer_append_string(out, what) < 0)
		return -1;
	return *prompt ? append_quoted(out, ": ", prompt) : 0;
}

static int append_how(struct buffer *out, const struct wording_ending *e)
{
	if (e->timed_out)
		return buffer_append_string(out, "timed out (exit 124");
	if (e->state == WORDING_INTERRUPTED)
		return buffer_append_string(out, "interrupted");
	if (e->state == WORDING_RUNNING)
		return buffer_append_string(out, "running");
	if (e->exit_code >= 0)
		return buffer_printf(out, "exit %d", e->exit_code);
	const char *name = sigabbrev_np(e->signal);
	if (name)
		return buffer_printf(out, "killed by SIG%s", name);
	return buffer_printf(out, "killed by signal %d", e->signal);
}

static int append_note(struct buffer *out, bool *noted, const char *note)
{
	const char *mark = *noted ? "; " : " (";
	*noted = true;
	return buffer_append_string(out, mark) < 0 ? -1 : buffer_append_string(out, note);
}

static int append_end(struct buffer *out, const struct wording_ending *e)
{
	bool noted = e->timed_out;
	if (append_how(out, e) < 0)
		return -1;
	if (e->prompt && (append_note(out, &noted, "") < 0 ||
			  append_prompt(out, "waited for input", e->prompt) < 0))
		return -1;
	if (e->hung_up &&
	    append_note(out, &noted,
			"hung up: it waited for keys that nobody can type; to type them: terse "
			"--yield 5s COMMAND") < 0)
		return -1;
	if (e->missed &&
	    (append_note(out, &noted, "not found: \"") < 0 ||
	     utf8_clean(out, e->missed, strlen(e->missed)) < 0 || buffer_append(out, "\"", 1) < 0))
		return -1;
	if (e->picture && append_note(out, &noted, "above: its screen, as it was last") < 0)
		return -1;
	return noted ? buffer_append(out, ")", 1) : 0;
}

int wording_end(struct buffer *out, const struct wording_ending *e)
{
	char duration[HUMAN_LEN];
	if (append_end(out, e) < 0)
		return -1;
	return buffer_printf(out, " after %s", human_duration(duration, e->duration_ms));
}

static int append_start(struct buffer *out, const struct wording_ending *e)
{
	if (buffer_append_string(out, "[terse: ") < 0)
		return -1;
	if (e->state == WORDING_FILE)
		return 0;
	return wording_end(out, e) < 0 ? -1 : buffer_append_string(out, "; ");
}

static int append_totals(struct buffer *out, uint64_t lines, uint64_t bytes)
{
	if (append_lines(out, lines) < 0 || buffer_append_string(out, ", ") < 0)
		return -1;
	return append_size(out, bytes);
}

/* "30 KB", as a limit is set, where that is exact. */
static int append_size_of_limit(struct buffer *out, uint64_t bytes)
{
	static const uint64_t kb = 1024, mb = 1024 * 1024;
	char count[HUMAN_LEN];
	if (bytes < kb)
		return buffer_printf(out, "%" PRIu64 " bytes", bytes);
	if (bytes % mb == 0)
		return buffer_printf(out, "%" PRIu64 " MB", bytes / mb);
	if (bytes % kb == 0)
		return buffer_printf(out, "%s KB", human_count(count, bytes / kb));
	return append_size(out, bytes);
}

static const struct {
	const char *one, *many, *hint;
} units[] = {
	[UNIT_LINES] = {"line", "lines", ""},
	[UNIT_MATCHES] = {"match", "matches", ", or narrow the pattern"},
	[UNIT_RESULTS] = {"result", "results", ", or narrow the search"},
	[UNIT_ENTRIES] = {"entry", "entries", ", or list less"},
};

int wording_limit(struct buffer *out, const struct limit *l, enum limit_part part)
{
	char count[HUMAN_LEN];
	if (part == LIMIT_COUNT)
		return buffer_printf(out, "limit %s %s", human_count(count, l->count),
				     l->count == 1 ? units[l->unit].one : units[l->unit].many);
	size_t size = part == LIMIT_LINE  ? l->longest_line
		      : part == LIMIT_CUT ? l->max_line
					  : l->bytes;
	if (buffer_append_string(out, "limit ") < 0 || append_size_of_limit(out, size) < 0)
		return -1;
	return buffer_append_string(out, part == LIMIT_BYTES ? "" : " a line");
}

/* " (limit 100 lines)", but for the limit that every preview has. */
static int append_broken(struct buffer *out, const struct wording_ending *e)
{
	if (e->broken == LIMIT_NONE || e->broken == LIMIT_BYTES)
		return 0;
	if (buffer_append_string(out, " (") < 0 || wording_limit(out, &e->limit, e->broken) < 0)
		return -1;
	return buffer_append(out, ")", 1);
}

/* What somebody who waited has to show for it. */
static int append_waited(struct buffer *out, const struct wording_ending *e)
{
	char waited[HUMAN_LEN];
	human_duration(waited, e->waited_ms);
	if (e->found) {
		if (append_quoted(out, "found ", e->found) < 0)
			return -1;
		return buffer_append_string(out, "; ");
	}
	if (!e->missed)
		return e->waited_ms ? buffer_printf(out, "waited %s; ", waited) : 0;
	if (buffer_printf(out, "not found in %s: \"", waited) < 0 ||
	    utf8_clean(out, e->missed, strlen(e->missed)) < 0)
		return -1;
	return buffer_append_string(out, "\"; ");
}

/* It goes on: what can be done with it now. */
static int append_running(struct buffer *out, const struct wording_ending *e, const char *id)
{
	char duration[HUMAN_LEN];
	if (buffer_append_string(out, "[terse: ") < 0)
		return -1;
	if (e->prompt) {
		/* Without a question there is something to look at. */
		bool asks = *e->prompt;
		if (append_prompt(out, "waiting for input", e->prompt) < 0)
			return -1;
		return buffer_printf(
			out,
			asks ? "; answer: terse send %s TEXT --key enter --await; with "
			       "that ID: terse snapshot, terse signal (ends it)]\n"
			     : "; screen: terse snapshot %s; with that ID: terse send ID "
			       "TEXT --key enter --await, terse signal (ends it)]\n",
			id);
	}
	if (append_waited(out, e) < 0 ||
	    buffer_printf(out, "running after %s; ", human_duration(duration, e->duration_ms)) <
		    0 ||
	    append_totals(out, e->lines, e->bytes) < 0)
		return -1;
	return buffer_printf(out,
			     "; wait: terse await %s; with that ID: %sterse signal (ends it)]\n",
			     id, e->typing ? "terse send ID TEXT, terse snapshot, " : "");
}

/* What is told beside the end of a run. */
static int append_notes(struct buffer *out, const struct wording_ending *e)
{
	if (e->background && buffer_append_string(out, "; background processes still write") < 0)
		return -1;
	if (!e->project_ignored)
		return 0;
	return buffer_append_string(out, "; .terse.ini is ignored: terse config check");
}

int wording_footer(struct buffer *out, const struct wording_ending *e,
		   const struct wording_place *place)
{
	if (e->state == WORDING_RUNNING && place->id)
		return append_running(out, e, place->id);
	if (append_start(out, e) < 0 || append_totals(out, e->lines, e->bytes) < 0 ||
	    append_broken(out, e) < 0 || append_notes(out, e) < 0)
		return -1;
	if (!has_place(place))
		return buffer_append_string(out, "]\n");
	const char *what = !place->id ? "; " : place->gaps.count ? "; the rest: " : "; full text: ";
	if (append_gaps(out, "; ", place) < 0 || buffer_append_string(out, what) < 0 ||
	    append_place(out, "read", place) < 0)
		return -1;
	if (place->id && (buffer_printf(out, ", search: terse search %s%s REGEX", place->id,
					place->is_stderr ? " --stderr" : "") < 0 ||
			  append_first_cut(out, ", ", &e->cut, place) < 0))
		return -1;
	return buffer_append_string(out, "]\n");
}

/* "3 long lines cut to 500 bytes" */
static int append_cut(struct buffer *out, const struct wording_head *h)
{
	char count[HUMAN_LEN];
	if (buffer_printf(out, "%s long line%s cut", human_count(count, h->cut),
			  h->cut == 1 ? "" : "s") < 0)
		return -1;
	if (h->limit.grow)
		return 0;
	return buffer_append_string(out, " to ") < 0 ? -1
						     : append_size_of_limit(out, h->limit.max_line);
}

/* "lines 1-571 of 8,432 shown", "100 matches of 2,431 shown" */
static int append_shown(struct buffer *out, const struct wording_head *h)
{
	char shown[HUMAN_LEN], total[HUMAN_LEN];
	human_count(shown, h->units);
	human_count(total, h->total_units);
	if (h->limit.unit != UNIT_LINES)
		return buffer_printf(out, "%s %s of %s shown", shown,
				     h->units == 1 ? units[h->limit.unit].one
						   : units[h->limit.unit].many,
				     total);
	if (h->units == 1)
		return buffer_printf(out, "line 1 of %s shown", total);
	return buffer_printf(out, "lines 1-%s of %s shown", shown, total);
}

/* " (limit 2,000 lines)"; a limit in another unit explains itself. */
static int append_reason(struct buffer *out, const struct wording_head *h)
{
	enum limit_part part = h->reason == WORDING_BYTES ? LIMIT_BYTES : LIMIT_COUNT;
	if (part == LIMIT_COUNT && h->limit.unit != UNIT_LINES)
		return 0;
	if (buffer_append_string(out, " (") < 0 || wording_limit(out, &h->limit, part) < 0)
		return -1;
	return buffer_append(out, ")", 1);
}

/* ": terse read ID --offset 572, or narrow the pattern" */
static int append_next(struct buffer *out, uint64_t line, const char *hint,
		       const struct wording_place *place)
{
	if (append_behind(out, "read", place) < 0)
		return -1;
	if (!place->id)
		return 0;
	return buffer_printf(out, " --offset %" PRIu64 "%s", line, hint);
}

static int append_first_line(struct buffer *out, const struct wording_head *h, uint64_t lines,
			     const struct wording_place *place)
{
	char length[HUMAN_LEN], shown[HUMAN_LEN], more[HUMAN_LEN];
	if (buffer_printf(out, "line 1 is %s, its first %s shown",
			  human_size(length, h->first_length),
			  human_size(shown, h->first_shown)) < 0)
		return -1;
	if (lines > 1 && buffer_printf(out, ", %s more line%s", human_count(more, lines - 1),
				       lines == 2 ? "" : "s") < 0)
		return -1;
	if (append_behind(out, "read", place) < 0)
		return -1;
	return place->id ? append_bytes(out, &h->gap) : 0;
}

static int append_head(struct buffer *out, const struct wording_head *h, uint64_t lines,
		       const struct wording_place *place)
{
	if (h->reason == WORDING_FIRST_LINE)
		return append_first_line(out, h, lines, place);
	if (h->reason == WORDING_NOTHING_LEFT) {
		if (append_cut(out, h) < 0)
			return -1;
		return place->id ? append_first_cut(out, "; ", &h->gap, place)
				 : append_behind(out, "read", place);
	}
	if (append_shown(out, h) < 0 || append_reason(out, h) < 0)
		return -1;
	if (h->cut > 0 && (buffer_append_string(out, ", ") < 0 || append_cut(out, h) < 0))
		return -1;
	if (append_gaps(out, ", ", place) < 0 ||
	    append_next(out, h->lines + 1, units[h->limit.unit].hint, place) < 0)
		return -1;
	return append_first_cut(out, "; ", &h->gap, place);
}

int wording_head(struct buffer *out, const struct wording_head *h, const struct wording_ending *e,
		 const struct wording_place *place)
{
	bool is_success = e->exit_code == 0 && !e->timed_out && e->state != WORDING_INTERRUPTED;
	if (buffer_append_string(out, "[terse: ") < 0)
		return -1;
	if ((!is_success || h->with_status) &&
	    (append_end(out, e) < 0 || buffer_append_string(out, "; ") < 0))
		return -1;
	if (append_head(out, h, e->lines, place) < 0 || append_notes(out, e) < 0)
		return -1;
	return buffer_append_string(out, "]\n");
}

int wording_status(struct buffer *out, const struct wording_ending *e)
{
	if (buffer_append_string(out, "[terse: ") < 0 || append_end(out, e) < 0)
		return -1;
	return buffer_append_string(out, "]\n");
}

static const char *const waits[] = {
	[WAIT_UNKNOWN] = NULL,
	[WAIT_ALONE] = NULL,
	[WAIT_SLEEP] = " sleeps",
	[WAIT_SOCKET] = " waits for data on a socket",
	[WAIT_LOCK] = " waits for a lock",
	[WAIT_STDIN] = " waits for its standard input",
	[WAIT_KEYS] = " waits for keys that nobody can type (terse --yield 5s COMMAND lets you)",
	[WAIT_SCREEN] =
		"it draws on a screen that nobody sees (terse --timeout 5s COMMAND shows the last)",
};

int wording_heartbeat(struct buffer *out, int64_t elapsed_ms, uint64_t lines, uint64_t bytes,
		      enum wait_kind wait, const char *who, const struct wording_place *place)
{
	char duration[HUMAN_LEN];
	if (buffer_printf(out, "[terse: still running after %s; ",
			  human_duration(duration, elapsed_ms)) < 0 ||
	    append_totals(out, lines, bytes) < 0 || buffer_append_string(out, " so far") < 0 ||
	    append_behind(out, "read", place) < 0)
		return -1;
	if (waits[wait] &&
	    (buffer_append_string(out, "; ") < 0 || utf8_clean(out, who, strlen(who)) < 0 ||
	     buffer_append_string(out, waits[wait]) < 0))
		return -1;
	return buffer_append_string(out, "]\n");
}

int wording_binary(struct buffer *out, const struct wording_ending *e, const char *kind,
		   const struct wording_place *place)
{
	if (append_start(out, e) < 0 || append_size(out, e->bytes) < 0 ||
	    buffer_append_string(out, " of binary output") < 0)
		return -1;
	if (kind && buffer_printf(out, " (%s)", kind) < 0)
		return -1;
	if (append_gaps(out, ", ", place) < 0)
		return -1;
	/* There is one file of raw bytes, whatever stream they came from. */
	const struct wording_place raw = {.id = place->id, .error = place->error};
	if (append_behind(out, "path --raw", &raw) < 0)
		return -1;
	return buffer_append_string(out, "]\n");
}

int wording_person(struct buffer *out, const struct wording_ending *e,
		   const struct wording_place *place)
{
	if (buffer_append_string(out, "[terse: ") < 0 ||
	    append_totals(out, e->lines, e->bytes) < 0 || append_gaps(out, "; ", place) < 0 ||
	    (place->gaps.count && buffer_append_string(out, "; the rest") < 0) ||
	    append_behind(out, "read", place) < 0)
		return -1;
	return buffer_append_string(out, "]\n");
}

int wording_not_kept(struct buffer *out, int error)
{
	return buffer_printf(out, "terse: output not kept: %s\n", strerror(error));
}

int wording_not_printed(struct buffer *out, int error, const struct wording_place *place)
{
	const char *why = error == ETIMEDOUT ? "its reader takes nothing" : strerror(error);
	if (buffer_printf(out, "terse: standard output could not be written: %s", why) < 0)
		return -1;
	if (place->error)
		return buffer_printf(out, "; output not kept: %s\n", strerror(place->error));
	if (place->id)
		return buffer_printf(out, "; full text: terse read %s\n", place->id);
	return buffer_append(out, "\n", 1);
}
