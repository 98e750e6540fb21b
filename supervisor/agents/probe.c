// See probe.h.

#include "supervisor/agents/probe.h"

#include "lib/buffer.h"
#include "lib/io.h"
#include "lib/json.h"
#include "lib/json_read.h"
#include "lib/proc.h"
#include "shim/exec_call.h"

#include <ctype.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Deeper than any real chain of processes between an agent and its command. */
#define ANCESTORS_MAX 16

/* So many calls of an agent's own are looked at. */
#define OTHERS_MAX 100

/* The shortest name of a conversation, in bytes. */
#define SESSION_MIN 8

/* Whether the value of a variable only says that something is on. */
static bool is_switch(const char *value)
{
	return strcmp(value, "1") == 0 || strcmp(value, "true") == 0;
}

/* --- recording ------------------------------------------------------------------------------- */

void probe_record(const char *file, char *const argv[], const char *string)
{
	static const char stars[SESSION_MIN + 1] = "********";
	struct buffer line = BUFFER_INIT;
	char link[PATH_MAX];
	json_begin_object(&line, NULL);
	json_add_command(&line, "argv", argv, SIZE_MAX, 0);
	json_add_string(&line, "string", string);
	json_begin_array(&line, "fds");
	for (int fd = 0; fd < 3; fd++)
		json_add_string(&line, NULL,
				process_link(0, link, sizeof(link), "fd/%d", fd) > 0 ? link : "");
	json_end_array(&line);
	/* The programs of the processes above, the nearest first, up to the `terse probe` that
	   waits. */
	struct process p;
	pid_t pid = getppid();
	json_begin_array(&line, "above");
	for (int i = 0; i < ANCESTORS_MAX && pid > 1 && process_read(pid, &p) == 0; i++) {
		const char *program = process_program(pid, link, sizeof(link));
		if (strcmp(p.name, "terse") == 0)
			break;
		json_add_string(&line, NULL, program ? program : p.name);
		pid = p.parent;
	}
	json_end_array(&line);
	/* The names of the variables, which tell the agent, and no values, which may be secret: a
	   switch as it is, anything else as stars that are as long, up to what names_session()
	   needs. */
	json_begin_array(&line, "environment");
	for (char **entry = environ; *entry; entry++) {
		const char *equals = strchr(*entry, '=');
		if (!equals)
			continue;
		struct buffer text = BUFFER_INIT;
		bool shown = is_switch(equals + 1);
		buffer_append(&text, *entry, (size_t)(equals + 1 - *entry));
		buffer_append(&text, shown ? equals + 1 : stars, strnlen(equals + 1, SESSION_MIN));
		json_add_text(&line, NULL, text.data ? text.data : "", text.len);
		line.failed |= text.failed;
		buffer_release(&text);
	}
	json_end_array(&line);
	json_end_object(&line);
	buffer_append_string(&line, "\n");
	/* The file of a `terse probe` that still runs. */
	struct stat st;
	int to = open(file, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (to >= 0 && fstat(to, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	    buffer_check(&line) == 0)
		io_write(to, line.data, line.len);
	io_close(&to);
	buffer_release(&line);
}

/* --- templates ------------------------------------------------------------------------------- */

/* Enough of what stands around a command to know it by. A line of an ini file is short. */
#define AROUND 60

static bool is_of_word(char c)
{
	return isalnum((unsigned char)c) || strchr("_./-", c);
}

/* Whether a word will be another one the next time: a path, or with several digits. */
static bool is_volatile(const char *word, size_t len)
{
	size_t digits = 0;
	for (size_t i = 0; i < len; i++)
		digits += isdigit((unsigned char)word[i]) != 0;
	return digits >= 3 || (len > 1 && memchr(word, '/', len) && memchr(word + 1, '/', len - 1));
}

/* Appends text as a template stands for it; a volatile word becomes a star. */
static void append_template(struct buffer *out, const char *text, size_t len)
{
	for (size_t i = 0; i < len;) {
		size_t word = 0;
		while (i + word < len && is_of_word(text[i + word]))
			word++;
		bool comment = i == 0 ? strchr("#;", *text) != NULL
				      : text[i] == ';' && strchr(" \t", text[i - 1]);
		if (word && !is_volatile(text + i, word))
			buffer_append(out, text + i, word);
		else if (word || comment || !isprint((unsigned char)text[i]))
			buffer_append_string(out, text[i] == '\n' ? "\\n" : "*");
		else if (strchr("*\\{", text[i]))
			buffer_printf(out, text[i] == '{' ? "*" : "\\%c", text[i]);
		else
			buffer_append(out, text + i, 1);
		i += word ? word : 1;
	}
}

/* The template of a string that has the command in it. Quotes around it belong to the word. */
static void append_string_template(struct buffer *out, const char *string)
{
	const char *command = strstr(string, PROBE_COMMAND), *end = command + strlen(PROBE_COMMAND);
	bool quoted = command > string && *end && strchr("'\"", *end) && command[-1] == *end;
	command -= quoted;
	end += quoted;
	/* Neither part begins or ends in the middle of a word. */
	const char *from = command - string > AROUND ? command - AROUND : string;
	while (from > string && from < command && is_of_word(from[-1]))
		from++;
	size_t rest = strlen(end), shown = rest > AROUND ? AROUND : rest;
	while (shown < rest && shown > 0 && is_of_word(end[shown - 1]))
		shown--;
	if (from > string)
		buffer_append_string(out, "*");
	append_template(out, from, (size_t)(command - from));
	buffer_append_string(out, quoted ? "{word}" : "{command}");
	append_template(out, end, shown);
	if (shown < rest)
		buffer_append_string(out, "*");
}

/* --- the section ----------------------------------------------------------------------------- */

static const char *text_at(const json_t *array, size_t i)
{
	const char *text = json_string_value(json_array_get(array, i));
	return text ? text : "";
}

/* What everybody sets, and what changes with each call. */
static bool is_ordinary(const char *name, size_t len)
{
	static const char *const names[] = {
		"PWD",    "OLDPWD",    "SHLVL",          "_",        "PATH",  "SHELL",
		"HOME",   "TERM",      "PAGER",          "NO_COLOR", "LANG",  "COLORTERM",
		"CI",     "GIT_PAGER", "LESS",           "GH_PAGER", "LINES", "COLUMNS",
		"EDITOR", "BASH_ENV",  "DEBIAN_FRONTEND"};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strlen(names[i]) == len && strncmp(names[i], name, len) == 0)
			return true;
	}
	return strncmp(name, "TERSE_", 6) == 0 || strncmp(name, "LD_", 3) == 0 ||
	       strncmp(name, "LC_", 3) == 0 || strncmp(name, "GIT_", 4) == 0 ||
	       strncmp(name, "NODE_", 5) == 0 || strncmp(name, "BASH_FUNC", 9) == 0;
}

