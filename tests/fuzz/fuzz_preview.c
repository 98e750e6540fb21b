// Any bytes, cut anywhere, under any options: the pieces cover the lines in
// order and stay within the budget.

#include "lib/buffer.h"
#include "lib/utf8.h"
#include "supervisor/preview/preview.h"
#include "tests/fuzz/fuzz.h"

static size_t marker(void *ctx, const struct preview_piece *piece, char *out, size_t cap)
{
	(void)ctx;
	return (size_t)snprintf(out, cap, "[%llu%s]\n",
				(unsigned long long)(piece->to - piece->from),
				piece->spelled ? ": command" : "");
}

static size_t printed_len(const struct preview_piece *piece, bool bare)
{
	struct buffer clean = BUFFER_INIT;
	char out[512];
	size_t len;
	if (piece->kind != PREVIEW_TEXT)
		return bare ? 0 : marker(NULL, piece, out, sizeof(out));
	utf8_clean(&clean, piece->text, piece->len);
	len = clean.len;
	buffer_release(&clean);
	return len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct preview_piece *pieces;
	struct preview_options options;
	struct preview_ask ask = {.marker = marker};
	struct preview *p;
	uint64_t next = 1, bytes = 0;
	size_t step, at, n, used = 0, spelled = 0;
	int count;
	if (size < 8)
		return 0;
	static const enum mode modes[] = {MODE_SMART, MODE_TAIL, MODE_ENDS};
	options = (struct preview_options){
		.limit.mode = modes[data[0] % 3],
		.limit.fold = FOLD_OVERFLOW,
		.limit.bytes = 64 + data[1] * 16u,
		.limit.head_share = data[2] % 101,
		.limit.max_line = 1 + data[3] * 8u,
		.limit.count = data[4] % 2 ? 0 : data[5],
		.bare = data[4] & 2,
	};
	ask.status = data[6] % 3 - 1;
	ask.command = data[6] & 4 ? "terse read ID --bytes " : NULL;
	step = 1 + data[7];
	data += 8;
	size -= 8;
	p = preview_new(&options);
	assert(p != NULL);
	for (at = 0; at < size; at += n) {
		n = size - at < step ? size - at : step;
		preview_feed(p, (const char *)data + at, n);
		if (at % 3 == 0)
			assert(preview_choose(p, &ask, &pieces) >= 0);
	}
	count = preview_choose(p, &ask, &pieces);
	assert(count >= 0);
	for (int i = 0; i < count; i++) {
		assert(pieces[i].from == next && pieces[i].to >= next);
		next = pieces[i].to + 1;
		bytes += pieces[i].bytes;
		used += printed_len(&pieces[i], options.bare);
		if (pieces[i].kind == PREVIEW_GAP || pieces[i].kind == PREVIEW_ALIKE)
			assert(pieces[i].spelled == (spelled++ == 0));
	}
	assert(next == preview_facts(p).lines + 1 && bytes == size &&
	       preview_facts(p).bytes == size);
	assert(used <= options.limit.bytes || (count == 1 && pieces[0].kind == PREVIEW_GAP));
	preview_free(p);
	return 0;
}
