// struct meta as JSON and back (private to this folder).
//
//   {"version":1,"id":"cmd-...","session":"...","command":["make","-j8"],"cwd":"/src",
//    "state":"done","started_ms":...,"ended_ms":...,"duration_ms":...,
//    "exit_code":2,"signal":null,"timed_out":false,"binary":false,"cols":160,"rows":50,
//    "keeper":0,"command_pid":0,"stdout":{"bytes":...,"lines":...},"raw_bytes":0}
//
// A stream has "gap":{"from","to","offset","bytes"} and "error" where there are any;
// "stderr" is there when it was kept apart, "command_cut" when the command is not whole.
// JSON is UTF-8: invalid bytes in arguments and paths become U+FFFD.
#ifndef TERSE_ARTIFACT_META_JSON_H
#define TERSE_ARTIFACT_META_JSON_H

#include "supervisor/artifact/meta.h"

struct buffer;

/* Appends the object. At most `budget` bytes of arguments and a quarter of that of the
   directory are kept. Written by hand, since every run passes here. Returns 0, or -1
   with errno ENOMEM. */
int meta_encode(struct buffer *out, const struct meta *m, size_t budget);

/* Reads it back. Returns 0, or -1 with errno EBADMSG (nothing to release) or ENOMEM. */
int meta_parse(const char *data, size_t len, struct meta *m);

#endif
