// Turns the bytes a command writes to its terminal into the text a person would have seen: colours,
// cursor movement and overwritten progress are gone.
//
// Semantics are xterm's for everything that decides what ends up in scrollback and on the final
// screen, with one difference: nothing that was shown is deleted. ED 2 scrolls the screen into the
// text, ED 3 deletes nothing, RIS starts below. Text that a program writes over after a CR is lost,
// unless the owner wants to keep it (`stays`). The alternate screen is not part of the text, except
// that its last picture ends the text if the run ends inside it and there is no other text (see
// also `picture` below). A control string that does not end swallows nothing (parser.c), and C1
// controls are characters.
//
// Bytes of plain lines are kept as they are (tabs, trailing blanks, invalid UTF-8). CR LF becomes a
// newline, unless `returns` is set. Soft-wrapped rows are joined.
//
// The struct owns its memory (a constant for given options, whatever the input) and does no I/O.
#ifndef TERSE_TERMINAL_TERMINAL_H
#define TERSE_TERMINAL_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;
struct terminal;

struct terminal_options {
	unsigned cols; /* 2 to 1000 */
	unsigned rows; /* 2 to 500 */
	/* LF also returns to column one, since the pty adds no CR (OPOST is off). False: LF only
	   moves down. */
	bool onlcr;
	/* A CR before LF stays in the text: it comes from the program and not from a pty. */
	bool returns;
	/* The last picture of the alternate screen, without blank rows and long rules, ends the
	   text in two more cases: if the program has left that screen and there is no other text,
	   and if the run was cut short inside it. */
	bool picture;
	/* Keeps the colours and other attributes of characters in the cells of the screen, for
	   terminal_repaint(). All text goes through cells then, which is slower. */
	bool styles;
	/* For tests: all text goes through cells, without colours. */
	bool cells;
};

struct terminal_events {
	/* Final text, in order: bytes that no later input changes. A call may start and end
	   anywhere in a line; each line ends with '\n', the last one of the run only if it was
	   ended. The '\n' comes with the text that follows it (or a commit, or the end): until then
	   the line could continue. `data` is valid during the call. */
	void (*text)(void *ctx, const char *data, size_t len);
	/* The answer to a query of the program (DA1, DSR 6, ...). May be NULL. */
	void (*reply)(void *ctx, const char *data, size_t len);
	/* Called when this line is about to be overwritten, from its first column on, by text that
	   is unlike it. Returns whether the line stays in the text, before its replacement. NULL:
	   no line stays. */
	bool (*stays)(void *ctx, const char *line, size_t len);
	void *ctx;
};

/* Returns NULL with errno ENOMEM or EINVAL (options out of range). */
struct terminal *terminal_new(const struct terminal_options *options,
			      const struct terminal_events *events);
void terminal_free(struct terminal *t);

/* Sets how a NUL is shown from now on: as a newline, or as U+2400. Until then it is not shown, as
   on a terminal. */
enum terminal_nul { TERMINAL_NUL_IGNORED, TERMINAL_NUL_NEWLINE, TERMINAL_NUL_SYMBOL };
void terminal_show_nul(struct terminal *t, enum terminal_nul how);

void terminal_feed(struct terminal *t, const char *data, size_t len);

/* Changes the size. Lines are kept. If there is no memory, the size stays as it is. */
void terminal_resize(struct terminal *t, unsigned cols, unsigned rows);

/* End of the stream: emits what is still held. Only terminal_free() and the queries below may
   follow. */
void terminal_finish(struct terminal *t);

/* Notes that the run is cut short now: see `picture`. */
void terminal_cut(struct terminal *t);

/* How many lines are complete (ended by a newline, above the cursor's line and not on the alternate
   screen), counting those emitted already. */
uint64_t terminal_lines(const struct terminal *t);

/* Emits the complete lines although they could still be overwritten, so that a reader sees them
   now. If such a line changes later, its new content is emitted again, below the old one: lines
   that a reader has seen stay in the text. */
void terminal_commit(struct terminal *t);

/* Emits complete lines in order, up to the first that has changed within the last `age` (in the
   unit of `now`). The limit for a plain line, in which the cursor was never moved, is `plain_age`;
   if that is less than `age`, a plain line is emitted together with all lines above it. Only this
   function notices changes, so call it regularly. */
void terminal_settle(struct terminal *t, int64_t now, int64_t plain_age, int64_t age);

/* How many lines are emitted, counted as terminal_lines() does. */
uint64_t terminal_settled(const struct terminal *t);

