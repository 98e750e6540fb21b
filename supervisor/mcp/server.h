// terse mcp, for the files of this room alone:
//
//   server.c     the verb, the loop, what is sent, requests and notifications of the protocol
//   rpc.c        its messages
//   tools.c      the table of tools, and the arguments of a call
//   sessions.c   the sessions and their tools, which need no child
//   call.c       a request that has a child: its start, its progress, its end
#ifndef TERSE_MCP_SERVER_H
#define TERSE_MCP_SERVER_H

#include "lib/buffer.h"
#include "supervisor/agents/session.h"
#include "supervisor/process/output_queue.h"
#include "supervisor/process/protocol.h"

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct loop;
struct server;
struct settings;

/* --- messages --------------------------------------------------------------------------------- */

// JSON-RPC 2.0 as the Model Context Protocol uses it: one message is one line.
//
// The inbox puts the lines together from what read(2) gives; jansson reads them, lib/json writes.

/* Bytes of an ID as JSON, with the NUL. */
enum { RPC_ID_MAX = 512 };

// The lines that a client sends. A line has an end in size: what is longer is skipped to its end in
// constant memory, and stands for an error.

/* Bytes of a line. */
#define INBOX_LINE_MAX ((size_t)16 * 1024 * 1024)

struct inbox {
	struct buffer data; /* lines that came and were not taken yet, and the start of the next;
			       owned */
	size_t taken;       /* bytes of it */
	size_t most;        /* of a line; INBOX_LINE_MAX but for tests */
	bool skipping;      /* the rest of a line that is too long */
	bool ended;         /* the client sends nothing more; an unfinished line counts as one */
};

/* Reads once from a descriptor that is ready, and so never blocks; sets `ended` at the end. If
   there is no memory for a line, it counts as too long. */
void inbox_read(struct inbox *i, int fd);

/* The next line, without its newline, for rpc_read(): valid until the next inbox_read(); NULL
   stands for one that was too long. Blank ones are skipped. Returns whether there is one. */
bool inbox_next(struct inbox *i, const char **line, size_t *len);

// Messages.

/* The codes of errors. */
enum rpc_code {
	RPC_NOT_JSON = -32700,
	RPC_INVALID = -32600,
	RPC_NO_METHOD = -32601,
	RPC_BAD_PARAMS = -32602,
	RPC_INTERNAL = -32603,
};

enum rpc_kind {
	RPC_REQUEST,
	RPC_NOTIFICATION,
	RPC_RESPONSE, /* to a request that this server never sends: ignored */
	RPC_WRONG,
};

struct rpc_message {
	enum rpc_kind kind;
	char id[RPC_ID_MAX]; /* as JSON; "null" if there is none */
	const char *method;  /* "" if there is none; borrowed from `value` */
	json_t *params;      /* an object, or NULL; borrowed as well */
	json_t *value;       /* all of it, or NULL; the caller releases it */
	enum rpc_code code;  /* RPC_WRONG: which error */
	char wrong[160];     /* and why; else "" */
};

/* Reads a line of the inbox. */
void rpc_read(struct rpc_message *m, const char *line, size_t len);

/* Writes an ID or a progress token, a string or a whole number, as JSON. Returns 0, or -1 if it is
   something else or too long; then it is "". */
int rpc_write_id(char out[RPC_ID_MAX], const json_t *id);

/* Begins the line of a response: what its member, "result", has follows, and rpc_end(). */
void rpc_begin(struct buffer *out, const char *id, const char *member);
void rpc_end(struct buffer *out);

/* The line of a response that is an error. */
void rpc_error(struct buffer *out, const char *id, enum rpc_code code, const char *message);

/* --- tools ------------------------------------------------------------------------------------ */

// The tools: a row for each, with what a client is told, the arguments, and what answers. The JSON
// schemas are written from the rows, the arguments of a call are checked against them, and the
// options of the verb follow: a mistake is one sentence for the model, which names the argument and
// what it has to be.

enum argument_type {
	ARGUMENT_TEXT,
	ARGUMENT_DATA,    /* a text that may hold anything, NUL too */
	ARGUMENT_COUNT,   /* a whole number, `least` at least */
	ARGUMENT_TIME,    /* the same in ms, from 1 to a day */
	ARGUMENT_LINE,    /* a whole number; below 0 counts from the end */
	ARGUMENT_FLAG,    /* true or false */
	ARGUMENT_STRINGS, /* a list of strings */
	ARGUMENT_PAIRS,   /* an object whose members are strings */
};

struct argument {
	const char *name;
	enum argument_type type;
	const char *description; /* NULL: the name says all */
	const char *option;      /* of the verb; NULL: an operand. Of choices each but the first
				    is one */
	bool required;
	uint64_t least, most; /* of a COUNT */
	int64_t otherwise;    /* where it is not given; 0: the verb's own default */
	const char *choices;  /* of a TEXT: JSON, a list; or NULL */
};

