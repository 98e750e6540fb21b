// Where a run was: the machine, its container, and the labels of [remote].
#ifndef TERSE_REMOTE_ORIGIN_H
#define TERSE_REMOTE_ORIGIN_H

#include "config/settings.h"
#include "lib/buffer.h"

/* Bytes of a label's value. */
#define LABEL_MAX 256

/* Appends the labels as an object of strings. A value "$NAME" is that variable's of this process,
   so the run itself calls it. */
void origin_add_labels(struct buffer *out, const struct settings *settings);

/* Appends "host", "container" (the beginning of its ID as Docker, containerd and Podman have it, or
   null; null, too, if `host` is not this machine) and "labels", which origin_add_labels() has made,
   to an object. */
void origin_encode(struct buffer *out, const char *host, const struct buffer *labels);

/* Takes the container's ID out of the text of /proc/self/mountinfo. Returns whether there is
   one. */
#define ORIGIN_CONTAINER 12
bool origin_container(const char *mounts, char id[ORIGIN_CONTAINER + 1]);

#endif
