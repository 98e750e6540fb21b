// An artifact to write to, and what its files hold. Include after cmocka.h.
#ifndef TERSE_TESTS_UNIT_KEPT_H
#define TERSE_TESTS_UNIT_KEPT_H

#include "lib/buffer.h"
#include "supervisor/artifact/artifact.h"
#include "tests/unit/home.h"
#include "tests/unit/unit.h"

/* Makes one in the test's home; `meta` is filled in and must outlive it. */
static inline struct artifact *kept_create(struct meta *meta)
{
	static char *argv[] = {(char *)"test", NULL};
	*meta = (struct meta){.argv = argv, .cwd = "/", .session = "test", .exit_code = -1};
	return artifact_create(meta, 0, 0);
}

/* The path of its text, until the next call. */
static inline const char *kept_path(const struct artifact *a)
{
	static char path[PATH_MAX];
	assert_true(artifact_part_path(a, ARTIFACT_OUT, path));
	return path;
}

/* Appends to `out` what is in the artifact's file that ends in `suffix` (".txt", ".raw").
   Returns 0, or -1 when there is none. */
static inline int kept_read(struct artifact *a, const char *suffix, struct buffer *out)
{
	char path[PATH_MAX], chunk[4096];
	const char *text = kept_path(a);
	ssize_t n;
	assert_int_equal(artifact_update(a), 0);
	snprintf(path, sizeof(path), "%.*s%s", (int)(strlen(text) - strlen(".txt")), text, suffix);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	while ((n = read(fd, chunk, sizeof(chunk))) > 0)
		buffer_append(out, chunk, (size_t)n);
	close(fd);
	return (int)n;
}

/* That file holds `want` and nothing else; NULL: there is none. */
static inline void kept_equals(struct artifact *a, const char *suffix, const char *want)
{
	struct buffer out = BUFFER_INIT;
	int result = kept_read(a, suffix, &out);
	if (want) {
		assert_int_equal(result, 0);
		assert_string_equal(buffer_string(&out), want);
	} else {
		assert_int_equal(result, -1);
	}
	buffer_release(&out);
}

#endif
