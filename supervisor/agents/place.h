// Where terse's own files are, and the user's directory with the launcher, which is what agents are
// made to execute (shim/launcher/launcher.h).
#ifndef TERSE_AGENTS_PLACE_H
#define TERSE_AGENTS_PLACE_H

#include <limits.h>
#include <stdbool.h>

/* Behind the path where BASH_ENV is set to it: nothing, but with -v, for which bash would print the
   file as it reads it, the end of a name that no file has. */
#define PLACE_UNLESS_VERBOSE "${-//[!v]}"

struct place {
	/* Absolute paths; "" where there is none. */
	char program[PATH_MAX];
	char shell[PATH_MAX];    /* terse-sh; can be executed */
	char library[PATH_MAX];  /* libterse-shim.so */
	char bash_env[PATH_MAX]; /* what bash reads first below Codex */
	char launcher[PATH_MAX]; /* terse-launcher, to be installed */
};

/* The files of the running terse: beside the program (a build), or as installed. */
void place_find(struct place *p);

/* The user's directory with the launcher. Returns 0, or -1 without a home directory. */
int place_folder(char out[PATH_MAX]);

/* What an agent's files have to name: the launcher's directory, but for what that does not have or
   where it can't serve (a preloaded library's path has no blank or colon). The files need not be
   there. All are terse's own if `own` has no launcher or there is no home directory. */
void place_of_launcher(struct place *p, const struct place *own);

/* The same if the launcher is there and can be executed, else terse's own. */
void place_wired(struct place *p, const struct place *own);

/* Writes or renews the launcher and all that is beside it, through no link. `real`: [shim] shell,
   or NULL. Returns 0, or -1 with errno and the path that failed. */
int place_install(const struct place *own, const char *real, char failed[PATH_MAX]);

/* Notes in the file `wired` of the directory that `path` is wired up, and how to undo it, or
   removes that. `options`: those of `terse init`; `project`: where to call it, or NULL. The command
   names the launcher, so it works when terse has gone. For people, and `make uninstall`. Failures
   are ignored. */
void place_note(const char *path, const char *options, const char *project, bool wired);

/* Enough for a version. */
enum { PLACE_VERSION_LEN = 32 };

/* Finds the version that terse's program, or its library, was built as, without executing it. "" if
   there is none in the file. Returns `out`. */
char *place_version(const char *path, char out[PLACE_VERSION_LEN]);

/* What the launcher thinks of terse. */
enum place_health {
	PLACE_ABSENT, /* it is not installed */
	PLACE_OLD,    /* it is not the one of this terse */
	PLACE_OTHER,  /* it starts another terse */
	PLACE_GOOD,
};

/* `program`: the one that it starts, or "". `version`: of the library beside the launcher, or "".
 */
enum place_health place_check(const struct place *own, char program[PATH_MAX],
			      char version[PLACE_VERSION_LEN]);

#endif
