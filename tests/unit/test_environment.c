// The environment a command gets.

#include "supervisor/process/spawn.h"
#include "tests/unit/unit.h"

#define MOST 16

/* The words of a text, parted by blanks. */
static struct strings split(char *text, char **items)
{
	size_t count = 0;
	for (char *at = strtok(text, " "); at && count < MOST - 1; at = strtok(NULL, " "))
		items[count++] = at;
	items[count] = NULL;
	return (struct strings){items, count};
}

TEST(what_it_becomes)
{
	static const struct {
		const char *set, *unset, *keep; /* the section */
		const char *from;
		bool captured;
		const char *want;
	} cases[] = {
		{"", "", "", "A=1 B=2", true, "A=1 B=2 TERSE_ACTIVE=1"},
		{"", "", "", "A=1 B=2", false, "A=1 B=2 TERSE_ACTIVE=1"},
		{"", "", "", "", true, "TERSE_ACTIVE=1"},
		/* Odd entries pass. */
		{"", "", "", "NOVALUE =x = A=b=c", true, "NOVALUE =x = A=b=c TERSE_ACTIVE=1"},
		{"PAGER=cat NEW=1 EMPTY=", "", "", "A=1 PAGER=less PAGERS=x PAGE=y", true,
		 "A=1 PAGERS=x PAGE=y PAGER=cat NEW=1 EMPTY= TERSE_ACTIVE=1"},
		/* A person's terminal: nothing is changed. */
		{"PAGER=cat NEW=1 EMPTY=", "", "", "A=1 PAGER=less", false,
		 "A=1 PAGER=less TERSE_ACTIVE=1"},
		/* The last of the same counts. */
		{"P=1 Q=1 P=2 P=3", "", "", "P=0 A=1 P=00", true, "A=1 Q=1 P=3 TERSE_ACTIVE=1"},
		{"", "B NOT_THERE", "", "A=1 B=2 BB=3 B=4", true, "A=1 BB=3 TERSE_ACTIVE=1"},
		{"", "B NOT_THERE", "", "A=1 B=2", false, "A=1 B=2 TERSE_ACTIVE=1"},
		/* Variables that the caller has are left alone; missing ones are set. */
		{"PAGER=cat TERM=xterm", "B", "PAGER B TERM", "PAGER=less B=2", true,
		 "PAGER=less B=2 TERM=xterm TERSE_ACTIVE=1"},
		{"PAGER=cat TERM=xterm", "B", "PAGER B TERM", "A=1 TERM=", true,
		 "A=1 TERM= PAGER=cat TERSE_ACTIVE=1"},
		{"A=new", "A", "", "A=old", true, "A=new TERSE_ACTIVE=1"},
		/* It is there once. */
		{"", "", "", "TERSE_ACTIVE=7 A=1 TERSE_ACTIVE", false, "A=1 TERSE_ACTIVE=1"},
		{"", "", "", "TERSE_ACTIVE= TERSE_ACTIVE_TOO=x", true,
		 "TERSE_ACTIVE_TOO=x TERSE_ACTIVE=1"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *const given[] = {cases[i].from, cases[i].set, cases[i].unset,
					     cases[i].keep};
		char texts[4][256], *items[4][MOST], text[1024] = "", active[] = "TERSE_ACTIVE=1";
		struct strings lists[4];
		for (size_t k = 0; k < 4; k++) {
			snprintf(texts[k], sizeof(texts[k]), "%s", given[k]);
			lists[k] = split(texts[k], items[k]);
		}
		const struct settings settings = {
			.env_set = lists[1], .env_unset = lists[2], .env_keep = lists[3]};
		char **made = environment_make(items[0], &settings, cases[i].captured, active);
		assert_non_null(made);
		for (size_t k = 0; made[k]; k++) {
			size_t len = strlen(text);
			snprintf(text + len, sizeof(text) - len, "%s%s", k ? " " : "", made[k]);
		}
		free(made);
		assert_string_equal(text, cases[i].want);
	}
}

TEST_MAIN(NULL, NULL)
