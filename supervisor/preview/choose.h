// Which of the lines in a layout are taken.
#ifndef TERSE_PREVIEW_CHOOSE_H
#define TERSE_PREVIEW_CHOOSE_H

#include "supervisor/preview/layout.h"
#include "supervisor/preview/preview.h"

#include <stddef.h>

/* The bytes of the budget that the start of the text may take. */
size_t choose_head_share(const struct preview_options *options);

/* Those that the last lines have in any case. */
size_t choose_end_share(const struct preview_options *options, int status);

/* Takes lines of a layout whose lines do not all fit. */
void choose(struct layout *l, const struct preview_options *options);

#endif
