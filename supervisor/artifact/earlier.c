// See earlier.h.

#include "supervisor/artifact/earlier.h"

#include "lib/fingerprint.h"
#include "lib/io.h"
#include "supervisor/artifact/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
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

int earlier_find(struct store *stores, int count, const char *session, const struct meta *m,
		 struct id_found *found)
{
	const char *const where[] = {session, NULL};
	int got = 1;
	bool is_same = false;
	for (int i = 0; i < 2 && !is_same && got >= 0; i++) {
		struct journal *j = journal_open(stores, count, where[i], JOURNAL_MADE);
		got = j ? 1 : -1;
		for (int looks = 0; looks < LOOKS && !is_same && got == 1; looks++) {
			struct journal_line line;
			struct meta other;
			got = journal_next(j, &line);
			if (got != 1 || strcmp(line.of.id, m->id) >= 0)
				continue;
			*found = line.of;
			if (meta_read_found(found, &other) == 0)
				is_same = earlier_is_same(&other, m);
			else if (errno == ENOMEM)
				got = -1;
			meta_release(&other);
		}
		journal_close(j);
	}
	return got < 0 ? -1 : is_same;
}

/* The runs of all commands, in the order of their ends: "HASH ID +SESSION", or "-SESSION" where the
   run did not end with 0. */
#define COMMANDS_FILE "commands"

/* Bytes of its end that are looked through: a thousand runs or more. */
#define COMMANDS_END ((size_t)64 * 1024)

/* Runs of a command that may be gone before it counts as having none. */
#define COMMANDS_TRIES 16

#define HASH_LEN 16

/* In front of the session in a line, and the longest line. */
#define COMMANDS_HEAD ((size_t)HASH_LEN + 1 + ID_LEN + 1 + 1)
#define COMMANDS_LINE (COMMANDS_HEAD + STORE_SESSION_LEN + 1)

/* The hash of a command: of its words and directory. */
static void hash_command(const struct meta *m, char out[HASH_LEN + 1])
{
	uint64_t hash = fingerprint_exact(m->cwd, strlen(m->cwd));
	for (char **arg = m->argv; arg && *arg; arg++)
		hash = (hash << 7 | hash >> 57) ^ fingerprint_exact(*arg, strlen(*arg));
	snprintf(out, HASH_LEN + 1, "%016" PRIx64, hash);
}

/* Takes a line apart. Returns whether it is one. */
static bool read_noted(const char *line, size_t len, struct id_found *found, bool *success)
{
	const char *id = line + HASH_LEN + 1;
	char session[STORE_SESSION_LEN + 1];
	size_t session_len = len - COMMANDS_HEAD;
	if (len <= COMMANDS_HEAD || session_len > STORE_SESSION_LEN || id[-1] != ' ' ||
	    id[ID_LEN] != ' ')
		return false;
	memcpy(found->id, id, ID_LEN);
	found->id[ID_LEN] = '\0';
	memcpy(session, line + COMMANDS_HEAD, session_len);
	session[session_len] = '\0';
	store_session_name(session, found->session);
	*success = id[ID_LEN + 1] == '+';
	return id_is_valid(found->id) && strcmp(session, found->session) == 0;
}

/* Finds the newest run of the command in the file: of this session (NULL: any), and, with
   `success`, one that ended with 0. */
static bool find_noted(int fd, const char *hash, const char *session, bool success,
		       const struct meta *m, struct earlier_run *run)
{
	char block[JOURNAL_BLOCK];
	struct journal_tail t = {.block = block, .room = sizeof(block)};
	const char *line;
	size_t len;
	journal_tail_begin(&t, fd);
	uint64_t least = t.end > COMMANDS_END ? t.end - COMMANDS_END : 0;
	for (int tries = COMMANDS_TRIES;
	     tries > 0 && t.end > least && journal_tail_next(&t, &line, &len) == 1;) {
		bool ended_well;
		if (len < HASH_LEN || memcmp(line, hash, HASH_LEN) != 0 ||
		    !read_noted(line, len, &run->found, &ended_well) ||
		    strcmp(run->found.id, m->id) == 0 || (success && !ended_well) ||
		    (session && strcmp(run->found.session, session) != 0))
			continue;
		/* The artifact has to be there, and of the command. */
		run->dir = store_open_session(run->found.store, run->found.session, false);
		if (run->dir >= 0 && id_is_kept(run->dir, run->found.id) &&
		    meta_read(run->dir, run->found.id, &run->meta) == 0) {
			if (earlier_is_same(&run->meta, m) && run->meta.state != META_RUNNING)
				return true;
			meta_release(&run->meta);
		}
		io_close(&run->dir);
		tries--;
	}
	return false;
}

void earlier_look_up(struct store *s, const char *session, const struct meta *m,
		     struct earlier_run *last, struct earlier_run *success)
{
	char hash[HASH_LEN + 1];
	int fd = store_open_file(s->fd, COMMANDS_FILE, O_RDONLY);
	hash_command(m, hash);
	*last = (struct earlier_run){.found = {.store = s}, .dir = -1};
	if (success)
		*success = *last;
	last->is_found = find_noted(fd, hash, session, false, m, last) ||
			 find_noted(fd, hash, NULL, false, m, last);
	if (success && last->is_found)
		success->is_found = find_noted(fd, hash, NULL, true, m, success);
	io_close(&fd);
}

void earlier_run_release(struct earlier_run *run)
{
	meta_release(&run->meta);
	io_close(&run->dir);
}

int earlier_note(const struct store *s, const char *session, const struct meta *m)
{
	char hash[HASH_LEN + 1], line[COMMANDS_LINE + 1];
	hash_command(m, hash);
	int len = snprintf(line, sizeof(line), "%s %s %c%s\n", hash, m->id,
			   meta_has_failed(m) ? '-' : '+', session);
	return journal_append(s->fd, COMMANDS_FILE, line, (size_t)len);
}

/* Whether the artifact is there. */
static bool keep_noted(void *ctx, const char *line, size_t len)
{
	struct id_found found;
	bool success;
	return read_noted(line, len, &found, &success) && id_exists(ctx, found.id);
}

void earlier_sweep(const struct store *s)
{
	journal_filter(s->fd, COMMANDS_FILE, keep_noted, (void *)s);
}
