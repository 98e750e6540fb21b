// terse changes: the lines in which the texts of two runs differ, as a unified diff.

#include "lib/buffer.h"
#include "lib/human.h"
#include "lib/io.h"
#include "lib/json.h"
#include "lib/quote.h"
#include "lib/utf8.h"
#include "supervisor/artifact/earlier.h"
#include "supervisor/artifact/journal.h"
#include "supervisor/artifact/meta.h"
#include "supervisor/artifact/text.h"
#include "supervisor/command/person.h"
#include "supervisor/command/runs.h"
#include "supervisor/command/verb.h"
#include "supervisor/compare/differ.h"
#include "supervisor/reading/walk.h"
#include "supervisor/report/file_type.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	CONTEXT = 3, /* lines around a change */
	NOTICE_ROOM =
		1024,     /* of a page, for the last line and the marker of a change that is cut */
	LINE_BYTES = 500, /* of a long line, for an agent */
	FLUSHED = 16384,  /* bytes that are collected before they are printed */
};

struct changes {
	struct verb_call *call;
	enum sink sink;
	bool exact;
	bool standard_error;
	uint64_t offset; /* number of the first change to show */
	/* The two texts: as they are compared, and as they are printed. */
	char names[2][ID_LEN + 1]; /* "": a file */
	const char *paths[2];
	struct buffer quoted[2];
	struct text texts[2], shown_texts[2];
	struct buffer titles[2];

	struct differ_change *joined; /* neighbours, not printed yet */
	size_t joined_count, joined_room;
	struct differ_facts facts;
	struct differ_change place; /* of the change that is made: its lines */
	uint64_t total, shown;      /* changes */
	uint64_t lines[2];          /* gone, new */
	bool full;                  /* no more fits */
	size_t used;                /* of the page */
	struct buffer text;         /* of a change */
	struct buffer out;
};

enum mark { MARK_CONTEXT = ' ', MARK_OLD = '-', MARK_NEW = '+' };

/* Whether all is printed, whatever its size. */
static bool changes_is_whole(const struct changes *c)
{
	return !c->call->json && (c->sink == SINK_PROGRAM || c->sink == SINK_PERSON);
}

/* What begins the colour of such a line; "" of context. */
static const char *changes_colour(const struct changes *c, char mark)
{
	return paint_code(c->call->colour && mark != MARK_CONTEXT, mark == MARK_OLD   ? PAINT_BAD
								   : mark == MARK_NEW ? PAINT_GOOD
								   : mark == '@'      ? PAINT_PLACE
										 : PAINT_TITLE);
}

static int changes_flush(struct changes *c)
{
	int result = verb_write(&c->out);
	buffer_clear(&c->out);
	return result;
}

/* Reads lines of one text from a place on. */
static struct walk *changes_walk(struct changes *c, int which, uint64_t offset, uint64_t number)
{
	const struct walk_options options = {.from = number, .here = true};
	text_seek_byte(&c->shown_texts[which], offset);
	return walk_new(&c->shown_texts[which], NULL, &options);
}

/* Adds the next line of a text; of a part that was not kept, the line that says so. *count: the
   lines that it stands for. Returns 1, 0 at the end, or -1 with errno. */
static int changes_add_line(struct changes *c, enum mark mark, struct walk *w, uint64_t *count)
{
	char words[GAP_ANNOUNCE_MAX];
	struct walk_line line;
	enum walk_kind kind = walk_step(w, &line);
	*count = 1;
	if (kind == WALK_GAP) {
		const struct gap *gap = &walk_gap(w)->gap;
		line.data = words;
		line.len = gap_announce(words, gap) - 1;
		*count = gap->to - gap->from + 1;
	} else if (kind != WALK_LINE) {
		return kind == WALK_END ? 0 : -1;
	}
	size_t most = changes_is_whole(c) ? line.len : LINE_BYTES;
	size_t shown = line.len > most ? utf8_floor(line.data, line.len, most) : line.len;
	buffer_append_string(&c->text, changes_colour(c, (char)mark));
	buffer_printf(&c->text, "%c", mark);
	/* A program gets the bytes. */
	if (c->sink == SINK_PROGRAM && !c->call->json)
		buffer_append(&c->text, line.data, shown);
	else
		utf8_clean(&c->text, line.data, shown);
	uint64_t left = line.len - shown;
	while (kind == WALK_LINE && line.more_behind) {
		kind = walk_step(w, &line);
		left += line.len;
	}
	if (left > 0)
		buffer_printf(&c->text, "[... %s more]", HUMAN_SIZE(left));
	buffer_append_string(&c->text, paint_none(c->call->colour && mark != MARK_CONTEXT));
	buffer_append_string(&c->text, "\n");
	return kind == WALK_FAILED ? -1 : 1;
}

