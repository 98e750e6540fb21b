// See session.h.

#include "supervisor/artifact/session.h"

#include "config/settings.h"
#include "shim/rule.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char prefix[] = "agent-";

static const char *find_process(const struct settings *s, const char *agent, pid_t from,
				char room[SESSION_ROOM])
{
	struct process p;
	const char *name = rule_ancestor(s, agent, from, &p);

	if (!name)
		return NULL;
	snprintf(room, SESSION_ROOM, "%s%s-%d-%llu", prefix, name, (int)p.pid, p.started);
	return room;
}

const char *session_name(const struct settings *settings, pid_t from, char room[SESSION_ROOM])
{
	if (settings->session && *settings->session)
		return settings->session;
	const char *agent = rule_agent(settings);
	const char *name = agent ? rule_session(settings, agent) : NULL;
	if (agent && !name)
		name = find_process(settings, agent, from, room);
	return name ? name : "default";
}

/* The number behind the last '-' of name[0..*len), which is then shortened by both. -1: there is
   none. */
static long long take_number(const char *name, size_t *len)
{
	size_t digits = 0;

	while (digits < *len && isdigit((unsigned char)name[*len - digits - 1]))
		digits++;
	if (digits == 0 || digits > 18 || digits == *len || name[*len - digits - 1] != '-')
		return -1;
	*len -= digits + 1;
	return strtoll(name + *len + 1, NULL, 10);
}

static bool read_name(const char *name, long long *pid, long long *started)
{
	size_t len = strlen(name);

	if (strncmp(name, prefix, sizeof(prefix) - 1) != 0)
		return false;
	*started = take_number(name, &len);
	*pid = *started >= 0 ? take_number(name, &len) : -1;
	return *pid > 0 && *pid <= INT32_MAX && len > sizeof(prefix) - 1;
}

bool session_is_process(const char *name)
{
	long long pid, started;

	return read_name(name, &pid, &started);
}

bool session_is_over(const char *name)
{
	long long pid, started;
	struct process p;

	if (!read_name(name, &pid, &started))
		return false;
	/* Where /proc tells nothing, nothing is known to be over. */
	if (process_read(getpid(), &p) < 0)
		return false;
	return process_read((pid_t)pid, &p) < 0 || p.started != (unsigned long long)started;
}
