// See members.h.

#include "lib/members.h"

#include <string.h>

/* Behind the string that begins at `at`, or NULL. */
static const char *string_end(const char *at, const char *end)
{
	for (at++; at < end; at++) {
		const char *quote = memchr(at, '"', (size_t)(end - at));
		const char *escape = quote ? memchr(at, '\\', (size_t)(quote - at)) : NULL;
		if (!quote)
			return NULL;
		if (!escape)
			return quote + 1;
		at = escape + 1;
	}
	return NULL;
}

/* Behind the value that begins at `at`, or NULL. */
static const char *value_end(const char *at, const char *end)
{
	unsigned depth = 0;
	while (at < end) {
		char c = *at;
		if (c == '"') {
			at = string_end(at, end);
			if (!at)
				return NULL;
			if (depth == 0)
				return at;
			continue;
		}
		if (depth == 0 && (c == ',' || c == '}'))
			return at;
		if (c == '{' || c == '[')
			depth++;
		else if ((c == '}' || c == ']') && --depth == 0)
			return at + 1;
		at++;
	}
	return NULL;
}

void members_begin(struct members *m, const char *data, size_t len)
{
	*m = (struct members){.at = data, .end = data + len};
	m->bad = len < 2 || *data != '{' || data[len - 1] != '}';
}

bool members_next(struct members *m)
{
	const char *key = m->at + 1; /* behind a brace or a comma */
	if (m->bad || key >= m->end || *m->at == '}')
		return false;
	const char *colon = *key == '"' ? string_end(key, m->end) : NULL;
	const char *end =
		colon && colon < m->end && *colon == ':' ? value_end(colon + 1, m->end) : NULL;
	if (!end || end == m->end || (*end != ',' && *end != '}')) {
		/* {} has no member. */
		m->bad = *key != '}';
		return false;
	}
	m->key = key + 1;
	m->key_len = (size_t)(colon - key) - 2;
	m->value = (struct member_value){colon + 1, (size_t)(end - colon) - 1};
	m->at = end;
	return true;
}

bool members_is(const struct members *m, const char *key)
{
	return strlen(key) == m->key_len && memcmp(m->key, key, m->key_len) == 0;
}

uint64_t member_number(const struct member_value *v, unsigned index)
{
	const char *at = v->data, *end = v->data + v->len;
	uint64_t n = 0;
	if (at < end && *at == '[')
		at++;
	for (; index > 0 && at < end; at++)
		index -= *at == ',';
	for (; at < end && *at >= '0' && *at <= '9'; at++)
		n = n * 10 + (uint64_t)(*at - '0');
	return n;
}

struct member_value member_plain(const struct member_value *v)
{
	bool is_string = v->len >= 2 && v->data[0] == '"';
	return is_string ? (struct member_value){v->data + 1, v->len - 2}
			 : (struct member_value){v->data, 0};
}
