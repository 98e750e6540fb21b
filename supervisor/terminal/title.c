// See title.h.

#include "supervisor/terminal/title.h"

#include "supervisor/base/utf8.h"

#include <string.h>

void title_take(struct title *t, uint32_t c, bool first)
{
	char bytes[4];
	size_t n;

	if (first) {
		t->len = 0;
		return;
	}
	if (c == '\n' || c == '\t' || !utf8_is_clean(c))
		return;
	n = utf8_put(c, bytes);
	if (t->len + n >= sizeof(t->next))
		return;
	memcpy(t->next + t->len, bytes, n);
	t->len += n;
}

void title_end(struct title *t)
{
	t->next[t->len] = '\0';
	if (t->len >= 2 && (t->next[0] == '0' || t->next[0] == '2') && t->next[1] == ';')
		memcpy(t->text, t->next + 2, t->len - 1);
}
