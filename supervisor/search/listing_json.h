// The lines that were found as the elements of an array (private to this folder):
//
//   {"line":12,"text":"...","truncated":false,"before":[...],"after":[...]}
//
// "artifact" comes first in a search through several texts. Lines around have "line", "text" and
// "truncated". A line that is cut has "command", which shows it whole; lines before that did not
// fit are an element {"omitted":N}. Gaps go to listing.gap:
//
//   {"from":5001,"to":9000,"bytes":1234567,"reason":"disk cap"}
//
// Functions return 0, or -1 with ENOMEM.
#ifndef TERSE_SEARCH_LISTING_JSON_H
#define TERSE_SEARCH_LISTING_JSON_H

#include "supervisor/search/excerpt.h"
#include "supervisor/search/listing.h"

/* An element, in this order: open, the line, before, the lines before it, after, the lines behind;
   closed by the next one, or at the end. */
int listing_json_open(struct listing *l);
int listing_json_before(struct listing *l);
int listing_json_after(struct listing *l);
int listing_json_close(struct listing *l);

/* A line that was found, or one around it; `excerpt` NULL: whole. */
int listing_json_line(struct listing *l, const struct listing_text *text,
		      const struct walk_line *line, const struct excerpt *excerpt);

/* So many lines before. */
int listing_json_omission(struct listing *l, uint64_t lines);

int listing_json_gap(struct listing *l, const struct listing_text *text,
		     const struct text_piece *gap);

/* From listing.c: "terse read ID --offset 14 --limit 1" */
int listing_read(struct buffer *out, const struct listing_text *text, uint64_t first,
		 uint64_t count);

#endif
