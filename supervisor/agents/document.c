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

struct lines {
	const char **start; /* one more than there are: the end of the text */
	size_t count;
};

static int split(struct lines *l, const struct diff_text *t)
{
	const char *at = t->data, *end = t->data + t->len;
	size_t count = (size_t)newline_count(t->data, t->len);
	l->start = calloc(count + 2, sizeof(*l->start));
	if (!l->start)
		return -1;
	for (l->count = 0; at < end; l->count++) {
		const char *next = memchr(at, '\n', (size_t)(end - at));
		l->start[l->count] = at;
		at = next ? next + 1 : end;
	}
	l->start[l->count] = end;
	return 0;
}

static size_t diff_length(const struct lines *l, size_t i)
{
	return (size_t)(l->start[i + 1] - l->start[i]);
}

/* The lines that differ: lost[i] of the first text, added[k] of the second. */
struct marks {
	bool *lost, *added;
};

static int diff_compare(const struct lines *a, const struct lines *b, struct marks *m)
{
	uint64_t *hashes = malloc((a->count + b->count + 1) * sizeof(*hashes));
	if (!hashes)
		return -1;
	for (size_t i = 0; i < a->count; i++)
		hashes[i] = fingerprint_exact(a->start[i], diff_length(a, i));
	for (size_t k = 0; k < b->count; k++)
		hashes[a->count + k] = fingerprint_exact(b->start[k], diff_length(b, k));
	struct align_side lost = {hashes, (uint32_t)a->count, m->lost},
			  added = {hashes + a->count, (uint32_t)b->count, m->added};
	int result = align_mark(&lost, &added);
	free(hashes);
	return result;
}

static void diff_write_line(struct buffer *out, char mark, const struct lines *l, size_t i)
{
	size_t len = diff_length(l, i);
	buffer_append(out, &mark, 1);
	buffer_append(out, l->start[i], len);
	if (len == 0 || l->start[i][len - 1] != '\n')
		buffer_append_string(out, "\n\\ No newline at end of file\n");
}

/* One piece: the lines [i, endi) of the first text and [k, endk) of the second. */
static void write_piece(struct buffer *out, const struct lines *a, const struct lines *b,
			const struct marks *m, const size_t at[4])
{
	size_t i = at[0], endi = at[1], k = at[2], endk = at[3];
	buffer_printf(out, "@@ -%zu,%zu +%zu,%zu @@\n", endi > i ? i + 1 : i, endi - i,
		      endk > k ? k + 1 : k, endk - k);
	while (i < endi || k < endk) {
		if (i < endi && m->lost[i]) {
			diff_write_line(out, '-', a, i++);
		} else if (k < endk && m->added[k]) {
			diff_write_line(out, '+', b, k++);
		} else {
			diff_write_line(out, ' ', a, i++);
			k++;
		}
	}
}

static void diff_write_all(struct buffer *out, const struct lines *a, const struct lines *b,
			   const struct marks *m)
{
	size_t i = 0, k = 0;
	for (;;) {
		while (i < a->count && k < b->count && !m->lost[i] && !m->added[k]) {
			i++;
			k++;
		}
		if ((i >= a->count || !m->lost[i]) && (k >= b->count || !m->added[k]))
			return;
		size_t lead = i < CONTEXT ? i : CONTEXT, same = 0;
		size_t at[4] = {i - lead, 0, k - lead, 0};
		/* Up to where more lines are the same than context around both sides needs. */
		while ((i < a->count || k < b->count) && same <= (size_t)2 * CONTEXT) {
			bool lost = i < a->count && m->lost[i];
			bool added = !lost && k < b->count && m->added[k];
			i += !added;
			k += !lost;
			same = lost || added ? 0 : same + 1;
		}
		size_t back = same > CONTEXT ? same - CONTEXT : 0;
		at[1] = i - back;
		at[3] = k - back;
		write_piece(out, a, b, m, at);
	}
}

