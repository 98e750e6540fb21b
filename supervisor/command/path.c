// terse path ID: where an artifact's text (or standard error, or raw bytes) is.

#include "supervisor/base/buffer.h"
#include "supervisor/base/io.h"
#include "supervisor/base/json_member.h"
#include "supervisor/command/command.h"
#include "supervisor/command/verb.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int path_print(const struct verb *v, const char *id, const char *path)
{
	struct buffer out = BUFFER_INIT;
	int result;
	if (v->json)
		result = envelope_begin(&out) < 0 || json_member_string(&out, "artifact", id) < 0 ||
					 json_member_string(&out, "path", path) < 0 ||
					 envelope_end(&out) < 0
				 ? -1
				 : 0;
	else
		result = buffer_printf(&out, "%s\n", path);
	if (result == 0)
		result = io_write(STDOUT_FILENO, out.data, out.len);
	buffer_release(&out);
	return result;
}

int command_path(struct command_context *c, int argc, char **argv)
{
	struct verb v = {.name = argv[0]};
	const char *session = NULL, *name;
	bool raw = false, standard_error = false;
	const struct verb_option table[] = {
		{"--raw", VERB_FLAG, &raw},
		{"--stderr", VERB_FLAG, &standard_error},
		{"--session", VERB_TEXT, &session},
		{"--json", VERB_FLAG, &v.json},
		{NULL, VERB_FLAG, NULL},
	};
	int operands = verb_parse(table, argc, argv, &name, 1);
	if (operands < 0)
		return EXIT_TERSE;
	if (operands == 0 || (raw && standard_error)) {
		verb_fail(&v, ENVELOPE_USAGE, "%s",
			  operands ? "only one of --stderr and --raw"
				   : "which artifact? terse path ID");
		return EXIT_TERSE;
	}

	struct id_found found;
	char path[PATH_MAX], file[ID_LEN + 9];
	enum artifact_part part = raw ? ARTIFACT_RAW : standard_error ? ARTIFACT_ERR : ARTIFACT_OUT;
	static const char *const suffixes[] = {
		[ARTIFACT_OUT] = "txt", [ARTIFACT_ERR] = "err.txt", [ARTIFACT_RAW] = "raw"};
	int dir = verb_find_directory(&v, c->settings, session, name, &found, path);
	if (dir < 0)
		return 1;
	int status = 1;
	size_t len = strlen(path);
	snprintf(file, sizeof(file), "%s.%s", found.id, suffixes[part]);
	snprintf(path + len, sizeof(path) - len, "/%s", file);
	if (!io_is_there(dir, file))
		verb_fail_part(&v, part, dir, found.id);
	else if (path_print(&v, found.id, path) < 0)
		verb_fail(&v, ENVELOPE_UNREADABLE, "%m");
	else
		status = 0;
	io_close(&dir);
	return status;
}
