// Any bytes, and among them a key behind a part of a line of any length: what comes out is the same
// however they come in pieces, has nothing of the key, and without a mark it is what came in.
//
// The first byte of the input seeds the pieces, the second one tells where the key is and how long
// its line.

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
	/* Long texts come in larger ones. */
	int most = len < 4096 ? 30 : 4000;
	for (size_t at = 0; at < len;) {
		size_t n = seed ? (size_t)(rand_r(&seed) % most) + 1 : len;
		if (n > len - at)
			n = len - at;
		redactor_feed(&r, data + at, n);
		at += n;
	}
	redactor_finish(&r);
	redactor_release(&r);
}

/* No text of its own, nor a part of a mark or of a name of a key. */
#define BODY "QJXQJXQJX"

static void plant(const char *data, size_t len, unsigned where, struct buffer *text)
{
	size_t before = len * (where % 16) / 16;
	buffer_append(text, data, before);
	for (unsigned i = where / 16 * 3000; i > 0; i--)
		buffer_append(text, "a", 1);
	buffer_append_string(text, "-----BEGIN RSA PRIVATE KEY-----\n" BODY "\n" BODY "\n" BODY
				   "\n-----END RSA PRIVATE KEY-----\n");
	buffer_append(text, data + before, len - before);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!secrets)
		set_up();
	if (size < 3 || memmem(data, size, "QJX", 3))
		return 0;
	struct buffer text = BUFFER_INIT, whole = BUFFER_INIT, pieces = BUFFER_INIT;
	if (data[1] > 0)
		plant((const char *)data + 2, size - 2, data[1], &text);
	else
		buffer_append(&text, data + 2, size - 2);
	pass(text.data, text.len, 0, &whole);
	pass(text.data, text.len, data[0] + 1U, &pieces);
	assert(whole.len == pieces.len);
	assert(whole.len == 0 || memcmp(whole.data, pieces.data, whole.len) == 0);
	assert(whole.len == 0 || !memmem(whole.data, whole.len, "QJX", 3));
	if (!memmem(data, size, "[redacted", 9) && !memmem(whole.data, whole.len, "[redacted", 9)) {
		assert(whole.len == text.len);
		assert(memcmp(whole.data, text.data, whole.len) == 0);
	}
	buffer_release(&text);
	buffer_release(&whole);
	buffer_release(&pieces);
	return 0;
}
