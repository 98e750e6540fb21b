// See wiring.h.

#include "supervisor/agents/wiring.h"

#include "lib/buffer.h"
#include "lib/proc.h"
#include "lib/quote.h"
#include "shim/target.h"
#include "supervisor/agents/document.h"
#include "supervisor/agents/outline.h"

#include <ctype.h>
#include <errno.h>
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

void place_find(struct place *p)
{
	/* Finds the first of the names that exists below the directory of the program. */
	static const struct {
		size_t member;
		int mode;
		const char *names[3];
	} files[] = {
		{offsetof(struct place, shell), X_OK, {SHELL}},
		{offsetof(struct place, library), R_OK, {LIBRARY, "../lib/terse/" LIBRARY}},
		{offsetof(struct place, bash_env),
		 R_OK,
		 {"../lib/terse/" BASH_ENV, "../shim/" BASH_ENV, BASH_ENV}},
		{offsetof(struct place, launcher), R_OK, {LAUNCHER, "../lib/terse/" LAUNCHER}},
	};
	char path[PATH_MAX + 64], real[PATH_MAX];
	*p = (struct place){.program = ""};
	process_link(0, p->program, sizeof(p->program), "exe");
	const char *slash = strrchr(p->program, '/');
	int folder = slash ? (int)(slash - p->program) : 0;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		char *out = (char *)p + files[i].member;
		for (size_t k = 0; k < 3 && files[i].names[k] && !*out; k++) {
			const char *name = files[i].names[k];
			snprintf(path, sizeof(path), "%.*s/%s", folder, p->program, name);
			if (access(path, files[i].mode) < 0)
				continue;
			/* Resolves "..", but keeps the path of terse-sh even if it is a link. */
			bool resolved = *name == '.' && realpath(path, real);
			snprintf(out, PATH_MAX, "%.*s", PATH_MAX - 1, resolved ? real : path);
		}
	}
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

static void place_name(char out[PATH_MAX], const char *folder, const char *name)
{
	snprintf(out, PATH_MAX, "%.*s/%s", PATH_MAX - 64, folder, name);
}

void place_of_launcher(struct place *p, const struct place *own)
{
	char folder[PATH_MAX];
	*p = *own;
	if (!*own->launcher || !*own->shell || place_folder(folder) < 0)
		return;
	place_name(p->program, folder, "terse");
	place_name(p->shell, folder, SHELL);
	if (*own->bash_env)
		place_name(p->bash_env, folder, BASH_ENV);
	if (*own->library && !strpbrk(folder, ": "))
		place_name(p->library, folder, LIBRARY);
}

void place_wired(struct place *p, const struct place *own)
{
	place_of_launcher(p, own);
	if (access(p->shell, X_OK) < 0)
		*p = *own;
}

/* Writes a file of the directory unless it has this text and mode already. A link of that name is
   replaced, since its target is not the launcher's. */
static int place_write(const char *path, const struct buffer *text, mode_t mode)
{
	struct document d;
	char link[1];
	if (readlink(path, link, sizeof(link)) >= 0 && unlink(path) < 0)
		return -1;
	int status = document_read(&d, path, NULL);
	bool same = d.exists && d.mode == mode && buffer_is(&d.text, text->data, text->len);
	d.mode = mode;
	if (status == 0 && !same)
		status = document_write(&d, text->data, text->len);
	document_release(&d);
	return status;
}

/* Makes a link to the launcher under another name, and renames it into place: a running agent may
   execute it at any moment. */
static int place_link(const char *path)
{
	char temporary[PATH_MAX + 16];
	snprintf(temporary, sizeof(temporary), "%s.%d", path, (int)getpid());
	unlink(temporary);
	if (symlink(SHELL, temporary) == 0 && rename(temporary, path) == 0)
		return 0;
	int error = errno;
	unlink(temporary);
	errno = error;
	return -1;
}

/* Notes where terse is, and that it works, since this process is terse. The launcher's notes about
   other programs stay. */
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
		const struct buffer made = {.data = text, .len = target_write(&t, text)};
		errno = ENAMETOOLONG;
		status = made.len ? place_write(path, &made, 0644) : -1;
	}
	document_release(&d);
	return status;
}

/* The files that are copied to the directory, the launcher last. The copied program may differ from
   the terse that the launcher starts. */
static const struct {
	const char *name;
	size_t member; /* of struct place */
	mode_t mode;
} copies[] = {
	{TARGET_UNDO, offsetof(struct place, program), 0755},
	{LIBRARY, offsetof(struct place, library), 0644},
	{BASH_ENV, offsetof(struct place, bash_env), 0644},
	{SHELL, offsetof(struct place, launcher), 0755},
};

enum { COPIES = sizeof(copies) / sizeof(*copies) };