enum { ARGUMENTS_MAX = 16 };

struct arguments {
	const struct tool *tool;
	json_t *values[ARGUMENTS_MAX]; /* by the tool's row; borrowed; NULL: not given */
};

struct tool {
	const char *name, *title, *description;
	bool read_only;   /* it neither runs nor types anything */
	bool destructive; /* what it does can't be undone */
	bool open_world;  /* it reaches beyond the server's own commands */

	/* One of the two answers: `serve`, in the server, appends the text and returns 0, or what
	   is wrong and -1; or the verb with these options, in a child of the server. */
	int (*serve)(struct server *s, const struct arguments *a, struct buffer *text);
	const char *verb, *also; /* an option that it always has; or NULL */

	/* Returns what is wrong with arguments that do not go together, or NULL. May itself be
	   NULL. */
	const char *(*check)(const struct arguments *a);

	const struct argument *arguments; /* end with a NULL name */
};

/* Ends with a NULL name. */
extern const struct tool tools[];

/* NULL: there is no such tool, or it is not offered. */
const struct tool *tool_find(const char *name, bool read_only);

/* Appends the array of the tools as tools/list has it. */
void tools_list(struct buffer *out, bool read_only);

/* Reads the object `given` (NULL: empty). Also takes other tools' names of arguments (timeout_ms,
   description), numbers and booleans as strings ("5"), as models write them, and null, "", 0 or []
   for an argument that is left out. Values are changed in `given`. Returns 0, or -1 and appends
   what is wrong. */
int arguments_read(struct arguments *a, const struct tool *tool, json_t *given,
		   struct buffer *wrong);

