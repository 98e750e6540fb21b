// The profiles that the files define: [profile NAME] sections, each with
// patterns (match = ...) and values of options; see layer.h. Which one a command
// belongs to, and what that changes, is in profile.h.
#ifndef TERSE_CONFIG_PROFILE_H
#define TERSE_CONFIG_PROFILE_H

#include "config/layer.h"
#include "config/option.h"

#include <stdbool.h>

/* The key whose items are patterns (pattern.h). */
#define PROFILES_MATCH "match"

extern const struct layer_form profiles_form;
extern const struct layer profiles_builtin;

/* The uppermost layer. */
static inline const struct layer *profiles_of(const struct settings *s)
{
	return s->profiles ? s->profiles : &profiles_builtin;
}

// What a command is for, and the settings that come of it: profiles.
//
// A profile is a section of an ini file: `match` lists commands as patterns
// (pattern.h), the other keys are any option that holds a number, with the name
// of its key, and the lists of [preview], to which they add. The built-in ones are in builtin.c. A
// file's `match` adds to the profile's patterns, its keys win over the built-in ones. A command
// belongs to the profile with the most exact pattern, and of such to the last one, files coming
// after what is built in.
//
// What a profile sets wins over files and loses to variables and flags: a
// [report] size of the user's is for commands without a profile.
//
// In a shell string those commands count whose output is the string's: the last
// one of each pipeline (but for tee, and a cat, less or more with nothing but its
// standard input to read: what feeds them counts). Those of the profile "quiet"
// print next to nothing: they count only if no other one does. Commands of
// different profiles get the largest of their limits and mode smart. A string that
// can't be read has the default.

/* The name of having none; a pattern that a file gives to it takes a command from the others. */
#define PROFILE_DEFAULT "default"
/* Terse itself: what it prints is no forgery. */
#define PROFILE_TERSE "terse"
/* A string with commands of several profiles. */
#define PROFILE_MIXED "mixed"

enum { PROFILE_PARTS_MAX = 8 };

/* The profiles of the commands that count, each once. */
struct profile_choice {
	const char *names[PROFILE_PARTS_MAX]; /* valid until settings_release() */
	size_t count;                         /* at least 1 */
};

/* Chooses for a command, or for a shell string if `string` is not NULL; settings.profile decides
   where it is set. Opens nothing. Returns 0, or -1 with errno: EINVAL: settings.profile names none,
   with *error filled; ENOMEM. The choice is then good, too: what could be found, or the default. */
int profile_choose(const struct settings *s, char *const argv[], const char *string,
		   struct profile_choice *choice, struct option_error *error);

/* Puts what the profiles set in place wherever neither a variable nor a flag decided, and adds what
   they add. */
void profile_apply(struct settings *s, const struct profile_choice *choice);

/* What to call the choice: the one name, or PROFILE_MIXED. */
const char *profile_name(const struct profile_choice *choice);

// Whether a command is one of terse's own, that looks at what other runs have left.

/* Whether `argv` (NULL-terminated), or the shell string in it, runs a verb of terse, as in
   `cd web && terse read last | grep error`, and no other command but such that read its output or
   print next to nothing. */
bool look_is(char *const argv[]);

#endif
