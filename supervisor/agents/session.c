// See session.h.

#include "supervisor/agents/session.h"

#include "config/settings.h"
#include "lib/trace.h"
#include "supervisor/agents/rule.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char prefix[] = "agent-";

/* The PID namespace of this process; 0: not known. */
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
	const char *agent = settings->agent ? settings->agent : rule_agent(settings);
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

bool session_is_over(const char *name)
{
	unsigned long long started, namespace;
	struct process p = {.pid = 0};
	char again[SESSION_ROOM];
	const char *at = name + strlen(name);
	/* "agent-NAME-PID-STARTED.NAMESPACE"; NAME may have any characters. */
	for (int dashes = 0; at > name && dashes < 2;)
		dashes += *--at == '-';
	if (strncmp(name, prefix, sizeof(prefix) - 1) != 0 || at - name < (int)sizeof(prefix) ||
	    sscanf(at, "-%9d-%18llu.%18llu", &p.pid, &started, &namespace) != 3)
		return false;
	p.started = started;
	snprintf(again, sizeof(again), "-%d-%llu.%llu", (int)p.pid, started, namespace);
	if (p.pid <= 0 || namespace != own_namespace() || strcmp(again, at) != 0)
		return false;
	/* Without /proc no session can be known to be over. */
	if (process_read(getpid(), &(struct process){.pid = 0}) < 0)
		return false;
	return process_read(p.pid, &p) < 0 || p.started != started;
}
