// terse version: with --json what this binary is made of.
//
// The Makefile passes the commit, the architecture is the compiler's, and the libraries tell their
// versions themselves; inih and musl do not know theirs, so the Makefile passes those.

#include "lib/buffer.h"
#include "lib/json.h"
#include "supervisor/command/verb.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <jansson.h>
#include <pcre2.h>
#include <string.h>
#include <sys/auxv.h>
#include <utf8proc.h>
#include <zlib.h>
#include <zstd.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

/* Empty where they are not known. */
#ifndef TERSE_COMMIT
#define TERSE_COMMIT ""
#endif
#ifndef TERSE_INIH
#define TERSE_INIH ""
#endif
#ifndef TERSE_MUSL
#define TERSE_MUSL ""
#endif

#if defined(__x86_64__)
#define ARCHITECTURE "x86_64"
#elif defined(__aarch64__)
#define ARCHITECTURE "aarch64"
#else
#define ARCHITECTURE NULL
#endif

/* A name and a version; "" is null. */
static void version_add(struct buffer *out, const char *key, const char *name, const char *version)
{
	json_begin(out, key, '{');
	json_add_string(out, "name", name);
	json_add_string(out, "version", *version ? version : NULL);
	json_end(out, '}');
}

static int version_run(struct verb_call *c)
{
	if (verb_parse(c, NULL) < 0)
		return EXIT_TERSE;
	if (!c->json) {
		puts("terse " TERSE_VERSION);
		return 0;
	}
	struct buffer out = BUFFER_INIT;
	char pcre2[64] = "";
	pcre2_config(PCRE2_CONFIG_VERSION, pcre2);
	pcre2[strcspn(pcre2, " ")] = '\0';
	envelope_begin(&out);
	json_add_string(&out, "version", TERSE_VERSION);
	json_add_string(&out, "commit", *TERSE_COMMIT ? TERSE_COMMIT : NULL);
	json_add_string(&out, "architecture", ARCHITECTURE);
#ifdef __GLIBC__
	version_add(&out, "libc", "glibc", gnu_get_libc_version());
#else
	version_add(&out, "libc", "musl", TERSE_MUSL);
#endif
	/* The kernel tells where the dynamic linker is, if there is one. */
	json_add_bool(&out, "static", getauxval(AT_BASE) == 0);
	json_begin(&out, "linked", '[');
	version_add(&out, NULL, "inih", TERSE_INIH);
	version_add(&out, NULL, "jansson", jansson_version_str());
	version_add(&out, NULL, "pcre2", pcre2);
	version_add(&out, NULL, "utf8proc", utf8proc_version());
	version_add(&out, NULL, "zlib", zlibVersion());
	version_add(&out, NULL, "zstd", ZSTD_versionString());
	json_end(&out, ']');
	envelope_end(&out);
	return verb_print(c, &out);
}

static const struct verb_option version_options[] = {
	{"--json", 0, VERB_JSON, 0, NULL,
	 "with commit, architecture, C library, and what is linked in"},
	VERB_END_ROW,
};

const struct verb verb_version = {
	.name = "version",
	.also = {"--version", "-V", "-v"},
	.purpose = "print the version",
	.forms = "",
	.text = "Prints the version.\n",
	.options = version_options,
	.run = version_run,
};
