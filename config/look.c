// See look.h.

#include "config/look.h"

#include "config/pattern.h"
#include "config/profiles.h"
#include "config/words.h"
#include "config/wrapper.h"

#include <stddef.h>
#include <string.h>

/* Shell strings within shell strings. */
#define NESTED_MAX 4

static const char verbs[] =
	"terse read|search|list|show|path|history|stats|snapshot|config|doctor|help|version|await|"
	"send|signal|attach|session|rewind|drop|gc|archive|replay";

enum look { LOOK_OTHER, LOOK_QUIET, LOOK_OWN };

static enum look look_at_string(const char *string, unsigned nested);

static enum look command_look_at(char *const *words, unsigned nested)
{
	for (; words && words[0]; words = wrapper_inner(words)) {
		const char *name, *string;
		if (pattern_match(verbs, words))
			return LOOK_OWN;
		name = profiles_match(&profiles_builtin, words);
		if (name)
			return strcmp(name, "quiet") == 0 ? LOOK_QUIET : LOOK_OTHER;
		string = nested < NESTED_MAX ? wrapper_string(words) : NULL;
		if (string)
			return look_at_string(string, nested + 1);
	}
	return LOOK_OTHER;
}

/* Whether a command before this one writes into it. */
static bool look_is_fed(const struct words *w, size_t index)
{
	size_t i = 0;
	while (i < index && w->commands[i].into != (int)index)
		i++;
	return i < index;
}

static enum look look_at_string(const char *string, unsigned nested)
{
	struct words w;
	enum look all = LOOK_QUIET;
	if (words_parse(&w, string) < 0)
		return LOOK_OTHER;
	for (size_t i = 0; i < w.count && all != LOOK_OTHER; i++) {
		enum look one = look_is_fed(&w, i)
					? LOOK_QUIET
					: command_look_at(&w.words[w.commands[i].first], nested);
		if (one != LOOK_QUIET)
			all = one;
	}
	words_release(&w);
	return all;
}

bool look_is(char *const argv[])
{
	return argv && command_look_at(argv, 0) == LOOK_OWN;
}
