// See earlier.h.

#include "supervisor/artifact/earlier.h"

#include "lib/buffer.h"
#include "lib/io.h"
#include "lib/json.h"
#include "supervisor/artifact/journal.h"

#include <errno.h>
#include <string.h>

/* How many bytes of a command are compared with a journal line before the metadata are read to
   compare the rest. */
#define WORDS_MOST ((size_t)512)

bool earlier_is_same(const struct meta *a, const struct meta *b)
{
	char *const *x = a->argv, *const *y = b->argv;
	if (!x || !y || !a->cwd || !b->cwd || strcmp(a->cwd, b->cwd) != 0)
		return false;
	while (*x && *y && strcmp(*x, *y) == 0) {
		x++;
		y++;
	}
	return !*x && !*y;
}

/* Opens the run of a journal line if it has the command of `m` and is kept. */
static bool earlier_open(const struct journal_line *line, const struct meta *m,
			 struct earlier_run *run)
{
	*run = (struct earlier_run){.found = line->of, .dir = -1};
	run->dir = store_open_session(line->of.store, line->of.session, false);
	run->is_found = run->dir >= 0 && id_is_kept(run->dir, line->of.id) &&
			meta_read(run->dir, line->of.id, &run->meta) == 0 &&
			earlier_is_same(&run->meta, m);
	if (!run->is_found)
		earlier_run_release(run);
	return run->is_found;
}

int earlier_find(struct store *stores, int count, const char *session, const struct meta *m,
		 long lines, struct earlier_run *last, struct earlier_run *success)
{
	const char *const where[] = {session, NULL};
	struct buffer words = BUFFER_INIT;
	struct earlier_run run;
	int got = 0;
	*last = (struct earlier_run){.dir = -1};
	if (success)
		*success = *last;
	json_add_command(&words, NULL, m->argv, META_LINE, 0);
	size_t len = words.len > WORDS_MOST ? WORDS_MOST : words.len;
	for (int i = 0; i < 2 && got >= 0; i++) {
		struct journal *j = journal_open(stores, count, where[i], JOURNAL_RUN);
		struct journal_line line;
		struct journal_sums sums;
		got = j && buffer_check(&words) == 0 ? 1 : -1;
		for (long left = lines; left > 0 && got == 1; left--) {
			if (last->is_found && (!success || success->is_found))
				break;
			got = journal_next(j, &line);
			if (got != 1 || !*line.of.id || strcmp(line.of.id, m->id) >= 0 ||
			    !memmem(line.text, line.len, words.data, len) ||
			    /* The line alone shows that the run is not wanted, so nothing of the
			       run is opened. */
			    (last->is_found && journal_parse_sums(&line, &sums) &&
			     sums.has_failed) ||
			    !earlier_open(&line, m, &run))
				continue;
			struct earlier_run *to =
				success && !success->is_found && !meta_has_failed(&run.meta)
					? success
					: NULL;
			if (!last->is_found) {
				*last = run;
				if (to)
					earlier_open(&line, m, to);
			} else if (to) {
				*to = run;
			} else {
				earlier_run_release(&run);
			}
		}
		journal_close(j);
	}
	buffer_release(&words);
	return got < 0 ? -1 : 0;
}

void earlier_run_release(struct earlier_run *run)
{
	meta_release(&run->meta);
	io_close(&run->dir);
}
