// terse path ID: where an artifact's text (or raw bytes) is.

#include "supervisor/base/buffer.h"
#include "supervisor/base/io.h"
#include "supervisor/command/command.h"
#include "supervisor/command/verb.h"

#include <errno.h>
#include <unistd.h>

int command_path(struct command_context *c, int argc, char **argv)
{
	const char *session = NULL, *name;
	bool raw = false;
	const struct verb_option table[] = {
		{"--raw", VERB_FLAG, &raw},
		{"--session", VERB_TEXT, &session},
		{NULL, VERB_FLAG, NULL},
	};
	int operands = verb_parse(table, argc, argv, &name, 1);
	if (operands < 0)
		return EXIT_TERSE;
	if (operands == 0) {
		verb_error(argv[0], "which artifact? terse path ID");
		return EXIT_TERSE;
	}

	struct store stores[STORE_MAX];
	struct id_found found;
	struct buffer path = BUFFER_INIT;
	int count, status = 1;
	if (verb_find(c->settings, session, name, stores, &count, &found) < 0)
		verb_not_found(argv[0], name, errno);
	else if (buffer_printf(&path, "%s/sessions/%s/%s.%s", found.store->path, found.session,
			       found.id, raw ? "raw" : "txt") < 0 ||
		 !buffer_string(&path))
		verb_error(argv[0], "%m");
	else if (raw && access(path.data, F_OK) < 0)
		verb_error(argv[0], "%s: its raw bytes were not kept", found.id);
	else if (buffer_append(&path, "\n", 1) < 0 ||
		 io_write(STDOUT_FILENO, path.data, path.len) < 0)
		verb_error(argv[0], "%m");
	else
		status = 0;
	buffer_release(&path);
	while (count > 0)
		store_close(&stores[--count]);
	return status;
}
