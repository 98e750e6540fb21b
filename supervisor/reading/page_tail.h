// The last lines of a text as a page (private to this folder; see page.h).
#ifndef TERSE_READING_PAGE_TAIL_H
#define TERSE_READING_PAGE_TAIL_H

#include <stddef.h>
#include <stdint.h>

struct page;

/* Makes it, by request->tail. Returns 0, or -1 with errno. */
int page_make_tail(struct page *p);

/* From page.c: reads on from where the text stands, until the page stops. */
int page_collect(struct page *p);

/* From page.c: the line that comes next has this number. Those before were counted from any one,
   unless p->absolute. */
void page_renumber(struct page *p, int64_t number);

/* From page.c: makes p->shown of a line. Returns 0, or -1 with ENOMEM. */
int page_show(struct page *p, const char *data, size_t len);

/* From page.c: what such a line takes of the room. */
size_t page_cost(const struct page *p, const char *data, size_t len);

#endif
