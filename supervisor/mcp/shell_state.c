// See shell_state.h.

#include "supervisor/mcp/shell_state.h"

#include "lib/active.h"
#include "lib/buffer.h"
#include "lib/io.h"
#include "lib/quote.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* Variables of one process, or of terse alone. */
static const char *const shell_private[] = {"_", "SHLVL", ACTIVE_NAME, "TERSE"};

static size_t shell_name_len(const char *entry)
{
	const char *equals = strchr(entry, '=');
	return equals ? (size_t)(equals - entry) : strlen(entry);
}

static bool shell_is_private(const char *entry)
{
	size_t len = shell_name_len(entry);
	for (size_t i = 0; i < sizeof(shell_private) / sizeof(*shell_private); i++) {
		if (strlen(shell_private[i]) == len && strncmp(shell_private[i], entry, len) == 0)
			return true;
	}
	return false;
}

/* The place of the variable that `entry` (NAME or NAME=VALUE) names, or s->count. */
static size_t shell_state_find(const struct shell_state *s, const char *entry)
{
	size_t len = shell_name_len(entry), i = 0;
	while (i < s->count &&
	       (strncmp(s->env[i], entry, len) != 0 || shell_name_len(s->env[i]) != len))
		i++;
	return i;
}

/* Keeps the NULL behind the last entry. */
static int shell_state_add(struct shell_state *s, char *entry)
{
	if (s->count + 2 > s->room) {
		size_t room = s->room ? 2 * s->room : 64;
		char **env = realloc(s->env, room * sizeof(*env));
		if (!env)
			return -1;
		s->env = env;
		s->room = room;
	}
	s->env[s->count++] = entry;
	s->env[s->count] = NULL;
	return 0;
}

int shell_state_set(struct shell_state *s, const char *entry)
{
	char *copy = strdup(entry);
	size_t at = copy ? shell_state_find(s, entry) : 0;
	if (!copy)
		return -1;
	if (at < s->count) {
		free(s->env[at]);
		s->env[at] = copy;
		return 0;
	}
	if (shell_state_add(s, copy) == 0)
		return 0;
	free(copy);
	return -1;
}

static void shell_state_unset(struct shell_state *s, const char *name)
{
	size_t at = shell_state_find(s, name);
	if (at == s->count)
		return;
	free(s->env[at]);
	memmove(s->env + at, s->env + at + 1, (s->count - at) * sizeof(*s->env));
	s->count--;
}

int shell_state_init(struct shell_state *s, const char *directory, char *const *env)
{
	*s = (struct shell_state){.directory = strdup(directory)};
	bool good = s->directory && shell_state_add(s, NULL) == 0;
	s->count = 0;
	for (char *const *entry = env; good && *entry; entry++)
		good = shell_is_private(*entry) || shell_state_set(s, *entry) == 0;
	if (good)
		return 0;
	shell_state_release(s);
	errno = ENOMEM;
	return -1;
}

void shell_state_release(struct shell_state *s)
{
	for (size_t i = 0; i < s->count; i++)
		free(s->env[i]);
	free(s->env);
	free(s->directory);
	*s = (struct shell_state){.env = NULL};
}

void shell_state_resolve(const struct shell_state *s, const char *directory, struct buffer *out)
{
	size_t home = shell_state_find(s, "HOME");
	bool at_home = directory[0] == '~' && (!directory[1] || directory[1] == '/');
	if (at_home && home < s->count)
		buffer_printf(out, "%s%s", s->env[home] + strlen("HOME="), directory + 1);
	else if (*directory == '/')
		buffer_append_string(out, directory);
	else
		buffer_printf(out, "%s/%s", s->directory, directory);
}

int shell_state_enter(struct shell_state *s, const char *directory)
{
	struct buffer entry = BUFFER_INIT;
	char *copy = strdup(directory);
	buffer_printf(&entry, "PWD=%s", directory);
	int result = copy && buffer_string(&entry) ? shell_state_set(s, entry.data) : -1;
	buffer_release(&entry);
	if (result < 0) {
		free(copy);
		return -1;
	}
	free(s->directory);
	s->directory = copy;
	return 0;
}

/* --- what was left -------------------------------------------------------------------------- */

/* Whether the text is a list of strings, each with its NUL, with a directory in front. */
static bool shell_is_list(const char *left, size_t len)
{
	return len > 1 && left[0] == '/' && left[len - 1] == '\0';
}