/* Whether the variable names the conversation. */
static bool names_session(const char *entry)
{
	static const char *const parts[] = {"SESSION_ID", "THREAD_ID", "CONVERSATION"};
	const char *equals = strchr(entry, '=');
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		const char *at = strstr(entry, parts[i]);
		if (at && at < equals && strlen(equals + 1) >= SESSION_MIN)
			return true;
	}
	return false;
}

/* How good a mark a variable is: a plain switch with the agent's name in it is the best. */
static int mark_value(const char *entry, const char *name)
{
	const char *equals = strchr(entry, '=');
	size_t len = strlen(name);
	int value = is_switch(equals + 1) ? 2 : 0;
	for (const char *at = entry; at + len <= equals; at++) {
		if (strncasecmp(at, name, len) == 0)
			return value + 3;
	}
	return value;
}

/* Finds the best mark, the shortest of equals, and the variable of the conversation among those
 * that the agent has set. */
static void find_marks(const json_t *environment, char *const *before, const char *name,
		       const char **mark, const char **session)
{
	int best = 0;
	*mark = *session = NULL;
	for (size_t i = 0; i < json_array_size(environment); i++) {
		const char *entry = text_at(environment, i);
		size_t len = strcspn(entry, "=");
		char *const *old = before;
		while (old && *old && strncmp(*old, entry, len + 1) != 0)
			old++;
		if (!entry[len] || !entry[len + 1] || is_ordinary(entry, len) || (old && *old))
			continue;
		if (!*session && names_session(entry))
			*session = entry;
		int value = mark_value(entry, name);
		if (value > best || (value > 0 && value == best && len < strcspn(*mark, "="))) {
			best = value;
			*mark = entry;
		}
	}
}

