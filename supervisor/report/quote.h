// Words as a shell reads them back, for commands that terse tells the reader to run.
#ifndef TERSE_REPORT_QUOTE_H
#define TERSE_REPORT_QUOTE_H

struct buffer;

/* Appends `word`: as it is, in single quotes where a shell would not take it as it is, or as
   $'...' (bash, zsh, ksh) where there are bytes that must not be printed. Returns 0, or -1
   with ENOMEM. */
int quote_append(struct buffer *out, const char *word);

#endif
