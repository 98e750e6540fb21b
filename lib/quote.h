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

/* Appends text; what may not stand there becomes an escape ("\\n", "\\x1b", "\\u202e", "\\xff"). A
   `mark`, '"' or '\'', is put around it, and escaped within, as the backslash is; 0: none. */
void quote_text(struct buffer *out, const char *text, size_t len, char mark);

/* Appends a word as a shell reads it back, for commands that terse tells the reader to run: as it
   is, in single quotes where a shell would not take it as it is, or as $'...' (bash, zsh, ksh)
   where there is what may not stand there. */
void quote_append(struct buffer *out, const char *word);

/* Appends a word in single quotes, with all its bytes, which every shell reads alike: for commands
   that terse itself executes. */
void quote_single(struct buffer *out, const char *word);

#endif
