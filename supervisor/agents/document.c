// See document.h.

#include "supervisor/agents/document.h"

#include "lib/align.h"
#include "lib/buffer.h"
#include "lib/bytes.h"
#include "lib/fingerprint.h"
#include "lib/io.h"
#include "lib/quote.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Lines around a change. */
enum { CONTEXT = 3 };

/* The lines of one of the texts. */
struct lines {
	const char **start; /* one more than there are: the end of the text */
	size_t count;
	uint64_t *hashes;
	bool *marks; /* those that the other text does not have */
};

static int split(struct lines *l, const struct buffer *t)
{
	const char *at = t->data ? t->data : "", *end = at + t->len;
	size_t room = (size_t)newline_count(at, t->len) + 2;
	l->start = calloc(room, sizeof(*l->start));
	l->hashes = calloc(room, sizeof(*l->hashes));
	l->marks = calloc(room, sizeof(*l->marks));
	if (!l->start || !l->hashes || !l->marks)
		return -1;
	for (l->count = 0; at < end; l->count++) {
		const char *next = memchr(at, '\n', (size_t)(end - at));
		l->start[l->count] = at;
		next = next ? next + 1 : end;
		l->hashes[l->count] = fingerprint_exact(at, (size_t)(next - at));
		at = next;
	}
	l->start[l->count] = end;
	return 0;
}

static void lines_release(struct lines *l)
{
	free(l->start);
	free(l->hashes);
	free(l->marks);
}

static void diff_write_line(struct buffer *out, char mark, const struct lines *l, size_t i)
{
	size_t len = (size_t)(l->start[i + 1] - l->start[i]);
	buffer_append(out, &mark, 1);
	buffer_append(out, l->start[i], len);
	if (len == 0 || l->start[i][len - 1] != '\n')
		buffer_append_string(out, "\n\\ No newline at end of file\n");
}

/* The marked lines of the first text, and of the second, with others around them. */
static void diff_write_all(struct buffer *out, const struct lines *a, const struct lines *b)
{
	const bool *lost = a->marks, *added = b->marks;
	size_t i = 0, k = 0;
	for (;;) {
		while (i < a->count && k < b->count && !lost[i] && !added[k]) {
			i++;
			k++;
		}
		if ((i >= a->count || !lost[i]) && (k >= b->count || !added[k]))
			return;
		/* A piece ends where more lines are the same than context around both sides
		   needs. */
		size_t lead = i < CONTEXT ? i : CONTEXT, same = 0;
		size_t at = i - lead, from = k - lead;
		while ((i < a->count || k < b->count) && same <= (size_t)2 * CONTEXT) {
			bool loses = i < a->count && lost[i];
			bool adds = !loses && k < b->count && added[k];
			i += !adds;
			k += !loses;
			same = loses || adds ? 0 : same + 1;
		}
		size_t back = same > CONTEXT ? same - CONTEXT : 0, end = i - back, to = k - back;
		buffer_printf(out, "@@ -%zu,%zu +%zu,%zu @@\n", end > at ? at + 1 : at, end - at,
			      to > from ? from + 1 : from, to - from);
		while (at < end || from < to) {
			if (at < end && lost[at]) {
				diff_write_line(out, '-', a, at++);
			} else if (from < to && added[from]) {
				diff_write_line(out, '+', b, from++);
			} else {
				diff_write_line(out, ' ', a, at++);
				from++;
			}
		}
	}
}

int diff_append(struct buffer *out, const char *before_path, const struct buffer *before,
		const char *after_path, const struct buffer *after)
{
	const char *const names[] = {before_path ? before_path : "/dev/null",
				     after_path ? after_path : "/dev/null"};
	struct lines a = {.count = 0}, b = {.count = 0};
	int status = -1;
	if (split(&a, before) < 0 || split(&b, after) < 0)
		goto out;
	struct align_side left = {a.hashes, (uint32_t)a.count, a.marks},
			  right = {b.hashes, (uint32_t)b.count, b.marks};
	if (align_mark(&left, &right) < 0)
		goto out;
	size_t start = out->len;
	for (size_t i = 0; i < 2; i++) {
		buffer_append_string(out, i ? "+++ " : "--- ");
		quote_text(out, names[i], strlen(names[i]), 0);
		buffer_append(out, "\n", 1);
	}
	size_t titles = out->len;
	diff_write_all(out, &a, &b);
	if (out->len == titles)
		buffer_truncate(out, start);
	status = buffer_check(out);
out:
	lines_release(&a);
	lines_release(&b);
	return status;
}

