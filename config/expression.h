// Regular expressions as values.
#ifndef TERSE_CONFIG_EXPRESSION_H
#define TERSE_CONFIG_EXPRESSION_H

/* Why it is none (PCRE2), or NULL. */
const char *expression_refuse(const char *value);

#endif
