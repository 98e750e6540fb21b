// See kin.h.

#include "supervisor/process/kin.h"

#include "shim/process.h"
#include "supervisor/base/io.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How often the lists are read until two readings agree. */
#define READINGS 8

/* Descendants that are looked for: who starts them faster than they are listed has no end. */
#define DESCENDANTS ((size_t)4096)

struct kin_pair {
	pid_t pid, parent;
};

/* Appends all of a file. Returns how much, or -1. */
static ssize_t append_file(struct buffer *out, int dir, const char *path)
{
	size_t before = out->len;
	ssize_t n = -1;
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	do {
		if (buffer_reserve(out, 1024) < 0)
			break;
		n = read(fd, out->data + out->len, out->cap - out->len);
		out->len += n > 0 ? (size_t)n : 0;
	} while (n > 0 || (n < 0 && errno == EINTR));
	close(fd);
	return n < 0 ? -1 : (ssize_t)(out->len - before);
}

/* What the kernel lists of each thread's children, one behind the other. Returns how many lists
   there were. */
static int read_lists(pid_t parent, struct buffer *out)
{
	char path[64];
	int count = 0;
	buffer_clear(out);
	snprintf(path, sizeof(path), "/proc/%d/task", (int)parent);
	DIR *tasks = opendir(path);
	const struct dirent *entry;
	while (tasks && (entry = readdir(tasks))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%.16s/children", entry->d_name);
		count += append_file(out, dirfd(tasks), path) >= 0;
	}
	if (tasks)
		closedir(tasks);
	return count;
}

static bool are_equal(const struct buffer *a, const struct buffer *b)
{
	return a->len == b->len && (a->len == 0 || memcmp(a->data, b->data, a->len) == 0);
}

/* While a list is read, a child that ends makes the kernel skip another; and a thread that ends
   leaves its children to another one. The one that has gone is missing in the next reading, so two
   that agree have skipped nobody. Returns 0, or -1 when this can't be had. */
static int read_steady(pid_t parent, struct buffer *text)
{
	struct buffer again = BUFFER_INIT;
	int result = -1, lists = read_lists(parent, text);
	for (int i = 0; lists > 0 && result < 0 && i < READINGS; i++) {
		lists = read_lists(parent, &again);
		if (are_equal(text, &again))
			result = 0;
		struct buffer other = *text;
		*text = again;
		again = other;
	}
	buffer_release(&again);
	/* Who is gone or hidden has no children; else the kernel keeps no lists. */
	if (lists == 0 && access("/proc/thread-self/children", F_OK) == 0) {
		buffer_clear(text);
		return 0;
	}
	return result;
}

static int take_lists(pid_t parent, struct buffer *out)
{
	struct buffer text = BUFFER_INIT;
	int result = read_steady(parent, &text);
	const char *at = result == 0 ? buffer_string(&text) : NULL;
	char *end;
	for (long pid; at && (pid = strtol(at, &end, 10)) > 0; at = end) {
		const pid_t child = (pid_t)pid;
		if (buffer_append(out, &child, sizeof(child)) < 0)
			result = -1;
	}
	buffer_release(&text);
	return result;
}

static int kin_pass(struct kin *k)
{
	int result = 0;
	DIR *proc = opendir("/proc");
	const struct dirent *entry;
	while (proc && (entry = readdir(proc))) {
		struct process p;
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
		if (pid <= 0 || process_read(pid, &p) < 0)
			continue;
		const struct kin_pair pair = {pid, p.parent};
		if (buffer_append(&k->all, &pair, sizeof(pair)) < 0)
			result = -1;
	}
	if (proc)
		closedir(proc);
	return result;
}

int kin_children(struct kin *k, pid_t parent, struct buffer *out)
{
	int result = 0;
	buffer_clear(out);
	if (!k->passes && take_lists(parent, out) == 0)
		return 0;
	k->passes = true;
	buffer_clear(out);
	if (k->all.len == 0)
		result = kin_pass(k);
	const struct kin_pair *pairs = (const struct kin_pair *)k->all.data;
	for (size_t i = 0; i < k->all.len / sizeof(*pairs); i++) {
		if (pairs[i].parent == parent &&
		    buffer_append(out, &pairs[i].pid, sizeof(pairs[i].pid)) < 0)
			result = -1;
	}
	return result;
}

int kin_descendants(struct kin *k, pid_t parent, struct buffer *out)
{
	struct buffer children = BUFFER_INIT;
	int result = kin_children(k, parent, out);
	for (size_t at = 0; at < out->len && at < DESCENDANTS * sizeof(pid_t);
	     at += sizeof(pid_t)) {
		pid_t pid;
		memcpy(&pid, out->data + at, sizeof(pid));
		if (kin_children(k, pid, &children) < 0 ||
		    buffer_append(out, children.data, children.len) < 0)
			result = -1;
	}
	buffer_release(&children);
	return result;
}

void kin_release(struct kin *k)
{
	buffer_release(&k->all);
}
