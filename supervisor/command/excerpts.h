// What run would print of a text that is there already: of a recorded stream (filter), or of an
// artifact or file (read --preview, show).
#ifndef TERSE_COMMAND_EXCERPTS_H
#define TERSE_COMMAND_EXCERPTS_H

#include "supervisor/intercept/interceptor.h"

#include <stdbool.h>

struct buffer;
struct meta;
struct settings;
struct text;

struct excerpts_options {
	const struct settings *settings;
	enum interceptor_print print;
	bool onlcr;           /* a line feed also returns to the first column */
	bool returns;         /* a CR before it stays: the text is one already */
	bool summary;         /* what is collected is for an account (process/summary.h) */
	struct buffer *into;  /* NULL: standard output */
	const int *exit_code; /* excerpts_text(): in place of the run's; NULL: that one */
	/* The artifact that keeps what is left out; NULL: there is none. */
	struct artifact *(*artifact)(void *ctx);
	void *ctx;
};

struct excerpts {
	struct excerpts_options options;
	struct interceptor *text; /* is fed, finished and asked for its report */
	int error;                /* errno of printing */
};

/* Puts the settings of the profile that was asked for in place. Returns 0, or -1 after saying that
   a flag names none. */
int excerpts_apply_profile(const char *verb, struct settings *s);

/* `d` has to stay where it is. Returns 0, or -1 with errno; excerpts_release() it in any case. */
int excerpts_init(struct excerpts *d, const struct excerpts_options *options);
void excerpts_release(struct excerpts *d);

/* Prints, unless that has failed before. */
void excerpts_print(struct excerpts *d, const char *data, size_t len);

/* How a run ended, or that it goes on. */
struct wording_ending excerpts_ending(const struct meta *m);

/* Prints the preview of a text from its start on. `m`: the run it is of, or NULL; `place`: the
   artifact's ID or the file's name as a shell reads it. Returns 0, or -1 with errno. */
int excerpts_text(const struct excerpts_options *options, struct text *t, const struct meta *m,
		  const char *place);

#endif
