// The content of an archive (archive.h) as it comes, in pieces of any length and from anywhere.
#ifndef TERSE_ARCHIVE_UNPACK_H
#define TERSE_ARCHIVE_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UNPACK_MAGIC "terse-archive 1\n"
#define UNPACK_LINE  64
/* Sizes and offsets are not larger: 2^53. */
#define UNPACK_MAX ((uint64_t)1 << 53)

enum unpack_part { UNPACK_JSON, UNPACK_TEXT, UNPACK_ERR, UNPACK_RAW, UNPACK_CAST, UNPACK_PARTS };

extern const char *const unpack_names[UNPACK_PARTS];

struct unpack {
	/* The next bytes of a part, at this offset of its file; at ascending offsets. The JSON is
	   there before the first bytes of another part. `len` 0: the size of the file is `offset`.
	   Returns 0, or -1 with errno. */
	int (*data)(void *ctx, enum unpack_part part, uint64_t offset, const char *data,
		    size_t len);
	void *ctx;

	enum { UNPACK_BEGIN, UNPACK_HEAD, UNPACK_BODY, UNPACK_END } state;
	char line[UNPACK_LINE];
	size_t line_len;
	enum unpack_part part;
	uint64_t offset, left;
	uint64_t ends[UNPACK_PARTS]; /* of what has come */
	bool begun[UNPACK_PARTS];
};

/* A zeroed one with the first two members set is a new one. Returns 0, or -1 with errno EBADMSG
   or that of data(); then it must not be fed any more. */
int unpack_feed(struct unpack *u, const char *data, size_t len);

/* Whether all has come. */
bool unpack_is_complete(const struct unpack *u);

#endif
