// Names that others chose (commands, paths, sessions,
// prompts) in the lines that terse itself writes.
#ifndef TERSE_LIB_QUOTE_H
#define TERSE_LIB_QUOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;

/* Whether a character may stand in such a line: it can be printed (utf8.h), does not end the line,
   and is seen. */
bool quote_is_plain(uint32_t cp);

/* Appends text; characters that may not stand in such a line become escapes ("\\n", "\\x1b",
   "\\u202e", "\\xff"). `mark`, '"' or '\'', is put around the text; the mark and the backslash are
   escaped within it. 0: no mark. */
void quote_text(struct buffer *out, const char *text, size_t len, char mark);

/* Appends a word as a shell reads it back, for commands that terse tells the reader to run: as it
   is; in single quotes if a shell would change it; or as $'...' (bash, zsh, ksh) if it has
   characters that may not stand in such a line. */
void quote_append(struct buffer *out, const char *word);

/* Appends a word with all its bytes in single quotes, which every shell reads alike: for commands
   that terse itself executes. */
void quote_single(struct buffer *out, const char *word);

// The text of a command as a reader gets it among lines of terse's own: clean (utf8.h), and no line
// of it passes for one of these. All such text goes through guard_text(); programs and files get
// the bytes.

/* Put in front of a line that looks like a notice. */
#define GUARD "| "

enum guard_mode {
	GUARD_NONE,   /* terse itself wrote it, or no notices stand beside it: only cleaned */
	GUARD_INSIDE, /* it begins inside a line */
	GUARD_LINE,   /* it begins a line */
};

/* Whether a line looks like a notice: it begins with "[terse:" or "[... ", in whatever case, width
   and form of the bracket, with whatever blanks and invisible characters before that or in it. */
bool guard_is_needed(const char *line, size_t len);

/* Whether a line that begins like this looks like one, or may when more of it has come. */
bool guard_may_be_needed(const char *line, size_t len);

/* Appends the text (`out` NULL: does not). Returns how many bytes it takes. */
size_t guard_text(struct buffer *out, const char *data, size_t len, enum guard_mode mode);

/* Whether guard_text() would append the bytes unchanged. */
bool guard_is_same(const char *data, size_t len, enum guard_mode mode);

#endif
