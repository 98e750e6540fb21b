// See notice.h.

#include "supervisor/search/notice.h"

#include "supervisor/base/human.h"
#include "supervisor/report/quote.h"

#include <inttypes.h>
#include <string.h>

static int add_switch(struct buffer *out, bool on, const char *text)
{
	return on ? buffer_append_string(out, text) : 0;
}

static int notice_add_number(struct buffer *out, const char *option, uint64_t n)
{
	return n > 0 ? buffer_printf(out, " %s %" PRIu64, option, n) : 0;
}

/* The pattern and what goes with it. */
static int add_pattern(struct buffer *out, const struct notice_query *q)
{
	bool same = q->before == q->after;
	if (buffer_append_string(out, q->pattern[0] == '-' ? " -e " : " ") < 0 ||
	    quote_append(out, q->pattern) < 0 ||
	    add_switch(out, q->standard_error, " --stderr") < 0 ||
	    add_switch(out, q->ignore_case, " -i") < 0 || add_switch(out, q->word, " -w") < 0 ||
	    add_switch(out, q->invert, " -v") < 0 || add_switch(out, q->literal, " -F") < 0 ||
	    add_switch(out, q->binary, " -a") < 0 || add_switch(out, q->count, " -c") < 0 ||
	    add_switch(out, q->names, " -l") < 0 || add_switch(out, q->json, " --json") < 0)
		return -1;
	if (same)
		return notice_add_number(out, "-C", q->before);
	return notice_add_number(out, "-B", q->before) < 0 ? -1
							   : notice_add_number(out, "-A", q->after);
}

static int notice_add_command(struct buffer *out, const struct notice_query *q, const char *place)
{
	if (buffer_append_string(out, "terse search ") < 0 ||
	    buffer_append_string(out, place ? place : "--all") < 0)
		return -1;
	if (!place && q->session &&
	    (buffer_append_string(out, " --session ") < 0 || quote_append(out, q->session) < 0))
		return -1;
	return add_pattern(out, q);
}

static int add_shown(struct buffer *out, uint64_t shown, uint64_t total, const char *what)
{
	char counts[2][HUMAN_LEN];
	return buffer_printf(out, "[%s of %s %s", human_count(counts[0], shown),
			     human_count(counts[1], total), what);
}

int notice_next(struct buffer *out, const struct notice_query *q, const struct listing *l)
{
	if (!l->next_in)
		return 0;
	if (notice_add_command(out, q, l->next_in) < 0 ||
	    buffer_printf(out, " --offset %" PRIu64, l->next) < 0)
		return -1;
	return l->out_of_room ? notice_add_number(out, "--limit", q->limit) : 0;
}

int notice_all(struct buffer *out, const struct notice_query *q, const struct listing *l)
{
	if (notice_add_command(out, q, q->place) < 0 ||
	    (q->from > 1 && buffer_printf(out, " --offset %" PRIu64, q->from) < 0))
		return -1;
	return buffer_printf(out, " --limit %" PRIu64, l->total);
}

int notice_more(struct buffer *out, const struct notice_query *q, const struct listing *l)
{
	char line[HUMAN_LEN];
	if (add_shown(out, l->shown, l->total, l->total == 1 ? "match" : "matches") < 0)
		return -1;
	if (q->from > 1 && buffer_printf(out, " from line %s on", human_count(line, q->from)) < 0)
		return -1;
	if (!l->next_in)
		return buffer_append_string(out, " shown, not all lines around them]\n");
	if (buffer_append_string(out, l->out_of_room ? " shown, as many as fit: " : " shown: ") < 0)
		return -1;
	if (l->out_of_room) {
		if (notice_next(out, q, l) < 0)
			return -1;
		return buffer_append_string(out, ", or narrow the pattern]\n");
	}
	if (notice_all(out, q, l) < 0 ||
	    buffer_append_string(out, ", or narrow the pattern]\n[next match: ") < 0 ||
	    (!q->place && buffer_printf(out, "%s, ", l->next_in) < 0) ||
	    buffer_printf(out, "line %s: ", human_count(line, l->next)) < 0 ||
	    notice_next(out, q, l) < 0)
		return -1;
	return buffer_append_string(out, "]\n");
}

