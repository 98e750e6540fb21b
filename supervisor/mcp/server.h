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

// JSON-RPC 2.0 as the Model Context Protocol uses it: each message is one line.
//
// The inbox splits what read(2) returns into lines. jansson parses them; lib/json writes the
// answers.

/* The most bytes of an ID as JSON, NUL included. */
enum { RPC_ID_MAX = 512 };

// The lines that a client sends. A line that is too long is skipped in constant memory, and
// answered with an error.

/* The most bytes of a line. */
#define INBOX_LINE_MAX ((size_t)16 * 1024 * 1024)

struct inbox {
	int fd;
	struct buffer data; /* lines that were read, and the start of the next; owned */
	size_t taken;       /* bytes of `data` that inbox_next() has returned */
	size_t most;        /* the most bytes of a line: INBOX_LINE_MAX, or a smaller number in
			       tests */
	bool skipping;      /* what comes is the rest of a line that is too long */
	bool ended;         /* the client sends nothing more; its unfinished last line counts as a
			       line */
};

/* A handler of the loop for `fd`: reads once if something is there. Sets `ended` at the end of
   file. A line that there is no memory for counts as too long. */
void inbox_read(void *inbox, short events);

/* Returns whether there is a next line, and stores it, without its newline, for rpc_read(): NULL
   for a line that was too long. It is valid until the next inbox_read(). Blank lines are
   skipped. */
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
	json_t *params;      /* an object, or NULL; borrowed from `value` */
	json_t *value;       /* the whole message, or NULL; the caller releases it */
	enum rpc_code code;  /* for RPC_WRONG: which error */
	char wrong[160];     /* for RPC_WRONG: why; else "" */
};

/* Reads a line of the inbox. */
void rpc_read(struct rpc_message *m, const char *line, size_t len);

/* Writes an ID or a progress token as JSON. Returns 0; or -1, and writes "", if it is neither a
   string nor a whole number, or too long. */
int rpc_write_id(char out[RPC_ID_MAX], const json_t *id);

/* Begins the line of a response. `member` is "result" or "error", an object: the caller appends its
   members and calls rpc_end(). */
void rpc_begin(struct buffer *out, const char *id, const char *member);
void rpc_end(struct buffer *out);

/* The line of a response that is an error. */
void rpc_error(struct buffer *out, const char *id, enum rpc_code code, const char *message);

/* --- tools ------------------------------------------------------------------------------------ */

// Each tool is a row: its description for the client, its arguments, and what answers it. From the
// rows come the JSON schemas, the check of a call's arguments, and the options of the verb. If an
// argument is wrong, the model gets one sentence that names it and says what it has to be.

enum argument_type {
	ARGUMENT_TEXT,
	ARGUMENT_DATA,    /* a text that may hold any bytes, even NUL */
	ARGUMENT_COUNT,   /* a whole number from `least` to `most` */
	ARGUMENT_TIME,    /* a whole number of ms, from 1 to a day */
	ARGUMENT_LINE,    /* a whole number; below 0 counts from the end */
	ARGUMENT_FLAG,    /* true or false */
	ARGUMENT_STRINGS, /* a list of strings */
	ARGUMENT_PAIRS,   /* an object whose members are strings */
};

struct argument {
	const char *name;
	enum argument_type type;
	const char *description; /* NULL: the name says all */
	const char *option;      /* of the verb; NULL: the argument is an operand. If there are
				    choices, each but the first is an option itself */
	bool required;
	uint64_t least, most; /* of a COUNT */
	int64_t otherwise;    /* the value if it is not given; 0: the verb's own default */
	const char *choices;  /* of a TEXT: JSON, a list; or NULL */
};

enum { ARGUMENTS_MAX = 16 };

struct arguments {
	const struct tool *tool;
	json_t *values[ARGUMENTS_MAX]; /* in the order of tool->arguments; borrowed; NULL: not
					  given */
};

struct tool {
	const char *name, *title, *description;
	bool read_only;   /* it neither runs nor types anything */
	bool destructive; /* what it does can't be undone */
	bool open_world;  /* it reaches beyond the server's own commands */

	/* Either `serve` answers, in the server itself, or `verb`, in a child. `serve` appends the
	   answer to `text` and returns 0; or appends what is wrong and returns -1. */
	int (*serve)(struct server *s, const struct arguments *a, struct buffer *text);
	const char *verb, *also; /* `also`: an option that it always gets; or NULL */

	/* Returns what is wrong if some arguments don't go together, or NULL. The pointer may be
	   NULL. */
	const char *(*check)(const struct arguments *a);

