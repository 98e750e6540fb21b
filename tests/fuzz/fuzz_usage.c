// SESSION/reads and a history of any bytes, as terse stats reads them: each line is one or is
// counted as damaged, what is read of one means the same when it is written again, and the sums are
// those of the lines.
//
// Input: the reads, a NUL, the history.

#include "lib/io.h"
#include "supervisor/artifact/usage.h"
#include "supervisor/command/stats.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct store store;

/* A store of its own with two sessions: "s" is read, "again" is written. */
static void make_store(void)
{
	char path[] = "/tmp/terse-fuzz-XXXXXX";
	assert(mkdtemp(path));
	snprintf(store.path, sizeof(store.path), "%s", path);
	store.fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert(store.fd >= 0);
	close(store_open_session(&store, "s", true));
	close(store_open_session(&store, "again", true));
}

static void remove_store(void)
{
	static const char *const sessions[] = {"s", "again"};
	for (size_t i = 0; i < 2; i++) {
		char path[32];
		int dir = store_open_session(&store, sessions[i], false);
		unlinkat(dir, META_HISTORY, 0);
		unlinkat(dir, USAGE_READS, 0);
		close(dir);
		snprintf(path, sizeof(path), "sessions/%s", sessions[i]);
		unlinkat(store.fd, path, AT_REMOVEDIR);
	}
	unlinkat(store.fd, "sessions", AT_REMOVEDIR);
	rmdir(store.path);
}

static void put(const char *session, const char *name, const void *data, size_t len)
{
	int dir = store_open_session(&store, session, false);
	int fd = store_open_file(dir, name, O_WRONLY | O_CREAT | O_TRUNC);
	assert(fd >= 0 && io_write(fd, data, len) == 0);
	close(fd);
	close(dir);
}

/* Lines with a newline that are not empty. */
static uint64_t count_lines(const char *data, size_t len)
{
	uint64_t count = 0;
	const char *newline;
	while (len > 0 && (newline = memchr(data, '\n', len))) {
		count += newline > data;
		len -= (size_t)(newline + 1 - data);
		data = newline + 1;
	}
	return count;
}

struct seen {
	uint64_t runs, reads;
	uint64_t bytes; /* read outside of runs, modulo 2^64 */
	struct usage_read last;
};

static void on_run(void *ctx, const struct usage_run *run)
{
	struct seen *s = ctx;
	struct usage_run again;
	s->runs++;
	assert(run->started_ms > 0 && usage_parse_run(run->line.data, run->line.len, &again));
	assert(again.id == run->id && again.failed == run->failed);
}

static void on_read(void *ctx, const struct usage_read *read)
{
	struct seen *s = ctx;
	assert(id_is_valid(read->id));
	s->reads++;
	s->bytes += read->inside ? 0 : read->bytes;
	s->last = *read;
}

/* What is written of a read is read as the same. */
static void check_again(const struct usage_read *read)
{
	struct seen seen = {0};
	const struct usage_events events = {on_run, on_read, &seen};
	uint64_t damaged = 0;
	put("again", USAGE_READS, "", 0);
	int dir = store_open_session(&store, "again", false);
	assert(usage_append_read(dir, read) == 0);
	close(dir);
	assert(usage_scan(&store, "again", &events, &damaged) == 0);
	assert(seen.reads == 1 && damaged == 0 && strcmp(seen.last.id, read->id) == 0);
	assert(seen.last.bytes == read->bytes && seen.last.tokens == read->tokens);
	assert(seen.last.inside == read->inside && seen.last.at_ms == read->at_ms);
}

/* The sums over what was seen, in groups or not. */
static void check_sums(const struct seen *seen, uint64_t damaged, enum stats_by by)
{
	struct stats stats = {.by = by, .from_ms = INT64_MIN};
	struct buffer out = BUFFER_INIT;
	uint64_t runs = 0;
	assert(stats_add_session(&stats, &store, "s") == 0 && stats.damaged == damaged);
	assert(stats.all.reads == seen->reads && stats.all.runs <= seen->runs);
	assert(stats.all.runs < seen->runs || stats.all.read.bytes == seen->bytes);
	assert(stats.all.followed <= stats.all.kept && stats.all.kept <= seen->runs);
	stats_sort(&stats);
	for (size_t i = 0; i < stats.group_count; i++)
		runs += stats.groups[i].sum.runs;
	assert(by == STATS_BY_NOTHING || runs == stats.all.runs);
	stats_advise(&out, &stats);
	buffer_release(&out);
	stats_release(&stats);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct seen seen = {0};
	const struct usage_events events = {on_run, on_read, &seen};
	const char *reads = (const char *)data, *nul = size ? memchr(reads, '\0', size) : NULL;
	const size_t reads_len = nul ? (size_t)(nul - reads) : size;
	const char *history = nul ? nul + 1 : reads + size;
	const size_t history_len = size - (size_t)(history - reads);
	uint64_t damaged = 0;
	if (!store.path[0]) {
		make_store();
		atexit(remove_store);
	}
	put("s", USAGE_READS, reads, reads_len);
	put("s", META_HISTORY, history, history_len);
	assert(usage_scan(&store, "s", &events, &damaged) == 0);
	assert(seen.runs + seen.reads + damaged ==
	       count_lines(reads, reads_len) + count_lines(history, history_len));
	if (seen.reads > 0 && seen.last.at_ms >= 0)
		check_again(&seen.last);
	check_sums(&seen, damaged, (enum stats_by)(size % 5));
	return 0;
}
