// See probe.h.

#include "supervisor/agents/probe.h"

#include "config/pattern.h"
#include "lib/buffer.h"
#include "lib/bytes.h"
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

/* The most processes between an agent and its command that are looked at. */
#define ANCESTORS_MAX 16

/* The most calls of the agent itself, not of its model, that are kept. */
#define OTHERS_MAX 100

/* A longer script, in bytes, was not written for one command. */
#define SCRIPT_MAX 65536

/* The shortest word that counts as a protocol (protocol_len()). */
#define PROTOCOL_MIN 12

/* The shortest name of a conversation, in bytes. */
#define SESSION_MIN 8

/* Whether a variable's value only switches something on. */
static bool is_switch(const char *value)
{
	return strcmp(value, "1") == 0 || strcmp(value, "true") == 0;
}

/* --- recording ------------------------------------------------------------------------------- */

static bool has_word(const char *script)
{
	struct buffer text = BUFFER_INIT;
	int fd = open(script, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	bool has = fd >= 0 && io_read_all(fd, &text, SCRIPT_MAX) == 0 &&
		   memmem(text.data, text.len, PROBE_WORD, strlen(PROBE_WORD));
	io_close(&fd);
	buffer_release(&text);
	return has;
}

void probe_record(const char *file, char *const argv[], const char *string)
{
	static const char stars[SESSION_MIN + 1] = "********";
	struct buffer line = BUFFER_INIT;
	char link[PATH_MAX];
	json_begin(&line, NULL, '{');
	json_add_command(&line, "argv", argv, SIZE_MAX, 0);
	const char *script = string ? NULL : shell_call_file(argv);
	if (script)
		json_add_string(&line, "script",
				realpath(script, link) && has_word(link) ? link : "");
	else
		json_add_string(&line, "string", string);
	json_begin(&line, "fds", '[');
	for (int fd = 0; fd < 3; fd++)
		json_add_string(&line, NULL,
				process_link(0, link, sizeof(link), "fd/%d", fd) > 0 ? link : "");
	json_end(&line, ']');
	/* Lists the programs of the processes above, the nearest first, up to the `terse probe`
	   that waits. */
	struct process p;
	pid_t pid = getppid();
	json_begin(&line, "above", '[');
	for (int i = 0; i < ANCESTORS_MAX && pid > 1 && process_read(pid, &p) == 0; i++) {
		const char *program = process_program(pid, link, sizeof(link));
		if (strcmp(p.name, "terse") == 0)
			break;
		json_add_string(&line, NULL, program ? program : p.name);
		pid = p.parent;
	}
	json_end(&line, ']');
	/* Lists the variables: their names, which identify the agent, without their values, which
	   may be secret. A switch is listed with its value, any other variable with stars of the
	   same length, but at most SESSION_MIN: find_marks() looks at the length. */
	json_begin(&line, "environment", '[');
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
	json_end(&line, ']');
	json_end(&line, '}');
	buffer_append_string(&line, "\n");
	/* Opens the file without creating it: it is gone once `terse probe` has ended. */
	struct stat st;
	int to = open(file, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (to >= 0 && fstat(to, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	    buffer_check(&line) == 0)
		io_write(to, line.data, line.len);
	io_close(&to);
	buffer_release(&line);
}

/* --- templates ------------------------------------------------------------------------------- */

/* How many bytes of the text before and after a command go into a template. Lines of an ini file
   are short. */
#define AROUND 60

static bool is_of_word(char c)
{
	return isalnum((unsigned char)c) || strchr("_./-", c);
}

/* Appends text as a template. A word that probably differs in the next call (a path, or a word with
   several digits) becomes a star. */
static void append_template(struct buffer *out, const char *text, size_t len)
{
	for (size_t i = 0; i < len;) {
		size_t word = 0, digits = 0;
		bool inside = false; /* a slash is inside the word */
		for (; i + word < len && is_of_word(text[i + word]); word++) {
			digits += isdigit((unsigned char)text[i + word]) != 0;
			inside |= word > 0 && text[i + word] == '/';
		}
		bool comment = i == 0 ? strchr("#;", *text) != NULL
				      : text[i] == ';' && strchr(" \t", text[i - 1]);
		if (word && digits < 3 && !inside)
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

/* Makes the template of a string that contains the command. Quotes around the command belong to
   it. */
static void append_string_template(struct buffer *out, const char *string)
{
	const char *command = strstr(string, PROBE_COMMAND), *end = command + strlen(PROBE_COMMAND);
	bool quoted = command > string && *end && strchr("'\"", *end) && command[-1] == *end;
	command -= quoted;
	end += quoted;
	/* The parts around the command begin and end between words. */
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

/* Finds the variable that names the conversation, and the best mark of the agent: a mere switch
   with the agent's name in it, else a variable with that name, else a switch; the shortest of
   several. Looks only at variables that the agent has set. Ignores variables that every agent sets,
   and variables that change with each call. */
static void find_marks(const json_t *environment, char *const *before, const char *name,
		       const char **mark, const char **session)
{
	static const char ordinary[] =
		"PWD|OLDPWD|SHLVL|_|PATH|SHELL|HOME|TERM|PAGER|NO_COLOR|LANG|COLORTERM|CI|LESS|"
		"GH_PAGER|LINES|COLUMNS|EDITOR|BASH_ENV|DEBIAN_FRONTEND|TERSE_*|LD_*|LC_*|GIT_*|"
		"NODE_*|BASH_FUNC*";
	int best = 0;
	*mark = *session = NULL;
	for (size_t i = 0; i < json_array_size(environment); i++) {
		const char *entry = text_at(environment, i), *value;
		size_t len = strcspn(entry, "=");
		char key[256];
		char *const *old = before;
		while (old && *old && strncmp(*old, entry, len + 1) != 0)
			old++;
		snprintf(key, sizeof(key), "%.*s", (int)len, entry);
		if (!entry[len] || !entry[len + 1] || (old && *old) ||
		    pattern_is_among(ordinary, key))
			continue;
		value = entry + len + 1;
		if (!*session && strlen(value) >= SESSION_MIN &&
		    pattern_is_among("*SESSION_ID*|*THREAD_ID*|*CONVERSATION*", key))
			*session = entry;
		int worth = (is_switch(value) ? 2 : 0) + (strcasestr(key, name) ? 3 : 0);
		if (worth > best || (worth > 0 && worth == best && len < strcspn(*mark, "="))) {
			best = worth;
			*mark = entry;
		}
	}
}

/* Appends how the shell was called: its options up to the string, with a star for the shell, and
   its standard input. */
static void append_way(struct buffer *out, const json_t *call)
{
	const json_t *argv = json_object_get(call, "argv");
	const char *string = json_string_value(json_object_get(call, "string")), *word;
	const char *name = shell_call_name(text_at(argv, 0));
	const char *input = text_at(json_object_get(call, "fds"), 0), *colon = strchr(input, ':');
	buffer_printf(out, "shell = %s", pattern_is_among("*sh", name) ? "*sh" : name);
	for (size_t i = 1; i < json_array_size(argv); i++) {
		word = text_at(argv, i);
		if (strcmp(word, string) == 0)
			break;
		buffer_printf(out, " %s", word);
	}
	buffer_append_string(out, "\n");
	if (strncmp(input, "/dev/pts/", 9) == 0)
		buffer_append_string(out, "stdin = /dev/pts/*\n");
	else if (*input == '/')
		buffer_printf(out, "stdin = %s\n", strcmp(input, "/dev/null") == 0 ? input : "*");
	else if (colon)
		buffer_printf(out, "stdin = %.*s:*\n", (int)(colon - input), input);
}

/* Whether the section, without its strings, would mistake a call of the agent itself for one of its
   model's. */
static bool is_alike(const json_t *call, const json_t *hit, const char *mark)
{
	const json_t *const calls[] = {call, hit};
	struct buffer ways[2] = {BUFFER_INIT, BUFFER_INIT};
	const json_t *environment = json_object_get(call, "environment");
	bool marked = !mark;
	for (size_t i = 0; i < 2; i++) {
		append_way(&ways[i], calls[i]);
		buffer_append_string(&ways[i], text_at(json_object_get(calls[i], "above"), 0));
	}
	for (size_t i = 0; !marked && i < json_array_size(environment); i++)
		marked = strncmp(text_at(environment, i), mark, strcspn(mark, "=") + 1) == 0;
	bool alike = marked && buffer_check(&ways[0]) == 0 &&
		     buffer_is(&ways[0], ways[1].data, ways[1].len);
	buffer_release(&ways[0]);
	buffer_release(&ways[1]);
	return alike;
}

/* If the string begins with `echo WORD`, and the word looks like one that the agent expects in the
   output (a protocol), returns the length of this beginning; else 0. */
static size_t protocol_len(const char *string)
{
	static const char upper[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
	size_t len = strncmp(string, "echo ", 5) == 0 ? strspn(string + 5, upper) : 0;
	return len >= PROTOCOL_MIN && memchr(string + 5, '_', len) ? 5 + len : 0;
}

/* Appends a line with the beginning of the string: up to the end of a protocol's word, or else at
   most 2 * AROUND bytes, as a template. */
static void append_front(struct buffer *out, const char *before, const json_t *call)
{
	const char *string = json_string_value(json_object_get(call, "string"));
	size_t len = strlen(string), shown = len > 2 * AROUND ? 2 * AROUND : len;
	size_t protocol = protocol_len(string);
	buffer_append_string(out, before);
	if (protocol) {
		buffer_printf(out, "%.*s*\n", (int)protocol, string);
		return;
	}
	append_template(out, string, shown);
	buffer_append_string(out, shown < len ? "*\n" : "\n");
}

/* Appends those of the agent's own strings that only their text distinguishes from its model's. */
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

/* Appends a template for script files: the script's name up to the last "_" or "-" before its first
   digit, or else the script's folder. */
static void append_script(struct buffer *out, const char *script)
{
	const char *name = shell_call_name(script), *end = name + strcspn(name, "0123456789");
	const char *folder = name - 1;
	while (*end && end > name && !strchr("_-", end[-1]))
		end--;
	while (folder > script && folder[-1] != '/')
		folder--;
	if (*end && end > name)
		buffer_printf(out, "file = */%.*s*\n", (int)(end - name), name);
	else
		buffer_printf(out, "file = */%.*s*\n", (int)(name - folder), folder);
}

static bool probe_is_interpreter(const char *name)
{
	return pattern_is_among("node*|bun*|deno*|python*|env*|npm*|npx*|*.js*", name) ||
	       strlen(name) < 2 || strpbrk(name, " \t|*?[;") || shell_call_is_shell(name);
}

/* Appends the section for an agent that makes the call `call` for its model and the calls `others`
   for itself. */
static void append_section(struct buffer *out, const char *name, const json_t *call,
			   const json_t *others, char *const *before)
{
	const json_t *fds = json_object_get(call, "fds"), *above = json_object_get(call, "above");
	const char *mark, *session, *to = text_at(fds, 1), *error = text_at(fds, 2);
	find_marks(json_object_get(call, "environment"), before, name, &mark, &session);
	mark = mark ? mark : session;
	buffer_printf(out, "[agent %s]\nenvironment = ", name);
	if (mark)
		buffer_printf(out, "%.*s\n", (int)strcspn(mark, "="), mark);
	else
		buffer_printf(out, "TERSE_AGENT=%s\n", name);
	const char *string = json_string_value(json_object_get(call, "string"));
	const char *script = json_string_value(json_object_get(call, "script"));
	if (string) {
		buffer_append_string(out, "string = ");
		append_string_template(out, string);
		buffer_append_string(out, "\n");
		append_own(out, others, call, mark);
		append_way(out, call);
	} else if (script) {
		append_script(out, script);
	} else {
		buffer_append_string(out, "interactive = yes\n");
	}
	/* The outermost ancestor is the agent's own process. The parent gets a line unless it is an
	   interpreter or a shell. */
	const char *parent = text_at(above, 0);
	const char *own =
		json_array_size(above) ? text_at(above, json_array_size(above) - 1) : name;
	if (!probe_is_interpreter(parent))
		buffer_printf(out, "parent = %s\n", parent);
	buffer_printf(out, "process = %s\n", probe_is_interpreter(own) ? name : own);
	if (session)
		buffer_printf(out, "session = %.*s\n", (int)strcspn(session, "="), session);
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
	/* A record can't tell what the agent does with the output. */
	buffer_printf(out,
		      "# standard output: %s, standard error: %s\n"
		      "# standard error alone is shown of what fails: streams = split\n"
		      "# no exit status is shown: status = failure\n"
		      "# the agent cuts long output: ceiling = BYTES, line_ceiling = LINES\n",
		      to, strcmp(to, error) == 0 ? "the same" : error);
}

int probe_write(struct buffer *out, const char *name, const char *text, size_t len,
		char *const before[], struct probe_result *result)
{
	json_t *last = NULL, *typed = NULL, *others = json_array();
	*result = (struct probe_result){.calls = 0};
	for (size_t line; len > 0; text += line, len -= line) {
		line = line_size(text, len);
		json_t *call = json_read(text, line, 0, NULL);
		const char *string = json_string_value(json_object_get(call, "string"));
		const char *script = json_string_value(json_object_get(call, "script"));
		const char *input = text_at(json_object_get(call, "fds"), 0);
		bool hit = (string && strstr(string, PROBE_COMMAND)) || (script && *script);
		bool types = !string && !script && strncmp(input, "/dev/pts/", 9) == 0;
		result->calls += string != NULL;
		result->hits += hit;
		result->typed += types;
		if (types) {
			json_decref(typed);
			typed = json_incref(call);
		}
		/* The innermost shell runs what the model wrote. */
		if (hit) {
			json_decref(last);
			last = json_incref(call);
		} else if (string && json_array_size(others) < OTHERS_MAX) {
			json_array_append(others, call);
		}
		json_decref(call);
	}
	if (last || typed)
		append_section(out, name, last ? last : typed, others, before);
	/* These comments help to find out why the command was not seen. */
	for (size_t i = 0; !last && !typed && i < json_array_size(others); i++)
		append_front(out, "# seen: ", json_array_get(others, i));
	const char *string = json_string_value(json_object_get(last, "string"));
	result->string = string ? strdup(string) : NULL;
	json_decref(last);
	json_decref(typed);
	json_decref(others);
	return buffer_check(out);
}
