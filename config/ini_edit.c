// See ini_edit.h.

#include "config/ini_edit.h"

#include "config/ini.h"

#include "supervisor/base/buffer.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* Where a key is in a text. */
struct place {
	const char *section, *key;
	unsigned key_line, key_end; /* its line and the last one that goes on with it; 0: none */
	unsigned section_end;       /* the last line that says something in its section; 0: none */

	/* Whether it has these values and no others. */
	char *const *values;
	size_t count, seen;
	bool differs;
};

static void ini_edit_compare(struct place *p, const char *value)
{
	/* A list begins with an empty line of the key. */
	if (*value == '\0' && p->count != 1)
		return;
	p->differs |= p->seen >= p->count || strcmp(value, p->values[p->seen]) != 0;
	p->seen++;
}

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
	ini_edit_compare(p, line->value);
	return 0;
}

/* What is behind the value on the key's line: blanks and a comment. */
static size_t comment_at(const char *line, size_t len)
{
	for (size_t i = 1; i < len; i++) {
		if (line[i] == ';' && strchr(" \t", line[i - 1])) {
			while (i > 0 && strchr(" \t", line[i - 1]))
				i--;
			return i;
		}
	}
	return len;
}

/* The key's line or lines, with what stood behind the value. */
static int ini_edit_write_key(struct buffer *out, const struct place *p, const char *rest,
			      size_t len, const char *newline)
{
	bool list = p->count > 1;
	if (buffer_printf(out, "%s =", p->key) < 0)
		return -1;
	if (!list && p->count && *p->values[0] && buffer_printf(out, " %s", p->values[0]) < 0)
		return -1;
	if (buffer_append(out, rest, len) < 0 || buffer_append_string(out, newline) < 0)
		return -1;
	for (size_t i = 0; list && i < p->count; i++) {
		if (buffer_printf(out, "\t%s%s", p->values[i], newline) < 0)
			return -1;
	}
	return 0;
}

static bool is_more(const char *line, size_t len)
{
	size_t blanks = 0;
	while (blanks < len && strchr(" \t", line[blanks]))
		blanks++;
	return blanks > 0 && blanks < len && !strchr("#;", line[blanks]);
}

/* One line of the text, without its end. */
static int ini_edit_write_line(struct buffer *out, const struct place *p, unsigned number,
			       const char *line, size_t len, const char *newline)
{
	if (number == p->key_line) {
		size_t at = comment_at(line, len);
		return ini_edit_write_key(out, p, line + at, len - at, newline);
	}
	if (p->key_line && number > p->key_line && number <= p->key_end && is_more(line, len))
		return 0;
	if (buffer_append(out, line, len) < 0 || buffer_append_string(out, newline) < 0)
		return -1;
	if (!p->key_line && number == p->section_end)
		return ini_edit_write_key(out, p, "", 0, newline);
	return 0;
}

static int ini_edit_write_all(struct buffer *out, const struct place *p, const char *text,
			      size_t len)
{
	const char *end = text + len, *first = memchr(text, '\n', len);
	const char *newline = first && first > text && first[-1] == '\r' ? "\r\n" : "\n";
	unsigned number = 1;
	for (const char *line = text; line < end; number++) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));
		size_t size = (size_t)((stop ? stop : end) - line);
		size_t shown = size && line[size - 1] == '\r' ? size - 1 : size;
		if (ini_edit_write_line(out, p, number, line, shown, newline) < 0)
			return -1;
		line += size + (stop != NULL);
	}
	if (p->section_end)
		return 0;
	if (buffer_printf(out, "%s[%s]%s", len ? newline : "", p->section, newline) < 0)
		return -1;
	return ini_edit_write_key(out, p, "", 0, newline);
}

int ini_set(struct buffer *out, const char *text, size_t len, const char *section, const char *key,
	    char *const *values, size_t count)
{
	struct place p = {.section = section, .key = key, .values = values, .count = count};
	struct place after = p;
	size_t start = out->len;
	ini_visit(text, len, ini_edit_look, &p);
	if (ini_edit_write_all(out, &p, text, len) < 0)
		return -1;
	/* A ; behind a blank, a newline, too long a line: it would be read as something else. */
	ini_visit(out->data + start, out->len - start, ini_edit_look, &after);
	if (after.seen == count && !after.differs)
		return 0;
	errno = EINVAL;
	return -1;
}
