// See notice.h.

#include "supervisor/report/notice.h"

#include "lib/buffer.h"
#include "lib/human.h"
#include "lib/quote.h"

#include <inttypes.h>
#include <string.h>

/* --- what read leaves out --------------------------------------------------------- */

void notice_omitted(struct buffer *out, const struct wording_place *place, uint64_t first,
		    uint64_t count)
{
	buffer_printf(out, "[... %s line%s omitted: ", HUMAN_COUNT(count), count == 1 ? "" : "s");
	wording_read_lines(out, place, first, count);
	buffer_append_string(out, "]\n");
}

void notice_cut(struct buffer *out, const struct wording_place *place, uint64_t at, uint64_t bytes,
		uint64_t line)
{
	buffer_printf(out, "[... bytes %" PRIu64 "-%" PRIu64, at, at + bytes - 1);
	if (line)
		buffer_printf(out, " of line %s", HUMAN_COUNT(line));
	buffer_append_string(out, " omitted: ");
	wording_read_bytes(out, place, at, bytes);
	buffer_append_string(out, "]\n");
}

void notice_part(struct buffer *out, const struct notice_part *p, const struct buffer *next)
{
	const char *what = p->bytes ? "bytes" : p->count > 1 ? "lines" : "line";
	if (p->count == 0)
		buffer_append_string(out, "[terse: no bytes");
	else
		buffer_printf(out, "[terse: %s %s", what, HUMAN_COUNT(p->from));
	if (p->count > 1 || (p->bytes && p->count))
		buffer_printf(out, "-%s", HUMAN_COUNT(p->from + p->count - 1));
	if (p->total)
		buffer_printf(out, " of %s", HUMAN_COUNT(p->total));
	buffer_append_string(out, " shown");
	if (p->limit)
		buffer_printf(out, " (limit %s %s)", HUMAN_COUNT(p->limit), p->unit);
	buffer_append_string(out, "; continue: ");
	buffer_add(out, next);
	buffer_append_string(out, "]\n");
}

void notice_running(struct buffer *out, const struct wording_place *place, uint64_t line)
{
	buffer_append_string(out, "[terse: the run goes on: ");
	wording_read_lines(out, place, line, 0);
	buffer_append_string(out, "]\n");
}

/* --- what search leaves out ------------------------------------------------------- */

static void notice_add_switch(struct buffer *out, bool on, const char *text)
{
	if (on)
		buffer_append_string(out, text);
}

static void notice_add_count(struct buffer *out, const char *option, const char *is, uint64_t n)
{
	if (n > 0)
		buffer_printf(out, " %s%s%" PRIu64, option, is, n);
}

/* "terse search ID REGEX -i -C 2"; `place` NULL: --all. */
static void notice_add_search(struct buffer *out, const struct notice_query *q, const char *place)
{
	const struct vocabulary *words = &vocabularies[q->words];
	if (q->words == WORDS_TOOLS) {
		buffer_printf(out, "%s%s%s search=", words->search, place ? place : "last",
			      q->standard_error ? words->standard_error : "");
		quote_text(out, q->pattern, strlen(q->pattern), '"');
		notice_add_count(out, "context", words->is, q->before);
		return;
	}
	buffer_printf(out, "%s%s", words->search, place ? place : "--all");
	if (!place && q->session) {
		buffer_append_string(out, " --session ");
		quote_append(out, q->session);
	}
	buffer_append_string(out, q->pattern[0] == '-' ? " -e " : " ");
	quote_append(out, q->pattern);
	notice_add_switch(out, q->standard_error, words->standard_error);
	notice_add_switch(out, q->ignore_case, " -i");
	notice_add_switch(out, q->word, " -w");
	notice_add_switch(out, q->invert, " -v");
	notice_add_switch(out, q->literal, " -F");
	notice_add_switch(out, q->binary, " -a");
	notice_add_switch(out, q->count, " -c");
	notice_add_switch(out, q->names, " -l");
	notice_add_switch(out, q->json, " --json");
	if (q->before == q->after) {
		notice_add_count(out, "-C", " ", q->before);
	} else {
		notice_add_count(out, "-B", " ", q->before);
		notice_add_count(out, "-A", " ", q->after);
	}
}

/* The same from a line on, with a limit; 0: not given. */
static void notice_add_command(struct buffer *out, const struct notice_query *q, const char *place,
			       uint64_t from, uint64_t limit)
{
	const struct vocabulary *words = &vocabularies[q->words];
	notice_add_search(out, q, place);
	notice_add_count(out, words->offset, words->is, from);
	notice_add_count(out, words->limit, words->is, limit);
}

void notice_next(struct buffer *out, const struct notice_query *q, const struct notice_found *f)
{
	if (f->next_in)
		notice_add_command(out, q, f->next_in, f->next, f->out_of_room ? q->limit : 0);
}

