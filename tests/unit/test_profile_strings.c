// Shell strings as agents write them, by the profiles of the commands that count in them.

#include "config/profile.h"
#include "tests/unit/cases.h"

static void check(const char *string, const char *profiles)
{
	struct option_error error = {""};
	struct profile_choice choice;
	struct settings s;
	char names[256] = "";
	size_t len = 0;
	assert_int_equal(settings_init(&s), 0);
	assert_int_equal(profile_choose(&s, NULL, string, &choice, &error), 0);
	assert_true(choice.count >= 1);
	for (size_t i = 0; i < choice.count; i++)
		len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s", i ? "+" : "",
					choice.names[i]);
	if (strcmp(names, profiles) != 0)
		fail_msg("%s\nis %s, not %s", string, names, profiles);
	settings_release(&s);
}

TEST(profiles_of_strings)
{
	cases_each("tests/unit/profiles.cases", check);
}

TEST_MAIN(NULL, NULL)
