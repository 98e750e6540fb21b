// The environment a command gets.

#include "supervisor/process/spawn.h"
#include "tests/unit/unit.h"

#define MOST 16

/* The words of a text, parted by blanks. */
struct words {
	char text[256];
	char *items[MOST];
	size_t count;
};

static void split(struct words *w, const char *text)
{
	*w = (struct words){.count = 0};
	snprintf(w->text, sizeof(w->text), "%s", text);
	for (char *at = w->text; *at && w->count < MOST - 1;) {
		w->items[w->count++] = at;
		at += strcspn(at, " ");
		if (*at)
			*at++ = '\0';
	}
}

struct section {
	const char *set, *unset, *keep;
};

static void makes(const char *from, const struct section *s, bool captured, const char *want)
{
	struct words caller, set, unset, keep;
	char text[1024] = "", active[] = "TERSE_ACTIVE=1";
	split(&caller, from);
	split(&set, s->set ? s->set : "");
	split(&unset, s->unset ? s->unset : "");
	split(&keep, s->keep ? s->keep : "");
	const struct settings settings = {.env_set = {set.items, set.count},
					  .env_unset = {unset.items, unset.count},
					  .env_keep = {keep.items, keep.count}};
	char **made = environment_make(caller.items, &settings, captured, active);
	assert_non_null(made);
	for (size_t i = 0; made[i]; i++) {
		size_t len = strlen(text);
		snprintf(text + len, sizeof(text) - len, "%s%s", i ? " " : "", made[i]);
	}
	free(made);
	assert_string_equal(text, want);
}

TEST(nothing_set)
{
	const struct section none = {NULL, NULL, NULL};
	makes("A=1 B=2", &none, true, "A=1 B=2 TERSE_ACTIVE=1");
	makes("A=1 B=2", &none, false, "A=1 B=2 TERSE_ACTIVE=1");
	makes("", &none, true, "TERSE_ACTIVE=1");
	/* Odd entries pass. */
	makes("NOVALUE =x = A=b=c", &none, true, "NOVALUE =x = A=b=c TERSE_ACTIVE=1");
}

TEST(set)
{
	const struct section s = {.set = "PAGER=cat NEW=1 EMPTY="};
	makes("A=1 PAGER=less PAGERS=x PAGE=y", &s, true,
	      "A=1 PAGERS=x PAGE=y PAGER=cat NEW=1 EMPTY= TERSE_ACTIVE=1");
	/* A person's terminal: nothing is changed. */
	makes("A=1 PAGER=less", &s, false, "A=1 PAGER=less TERSE_ACTIVE=1");
}

TEST(the_last_of_the_same_counts)
{
	const struct section s = {.set = "P=1 Q=1 P=2 P=3"};
	makes("P=0 A=1 P=00", &s, true, "A=1 Q=1 P=3 TERSE_ACTIVE=1");
}

TEST(unset)
{
	const struct section s = {.unset = "B NOT_THERE"};
	makes("A=1 B=2 BB=3 B=4", &s, true, "A=1 BB=3 TERSE_ACTIVE=1");
	makes("A=1 B=2", &s, false, "A=1 B=2 TERSE_ACTIVE=1");
}

/* Variables that the caller has are left alone; missing ones are set. */
TEST(keep)
{
	const struct section s = {
		.set = "PAGER=cat TERM=xterm", .unset = "B", .keep = "PAGER B TERM"};
	makes("PAGER=less B=2", &s, true, "PAGER=less B=2 TERM=xterm TERSE_ACTIVE=1");
	makes("A=1 TERM=", &s, true, "A=1 TERM= PAGER=cat TERSE_ACTIVE=1");
}

TEST(set_and_unset)
{
	const struct section s = {.set = "A=new", .unset = "A"};
	makes("A=old", &s, true, "A=new TERSE_ACTIVE=1");
}

TEST(active_is_there_once)
{
	const struct section none = {NULL, NULL, NULL};
	makes("TERSE_ACTIVE=7 A=1 TERSE_ACTIVE", &none, false, "A=1 TERSE_ACTIVE=1");
	makes("TERSE_ACTIVE= TERSE_ACTIVE_TOO=x", &none, true, "TERSE_ACTIVE_TOO=x TERSE_ACTIVE=1");
}

TEST_MAIN(NULL, NULL)
