// terse resize ID COLSxROWS: another size for the terminal of a command that runs.

#include "supervisor/command/command.h"
#include "supervisor/command/reach.h"
#include "supervisor/command/verb.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

/* "120x40" */
static int parse_size(const char *text, uint32_t *cols, uint32_t *rows)
{
	char *end;
	if (!isdigit((unsigned char)*text))
		return -1;
	unsigned long x = strtoul(text, &end, 10);
	if (*end != 'x' || !isdigit((unsigned char)end[1]))
		return -1;
	unsigned long y = strtoul(end + 1, &end, 10);
	if (*end || x < 2 || x > 1000 || y < 2 || y > 500)
		return -1;
	*cols = (uint32_t)x;
	*rows = (uint32_t)y;
	return 0;
}

int command_resize(struct command_context *c, int argc, char **argv)
{
	const char *session = NULL, *operands[2];
	uint32_t cols, rows;
	const struct verb_option table[] = {
		{"--session", VERB_TEXT, &session},
		{NULL, VERB_FLAG, NULL},
	};
	int count = verb_parse(table, argc, argv, operands, 2);
	if (count < 0)
		return EXIT_TERSE;
	if (count < 2) {
		verb_error(argv[0], "what? terse resize ID 120x40");
		return EXIT_TERSE;
	}
	if (parse_size(operands[1], &cols, &rows) < 0) {
		verb_error(argv[0], "%s: must be columns and rows, 2x2 to 1000x500: 120x40",
			   operands[1]);
		return EXIT_TERSE;
	}
	struct visit v;
	char id[ID_LEN + 1];
	if (reach_live(c->settings, session, argv[0], operands[0], &v, id) < 0)
		return 1;
	int status = visit_ask(&v, CONTROL_RESIZE, cols, rows, NULL, 0, NULL) < 0;
	if (status)
		reach_failed(argv[0], id, errno);
	visit_close(&v);
	return status;
}
