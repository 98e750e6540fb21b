// See layout.h.

#include "supervisor/process/layout.h"

#include "shim/rule.h"
#include "supervisor/base/io.h"
#include "supervisor/process/kin.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_device(int fd)
{
	struct stat st;
	return fstat(fd, &st) == 0 && S_ISCHR(st.st_mode);
}

/* Whether nothing was sent, so far. */
static bool is_idle_socket(int fd)
{
	struct stat st;
	char byte;
	return fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode) &&
	       recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) <= 0;
}

/* The terminal to read the person's keys from: stdin, or (`echo x | terse less`)
   the one behind /dev/tty. */
static int find_keyboard(void)
{
	if (isatty(STDIN_FILENO))
		return STDIN_FILENO;
	return io_above_standard(open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC));
}

static enum sink forced(enum sink sink, const struct settings *s)
{
	bool is_forced = s->print == PRINT_PREVIEW || s->format != FORMAT_TEXT;
	return is_forced && sink != SINK_CLOSED ? SINK_AGENT : sink;
}

/* Some agents collect output in a file. */
static enum sink streams_look_at(int i, const struct settings *s)
{
	enum sink sink = sink_of(STDOUT_FILENO + i);
	if (sink == SINK_FILE && s->agent && rule_collects(s, s->agent, STDOUT_FILENO + i))
		sink = SINK_AGENT;
	return sink;
}

static void look_into(struct layout *l, int i)
{
	struct kin kin = {.passes = false};
	if (l->sink[i] == SINK_PIPE)
		l->sink[i] = sink_of_pipe(STDOUT_FILENO + i, getpid(), getppid(), &kin);
}

static bool is_merged(struct layout *l, const struct settings *s)
{
	if (s->streams != STREAMS_AUTO)
		return s->streams == STREAMS_MERGED;
	/* Nobody reads either of them. */
	if (s->detach)
		return true;
	/* A program asks for JSON, and wants to know which is which. */
	if (s->format == FORMAT_JSON)
		return false;
	if (sink_is_same(STDOUT_FILENO, STDERR_FILENO))
		return true;
	look_into(l, 0);
	look_into(l, 1);
	return l->sink[0] == SINK_AGENT && l->sink[1] == SINK_AGENT;
}

/* Whether the command may be typed to later (terse send). */
static bool streams_goes_on(const struct settings *s)
{
	return s->yield > 0 || s->detach;
}

static enum channel channel_for(const struct layout *l, int i, const struct settings *s)
{
	switch (l->sink[i]) {
	case SINK_CLOSED: return CHANNEL_INHERIT;
	case SINK_PERSON:
		/* Standard error on a person's terminal while stdout goes elsewhere. */
		if (i == 1 && !l->person)
			return CHANNEL_INHERIT;
		break;
	case SINK_PROGRAM:
	case SINK_FILE:
		if (s->pty == TRI_YES || (streams_goes_on(s) && s->pty == TRI_AUTO && i == 0))
			return CHANNEL_PTY;
		return CHANNEL_PIPE;
	default: break;
	}
	return s->pty == TRI_NO ? CHANNEL_PIPE : CHANNEL_PTY;
}

void layout_decide(struct layout *l, const struct settings *s)
{
	bool typed = isatty(STDIN_FILENO);
	*l = (struct layout){.keyboard = -1};
	for (int i = 0; i < 2; i++)
		l->sink[i] = forced(streams_look_at(i, s), s);
	bool merged = is_merged(l, s);
	l->person = l->sink[0] == SINK_PERSON;

	if (typed && !l->person) {
		look_into(l, 0);
		bool plain = s->print == PRINT_AUTO && s->timeout == 0 && s->tty != TRI_YES &&
			     !streams_goes_on(s);
		if (plain && l->sink[0] != SINK_AGENT) {
			l->direct = true;
			return;
		}
	}
	l->channel[0] = channel_for(l, 0, s);
	l->channel[1] = merged ? CHANNEL_MERGED : channel_for(l, 1, s);
	/* The person only sees the ID. */
	if (s->detach)
		l->person = false;
	if (l->channel[0] == CHANNEL_PTY && l->person && s->tty != TRI_NO)
		l->keyboard = find_keyboard();
	bool asked = s->tty == TRI_YES || (s->tty == TRI_AUTO && streams_goes_on(s));
	l->controlling = l->channel[0] == CHANNEL_PTY && (l->keyboard >= 0 || asked);
	/* Without a person, a pipe or file on stdin stays what it is; /dev/null gives way, and so
	   does a socket through which an agent could write but has not. */
	bool idle = is_device(STDIN_FILENO) || (streams_goes_on(s) && is_idle_socket(STDIN_FILENO));
	l->stdin_pty = l->controlling && (l->keyboard == STDIN_FILENO || (!l->person && idle));
}
