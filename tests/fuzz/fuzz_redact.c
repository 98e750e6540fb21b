// Any bytes: what comes out is the same however they come in pieces, and without a mark it is what
// came in.
//
// The first byte of the input seeds the pieces.

#include "config/option.h"
#include "supervisor/redact/redactor.h"
#include "tests/fuzz/fuzz.h"

static struct settings settings;
static struct secrets *secrets;

static void set_up(void)
{
	struct option_error error;
	settings_init(&settings);
	settings.redact = true;
	option_append(&settings, option_by_key("redact", "patterns"), "pass(word)?=\\K\\S+",
		      &error);
	secrets = secrets_new(&settings);
	assert(secrets);
}

static void collect(void *ctx, const char *data, size_t len)
{
	buffer_append(ctx, data, len);
}

static void pass(const char *data, size_t len, unsigned seed, struct buffer *out)
{
	struct redactor r = {.secrets = secrets, .out = collect, .ctx = out};
	for (size_t at = 0; at < len;) {
		size_t n = seed ? (size_t)(rand_r(&seed) % 30) + 1 : len;
		if (n > len - at)
			n = len - at;
		redactor_feed(&r, data + at, n);
		at += n;
	}
	redactor_finish(&r);
	redactor_release(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!secrets)
		set_up();
	/* A secret that is longer than the redactor holds back may be cut elsewhere. */
	if (size < 2 || size > REDACTOR_HOLD)
		return 0;
	struct buffer whole = BUFFER_INIT, pieces = BUFFER_INIT;
	pass((const char *)data + 1, size - 1, 0, &whole);
	pass((const char *)data + 1, size - 1, data[0] + 1U, &pieces);
	assert(whole.len == pieces.len);
	assert(whole.len == 0 || memcmp(whole.data, pieces.data, whole.len) == 0);
	if (!memmem(data, size, "[redacted", 9) && !memmem(whole.data, whole.len, "[redacted", 9)) {
		assert(whole.len == size - 1);
		assert(memcmp(whole.data, data + 1, size - 1) == 0);
	}
	buffer_release(&whole);
	buffer_release(&pieces);
	return 0;
}
