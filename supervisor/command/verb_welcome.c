// terse alone at a terminal: what it is, what ran lately in this directory, how to start.

#include "lib/buffer.h"
#include "lib/human.h"
#include "supervisor/artifact/journal.h"
#include "supervisor/command/paint.h"
#include "supervisor/command/runs.h"
#include "supervisor/command/verb.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Runs that are shown, and how many are looked at for them. */
#define LATELY    3
#define LOOKED_AT 500

/* Columns of a command. */
#define COMMAND_WIDTH ((size_t)48)

static void welcome_add_run(struct buffer *out, bool colour, const struct meta *m)
{
	struct buffer command = BUFFER_INIT;
	char age[HUMAN_LEN], state[24];
	row_add_command(&command, m);
	runs_describe_state(m, state);
	human_age(age, clock_real_ms() - m->started_ms);
	buffer_printf(out, "  %s%-11s%s %7s ago  ", paint_code(colour, runs_paint(m)), state,
		      paint_none(colour), age);
	row_add_cell(out, command.data, command.len, COMMAND_WIDTH);
	buffer_append_string(out, "\n");
	out->failed |= command.failed;
	buffer_release(&command);
}

/* Adds the last runs of this directory. Returns how many. */
static int welcome_add_runs(struct buffer *out, bool colour)
{
	struct store stores[STORE_MAX];
	char here[PATH_MAX];
	int found = 0, count = store_open_all(stores);
	struct journal *j =
		getcwd(here, sizeof(here)) ? journal_open(stores, count, NULL, JOURNAL_RUN) : NULL;
	struct meta m;
	for (int i = 0; j && i < LOOKED_AT && found < LATELY && journal_next_run(j, &m) == 1; i++) {
		if (strcmp(m.cwd, here) != 0)
			continue;
		welcome_add_run(out, colour, &m);
		found++;
	}
	journal_close(j);
	store_close_all(stores, count);
	return found;
}

int command_welcome(void)
{
	struct buffer out = BUFFER_INIT, runs = BUFFER_INIT;
	bool colour = paint_by_default();
	int found = welcome_add_runs(&runs, colour);
	buffer_append_string(
		&out, "terse runs a command and prints what you would have seen of it, in a few "
		      "kilobytes;\nlonger output is kept and can be read piece by piece.\n");
	if (found > 0)
		buffer_append_string(&out, "\nLately here (terse history --all):\n");
	buffer_add(&out, &runs);
	buffer_append_string(&out, "\n  terse make       run a command\n"
				   "  terse init       make your agents run theirs through terse\n"
				   "  terse help       what else there is\n");
	int status = verb_print(NULL, &out);
	buffer_release(&runs);
	return status;
}