static int document_refuse(struct document *d, int error, const char *reason)
{
	d->reason = reason;
	errno = error;
	return -1;
}

/* Whether the path, or the part of it that is there, leads out of the directory through a link. */
static bool leads_out(const char *path, const char *root)
{
	char top[PATH_MAX], real[PATH_MAX], part[PATH_MAX];
	char *slash;
	size_t len;
	if (!root || !realpath(root, top))
		return false;
	snprintf(part, sizeof(part), "%s", path);
	while (!realpath(part, real)) {
		slash = strrchr(part, '/');
		if (!slash || slash == part)
			return false;
		*slash = '\0';
	}
	len = strlen(top);
	return strncmp(real, top, len) != 0 || (real[len] != '\0' && real[len] != '/' && len > 1);
}

int document_read(struct document *d, const char *path, const char *root)
{
	struct stat st;
	*d = (struct document){.mode = 0600};
	if ((size_t)snprintf(d->path, sizeof(d->path), "%s", path) >= sizeof(d->path))
		return document_refuse(d, ENAMETOOLONG, NULL);
	if (leads_out(d->path, root))
		return document_refuse(d, ELOOP, "a symbolic link leads out of the project");
	if (lstat(d->path, &st) < 0) {
		memcpy(d->real, d->path, sizeof(d->real));
		return errno == ENOENT ? 0 : -1;
	}
	if (!realpath(d->path, d->real))
		return S_ISLNK(st.st_mode) && errno == ENOENT
			       ? document_refuse(d, ENOENT, "a symbolic link to nothing")
			       : -1;
	int fd = open(d->real, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW), status = -1;
	if (fd < 0)
		return errno == ENOENT ? 0 : -1;
	d->exists = true;
	if (fstat(fd, &d->stat) == 0) {
		d->mode = d->stat.st_mode & 07777;
		status = S_ISREG(d->stat.st_mode) ? io_read_all(fd, &d->text, DOCUMENT_MAX)
						  : document_refuse(d, EINVAL, "not a file");
	}
	io_close(&fd);
	return status;
}

void document_release(struct document *d)
{
	buffer_release(&d->text);
}

int document_write(const struct document *d, const char *text, size_t len)
{
	char temporary[PATH_MAX + 16];
	snprintf(temporary, sizeof(temporary), "%s", d->real);
	for (char *slash = strchr(temporary + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(temporary, 0777) < 0 && errno != EEXIST)
			return -1;
		*slash = '/';
	}
	snprintf(temporary, sizeof(temporary), "%s.XXXXXX", d->real);
	int fd = mkostemp(temporary, O_CLOEXEC), status = -1;
	struct stat now;
	if (fd < 0)
		return -1;
	if (io_write(fd, text, len) < 0)
		goto out;
	/* Only root can keep another owner. */
	if (d->exists && fchown(fd, d->stat.st_uid, d->stat.st_gid) < 0 && geteuid() == 0)
		goto out;
	if (fchmod(fd, d->mode) < 0 || fsync(fd) < 0)
		goto out;
	/* It has to be the file that was read. */
	bool there = stat(d->real, &now) == 0;
	bool same = there ? d->exists && now.st_ino == d->stat.st_ino &&
				    now.st_size == d->stat.st_size &&
				    now.st_mtim.tv_sec == d->stat.st_mtim.tv_sec &&
				    now.st_mtim.tv_nsec == d->stat.st_mtim.tv_nsec
			  : errno == ENOENT && !d->exists;
	if (same)
		status = rename(temporary, d->real);
	else
		errno = EAGAIN;
out:;
	int error = errno;
	io_close(&fd);
	if (status < 0)
		unlink(temporary);
	errno = error;
	return status;
}

int document_remove(const struct document *d, const char *top)
{
	char folder[PATH_MAX];
	size_t len = top ? strlen(top) : 0;
	char *slash;
	if (unlink(d->real) < 0)
		return -1;
	memcpy(folder, d->path, sizeof(folder));
	while (len && strncmp(folder, top, len) == 0 && (slash = strrchr(folder, '/')) != NULL &&
	       slash > folder + len) {
		*slash = '\0';
		if (rmdir(folder) < 0)
			break;
	}
	return 0;
}
