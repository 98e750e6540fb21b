// See ini.h. inih asks for one line after the other and calls back for those that give a key a
// value. The reader looks at each line first: it knows the line's number, withholds lines that inih
// would misread, and notices lines that inih skipped.

#include "config/ini.h"

#include "lib/buffer.h"
#include "lib/utf8.h"

#include <errno.h>
#include <ini.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* inih's MAX_SECTION and MAX_NAME, without the NUL. */
enum { NAME_MAX_LEN = 49 };

struct reader {
	const char *next, *end;
	int (*visit)(void *ctx, const struct ini_line *line);
	void *ctx;
	unsigned number; /* of inih's line */
	bool keyed;      /* the section has a key, so an indented line continues it */
	bool more;       /* inih's line continues a key */
	bool due;        /* inih has to call take_value() for its line */
	bool stopped;
	const char *line; /* inih's line, for messages */
	size_t line_len;
};

static void ini_report(struct reader *r, struct ini_line line)
{
	line.number = r->number;
	if (r->visit(r->ctx, &line) != 0)
		r->stopped = true;
}

/* isspace() in the C locale, as inih uses it. */
static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static void report_malformed(struct reader *r, const char *reason)
{
	char shown[128];
	const char *line = r->line;
	size_t len = r->line_len;
	for (; len > 0 && is_space(*line); len--)
		line++;
	snprintf(shown, sizeof(shown), "%.*s", (int)utf8_floor(line, len, len < 127 ? len : 127),
		 line);
	ini_report(r, (struct ini_line){.kind = INI_MALFORMED, .value = shown, .reason = reason});
}

/* inih 55 removes comments from the lines of keys only. */
static const char *comment_start(const char *start, const char *end)
{
	for (const char *p = start + 1; p < end; p++) {
		if (*p == ';' && is_space(p[-1]))
			return p;
	}
	return end;
}

/* Looks at the next line. Returns the end of inih's part of it, which is empty if inih must not see
   the line. */
static const char *ini_take_line(struct reader *r, const char *line, const char *end,
				 size_t longest)
{
	const char *start = line;
	char reason[96];
	while (end > line && is_space(end[-1]))
		end--;
	r->line = line;
	r->line_len = (size_t)(end - line);
	if (memchr(line, '\0', r->line_len)) {
		ini_report(r, (struct ini_line){.kind = INI_MALFORMED,
						.reason = "a NUL byte; is this a text file?"});
		return line;
	}
	if (r->number == 1 && end - line >= 3 && memcmp(line, "\xEF\xBB\xBF", 3) == 0)
		start += 3;
	while (start < end && is_space(*start))
		start++;
	if (start == end || *start == '#' || *start == ';')
		return line;
	if (r->line_len > longest) {
		snprintf(reason, sizeof(reason),
			 "a line has at most %zu bytes; more values go on indented lines below",
			 longest);
		report_malformed(r, reason);
		return line;
	}
	r->more = r->keyed && start > line;
	if (*start == '[' && !r->more) {
		char name[NAME_MAX_LEN + 1];
		const char *close = memchr(start, ']', (size_t)(end - start));
		const char *behind = close ? close + 1 : end;
		while (behind < end && is_space(*behind))
			behind++;
		const char *wrong = !close ? "no ] behind the section's name"
				    : close - start - 1 > NAME_MAX_LEN
					    ? "a section's name has at most 49 bytes"
				    : behind < end && *behind != ';' && *behind != '#'
					    ? "text behind the section's name"
					    : NULL;
		if (wrong) {
			report_malformed(r, wrong);
			return line;
		}
		snprintf(name, sizeof(name), "%.*s", (int)(close - start - 1), start + 1);
		r->keyed = false;
		ini_report(r, (struct ini_line){.kind = INI_SECTION, .section = name});
		return end;
	}
	r->due = true;
	return r->more ? comment_start(start, end) : end;
}

/* What inih has room for, or less: a line, its newline and a NUL. */
enum { LINE_ROOM = 200 };

/* inih's reader: fgets() without the newline, for which room is left nevertheless. From version 56
   on inih takes a line that fills its room for the start of a longer one, and skips the next. */
static char *read_line(char *out, int room, void *stream)
{
	struct reader *r = stream;
	const char *line, *newline, *end;
	if (r->due && !r->stopped)
		report_malformed(r, "neither [section] nor key = value");
	r->due = false;
	if (r->stopped || r->next == r->end)
		return NULL;
	line = r->next;
	newline = memchr(line, '\n', (size_t)(r->end - line));
	r->next = newline ? newline + 1 : r->end;
	r->number++;
	end = ini_take_line(r, line, newline ? newline : r->end,
			    (size_t)(room < LINE_ROOM ? room : LINE_ROOM) - 2);
	memcpy(out, line, (size_t)(end - line));
	out[end - line] = '\0';
	return out;
}

