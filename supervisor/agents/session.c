// See session.h.

#include "supervisor/agents/session.h"

#include "config/settings.h"
#include "lib/trace.h"
#include "supervisor/agents/rule.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char prefix[] = "agent-";

/* The namespace of process IDs that this process is in; 0: not known. */
static unsigned long long own_namespace(void)
{
	char link[64];
	unsigned long long number = 0;
	process_link(0, link, sizeof(link), "ns/pid");
	return sscanf(link, "pid:[%llu]", &number) == 1 ? number : 0;
}

static const char *name_process(const char *what, const struct process *p, char room[SESSION_ROOM])
{
	snprintf(room, SESSION_ROOM, "%s%s-%d-%llu.%llu", prefix, what, (int)p->pid, p->started,
		 own_namespace());
	return room;
}

const char *session_of_process(const char *what, char room[SESSION_ROOM])
{
	struct process p;
	if (process_read(getpid(), &p) < 0)
		p = (struct process){.pid = getpid()};
	return name_process(what, &p, room);
}

const char *session_name(const struct settings *settings, pid_t from, char room[SESSION_ROOM])
{
	if (settings->session && *settings->session)
		return settings->session;
	const char *agent = rule_agent(settings);
	const char *name = agent ? rule_session(settings, agent) : NULL;
	struct process p;
	if (agent && !name) {
		name = rule_ancestor(settings, agent, from, &p);
		name = name ? name_process(name, &p, room) : NULL;
	}
	TRACE(CONFIG, "session %s%s%s", name ? name : "default", agent ? ", of agent " : "",
	      agent ? agent : "");
	return name ? name : "default";
}

/* The number at the end of name[0..*len), behind a `mark`; the name is shortened by both. -1: there
   is none. */
static long long session_take_number(const char *name, size_t *len, char mark)
{
	size_t digits = 0;
	while (digits < *len && isdigit((unsigned char)name[*len - digits - 1]))
		digits++;
	if (digits == 0 || digits > 18 || digits == *len || name[*len - digits - 1] != mark)
		return -1;
	*len -= digits + 1;
	return strtoll(name + *len + 1, NULL, 10);
}

bool session_is_over(const char *name)
{
	struct process p;
	size_t len = strlen(name);
	if (strncmp(name, prefix, sizeof(prefix) - 1) != 0)
		return false;
	long long namespace = session_take_number(name, &len, '.');
	long long started = namespace >= 0 ? session_take_number(name, &len, '-') : -1;
	long long pid = started >= 0 ? session_take_number(name, &len, '-') : -1;
	if (pid <= 0 || pid > INT32_MAX || len < sizeof(prefix) ||
	    (unsigned long long)namespace != own_namespace())
		return false;
	/* Without /proc no session is known to be over. */
	if (process_read(getpid(), &p) < 0)
		return false;
	return process_read((pid_t)pid, &p) < 0 || p.started != (unsigned long long)started;
}
