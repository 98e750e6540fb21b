// terse probe AGENT...: starts an agent that terse does not know, watches how it calls its shell,
// and prints a section [agent NAME] for it. See agents/probe.h.

#include "config/settings.h"
#include "lib/buffer.h"
#include "lib/human.h"
#include "lib/io.h"
#include "shim/exec_call.h"
#include "supervisor/agents/probe.h"
#include "supervisor/agents/rule.h"
#include "supervisor/agents/wiring.h"
#include "supervisor/command/verb.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define VERB "probe"

struct probe {
	char file[64];  /* path of the recorded calls, later of the section */
	const char *to; /* the file that gets the section; NULL: standard output */
	char **command;
};

/* Runs the agent as terse agent does, but records its calls. Returns its status as waitpid(2) does,
   or -1 with errno. */
static int probe_run_agent(struct verb_call *c, struct probe *p)
{
	int status;
	pid_t pid = fork();
	if (pid == 0) {
		setenv(PROBE_VARIABLE, p->file, 1);
		/* agent_run() expects the verb's name before the command. */
		c->argv = p->command - 1;
		c->argc = c->operand_count + 1;
		_exit(agent_run(c));
	}
	/* ctrl-c and ctrl-\ are meant for the agent. */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	while (pid > 0 && waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return -1;
	}
	return pid < 0 ? -1 : status;
}

/* Runs three commands as the agent would with this section, and prints what it would see. Returns
   0, or 1 if it would not see what it should. */
static int probe_prove(const struct probe *p, const char *name, const struct buffer *section,
		       const char *string)
{
	struct settings s = {0};
	struct option_error error = {""};
	struct place own, place;
	struct self_test t = {.string = string};
	char protocol[256] = "";
	int bad = 0, fd = open(p->file, O_WRONLY | O_TRUNC | O_CLOEXEC);
	bool good = fd >= 0 && io_write(fd, section->data, section->len) == 0 &&
		    setenv("TERSE_CONFIG", p->file, 1) == 0 &&
		    settings_load(&s, SETTINGS_SYSTEM_FILE, &error) == 0 && !*error.text;
	io_close(&fd);
	if (!good)
		verb_error(VERB, "the section: %s", *error.text ? error.text : strerror(errno));
	place_find(&own);
	place_wired(&place, &own);
	/* Commands that the agent runs for itself have to pass unchanged. */
	const struct section_entry *e = NULL;
	for (size_t at = 0; good && (e = section_next(&s, &rules_form, name, RULE_PASS, &at));) {
		size_t len = strlen(e->text);
		if (strncmp(e->text, "echo ", 5) == 0 && e->text[len - 1] == '*')
			snprintf(protocol, sizeof(protocol), "%.*s && " SELF_TEST_LONG,
				 (int)len - 1, e->text);
	}
	const char *commands[] = {SELF_TEST_LONG, "echo out; exit 3",
				  *protocol ? protocol : PROBE_COMMAND};
	for (int i = 0; good && i < 3; i++) {
		int tried = self_test_run(&t, &s, name, commands[i], &place);
		const char *text = t.out.data ? t.out.data : "";
		bool right =
			tried > 0 &&
			(i == 0      ? self_test_is_preview(&t)
			 : i == 1    ? t.status == 3 && strncmp(text, "out\n", 4) == 0
			 : *protocol ? t.out.len == strlen(protocol) -
							    strlen("echo  && " SELF_TEST_LONG) + 1 +
							    SELF_TEST_BYTES
				     : strcmp(text, PROBE_WORD "\n") == 0);
		fprintf(stderr, "terse probe: %s: %s: %s, exit %d\n", commands[i],
			right ? i == 0 ? "both ends and the ID are seen" : "as it has to be"
			      : "NOT as it has to be",
			HUMAN_SIZE(t.out.len), t.status);
		bad |= !right;
		buffer_release(&t.out);
	}
	settings_release(&s);
	return bad || !good;
}

/* Writes the section to `to`, and prints what to do with it. */
static int probe_conclude(const struct probe *p, int to, const char *name, struct buffer *section,
			  const struct probe_result *r)
{
	if (!r->hits && !r->typed) {
		io_write(STDERR_FILENO, section->data, section->len);
		verb_error(
			VERB,
			r->calls
				? "%zu shells with a string, and none ran `" PROBE_COMMAND
				  "`: ask the agent to run exactly that"
				: "no shell was seen (%zu calls): is %s linked statically, or does "
				  "it run commands by itself?",
			r->calls, name);
		return 1;
	}
	/* Puts an empty line before it, if it is appended to a file. */
	bool behind = p->to && lseek(to, 0, SEEK_END) > 0;
	if ((behind && io_write(to, "\n", 1) < 0) ||
	    io_write(to, section->data, section->len) < 0) {
		verb_error(VERB, "%s: %s", p->to ? p->to : "standard output", strerror(errno));
		return EXIT_TERSE;
	}
	fprintf(stderr,
		"terse probe: %s~/.config/terse/terse.ini takes this section; then: terse agent "
		"%s\n",
		p->to ? "added; " : "", name);
	return probe_prove(p, name, section, r->string);
}

static int probe_run(struct verb_call *c)
{
	struct probe p = {.to = NULL};
	struct buffer text = BUFFER_INIT, section = BUFFER_INIT;
	struct probe_result result = {.string = NULL};
	int status = EXIT_TERSE;
	if (verb_parse(c, &p) < 0)
		return EXIT_TERSE;
	p.command = c->operands;
	/* Opens the file first, so that an error comes before the agent runs. */
	int to =
		p.to ? open(p.to, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK,
			    0666)
		     : STDOUT_FILENO;
	if (to < 0)
		return verb_fail(c, ENVELOPE_USAGE, "%s: %m", p.to);
	fprintf(stderr,
		"terse probe: ask the agent to run this command once, then leave it: " PROBE_COMMAND
		"\n");
	/* The file is in memory, so nothing is left of it if this process is killed. */
	const char *name = shell_call_name(p.command[0]);
	int fd = memfd_create("terse-probe", MFD_CLOEXEC);
	snprintf(p.file, sizeof(p.file), "/proc/%d/fd/%d", (int)getpid(), fd);
	if (fd < 0 || probe_run_agent(c, &p) < 0 || io_read_all(fd, &text, SIZE_MAX) < 0 ||
	    probe_write(&section, name, text.data ? text.data : "", text.len, environ, &result) < 0)
		verb_error(VERB, "%s: %s", p.file, strerror(errno));
	else
		status = probe_conclude(&p, to, name, &section, &result);
	free(result.string);
	if (p.to)
		io_close(&to);
	io_close(&fd);
	buffer_release(&text);
	buffer_release(&section);
	return status;
}

static const struct verb_option probe_options[] = {
	{"--to", 0, VERB_TEXT, offsetof(struct probe, to), "FILE",
	 "append the section to this file"},
	VERB_END_ROW,
};

const struct verb verb_probe = {
	.name = "probe",
	.purpose = "find out how an unknown agent calls its shell",
	.forms = "COMMAND [ARG...]",
	.text = "Starts COMMAND, an agent that terse does not know, and prints the section\n"
		"[agent NAME] for it when it has ended. Ask the agent to run this command once:\n"
		"echo terse-probe. Its commands run as they would without terse.\n",
	.options = probe_options,
	.least = 1,
	.more = -1,
	.command = true,
	.run = probe_run,
};
