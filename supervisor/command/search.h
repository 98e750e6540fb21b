// What the files of `terse search` share: verb_search.c takes the arguments and goes through what
// there is to search, search_print.c prints.
#ifndef TERSE_COMMAND_SEARCH_H
#define TERSE_COMMAND_SEARCH_H

#include "lib/buffer.h"
#include "supervisor/artifact/id.h"
#include "supervisor/artifact/text.h"
#include "supervisor/command/verb.h"
#include "supervisor/process/sink.h"
#include "supervisor/reading/listing.h"
#include "supervisor/reading/matcher.h"
#include "supervisor/reading/notice.h"
#include "supervisor/reading/walk.h"
#include "supervisor/report/file_type.h"

#include <stdbool.h>
#include <stdint.h>

struct settings;

struct search {
	struct verb verb;
	const struct settings *settings;
	struct notice_query query;
	const char *name; /* of the text, as it was given; NULL: all of a session */
	enum sink sink;
	struct matcher *matcher;
	struct time_limit time_limit;
	bool watched;
	struct buffer who; /* "terse search: PATTERN: gave up at line ", clean */
	struct listing listing;
	struct walk *walk; /* the text that is searched now, or NULL */
	struct buffer place;
	struct buffer json;       /* what is listed, or said of whole texts: elements of an array */
	char next_id[ID_LEN + 1]; /* what listing.next_in is, among many */

	/* Of a search through many: what is printed of them (-l, -c), and how many there are. */
	uint64_t artifacts, matching, listed;
	bool found;     /* anything */
	uint64_t total; /* lines in the text that was searched last */

	int64_t began_ms, shown_ms;
	uint64_t size; /* of the text */
	bool progress; /* tell a person how far it is */
};

/* A text that is searched. */
struct search_subject {
	struct text *text;
	const char *name; /* as a person reads it */
	struct listing_text listing;
};

/* For the listing: prints on standard output, or collects in s->json. */
int search_print(void *ctx, const char *data, size_t len);

/* For the walk: shows a person how far it is, and takes that away again. */
void search_tell_progress(void *ctx, uint64_t bytes);
void search_end_progress(struct search *s);

/* What is known of a whole text: for -c and -l, and, of the kind `binary`, of one that is not
   shown. Returns 0, or -1 with errno. */
int search_add_summary(struct search *s, const struct search_subject *t, uint64_t total,
		       const struct kind *binary);

/* Print the whole answer as JSON: of a search in one text (`total` with -c), or in a session.
   Return 0, or -1 with errno. */
int search_json_one(struct search *s, const struct text *text, uint64_t total);
int search_json_all(struct search *s, const char *session);

/* Says that it gave up at a line, and what was found before. */
void search_give_up(struct search *s, const struct search_subject *t, uint64_t line);

/* The same while PCRE2 does not come back, in a signal handler; ends the program. */
void search_give_up_now(void *ctx);

#endif
