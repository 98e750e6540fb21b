// See expression.h.

#include "config/expression.h"

#include <stddef.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

const char *expression_refuse(const char *value)
{
	int number;
	size_t offset;
	pcre2_code *code = pcre2_compile((PCRE2_SPTR)value, PCRE2_ZERO_TERMINATED,
					 PCRE2_NEVER_BACKSLASH_C, &number, &offset, NULL);
	if (!code)
		return "not a regular expression";
	pcre2_code_free(code);
	return NULL;
}
