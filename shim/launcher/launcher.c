// See launcher.h.

#include "shim/launcher/launcher.h"

#include "shim/exec_call.h"
#include "shim/launcher/bare.h"
#include "shim/target.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PROGRAM "TERSE_SHIM_PROGRAM="
#define PRELOAD "TERSE_SHIM_PRELOAD="
#define LOADER  "LD_PRELOAD="

#define ABOVE 64 /* bytes for the name of a file in the directory */

struct launcher {
	char **argv, **envp;
	const char *file;              /* the program's path as it was executed */
	char folder[PATH_MAX + ABOVE]; /* its directory, with a slash ... */
	size_t folder_len;             /* ... and the length of that */
	char text[TARGET_MAX];         /* `target` points into this */
	struct target target;
	const char *reason; /* why terse is not usable */
};

static const char *launcher_variable(const struct launcher *l, const char *name)
{
	size_t len = strlen(name);
	for (char **variable = l->envp; *variable; variable++) {
		if (strncmp(*variable, name, len) == 0)
			return *variable + len;
	}
	return NULL;
}

/* Seconds since 1970. */
static int64_t launcher_now(void)
{
	struct timespec t = {0};
	BARE(clock_gettime, CLOCK_REALTIME, &t, 0, 0);
	return t.tv_sec;
}

/* --- what it knows of terse -------------------------------------------------------------- */

/* Puts the path of a file in the directory into `folder`. */
static const char *launcher_path(struct launcher *l, const char *name)
{
	memcpy(l->folder + l->folder_len, name, strlen(name) + 1);
	return l->folder;
}

