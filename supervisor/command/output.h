// The file that a verb writes because somebody named it (-o, --output, --svg): the same for all of
// them. A regular file gets its new contents at once, when they are complete; links are followed;
// what is no regular file (a device, a fifo) is opened and written, never replaced.
#ifndef TERSE_COMMAND_OUTPUT_H
#define TERSE_COMMAND_OUTPUT_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct output {
	int fd; /* to write to */
	const char *name;
	bool made;                /* and it was not there before */
	char target[PATH_MAX];    /* the file to be replaced, without links */
	char temporary[PATH_MAX]; /* beside it; "": `fd` is the file itself */
	uint64_t size;            /* bytes of a regular file, once it is closed; else 0 */
};

/* `name` must outlive the struct; "-" is standard output. New files have mode 0600. Returns 0, or
   -1 with errno (EEXIST: there is a regular file, and `replace` is false). */
int output_open(struct output *o, const char *name, bool replace);

/* `result`: -1 if writing failed; then a file is left as it was, or not made. Returns 0, or -1 with
   errno, which is that of the writer if that failed. */
int output_close(struct output *o, int result);

#endif
