// Linked into a terse of its own for tests/cli/faults.py: the n-th allocation of all its processes
// together fails. FAULT_MEMORY in the environment names a file of two native uint64_t:
// n, and how many allocations there were. Allocations of libc before main() are not counted, since
// libc ends the process when one fails.

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

struct fault {
	uint64_t at;
	_Atomic uint64_t count;
};

/* Kept through fork. */
static struct fault *fault;

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("FAULT_MEMORY");
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	if (fd < 0)
		return;
	void *at = mmap(NULL, sizeof(*fault), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	fault = at == MAP_FAILED ? NULL : at;
}

static bool fails(void)
{
	if (!fault || atomic_fetch_add(&fault->count, 1) + 1 != fault->at)
		return false;
	errno = ENOMEM;
	return true;
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	return fails() ? NULL : __real_realloc(old, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
	return fails() ? NULL : __real_aligned_alloc(alignment, size);
}