/* Reads the start of a file. Returns the number of bytes; 0: none can be read. */
static size_t launcher_load(const char *path, void *data, size_t size)
{
	long fd = BARE(openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	long len = fd < 0 ? 0 : BARE(read, fd, data, size, 0);
	if (fd >= 0)
		BARE(close, fd, 0, 0, 0);
	return len > 0 ? (size_t)len : 0;
}

static void launcher_read_target(struct launcher *l)
{
	long len = BARE(readlinkat, AT_FDCWD, "/proc/self/exe", l->folder, PATH_MAX - 1);
	if (len <= 0 && strlen(l->file) < PATH_MAX) {
		len = (long)strlen(l->file);
		memcpy(l->folder, l->file, (size_t)len);
	}
	while (len > 0 && l->folder[len - 1] != '/')
		len--;
	l->folder_len = len > 0 ? (size_t)len : 0;
	l->text[launcher_load(launcher_path(l, TARGET_NAME), l->text, sizeof(l->text) - 1)] = '\0';
	target_read(&l->target, l->text);
}

/* Replaces the file; false if that fails. */
static bool launcher_write_target(struct launcher *l)
{
	char text[TARGET_MAX], temporary[PATH_MAX + ABOVE], name[ABOVE] = TARGET_NAME ".";
	size_t len = target_write(&l->target, text), at = strlen(name);
	for (long pid = BARE(getpid, 0, 0, 0, 0); pid > 0; pid /= 10)
		name[at++] = (char)('0' + pid % 10);
	memcpy(temporary, launcher_path(l, name), l->folder_len + at + 1);
	long fd = BARE(openat, AT_FDCWD, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0 && fd != -EEXIST)
		return false;
	bool written = fd >= 0 && len > 0 && BARE(write, fd, text, len, 0) == (long)len;
	if (fd >= 0)
		BARE(close, fd, 0, 0, 0);
	written = written &&
		  BARE(renameat, AT_FDCWD, temporary, AT_FDCWD, launcher_path(l, TARGET_NAME)) == 0;
	if (!written)
		BARE(unlinkat, AT_FDCWD, temporary, 0, 0);
	return written;
}

/* --- whether terse works ----------------------------------------------------------------- */

/* Makes this process end when its parent ends. */
static void launcher_end_with(long parent)
{
	BARE(prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0);
	if (BARE(getppid, 0, 0, 0, 0) != parent)
		bare_exit(127);
}

/* Whether the file is as long as its ELF header says: the section table is the last part of the
   file. A truncated program often works until it reaches a missing part. */
static bool launcher_is_whole(const char *program, int64_t size)
{
	Elf64_Ehdr header;
	if (launcher_load(program, &header, sizeof(header)) < sizeof(header) ||
	    strncmp((char *)header.e_ident, ELFMAG, SELFMAG) != 0)
		return true;
	return header.e_shoff + (uint64_t)header.e_shnum * header.e_shentsize <= (uint64_t)size;
}

static long launcher_wait(long pid)
{
	int status = -1;
	while (pid > 0 && BARE(wait4, pid, &status, __WALL, NULL) == -EINTR)
		;
	return status;
}

/* Whether `terse version` works. The launcher's child sends no signal when it ends, and can be
   waited for even where SIGCHLD is ignored. So it does not matter whether the caller ignores or
   blocks SIGCHLD, and none is pending afterwards. execve() would set the child's exit signal back
   to SIGCHLD, so the child executes nothing: it forks, and its own child executes terse. */
static bool launcher_try(const char *program)
{
	unsigned long action[4] = {0}; /* SIG_DFL, in the kernel's format */
	int ends[2];
	long own = BARE(getpid, 0, 0, 0, 0), pid = BARE(clone, 0, 0, 0, 0);
	if (pid != 0)
		return launcher_wait(pid) == 0;
	launcher_end_with(own);
	BARE(rt_sigaction, SIGCHLD, action, NULL, sizeof(*action));
	if (BARE(pipe2, ends, O_CLOEXEC, 0, 0) < 0)
		bare_exit(1);
	own = BARE(getpid, 0, 0, 0, 0);
	pid = BARE(clone, SIGCHLD, 0, 0, 0);
	if (pid == 0) {
		char *argv[] = {(char *)"terse", (char *)"version", NULL}, *envp[] = {NULL};
		struct rlimit none = {0, 0};
		launcher_end_with(own);
		long null = BARE(openat, AT_FDCWD, "/dev/null", O_RDWR, 0);
		BARE(prlimit64, 0, RLIMIT_CORE, &none, 0);
		BARE(dup3, null, STDIN_FILENO, 0, 0);
		BARE(dup3, ends[1], STDOUT_FILENO, 0, 0);
		BARE(dup3, null, STDERR_FILENO, 0, 0);
		BARE(execve, program, argv, envp, 0);
		bare_exit(127);
	}
	BARE(close, ends[1], 0, 0, 0);
	/* poll() reports the end of the pipe when the child has ended. */
	struct pollfd polled = {.fd = ends[0]};
	struct timespec left = {LAUNCHER_TRY_MS / 1000, LAUNCHER_TRY_MS % 1000 * 1000000};
	char text[6];
	bool good = pid > 0 && BARE(ppoll, &polled, 1, &left, NULL) == 1 &&
		    BARE(read, ends[0], text, sizeof(text), 0) == sizeof(text) &&
		    strncmp(text, "terse ", sizeof(text)) == 0;
	if (pid > 0 && !good)
		BARE(kill, pid, SIGKILL, 0, 0);
	bare_exit(launcher_wait(pid) != 0 || !good);
}

static bool launcher_is_usable(struct launcher *l)
{
	struct target *t = &l->target;
	struct stat st;
	l->reason = " is not there";
	if (!*t->program || BARE(newfstatat, AT_FDCWD, t->program, &st, 0) < 0)
		return false;
	struct target_stamp stamp = target_stamp(&st);
	if (target_is_same(&stamp, &t->worked))
		return true;
	l->reason = " does not work";
	int64_t now = launcher_now(), since = now - t->tried;
	if (target_is_same(&stamp, &t->failed) && since >= 0 && since < LAUNCHER_RETRY_S)
		return false;
	bool works = launcher_is_whole(t->program, st.st_size) && launcher_try(t->program);
	t->tried = now;
	if (works)
		t->said = 0;
	*(works ? &t->worked : &t->failed) = stamp;
	launcher_write_target(l);
	return works;
}

/* --- without terse ----------------------------------------------------------------------- */

static void launcher_say(struct launcher *l)
{
	int64_t now = launcher_now(), since = now - l->target.said;
	struct pollfd polled = {.fd = STDERR_FILENO, .events = POLLOUT};
	struct timespec none = {0, 0};
	if (since >= 0 && since < LAUNCHER_SAY_S)
		return;
	/* Writing the line must neither wait nor raise SIGPIPE. */
	if (BARE(ppoll, &polled, 1, &none, NULL) != 1 || polled.revents != POLLOUT)
		return;
	l->target.said = now;
	if (!launcher_write_target(l))
		return;
	const char *const parts[] = {
		"terse: ",
		*l->target.program ? l->target.program : "terse",
		l->reason,
		", so commands run without it (said once a day): install it again, or see what is ",
		"wired: ",
		launcher_path(l, "wired"),
		"\n",
	};
	struct iovec line[sizeof(parts) / sizeof(*parts)];
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		line[i] = (struct iovec){(void *)parts[i], strlen(parts[i])};
	BARE(writev, STDERR_FILENO, line, sizeof(parts) / sizeof(*parts), 0);
}

/* Removes the variables of the preloaded library from the environment and restores LD_PRELOAD. */
static void launcher_restore_environment(const struct launcher *l)
{
	char **to = l->envp;
	bool shimmed = launcher_variable(l, PRELOAD);
	for (char **from = l->envp; *from; from++) {
		bool is_preload = strncmp(*from, PRELOAD, sizeof(PRELOAD) - 1) == 0;
		if (strncmp(*from, PROGRAM, sizeof(PROGRAM) - 1) == 0 ||
		    (shimmed && strncmp(*from, LOADER, sizeof(LOADER) - 1) == 0))
			continue;
		char *variable = *from;
		if (is_preload) {
			variable += sizeof(PRELOAD) - sizeof(LOADER);
			memcpy(variable, LOADER, sizeof(LOADER) - 1);
		}
		*to++ = variable;
	}
	*to = NULL;
}

/* Whether a configured shell can run a string and is not this program. */
static bool launcher_takes(const char *shell)
{
	struct stat own, other;
	const char *name = shell ? shell_call_name(shell) : "";
	if (!shell_call_is_shell(name) || strcmp(name, "fish") == 0 ||
	    BARE(newfstatat, AT_FDCWD, shell, &other, 0) < 0)
		return false;
	return BARE(newfstatat, AT_FDCWD, "/proc/self/exe", &own, 0) < 0 ||
	       own.st_dev != other.st_dev || own.st_ino != other.st_ino;
}

/* Executes a shell as terse-sh would; returns -errno. On the stack, the argument count comes before
   the arguments. That number is not needed now, so its place can take one more argument. */
static long launcher_execute(const struct launcher *l, const char *shell, bool shimmed)
{
	char name[PATH_MAX + 1] = "-", **argv = l->argv;
	const char *given = argv[0];
	bool is_string = shell_is_one_string(argv, launcher_variable(l, SHELL_PREFIX "="));
	if (strlen(shell) >= PATH_MAX)
		return -ENAMETOOLONG;
	memcpy(name + 1, shell, strlen(shell) + 1);
	/* If the caller has passed no arguments at all, argv[1] is the first variable. */
	char *only[] = {name + 1, NULL};
	if (!given)
		return BARE(execve, shell, shimmed ? argv : only, l->envp, 0);
	if (is_string) {
		argv--;
		argv[1] = (char *)"-c";
	}
	argv[0] = shimmed ? (char *)given : name + (*given != '-');
	long error = BARE(execve, shell, argv, l->envp, 0);
	l->argv[0] = (char *)given;
	return error;
}

static _Noreturn void launcher_run_shell(const struct launcher *l)
{
	static const char missing[] = "terse: no shell can be executed\n";
	const char *name = l->argv[0] ? shell_call_name(l->argv[0]) : "";
	bool any = strcmp(*name == '-' ? name + 1 : name, SHELL_NAME_BASH) != 0;
	const char *meant = launcher_variable(l, PROGRAM), *own = launcher_variable(l, "SHELL=");
	const char *const shells[] = {
		meant && *meant ? meant : NULL,
		any && launcher_takes(l->target.real) ? l->target.real : NULL,
		any && launcher_takes(own) ? own : NULL,
		"/bin/bash",
		"/usr/bin/bash",
		"/usr/local/bin/bash",
		"/bin/sh",
	};
	long error = -ENOENT;
	launcher_restore_environment(l);
	for (size_t i = 0; i < sizeof(shells) / sizeof(*shells); i++) {
		long now = shells[i] ? launcher_execute(l, shells[i], i == 0) : -ENOENT;
		if (now != -ENOENT)
			error = now;
	}
	BARE(write, STDERR_FILENO, missing, sizeof(missing) - 1, 0);
	bare_exit(error == -ENOENT ? 127 : 126);
}

/* Runs under the name terse where terse is not usable: undoes the wiring, or answers a hook so that
   the agent decides everything itself. Cursor treats a missing answer as a refusal. */
static _Noreturn void launcher_run_terse(struct launcher *l)
{
	static const char ask[] = "{\"permission\":\"ask\"}\n", missing[] = "terse: not usable\n";
	char input[4096];
	char **argv = l->argv;
	const char *verb = argv[0] && argv[1] ? argv[1] : "";
	for (char **word = argv; strcmp(verb, "init") == 0 && *word; word++) {
		if (strcmp(*word, "--undo") == 0)
			BARE(execve, launcher_path(l, TARGET_UNDO), argv, l->envp, 0);
	}
	if (strcmp(verb, "hook") != 0 || !argv[2] || !argv[3]) {
		BARE(write, STDERR_FILENO, missing, sizeof(missing) - 1, 0);
		bare_exit(127);
	}
	while (BARE(read, STDIN_FILENO, input, sizeof(input), 0) > 0)
		;
	if (strcmp(argv[2], "cursor") == 0 && strcmp(argv[3], "preToolUse") == 0)
		BARE(write, STDOUT_FILENO, ask, sizeof(ask) - 1, 0);
	bare_exit(0);
}

_Noreturn void launcher_main(unsigned long *stack)
{
	/* Not zeroed, so that its unused pages are never touched. */
	struct launcher l;
	l.argv = (char **)(stack + 1);
	l.envp = l.argv + *stack + 1;
	l.file = "";
	char **end = l.envp;
	while (*end)
		end++;
	for (unsigned long *entry = (unsigned long *)(end + 1); *entry != AT_NULL; entry += 2) {
		if (*entry == AT_EXECFN)
			l.file = (const char *)entry[1];
	}
	bool is_terse = strcmp(shell_call_name(l.file), "terse") == 0;
	launcher_read_target(&l);
	if (launcher_is_usable(&l)) {
		BARE(execve, is_terse ? l.target.program : l.target.shell, l.argv, l.envp, 0);
		l.reason = " can't be executed";
	}
	if (is_terse)
		launcher_run_terse(&l);
	launcher_say(&l);
	launcher_run_shell(&l);
}
