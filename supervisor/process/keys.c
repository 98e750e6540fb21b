// See keys.h.

#include "supervisor/process/keys.h"

#include "supervisor/terminal/terminal.h"

#include <signal.h>
#include <termios.h>

/* How long nothing has to be written before it is told. */
#define QUIET_MS 3000

/* Two looks in a row must agree. */
#define AGREED   2
#define AGAIN_MS 100

/* How long it has to react to HUP. */
#define HUP_GRACE_MS 500

#define PAUSE_MOST_MS 30000

/* What draws for so long may do it for ever. */
#define SCREEN_MS 5000

static int64_t quiet_needed(const struct keys *k)
{
	return k->hang_up ? k->hang_up : QUIET_MS;
}

void keys_begin(struct keys *k, int64_t now_ms)
{
	k->quiet_at = now_ms;
	k->pause = quiet_needed(k);
	k->look_at = k->device ? now_ms + k->pause : 0;
	k->screen_at = k->device ? now_ms + SCREEN_MS : 0;
}

int64_t keys_due(const struct keys *k)
{
	return k->screen_at && k->screen_at < k->look_at ? k->screen_at : k->look_at;
}

/* Whether it wants single keys. */
static bool has_screen(const struct keys *k, const struct terminal *t)
{
	struct termios modes;
	return terminal_is_alternate(t) ||
	       (tcgetattr(k->master, &modes) == 0 && !(modes.c_lflag & ICANON));
}

/* HUP, TERM, KILL. */
static enum keys_found hang_up(struct keys *k, int64_t now_ms)
{
	static const int signals[] = {SIGHUP, SIGTERM, SIGKILL};
	k->look_at = now_ms + (k->sent == 1 ? k->grace : HUP_GRACE_MS);
	kill(k->wait.pid, signals[k->sent]);
	if (k->sent < 2)
		k->sent++;
	return k->sent == 1 ? KEYS_HUNG_UP : KEYS_NOTHING;
}

static enum keys_found keys_tell(struct keys *k, enum wait_kind kind)
{
	k->wait.kind = kind;
	k->told = true;
	return KEYS_WAITS;
}

enum keys_found keys_step(struct keys *k, const struct terminal *t, int64_t now_ms)
{
	if (!k->look_at)
		return KEYS_NOTHING;
	if (k->active) {
		k->active = false;
		k->agreed = 0;
		k->quiet_at = now_ms;
		k->pause = quiet_needed(k);
		k->look_at = now_ms + (k->sent ? HUP_GRACE_MS : k->pause);
	}
	if (k->screen_at && now_ms >= k->screen_at) {
		k->screen_at = 0;
		if (t && terminal_is_alternate(t) && !k->told)
			return keys_tell(k, WAIT_SCREEN);
	}
	if (now_ms < k->look_at)
		return KEYS_NOTHING;
	pid_t last = k->wait.pid;
	wait_look(&k->wait, k->device);
	if (k->wait.pid != last)
		k->agreed = k->sent = 0;
	bool screen = t && has_screen(k, t);
	/* Its keys would have come from its standard input, which has nothing: elinks. */
	if (k->wait.kind == WAIT_ALONE && screen)
		k->wait.kind = WAIT_KEYS;
	if (k->wait.kind != WAIT_KEYS) {
		k->agreed = 0;
		k->look_at = now_ms + k->pause;
		k->pause = k->pause * 2 < PAUSE_MOST_MS ? k->pause * 2 : PAUSE_MOST_MS;
		return KEYS_NOTHING;
	}
	if (++k->agreed < AGREED) {
		k->look_at = now_ms + AGAIN_MS;
		return KEYS_NOTHING;
	}
	if (k->hang_up && !k->wait.also && screen && !wait_is_serving())
		return hang_up(k, now_ms);
	k->look_at = now_ms + k->pause;
	return k->told ? KEYS_NOTHING : keys_tell(k, WAIT_KEYS);
}
