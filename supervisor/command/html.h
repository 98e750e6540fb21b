// The page that terse report writes: one file with all that is in it, for a browser without a
// network.
//
// The page holds data, a style and a script (page/report.css, page/report.js), which builds what is
// seen from the data. Data are JSON in elements that nothing executes, with no "<" in them, so
// whatever a command printed stays text; a Content-Security-Policy with a random nonce lets nothing
// else run and nothing be loaded.
#ifndef TERSE_COMMAND_HTML_H
#define TERSE_COMMAND_HTML_H

#include "lib/buffer.h"
#include "supervisor/artifact/meta.h"
#include "supervisor/artifact/usage.h"
#include "supervisor/command/stats.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A run on the page. */
struct html_run {
	char *line; /* as in the history; owned */
	size_t len;
	uint64_t id; /* packed; 0: no artifact */
	int64_t started_ms;
	int store;      /* where its artifact is: an index of html_page.dirs */
	uint64_t size;  /* of its texts on disk */
	uint64_t shown; /* bytes */
};

struct html_page {
	/* Set by the owner. */
	const char *session;
	const struct stats *stats; /* of these runs, by command */
	struct html_run *runs;     /* the oldest first */
	size_t count;
	const int *dirs;          /* the session's directory in each store, or -1 */
	const char *const *paths; /* of these directories */
	uint64_t total;           /* runs, with older ones that the page does not have */
	void (*tell)(void *ctx, size_t done);
	void *ctx;
	/* Private, zeroed. */
	int fd;
	uint64_t written;
	size_t text_most;   /* bytes of a text that are on the page whole */
	size_t shown_most;  /* the same of what was shown */
	size_t frames_left; /* bytes for pictures of recordings */
	struct buffer out;
};

/* Writes it to `fd`. Returns 0, or -1 with errno. */
int html_write(struct html_page *p, int fd);

// html_text.c

/* Adds a text that others wrote, without characters that do more than to be seen. */
void html_add_clean(struct buffer *out, const char *key, const char *data, size_t len);

/* Appends members of an object: "shown", what was printed, as it was, or null, and "shown_cut", how
   many bytes of it are left out if it has more than `most`; "texts":
   [{"name","bytes","lines","ranges","head","tail","tail_from"}], each whole if it has at most
   `most` bytes, else both ends of it. */
void html_add_shown(struct buffer *out, int dir, const char *id, size_t most);
void html_add_texts(struct buffer *out, int dir, const char *id, size_t most);

// html_frames.c

/* Appends "frames": what the screen of a recorded run looked like, as terse's own terminal makes
   it:
   "recording":{"cols","rows","frames":[[MS,ROW,COL,[[LINE,PIECE...]...]]...],
    "styles":[[INK,PAPER,ATTRIBUTES]...],"cut":false}
   Each frame has the lines that differ from the one before. A piece is a text, or [STYLE,"text"];
   colours are numbers, 0xRRGGBB, or null; attributes those of terminal.h. Takes at most `most`
   bytes; then "cut" is true. Nothing if there is no recording. */
void html_add_frames(struct buffer *out, int dir, const char *id, size_t most);

// html_assets.c

/* A file of the directory page/, as it was when terse was built. */
struct html_asset {
	const char *data;
	size_t len;
};

struct html_asset html_style(void);
struct html_asset html_script(void);

#endif
