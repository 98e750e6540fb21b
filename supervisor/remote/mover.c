// See mover.h.

#include "supervisor/remote/mover.h"

#include "lib/human.h"
#include "lib/io.h"
#include "lib/trace.h"
#include "supervisor/remote/index.h"

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

/* The first pause of `terse push --wait`; each later one is twice as long. */
#define PAUSE_MS 250

/* `terse push` waits so long for runs that have just ended. */
#define SETTLE_MS 2000

struct mover {
	const struct outbox *outbox;
	const struct settings *settings;
	int64_t end_ms;    /* monotonic; 0: none */
	uint64_t failures; /* passes without a success */
	int64_t due_ms;    /* monotonic: when to try again */
	struct mover_result *result;
};

int64_t mover_delay(uint64_t failures)
{
	int64_t delay = 1000;
	for (uint64_t i = 1; i < failures && delay < DELAY_MOST_MS; i++)
		delay *= 2;
	return delay < DELAY_MOST_MS ? delay : DELAY_MOST_MS;
}

static bool mover_is_late(const struct mover *m)
{
	return m->end_ms && clock_monotonic_ms() >= m->end_ms;
}

static uint64_t mover_artifacts_gone(void *ctx)
{
	return outbox_look(ctx).moved;
}

static uint64_t mover_index_left(void *ctx)
{
	return index_waits(ctx);
}

/* Moves what is below one of the two folders. Notes why something may be left. */
static void mover_move(const struct mover *m, const char *folder)
{
	char local[PATH_MAX];
	bool index = strcmp(folder, REMOTE_INDEX) == 0;
	snprintf(local, sizeof(local), "%s/new/%s", m->outbox->path, folder);
	struct remote_call call = {.work = REMOTE_MOVE,
				   .key = folder,
				   .local = local,
				   .until_ms = m->end_ms,
				   .progress = index ? mover_index_left : mover_artifacts_gone,
				   .ctx = (void *)m->outbox};
	uint64_t before = call.progress(call.ctx);
	if (remote_run(m->settings, &call) < 0)
		memcpy(m->result->why, call.why, sizeof(call.why));
	else if (call.progress(call.ctx) == before)
		snprintf(m->result->why, sizeof(m->result->why), "its program has moved nothing");
}

/* Looks at what is left. Returns whether nothing is. */
static bool mover_measure(const struct mover *m, unsigned unpacked)
{
	struct mover_result *r = m->result;
	struct outbox_state state = outbox_look(m->outbox);
	r->left = state.waiting + unpacked;
	r->index_left = state.moved > 0 || index_waits(m->outbox) > 0;
	return r->left == 0 && !r->index_left;
}

/* Moves each thing once; the lock is held. Returns whether nothing is left; if something is and
   there is no reason, it has come meanwhile. */
static bool mover_pass(const struct mover *m)
{
	const struct outbox *o = m->outbox;
	struct mover_result *r = m->result;
	int unmade;
	*r->why = '\0';
	outbox_sweep(o);
	unsigned unpacked = outbox_pack(o, m->settings);
	int error = errno;
	if (outbox_look(o).waiting > 0 && !mover_is_late(m))
		mover_move(m, REMOTE_ARTIFACTS);
	if (outbox_look(o).waiting == 0)
		*r->why = '\0';
	bool told = *r->why;
	r->pushed += index_make(o, clock_real_ms(), &unmade);
	if (index_waits(o) > 0 && !mover_is_late(m)) {
		char why[REMOTE_WHY];
		memcpy(why, r->why, sizeof(why));
		mover_move(m, REMOTE_INDEX);
		/* That of the artifacts comes first. */
		if (told || index_waits(o) == 0)
			memcpy(r->why, why, sizeof(why));
	}
	if (!*r->why && unmade)
		snprintf(r->why, sizeof(r->why), "the index: %s", strerror(unmade));
	if (!*r->why && unpacked)
		snprintf(r->why, sizeof(r->why), "%s", strerror(error));
	bool done = mover_measure(m, unpacked);
	TRACE(PROCESS, "mover: %d pushed, %d left %s", (int)r->pushed, (int)r->left, r->why);
	return done;
}

/* A pass and what follows from it for the next one: noted in the outbox for other processes, and
   here, since the disk may be full. Returns whether nothing is left. */
