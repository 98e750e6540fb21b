// terse changes: the lines in which the texts of two runs differ, as a unified diff.

#include "lib/human.h"
#include "lib/json.h"
#include "lib/utf8.h"
#include "supervisor/artifact/earlier.h"
#include "supervisor/artifact/text.h"
#include "supervisor/command/internal.h"
#include "supervisor/compare/differ.h"
#include "supervisor/reading/walk.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum {
	CONTEXT = 3,        /* lines around a change */
	NOTICE_ROOM = 1024, /* bytes of a page that are kept for the last line, and the marker of a
			       cut change */
	LINE_BYTES = 500,   /* the most bytes of a line that an agent gets */
	FLUSHED = 16384,    /* the approximate size of the pieces in which output is printed, in
			       bytes */
};

struct changes {
	struct verb_call *call;
	enum sink sink;
	bool exact;
	bool standard_error;
	uint64_t offset;           /* number of the first change to show */
	char names[2][ID_LEN + 1]; /* "": a file */
	const char *paths[2];
	struct buffer quoted[2], titles[2];
	struct wording_place places[2];
	struct text texts[2];

	struct differ_change *joined; /* neighbouring changes that are printed together */
	size_t joined_count, joined_room;
	struct differ_facts facts;
	uint64_t at[2];        /* numbers of the next lines of both texts, in the change that is
				  being made */
	uint64_t total, shown; /* numbers of changes */
	uint64_t lines[2];     /* numbers of removed and of new lines */
	bool full;             /* the page is full */
	size_t used;           /* bytes of the page */
	struct buffer text;    /* the change that is made */
	struct buffer out;
};

enum mark { MARK_CONTEXT = ' ', MARK_OLD = '-', MARK_NEW = '+' };

/* The sequence that begins the colour of a line with this mark; "" for context. */
static const char *changes_colour(const struct changes *c, char mark)
{
	return paint_code(c->call->colour && mark != MARK_CONTEXT, mark == MARK_OLD   ? PAINT_BAD
								   : mark == MARK_NEW ? PAINT_GOOD
								   : mark == '@'      ? PAINT_PLACE
										 : PAINT_TITLE);
}

/* Adds lines of one text. Returns 1; 0 if not all of them fit; or -1 with errno. */
static int changes_add_lines(struct changes *c, int which, enum mark mark,
			     const struct differ_lines *lines)
{
	const struct walk_options options = {.from = lines->from, .here = true};
	/* Whether everything is printed, without a limit. */
	const bool whole = c->sink == SINK_PROGRAM || c->sink == SINK_PERSON;
	char words[GAP_ANNOUNCE_MAX];
	struct walk_line line;
	uint64_t left = lines->count;
	/* Bytes of a page for changes. The last line and the marker of a cut change both name the
	   two texts. */
	size_t names = 2 * (c->quoted[0].len + c->quoted[1].len);
	size_t room = names < READER_PAGE / 2 ? READER_PAGE - NOTICE_ROOM - names : READER_PAGE / 4;
	/* Each byte of a string may need an escape. */
	if (c->call->json)
		room /= 2;
	if (left == 0)
		return 1;
	text_seek_byte(&c->texts[which], lines->offset);
	struct walk *w = walk_new(&c->texts[which], NULL, &options);
	int result = w ? 1 : -1;
	while (result > 0 && left > 0) {
		size_t before = c->text.len;
		uint64_t count = 1;
		enum walk_kind kind = walk_step(w, &line);
		/* A gap is one line, which announces it. */
		if (kind == WALK_GAP) {
			const struct gap *gap = &line.gap->gap;
			line.data = words;
			line.len = gap_announce(words, gap) - 1;
			count = gap->to - gap->from + 1;
		} else if (kind != WALK_LINE) {
			result = kind == WALK_END ? 0 : -1;
			break;
		}
		size_t most = whole ? line.len : LINE_BYTES;
		size_t shown = line.len > most ? utf8_floor(line.data, line.len, most) : line.len;
		buffer_append_string(&c->text, changes_colour(c, (char)mark));
		buffer_printf(&c->text, "%c", mark);
		/* A program gets the unchanged bytes. */
		if (c->sink == SINK_PROGRAM)
			buffer_append(&c->text, line.data, shown);
		else
			utf8_clean(&c->text, line.data, shown);
		uint64_t rest = line.len - shown;
		while (kind == WALK_LINE && line.more_behind) {
			kind = walk_step(w, &line);
			rest += line.len;
		}
		if (rest > 0)
			buffer_printf(&c->text, "[... %s more]", HUMAN_SIZE(rest));
		buffer_append_string(&c->text, paint_none(c->call->colour && mark != MARK_CONTEXT));
		buffer_append_string(&c->text, "\n");
		/* diff and patch use this line if the newline at the end is missing. */
		if (kind == WALK_LINE && !line.newline)
			buffer_append_string(&c->text, "\\ No newline at end of file\n");
		if (!whole && c->used + c->text.len > room) {
			buffer_truncate(&c->text, before);
			result = 0;
			break;
		}
		count = count < left ? count : left;
		left -= count;
		c->at[0] += mark == MARK_NEW ? 0 : count;
		c->at[1] += mark == MARK_OLD ? 0 : count;
		/* Output without a limit may not fit into memory. */
		if (whole && c->text.len > FLUSHED) {
			buffer_add(&c->out, &c->text);
			buffer_clear(&c->text);
			result = verb_write(&c->out) < 0 ? -1 : 1;
		}
		if (kind == WALK_FAILED)
			result = -1;
	}
	walk_free(w);
	return buffer_check(&c->text) < 0 ? -1 : result;
}

