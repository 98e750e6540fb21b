// Where a run was: the machine, its container, and the labels of [remote].
#ifndef TERSE_REMOTE_ORIGIN_H
#define TERSE_REMOTE_ORIGIN_H

#include "config/settings.h"
#include "lib/buffer.h"

/* Appends "host", "container" (the beginning of its ID as Docker, containerd and Podman have it, or
   null) and "labels" to an object. A label's value "$NAME" is that variable's. */
void origin_encode(struct buffer *out, const struct settings *settings, const char *host);

/* Takes the container's ID out of the text of /proc/self/mountinfo. Returns whether there is
   one. */
#define ORIGIN_CONTAINER 12
bool origin_container(const char *mounts, char id[ORIGIN_CONTAINER + 1]);

#endif
