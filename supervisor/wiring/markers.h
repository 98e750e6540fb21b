// What stands around terse's lines in a file for a model.
#ifndef TERSE_WIRING_MARKERS_H
#define TERSE_WIRING_MARKERS_H

#define LINES_BEGIN "<!-- terse: begin -->"
#define LINES_END   "<!-- terse: end -->"

#endif
