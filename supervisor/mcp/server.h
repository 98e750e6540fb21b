// The server's state, for the files of this room alone:
//
//   mcp.c            the verb and its options
//   server.c         the loop: descriptors, signals, the end
//   methods.c        requests and notifications of the protocol
//   call.c           a request that has a child: its start, its progress, its end
//   answer.c         what a child has printed, as the answer
//   session_tools.c  the tools of sessions, which need no child
//   resources.c      artifacts as resources
//
// A client that stops reading is not waited for: its answers wait in a queue, and while that is
// full nothing more is read from it, neither requests nor what children print. Commands run on,
// since their text goes to their artifacts.
#ifndef TERSE_MCP_SERVER_H
#define TERSE_MCP_SERVER_H

#include "lib/buffer.h"
#include "supervisor/agents/session.h"
#include "supervisor/mcp/allow.h"
#include "supervisor/mcp/arguments.h"
#include "supervisor/mcp/child.h"
#include "supervisor/mcp/inbox.h"
#include "supervisor/mcp/order.h"
#include "supervisor/mcp/rpc.h"
#include "supervisor/mcp/sessions.h"
#include "supervisor/process/control.h"
#include "supervisor/process/source.h"

#include <signal.h>
#include <stdint.h>

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

enum call_kind { CALL_TOOL, CALL_RESOURCES, CALL_RESOURCE };

struct call {
	struct call *next;
	enum call_kind kind;
	char id[RPC_ID_MAX];
	const struct tool *tool; /* of CALL_TOOL */
	struct child child;
	bool ended;         /* the child was reaped */
	bool cancelled;     /* nobody wants the answer */
	struct buffer stay; /* then: struct process, what does not end with the command */
	bool searches;      /* no match is no error */
	char *about;        /* what the answer names: an artifact or a resource; or NULL */
	uint64_t skip;      /* CALL_RESOURCES: so many were listed before */

	/* run_command: the session that gets what the shell leaves, and what it began with. */
	uint64_t session;
	struct shell_state before;
	struct shell_leave leave;

	/* Progress. */
	char token[RPC_ID_MAX]; /* as JSON; "": none is wanted */
	bool asked;             /* for the state of the run */
	int64_t ask_at;         /* monotonic */
	struct buffer state;    /* the part of the answer that has come */
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
	char program[4096];       /* this program's path, for shells */
	char room[SESSION_ROOM];  /* of the next */
	const char *artifacts;    /* the session of the artifacts */
	char *known;              /* an error of the configuration: reported once; or NULL */
	char **env;               /* of the verbs that run nothing */
	struct shell_state start; /* a session's beginning */
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
	struct watched *watched;
	size_t watched_count, watched_room;
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

/* Logs one sentence to the client by the protocol, if it wants this level (LOG_WARNING ...). */
void server_log(struct server *s, int level, const char *text);

/* Sends a result that is empty. */
void server_send_empty(struct server *s, const char *id);

/* Whether there will be a place for one more run that goes on. */
bool server_can_hold(const struct server *s);

/* Holds a run that goes on, and takes over its descriptor. */
void server_hold(struct server *s, int fd);

// methods.c

/* The name of a level of the log. */
const char *methods_level_name(int level);

/* Deals with a line. */
void methods_take(struct server *s, const char *line, size_t len);

// call.c

struct call *call_new(struct server *s, enum call_kind kind, const char *id);
struct call *call_find(const struct server *s, const char *id);

/* Starts the child. The order is released. Returns 0; or -1 after the call was answered and freed.
 */
int call_begin(struct server *s, struct call *c, struct order *order, const char *directory,
	       char *const *env);

/* tools/call. */
void call_tool(struct server *s, const struct rpc_message *m);

void call_cancel(struct call *c);

/* Asks for the state of a run whose progress is wanted, and passes on what came. */
void call_progress(struct server *s, struct call *c, int64_t now_ms);
void call_receive(struct server *s, struct call *c, int64_t now_ms);

/* The child has ended: answers, and frees the call. */
void call_finish(struct server *s, struct call *c);
void call_free(struct server *s, struct call *c);

// session_tools.c

/* Answers a call of a tool of sessions. Returns whether it is one. */
bool session_tools_answer(struct server *s, const struct arguments_of *a, const char *id);

// answer.c

/* Answers a call of a tool: with text, or with one of terse's own errors. */
void answer_text(struct server *s, const char *id, const struct buffer *text, bool is_error);
void answer_wrong(struct server *s, const char *id, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* With JSON, as text and as structured content. */
void answer_json(struct server *s, const char *id, const struct buffer *json, bool is_error);

/* With what its child has printed. */
void answer_call(struct server *s, struct call *c);

/* Answers a request with the errors of its child. */
void answer_refuse(struct server *s, const struct call *c, const char *method, enum rpc_code code,
		   const struct buffer *errors);

/* What a child has printed for `terse list --json`, to be released by json_decref(), and its array
   of runs. Returns NULL if it printed something else, with why
   in `errors`. */
json_t *answer_read_list(const struct call *c, const json_t **runs, struct buffer *errors);

/* "exit 0, 12 lines, 1.2 KB" */
void answer_add_state(struct buffer *out, const json_t *run);

/* The command of a run, as `terse list --json` has it; of a shell the string alone. */
void answer_add_command(struct buffer *out, const json_t *run);

// resources.c

void resources_list(struct server *s, const struct rpc_message *m);
void resources_templates(struct server *s, const struct rpc_message *m);
void resources_read(struct server *s, const struct rpc_message *m);
void resources_subscribe(struct server *s, const struct rpc_message *m);
void resources_unsubscribe(struct server *s, const struct rpc_message *m);
void resources_answer(struct server *s, struct call *c);

/* The run of a subscription has something new, or has ended; and: the client is told of it, if it
   has room. */
void resources_receive(struct watched *w, int64_t now_ms);
void resources_tell(struct server *s, struct watched *w, int64_t now_ms);

#endif
