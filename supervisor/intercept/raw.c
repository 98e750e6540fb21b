// See raw.h.

#include "supervisor/intercept/raw.h"

static void raw_stop(struct raw *r)
{
	r->state = RAW_OFF;
	buffer_release(&r->held);
}

void raw_start(struct raw *r, struct artifact *artifact)
{
	if (r->state != RAW_HOLDING)
		return;
	artifact_append(artifact, ARTIFACT_RAW, r->held.data, r->held.len);
	raw_stop(r);
	r->state = RAW_STREAMING;
}

void raw_feed(struct raw *r, const char *data, size_t len, struct artifact *artifact, bool wanted)
{
	if (r->state == RAW_HOLDING) {
		bool fits = r->held.len + len <= RAW_HOLD;
		if (fits && buffer_append(&r->held, data, len) == 0) {
			if (artifact && wanted)
				raw_start(r, artifact);
			return;
		}
		if (artifact && wanted)
			raw_start(r, artifact);
		else
			raw_stop(r);
	}
	if (r->state == RAW_STREAMING)
		artifact_append(artifact, ARTIFACT_RAW, data, len);
}

void raw_release(struct raw *r)
{
	raw_stop(r);
}
