#include "shim/exec_call.h"
#include "shim/library/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SHELL_NAME "terse-sh"

/* --- the dynamic linker's functions ------------------------------------------------------- */

/* Before glibc 2.34, dlsym() and related functions are in libdl, which few programs load. The
   library then reaches them through the functions that libc itself uses to load libraries. A
   missing function is NULL. */
#pragma weak dlsym
#pragma weak dladdr
extern void *__libc_dlopen_mode(const char *name, int mode) __attribute__((weak));
extern void *__libc_dlsym(void *library, const char *name) __attribute__((weak));

/* The flag that glibc itself passes to __libc_dlopen_mode() besides RTLD_NOW. */
#define DLOPEN_INTERNAL 0x80000000

static struct {
	void *(*symbol)(void *library, const char *name);
	int (*address)(const void *address, Dl_info *info);
} linker;

static void linker_find(void)
{
	void *library = NULL, *symbol, *address;
	if (linker.symbol)
		return;
	linker.symbol = dlsym;
	linker.address = dladdr;
	if (!linker.symbol && __libc_dlopen_mode && __libc_dlsym)
		library = __libc_dlopen_mode("libdl.so.2", (int)(RTLD_NOW | DLOPEN_INTERNAL));
	if (!library)
		return;
	symbol = __libc_dlsym(library, "dlsym");
	address = __libc_dlsym(library, "dladdr");
	__builtin_memcpy(&linker.symbol, &symbol, sizeof(symbol));
	__builtin_memcpy(&linker.address, &address, sizeof(address));
}

/* --- the shell ---------------------------------------------------------------------------------
 */

/* The path is copied, since some programs overwrite their initial environment. */
static char shell[PATH_MAX];

/* Every call of a shell or of python goes to terse-sh. */
static bool files;

static void set_shell(const char *directory, size_t len, const char *file)
{
	size_t file_len = strlen(file);
	if (len + file_len >= sizeof(shell))
		return;
	memcpy(shell, directory, len);
	memcpy(shell + len, file, file_len + 1);
}

static __attribute__((constructor)) void self_find(void)
{
	const char *configured = getenv("TERSE_SHIM_SHELL");
	const char *active = getenv("TERSE_ACTIVE"), *all = getenv(SHIM_FILES);
	long supervisor = 0;
	Dl_info info;
	linker_find();
	/* The library does nothing in the session of the live run that TERSE_ACTIVE names
	   (lib/active.h). terse-sh finds out about other sessions. */
	while (active && *active >= '0' && *active <= '9' && supervisor < INT_MAX)
		supervisor = 10 * supervisor + (*active++ - '0');
	if (supervisor > 0 && syscall(SYS_getsid, 0) == supervisor &&
	    (syscall(SYS_kill, supervisor, 0) == 0 || errno == EPERM))
		return;
	files = all && *all;
	if (configured) {
		if (*configured == '/')
			set_shell("", 0, configured);
	} else if (linker.address && linker.address(shell, &info) && info.dli_fname &&
		   *info.dli_fname == '/') {
		const char *name = shell_call_name(info.dli_fname);
		set_shell(info.dli_fname, (size_t)(name - info.dli_fname), SHELL_NAME);
	}
}

const char *self_shell(void)
{
	return *shell ? shell : NULL;
}

static struct next next;

