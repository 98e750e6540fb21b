// terse snapshot ID: prints the screen of a running command.

#include "lib/io.h"
#include "lib/json_read.h"
#include "lib/quote.h"
#include "lib/utf8.h"
#include "supervisor/command/internal.h"

#include <errno.h>
#include <jansson.h>

/* Prints the rows of a screen (terminal_picture()) down to the last one that is not blank. Returns
   0, or -1 with errno. */
static int screen_print(const char *rows, size_t len)
{
	struct buffer clean = BUFFER_INIT, shown = BUFFER_INIT;
	while (len > 1 && rows[len - 1] == '\n' && rows[len - 2] == '\n')
		len--;
	utf8_clean(&clean, rows, len == 1 ? 0 : len);
	guard_text(&shown, clean.data, clean.len, GUARD_LINE);
	shown.failed |= clean.failed;
	int result = verb_write(&shown);
	buffer_release(&clean);
	buffer_release(&shown);
	return result;
}

static int snapshot_run(struct verb_call *c)
{
	struct buffer screen = BUFFER_INIT;
	json_t *root = NULL;
	char id[ID_LEN + 1];
	int run, result = -1;
	bool json = false; /* prints the supervisor's JSON, without an envelope */
	if (verb_parse(c, &json) < 0)
		return EXIT_TERSE;
	if (live_run_find(c, c->operands[0], &run, id, false) < 0)
		return 1;
	if (client_ask(run, FRAME_PICTURE, 0, 0, NULL, 0, &screen) < 0) {
		live_run_failed(c, id, errno);
		goto out;
	}
	if (json) {
		buffer_append_string(&screen, "\n");
		result = verb_write(&screen);
	} else if ((root = json_read(screen.data, screen.len, 0, NULL))) {
		const json_t *text = json_object_get(root, "text");
		errno = EPROTO;
		if (json_is_string(text))
			result = screen_print(json_string_value(text), json_string_length(text));
	}
	if (result < 0)
		verb_error(c->verb->name, "%s: %m", id);
out:
	json_decref(root);
	buffer_release(&screen);
	io_close(&run);
	return result < 0;
}

static const struct verb_option snapshot_options[] = {
	{"--json", 0, VERB_FLAG, 0, NULL,
	 "with its size, cursor and title, and whether it is the alternate screen"},
	VERB_LAST_ROW,
	VERB_END_ROW,
};

const struct verb verb_snapshot = {
	.name = "snapshot",
	.purpose = "print the screen of a running command",
	.forms = "ID",
	.text = "Prints the screen of a running command, full-screen programs included. What was\n"
		"run with --record is played by asciinema play $(terse path --cast ID).\n",
	.options = snapshot_options,
	.least = 1,
	.live = true,
	.run = snapshot_run,
};
