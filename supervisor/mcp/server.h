// The server's state, for the files of this room alone:
//
//   mcp.c        the verb and its options
//   server.c     the loop, what is sent, requests and notifications of the protocol
//   call.c       a request that has a child: its start, its progress, its end; run_command
//   verbs.c      the tools that are verbs of terse, in a child
//   sessions.c   the sessions and their tools, which need no child
//   resources.c  artifacts as resources
//
// A client that stops reading is not waited for: its answers wait in a queue, and while that is
// full nothing more is read from it, neither requests nor what children print. Commands run on,
// since their text goes to their artifacts.
#ifndef TERSE_MCP_SERVER_H
#define TERSE_MCP_SERVER_H

#include "lib/buffer.h"
#include "supervisor/agents/session.h"
#include "supervisor/artifact/id.h"
#include "supervisor/mcp/allow.h"
#include "supervisor/mcp/rpc.h"
#include "supervisor/mcp/sessions.h"
#include "supervisor/mcp/tools.h"
#include "supervisor/process/protocol.h"
#include "supervisor/process/source.h"

#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

struct meta;
struct settings;

/* Calls that are being worked on. */
#define SERVER_CALLS_MAX 256

/* Runs that go on after their answer, which the server holds; and resources that are watched. */
#define SERVER_HELD_MAX    512
#define SERVER_WATCHED_MAX 512

/* Bytes that children have printed and that wait for their end: beyond, only the child that has
   printed most is read. */
#define SERVER_OUTPUT_MAX ((size_t)8 * 1024 * 1024)

/* Between two progress notifications. */
#define SERVER_PROGRESS_MS 500

/* A request that is answered by what a child of the server prints: a copy of it that calls a
   function, or executes `terse run`. */
struct call {
	struct server *server;
	struct call *next;
	char id[RPC_ID_MAX];
	const struct tool *tool; /* NULL: of resources */

	/* For the function. */
	const struct arguments *arguments; /* only while it starts */
	char artifact[ID_LEN + 1];         /* of resources/read */
	uint64_t skip;                     /* of resources/list: so many were listed before */

	/* The child. */
	pid_t pid;
	int out, err;                 /* -1: closed */
	int leash;                    /* the server's end of a run's (terse run --leash), or -1 */
	bool ended;                   /* it was reaped */
	int status;                   /* then: as a shell reports it */
	struct buffer output, errors; /* what it has printed */

	bool cancelled;     /* nobody wants the answer */
	struct buffer stay; /* then: struct process, what does not end with the command */
	char *uri;          /* of resources/read */

	/* run_command: the session that gets what the shell leaves, and what it began with. */
	uint64_t session;
	struct buffer before;
	struct shell_leave leave;

	/* Progress. */
	char token[RPC_ID_MAX]; /* as JSON; "": none is wanted */
	bool asked;             /* for the state of the run */
	int64_t ask_at;         /* monotonic */
	uint64_t told_lines, told_bytes;
	int64_t told_at;
};

/* A resource that the client has subscribed to. */
struct watched {
	char id[ID_LEN + 1];
	int fd;          /* the run's control socket; -1: the run has ended */
	int64_t told_at; /* monotonic: the last notification, or when there was no room for one */
	bool changed;    /* since then */
};

struct server {
	struct settings *settings;
	bool read_only, structured, keep, all_sessions;
	struct allow allow;
	char program[4096];      /* this program's path, for shells */
	char room[SESSION_ROOM]; /* of the next */
	const char *artifacts;   /* the session of the artifacts */
	char *known;             /* an error of the configuration: reported once; or NULL */
	struct buffer start;     /* the state that a session begins with */
	struct inbox in;
	struct output_queue out;
	int signals;   /* signalfd */
	sigset_t mask; /* as the server was started with */
	bool initialized;
	int level;      /* of what is logged to the client, as syslog(3) counts them */
	bool ending;    /* the client has closed its end */
	int64_t end_at; /* monotonic: then it ends, whatever is left */
	struct sessions sessions;
	struct call *calls; /* newest first */
	size_t call_count, calls_most;
	int held[SERVER_HELD_MAX]; /* the server's ends of the leashes of runs that go on */
	size_t held_count, held_most;
	struct watched watched[SERVER_WATCHED_MAX];
	size_t watched_count;
};

