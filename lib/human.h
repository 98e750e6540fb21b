// Time in milliseconds.
#ifndef TERSE_LIB_HUMAN_H
#define TERSE_LIB_HUMAN_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Milliseconds since some fixed point; never steps. For durations and deadlines. */
int64_t clock_monotonic_ms(void);

/* Milliseconds since 1970-01-01 UTC. For times that are shown or stored. */
int64_t clock_real_ms(void);

/* A time in milliseconds. */
int64_t clock_ms(const struct timespec *time);

// Numbers as people and agents read them: "8,432", "61.0 KB", "12.3 s".
//
// Every function writes a NUL-terminated string into `out` and returns `out`.
// HUMAN_LEN is enough for any value.

#define HUMAN_LEN 32

/* For arguments of printf: the string is valid up to the end of the enclosing block. */
#define HUMAN_NUMBER(n)    human_number((char[HUMAN_LEN]){0}, (n), false)
#define HUMAN_COUNT(n)     human_number((char[HUMAN_LEN]){0}, (n), true)
#define HUMAN_SIZE(bytes)  human_size((char[HUMAN_LEN]){0}, (bytes))
#define HUMAN_DURATION(ms) human_duration((char[HUMAN_LEN]){0}, (ms))
#define HUMAN_TIME(ms)     human_time((char[HUMAN_LEN]){0}, (ms))
#define HUMAN_SIGNAL(sig)  human_signal((char[HUMAN_LEN]){0}, (sig))

/* 8432 -> "8432", or with commas "8,432" */
char *human_number(char out[HUMAN_LEN], uint64_t n, bool commas);

/* Bytes in units of powers of 1,024: "812 B", "4.0 KB", "61.0 KB", "473 KB", "1.2 GB". Values below
   100 have one decimal, except in bytes. */
char *human_size(char out[HUMAN_LEN], uint64_t bytes);

/* "3 ms", "12.3 s", "4 min 5 s", "2 h 3 min" */
char *human_duration(char out[HUMAN_LEN], int64_t ms);

/* "SIGTERM", or the number where it has no name. */
char *human_signal(char out[HUMAN_LEN], int sig);

/* How long ago, in one unit: "119 s", "2 min", "47 h", "2 d" */
char *human_age(char out[HUMAN_LEN], int64_t ms);

/* Local time, "2026-11-20 09:12:05"; "?" if localtime_r(3) refuses the time. */
char *human_time(char out[HUMAN_LEN], int64_t ms);

#endif
