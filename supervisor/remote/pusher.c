// See pusher.h.

#include "supervisor/remote/pusher.h"

#include "lib/buffer.h"
#include "lib/human.h"
#include "lib/io.h"
#include "lib/trace.h"
#include "supervisor/remote/catalog.h"
#include "supervisor/remote/packing.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LOCK   "lock"
#define WAITER "waiter"
#define RETRY  "retry"

#define DELAY_MOST_MS ((int64_t)5 * 60 * 1000)
#define STAY_MS       ((int64_t)60 * 60 * 1000)

/* So many failures one after the other: the remote is away, and the rest is not tried. */
#define FAILURES_MOST 3

/* The first pause of `terse push --wait`; each later one is twice as long. */
#define PAUSE_MS 250

#define JOBS_MOST 32

/* `terse push` waits so long for runs that have just ended. */
#define SETTLE_MS 2000

struct job_slot {
	uint64_t id;
	char name[ID_LEN + 1], key[REMOTE_KEY_LEN], file[PATH_MAX];
	char session[STORE_SESSION_LEN + 1];
};

struct pusher_ids {
	uint64_t *ids;
	size_t count, room;
};

struct pusher {
	const struct spool *spool;
	struct remote remote;
	int64_t end_ms;    /* monotonic; 0: none */
	uint64_t failures; /* passes without a success */
	int64_t due_ms;    /* monotonic: when to try again */
	struct pusher_result *result;
	struct transfer transfers[JOBS_MOST];
	struct job_slot slots[JOBS_MOST];
	size_t jobs;
	/* What waits, as it was last listed; the first `at` of it were looked at. */
	struct spool_item *items;
	size_t count, at;
	struct pusher_ids failed; /* in this pass ... */
	struct pusher_ids before; /* ... and in the one before: these come last */
	bool indexes;             /* the remote can list */
	unsigned row;             /* of failures without a success */
};

int64_t pusher_delay(uint64_t failures)
{
	int64_t delay = 1000;
	for (uint64_t i = 1; i < failures && delay < DELAY_MOST_MS; i++)
		delay *= 2;
	return delay < DELAY_MOST_MS ? delay : DELAY_MOST_MS;
}

static bool pusher_ids_have(const struct pusher_ids *list, uint64_t id)
{
	for (size_t i = 0; i < list->count; i++) {
		if (list->ids[i] == id)
			return true;
	}
	return false;
}

static bool pusher_is_busy_with(const struct pusher *p, uint64_t id)
{
	for (size_t i = 0; i < p->jobs; i++) {
		if (p->transfers[i].pid > 0 && p->slots[i].id == id)
			return true;
	}
	return false;
}

static bool pusher_is_late(const struct pusher *p)
{
	return p->end_ms && clock_monotonic_ms() >= p->end_ms;
}

static void pusher_note_failure(struct pusher *p, uint64_t id)
{
	struct pusher_ids *list = &p->failed;
	uint64_t *failed = array_add(&list->ids, &list->count, &list->room, sizeof(id));
	p->row++;
	/* Without memory for it the pass ends. */
	if (failed)
		*failed = id;
	else
		p->row = FAILURES_MOST;
}

static void pusher_begin(struct pusher *p, size_t i, uint64_t id)
{
	struct job_slot *slot = &p->slots[i];
	slot->id = id;
	id_unpack(id, slot->name);
	spool_archive(p->spool, slot->name, slot->file);
	remote_key(slot->name, slot->key);
	const struct remote_object object = {.file = slot->file,
					     .key = slot->key,
					     .id = slot->name,
					     .session = slot->session,
					     .host = p->remote.host};
	if (catalog_session(p->spool, slot->name, slot->session) < 0 ||
	    transfer_start(&p->transfers[i], &p->remote, REMOTE_PUSH, &object, 0) < 0) {
		snprintf(p->result->why, sizeof(p->result->why), "%s", strerror(errno));
		pusher_note_failure(p, id);
	}
}

