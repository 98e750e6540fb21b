// Which commands only look at what other runs have left.

#include "config/profile.h"
#include "supervisor/command/verb.h"
#include "tests/unit/unit.h"

static bool looks(const char *string)
{
	char *argv[] = {(char *)"/bin/bash", (char *)"-c", (char *)string, NULL};
	return profile_is_own(argv);
}

TEST(test_strings)
{
	static const char *const own[] = {
		"terse read last",
		"/usr/local/bin/terse search last error",
		"cd web && terse read last --tail 20",
		"terse read last | grep -i error | sort | uniq -c",
		"terse read last | bash -c 'fi'",
		"env A=1 terse show last; echo done",
		"bash -c 'terse list'",
		"timeout 5 terse await cmd-1 --for ready",
	};
	static const char *const others[] = {
		"npm test",
		"npm test; terse read last",
		"terse npm test",
		"terse run make",
		"echo terse read last",
		"pwd",
		"make | terse read last",
		"cat report && terse list",
		"grep -r terse read",
		"terse read 'last",
		"",
	};
	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		if (!looks(own[i]))
			fail_msg("%s", own[i]);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (looks(others[i]))
			fail_msg("%s", others[i]);
}

TEST(test_words)
{
	char *own[] = {(char *)"terse", (char *)"read", (char *)"last", NULL};
	char *other[] = {(char *)"terse", (char *)"make", NULL}, *none[] = {NULL};
	assert_true(profile_is_own(own));
	assert_false(profile_is_own(other));
	assert_false(profile_is_own(none));
	assert_false(profile_is_own(NULL));
}

/* Every verb but those that run other programs or preview a text. */
TEST(test_verbs)
{
	static const char *const others[] = {"run", "filter", "agent", "probe", "hook", "shell"};
	struct settings s;
	struct option_error error;
	assert_int_equal(settings_init(&s), 0);
	for (size_t k = 0; verbs[k]; k++) {
		if (!verbs[k]->purpose)
			continue;
		char *argv[] = {(char *)"terse", (char *)verbs[k]->name, (char *)"x", NULL};
		bool other = false;
		for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
			other |= strcmp(others[i], verbs[k]->name) == 0;
		struct profile_choice choice;
		assert_int_equal(profile_choose(&s, argv, NULL, &choice, &error), 0);
		bool own = strcmp(profile_name(&choice), PROFILE_TERSE) == 0;
		if (own == other || profile_is_own(argv) == other)
			fail_msg("%s", verbs[k]->name);
	}
	settings_release(&s);
}

TEST_MAIN(NULL, NULL)
