#include "lib/utf8.h"
#include "supervisor/terminal/internal.h"

#include <string.h>

/* The classes of characters that the state machine distinguishes. */
enum class {
	C0,     /* controls without a say here */
	BELL,   /* ends an OSC */
	CANCEL, /* CAN, SUB */
	ESCAPE,
	INTER,   /* 0x20-0x2F */
	DIGIT,   /* 0x30-0x3B: digits, colon, semicolon */
	PREFIX,  /* 0x3C-0x3F */
	FINAL,   /* 0x40-0x7E but for: */
	BRACKET, /* [ */
	OSC,     /* ] */
	DCS,     /* P */
	STRING,  /* X ^ _ */
	DEL,
	C1,        /* controls without a say here */
	C1_ST,     /* 0x9C */
	C1_CSI,    /* 0x9B */
	C1_OSC,    /* 0x9D */
	C1_DCS,    /* 0x90 */
	C1_STRING, /* 0x98, 0x9E, 0x9F */
	OTHER,     /* 0xA0 and above */
	CLASSES,
};

enum action {
	ERROR, /* not foreseen: back to the ground state */
	IGNORE,
	SKIP, /* of a sequence that means nothing */
	EXECUTE,
	CLEAR,
	COLLECT,
	PARAM,
	ESC_DISPATCH,
	CSI_DISPATCH,
};

struct step {
	unsigned char action, next;
};

/* In every state. */
#define ANYWHERE                                                                    \
	[C1] = {EXECUTE, PARSER_GROUND}, [C1_CSI] = {CLEAR, PARSER_CSI_ENTRY},      \
	[C1_OSC] = {IGNORE, PARSER_OSC}, [C1_DCS] = {CLEAR, PARSER_DCS_ENTRY},      \
	[C1_STRING] = {IGNORE, PARSER_STRING}, [CANCEL] = {EXECUTE, PARSER_GROUND}, \
	[ESCAPE] = {CLEAR, PARSER_ESCAPE}, [C1_ST] = {IGNORE, PARSER_GROUND}

#define ALL_FINAL(action, next)                                                       \
	[FINAL] = {action, next}, [BRACKET] = {action, next}, [OSC] = {action, next}, \
	[DCS] = {action, next}, [STRING] = {action, next}

#define ALL_C0(action, next) [C0] = {action, next}, [BELL] = {action, next}

#define ALL_PARAM(action, next) [DIGIT] = {action, next}, [PREFIX] = {action, next}

#define ALL_PRINTABLE(action, next) \
	[INTER] = {action, next}, ALL_PARAM(action, next), ALL_FINAL(action, next)

