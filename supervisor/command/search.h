// terse search without its command line, for terse mcp.
#ifndef TERSE_COMMAND_SEARCH_H
#define TERSE_COMMAND_SEARCH_H

#include "lib/buffer.h"
#include "supervisor/artifact/id.h"
#include "supervisor/artifact/text.h"
#include "supervisor/command/followup.h"
#include "supervisor/command/person.h"
#include "supervisor/command/verb.h"
#include "supervisor/process/sink.h"
#include "supervisor/reading/listing.h"
#include "supervisor/reading/matcher.h"
#include "supervisor/reading/walk.h"
#include "supervisor/report/notice.h"

#include <stdbool.h>
#include <stdint.h>

struct settings;

struct search {
	struct verb_call *call;
	struct notice_query query;
	const char *name; /* the text as given; NULL: all of a session */
	bool all, as_it_is;
	uint64_t context; /* before and after, where they are not given */
	enum sink sink;
	struct matcher *matcher;
	struct listing listing;
	struct walk *walk; /* the search in the current text, or NULL */
	struct buffer place;
	struct buffer text;       /* for JSON: what would be printed */
	char next_id[ID_LEN + 1]; /* storage of listing.next_in in a search through many */

	/* In a search through many: the artifacts, those that match, and those listed (-l, -c). */
	uint64_t artifacts, matching, listed;
	bool found;     /* a match */
	uint64_t total; /* matches in the last text */

	/* What was printed counts as read of the first artifact with a match: its session's
	   directory, or -1. */
	struct followup followup;
	int first;
	char first_id[ID_LEN + 1];
	uint64_t size; /* of the text */
	bool colour;   /* mark matches */
	struct progress progress;
};

/* Answers a request: call, name, query, sink and colour are set, and first is -1. Returns the exit
   status. */
int search_answer(struct search *s);

#endif
