// What the page that terse report writes has of a run: members of an object in JSON.
#ifndef TERSE_COMMAND_HTML_H
#define TERSE_COMMAND_HTML_H

#include "lib/buffer.h"

#include <stddef.h>

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