/* Appends the text that is not final yet (complete lines and the unfinished
   one) as it would come if the run ended here. Returns 0, or -1 with ENOMEM. */
int terminal_pending(const struct terminal *t, struct buffer *out);

/* The current picture, at any time: appends one line per row of the visible screen (the alternate
   one when it is on), each ended by a newline and without trailing blanks, tabs as the blanks they
   look like. Bytes that are not a character stay as they were. Returns 0, or -1 with ENOMEM. The
   cursor position, 1-based, is stored where the pointers are not NULL. */
int terminal_picture(const struct terminal *t, struct buffer *out, unsigned *row, unsigned *col);

/* The state of the terminal besides its text. */
struct terminal_facts {
	unsigned cols, rows;
	const char *title; /* of the window, clean; "" before there is one */
	uint64_t version;  /* changes whenever what terminal_pending() returns may have changed */
	uint64_t redraws;  /* how often the program has moved the cursor up into earlier lines; a
			      program that redraws leaves stale lines in the text if they are
			      committed early */
	bool is_alternate; /* the alternate screen is on */
	bool shows_cursor; /* DECTCEM */
	bool has_cursor_keys; /* cursor keys are to send their other form (DECCKM) */
	bool is_pictured;     /* the text ended with the picture of the alternate screen */
	/* Something other than colours (SGR), the bell and CR before LF was dropped or overwritten,
	   so the text alone does not tell what was written. */
	bool is_lossy;
	/* A control string that has not ended is longer than can be held: if it never ends, only
	   the raw bytes have all of it. */
	bool is_swallowing;
};

struct terminal_facts terminal_facts(const struct terminal *t);

/* The current screen as bytes for another terminal of the same size. */

/* Appends bytes that reset the other terminal, and then restore the text on the screen (with its
   colours, if options.styles is set), the cursor, and the modes that the program has set for keys
   and mouse. Returns 0, or -1 with ENOMEM. */
int terminal_repaint(const struct terminal *t, struct buffer *out);

/* Resets every mode that terminal_repaint() sets. */
extern const char terminal_unpaint[];

// Finds control sequences among bytes: for the terminal, and for redaction.

/* The state machine that finds control sequences: Paul Williams' parser for DEC-compatible
   terminals (https://vt100.net/emu/dec_ansi_parser), as xterm.js has it.

   It takes one code point a call, and returns what to do. Text in the ground state is not passed
   through it. The contents of OSC, DCS, APC, PM and SOS strings are dropped. Only redaction uses
   its states for strings and its C1 controls: the terminal has its own rules for strings (struct
   string), and treats C1 controls as characters, since few programs that write UTF-8 mean C1
   controls. */

#define PARSER_PARAMS 32

enum parser_state {
	PARSER_GROUND,
	PARSER_ESCAPE,
	PARSER_ESCAPE_INTERMEDIATE,
	PARSER_CSI_ENTRY,
	PARSER_CSI_PARAM,
	PARSER_CSI_INTERMEDIATE,
	PARSER_CSI_IGNORE,
	PARSER_STRING, /* SOS, PM, APC, DCS; this and the following are strings */
	PARSER_OSC,
};

enum parser_event {
	PARSER_NOTHING,
	PARSER_EXECUTE, /* a C0 or C1 control */
	PARSER_ESC,     /* an escape sequence is complete */
	PARSER_CSI,     /* a control sequence is complete */
	PARSER_SKIP,    /* a character that is not a control was skipped */
};

/* A zeroed struct is a new one. */
struct parser {
	enum parser_state state;
	unsigned count;   /* parameters, at least 1 */
	bool sub;         /* the next digits belong to a sub-parameter, which is dropped */
	uint32_t collect; /* prefix and intermediate bytes, the last one lowest */
	uint32_t params[PARSER_PARAMS];
};

/* Takes a code point; all from 0xA0 on are alike. The parts of a sequence are in the struct until
   the next call. */
enum parser_event parser_step(struct parser *parser, uint32_t c);

/* A shortcut for a control sequence that has only a '?', digits and semicolons before its final
   byte, from p (after ESC [) on. It has the effect of parser_step() for each byte. Returns the
   length with the final byte, or 0 for another or an incomplete sequence. */
size_t parser_quick(struct parser *parser, const char *p, const char *end);

/* Parameter `i`, `fallback` where it is missing or 0. */
uint32_t parser_param(const struct parser *parser, unsigned i, uint32_t fallback);

#endif
