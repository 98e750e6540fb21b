// See file_type.h.

#include "supervisor/report/file_type.h"

#include "lib/bytes.h"

#include <string.h>

bool sniff_judge(const struct sniff *s)
{
	return s->binary || s->bad * 10 > s->len * 3;
}

void sniff_add(struct sniff *s, const char *data, size_t len)
{
	const struct scan *scan = scan_variants()[0];
	if (len > SNIFF_MOST - s->len)
		len = SNIFF_MOST - s->len;
	while (len > 0) {
		size_t next = s->len < SNIFF_LEN   ? SNIFF_LEN
			      : s->len < SNIFF_NUL ? SNIFF_NUL
						   : SNIFF_MOST;
		size_t most = next - s->len < len ? next - s->len : len;
		/* Skips printable ASCII, which nearly all bytes are. */
		size_t n = s->more ? 0 : scan->ascii(data, most);
		const unsigned char c = (unsigned char)*data;
		if (n == 0 && s->more > 0 && (c & 0xC0) == 0x80) {
			s->more--;
			n = 1;
		} else if (n == 0) {
			/* Text for a terminal may hold BEL BS TAB LF VT FF CR SO SI and ESC. */
			bool is_control = c < 0x20 && !(c >= 0x07 && c <= 0x0F) && c != 0x1B;
			/* The character before is incomplete. */
			s->bad += s->more > 0;
			s->nul |= c == '\0';
			s->newline |= c == '\n';
			s->more = c < 0xC2 || c > 0xF4 ? 0 : c >= 0xF0 ? 3 : c >= 0xE0 ? 2 : 1;
			s->bad += s->more == 0 && (c >= 0x7F || is_control);
			n = 1;
		}
		s->len += n;
		data += n;
		len -= n;
		if (s->len == next)
			s->binary = sniff_judge(s);
	}
}

bool sniff_is_binary(const char *data, size_t len, const char **kind)
{
	struct sniff s = {.len = 0};
	sniff_add(&s, data, len);
	*kind = s.bad > 0 ? file_type_find(data, len) : NULL;
	return sniff_judge(&s) || *kind;
}

/* Signatures, each with its offset. */
static const struct {
	const char *bytes;
	size_t len, offset;
	const char *name;
} kinds[] = {
	{"\x1f\x8b", 2, 0, "gzip"},
	{"\x28\xb5\x2f\xfd", 4, 0, "zstd"},
	{"\3757zXZ", 5, 0, "xz"},
	{"BZh", 3, 0, "bzip2"},
	{"PK\x03\x04", 4, 0, "zip"},
	{"PK\x05\x06", 4, 0, "zip"},
	{"7z\xbc\xaf\x27\x1c", 6, 0, "7-Zip"},
	{"\177ELF", 4, 0, "ELF"},
	{"\x89PNG\r\n\x1a\n", 8, 0, "PNG image"},
	{"\xff\xd8\xff", 3, 0, "JPEG image"},
	{"GIF8", 4, 0, "GIF image"},
	{"WEBP", 4, 8, "WebP image"},
	{"ftypavif", 8, 4, "AVIF image"},
	{"%PDF-", 5, 0, "PDF"},
	{"SQLite format 3", 15, 0, "SQLite database"},
	{"ustar", 5, 257, "tar"},
	{"!<arch>\n", 8, 0, "ar archive"},
	{"\0asm", 4, 0, "WebAssembly"},
	{"\xca\xfe\xba\xbe", 4, 0, "Java class"},
	{"ftyp", 4, 4, "MP4"},
};

const char *file_type_find(const char *data, size_t len)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (len >= kinds[i].offset + kinds[i].len &&
		    memcmp(data + kinds[i].offset, kinds[i].bytes, kinds[i].len) == 0)
			return kinds[i].name;
	}
	return NULL;
}