static void append_name(struct buffer *out, const char *key, const char *entry)
{
	if (entry)
		buffer_printf(out, "%s = %.*s\n", key, (int)strcspn(entry, "="), entry);
}

/* The shell and its options up to the string: any shell, with these options. */
static void append_shell(struct buffer *out, const json_t *argv, const char *string)
{
	const char *name = shell_call_name(text_at(argv, 0));
	size_t len = strlen(name);
	bool is_sh = len >= 2 && strcmp(name + len - 2, "sh") == 0;
	buffer_printf(out, "shell = %s", is_sh ? "*sh" : name);
	for (size_t i = 1; i < json_array_size(argv); i++) {
		const char *word = text_at(argv, i);
		if (strcmp(word, string) == 0)
			break;
		buffer_printf(out, " %s", word);
	}
	buffer_append_string(out, "\n");
}

static void append_stdin(struct buffer *out, const char *link)
{
	const char *colon = strchr(link, ':');
	if (strncmp(link, "/dev/pts/", 9) == 0)
		buffer_append_string(out, "stdin = /dev/pts/*\n");
	else if (*link == '/')
		buffer_printf(out, "stdin = %s\n", strcmp(link, "/dev/null") == 0 ? link : "*");
	else if (colon)
		buffer_printf(out, "stdin = %.*s:*\n", (int)(colon - link), link);
}

static bool probe_is_interpreter(const char *name)
{
	static const char *const names[] = {"node", "bun", "deno", "python", "env", "npm", "npx"};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return true;
	}
	return strlen(name) < 2 || strpbrk(name, " \t|*?[;") || shell_call_is_shell(name);
}

/* The agent's own process is the first that was started; the parent is only worth a line where it
   is the agent as well. */
static void append_processes(struct buffer *out, const json_t *above, const char *name)
{
	size_t count = json_array_size(above);
	const char *parent = text_at(above, 0), *own = count ? text_at(above, count - 1) : name;
	if (probe_is_interpreter(own) || strstr(own, ".js"))
		own = name;
	if (!probe_is_interpreter(parent) && !strstr(parent, ".js"))
		buffer_printf(out, "parent = %s\n", parent);
	buffer_printf(out, "process = %s\n", own);
}

static void append_output(struct buffer *out, const json_t *fds)
{
	const char *to = text_at(fds, 1), *err = text_at(fds, 2);
	if (*to == '/' && strncmp(to, "/dev/", 5) != 0) {
		const char *base = shell_call_name(to), *dot = strrchr(base, '.');
		const char *folder = base - 1;
		while (folder > to && folder[-1] != '/')
			folder--;
		buffer_printf(out, "output = */%.*s*%s\n", (int)(base - folder), folder,
			      dot ? dot : "");
	}
	if (strncmp(to, "/dev/pts/", 9) == 0)
		buffer_append_string(out, "exit_delay = 50ms\n");
	buffer_printf(out, "# standard output: %s, standard error: %s\n", to,
		      strcmp(to, err) == 0 ? "the same" : err);
}

/* How a call looks to a rule, but for its string and its environment. */
static void append_way(struct buffer *out, const json_t *call)
{
	append_shell(out, json_object_get(call, "argv"),
		     json_string_value(json_object_get(call, "string")));
	append_stdin(out, text_at(json_object_get(call, "fds"), 0));
	buffer_append_string(out, text_at(json_object_get(call, "above"), 0));
}

/* Whether the section would take a call of the agent's own for one of its model's. */
static bool is_alike(const json_t *call, const json_t *hit, const char *mark)
{
	struct buffer own = BUFFER_INIT, wanted = BUFFER_INIT;
	append_way(&own, call);
	append_way(&wanted, hit);
	const char *a = buffer_string(&own), *b = buffer_string(&wanted);
	const json_t *environment = json_object_get(call, "environment");
	bool marked = !mark;
	for (size_t i = 0; !marked && i < json_array_size(environment); i++)
		marked = strncmp(text_at(environment, i), mark, strcspn(mark, "=") + 1) == 0;
	bool alike = a && b && strcmp(a, b) == 0 && marked;
	buffer_release(&own);
	buffer_release(&wanted);
	return alike;
}

