// The supervisor's state, for its own files alone:
//
//   supervisor.c          start of the command, loop, states, deadlines, background processes
//   frontend.c            the connection to the front end; stopping and continuing together with it
//   live.c                the clients of the run, and their requests
//   prompt.c              what the command waits for, and who answers
//   supervisor_report.c   report and heartbeats, and their delivery to the reader
//
// The states of a run, and what leads from one to the next:
//
//   RUNNING ──► FINISHING ──► FLUSHING ──► LINGERING ──► exit
//     the command ends: its output is drained
//                  all of its last output has come: the report is made
//                  the reader has everything: the front end may end, its descriptors are closed
//                                no process holds the command's output any more, and none that is
//                                being ended (timeout, killed front end) is left
//
// The caller has states of its own, since a run can yield (--yield, --detach, a prompt):
//
//   CALLER_WAITS ──► CALLER_YIELDING ──► CALLER_LEFT
//     a report says that the run goes on
//                            the reader has all of that report
#ifndef TERSE_PROCESS_SUPERVISOR_INTERNAL_H
#define TERSE_PROCESS_SUPERVISOR_INTERNAL_H

#include "config/settings.h"
#include "lib/buffer.h"
#include "lib/loop.h"
#include "lib/proc.h"
#include "supervisor/agents/rule.h"
#include "supervisor/compare/since.h"
#include "supervisor/intercept/interceptor.h"
#include "supervisor/process/job.h"
#include "supervisor/process/protocol.h"
#include "supervisor/process/record.h"
#include "supervisor/process/source.h"
#include "supervisor/report/wording.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/* --- the processes of a run ------------------------------------------------------------------- */

// The processes of a run: children and descendants, who holds its output, and how all are ended.
//
// Children come from the lists that the kernel keeps for each thread, or, where it keeps none (no
// CONFIG_PROC_CHILDREN), from one pass over all processes.
/* Begins as a zeroed struct. Use it for one question only and release it, since processes come and
   go. */
struct process_tree {
	bool passes;       /* use a pass over all processes instead of the lists */
	struct buffer all; /* of struct process_tree_pair: the result of the pass */
};

/* Puts the PIDs (pid_t) of the children of `parent` into `out`, which is emptied first: at least
   all processes that are children during the whole call. Returns 0, or -1 if memory runs out; some
   may be missing then. */
int process_tree_children(struct process_tree *k, pid_t parent, struct buffer *out);

/* The same for all descendants, parents first. Descendants whose parent has ended are not found. */
int process_tree_descendants(pid_t parent, struct buffer *out);

/* Drops the result of the pass, so that the next question begins a new pass. */
void process_tree_release(struct process_tree *k);

// The processes that hold the other end of a channel when the command has ended: background
// processes and daemons.

/* Finds the processes other than the caller that hold the command's end of one of `fds` (terse's
   ends of a pty or pipe, or -1). Puts up to `most` of them into `found`, in the order of /proc.
   Returns how many there are; processes of other users can't be seen. */
int pipe_holder_find(const int fds[2], struct process *found, int most);

// Ending the processes of a command: all in the session that the supervisor made for it. A process
// that has made its own session (setsid, a daemon) is not one of them.

/* Sends `sig` to every process in the session `session`, except its leader (the supervisor) and the
   caller. Returns how many there are (zombies do not count). Signals nobody if `session` is below
   2, or if it is the caller's own session and the caller is not the supervisor; the same holds for
   tree_end_step(). */
int tree_signal(pid_t session, int sig);

/* How a process tree is ended: HUP (with CONT, so that stopped ones get it), TERM, then KILL. */
struct tree_end {
	pid_t session;
	pid_t command;    /* a process that is ended even if it has a session of its own; 0: not
			     known */
	pid_t group;      /* the command's process group: signalled where /proc can't be read */
	int64_t grace_ms; /* between TERM and KILL */
	int step;         /* what has been sent */
	int64_t next_ms;  /* monotonic time of the next step; 0: not begun */
	int64_t look_ms;  /* when to check again whether processes are left */
	int64_t pause_ms; /* between the last KILLs */
};

