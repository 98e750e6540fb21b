// Secrets are replaced, however the bytes come in pieces, and nothing else is.

#include "config/option.h"
#include "supervisor/redact/redactor.h"
#include "tests/unit/random.h"
#include "tests/unit/unit.h"

#define KEY "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"

struct sample {
	const char *text, *want;
};

/* In each the secret's own bytes are missing from what is wanted. */
static const struct sample samples[] = {
	{"id AKIAIOSFODNN7EXAMPLE, ASIAIOSFODNN7EXAMPLE\n",
	 "id AKIA[redacted: AWS key], ASIA[redacted: AWS key]\n"},
	{"aws_secret_access_key = " KEY "\n", "aws_secret_access_key = [redacted: AWS secret]\n"},
	{"\"SecretAccessKey\": \"" KEY "\",\n",
	 "\"SecretAccessKey\": \"[redacted: AWS secret]\",\n"},
	{"ghp_abcdefghijklmnopqrstuvwxyz0123456789", "ghp_[redacted: GitHub token]"},
	{"x github_pat_11ABCDEFG0abcdefghijkl_mnop y", "x github_pat_[redacted: GitHub token] y"},
	{"glpat-aBcDeFgHiJkLmNoPqRsT", "glpat-[redacted: GitLab token]"},
	{"xoxb-1234567890-abcdefghij\n", "xoxb-[redacted: Slack token]\n"},
	{"https://hooks.slack.com/services/T000/B000/XXXXXXXXXXXX\n",
	 "https://hooks.slack.com/services/[redacted: Slack token]\n"},
	{"//registry.npmjs.org/:_authToken=npm_abcdefghijklmnopqrstuvwxyz0123456789\n",
	 "//registry.npmjs.org/:_authToken=npm_[redacted: npm token]\n"},
	{"AIzaSyA1234567890abcdefghijklmnopqrstuv\n", "AIza[redacted: Google key]\n"},
	{"rk_live_abcdefghijklmnop1234\n", "rk_live_[redacted: Stripe key]\n"},
	{"sk-ant-api03-abcdefghijklmnopqrstuvwxyz-_AA\n", "sk-[redacted: API key]\n"},
	{"token=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmN end\n",
	 "token=eyJ[redacted: JSON web token] end\n"},
	{"Authorization: Bearer abc.def-ghi_jkl0123456789==\r\n",
	 "Authorization: Bearer [redacted: bearer token]\r\n"},
	{"authorization: basic dXNlcjpwYXNz\n", "authorization: basic [redacted: password]\n"},
	{"git clone https://user:hunter2@example.com/x.git\n",
	 "git clone https://user:[redacted: password]@example.com/x.git\n"},
	{"DB_PASSWORD=hunter2secret PORT=1\n", "DB_PASSWORD=[redacted: password] PORT=1\n"},
	{"{\"api_key\": \"0123456789abcdef\", \"password\":\"short\"}\n",
	 "{\"api_key\": \"[redacted: password]\", \"password\":\"short\"}\n"},
	{"enter your password: incorrect; password = 'correct horse'\n",
	 "enter your password: incorrect; password = 'correct horse'\n"},
	{"postgres://:pw@db/x redis://a:b@c\n",
	 "postgres://:[redacted: password]@db/x redis://a:[redacted: password]@c\n"},
	{"a\n-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\nqqq==\n"
	 "-----END RSA PRIVATE KEY-----\nb\n",
	 "a\n-----BEGIN [redacted: private key]\nb\n"},
	{"{\"key\": \"-----BEGIN PRIVATE KEY-----\\nMIIE\\n-----END PRIVATE KEY-----\\n\", \"b\": "
	 "1}\n",
	 "{\"key\": \"-----BEGIN [redacted: private key]\\n\", \"b\": 1}\n"},
	{"1:-----BEGIN PGP PRIVATE KEY BLOCK-----\n2:lQOYBF\n3:-----END PGP PRIVATE KEY "
	 "BLOCK-----\n",
	 "1:-----BEGIN [redacted: private key]\n"},
	/* Colours do not hide one, and go on behind it. */
	{"\033[32mAKI\033[1;31mAIOSFODNN\033[0m7EXAMPLE\033[K x\n",
	 "\033[32mAKI\033[1;31mA[redacted: AWS key]\033[0m\033[K x\n"},
	{"AKIA\a\001IOSFODNN7EXAMPLE\n", "AKIA\a\001[redacted: AWS key]\n"},
	/* So do titles, links, marks of a shell, and controls: one may begin behind them ... */
	/* Characters without width: zero width space and joiner, soft hyphen, word joiner, a tag.
	 */
	{"AKIA\u200bIOSFOD\u200dNN7\u00adEXAM\u2060P\U000e0041LE \u201cx\u201d\n",
	 "AKIA\u200b[redacted: AWS key]\u200d\u00ad\u2060\U000e0041 \u201cx\u201d\n"},
	{"caf\u00e9\ufeffghp_abcdefghijklmnopqrstuvwxyz0123456789\n",
	 "caf\u00e9\ufeffghp_[redacted: GitHub token]\n"},
	{"\033]0;bash\aAKIAIOSFODNN7EXAMPLE\n", "\033]0;bash\aAKIA[redacted: AWS key]\n"},
	{"\033]8;;http://x\033\\ghp_abcdefghijklmnopqrstuvwxyz\033]8;;\033\\ x\n",
	 "\033]8;;http://x\033\\ghp_[redacted: GitHub token]\033]8;;\033\\ x\n"},
	{"a\033]133;A\aAKIAIOSFODNN7EXAMPLE\033]133;B\ab\n",
	 "a\033]133;A\aAKIA[redacted: AWS key]\033]133;B\ab\n"},
	{"word\033[0mnpm_abcdefghijklmnopqrstuvwxyz0123456789\n",
	 "word\033[0mnpm_[redacted: npm token]\n"},
	{"a\302\233AKIAIOSFODNN7EXAMPLE\n", "a\302\233AKIA[redacted: AWS key]\n"},
	{"a\033[3\030AKIAIOSFODNN7EXAMPLE\001b\n", "a\033[3\030AKIA[redacted: AWS key]\001b\n"},
	{"a\177AKIAIOSFODNN7EXAMPLE\016b\n", "a\177AKIA[redacted: AWS key]\016b\n"},
	{"ghp_abcdefghijklmnopqrstuvwxyz\033[9Gghp_abcdefghijklmnopqrstuvwxyz\n",
	 "ghp_[redacted: GitHub token]\033[9G_[redacted: GitHub token]\n"},
	/* ... they may stand in one ... */
	{"b\aAKI\033]8;;x\aA\033[1mIOSFODNN\033]8;;\a7EXA\302\200MPLE x\n",
	 "b\aAKI\033]8;;x\aA\033[1m[redacted: AWS key]\033]8;;\a\302\200 x\n"},
	{"AKIA\033[\342\230\203IOSFODNN7EXAMPLE\n", "AKIA\033[\342\230\203[redacted: AWS key]\n"},
	/* ... and one in them, also where they have no end. */
	{"\033]0;x AKIAIOSFODNN7EXAMPLE\a \033_ghp_abcdefghijklmnopqrstuvwxyz\033\\\n",
	 "\033]0;x AKIA[redacted: AWS key]\a \033_ghp_[redacted: GitHub token]\033\\\n"},
	{"AK\033PIA AKIAIOSFODNN7\001EXAMPLE\n\033\\",
	 "AK\033PIA AKIA[redacted: AWS key]\001\n\033\\"},
	{"\033[AKIAIOSFODNN7EXAMPLE\n", "\033[AKIA[redacted: AWS key]\n"},
	{"\033[3\nAKIAIOSFODNN7EXAMPLE\n", "\033[3\nAKIA[redacted: AWS key]\n"},
	/* Secrets behind spelled escapes. */
	{"{\"a\": \"x\\nAKIAIOSFODNN7EXAMPLE\\u001b[31mghp_abcdefghijklmnopqrstuvwxyz\"}\n",
	 "{\"a\": \"x\\nAKIA[redacted: AWS key]\\u001b[31mghp_[redacted: GitHub token]\"}\n"},
	{"x%20AKIAIOSFODNN7EXAMPLE \\033AKIAIOSFODNN7EXAMPLE\n",
	 "x%20AKIA[redacted: AWS key] \\033AKIA[redacted: AWS key]\n"},
	/* Patterns of the settings. */
	{"a PIN 1234\ab\n", "a PIN [redacted]\ab\n"},
	{"[]\\b b]: a\aID7\ac\n", "[]\\b b]: a\aID[redacted]\ac\n"},
	{"my password=geheim, user=me\n", "my password=[redacted], user=me\n"},
	{"PIN 1234 and 12345\n", "PIN [redacted] and 12345\n"},
	{"one INTERNAL two\nthree INTERNAL\n", "[redacted]\n[redacted]\n"},
	/* None. */
	{"see http://localhost:3000/a and user@host:~$ ",
	 "see http://localhost:3000/a and user@host:~$ "},
	{"AKIA only, ghp_short sk-learn eyJ.a.b npm_run xox\n",
	 "AKIA only, ghp_short sk-learn eyJ.a.b npm_run xox\n"},
	{"-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----\n",
	 "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----\n"},
	{"bearer of news: Bearer short\n", "bearer of news: Bearer short\n"},
	{"no newline at the end: AKI", "no newline at the end: AKI"},
	{"\033[31mred\033[0m \033]0;title\a text \033(B \x80\xff\n",
	 "\033[31mred\033[0m \033]0;title\a text \033(B \x80\xff\n"},
	{"", ""},
};

