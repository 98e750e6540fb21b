// Finds control sequences.
#ifndef TERSE_TERMINAL_PARSER_H
#define TERSE_TERMINAL_PARSER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The state machine that finds control sequences: Paul Williams' parser for
   DEC-compatible terminals (https://vt100.net/emu/dec_ansi_parser), as xterm.js
   has it.

   It takes code points, one a call, and says what to do. Text in the ground
   state is not passed through it. The contents of OSC, DCS, APC, PM and SOS
   strings are dropped. The terminal does not use two parts of it, with which others
   look for secrets: it has rules of its own for strings, and C1 controls are
   characters to it, since few programs that write UTF-8 mean them. */

#define PARSER_PARAMS 32

enum parser_state {
	PARSER_GROUND,
	PARSER_ESCAPE,
	PARSER_ESCAPE_INTERMEDIATE,
	PARSER_CSI_ENTRY,
	PARSER_CSI_PARAM,
	PARSER_CSI_INTERMEDIATE,
	PARSER_CSI_IGNORE,
	PARSER_STRING, /* SOS, PM, APC, the data of DCS; this and the following are strings */
	PARSER_OSC,
	PARSER_DCS_ENTRY,
	PARSER_DCS_PARAM,
	PARSER_DCS_INTERMEDIATE,
	PARSER_STATES,
};

enum parser_event {
	PARSER_NOTHING,
	PARSER_EXECUTE, /* a C0 or C1 control */
	PARSER_ESC,     /* an escape sequence is complete */
	PARSER_CSI,     /* a control sequence is complete */
	PARSER_SKIP,    /* something was passed over that is no control */
};

struct parser {
	enum parser_state state;
	unsigned count;   /* parameters, at least 1 */
	bool sub;         /* digits belong to a sub-parameter, which are dropped */
	uint32_t collect; /* prefix and intermediate bytes, the last one lowest */
	uint32_t params[PARSER_PARAMS];
};

void parser_init(struct parser *parser);

/* `c` is a code point; all from 0xA0 on are alike. The sequence's parts are in
   the struct until the next call. */
enum parser_event parser_step(struct parser *parser, uint32_t c);

/* A control sequence that begins at p (after ESC [) with nothing but a '?', digits
   and semicolons before the final byte: the same as stepping over it. Returns its
   length with the final byte, or 0 for anything else and for a part of one. */
size_t parser_quick(struct parser *parser, const char *p, const char *end);

/* Parameter `i`, `fallback` where it is missing or 0. */
uint32_t parser_param(const struct parser *parser, unsigned i, uint32_t fallback);

#endif
