// A journal of any bytes: read from the end and from the beginning, each line is one or is counted
// as damaged, what is read of one means the same when it is written again, and the sums of terse
// stats are those of the lines.

#include "lib/io.h"
#include "supervisor/artifact/journal.h"
#include "supervisor/command/stats.h"
#include "tests/fuzz/fuzz.h"

static struct store store;

/* A store of its own with two sessions: "s" is read, "again" is written. */
static void make_store(void)
{
	snprintf(store.path, sizeof(store.path), "%s", fuzz_home());
	store.fd = open(store.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert(store.fd >= 0);
	close(store_open_session(&store, "s", true));
	close(store_open_session(&store, "again", true));
}

static void put(const char *session, const void *data, size_t len)
{
	int dir = store_open_session(&store, session, false);
	int fd = store_open_file(dir, JOURNAL_FILE, O_WRONLY | O_CREAT | O_TRUNC);
	assert(fd >= 0 && io_write(fd, data, len) == 0);
	close(fd);
	close(dir);
}

struct seen {
	uint64_t runs, reads;
	uint64_t bytes;  /* read outside of runs, modulo 2^64 */
	uint64_t starts; /* the sum of the runs' */
	struct journal_read last;
};

static void on_run(void *ctx, const struct meta *m, const char *line, size_t len)
{
	struct seen *s = ctx;
	assert(line[0] == '{' && line[len - 1] == '}');
	s->runs++;
	s->starts += (uint64_t)m->started_ms;
}

static void on_read(void *ctx, const struct journal_read *read)
{
	struct seen *s = ctx;
	assert(id_is_valid(read->id));
	s->reads++;
	s->bytes += read->inside ? 0 : read->bytes;
	s->last = *read;
}

/* What is written of a read is read as the same. */
static void check_again(const struct journal_read *read)
{
	struct seen seen = {0};
	const struct journal_events events = {on_run, on_read, &seen};
	uint64_t damaged = 0;
	put("again", "", 0);
	int dir = store_open_session(&store, "again", false);
	assert(journal_add_read(dir, read) == 0);
	close(dir);
	assert(journal_scan(&store, "again", &events, &damaged) == 0);
	assert(seen.reads == 1 && damaged == 0 && strcmp(seen.last.id, read->id) == 0);
	assert(seen.last.bytes == read->bytes && seen.last.tokens == read->tokens);
	assert(seen.last.inside == read->inside && seen.last.at_ms == read->at_ms);
}

/* From the end the same runs are found, but for those that are longer than terse writes. */
static void check_backwards(const struct seen *seen, const char *session)
{
	struct journal *j = journal_open(&store, 1, session, JOURNAL_RUN);
	uint64_t runs = 0, starts = 0;
	struct meta m;
	assert(j);
	while (journal_next_run(j, &m) == 1) {
		assert(m.argv && m.session && m.cwd);
		runs++;
		starts += (uint64_t)m.started_ms;
	}
	assert(runs == seen->runs && starts == seen->starts);
	journal_close(j);
}

/* The sums over what was seen, in groups or not. */
static void check_sums(const struct seen *seen, uint64_t damaged, enum stats_by by)
{
	struct stats stats = {.by = by, .from_ms = INT64_MIN};
	uint64_t runs = 0;
	assert(stats_add_session(&stats, &store, "s") == 0 && stats.damaged == damaged);
	assert(stats.all.reads == seen->reads && stats.all.runs <= seen->runs);
	assert(stats.all.runs < seen->runs || stats.all.read.bytes == seen->bytes);
	assert(stats.all.followed <= stats.all.kept && stats.all.kept <= seen->runs);
	for (size_t i = 0; i < stats.group_count; i++)
		runs += stats.groups[i]->sum.runs;
	assert(by == STATS_BY_NOTHING || runs == stats.all.runs);
	stats_release(&stats);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct seen seen = {0};
	const struct journal_events events = {on_run, on_read, &seen};
	uint64_t damaged = 0, longest = 0, len = 0;
	if (!store.path[0])
		make_store();
	put("s", data, size);
	assert(journal_scan(&store, "s", &events, &damaged) == 0);
	for (size_t i = 0; i < size; i++) {
		len = data[i] == '\n' ? 0 : len + 1;
		longest = len > longest ? len : longest;
	}
	/* A last line without a newline is one from the end only. */
	if (len == 0 && longest <= META_LINE) {
		check_backwards(&seen, "s");
		check_backwards(&seen, NULL);
	}
	if (seen.reads > 0)
		check_again(&seen.last);
	check_sums(&seen, damaged, (enum stats_by)(size % 3));
	return 0;
}
