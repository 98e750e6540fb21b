#include "lib/utf8.h"
#include "supervisor/terminal/internal.h"

#include <string.h>

#define BEL 0x07
#define CAN 0x18
#define SUB 0x1A
#define ESC 0x1B

static void clear(struct parser *parser)
{
	parser->count = 1;
	parser->params[0] = 0;
	parser->sub = false;
	parser->collect = 0;
}

/* A C1 control, in any state. */
static enum parser_event step_c1(struct parser *parser, uint32_t c)
{
	parser->state = PARSER_GROUND;
	switch (c) {
	case 0x90:
	case 0x98:
	case 0x9E:
	case 0x9F: parser->state = PARSER_STRING; break; /* DCS, SOS, PM, APC */
	case 0x9B:
		clear(parser);
		parser->state = PARSER_CSI_ENTRY;
		break;
	case 0x9C: break; /* ST */
	case 0x9D: parser->state = PARSER_OSC; break;
	default: return PARSER_EXECUTE;
	}
	return PARSER_NOTHING;
}

/* A printable character of an escape sequence. */
static enum parser_event step_escape(struct parser *parser, uint32_t c)
{
	bool first = parser->state == PARSER_ESCAPE;
	if (c < 0x30) {
		parser->collect = parser->collect << 8 | c;
		parser->state = PARSER_ESCAPE_INTERMEDIATE;
	} else if (first && c == '[') {
		clear(parser);
		parser->state = PARSER_CSI_ENTRY;
	} else if (first && c == ']') {
		parser->state = PARSER_OSC;
	} else if (first && (c == 'P' || c == 'X' || c == '^' || c == '_')) {
		parser->state = PARSER_STRING;
	} else {
		parser->state = PARSER_GROUND;
		return PARSER_ESC;
	}
	return PARSER_NOTHING;
}

/* A printable character of a control sequence. */
static enum parser_event step_csi(struct parser *parser, uint32_t c)
{
	enum parser_state state = parser->state;
	if (c >= 0x40) {
		parser->state = PARSER_GROUND;
		return state == PARSER_CSI_IGNORE ? PARSER_SKIP : PARSER_CSI;
	}
	/* A prefix comes first, intermediates last. */
	if (state == PARSER_CSI_IGNORE || (state == PARSER_CSI_INTERMEDIATE && c >= 0x30) ||
	    (state == PARSER_CSI_PARAM && c >= 0x3C)) {
		parser->state = PARSER_CSI_IGNORE;
		return PARSER_SKIP;
	}
	parser->state = c < 0x30 ? PARSER_CSI_INTERMEDIATE : PARSER_CSI_PARAM;
	if (c < 0x30 || c >= 0x3C) {
		parser->collect = parser->collect << 8 | c;
	} else if (c == ':') {
		parser->sub = true;
	} else if (c == ';') {
		/* Parameters past the limit are dropped, like sub-parameters. */
		parser->sub = parser->count >= PARSER_PARAMS;
		if (!parser->sub)
			parser->params[parser->count++] = 0;
	} else if (!parser->sub) {
		uint32_t *last = &parser->params[parser->count - 1];
		uint64_t value = (uint64_t)*last * 10 + (c - '0');
		*last = value > INT32_MAX ? INT32_MAX : (uint32_t)value;
	}
	return PARSER_NOTHING;
}

enum parser_event parser_step(struct parser *parser, uint32_t c)
{
	enum parser_state state = parser->state;
	if (c == ESC) {
		clear(parser);
		parser->state = PARSER_ESCAPE;
		return PARSER_NOTHING;
	}
	if (c == CAN || c == SUB) {
		parser->state = PARSER_GROUND;
		return PARSER_EXECUTE;
	}
	if (c >= 0x80 && c < 0xA0)
		return step_c1(parser, c);
	if (state >= PARSER_STRING) {
		if (c == BEL && state == PARSER_OSC)
			parser->state = PARSER_GROUND;
		return PARSER_NOTHING;
	}
	if (c < 0x20)
		return PARSER_EXECUTE;
	if (c == 0x7F && state != PARSER_GROUND)
		return PARSER_NOTHING;
	if (c < 0x7F && state >= PARSER_CSI_ENTRY)
		return step_csi(parser, c);
	if (c < 0x7F && state >= PARSER_ESCAPE)
		return step_escape(parser, c);
	/* A character beyond ASCII is never part of a sequence. */
	if (state != PARSER_CSI_IGNORE)
		parser->state = PARSER_GROUND;
	return PARSER_SKIP;
}