/* Adds the line for the index. On a full disk the archive, which the remote has, makes room. */
static int pusher_add_line(const struct pusher *p, const struct job_slot *slot)
{
	int result = catalog_add(p->spool, slot->name, clock_real_ms());
	if (result < 0 && (errno == ENOSPC || errno == EDQUOT) && unlink(slot->file) == 0)
		result = catalog_add(p->spool, slot->name, clock_real_ms());
	return result;
}

/* Deals with an upload that is over. */
static void pusher_end(struct pusher *p, size_t i)
{
	char why[TRANSFER_WHY];
	struct job_slot *slot = &p->slots[i];
	bool done = transfer_result(&p->transfers[i], why) == 0;
	if (done && p->indexes && pusher_add_line(p, slot) < 0) {
		/* Nobody would find it: better a second time under the same key. */
		snprintf(why, sizeof(why), "the index: %s", strerror(errno));
		done = false;
	}
	if (done) {
		spool_done(p->spool, slot->name);
		p->result->pushed++;
		p->row = 0;
	} else if (spool_has_archive(p->spool, slot->name)) {
		memcpy(p->result->why, why, sizeof(why));
		pusher_note_failure(p, slot->id);
	}
	TRACE(PROCESS, "pusher: %s %s", slot->name, *why ? why : "pushed");
}

/* Forgets what was listed. */
static void pusher_drop_items(struct pusher *p)
{
	free(p->items);
	p->items = NULL;
	p->count = p->at = 0;
}

/* The next archive in the list, 0 at its end. */
static uint64_t pusher_next_listed(struct pusher *p)
{
	while (p->at < p->count) {
		char name[ID_LEN + 1];
		uint64_t id = p->items[p->at++].id;
		id_unpack(id, name);
		/* Others may have made room since. */
		if (!pusher_ids_have(&p->failed, id) && !pusher_ids_have(&p->before, id) &&
		    !pusher_is_busy_with(p, id) && spool_has_archive(p->spool, name))
			return id;
	}
	return 0;
}

/* The next archive to push, 0 if there is none. Lists the spool at the end of a list only, for what
   came meanwhile. */
static uint64_t pusher_next(struct pusher *p)
{
	uint64_t id = pusher_next_listed(p);
	if (id)
		return id;
	pusher_drop_items(p);
	if (spool_list(p->spool, &p->items, &p->count) < 0)
		return 0;
	id = pusher_next_listed(p);
	if (id || p->before.count == 0)
		return id;
	p->before.count = 0;
	p->at = 0;
	return pusher_next_listed(p);
}

/* Fills free places. Returns how many uploads go on. */
static size_t pusher_fill(struct pusher *p)
{
	size_t busy = 0;
	bool stops = p->row >= FAILURES_MOST || pusher_is_late(p);
	for (size_t i = 0; i < p->jobs; i++) {
		uint64_t id = p->transfers[i].pid > 0 || stops ? 0 : pusher_next(p);
		if (id)
			pusher_begin(p, i, id);
		else
			stops |= p->transfers[i].pid <= 0;
		busy += p->transfers[i].pid > 0;
	}
	return busy;
}

static size_t pusher_count(const struct pusher *p)
{
	struct spool_item *items;
	size_t count;
	if (spool_list(p->spool, &items, &count) < 0)
		return 1;
	free(items);
	return count;
}

/* Tries each archive once, with what comes meanwhile; the lock is held. Returns how many are
   left. */