int place_install(const struct place *own, const char *real, char failed[PATH_MAX])
{
	char folder[PATH_MAX];
	if (place_folder(folder) < 0)
		return -1;
	static const char *const links[] = {"terse-bash", LAUNCHER, "terse"};
	struct stat st;
	snprintf(failed, PATH_MAX, "%s", folder);
	if (lstat(folder, &st) == 0 && !S_ISDIR(st.st_mode)) {
		errno = ENOTDIR;
		return -1;
	}
	place_name(failed, folder, TARGET_NAME);
	if (place_write_target(failed, own, real) < 0)
		return -1;
	/* Only the user may be able to change what the user's agents execute. */
	if (lstat(folder, &st) < 0)
		return -1;
	mode_t others = st.st_mode & (S_IWGRP | S_IWOTH);
	if (others && chmod(folder, st.st_mode & 07777 & ~others) < 0)
		return -1;
	for (size_t i = 0; i < COPIES; i++) {
		const char *from = (const char *)own + copies[i].member;
		place_name(failed, folder, copies[i].name);
		if (!*from)
			continue;
		struct document d;
		int status = document_read(&d, from, NULL);
		if (status == 0)
			status = d.exists ? place_write(failed, &d.text, copies[i].mode) : -1;
		document_release(&d);
		if (status < 0)
			return -1;
	}
	for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++) {
		place_name(failed, folder, links[i]);
		if (place_link(failed) < 0)
			return -1;
	}
	return 0;
}

/* --- versions ---------------------------------------------------------------------------- */

/* The mark that place_version() looks for; shim/library/entry.c has the same. */
__attribute__((used)) static const char place_mark[] = "terse-version=" TERSE_VERSION;

char *place_version(const char *path, char out[PLACE_VERSION_LEN])
{
	static const char before[] = "terse-version=";
	size_t len = sizeof(before) - 1;
	struct document d;
	*out = '\0';
	if (document_read(&d, path, NULL) == 0 && buffer_string(&d.text)) {
		const char *end = d.text.data + d.text.len;
		const char *found = memmem(d.text.data, d.text.len, before, len);
		/* Only the real mark has a digit after it. */
		while (found && !isdigit((unsigned char)found[len]))
			found = memmem(found + 1, (size_t)(end - found) - 1, before, len);
		if (found)
			snprintf(out, PLACE_VERSION_LEN, "%s", found + len);
	}
	document_release(&d);
	return out;
}

/* --- notes ------------------------------------------------------------------------------- */

void place_note(const char *path, const char *options, const char *project, bool wired)
{
	struct buffer line = BUFFER_INIT;
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
	place_name(file, folder, "terse");
	quote_append(&line, file);
	buffer_printf(&line, " init %s --undo\n", options);
	place_name(file, folder, WIRED);
	if (document_read(&d, file, NULL) == 0 && buffer_string(&d.text) &&
	    buffer_check(&line) == 0) {
		const char *at = d.text.data, *found = memmem(at, d.text.len, line.data, line.len);
		if (found && found > at && found[-1] != '\n')
			found = NULL;
		struct splice s = {.from = found ? (size_t)(found - at) : d.text.len};
		s.to = s.from + (found ? line.len : 0);
		if (wired)
			buffer_add(&s.text, &line);
		if (splice_make(&s, &d.text) == 0 && (d.text.len || d.exists))
			place_write(file, &d.text, 0600);
	}
	document_release(&d);
	buffer_release(&line);
}

enum place_health place_check(const struct place *own, char program[PATH_MAX])
{
	char path[PATH_MAX], folder[PATH_MAX];
	struct document d;
	struct target t = {.program = ""};
	*program = '\0';
	if (place_folder(folder) < 0)
		return PLACE_ABSENT;
	place_name(path, folder, SHELL);
	if (access(path, X_OK) < 0)
		return PLACE_ABSENT;
	/* Whether the launcher and the files beside it come from this version of terse. */
	bool same = true;
	for (size_t i = 1; same && i < COPIES; i++) {
		const char *from = (const char *)own + copies[i].member;
		struct document one, two;
		if (!*from)
			continue;
		place_name(path, folder, copies[i].name);
		same = document_read(&one, path, NULL) == 0;
		same = document_read(&two, from, NULL) == 0 && same &&
		       buffer_is(&one.text, two.text.data, two.text.len);
		document_release(&one);
		document_release(&two);
	}
	if (!same)
		return PLACE_OLD;
	place_name(path, folder, TARGET_NAME);
	if (document_read(&d, path, NULL) == 0 && buffer_string(&d.text))
		target_read(&t, d.text.data);
	snprintf(program, PATH_MAX, "%s", t.program);
	document_release(&d);
	return strcmp(program, own->program) == 0 ? PLACE_GOOD : PLACE_OTHER;
}