/* Variables that the command had and its shell has no more. */
static void shell_take_unset(struct shell_state *s, const struct shell_state *before,
			     const struct shell_state *after)
{
	for (size_t i = 0; i < before->count; i++) {
		if (shell_state_find(after, before->env[i]) == after->count)
			shell_state_unset(s, before->env[i]);
	}
}

static int shell_take_set(struct shell_state *s, const struct shell_state *before,
			  const struct shell_state *after)
{
	for (size_t i = 0; i < after->count; i++) {
		size_t at = shell_state_find(before, after->env[i]);
		bool same = at < before->count && strcmp(before->env[at], after->env[i]) == 0;
		if (!same && shell_state_set(s, after->env[i]) < 0)
			return -1;
	}
	return 0;
}

int shell_state_take(struct shell_state *s, const struct shell_state *before, const char *left,
		     size_t len)
{
	struct shell_state after = {.env = NULL};
	int result = -1;
	errno = EPROTO;
	if (!shell_is_list(left, len) || shell_state_init(&after, left, (char *[]){NULL}) < 0)
		return -1;
	for (const char *at = left + strlen(left) + 1; at < left + len; at += strlen(at) + 1) {
		if (!shell_is_private(at) && shell_state_set(&after, at) < 0)
			goto out;
	}
	shell_take_unset(s, before, &after);
	if (shell_take_set(s, before, &after) < 0)
		goto out;
	result = strcmp(after.directory, before->directory) == 0
			 ? 0
			 : shell_state_enter(s, after.directory);
out:
	shell_state_release(&after);
	return result;
}

/* --- the file -------------------------------------------------------------------------------- */

int shell_leave_open(struct shell_leave *l)
{
	unsigned long long random[2];
	l->fd = -1;
	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return -1;
	snprintf(l->mark, sizeof(l->mark), "%016llx%016llx", random[0], random[1]);
	l->fd = memfd_create("terse-leave", MFD_CLOEXEC);
	if (l->fd >= 0 && io_write_at(l->fd, l->mark, strlen(l->mark) + 1, 0) < 0)
		io_close(&l->fd);
	return l->fd < 0 ? -1 : 0;
}

char *shell_leave_command(const struct shell_leave *l, const char *program)
{
	struct buffer out = BUFFER_INIT;
	quote_single(&out, program);
	buffer_printf(&out, " mcp --leave /proc/%d/fd/%d %s 2>/dev/null", (int)getpid(), l->fd,
		      l->mark);
	if (!buffer_string(&out))
		buffer_release(&out);
	return out.data;
}

int shell_leave_read(const struct shell_leave *l, char **left, size_t *len)
{
	struct stat st;
	size_t head = strlen(l->mark) + 1;
	if (fstat(l->fd, &st) < 0)
		return -1;
	if ((size_t)st.st_size <= head || (size_t)st.st_size - head > SHELL_STATE_MAX) {
		errno = (size_t)st.st_size <= head ? ENODATA : EFBIG;
		return -1;
	}
	*len = (size_t)st.st_size - head;
	*left = malloc(*len);
	if (!*left)
		return -1;
	if (io_read_whole(l->fd, *left, *len, (off_t)head) == 0)
		return 0;
	free(*left);
	return -1;
}

void shell_leave_close(struct shell_leave *l)
{
	io_close(&l->fd);
}

bool shell_find_directory(char out[PATH_MAX])
{
	const char *named = getenv("PWD");
	struct stat here, there;
	if (named && *named == '/' && strlen(named) < PATH_MAX && stat(named, &there) == 0 &&
	    stat(".", &here) == 0 && there.st_dev == here.st_dev && there.st_ino == here.st_ino) {
		snprintf(out, PATH_MAX, "%s", named);
		return true;
	}
	return getcwd(out, PATH_MAX) && out[0] == '/';
}

int shell_leave_main(const char *file, const char *mark, char *const *env)
{
	char directory[PATH_MAX], found[SHELL_MARK_MAX];
	size_t head = strlen(mark) + 1;
	struct buffer out = BUFFER_INIT;
	int result = -1, fd = open(file, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	/* The server may have closed the file and opened another by its number. */
	if (fd < 0 || head > sizeof(found) || io_read_whole(fd, found, head, 0) < 0 ||
	    memcmp(found, mark, head) != 0 || !shell_find_directory(directory))
		goto out;
	buffer_append(&out, directory, strlen(directory) + 1);
	for (; *env; env++)
		buffer_append(&out, *env, strlen(*env) + 1);
	if (buffer_check(&out) == 0)
		result = io_write_at(fd, out.data, out.len, (off_t)head);
out:
	buffer_release(&out);
	io_close(&fd);
	return result < 0;
}