/* clang-format off */
static const struct step steps[PARSER_STATES][CLASSES] = {
	[PARSER_GROUND] = {
		ANYWHERE,
		ALL_C0(EXECUTE, PARSER_GROUND),
	},
	[PARSER_ESCAPE] = {
		ANYWHERE,
		ALL_C0(EXECUTE, PARSER_ESCAPE),
		[DEL] = {IGNORE, PARSER_ESCAPE},
		[INTER] = {COLLECT, PARSER_ESCAPE_INTERMEDIATE},
		ALL_PARAM(ESC_DISPATCH, PARSER_GROUND),
		[FINAL] = {ESC_DISPATCH, PARSER_GROUND},
		[BRACKET] = {CLEAR, PARSER_CSI_ENTRY},
		[OSC] = {IGNORE, PARSER_OSC},
		[DCS] = {CLEAR, PARSER_DCS_ENTRY},
		[STRING] = {IGNORE, PARSER_STRING},
	},
	[PARSER_ESCAPE_INTERMEDIATE] = {
		ANYWHERE,
		ALL_C0(EXECUTE, PARSER_ESCAPE_INTERMEDIATE),
		[DEL] = {IGNORE, PARSER_ESCAPE_INTERMEDIATE},
		[INTER] = {COLLECT, PARSER_ESCAPE_INTERMEDIATE},
		ALL_PARAM(ESC_DISPATCH, PARSER_GROUND),
		ALL_FINAL(ESC_DISPATCH, PARSER_GROUND),
	},
	[PARSER_CSI_ENTRY] = {
		ANYWHERE,
		ALL_C0(EXECUTE, PARSER_CSI_ENTRY),
		[DEL] = {IGNORE, PARSER_CSI_ENTRY},
		[INTER] = {COLLECT, PARSER_CSI_INTERMEDIATE},
		[DIGIT] = {PARAM, PARSER_CSI_PARAM},
		[PREFIX] = {COLLECT, PARSER_CSI_PARAM},
		ALL_FINAL(CSI_DISPATCH, PARSER_GROUND),
	},
	[PARSER_CSI_PARAM] = {
		ANYWHERE,
		ALL_C0(EXECUTE, PARSER_CSI_PARAM),
		[DEL] = {IGNORE, PARSER_CSI_PARAM},
		[INTER] = {COLLECT, PARSER_CSI_INTERMEDIATE},
		[DIGIT] = {PARAM, PARSER_CSI_PARAM},
		[PREFIX] = {SKIP, PARSER_CSI_IGNORE},
		ALL_FINAL(CSI_DISPATCH, PARSER_GROUND),
	},
	[PARSER_CSI_INTERMEDIATE] = {
		ANYWHERE,
		ALL_C0(EXECUTE, PARSER_CSI_INTERMEDIATE),
		[DEL] = {IGNORE, PARSER_CSI_INTERMEDIATE},
		[INTER] = {COLLECT, PARSER_CSI_INTERMEDIATE},
		ALL_PARAM(SKIP, PARSER_CSI_IGNORE),
		ALL_FINAL(CSI_DISPATCH, PARSER_GROUND),
	},
	[PARSER_CSI_IGNORE] = {
		ANYWHERE,
		ALL_C0(EXECUTE, PARSER_CSI_IGNORE),
		[DEL] = {IGNORE, PARSER_CSI_IGNORE},
		[INTER] = {SKIP, PARSER_CSI_IGNORE},
		ALL_PARAM(SKIP, PARSER_CSI_IGNORE),
		ALL_FINAL(SKIP, PARSER_GROUND),
		[OTHER] = {SKIP, PARSER_CSI_IGNORE},
	},
	[PARSER_STRING] = {
		ANYWHERE,
		ALL_C0(IGNORE, PARSER_STRING),
		ALL_PRINTABLE(IGNORE, PARSER_STRING),
		[DEL] = {IGNORE, PARSER_STRING},
		/* xterm.js leaves the string here and prints its rest. */
		[OTHER] = {IGNORE, PARSER_STRING},
	},
	[PARSER_OSC] = {
		ANYWHERE,
		[C0] = {IGNORE, PARSER_OSC},
		[BELL] = {IGNORE, PARSER_GROUND},
		ALL_PRINTABLE(IGNORE, PARSER_OSC),
		[DEL] = {IGNORE, PARSER_OSC},
		[OTHER] = {IGNORE, PARSER_OSC},
	},
	[PARSER_DCS_ENTRY] = {
		ANYWHERE,
		ALL_C0(IGNORE, PARSER_DCS_ENTRY),
		[DEL] = {IGNORE, PARSER_DCS_ENTRY},
		[INTER] = {IGNORE, PARSER_DCS_INTERMEDIATE},
		ALL_PARAM(IGNORE, PARSER_DCS_PARAM),
		ALL_FINAL(IGNORE, PARSER_STRING),
	},
	[PARSER_DCS_PARAM] = {
		ANYWHERE,
		ALL_C0(IGNORE, PARSER_DCS_PARAM),
		[DEL] = {IGNORE, PARSER_DCS_PARAM},
		[INTER] = {IGNORE, PARSER_DCS_INTERMEDIATE},
		[DIGIT] = {IGNORE, PARSER_DCS_PARAM},
		[PREFIX] = {IGNORE, PARSER_STRING},
		ALL_FINAL(IGNORE, PARSER_STRING),
	},
	[PARSER_DCS_INTERMEDIATE] = {
		ANYWHERE,
		ALL_C0(IGNORE, PARSER_DCS_INTERMEDIATE),
		[DEL] = {IGNORE, PARSER_DCS_INTERMEDIATE},
		[INTER] = {IGNORE, PARSER_DCS_INTERMEDIATE},
		ALL_PARAM(IGNORE, PARSER_STRING),
		ALL_FINAL(IGNORE, PARSER_STRING),
	},
};