/* Serves until the client closes standard input. Returns the exit status. */
int server_run(struct server *s);

/* Sends a notification, a whole line, and releases it. */
void server_send(struct server *s, struct buffer *line);

/* Sends the answer to a request, a whole line, and releases it; if that could not be put together
   without holes, the error for it. */
void server_send_answer(struct server *s, const char *id, struct buffer *line);

void server_send_error(struct server *s, const char *id, enum rpc_code code, const char *format,
		       ...) __attribute__((format(printf, 4, 5)));

/* Answers a call of a tool with a text, or with one of terse's own errors; or with JSON, as text
   and as structured content. */
void server_answer(struct server *s, const char *id, const struct buffer *text, bool is_error);
void server_answer_json(struct server *s, const char *id, const struct buffer *json, bool is_error);

/* Answers a request whose result is empty. */
void server_answer_empty(struct server *s, const struct rpc_message *m);

/* Logs one sentence to the client by the protocol, if it wants this level (LOG_WARNING ...). */
void server_log(struct server *s, int level, const char *text);

// call.c

/* The call whose request has this ID and is not answered yet, or NULL. */
struct call *call_find(const struct server *s, const char *id);

/* A new one, for call_start(); NULL: the request is answered with the error. */
struct call *call_new(struct server *s, const char *id);

/* Starts its child. With `words` that executes `terse run`, with this text (or NULL) as its
   standard input; else `print` writes to standard output and error, and its settings are loaded
   again, with the vocabulary, the reach and the session of the tools. Answers and frees the call if
   that is not possible. */
void call_start(struct server *s, struct call *c, const struct buffer *words, const json_t *input,
		int (*print)(const struct server *, const struct call *, struct settings *));

/* tools/call. */
void call_tool(struct server *s, const struct rpc_message *m);

/* The tool run_command; and the words of its `terse run`, one behind the other with their NULs.
   `leave`: the shell command that writes down what the shell leaves, or NULL. */
void call_run_command(struct server *s, const struct arguments *a, const struct rpc_message *m);
void call_run_words(struct buffer *words, const struct server *s, const struct arguments *a,
		    const char *leave);

void call_cancel(struct call *c);

/* Reads what its child has printed. */
void call_read(struct call *c);

/* Asks for the state of a run whose progress is wanted, if it is time to. Returns when that is
   next; 0: when the answer has come. And: passes that on to the client; `ctx` is the call. */
int64_t call_ask(struct call *c);
void call_on_progress(void *ctx, short events);

/* The child has ended: answers, and frees the call. */
void call_finish(struct server *s, struct call *c);
void call_free(struct server *s, struct call *c);

// verbs.c: the tools that print in a child, as struct tool has them

/* A call whose errors begin with no verb's name. `failed`: set by one, or NULL. */
struct verb_call tool_call(struct settings *settings, bool json, bool *failed);

int tool_read(const struct server *s, const struct call *c, struct settings *settings);
int tool_list(const struct server *s, const struct call *c, struct settings *settings);
int tool_await(const struct server *s, const struct call *c, struct settings *settings);
int tool_send(const struct server *s, const struct call *c, struct settings *settings);
int tool_signal(const struct server *s, const struct call *c, struct settings *settings);
int tool_screen(const struct server *s, const struct call *c, struct settings *settings);

/* Append the command of a run, cut to so many columns, and "exit 0, 12 lines, 1.2 KB". `m` NULL:
   its metadata can't be read, for the reason `error`. */
void tool_add_command(struct buffer *out, const struct meta *m, size_t width);
void tool_add_state(struct buffer *out, const struct meta *m, int error);

// resources.c

void resources_list(struct server *s, const struct rpc_message *m);
void resources_templates(struct server *s, const struct rpc_message *m);
void resources_read(struct server *s, const struct rpc_message *m);
void resources_subscribe(struct server *s, const struct rpc_message *m);
void resources_unsubscribe(struct server *s, const struct rpc_message *m);

/* Answers a request with what its child has printed. */
void resources_answer(struct server *s, struct call *c);

/* The run of a subscription has something new, or has ended; `ctx` is what watches it. And: the
   client is told of it, if it has room. */
void resources_on_change(void *ctx, short events);
void resources_tell(struct server *s, struct watched *w);

#endif
