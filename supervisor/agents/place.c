// See place.h.

#include "supervisor/agents/place.h"

#include "lib/buffer.h"
#include "lib/io.h"
#include "lib/proc.h"
#include "lib/quote.h"
#include "shim/target.h"
#include "supervisor/agents/document.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER   "/.local/lib/terse-launcher"
#define SHELL    "terse-sh"
#define LIBRARY  "libterse-shim.so"
#define BASH_ENV "bash-env"
#define LAUNCHER "terse-launcher"
#define WIRED    "wired"

/* No file of terse's is as large. */
#define PROGRAM_MAX ((size_t)1 << 30)

/* --- terse's own files ----------------------------------------------------------------------- */

/* The first of these that is there, below the directory of the program. */
static void place_look_up(char out[PATH_MAX], const char *folder, const char *const *names,
			  int mode)
{
	char path[PATH_MAX + 64], real[PATH_MAX];
	for (*out = '\0'; *names; names++) {
		snprintf(path, sizeof(path), "%s/%s", folder, *names);
		if (access(path, mode) < 0)
			continue;
		/* Resolve "..", but keep terse-sh as the link it is. */
		if (strncmp(*names, "../", 3) == 0 && realpath(path, real))
			snprintf(out, PATH_MAX, "%s", real);
		else
			snprintf(out, PATH_MAX, "%.*s", PATH_MAX - 1, path);
		return;
	}
}

void place_find(struct place *p)
{
	static const char *const shells[] = {SHELL, NULL};
	static const char *const libraries[] = {LIBRARY, "../lib/terse/" LIBRARY, NULL};
	static const char *const scripts[] = {"../lib/terse/" BASH_ENV, "../shim/" BASH_ENV,
					      BASH_ENV, NULL};
	static const char *const launchers[] = {LAUNCHER, "../lib/terse/" LAUNCHER, NULL};
	char folder[PATH_MAX];
	process_link(0, p->program, sizeof(p->program), "exe");
	snprintf(folder, sizeof(folder), "%s", p->program);
	char *slash = strrchr(folder, '/');
	if (slash)
		*slash = '\0';
	place_look_up(p->shell, folder, shells, X_OK);
	place_look_up(p->library, folder, libraries, R_OK);
	place_look_up(p->bash_env, folder, scripts, R_OK);
	place_look_up(p->launcher, folder, launchers, R_OK);
}

/* --- the launcher's directory ------------------------------------------------------------ */

int place_folder(char out[PATH_MAX])
{
	const char *home = getenv("HOME");
	errno = ENOENT;
	return home && *home == '/' &&
			       (size_t)snprintf(out, PATH_MAX, "%s" FOLDER, home) < PATH_MAX - 64
		       ? 0
		       : -1;
}

/* Sets the path of a file beside the launcher, if terse has such a file itself. */
static void place_set(char out[PATH_MAX], const char *own, const char *folder, const char *name)
{
	if (*own)
		snprintf(out, PATH_MAX, "%.*s/%s", PATH_MAX - 64, folder, name);
}

void place_of_launcher(struct place *p, const struct place *own)
{
	char folder[PATH_MAX];
	*p = *own;
	if (!*own->launcher || !*own->shell || place_folder(folder) < 0)
		return;
	place_set(p->program, own->program, folder, "terse");
	place_set(p->shell, own->shell, folder, SHELL);
	place_set(p->bash_env, own->bash_env, folder, BASH_ENV);
	if (!strpbrk(folder, ": "))
		place_set(p->library, own->library, folder, LIBRARY);
}

void place_wired(struct place *p, const struct place *own)
{
	place_of_launcher(p, own);
	if (access(p->shell, X_OK) < 0)
		*p = *own;
}

/* A file's bytes. */
struct place_file {
	struct buffer text;
	struct stat stat;
};

/* Returns 0, or -1 with errno; EINVAL: it is not a file. `f->text` is to be released in any case.
 */
static int place_read(struct place_file *f, const char *path, int flags)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | flags), status = -1;
	*f = (struct place_file){.text = BUFFER_INIT};
	if (fd < 0)
		return -1;
	if (fstat(fd, &f->stat) == 0) {
		errno = EINVAL;
		if (S_ISREG(f->stat.st_mode))
			status = io_read_all(fd, &f->text, PROGRAM_MAX);
	}
	io_close(&fd);
	return status;
}

