// The launcher's knowledge of terse (shim/launcher/launcher.h): where it is, and how it was when it
// last worked. A text file beside the launcher, one `key value` a line; a line that it does not
// know is skipped.
//
// clang-format off
//   program /usr/local/bin/terse            executed for hooks, and tried with `version`
//   shell /usr/local/bin/terse-sh           executed as the shell
//   real /bin/zsh                           [shim] shell when it was written, for where terse is
//                                           not usable
//   worked 1650432 1763786000 5             size of the program, and seconds and nanoseconds of its
//                                           last change (ctime, which a change of the mode also
//                                           updates)
//   failed 1650432 1763786000 5             the same of a program that did not work
//   tried 1763786000                        when the launcher last tried a program
//   said 1763786000                         when the launcher last said that terse
//                                           is not usable
// clang-format on
//
// terse init writes the file, and so does the launcher after it has tried terse. The functions need
// no libc, allocate nothing and keep no state.
#ifndef TERSE_SHIM_TARGET_H
#define TERSE_SHIM_TARGET_H

#include <linux/limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#define TARGET_NAME "target"

/* The program as it was at the last `terse init`, beside the launcher: for `terse init --undo`
   where terse is not usable. */
#define TARGET_UNDO "undo"

/* The most bytes that target_write() needs. */
enum { TARGET_MAX = 3 * PATH_MAX + 512 };

struct target_stamp {
	int64_t size, seconds, nanoseconds; /* all 0: no file */
};

struct target {
	const char *program, *shell, *real; /* "": unknown. They point into the text */
	struct target_stamp worked, failed;
	int64_t tried, said; /* seconds since 1970; 0: never */
};

/* Parses the NUL-terminated text, and modifies it; the target points into it. */
void target_read(struct target *t, char *text);

/* Writes the text, with a NUL, to `out`, of TARGET_MAX bytes. Returns its length, or 0: a path is
   too long or has a newline in it. */
size_t target_write(const struct target *t, char *out);

struct target_stamp target_stamp(const struct stat *st);

bool target_is_same(const struct target_stamp *a, const struct target_stamp *b);

#endif
