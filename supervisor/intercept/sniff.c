// See sniff.h.

#include "supervisor/intercept/sniff.h"

#include "supervisor/report/kind.h"

/* BEL BS TAB LF VT FF CR SO SI ESC: what text for a terminal may hold. */
static bool is_terminal_control(unsigned char c)
{
	return (c >= 0x07 && c <= 0x0F) || c == 0x1B;
}

/* The bytes that follow one that begins a character. */
static unsigned char lacks(unsigned char c)
{
	return c >= 0xF0 ? 3 : c >= 0xE0 ? 2 : 1;
}

static void add_byte(struct sniff *s, unsigned char c)
{
	bool continues = (c & 0xC0) == 0x80;
	if (continues && s->more > 0) {
		s->more--;
		return;
	}
	/* The character before was cut. */
	s->bad += s->more > 0;
	s->more = 0;
	s->nul |= c == '\0';
	s->newline |= c == '\n';
	if (c >= 0xC2 && c <= 0xF4)
		s->more = lacks(c);
	else if (c >= 0x7F || (c < 0x20 && !is_terminal_control(c)))
		s->bad++;
}

bool sniff_judge(const struct sniff *s)
{
	return s->binary || s->bad * 10 > s->len * 3;
}

void sniff_add(struct sniff *s, const char *data, size_t len)
{
	for (size_t i = 0; i < len && s->len < SNIFF_MOST; i++) {
		add_byte(s, (unsigned char)data[i]);
		s->len++;
		if (s->len == SNIFF_LEN || s->len == SNIFF_NUL || s->len == SNIFF_MOST)
			s->binary = sniff_judge(s);
	}
}

bool sniff_is_binary(const char *data, size_t len, struct kind *kind)
{
	struct sniff s = {.len = 0};
	*kind = (struct kind){.name = NULL};
	sniff_add(&s, data, len);
	if (s.bad > 0)
		kind_find(kind, data, len);
	return sniff_judge(&s) || kind->name;
}