/* Begins to end the tree, or does the next step if it is due. `first`: the step to begin with,
   TREE_HUP or TREE_TERM. Returns whether any process is left. */
enum { TREE_HUP = 1, TREE_TERM, TREE_KILL };
bool tree_end_step(struct tree_end *e, int first, int64_t now_ms);

/* --- what the processes of a run wait for ------------------------------------------------------
 */

/* Whether a process waits for input from the terminal. If threads or processes differ, the highest
   value counts. */
enum wait_input {
	INPUT_NONE,   /* something runs, or waits for something else */
	INPUT_HIDDEN, /* asleep, for a hidden reason */
	INPUT_POLLED, /* asleep until one of several things happens */
	INPUT_READ,   /* blocked in a read of the terminal */
};

struct wait {
	enum wait_kind kind;
	enum wait_input input;
	pid_t pid;     /* of the process that waits */
	char name[64]; /* the name that the process has set: may hold any bytes */
	bool also;     /* WAIT_KEYS: data on its standard input would wake it up, too */
};

/* Looks at all descendants of the caller. With a `group` it looks only at the processes of that
   group, and fills in only `input`. `terminal`: the device number of the terminal. */
void wait_look(struct wait *w, dev_t terminal, pid_t group);

// Whether a command waits for somebody to type. No event reports this, so terse has to look: when
// nothing was written or typed for a moment, and then less and less often. Two looks in a row must
// agree.
//
// A prompt needs a controlling terminal, into which somebody can type. Its foreground process group
// waits for input when
//
//   - one of its processes is blocked in a read of the terminal, or
//   - one sleeps in poll, select or epoll, none of its processes runs, the terminal is raw (so keys
//     are read one by one), and the screen looks as if somebody was asked: the cursor is after
//     text, or a full-screen program is on, or
//   - /proc hides why one sleeps (another user's: sudo, su), none of its processes runs, the
//     cursor is after text, and either echo is off or the terminal has been quiet for long.
//
// Keys that nobody can type, in an agent's command without a controlling terminal. On a pipe such
// programs (whiptail, fzf, mc, nvim) give up at once; with a terminal as their output they draw,
// and wait. The first look comes when nothing was written for some seconds. The process that waits
// is hung up (HUP, then TERM and KILL), as if its terminal were gone, if
//
//   - no process of the run works, and this one waits for the terminal, not for its standard
//     input (or it is the run's only process, and waits for nothing that comes from elsewhere),
//   - it has the terminal in raw mode, or the alternate screen is on, and
//   - no process of the run is a server (ports_of()).
//
// Otherwise the reader only gets a line about it. A command that stays on the alternate screen gets
// such a line, too.

struct looks {
	int master;        /* of the terminal; not owned */
	dev_t device;      /* of its slave; 0: there is none, and no look */
	int64_t first_ms;  /* the time from the last activity to the first look */
	int64_t active_ms; /* when something was last written or typed; times are monotonic */
	int64_t at;        /* the next look; 0: none */
	int64_t pause_ms;  /* the time from the next look to the one after it, if the next finds
			      nothing */
	int agreed;        /* looks in a row that found it waiting */
	bool prompts;      /* it waits at a prompt */
	int64_t waits_ms;  /* since when it waits for input; 0: it does not */
	struct meta_waits waits; /* the waits that are over */
	/* For keys. */
	int64_t screen_at; /* when to check for the alternate screen; 0: never again */
	bool reported;     /* a wait was reported */
	int sent;          /* signals to `wait.pid` */
	struct wait wait;  /* the result of the last look */
};

/* How long neither output nor keys may come before a look for a prompt. */
#define LOOK_PROMPT_MS 60

/* Call it when something was written or typed, and when the run begins: fills in terminal and
   times. */
void looks_touch(struct looks *l, int64_t now_ms);

/* Takes a look at the command if one is due. Returns whether the command has just begun to wait.
   `t`: the screen. */
bool looks_find_prompt(struct looks *l, struct terminal *t, int64_t now_ms);