/* A function pointer from an object pointer, as POSIX promises for dlsym(). */
#define FIND(member)                                                   \
	do {                                                           \
		void *found = linker.symbol(RTLD_NEXT, #member);       \
		__builtin_memcpy(&next.member, &found, sizeof(found)); \
	} while (0)

static __attribute__((constructor)) void next_find(void)
{
	linker_find();
	if (!linker.symbol)
		return;
	FIND(execvpe);
	FIND(posix_spawn);
	FIND(posix_spawnp);
#ifdef NEXT_HAS_PIDFD
	FIND(pidfd_spawn);
	FIND(pidfd_spawnp);
#endif
	FIND(system);
	FIND(popen);
	/* Set last: it shows that all others are set. */
	FIND(execve);
}

const struct next *next_functions(void)
{
	if (!next.execve)
		next_find();
	return &next;
}

/* --- the file that a call executes ------------------------------------------------------- */

/* Nothing here is a cancellation point, or has an effect except on errno. */

/* Room for the path of a program that is searched for in PATH. */
enum { PATH_ROOM = 512 };

struct locate_file {
	uint64_t inode;
	uint32_t major, minor;
};

/* Whether `path` is an executable file; identifies it. Uses a system call: before glibc 2.33 stat()
   is not an exported symbol. */
static bool locate_executable(const char *path, struct locate_file *file)
{
	struct statx st;
	if (syscall(SYS_statx, AT_FDCWD, path, 0, STATX_TYPE | STATX_INO, &st) < 0 ||
	    !S_ISREG(st.stx_mode))
		return false;
	*file = (struct locate_file){st.stx_ino, st.stx_dev_major, st.stx_dev_minor};
	/* AT_EACCESS needs faccessat2(), which older container runtimes refuse. */
	return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0 ||
	       (errno == EPERM && syscall(SYS_faccessat, AT_FDCWD, path, X_OK) == 0);
}

/* Whether execve() can run the file: a binary or a script with #!. The answer is yes for a file
   that can be executed but not read. System calls read it, since libc's functions are cancellation
   points. */
static bool locate_has_format(const char *path)
{
	char start[4];
	int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return true;
	ssize_t len = syscall(SYS_read, fd, start, sizeof(start));
	syscall(SYS_close, fd);
	return (len >= 2 && strncmp(start, "#!", 2) == 0) ||
	       (len == 4 && strncmp(start, "\177ELF", 4) == 0);
}

/* Writes to `path` the path at which execvp() finds `file`. Returns false if it finds none, or if a
   path that comes earlier in the search is too long. */
static bool locate_in_path(char path[PATH_ROOM], const char *file)
{
	size_t file_len = strlen(file);
	struct locate_file found;
	/* Without PATH, libc uses a default; the call then stays unchanged. */
	for (const char *entry = getenv("PATH"); entry; entry = *entry ? entry + 1 : NULL) {
		size_t len = strcspn(entry, ":");
		if (len + file_len + 2 > PATH_ROOM)
			return false;
		memcpy(path, entry, len);
		path[len] = '/';
		memcpy(path + len + (len > 0), file, file_len + 1);
		if (locate_executable(path, &found))
			return true;
		entry += len;
	}
	return false;
}

/* How many bytes of the caller's stack all functions here may use together for the arguments of the
   execl() family, the array of the environment and its strings, not counting the path. The smallest
   stack of a thread has 16 KB, of which libc uses some 4. */
#define STACK_MAX 8800

#define PRELOAD "LD_PRELOAD="

/* The names of terse-sh and terse-bash begin with this. */
#define OWN_NAMES "terse-"

/* The two variables of terse-sh, and the NULL. */
enum { OWN_SLOTS = 3 };

/* The call of terse-sh that takes the place of the caller's call. */
struct plan {
	const char *program; /* the shell that the caller meant; NULL: the caller executes terse-sh
				itself */
	const char *preload; /* the value of LD_PRELOAD, or NULL */
	size_t slots;        /* for variables */
	size_t text;         /* bytes for new strings */
};

static const char *value_of(const char *variable, const char *name)
{
	size_t len = strlen(name);
	return strncmp(variable, name, len) == 0 ? variable + len : NULL;
}

/* Reads the environment. False if it has LD_PRELOAD twice, or if the new environment needs more
   than `room` bytes. */
static bool plan_environment(struct plan *p, char *const *envp, size_t room)
{
	p->preload = NULL;
	for (p->slots = OWN_SLOTS; *envp; envp++, p->slots++) {
		const char *preload = value_of(*envp, PRELOAD);
		if (preload && p->preload)
			return false;
		if (preload)
			p->preload = preload;
	}
	p->text = 1;
	if (p->preload)
		p->text += 2 * strlen(p->preload) + sizeof(PRELOAD) + sizeof(SHIM_PRELOAD "=");
	if (p->program)
		p->text += strlen(p->program) + sizeof(SHIM_PROGRAM "=");
	return p->slots * sizeof(*envp) + p->text <= room;
}

/* Writes NAME=VALUE at *text and moves *text past it. Returns the variable. */
static char *put_variable(char **text, const char *name, const char *value)
{
	char *variable = *text;
	*text = stpcpy(stpcpy(variable, name), value) + 1;
	return variable;
}

/* Fills an array of p->slots variables and p->text bytes of new strings. It never writes more, even
   if another thread adds to the environment meanwhile. If the caller executes terse-sh itself, it
   may have set SHIM_PROGRAM, which stays. */
static void plan_write(const struct plan *p, char *const *from, char **envp, char *text)
{
	const size_t lead = sizeof(PRELOAD) - 1;
	for (size_t i = 0; i < p->slots - OWN_SLOTS && from[i]; i++) {
		if ((p->program && value_of(from[i], SHIM_PROGRAM "=")) ||
		    value_of(from[i], SHIM_PRELOAD "="))
			continue;
		if (!p->preload || value_of(from[i], PRELOAD) != p->preload ||
		    !preload_remove(text + lead, p->preload, SELF_NAME)) {
			*envp++ = from[i];
			continue;
		}
		/* Adds LD_PRELOAD without this library, unless that would be empty, and
		   SHIM_PRELOAD with the old value. */
		memcpy(text, PRELOAD, lead);
		if (text[lead]) {
			*envp++ = text;
			text += strlen(text) + 1;
		}
		*envp++ = put_variable(&text, SHIM_PRELOAD "=", p->preload);
	}
	if (p->program)
		*envp++ = put_variable(&text, SHIM_PROGRAM "=", p->program);
	*envp = NULL;
}

/* Makes the call; `direct`: the program is a path, so there is no search. Returns 0 if something
   was started, else what the libc function returns. */
static int call_make(const struct call *c, bool direct)
{
	const struct next *n = next_functions();
	if (c->spawn)
		return (direct ? c->spawn_path : c->spawn)(c->pid, c->program, c->actions,
							   c->attributes, c->argv, c->envp);
	/* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): each libc has a way to find it */
	return (c->search && !direct ? n->execvpe : n->execve)(c->program, c->argv, c->envp);
}

static bool call_is_runner(const char *name)
{
	return files ? shell_call_runs_files(name) : shell_call_is_shell(name);
}

/* Starts terse-sh instead of a shell and returns 0. If it does not return 0, nothing was
   started. */
static __attribute__((noinline)) int run_for_terse(const struct call *call)
{
	char buffer[PATH_ROOM];
	const char *path = call->program;
	struct locate_file program, terse;
	struct plan p;
	if (call->search && shell_call_name(path) == path)
		path = locate_in_path(buffer, path) ? buffer : NULL;
	if (!path || *path != '/' || !locate_executable(path, &program) ||
	    !locate_executable(self_shell(), &terse))
		return -1;
	bool is_terse = memcmp(&program, &terse, sizeof(terse)) == 0;
	if (!is_terse && (!call_is_runner(shell_call_name(path)) ||
			  (!files && !shell_call_script(call->argv)) || !locate_has_format(path)))
		return -1;
	p.program = is_terse ? NULL : path;
	if (!plan_environment(&p, call->envp, STACK_MAX - call->used))
		return -1;
	char *envp[p.slots];
	char text[p.text];
	struct call changed = *call;
	plan_write(&p, call->envp, envp, text);
	changed.program = self_shell();
	changed.envp = envp;
	return call_make(&changed, true);
}

int call_run(const struct call *call)
{
	/* A cheap check, without system calls. */
	bool may_be = self_shell() && call->program && call->argv && call->argv[0] && call->envp &&
		      call->used < STACK_MAX;
	const char *name = may_be ? shell_call_name(call->program) : NULL;
	if (name && (call_is_runner(name) || strncmp(name, OWN_NAMES, strlen(OWN_NAMES)) == 0)) {
		int error = errno, result = run_for_terse(call);
		errno = error;
		if (result == 0)
			return 0;
	}
	return call_make(call, false);
}
