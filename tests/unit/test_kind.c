// The kinds of binary data, by their first bytes.

#include "supervisor/report/file_type.h"
#include "tests/unit/unit.h"

#define BYTES(text) (text), sizeof(text) - 1

TEST(names)
{
	static const struct {
		const char *data;
		size_t len;
		const char *told;
	} samples[] = {
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
		{BYTES("RIFF\0\0\0\0WEBPVP8X"), "WebP image"},
		{BYTES("\x89PNG\r\n\x1a\n\0"), "PNG image"},
		{BYTES("\xff\xd8\xff\xe0\0\4"), "JPEG image"},
		{BYTES("GIF89a\0\0"), "GIF image"},
		{BYTES("\0\0\0\x18"
		       "ftypmp42"),
		 "MP4"},
		{BYTES("\0\0\0\x18"
		       "ftypavif"),
		 "AVIF image"},
	};
	char tar[262] = "";
	for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++) {
		const char *told = file_type_find(samples[i].data, samples[i].len);
		assert_string_equal(told, samples[i].told);
		/* Cut anywhere, nothing behind is read. */
		for (size_t len = 1; len < samples[i].len; len++) {
			char *copy = memcpy(test_malloc(len), samples[i].data, len);
			told = file_type_find(copy, len);
			assert_true(len > 1 || !told);
			test_free(copy);
		}
	}
	memcpy(tar + 257, "ustar", 5);
	assert_string_equal(file_type_find(tar, sizeof(tar)), "tar");
	assert_null(file_type_find(tar, sizeof(tar) - 1));
	assert_null(file_type_find("", 0));
	assert_null(file_type_find(BYTES("text")));
}

TEST_MAIN(NULL, NULL)