static bool mover_try(struct mover *m)
{
	uint64_t noted = outbox_read(m->outbox, RETRY, NULL).a, before = m->result->pushed;
	uint64_t failures = noted > m->failures ? noted : m->failures;
	bool done = mover_pass(m);
	if (done || !*m->result->why) {
		m->failures = 0;
		m->due_ms = 0;
		unlinkat(m->outbox->dir, RETRY, 0);
		if (done)
			outbox_rest(m->outbox);
	} else if (!mover_is_late(m)) {
		m->failures = m->result->pushed > before ? 1 : failures + 1;
		int64_t delay = mover_delay(m->failures);
		m->due_ms = clock_monotonic_ms() + delay;
		outbox_write(
			m->outbox, RETRY,
			(struct outbox_numbers){m->failures, (uint64_t)(clock_real_ms() + delay)},
			m->result->why);
	}
	return done;
}

/* Waits for the next attempt, as the only one. Returns whether to make it; *last: and then to
   leave, since a signal to end came. */
static bool mover_wait(const struct mover *m, int64_t end_ms, bool *last)
{
	int64_t left = (int64_t)outbox_read(m->outbox, RETRY, NULL).b - clock_real_ms();
	int64_t own = m->due_ms - clock_monotonic_ms();
	sigset_t set;
	left = left > own ? left : own;
	/* A clock that was set back counts no more than the longest delay. */
	left = left < 0 ? 0 : left > DELAY_MOST_MS ? DELAY_MOST_MS : left;
	if (left > 0 && clock_monotonic_ms() + left > end_ms)
		return false;
	int waiter = left > 0 ? outbox_lock(m->outbox, WAITER, OUTBOX_AT_ONCE) : -1;
	if (left > 0 && waiter < 0)
		return false;
	const struct timespec time = {.tv_sec = left / 1000, .tv_nsec = left % 1000 * 1000000};
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	*last = sigtimedwait(&set, NULL, &time) > 0;
	io_close(&waiter);
	return true;
}

void mover_stay(const struct outbox *o, const struct settings *settings)
{
	struct mover_result result = {0};
	struct mover m = {.outbox = o, .settings = settings, .result = &result};
	int64_t end_ms = clock_monotonic_ms() + STAY_MS;
	bool last = false;
	/* At once, so that the session may end and be removed. */
	outbox_pack(o, settings);
	while (!last && mover_wait(&m, end_ms, &last)) {
		int lock = outbox_lock(o, LOCK, OUTBOX_AT_ONCE);
		if (lock < 0)
			break;
		bool done = mover_try(&m);
		io_close(&lock);
		/* Somebody may have added something, and found the lock held. */
		if (done && outbox_look(o).waiting == 0)
			break;
	}
}

/* The lock can't be had, mostly since another process moves all the time: what is left. */
static bool mover_note_left(const struct mover *m, int error)
{
	unsigned unpacked = outbox_pack(m->outbox, m->settings);
	bool done = mover_measure(m, unpacked);
	snprintf(m->result->why, sizeof(m->result->why), "%s",
		 error == EWOULDBLOCK ? "another process still pushes" : strerror(error));
	return done;
}

/* One attempt of mover_run(). Returns whether nothing is left. */
static bool mover_turn(struct mover *m)
{
	bool done, again;
	do {
		int lock = outbox_lock(m->outbox, LOCK, m->end_ms);
		bool held = lock >= 0;
		done = held ? mover_try(m) : mover_note_left(m, errno);
		io_close(&lock);
		/* Somebody may have added something, and found the lock held. */
		again = held && !mover_is_late(m) &&
			(done ? outbox_look(m->outbox).waiting > 0 : !*m->result->why);
	} while (again);
	return done;
}

void mover_run(const struct outbox *o, const struct settings *settings, int64_t until_ms,
	       struct mover_result *result)
{
	struct mover m = {.outbox = o, .settings = settings, .end_ms = until_ms, .result = result};
	int64_t settled = clock_monotonic_ms() + SETTLE_MS;
	*result = (struct mover_result){0};
	/* Runs that have ended are wanted at once; one that is stopped does not hold us up. */
	outbox_settle(o, until_ms && until_ms < settled ? until_ms : settled);
	for (int64_t delay = PAUSE_MS; !mover_turn(&m) && !mover_is_late(&m); delay *= 2) {
		if (clock_monotonic_ms() + delay > until_ms)
			break;
		const struct timespec pause = {.tv_sec = delay / 1000,
					       .tv_nsec = delay % 1000 * 1000000};
		nanosleep(&pause, NULL);
	}
	if (!*result->why && mover_is_late(&m) && (result->left > 0 || result->index_left))
		snprintf(result->why, sizeof(result->why), "the time was over");
	result->dropped = outbox_read(o, OUTBOX_DROPPED, NULL);
}

struct mover_state mover_look(const struct outbox *o)
{
	struct mover_state state = {.outbox = outbox_look(o)};
	state.failures = outbox_read(o, RETRY, state.why).a;
	state.index_left = state.outbox.moved > 0 || index_waits(o) > 0;
	return state;
}
