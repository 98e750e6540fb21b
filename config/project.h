// The .terse.ini of the project that the current directory is in: the nearest one
// from there up to the repository's root (the directory with a .git). Outside of a
// repository only the current directory is looked at.
//
// A repository is not trusted, so that only options marked safe in the table are
// taken from the file, and it has to be a plain file of the user (or of root)
// that not everybody can write to.
#ifndef TERSE_CONFIG_PROJECT_H
#define TERSE_CONFIG_PROJECT_H

#include <stdbool.h>

struct buffer;
struct option_error;

#define PROJECT_FILE ".terse.ini"

/* Finds it: writes its absolute path into `path` (PATH_MAX bytes). Looks for names only and opens
   nothing. */
bool project_find(char *path);

/* Appends the file to `text`. Returns 0, or -1 with errno; EINVAL: it is not trusted, or larger
   than 1 MB, and *error says so. */
int project_read(const char *path, struct buffer *text, struct option_error *error);

#endif
