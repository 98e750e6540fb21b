// See outline.h.

#include "supervisor/agents/outline.h"

#include "lib/buffer.h"
#include "lib/bytes.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

static size_t toml_skip(const char *text, size_t len, size_t at, const char *chars)
{
	while (at < len && text[at] && strchr(chars, text[at]))
		at++;
	return at;
}

/* The end of the string that begins at `at`, after its closing quote; 0: it is not closed. */
static size_t toml_string_end(const char *text, size_t len, size_t at)
{
	char quotes[3] = {text[at], text[at], text[at]};
	size_t count = at + 3 <= len && memcmp(text + at, quotes, 3) == 0 ? 3 : 1;
	for (size_t i = at + count; i < len && (count == 3 || text[i] != '\n'); i++) {
		if (text[i] == '\\' && *quotes == '"') {
			i++;
		} else if (i + count <= len && memcmp(text + i, quotes, count) == 0) {
			/* A long string can end with up to two more quotes. */
			for (i += count; count == 3 && i < len && text[i] == *quotes;)
				i++;
			return i;
		}
	}
	return 0;
}

/* The end of the value that begins at `at`, without a comment; 0: a string or bracket is not
   closed. */
static size_t toml_value_end(const char *text, size_t len, size_t at)
{
	int depth = 0;
	for (size_t end = at;;) {
		char c = at < len ? text[at] : '\n';
		if (at >= len || (c == '\n' && depth <= 0))
			return depth > 0 ? 0 : end;
		if (c == '#') {
			while (at < len && text[at] != '\n')
				at++;
		} else if (c == '"' || c == '\'') {
			at = end = toml_string_end(text, len, at);
			if (!at)
				return 0;
		} else {
			depth += (c == '[' || c == '{') - (c == ']' || c == '}');
			at++;
			end = isspace((unsigned char)c) ? end : at;
		}
	}
}

int toml_find(struct toml *t, const char *text, size_t len, const char *const *path)
{
	/* Paths of keys, without blanks and quotes, with a dot after each key. `wanted`: what is
	   looked for; `table` and `key`: what the current line names. */
	struct buffer wanted = BUFFER_INIT, table = BUFFER_INIT, key = BUFFER_INIT;
	size_t own = 0; /* where the last key starts in `wanted`; before that is the table */
	bool inside = false;
	*t = (struct toml){.reason = NULL};
	do {
		own = wanted.len;
		buffer_printf(&wanted, "%s.", *path);
	} while (*++path);
	size_t at = len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
	for (size_t start, end; at < len; at = end) {
		t->at = start = at;
		end = start + line_size(text + start, len - start);
		at = toml_skip(text, len, start, " \t");
		if (at == len || strchr("#\r\n", text[at]))
			continue;
		bool header = text[at] == '[', list = header && at + 1 < len && text[at + 1] == '[';
		char close = header ? ']' : '=', quote = '\0';
		buffer_clear(&key);
		if (!header)
			buffer_add(&key, &table);
		for (at += (size_t)header + list; at < end && (quote || text[at] != close); at++) {
			bool escape = quote == '"' && text[at] == '\\' && at + 1 < end;
			if (quote ? text[at] == quote : text[at] == '"' || text[at] == '\'')
				quote = quote ? '\0' : text[at];
			else if (quote || !strchr(" \t", text[at]))
				buffer_append(&key, text + at, 1 + escape);
			at += escape;
		}
		buffer_append(&key, ".", 1);
		if (at == end)
			t->reason = header ? "] is expected" : "= is expected behind a key";
		if (at == end || buffer_check(&key) < 0 || buffer_check(&wanted) < 0)
			break;
		/* `common`: one of the two paths begins with the other; `below`: the line's path
		   begins with the table's. */
		size_t less = key.len < wanted.len ? key.len : wanted.len;
		bool common = memcmp(key.data, wanted.data, less) == 0;
		bool below = key.len >= own && memcmp(key.data, wanted.data, own) == 0;
		if (header) {
			inside = !list && below && key.len == own;
			if (common && (list || key.len >= wanted.len))
				t->foreign = end;
			if (inside) {
				t->table = start;
				t->table_end = t->last = end;
				t->keys = 0;
			}
			buffer_clear(&table);
			buffer_add(&table, &key);
			continue;
		}
		size_t value = toml_skip(text, len, at + 1, " \t"),
		       stop = toml_value_end(text, len, value);
		if (!stop) {
			t->reason = "a string or bracket is not closed";
			break;
		}
		end = stop + line_size(text + stop, len - stop);
		bool found = inside && common && key.len == wanted.len;
		if (!found && (inside ? common && key.len > wanted.len
				      : table.len <= own && (common || below)))
			t->foreign = end;
		if (found) {
			t->start = start;
			t->value = value;
			t->value_end = stop;
			t->end = end;
		}
		if (inside) {
			t->last = end;
			t->keys++;
		}
	}
	int status = 0;
	if (t->reason || buffer_check(&key) < 0 || buffer_check(&wanted) < 0) {
		errno = t->reason ? EINVAL : ENOMEM;
		status = -1;
	}
	buffer_release(&wanted);
	buffer_release(&table);
	buffer_release(&key);
	return status;
}

void toml_add(struct splice *s, const struct toml *t, const char *text, size_t len,
	      const char *const *path, const char *value)
{
	const char *newline = newline_of(text, len);
	s->from = s->to = t->table_end ? t->last : len;
	if (s->from > 0 && text[s->from - 1] != '\n')
		buffer_append_string(&s->text, newline);
	if (!t->table_end) {
		buffer_printf(&s->text, "%s[", len ? newline : "");
		for (; path[1]; path++)
			buffer_printf(&s->text, path[2] ? "%s." : "%s]", path[0]);
		buffer_append_string(&s->text, newline);
	}
	while (path[1])
		path++;
	buffer_printf(&s->text, "%s = %s%s", *path, value, newline);
}

void toml_remove(struct splice *s, const struct toml *t, const char *text)
{
	s->from = t->start;
	s->to = t->end;
	if (t->keys == 1) {
		/* An empty line above the table goes, too. */
		s->from = t->table;
		if (s->from >= 2 && memcmp(text + s->from - 2, "\n\n", 2) == 0)
			s->from--;
		else if (s->from >= 4 && memcmp(text + s->from - 4, "\r\n\r\n", 4) == 0)
			s->from -= 2;
		buffer_append(&s->text, text + t->table_end, t->start - t->table_end);
	}
}
