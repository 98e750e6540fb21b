#include "lib/io.h"
#include "lib/json.h"
#include "lib/quote.h"
#include "supervisor/agents/session.h"
#include "supervisor/artifact/history.h"
#include "supervisor/command/command.h"
#include "supervisor/command/search.h"
#include "supervisor/command/verb.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int search_json_summary(struct buffer *out, const struct search_subject *t, uint64_t total,
			const struct notice_query *q, const struct kind *binary)
{
	/* Of one text the answer tells it. */
	if (!t->listing.label)
		return 0;
	if (buffer_append_string(out, ",{") < 0 ||
	    json_add_string(out, "artifact", t->listing.label) < 0 ||
	    (!q->names && json_add_count(out, "total", total) < 0) ||
	    (binary && json_add_bool(out, "binary", true) < 0))
		return -1;
	return buffer_append_string(out, "}");
}

/* A member that is an array of what was collected. */
static int add_array(struct buffer *out, const char *key, const struct buffer *elements)
{
	/* Where each begins with a comma, the first has one too many. */
	size_t skip = elements->len > 0 && elements->data[0] == ',';
	if (json_begin_array(out, key) < 0 ||
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
		result = json_add_null(out, key);
	else if (result == 0)
		result = json_add_text(out, key, command.data, command.len);
	buffer_release(&command);
	return result;
}

/* The lines that were found, how many there are, and how to go on. */
static int add_matches(struct buffer *out, const struct search *s)
{
	const struct listing *l = &s->listing;
	const char *why = !l->full ? NULL : l->out_of_room ? "bytes" : "matches";
	if (add_array(out, "matches", &s->json) < 0 || json_add_count(out, "shown", l->shown) < 0 ||
	    json_add_count(out, "total", l->total) < 0 ||
	    json_add_bool(out, "truncated", l->full) < 0 ||
	    json_add_string(out, "truncated_by", why) < 0 || add_array(out, "gaps", &l->gap) < 0 ||
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
		if (json_add_bool(out, "matches", s->found) < 0)
			return -1;
	} else if (q->count) {
		if (json_add_count(out, "total", total) < 0)
			return -1;
	} else if (add_matches(out, s) < 0) {
		return -1;
	}
	if ((q->names || q->count) && s->listing.gap.len > 0 &&
	    add_array(out, "gaps", &s->listing.gap) < 0)
		return -1;
	if (walk_long_line(s->walk) &&
	    json_add_count(out, "long_line", walk_long_line(s->walk)) < 0)
		return -1;
	return envelope_end(out);
}

static int search_json_one(struct search *s, const struct text *text, uint64_t total)
{
	struct buffer out = BUFFER_INIT;
	return search_json_print(&out, add_one(&out, s, text, total));
}

static int search_json_add_all(struct buffer *out, const struct search *s, const char *session)
{
	const struct notice_query *q = &s->query;
	if (envelope_begin(out) < 0 || json_add_string(out, "session", session) < 0 ||
	    json_add_count(out, "searched", s->artifacts) < 0)
		return -1;
	if (!q->names && !q->count) {
		if (add_matches(out, s) < 0)
			return -1;
	} else if ((s->listing.gap.len > 0 && add_array(out, "gaps", &s->listing.gap) < 0) ||
		   add_array(out, "artifacts", &s->json) < 0 ||
		   json_add_count(out, "shown", s->listed) < 0 ||
		   json_add_count(out, "total", s->matching) < 0 ||
		   json_add_bool(out, "truncated", s->listing.full) < 0) {
		return -1;
	}
	return envelope_end(out);
}

static int search_json_all(struct search *s, const char *session)
{
	struct buffer out = BUFFER_INIT;
	return search_json_print(&out, search_json_add_all(&out, s, session));
}

/* Searches the text of s->walk. */
static enum walk_kind walk_through(struct search *s, const struct search_subject *t, bool list,
				   uint64_t *total, struct walk_line *line)
{
	enum walk_kind kind;
	if (list) {
		uint64_t before = s->listing.total;
		kind = listing_add(&s->listing, s->walk, &t->listing, line);
		*total = s->listing.total - before;
		return kind;
	}
	struct buffer *gaps = &s->listing.gap;
	size_t before = gaps->len;
	do {
		/* One match is enough for a name. */
		kind = s->query.names ? walk_next(s->walk, line) : walk_count(s->walk, total, line);
		if (kind == WALK_GAP &&
		    listing_note_gap(&s->listing, &t->listing, walk_gap(s->walk)) < 0)
			kind = WALK_FAILED;
	} while (kind == WALK_GAP);
	if (s->query.names)
		*total = kind == WALK_LINE;
	if (s->query.names && *total)
		buffer_truncate(gaps, before);
	return kind;
}

/* Returns 0, or the exit status of a search that ends here. */
static int search_text(struct search *s, const struct search_subject *t)
{
	const struct notice_query *q = &s->query;
	struct kind what;
	struct walk_line line = {.number = 0};
	uint64_t total = 0;
	bool lines = !q->count && !q->names;
	bool binary = lines && !q->binary && verb_is_binary(t->text, &what);
	const struct walk_options options = {
		.invert = q->invert,
		.context = lines ? q->before : 0,
		.from = q->from,
		.tick = s->progress ? search_tell_progress : NULL,
		.ctx = s,
	};
	s->size = t->text->size;
	s->walk = walk_new(t->text, s->matcher, &options);
	enum walk_kind kind =
		s->walk ? walk_through(s, t, lines && !binary, &total, &line) : WALK_FAILED;
	if (kind == WALK_GAVE_UP) {
		search_give_up(s, t, line.number);
		return EXIT_TERSE;
	}
	s->found |= total > 0;
	s->total = total;
	bool summary = (s->verb.json ? !lines : binary || !lines) &&
		       (total > 0 || (q->count && !t->listing.label));
	if (kind == WALK_FAILED ||
	    (summary && search_add_summary(s, t, total, binary ? &what : NULL) < 0)) {
		search_end_progress(s);
		verb_fail(&s->verb, ENVELOPE_UNREADABLE, "%s: %m", t->name);
		return 1;
	}
	/* One text that is not shown, and its program can't be told otherwise. */
	if (binary && total > 0 && s->verb.json && !t->listing.label) {
		search_end_progress(s);
		verb_fail(&s->verb, ENVELOPE_BINARY,
			  "%s: %" PRIu64 " line%s in binary data (%s), not shown without -a",
			  t->name, total, total == 1 ? " matches" : "s match",
			  what.name ? what.name : "of no known kind");
		return 1;
	}
	return 0;
}

/* Says what could not be searched where nothing else does: of texts that are not listed. */
static void tell_gaps(struct search *s)
{
	const struct buffer *gaps = &s->listing.gap;
	const char *at = gaps->data, *end = gaps->data + gaps->len;
	for (const char *newline; at < end && (newline = memchr(at, '\n', (size_t)(end - at)));
	     at = newline + 1)
		verb_error(s->verb.name, "%.*s", (int)(newline - at), at);
}

/* 0, 1: nothing was found; 2: it could be in what was not kept. */
static int status_of(const struct search *s)
{
	return s->found ? 0 : s->listing.gap.len ? 2 : 1;
}

/* A search in one text has ended: what else is to be said? */
static int end_one(struct search *s, const struct text *text)
{
	const struct notice_query *q = &s->query;
	struct buffer notice = BUFFER_INIT;
	char apart[ID_LEN + 9];
	int result = -1;
	snprintf(apart, sizeof(apart), "%s.err.txt", text->id);
	bool is_apart = *text->id && !q->standard_error && io_is_there(text->dir, apart);
	search_end_progress(s);
	if (listing_finish(&s->listing) < 0)
		goto out;
	if (s->verb.json) {
		result = search_json_one(s, text, s->total);
		goto out;
	}
	if (s->listing.full) {
		if (notice_more(&notice, q, &s->listing) < 0 || reader_notice(s->sink, &notice) < 0)
			goto out;
	} else if (!s->found && !q->count && !q->names) {
		const struct buffer *gap = &s->listing.gap;
		if (notice_nothing(&notice, q, s->walk, is_apart) < 0)
			goto out;
		verb_error(s->verb.name, "%.*s%s%.*s", (int)notice.len, notice.data,
			   gap->len ? " " : "", gap->len ? (int)gap->len - 1 : 0,
			   gap->len ? gap->data : "");
	} else if (walk_long_line(s->walk) && !q->names) {
		if (notice_long_line(&notice, walk_long_line(s->walk)) < 0)
			goto out;
		verb_error(s->verb.name, "%.*s", (int)notice.len, notice.data);
	}
	if (q->count || q->names)
		tell_gaps(s);
	result = 0;
out:
	buffer_release(&notice);
	return result;
}

/* Whether there is an artifact or file of this name. */
static bool is_something(const struct search *s, const char *session, const char *name)
{
	struct store stores[STORE_MAX];
	struct id_found found;
	int count;
	bool is = verb_find(s->settings, session, name, stores, &count, &found) == 0;
	while (count > 0)
		store_close(&stores[--count]);
	return is || access(name, F_OK) == 0;
}

int search_one(struct search *s, const char *session, const char *name)
{
	struct text text;
	enum artifact_part part = s->query.standard_error ? ARTIFACT_ERR : ARTIFACT_OUT;
	if (verb_open(&s->verb, s->settings, session, part, name, &text) < 0) {
		/* As with grep, the pattern first? */
		if (!s->verb.json && is_something(s, session, s->query.pattern))
			verb_error(s->verb.name, "the text comes first: terse search %s REGEX",
				   s->query.pattern);
		return 1;
	}
	struct search_subject t = {.text = &text,
				   .name = *text.id ? text.id : name,
				   .listing = {.standard_error = s->query.standard_error}};
	int status = 1;
	if ((*t.name == '-' && buffer_append_string(&s->place, "./") < 0) ||
	    quote_append(&s->place, t.name) < 0 || !buffer_string(&s->place)) {
		verb_fail(&s->verb, ENVELOPE_UNREADABLE, "%m");
		goto out;
	}
	s->query.place = t.listing.place = s->place.data;
	status = search_text(s, &t);
	if (status == 0 && end_one(s, &text) < 0) {
		verb_fail(&s->verb, ENVELOPE_UNREADABLE, "%m");
		status = 1;
	} else if (status == 0) {
		status = status_of(s);
	}
out:
	text_close(&text);
	return status;
}

static int end_all(struct search *s, const char *session)
{
	struct buffer notice = BUFFER_INIT;
	const struct listing *l = &s->listing;
	int result = -1;
	search_end_progress(s);
	if (listing_finish(&s->listing) < 0)
		goto out;
	if (s->verb.json) {
		result = search_json_all(s, session);
		goto out;
	}
	if (l->full) {
		int made = l->total ? notice_more(&notice, &s->query, l)
				    : notice_more_artifacts(&notice, &s->query, s->listed,
							    s->matching, l->out_of_room);
		if (made < 0 || reader_notice(s->sink, &notice) < 0)
			goto out;
	} else if (s->artifacts == 0) {
		verb_error(s->verb.name, "session %s has no artifacts", session);
	} else if (!s->found && !s->query.count && !s->query.names) {
		verb_error(s->verb.name, "no match in %" PRIu64 " artifact%s of session %s",
			   s->artifacts, s->artifacts == 1 ? "" : "s", session);
	}
	if (s->query.count || s->query.names || !s->found)
		tell_gaps(s);
	result = 0;
out:
	buffer_release(&notice);
	return result;
}

/* Returns 0, or the exit status of a search that ends here. */
static int search_found(struct search *s, const struct id_found *found)
{
	struct text text;
	enum artifact_part part = s->query.standard_error ? ARTIFACT_ERR : ARTIFACT_OUT;
	if (verb_open_found(found, part, &text) < 0) {
		/* Removed meanwhile, or both streams are one text. */
		if (errno != ENOENT)
			verb_error(s->verb.name, "%s: %m", found->id);
		return 0;
	}
	const struct search_subject t = {.text = &text,
					 .name = found->id,
					 .listing = {.label = found->id,
						     .place = found->id,
						     .standard_error = s->query.standard_error}};
	s->artifacts++;
	int status = search_text(s, &t);
	if (s->listing.next_in == found->id) {
		snprintf(s->next_id, sizeof(s->next_id), "%s", found->id);
		s->listing.next_in = s->next_id;
	}
	walk_free(s->walk);
	s->walk = NULL;
	text_close(&text);
	return status;
}

/* Every artifact of a session, the newest first. */
int search_all(struct search *s, const char *session)
{
	char directory[STORE_SESSION_LEN + 1];
	struct store stores[STORE_MAX];
	struct id_found found;
	if (!verb_has_session(&s->verb, s->settings, session))
		return 1;
	int got = -1, status = 0, unseen = 0;
	int count = verb_open_stores(s->verb.name, stores, &unseen);
	verb_session(s->settings, session, directory);
	struct recent *r = recent_open(stores, count, directory);
	while (r && status == 0 && (got = recent_next(r, &found)) == 1)
		status = search_found(s, &found);
	if (got < 0 || (status == 0 && end_all(s, directory) < 0)) {
		verb_fail(&s->verb, ENVELOPE_UNREADABLE, "%m");
		status = 1;
	} else if (status == 0) {
		status = status_of(s);
	}
	if (status == 0)
		status = unseen;
	if (r)
		recent_close(r);
	while (count > 0)
		store_close(&stores[--count]);
	return status;
}