/* Adds lines of one text, `lines` at most. *left is how many were not added, since they do not
   fit. Returns 0, or -1 with errno. */
static int changes_add_lines(struct changes *c, int which, enum mark mark,
			     const struct differ_lines *lines, uint64_t *left)
{
	struct walk *w = lines->count ? changes_walk(c, which, lines->offset, lines->from) : NULL;
	int got = lines->count && !w ? -1 : 1;
	uint64_t count;
	/* Bytes of a page for changes. The last line names both texts, and so does the line behind
	   a change that is cut, which can only be the first. */
	size_t names = (c->quoted[0].len + c->quoted[1].len) * (c->shown == 0 ? 2 : 1);
	size_t room = names < READER_PAGE / 2 ? READER_PAGE - NOTICE_ROOM - names : READER_PAGE / 4;
	*left = lines->count;
	while (got > 0 && *left > 0) {
		size_t before = c->text.len;
		got = changes_add_line(c, mark, w, &count);
		if (got > 0 && !changes_is_whole(c) && c->used + c->text.len > room) {
			buffer_truncate(&c->text, before);
			break;
		}
		*left -= got > 0 && count < *left ? count : *left;
		/* What is printed whole may be larger than memory. */
		if (changes_is_whole(c) && c->text.len > FLUSHED) {
			buffer_add(&c->out, &c->text);
			buffer_clear(&c->text);
			if (changes_flush(c) < 0)
				got = -1;
		}
	}
	walk_free(w);
	return got < 0 || buffer_check(&c->text) < 0 ? -1 : 0;
}

/* "[... the rest of this change: terse read A --lines 31-40; terse read B --lines 33-90]" */
static void changes_add_rest(struct changes *c, const struct differ_change *rest)
{
	const char *before = "[... the rest of this change: ";
	for (int i = 0; i < 2; i++) {
		const struct differ_lines *l = &rest->lines[i];
		if (l->count == 0)
			continue;
		buffer_printf(&c->text, "%sterse read %s%s --lines %" PRIu64, before,
			      c->quoted[i].data, c->standard_error ? " --stderr" : "", l->from);
		if (l->count > 1)
			buffer_printf(&c->text, "-%" PRIu64, l->from + l->count - 1);
		before = "; ";
	}
	buffer_append_string(&c->text, "]\n");
}

/* Adds the joined changes. *cut: not all of it fits; `rest` is what does not. */
static int changes_add_joined(struct changes *c, bool *cut, struct differ_change *rest)
{
	const struct differ_change *last = &c->joined[c->joined_count - 1];
	*cut = false;
	for (size_t i = 0; i < c->joined_count && !*cut; i++) {
		const struct differ_change *j = &c->joined[i];
		uint64_t left[2] = {0};
		if (i > 0) {
			/* The lines between two joined changes are the same in both. */
			const struct differ_lines *x = &j[-1].lines[1], *y = &j->lines[1];
			const struct differ_lines same = {.from = x->from + x->count,
							  .count = y->from - x->from - x->count,
							  .offset = x->end,
							  .end = y->offset};
			if (changes_add_lines(c, 1, MARK_CONTEXT, &same, &left[0]) < 0)
				return -1;
			*cut = left[0] > 0;
			left[0] = *cut ? j->lines[0].count : 0;
			left[1] = *cut ? j->lines[1].count : 0;
		}
		if (!*cut && (changes_add_lines(c, 0, MARK_OLD, &j->lines[0], &left[0]) < 0 ||
			      changes_add_lines(c, 1, MARK_NEW, &j->lines[1], &left[1]) < 0))
			return -1;
		*cut = *cut || left[0] > 0 || left[1] > 0;
		for (int k = 0; k < 2 && *cut; k++) {
			const struct differ_lines *l = &last->lines[k];
			rest->lines[k].from = j->lines[k].from + j->lines[k].count - left[k];
			rest->lines[k].count = l->from + l->count - rest->lines[k].from;
		}
	}
	return 0;
}

