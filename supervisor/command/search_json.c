// See search.h.

#include "supervisor/base/io.h"
#include "supervisor/base/json_member.h"
#include "supervisor/base/json_text.h"
#include "supervisor/command/search.h"

#include <unistd.h>

int search_json_summary(struct buffer *out, const struct search_subject *t, uint64_t total,
			const struct notice_query *q, const struct kind *binary)
{
	/* Of one text the answer tells it. */
	if (!t->listing.label)
		return 0;
	if (buffer_append_string(out, ",{") < 0 ||
	    json_member_string(out, "artifact", t->listing.label) < 0 ||
	    (!q->names && json_member_count(out, "total", total) < 0) ||
	    (binary && json_member_bool(out, "binary", true) < 0))
		return -1;
	return buffer_append_string(out, "}");
}

/* A member that is an array of what was collected. */
static int add_array(struct buffer *out, const char *key, const struct buffer *elements)
{
	/* Where each begins with a comma, the first has one too many. */
	size_t skip = elements->len > 0 && elements->data[0] == ',';
	if (json_member_key(out, key) < 0 || buffer_append_string(out, "[") < 0 ||
	    buffer_append(out, elements->data + skip, elements->len - skip) < 0)
		return -1;
	return buffer_append_string(out, "]");
}

static int search_json_add_command(struct buffer *out, const char *key, const struct search *s,
				   bool wanted,
				   int (*make)(struct buffer *out, const struct notice_query *q,
					       const struct listing *l))
{
	struct buffer command = BUFFER_INIT;
	int result = wanted ? make(&command, &s->query, &s->listing) : 0;
	if (result == 0 && command.len == 0)
		result = json_member_null(out, key);
	else if (result == 0)
		result = json_member_key(out, key) < 0
				 ? -1
				 : json_text_quote(out, command.data, command.len);
	buffer_release(&command);
	return result;
}

/* The lines that were found, how many there are, and how to go on. */
static int add_matches(struct buffer *out, const struct search *s)
{
	const struct listing *l = &s->listing;
	const char *why = !l->full ? NULL : l->out_of_room ? "bytes" : "matches";
	if (add_array(out, "matches", &s->json) < 0 ||
	    json_member_count(out, "shown", l->shown) < 0 ||
	    json_member_count(out, "total", l->total) < 0 ||
	    json_member_bool(out, "truncated", l->full) < 0 ||
	    json_member_string(out, "truncated_by", why) < 0 ||
	    add_array(out, "gaps", &l->gap) < 0 ||
	    search_json_add_command(out, "next", s, l->full, notice_next) < 0)
		return -1;
	return search_json_add_command(out, "all", s, l->full && !l->out_of_room, notice_all);
}

static int search_json_print(struct buffer *out, int result)
{
	if (result == 0)
		result = io_write(STDOUT_FILENO, out->data, out->len);
	buffer_release(out);
	return result;
}

static int add_one(struct buffer *out, const struct search *s, const struct text *text,
		   uint64_t total)
{
	const struct notice_query *q = &s->query;
	if (envelope_begin(out) < 0 || verb_json_place(out, text, s->name) < 0)
		return -1;
	if (q->names) {
		if (json_member_bool(out, "matches", s->found) < 0)
			return -1;
	} else if (q->count) {
		if (json_member_count(out, "total", total) < 0)
			return -1;
	} else if (add_matches(out, s) < 0) {
		return -1;
	}
	if ((q->names || q->count) && s->listing.gap.len > 0 &&
	    add_array(out, "gaps", &s->listing.gap) < 0)
		return -1;
	if (walk_long_line(s->walk) &&
	    json_member_count(out, "long_line", walk_long_line(s->walk)) < 0)
		return -1;
	return envelope_end(out);
}

int search_json_one(struct search *s, const struct text *text, uint64_t total)
{
	struct buffer out = BUFFER_INIT;
	return search_json_print(&out, add_one(&out, s, text, total));
}

static int search_json_add_all(struct buffer *out, const struct search *s, const char *session)
{
	const struct notice_query *q = &s->query;
	if (envelope_begin(out) < 0 || json_member_string(out, "session", session) < 0 ||
	    json_member_count(out, "searched", s->artifacts) < 0)
		return -1;
	if (!q->names && !q->count) {
		if (add_matches(out, s) < 0)
			return -1;
	} else if ((s->listing.gap.len > 0 && add_array(out, "gaps", &s->listing.gap) < 0) ||
		   add_array(out, "artifacts", &s->json) < 0 ||
		   json_member_count(out, "shown", s->listed) < 0 ||
		   json_member_count(out, "total", s->matching) < 0 ||
		   json_member_bool(out, "truncated", s->listing.full) < 0) {
		return -1;
	}
	return envelope_end(out);
}

int search_json_all(struct search *s, const char *session)
{
	struct buffer out = BUFFER_INIT;
	return search_json_print(&out, search_json_add_all(&out, s, session));
}