#define SAMPLES (sizeof(samples) / sizeof(*samples))

static struct settings settings;
static struct secrets *secrets;

static int setup(void **state)
{
	(void)state;
	static const char *const own[] = {"password=\\K\\w+", "PIN \\K\\d{4}\\b", "^.*INTERNAL.*$",
					  "\\bID(?=[]\\b0-9])\\K\\Q7\\E\\b"};
	struct option_error error;
	assert_int_equal(settings_init(&settings), 0);
	settings.redact = true;
	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		assert_int_equal(option_append(&settings, option_by_key("redact", "patterns"),
					       own[i], &error),
				 0);
	secrets = secrets_new(&settings);
	assert_non_null(secrets);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	secrets_free(secrets);
	settings_release(&settings);
	return 0;
}

static void collect(void *ctx, const char *data, size_t len)
{
	buffer_append(ctx, data, len);
}

/* The result when the text comes in pieces: of `size` bytes each, or, 0, of any. */
static void pass(const char *text, size_t len, size_t size, unsigned seed, struct buffer *out)
{
	struct redactor r = {.secrets = secrets, .out = collect, .ctx = out};
	buffer_clear(out);
	for (size_t at = 0; at < len;) {
		size_t n = size ? size : (size_t)(rand_r(&seed) % 40) + 1;
		if (n > len - at)
			n = len - at;
		redactor_feed(&r, text + at, n);
		at += n;
	}
	redactor_finish(&r);
	redactor_release(&r);
}

