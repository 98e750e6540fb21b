// See remote.h.

#include "supervisor/remote/remote.h"

#include "lib/buffer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#define FILE_KIND   "file:"
#define RCLONE_KIND "rclone:"
#define S3_KIND     "s3://"

/* The commands of a ready-made kind; {remote} is what the ini file has behind its name, in quotes.
   terse retries itself. rclone asks nothing about what is there before, nor after: a PUT with a
   checksum is one request. */
#define RCLONE                                                                     \
	"rclone --retries 1 --low-level-retries 3 --contimeout 10s --timeout 60s " \
	"--no-check-dest --s3-no-check-bucket --s3-no-head --quiet "
/* An hour may have an object from each of many thousand machines. */
#define RCLONE_LIST RCLONE "--transfers 32 --use-server-modtime --s3-no-head-object "
#define AWS         "aws s3 cp --only-show-errors "

static const struct kind {
	const char *prefix, *keep; /* keep: what of the prefix belongs to the place */
	const char *commands[REMOTE_WORKS];
	const char *absent; /* see struct remote */
} kinds[] = {
	{RCLONE_KIND,
	 "",
	 {RCLONE "copyto {file} '{remote}/'{key}", RCLONE "copyto '{remote}/'{key} {file}",
	  RCLONE_LIST "--include {host}* copy '{remote}/'{key} {file}"},
	 ""},
	{S3_KIND,
	 S3_KIND,
	 {AWS "{file} '{remote}/'{key}", AWS "'{remote}/'{key} {file}",
	  AWS "--recursive --exclude '*' --include '{host}*' "
	      "'{remote}/'{key}/ {file}"},
	 "(404) when calling the HeadObject"},
};

bool remote_is_set(const struct settings *s)
{
	return s->remote || s->push_command || s->pull_command || s->list_command;
}

bool remote_pushes(const struct settings *s)
{
	return s->push != PUSHING_OFF && (s->remote || s->push_command);
}

void remote_clean_name(const char *text, char *out, size_t size)
{
	size_t n = 0;
	for (; n + 1 < size && text[n]; n++) {
		char c = text[n];
		bool letter =
			(c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
		out[n] = letter || (n > 0 && (c == '.' || c == '-')) ? c : '_';
	}
	out[n] = '\0';
}

/* Appends `text` with the place in its quotes. */
static void remote_add_place(struct buffer *out, const char *text, const char *place)
{
	const char *at;
	while ((at = strstr(text, "{remote}")) != NULL) {
		buffer_append(out, text, (size_t)(at - text));
		for (const char *c = place; *c; c++)
			buffer_append(out, *c == '\'' ? "'\\''" : c, *c == '\'' ? 4 : 1);
		text = at + strlen("{remote}");
	}
	buffer_append_string(out, text);
}

/* Parses the command of a ready-made kind. */
static int remote_parse_kind(struct words *w, const struct kind *kind, enum remote_work work,
			     const char *remote)
{
	struct buffer place = BUFFER_INIT, text = BUFFER_INIT;
	buffer_printf(&place, "%s%s", kind->keep, remote + strlen(kind->prefix));
	while (place.len > 0 && place.data[place.len - 1] == '/')
		buffer_truncate(&place, place.len - 1);
	const char *name = buffer_string(&place);
	if (name)
		remote_add_place(&text, kind->commands[work], name);
	const char *command = name ? buffer_string(&text) : NULL;
	int result = command ? words_parse(w, command) : -1;
	buffer_release(&place);
	buffer_release(&text);
	return result;
}

static int remote_parse(struct remote *r, enum remote_work work, const char *own)
{
	const char *remote = r->settings->remote;
	if (own)
		return words_parse(&r->commands[work], own);
	for (size_t i = 0; remote && i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (strncmp(remote, kinds[i].prefix, strlen(kinds[i].prefix)) != 0)
			continue;
		if (work == REMOTE_PULL)
			r->absent = kinds[i].absent;
		return remote_parse_kind(&r->commands[work], &kinds[i], work, remote);
	}
	return 0;
}

void remote_host(char host[REMOTE_HOST_LEN + 1])
{
	struct utsname name;
	remote_clean_name(uname(&name) == 0 ? name.nodename : "", host, REMOTE_HOST_LEN + 1);
	if (!*host)
		snprintf(host, REMOTE_HOST_LEN + 1, "unknown");
}

int remote_init(struct remote *r, const struct settings *s)
{
	*r = (struct remote){.settings = s};
	if (s->remote && strncmp(s->remote, FILE_KIND, strlen(FILE_KIND)) == 0)
		r->directory = s->remote + strlen(FILE_KIND);
	remote_host(r->host);
	if (remote_parse(r, REMOTE_PUSH, s->push_command) == 0 &&
	    remote_parse(r, REMOTE_PULL, s->pull_command) == 0 &&
	    remote_parse(r, REMOTE_LIST, s->list_command) == 0 &&
	    (!s->push_encrypt || words_parse(&r->encrypt, s->push_encrypt) == 0) &&
	    (!s->pull_decrypt || words_parse(&r->decrypt, s->pull_decrypt) == 0))
		return 0;
	int error = errno;
	remote_release(r);
	errno = error;
	return -1;
}

void remote_release(struct remote *r)
{
	struct words *all[] = {&r->commands[REMOTE_PUSH], &r->commands[REMOTE_PULL],
			       &r->commands[REMOTE_LIST], &r->encrypt, &r->decrypt};
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (all[i]->count > 0)
			words_release(all[i]);
		all[i]->count = 0;
	}
}