static size_t pusher_pass(struct pusher *p)
{
	struct pusher_ids failed = p->failed;
	p->failed = p->before;
	p->before = failed;
	p->failed.count = 0;
	p->row = 0;
	pusher_drop_items(p);
	p->result->why[0] = '\0';
	p->result->unpacked = packing_all(p->spool, p->remote.settings);
	p->result->error = errno;
	while (pusher_fill(p) > 0) {
		transfers_wait(p->transfers, p->jobs, p->end_ms);
		for (size_t i = 0; i < p->jobs; i++) {
			bool was_busy = p->transfers[i].pid > 0;
			if (was_busy && transfer_is_over(&p->transfers[i]))
				pusher_end(p, i);
			else if (was_busy && pusher_is_late(p))
				transfer_cancel(&p->transfers[i]);
		}
	}
	p->result->left = pusher_count(p);
	return p->result->left;
}

/* Whether lines of the index are not in the remote. */
static bool pusher_has_index(const struct pusher *p)
{
	return p->indexes && catalog_is_dirty(p->spool);
}

/* Pushes the index. Returns whether all of it is there. */
static bool pusher_push_index(struct pusher *p)
{
	char why[TRANSFER_WHY] = "";
	bool done = !pusher_has_index(p);
	if (!done && !pusher_is_late(p) && p->row < FAILURES_MOST)
		done = catalog_push(p->spool, &p->remote, clock_real_ms(), p->end_ms, why) == 0;
	if (!*p->result->why)
		memcpy(p->result->why, why, sizeof(why));
	p->result->index_left = !done;
	return done;
}

/* Notes when to try again: in the spool for other processes, and here, since the disk may be
   full. */
static void pusher_note_due(struct pusher *p, uint64_t failures)
{
	int64_t delay = pusher_delay(failures);
	p->failures = failures;
	p->due_ms = clock_monotonic_ms() + delay;
	spool_write(p->spool, RETRY,
		    (struct spool_numbers){failures, (uint64_t)(clock_real_ms() + delay)},
		    p->result->why);
}

/* A pass and what follows from it for the next one. Returns whether nothing is left. */
static bool pusher_try(struct pusher *p)
{
	uint64_t noted = spool_read(p->spool, RETRY).a, before = p->result->pushed;
	uint64_t failures = noted > p->failures ? noted : p->failures;
	spool_sweep(p->spool);
	bool done = pusher_pass(p) == 0;
	done = pusher_push_index(p) && done;
	if (done) {
		p->failures = 0;
		p->due_ms = 0;
		spool_remove(p->spool, RETRY);
		spool_rest(p->spool);
	} else if (!pusher_is_late(p)) {
		pusher_note_due(p, p->result->pushed > before ? 1 : failures + 1);
	}
	return done;
}

/* Until the next attempt is due; a clock that was set back counts no more than the longest
   delay. */
static int64_t pusher_due_in(const struct pusher *p)
{
	int64_t left = (int64_t)spool_read(p->spool, RETRY).b - clock_real_ms();
	int64_t own = p->due_ms - clock_monotonic_ms();
	left = left > own ? left : own;
	return left < 0 ? 0 : left > DELAY_MOST_MS ? DELAY_MOST_MS : left;
}

static int pusher_init(struct pusher *p, const struct spool *s, const struct settings *settings,
		       struct pusher_result *result)
{
	*p = (struct pusher){.spool = s, .result = result, .jobs = (size_t)settings->push_jobs};
	*result = (struct pusher_result){0};
	if (remote_init(&p->remote, settings) < 0)
		return -1;
	p->indexes = remote_can(&p->remote, REMOTE_LIST);
	if (remote_can(&p->remote, REMOTE_PUSH))
		return 0;
	remote_release(&p->remote);
	errno = ENOENT;
	return -1;
}

static void pusher_release(struct pusher *p)
{
	remote_release(&p->remote);
	pusher_drop_items(p);
	free(p->failed.ids);
	free(p->before.ids);
}

/* Waits for a signal to end. Returns whether it came. */
static bool pusher_sleep(int64_t ms)
{
	sigset_t set;
	const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	return sigtimedwait(&set, NULL, &time) > 0;
}

/* Waits for the next attempt, as the only one. Returns whether to make it; *last: and then to
   leave. */
