// The supervisor's state, for its own files alone:
//
//   supervisor.c          loop, states, deadlines
//   supervisor_start.c    start of the command
//   supervisor_requests.c what front end and clients ask; stopping and going on with the front end
//   supervisor_report.c   what the reader gets: report, heartbeats, prompts
//
// The states of a run, and what leads from one to the next:
//
//   RUNNING ──► FINISHING ──► FLUSHING ──► LINGERING ──► exit
//     the command ends: its output is drained
//                  nobody works off what it wrote any more: the report is made
//                  the reader has everything: the front end may end, its descriptors are closed
//                                nobody holds the command's output any more, and none of its
//                                processes is left that is being ended (timeout, killed front end)
//
// The caller has states of its own, since a run can yield (--yield, --detach, a prompt):
//
//   CALLER_WAITS ──► CALLER_YIELDING ──► CALLER_LEFT
//     a report says that the run goes on
//                            the reader has all of that report
#ifndef TERSE_PROCESS_SUPERVISOR_INTERNAL_H
#define TERSE_PROCESS_SUPERVISOR_INTERNAL_H

#include "lib/loop.h"
#include "lib/proc.h"
#include "supervisor/compare/since.h"
#include "supervisor/process/delivery.h"
#include "supervisor/process/lingering.h"
#include "supervisor/process/live.h"
#include "supervisor/process/process_tree.h"
#include "supervisor/process/source.h"
#include "supervisor/process/wait.h"

#include <sys/stat.h>

/* Interval between looks at the front end, and at the agent. */
#define FRONT_MS 1000

enum supervisor_state {
	SUPERVISOR_RUNNING,
	SUPERVISOR_FINISHING,
	SUPERVISOR_FLUSHING,
	SUPERVISOR_LINGERING
};

enum caller_state { CALLER_WAITS, CALLER_YIELDING, CALLER_LEFT };

/* Deadlines that are set and cleared; supervisor.c has the table of all. */
enum supervisor_timer {
	TIMER_CONTINUE,  /* continue the front end once more */
	TIMER_TICK,      /* flush unfinished lines */
	TIMER_HEARTBEAT, /* print one */
	TIMER_TIMEOUT,   /* end the command */
	TIMER_YIELD,     /* let the caller go */
	TIMER_FRONT,     /* look at the front end */
	TIMER_AGENT,     /* look at the agent */
	TIMER_FINISH,    /* look whether somebody still works off what the command wrote */
	TIMER_STALL,     /* give up control clients that do not read */
	TIMER_NICE,      /* give the session its niceness */
	TIMERS
};

struct front {
	int fd;           /* -1: it has gone, or was sent the end of the run */
	bool was_stopped; /* by somebody else, at the last look */
	/* How often it was sent FRAME_STOPPED, and sent FRAME_AWAKE back. */
	int stops, wakes;
};

struct supervisor {
	const struct job *job;
	struct loop loop;
	enum supervisor_state state;
	enum caller_state caller;
	struct front front;
	struct process
		agent; /* its end ends the run, once the caller has left; pid 0: nobody's does */
	int watchdog;
	int signals;          /* signalfd for SIGCHLD */
	pid_t command, group; /* its process ID and process group */
	int64_t ended_ms;     /* when it ended, monotonic */
	struct stat given;    /* the caller's standard input */
	int status;           /* of the command, once it has ended; then of the run */
	/* Why it ended, or is being ended. */
	bool timed_out;
	bool interrupted; /* the front end died first */
	int wanted;   /* the signal, or WANTED_END, that its own session sent it last; 0: none */
	bool hung_up; /* the command waited for keys that nobody can type */
	const char
		*question; /* it waits for the answer to this, and nobody will give it; or NULL */
	char prompt[LIVE_TEXT];
	int ends_typed; /* how often the end of input was typed because the command waited */
	struct source sources[2];
	int source_count;
	struct record record;
	struct delivery delivery;
	struct buffer input; /* for the command's terminal */
	struct live live;
	struct keys keys;
	struct source *drawn; /* the terminal that `keys` is about */
	dev_t device;         /* of the command's controlling terminal, or 0 */
	struct tree_end tree;
	bool ending; /* the process tree is being ended */
	struct lingering lingering;
	struct wording_since since; /* the last run of the command */
	int64_t heartbeat_ms;       /* until the next */
	int nice;                   /* of the session, as a group of the scheduler's */
	int64_t timer[TIMERS];      /* monotonic times; 0: not set */
	char *chunk;                /* SOURCE_CHUNK bytes */
};

