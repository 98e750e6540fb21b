// See complaint.h.

#include "config/complaint.h"

#include "supervisor/base/utf8.h"

#include <stdio.h>
#include <string.h>

/* The most that is shown of a part. All of them fit into an option_error together. */
enum { WHERE_MAX = 160, VALUE_MAX = 60, REASON_MAX = 120, BETWEEN_MAX = 40 };
_Static_assert(WHERE_MAX + 3 * VALUE_MAX + REASON_MAX + BETWEEN_MAX <= sizeof(struct option_error),
	       "a message has room for all of its parts");

struct text {
	char bytes[sizeof(struct option_error)];
	size_t len;
};

/* For short text that is known to be clean. */
static void add_plain(struct text *t, const char *plain)
{
	size_t len = strlen(plain);

	memcpy(t->bytes + t->len, plain, len);
	t->len += len;
}

/* Up to `max` bytes, with dots for the rest. */
static void add_clean(struct text *t, const char *string, size_t max)
{
	size_t left = strlen(string), end = t->len + max;

	while (left > 0) {
		char encoded[4];
		uint32_t cp;
		size_t taken = utf8_decode(string, left, &cp), len;

		if (!utf8_is_clean(cp) || cp == '\n' || cp == '\t')
			cp = UTF8_REPLACEMENT;
		len = utf8_put(cp, encoded);
		if (t->len + len > end) {
			add_plain(t, "...");
			return;
		}
		memcpy(t->bytes + t->len, encoded, len);
		t->len += len;
		string += taken;
		left -= taken;
	}
}

void complaint_write(const struct complaint *c, struct option_error *error)
{
	struct text t = {.len = 0};
	size_t len = strlen(c->where);
	char line[16];

	if (len > WHERE_MAX)
		add_plain(&t, "...");
	add_clean(&t, len > WHERE_MAX ? c->where + len - WHERE_MAX : c->where, WHERE_MAX);
	if (c->line > 0) {
		snprintf(line, sizeof(line), ":%u", c->line);
		add_plain(&t, line);
	}
	add_plain(&t, ": ");
	if (c->section) {
		add_plain(&t, "[");
		add_clean(&t, c->section, VALUE_MAX);
		add_plain(&t, c->key ? "] " : "]: ");
	}
	if (c->key) {
		add_clean(&t, c->key, VALUE_MAX);
		add_plain(&t, ": ");
	}
	if (c->value && *c->value != '\0') {
		add_clean(&t, c->value, VALUE_MAX);
		add_plain(&t, ": ");
	}
	add_clean(&t, c->reason, REASON_MAX);
	memcpy(error->text, t.bytes, t.len);
	error->text[t.len] = '\0';
}
