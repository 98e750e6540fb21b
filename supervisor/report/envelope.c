// See envelope.h.

#include "supervisor/report/envelope.h"

#include "supervisor/base/buffer.h"
#include "supervisor/base/json_member.h"
#include "supervisor/base/json_text.h"

static const char *const names[ENVELOPE_CODES] = {
	[ENVELOPE_USAGE] = "usage",
	[ENVELOPE_UNKNOWN_ARTIFACT] = "unknown_artifact",
	[ENVELOPE_UNKNOWN_SESSION] = "unknown_session",
	[ENVELOPE_BAD_PATTERN] = "bad_pattern",
	[ENVELOPE_BAD_RANGE] = "bad_range",
	[ENVELOPE_UNREADABLE] = "unreadable",
	[ENVELOPE_BINARY] = "binary",
};

const char *envelope_code_name(enum envelope_code code)
{
	return names[code];
}

int envelope_begin(struct buffer *out)
{
	return buffer_append_string(out, "{\"ok\":true,\"data\":{");
}

int envelope_end(struct buffer *out)
{
	return buffer_append_string(out, "}}\n");
}

int envelope_fail(struct buffer *out, enum envelope_code code, const char *message, size_t len)
{
	if (buffer_append_string(out, "{\"ok\":false,\"error\":{") < 0 ||
	    json_member_string(out, "code", names[code]) < 0 ||
	    json_member_key(out, "message") < 0 || json_text_quote(out, message, len) < 0)
		return -1;
	return envelope_end(out);
}