/* Writes a file of the directory unless it has this text and mode already. A link in its place is
   replaced: what it leads to is not the launcher's. */
static int place_write(const char *path, const char *text, size_t len, mode_t mode)
{
	struct document d = {.mode = mode};
	struct place_file now;
	bool same = false;
	if (place_read(&now, path, O_NOFOLLOW) == 0) {
		same = (now.stat.st_mode & 07777) == mode && buffer_is(&now.text, text, len);
		d.exists = true;
		d.stat = now.stat;
	} else if (errno == ELOOP ? unlink(path) < 0 : errno != ENOENT) {
		buffer_release(&now.text);
		return -1;
	}
	buffer_release(&now.text);
	snprintf(d.real, sizeof(d.real), "%s", path);
	return same ? 0 : document_write(&d, text, len);
}

/* A link to the launcher under another name. An agent that runs may execute it at any moment. */
static int place_link(const char *path)
{
	char now[sizeof(SHELL) + 1];
	if (readlink(path, now, sizeof(now)) == sizeof(SHELL) - 1 &&
	    memcmp(now, SHELL, sizeof(SHELL) - 1) == 0)
		return 0;
	char temporary[PATH_MAX + 16];
	snprintf(temporary, sizeof(temporary), "%s.%d", path, (int)getpid());
	unlink(temporary);
	if (symlink(SHELL, temporary) < 0)
		return -1;
	if (rename(temporary, path) == 0)
		return 0;
	int error = errno;
	unlink(temporary);
	errno = error;
	return -1;
}

/* Says where terse is; that which runs works. What the launcher noted of others stays. */
static int place_write_target(const char *path, const struct place *own, const char *real)
{
	char text[TARGET_MAX];
	struct document d;
	struct target t;
	struct stat st;
	if (stat(own->program, &st) < 0)
		return -1;
	int status = document_read(&d, path, NULL);
	if (status == 0 && buffer_string(&d.text)) {
		target_read(&t, d.text.data);
		t.program = own->program;
		t.shell = own->shell;
		t.real = real ? real : "";
		t.worked = target_stamp(&st);
		t.said = 0;
		size_t len = target_write(&t, text);
		errno = ENAMETOOLONG;
		status = len ? place_write(path, text, len, 0644) : -1;
	}
	document_release(&d);
	return status;
}

int place_install(const struct place *own, const char *real, char failed[PATH_MAX])
{
	char folder[PATH_MAX];
	if (place_folder(folder) < 0)
		return -1;
	const struct {
		const char *name, *from;
		mode_t mode;
	} copies[] = {
		{LIBRARY, own->library, 0644},
		{BASH_ENV, own->bash_env, 0644},
		{TARGET_UNDO, own->program, 0755},
		{SHELL, own->launcher, 0755},
	};
	static const char *const links[] = {"terse-bash", LAUNCHER, "terse"};
	struct stat st;
	snprintf(failed, PATH_MAX, "%s", folder);
	if (lstat(folder, &st) == 0 && !S_ISDIR(st.st_mode)) {
		errno = ENOTDIR;
		return -1;
	}
	place_set(failed, "x", folder, TARGET_NAME);
	if (place_write_target(failed, own, real) < 0)
		return -1;
	/* Others must not be able to change what the user's agents execute. */
	if (lstat(folder, &st) < 0)
		return -1;
	mode_t others = st.st_mode & (S_IWGRP | S_IWOTH);
	if (others && chmod(folder, st.st_mode & 07777 & ~others) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(copies) / sizeof(*copies); i++) {
		place_set(failed, "x", folder, copies[i].name);
		if (!*copies[i].from)
			continue;
		struct place_file f;
		int status = place_read(&f, copies[i].from, 0);
		if (status == 0)
			status = place_write(failed, f.text.data, f.text.len, copies[i].mode);
		buffer_release(&f.text);
		if (status < 0)
			return -1;
	}
	for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++) {
		place_set(failed, "x", folder, links[i]);
		if (place_link(failed) < 0)
			return -1;
	}
	return 0;
}