/* Appends the question: the text of the cursor's row, clean and short. Appends nothing on the
   alternate screen. Returns 0, or -1 with ENOMEM. */
int prompt_text(struct terminal *t, struct buffer *out);

/* --- the watchdog --------------------------------------------------------------------------- */

// A process that only waits. When the supervisor dies before the command has ended (SIGKILL, out of
// memory), or the front end before the command has been executed, it ends the command's processes
// and restores the person's terminal. It holds no descriptor but its own two and that terminal.
//
// It is also a witness. A process can't know whether a signal was sent to it alone or to its
// process group, so the watchdog stays in the front end's group: a signal that came to both was for
// the group. The kernel signals the newest member of a group first, so the watchdog has the signal
// before the front end. Every signal must be blocked in the process that starts it
// (signals_take()).

/* Starts the watchdog as a child, for the job of the supervisor whose process ID is `session`.
   `pipe`: the read end; watchdog_tell() has the write end, which closes on exec. *asked: the socket
   for watchdog_ask(), or -1. Returns the watchdog's pid, or -1 with errno; the run then continues
   without a watchdog. */
pid_t watchdog_start(const struct job *job, pid_t session, int pipe, int *asked);

/* Tells the watchdog the command's process group, once there is one. 0: nothing is left to end;
   this also closes *pipe. The watchdog reads the pipe when all write ends are closed. */
void watchdog_tell(int *pipe, pid_t group);

/* Asks the watchdog whether it has got the signal `what`, too, and makes it forget the signal.
   Returns true if it does not answer. WATCHDOG_LEAVE: makes the watchdog leave the group of the
   front end, which is about to end. */
#define WATCHDOG_LEAVE 0x7f
bool watchdog_ask(pid_t watchdog, int asked, int what);

/* Sets the person's terminal, if there is one, back to the job's modes if it still has the raw
   ones. */
void watchdog_restore_terminal(const struct job *job);

/* --- the run ---------------------------------------------------------------------------------- */

/* Once somebody wants the run to end, terse stops waiting for a reader that takes nothing for this
   time, and for a client that does not take the end of the run. Before that, a reader may take as
   long as it likes. */
#define STALL_MS 1000

/* The most holders of the output that are listed. */
#define HOLDERS 64

/* Interval between looks at the front end, and at the agent. */
#define FRONT_MS 1000

enum supervisor_state {
	SUPERVISOR_RUNNING,
	SUPERVISOR_FINISHING,
	SUPERVISOR_FLUSHING,
	SUPERVISOR_LINGERING
};

enum caller_state { CALLER_WAITS, CALLER_YIELDING, CALLER_LEFT };

/* Interval at which unfinished lines are flushed to the artifact and to a live reader. */
#define TICK_MS 200

/* Deadlines that are set and cleared; supervisor.c has the table of all. */
enum supervisor_timer {
	TIMER_CONTINUE,    /* continue the front end once more */
	TIMER_TICK,        /* flush unfinished lines */
	TIMER_HEARTBEAT,   /* print a heartbeat */
	TIMER_TIMEOUT,     /* end the command */
	TIMER_YIELD,       /* let the caller go */
	TIMER_HAND_OVER,   /* let the caller go before the agent ends the call */
	TIMER_FRONT,       /* look at the front end, or at the agent */
	TIMER_PERSON,      /* the person has not answered */
	TIMER_FINISH,      /* check for processes that have yet to print the command's output */
	TIMER_NICE,        /* give the session its niceness */
	TIMER_LINGER_IDLE, /* stop recording silent daemons */
	TIMER_OPEN,        /* make the socket */
	TIMER_CHANGED,     /* tell clients that there is more text */
	/* Deadlines of the supervisor's parts, set anew at each turn. */
	TIMER_LOOK,  /* check what the command waits for */
	TIMER_PAUSE, /* a text has paused: its lines become final, or held text is printed */
	TIMER_TREE,  /* end the processes that are left */
	TIMERS
};

