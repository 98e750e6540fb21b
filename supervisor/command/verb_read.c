// terse read ID|FILE: prints lines or bytes of an artifact's text, or of a file. An agent gets at
// most one page, and a last line that says how to read on. A program gets everything, and a person
// too, in a pager.

#include "config/value.h"
#include "lib/human.h"
#include "lib/io.h"
#include "lib/json.h"
#include "lib/utf8.h"
#include "supervisor/artifact/text.h"
#include "supervisor/command/internal.h"
#include "supervisor/reading/page.h"
#include "supervisor/reading/walk.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

struct read {
	struct verb_call *call;
	const char *name; /* as it was given */
	enum sink sink;

	/* The request: the ranges of lines, of bytes, as they were given, or NULL. */
	const char *range, *bytes;
	bool standard_error, raw;
	struct page_request lines;
	const char *option;    /* the option that gave the first line */
	uint64_t from, length; /* of bytes; 0: not given */
	bool preview;

	struct text text;
	enum artifact_part part;
	struct wording_place place;
	const struct vocabulary *words; /* the reader's vocabulary */
	struct buffer quoted;           /* the text's name for a shell */
	struct followup followup;
};

/* --bytes without an end prints this many bytes. */
#define READ_LENGTH ((uint64_t)32 * 1024)

/* The most lines of a page. */
#define PAGE_LINES_MAX 2000

/* The lines of a plain file are counted only if it has at most this many bytes. */
#define COUNT_MAX ((uint64_t)1024 * 1024 * 1024)

/* Prints that the text, with `total` lines or bytes, has no such line or byte. Returns 1. */
static int read_past_end(const struct read *r, uint64_t total)
{
	return verb_fail(r->call, ENVELOPE_BAD_RANGE,
			 "%s: has %s %s%s, %s %" PRIu64 " is past the end", r->name,
			 HUMAN_COUNT(total), r->bytes ? "byte" : "line", total == 1 ? "" : "s",
			 r->option, r->bytes ? r->from : (uint64_t)r->lines.first);
}

/* The part of a text that is shown. */
struct read_part {
	struct buffer *text;
	uint64_t from, count; /* in lines, or in bytes */
	bool bytes;
	uint64_t total; /* 0: not known */
	uint64_t limit; /* the limit that ended it, in `unit`; 0: none */
	const char *unit;
	bool truncated;
	bool told; /* a last line says how to read on */
};

/* Prints a part. If the text has more, also prints that the command `next` shows it:

     [terse: lines 1-2,000 of 8,432 shown (limit 2,000 lines); continue: terse read ...]
     [terse: bytes 0-32,767 of 5,000,000 shown; continue: terse read ...]

   or as JSON:

     {"artifact":"cmd-...","from":1,"to":2000,"text":"...","total_lines":8432,
      "total_bytes":484352,"truncated":true,"next":"terse read ... --json --offset 2001"} */