/* The command's terminal, or NULL. */
struct source *supervisor_terminal(struct supervisor *s);

/* Queues input for it. Returns 0, or EAGAIN where there is no room. */
int supervisor_queue_input(struct supervisor *s, const char *data, size_t len);

/* For each text that there is. */
void supervisor_each_text(struct supervisor *s, void (*each)(struct interceptor *text));

/* Starts to end the process tree with this step (TREE_HUP ...). */
void supervisor_end_tree(struct supervisor *s, int step);

// supervisor_start.c

/* Opens the channels and starts the command, or ends this process where that can't be. */
void supervisor_start(struct supervisor *s);

// supervisor_requests.c

/* By FRAME_...; their context is the supervisor. */
extern const struct control_request supervisor_requests[FRAME_REQUESTS];
int supervisor_on_repaint(void *ctx, struct buffer *out);
void supervisor_on_unsized(void *ctx);
void supervisor_on_left(void *ctx);

/* Somebody types. Returns 0 or an errno. */
int supervisor_type(struct supervisor *s, const char *data, size_t len);

/* Sends a frame. Returns whether the front end is there and gets it. */
bool front_send(struct supervisor *s, enum frame_kind kind, int a, int b);

/* terse signal without a signal. */
#define WANTED_END (-1)

/* The command was stopped by this signal. */
void front_stop(struct supervisor *s, int sig);

/* The command goes on, or has ended, without the front end that was stopped with it. Continues the
   front end until it reports that it is awake, since it may be just about to stop. */
void front_continue(struct supervisor *s, int64_t now_ms);

/* Stops the command as the kernel stops a job: when the front end was stopped, and when the command
   reads the terminal in the background. */
void front_follow(struct supervisor *s, int64_t now_ms);

/* Deals with what the front end has sent, or with its end. */
void front_receive(void *supervisor, short revents);

/* The front end leaves while the command runs. If nobody asked for that, the run ends with the
   agent that started it. */
void front_bind_to_agent(struct supervisor *s, int64_t now_ms);

/* Ends the run if that agent has gone. */
void front_look_at_agent(struct supervisor *s, int64_t now_ms);

/* Whether it is about to stop, and would never read that it may end. */
bool front_is_asleep(const struct supervisor *s);

/* Sends it the end of the run, with ENDED_ bits, and closes the connection. */
void front_end(struct supervisor *s, int bits);

// supervisor_report.c

/* The command has ended: brings record and texts up to date, and queues the report. */
void supervisor_report(struct supervisor *s);

/* Once one of two texts is kept, both are. */
void supervisor_keep_both(struct supervisor *s);

/* The caller has waited long enough, or the command waits for input: queues a report that the run
   goes on. Where nobody could reach the run then, the caller keeps waiting. */
void supervisor_yield(struct supervisor *s);

/* The reader has that report: the caller is let go. */
void supervisor_finish_yield(struct supervisor *s);

/* Closes everything that belongs to the caller, but for the pipe of a program that reads on. */
void supervisor_drop_caller(struct supervisor *s);

/* Changes to a working directory that keeps no file system busy, since the process lives on without
   a caller. */
void supervisor_settle(void);

/* Whether somebody reads along. */
static inline bool supervisor_has_reader(const struct supervisor *s)
{
	return s->state == SUPERVISOR_RUNNING && s->caller == CALLER_WAITS;
}

/* Prints what is held back of the texts whose moment it is. */
void supervisor_print_held(struct supervisor *s, enum interceptor_moment moment, int64_t now_ms);

/* Prints a line with the ID if the reader has seen nothing new for long, or not all there is. */
void supervisor_heartbeat(struct supervisor *s, int64_t now_ms);

/* The command waits for keys that nobody can type, or was hung up for that. */
void supervisor_report_keys(struct supervisor *s, enum keys_found found, int64_t now_ms);

/* The command asks something, and nobody sees it. */
void supervisor_on_prompt(struct supervisor *s);

#endif
