// See internal.h.

#include "supervisor/command/internal.h"

#include "config/profile.h"
#include "lib/fingerprint.h"
#include "lib/io.h"
#include "lib/json.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int64_t stats_saved(const struct stats_sum *s, int64_t *tokens)
{
	if (tokens)
		*tokens = (int64_t)(s->own.tokens - s->shown.tokens - s->read.tokens);
	return (int64_t)(s->own.bytes - s->shown.bytes - s->read.bytes);
}

/* --- sums ------------------------------------------------------------------------------- */

static void size_add(struct stats_size *to, uint64_t bytes, uint64_t tokens)
{
	to->bytes += bytes;
	to->tokens += tokens;
}

static void sum_add(struct stats_sum *to, const struct stats_sum *more)
{
	to->runs += more->runs;
	to->failed += more->failed;
	to->duration_ms += more->duration_ms;
	to->text += more->text;
	size_add(&to->shown, more->shown.bytes, more->shown.tokens);
	size_add(&to->own, more->own.bytes, more->own.tokens);
	size_add(&to->read, more->read.bytes, more->read.tokens);
	to->reads += more->reads;
}

static void note_first(struct stats *s, int64_t ms)
{
	if (ms && (!s->first_ms || ms < s->first_ms))
		s->first_ms = ms;
}

/* Returns false if the line is damaged. */
static bool stats_add_run(struct stats *s, const struct journal_line *line)
{
	struct journal_sums sums;
	const struct meta_shown *w = &sums.shown;
	if (line->len > META_LINE || !journal_parse_sums(line, &sums))
		return false;
	if (sums.started_ms < s->from_ms || (s->only && strcmp(line->of.id, s->only) != 0))
		return true;
	if (!*s->agent && sums.agent.len > 0) {
		snprintf(s->agent, sizeof(s->agent), "%.*s", (int)sums.agent.len, sums.agent.data);
		if (section_refuse_name(s->agent))
			*s->agent = '\0';
	}
	note_first(s, sums.started_ms);
	if (sums.is_own) {
		size_add(&s->all.read, w->bytes, w->tokens);
		return true;
	}
	s->all.runs++;
	s->all.failed += sums.has_failed;
	s->all.duration_ms += sums.duration_ms;
	s->all.text += w->text;
	size_add(&s->all.shown, w->bytes, w->tokens);
	size_add(&s->all.own, w->own, tokens_scale(w->tokens, w->bytes, w->own));
	return true;
}

static bool stats_add_read(struct stats *s, const struct journal_line *line)
{
	struct journal_read read;
	if (!journal_parse_read(line, &read))
		return false;
	if (read.at_ms < s->from_ms || (s->only && strcmp(read.id, s->only) != 0))
		return true;
	if (!read.inside)
		size_add(&s->all.read, read.bytes, read.tokens);
	s->all.reads++;
	return true;
}

/* --- the sums that were kept --------------------------------------------------------------- */

/* Sums are saved only if they count at least this many new bytes of the journal; fewer bytes are
   read again the next time. */
#define KEPT_LEAST 4096

/* Has to be raised when the sums change their meaning. */
#define KEPT_VERSION 4

struct kept {
	uint64_t check; /* hash of the members that follow */
	uint64_t version;
	uint64_t stamp;         /* of the journal when it was read */
	uint64_t at, len, hash; /* the last line that is counted; len 0: none */
	struct stats_sum sum;
	int64_t first_ms;
	uint64_t damaged, behind; /* damaged lines up to that line; after it */
	char agent[sizeof(((struct stats){0}).agent)];
};

static uint64_t kept_check(const struct kept *k)
{
	return fingerprint_exact((const char *)&k->version,
				 sizeof(*k) - offsetof(struct kept, version));
}

/* Reads the kept sums in a session's directory; they are zeroed if there are no valid ones. Returns
   the stamp of the journal, which differs after each change of the journal. */
static uint64_t kept_read(struct kept *k, int dir)
{
	struct stat st = {.st_size = 0};
	bool is_there = dir >= 0 && fstatat(dir, JOURNAL_FILE, &st, AT_SYMLINK_NOFOLLOW) == 0;
	int fd = is_there ? store_open_file(dir, JOURNAL_SUMS, O_RDONLY) : -1;
	bool holds = fd >= 0 && read(fd, k, sizeof(*k)) == sizeof(*k) &&
		     k->version == KEPT_VERSION && k->check == kept_check(k);
	io_close(&fd);
	if (!holds)
		*k = (struct kept){.len = 0};
	const int64_t facts[] = {(int64_t)st.st_ino, st.st_size, st.st_ctim.tv_sec,
				 st.st_ctim.tv_nsec};
	return fingerprint_exact((const char *)facts, sizeof(facts));
}

