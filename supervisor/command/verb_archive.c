// terse archive ID, terse unarchive FILE.

#include "lib/buffer.h"
#include "lib/human.h"
#include "lib/io.h"
#include "lib/quote.h"
#include "supervisor/artifact/archive.h"
#include "supervisor/command/command.h"
#include "supervisor/command/verb.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_standard(const char *name)
{
	return strcmp(name, "-") == 0;
}

/* Opens the output: a new file, unless `force`. Returns a descriptor, or -1 after saying why
   not. */
static int open_output(const char *verb, const char *name, bool force)
{
	if (is_standard(name)) {
		if (!isatty(STDOUT_FILENO))
			return STDOUT_FILENO;
		verb_error(verb, "standard output is a terminal: give a file with --output");
		return -1;
	}
	int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | (force ? O_TRUNC : O_EXCL),
		      0600);
	if (fd < 0 && errno == EEXIST)
		verb_error(verb, "%s: exists already (--force replaces it)", name);
	else if (fd < 0)
		verb_error(verb, "%s: %m", name);
	return fd;
}

/* Writes only the recording. Returns 0, or -1 after saying why not. */
static int write_cast(const char *verb, const struct id_found *found, int to, int version)
{
	int from = replay_open(verb, found);
	int result = from < 0 ? -1 : replay_write_cast(from, to, version);
	if (from >= 0 && result < 0)
		replay_failed(verb, found->id, errno);
	io_close(&from);
	return result;
}

static int verb_archive_write_all(const char *verb, const struct id_found *found, int dir, int to)
{
	int result = archive_write(dir, found->id, to);
	if (result < 0)
		verb_error(verb, errno == EBUSY ? "%s: its run is still writing" : "%s: %m",
			   found->id);
	return result;
}

static void print_size(const char *path, const char *size)
{
	struct buffer line = BUFFER_INIT;
	quote_text(&line, path, strlen(path), 0);
	buffer_printf(&line, ": %s\n", size);
	fwrite(line.data, 1, line.len, stdout);
	buffer_release(&line);
}

/* `cast`: the version of the asciicast that is wanted, or 0. */
static int write_found(const char *verb, const struct id_found *found, const char *output,
		       bool force, int cast)
{
	char name[ID_LEN + 16], size[HUMAN_LEN];
	struct stat st;
	int status = 1, dir = store_open_session(found->store, found->session, false);
	snprintf(name, sizeof(name), "%s.%s", found->id, cast ? "cast" : "terse.zst");
	if (!output)
		output = name;
	if (dir < 0)
		verb_error(verb, "%s: %m", found->id);
	int fd = dir < 0 ? -1 : open_output(verb, output, force);
	if (fd < 0)
		goto out;
	int written = cast ? write_cast(verb, found, fd, cast)
			   : verb_archive_write_all(verb, found, dir, fd);
	if (written < 0) {
		/* Leave a device alone. */
		if (!is_standard(output) && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
			unlink(output);
	} else {
		status = 0;
		if (!is_standard(output) && fstat(fd, &st) == 0)
			print_size(output, human_size(size, (uint64_t)st.st_size));
	}
	if (fd != STDOUT_FILENO)
		io_close(&fd);
out:
	io_close(&dir);
	return status;
}

int command_archive(struct command_context *c, int argc, char **argv)
{
	const char *session = NULL, *output = NULL, *name;
	bool force = false, cast = false, cast3 = false;
	const struct verb_option table[] = {
		{"--output", VERB_TEXT, &output}, {"-o", VERB_TEXT, &output},
		{"--force", VERB_FLAG, &force},   {"--session", VERB_TEXT, &session},
		{"--cast", VERB_FLAG, &cast},     {"--cast3", VERB_FLAG, &cast3},
		{NULL, VERB_FLAG, NULL},
	};
	if (verb_parse_one(table, argc, argv, &name, "usage: terse archive ID") < 0)
		return EXIT_TERSE;
	struct store stores[STORE_MAX];
	struct id_found found;
	int count, status = 1;
	if (verb_find(c->settings, session, name, stores, &count, &found) < 0)
		verb_not_found(argv[0], name, errno, &found);
	else
		status = write_found(argv[0], &found, output, force, cast3 ? 3 : cast ? 2 : 0);
	store_close_all(stores, count);
	return status;
}

/* --- unarchive --------------------------------------------------------------- */

static int unarchive_print(const char *verb, const char *session, const struct archive_restored *r)
{
	char lines[HUMAN_LEN], size[HUMAN_LEN];
	struct buffer out = BUFFER_INIT;
	if (r->there)
		buffer_printf(&out, "%s exists already: terse read %s\n", r->id, r->id);
	else
		buffer_printf(&out, "%s restored to session %s; %s lines, %s: terse read %s\n",
			      r->id, session, human_count(lines, r->lines),
			      human_size(size, r->bytes), r->id);
	return verb_print(&(struct verb){.name = verb}, &out);
}

int command_unarchive(struct command_context *c, int argc, char **argv)
{
	const char *session = NULL, *name;
	const struct verb_option table[] = {
		{"--session", VERB_TEXT, &session},
		{NULL, VERB_FLAG, NULL},
	};
	int status = 1;
	if (verb_parse_one(table, argc, argv, &name, "usage: terse unarchive FILE") < 0)
		return EXIT_TERSE;
	char directory[STORE_SESSION_LEN + 1];
	verb_session(c->settings, session, directory);
	struct archive_restored restored;
	struct store store;
	int fd = is_standard(name) ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0) {
		verb_error(argv[0], "%s: %m", name);
		return 1;
	}
	if (store_open_write(&store) < 0)
		verb_error(argv[0], "%m");
	else if (archive_restore(&store, directory, fd, c->settings, &restored) == 0)
		status = unarchive_print(argv[0], directory, &restored);
	else if (errno == EBADMSG)
		verb_error(argv[0], "%s: not an archive of terse, or damaged", name);
	else if (errno == EFBIG)
		verb_error(argv[0], "%s: larger than [spill] max_artifact (--max-artifact)", name);
	else
		verb_error(argv[0], "%s: %m", name);
	store_close(&store);
	if (fd != STDIN_FILENO)
		io_close(&fd);
	return status;
}