static int read_print(struct read *r, const struct read_part *p, struct buffer *next)
{
	struct buffer json = BUFFER_INIT, *out = p->text;
	if (r->call->json) {
		out = &json;
		envelope_begin(out);
		verb_json_place(out, &r->text, r->name);
		json_add_known(out, "from", p->count > 0, p->from);
		json_add_known(out, "to", p->count > 0, p->from + p->count - 1);
		json_add_text(out, "text", p->text->data, p->text->len);
		out->failed |= p->text->failed;
		if (!p->bytes)
			json_add_known(out, "total_lines", p->total || r->text.size == 0, p->total);
		json_add_count(out, "total_bytes", r->text.size);
		json_add_bool(out, "truncated", p->truncated);
		json_add_made(out, "next", next);
		envelope_end(out);
	} else if (p->told) {
		const char *what = p->bytes ? "bytes" : p->count > 1 ? "lines" : "line";
		if (out->len > 0 && out->data[out->len - 1] != '\n')
			buffer_append_string(out, "\n");
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
	followup_add(&r->followup, out->data, out->len);
	int result = verb_write(out);
	buffer_release(&json);
	return result;
}

/* Prints a page of lines. */
static int read_page(struct read *r)
{
	struct page p;
	struct buffer next = BUFFER_INIT, *text = &p.text;
	uint64_t total = 0;
	int result = page_make(&p, &r->text, &r->lines, &total);
	if (result != 0) {
		page_release(&p);
		return result < 0 ? -1 : read_past_end(r, total);
	}
	if (p.next_byte)
		wording_read_bytes(&next, &r->place, p.next_byte, 0);
	else if (p.next)
		wording_read_lines(&next, &r->place, p.next, p.left);
	struct read_part part = {
		.text = text,
		.from = p.from,
		.count = p.to ? p.to - p.from + 1 : 0,
		.limit = p.stop == PAGE_ASKED   ? 0
			 : p.stop == PAGE_LINES ? r->lines.most
						: READER_PAGE,
		.unit = p.stop == PAGE_LINES ? "lines" : "bytes",
		.truncated = p.next || p.omitted || p.cut.bytes,
		/* If all lines that were asked for are shown, only an agent is told that there are
		   more. */
		.told = p.next && (p.stop != PAGE_ASKED || r->sink == SINK_AGENT),
	};
	if ((part.told || r->call->json) &&
	    ((*r->text.id && r->part != ARTIFACT_RAW) || r->text.size <= COUNT_MAX))
		result = text_lines(&r->text, &part.total);
	if (!part.told && !r->call->json && (p.stop == PAGE_END || r->lines.tail) && r->text.held &&
	    r->part != ARTIFACT_RAW) {
		/* The run may write more, and an unfinished line may grow. */
		if (text->len > 0 && text->data[text->len - 1] != '\n')
			buffer_append_string(text, "\n");
		buffer_append_string(text, "[terse: the run goes on: ");
		wording_read_lines(text, &r->place, p.number - p.inside, 0);
		buffer_append_string(text, "]\n");
	}
	if (result == 0)
		result = read_print(r, &part, &next);
	buffer_release(&next);
	page_release(&p);
	return result;
}

/* Prints a page of bytes. */
static int read_slice(struct read *r)
{
	if (r->from > r->text.size)
		return read_past_end(r, r->text.size);
	struct buffer next = BUFFER_INIT;
	struct slice s = {.more = false};
	const uint64_t rest = r->text.size - r->from;
	const struct slice_request request = {
		.from = r->from,
		.length = !r->length         ? READ_LENGTH
			  : r->length < rest ? r->length
					     : rest,
		.room = r->lines.room,
		.guard = GUARD_LINE,
	};
	int result = slice_make(&s, &r->text, &request);
	const struct read_part part = {
		.text = &s.text,
		.from = s.from,
		.count = s.to - s.from,
		.bytes = true,
		.total = r->text.size,
		.truncated = s.more,
		.told = s.more,
	};
	/* The next page is the rest of the request, or as many bytes again. */
	if (s.more)
		wording_read_bytes(&next, &r->place, s.to,
				   r->length && s.full ? s.left : r->length);
	if (result == 0)
		result = read_print(r, &part, &next);
	buffer_release(&next);
	slice_release(&s);
	return result;
}

/* --- the whole range, for a program ------------------------------------------------- */

/* Stores the offsets of the requested lines in the file. Returns as page_seek(). */
static int read_find_range(struct read *r, uint64_t *from, uint64_t *to, uint64_t *total)
{
	struct text *t = &r->text;
	uint64_t number;
	int result = page_seek(t, &r->lines, &number, total);
	*from = t->offset;
	*to = UINT64_MAX;
	if (result != 0 || !r->lines.limit)
		return result;
	result = text_seek(t, number + r->lines.limit, total);
	/* A gap at the end belongs to the range if some of the lines are in it. */
	if (result == 0)
		*to = t->offset == t->gap.begin && t->gap.begin < t->gap.end &&
				      number + r->lines.limit > t->gap.from
			      ? t->gap.end
			      : t->offset;
	return result < 0 ? -1 : 0;
}

/* Bytes of a slice in slice_stream(). */
#define STREAM_LENGTH ((size_t)128 * 1024)

/* Prints the bytes from `from` to `to` (UINT64_MAX: the end) without guards. Returns 0, or -1 with
   errno. */
static int slice_stream(struct text *t, uint64_t from, uint64_t to, int fd)
{
	struct slice s = {.to = from};
	int result;
	/* Makes at least one slice, which announces a lost end. */
	do {
		const struct slice_request request = {
			.from = s.to,
			.length = to - s.to < STREAM_LENGTH ? to - s.to : STREAM_LENGTH,
			.room = 3 * STREAM_LENGTH};
		result = slice_make(&s, t, &request);
		if (result == 0)
			result = io_write(fd, s.text.data, s.text.len);
	} while (result == 0 && s.more && s.to < to);
	slice_release(&s);
	return result;
}

/* Prints the lines of the range with their numbers. */
static int read_numbered(struct read *r, uint64_t number)
{
	const struct walk_options options = {.from = number, .here = true};
	const uint64_t end = r->lines.limit ? number + r->lines.limit : UINT64_MAX;
	struct walk *w = walk_new(&r->text, NULL, &options);
	struct buffer out = BUFFER_INIT;
	struct walk_line line;
	char gap[GAP_ANNOUNCE_MAX];
	enum walk_kind kind = WALK_LINE;
	int result = w ? 0 : -1;
	while (result == 0 && (kind = walk_step(w, &line)) != WALK_END && line.number < end) {
		if (kind == WALK_FAILED) {
			result = -1;
		} else if (kind == WALK_GAP) {
			buffer_append(&out, gap, gap_announce(gap, &line.gap->gap));
		} else {
			if (!line.more_before)
				buffer_printf(&out, "%6" PRIu64 "\t", line.number);
			utf8_clean(&out, line.data, line.len);
			buffer_append(&out, "\n", line.newline);
		}
		if (result == 0 && out.len > READ_LENGTH)
			result = verb_write(&out);
	}
	if (result == 0)
		result = verb_write(&out);
	walk_free(w);
	buffer_release(&out);
	return result;
}

static int read_all(struct read *r)
{
	uint64_t from = r->from, to = from + (r->length ? r->length : READ_LENGTH);
	uint64_t total = r->text.size;
	char block[65536];
	struct text_piece piece = {.kind = TEXT_BYTES};
	int result = r->bytes ? from > total : read_find_range(r, &from, &to, &total);
	if (result == 0 && r->place.numbered) {
		result = page_seek(&r->text, &r->lines, &from, &total);
		return result < 0 ? -1 : read_numbered(r, from);
	}
	if (result != 0)
		return result < 0 ? -1 : read_past_end(r, total);
	if (r->part != ARTIFACT_RAW || r->sink == SINK_PERSON)
		return slice_stream(&r->text, from, to, STDOUT_FILENO);
	text_seek_byte(&r->text, from);
	for (; from < to && result == 0 && piece.kind == TEXT_BYTES; from += piece.len) {
		size_t len = to - from < sizeof(block) ? (size_t)(to - from) : sizeof(block);
		result = text_next(&r->text, block, len, &piece);
		if (result == 0)
			result = io_write(STDOUT_FILENO, block, piece.len);
	}
	return result;
}

/* --- all of it ------------------------------------------------------------------------ */

/* If the output is not text, prints what it is: "[PNG image, 12.3 KB: not shown]". Binary output is
   kept only as raw bytes. If that was printed, sets *status and returns true. */
static bool read_describe(const struct read *r, bool raw_is_text, int *status)
{
	const struct text *t = &r->text, *seen = NULL;
	struct text raw;
	struct meta m = {.binary = false};
	const char *kind = NULL;
	if (*t->id && t->part == ARTIFACT_OUT && t->size == 0 &&
	    meta_read(t->dir, t->id, &m) == 0 && m.binary &&
	    text_open(&raw, t->dir, t->id, ARTIFACT_RAW) == 0) {
		verb_is_binary(&raw, &kind);
		seen = &raw;
	} else if ((r->part == ARTIFACT_RAW ? !raw_is_text : !*t->id) && verb_is_binary(t, &kind)) {
		seen = t;
	}
	meta_release(&m);
	if (!seen)
		return false;
	struct buffer line = BUFFER_INIT, notice = BUFFER_INIT;
	buffer_printf(&line, "%s, %s: not shown", kind ? kind : "binary data",
		      HUMAN_SIZE(seen->size));
	if (*t->id) {
		buffer_append_string(&line, "; its bytes: ");
		buffer_printf(&line, r->words->raw_bytes, t->id);
	}
	*status = 1;
	const char *text = buffer_string(&line);
	if (text && (r->call->json || r->sink == SINK_PROGRAM)) {
		verb_fail(r->call, ENVELOPE_BINARY, "%s: %s", r->name, text);
	} else if (text) {
		buffer_printf(&notice, "[%s]\n", text);
		*status = reader_notice(r->sink, &notice) < 0;
	}
	buffer_release(&line);
	buffer_release(&notice);
	if (seen == &raw)
		text_close(&raw);
	return true;
}

static int read_preview(struct read *r)
{
	struct text *t = &r->text;
	struct buffer text = BUFFER_INIT, json = BUFFER_INIT;
	struct meta m;
	bool is_run = *t->id && meta_read(t->dir, t->id, &m) == 0;
	const struct settings *settings = r->call->settings;
	const struct interceptor_ending end =
		excerpts_end(settings, is_run ? &m : NULL, r->place.id, t->part);
	int result = excerpts_text(settings, t, NULL, &end, &text);
	if (result == 0 && r->call->json) {
		envelope_begin(&json);
		verb_json_place(&json, t, r->name);
		json_add_text(&json, "preview", text.data, text.len);
		json_add_count(&json, "total_bytes", t->size);
		envelope_end(&json);
	}
	if (result == 0) {
		struct buffer *out = r->call->json ? &json : &text;
		followup_add(&r->followup, out->data, out->len);
		result = verb_write(out);
	}
	if (is_run)
		meta_release(&m);
	buffer_release(&text);
	buffer_release(&json);
	return result;
}

/* Checks that the options go together. Returns 0, or the exit status after printing an error. */
static int read_check(struct read *r)
{
	const struct page_request *q = &r->lines;
	const struct vocabulary *words = r->words;
	const bool tools = r->call->settings->words == WORDS_TOOLS;
	bool apart = r->range || q->tail || r->bytes || r->preview;
	int parts = (q->first != 0) + (r->range != NULL) + (q->tail > 0) + (r->bytes != NULL) +
		    r->preview;
	const struct {
		bool is;
		const char *why;
	} wrong[] = {
		{parts > 1 && tools, "only one of offset, tail and bytes"},
		{parts > 1, "only one of --offset, --lines, --tail, --bytes and --preview"},
		{q->limit && apart && tools, "limit goes with offset"},
		{q->limit && apart, "--limit goes with --offset"},
		{r->standard_error && r->raw, "only one of --stderr and --raw"},
		{r->raw && r->preview, "--preview does not go with --raw"},
		{r->place.numbered && (r->bytes || r->raw || r->preview),
		 "-n goes with neither --bytes, --raw nor --preview"},
	};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		if (wrong[i].is)
			return verb_fail(r->call, ENVELOPE_USAGE, "%s", wrong[i].why);
	}
	int64_t from, to;
	r->option = r->bytes ? words->bytes : r->range ? words->lines : words->offset;
	if (!r->preview && r->call->setting)
		return verb_fail(r->call, ENVELOPE_USAGE, "%s goes with --preview",
				 r->call->setting);
	const char *range = r->bytes ? r->bytes : r->range;
	if (!range)
		return 0;
	if (value_parse_range(range, &from, &to) < 0 || (r->range && from < 1))
		return verb_fail(r->call, ENVELOPE_USAGE,
				 "%s: %s: must be FROM-TO, like 330-412, or FROM-", r->option,
				 range);
	if (r->bytes) {
		r->from = (uint64_t)from;
		r->length = strchr(range, '-') ? (uint64_t)(to - from) + 1 : 0;
	} else {
		r->lines.first = from;
		r->lines.limit = to < INT64_MAX ? (uint64_t)(to - from) + 1 : 0;
	}
	return 0;
}