static void diff_write_name(struct buffer *out, const char *mark, const char *name)
{
	buffer_append_string(out, mark);
	quote_text(out, name, strlen(name), 0);
	buffer_append(out, "\n", 1);
}

int diff_append(struct buffer *out, const struct diff_text *before, const struct diff_text *after)
{
	struct lines a = {NULL, 0}, b = {NULL, 0};
	struct marks m = {NULL, NULL};
	int status = -1;
	if (before->len == after->len && memcmp(before->data, after->data, after->len) == 0)
		return 0;
	if (split(&a, before) < 0 || split(&b, after) < 0)
		goto out;
	m.lost = calloc(a.count + 1, 1);
	m.added = calloc(b.count + 1, 1);
	if (!m.lost || !m.added || diff_compare(&a, &b, &m) < 0)
		goto out;
	diff_write_name(out, "--- ", before->name);
	diff_write_name(out, "+++ ", after->name);
	diff_write_all(out, &a, &b, &m);
	status = buffer_check(out);
out:
	free(m.lost);
	free(m.added);
	free(a.start);
	free(b.start);
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

/* The path without links, as far as it is there. */
static int resolve(struct document *d, const char *root)
{
	struct stat st;
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
	return 0;
}

static int read_text(struct document *d, int fd)
{
	if (fstat(fd, &d->stat) < 0)
		return -1;
	d->mode = d->stat.st_mode & 07777;
	if (!S_ISREG(d->stat.st_mode))
		return document_refuse(d, EINVAL, "not a file");
	return io_read_all(fd, &d->text, DOCUMENT_MAX);
}

int document_read(struct document *d, const char *path, const char *root)
{
	int fd, status;
	*d = (struct document){.mode = 0600};
	if ((size_t)snprintf(d->path, sizeof(d->path), "%s", path) >= sizeof(d->path))
		return document_refuse(d, ENAMETOOLONG, NULL);
	if (resolve(d, root) < 0)
		return -1;
	fd = open(d->real, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	if (fd < 0)
		return errno == ENOENT ? 0 : -1;
	d->exists = true;
	status = read_text(d, fd);
	io_close(&fd);
	return status;
}

void document_release(struct document *d)
{
	buffer_release(&d->text);
}

static int make_folders(const char *path)
{
	char part[PATH_MAX];
	snprintf(part, sizeof(part), "%s", path);
	for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(part, 0777) < 0 && errno != EEXIST)
			return -1;
		*slash = '/';
	}
	return 0;
}

static bool is_unchanged(const struct document *d)
{
	struct stat now;
	if (stat(d->real, &now) < 0)
		return errno == ENOENT && !d->exists;
	return d->exists && now.st_ino == d->stat.st_ino && now.st_size == d->stat.st_size &&
	       now.st_mtim.tv_sec == d->stat.st_mtim.tv_sec &&
	       now.st_mtim.tv_nsec == d->stat.st_mtim.tv_nsec;
}

static int document_fill(const struct document *d, int fd, const char *text, size_t len)
{
	if (io_write(fd, text, len) < 0)
		return -1;
	/* Only root can keep another owner. */
	if (d->exists && fchown(fd, d->stat.st_uid, d->stat.st_gid) < 0 && geteuid() == 0)
		return -1;
	if (fchmod(fd, d->mode) < 0)
		return -1;
	return fsync(fd);
}

int document_write(const struct document *d, const char *text, size_t len)
{
	char temporary[PATH_MAX + 16];
	int fd, status, error;
	if (make_folders(d->real) < 0)
		return -1;
	snprintf(temporary, sizeof(temporary), "%s.XXXXXX", d->real);
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return -1;
	status = document_fill(d, fd, text, len);
	if (status == 0 && !is_unchanged(d)) {
		errno = EAGAIN;
		status = -1;
	}
	if (status == 0)
		status = rename(temporary, d->real);
	error = errno;
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
