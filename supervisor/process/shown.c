// See shown.h.

#include "supervisor/process/shown.h"

#include "config/agents.h"
#include "config/profile.h"
#include "lib/json.h"

#include <string.h>

/* More than an agent is shown of one command; only `--full` prints more. */
#define SHOWN_MOST ((size_t)256 * 1024)

void shown_add(struct shown *w, const char *data, size_t len)
{
	size_t room = w->bytes < SHOWN_MOST ? SHOWN_MOST - (size_t)w->bytes : 0;
	w->bytes += len;
	len = len < room ? len : room;
	tokens_feed(&w->tokens, data, len);
	buffer_append(&w->printed, data, len);
}

void shown_forget(struct shown *w, uint64_t bytes)
{
	w->unseen += bytes;
	if (w->unseen < w->bytes)
		return;
	shown_release(w);
	*w = (struct shown){0};
}

void shown_text(struct shown *w, const struct interceptor *text, bool is_stderr)
{
	size_t count;
	const struct report_range *ranges = interceptor_shown(text, &count);
	w->text += interceptor_bytes(text);
	w->lines += interceptor_is_binary(text) ? 0 : interceptor_lines(text);
	/* A run that yields is reported once; what it wrote later nobody was shown. */
	if (w->ranges.len == 0)
		json_begin_object(&w->ranges, NULL);
	json_begin_array(&w->ranges, is_stderr ? "stderr" : "stdout");
	for (size_t i = 0; i < count; i++) {
		json_begin_array(&w->ranges, NULL);
		json_add_count(&w->ranges, NULL, ranges[i].from);
		json_add_count(&w->ranges, NULL, ranges[i].to);
		json_end_array(&w->ranges);
	}
	json_end_array(&w->ranges);
}

void shown_keep(struct shown *w, struct artifact *a)
{
	struct buffer file = BUFFER_INIT;
	if (!a || w->bytes == 0)
		return;
	buffer_add(&file, &w->ranges);
	if (file.len == 0)
		json_begin_object(&file, NULL);
	json_add_count(&file, "bytes", w->bytes);
	json_end_object(&file);
	buffer_append_string(&file, "\n");
	buffer_add(&file, &w->printed);
	/* A report without it says so. */
	if (buffer_check(&file) == 0)
		artifact_keep_shown(a, file.data, file.len);
	buffer_release(&file);
}

/* Whether the run only reads what others left, as in `terse read ID | tail`. */
static bool shown_is_own(const struct settings *s, char *const *argv)
{
	bool named = false;
	for (char *const *word = argv; word && *word && !named; word++)
		named = strstr(*word, "terse");
	return s->own_words || (named && profile_is_own(argv));
}

void shown_sum(const struct shown *w, const struct settings *s, struct meta *m)
{
	bool failed = m->state == META_INTERRUPTED || m->exit_code != 0;
	bool own = w->bytes > 0 && shown_is_own(s, m->argv);
	m->agent = s->agent;
	m->profile = own ? PROFILE_TERSE : s->applied;
	uint64_t seen = w->bytes < SHOWN_MOST ? w->bytes : SHOWN_MOST;
	uint64_t tokens = tokens_scale(tokens_estimate(&w->tokens), seen, w->bytes);
	m->shown = (struct meta_shown){.bytes = w->bytes, .tokens = tokens};
	/* Nobody would have run a command of terse without terse. */
	if (w->bytes > 0 && !own) {
		m->shown.text = w->text;
		m->shown.own = own_cut(s, failed, w->text, w->lines);
	}
}

void shown_release(struct shown *w)
{
	buffer_release(&w->printed);
	buffer_release(&w->ranges);
}