/* "12,7", as a unified diff names lines: of none, the line in front. */
static void changes_add_numbers(struct buffer *out, char mark, const struct differ_lines *l)
{
	buffer_printf(out, "%c%" PRIu64, mark, l->count ? l->from : l->from - 1);
	if (l->count != 1)
		buffer_printf(out, ",%" PRIu64, l->count);
}

/* Makes the text of lines that one of the texts has, without context: where they belong in the
   other one is not known. Returns as changes_add_lines. */
static int changes_make_apart(struct changes *c, bool *cut)
{
	c->place = c->joined[0];
	int which = c->place.lines[0].count == 0;
	const struct differ_lines *lines = &c->place.lines[which];
	struct differ_change rest = {.lines = {{.count = 0}}};
	uint64_t left;
	if (!c->call->json) {
		buffer_append_string(&c->text, "@@ ");
		changes_add_numbers(&c->text, which ? '+' : '-', lines);
		buffer_append_string(&c->text, " @@\n");
	}
	if (changes_add_lines(c, which, which ? MARK_NEW : MARK_OLD, lines, &left) < 0)
		return -1;
	*cut = left > 0;
	rest.lines[which].from = lines->from + lines->count - left;
	rest.lines[which].count = left;
	if (*cut)
		changes_add_rest(c, &rest);
	return 0;
}

/* Makes the text of the joined changes, with context, in c->text. Returns as changes_add_lines. */
static int changes_make(struct changes *c, bool *cut)
{
	const struct differ_change *first = &c->joined[0], *last = &c->joined[c->joined_count - 1];
	const struct differ_lines *above = &first->lines[1], *below = &last->lines[1];
	struct differ_change rest = {0};
	uint64_t left;
	if (c->facts.apart)
		return changes_make_apart(c, cut);

	/* The lines of context in front of them, and behind. */
	uint64_t most = above->from - 1 < CONTEXT ? above->from - 1 : CONTEXT;
	struct differ_lines before = {.from = above->from, .offset = above->offset},
			    behind = {.from = below->from + below->count, .offset = below->end};
	while (before.count < most && before.offset > 0) {
		if (text_line_start(&c->shown_texts[1], before.offset - 1, &before.offset) < 0)
			return -1;
		before.count++;
		before.from--;
	}
	struct walk *w = changes_walk(c, 1, behind.offset, behind.from);
	struct walk_line line;
	enum walk_kind kind = w ? WALK_LINE : WALK_FAILED;
	while (kind == WALK_LINE && behind.count < CONTEXT) {
		kind = walk_step(w, &line);
		behind.count += kind == WALK_LINE && !line.more_behind;
	}
	walk_free(w);
	if (kind == WALK_FAILED)
		return -1;
	for (int i = 0; i < 2; i++) {
		const struct differ_lines *from = &first->lines[i], *to = &last->lines[i];
		c->place.lines[i] = (struct differ_lines){
			.from = from->from - before.count,
			.count = to->from + to->count + behind.count - from->from + before.count};
	}
	if (!c->call->json) {
		buffer_append_string(&c->text, changes_colour(c, '@'));
		buffer_append_string(&c->text, "@@ ");
		changes_add_numbers(&c->text, '-', &c->place.lines[0]);
		buffer_append_string(&c->text, " ");
		changes_add_numbers(&c->text, '+', &c->place.lines[1]);
		buffer_append_string(&c->text, " @@");
		buffer_append_string(&c->text, paint_none(c->call->colour));
		buffer_append_string(&c->text, "\n");
	}
	if (changes_add_lines(c, 1, MARK_CONTEXT, &before, &left) < 0 ||
	    changes_add_joined(c, cut, &rest) < 0)
		return -1;
	if (*cut) {
		changes_add_rest(c, &rest);
		return 0;
	}
	int result = changes_add_lines(c, 1, MARK_CONTEXT, &behind, &left);
	*cut = left > 0;
	return result;
}

