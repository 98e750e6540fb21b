// terse snapshot ID [--json]: what is on the screen of a command that runs.

#include "supervisor/base/io.h"
#include "supervisor/command/command.h"
#include "supervisor/command/reach.h"
#include "supervisor/command/verb.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>
#include <unistd.h>

/* The rows down to the last one with something in it. */
static int snapshot_print_text(const struct buffer *json)
{
	json_t *root = json_loadb(json->data, json->len, 0, NULL);
	const json_t *text = json_object_get(root, "text");
	int result = -1;
	if (json_is_string(text)) {
		const char *rows = json_string_value(text);
		size_t len = json_string_length(text);
		while (len > 1 && rows[len - 1] == '\n' && rows[len - 2] == '\n')
			len--;
		if (len == 1 && rows[0] == '\n')
			len = 0;
		result = io_write(STDOUT_FILENO, rows, len);
	} else {
		errno = EPROTO;
	}
	json_decref(root);
	return result;
}

static int snapshot_print_json(struct buffer *json)
{
	if (buffer_append(json, "\n", 1) < 0)
		return -1;
	return io_write(STDOUT_FILENO, json->data, json->len);
}

int command_snapshot(struct command_context *c, int argc, char **argv)
{
	const char *session = NULL, *name;
	bool json = false;
	const struct verb_option table[] = {
		{"--json", VERB_FLAG, &json},
		{"--session", VERB_TEXT, &session},
		{NULL, VERB_FLAG, NULL},
	};
	int count = verb_parse(table, argc, argv, &name, 1);
	if (count < 0)
		return EXIT_TERSE;
	if (count == 0) {
		verb_error(argv[0], "what? terse snapshot ID");
		return EXIT_TERSE;
	}
	struct visit v;
	char id[ID_LEN + 1];
	if (reach_live(c->settings, session, argv[0], name, &v, id) < 0)
		return 1;
	struct buffer reply = BUFFER_INIT;
	int status = 1;
	if (visit_ask(&v, CONTROL_PICTURE, 0, 0, NULL, 0, &reply) < 0)
		reach_failed(argv[0], id, errno);
	else if ((json ? snapshot_print_json(&reply) : snapshot_print_text(&reply)) < 0)
		verb_error(argv[0], "%s: %m", id);
	else
		status = 0;
	buffer_release(&reply);
	visit_close(&v);
	return status;
}
