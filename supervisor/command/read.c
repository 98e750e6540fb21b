// terse read ID|FILE: lines of an artifact's text, or of any file, as they are
// numbered there. Prints one page at most and ends with how to go on.

#include "supervisor/artifact/gap.h"
#include "supervisor/artifact/text.h"
#include "supervisor/base/buffer.h"
#include "supervisor/base/human.h"
#include "supervisor/base/io.h"
#include "supervisor/base/utf8.h"
#include "supervisor/command/command.h"
#include "supervisor/command/verb.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The limits of the read profile, notices included: Claude Code shows an agent 30,000
   characters and cuts what is longer. */
#define PAGE_BYTES ((size_t)30000)
#define PAGE_LINES 2000
#define NOTICE     ((size_t)512) /* kept free for the line that ends a page */

/* A line this long does not fit, even if cleaning makes it shorter (4 bytes become 3). */
#define LINE_MAX_RAW (2 * PAGE_BYTES)

/* Without an index, counting the lines of a file this large is not worth the wait. */
#define COUNT_MAX ((uint64_t)64 * 1024 * 1024)

struct page {
	struct text text;
	const char *name; /* of the file; NULL: an artifact, see text.id */
	bool limited;     /* --limit was given: up to line `last` */
	uint64_t first, last;
	uint64_t line;     /* the number of the line in `raw` */
	uint64_t raw_left; /* bytes of that line that did not fit into `raw` */
	struct buffer raw, clean, out;
	uint64_t printed; /* lines */
	bool full;        /* the next line does not fit: there is more */
	bool done;
};

/* The name as a shell reads it back. */
static int add_name(const struct page *p, struct buffer *out)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_./,:@%+=-";
	if (!p->name)
		return buffer_append_string(out, p->text.id);
	if (p->name[0] != '-' && strspn(p->name, plain) == strlen(p->name))
		return buffer_append_string(out, p->name);
	if (buffer_append_string(out, p->name[0] == '-' ? "./'" : "'") < 0)
		return -1;
	for (const char *at = p->name; *at; at++) {
		if (*at == '\'' ? buffer_append_string(out, "'\\''") < 0
				: buffer_append(out, at, 1) < 0)
			return -1;
	}
	return buffer_append_string(out, "'");
}

/* Adds the start of a line that is too long for a page of its own. */
static int add_cut_line(struct page *p)
{
	size_t room = PAGE_BYTES - NOTICE - p->out.len;
	size_t len = p->raw.len, keep = room < len ? room : len;
	for (;;) {
		keep = utf8_floor(p->raw.data, len, keep);
		buffer_clear(&p->clean);
		if (utf8_clean(&p->clean, p->raw.data, keep) < 0)
			return -1;
		if (p->clean.len <= room)
			break;
		/* A byte that is replaced takes three. */
		keep -= (p->clean.len - room + 2) / 3;
	}
	bool newline = p->raw_left == 0 && len > 0 && p->raw.data[len - 1] == '\n';
	char omitted[HUMAN_LEN];
	human_count(omitted, len - keep + p->raw_left - newline);
	if (buffer_append(&p->out, p->clean.data, p->clean.len) < 0 ||
	    buffer_printf(&p->out, "[... %s bytes omitted: ", omitted) < 0 ||
	    (!p->name && buffer_append_string(&p->out, "terse path ") < 0) ||
	    add_name(p, &p->out) < 0)
		return -1;
	return buffer_append_string(&p->out, "]\n");
}

/* The line in `raw` is complete: adds it, or finds the page full. */
static int end_line(struct page *p)
{
	buffer_clear(&p->clean);
	if (p->raw_left == 0 && utf8_clean(&p->clean, p->raw.data, p->raw.len) < 0)
		return -1;
	int result = 0;
	if (p->raw_left == 0 && p->out.len + p->clean.len <= PAGE_BYTES - NOTICE) {
		result = buffer_append(&p->out, p->clean.data, p->clean.len);
	} else if (p->printed == 0) {
		result = add_cut_line(p);
	} else {
		p->full = p->done = true;
		return 0;
	}
	p->printed++;
	p->line++;
	p->raw_left = 0;
	buffer_clear(&p->raw);
	return result;
}

/* Before the first byte of a line or gap that begins with line `line`: is it wanted? */
static bool wants(struct page *p, uint64_t line)
{
	if (p->limited && line > p->last) {
		p->done = true;
	} else if (!p->limited && p->printed >= PAGE_LINES) {
		p->full = p->done = true;
	}
	return !p->done;
}

static int add_bytes(struct page *p, const char *data, size_t len)
{
	while (len > 0 && !p->done) {
		if (p->raw.len == 0 && !wants(p, p->line))
			return 0;
		const char *newline = memchr(data, '\n', len);
		size_t n = newline ? (size_t)(newline - data) + 1 : len;
		size_t kept = LINE_MAX_RAW - p->raw.len < n ? LINE_MAX_RAW - p->raw.len : n;
		if (buffer_append(&p->raw, data, kept) < 0)
			return -1;
		p->raw_left += n - kept;
		if (p->raw_left > 0 && p->printed > 0) {
			/* Not on this page, wherever it ends. */
			p->full = p->done = true;
			return 0;
		}
		if (newline) {
			p->raw_left -= p->raw_left > 0; /* the newline is not omitted */
			if (end_line(p) < 0)
				return -1;
		}
		data += n;
		len -= n;
	}
	return 0;
}

