// Prints an existing text as `terse run` would: a recorded stream (filter), an artifact or a file
// (read --preview, show).
#ifndef TERSE_COMMAND_EXCERPTS_H
#define TERSE_COMMAND_EXCERPTS_H

#include "supervisor/intercept/interceptor.h"

#include <stdbool.h>
#include <stdint.h>

struct buffer;
struct meta;
struct settings;
struct text;

struct excerpts {
	struct interceptor *text; /* the caller feeds and finishes it, and asks for its report */
	struct buffer *into;      /* NULL: standard output */
	bool goes_on;             /* the text goes on behind what was shown before */
	int error;                /* errno of printing */
	/* Returns the artifact that keeps the omitted text; NULL: there is none. */
	struct artifact *(*artifact)(void *ctx);
	void *ctx;
};

/* Applies the requested profile. Returns 0, or -1 after saying that the one in a flag does not
   exist. */
int excerpts_apply_profile(const char *verb, struct settings *s);

/* Begins a text; `d` is zeroed but for `into`, `goes_on`, `artifact` and `ctx`, and must not move
   afterwards. `o` is zeroed but for what differs from a run: its reader, what the terminal does at
   a line feed, and the size of the text before. Returns 0, or -1 with errno; excerpts_release() it
   in any case. */
int excerpts_init(struct excerpts *d, const struct settings *s, struct interceptor_options *o);
void excerpts_release(struct excerpts *d);

/* Takes the text from where it stands to its end. A gap becomes a line. *lines: the complete lines
   up to here, counted on. Returns 0, or -1 with errno. */
int excerpts_feed(struct excerpts *d, struct text *t, uint64_t *lines);

/* Prints, unless printing has failed before. */
void excerpts_print(struct excerpts *d, const char *data, size_t len);

/* Describes how a run ended, or that it still runs. */
struct wording_ending excerpts_ending(const struct meta *m);

/* Prints the preview of a whole text, into `into` unless that is NULL. `m`: its run, or NULL;
   `place`: the artifact's ID or the file's name, quoted for a shell; *exit_code replaces the run's,
   unless NULL. Returns 0, or -1 with errno. */
int excerpts_text(const struct settings *settings, struct text *t, const struct meta *m,
		  const char *place, const int *exit_code, struct buffer *into);

#endif
