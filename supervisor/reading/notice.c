// See notice.h.

#include "supervisor/reading/notice.h"

#include "lib/buffer.h"
#include "lib/human.h"
#include "lib/quote.h"
#include "lib/tool_names.h"
#include "supervisor/reading/listing.h"
#include "supervisor/reading/page.h"
#include "supervisor/reading/slice.h"
#include "supervisor/reading/walk.h"

#include <inttypes.h>
#include <string.h>

static void notice_add_switch(struct buffer *out, bool on, const char *text)
{
	if (on)
		buffer_append_string(out, text);
}

/* --- commands --------------------------------------------------------------------- */

/* "read_command_output artifact_id=ID stream=stderr" */
static void notice_add_tool(struct buffer *out, const char *name, bool is_stderr, bool is_raw)
{
	buffer_printf(out, TOOL_READ TOOL_ID "%s", name);
	notice_add_switch(out, is_stderr, " stream=stderr");
	notice_add_switch(out, is_raw, " stream=raw");
}

static void notice_add_read(struct buffer *out, const struct notice_place *place)
{
	if (place->tools) {
		notice_add_tool(out, place->name, place->part == ARTIFACT_ERR,
				place->part == ARTIFACT_RAW);
		return;
	}
	buffer_printf(out, "terse read %s", place->name);
	notice_add_switch(out, place->part == ARTIFACT_ERR, " --stderr");
	notice_add_switch(out, place->part == ARTIFACT_RAW, " --raw");
	notice_add_switch(out, place->binary, " -a");
	notice_add_switch(out, place->json, " --json");
}

void notice_read_lines(struct buffer *out, const struct notice_place *place, int64_t first,
		       uint64_t count)
{
	notice_add_read(out, place);
	buffer_printf(out, place->tools ? " offset=%" PRId64 : " --offset %" PRId64, first);
	if (count)
		buffer_printf(out, place->tools ? " limit=%" PRIu64 : " --limit %" PRIu64, count);
}

void notice_read_bytes(struct buffer *out, const struct notice_place *place, uint64_t from,
		       uint64_t length)
{
	notice_add_read(out, place);
	buffer_printf(out, place->tools ? " bytes=%" PRIu64 : " --bytes %" PRIu64, from);
	if (length && place->tools)
		buffer_printf(out, "-%" PRIu64, from + length - 1);
	else if (length)
		buffer_printf(out, ":%" PRIu64, length);
}

void notice_page_next(struct buffer *out, const struct notice_place *place, const struct page *p)
{
	if (p->next_byte)
		notice_read_bytes(out, place, p->next_byte, 0);
	else if (p->next)
		notice_read_lines(out, place, p->next, p->left);
}

void notice_slice_next(struct buffer *out, const struct notice_place *place, const struct slice *s,
		       uint64_t length)
{
	if (s->more)
		notice_read_bytes(out, place, s->to, length && s->full ? s->left : length);
}

static void notice_add_number(struct buffer *out, const char *option, uint64_t n)
{
	bool joined = option[strlen(option) - 1] == '=';
	if (n > 0)
		buffer_printf(out, " %s%s%" PRIu64, option, joined ? "" : " ", n);
}

/* "--offset" or "--limit", or the argument of a tool. */
static const char *notice_option(const struct notice_query *q, int which)
{
	static const char *const options[2][2] = {{"--offset", "--limit"}, {"offset=", "limit="}};
	return options[q->tools][which];
}

/* "terse search ID REGEX -i -C 2"; `place` NULL: --all. */
static void notice_add_search(struct buffer *out, const struct notice_query *q, const char *place)
{
	if (q->tools) {
		notice_add_tool(out, place ? place : "last", q->standard_error, false);
		buffer_append_string(out, " search=");
		quote_text(out, q->pattern, strlen(q->pattern), '"');
		if (q->before)
			buffer_printf(out, " context=%" PRIu64, q->before);
		return;
	}
	buffer_printf(out, "terse search %s", place ? place : "--all");
	if (!place && q->session) {
		buffer_append_string(out, " --session ");
		quote_append(out, q->session);
	}
	buffer_append_string(out, q->pattern[0] == '-' ? " -e " : " ");
	quote_append(out, q->pattern);
	notice_add_switch(out, q->standard_error, " --stderr");
	notice_add_switch(out, q->ignore_case, " -i");
	notice_add_switch(out, q->word, " -w");
	notice_add_switch(out, q->invert, " -v");
	notice_add_switch(out, q->literal, " -F");
	notice_add_switch(out, q->binary, " -a");
	notice_add_switch(out, q->count, " -c");
	notice_add_switch(out, q->names, " -l");
	notice_add_switch(out, q->json, " --json");
	if (q->before == q->after) {
		notice_add_number(out, "-C", q->before);
	} else {
		notice_add_number(out, "-B", q->before);
		notice_add_number(out, "-A", q->after);
	}
}

