// Whatever control strings begin and do not end, everything but controls is in the text, except
// data that is too long to be held. Bytes below 0x20 stand for the pieces that a stream of such
// strings is made of.

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/terminal.h"

#define HEADER 2
#define MOST   512

static const char *const pieces[32] = {
	"\033]",
	"\033P",
	"\033X",
	"\033^",
	"\033_",
	"\033\\",
	"\a",
	"\030",
	"\n",
	"\n",
	"\t",
	"\033[31m",
	"\033[m",
	"\033]0;",
	"\033]8;;",
	"\033Pq",
	"\033P1;2q",
	"\033_G",
	"\033_Ga=T;",
	"\033]52;",
	"\033]1337;File=inline=1:",
	"\033Ptmux;",
	"\xC2\x9B",
	"\xC2\x90",
	"\u00e9",
	"\U0001f469\u200d\U0001f4bb",
	"\u2764\ufe0f",
	"line\n",
	"1234567890123456789012345678901234567890",
	" ",
	"q",
	"G",
};

/* One piece is as long as what is held of a string. */
#define LONG_PIECE 28
#define LONG_TIMES 102

static void make(const uint8_t *input, size_t len, struct buffer *stream)
{
	for (size_t i = 0; i < len; i++) {
		const char *piece = pieces[input[i] & 31];
		char c = input[i] == '[' ? '(' : (char)input[i];
		if (input[i] >= 0x20)
			buffer_append(stream, &c, 1);
		for (int n = input[i] == LONG_PIECE ? LONG_TIMES : 1; input[i] < 0x20 && n > 0; n--)
			buffer_append_string(stream, piece);
	}
}

/* The text that the stream should give, by the rules in terminal/internal.h. */
struct model {
	struct buffer text, held;
	bool more;
};

static void take_text(struct model *m, const char *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (data[i] != '\a' && data[i] != '\030' && data[i] != 0x7F)
			buffer_append(&m->text, data + i, 1);
}

static bool may_be_long(const struct buffer *held)
{
	static const char *const data[] = {"_G", "]52;", "]1337;", "Ptmux;"};
	size_t digits = 1;
	for (size_t i = 0; i < held->len; i++)
		if ((held->data[i] <= ' ' || held->data[i] > '~') && held->data[i] != '\n')
			return false;
	for (size_t i = 0; i < sizeof(data) / sizeof(*data); i++)
		if (memcmp(held->data, data[i], strlen(data[i])) == 0)
			return true;
	while (digits < held->len && strchr("0123456789;", held->data[digits]))
		digits++;
	return held->data[0] == 'P' && digits < held->len && held->data[digits] == 'q';
}

static void give_up(struct model *m)
{
	take_text(m, m->held.data, m->held.len);
	buffer_clear(&m->held);
	m->more = false;
}

/* A byte in a string. Returns whether it is a part of it. */
static bool hold(struct model *m, const char *c)
{
	bool is_data = (*c > ' ' && *c <= '~') || *c == '\n';
	if (*c == '\n' && m->held.data[0] == ']')
		return false;
	if (m->held.len < STRING_HOLD)
		return buffer_try_append(&m->held, c, 1) == 0;
	if (!is_data || (!m->more && !may_be_long(&m->held)))
		return false;
	m->more = true;
	return true;
}

static void run_model(struct model *m, const char *data, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		bool ends = data[i] == '\030' ||
			    (data[i] == '\a' && m->held.len && m->held.data[0] == ']');
		if (data[i] == '\033') {
			buffer_clear(&m->held);
			m->more = false;
			i++;
			if (data[i] == '[')
				i += strcspn(data + i, "m");
			else if (data[i] != '\\')
				buffer_append(&m->held, data + i, 1);
		} else if (m->held.len && ends) {
			buffer_clear(&m->held);
			m->more = false;
		} else if (!m->held.len || !hold(m, data + i)) {
			give_up(m);
			take_text(m, data + i, 1);
		}
	}
	give_up(m);
}

/* Takes out the words that terse itself puts in; the stream has no '['. */
static void remove_words(struct buffer *text)
{
	size_t len = 0;
	for (size_t i = 0; i < text->len; i++) {
		if (text->data[i] == '[')
			i += text->data[i + 1] == 'i' ? 6 : 4;
		else
			text->data[len++] = text->data[i];
	}
	text->len = len;
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	struct buffer stream = BUFFER_INIT, text = BUFFER_INIT;
	struct model m = {.more = false};
	struct way way = {.options = {.onlcr = true}};
	if (size < HEADER)
		return 0;
	make(input + HEADER, size - HEADER < MOST ? size - HEADER : MOST, &stream);
	way.options.cols = 2 + input[0] % 200;
	way.options.rows = 2 + input[0] % 31;
	way.grid = input[1] & 2;
	way.piece = (size_t[]){0, 30, 5000, 4096}[input[1] >> 2 & 3];
	way.seed = input[1];
	render(&way, stream.data, stream.len, &text);
	buffer_append(&stream, "", 1);
	run_model(&m, stream.data, stream.len - 1);
	if (text.len)
		remove_words(&text);
	assert(is_equal(&text, &m.text));
	buffer_release(&m.text);
	buffer_release(&m.held);
	buffer_release(&stream);
	buffer_release(&text);
	return 0;
}