/* Builds one text from the joined changes and their context in c->text. Returns as
   changes_add_lines(). */
static int changes_make(struct changes *c)
{
	const struct differ_change *first = &c->joined[0], *last = &c->joined[c->joined_count - 1];
	const struct differ_lines *above = &first->lines[1], *below = &last->lines[1];
	struct differ_lines before = {.from = above->from, .offset = above->offset},
			    behind = {.from = below->from + below->count, .offset = below->end};
	uint64_t total;

	/* Context: lines before and after the changes. */
	while (before.count < CONTEXT && before.from > 1 && before.offset > 0) {
		if (text_line_start(&c->texts[1], before.offset - 1, &before.offset) < 0)
			return -1;
		before.count++;
		before.from--;
	}
	if (text_lines(&c->texts[1], &total) < 0)
		return -1;
	if (total >= behind.from)
		behind.count = total - behind.from < CONTEXT ? total - behind.from + 1 : CONTEXT;

	/* "@@ -12,7 +12,8 @@". A range without lines has the number of the line before it. */
	buffer_append_string(&c->text, changes_colour(c, '@'));
	buffer_append_string(&c->text, "@@");
	for (int i = 0; i < 2; i++) {
		const struct differ_lines *from = &first->lines[i], *to = &last->lines[i];
		uint64_t count = to->from + to->count + behind.count - from->from + before.count;
		c->at[i] = from->from - before.count;
		buffer_printf(&c->text, " %c%" PRIu64, i ? '+' : '-', c->at[i] - (count == 0));
		if (count != 1)
			buffer_printf(&c->text, ",%" PRIu64, count);
	}
	buffer_append_string(&c->text, " @@");
	buffer_append_string(&c->text, paint_none(c->call->colour));
	buffer_append_string(&c->text, "\n");

	int fits = changes_add_lines(c, 1, MARK_CONTEXT, &before);
	for (const struct differ_change *j = first; j <= last && fits > 0; j++) {
		if (j > first) {
			/* The lines between two joined changes are the same in both. */
			const struct differ_lines *x = &j[-1].lines[1], *y = &j->lines[1];
			const struct differ_lines same = {.from = x->from + x->count,
							  .count = y->from - x->from - x->count,
							  .offset = x->end};
			fits = changes_add_lines(c, 1, MARK_CONTEXT, &same);
		}
		if (fits > 0)
			fits = changes_add_lines(c, 0, MARK_OLD, &j->lines[0]);
		if (fits > 0)
			fits = changes_add_lines(c, 1, MARK_NEW, &j->lines[1]);
	}
	if (fits > 0)
		return changes_add_lines(c, 1, MARK_CONTEXT, &behind);

	/* "[... the rest of this change: terse read A --lines 31-40; terse read B --lines 33-90]"
	 */
	const char *joint = "[... the rest of this change: ";
	for (int i = 0; i < 2; i++) {
		uint64_t end = last->lines[i].from + last->lines[i].count;
		if (c->at[i] >= end)
			continue;
		buffer_printf(&c->text, "%sterse read %s%s --lines %" PRIu64, joint,
			      c->places[i].id, c->standard_error ? " --stderr" : "", c->at[i]);
		if (end - c->at[i] > 1)
			buffer_printf(&c->text, "-%" PRIu64, end - 1);
		joint = "; ";
	}
	buffer_append_string(&c->text, "]\n");
	return fits;
}