static int read_run(struct verb_call *c)
{
	struct read made = {.call = c}, *r = &made;
	struct page_request *q = &r->lines;
	if (verb_parse(c, r) < 0)
		return EXIT_TERSE;
	r->name = c->operands[0];
	r->sink = reader_of_text(c);
	r->words = &vocabularies[c->settings->words];
	if (read_check(r) != 0 ||
	    (r->preview && excerpts_apply_profile(c->verb->name, c->settings) < 0))
		return EXIT_TERSE;
	if (q->first == 0)
		q->first = 1;
	r->part = r->standard_error ? ARTIFACT_ERR : r->raw ? ARTIFACT_RAW : ARTIFACT_OUT;
	r->followup = (struct followup){.is_counted = r->sink != SINK_PROGRAM};
	if (verb_open(c, r->part, r->name, &r->text) < 0)
		return 1;
	int result = verb_place(c, &r->text, r->name, &r->quoted, &r->place);
	q->place = &r->place;
	q->most = PAGE_LINES_MAX;
	/* Room for notices, which have at most three commands. */
	size_t kept = 1024 + 8 * r->quoted.len;
	q->room = kept < READER_PAGE / 2 ? READER_PAGE - kept : READER_PAGE / 2;
	/* Each byte of a string may need an escape. */
	if (c->json)
		q->room /= 2;
	/* Whether the whole request is printed, without a page's limit. */
	bool person = r->sink == SINK_PERSON;
	bool all = person || r->sink == SINK_PROGRAM || (r->sink == SINK_FILE && r->raw);
	if (result == 0 && (r->place.binary || !read_describe(r, all && !person, &result))) {
		pid_t pager = person ? pager_start() : 0;
		if (r->preview)
			result = read_preview(r);
		else if (all)
			result = read_all(r);
		else
			result = r->bytes ? read_slice(r) : read_page(r);
		if (pager)
			pager_end(pager);
		/* A reader of the whole request may leave before its end. */
		if (result < 0 && errno == EPIPE && (all || r->preview))
			result = 0;
	}
	if (result < 0)
		verb_fail(c, ENVELOPE_UNREADABLE, "%s: %m", r->name);
	else if (result == 0)
		followup_keep(&r->followup, r->text.dir, r->text.id);
	text_close(&r->text);
	buffer_release(&r->quoted);
	return result != 0;
}

