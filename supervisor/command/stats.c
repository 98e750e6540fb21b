// See internal.h.

#include "supervisor/command/internal.h"

#include "config/profile.h"
#include "config/words.h"
#include "lib/json.h"
#include "lib/tokens.h"
#include "shim/exec_call.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

int64_t stats_saved(const struct stats_sum *s)
{
	return (int64_t)s->own.bytes - (int64_t)s->shown.bytes - (int64_t)s->read.bytes;
}

int64_t stats_saved_tokens(const struct stats_sum *s)
{
	return (int64_t)s->own.tokens - (int64_t)s->shown.tokens - (int64_t)s->read.tokens;
}

/* --- names of groups ------------------------------------------------------------------ */

static bool name_is_among(const char *name, const char *const names[])
{
	while (*names && strcmp(*names, name) != 0)
		names++;
	return *names;
}

static void name_words(struct buffer *out, char *const *words)
{
	/* Programs whose second word says what they do. */
	static const char *const with_verbs[] = {
		"git",      "npm",       "npx",    "pnpm",    "yarn", "cargo",   "go",
		"docker",   "pip",       "podman", "kubectl", "uv",   "poetry",  "dotnet",
		"gradle",   "mvn",       "make",   "brew",    "apt",  "apt-get", "bundle",
		"terse",    "systemctl", "deno",   "bun",     "gh",   "helm",    "terraform",
		"composer", "mix",       "rustup", "nix",     NULL,
	};
	const char *slash = strrchr(words[0], '/');
	const char *name = slash && slash[1] ? slash + 1 : words[0];
	buffer_append_string(out, name);
	if (!name_is_among(name, with_verbs))
		return;
	/* The word behind the options; those of one letter have a value (git -C DIR log). */
	for (words++; *words && **words == '-';)
		words += (*words)[1] && !(*words)[2] && words[1] ? 2 : 1;
	const char *verb = *words;
	if (verb && *verb >= 'a' && *verb <= 'z' &&
	    strspn(verb, "abcdefghijklmnopqrstuvwxyz0123456789:-_") == strlen(verb))
		buffer_printf(out, " %s", verb);
}

static void name_string(struct buffer *out, const char *string)
{
	/* Commands that print nothing, so that they give no string its name. */
	static const char *const silent[] = {"cd",    "exit", ":",    "true",   "false", "set",
					     "unset", "kill", "wait", "export", NULL};
	struct words w;
	size_t before = out->len;
	if (words_parse(&w, string) == 0) {
		for (size_t i = w.count; i-- > 0 && out->len == before;) {
			/* The command that feeds the pipeline at whose end it is. */
			size_t first = i;
			for (size_t k = i; k-- > 0;) {
				if (w.commands[k].into == (int)first)
					first = k;
			}
			char *const *words = &w.words[w.commands[first].first];
			if (w.commands[i].into == WORDS_OUT && !name_is_among(words[0], silent))
				name_words(out, words);
		}
		words_release(&w);
	}
	if (out->len == before)
		buffer_append(out, string, strcspn(string, " \t\n"));
}

void stats_name_command(struct buffer *out, char *const *argv)
{
	size_t count = 0;
	while (argv[count])
		count++;
	if (count == 3 && strcmp(argv[1], "-c") == 0 &&
	    shell_call_is_shell(shell_call_name(argv[0])))
		name_string(out, argv[2]);
	else if (count == 1)
		name_string(out, argv[0]);
	else if (count > 0)
		name_words(out, argv);
}

/* --- groups --------------------------------------------------------------------------- */

static int compare_names(const void *a, const void *b)
{
	const struct stats_group *x = a, *y = b;
	return strcmp(x->name, y->name);
}

/* Returns the group of a run, or NULL with ENOMEM. */
static struct stats_group *find_group(struct stats *s, const struct meta *m)
{
	buffer_clear(&s->name);
	if (s->by == STATS_BY_COMMAND)
		stats_name_command(&s->name, m->argv);
	else if (m->agent)
		buffer_append_string(&s->name, m->agent);
	if (s->name.len == 0)
		buffer_append_string(&s->name, "(none)");
	struct stats_group key = {.name = (char *)buffer_string(&s->name)};
	void *found = key.name ? tfind(&key, &s->tree, compare_names) : NULL;
	if (!key.name || found)
		return found ? *(struct stats_group **)found : NULL;
	struct stats_group *added = calloc(1, sizeof(*added)), **item = NULL;
	if (added && (added->name = strdup(key.name)))
		item = array_add(&s->groups, &s->group_count, &s->group_room, sizeof(*item));
	if (item && tsearch(added, &s->tree, compare_names)) {
		*item = added;
		return added;
	}
	s->group_count -= item != NULL;
	if (added)
		free(added->name);
	free(added);
	return NULL;
}

/* --- sums ------------------------------------------------------------------------------- */

