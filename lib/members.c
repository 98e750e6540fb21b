// See members.h.

#include "lib/members.h"

#include "lib/utf8.h"

#include <string.h>

/* The place after the string that begins at `at`, or NULL if it does not end. */
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

/* The place after the value that begins at `at`, or NULL. */
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
		if (depth == 0 && (c == ',' || c == '}' || c == ']'))
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
	m->is_list = len > 0 && *data == '[';
	m->bad = len < 2 || (*data != '{' && !m->is_list) ||
		 data[len - 1] != (m->is_list ? ']' : '}');
}

bool members_next(struct members *m)
{
	const char *key = m->at + 1, *value = key; /* after a bracket or a comma */
	if (m->bad || key >= m->end || *m->at == '}' || *m->at == ']')
		return false;
	if (!m->is_list) {
		const char *colon = *key == '"' ? string_end(key, m->end) : NULL;
		value = colon && colon < m->end && *colon == ':' ? colon + 1 : NULL;
		m->key = (struct member_value){key + 1, value ? (size_t)(colon - key) - 2 : 0};
	}
	const char *end = value ? value_end(value, m->end) : NULL;
	const char close = m->is_list ? ']' : '}';
	if (!end || end == m->end || end == value || (*end != ',' && *end != close)) {
		/* {} and [] have no member. */
		m->bad = key + 1 != m->end || m->at[0] == ',';
		return false;
	}
	m->bad = *end == close && end + 1 != m->end;
	m->value = (struct member_value){value, (size_t)(end - value)};
	m->at = end;
	return !m->bad;
}

bool member_is(const struct member_value *v, const char *json)
{
	return strlen(json) == v->len && memcmp(v->data, json, v->len) == 0;
}

bool member_number(const struct member_value *v, uint64_t most, uint64_t *n)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < v->len; i++) {
		unsigned digit = (unsigned)(unsigned char)v->data[i] - '0';
		if (digit > 9 || sum > (most - digit) / 10 || (i > 0 && sum == 0))
			return false;
		sum = sum * 10 + digit;
	}
	*n = sum;
	return v->len > 0;
}

bool member_hex(const char *at, const char *end, uint32_t *n)
{
	*n = 0;
	if (end - at < 4)
		return false;
	for (int i = 0; i < 4; i++) {
		char c = at[i];
		uint32_t digit = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
				 : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
				 : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A' + 10)
							: 16;
		if (digit == 16)
			return false;
		*n = *n << 4 | digit;
	}
	return true;
}

/* Decodes an escape. On entry *at is after its backslash, on return after the escape. Returns how
   many bytes it wrote to `out`; 0: this is not an escape. Half a surrogate pair becomes U+FFFD. */
static size_t unescape(const char **at, const char *end, char *out)
{
	static const char escapes[] = "\"\"\\\\//b\bf\fn\nr\rt\t";
	uint32_t cp, low;
	const char c = *(*at)++;
	for (size_t i = 0; i < sizeof(escapes) - 1; i += 2) {
		if (escapes[i] == c) {
			*out = escapes[i + 1];
			return 1;
		}
	}
	if (c != 'u' || !member_hex(*at, end, &cp) || cp == 0)
		return 0;
	*at += 4;
	if (cp >= 0xD800 && cp < 0xDC00 && end - *at >= 6 && (*at)[0] == '\\' && (*at)[1] == 'u' &&
	    member_hex(*at + 2, end, &low) && low >= 0xDC00 && low < 0xE000) {
		*at += 6;
		cp = 0x10000 + ((cp - 0xD800) << 10) + (low - 0xDC00);
	}
	return utf8_put(cp >= 0xD800 && cp < 0xE000 ? 0xFFFD : cp, out);
}

char *member_text(const struct member_value *v, char *out)
{
	const char *at = v->data + 1, *end = v->data + v->len - 1;
	if (v->len < 2 || *v->data != '"')
		return NULL;
	while (at < end) {
		uint32_t cp;
		size_t n = 0;
		if (*at == '\\') {
			at++;
			n = at < end ? unescape(&at, end, out) : 0;
		} else if (*at >= ' ' && *at < 0x7f) {
			*out = *at++;
			n = 1;
		} else if (utf8_next(at, (size_t)(end - at), &cp, &n) &&
			   (unsigned char)*at >= 0x80) {
			memcpy(out, at, n);
			at += n;
		} else {
			n = 0;
		}
		if (n == 0)
			return NULL;
		out += n;
	}
	*out = '\0';
	return out + 1;
}