static void check(const struct buffer *out, const char *want, size_t len)
{
	if (out->len != len || memcmp(out->data ? out->data : "", want, len) != 0)
		fail_msg("got \"%.*s\", not \"%.*s\"", (int)out->len, out->data ? out->data : "",
			 (int)len, want);
}

TEST_IN(test_samples, setup, teardown)
{
	struct buffer out = BUFFER_INIT;
	for (size_t i = 0; i < SAMPLES; i++) {
		size_t len = strlen(samples[i].text);
		for (size_t size = 1; size <= len + 1; size++) {
			pass(samples[i].text, len, size, 0, &out);
			check(&out, samples[i].want, strlen(samples[i].want));
		}
	}
	buffer_release(&out);
}

/* All of them after another, in any order and any pieces. */
TEST_IN(test_splits, setup, teardown)
{
	struct buffer text = BUFFER_INIT, want = BUFFER_INIT, out = BUFFER_INIT;
	for (unsigned seed = 1; seed <= 300; seed++) {
		unsigned r = random_start(seed);
		buffer_clear(&text);
		buffer_clear(&want);
		for (int i = 0; i < 30; i++) {
			const struct sample *s = &samples[(size_t)rand_r(&r) % SAMPLES];
			buffer_printf(&text, "%s\n", s->text);
			buffer_printf(&want, "%s\n", s->want);
		}
		pass(text.data, text.len, 0, random_start(seed), &out);
		check(&out, want.data, want.len);
		pass(text.data, text.len, text.len, 0, &out);
		check(&out, want.data, want.len);
	}
	buffer_release(&text);
	buffer_release(&want);
	buffer_release(&out);
}

/* Without the patterns of the settings. */
static void only_ours(void)
{
	struct option_error error;
	secrets_free(secrets);
	assert_int_equal(option_set(&settings, option_by_key("redact", "patterns"), "", &error), 0);
	secrets = secrets_new(&settings);
	assert_non_null(secrets);
}

