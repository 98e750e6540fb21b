// See parser.h.

#include "supervisor/terminal/parser.h"

#include <string.h>

/* What the state machine tells apart. */
enum class {
	C0,     /* controls without a say here */
	BEL,    /* ends an OSC */
	CANCEL, /* CAN, SUB */
	ESC,
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
	END,
};

struct step {
	unsigned char action, next;
};

/* In every state. */
#define C1_ANYWHERE                                                            \
	[C1] = {EXECUTE, PARSER_GROUND}, [C1_CSI] = {CLEAR, PARSER_CSI_ENTRY}, \
	[C1_OSC] = {IGNORE, PARSER_OSC}, [C1_DCS] = {CLEAR, PARSER_DCS_ENTRY}, \
	[C1_STRING] = {IGNORE, PARSER_STRING}

/* In every state but the strings that are told when they end. */
#define ANYWHERE                                                                          \
	C1_ANYWHERE, [CANCEL] = {EXECUTE, PARSER_GROUND}, [ESC] = {CLEAR, PARSER_ESCAPE}, \
		     [C1_ST] = {IGNORE, PARSER_GROUND}

#define ALL_FINAL(action, next)                                                       \
	[FINAL] = {action, next}, [BRACKET] = {action, next}, [OSC] = {action, next}, \
	[DCS] = {action, next}, [STRING] = {action, next}

#define ALL_C0(action, next) [C0] = {action, next}, [BEL] = {action, next}

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
		C1_ANYWHERE,
		ALL_PRINTABLE(IGNORE, PARSER_OSC),
		[C0] = {IGNORE, PARSER_OSC},
		[DEL] = {IGNORE, PARSER_OSC},
		[OTHER] = {IGNORE, PARSER_OSC},
		[BEL] = {END, PARSER_GROUND},
		[CANCEL] = {END, PARSER_GROUND},
		[ESC] = {END, PARSER_ESCAPE},
		[C1_ST] = {END, PARSER_GROUND},
	},
	[PARSER_DCS_ENTRY] = {
		ANYWHERE,
		ALL_C0(IGNORE, PARSER_DCS_ENTRY),
		[DEL] = {IGNORE, PARSER_DCS_ENTRY},
		[INTER] = {IGNORE, PARSER_DCS_INTERMEDIATE},
		ALL_PARAM(IGNORE, PARSER_DCS_PARAM),
		ALL_FINAL(IGNORE, PARSER_DCS_DATA),
	},
	[PARSER_DCS_PARAM] = {
		ANYWHERE,
		ALL_C0(IGNORE, PARSER_DCS_PARAM),
		[DEL] = {IGNORE, PARSER_DCS_PARAM},
		[INTER] = {IGNORE, PARSER_DCS_INTERMEDIATE},
		[DIGIT] = {IGNORE, PARSER_DCS_PARAM},
		[PREFIX] = {IGNORE, PARSER_DCS_IGNORE},
		ALL_FINAL(IGNORE, PARSER_DCS_DATA),
	},
	[PARSER_DCS_INTERMEDIATE] = {
		ANYWHERE,
		ALL_C0(IGNORE, PARSER_DCS_INTERMEDIATE),
		[DEL] = {IGNORE, PARSER_DCS_INTERMEDIATE},
		[INTER] = {IGNORE, PARSER_DCS_INTERMEDIATE},
		ALL_PARAM(IGNORE, PARSER_DCS_IGNORE),
		ALL_FINAL(IGNORE, PARSER_DCS_DATA),
	},
	[PARSER_DCS_IGNORE] = {
		ANYWHERE,
		ALL_C0(IGNORE, PARSER_DCS_IGNORE),
		ALL_PRINTABLE(IGNORE, PARSER_DCS_IGNORE),
		[DEL] = {IGNORE, PARSER_DCS_IGNORE},
		[OTHER] = {IGNORE, PARSER_DCS_IGNORE},
	},
	[PARSER_DCS_DATA] = {
		C1_ANYWHERE,
		ALL_C0(IGNORE, PARSER_DCS_DATA),
		ALL_PRINTABLE(IGNORE, PARSER_DCS_DATA),
		[DEL] = {IGNORE, PARSER_DCS_DATA},
		[OTHER] = {IGNORE, PARSER_DCS_DATA},
		[CANCEL] = {END, PARSER_GROUND},
		[ESC] = {END, PARSER_ESCAPE},
		[C1_ST] = {END, PARSER_GROUND},
	},
};

static const unsigned char classes[0xA0] = {
	/* the C0 controls not named here are 0 */
	[0x07] = BEL,
	[0x18] = CANCEL,
	[0x1A] = CANCEL,
	[0x1B] = ESC,
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
	case END: clear(parser); return PARSER_END;
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
