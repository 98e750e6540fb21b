// See comment.h.

#include "config/comment.h"

#include "config/words.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define MARK   "terse:"
#define BLANKS " \t\r,"

static bool comment_takes(struct comment *c, const char *word, size_t len)
{
	static const char *const names[] = {"yield=", "timeout=", "size="};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strncmp(word, names[i], strlen(names[i])) != 0)
			continue;
		if (c->count == COMMENT_MAX || len >= COMMENT_LEN - 2)
			return false;
		snprintf(c->flags[c->count++], COMMENT_LEN, "--%.*s", (int)len, word);
		return true;
	}
	return false;
}

/* The flags, whatever their values. */
static void comment_find(struct comment *c, const char *command)
{
	struct words w;
	if (!strstr(command, MARK) || words_parse(&w, command) < 0)
		return;
	const char *at = w.comment ? w.comment + 1 : "";
	bool good = w.count > 0;
	words_release(&w);
	at += strspn(at, BLANKS);
	if (!good || strncmp(at, MARK, strlen(MARK)) != 0)
		return;
	for (at += strlen(MARK); good && *(at += strspn(at, BLANKS "\n"));) {
		size_t len = strcspn(at, BLANKS "\n");
		good = comment_takes(c, at, len);
		at += len;
	}
	if (!good)
		c->count = 0;
}

int comment_read(struct comment *c, const char *command, struct settings *s,
		 struct option_error *error)
{
	size_t found;
	c->count = 0;
	comment_find(c, command);
	found = c->count;
	c->count = 0;
	for (size_t i = 0; i < found; i++) {
		char *const argv[] = {c->flags[i], NULL};
		int index = 0;
		if (settings_take_flag(s, 1, argv, &index, error) == 1)
			memmove(c->flags[c->count++], c->flags[i], COMMENT_LEN);
	}
	return c->count == found ? 0 : -1;
}
