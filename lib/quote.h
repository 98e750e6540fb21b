// How lines that terse itself writes show what others wrote: commands, paths, sessions, prompts.
#ifndef TERSE_LIB_QUOTE_H
#define TERSE_LIB_QUOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;

/* Whether a character may stand in one of terse's own lines: it can be printed (utf8.h), does not
   end the line, and is visible. */
bool quote_is_plain(uint32_t cp);

/* Appends text. Characters that are not plain (quote_is_plain()) become escapes: "\\n", "\\x1b",
   "\\u202e", "\\xff". `mark`, '"' or '\'', is put around the text, and is escaped within it, as the
   backslash is. 0: no mark. */
void quote_text(struct buffer *out, const char *text, size_t len, char mark);

/* Appends a word so that a shell reads it back, for commands that terse tells the reader to run:
   unchanged; in single quotes if a shell would change it; or as $'...' (bash, zsh, ksh) if a
   character of it is not plain. */
void quote_append(struct buffer *out, const char *word);

/* Appends a word with all its bytes in single quotes, which every shell reads alike: for commands
   that terse itself executes. */
void quote_single(struct buffer *out, const char *word);

// A reader sees a command's output beside terse's own lines (notices). guard_text() cleans that
// output (utf8.h) and keeps its lines from looking like notices. Programs and files get the bytes
// unchanged.

/* Put in front of a line that looks like a notice. */
#define GUARD "| "

enum guard_mode {
	GUARD_NONE,   /* the text is terse's own, or there are no notices beside it: it is only
			 cleaned */
	GUARD_INSIDE, /* the text begins inside a line */
	GUARD_LINE,   /* the text begins at the start of a line */
};

/* Whether a line looks like a notice: it begins with "[terse:" or "[... ". Case, width of the
   characters and form of the bracket are ignored, and so are blanks and invisible characters before
   or in it. */
bool guard_is_needed(const char *line, size_t len);

/* Whether a line with this beginning looks like a notice, or may look like one once it is
   complete. */
bool guard_may_be_needed(const char *line, size_t len);

/* Appends the text, cleaned, and with GUARD before lines that look like notices. Returns how many
   bytes that takes. `out` NULL: only counts them. */
size_t guard_text(struct buffer *out, const char *data, size_t len, enum guard_mode mode);

/* Whether guard_text() would append the bytes unchanged. */
bool guard_is_same(const char *data, size_t len, enum guard_mode mode);

#endif