/* A NUL ends a line: what follows is no part of a password, and a word of its own. */
TEST_IN(test_nul, setup, teardown)
{
	static const char text[] =
		"A=b\0DB_PASSWORD=hunter2hunter2\0HOME=/root\0AKIAIOSFODNN7EXAMPLE\0";
	static const char want[] =
		"A=b\0DB_PASSWORD=[redacted: password]\0HOME=/root\0AKIA[redacted: AWS key]\0";
	struct buffer out = BUFFER_INIT;
	for (size_t size = 1; size < sizeof(text); size++) {
		pass(text, sizeof(text) - 1, size, 0, &out);
		check(&out, want, sizeof(want) - 1);
	}
	buffer_release(&out);
}

/* Text that can't be a secret any more is not held back: prompts, and typed text. */
TEST_IN(test_nothing_waits_in_vain, setup, teardown)
{
	static const struct {
		const char *text, *passed;
	} cases[] = {
		{"Password: ", "Password: "},
		{"Password:", "Password:"},
		{"[sudo] password for me: ", "[sudo] password for me: "},
		{"Continue? [y/n]", "Continue? [y/n]"},
		{"$ ghp", "$ ghp"},
		{"$ ghp_", "$ ghp_"},
		{"$ ghp_ab", "$ ghp_"},
		{"see http://host:80", "see http://"},
		{"see http://host:80/", "see http://host:80/"},
		{"a\r", "a\r"},
		{"\033[3", "\033[3"},
	};
	only_ours();
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct buffer out = BUFFER_INIT;
		struct redactor r = {.secrets = secrets, .out = collect, .ctx = &out};
		redactor_feed(&r, cases[i].text, strlen(cases[i].text));
		check(&out, cases[i].passed, strlen(cases[i].passed));
		redactor_finish(&r);
		check(&out, cases[i].text, strlen(cases[i].text));
		redactor_release(&r);
		buffer_release(&out);
	}
}

/* Lines without an end: memory stays bounded, and no byte of a secret gets out. */
TEST_IN(test_endless, setup, teardown)
{
	static char text[1 << 20];
	struct buffer out = BUFFER_INIT;
	static const size_t sizes[] = {1000, 4096, 65536, sizeof(text)};
	only_ours();
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct redactor r = {.secrets = secrets, .out = collect, .ctx = &out};
		memset(text, 'S', sizeof(text));
		memcpy(text, "before ghp_", 11);
		memcpy(text + sizeof(text) - 7, "\nafter\n", 7);
		for (size_t at = 0; at < sizeof(text); at += sizes[i]) {
			size_t left = sizeof(text) - at;
			redactor_feed(&r, text + at, left < sizes[i] ? left : sizes[i]);
			assert_true(r.work.cap <= 8 * REDACTOR_HOLD);
		}
		redactor_finish(&r);
		redactor_release(&r);
		assert_int_equal(strncmp(out.data, "before ghp_[redacted", 20), 0);
		assert_null(memmem(out.data, out.len, "SS", 2));
		assert_memory_equal(out.data + out.len - 7, "\nafter\n", 7);
		buffer_clear(&out);
	}
	/* Without anything in it the text passes as it is. */
	memset(text, 'S', sizeof(text));
	pass(text, sizeof(text), 5000, 0, &out);
	check(&out, text, sizeof(text));
	buffer_release(&out);
}

/* A key that began where there was no memory is replaced to its end all the same. */
TEST_IN(test_key_without_memory, setup, teardown)
{
	static const char begin[] = "in -----BEGIN PRIVATE KEY-----\nMIIE\n";
	static const char end[] = "MIIE\n-----END PRIVATE KEY-----\nafter\n";
	struct buffer out = BUFFER_INIT;
	struct redactor r = {.secrets = secrets, .out = collect, .ctx = &out};
	r.work.failed = true;
	redactor_feed(&r, begin, strlen(begin));
	redactor_feed(&r, end, strlen(end));
	redactor_finish(&r);
	redactor_release(&r);
	assert_string_equal(buffer_string(&out), "[redacted]\nafter\n");
	buffer_release(&out);
}