static const unsigned char classes[0xA0] = {
	/* the C0 controls not named here are 0 */
	[0x07] = BELL,
	[0x18] = CANCEL,
	[0x1A] = CANCEL,
	[0x1B] = ESCAPE,
	[0x20 ... 0x2F] = INTER,
	[0x30 ... 0x3B] = DIGIT,
	[0x3C ... 0x3F] = PREFIX,
	[0x40 ... 0x4F] = FINAL,
	[0x50] = DCS,
	[0x51 ... 0x57] = FINAL,
	[0x58] = STRING,
	[0x59 ... 0x5A] = FINAL,
	[0x5B] = BRACKET,
	[0x5C] = FINAL,
	[0x5D] = OSC,
	[0x5E ... 0x5F] = STRING,
	[0x60 ... 0x7E] = FINAL,
	[0x7F] = DEL,
	[0x80 ... 0x8F] = C1,
	[0x90] = C1_DCS,
	[0x91 ... 0x97] = C1,
	[0x98] = C1_STRING,
	[0x99 ... 0x9A] = C1,
	[0x9B] = C1_CSI,
	[0x9C] = C1_ST,
	[0x9D] = C1_OSC,
	[0x9E ... 0x9F] = C1_STRING,
};
/* clang-format on */

static void clear(struct parser *parser)
{
	parser->count = 1;
	parser->params[0] = 0;
	parser->sub = false;
	parser->collect = 0;
}

void parser_init(struct parser *parser)
{
	memset(parser, 0, sizeof(*parser));
	clear(parser);
}

static void add_param(struct parser *parser, uint32_t c)
{
	uint64_t value;
	if (c == ':') {
		parser->sub = true;
	} else if (c == ';') {
		/* Past the limit: what follows is dropped like a sub-parameter. */
		parser->sub = parser->count >= PARSER_PARAMS;
		if (!parser->sub)
			parser->params[parser->count++] = 0;
	} else if (!parser->sub) {
		value = (uint64_t)parser->params[parser->count - 1] * 10 + (c - '0');
		parser->params[parser->count - 1] = value > INT32_MAX ? INT32_MAX : (uint32_t)value;
	}
}

enum parser_event parser_step(struct parser *parser, uint32_t c)
{
	const struct step *step =
		&steps[parser->state][c < sizeof(classes) ? classes[c] : (unsigned)OTHER];
	parser->state = step->next;
	switch (step->action) {
	case EXECUTE: return PARSER_EXECUTE;
	case CLEAR: clear(parser); return PARSER_NOTHING;
	case COLLECT: parser->collect = parser->collect << 8 | c; return PARSER_NOTHING;
	case PARAM: add_param(parser, c); return PARSER_NOTHING;
	case ESC_DISPATCH: return PARSER_ESC;
	case CSI_DISPATCH: return PARSER_CSI;
	case IGNORE: return PARSER_NOTHING;
	default: return PARSER_SKIP;
	}
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

#define BEL 0x07
#define CAN 0x18
#define SUB 0x1A
#define ESC 0x1B

static const char image[] = "[image]";

/* Stands for the part of an unended string that is not held. */
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

/* The byte that ends the string came. */
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
