// See listing_json.h.

#include "supervisor/search/listing_json.h"

#include "supervisor/base/gap.h"
#include "supervisor/base/json_member.h"
#include "supervisor/base/json_text.h"

#include <string.h>

int listing_json_open(struct listing *l)
{
	if (l->shown > 0 && listing_json_close(l) < 0)
		return -1;
	return 0;
}

int listing_json_before(struct listing *l)
{
	return buffer_append_string(&l->out, ",\"before\":[");
}

int listing_json_after(struct listing *l)
{
	return buffer_append_string(&l->out, "],\"after\":[");
}

int listing_json_close(struct listing *l)
{
	return buffer_append_string(&l->out, "]}");
}

/* The member "text". */
static int listing_json_add_text(struct listing *l, const char *data, size_t len)
{
	return json_member_key(&l->out, "text") < 0 ? -1 : json_text_quote(&l->out, data, len);
}

static int listing_json_add_command(struct listing *l, const struct listing_text *text,
				    uint64_t number)
{
	struct buffer command = BUFFER_INIT;
	int result = listing_read(&command, text, number, 1);
	if (result == 0)
		result = json_member_key(&l->out, "command");
	if (result == 0)
		result = json_text_quote(&l->out, command.data, command.len);
	buffer_release(&command);
	return result;
}

int listing_json_line(struct listing *l, const struct listing_text *text,
		      const struct walk_line *line, const struct excerpt *e)
{
	struct buffer *out = &l->out;
	const char *data = e ? line->data + e->from : line->data;
	size_t len = e ? e->to - e->from : line->len;
	if (json_comma(out) < 0 || buffer_append_string(out, "{") < 0 ||
	    (line->wanted && text->label && json_member_string(out, "artifact", text->label) < 0) ||
	    json_member_count(out, "line", line->number) < 0 ||
	    listing_json_add_text(l, data, len) < 0 || json_member_bool(out, "truncated", e) < 0 ||
	    (e && listing_json_add_command(l, text, line->number) < 0))
		return -1;
	/* Of a line that was found more follows. */
	return line->wanted ? 0 : buffer_append_string(out, "}");
}

int listing_json_omission(struct listing *l, uint64_t lines)
{
	if (json_comma(&l->out) < 0 || buffer_append_string(&l->out, "{") < 0 ||
	    json_member_count(&l->out, "omitted", lines) < 0)
		return -1;
	return buffer_append_string(&l->out, "}");
}

int listing_json_gap(struct listing *l, const struct listing_text *text,
		     const struct text_piece *gap)
{
	struct buffer *out = &l->gap;
	if (gap_begin_json(out, &gap->gap) < 0 ||
	    (text->label && json_member_string(out, "artifact", text->label) < 0))
		return -1;
	return buffer_append_string(out, "}");
}
