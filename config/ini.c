// See ini.h.

#include "config/ini.h"

#include "lib/buffer.h"
#include "lib/utf8.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* isspace() in the C locale. */
static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The comment behind a value, or the end. */
static const char *comment_start(const char *start, const char *end)
{
	for (const char *p = start + 1; p < end; p++) {
		if (*p == ';' && is_space(p[-1]))
			return p;
	}
	return end;
}

/* The longest line, without the blanks at its end. */
#define LINE_MOST 198

/* Stores the text without the blanks around it. */
static void ini_copy(char out[LINE_MOST + 1], const char *from, const char *to)
{
	while (from < to && is_space(*from))
		from++;
	while (from < to && is_space(to[-1]))
		to--;
	memcpy(out, from, (size_t)(to - from));
	out[to - from] = '\0';
}

void ini_visit(const char *text, size_t len, int (*visit)(void *ctx, const struct ini_line *line),
	       void *ctx)
{
	char section[LINE_MOST + 1] = "", key[LINE_MOST + 1] = "", value[LINE_MOST + 1];
	const char *text_end = text + len;
	unsigned number = 0;
	for (const char *line = text, *next; line < text_end; line = next) {
		const char *newline = memchr(line, '\n', (size_t)(text_end - line));
		const char *start = line, *end = newline ? newline : text_end, *reason = NULL;
		next = newline ? newline + 1 : text_end;
		number++;
		while (end > line && is_space(end[-1]))
			end--;
		if (number == 1 && end - line >= 3 && memcmp(line, "\xEF\xBB\xBF", 3) == 0)
			start += 3;
		while (start < end && is_space(*start))
			start++;
		bool nul = memchr(line, '\0', (size_t)(end - line));
		if (!nul && (start == end || *start == '#' || *start == ';'))
			continue;
		struct ini_line told = {.kind = INI_KEY,
					.number = number,
					.section = section,
					.key = key,
					.value = value};
		if (nul) {
			reason = "a NUL byte; is this a text file?";
		} else if (end - line > LINE_MOST) {
			reason = "a line has at most 198 bytes; more values go on indented "
				 "lines below";
		} else if (*key && start > line) {
			/* It continues the key. */
			told.kind = INI_MORE;
			ini_copy(value, start, comment_start(start, end));
		} else if (*start == '[') {
			const char *close = memchr(start, ']', (size_t)(end - start));
			const char *behind = close ? close + 1 : end;
			while (behind < end && is_space(*behind))
				behind++;
			if (!close) {
				reason = "no ] behind the section's name";
			} else if (behind < end && *behind != ';' && *behind != '#') {
				reason = "text behind the section's name";
			} else {
				snprintf(section, sizeof(section), "%.*s", (int)(close - start - 1),
					 start + 1);
				*key = '\0';
				told.kind = INI_SECTION;
				told.key = told.value = NULL;
			}
		} else {
			const char *equals = start;
			const char *stop = comment_start(start, end);
			while (equals < stop && *equals != '=' && *equals != ':')
				equals++;
			if (equals == stop) {
				reason = "neither [section] nor key = value";
			} else {
				ini_copy(key, start, equals);
				ini_copy(value, equals + 1, stop);
				reason = *key ? NULL : "a value without a key";
			}
		}
		if (reason) {
			size_t most = (size_t)(end - start);
			most = utf8_floor(start, most, most < LINE_MOST ? most : LINE_MOST);
			ini_copy(value, start, start + most);
			told = (struct ini_line){.kind = INI_MALFORMED,
						 .number = number,
						 .value = nul ? NULL : value,
						 .reason = reason};
		}
		if (visit(ctx, &told) != 0)
			return;
	}
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