/* Prints the joined changes as one, if that is wanted and fits. */
static int changes_print(struct changes *c)
{
	bool cut = false;
	if (c->joined_count == 0)
		return 0;
	c->total++;
	for (size_t i = 0; i < c->joined_count; i++) {
		c->lines[0] += c->joined[i].lines[0].count;
		c->lines[1] += c->joined[i].lines[1].count;
	}
	if (c->total >= c->offset && !c->full) {
		buffer_clear(&c->text);
		for (int i = 0; i < 2 && c->shown == 0 && !c->call->json; i++) {
			buffer_append_string(&c->text, changes_colour(c, '='));
			buffer_printf(&c->text, "%s ", i ? "+++" : "---");
			buffer_add(&c->text, &c->titles[i]);
			buffer_append_string(&c->text, paint_none(c->call->colour));
			buffer_append_string(&c->text, "\n");
		}
		c->used += c->text.len;
		buffer_add(&c->out, &c->text);
		buffer_clear(&c->text);
		if (changes_make(c, &cut) < 0)
			return -1;
		/* Only the first one is cut; later ones wait for the next page. */
		c->full = cut;
		if (!cut || c->shown == 0) {
			c->shown++;
			c->used += c->text.len;
			if (!c->call->json) {
				buffer_add(&c->out, &c->text);
			} else {
				json_begin_object(&c->out, NULL);
				for (int i = 0; i < 2; i++) {
					const struct differ_lines *l = &c->place.lines[i];
					json_add_count(&c->out, i ? "new_from" : "old_from",
						       l->from);
					json_add_count(&c->out, i ? "new_lines" : "old_lines",
						       l->count);
				}
				json_add_text(&c->out, "text", c->text.data, c->text.len);
				json_end_object(&c->out);
			}
		}
	}
	c->joined_count = 0;
	return c->call->json ? 0 : changes_flush(c);
}

static int changes_take(void *ctx, const struct differ_change *change)
{
	struct changes *c = ctx;
	if (c->joined_count > 0) {
		const struct differ_lines *last = &c->joined[c->joined_count - 1].lines[1];
		bool near = !c->facts.apart &&
			    change->lines[1].from - last->from - last->count <= 2 * CONTEXT;
		if (!near && changes_print(c) < 0)
			return -1;
	}
	struct differ_change *joined =
		array_add(&c->joined, &c->joined_count, &c->joined_room, sizeof(*joined));
	if (!joined)
		return -1;
	*joined = *change;
	return 0;
}

/* --- which texts ---------------------------------------------------------------------- */

/* Finds the run before the one that is named (NULL: the newest) of the same command. Returns 0, or
   -1 after saying why not. */
static int changes_find_pair(struct changes *c, const char *name)
{
	struct store stores[STORE_MAX];
	struct id_found found, before;
	struct meta m = {0};
	char session[STORE_SESSION_LEN + 1];
	struct buffer words = BUFFER_INIT;
	int count = 0, got;
	if (!verb_has_session(c->call))
		return -1;
	verb_session_name(c->call->settings, c->call->session, session);
	if (name) {
		got = verb_find(c->call, name, stores, &count, &found) == 0 ? 1 : -2;
	} else {
		count = store_open_all(stores);
		struct journal *j = journal_open(stores, count, session, JOURNAL_MADE);
		got = j ? journal_next_made(j, &found) : -1;
		journal_close(j);
	}
	if (got == -2)
		verb_not_found(c->call, name, errno, &found);
	else if (got == 0)
		verb_fail(c->call, ENVELOPE_UNKNOWN_ARTIFACT, "no artifact in session %s", session);
	else if (got < 0 || verb_read_meta(&found, &m) < 0)
		verb_fail(c->call, ENVELOPE_UNREADABLE, "%s: %m", got < 0 ? session : found.id);
	else if ((got = earlier_find(stores, count, found.session, &m, &before)) < 0)
		verb_fail(c->call, ENVELOPE_UNREADABLE, "%m");
	else if (got == 0) {
		row_add_command(&words, &m);
		verb_fail(c->call, ENVELOPE_UNKNOWN_ARTIFACT,
			  "no text was kept of an earlier run of %s in this directory (terse list; "
			  "terse changes ID ID compares any two)",
			  buffer_string(&words) ? words.data : "it");
	} else {
		memcpy(c->names[0], before.id, sizeof(before.id));
		memcpy(c->names[1], found.id, sizeof(found.id));
		c->paths[0] = c->names[0];
		c->paths[1] = c->names[1];
	}
	buffer_release(&words);
	meta_release(&m);
	store_close_all(stores, count);
	return c->paths[0] ? 0 : -1;
}

