// See retention.h.

#include "supervisor/artifact/retention.h"

#include "lib/io.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A line has two numbers of up to 20 digits. */
#define TEXT_MAX (SEEN_GAPS * 48)

/* If there is no room, the two oldest become one, which makes no artifact older. */
static void seen_add(struct seen *s, int64_t end_ms, int64_t unseen_ms)
{
	if (s->count == SEEN_GAPS) {
		s->gaps[1].unseen_ms += s->gaps[0].unseen_ms;
		memmove(s->gaps, s->gaps + 1, (SEEN_GAPS - 1) * sizeof(*s->gaps));
		s->count--;
	}
	s->gaps[s->count].end_ms = end_ms;
	s->gaps[s->count++].unseen_ms = unseen_ms;
}

static void seen_parse(struct seen *s, char *text)
{
	char *rest;
	for (char *line = strtok_r(text, "\n", &rest); line && s->count < SEEN_GAPS;
	     line = strtok_r(NULL, "\n", &rest)) {
		char *end;
		int64_t end_ms = strtoll(line, &end, 10), unseen_ms = strtoll(end, NULL, 10);
		if (end_ms > 0 && unseen_ms > 0 && unseen_ms < INT64_MAX / SEEN_GAPS)
			seen_add(s, end_ms, unseen_ms);
	}
}

/* On a full disk the gaps are forgotten. */
static void keep_gaps(const struct seen *s, int fd)
{
	char text[TEXT_MAX];
	size_t len = 0;
	for (int i = 0; i < s->count; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%" PRId64 " %" PRId64 "\n",
					s->gaps[i].end_ms, s->gaps[i].unseen_ms);
	if (io_write_at(fd, text, len, 0) < 0 || ftruncate(fd, (off_t)len) < 0)
		return;
}

void seen_look(struct seen *s, int fd, int64_t now_ms, bool keep)
{
	char text[TEXT_MAX + 1];
	struct stat st;
	s->count = 0;
	if (fd < 0 || fstat(fd, &st) < 0)
		return;
	ssize_t n = io_read_at(fd, text, sizeof(text) - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	seen_parse(s, text);
	int64_t since = now_ms - (int64_t)st.st_mtim.tv_sec * 1000;
	if (since > SEEN_STEP_MS) {
		seen_add(s, now_ms, since - SEEN_STEP_MS);
		if (keep)
			keep_gaps(s, fd);
	}
	const struct timespec now = {.tv_sec = now_ms / 1000}, times[2] = {now, now};
	if (keep)
		futimens(fd, times);
}

int64_t seen_age(const struct seen *s, int64_t now_ms, int64_t age_ms)
{
	int64_t then = now_ms - age_ms;
	for (int i = s->count; i-- > 0;)
		then -= s->gaps[i].end_ms > then ? s->gaps[i].unseen_ms : 0;
	return now_ms - then;
}

/* Adds to the sum. Returns whether it is over the limit. */
static bool retention_is_over(uint64_t *sum, uint64_t more, uint64_t most)
{
	*sum = *sum + more < *sum ? UINT64_MAX : *sum + more;
	return most && *sum > most;
}

static enum retention_why decide_by_time(const struct retention_item *item,
					 const struct retention_session *session,
					 const struct retention_limits *l, int64_t now_ms)
{
	if (item->running)
		return RETENTION_STAYS;
	if (session->ended_ms && now_ms - session->ended_ms >= l->keep_ms)
		return RETENTION_ENDED;
	if (l->max_age_ms && now_ms - item->last_ms > l->max_age_ms)
		return RETENTION_AGE;
	return RETENTION_STAYS;
}

void retention_decide(struct retention_item *items, size_t count,
		      struct retention_session *sessions, const struct retention_limits *l,
		      int64_t now_ms)
{
	uint64_t all_count = 0, all_bytes = 0;
	for (size_t i = 0; i < count; i++) {
		struct retention_session *s = &sessions[items[i].session];
		items[i].why = decide_by_time(&items[i], s, l, now_ms);
		s->count = s->bytes = 0;
	}
	/* Running ones stay in any case, so they are counted first. */
	for (size_t i = 0; i < count; i++) {
		struct retention_session *s = &sessions[items[i].session];
		if (!items[i].running)
			continue;
		s->count++;
		retention_is_over(&s->bytes, items[i].bytes, 0);
		all_count++;
		retention_is_over(&all_bytes, items[i].bytes, 0);
	}
	for (size_t i = count; i-- > 0;) {
		struct retention_item *item = &items[i];
		struct retention_session *s = &sessions[item->session];
		if (item->running || item->why != RETENTION_STAYS)
			continue;
		bool many = retention_is_over(&s->count, 1, l->session_count);
		bool large = retention_is_over(&s->bytes, item->bytes, l->session_bytes);
		if (many || large) {
			item->why = many ? RETENTION_SESSION_COUNT : RETENTION_SESSION_SIZE;
			continue;
		}
		many = retention_is_over(&all_count, 1, l->max_count);
		large = retention_is_over(&all_bytes, item->bytes, l->max_bytes);
		if (many || large)
			item->why = many ? RETENTION_COUNT : RETENTION_SIZE;
	}
}
