// The kinds of binary data, by their first bytes, and the sizes of images.

#include "lib/buffer.h"
#include "supervisor/report/file_type.h"
#include "tests/unit/unit.h"

#define BYTES(text) (text), sizeof(text) - 1

struct sample {
	const char *data;
	size_t len;
	const char *told;
};

static void expect(const char *data, size_t len, const char *told)
{
	struct buffer out = BUFFER_INIT;
	struct kind k;
	file_type_find(&k, data, len);
	assert_int_equal(file_type_append(&out, &k), 0);
	assert_string_equal(buffer_string(&out), told);
	buffer_release(&out);
}

TEST(names)
{
	static const struct sample samples[] = {
		{BYTES("\x1f\x8b\x08"), "gzip"},
		{BYTES("\x28\xb5\x2f\xfd"), "zstd"},
		{BYTES("\xfd"
		       "7zXZ\0"),
		 "xz"},
		{BYTES("BZh9"), "bzip2"},
		{BYTES("PK\x03\x04"), "zip"},
		{BYTES("PK\x05\x06"), "zip"},
		{BYTES("\x7f"
		       "ELF\x02"),
		 "ELF"},
		{BYTES("%PDF-1.7"), "PDF"},
		{BYTES("SQLite format 3\0"), "SQLite database"},
		{BYTES("!<arch>\n"), "ar archive"},
		{BYTES("\0asm\1"), "WebAssembly"},
		{BYTES("RIFF\x24\0\0\0WAVEfmt "), "WAV"},
		{BYTES("\0\0\0\x18"
		       "ftypmp42"),
		 "MP4"},
		{BYTES("\0\0\0\x18"
		       "ftypavif"),
		 "AVIF image"},
	};
	char tar[262] = "";
	for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++) {
		expect(samples[i].data, samples[i].len, samples[i].told);
		expect(samples[i].data, 1, "binary data");
	}
	memcpy(tar + 257, "ustar", 5);
	expect(tar, sizeof(tar), "tar");
	expect(tar, sizeof(tar) - 1, "binary data");
	expect("", 0, "binary data");
	expect(BYTES("text"), "binary data");
}

TEST(images)
{
	static const struct sample samples[] = {
		{BYTES("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\2\x80\0\0\1\xe0\x08"),
		 "PNG image, 640x480"},
		{BYTES("GIF89a\x40\1\xc8\0\xf7"), "GIF image, 320x200"},
		{BYTES("RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x3f\1\0\xc7\0\0"),
		 "WebP image, 320x200"},
		{BYTES("RIFF\0\0\0\0WEBPVP8L\x0a\0\0\0\x2f\x3f\xc1\x31\0\0\0\0\0\0"),
		 "WebP image, 320x200"},
		{BYTES("RIFF\0\0\0\0WEBPVP8 \x0a\0\0\0\x30\1\0\x9d\1\x2a\x40\1\xc8\0"),
		 "WebP image, 320x200"},
		{BYTES("BM\0\0\0\0\0\0\0\0\0\0\0\0\x28\0\0\0\x40\1\0\0\x38\xff\xff\xff"),
		 "BMP image, 320x200"},
		/* An APP0 segment, a padding byte, a table, the frame. */
		{BYTES("\xff\xd8\xff\xe0\0\4ab\xff\xff\xc4\0\3x\xff\xc2\0\x11\x08\0\xc8\1\x40\3"),
		 "JPEG image, 320x200"},
	};
	for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++) {
		const struct sample *s = &samples[i];
		expect(s->data, s->len, s->told);
		/* Cut anywhere it is read no further, and never has another size. */
		for (size_t len = 0; len < s->len; len++) {
			struct kind k;
			char *copy = len ? memcpy(test_malloc(len), s->data, len) : NULL;
			file_type_find(&k, copy, len);
			assert_true(k.width == 0 || (k.width == 320 && k.height == 200) ||
				    (k.width == 640 && k.height == 480));
			if (copy)
				test_free(copy);
		}
	}
}

TEST(damaged_images)
{
	expect(BYTES("\x89PNG\r\n\x1a\nxxxxxxxxxxxxxxxxxxxxx"), "PNG image");
	expect(BYTES("\xff\xd8\xff\xe0\0\0\xff\xe0\0\0\0\0\0\0\0\0\0\0\0"), "JPEG image");
	expect(BYTES("\xff\xd8\xff\xe0\xff\xff"), "JPEG image");
	expect(BYTES("RIFF\0\0\0\0WEBPnonsense that is long enough"), "WebP image");
	expect(BYTES("GIF89a\0\0\0\0\0"), "GIF image");
}

TEST_MAIN(NULL, NULL)