/* --- versions ---------------------------------------------------------------------------- */

/* What place_version() looks for; shim/library/entry.c has the same. */
__attribute__((used)) static const char place_mark[] = "terse-version=" TERSE_VERSION;

char *place_version(const char *path, char out[PLACE_VERSION_LEN])
{
	static const char before[] = "terse-version=";
	size_t len = sizeof(before) - 1;
	struct place_file f;
	*out = '\0';
	if (place_read(&f, path, 0) == 0 && buffer_string(&f.text)) {
		const char *end = f.text.data + f.text.len;
		const char *found = memmem(f.text.data, f.text.len, before, len);
		/* A digit follows in the mark, and in nothing else. */
		while (found && !isdigit((unsigned char)found[len]))
			found = memmem(found + 1, (size_t)(end - found) - 1, before, len);
		if (found)
			snprintf(out, PLACE_VERSION_LEN, "%s", found + len);
	}
	buffer_release(&f.text);
	return out;
}

/* --- notes ------------------------------------------------------------------------------- */

void place_note(const char *path, const char *options, const char *project, bool wired)
{
	struct buffer line = BUFFER_INIT, text = BUFFER_INIT;
	char file[PATH_MAX], folder[PATH_MAX];
	struct document d;
	if (place_folder(folder) < 0 || strpbrk(path, "\t\n") || access(folder, F_OK) < 0)
		return;
	buffer_printf(&line, "%s\t", path);
	if (project) {
		buffer_append_string(&line, "cd ");
		quote_append(&line, project);
		buffer_append_string(&line, " && ");
	}
	place_set(file, "x", folder, "terse");
	quote_append(&line, file);
	buffer_printf(&line, " init %s --undo\n", options);
	place_set(file, "x", folder, WIRED);
	if (document_read(&d, file, NULL) == 0 && buffer_check(&line) == 0) {
		/* All lines but this one. */
		for (const char *at = d.text.data, *end = at ? at + d.text.len : NULL, *next;
		     at < end; at = next) {
			next = memchr(at, '\n', (size_t)(end - at));
			next = next ? next + 1 : end;
			if (!buffer_is(&line, at, (size_t)(next - at)))
				buffer_append(&text, at, (size_t)(next - at));
		}
		if (wired)
			buffer_add(&text, &line);
		if (buffer_string(&text) && (text.len || d.exists))
			place_write(file, text.data, text.len, 0600);
	}
	document_release(&d);
	buffer_release(&line);
	buffer_release(&text);
}

enum place_health place_check(const struct place *own, char program[PATH_MAX],
			      char version[PLACE_VERSION_LEN])
{
	char path[PATH_MAX], folder[PATH_MAX];
	struct document d;
	struct target t = {.program = ""};
	*program = *version = '\0';
	if (place_folder(folder) < 0)
		return PLACE_ABSENT;
	place_set(path, "x", folder, SHELL);
	if (access(path, X_OK) < 0)
		return PLACE_ABSENT;
	/* Whether the launcher and what is beside it are those of this terse. */
	const char *const files[][2] = {
		{SHELL, own->launcher}, {LIBRARY, own->library}, {BASH_ENV, own->bash_env}};
	bool same = true;
	for (size_t i = 0; same && i < sizeof(files) / sizeof(*files); i++) {
		struct place_file one, two;
		if (!*files[i][1])
			continue;
		place_set(path, "x", folder, files[i][0]);
		same = place_read(&one, path, 0) == 0;
		same = place_read(&two, files[i][1], 0) == 0 && same &&
		       buffer_is(&one.text, two.text.data, two.text.len);
		buffer_release(&one.text);
		buffer_release(&two.text);
	}
	if (!same) {
		place_set(path, "x", folder, LIBRARY);
		place_version(path, version);
		return PLACE_OLD;
	}
	place_set(path, "x", folder, TARGET_NAME);
	if (document_read(&d, path, NULL) == 0 && buffer_string(&d.text))
		target_read(&t, d.text.data);
	snprintf(program, PATH_MAX, "%s", t.program);
	document_release(&d);
	return strcmp(program, own->program) == 0 ? PLACE_GOOD : PLACE_OTHER;
}
