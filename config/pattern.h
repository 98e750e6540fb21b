// Programs that run another one: sudo, env, timeout, xargs ...
#ifndef TERSE_CONFIG_PATTERN_H
#define TERSE_CONFIG_PATTERN_H

#include <stdbool.h>

/* The words of the command that words[0] runs (a later part of `words`), or NULL if it runs
   none. */
char *const *wrapper_inner(char *const words[]);

bool wrapper_is_shell(char *const words[]);

/* The shell string that words[0] runs, as in bash -lc STRING and eval STRING, or NULL. */
const char *wrapper_string(char *const words[]);

// Patterns for commands, as in `match = git diff|show`: words separated by blanks, each with
// alternatives.
//
//   cat|tac        the program's name, without its directory
//   git diff       its first operands, in this order; options before them are skipped
//   grep -l|--count   an option, anywhere: -l also in -rl, --count also in --count=1
//   npm run test*  * stands for any characters

/* Returns NULL for a valid pattern, else the reason why it is invalid. */
const char *pattern_refuse(const char *pattern);

/* The number of the pattern's words if it matches the command (NULL-terminated, at least one word),
   else 0. A pattern with more words is more exact. */
unsigned pattern_match(const char *pattern, char *const words[]);

/* Whether `words`, alternatives with | between them, have this word; * stands for any characters.
   NULL: there are no alternatives. */
bool pattern_is_among(const char *words, const char *word);

// Patterns for whole texts: shell strings, paths, values of variables.
//
//   *          any characters, newlines too
//   {command}  any characters, which are the result
//   {word}     one word of the shell, which without its quotes is the result
//   \n \\ \*   a newline, a backslash, a star
//
// Everything else stands for itself. The whole text has to match; the leftmost parts are as short
// as possible.

/* Returns NULL for a valid template, else the reason why it is invalid. */
const char *template_refuse(const char *template);

/* Whether the text matches. */
bool template_match(const char *template, const char *text);

/* Like template_match(), but also sets *part to the result, or to the whole text if the template
   has no {command} or {word}. The caller frees *part. Returns 1 or 0, or -1 with ENOMEM. */
int template_take(const char *template, const char *text, char **part);

#endif
