// See sessions.h.

#include "supervisor/mcp/sessions.h"

#include "lib/buffer.h"
#include "lib/human.h"
#include "lib/json.h"
#include "lib/quote.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool sessions_is_name(const char *name)
{
	size_t len = strlen(name);
	for (const char *c = name; *c; c++) {
		if (!isalnum((unsigned char)*c) && !strchr("._-", *c))
			return false;
	}
	return len > 0 && len <= SESSIONS_NAME_MAX;
}

int sessions_init(struct sessions *s, const char *directory, char *const *env)
{
	*s = (struct sessions){.items = NULL};
	return sessions_begin(s, SESSIONS_DEFAULT, directory, env) ? 0 : -1;
}

static void sessions_remove(struct sessions *s, struct session *at)
{
	shell_state_release(&at->state);
	memmove(at, at + 1, (size_t)(s->items + s->count - at - 1) * sizeof(*at));
	s->count--;
}

void sessions_release(struct sessions *s)
{
	while (s->count > 0)
		sessions_remove(s, &s->items[s->count - 1]);
	free(s->items);
	*s = (struct sessions){.items = NULL};
}

struct session *sessions_find(const struct sessions *s, const char *name)
{
	for (size_t i = 0; i < s->count; i++) {
		if (strcmp(s->items[i].name, name ? name : SESSIONS_DEFAULT) == 0)
			return &s->items[i];
	}
	return NULL;
}

struct session *sessions_by_number(const struct sessions *s, uint64_t number)
{
	for (size_t i = 0; i < s->count; i++) {
		if (s->items[i].number == number)
			return &s->items[i];
	}
	return NULL;
}

struct session *sessions_begin(struct sessions *s, const char *name, const char *directory,
			       char *const *env)
{
	char own[SESSIONS_NAME_MAX + 1];
	if (!name) {
		/* A name that was chosen earlier is passed over. */
		snprintf(own, sizeof(own), "session-%" PRIu64, s->begun);
		while (sessions_find(s, own))
			snprintf(own, sizeof(own), "session-%" PRIu64, ++s->begun);
		name = own;
	}
	errno = !sessions_is_name(name)    ? EINVAL
		: sessions_find(s, name)   ? EEXIST
		: s->count >= SESSIONS_MAX ? ENFILE
					   : 0;
	struct session *made =
		errno ? NULL : array_add(&s->items, &s->count, &s->room, sizeof(*s->items));
	if (!made)
		return NULL;
	*made = (struct session){.number = s->begun, .begun_ms = clock_monotonic_ms()};
	snprintf(made->name, sizeof(made->name), "%s", name);
	if (shell_state_init(&made->state, directory, env) < 0) {
		s->count--;
		return NULL;
	}
	s->begun++;
	return made;
}

int sessions_end(struct sessions *s, const char *name, const char *directory, char *const *env)
{
	struct session *ended = sessions_find(s, name);
	if (!ended) {
		errno = ENOENT;
		return -1;
	}
	sessions_remove(s, ended);
	if (strcmp(name, SESSIONS_DEFAULT) != 0)
		return 0;
	return sessions_begin(s, SESSIONS_DEFAULT, directory, env) ? 0 : -1;
}

void sessions_list(const struct sessions *s, struct buffer *out, int64_t now_ms)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct session *one = &s->items[i];
		char age[HUMAN_LEN];
		buffer_printf(out, "%s: ", one->name);
		quote_text(out, one->state.directory, strlen(one->state.directory), 0);
		buffer_printf(out, ", %s command%s, %s old\n", HUMAN_COUNT(one->commands),
			      one->commands == 1 ? "" : "s",
			      human_age(age, now_ms - one->begun_ms));
	}
}

void sessions_list_json(const struct sessions *s, struct buffer *out, int64_t now_ms)
{
	json_begin_array(out, "sessions");
	for (size_t i = 0; i < s->count; i++) {
		const struct session *one = &s->items[i];
		json_begin_object(out, NULL);
		json_add_string(out, "session", one->name);
		json_add_string(out, "cwd", one->state.directory);
		json_add_count(out, "commands", one->commands);
		json_add_number(out, "age_ms", now_ms - one->begun_ms);
		json_end_object(out);
	}
	json_end_array(out);
}