size_t parser_quick(struct parser *parser, const char *p, const char *end)
{
	const char *start = p;
	uint32_t value = 0;
	clear(parser);
	if (p < end && *p == '?') {
		parser->collect = '?';
		p++;
	}
	for (; p < end; p++) {
		unsigned char c = (unsigned char)*p;
		if (c >= '0' && c <= '9' && value < 100000000) {
			value = value * 10 + (c - '0');
		} else if (c == ';' && parser->count < PARSER_PARAMS) {
			parser->params[parser->count - 1] = value;
			parser->count++;
			value = 0;
		} else if (c >= 0x40 && c <= 0x7E) {
			parser->params[parser->count - 1] = value;
			parser->state = PARSER_GROUND;
			return (size_t)(p - start) + 1;
		} else {
			break;
		}
	}
	return 0;
}

uint32_t parser_param(const struct parser *parser, unsigned i, uint32_t fallback)
{
	return i < parser->count && parser->params[i] ? parser->params[i] : fallback;
}

static const char image[] = "[image]";

/* Stands for the part of an unended string that is not held. */
static const char rest[] = "[...]";

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

/* Whether one of the words is in the part of the string before the byte `data`, which begins its
   data. */
static bool string_names(const struct string *s, char data, const char *const *words)
{
	const char *end = memchr(s->held, data, s->len);
	size_t len = end ? (size_t)(end - s->held) : s->len;
	for (; *words; words++)
		if (memmem(s->held, len, *words, strlen(*words)))
			return true;
	return false;
}

static bool is_data(char c)
{
	return (c > ' ' && c <= '~') || c == '\r' || c == '\n';
}

/* Whether a string that has filled `held` may continue with this byte. */
static bool may_go_on(const struct string *s, char c)
{
	size_t i = 0;
	if (s->more || !is_data(c))
		return s->more && is_data(c);
	if (!is_sixel(s) && !begins_with(s, "_G") && !begins_with(s, "]52;") &&
	    !begins_with(s, "]1337;") && !begins_with(s, "Ptmux;"))
		return false;
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

/* Prints a word of terse's own, which no character set changes. */
static void parser_string_show(struct terminal *t, const char *word)
{
	if (t->appending) {
		terminal_take(t, word, strlen(word));
		return;
	}
	for (; *word; word++)
		grid_print(t, (unsigned char)*word, word, 1);
}

/* Ends the string at the byte `c`. */
static void complete(struct terminal *t, unsigned char c)
{
	static const char *const shown[] = {"Ga=T", "Ga=p", ",a=T", ",a=p", NULL};
	static const char *const inlined[] = {"inline=1", NULL};
	t->parser.state = PARSER_GROUND;
	dispatch_ended(t);
	if (c == CAN || c == SUB)
		return;
	const struct string *s = &t->string;
	take_title(&t->string);
	/* Other strings only load a picture or ask something. */
	bool is_picture = begins_with(s, "_G") ? string_names(s, ';', shown)
			  : begins_with(s, "]1337;File=") || begins_with(s, "]1337;MultipartFile=")
				  ? string_names(s, ':', inlined)
				  : is_sixel(s);
	if (is_picture)
		parser_string_show(t, image);
	if (c == ESC) {
		parser_step(&t->parser, ESC);
		t->tail.apart = true;
	}
}

void string_give_up(struct terminal *t)
{
	struct string *s = &t->string;
	t->parser.state = PARSER_GROUND;
	dispatch_ended(t);
	/* The held bytes have no ESC, so they begin no other string, which would overwrite them. */
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