/* Opens the texts, each twice, and makes their titles: "cmd-1m5zq8k3x7f, exit 1, 3 min ago".
   Returns 0, or -1 after saying what is wrong. */
static int changes_open(struct changes *c)
{
	enum artifact_part part = c->standard_error ? ARTIFACT_ERR : ARTIFACT_OUT;
	const char *kind;
	char age[HUMAN_LEN];
	for (int i = 0; i < 2; i++) {
		struct text *t = &c->texts[i];
		struct buffer *title = &c->titles[i];
		struct meta m;
		if (verb_open(c->call, part, c->paths[i], t) < 0)
			return -1;
		const char *name = *t->id ? t->id : c->paths[i];
		if (*name == '-')
			buffer_append_string(&c->quoted[i], "./");
		quote_append(&c->quoted[i], name);
		if (!buffer_string(&c->quoted[i]) ||
		    verb_open(c->call, part, name, &c->shown_texts[i]) < 0)
			return -1;
		if (!*t->id && verb_is_binary(t, &kind)) {
			verb_fail(c->call, ENVELOPE_BINARY, "%s: binary data", c->paths[i]);
			return -1;
		}
		buffer_append_string(title, c->quoted[i].data);
		if (!*t->id || meta_read(t->dir, t->id, &m) < 0)
			continue;
		if (m.state == META_DONE && m.exit_code >= 0)
			buffer_printf(title, ", exit %d", m.exit_code);
		else if (m.signal)
			buffer_printf(title, ", %s", HUMAN_SIGNAL(m.signal));
		else
			buffer_printf(title, ", %s", meta_state_name(m.state));
		buffer_printf(title, ", %s ago", human_age(age, clock_real_ms() - m.started_ms));
		meta_release(&m);
	}
	return 0;
}

/* --- all of it ------------------------------------------------------------------------ */

/* "terse changes A B", with the options that were given. */
static void changes_add_command(struct buffer *out, const struct changes *c, bool exact)
{
	buffer_printf(out, "terse changes %s %s%s%s", c->quoted[0].data, c->quoted[1].data,
		      c->standard_error ? " --stderr" : "", exact ? " --exact" : "");
}

static void changes_add_next(struct buffer *out, const struct changes *c)
{
	changes_add_command(out, c, c->exact);
	buffer_printf(out, "%s --offset %" PRIu64, c->call->json ? " --json" : "",
		      c->offset + c->shown);
}

/* "; only numbers, times, hashes or temporary paths differ in 3 lines: terse changes A B --exact"
 */
static void changes_add_masked(const struct changes *c, struct buffer *out)
{
	if (c->exact || (!c->facts.masked && !c->facts.apart))
		return;
	if (c->facts.apart)
		buffer_append_string(out,
				     "; numbers, times, hashes and temporary paths do not count: ");
	else
		buffer_printf(
			out,
			"; only numbers, times, hashes or temporary paths differ in %s %sline%s: ",
			HUMAN_COUNT(c->facts.masked), c->total ? "more " : "",
			c->facts.masked == 1 ? "" : "s");
	changes_add_command(out, c, true);
}

/* The last line: what there is, and how to go on. */
static void changes_add_end(const struct changes *c, struct buffer *out, bool more)
{
	if (c->facts.same) {
		buffer_append_string(out, "[same text]\n");
		return;
	}
	if (c->total == 0) {
		if (c->facts.apart)
			buffer_append_string(out, "[too long to be put in order; no line that the "
						  "other text has nowhere");
		else
			buffer_append_string(out, c->facts.masked
							  ? "[no changes"
							  : "[same text, as far as it was kept");
		changes_add_masked(c, out);
		buffer_append_string(out, "]\n");
		return;
	}
	buffer_append_string(
		out, c->facts.apart ? "[too long to be put in order, so lines that the other text "
				      "has nowhere: "
				    : "[");
	if (c->shown < c->total && c->shown > 0)
		buffer_printf(out, "changes %" PRIu64 "-%" PRIu64 " of ", c->offset,
			      c->offset + c->shown - 1);
	buffer_printf(out, "%s change%s%s; in all %s line%s gone, %s new", HUMAN_COUNT(c->total),
		      c->total == 1 ? "" : "s", c->shown < c->total && c->shown ? " shown" : "",
		      HUMAN_COUNT(c->lines[0]), c->lines[0] == 1 ? "" : "s",
		      HUMAN_COUNT(c->lines[1]));
	changes_add_masked(c, out);
	if (more) {
		buffer_append_string(out, "; continue: ");
		changes_add_next(out, c);
	}
	buffer_append_string(out, "]\n");
}