struct front {
	int fd;           /* -1: the front end is gone, or has been sent the end of the run */
	bool was_stopped; /* at the last look, somebody else had stopped it */
	/* How many FRAME_STOPPED it has not yet answered with FRAME_AWAKE. While this is above 0,
	   the front end is stopping and would not read the end of the run. */
	int asleep;
	struct frame frame; /* the last frame that it has sent */
};

// A recording of the output with its times, as an asciicast (version 2) for asciinema and the page
// of terse report. Format: https://docs.asciinema.org/manual/asciicast/v2/: a line with a header
// object, then a line for each event: [seconds, "o", text] or [seconds, "r", "80x24"]. A LF that
// the terminal took for a new line (no output processing) becomes CR LF.
struct cast {
	struct artifact *artifact; /* has the recording as ARTIFACT_CAST; not owned; NULL: nothing
				      is recorded */
	bool newlines;             /* LF is a new line */
	char last;                 /* the last byte */
	char partial[4];           /* the beginning of a character */
	size_t partial_len;
};

#define LIVE_CLIENTS 64

struct live_client {
	struct live_client *next;
	int fd;
	struct buffer queue; /* packets, each after its length (size_t) */
	size_t sent;         /* bytes of the queue */
	bool watches, changed;
	bool attached, sizes; /* `sizes`: the run has the size of its terminal */
	bool behind;          /* it has missed output */
	bool dead;
	bool caller;
};

/* The run as its clients see it: the text of the first source, and its terminal if it has one. */
struct live {
	int dir; /* STORE/live, -1: not open */
	int fd;  /* listens */
	char name[32];
	struct live_client *clients; /* a list, newest first */
	int count;
	int64_t told_at; /* when the watching clients were last told; monotonic */
	struct cast cast;
	bool recording;      /* an asciicast is wanted and has yet to begin */
	char typed;          /* the last byte typed */
	int64_t typed_ms;    /* when that was typed */
	unsigned cols, rows; /* while nobody is attached */
	uint64_t reported;   /* lines of the text that were sent to a reader */
};

struct supervisor {
	const struct job *job;
	bool is_text; /* the report's format is text */
	enum supervisor_state state;
	enum caller_state caller;
	struct process agent; /* once the caller has left, the run ends with this process; pid 0:
				 with none */
	int watchdog;
	int signals;          /* signalfd for SIGCHLD */
	pid_t command, group; /* its process ID and process group */
	bool stopped;         /* the command is stopped by a signal */
	int64_t ended_ms;     /* when it ended, monotonic */
	int status;           /* wait status: the command's when it has ended, the run's after the
				 report */
	/* Why the command ended, or is being ended. */
	bool timed_out;
	bool interrupted; /* the front end died first */
	int wanted;   /* the last signal (or WANTED_END) that the run's own session sent; 0: none */
	bool hung_up; /* the command waited for keys that nobody can type */
	struct hand_over hand_over;
	bool handed_over;     /* the run continues without its agent, which would have ended it */
	const char *question; /* the command waits for the answer to this question, and nobody will
				 give it; or NULL */
	enum wait_kind asked; /* WAIT_PERSON, WAIT_SECRET: the command waits for a person's
				 answer */
	bool unanswered;      /* a person has not answered in time, so none is expected to answer */
	int ends_typed;       /* how often the end of input was typed because the command waited */
	struct source sources[2];
	struct source *end; /* the end of `sources` */
	/* The delivery of the report to the reader. */
	int64_t stall_at; /* monotonic time at which terse stops waiting for a stalled reader; 0:
			     never */
	int instead;      /* wait status of the run if terse stopped waiting for its reader; 0: exit
			     status 1 */
	size_t left;      /* bytes that waited for the reader at the last look */
	bool loss_told;   /* the reader did not get everything, and has got a line that says so */
	struct buffer input; /* for the command's terminal */
	struct live live;
	struct looks looks;
	struct source *drawn; /* the terminal, in looks for keys */
	dev_t device;         /* the command's controlling terminal; 0: it has none */
	struct tree_end tree;
	bool ending; /* the process tree is being ended */
	/* Background processes that still held the output when the end was reported. */
	bool lingers;        /* there are such processes */
	int64_t paid;        /* the time up to which the bytes read so far use up the allowed rate;
				its unit is a byte (milliseconds times RATE_LIMIT_RATE / 1000) */
	char linger_why[96]; /* why the recording has ended, for the text; "": it continues */
	struct wording_since since; /* the last run of the command */
	int64_t heartbeat_ms;       /* interval to the next heartbeat */
	int64_t timer[TIMERS];      /* monotonic times; 0: not set */
	char *chunk;                /* SOURCE_CHUNK bytes */
	/* Long members come last: a run usually touches only the start of each. */
	struct record record;
	char prompt[LIVE_TEXT]; /* what the command asks */
	/* The processes that hold the output after the command's end, as last seen; and in words:
	   "tee still writes", "": nobody is seen. */
	struct process holders[HOLDERS];
	int holder_count;
	char who[96];
	struct summary summary; /* of a report in a format other than text */
	struct front front;
};