#define READ_AT(member) offsetof(struct read, member)

static const struct verb_option read_options[] = {
	{"--lines", 0, VERB_TEXT, READ_AT(range), "FROM-TO",
	 "these lines, as notices name them; FROM-: to the end"},
	{"--offset", 0, VERB_LINE, READ_AT(lines.first), "N",
	 "first line, from 1; below 0: from the end"},
	{"--limit", 0, VERB_COUNT, READ_AT(lines.limit), "N", "number of lines"},
	{"--tail", 0, VERB_COUNT, READ_AT(lines.tail), "N", "the last N lines"},
	{"--bytes", 0, VERB_TEXT, READ_AT(bytes), "FROM-TO",
	 "these bytes; FROM-: to the end; FROM: 32 KB from there on"},
	{"--preview", 0, VERB_FLAG, READ_AT(preview), NULL,
	 "a preview, as run prints it; with --profile, --size, --mode and other options of run"},
	{"--stderr", 0, VERB_FLAG, READ_AT(standard_error), NULL,
	 "standard error, if it was kept apart"},
	{"--raw", 0, VERB_FLAG, READ_AT(raw), NULL,
	 "the bytes that the command wrote, if they were kept"},
	{"--text", 'a', VERB_FLAG, READ_AT(place.binary), NULL, "print binary data, too"},
	{"--number", 'n', VERB_FLAG, READ_AT(place.numbered), NULL, "number the lines"},
	VERB_LAST_ROW,
	VERB_JSON_ROW,
	VERB_END_ROW,
};

const struct verb verb_read = {
	.name = "read",
	.purpose = "print lines or bytes of an artifact or a file",
	.forms = "ID|FILE",
	.text = "Prints lines of an artifact or of any file: a page at most, then how to\n"
		"continue. A program that reads the output gets everything, and so does a\n"
		"person, in a pager ($TERSE_PAGER, $PAGER or less). ID: as printed, a unique\n"
		"beginning of it, or last, last-1, ... of this session.\n",
	.options = read_options,
	.least = 1,
	.settings = "",
	.run = read_run,
};