/* Says what is wrong with an argument. Returns -1. */
int arguments_refuse(struct buffer *wrong, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* An argument's value; where it was not given NULL or `otherwise`. */
json_t *argument_value(const struct arguments *a, const char *name);
const char *argument_text(const struct arguments *a, const char *name);
int64_t argument_number(const struct arguments *a, const char *name, int64_t otherwise);

/* --- sessions --------------------------------------------------------------------------------- */

// The shell sessions of a server: each a name, a directory and exported variables, which its
// commands share one after the other. The session "default" always exists.

// The state of a shell, "NAME=VALUE\0...": its exported variables, of which PWD is its directory.
// The buffer remembers a lack of memory.
//
// A session has one. A command's shell starts with it, and when it ends, a child of it (`terse mcp
// --leave`) writes down what it inherits: nothing is parsed, so `cd`, `export`, `unset` and
// `source` all count. Only changes that a command has made are taken over, so that commands that
// run at the same time do not undo each other's changes.

/* The largest state that is taken over, in bytes; nothing is taken of a larger one. */
#define SHELL_STATE_MAX ((size_t)4 * 1024 * 1024)

/* Makes one of an environment, without what belongs to this process alone. */
void shell_state_init(struct buffer *s, const char *directory, char *const *env);

/* Sets NAME=VALUE, as printf. */
void shell_state_set(struct buffer *s, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The value of a variable; "" where there is none. That of PWD is the directory, absolute. */
const char *shell_state_value(const struct buffer *s, const char *name);

/* Changes the directory as the shell would: relative to the state's own, "~" is its HOME. */
void shell_state_enter(struct buffer *s, const char *directory);

/* Takes over the changes from `before`, with which a command began, to `left`, the state that it
   has left. Returns 0, or -1 with errno and everything as it was: EPROTO: `left` is no state;
   ENOMEM. */
int shell_state_take(struct buffer *s, const struct buffer *before, const char *left, size_t len);

/* The strings of a buffer, each with its NUL, as argv and environ have them. NULL without memory;
   to be freed. */
char **shell_strings(const struct buffer *s);

/* This process's directory, absolute, as its shell named it (PWD), through links too, where that is
   still it; NULL with errno; to be freed. */
char *shell_directory(void);

// The file in memory that a shell leaves its state in.

/* Room for the mark that tells a file from all others: its device and number. */
enum { SHELL_MARK_MAX = 40 };

/* Opens one, and returns the shell command that writes to it: `program` is this program's path.
   NULL: there is none, though perhaps *fd; to be freed. */
char *shell_leave_open(int *fd, const char *program);

/* terse mcp --leave FILE MARK: writes this process's directory and environment to the file that has
   the mark. Returns the exit status. */
int shell_leave_main(const char *file, const char *mark, char *const *env);

// The sessions.

#define SESSIONS_DEFAULT  "default"
#define SESSIONS_MAX      64
#define SESSIONS_NAME_MAX 64

struct session {
	char name[SESSIONS_NAME_MAX + 1];
	uint64_t number; /* tells a session from a later one of its name */
	struct buffer state;
};

struct sessions {
	struct session
		items[SESSIONS_MAX]; /* in the order of their beginning; each owns its state */
	size_t count;
	uint64_t begun; /* the number of the next one */
};

/* NULL: there is none of that name (NULL: the default one). Valid until one begins or ends. */
struct session *sessions_find(struct sessions *s, const char *name);

/* Begins one with this state. `name` NULL: "session-N". Returns NULL with errno: EEXIST, EINVAL
   (letters, digits, '.', '_', '-' only), ENFILE (too many), ENOMEM. */
struct session *sessions_begin(struct sessions *s, const char *name, const struct buffer *state);

/* The tools new_session and end_session (the default one begins anew), as their rows have them. */
int sessions_serve_new(struct server *s, const struct arguments *a, struct buffer *text);
int sessions_serve_end(struct server *s, const struct arguments *a, struct buffer *text);

/* --- the server ------------------------------------------------------------------------------- */

// A client that stops reading is not waited for: its answers wait in a queue, and while that is
// full nothing more is read from it, neither requests nor what children print. Commands run on,
// since their text goes to their artifacts.

/* Runs that go on after their answer, which the server holds. */
#define SERVER_HELD_MAX 512

/* A call of a tool that is answered by what a child of the server prints: a verb of terse, which a
   copy of it calls; or `terse run`, which that executes. */
struct call {
	struct server *server;
	struct call *next;
	char id[RPC_ID_MAX];
	const char *verb; /* "read" */
	bool runs;        /* it is "run": run_command */
	bool json;        /* it prints the answer's JSON */

	/* The child. */
	pid_t pid;                    /* 0: it was reaped */
	int out, err;                 /* -1: closed */
	int leash;                    /* the server's end of a run's (terse run --leash), or of
					 what a verb is asked by; or -1 */
	int status;                   /* then: as a shell reports it */
	struct buffer output, errors; /* what it has printed */
	bool cancelled;               /* nobody wants the answer */

	/* run_command: the session that gets what the shell leaves, and what it began with. */
	uint64_t session;
	struct buffer before;
	int leave; /* what it leaves, a file in memory; -1: nothing */

	/* Progress. */
	char token[RPC_ID_MAX]; /* as JSON; "": none is wanted */
	bool asked;             /* for the state of the run */
	int64_t ask_at;         /* monotonic */
	uint64_t told_lines, told_bytes;
	bool told_asks;
	int64_t told_at;
};

struct server {
	struct settings *settings;
	bool read_only, structured, keep, all_sessions;
	char program[4096];      /* this program's path, for shells */
	char room[SESSION_ROOM]; /* of the next */
	const char *artifacts;   /* the session of the artifacts */
	struct buffer start;     /* the state that a session begins with */
	struct inbox in;
	struct output_queue out;
	int signals;   /* signalfd */
	sigset_t mask; /* as the server was started with */
	bool initialized;
	int64_t end_at; /* monotonic: then it ends, whatever is left; INT64_MAX: nothing ends it yet
			 */
	struct sessions sessions;
	struct call *calls; /* newest first */
	size_t call_count, calls_most;
	int held[SERVER_HELD_MAX]; /* the server's ends of the leashes of runs that go on */
	size_t held_count, held_most;
};

/* Sends the answer to a request, a whole line, and releases it; if that could not be put together
   without holes, the error for it. `id` NULL: it is a notification, and is dropped then. */
void server_send(struct server *s, const char *id, struct buffer *line);

void server_send_error(struct server *s, const char *id, enum rpc_code code, const char *format,
		       ...) __attribute__((format(printf, 4, 5)));

/* Answers a call of a tool with a text, or with one of terse's own errors. `is_json`: with JSON, as
   text and as structured content. */
void server_answer(struct server *s, const char *id, const struct buffer *text, bool is_json,
		   bool is_error);

// call.c

/* tools/call. */
void call_tool(struct server *s, const struct rpc_message *m);

/* The words of run_command's `terse run`, one behind the other with their NULs. `leave`: the shell
   command that writes down what the shell leaves, or NULL. */
void call_run_words(struct buffer *words, const struct server *s, const struct arguments *a,
		    const char *leave);

/* The words of the verb that a tool is. Returns its name, and whether it prints the answer's JSON.
 */
const char *call_verb_words(struct buffer *words, const struct server *s, const struct arguments *a,
			    bool *json);

/* Ends the command with its session; drops its answer when it comes. */
void call_cancel(struct call *c);

/* Adds to a turn of the loop what the call waits for: the child's output only if it `may_print`.
   Asks for the state of a run whose progress is wanted, if it is time. */
void call_watch(struct call *c, struct loop *l, bool may_print);

/* Sees whether the child has ended. */
void call_reap(struct call *c);

/* It has: answers, and frees the call. */
void call_finish(struct server *s, struct call *c);
void call_free(struct server *s, struct call *c);

#endif