/* The command's terminal, or NULL. */
struct source *supervisor_terminal(struct supervisor *s);

/* Queues input for the command's terminal. Returns 0, or EAGAIN if there is no room. */
int supervisor_queue_input(struct supervisor *s, const char *data, size_t len);

/* Calls `each` for each text. */
void supervisor_each_text(struct supervisor *s, void (*each)(struct interceptor *text));

/* Begins to end the process tree, with this step (TREE_HUP ...). */
void supervisor_end_tree(struct supervisor *s, int step);

// live.c: a run as its clients (protocol.h) see it while it lives, and what they ask.
//
// The socket is made when a run has lived for a moment, so that short runs do not pay for it;
// before that only live_adopt() adds clients. A run gets an artifact when somebody waits for its
// text, however short the text is.

/* Makes the socket, in the first store that takes one, unless that was tried before. */
void live_try_open(struct supervisor *s, int64_t now_ms);

/* Makes the socket and the artifact. Returns 0, or -1 if that fails, so that nobody could reach the
   run. */
int live_open(struct supervisor *s);

/* Takes a connected socket as a client; if there are too many, the client gets EBUSY and is closed.
   `caller`: this client started the run, which ends with it if the run is leashed. */
void live_adopt(struct live *c, int fd, bool caller);

/* Adds the sockets to wait for before live_serve(). Whoever connects becomes a client. */
void live_watch(struct live *c, struct loop *l);

/* Answers clients, and drops those that are gone; never blocks. */
void live_serve(struct supervisor *s);

/* The status has changed: tells the clients that watch, now or (for more text) soon. */
void live_tell_now(struct supervisor *s, int64_t now_ms);
void live_tell_soon(struct supervisor *s, int64_t now_ms);

/* The current screen, or NULL if there is no memory for it. */
struct terminal *live_screen(struct supervisor *s);

/* Whether somebody is attached who can type. */
bool live_has_person(const struct live *c);

/* The length of the text, with unfinished lines, and the last line of the screen. */
void live_describe_text(struct supervisor *s, struct live_status *c);

/* Takes output of the command. */
void live_output(struct supervisor *s, const char *data, size_t len);

/* Sets the size of the terminal; `own`: also sets the run's own size, which counts while nobody is
   attached. Returns 0 or an errno. */
int live_resize(struct supervisor *s, unsigned cols, unsigned rows, bool own);

/* Whether anything is still queued for a client. */
bool live_is_pending(const struct live *c);

/* Removes the socket and disconnects every client. */
void live_close(struct live *c);

// prompt.c: what the command waits for, and who answers: it looks (struct looks) at these moments.

/* Call it when the command has been started and its terminal is known. */
void prompt_begin(struct supervisor *s, int64_t now_ms);

/* Checks what the command waits for. For a question, calls a person if a person has to answer it;
   otherwise, if nobody sees the question, the run yields or ends, or its input ends. A question
   counts until a line was typed, or until the command continues without an answer. A command that
   waits for keys that nobody can type is hung up, or the reader is told. */
void prompt_on_look(struct supervisor *s, int64_t now_ms);

/* Called when the person has not answered in time: the input ends for this question and for all
   that follow. */