int notice_more_artifacts(struct buffer *out, const struct notice_query *q, uint64_t shown,
			  uint64_t total, bool out_of_room)
{
	if (add_shown(out, shown, total, "artifacts shown: ") < 0)
		return -1;
	if (!out_of_room) {
		if (notice_add_command(out, q, NULL) < 0 ||
		    buffer_printf(out, " --limit %" PRIu64 ", or ", total) < 0)
			return -1;
	}
	return buffer_append_string(out, "narrow the pattern]\n");
}

int notice_gave_up(struct buffer *out, const struct notice_query *q, const char *place,
		   uint64_t line, const char *reason)
{
	char number[HUMAN_LEN];
	if (buffer_printf(out, "gave up at line %s", human_count(number, line)) < 0 ||
	    (!q->place && buffer_printf(out, " of %s", place) < 0) ||
	    buffer_printf(out, ": %s; behind it: ", reason) < 0 ||
	    notice_add_command(out, q, place) < 0)
		return -1;
	return buffer_printf(out, " --offset %" PRIu64, line + 1);
}

int notice_up_to(struct buffer *out, uint64_t shown, uint64_t line)
{
	char count[HUMAN_LEN], number[HUMAN_LEN];
	return buffer_printf(out, "[%s match%s shown, up to line %s where the search gave up]\n",
			     human_count(count, shown), shown == 1 ? "" : "es",
			     human_count(number, line));
}

int notice_binary(struct buffer *out, const struct notice_query *q, const char *kind,
		  uint64_t total)
{
	char count[HUMAN_LEN];
	if (buffer_printf(out, "[%s line%s in binary data", human_count(count, total),
			  total == 1 ? " matches" : "s match") < 0 ||
	    (kind && buffer_printf(out, " (%s)", kind) < 0) ||
	    buffer_append_string(out, ", not shown: ") < 0 ||
	    notice_add_command(out, q, q->place) < 0)
		return -1;
	return buffer_append_string(out, " -a]\n");
}

/* What people write for another kind of expression, or expect of another kind of program. */
static int notice_add_hint(struct buffer *out, const struct notice_query *q)
{
	static const struct {
		const char *text, *hint;
	} hints[] = {
		{"\\|", "; for one or the other write a|b, not a\\|b"},
		{"\\n", "; lines are matched one by one, so that \\n is never there"},
		{"\n", "; lines are matched one by one, so that a newline is never there"},
	};
	for (size_t i = 0; i < sizeof(hints) / sizeof(*hints) && !q->literal; i++) {
		if (strstr(q->pattern, hints[i].text))
			return buffer_append_string(out, hints[i].hint);
	}
	return 0;
}

int notice_nothing(struct buffer *out, const struct notice_query *q, const struct walk *w,
		   bool apart)
{
	char count[HUMAN_LEN], first[HUMAN_LEN];
	uint64_t lines = walk_lines(w), before = q->from - 1;
	lines = lines > before ? lines - before : 0;
	if (buffer_printf(out, "%s in %s line%s",
			  q->invert ? "none that does not match" : "no match",
			  human_count(count, lines), lines == 1 ? "" : "s") < 0 ||
	    (q->from > 1 &&
	     buffer_printf(out, " from line %s on", human_count(first, q->from)) < 0) ||
	    (apart &&
	     buffer_append_string(out, "; standard error was kept apart, see --stderr") < 0) ||
	    (!q->invert && notice_add_hint(out, q) < 0))
		return -1;
	if (walk_long_line(w) == 0)
		return 0;
	return buffer_append_string(out, "; ") < 0 ? -1 : notice_long_line(out, walk_long_line(w));
}

int notice_long_line(struct buffer *out, uint64_t line)
{
	char number[HUMAN_LEN], size[HUMAN_LEN];
	return buffer_printf(out,
			     "line %s was searched in pieces: a match of over %s in it is missed",
			     human_count(number, line), human_size(size, WALK_EDGE));
}

size_t notice_room(const struct notice_query *q, const char *name)
{
	size_t words = strlen(q->pattern) + (q->session ? strlen(q->session) : 0) +
		       (name ? strlen(name) : 0);
	/* Twice the command; a byte of it becomes four at most. */
	return 512 + 2 * 4 * words;
}