static bool pusher_wait(const struct pusher *p, int64_t end_ms, bool *last)
{
	int64_t left = pusher_due_in(p);
	if (left > 0 && clock_monotonic_ms() + left > end_ms)
		return false;
	int waiter = left > 0 ? spool_lock(p->spool, WAITER) : -1;
	if (left > 0 && waiter < 0)
		return false;
	*last = pusher_sleep(left);
	io_close(&waiter);
	return true;
}

void pusher_stay(const struct spool *s, const struct settings *settings)
{
	struct pusher p;
	struct pusher_result result;
	int64_t end_ms = clock_monotonic_ms() + STAY_MS;
	bool last = false;
	/* At once, so that the session may end and be removed. */
	packing_all(s, settings);
	if (pusher_init(&p, s, settings, &result) < 0)
		return;
	while (!last && pusher_wait(&p, end_ms, &last)) {
		int lock = spool_lock(s, LOCK);
		if (lock < 0)
			break;
		bool done = pusher_try(&p);
		io_close(&lock);
		/* Somebody may have added something, and found the lock held. */
		if (done && pusher_count(&p) == 0)
			break;
	}
	pusher_release(&p);
}

/* The lock can't be had, mostly since another process pushes all the time: what is left. */
static void pusher_note_left(struct pusher *p, int error)
{
	p->result->busy = error == EWOULDBLOCK;
	if (!p->result->busy)
		snprintf(p->result->why, sizeof(p->result->why), "%s", strerror(error));
	p->result->unpacked = packing_all(p->spool, p->remote.settings);
	p->result->error = errno;
	p->result->left = pusher_count(p);
	p->result->index_left = pusher_has_index(p);
}

/* Runs that have ended are wanted at once; one that is stopped does not hold us up. */
static void pusher_settle(const struct pusher *p)
{
	int64_t until = clock_monotonic_ms() + SETTLE_MS;
	spool_settle(p->spool, p->end_ms && p->end_ms < until ? p->end_ms : until);
}

/* One attempt of pusher_run(). Returns whether to make another one after a pause. */
static bool pusher_turn(struct pusher *p)
{
	bool done = true, held;
	do {
		int lock = spool_lock_until(p->spool, LOCK, p->end_ms);
		held = lock >= 0;
		p->result->busy = false;
		if (held)
			done = pusher_try(p);
		else
			pusher_note_left(p, errno);
		io_close(&lock);
		p->result->late = pusher_is_late(p);
		/* Somebody may have added something, and found the lock held. */
	} while (done && held && !p->result->late && pusher_count(p) > 0);
	return !done && !p->result->late;
}

int pusher_run(const struct spool *s, const struct settings *settings, int64_t until_ms,
	       struct pusher_result *result)
{
	struct pusher p;
	if (pusher_init(&p, s, settings, result) < 0)
		return -1;
	p.end_ms = until_ms;
	pusher_settle(&p);
	for (int64_t delay = PAUSE_MS; pusher_turn(&p); delay *= 2) {
		if (clock_monotonic_ms() + delay > until_ms)
			break;
		const struct timespec pause = {.tv_sec = delay / 1000,
					       .tv_nsec = delay % 1000 * 1000000};
		nanosleep(&pause, NULL);
	}
	result->dropped = spool_read(s, SPOOL_DROPPED);
	pusher_release(&p);
	return 0;
}

struct pusher_state pusher_look(const struct spool *s)
{
	struct spool_item *items;
	size_t count;
	struct pusher_state state = {.failures = spool_read(s, RETRY).a,
				     .index_left = catalog_is_dirty(s)};
	spool_read_line(s, RETRY, state.why, sizeof(state.why));
	if (spool_list(s, &items, &count) < 0)
		return state;
	state.runs = count;
	for (size_t i = 0; i < count; i++)
		state.bytes += items[i].bytes;
	if (count > 0)
		state.oldest_ms = id_time_ms(items[0].id);
	free(items);
	return state;
}