void prompt_on_unanswered(struct supervisor *s, int64_t now_ms);

/* Reads the question that the command asks, clean; "" on the alternate screen. */
void prompt_read(struct supervisor *s, char out[LIVE_TEXT]);

/* Whether the bytes typed next are a secret: the terminal reads lines without echo, or a program
   reads single keys and `prompt` asks for a secret. */
bool prompt_hides(const struct supervisor *s, const char *prompt);

/* Types bytes. Returns 0 or an errno. */
int prompt_type(struct supervisor *s, const char *data, size_t len);

/* Types the key that ends the input. In the middle of a line that key only sends the line, so it is
   typed twice. Returns 0 or an errno. */
int prompt_type_end(struct supervisor *s);

// frontend.c

/* Whether this signal is meant to end a run. */
bool signal_is_end(int sig);

/* Sends a frame. Returns whether the front end still exists and gets the frame. */
bool front_send(struct supervisor *s, enum frame_kind kind, int a, int b);

/* Stands for `terse signal` without a signal. */
#define WANTED_END (-1)

/* Call it when the command was stopped by this signal. */
void front_stop(struct supervisor *s, int sig);

/* Call it when the command was continued, or has ended, while the front end is stopped. Continues
   the front end again and again until it reports that it is awake, since it may be just about to
   stop. */
void front_continue(struct supervisor *s, int64_t now_ms);

/* Stops the command where the kernel would stop a job: when the front end was stopped, and when the
   command reads the terminal in the background. Once the caller has left, ends the run if the agent
   that started it is gone. */
void front_look(struct supervisor *s, int64_t now_ms);

/* Handles a frame from the front end, or the end of the front end. */
void front_receive(void *supervisor, short revents);

/* Closes the connection. */
void front_close(struct supervisor *s);

/* Sends the front end the end of the run, with ENDED_ bits, and closes the connection. */
void front_end(struct supervisor *s, int bits);

// supervisor_report.c

/* Call it when the command has ended: brings record and texts up to date, and queues the report. */
void supervisor_report(struct supervisor *s);

/* If one of the two texts is kept, keeps the other one, too. */
void supervisor_keep_both(struct supervisor *s);

/* Call it when the caller has waited long enough, or when the command waits for input: queues a
   report that the run continues. If nobody could reach the run, does nothing, and the caller keeps
   waiting. */
void supervisor_yield(struct supervisor *s, int64_t now_ms);

/* Like supervisor_yield(), shortly before the agent would end the call. */
void supervisor_hand_over(struct supervisor *s, int64_t now_ms);

/* Prints the next piece of the summary if its reader takes it. Returns whether it did, so that the
   next turn need not wait. */
bool supervisor_print_summary(struct supervisor *s);

/* Call it when somebody wants the run to end: terse then stops waiting for a reader that stalls. If
   the command ends because of that wish, the time starts at its end. `instead`: the run's wait
   status if the command succeeded but terse stopped waiting for the reader. */
void supervisor_hurry(struct supervisor *s, int64_t now_ms, int instead);

/* Returns whether the reader has everything, or a line that says why it can't get everything. Call
   it after supervisor_report(), or when the command continues without its reader. Spills a text
   that was not delivered. */
bool supervisor_deliver(struct supervisor *s, int64_t now_ms);

/* The wait status of the run if the command ended with `status`. */
int supervisor_outcome(const struct supervisor *s, int status);

/* Whether the caller still reads the output live. */
static inline bool supervisor_has_reader(const struct supervisor *s)
{
	return s->state == SUPERVISOR_RUNNING && s->caller == CALLER_WAITS;
}

/* Prints the lines that the texts hold back, if it is time. */
void supervisor_print_held(struct supervisor *s, enum interceptor_moment moment, int64_t now_ms);

/* Prints a line with the ID if the reader has seen nothing new for long, or has not seen everything
   so far. */
void supervisor_heartbeat(struct supervisor *s, int64_t now_ms);

/* Tells an agent that reads this text live what the command waits for. */
void supervisor_tell_wait(struct supervisor *s, struct source *source, int64_t now_ms);

#endif
