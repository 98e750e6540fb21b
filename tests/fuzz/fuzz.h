// What every fuzzer begins with.
#ifndef TERSE_TESTS_FUZZ_H
#define TERSE_TESTS_FUZZ_H

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A directory of the fuzzer's own, removed at its end; the same one at each call. */

static char fuzz_home_path[] = "/tmp/terse-fuzz-XXXXXX";

static inline int fuzz_remove_one(const char *path, const struct stat *st, int type,
				  struct FTW *ftw)
{
	(void)st;
	(void)type;
	return ftw->level > 0 ? remove(path) : 0;
}

static inline void fuzz_empty_home(void)
{
	nftw(fuzz_home_path, fuzz_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static inline void fuzz_remove_home(void)
{
	fuzz_empty_home();
	rmdir(fuzz_home_path);
}

static inline const char *fuzz_home(void)
{
	static bool made;
	if (!made) {
		assert(mkdtemp(fuzz_home_path));
		atexit(fuzz_remove_home);
	}
	made = true;
	return fuzz_home_path;
}

#endif