void notice_next(struct buffer *out, const struct notice_query *q, const struct listing *l)
{
	if (!l->next_in)
		return;
	notice_add_search(out, q, l->next_in);
	notice_add_number(out, notice_option(q, 0), l->next);
	if (l->out_of_room)
		notice_add_number(out, notice_option(q, 1), q->limit);
}

void notice_all(struct buffer *out, const struct notice_query *q, const struct listing *l)
{
	notice_add_search(out, q, q->place);
	if (q->from > 1)
		notice_add_number(out, notice_option(q, 0), q->from);
	notice_add_number(out, notice_option(q, 1), l->total);
}

/* --- what read leaves out --------------------------------------------------------- */

/* "9", or "-9": the ninth from the end. */
static void notice_add_line(struct buffer *out, int64_t line)
{
	char count[HUMAN_LEN];
	buffer_printf(out, "%s%s", line < 0 ? "-" : "",
		      human_count(count, line < 0 ? (uint64_t)-line : (uint64_t)line));
}

void notice_omitted(struct buffer *out, const struct notice_place *place, int64_t first,
		    uint64_t count)
{
	char lines[HUMAN_LEN];
	buffer_printf(out, "[... %s line%s omitted: ", human_count(lines, count),
		      count == 1 ? "" : "s");
	notice_read_lines(out, place, first, count);
	buffer_append_string(out, "]\n");
}

void notice_cut(struct buffer *out, const struct notice_place *place, const struct page *p)
{
	const struct page_cut *cut = &p->cut;
	buffer_printf(out, "[... bytes %" PRIu64 "-%" PRIu64, cut->at, cut->at + cut->bytes - 1);
	if (cut->before) {
		buffer_append_string(out, " of line ");
		notice_add_line(out, p->pieces[p->count - 1].number);
	}
	buffer_append_string(out, " omitted: ");
	notice_read_bytes(out, place, cut->at, cut->bytes);
	buffer_append_string(out, "]\n");
}

void notice_page(struct buffer *out, const struct notice_place *place, const struct page *p,
		 uint64_t total, bool exact)
{
	char count[HUMAN_LEN];
	/* A line that continues behind a gap is shown in part. */
	int64_t to = p->next_byte ? p->next : p->next - 1;
	bool many = to > p->first, lines = p->stop == PAGE_LINES;
	buffer_append_string(out, many ? "[terse: lines " : "[terse: line ");
	notice_add_line(out, p->first);
	if (many) {
		buffer_append_string(out, to < 0 ? " to " : "-");
		notice_add_line(out, to);
	}
	buffer_printf(out, " of %s%s shown", exact ? "" : "more than ", human_count(count, total));
	if (p->stop != PAGE_ASKED)
		buffer_printf(out, " (limit %s %s)",
			      human_count(count, lines ? p->request->most : place->room),
			      lines ? "lines" : "bytes");
	buffer_append_string(out, "; continue: ");
	notice_page_next(out, place, p);
	buffer_append_string(out, "]\n");
}

void notice_slice(struct buffer *out, const struct notice_place *place, const struct slice *s,
		  uint64_t total, uint64_t length)
{
	char first[HUMAN_LEN], last[HUMAN_LEN], all[HUMAN_LEN];
	if (s->to > s->from)
		buffer_printf(out, "[terse: bytes %s-%s", human_count(first, s->from),
			      human_count(last, s->to - 1));
	else
		buffer_append_string(out, "[terse: no bytes");
	buffer_printf(out, " of %s shown; continue: ", human_count(all, total));
	notice_slice_next(out, place, s, length);
	buffer_append_string(out, "]\n");
}

void notice_running(struct buffer *out, const struct notice_place *place, int64_t line)
{
	buffer_append_string(out, "[terse: the run goes on: ");
	notice_read_lines(out, place, line, 0);
	buffer_append_string(out, "]\n");
}

/* --- what search leaves out ------------------------------------------------------- */