/* A key that never ends does not take everything with it. */
TEST_IN(test_key_without_end, setup, teardown)
{
	struct buffer text = BUFFER_INIT, out = BUFFER_INIT;
	buffer_append_string(&text, "-----BEGIN PRIVATE KEY-----\n");
	for (int i = 0; i < 4000; i++)
		buffer_printf(&text, "line %d of what follows\n", i);
	static const size_t sizes[] = {7, 1000, 1000000};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		pass(text.data, text.len, sizes[i], 0, &out);
		assert_null(memmem(out.data, out.len, "line 1000 of", 12));
		assert_non_null(memmem(out.data, out.len, "\nline 3999 of what follows\n", 27));
	}
	buffer_release(&text);
	buffer_release(&out);
}

/* A key whose mark is in a line that is too long to be held, or in another secret, stays one,
   however its bytes come. */
TEST_IN(test_key_in_long_line, setup, teardown)
{
	static const char *const starts[] = {"password=", "sk-", "://user:", "pass=", "all "};
	static const size_t lengths[] = {0, 10, 15000, 16384, 17000, 40000, 70000};
	static const size_t sizes[] = {1 << 20, 65536, 16384, 4096, 1000, 129, 80};
	struct option_error error;
	struct buffer text = BUFFER_INIT, out = BUFFER_INIT, whole = BUFFER_INIT;
	assert_int_equal(
		option_append(&settings, option_by_key("redact", "patterns"), "all .*", &error), 0);
	secrets_free(secrets);
	secrets = secrets_new(&settings);
	for (size_t i = 0; i < 3 * 5 * 7; i++) {
		/* Before the mark, in the key, behind the key. */
		size_t place = i % 3, length = lengths[i / 15];
		const char *const parts[] = {"-----BEGIN PRIVATE KEY-----", "KEYS\nKEYS\nKEYS\n",
					     "-----END PRIVATE KEY-----\nend\n"};
		buffer_clear(&text);
		buffer_append_string(&text, starts[i / 3 % 5]);
		for (size_t k = 0; k < 3; k++) {
			for (size_t n = k == place ? length : 0; n > 0; n--)
				buffer_append_string(&text, place == 1 ? "K" : "x");
			buffer_append_string(&text, parts[k]);
		}
		for (size_t k = 0; k < sizeof(sizes) / sizeof(*sizes); k++) {
			struct buffer *to = k == 0 ? &whole : &out;
			buffer_clear(to);
			pass(text.data, text.len, sizes[k], 0, to);
			/* A line that is longer than a key can be takes only itself with it. */
			if (place != 1 || length < REDACTOR_BLOCK)
				assert_null(memmem(to->data, to->len, "KEYS", 4));
			assert_null(memmem(to->data, to->len, "KK", 2));
			check(to, whole.data, whole.len);
		}
	}
	buffer_release(&text);
	buffer_release(&out);
	buffer_release(&whole);
}

/* A pattern that backtracks for ever takes the line with it, not the time. */
TEST_IN(test_hostile_pattern, setup, teardown)
{
	struct option_error error;
	struct buffer out = BUFFER_INIT;
	secrets_free(secrets);
	settings.redact = false;
	assert_int_equal(option_set(&settings, option_by_key("redact", "patterns"),
				    "(\\w+\\w+)+[^\\w\\s][^\\w\\s]", &error),
			 0);
	secrets = secrets_new(&settings);
	assert_non_null(secrets);
	static const char text[] = "ok\naaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\nok\n";
	pass(text, sizeof(text) - 1, sizeof(text), 0, &out);
	check(&out, "ok\n[redacted]\nok\n", 17);
	buffer_release(&out);
}

TEST_IN(test_words, setup, teardown)
{
	char *words[] = {(char *)"curl",
			 (char *)"-H",
			 (char *)"Authorization: Bearer abcdefghijklmnop",
			 (char *)"",
			 (char *)"https://a:b@c",
			 NULL};
	char **made = redactor_words(secrets, words);
	assert_non_null(made);
	assert_string_equal(made[0], "curl");
	assert_string_equal(made[2], "Authorization: Bearer [redacted: bearer token]");
	assert_string_equal(made[3], "");
	assert_string_equal(made[4], "https://a:[redacted: password]@c");
	assert_null(made[5]);
	free(made);
}

TEST_IN(test_settings, setup, teardown)
{
	struct settings s;
	struct option_error error;
	assert_int_equal(settings_init(&s), 0);
	/* Off by default. */
	assert_null(secrets_new(&s));
	assert_int_equal(errno, 0);
	assert_int_equal(option_set(&s, option_by_key("redact", "patterns"), "a(", &error), -1);
	assert_string_equal(error.text, "not a regular expression");
	settings_release(&s);
}

TEST_MAIN(NULL, NULL)
