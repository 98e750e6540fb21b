// See target.h.

#include "shim/target.h"

#include <string.h>

enum { NUMBERS = 3 };

struct target_key {
	const char *name;
	size_t at;    /* in struct target */
	size_t count; /* of numbers; 0: a path */
};

static const struct target_key keys[] = {
	{"program ", offsetof(struct target, program), 0},
	{"shell ", offsetof(struct target, shell), 0},
	{"real ", offsetof(struct target, real), 0},
	{"worked ", offsetof(struct target, worked), NUMBERS},
	{"failed ", offsetof(struct target, failed), NUMBERS},
	{"tried ", offsetof(struct target, tried), 1},
	{"said ", offsetof(struct target, said), 1},
};

enum { KEYS = sizeof(keys) / sizeof(*keys) };

static void *target_member(const struct target *t, const struct target_key *key)
{
	return (char *)t + key->at;
}

void target_read(struct target *t, char *text)
{
	*t = (struct target){.program = "", .shell = "", .real = ""};
	while (*text) {
		char *line = text, *end = strchr(text, '\n');
		text = end ? end + 1 : text + strlen(text);
		if (end)
			*end = '\0';
		for (size_t i = 0; i < KEYS; i++) {
			size_t len = strlen(keys[i].name);
			if (strncmp(line, keys[i].name, len) != 0)
				continue;
			const char *value = line + len;
			int64_t *numbers = target_member(t, &keys[i]);
			if (keys[i].count == 0)
				*(const char **)target_member(t, &keys[i]) = value;
			for (size_t k = 0; k < keys[i].count; k++) {
				uint64_t n = 0;
				while (*value >= '0' && *value <= '9')
					n = 10 * n + (uint64_t)(*value++ - '0');
				numbers[k] = (int64_t)n;
				value += *value == ' ';
			}
		}
	}
}

size_t target_write(const struct target *t, char *out)
{
	char *const start = out;
	for (size_t i = 0; i < KEYS; i++) {
		const void *member = target_member(t, &keys[i]);
		const char *path = keys[i].count ? "" : *(const char *const *)member;
		size_t name_len = strlen(keys[i].name), path_len = strlen(path);
		if (path_len >= PATH_MAX || strchr(path, '\n'))
			return 0;
		memcpy(out, keys[i].name, name_len);
		memcpy(out + name_len, path, path_len);
		out += name_len + path_len;
		for (size_t k = 0; k < keys[i].count; k++) {
			if (k)
				*out++ = ' ';
			char digits[24];
			size_t n = 0;
			int64_t number = ((const int64_t *)member)[k];
			uint64_t left = number < 0 ? 0 : (uint64_t)number;
			do
				digits[n++] = (char)('0' + left % 10);
			while (left /= 10);
			while (n)
				*out++ = digits[--n];
		}
		*out++ = '\n';
	}
	*out = '\0';
	return (size_t)(out - start);
}

struct target_stamp target_stamp(const struct stat *st)
{
	return (struct target_stamp){st->st_size, st->st_ctim.tv_sec, st->st_ctim.tv_nsec};
}

bool target_is_same(const struct target_stamp *a, const struct target_stamp *b)
{
	return a->size == b->size && a->seconds == b->seconds && a->nanoseconds == b->nanoseconds;
}
