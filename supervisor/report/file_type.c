// See file_type.h.

#include "supervisor/report/file_type.h"

#include "lib/buffer.h"

#include <string.h>

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
		file_type_find(kind, data, len);
	return sniff_judge(&s) || kind->name;
}

typedef void size_finder(struct kind *k, const unsigned char *data, size_t len);

static uint32_t big(const unsigned char *data, size_t bytes)
{
	uint32_t n = 0;
	while (bytes-- > 0)
		n = n << 8 | *data++;
	return n;
}

static uint32_t little(const unsigned char *data, size_t bytes)
{
	uint32_t n = 0;
	while (bytes-- > 0)
		n = n << 8 | data[bytes];
	return n;
}

/* IHDR is the first chunk. */
static void size_png(struct kind *k, const unsigned char *data, size_t len)
{
	if (len < 24 || memcmp(data + 12, "IHDR", 4) != 0)
		return;
	k->width = big(data + 16, 4);
	k->height = big(data + 20, 4);
}

static void size_gif(struct kind *k, const unsigned char *data, size_t len)
{
	if (len < 10)
		return;
	k->width = little(data + 6, 2);
	k->height = little(data + 8, 2);
}

/* A BITMAPINFOHEADER or longer; the height is negative for rows from the top. */
static void size_bmp(struct kind *k, const unsigned char *data, size_t len)
{
	if (len < 26 || little(data + 14, 4) < 40)
		return;
	uint32_t height = little(data + 22, 4);
	k->width = little(data + 18, 4);
	k->height = height >> 31 ? -height : height;
}

/* The segments (marker, length, data) up to the one that begins a frame. */
static void size_jpeg(struct kind *k, const unsigned char *data, size_t len)
{
	size_t at = 2;
	while (at + 9 <= len && data[at] == 0xFF) {
		unsigned marker = data[at + 1];
		/* SOF0 to SOF15 but DHT, JPG and DAC. */
		if (marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 &&
		    marker != 0xCC) {
			k->height = big(data + at + 5, 2);
			k->width = big(data + at + 7, 2);
			return;
		}
		at += marker == 0xFF ? 1 : 2 + big(data + at + 2, 2);
	}
}

/* The three forms of a WebP's first chunk. */
static void size_webp(struct kind *k, const unsigned char *data, size_t len)
{
	if (len < 30)
		return;
	if (memcmp(data + 12, "VP8X", 4) == 0) {
		k->width = little(data + 24, 3) + 1;
		k->height = little(data + 27, 3) + 1;
	} else if (memcmp(data + 12, "VP8L", 4) == 0) {
		uint32_t bits = little(data + 21, 4);
		k->width = (bits & 0x3FFF) + 1;
		k->height = (bits >> 14 & 0x3FFF) + 1;
	} else if (memcmp(data + 12, "VP8 ", 4) == 0) {
		k->width = little(data + 26, 2) & 0x3FFF;
		k->height = little(data + 28, 2) & 0x3FFF;
	}
}

/* A signature, where it is, and how the size of such an image is found. */
static const struct {
	const char *bytes;
	size_t len, offset;
	const char *name;
	size_finder *size;
} kinds[] = {
	{"\x1f\x8b", 2, 0, "gzip", NULL},
	{"\x28\xb5\x2f\xfd", 4, 0, "zstd", NULL},
	{"\xfd"
	 "7zXZ",
	 5, 0, "xz", NULL},
	{"BZh", 3, 0, "bzip2", NULL},
	{"PK\x03\x04", 4, 0, "zip", NULL},
	{"PK\x05\x06", 4, 0, "zip", NULL},
	{"7z\xbc\xaf\x27\x1c", 6, 0, "7-Zip", NULL},
	{"\x7f"
	 "ELF",
	 4, 0, "ELF", NULL},
	{"\x89PNG\r\n\x1a\n", 8, 0, "PNG image", size_png},
	{"\xff\xd8\xff", 3, 0, "JPEG image", size_jpeg},
	{"GIF8", 4, 0, "GIF image", size_gif},
	{"WEBP", 4, 8, "WebP image", size_webp},
	{"BM", 2, 0, "BMP image", size_bmp},
	{"II*\0", 4, 0, "TIFF image", NULL},
	{"MM\0*", 4, 0, "TIFF image", NULL},
	{"ftypavif", 8, 4, "AVIF image", NULL},
	{"\0\0\1\0", 4, 0, "icon", NULL},
	{"%PDF-", 5, 0, "PDF", NULL},
	{"SQLite format 3", 15, 0, "SQLite database", NULL},
	{"ustar", 5, 257, "tar", NULL},
	{"!<arch>\n", 8, 0, "ar archive", NULL},
	{"\0asm", 4, 0, "WebAssembly", NULL},
	{"\xca\xfe\xba\xbe", 4, 0, "Java class", NULL},
	{"wOF2", 4, 0, "WOFF2 font", NULL},
	{"wOFF", 4, 0, "WOFF font", NULL},
	{"OggS", 4, 0, "Ogg", NULL},
	{"fLaC", 4, 0, "FLAC", NULL},
	{"ID3", 3, 0, "MP3", NULL},
	{"WAVE", 4, 8, "WAV", NULL},
	{"ftyp", 4, 4, "MP4", NULL},
	{"\x1a\x45\xdf\xa3", 4, 0, "Matroska", NULL},
};

void file_type_find(struct kind *k, const char *data, size_t len)
{
	*k = (struct kind){NULL, 0, 0};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (len < kinds[i].offset + kinds[i].len ||
		    memcmp(data + kinds[i].offset, kinds[i].bytes, kinds[i].len) != 0)
			continue;
		k->name = kinds[i].name;
		if (kinds[i].size)
			kinds[i].size(k, (const unsigned char *)data, len);
		return;
	}
}

int file_type_append(struct buffer *out, const struct kind *k)
{
	buffer_append_string(out, k->name ? k->name : "binary data");
	if (k->width > 0 && k->height > 0)
		buffer_printf(out, ", %ux%u", k->width, k->height);
	return buffer_check(out);
}