/* Writes the sums. `check` shows a reader whether they are only half written. */
static void kept_write(const struct stats *s, struct kept *k, int dir)
{
	int fd = dir < 0 ? -1 : store_open_file(dir, JOURNAL_SUMS, O_WRONLY | O_CREAT);
	k->version = KEPT_VERSION;
	k->sum = s->all;
	k->first_ms = s->first_ms;
	memcpy(k->agent, s->agent, sizeof(k->agent));
	k->check = kept_check(k);
	/* Ignores errors: the lines are counted again the next time. */
	bool lost = fd >= 0 && io_write_at(fd, (const char *)k, sizeof(*k), 0) < 0;
	(void)lost;
	io_close(&fd);
}

/* --- a session ----------------------------------------------------------------------------- */

/* Adds the lines of the journal, newest first, down to the last line of `old`. Notes in `new` the
   newest line. Returns 1 if the last line of `old` was reached, 0 at the start of the journal, or
   -1 with errno. */
static int add_lines(struct stats *s, struct journal *j, struct kept *old, struct kept *new)
{
	struct journal_line line;
	int got;
	while ((errno = 0, got = journal_next(j, &line)) == 1) {
		uint64_t hash = line.at == old->at || !new->len
					? fingerprint_exact(line.text, line.len)
					: 0;
		if (line.at == old->at && line.len == old->len && hash == old->hash)
			break;
		if (!new->len)
			*new = (struct kept){.at = line.at,
					     .len = line.len,
					     .hash = hash,
					     .damaged = journal_damaged(j)};
		bool good = line.kind == JOURNAL_READ ? stats_add_read(s, &line)
						      : stats_add_run(s, &line);
		s->damaged += !good;
	}
	return got;
}

/* Adds the session's sums to those of its agent. Returns 0, or -1 with ENOMEM. */
static int add_to_agent(struct stats *s)
{
	struct stats_agent *a = s->agents, *end = a + s->agent_count;
	while (a < end && strcmp(a->name, s->agent) != 0)
		a++;
	if (a == end) {
		a = array_add(&s->agents, &s->agent_count, &s->agent_room, sizeof(*a));
		if (!a)
			return -1;
		*a = (struct stats_agent){.name = ""};
		memcpy(a->name, s->agent, sizeof(a->name));
	}
	sum_add(&a->sum, &s->all);
	return 0;
}

int stats_add_session(struct stats *s, struct store *store, const char *session)
{
	const struct stats others = *s;
	const bool all = s->from_ms <= 0 && !s->only;
	struct kept old = {.len = 0}, new = {.len = 0};
	int dir = all ? store_open_session(store, session, false) : -1;
	const uint64_t stamp = all ? kept_read(&old, dir) : 0;
	const bool is_same = old.len > 0 && old.stamp == stamp;
	struct journal *j =
		is_same ? NULL : journal_open(store, 1, session, JOURNAL_RUN | JOURNAL_READ);
	int got = is_same ? 1 : -1;
	if (!j && !is_same)
		goto out;
	s->all = (struct stats_sum){.runs = 0};
	s->first_ms = 0;
	s->damaged = 0;
	*s->agent = '\0';
	if (j)
		got = add_lines(s, j, &old, &new);
	s->damaged += j ? journal_damaged(j) : old.behind;
	if (got == 1) {
		sum_add(&s->all, &old.sum);
		note_first(s, old.first_ms);
		s->damaged += old.damaged;
		if (!*s->agent)
			memcpy(s->agent, old.agent, sizeof(s->agent));
	}
	/* The next call will read and count the damaged lines after the last counted line again. */
	new.behind = new.damaged;
	new.damaged = s->damaged - new.behind;
	new.stamp = stamp;
	if (got >= 0 && all && new.len > 0 && new.at - (got ? old.at : 0) >= KEPT_LEAST)
		kept_write(s, &new, dir);
	if (got >= 0 && s->all.runs + s->all.reads > 0 && add_to_agent(s) < 0)
		got = -1;
	sum_add(&s->all, &others.all);
	note_first(s, others.first_ms);
	s->damaged += others.damaged;
out:
	journal_close(j);
	io_close(&dir);
	return got < 0 ? -1 : 0;
}

static void json_add_size(struct buffer *out, const char *key, const struct stats_size *size)
{
	json_begin(out, key, '{');
	json_add_count(out, "bytes", size->bytes);
	json_add_count(out, "tokens_estimated", size->tokens);
	json_end(out, '}');
}

void stats_append_json(struct buffer *out, const struct stats_sum *s)
{
	json_add_count(out, "runs", s->runs);
	json_add_count(out, "failed", s->failed);
	json_add_number(out, "duration_ms", s->duration_ms);
	json_add_count(out, "written_bytes", s->text);
	json_add_size(out, "shown", &s->shown);
	json_add_size(out, "read_back", &s->read);
	json_add_count(out, "reads", s->reads);
	json_add_size(out, "own_cut", &s->own);
	int64_t tokens, bytes = stats_saved(s, &tokens);
	json_begin(out, "saved", '{');
	json_add_number(out, "bytes", bytes);
	json_add_number(out, "tokens_estimated", tokens);
	json_end(out, '}');
}

void stats_release(struct stats *s)
{
	free(s->agents);
}
