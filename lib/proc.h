// The one reader of /proc: a process, its threads and its descriptors. Each call reads /proc anew;
// nothing is cached.
//
// A process that is gone or hidden is an ordinary answer: functions return -1 (with errno where the
// system call left one), NULL or false.
#ifndef TERSE_LIB_PROC_H
#define TERSE_LIB_PROC_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct stat;

struct process {
	pid_t pid, parent, group, session;
	pid_t foreground;           /* the foreground process group of its terminal; -1: no
				       terminal */
	bool forked;                /* it has executed no program since it was forked */
	bool ending;                /* it is exiting: its descriptors are closed or about to be */
	char state;                 /* R S D T t Z X I */
	unsigned long long started; /* clock ticks after the start of the machine */
	char name[64];              /* as the process has set it: may hold anything */
};

int process_read(pid_t pid, struct process *p);

/* Whether the process still exists and is not a zombie. */
bool process_is_alive(const struct process *p);

/* The name of the program that the process runs, without the directory; for an interpreter (node,
   python ...) the name of its script. `room`: memory for it. NULL: not known. */
const char *process_program(pid_t pid, char *room, size_t size);

/* Opens a file below /proc/PID for reading; the name is formatted as by printf. PID 0: this
   process. */
int process_open(pid_t pid, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Reads the start of a file below /proc/PID, and adds a NUL. Returns the length. */
ssize_t process_file(pid_t pid, char *text, size_t size, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Reads the target of a link below /proc/PID, likewise. */
ssize_t process_link(pid_t pid, char *target, size_t size, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Like fstat(2) on the descriptor. */
int process_stat(pid_t pid, unsigned long fd, struct stat *st);

/* Whether the descriptor is open for reading; *until_exec (may be NULL): the next exec of the
   process closes it. */
bool process_can_read(pid_t pid, unsigned long fd, bool *until_exec);

/* The system call that a thread is in, with its arguments. */
struct process_call {
	bool runs;   /* it runs, so it is in no call */
	long number; /* -1: in none */
	unsigned long args[5];
};

int process_call(pid_t pid, long thread, struct process_call *call);

/* A walk over the numbers in a directory of /proc, in its order:

	struct process_walk w;
	for (long n = process_walk(&w, PROCESS_DESCRIPTORS, pid); n >= 0; n = process_walk_next(&w))
		...
	process_walk_end(&w);

   It may be ended early. `dir` is NULL where there is nothing to walk over, with errno. */
enum process_list { PROCESS_ALL, PROCESS_THREADS, PROCESS_DESCRIPTORS };

struct process_walk {
	DIR *dir;
};

/* Begins a walk and returns the first number; -1: there is none. `pid` is not used for
   PROCESS_ALL. */
long process_walk(struct process_walk *w, enum process_list list, pid_t pid);
long process_walk_next(struct process_walk *w);
void process_walk_end(struct process_walk *w);

/* In a walk over descriptors: reads the name of the open file, such as "pipe:[123]", cut to the
   size. */
bool process_walk_link(const struct process_walk *w, long fd, char *link, size_t size);

#endif
