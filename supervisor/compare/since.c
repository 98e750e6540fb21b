// See since.h.

#include "supervisor/compare/since.h"

#include "lib/human.h"
#include "lib/io.h"
#include "supervisor/artifact/earlier.h"
#include "supervisor/artifact/text.h"
#include "supervisor/compare/differ.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Longer texts are not compared at the end of a run: it would take too long. */
#define TEXT_MOST ((uint64_t)16 * 1024 * 1024)

static int since_compare_prints(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

const uint64_t *since_join(uint64_t **prints, size_t *count, const uint64_t *more,
			   size_t more_count)
{
	size_t all = *count + more_count, kept = 0;
	if (more_count == 0)
		return *prints;
	uint64_t *joined = realloc(*prints, all * sizeof(*joined));
	if (!joined)
		return *prints;
	*prints = joined;
	memcpy(joined + *count, more, more_count * sizeof(*more));
	qsort(joined, all, sizeof(*joined), since_compare_prints);
	for (size_t i = 0; i < all; i++) {
		if (kept == 0 || joined[i] != joined[kept - 1])
			joined[kept++] = joined[i];
	}
	*count = kept;
	return joined;
}

static bool since_is_success(const struct meta *m)
{
	return m->state == META_DONE && m->exit_code == 0;
}

/* Both lists are sorted. */
static void since_count(struct wording_since *out, const struct since_run *run,
			const uint64_t *before, size_t count)
{
	const uint64_t *now = run->failures;
	size_t i = 0, k = 0, now_count = since_is_success(run->meta) ? 0 : run->failure_count;
	while (i < now_count || k < count) {
		if (k == count || (i < now_count && now[i] < before[k])) {
			out->new ++;
			i++;
		} else if (i == now_count || before[k] < now[i]) {
			out->gone++;
			k++;
		} else {
			out->same++;
			i++;
			k++;
		}
	}
	out->counted = true;
}

static void since_count_failures(struct wording_since *out, const struct since_run *run, int dir,
				 const struct meta *other)
{
	uint64_t *before = NULL;
	size_t count = 0;
	if (!run->all_failures && !since_is_success(run->meta))
		return;
	if (since_is_success(other) || failures_read(dir, other->id, &before, &count) == 0)
		since_count(out, run, before, count);
	free(before);
}

/* Ends a comparison at the first line that differs. */
static int since_stop(void *ctx, const struct differ_change *change)
{
	(void)ctx;
	(void)change;
	return 1;
}

static bool since_is_same_text(const struct since_run *run, int dir, const struct meta *other,
			       enum artifact_part part)
{
	struct text now, before;
	bool same = false;
	if (artifact_open_text(run->artifact, part, &now) < 0)
		return false;
	if (text_open(&before, dir, other->id, part) == 0) {
		const struct differ d = {.texts = {&before, &now}, .change = since_stop};
		same = now.size <= TEXT_MOST && before.size <= TEXT_MOST && differ_run(&d) == 0;
		text_close(&before);
	}
	text_close(&now);
	return same;
}

static bool since_is_identical(const struct since_run *run, int dir, const struct meta *other)
{
	if (run->meta->err.present != other->err.present)
		return false;
	return since_is_same_text(run, dir, other, ARTIFACT_OUT) &&
	       (!other->err.present || since_is_same_text(run, dir, other, ARTIFACT_ERR));
}

/* The run is the last one from now on. */
static void since_note(const struct since_run *run, const struct store *store, const char *session)
{
	if (!since_is_success(run->meta) && run->all_failures)
		failures_write(artifact_directory(run->artifact), run->meta->id, run->failures,
			       run->failure_count);
	earlier_note(store, session, run->meta);
}

void since_look(struct wording_since *out, const struct since_run *run)
{
	struct store store;
	struct id_found found;
	struct meta other;
	char session[STORE_SESSION_LEN + 1];
	*out = (struct wording_since){.id = ""};
	if (run->history < 0 || store_open_write(&store) < 0)
		return;
	store_session_name(run->meta->session, session);
	if (earlier_look_up(&store, session, run->history, run->meta, false, &found, &other)) {
		int dir = store_open_session(&store, found.session, false);
		snprintf(out->id, sizeof(out->id), "%s", other.id);
		out->exit_code = other.exit_code;
		out->signal = other.signal;
		out->age_ms = clock_real_ms() - other.ended_ms;
		if (dir >= 0) {
			since_count_failures(out, run, dir, &other);
			out->identical = since_is_identical(run, dir, &other);
		}
		io_close(&dir);
		meta_release(&other);
	}
	since_note(run, &store, session);
	store_close(&store);
}