/* Appends a line with what the string begins with, so long that it says enough. */
static void append_front(struct buffer *out, const char *before, const json_t *call)
{
	const char *string = json_string_value(json_object_get(call, "string"));
	size_t len = strlen(string), shown = len > 2 * AROUND ? 2 * AROUND : len;
	buffer_append_string(out, before);
	append_template(out, string, shown);
	buffer_append_string(out, shown < len ? "*\n" : "\n");
}

/* Appends the strings of the agent's own that only their text tells from its model's. */
static void append_own(struct buffer *out, const json_t *calls, const json_t *hit, const char *mark)
{
	struct buffer all = BUFFER_INIT, line = BUFFER_INIT;
	for (size_t i = 0; i < json_array_size(calls); i++) {
		const json_t *call = json_array_get(calls, i);
		buffer_clear(&line);
		append_front(&line, "\n\t", call);
		line.len -= line.len > 0;
		const char *known = buffer_string(&all), *text = buffer_string(&line);
		/* A template of stars would match every command. */
		size_t letters = 0;
		for (const char *at = text; at && *at; at++)
			letters += isalpha((unsigned char)*at) != 0;
		if (known && text && letters >= 3 && is_alike(call, hit, mark) &&
		    !strstr(known, text))
			buffer_add(&all, &line);
	}
	if (all.len > 0) {
		buffer_append_string(out, "pass =");
		buffer_add(out, &all);
		buffer_append_string(out, "\n");
	}
	buffer_release(&line);
	buffer_release(&all);
}

/* What the agent does with the output can't be seen. */
static const char unseen[] =
	"# standard error alone is shown of what fails: streams = split\n"
	"# no exit status is shown: status = failure\n"
	"# the agent cuts long output: ceiling = BYTES, line_ceiling = LINES\n";

/* The section for an agent that makes the call `call` for its model, and `others` for itself. */
static void append_section(struct buffer *out, const char *name, const json_t *call,
			   const json_t *others, char *const *before)
{
	const json_t *environment = json_object_get(call, "environment");
	const char *string = json_string_value(json_object_get(call, "string"));
	const char *mark, *session;
	find_marks(environment, before, name, &mark, &session);
	buffer_printf(out, "[agent %s]\n", name);
	if (mark || session)
		append_name(out, "environment", mark ? mark : session);
	else
		buffer_printf(out, "environment = TERSE_AGENT=%s\n", name);
	buffer_append_string(out, "string = ");
	append_string_template(out, string);
	buffer_append_string(out, "\n");
	append_own(out, others, call, mark ? mark : session);
	append_shell(out, json_object_get(call, "argv"), string);
	append_stdin(out, text_at(json_object_get(call, "fds"), 0));
	append_processes(out, json_object_get(call, "above"), name);
	append_name(out, "session", session);
	append_output(out, json_object_get(call, "fds"));
	buffer_append_string(out, unseen);
}

int probe_write(struct buffer *out, const char *name, const char *text, size_t len,
		char *const before[], struct probe_result *result)
{
	json_t *last = NULL, *others = json_array();
	*result = (struct probe_result){.calls = 0};
	for (const char *end = text + len, *next; text < end; text = next) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		next = newline ? newline + 1 : end;
		json_t *call = json_read(text, (size_t)(next - text), 0, NULL);
		const char *string = json_string_value(json_object_get(call, "string"));
		bool hit = string && strstr(string, PROBE_COMMAND);
		result->calls += string != NULL;
		result->hits += hit;
		/* The innermost shell is the one that runs what the model wrote. */
		if (hit) {
			json_decref(last);
			last = json_incref(call);
		} else if (string && json_array_size(others) < OTHERS_MAX) {
			json_array_append(others, call);
		}
		json_decref(call);
	}
	if (last)
		append_section(out, name, last, others, before);
	/* For somebody who wonders why the command was not seen. */
	for (size_t i = 0; !last && i < json_array_size(others); i++)
		append_front(out, "# seen: ", json_array_get(others, i));
	json_decref(last);
	json_decref(others);
	return buffer_check(out);
}
