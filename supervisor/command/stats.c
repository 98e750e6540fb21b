// See internal.h.

#include "supervisor/command/internal.h"

#include "config/profile.h"
#include "config/words.h"
#include "lib/fingerprint.h"
#include "lib/io.h"
#include "lib/json.h"
#include "shim/exec_call.h"

#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int64_t stats_saved(const struct stats_sum *s, int64_t *tokens)
{
	if (tokens)
		*tokens = (int64_t)(s->own.tokens - s->shown.tokens - s->read.tokens);
	return (int64_t)(s->own.bytes - s->shown.bytes - s->read.bytes);
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

static void sum_add(struct stats_sum *to, const struct stats_sum *more)
{
	to->runs += more->runs;
	to->failed += more->failed;
	to->duration_ms += more->duration_ms;
	to->text += more->text;
	size_add(&to->shown, more->shown.bytes, more->shown.tokens);
	size_add(&to->own, more->own.bytes, more->own.tokens);
	size_add(&to->read, more->read.bytes, more->read.tokens);
	to->reads += more->reads;
	to->kept += more->kept;
	to->followed += more->followed;
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

static void note_first(struct stats *s, int64_t ms)
{
	if (ms && (!s->first_ms || ms < s->first_ms))
		s->first_ms = ms;
}

static void note_artifact(struct stats *s, const struct stats_artifact *a)
{
	struct stats_artifact *added =
		array_add(&s->artifacts, &s->artifact_count, &s->artifact_room, sizeof(*added));
	s->failed |= !added;
	if (added)
		*added = *a;
}

static void stats_add_run(struct stats *s, const struct meta *m)
{
	bool is_own = m->profile && strcmp(m->profile, PROFILE_TERSE) == 0;
	if (m->started_ms < s->from_ms || (s->only && strcmp(m->id, s->only) != 0))
		return;
	note_first(s, m->started_ms);
	sum_run(&s->all, m, is_own);
	struct stats_group *group = s->by == STATS_BY_NOTHING ? NULL : find_group(s, m);
	if (group)
		sum_run(&group->sum, m, is_own);
	s->failed |= s->by != STATS_BY_NOTHING && !group;
	if (*m->id && !is_own)
		note_artifact(s, &(struct stats_artifact){
					 .id = id_pack(m->id), .made = true, .group = group});
}

static void stats_add_read(struct stats *s, const struct journal_read *read)
{
	struct stats_artifact a = {.id = id_pack(read->id), .read = true};
	if (read->at_ms < s->from_ms || (s->only && strcmp(read->id, s->only) != 0))
		return;
	if (!read->inside)
		size_add(&a.size, read->bytes, read->tokens);
	size_add(&s->all.read, a.size.bytes, a.size.tokens);
	s->all.reads++;
	note_artifact(s, &a);
}

/* Makes one of all that is said of an artifact. */
static void join_artifacts(struct stats *s)
{
	size_t count = 0;
	if (s->artifact_count > 0)
		qsort(s->artifacts, s->artifact_count, sizeof(*s->artifacts), id_compare);
	for (size_t i = 0, next; i < s->artifact_count; i = next) {
		struct stats_artifact one = s->artifacts[i];
		uint64_t reads = one.read;
		for (next = i + 1; next < s->artifact_count && s->artifacts[next].id == one.id;
		     next++) {
			const struct stats_artifact *more = &s->artifacts[next];
			reads += more->read;
			one.made |= more->made;
			one.group = one.group ? one.group : more->group;
			size_add(&one.size, more->size.bytes, more->size.tokens);
		}
		one.read = reads > 0;
		s->all.followed += one.made && one.read;
		if (one.group)
			sum_add(&one.group->sum, &(struct stats_sum){.reads = reads,
								     .read = one.size,
								     .followed = one.read});
		s->artifacts[count++] = one;
	}
	s->artifact_count = count;
}

/* --- the sums that were kept --------------------------------------------------------------- */

/* Fewer bytes of lines are read again. */
#define KEPT_LEAST 16384

/* To be raised when what is counted changes. */
#define KEPT_VERSION 2

/* Behind it are the artifacts' IDs, packed, with these two bits behind them. */
#define KEPT_MADE 1u
#define KEPT_READ 2u
#define KEPT_BITS 2

struct kept {
	uint64_t check; /* of what follows in the file */
	uint64_t version;
	uint64_t at, len, hash; /* the line up to which lines are counted; len 0: none */
	struct stats_sum sum;   /* without `followed` */
	int64_t first_ms;
	uint64_t damaged, artifacts;
};

static uint64_t kept_check(const struct buffer *file)
{
	return fingerprint_exact(file->data + sizeof(uint64_t), file->len - sizeof(uint64_t));
}

static int open_kept(const struct store *store, const char *session, int flags)
{
	int dir = store_open_session(store, session, false);
	int fd = dir < 0 ? -1 : store_open_file(dir, JOURNAL_SUMS, flags);
	io_close(&dir);
	return fd;
}

/* Reads the file into `file`, and its head into `k`: zeroed if there is none that holds. */
static void kept_read(struct kept *k, struct buffer *file, const struct store *store,
		      const char *session)
{
	int fd = open_kept(store, session, O_RDONLY);
	*k = (struct kept){.len = 0};
	if (fd >= 0 && io_read_all(fd, file, SIZE_MAX / 2) == 0 && file->len >= sizeof(*k))
		memcpy(k, file->data, sizeof(*k));
	io_close(&fd);
	if (k->version != KEPT_VERSION ||
	    k->artifacts != (file->len - sizeof(*k)) / sizeof(uint64_t) ||
	    k->check != kept_check(file))
		*k = (struct kept){.len = 0};
}

/* Adds what was counted before. */
static void kept_add(struct stats *s, const struct kept *k, const struct buffer *file)
{
	sum_add(&s->all, &k->sum);
	note_first(s, k->first_ms);
	s->damaged += k->damaged;
	for (size_t i = 0; i < k->artifacts; i++) {
		uint64_t n;
		memcpy(&n, file->data + sizeof(*k) + i * sizeof(n), sizeof(n));
		note_artifact(s, &(struct stats_artifact){.id = n >> KEPT_BITS,
							  .made = n & KEPT_MADE,
							  .read = n & KEPT_READ});
	}
}

/* Whoever reads a half of it sees that. */
static void kept_write(const struct stats *s, struct kept *k, const struct store *store,
		       const char *session)
{
	struct buffer file = BUFFER_INIT;
	k->version = KEPT_VERSION;
	k->sum = s->all;
	k->sum.followed = 0;
	k->first_ms = s->first_ms;
	k->artifacts = s->artifact_count;
	buffer_append(&file, (const char *)k, sizeof(*k));
	for (size_t i = 0; i < s->artifact_count; i++) {
		const struct stats_artifact *a = &s->artifacts[i];
		uint64_t n =
			a->id << KEPT_BITS | (a->made ? KEPT_MADE : 0) | (a->read ? KEPT_READ : 0);
		buffer_append(&file, (const char *)&n, sizeof(n));
	}
	int fd = buffer_check(&file) < 0 ? -1 : open_kept(store, session, O_WRONLY | O_CREAT);
	if (fd >= 0) {
		uint64_t check = kept_check(&file);
		memcpy(file.data, &check, sizeof(check));
		/* If it can't be written, it is counted again. */
		bool lost = io_write_at(fd, file.data, file.len, 0) < 0 ||
			    ftruncate(fd, (off_t)file.len) < 0;
		(void)lost;
	}
	io_close(&fd);
	buffer_release(&file);
}

/* --- a session ----------------------------------------------------------------------------- */

/* Adds the lines of the journal, up to the one that `old` ends with; sets in `new` the one that was
   read first. Returns 1 if it got there, 0 at the beginning, or -1 with errno. */
static int add_lines(struct stats *s, struct journal *j, struct kept *old, struct kept *new)
{
	struct journal_line line;
	struct journal_read read;
	struct meta m;
	int got;
	while ((errno = 0, got = journal_next(j, &line)) == 1) {
		uint64_t hash = line.at == old->at || !new->len
					? fingerprint_exact(line.text, line.len)
					: 0;
		if (line.at == old->at && line.len == old->len && hash == old->hash)
			break;
		if (!new->len)
			*new = (struct kept){.at = line.at,
					     .len = line.len,
					     .hash = hash,
					     .damaged = journal_damaged(j)};
		/* Groups have names, for which all of the line is read. */
		bool good = line.kind == JOURNAL_READ   ? journal_parse_read(&line, &read)
			    : line.len > META_LINE      ? false
			    : s->by == STATS_BY_NOTHING ? journal_parse_sums(&line, &m)
							: meta_parse(line.text, line.len, &m) == 0;
		if (!good && errno == ENOMEM)
			return -1;
		s->damaged += !good;
		if (good && line.kind == JOURNAL_READ)
			stats_add_read(s, &read);
		else if (good)
			stats_add_run(s, &m);
		if (good && line.kind == JOURNAL_RUN)
			meta_release(&m);
	}
	return got;
}

int stats_add_session(struct stats *s, struct store *store, const char *session)
{
	const struct stats others = *s;
	const bool all = s->by == STATS_BY_NOTHING && s->from_ms <= 0 && !s->only;
	struct kept old = {.len = 0}, new = {.len = 0};
	struct buffer file = BUFFER_INIT;
	struct journal *j = journal_open(store, 1, session, JOURNAL_RUN | JOURNAL_READ);
	if (!j)
		return -1;
	s->all = (struct stats_sum){.runs = 0};
	s->first_ms = 0;
	s->damaged = s->artifact_count = 0;
	if (all)
		kept_read(&old, &file, store, session);
	int got = add_lines(s, j, &old, &new);
	s->damaged += journal_damaged(j);
	if (got == 1)
		kept_add(s, &old, &file);
	join_artifacts(s);
	if (s->failed) {
		errno = ENOMEM;
		got = -1;
	}
	/* Damage behind the line up to which is kept counts the next time, too. */
	new.damaged = s->damaged - new.damaged;
	if (got >= 0 && all && new.len > 0 && new.at - (got ? old.at : 0) >= KEPT_LEAST)
		kept_write(s, &new, store, session);
	sum_add(&s->all, &others.all);
	note_first(s, others.first_ms);
	s->damaged += others.damaged;
	int error = errno;
	journal_close(j);
	buffer_release(&file);
	errno = error;
	return got < 0 ? -1 : 0;
}

static void json_add_size(struct buffer *out, const char *key, const struct stats_size *size)
{
	json_begin(out, key, '{');
	json_add_count(out, "bytes", size->bytes);
	json_add_count(out, "tokens_estimated", size->tokens);
	json_end(out, '}');
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
	int64_t tokens, bytes = stats_saved(s, &tokens);
	json_begin(out, "saved", '{');
	json_add_number(out, "bytes", bytes);
	json_add_number(out, "tokens_estimated", tokens);
	json_end(out, '}');
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
