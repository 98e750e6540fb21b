// Metadata from anywhere: refused, or of sound values that are written as they were read.

#include "lib/buffer.h"
#include "supervisor/artifact/meta.h"
#include "tests/fuzz/fuzz.h"

static void check_stream(const struct meta_stream *s)
{
	assert(s->bytes <= INT64_MAX && s->lines <= INT64_MAX);
	assert(s->error >= 0);
	if (s->gap_from)
		assert(s->gap_to >= s->gap_from && s->gap_offset + s->gap_bytes <= INT64_MAX);
}

static void check(const struct meta *m)
{
	assert(!m->id[0] || id_is_valid(m->id));
	assert(m->state == META_RUNNING || m->state == META_DONE || m->state == META_INTERRUPTED);
	assert(m->started_ms >= 0 && m->ended_ms >= 0 && m->duration_ms >= 0);
	assert(m->exit_code >= -1 && m->exit_code <= 255);
	assert(m->signal >= 0 && m->signal < 128);
	check_stream(&m->out);
	check_stream(&m->err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct meta m, again;
	if (meta_parse((const char *)data, size, &m) < 0)
		return 0;
	check(&m);
	struct buffer text = BUFFER_INIT;
	assert(meta_encode(&text, &m, META_MAX) == 0);
	assert(meta_parse(text.data, text.len, &again) == 0);
	check(&again);
	for (size_t i = 0; !again.cut && (m.argv[i] || again.argv[i]); i++)
		assert(strcmp(m.argv[i], again.argv[i]) == 0);
	assert(strcmp(m.cwd, again.cwd) == 0);
	assert(m.out.bytes == again.out.bytes && m.out.gap_from == again.out.gap_from);
	assert(m.exit_code == again.exit_code && m.state == again.state);
	buffer_release(&text);
	meta_release(&again);
	meta_release(&m);
	return 0;
}
