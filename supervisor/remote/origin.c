// See origin.h.

#include "supervisor/remote/origin.h"

#include "lib/io.h"
#include "lib/json.h"
#include "lib/utf8.h"
#include "supervisor/remote/remote.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOUNTS_MAX ((size_t)256 * 1024)

/* Container engines mount files such as /etc/hostname from a directory that is named after the
   container. */
static const char *const container_marks[] = {"/containers/", "/sandboxes/", "/overlay-containers/",
					      "/cri-containerd/"};

/* Digits of a container's ID. */
#define ID_DIGITS 64

bool origin_container(const char *mounts, char id[ORIGIN_CONTAINER + 1])
{
	for (size_t i = 0; i < sizeof(container_marks) / sizeof(*container_marks); i++) {
		size_t len = strlen(container_marks[i]);
		for (const char *at = mounts; (at = strstr(at, container_marks[i])) != NULL;) {
			at += len;
			if (strspn(at, "0123456789abcdef") != ID_DIGITS)
				continue;
			snprintf(id, ORIGIN_CONTAINER + 1, "%s", at);
			return true;
		}
	}
	return false;
}

static void origin_add_container(struct buffer *out)
{
	char id[ORIGIN_CONTAINER + 1], *text = malloc(MOUNTS_MAX);
	int fd = text ? open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC) : -1;
	ssize_t n = fd < 0 ? -1 : io_read(fd, text, MOUNTS_MAX - 1);
	bool found = false;
	if (n >= 0) {
		text[n] = '\0';
		found = origin_container(text, id);
	}
	json_add_string(out, "container", found ? id : NULL);
	io_close(&fd);
	free(text);
}

void origin_add_labels(struct buffer *out, const struct settings *settings)
{
	json_begin_object(out, NULL);
	for (size_t i = 0; i < settings->labels.count; i++) {
		const char *label = settings->labels.items[i], *value = strchr(label, '=') + 1;
		char name[64];
		snprintf(name, sizeof(name), "%.*s", (int)(value - label - 1), label);
		if (*value == '$' && value[1])
			value = getenv(value + 1);
		size_t len = value ? strlen(value) : 0;
		if (len > 0)
			json_add_text(out, name, value,
				      utf8_floor(value, len, len < LABEL_MAX ? len : LABEL_MAX));
	}
	json_end_object(out);
}

void origin_encode(struct buffer *out, const char *host, const struct buffer *labels)
{
	char here[REMOTE_HOST_LEN + 1];
	remote_host(here);
	json_add_string(out, "host", host);
	if (strcmp(host, here) == 0)
		origin_add_container(out);
	else
		json_add_null(out, "container");
	json_add_raw(out, "labels", labels->data, labels->len);
}
