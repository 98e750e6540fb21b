// Profiles: kinds of commands, and settings for each of them.
//
// A profile is a section [profile NAME] of an ini file, see section.h. `match` lists commands as
// patterns (pattern.h). Its other keys are the numeric options, and the lists of [preview], to
// which they add. builtin.c has the built-in profiles; a file's `match` adds to their patterns, and
// its other keys override theirs. A command belongs to the profile with the most exact pattern;
// among equals the last one wins. Files come after the built-in profiles.
//
// A pattern of one word does not match a program that runs another command: `env` does not match
// `env A=1 make`. The commands in the string of `sh -c` always count.
//
// A profile's settings override settings of files; variables and flags override a profile's
// settings. The user's [report] size therefore applies to commands whose profile sets none.
//
// In a shell string, a command counts only if its output becomes output of the string, so only the
// last one of each pipeline counts. A search in the output of find or ls has the profile of find or
// ls. tee, and cat, less and more without operands, only pass their input on: the command that
// feeds them counts. Commands of the profile "quiet" print next to nothing, and count only if no
// other command counts. Commands of different profiles get the largest of their limits and mode
// smart. A string that can't be read gets the default.
#ifndef TERSE_CONFIG_PROFILE_H
#define TERSE_CONFIG_PROFILE_H

#include "config/option.h"
#include "config/section.h"

#include <stdbool.h>

/* The key whose items are patterns (pattern.h). */
#define PROFILES_MATCH "match"

extern const struct section_form profiles_form;

/* Stands for no profile. A file can give it patterns, which take commands away from other
   profiles. */
#define PROFILE_DEFAULT "default"
/* terse itself: its notices are genuine. */
#define PROFILE_TERSE "terse"
/* Its own verbs, as alternatives of a pattern. */
#define PROFILE_FIRST_VERB(name) #name
#define PROFILE_OWN_VERB(name)   "|" #name
#define PROFILE_OTHER_VERB(name)
#define PROFILE_TERSE_VERBS VERBS(PROFILE_FIRST_VERB, PROFILE_OWN_VERB, PROFILE_OTHER_VERB)
/* A string with commands of several profiles. */
#define PROFILE_MIXED "mixed"

enum { PROFILE_PARTS_MAX = 8 };

/* The profiles of the commands that count, without repetitions. */
struct profile_choice {
	const char *names[PROFILE_PARTS_MAX]; /* valid until settings_release() */
	size_t count;                         /* at least 1 */
};

/* Chooses settings.profile if it is set, else the profiles of the shell string `string`, or, if
   that is NULL, of the command `argv`. Opens no file. Returns 0, or -1 with errno: EINVAL
   (settings.profile names no profile; *error is filled) or ENOMEM. The choice is valid even after
   an error: what was found, or the default. */
int profile_choose(const struct settings *s, char *const argv[], const char *string,
		   struct profile_choice *choice, struct option_error *error);

/* Applies the profiles: sets their options, except those that a variable or a flag sets, and adds
   the items of their lists. */
void profile_apply(struct settings *s, const struct profile_choice *choice);

/* The name of the only profile in the choice, or PROFILE_MIXED. */
const char *profile_name(const struct profile_choice *choice);

/* Whether `argv` (NULL-terminated), or the shell string in it, runs a verb of terse, as in `cd web
   && terse read last | grep error`, and all other commands in it read the verb's output or print
   next to nothing. */
bool profile_is_own(char *const argv[]);

/* --- the verbs -------------------------------------------------------------------------------- */

// The one list of the verbs: for the profile of terse's own verbs, and for the table of verbs
// (supervisor/verbs.c).

/* In the order of `terse help`. OWN (and FIRST, the first of these): the verb prints as much as its
   caller asks for. OTHER: the verb runs another program, or previews a text. */
// clang-format off
#define VERBS(FIRST, OWN, OTHER) \
	OTHER(run) FIRST(read) OWN(search) OWN(changes) OWN(show) OWN(list) \
	OWN(stats) OWN(report) OWN(await) OWN(follow) OWN(send) OWN(snapshot) OWN(attach) OWN(signal) \
	OWN(path) OWN(session) OWN(rewind) OWN(drop) OWN(gc) OWN(archive) \
	OWN(unarchive) OWN(push) OTHER(filter) OWN(config) OTHER(agent) OTHER(shell) \
	OTHER(probe) OWN(init) \
	OTHER(hook) OWN(mcp) OWN(doctor) OWN(help) OWN(version) OTHER(complete)
// clang-format on

#endif