/* "[100 of 82,310 matches" */
static void notice_add_shown(struct buffer *out, uint64_t shown, uint64_t total, const char *what)
{
	char counts[2][HUMAN_LEN];
	buffer_printf(out, "[%s of %s %s", human_count(counts[0], shown),
		      human_count(counts[1], total), what);
}

static void notice_add_from(struct buffer *out, const struct notice_query *q)
{
	char line[HUMAN_LEN];
	if (q->from > 1)
		buffer_printf(out, " from line %s on", human_count(line, q->from));
}

void notice_more(struct buffer *out, const struct notice_query *q, const struct listing *l)
{
	char line[HUMAN_LEN];
	notice_add_shown(out, l->shown, l->total, l->total == 1 ? "match" : "matches");
	notice_add_from(out, q);
	if (!l->next_in) {
		buffer_append_string(out, " shown, not all lines around them]\n");
		return;
	}
	if (l->out_of_room) {
		buffer_append_string(out, " shown, as many as fit: ");
	} else {
		buffer_append_string(out, " shown: ");
		notice_all(out, q, l);
		buffer_append_string(out, ", or narrow the pattern]\n[next match: ");
		if (!q->place)
			buffer_printf(out, "%s, ", l->next_in);
		buffer_printf(out, "line %s: ", human_count(line, l->next));
	}
	notice_next(out, q, l);
	buffer_append_string(out, l->out_of_room ? ", or narrow the pattern]\n" : "]\n");
}

void notice_more_artifacts(struct buffer *out, const struct notice_query *q, uint64_t shown,
			   uint64_t total, bool out_of_room)
{
	notice_add_shown(out, shown, total, "artifacts shown: ");
	if (!out_of_room) {
		notice_add_search(out, q, NULL);
		notice_add_number(out, notice_option(q, 1), total);
		buffer_append_string(out, ", or ");
	}
	buffer_append_string(out, "narrow the pattern]\n");
}

void notice_gave_up(struct buffer *out, const struct notice_query *q, const char *place,
		    uint64_t line, const char *reason)
{
	char number[HUMAN_LEN];
	buffer_printf(out, "gave up at line %s", human_count(number, line));
	if (!q->place)
		buffer_printf(out, " of %s", place);
	buffer_printf(out, ": %s; behind it: ", reason);
	notice_add_search(out, q, place);
	notice_add_number(out, notice_option(q, 0), line + 1);
}

void notice_up_to(struct buffer *out, uint64_t shown, uint64_t line)
{
	char count[HUMAN_LEN], number[HUMAN_LEN];
	buffer_printf(out, "[%s match%s shown, up to line %s where the search gave up]\n",
		      human_count(count, shown), shown == 1 ? "" : "es", human_count(number, line));
}

void notice_binary(struct buffer *out, const struct notice_query *q, const char *kind,
		   uint64_t total)
{
	char count[HUMAN_LEN];
	buffer_printf(out, "[%s line%s in binary data", human_count(count, total),
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

void notice_nothing(struct buffer *out, const struct notice_query *q, const struct walk *w,
		    bool apart)
{
	char count[HUMAN_LEN];
	uint64_t lines = walk_lines(w), before = q->from - 1;
	lines = lines > before ? lines - before : 0;
	buffer_printf(out, "%s in %s line%s", q->invert ? "none that does not match" : "no match",
		      human_count(count, lines), lines == 1 ? "" : "s");
	notice_add_from(out, q);
	notice_add_switch(out, apart, "; standard error was kept apart, see ");
	notice_add_switch(out, apart, q->tools ? "stream=stderr" : "--stderr");
	if (!q->invert)
		notice_add_advice(out, q);
	if (walk_long_line(w)) {
		buffer_append_string(out, "; ");
		notice_long_line(out, walk_long_line(w));
	}
}

void notice_long_line(struct buffer *out, uint64_t line)
{
	char number[HUMAN_LEN], size[HUMAN_LEN];
	buffer_printf(out, "line %s was searched in pieces: a match of over %s in it is missed",
		      human_count(number, line), human_size(size, WALK_EDGE));
}

size_t notice_room(const struct notice_query *q, const char *name)
{
	size_t words = strlen(q->pattern) + (q->session ? strlen(q->session) : 0) +
		       (name ? strlen(name) : 0);
	/* The command stands there twice; a byte becomes four at most. */
	return 512 + 2 * 4 * words;
}
