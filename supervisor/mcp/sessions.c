// See server.h.

#include "supervisor/mcp/server.h"

#include "lib/active.h"
#include "lib/io.h"
#include "lib/quote.h"
#include "supervisor/process/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- the state of a shell -------------------------------------------------------------------- */

/* Whether a variable concerns one process alone. */
static bool shell_is_private(const char *entry)
{
	static const char *const names[] = {"_", "SHLVL", ACTIVE_NAME, "TERSE"};
	const struct strings list = {.items = (char **)names, .count = 4};
	return environment_lists(&list, entry);
}

/* The variable that is named, or NULL. */
static char *shell_state_find(const struct buffer *s, const char *name)
{
	for (size_t at = 0; at < s->len; at += strlen(s->data + at) + 1) {
		if (environment_is_same(s->data + at, name))
			return s->data + at;
	}
	return NULL;
}

static void shell_state_unset(struct buffer *s, const char *name)
{
	char *at = shell_state_find(s, name), *behind = at ? at + strlen(at) + 1 : NULL;
	if (!at)
		return;
	memmove(at, behind, (size_t)(s->data + s->len - behind));
	s->len -= (size_t)(behind - at);
}

void shell_state_set(struct buffer *s, const char *format, ...)
{
	struct buffer entry = BUFFER_INIT;
	va_list args;
	va_start(args, format);
	buffer_vprintf(&entry, format, args);
	va_end(args);
	if (buffer_string(&entry)) {
		shell_state_unset(s, entry.data);
		buffer_append(s, entry.data, entry.len + 1);
	}
	s->failed |= entry.failed;
	buffer_release(&entry);
}

void shell_state_init(struct buffer *s, const char *directory, char *const *env)
{
	for (; *env; env++) {
		if (!shell_is_private(*env))
			shell_state_set(s, "%s", *env);
	}
	shell_state_set(s, "PWD=%s", directory);
}

/* A string that a shell has left may lack the "=". */
const char *shell_state_value(const struct buffer *s, const char *name)
{
	const char *found = shell_state_find(s, name), *sign = found ? strchr(found, '=') : NULL;
	return sign ? sign + 1 : "";
}

void shell_state_enter(struct buffer *s, const char *directory)
{
	bool at_home = directory[0] == '~' && (!directory[1] || directory[1] == '/');
	const char *home = at_home ? shell_state_value(s, "HOME") : "";
	if (*home)
		shell_state_set(s, "PWD=%s%s", home, directory + 1);
	else if (*directory == '/')
		shell_state_set(s, "PWD=%s", directory);
	else
		shell_state_set(s, "PWD=%s/%s", shell_state_value(s, "PWD"), directory);
}

int shell_state_take(struct buffer *s, const struct buffer *before, const char *left, size_t len)
{
	const struct buffer after = {.data = (char *)left, .len = len};
	struct buffer taken = BUFFER_INIT;
	errno = EPROTO;
	if (len == 0 || left[len - 1] || *shell_state_value(&after, "PWD") != '/')
		return -1;
	buffer_add(&taken, s);
	for (size_t at = 0; at < before->len; at += strlen(before->data + at) + 1) {
		if (!shell_state_find(&after, before->data + at))
			shell_state_unset(&taken, before->data + at);
	}
	for (size_t at = 0; at < len; at += strlen(left + at) + 1) {
		const char *old = shell_state_find(before, left + at);
		if (!shell_is_private(left + at) && (!old || strcmp(old, left + at) != 0))
			shell_state_set(&taken, "%s", left + at);
	}
	/* If a variable is there twice, the last value counts. */
	errno = EPROTO;
	if (buffer_check(&taken) < 0 || *shell_state_value(&taken, "PWD") != '/') {
		buffer_release(&taken);
		return -1;
	}
	buffer_release(s);
	*s = taken;
	return 0;
}

char **shell_strings(const struct buffer *s)
{
	size_t count = 0, from = 0;
	for (size_t i = 0; i < s->len; i++)
		count += !s->data[i];
	char **strings = buffer_check(s) == 0 ? calloc(count + 1, sizeof(*strings)) : NULL;
	for (size_t i = 0; strings && i < count; from += strlen(strings[i++]) + 1)
		strings[i] = s->data + from;
	return strings;
}

char *shell_directory(void)
{
	const char *named = getenv("PWD");
	/* libc takes even a relative PWD unchanged, so it is checked here. */
	return named && *named == '/' ? get_current_dir_name() : getcwd(NULL, 0);
}

/* --- the file -------------------------------------------------------------------------------- */

/* See SHELL_MARK_MAX. "" if the file is not open. */
static void shell_mark(char mark[SHELL_MARK_MAX], int fd)
{
	struct stat st;
	mark[0] = '\0';
	if (fstat(fd, &st) == 0)
		snprintf(mark, SHELL_MARK_MAX, "%jx-%jx", (uintmax_t)st.st_dev,
			 (uintmax_t)st.st_ino);
}

/* bash appends what it exports, and a NUL, to the file (argument 1) if it begins with the mark (2).
   By then the path may lead to another file, or to a pipe. shell_leave_open() closes the brace. */
#define SHELL_EXPORTS                                                                            \
	"[ \"${BASH_VERSION-}\" ] && [ -f %1$s ] && { command read -r _terse && "                \
	"[ \"$_terse\" = %2$s ] && { command export -p && command export -pf && command printf " \
	"'\\0'; } "                                                                              \
	">>/dev/fd/0"

/* A bash that ends with the exports and the directory that it started with writes nothing. If
   anything fails or differs, terse writes the state. */
