// terse archive ID, terse unarchive FILE: a kept run as one file.

#include "lib/human.h"
#include "lib/io.h"
#include "lib/quote.h"
#include "supervisor/artifact/archive.h"
#include "supervisor/command/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct archive_options {
	const char *output;
	bool force;
};

static int archive_run(struct verb_call *c)
{
	struct archive_options o = {.output = NULL};
	char name[ID_LEN + 16];
	struct id_found found;
	struct output out;
	struct buffer line = BUFFER_INIT;
	int status = 1;
	if (verb_parse(c, &o) < 0)
		return EXIT_TERSE;
	int dir = verb_find_directory(c, c->operands[0], &found, NULL);
	if (dir < 0)
		return 1;
	snprintf(name, sizeof(name), "%s.tar.zst", found.id);
	if (!o.output)
		o.output = name;
	if (strcmp(o.output, "-") == 0 && isatty(STDOUT_FILENO)) {
		verb_error(c->verb->name,
			   "standard output is a terminal: give a file with --output");
		goto out;
	}
	if (output_open(&out, o.output, o.force) < 0) {
		verb_error(c->verb->name,
			   errno == EEXIST ? "%s: exists already (--force replaces it)" : "%s: %m",
			   o.output);
		goto out;
	}
	int written = archive_write(dir, found.id, out.fd);
	if (written < 0)
		verb_error(c->verb->name,
			   errno == EBUSY ? "%s: its run is still writing" : "%s: %m", found.id);
	status = output_close(&out, written) < 0;
	if (status && written == 0) {
		verb_error(c->verb->name, "%s: %m", o.output);
	} else if (out.size && !status) {
		quote_text(&line, o.output, strlen(o.output), 0);
		buffer_printf(&line, ": %s\n", HUMAN_SIZE(out.size));
		status = verb_print(c, &line);
	}
out:
	io_close(&dir);
	return status;
}

static const struct verb_option archive_options[] = {
	{"--output", 'o', VERB_TEXT, offsetof(struct archive_options, output), "FILE",
	 "write to this file; -: standard output"},
	{"--force", 0, VERB_FLAG, offsetof(struct archive_options, force), NULL,
	 "replace the file"},
	VERB_LAST_ROW,
	VERB_END_ROW,
};

const struct verb verb_archive = {
	.name = "archive",
	.purpose = "write an artifact to one file",
	.forms = "ID",
	.text = "Writes an artifact with all that belongs to it to one compressed tar file\n"
		"(ID.tar.zst in this directory).\n",
	.options = archive_options,
	.least = 1,
	.run = archive_run,
};

/* --- unarchive --------------------------------------------------------------- */

static int unarchive_run(struct verb_call *c)
{
	int status = 1;
	if (verb_parse(c, NULL) < 0)
		return EXIT_TERSE;
	const char *name = c->operands[0];
	char directory[STORE_SESSION_LEN + 1];
	verb_session_name(c->settings, c->session, directory);
	struct archive_restored r;
	struct store store;
	struct buffer out = BUFFER_INIT;
	int fd =
		strcmp(name, "-") == 0 ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return verb_error("unarchive", "%s: %m", name);
	if (store_open_write(&store) < 0) {
		verb_error("unarchive", "%m");
	} else if (archive_restore(&store, directory, NULL, fd, (uint64_t)c->settings->max_artifact,
				   (uint64_t)c->settings->min_free, &r) == 0) {
		if (r.there)
			buffer_printf(&out, "%s exists already: terse read %s\n", r.id, r.id);
		else
			buffer_printf(&out, "%s restored to session %s; %s %s, %s: terse read %s\n",
				      r.id, directory, HUMAN_COUNT(r.lines),
				      r.lines == 1 ? "line" : "lines", HUMAN_SIZE(r.bytes), r.id);
		status = verb_print(c, &out);
	} else {
		verb_error("unarchive", "%s: %s", name,
			   errno == EBADMSG ? "not an archive of terse, or damaged"
			   : errno == EFBIG ? "larger than [spill] max_artifact (--max-artifact)"
					    : strerror(errno));
	}
	store_close(&store);
	if (fd != STDIN_FILENO)
		io_close(&fd);
	return status;
}

static const struct verb_option unarchive_options[] = {
	VERB_SESSION_ROW("restore it into this session"),
	VERB_END_ROW,
};

const struct verb verb_unarchive = {
	.name = "unarchive",
	.purpose = "restore an artifact from such a file",
	.forms = "FILE",
	.text = "Restores an artifact from such a file (-: standard input) into this session. It\n"
		"keeps its ID.\n",
	.options = unarchive_options,
	.least = 1,
	.run = unarchive_run,
};
