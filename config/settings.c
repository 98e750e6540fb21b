// See settings.h.

#include "config/settings.h"

#include "config/error.h"
#include "config/option.h"
#include "config/profile.h"
#include "config/words.h"
#include "lib/buffer.h"
#include "lib/io.h"
#include "lib/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool project_find(char *path)
{
	static const char file[] = "/" PROJECT_FILE, git[] = "/.git";
	char probe[PATH_MAX + sizeof(file)];
	bool found = false, here = true;
	if (!getcwd(probe, PATH_MAX) || *probe != '/')
		return false;
	for (size_t len = strlen(probe);; len--, here = false) {
		/* Removes slashes at the end; the root becomes an empty string. */
		while (len > 0 && probe[len - 1] == '/')
			len--;
		memcpy(probe + len, file, sizeof(file));
		if (!found && len + sizeof(file) <= PATH_MAX && access(probe, F_OK) == 0) {
			found = true;
			memcpy(path, probe, len + sizeof(file));
			if (here)
				return true;
		}
		memcpy(probe + len, git, sizeof(git));
		if ((found || len > 0) && access(probe, F_OK) == 0)
			return found;
		while (len > 0 && probe[len - 1] != '/')
			len--;
		if (len == 0)
			return false;
	}
}

/* --- reading a file ------------------------------------------------------------------ */

/* Larger files are refused. */
#define FILE_MAX ((size_t)1 << 20)

/* Appends what can be read at once: io_read_all() would wait for a writer of a FIFO. */
static int settings_read_now(int fd, struct buffer *text)
{
	for (const size_t most = text->len + FILE_MAX; text->len <= most;) {
		ssize_t n = buffer_reserve(text, 4096) < 0
				    ? -1
				    : read(fd, text->data + text->len, text->cap - text->len);
		if (n == 0 || (n < 0 && errno != EINTR))
			return (int)n;
		text->len += n > 0 ? (size_t)n : 0;
	}
	errno = EFBIG;
	return -1;
}

int settings_read_file(enum origin by, const char *path, struct buffer *text,
		       struct option_error *error)
{
	const bool project = by == ORIGIN_PROJECT;
	const char *reason = NULL;
	struct stat st;
	int status = -1;
	*error->text = '\0';
	int fd = open(path,
		      O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | (project ? O_NOFOLLOW : 0));
	if (fd < 0 || (project && fstat(fd, &st) < 0))
		reason = project && errno == ELOOP ? "not read: a symbolic link" : NULL;
	else if (project && !S_ISREG(st.st_mode))
		reason = "not read: not a plain file";
	else if (project && st.st_uid != geteuid() && st.st_uid != 0)
		reason = "not read: it belongs to another user";
	else if (project && st.st_mode & S_IWOTH)
		reason = "not read: everybody can write to it";
	else if ((status = settings_read_now(fd, text)) < 0 && errno == EFBIG)
		reason = "larger than 1 MB";
	/* EINVAL means "refused, see *error", so an EINVAL of the file system becomes EIO. */
	if (status < 0 && errno == EINVAL)
		errno = EIO;
	if (reason) {
		config_error_write(&(struct config_error){.where = path, .reason = reason}, error);
		errno = EINVAL;
	}
	io_close(&fd);
	return status;
}

/* --- flags ------------------------------------------------------------------------- */

int settings_take_flag(struct settings *s, int argc, char *const argv[], int *index,
		       struct option_error *error)
{
	const char *arg = *index < argc ? argv[*index] : "", *implied = NULL, *reason = NULL;
	size_t len = strcspn(arg, "=");
	const struct option *o = option_by_flag(arg, len, &implied);
	char flag[FLAG_LEN], range[RANGE_LEN], why[RANGE_LEN + 32];
	if (!o)
		return 0;
	snprintf(flag, sizeof(flag), "%.*s", (int)len, arg);
	const char *value = arg[len] ? arg + len + 1 : implied;
	int taken = 1;
	if (arg[len] && implied && strcmp(flag, o->flag) != 0) {
		reason = "takes no value";
	} else if (!value && *index + 1 < argc) {
		value = argv[*index + 1];
		taken = 2;
	} else if (!value) {
		snprintf(why, sizeof(why), "needs a value (%s)", option_range(o, range));
		reason = why;
	}
	if (!reason && (o->type == OPTION_LIST ? option_append(s, o, value, error)
					       : option_set(s, o, value, error)) < 0) {
		if (errno != EINVAL)
			return -1;
		reason = error->text;
	}
	if (reason) {
		config_error_write(
			&(struct config_error){.where = flag, .value = value, .reason = reason},
			error);
		errno = EINVAL;
		return -1;
	}
	*option_source(s, o) = (struct setting_source){.by = ORIGIN_FLAG};
	*index += taken;
	return 1;
}

/* --- a command's last comment ------------------------------------------------------------ */

#define BLANKS " \t\r,"

