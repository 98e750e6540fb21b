// A person sees how far long work is.

#include "lib/human.h"
#include "lib/io.h"
#include "supervisor/command/person.h"
#include "tests/unit/child.h"
#include "tests/unit/unit.h"

static void tell_progress(const void *ctx)
{
	struct progress p = {.on = true, .began_ms = clock_monotonic_ms() - 3600000};
	(void)ctx;
	progress_tell(&p, "searching: %u %%", 50);
	progress_end(&p);
	io_write(STDOUT_FILENO, "7:7\n", 4);
	progress_end(&p);
	io_write(STDOUT_FILENO, "8:8\n", 4);
	p.shown_ms -= 3600000;
	progress_tell(&p, "searching: %u %%", 75);
	progress_end(&p);
	progress_end(&p);
	/* Too early, and where no person waits. */
	progress_begin(&p);
	p.on = true;
	progress_tell(&p, "searching: %u %%", 75);
	p = (struct progress){.on = false};
	progress_tell(&p, "searching: %u %%", 75);
}

/* A match takes the line of the progress, which goes on below it. */
TEST(test_progress_and_matches)
{
	char got[200];
	assert_int_equal(child_run_output(tell_progress, NULL, got, sizeof(got)), 0);
	assert_string_equal(got, "\r\033[Ksearching: 50 %\r\033[K7:7\n8:8\n"
				 "\r\033[Ksearching: 75 %\r\033[K");
}

TEST_MAIN(NULL, NULL)