char *shell_leave_open(int *fd, const char *program)
{
	char mark[SHELL_MARK_MAX], file[64];
	struct buffer trap = BUFFER_INIT, out = BUFFER_INIT;
	*fd = memfd_create("terse-leave", MFD_CLOEXEC);
	shell_mark(mark, *fd);
	size_t len = (size_t)snprintf(file, sizeof(file), "%s\n", mark);
	if (io_write_at(*fd, file, len, 0) < 0)
		return NULL;
	snprintf(file, sizeof(file), "/proc/%d/fd/%d", (int)getpid(), *fd);
	buffer_printf(&trap,
		      "{ set +ax; command trap - DEBUG; command trap '' XFSZ; " SHELL_EXPORTS
		      " && command mapfile -td '' -n 1 _terse_old && command mapfile -td '' -n 1 "
		      "_terse_new && "
		      "[ \"$_terse_old\" = \"${_terse_new-}\" ] && [ . -ef \"$PWD\" ]; } <%1$s; "
		      "} 2>/dev/null || ",
		      file, mark);
	quote_single(&trap, program);
	buffer_printf(&trap, " mcp --leave %s %s 2>/dev/null", file, mark);
	buffer_printf(&out,
		      "{ command trap '' XFSZ; " SHELL_EXPORTS
		      "; } <%1$s; command unset _terse; command trap - XFSZ; } 2>/dev/null; trap ",
		      file, mark);
	quote_single(&out, buffer_string(&trap) ? trap.data : "");
	buffer_append_string(&out, " EXIT");
	out.failed |= trap.failed;
	buffer_release(&trap);
	if (!buffer_string(&out))
		buffer_release(&out);
	return out.data;
}

int shell_leave_main(const char *file, const char *mark, char *const *env)
{
	char found[SHELL_MARK_MAX], *directory = shell_directory();
	struct buffer out = BUFFER_INIT;
	int result = -1, fd = open(file, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
	shell_mark(found, fd);
	/* The server may have closed the file, and another file may have its descriptor now. */
	if (strcmp(found, mark) == 0 && directory) {
		shell_state_init(&out, directory, env);
		if (buffer_check(&out) == 0)
			result = ftruncate(fd, 0) < 0 ? -1 : io_write_at(fd, out.data, out.len, 0);
	}
	buffer_release(&out);
	io_close(&fd);
	free(directory);
	return result < 0;
}

/* --- the sessions ---------------------------------------------------------------------------- */

struct session *sessions_find(struct sessions *s, const char *name)
{
	for (size_t i = 0; i < s->count; i++) {
		if (strcmp(s->items[i].name, name ? name : SESSIONS_DEFAULT) == 0)
			return &s->items[i];
	}
	return NULL;
}

struct session *sessions_begin(struct sessions *s, const char *name, const struct buffer *state)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
	char own[SESSIONS_NAME_MAX + 1] = "";
	/* Skips names that are in use. */
	while (!name && (!*own || sessions_find(s, own)))
		snprintf(own, sizeof(own), "session-%" PRIu64, *own ? ++s->begun : s->begun);
	name = name ? name : own;
	size_t len = strlen(name);
	errno = len == 0 || len > SESSIONS_NAME_MAX || strspn(name, letters) < len ? EINVAL
		: sessions_find(s, name)                                           ? EEXIST
		: s->count >= SESSIONS_MAX                                         ? ENFILE
										   : 0;
	if (errno)
		return NULL;
	struct session *made = &s->items[s->count];
	*made = (struct session){.number = s->begun};
	memcpy(made->name, name, len + 1);
	buffer_add(&made->state, state);
	if (buffer_check(&made->state) < 0) {
		buffer_release(&made->state);
		return NULL;
	}
	s->begun++;
	s->count++;
	return made;
}

/* --- their tools ----------------------------------------------------------------------------- */

int sessions_serve_new(struct server *s, const struct arguments *a, struct buffer *text)
{
	const char *name = argument_text(a, "session"), *cwd = argument_text(a, "cwd");
	struct buffer state = BUFFER_INIT;
	const struct session *made = NULL;
	struct stat st;
	buffer_add(&state, &s->start);
	if (cwd)
		shell_state_enter(&state, cwd);
	const char *path = shell_state_value(&state, "PWD");
	bool there = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
	if (there)
		made = sessions_begin(&s->sessions, name, &state);
	if (made)
		buffer_printf(text, "session %s begins in %s\n", made->name, path);
	else if (!there)
		buffer_printf(text, "cwd: %s: not a directory", path);
	else if (errno == EEXIST)
		buffer_printf(text, "there is a session %s already", name);
	else if (errno == EINVAL)
		buffer_printf(text, "session: must be letters, digits, '.', '_' or '-', %d at most",
			      SESSIONS_NAME_MAX);
	else if (errno == ENFILE)
		buffer_printf(text, "there are %d sessions already; end one", SESSIONS_MAX);
	else
		buffer_append_string(text, strerror(errno));
	buffer_release(&state);
	return made ? 0 : -1;
}

int sessions_serve_end(struct server *s, const struct arguments *a, struct buffer *text)
{
	const char *name = argument_text(a, "session");
	bool is_default = strcmp(name, SESSIONS_DEFAULT) == 0;
	struct sessions *all = &s->sessions;
	struct session *at = sessions_find(all, name);
	if (!at)
		return arguments_refuse(text, "session", "there is none of that name");
	buffer_release(&at->state);
	memmove(at, at + 1, (size_t)(all->items + --all->count - at) * sizeof(*at));
	if (is_default && !sessions_begin(all, name, &s->start))
		return arguments_refuse(text, "session", "%s", strerror(errno));
	buffer_printf(text, is_default ? "session %s begins anew\n" : "session %s has ended\n",
		      name);
	return 0;
}
