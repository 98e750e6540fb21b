// A history of any bytes: every line that is one is found, from the last to the first, and the
// others are passed over.

#include "lib/io.h"
#include "supervisor/artifact/history.h"
#include "supervisor/artifact/meta.h"

#include <assert.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct store store;

/* A store of its own with one session. */
static void make_store(void)
{
	char path[] = "/tmp/terse-fuzz-XXXXXX";
	assert(mkdtemp(path));
	snprintf(store.path, sizeof(store.path), "%s", path);
	store.fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert(store.fd >= 0);
	int dir = store_open_session(&store, "s", true);
	assert(dir >= 0);
	close(dir);
}

static void remove_store(void)
{
	int dir = store_open_session(&store, "s", false);
	unlinkat(dir, META_HISTORY, 0);
	close(dir);
	unlinkat(store.fd, "sessions/s", AT_REMOVEDIR);
	unlinkat(store.fd, "sessions", AT_REMOVEDIR);
	rmdir(store.path);
}

/* Lines that are runs, and others that are not empty, counted from the front. */
static void count(const char *data, size_t len, uint64_t *runs, uint64_t *others)
{
	*runs = *others = 0;
	while (len > 0) {
		const char *newline = memchr(data, '\n', len);
		size_t n = newline ? (size_t)(newline - data) : len;
		struct meta m;
		bool is_run = n <= META_HISTORY_MAX && meta_parse(data, n, &m) == 0;
		if (is_run)
			meta_release(&m);
		*runs += is_run;
		*others += !is_run && n > 0;
		data += n + (newline != NULL);
		len -= n + (newline != NULL);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t runs, others, found = 0;
	struct meta m;
	if (!store.path[0]) {
		make_store();
		atexit(remove_store);
	}
	int dir = store_open_session(&store, "s", false);
	int fd = store_open_file(dir, META_HISTORY, O_WRONLY | O_CREAT | O_TRUNC);
	assert(fd >= 0 && io_write(fd, data, size) == 0);
	close(fd);
	close(dir);
	count((const char *)data, size, &runs, &others);
	struct history *h = history_open(&store, 1, size % 2 ? "s" : NULL);
	assert(h);
	while (history_next(h, &m) == 1) {
		assert(m.argv && m.session && m.cwd);
		found++;
	}
	assert(found == runs && history_damaged(h) == others);
	history_close(h);
	return 0;
}