/* Compares and prints. Returns 0, or -1 with errno. */
static int changes_compare(struct changes *c)
{
	const struct differ differ = {.texts = {&c->texts[0], &c->texts[1]},
				      .exact = c->exact,
				      .facts = &c->facts,
				      .change = changes_take,
				      .ctx = c};
	struct buffer *out = &c->out, next = BUFFER_INIT, notice = BUFFER_INIT;
	if (c->call->json) {
		envelope_begin(out);
		for (int i = 0; i < 2; i++) {
			json_begin_object(out, i ? "new_text" : "old_text");
			verb_json_place(out, &c->texts[i], c->paths[i]);
			json_end_object(out);
		}
		json_begin_array(out, "changes");
	}
	if (differ_run(&differ) < 0 || changes_print(c) < 0)
		return -1;
	bool more = c->offset + c->shown <= c->total;
	if (!c->call->json) {
		changes_add_end(c, &notice, more);
		int result = reader_notice(c->sink, &notice);
		buffer_release(&notice);
		return result;
	}
	json_end_array(out);
	json_add_bool(out, "identical", c->facts.same);
	json_add_count(out, "shown", c->shown);
	json_add_count(out, "total", c->total);
	json_add_count(out, "gone", c->lines[0]);
	json_add_count(out, "new", c->lines[1]);
	json_add_known(out, "masked", !c->facts.apart, c->facts.masked);
	json_add_bool(out, "in_order", !c->facts.apart);
	json_add_bool(out, "truncated", more);
	if (more)
		changes_add_next(&next, c);
	json_add_made(out, "next", &next);
	envelope_end(out);
	return verb_write(out);
}

static int changes_run(struct verb_call *context)
{
	struct changes made = {.call = context, .offset = 1}, *c = &made;
	pid_t pager = 0;
	int status = 1;
	if (verb_parse(context, c) < 0)
		return EXIT_TERSE;
	for (int i = 0; i < 2; i++)
		c->texts[i].fd = c->shown_texts[i].fd = -1;
	bool both = context->operand_count == 2;
	for (int i = 0; both && i < 2; i++)
		c->paths[i] = context->operands[i];
	if ((!both && changes_find_pair(c, context->operands[0]) < 0) || changes_open(c) < 0)
		goto out;
	c->sink = c->call->json ? SINK_AGENT : reader_of_text();
	if (c->sink == SINK_PERSON)
		pager = pager_start();
	status = changes_compare(c) < 0 && errno != EPIPE;
	if (status)
		verb_fail(c->call, ENVELOPE_UNREADABLE, "%m");
	pager_end(pager);
out:
	for (int i = 0; i < 2; i++) {
		if (c->texts[i].fd >= 0)
			text_close(&c->texts[i]);
		if (c->shown_texts[i].fd >= 0)
			text_close(&c->shown_texts[i]);
		buffer_release(&c->quoted[i]);
		buffer_release(&c->titles[i]);
	}
	buffer_release(&c->text);
	buffer_release(&c->out);
	free(c->joined);
	return status;
}

static const struct verb_option changes_options[] = {
	{"--exact", 0, VERB_FLAG, offsetof(struct changes, exact), NULL,
	 "numbers, times, hashes and temporary paths count"},
	{"--offset", 0, VERB_COUNT, offsetof(struct changes, offset), "N",
	 "start at the N-th change"},
	{"--stderr", 0, VERB_FLAG, offsetof(struct changes, standard_error), NULL,
	 "standard error, if it was kept apart"},
	VERB_LAST_ROW,
	VERB_JSON_ROW,
	VERB_COLOR_ROW,
	VERB_END_ROW,
};

const struct verb verb_changes = {
	.name = "changes",
	.purpose = "print the lines in which two runs differ",
	.forms = "[ID|FILE [ID|FILE]]",
	.text = "Prints the lines in which the texts of two runs differ, as a unified diff with "
		"the\n"
		"line numbers of both; of one ID, that run against the one before of the same\n"
		"command in the same directory; without one, the last run. Numbers, times, hashes\n"
		"and temporary paths do not count.\n",
	.options = changes_options,
	.most = 2,
	.run = changes_run,
};
