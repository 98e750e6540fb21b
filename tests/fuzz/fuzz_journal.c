// A journal of any bytes: each line is one or is counted as damaged, what is read of one means the
// same when it is written again, and the sums of terse stats are those of the lines.

#include "lib/io.h"
#include "supervisor/artifact/journal.h"
#include "supervisor/command/internal.h"
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
	/* It is another journal, whose lines may be the same. */
	unlinkat(dir, JOURNAL_SUMS, 0);
	close(dir);
}

struct seen {
	uint64_t runs, reads, damaged;
	uint64_t bytes;  /* read outside of runs, modulo 2^64 */
	uint64_t starts; /* the sum of the runs' */
	struct journal_read last;
};

static struct seen look(const char *session)
{
	struct seen s = {0};
	struct journal *j = journal_open(&store, 1, session, JOURNAL_RUN);
	struct meta m;
	assert(j);
	for (; journal_next_run(j, &m) == 1; s.runs++) {
		assert(m.argv && m.session && m.cwd);
		s.starts += (uint64_t)m.started_ms;
	}
	s.damaged = journal_damaged(j);
	journal_close(j);
	j = journal_open(&store, 1, session, JOURNAL_READ);
	assert(j);
	struct journal_line line;
	struct journal_read read;
	while (journal_next(j, &line) == 1) {
		if (!journal_parse_read(&line, &read)) {
			s.damaged++;
			continue;
		}
		s.reads++;
		assert(id_is_valid(read.id));
		s.bytes += read.inside ? 0 : read.bytes;
		s.last = read;
	}
	journal_close(j);
	return s;
}

/* What is written of a read is read as the same. */
static void check_again(const struct journal_read *read)
{
	put("again", "", 0);
	int dir = store_open_session(&store, "again", false);
	assert(journal_add_read(dir, read) == 0);
	close(dir);
	const struct seen seen = look("again");
	assert(seen.reads == 1 && seen.damaged == 0 && strcmp(seen.last.id, read->id) == 0);
	assert(seen.last.bytes == read->bytes && seen.last.tokens == read->tokens);
	assert(seen.last.inside == read->inside && seen.last.at_ms == read->at_ms);
}

/* The sums over what was seen. Of a run's line only the counted members are read, in terse's order:
   other damage is not met, and a line that terse would not write may be damaged only here. */
static void check_sums(const struct seen *seen)
{
	struct stats stats = {.from_ms = INT64_MIN};
	uint64_t runs = 0;
	assert(stats_add_session(&stats, &store, "s") == 0);
	assert(stats.damaged + stats.all.runs <= seen->damaged + seen->runs);
	assert(stats.all.reads == seen->reads);
	assert(stats.all.failed <= stats.all.runs);
	for (size_t i = 0; i < stats.agent_count; i++)
		runs += stats.agents[i].sum.runs;
	assert(runs == stats.all.runs);
	stats_release(&stats);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!store.path[0])
		make_store();
	put("s", data, size);
	const struct seen seen = look("s");
	/* Among all sessions the same. */
	put("again", "", 0);
	const struct seen all = look(NULL);
	assert(all.runs == seen.runs && all.starts == seen.starts && all.reads == seen.reads);
	if (seen.reads > 0)
		check_again(&seen.last);
	check_sums(&seen);
	return 0;
}