/* Prints the joined changes as one, unless it is skipped or does not fit. */
static int changes_print(struct changes *c)
{
	if (c->joined_count == 0)
		return 0;
	c->total++;
	for (size_t i = 0; i < c->joined_count; i++) {
		c->lines[0] += c->joined[i].lines[0].count;
		c->lines[1] += c->joined[i].lines[1].count;
	}
	if (c->total >= c->offset && !c->full) {
		buffer_clear(&c->text);
		for (int i = 0; i < 2 && c->shown == 0; i++) {
			buffer_append_string(&c->text, changes_colour(c, '='));
			buffer_printf(&c->text, "%s ", i ? "+++" : "---");
			buffer_add(&c->text, &c->titles[i]);
			buffer_append_string(&c->text, paint_none(c->call->colour));
			buffer_append_string(&c->text, "\n");
		}
		int fits = changes_make(c);
		if (fits < 0)
			return -1;
		/* Only a page's first change is cut; later ones wait for the next page. */
		c->full = fits == 0;
		if (fits > 0 || c->shown == 0) {
			c->shown++;
			c->used += c->text.len;
			buffer_add(&c->out, &c->text);
		}
	}
	c->joined_count = 0;
	return c->call->json ? 0 : verb_write(&c->out);
}

static int changes_take(void *ctx, const struct differ_change *change)
{
	struct changes *c = ctx;
	if (c->joined_count > 0) {
		const struct differ_lines *last = &c->joined[c->joined_count - 1].lines[1];
		if (change->lines[1].from - last->from - last->count > 2 * CONTEXT &&
		    changes_print(c) < 0)
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

/* Finds a run (`name` NULL: the newest), and the run of the same command before it. Returns 0, or 1
   after printing an error. */
static int changes_find_pair(struct changes *c, const char *name)
{
	struct store stores[STORE_MAX];
	struct id_found found = {.store = NULL};
	struct earlier_run before = {.dir = -1};
	struct meta m = {0};
	struct buffer words = BUFFER_INIT;
	char directory[STORE_SESSION_LEN + 1];
	int count;
	if (!verb_has_session(c->call, directory))
		return 1;
	name = name ? name : "last";
	if (verb_find(c->call, name, stores, &count, &found) < 0)
		verb_not_found(c->call, name, errno);
	else if (meta_read_found(&found, &m) < 0)
		verb_fail(c->call, ENVELOPE_UNREADABLE, "%s: %s", found.id, verb_reason(errno));
	else if (earlier_find(stores, count, found.session, &m, LONG_MAX, &before, NULL) < 0)
		verb_fail(c->call, ENVELOPE_UNREADABLE, "%m");
	else if (!before.is_found) {
		row_add_command(&words, &m);
		verb_fail(c->call, ENVELOPE_UNKNOWN_ARTIFACT,
			  "no text was kept of an earlier run of %s in this directory (terse list; "
			  "terse changes ID ID compares any two)",
			  buffer_string(&words) ? words.data : "it");
	} else {
		memcpy(c->names[0], before.found.id, sizeof(before.found.id));
		memcpy(c->names[1], found.id, sizeof(found.id));
		c->paths[0] = c->names[0];
		c->paths[1] = c->names[1];
	}
	earlier_run_release(&before);
	buffer_release(&words);
	meta_release(&m);
	store_close_all(stores, count);
	return !c->paths[0];
}

/* Opens the texts, and makes their titles: "cmd-1m5zq8k3x7f, exit 1, 3 min ago". Returns 0, or 1
   after printing an error. */
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
			return 1;
		if (verb_place(c->call, t, c->paths[i], &c->quoted[i], &c->places[i]) < 0)
			return verb_fail(c->call, ENVELOPE_UNREADABLE, "%m");
		if (!*t->id && verb_is_binary(t, &kind))
			return verb_fail(c->call, ENVELOPE_BINARY, "%s: binary data", c->paths[i]);
		buffer_append_string(title, c->places[i].id);
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

/* Appends "terse changes A B" with this call's options. */
static void changes_add_command(struct buffer *out, const struct changes *c, bool exact)
{
	buffer_printf(out, "terse changes %s %s%s%s", c->places[0].id, c->places[1].id,
		      c->standard_error ? " --stderr" : "", exact ? " --exact" : "");
}

/* Appends the last line: how many changes there are, and the next command. */
static void changes_add_end(const struct changes *c, struct buffer *out, struct buffer *next)
{
	const struct differ_facts *f = &c->facts;
	if (c->total > 0) {
		buffer_append_string(out, "[");
		if (c->shown < c->total && c->shown > 0)
			buffer_printf(out, "changes %" PRIu64 "-%" PRIu64 " of ", c->offset,
				      c->offset + c->shown - 1);
		buffer_printf(out, "%s change%s%s; in all %s line%s gone, %s new",
			      HUMAN_COUNT(c->total), c->total == 1 ? "" : "s",
			      c->shown < c->total && c->shown ? " shown" : "",
			      HUMAN_COUNT(c->lines[0]), c->lines[0] == 1 ? "" : "s",
			      HUMAN_COUNT(c->lines[1]));
	} else {
		buffer_append_string(out, f->same     ? "[same text"
					  : f->masked ? "[no changes"
						      : "[same text, as far as it was kept");
	}
	if (f->masked && !c->exact) {
		buffer_printf(
			out,
			"; only numbers, times, hashes or temporary paths differ in %s %sline%s: ",
			HUMAN_COUNT(f->masked), c->total ? "more " : "", f->masked == 1 ? "" : "s");
		changes_add_command(out, c, true);
	}
	if (next->len > 0) {
		buffer_append_string(out, "; continue: ");
		buffer_add(out, next);
	}
	buffer_append_string(out, "]\n");
}

/* Compares the texts and prints the changes. Returns 0, or -1 with errno. */
static int changes_compare(struct changes *c)
{
	const struct differ differ = {.texts = {&c->texts[0], &c->texts[1]},
				      .exact = c->exact,
				      .facts = &c->facts,
				      .change = changes_take,
				      .ctx = c};
	struct buffer out = BUFFER_INIT, next = BUFFER_INIT;
	if (differ_run(&differ) < 0 || changes_print(c) < 0)
		return -1;
	bool more = c->offset + c->shown <= c->total;
	if (more) {
		changes_add_command(&next, c, c->exact);
		buffer_printf(&next, "%s --offset %" PRIu64, c->call->json ? " --json" : "",
			      c->offset + c->shown);
	}
	if (c->call->json) {
		envelope_begin(&out);
		for (int i = 0; i < 2; i++) {
			json_begin(&out, i ? "new_text" : "old_text", '{');
			verb_json_place(&out, &c->texts[i], c->paths[i]);
			json_end(&out, '}');
		}
		json_add_text(&out, "text", c->out.data, c->out.len);
		out.failed |= c->out.failed;
		json_add_bool(&out, "identical", c->facts.same);
		json_add_count(&out, "shown", c->shown);
		json_add_count(&out, "total", c->total);
		json_add_count(&out, "gone", c->lines[0]);
		json_add_count(&out, "new", c->lines[1]);
		json_add_count(&out, "masked", c->facts.masked);
		json_add_bool(&out, "truncated", more);
		json_add_made(&out, "next", &next);
		envelope_end(&out);
	} else {
		changes_add_end(c, &out, &next);
	}
	int result = c->call->json ? verb_write(&out) : reader_notice(c->sink, &out);
	buffer_release(&out);
	buffer_release(&next);
	return result;
}

static int changes_run(struct verb_call *context)
{
	struct changes made = {.call = context, .offset = 1}, *c = &made;
	pid_t pager = 0;
	int status = 1;
	if (verb_parse(context, c) < 0)
		return EXIT_TERSE;
	for (int i = 0; i < 2; i++)
		c->texts[i].fd = -1;
	bool both = context->operand_count == 2;
	for (int i = 0; both && i < 2; i++)
		c->paths[i] = context->operands[i];
	if ((!both && changes_find_pair(c, context->operands[0]) != 0) || changes_open(c) != 0)
		goto out;
	c->sink = reader_of_text(c->call);
	if (c->sink == SINK_PERSON)
		pager = pager_start();
	status = changes_compare(c) < 0 && errno != EPIPE;
	if (status && errno == EFBIG)
		verb_fail(c->call, ENVELOPE_UNREADABLE,
			  "over a million lines are left from the first difference on; diff(1) "
			  "compares the files (terse path ID names them)");
	else if (status)
		verb_fail(c->call, ENVELOPE_UNREADABLE, "%m");
	if (pager)
		pager_end(pager);
out:
	for (int i = 0; i < 2; i++) {
		if (c->texts[i].fd >= 0)
			text_close(&c->texts[i]);
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
	.text = "Prints the lines in which the texts of two runs differ, as a unified diff with\n"
		"the line numbers of both. With one ID, compares that run with the previous run\n"
		"of the same command in the same directory; without an ID, takes the last run.\n"
		"Numbers, times, hashes and temporary paths do not count.\n",
	.options = changes_options,
	.more = 2,
	.run = changes_run,
};
