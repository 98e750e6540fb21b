// For tests of settings: nothing around them sets one.
#ifndef TERSE_TESTS_CONFIGURED_H
#define TERSE_TESTS_CONFIGURED_H

#include "config/option.h"
#include "config/settings.h"
#include "tests/unit/unit.h"

static inline void clear_variables(void)
{
	for (size_t i = 0; i < option_count; i++)
		if (option_table[i].variable)
			unsetenv(option_table[i].variable);
	unsetenv("XDG_CONFIG_HOME");
	unsetenv("TERSE_CONFIG");
	unsetenv("HOME");
}

static inline struct settings start(void)
{
	struct settings s;
	assert_int_equal(settings_init(&s), 0);
	return s;
}

static inline void write_file(const char *name, const char *text)
{
	FILE *file = fopen(name, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

#endif
