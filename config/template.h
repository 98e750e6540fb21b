// Patterns for whole texts: shell strings, paths, values of variables.
//
//   *          any characters, newlines too
//   {command}  the same, and it is the part that is asked for
//   {word}     one word of the shell, without its quotes the part that is asked for
//   \n \\ \*   a newline, a backslash, a star
//
// Everything else stands for itself. All of the text has to match; of several ways
// the shortest from the left is taken.
#ifndef TERSE_CONFIG_TEMPLATE_H
#define TERSE_CONFIG_TEMPLATE_H

#include <stdbool.h>

/* A reason if it is no template, else NULL. */
const char *template_refuse(const char *template);

/* Whether the text matches. */
bool template_match(const char *template, const char *text);

/* The same, and *part is then what is asked for, or the whole text where nothing is: to be freed.
   Returns 1 or 0, or -1 with ENOMEM. */
int template_take(const char *template, const char *text, char **part);

#endif
