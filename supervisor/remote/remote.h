// The remote: a place, such as a bucket, that finished artifacts are pushed to and read from.
//
// terse does not speak its protocol: a program does, which [remote] of the user's or the system's
// ini file names, with credentials of its own. There are three ready-made kinds, and commands of
// the user's:
//
//   remote = rclone:NAME:PATH      rclone
//   remote = s3://BUCKET/PREFIX    aws
//   remote = file:/DIR             a directory that is there, copied to by terse itself
//   push_command, pull_command, list_command
//
// The objects, by their keys:
//
//   artifacts/2026-11-22/cmd-1m7vwf5bqe9c.tar.zst     one file for each run (artifact/archive.h)
//   index/2026-11-22/07/HOST-k3x7f9q2.jsonl             what a store pushed in that hour
//   (catalog.h)
#ifndef TERSE_REMOTE_REMOTE_H
#define TERSE_REMOTE_REMOTE_H

#include "config/settings.h"
#include "config/words.h"
#include "supervisor/artifact/id.h"

#include <stdbool.h>

#define REMOTE_KEY_LEN  160
#define REMOTE_HOST_LEN 64

enum remote_work { REMOTE_PUSH, REMOTE_PULL, REMOTE_LIST, REMOTE_WORKS };

/* Status of a pull or list whose object is not there, as rclone has it. */
enum { REMOTE_NO_DIRECTORY = 3, REMOTE_NO_OBJECT = 4 };

struct remote {
	const struct settings *settings;
	const char *directory; /* of file:, else NULL */
	const char *absent; /* what its program says of no object; "": it makes no file; NULL: its
			       status tells */
	struct words commands[REMOTE_WORKS]; /* count 0: none */
	struct words encrypt, decrypt;
	char host[REMOTE_HOST_LEN + 1]; /* this machine's name, for keys */
};

/* What one transfer is about; the values of {file}, {key}, {id}, {session} and {host}. */
struct remote_object {
	const char *file, *key, *id, *session, *host;
};

/* Whether any remote is configured. */
bool remote_is_set(const struct settings *s);

/* Whether runs are pushed. */
bool remote_pushes(const struct settings *s);

/* Returns 0, or -1 with errno (nothing to release). The settings must outlive it. */
int remote_init(struct remote *r, const struct settings *s);
void remote_release(struct remote *r);

/* Whether it can do that. */
bool remote_can(const struct remote *r, enum remote_work work);

/* Its name for people: what the ini file says, or "the remote". */
const char *remote_name(const struct remote *r);

/* The key of an artifact; an ID holds the day. */
void remote_key(const char *id, char key[REMOTE_KEY_LEN]);

/* The arguments for one transfer: free() them. NULL with errno ENOMEM. */
char **remote_arguments(const struct words *command, const struct remote_object *object);

/* This machine's name, for keys. */
void remote_host(char host[REMOTE_HOST_LEN + 1]);

/* Copies a text into a name for keys: letters, digits, '.', '_' and '-', not starting with '.' or
   '-', at most `size` - 1 bytes; other bytes become '_'. */
void remote_clean_name(const char *text, char *out, size_t size);

#endif