static int add_gap(struct page *p, const struct text_piece *gap)
{
	uint64_t from = p->line > gap->from ? p->line : gap->from;
	if (p->raw.len > 0) {
		/* The gap begins inside this line. */
		if (end_line(p) < 0 || buffer_append(&p->out, "\n", 1) < 0)
			return -1;
	}
	if (p->done || !wants(p, from))
		return 0;
	char line[GAP_ANNOUNCE_MAX];
	size_t len = gap_announce(line, from, gap->to, gap->bytes, gap->error);
	if (p->out.len + len > PAGE_BYTES - NOTICE) {
		p->full = p->done = true;
		return 0;
	}
	p->line = gap->to + !gap->goes_on;
	return buffer_append(&p->out, line, len);
}

/* Collects the page in p->out. */
static int collect(struct page *p)
{
	char block[65536];
	while (!p->done) {
		struct text_piece piece;
		if (text_next(&p->text, block, sizeof(block), &piece) < 0)
			return -1;
		int result = 0;
		if (piece.kind == TEXT_BYTES) {
			result = add_bytes(p, block, piece.len);
		} else if (piece.kind == TEXT_GAP) {
			result = add_gap(p, &piece);
		} else {
			p->done = true;
			if (p->raw.len > 0)
				result = end_line(p);
		}
		if (result < 0)
			return -1;
	}
	return 0;
}

/* The line that tells what was shown and how to go on. */
static int add_continuation(struct page *p)
{
	char first[HUMAN_LEN], last[HUMAN_LEN], total[HUMAN_LEN];
	human_count(first, p->first);
	human_count(last, p->line - 1);
	if (buffer_printf(&p->out, "[lines %s-%s", first, last) < 0)
		return -1;
	if (!p->name || p->text.size <= COUNT_MAX) {
		uint64_t lines;
		if (text_lines(&p->text, &lines) < 0 ||
		    buffer_printf(&p->out, " of %s", human_count(total, lines)) < 0)
			return -1;
	}
	if (buffer_append_string(&p->out, " shown; continue: terse read ") < 0 ||
	    add_name(p, &p->out) < 0 ||
	    buffer_printf(&p->out, "%s --offset %" PRIu64,
			  p->text.part == ARTIFACT_ERR ? " --stderr" : "", p->line) < 0)
		return -1;
	if (p->limited && buffer_printf(&p->out, " --limit %" PRIu64, p->last - p->line + 1) < 0)
		return -1;
	return buffer_append_string(&p->out, "]\n");
}

static int print_page(struct page *p, const char *verb, const char *name)
{
	uint64_t lines;
	int result = text_seek(&p->text, p->first, &lines);
	if (result == 1 && p->first > 1) {
		char count[HUMAN_LEN];
		verb_error(verb, "%s: has %s line%s, --offset %" PRIu64 " is past the end", name,
			   human_count(count, lines), lines == 1 ? "" : "s", p->first);
		return 1;
	}
	p->line = p->first;
	if (result >= 0)
		result = collect(p);
	if (result == 0 && p->full)
		result = add_continuation(p);
	if (result == 0)
		result = io_write(STDOUT_FILENO, p->out.data, p->out.len);
	if (result < 0) {
		verb_error(verb, "%s: %m", name);
		return 1;
	}
	return 0;
}

static int open_artifact(const struct id_found *found, enum artifact_part part, struct text *text)
{
	int dir = store_open_session(found->store, found->session, false);
	if (dir < 0)
		return -1;
	int result = text_open(text, dir, found->id, part);
	io_close(&dir);
	return result;
}

/* Opens what `name` means. Returns 0, or -1 after saying why not. */
static int open_text(struct page *p, const struct settings *settings, const char *session,
		     bool standard_error, const char *verb, const char *name)
{
	struct store stores[STORE_MAX];
	struct id_found found;
	int count;
	int result = verb_find(settings, session, name, stores, &count, &found);
	int why = errno;
	if (result == 0) {
		result = open_artifact(&found, standard_error ? ARTIFACT_ERR : ARTIFACT_OUT,
				       &p->text);
		if (result < 0 && errno == ENOENT && standard_error)
			verb_error(verb, "%s: standard error was not kept apart: it is in the text",
				   found.id);
		else if (result < 0)
			verb_error(verb, "%s: %m", found.id);
	} else if (why == EEXIST || (result = text_open_file(&p->text, name)) < 0) {
		if (why == EINVAL && errno == EINVAL)
			verb_error(verb, "%s: not a regular file", name);
		else if (why == EINVAL && errno != ENOENT)
			verb_error(verb, "%s: %m", name);
		else
			verb_not_found(verb, name, why);
	} else if (standard_error) {
		verb_error(verb, "%s: --stderr is for artifacts, this is a file", name);
		text_close(&p->text);
		result = -1;
	} else {
		p->name = name;
	}
	while (count > 0)
		store_close(&stores[--count]);
	return result;
}

int command_read(struct command_context *c, int argc, char **argv)
{
	struct page p = {.first = 1};
	uint64_t limit = 0;
	bool standard_error = false;
	const char *session = NULL, *name;
	const struct verb_option table[] = {
		{"--offset", VERB_COUNT, &p.first},
		{"--limit", VERB_COUNT, &limit},
		{"--stderr", VERB_FLAG, &standard_error},
		{"--session", VERB_TEXT, &session},
		{NULL, VERB_FLAG, NULL},
	};
	int operands = verb_parse(table, argc, argv, &name, 1);
	if (operands < 0)
		return EXIT_TERSE;
	if (operands == 0) {
		verb_error(argv[0], "what? terse read ID or terse read FILE");
		return EXIT_TERSE;
	}
	p.limited = limit > 0;
	p.last = p.first - 1 + limit;
	if (open_text(&p, c->settings, session, standard_error, argv[0], name) < 0)
		return 1;
	int status = print_page(&p, argv[0], name);
	text_close(&p.text);
	buffer_release(&p.raw);
	buffer_release(&p.clean);
	buffer_release(&p.out);
	return status;
}
