// Archives from anywhere, before and after decompression: refused, or an artifact whose files are
// where they belong; nothing is left of a refused one.
//
// First byte odd: the rest is a compressed archive; else what is in one.

#include "lib/io.h"
#include "supervisor/artifact/archive.h"
#include "supervisor/artifact/gc.h"
#include "supervisor/artifact/text.h"
#include "tests/fuzz/fuzz.h"

#include <dirent.h>
#include <sys/mman.h>
#include <zstd.h>

static struct store store;

static void set_up(void)
{
	setenv("TERSE_HOME", fuzz_home(), 1);
	assert(store_open_write(&store) == 0);
}

/* Names of the session's directory that belong to an artifact. */
static int count_files(int dir)
{
	int count = 0, copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fdopendir(copy);
	assert(d);
	for (struct dirent *e; (e = readdir(d));)
		count += strncmp(e->d_name, ".", 2) != 0 && strncmp(e->d_name, "..", 3) != 0 &&
			 strcmp(e->d_name, "journal.jsonl") != 0;
	closedir(d);
	return count;
}

static void check_text(int dir, const char *id)
{
	struct text text;
	struct text_piece piece;
	static char block[65536];
	uint64_t lines, total = 0;
	assert(text_open(&text, dir, id, ARTIFACT_OUT) == 0);
	/* A hole of petabytes takes too long to be read here. */
	if (text.size <= 1 << 22) {
		assert(text_lines(&text, &lines) == 0);
		do {
			assert(text_next(&text, block, sizeof(block), &piece) == 0);
			total += piece.len;
		} while (piece.kind != TEXT_END);
		assert(total <= text.size);
	}
	text_close(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct archive_restored restored;
	uint64_t freed = 0;
	if (!store.path[0])
		set_up();
	if (size < 1 || size > 1 << 16)
		return 0;
	int fd = memfd_create("archive", MFD_CLOEXEC);
	if (data[0] % 2) {
		assert(io_write(fd, data + 1, size - 1) == 0);
	} else {
		size_t bound = ZSTD_compressBound(size - 1);
		char *packed = malloc(bound);
		size_t n = ZSTD_compress(packed, bound, data + 1, size - 1, 1);
		assert(!ZSTD_isError(n) && io_write(fd, packed, n) == 0);
		free(packed);
	}
	lseek(fd, 0, SEEK_SET);
	int result = archive_restore(&store, "fuzz", NULL, fd, 1 << 20, 0, &restored);
	int dir = store_open_session(&store, "fuzz", false);
	assert(dir >= 0);
	if (result == 0 && !restored.there) {
		assert(id_is_valid(restored.id) && id_exists(&store, restored.id));
		check_text(dir, restored.id);
		assert(removal_of(&store, "fuzz", dir, restored.id, &freed) == REMOVAL_DONE);
	}
	assert(count_files(dir) == 0);
	unlinkat(dir, "journal.jsonl", 0);
	close(dir);
	close(fd);
	return 0;
}
