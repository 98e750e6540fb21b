// See string.h.

#include "supervisor/terminal/string.h"

#include "supervisor/base/utf8.h"
#include "supervisor/terminal/internal.h"

#include <string.h>

#define BEL 0x07
#define CAN 0x18
#define SUB 0x1A
#define ESC 0x1B

static const char image[] = "[image]";

/* Stands for what is not held of a string that did not end. */
static const char rest[] = "[...]";

void string_begin(struct terminal *t, char c)
{
	struct string *s = &t->string;

	t->parser.state = PARSER_STRING;
	t->lossy = true;
	s->held[0] = c;
	s->len = 1;
	s->more = false;
}

static bool begins_with(const struct string *s, const char *prefix)
{
	size_t len = strlen(prefix);

	return s->len >= len && memcmp(s->held, prefix, len) == 0;
}

static bool is_sixel(const struct string *s)
{
	size_t i = 1;

	while (i < s->len && ((s->held[i] >= '0' && s->held[i] <= '9') || s->held[i] == ';'))
		i++;
	return s->held[0] == 'P' && i < s->len && s->held[i] == 'q';
}

/* Whether one of the words is in the string before its data. */
static bool names(const struct string *s, char data, const char *const *words)
{
	const char *end = memchr(s->held, data, s->len);
	size_t len = end ? (size_t)(end - s->held) : s->len;

	for (; *words; words++)
		if (memmem(s->held, len, *words, strlen(*words)))
			return true;
	return false;
}

/* Whether it shows a picture: others only load or ask. */
static bool is_picture(const struct string *s)
{
	static const char *const shown[] = {"Ga=T", "Ga=p", ",a=T", ",a=p", NULL};
	static const char *const inlined[] = {"inline=1", NULL};

	if (begins_with(s, "_G"))
		return names(s, ';', shown);
	if (begins_with(s, "]1337;File=") || begins_with(s, "]1337;MultipartFile="))
		return names(s, ':', inlined);
	return is_sixel(s);
}

static bool carries_data(const struct string *s)
{
	return is_sixel(s) || begins_with(s, "_G") || begins_with(s, "]52;") ||
	       begins_with(s, "]1337;") || begins_with(s, "Ptmux;");
}

static bool is_data(char c)
{
	return (c > ' ' && c <= '~') || c == '\r' || c == '\n';
}

/* Whether a string that is as long as what is held may go on with this byte. */
static bool may_go_on(const struct string *s, char c)
{
	size_t i = 0;

	if (s->more || !is_data(c) || !carries_data(s))
		return s->more && is_data(c);
	while (i < s->len && is_data(s->held[i]))
		i++;
	return i == s->len;
}

static void take_title(struct string *s)
{
	size_t len = 0;
	size_t n;

	if (!begins_with(s, "]0;") && !begins_with(s, "]2;"))
		return;
	for (size_t i = 3; i < s->len; i += n) {
		uint32_t cp;

		n = utf8_decode(s->held + i, s->len - i, &cp);
		if (cp == '\t' || !utf8_is_clean(cp) || len + n >= TITLE_LEN)
			continue;
		memcpy(s->title + len, s->held + i, n);
		len += n;
	}
	s->title[len] = '\0';
}

/* A word of terse's own: no character set changes it. */
static void parser_string_show(struct terminal *t, const char *word)
{
	if (t->appending || t->stripping) {
		terminal_take(t, word, strlen(word));
		return;
	}
	for (; *word; word++)
		grid_print(t, (unsigned char)*word, word, 1);
}

/* What ended it came. */
static void complete(struct terminal *t, unsigned char c)
{
	parser_init(&t->parser);
	dispatch_ended(t);
	if (c == CAN || c == SUB)
		return;
	take_title(&t->string);
	if (is_picture(&t->string))
		parser_string_show(t, image);
	if (c == ESC) {
		parser_step(&t->parser, ESC);
		t->tail.apart = true;
	}
}

void string_give_up(struct terminal *t)
{
	struct string *s = &t->string;

	parser_init(&t->parser);
	dispatch_ended(t);
	/* It has no ESC, so no other string takes its place meanwhile. */
	terminal_take(t, s->held, s->len);
	if (s->more)
		parser_string_show(t, rest);
}

const char *string_feed(struct terminal *t, const char *p, const char *end)
{
	struct string *s = &t->string;
	bool osc = s->held[0] == ']';

	for (; p < end; p++) {
		unsigned char c = (unsigned char)*p;

		if (c == ESC || c == CAN || c == SUB || (c == BEL && osc)) {
			complete(t, c);
			return p + 1;
		}
		if (s->len < STRING_HOLD && (c != '\n' || !osc)) {
			s->held[s->len++] = *p;
		} else if ((c == '\n' && osc) || !may_go_on(s, *p)) {
			string_give_up(t);
			return p;
		} else {
			s->more = true;
		}
	}
	return p;
}
