// The page that terse report writes: one file for a browser without a network.
//
// page/report.html has the style, and the script that builds what is seen from data. Data are JSON
// in elements that nothing executes, with no "<" in them, so whatever a command printed stays text;
// a Content-Security-Policy with a random nonce lets nothing else run and nothing be loaded.
#ifndef TERSE_COMMAND_HTML_H
#define TERSE_COMMAND_HTML_H

#include "lib/buffer.h"

#include <stddef.h>
#include <stdint.h>

struct html {
	int fd;
	uint64_t written; /* bytes */
	const char *rest; /* of the page, behind the data */
	char nonce[33];
};

/* Write to `fd` what comes before the data, an element of data (the JSON is emptied), and the rest.
   Return 0, or -1 with errno. */
int html_begin(struct html *h, int fd);
int html_add(struct html *h, const char *class, size_t number, struct buffer *json);
int html_end(struct html *h);

/* Adds a text that others wrote, without characters that do more than to be seen. */
void html_add_clean(struct buffer *out, const char *key, const char *data, size_t len);

/* Appends members of an object: "shown", what was printed, as it was, or null; "shown_cut", how
   many bytes of it are left out if it has more than `most`; "ranges", the lines of the texts that
   it had: {"stdout":[[1,20],...],...}. */
void html_add_shown(struct buffer *out, int dir, const char *id, size_t most);

/* Appends "texts":[{"name","bytes","lines","head","tail"}], each whole in "head" if it has at most
   `most` bytes, else whole lines of both ends. */
void html_add_texts(struct buffer *out, int dir, const char *id, size_t most);

/* Appends "recording", the text of an asciicast, of which the page shows what it holds, and
   "recording_cut" if that has more than `most` bytes. Nothing if there is none. */
void html_add_recording(struct buffer *out, int dir, const char *id, size_t most);

#endif