int comment_read(struct comment *c, const char *command, struct settings *s,
		 struct option_error *error)
{
	static const char *const names[] = {"yield=", "timeout=", "size="};
	enum { NAMES = sizeof(names) / sizeof(*names) };
	struct words w;
	size_t found = 0;
	c->count = 0;
	if (!strstr(command, COMMENT_MARK) || words_parse(&w, command) < 0)
		return 0;
	const char *at = w.comment && w.count > 0 ? w.comment + 1 : "";
	words_release(&w);
	at += strspn(at, BLANKS);
	if (strncmp(at, COMMENT_MARK, strlen(COMMENT_MARK)) != 0)
		return 0;
	/* Collects the flags; their values are checked later. */
	for (at += strlen(COMMENT_MARK); *(at += strspn(at, BLANKS "\n"));) {
		size_t len = strcspn(at, BLANKS "\n"), name = 0;
		while (name < NAMES && strncmp(at, names[name], strlen(names[name])) != 0)
			name++;
		if (name == NAMES || found == COMMENT_MAX || len >= COMMENT_LEN - 2)
			return 0;
		snprintf(c->flags[found++], COMMENT_LEN, "--%.*s", (int)len, at);
		at += len;
	}
	for (size_t i = 0; i < found; i++) {
		char *const argv[] = {c->flags[i], NULL};
		int index = 0;
		if (settings_take_flag(s, 1, argv, &index, error) == 1)
			memmove(c->flags[c->count++], c->flags[i], COMMENT_LEN);
	}
	return c->count == found ? 0 : -1;
}

/* --- sources in their order ---------------------------------------------------------- */

int settings_init(struct settings *s)
{
	*s = (struct settings){0};
	for (const struct option *o = option_table; o < option_table + option_count; o++) {
		if (option_is_number(o)) {
			*option_number(s, o) = o->initial;
		} else if (o->preset && option_set(s, o, o->preset, NULL) < 0) {
			settings_release(s);
			return -1;
		}
	}
	return 0;
}

bool settings_push(const struct settings *s)
{
	return s->push != PUSHING_OFF && s->remote;
}

void settings_release(struct settings *s)
{
	/* An empty text or list holds no memory. */
	for (const struct option *o = option_table; o < option_table + option_count; o++) {
		if (!option_is_number(o))
			option_set(s, o, "", NULL);
	}
	for (size_t i = 0; i < sizeof(s->files) / sizeof(*s->files); i++) {
		free(s->files[i]);
		s->files[i] = NULL;
	}
	section_release(&s->profiles);
	section_release(&s->agents);
}

const char *settings_user_file(char *room, bool *named)
{
	const char *config = getenv("TERSE_CONFIG"), *base = getenv("XDG_CONFIG_HOME");
	const char *below = "terse/terse.ini";
	*named = config != NULL;
	if (config)
		return *config == '\0' ? NULL : config;
	if (!base || *base != '/') {
		base = getenv("HOME");
		below = ".config/terse/terse.ini";
	}
	if (!base || *base != '/')
		return NULL;
	return snprintf(room, PATH_MAX, "%s/%s", base, below) < PATH_MAX ? room : NULL;
}

int settings_load(struct settings *s, const char *system_file, struct option_error *error)
{
	char user[PATH_MAX], project[PATH_MAX];
	bool named;
	int result = settings_init(s);
	*error->text = '\0';
	if (result < 0)
		return -1;
	const char *const files[] = {
		[ORIGIN_SYSTEM] = system_file,
		[ORIGIN_USER] = settings_user_file(user, &named),
		[ORIGIN_PROJECT] = project_find(project) ? project : NULL,
	};
	for (enum origin by = ORIGIN_SYSTEM; by <= ORIGIN_PROJECT && result == 0; by++) {
		const char *file = files[by];
		bool must = named && by == ORIGIN_USER;
		/* Most of these files do not exist, and access() is cheaper than open(). */
		if (!file || (!must && access(file, F_OK) < 0))
			continue;
		struct option_error why = {""};
		struct buffer text = BUFFER_INIT;
		int failure = 0;
		if (settings_read_file(by, file, &text, &why) < 0 ||
		    settings_load_text(s, by, file, text.data, text.len, &why) < 0 ||
		    !(s->files[by] = strdup(file)))
			failure = errno;
		buffer_release(&text);
		TRACE(CONFIG, "file %s: %s", file, failure ? strerror(failure) : "read");
		if (failure == ENOMEM) {
			result = -1;
		} else if (failure == EINVAL && *error->text == '\0') {
			*error = why;
			s->project_is_wrong = by == ORIGIN_PROJECT;
		} else if (failure && failure != EINVAL && must && *error->text == '\0') {
			config_error_write(&(struct config_error){.where = "TERSE_CONFIG",
								  .value = file,
								  .reason = strerror(failure)},
					   error);
		}
	}
	for (char **entry = environ; entry && *entry && result == 0; entry++) {
		size_t len = strcspn(*entry, "=");
		const char *value = *entry + len + 1;
		/* The names of terse's variables begin with TERSE_. */
		if (strncmp(*entry, "TERSE_", 6) != 0 || !(*entry)[len] || !*value)
			continue;
		for (const struct option *o = option_table; o < option_table + option_count; o++) {
			struct option_error why;
			if (!o->variable || strncmp(o->variable, *entry, len) != 0 ||
			    o->variable[len])
				continue;
			if (option_set(s, o, value, &why) == 0) {
				TRACE(CONFIG, "variable %s", o->variable);
				*option_source(s, o) =
					(struct setting_source){.by = ORIGIN_VARIABLE};
			} else if (errno == ENOMEM) {
				result = -1;
			} else if (*error->text == '\0') {
				config_error_write(&(struct config_error){.where = o->variable,
									  .value = value,
									  .reason = why.text},
						   error);
			}
		}
	}
	if (result < 0) {
		settings_release(s);
		errno = ENOMEM;
	}
	return result;
}
