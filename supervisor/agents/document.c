// See document.h.

#include "supervisor/agents/document.h"

#include "lib/buffer.h"
#include "lib/bytes.h"
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

/* Lines in front of the changes and behind them. */
enum { CONTEXT = 3 };

/* How many lines come before the next one that is this line; SIZE_MAX: there is none. */
static size_t lines_before(const char *at, const char *end, const char *line, size_t len)
{
	for (size_t count = 0, one; at < end; at += one, count++) {
		one = line_size(at, (size_t)(end - at));
		if (one == len && memcmp(at, line, len) == 0)
			return count;
	}
	return SIZE_MAX;
}

int diff_append(struct buffer *out, const char *before_path, const struct buffer *before,
		const char *after_path, const struct buffer *after)
{
	const char *const names[] = {before_path ? before_path : "/dev/null",
				     after_path ? after_path : "/dev/null"};
	const char *a = before->data ? before->data : "", *b = after->data ? after->data : "";
	size_t start = 0, rest = 0, counts[2] = {0, 0};
	size_t most = before->len < after->len ? before->len : after->len;
	struct buffer body = BUFFER_INIT;
	/* The equal parts in front and behind are passed, but for some lines. */
	while (start < most && a[start] == b[start])
		start++;
	if (start == before->len && start == after->len)
		return 0;
	while (rest < most - start && a[before->len - rest - 1] == b[after->len - rest - 1])
		rest++;
	for (int lines = 0; start > 0; start--) {
		if (a[start - 1] == '\n' && ++lines > CONTEXT)
			break;
	}
	for (int lines = 0; rest > 0 && lines <= CONTEXT; rest--)
		lines += a[before->len - rest] == '\n';
	const char *a_end = a + before->len - rest, *b_end = b + after->len - rest;
	size_t line = 1 + (size_t)newline_count(a, start);
	/* Line by line; where they differ, on to the nearest line that is in both. */
	for (a += start, b += start; a < a_end || b < b_end;) {
		size_t a_len = line_size(a, (size_t)(a_end - a));
		size_t b_len = line_size(b, (size_t)(b_end - b));
		size_t lost = b < b_end ? lines_before(a, a_end, b, b_len) : 0;
		size_t added = a < a_end ? lines_before(b, b_end, a, a_len) : 0;
		bool same = a < a_end && b < b_end && lost == 0;
		char mark = same ? ' ' : a < a_end && (b == b_end || lost <= added) ? '-' : '+';
		const char *at = mark == '+' ? b : a;
		size_t len = mark == '+' ? b_len : a_len;
		buffer_append(&body, &mark, 1);
		buffer_append(&body, at, len);
		/* It is in front of its end. NOLINTNEXTLINE(clang-analyzer-core.*) */
		if (at[len - 1] != '\n')
			buffer_append_string(&body, "\n\\ No newline at end of file\n");
		a += mark == '+' ? 0 : a_len;
		b += mark == '-' ? 0 : b_len;
		counts[0] += mark != '+';
		counts[1] += mark != '-';
	}
	for (size_t i = 0; i < 2; i++) {
		buffer_append_string(out, i ? "+++ " : "--- ");
		quote_text(out, names[i], strlen(names[i]), 0);
		buffer_append(out, "\n", 1);
	}
	buffer_printf(out, "@@ -%zu,%zu +%zu,%zu @@\n", line - !counts[0], counts[0],
		      line - !counts[1], counts[1]);
	buffer_add(out, &body);
	buffer_release(&body);
	return buffer_check(out);
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
	if (!root || !realpath(root, top))
		return false;
	snprintf(part, sizeof(part), "%s", path);
	while (!realpath(part, real)) {
		char *slash = strrchr(part, '/');
		if (!slash || slash == part)
			return false;
		*slash = '\0';
	}
	size_t len = strlen(top);
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
