// The server's state, for the files of this room alone:
//
//   server.c     the verb, the loop, what is sent, requests and notifications of the protocol
//   call.c       a request that has a child: its start, its progress, its end
//   sessions.c   the sessions and their tools, which need no child
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

struct loop;
struct settings;

/* Runs that go on after their answer, which the server holds. */
#define SERVER_HELD_MAX 512

/* A request that is answered by what a child of the server prints: a verb of terse, which a copy of
   it calls; or `terse run`, which that executes. */
struct call {
	struct server *server;
	struct call *next;
	char id[RPC_ID_MAX];
	const struct tool *tool;   /* NULL: of resources */
	char artifact[ID_LEN + 1]; /* of resources/read; else "" */
	const char *verb;          /* "read" */
	bool json;                 /* it prints the answer's JSON */

	/* The child. */
	pid_t pid;
	int out, err;                 /* -1: closed */
	int leash;                    /* the server's end of a run's (terse run --leash), or -1 */
	bool ended;                   /* it was reaped */
	int status;                   /* then: as a shell reports it */
	struct buffer output, errors; /* what it has printed */
	bool cancelled;               /* nobody wants the answer */

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

struct server {
	struct settings *settings;
	bool read_only, structured, keep, all_sessions;
	const char *allow[ALLOW_MAX + 1]; /* patterns of what may run; none: all */
	size_t allow_count;
	char program[4096];      /* this program's path, for shells */
	char room[SESSION_ROOM]; /* of the next */
	const char *artifacts;   /* the session of the artifacts */
	struct buffer start;     /* the state that a session begins with */
	struct inbox in;
	struct output_queue out;
	int signals;   /* signalfd */
	sigset_t mask; /* as the server was started with */
	bool initialized;
	bool ending;    /* the client has closed its end */
	int64_t end_at; /* monotonic: then it ends, whatever is left */
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

/* tools/call, resources/list and resources/read. */
void call_tool(struct server *s, const struct rpc_message *m);
void call_list(struct server *s, const struct rpc_message *m);
void call_resource(struct server *s, const struct rpc_message *m);

/* The words of run_command's `terse run`, one behind the other with their NULs. `leave`: the shell
   command that writes down what the shell leaves, or NULL. */
void call_run_words(struct buffer *words, const struct server *s, const struct arguments *a,
		    const char *leave);

/* The words of the verb that a tool is. Returns its name, and whether it prints the answer's JSON.
 */
const char *call_verb_words(struct buffer *words, const struct server *s, const struct arguments *a,
			    bool *json);

/* The call whose request has this ID and is not answered yet, or NULL. */
struct call *call_find(const struct server *s, const char *id);

/* The command ends with its session; its answer is dropped when it comes. */
void call_cancel(struct call *c);

/* Adds to a turn of the loop what is waited for, what the child prints only if it `may_print`; asks
   for the state of a run whose progress is wanted, if it is time to. */
void call_watch(struct call *c, struct loop *l, bool may_print);

/* Sees whether the child has ended. */
void call_reap(struct call *c);

/* It has: answers, and frees the call. */
void call_finish(struct server *s, struct call *c);
void call_free(struct server *s, struct call *c);

#endif