bool remote_can(const struct remote *r, enum remote_work work)
{
	return r->directory || r->commands[work].count > 0;
}

const char *remote_name(const struct remote *r)
{
	return r->settings->remote ? r->settings->remote : "the remote";
}

void remote_key(const char *id, char key[REMOTE_KEY_LEN])
{
	struct tm tm = {0};
	char day[32];
	time_t seconds = (time_t)(id_time_ms(id_pack(id)) / 1000);
	gmtime_r(&seconds, &tm);
	strftime(day, sizeof(day), "%Y-%m-%d", &tm);
	snprintf(key, REMOTE_KEY_LEN, "artifacts/%s/%s.tar.zst", day, id);
}

/* Appends a word with its placeholders filled in, and a NUL. */
static void remote_add_word(struct buffer *out, const char *word, const struct remote_object *o)
{
	const struct {
		const char *name, *value;
	} places[] = {{"{file}", o->file},
		      {"{key}", o->key},
		      {"{id}", o->id},
		      {"{session}", o->session},
		      {"{host}", o->host}};
	while (*word) {
		size_t i = 0, count = sizeof(places) / sizeof(*places);
		while (i < count && strncmp(word, places[i].name, strlen(places[i].name)) != 0)
			i++;
		if (i < count) {
			buffer_append_string(out, places[i].value ? places[i].value : "");
			word += strlen(places[i].name);
		} else {
			buffer_append(out, word++, 1);
		}
	}
	buffer_append(out, "", 1);
}

char **remote_arguments(const struct words *command, const struct remote_object *object)
{
	const struct words_command *c = &command->commands[0];
	struct buffer text = BUFFER_INIT;
	char **argv = NULL;
	for (size_t i = 0; i < c->count; i++)
		remote_add_word(&text, command->words[c->first + i], object);
	size_t table = (c->count + 1) * sizeof(*argv);
	if (buffer_check(&text) == 0 && text.len > 0)
		argv = malloc(table + text.len);
	if (argv) {
		char *at = memcpy((char *)argv + table, text.data, text.len);
		for (size_t i = 0; i < c->count; i++, at += strlen(at) + 1)
			argv[i] = at;
		argv[c->count] = NULL;
	}
	buffer_release(&text);
	return argv;
}
