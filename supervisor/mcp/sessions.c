// See sessions.h.

#include "supervisor/mcp/sessions.h"

#include "lib/active.h"
#include "lib/buffer.h"
#include "lib/human.h"
#include "lib/io.h"
#include "lib/json.h"
#include "lib/quote.h"
#include "supervisor/mcp/server.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
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

/* --- the sessions ---------------------------------------------------------------------------- */

static bool sessions_is_name(const char *name)
{
	size_t len = strlen(name);
	for (const char *c = name; *c; c++) {
		if (!isalnum((unsigned char)*c) && !strchr("._-", *c))
			return false;
	}
	return len > 0 && len <= SESSIONS_NAME_MAX;
}

int sessions_init(struct sessions *s, const char *directory, char *const *env)
{
	*s = (struct sessions){.items = NULL};
	return sessions_begin(s, SESSIONS_DEFAULT, directory, env) ? 0 : -1;
}

static void sessions_remove(struct sessions *s, struct session *at)
{
	shell_state_release(&at->state);
	memmove(at, at + 1, (size_t)(s->items + s->count - at - 1) * sizeof(*at));
	s->count--;
}

void sessions_release(struct sessions *s)
{
	while (s->count > 0)
		sessions_remove(s, &s->items[s->count - 1]);
	free(s->items);
	*s = (struct sessions){.items = NULL};
}

struct session *sessions_find(const struct sessions *s, const char *name)
{
	for (size_t i = 0; i < s->count; i++) {
		if (strcmp(s->items[i].name, name ? name : SESSIONS_DEFAULT) == 0)
			return &s->items[i];
	}
	return NULL;
}

struct session *sessions_by_number(const struct sessions *s, uint64_t number)
{
	for (size_t i = 0; i < s->count; i++) {
		if (s->items[i].number == number)
			return &s->items[i];
	}
	return NULL;
}

struct session *sessions_begin(struct sessions *s, const char *name, const char *directory,
			       char *const *env)
{
	char own[SESSIONS_NAME_MAX + 1];
	if (!name) {
		/* A name that was chosen earlier is passed over. */
		snprintf(own, sizeof(own), "session-%" PRIu64, s->begun);
		while (sessions_find(s, own))
			snprintf(own, sizeof(own), "session-%" PRIu64, ++s->begun);
		name = own;
	}
	errno = !sessions_is_name(name)    ? EINVAL
		: sessions_find(s, name)   ? EEXIST
		: s->count >= SESSIONS_MAX ? ENFILE
					   : 0;
	struct session *made =
		errno ? NULL : array_add(&s->items, &s->count, &s->room, sizeof(*s->items));
	if (!made)
		return NULL;
	*made = (struct session){.number = s->begun, .begun_ms = clock_monotonic_ms()};
	snprintf(made->name, sizeof(made->name), "%s", name);
	if (shell_state_init(&made->state, directory, env) < 0) {
		s->count--;
		return NULL;
	}
	s->begun++;
	return made;
}

int sessions_end(struct sessions *s, const char *name, const char *directory, char *const *env)
{
	struct session *ended = sessions_find(s, name);
	if (!ended) {
		errno = ENOENT;
		return -1;
	}
	sessions_remove(s, ended);
	if (strcmp(name, SESSIONS_DEFAULT) != 0)
		return 0;
	return sessions_begin(s, SESSIONS_DEFAULT, directory, env) ? 0 : -1;
}

/* --- their tools ----------------------------------------------------------------------------- */

void sessions_serve_new(struct server *s, const struct arguments *a, const struct rpc_message *m)
{
	const char *name = argument_text(a, "session"), *cwd = argument_text(a, "cwd");
	struct buffer text = BUFFER_INIT, directory = BUFFER_INIT;
	const struct session *made = NULL;
	struct stat st;
	shell_state_resolve(&s->start, cwd ? cwd : s->start.directory, &directory);
	const char *path = buffer_string(&directory);
	bool there = path && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
	if (there)
		made = sessions_begin(&s->sessions, name, path, s->start.env);
	if (made)
		buffer_printf(&text, "session %s begins in %s\n", made->name,
			      made->state.directory);
	else if (path && !there)
		buffer_printf(&text, "new_session: cwd: %s: not a directory", path);
	else if (errno == EEXIST)
		buffer_printf(&text, "new_session: there is a session %s already", name);
	else if (errno == EINVAL)
		buffer_printf(&text,
			      "new_session: session: must be letters, digits, '.', '_' or '-', %d "
			      "at most",
			      SESSIONS_NAME_MAX);
	else if (errno == ENFILE)
		buffer_printf(&text, "new_session: there are %d sessions already; end one",
			      SESSIONS_MAX);
	else
		buffer_printf(&text, "new_session: %s", strerror(errno));
	server_answer(s, m->id, &text, !made);
	buffer_release(&text);
	buffer_release(&directory);
}

void sessions_serve_end(struct server *s, const struct arguments *a, const struct rpc_message *m)
{
	const char *name = argument_text(a, "session");
	struct buffer text = BUFFER_INIT;
	bool is_default = strcmp(name, SESSIONS_DEFAULT) == 0;
	int result = sessions_end(&s->sessions, name, s->start.directory, s->start.env);
	if (result < 0)
		buffer_printf(&text, "end_session: session: %s",
			      errno == ENOENT
				      ? "there is none of that name; list_sessions lists all"
				      : strerror(errno));
	else
		buffer_printf(&text,
			      is_default ? "session %s begins anew\n" : "session %s has ended\n",
			      name);
	server_answer(s, m->id, &text, result < 0);
	buffer_release(&text);
}

void sessions_serve_list(struct server *s, const struct arguments *a, const struct rpc_message *m)
{
	struct buffer text = BUFFER_INIT, json = BUFFER_INIT;
	int64_t now_ms = clock_monotonic_ms();
	(void)a;
	json_begin_object(&json, NULL);
	json_begin_array(&json, "sessions");
	for (size_t i = 0; i < s->sessions.count; i++) {
		const struct session *one = &s->sessions.items[i];
		const char *directory = one->state.directory;
		int64_t age_ms = now_ms - one->begun_ms;
		char age[HUMAN_LEN];
		buffer_printf(&text, "%s: ", one->name);
		quote_text(&text, directory, strlen(directory), 0);
		buffer_printf(&text, ", %s command%s, %s old\n", HUMAN_COUNT(one->commands),
			      one->commands == 1 ? "" : "s", human_age(age, age_ms));
		json_begin_object(&json, NULL);
		json_add_string(&json, "session", one->name);
		json_add_string(&json, "cwd", directory);
		json_add_count(&json, "commands", one->commands);
		json_add_number(&json, "age_ms", age_ms);
		json_end_object(&json);
	}
	json_end_array(&json);
	json_end_object(&json);
	if (s->structured)
		server_answer_json(s, m->id, &json, false);
	else
		server_answer(s, m->id, &text, false);
	buffer_release(&text);
	buffer_release(&json);
}