	const struct argument *arguments; /* end with a NULL name */
};

/* Ends with a NULL name. */
extern const struct tool tools[];

/* Returns NULL if there is no such tool, or if `read_only` is set and the tool is not read-only. */
const struct tool *tool_find(const char *name, bool read_only);

/* Appends the array of the tools as tools/list has it. */
void tools_list(struct buffer *out, bool read_only);

/* Reads the object `given` (NULL: empty) and checks it against the tool's row. Accepts common
   mistakes of models: "5" for 5, arguments of other tools (timeout_ms, description), and null, "",
   0 or [] for an argument that isn't given. Corrects the values in `given`. Returns 0, or -1 and
   appends what is wrong. */
int arguments_read(struct arguments *a, const struct tool *tool, json_t *given,
		   struct buffer *wrong);

/* Appends what is wrong with an argument. Returns -1. */
int arguments_refuse(struct buffer *wrong, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* An argument's value. If it was not given: NULL, or `otherwise`. */
json_t *argument_value(const struct arguments *a, const char *name);
const char *argument_text(const struct arguments *a, const char *name);
int64_t argument_number(const struct arguments *a, const char *name, int64_t otherwise);

/* --- sessions --------------------------------------------------------------------------------- */

// Shell sessions. Each has a name, a directory and exported variables, which one command of the
// session passes to the next. The session "default" always exists.

// The state of a shell is a buffer with its exported variables, "NAME=VALUE\0...". PWD is its
// directory. If memory ran out, buffer_check() says so.
//
// A command's shell starts with the state of its session. When the shell ends, it runs `terse mcp
// --leave`, which writes down the directory and environment that it inherits. So `cd`, `export`,
// `unset` and `source` all have an effect, and no shell syntax is parsed. bash can compare its
// exports with those that it started with, and runs this program only if they differ: a fork and
// another program would cost a third of a short command's run. The session takes over only what the
// command has changed, so commands that run at the same time don't undo each other's changes.

/* The most bytes of a state. A larger one is not taken over. */
#define SHELL_STATE_MAX ((size_t)4 * 1024 * 1024)

/* Makes a state from an environment. Leaves out variables that concern only this process (SHLVL,
   TERSE). */
void shell_state_init(struct buffer *s, const char *directory, char *const *env);

/* Sets a variable; the format gives NAME=VALUE. */
void shell_state_set(struct buffer *s, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The value of a variable, or "". PWD is an absolute path. */
const char *shell_state_value(const struct buffer *s, const char *name);

/* Changes PWD as `cd` would: a relative path starts at PWD, "~" is HOME. */
void shell_state_enter(struct buffer *s, const char *directory);

/* Applies to `s` the changes between `before`, the state that a command began with, and `left`, the
   state at its end. Returns 0, or -1 with errno and nothing changed: EPROTO (`left` is not a state)
   or ENOMEM. */
int shell_state_take(struct buffer *s, const struct buffer *before, const char *left, size_t len);

/* The strings of a buffer, each with its NUL, as an array like argv. The array points into the
   buffer; the caller frees the array. NULL with ENOMEM. */
char **shell_strings(const struct buffer *s);

/* This process's directory as an absolute path: $PWD, which may lead through symbolic links, if it
   still names the directory. The caller frees it. NULL with errno. */
char *shell_directory(void);

// The file in memory that a shell writes its state to.

/* Room for the mark that identifies a file: its device and inode number. */
enum { SHELL_MARK_MAX = 40 };

/* Opens such a file as *fd. Returns code, which the caller frees, that the shell has to execute
   first, so that it writes its state to the file when it ends. `program` is the path of terse.
   Returns NULL on an error, after which *fd may be open. */
char *shell_leave_open(int *fd, const char *program);

/* terse mcp --leave FILE MARK: writes this process's directory and environment to FILE, if it has
   the mark. Returns the exit status. */
int shell_leave_main(const char *file, const char *mark, char *const *env);

// The sessions.

#define SESSIONS_DEFAULT  "default"
#define SESSIONS_MAX      64
#define SESSIONS_NAME_MAX 64

struct session {
	char name[SESSIONS_NAME_MAX + 1];
	uint64_t number; /* differs from that of a later session of the same name */
	struct buffer state;
};

struct sessions {
	struct session items[SESSIONS_MAX]; /* oldest first; each owns its state */
	size_t count;
	uint64_t begun; /* the number of the next one */
};

/* The session of this name (NULL: the default one), or NULL. Valid until a session begins or
   ends. */
struct session *sessions_find(struct sessions *s, const char *name);

/* Begins a session with this state. `name` NULL: "session-N". Returns NULL with errno: EEXIST,
   EINVAL (a name has only letters, digits, '.', '_' and '-'), ENFILE (too many), ENOMEM. */
struct session *sessions_begin(struct sessions *s, const char *name, const struct buffer *state);

/* The tools new_session and end_session, as tool->serve. To end the default session is to reset
   it. */
int sessions_serve_new(struct server *s, const struct arguments *a, struct buffer *text);
int sessions_serve_end(struct server *s, const struct arguments *a, struct buffer *text);

/* --- the server ------------------------------------------------------------------------------- */

// The server never waits for a client that stops reading. Its answers are queued, and while the
// queue is full the server reads neither requests nor what children print. Commands keep running,
// since their text goes to their artifacts.

/* The most runs that outlive their answer. */
#define SERVER_HELD_MAX 512

/* A call of a tool whose answer is what a child prints. The child is a fork of the server that
   calls a verb, or `terse run`. */
struct call {
	struct server *server;
	struct call *next;
	char id[RPC_ID_MAX];
	const char *verb; /* "read" */
	bool runs;        /* the tool is run_command */
	bool json;        /* the child prints JSON, which is the answer */

	/* The child. */
	pid_t pid;                    /* 0 once it was reaped */
	int out, err;                 /* -1: closed */
	int leash;                    /* the server's end of the socket that is the child's leash;
					 or -1 */
	int status;                   /* once it was reaped: its exit status as in a shell */
	struct buffer output, errors; /* what it has printed */
	bool cancelled;               /* nobody wants the answer */

	/* For run_command: the number of its session, and the state that its command began with. */
	uint64_t session;
	struct buffer before;
	int leave; /* the file in memory that its shell writes its state to; or -1 */

	/* Progress. */
	char token[RPC_ID_MAX]; /* as JSON; "": none is wanted */
	bool asked;             /* the child was asked for its state and has not answered */
	int64_t ask_at;         /* monotonic */
	uint64_t told_lines, told_bytes;
	bool told_asks;
	int64_t told_at;
};

struct server {
	struct settings *settings;
	bool read_only, structured, keep, all_sessions;
	char program[4096];      /* this program's path, for shells */
	char room[SESSION_ROOM]; /* for the name in `artifacts` */
	const char *artifacts;   /* the session that artifacts belong to */
	struct buffer start;     /* the state that a new session begins with */
	struct inbox in;
	struct output_queue out;
	int signals;   /* signalfd */
	sigset_t mask; /* the signal mask at the server's start */
	bool initialized;
	int64_t end_at; /* monotonic: when the server ends even if calls are left; INT64_MAX: not
			   yet set */
	struct sessions sessions;
	struct call *calls; /* newest first */
	size_t call_count, calls_most;
	int held[SERVER_HELD_MAX]; /* the leashes of runs that outlive their calls */
	size_t held_count, held_most;
};

/* Sends a whole line, the answer to request `id`, and releases it. If memory ran out while the line
   was made, sends an error in its place. `id` NULL: the line is a notification, and is dropped in
   that case. */
void server_send(struct server *s, const char *id, struct buffer *line);

void server_send_error(struct server *s, const char *id, enum rpc_code code, const char *format,
		       ...) __attribute__((format(printf, 4, 5)));

/* Answers a call of a tool with a text. `is_json`: the text is JSON, and is also sent as structured
   content. `is_error`: it says what went wrong. */
void server_answer(struct server *s, const char *id, const struct buffer *text, bool is_json,
		   bool is_error);

// call.c

/* tools/call. */
void call_tool(struct server *s, const struct rpc_message *m);

/* Appends the words of run_command's `terse run`, each with its NUL. `prelude`: what its shell
   executes first (shell_leave_open()), or NULL. */
void call_run_words(struct buffer *words, const struct server *s, const struct arguments *a,
		    const char *prelude);

/* Appends the words of the verb that answers a tool, each with its NUL. Returns the verb's name,
   and in *json whether it prints JSON. */
const char *call_verb_words(struct buffer *words, const struct server *s, const struct arguments *a,
			    bool *json);

/* Ends the child, and a command with its processes. The call gets no answer. */
void call_cancel(struct call *c);

/* Adds to the loop what the call waits for; the child's output only with `may_print`. Asks the
   child for its state if progress is wanted and it is time. */
void call_watch(struct call *c, struct loop *l, bool may_print);

/* Reaps the child if it has ended. */
void call_reap(struct call *c);

/* Answers, and frees the call. The child has ended. */
void call_finish(struct server *s, struct call *c);
void call_free(struct server *s, struct call *c);

#endif
