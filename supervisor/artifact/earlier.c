// See earlier.h.

#include "supervisor/artifact/earlier.h"

#include "lib/io.h"
#include "supervisor/artifact/history.h"

#include <errno.h>
#include <string.h>

/* Artifacts that are looked at, each of which costs reading a file. */
#define LOOKS 5000

bool earlier_is_same(const struct meta *a, const struct meta *b)
{
	char *const *x = a->argv, *const *y = b->argv;
	if (!x || !y || !a->cwd || !b->cwd || strcmp(a->cwd, b->cwd) != 0)
		return false;
	while (*x && *y && strcmp(*x, *y) == 0) {
		x++;
		y++;
	}
	return !*x && !*y;
}

/* Returns 1 if the artifact is an earlier run of the same command, 0, or -1 without memory. */
static int earlier_look(const struct id_found *found, const struct meta *m)
{
	struct meta other;
	int dir = store_open_session(found->store, found->session, false);
	int result = dir < 0 ? -1 : meta_read(dir, found->id, &other);
	int error = errno;
	io_close(&dir);
	if (result < 0)
		return error == ENOMEM ? -1 : 0;
	result = earlier_is_same(&other, m);
	meta_release(&other);
	return result;
}

static int earlier_walk(struct store *stores, int count, const char *session, const struct meta *m,
			struct id_found *found)
{
	struct recent *r = recent_open(stores, count, session);
	int looks = 0, got = r ? 1 : -1;
	while (got == 1 && looks < LOOKS && (got = recent_next(r, found)) == 1) {
		if (strcmp(found->id, m->id) >= 0)
			continue;
		looks++;
		int is = earlier_look(found, m);
		if (is) {
			got = is;
			goto out;
		}
	}
	got = got < 0 ? -1 : 0;
out:
	if (r)
		recent_close(r);
	return got;
}

int earlier_find(struct store *stores, int count, const char *session, const struct meta *m,
		 struct id_found *found)
{
	int got = earlier_walk(stores, count, session, m, found);
	return got ? got : earlier_walk(stores, count, NULL, m, found);
}
