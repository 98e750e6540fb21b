// The options' flags on a command line. See settings_take_flag() in option.h.

#include "config/assign.h"
#include "config/complaint.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Where the value of `arg` starts if it is "FLAG=VALUE", where it ends if it is "FLAG"; NULL if it
   is neither. */
static const char *flag_match(const char *arg, const char *flag)
{
	size_t len = strlen(flag);

	if (strncmp(arg, flag, len) != 0)
		return NULL;
	if (arg[len] == '=')
		return arg + len + 1;
	return arg[len] == '\0' ? arg + len : NULL;
}

/* A flag that was found: its option and what sets it. */
struct found {
	const struct option *option;
	const char *flag;
	const char *word;  /* its value when nothing follows; NULL: one must */
	bool fixed;        /* takes no value of its own */
	const char *value; /* behind '=', or the end of the argument */
};

static bool flag_is_yes_or_no(const struct option *o)
{
	return o->type == OPTION_BOOL || o->type == OPTION_TRISTATE;
}

static bool find_flag(const char *arg, struct found *f)
{
	for (size_t i = 0; i < option_count; i++) {
		const struct option *o = &option_table[i];

		*f = (struct found){
			.option = o, .flag = o->flag, .value = flag_match(arg, o->flag)};
		f->word = flag_is_yes_or_no(o) ? "yes" : NULL;
		if (f->value)
			return true;
		if (!o->negated)
			continue;
		f->flag = o->negated;
		f->word = "no";
		f->fixed = true;
		f->value = flag_match(arg, o->negated);
		if (f->value)
			return true;
	}
	for (size_t i = 0; i < option_shorthand_count; i++) {
		const struct option_shorthand *h = &option_shorthands[i];

		*f = (struct found){.option = option_by_key(h->section, h->key),
				    .flag = h->flag,
				    .word = h->value,
				    .fixed = true,
				    .value = flag_match(arg, h->flag)};
		if (f->value)
			return true;
	}
	return false;
}

static int flag_complain(const struct found *f, const char *value, const char *reason,
			 struct option_error *error)
{
	complaint_write(&(struct complaint){.where = f->flag, .value = value, .reason = reason},
			error);
	errno = EINVAL;
	return -1;
}

int settings_take_flag(struct settings *s, int argc, char *const argv[], int *index,
		       struct option_error *error)
{
	struct found f;
	bool attached;
	int taken = 1, result;

	if (*index >= argc || strncmp(argv[*index], "--", 2) != 0 || !find_flag(argv[*index], &f))
		return 0;
	attached = f.value[-1] == '=';
	if (attached && f.fixed)
		return flag_complain(&f, f.value, "takes no value", error);
	if (!attached && f.word) {
		f.value = f.word;
	} else if (!attached) {
		if (*index + 1 >= argc) {
			char range[RANGE_LEN], reason[RANGE_LEN + 32];

			snprintf(reason, sizeof(reason), "needs a value (%s)",
				 option_range(f.option, range));
			return flag_complain(&f, NULL, reason, error);
		}
		f.value = argv[*index + 1];
		taken = 2;
	}
	result = f.option->type == OPTION_LIST ? option_append(s, f.option, f.value, error)
					       : option_set(s, f.option, f.value, error);
	if (result < 0)
		return errno == EINVAL ? flag_complain(&f, f.value, error->text, error) : -1;
	*option_source(s, f.option) = (struct setting_source){.by = ORIGIN_FLAG};
	*index += taken;
	return 1;
}