void notice_all(struct buffer *out, const struct notice_query *q, const struct notice_found *f)
{
	notice_add_command(out, q, q->place, q->from > 1 ? q->from : 0, f->total);
}

static void notice_add_from(struct buffer *out, const struct notice_query *q)
{
	if (q->from > 1)
		buffer_printf(out, " from line %s on", HUMAN_COUNT(q->from));
}

void notice_more(struct buffer *out, const struct notice_query *q, const struct notice_found *f)
{
	buffer_printf(out, "[%s of %s match%s", HUMAN_COUNT(f->shown), HUMAN_COUNT(f->total),
		      f->total == 1 ? "" : "es");
	notice_add_from(out, q);
	if (!f->next_in) {
		buffer_append_string(out, " shown, not all lines around them]\n");
		return;
	}
	if (f->out_of_room) {
		buffer_append_string(out, " shown, as many as fit: ");
	} else {
		buffer_append_string(out, " shown: ");
		notice_all(out, q, f);
		buffer_append_string(out, ", or narrow the pattern]\n[next match: ");
		if (!q->place)
			buffer_printf(out, "%s, ", f->next_in);
		buffer_printf(out, "line %s: ", HUMAN_COUNT(f->next));
	}
	notice_next(out, q, f);
	buffer_append_string(out, f->out_of_room ? ", or narrow the pattern]\n" : "]\n");
}

void notice_more_artifacts(struct buffer *out, const struct notice_query *q, uint64_t shown,
			   uint64_t total, bool out_of_room)
{
	buffer_printf(out, "[%s of %s artifacts shown: ", HUMAN_COUNT(shown), HUMAN_COUNT(total));
	if (!out_of_room) {
		notice_add_command(out, q, NULL, 0, total);
		buffer_append_string(out, ", or ");
	}
	buffer_append_string(out, "narrow the pattern]\n");
}

void notice_gave_up(struct buffer *out, const struct notice_query *q, const char *place,
		    uint64_t line, const char *reason)
{
	buffer_printf(out, "gave up at line %s", HUMAN_COUNT(line));
	if (!q->place)
		buffer_printf(out, " of %s", place);
	buffer_printf(out, ": %s; behind it: ", reason);
	notice_add_command(out, q, place, line + 1, 0);
}

void notice_up_to(struct buffer *out, uint64_t shown, uint64_t line)
{
	buffer_printf(out, "[%s match%s shown, up to line %s where the search gave up]\n",
		      HUMAN_COUNT(shown), shown == 1 ? "" : "es", HUMAN_COUNT(line));
}

void notice_binary(struct buffer *out, const struct notice_query *q, const char *kind,
		   uint64_t total)
{
	buffer_printf(out, "[%s line%s in binary data", HUMAN_COUNT(total),
		      total == 1 ? " matches" : "s match");
	if (kind)
		buffer_printf(out, " (%s)", kind);
	buffer_append_string(out, ", not shown: ");
	notice_add_search(out, q, q->place);
	buffer_append_string(out, " -a]\n");
}

/* Points out syntax that means something else in another kind of expression, or in another
   program. */
static void notice_add_advice(struct buffer *out, const struct notice_query *q)
{
	static const struct {
		const char *text, *advice;
	} known[] = {
		{"\\|", "; for one or the other write a|b, not a\\|b"},
		{"\\n", "; lines are matched one by one, so that \\n is never there"},
		{"\n", "; lines are matched one by one, so that a newline is never there"},
	};
	for (size_t i = 0; i < sizeof(known) / sizeof(*known) && !q->literal; i++) {
		if (strstr(q->pattern, known[i].text)) {
			buffer_append_string(out, known[i].advice);
			return;
		}
	}
}

void notice_nothing(struct buffer *out, const struct notice_query *q, uint64_t lines, bool apart)
{
	lines = lines >= q->from ? lines - q->from + 1 : 0;
	buffer_printf(out, "%s in %s line%s", q->invert ? "none that does not match" : "no match",
		      HUMAN_COUNT(lines), lines == 1 ? "" : "s");
	notice_add_from(out, q);
	notice_add_switch(out, apart, "; standard error was kept apart, see ");
	notice_add_switch(out, apart, vocabularies[q->words].standard_error + 1);
	if (!q->invert)
		notice_add_advice(out, q);
}

void notice_long_line(struct buffer *out, uint64_t line, uint64_t missed)
{
	buffer_printf(out, "line %s was searched in pieces: a match of over %s in it is missed",
		      HUMAN_COUNT(line), HUMAN_SIZE(missed));
}

size_t notice_room(const struct notice_query *q, const char *name)
{
	size_t words = strlen(q->pattern) + (q->session ? strlen(q->session) : 0) +
		       (name ? strlen(name) : 0);
	/* The command stands there twice; a byte becomes four at most. */
	return 512 + 2 * 4 * words;
}