static void size_add(struct stats_size *to, uint64_t bytes, uint64_t tokens)
{
	to->bytes += bytes;
	to->tokens += tokens;
}

static void sum_run(struct stats_sum *sum, const struct meta *m, bool is_own)
{
	const struct meta_shown *w = &m->shown;
	if (is_own) {
		size_add(&sum->read, w->bytes, w->tokens);
		return;
	}
	sum->runs++;
	sum->failed += meta_has_failed(m);
	sum->duration_ms += m->duration_ms;
	sum->text += w->text;
	sum->kept += *m->id != 0;
	size_add(&sum->shown, w->bytes, w->tokens);
	size_add(&sum->own, w->own, tokens_scale(w->tokens, w->bytes, w->own));
}

static void stats_add_run(struct stats *s, const struct meta *m)
{
	bool is_own = m->profile && strcmp(m->profile, PROFILE_TERSE) == 0;
	if (m->started_ms < s->from_ms)
		return;
	if (!s->first_ms || m->started_ms < s->first_ms)
		s->first_ms = m->started_ms;
	sum_run(&s->all, m, is_own);
	struct stats_group *group = s->by == STATS_BY_NOTHING ? NULL : find_group(s, m);
	if (group)
		sum_run(&group->sum, m, is_own);
	s->failed |= s->by != STATS_BY_NOTHING && !group;
	if (!*m->id || is_own || s->failed)
		return;
	struct stats_artifact *a =
		array_add(&s->artifacts, &s->artifact_count, &s->artifact_room, sizeof(*a));
	s->failed |= !a;
	if (a)
		*a = (struct stats_artifact){id_pack(m->id), group, false};
}

static void stats_add_read(struct stats *s, const struct journal_read *read)
{
	struct stats_artifact key = {.id = id_pack(read->id)};
	if (read->at_ms < s->from_ms)
		return;
	struct stats_artifact *a =
		s->artifact_count
			? bsearch(&key, s->artifacts, s->artifact_count, sizeof(key), id_compare)
			: NULL;
	struct stats_sum *sums[] = {&s->all, a && a->group ? &a->group->sum : NULL};
	for (int i = 0; i < 2 && sums[i]; i++) {
		sums[i]->reads++;
		if (!read->inside)
			size_add(&sums[i]->read, read->bytes, read->tokens);
		sums[i]->followed += a && !a->followed;
	}
	if (a)
		a->followed = true;
}

int stats_add_session(struct stats *s, struct store *store, const char *session)
{
	struct journal *runs = journal_open(store, 1, session, JOURNAL_RUN);
	struct journal *reads = runs ? journal_open(store, 1, session, JOURNAL_READ) : NULL;
	struct meta m;
	struct journal_read read;
	int got = reads ? 1 : -1;
	s->artifact_count = 0;
	while (got == 1 && (got = journal_next_run(runs, &m)) == 1) {
		if (!s->only || strcmp(m.id, s->only) == 0)
			stats_add_run(s, &m);
	}
	if (s->artifact_count > 0)
		qsort(s->artifacts, s->artifact_count, sizeof(*s->artifacts), id_compare);
	for (bool more = got == 0; more && (got = journal_next_read(reads, &read)) == 1;) {
		if (!s->only || strcmp(read.id, s->only) == 0)
			stats_add_read(s, &read);
	}
	if (reads)
		s->damaged += journal_damaged(runs) + journal_damaged(reads);
	journal_close(runs);
	journal_close(reads);
	if (s->failed)
		errno = ENOMEM;
	return s->failed ? -1 : got;
}

static void json_add_size(struct buffer *out, const char *key, const struct stats_size *size)
{
	json_begin_object(out, key);
	json_add_count(out, "bytes", size->bytes);
	json_add_count(out, "tokens_estimated", size->tokens);
	json_end_object(out);
}

void stats_append_json(struct buffer *out, const struct stats_sum *s)
{
	json_add_count(out, "runs", s->runs);
	json_add_count(out, "failed", s->failed);
	json_add_number(out, "duration_ms", s->duration_ms);
	json_add_count(out, "written_bytes", s->text);
	json_add_size(out, "shown", &s->shown);
	json_add_size(out, "read_back", &s->read);
	json_add_count(out, "reads", s->reads);
	json_add_count(out, "kept", s->kept);
	json_add_count(out, "followed", s->followed);
	json_add_size(out, "own_cut", &s->own);
	json_begin_object(out, "saved");
	json_add_number(out, "bytes", stats_saved(s));
	json_add_number(out, "tokens_estimated", stats_saved_tokens(s));
	json_end_object(out);
}

void stats_release(struct stats *s)
{
	for (size_t i = 0; i < s->group_count; i++) {
		tdelete(s->groups[i], &s->tree, compare_names);
		free(s->groups[i]->name);
		free(s->groups[i]);
	}
	free(s->groups);
	free(s->artifacts);
	buffer_release(&s->name);
}
