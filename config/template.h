// Patterns for whole texts: shell strings, paths, values of variables.
//
//   *          any characters, newlines too
//   {command}  any characters; the result
//   {word}     one word of the shell; without its quotes the result
//   \n \\ \*   a newline, a backslash, a star
//
// Everything else stands for itself. The whole text has to match; the leftmost parts are as short
// as possible.
#ifndef TERSE_CONFIG_TEMPLATE_H
#define TERSE_CONFIG_TEMPLATE_H

#include <stdbool.h>

/* A reason if it is no template, else NULL. */
const char *template_refuse(const char *template);

/* Whether the text matches. */
bool template_match(const char *template, const char *text);

/* The same; sets *part to the result, or to the whole text if the template names none. The caller
   frees it. Returns 1 or 0, or -1 with ENOMEM. */
int template_take(const char *template, const char *text, char **part);

#endif