/* inih's handler. */
static int take_value(void *ctx, const char *section, const char *name, const char *value)
{
	struct reader *r = ctx;
	r->due = false;
	if (r->stopped)
		return 1;
	if (r->more) {
		ini_report(r, (struct ini_line){.kind = INI_MORE,
						.section = section,
						.key = name,
						.value = value});
		return 1;
	}
	r->keyed = *name != '\0';
	if (*name == '\0')
		report_malformed(r, "a value without a key");
	else if (strlen(name) > NAME_MAX_LEN)
		report_malformed(r, "a key has at most 49 bytes");
	else
		ini_report(r, (struct ini_line){.kind = INI_KEY,
						.section = section,
						.key = name,
						.value = value});
	return 1;
}

void ini_visit(const char *text, size_t len, int (*visit)(void *ctx, const struct ini_line *line),
	       void *ctx)
{
	struct reader r = {.next = text, .end = text + len, .visit = visit, .ctx = ctx};
	ini_parse_stream(read_line, &r, take_value, &r);
}

/* --- setting one key ------------------------------------------------------------------ */

/* The place of a key in a text. */
struct place {
	const char *section, *key;
	unsigned key_line, key_end; /* its first and last line; 0: none */
	unsigned section_end;       /* the last line of its section that is not blank; 0: none */

	/* Compares its values with these. */
	char *const *values;
	size_t count, seen;
	bool differs;
};

static int ini_edit_look(void *ctx, const struct ini_line *line)
{
	struct place *p = ctx;
	if (line->kind == INI_MALFORMED || strcmp(line->section, p->section) != 0)
		return 0;
	p->section_end = line->number;
	if (line->kind == INI_SECTION || strcmp(line->key, p->key) != 0)
		return 0;
	if (line->kind == INI_KEY)
		p->key_line = line->number;
	p->key_end = line->number;
	/* The key's own line is empty if it has a list. */
	if (*line->value || p->count == 1) {
		p->differs |= p->seen >= p->count || strcmp(line->value, p->values[p->seen]) != 0;
		p->seen++;
	}
	return 0;
}

/* Writes the key's line or lines, with `rest` behind the value. */
static void ini_edit_write_key(struct buffer *out, const struct place *p, const char *rest,
			       size_t len, const char *newline)
{
	bool list = p->count > 1;
	buffer_printf(out, "%s =", p->key);
	if (p->count == 1 && *p->values[0])
		buffer_printf(out, " %s", p->values[0]);
	buffer_append(out, rest, len);
	buffer_append_string(out, newline);
	for (size_t i = 0; list && i < p->count; i++)
		buffer_printf(out, "\t%s%s", p->values[i], newline);
}

int ini_set(struct buffer *out, const char *text, size_t len, const char *section, const char *key,
	    char *const *values, size_t count)
{
	struct place p = {.section = section, .key = key, .values = values, .count = count};
	struct place after = p;
	size_t start = out->len;
	const char *end = text + len, *first = memchr(text, '\n', len);
	const char *newline = first && first > text && first[-1] == '\r' ? "\r\n" : "\n";
	unsigned number = 1;
	ini_visit(text, len, ini_edit_look, &p);
	for (const char *line = text, *next; line < end; line = next, number++) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));
		next = stop ? stop + 1 : end;
		stop = stop ? stop : end;
		stop -= stop > line && stop[-1] == '\r';
		if (number == p.key_line) {
			/* The blanks and the comment behind the value stay. */
			const char *rest = comment_start(line, stop);
			while (rest < stop && rest > line && is_space(rest[-1]))
				rest--;
			ini_edit_write_key(out, &p, rest, (size_t)(stop - rest), newline);
			continue;
		}
		if (p.key_line && number > p.key_line && number <= p.key_end) {
			/* The key's other values go. */
			const char *more = line;
			while (more < stop && strchr(" \t", *more))
				more++;
			if (more > line && more < stop && !strchr("#;", *more))
				continue;
		}
		buffer_append(out, line, (size_t)(stop - line));
		buffer_append_string(out, newline);
		if (!p.key_line && number == p.section_end)
			ini_edit_write_key(out, &p, "", 0, newline);
	}
	if (!p.section_end) {
		buffer_printf(out, "%s[%s]%s", len ? newline : "", p.section, newline);
		ini_edit_write_key(out, &p, "", 0, newline);
	}
	if (buffer_check(out) < 0)
		return -1;
	/* A ; behind a blank, a newline or too long a line would be read as something else. */
	ini_visit(out->data + start, out->len - start, ini_edit_look, &after);
	if (after.seen == count && !after.differs)
		return 0;
	errno = EINVAL;
	return -1;
}
