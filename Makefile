# terse: build, test, install. `make help` lists the targets.
#
# Everything is built below $(BUILD); the source tree stays clean.

BUILD    ?= build
# Gives a directory one name: make would not find dependencies that were recorded under another
# name.
override BUILD := $(patsubst $(CURDIR)/%,%,$(abspath $(BUILD)))
PREFIX   ?= /usr/local
DESTDIR  ?=
ifeq ($(origin CC),default)
CC       = gcc
endif
SANITIZE ?=
DEVELOPER ?=
V        ?=

# Debian packages. Tests need those of the build and some more.
BUILD_PACKAGES = gcc make libc6-dev libinih-dev libpcre2-dev libjansson-dev libutf8proc-dev \
	libzstd-dev zlib1g-dev
CHECK_PACKAGES = $(BUILD_PACKAGES) libcmocka-dev clang libclang-rt-14-dev python3 tmux git vim less \
	procps curl wget pv util-linux zstd \
	openssh-client whiptail gdb groff-base zsh python3-pexpect python3-jsonschema python3-yaml

VERSION := 0.1.0

CSTD     = -std=gnu17
WARNINGS = -Wall -Wextra -Wstrict-prototypes -Wmissing-prototypes -Wshadow -Wpointer-arith \
	-Wwrite-strings -Wundef -Wvla
CPPFLAGS += -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -DTERSE_VERSION='"$(VERSION)"' -I.
# Loops are aligned to 32 bytes: unaligned loops made terse filter up to 4 % slower. Only a debugger
# unwinds the stack, and -g has tables for that.
CFLAGS   ?= -O2 -g -falign-loops=32 -fno-asynchronous-unwind-tables
LDLIBS   = -lutil -linih -lpcre2-8 -ljansson -lutf8proc -lzstd -lz -lm
# supervisor/start.ld orders functions; ORDER= is for a linker that does not know such scripts.
ORDER    ?= -Wl,-T,supervisor/start.ld
LINK     = -static $(ORDER)

ifneq ($(DEVELOPER),)
WARNINGS += -Werror
endif
ifneq ($(SANITIZE),)
CFLAGS  += -fsanitize=$(SANITIZE) -fno-sanitize-recover=undefined -fno-omit-frame-pointer
LINK     =
endif

ALL_CFLAGS = $(CSTD) $(WARNINGS) -ffunction-sections $(CFLAGS) $(CPPFLAGS) -MMD -MP
BANNED     = -include lib/banned.h

# LIBC=musl: adds the functions of glibc that terse uses and musl lacks.
LIBC ?= glibc
ifeq ($(LIBC),musl)
CPPFLAGS += -include lib/musl/libc.h -isystem lib/musl
MUSL     := $(wildcard lib/musl/*.c)
endif

SOURCES := $(MUSL) $(wildcard lib/*.c config/*.c shim/*.c supervisor/*/*.c) supervisor/verbs.c
OBJECTS := $(SOURCES:%.c=$(BUILD)/%.o)
LIBRARY := $(BUILD)/libterse.a
UNITS   := $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(wildcard tests/unit/test_*.c))
SHIM    := $(BUILD)/libterse-shim.so
# The launcher makes system calls itself, so it is built only for the machines that shim/launcher/bare.h knows.
LAUNCHER := $(if $(filter x86_64-% aarch64-%,$(shell $(CC) -dumpmachine)),$(BUILD)/terse-launcher)
HELPERS := $(patsubst tests/cli/helper/%.c,$(BUILD)/helper/%,$(wildcard tests/cli/helper/*.c))
BENCHES := $(patsubst tests/bench/%.c,$(BUILD)/bench/%,$(wildcard tests/bench/*.c))
FUZZERS := $(patsubst tests/fuzz/%.c,$(BUILD)/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))

# Names under which terse acts as a shell; shim/shell.h says why there are two.
SHELLS  := $(BUILD)/terse-sh $(BUILD)/terse-bash

# $(call run,WHAT) in front of a command prints one short line in place of the command; V=1 prints
# the command.
ifeq ($(V)$(findstring s,$(firstword -$(MAKEFLAGS))),)
run = @printf '  %-5s %s\n' $(1) $@;
endif

# Uses every processor, unless -j says how many.
JOBS     ?= $(shell nproc)
SUB_MAKE = $(MAKE) --no-print-directory $(if $(findstring -j,$(MAKEFLAGS)),,-j$(JOBS))

.PHONY: all programs
ifeq ($(filter-out all,$(MAKECMDGOALS)),)
all:
	+@$(SUB_MAKE) programs
else # beside other goals a second make would build the same files at the same time
all: programs
endif
programs: $(BUILD)/terse $(SHELLS) $(SHIM) $(LAUNCHER)

$(BUILD)/terse: $(BUILD)/supervisor/main.o $(LIBRARY) supervisor/start.ld
	$(call run,LINK)$(CC) $(ALL_CFLAGS) $(LDFLAGS) $(LINK) -o $@ $(filter-out %.ld,$^) $(LDLIBS)

$(SHELLS): $(BUILD)/terse
	@ln -sf terse $@

$(LIBRARY): $(OBJECTS)
	@rm -f $@
	$(call run,AR)$(AR) rcs $@ $^

# The preloaded library has flags of its own, since it is loaded into every program that an agent
# starts. It has no sanitizer and no fortified functions, and needs no library or symbol version
# that a program may lack. It uses the stack instead of the heap, hence -Wno-vla. It checks
# arguments for NULL although libc's headers declare them nonnull. It has few segments and symbols,
# since each takes a noticeable part of a short program's time.
SHIM_PARTS   = shim/exec_call.c $(wildcard shim/library/*.c)
SHIM_OBJECTS = $(SHIM_PARTS:%.c=$(BUILD)/shim-library/%.o)
SHIM_MAP     = shim/library/libterse-shim.map
SHIM_CFLAGS ?= -O2 -g
# Library and launcher link no libc, so a build with musl may use the compiler for glibc for them.
SHIM_CC     ?= $(CC)
SHIM_FLAGS   = $(CSTD) $(WARNINGS) -Wno-vla $(SHIM_CFLAGS) -D_GNU_SOURCE -DTERSE_VERSION='"$(VERSION)"' -I. -fPIC -fno-plt \
	-fvisibility=hidden -fno-delete-null-pointer-checks -U_FORTIFY_SOURCE \
	-fstack-protector-strong -fstack-clash-protection -ffunction-sections
SHIM_LINK    = -shared -nostdlib -Wl,--gc-sections,-z,now,-z,relro,-z,noexecstack,-z,noseparate-code,--hash-style=gnu

$(SHIM): $(SHIM_OBJECTS) $(SHIM_MAP)
	$(call run,LINK)$(SHIM_CC) $(SHIM_FLAGS) $(SHIM_LINK) -Wl,-Bsymbolic-functions,-soname,$(@F) \
		-Wl,--version-script=$(SHIM_MAP) -o $@ $(SHIM_OBJECTS)

$(BUILD)/shim-library/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(call run,CC)$(SHIM_CC) $(SHIM_FLAGS) -MMD -MP -c -o $@ $<

# The launcher has no libc, so that it costs each command of an agent as little as possible.
LAUNCHER_PARTS   = shim/exec_call.c shim/target.c $(wildcard shim/launcher/*.c)
LAUNCHER_OBJECTS = $(LAUNCHER_PARTS:%.c=$(BUILD)/launcher/%.o)
LAUNCHER_CFLAGS ?= -O2 -g
LAUNCHER_FLAGS   = $(CSTD) $(WARNINGS) $(LAUNCHER_CFLAGS) -D_GNU_SOURCE -I. -ffreestanding -fno-builtin \
	-fno-pie -fno-stack-protector -U_FORTIFY_SOURCE -fno-asynchronous-unwind-tables -ffunction-sections
LAUNCHER_LINK    = -static -nostdlib -Wl,--gc-sections,--build-id=none,-z,noexecstack,-z,noseparate-code,-s

$(BUILD)/terse-launcher: $(LAUNCHER_OBJECTS)
	$(call run,LINK)$(SHIM_CC) $(LAUNCHER_FLAGS) $(LAUNCHER_LINK) -o $@ $^

$(BUILD)/launcher/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(call run,CC)$(SHIM_CC) $(LAUNCHER_FLAGS) -MMD -MP -c -o $@ $<

# The commit, which `terse version` prints. The file changes only when the commit does.
COMMIT ?= $(shell git -C . describe --always --abbrev=12 --exclude='*' --dirty 2>/dev/null)
$(BUILD)/commit: always
	@mkdir -p $(@D); echo '$(COMMIT)' | cmp -s - $@ || echo '$(COMMIT)' >$@
$(BUILD)/supervisor/command/verb_help.o: $(BUILD)/commit
$(BUILD)/supervisor/command/verb_help.o: CPPFLAGS += -DTERSE_COMMIT='"$(COMMIT)"'
.PHONY: always

# Files that are included in the program: the page of terse report,
$(BUILD)/supervisor/command/verb_report.o: $(wildcard supervisor/command/page/*)
# the completion scripts,
$(BUILD)/supervisor/command/verb_config.o: $(wildcard packaging/completion/*)
# the introduction of the sample terse.ini.
$(BUILD)/config/option_print.o: config/introduction.txt

$(BUILD)/lib/%.o $(BUILD)/config/%.o $(BUILD)/shim/%.o $(BUILD)/supervisor/%.o: ALL_CFLAGS += $(BANNED)
$(BUILD)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(call run,CC)$(CC) $(ALL_CFLAGS) -c -o $@ $<

$(BUILD)/tests/%: tests/unit/%.c $(LIBRARY)
	@mkdir -p $(@D)
	$(call run,LINK)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $< $(LIBRARY) -lcmocka $(LDLIBS)

$(BUILD)/helper/%: tests/cli/helper/%.c
	@mkdir -p $(@D)
	$(call run,LINK)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $< -lutil

# terse with an allocator that can fail at any one call.
$(BUILD)/fault/terse: tests/cli/fault/memory.c $(BUILD)/supervisor/main.o $(LIBRARY)
	@mkdir -p $(@D)
	$(call run,LINK)$(CC) $(ALL_CFLAGS) $(LDFLAGS) $(LINK) -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc -o $@ $^ $(LDLIBS)

$(BUILD)/fault/terse-sh: $(BUILD)/fault/terse
	@ln -sf terse $@

$(BUILD)/terminal/%: tests/terminal/%.c $(LIBRARY)
	@mkdir -p $(@D)
	$(call run,LINK)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $< $(LIBRARY) $(LDLIBS)

# Linked like the preloaded library, with which it is compared.
$(BUILD)/bench/empty.so: tests/bench/preload/empty.c Makefile
	@mkdir -p $(@D)
	$(call run,LINK)$(CC) $(SHIM_FLAGS) $(SHIM_LINK) -o $@ $<

$(BUILD)/bench/answer $(BUILD)/bench/pauses $(BUILD)/bench/tokens: $(BUILD)/bench/%: tests/bench/%.c $(LIBRARY)
	@mkdir -p $(@D)
	$(call run,LINK)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $< $(LIBRARY) $(LDLIBS)

# Linked like terse.
$(BUILD)/bench/bound: LDFLAGS += -static
$(BUILD)/bench/%: tests/bench/%.c
	@mkdir -p $(@D)
	$(call run,LINK)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $< -lutil

# --- what the machine needs ------------------------------------------------

# Installs the packages of $(1) that are missing, as root or with sudo.
define install_packages
@missing=; for p in $(1); do \
	dpkg-query -W -f='$${Status}' "$$p" 2>/dev/null | grep -q 'ok installed' || missing="$$missing $$p"; \
done; \
if [ -z "$$missing" ]; then exit 0; fi; \
if [ "$$(id -u)" = 0 ]; then run=; \
elif command -v sudo >/dev/null 2>&1; then run=sudo; \
else echo "These Debian packages are missing; install them and run make again:"; \
	echo "  apt-get install$$missing"; exit 1; fi; \
echo "installing:$$missing"; \
export DEBIAN_FRONTEND=noninteractive; \
{ $$run apt-get install -y -qq $$missing || { $$run apt-get update -qq && $$run apt-get install -y -qq $$missing; }; } \
	>$(BUILD)/packages.log 2>&1 || { cat $(BUILD)/packages.log; exit 1; }
endef

.PHONY: build-packages check-packages
build-packages:
	@mkdir -p $(BUILD)
	$(call install_packages,$(BUILD_PACKAGES))

check-packages:
	@mkdir -p $(BUILD)
	$(call install_packages,$(CHECK_PACKAGES))

# --- demo --------------------------------------------------------------------

.PHONY: demo
demo: build-packages
	@echo 'building (log: $(BUILD)/build.log)'
	+@$(SUB_MAKE) programs >$(BUILD)/build.log 2>&1 || { tail -n 40 $(BUILD)/build.log; exit 1; }
	@tests/demo $(BUILD)

# --- tests -------------------------------------------------------------------

# Units, whole runs and fuzzers share one build by clang with sanitizers. fuzzer-no-link is for the
# fuzzers' coverage. pointer-overflow is off because clang reports NULL + 0, which C2y allows.
ASAN     = $(BUILD)/asan
SANITIZED = CC=clang BUILD=$(ASAN) LINK= CFLAGS='-O1 -g -fsanitize=fuzzer-no-link,address,undefined \
	-fno-sanitize=pointer-overflow -fno-sanitize-recover=undefined -fno-omit-frame-pointer'

# The most seconds that each fuzzer runs in `make check`, and in `make fuzz`.
FUZZ_CHECK_SECONDS ?= 5
FUZZ_SECONDS       ?= 600
# `make fuzz-terminal`: the number of streams, and the seed of the first.
FUZZ_STREAMS       ?= 20000
FUZZ_SEED          ?= 1

.PHONY: units helpers fuzzers benches
units: $(UNITS)
helpers: $(HELPERS) $(BUILD)/fault/terse $(BUILD)/fault/terse-sh
fuzzers: $(FUZZERS)
benches: $(BENCHES) $(BUILD)/bench/empty.so

# If /dev/null is not a device, half of the tests fail without saying why.
.PHONY: check-null
check-null:
	@test -c /dev/null || { echo '/dev/null is no device: rm /dev/null && mknod -m 666 /dev/null c 1 3'; exit 1; }

.PHONY: check
check: check-null check-packages
	+@$(SUB_MAKE) DEVELOPER=1 programs units helpers $(BUILD)/terminal/render
	+@$(SUB_MAKE) DEVELOPER=1 $(SANITIZED) programs units
	+@$(SUB_MAKE) DEVELOPER=1 fuzzers
	@tests/check $(BUILD) $(ASAN) $(FUZZ_CHECK_SECONDS)

# Lets every system call and every allocation fail once (tests/cli/faults.py). Takes some minutes.
.PHONY: check-faults
check-faults: check-packages
	+@$(SUB_MAKE) DEVELOPER=1 programs helpers
	@FAULT_STEP=1 LIMIT=7200 tests/run $(BUILD) faults signals

# Kills a process of each run at a random moment (tests/cli/kills.py).
KILL_RUNS ?= 5000

.PHONY: check-kills
check-kills: check-packages
	+@$(SUB_MAKE) DEVELOPER=1 programs helpers
	@KILL_RUNS=$(KILL_RUNS) LIMIT=7200 tests/run $(BUILD) kills

# Runs the tests that take random data with other seeds than `make check`.
SEEDS ?= 5

.PHONY: check-seeds
check-seeds: check-packages
	+@$(SUB_MAKE) DEVELOPER=1 programs units helpers
	@tests/seeds $(BUILD) $(SEEDS)

# Types generated sessions into shells, with terse and without.
SESSIONS ?= 500

.PHONY: check-typed
check-typed: check-packages
	+@$(SUB_MAKE) DEVELOPER=1 programs helpers
	@SESSIONS=$(SESSIONS) LIMIT=7200 tests/run $(BUILD) typed

# Real agents from npm (about 2 GB, kept below AGENTS_DIR), without a model; only npm needs the network.
AGENTS_DIR ?= $(BUILD)/agents

.PHONY: check-agents
check-agents: check-packages
	+@$(SUB_MAKE) programs
	@tests/agents/install $(AGENTS_DIR)
	@AGENTS_DIR=$(AGENTS_DIR) BUILD=$(BUILD) tests/agents/check.py
	@AGENTS_DIR=$(AGENTS_DIR) BUILD=$(BUILD) tests/agents/table.py
	@AGENTS_DIR=$(AGENTS_DIR) BUILD=$(BUILD) tests/agents/stats.py

# The cost of 40 commands for each agent, with terse and without.
.PHONY: check-agents-cost
check-agents-cost: check-packages
	+@$(SUB_MAKE) programs helpers
	@tests/agents/install $(AGENTS_DIR)
	@AGENTS_DIR=$(AGENTS_DIR) BUILD=$(BUILD) tests/agents/cost.py

# Real remotes: Debian's rclone with an S3 server (from npm), WebDAV, crypt and a directory; faults, kills, times.
REMOTE_RUNS  ?= 1000
REMOTE_KILLS ?= 200
S3RVER        = $(BUILD)/s3rver

.PHONY: check-remote
check-remote: check-packages
	+@$(SUB_MAKE) programs helpers
	$(call install_packages,rclone)
	@mkdir -p $(S3RVER)
	npm install --silent --prefix $(S3RVER) s3rver@3
	@REMOTE_KILLS=$(REMOTE_KILLS) LIMIT=7200 tests/run $(BUILD) remote fetching
	@REMOTE_RUNS=$(REMOTE_RUNS) S3RVER=$(S3RVER) BUILD=$(BUILD) tests/remote/check.py

# Real sudo and ssh in an agent's command, and a person who answers at a terminal of his own (root).
.PHONY: check-person
check-person: check-packages
	+@$(SUB_MAKE) programs helpers
	$(call install_packages,sudo openssh-server)
	@BUILD=$(BUILD) tests/person/check.py

# terse mcp against the official client, inspector and conformance suite, from npm (about 200 MB); 10,000 calls in
# a row; real agents with it and without a shell (AGENTS_DIR, as check-agents).
MCP_DIR ?= $(BUILD)/mcp

.PHONY: check-mcp
check-mcp: check-packages
	+@$(SUB_MAKE) programs helpers
	@command -v npm >/dev/null || { echo 'npm is needed: apt-get install npm'; exit 1; }
	@npm install --silent --no-audit --no-fund --prefix $(MCP_DIR) @modelcontextprotocol/sdk@1.32 \
		@modelcontextprotocol/inspector@0.15 @modelcontextprotocol/conformance@0.1.16 node@22
	@tests/mcp/check $(BUILD) $(MCP_DIR)
	@MCP_CALLS=10000 LIMIT=7200 tests/run $(BUILD) mcp
	@tests/agents/install $(AGENTS_DIR)
	@AGENTS_DIR=$(AGENTS_DIR) BUILD=$(BUILD) tests/agents/mcp.py

# The long form of tests/cli/storm.py: STORM_RUNS runs at a time; output of STORM_BYTES.
STORM_RUNS  ?= 1000
STORM_BYTES ?= 2147483648

.PHONY: check-storm
check-storm: check-packages
	+@$(SUB_MAKE) DEVELOPER=1 programs helpers
	@STORM_RUNS=$(STORM_RUNS) STORM_BYTES=$(STORM_BYTES) BUILD=$(BUILD) tests/cli/storm.py

# The page of terse report in Debian's chromium; needs node and npm. PICTURES=DIR keeps pictures of it.
PUPPETEER = $(BUILD)/puppeteer
PICTURES ?=

.PHONY: check-page
check-page:
	$(call install_packages,chromium)
	+@$(SUB_MAKE) programs
	@mkdir -p $(PUPPETEER)
	npm install --silent --prefix $(PUPPETEER) puppeteer-core
	tests/page/check.mjs $(BUILD) $(PUPPETEER) $(PICTURES)

.PHONY: fuzz
fuzz: check-packages
	+@$(SUB_MAKE) fuzzers
	@tests/fuzz/run $(BUILD) $(FUZZ_SECONDS)

$(ASAN)/libterse.a: $(SOURCES)
	@$(MAKE) --no-print-directory DEVELOPER=$(DEVELOPER) $(SANITIZED) $@

$(BUILD)/fuzz/%: tests/fuzz/%.c $(ASAN)/libterse.a
	@mkdir -p $(@D)
	$(call run,LINK)clang $(CSTD) $(WARNINGS) -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
		$(CPPFLAGS) -o $@ $< $(ASAN)/libterse.a $(LDLIBS)

# Compares random streams with xterm.js; needs node and npm.
XTERM = $(BUILD)/xterm

.PHONY: fuzz-terminal
fuzz-terminal:
	+@$(SUB_MAKE) $(BUILD)/terminal/render
	@mkdir -p $(XTERM)
	npm install --silent --prefix $(XTERM) @xterm/headless@6 @xterm/addon-unicode11
	tests/terminal/fuzz.py --render $(BUILD)/terminal/render --xterm $(XTERM) \
		--count $(FUZZ_STREAMS) --seed $(FUZZ_SEED)

.PHONY: bench
bench: check-packages
	+@$(SUB_MAKE) programs benches
	@tests/bench/run $(BUILD) $(ROWS)

# Runs programs that draw, if they are installed, as an agent would.
.PHONY: draws
draws:
	+@$(SUB_MAKE) programs
	@tests/draws $(BUILD)

# Compares the estimate of tokens with real tokenizers, which come from npm.
TOKENIZERS = $(BUILD)/tokenizers

.PHONY: bench-tokens
bench-tokens:
	+@$(SUB_MAKE) $(BUILD)/bench/tokens
	@mkdir -p $(TOKENIZERS)
	npm install --silent --prefix $(TOKENIZERS) gpt-tokenizer @anthropic-ai/tokenizer llama3-tokenizer-js
	tests/bench/tokens.mjs $(BUILD) $(TOKENIZERS) $(FLAGS)

# Measures on labelled logs how well previews show what matters; tests/bench/preview has their format.
.PHONY: bench-preview
bench-preview: build-packages
	@[ -n "$(DATA)" ] || { echo 'make bench-preview DATA=DIR (see tests/bench/preview)'; exit 1; }
	+@$(SUB_MAKE) programs $(BUILD)/bench/pauses
	@tests/bench/preview $(BUILD) $(DATA) $(FLAGS)

# Style and static analysis, with each file's own flags; silent if all is well. The analyzer can't see
# what a system call of the launcher writes, so its core checks are off there. clang-tidy's stderr has
# only counts.
.PHONY: lint
lint:
	clang-format --dry-run --Werror $(wildcard lib/*.[ch] config/*.[ch] shim/*.[ch] shim/*/*.[ch] supervisor/*.c \
		supervisor/*/*.[ch] tests/*/*.[ch] tests/cli/helper/*.[ch])
	cppcheck --quiet --enable=warning,portability,performance --inline-suppr --error-exitcode=1 \
		--std=c11 -D_GNU_SOURCE -D__x86_64__ -I. lib config shim supervisor
	clang-tidy --quiet $(SOURCES) supervisor/main.c -- $(CSTD) $(CPPFLAGS) $(BANNED) 2>/dev/null
	clang-tidy --quiet $(wildcard shim/library/*.c) -- $(SHIM_FLAGS) 2>/dev/null
	clang-tidy --quiet --checks=-clang-analyzer-core.* $(wildcard shim/launcher/*.c) -- $(LAUNCHER_FLAGS) 2>/dev/null

# A terse that notes which functions it enters, for `make measure`.
JOURNEYS = $(BUILD)/journeys
$(JOURNEYS)/trace.o: tests/journeys/trace.c
	@mkdir -p $(@D)
	@$(CC) $(CSTD) $(WARNINGS) -O2 -D_GNU_SOURCE -c -o $@ $<

# Prints sizes, names, journeys and the edges between rooms.
.PHONY: measure
measure: build-packages $(JOURNEYS)/trace.o
	+@$(SUB_MAKE) BUILD=$(JOURNEYS) CFLAGS='-O0 -g -finstrument-functions' LDFLAGS=$(JOURNEYS)/trace.o \
		$(JOURNEYS)/terse >$(JOURNEYS)/log
	@tests/measure
	@tests/journeys/run $(JOURNEYS)
	@tests/edges

# --- packages ----------------------------------------------------------------

# Packages of the last commit for ARCHES, statically linked with musl (docs/install.md). DIST_PACKAGES
# are the Debian 12 packages that this needs on x86_64.
ARCHES        ?= x86_64 aarch64
DIST           = $(BUILD)/dist
DIST_PACKAGES  = gcc make git curl python3 rpm xz-utils linux-libc-dev gcc-aarch64-linux-gnu linux-libc-dev-arm64-cross

# The packages that the checks of a release need. Without npm, which may be missing, a step is skipped.
RELEASE_PACKAGES = $(DIST_PACKAGES) lintian mandoc man-db groff shellcheck zsh fish debootstrap \
	qemu-user-static libc6-dev-arm64-cross file binutils busybox-static python3-yaml ruby nix-bin
# The checks keep their root file systems here (1 GB).
ROOTS ?= $(BUILD)/roots
# The steps of packaging/check to run, without `make check`: make release-check STEPS='bookworm npm'
STEPS ?=

.PHONY: dist dist-packages release-packages release-check
dist-packages:
	@mkdir -p $(BUILD)
	$(call install_packages,$(DIST_PACKAGES))

release-packages:
	@mkdir -p $(BUILD)
	$(call install_packages,$(RELEASE_PACKAGES))

dist: dist-packages
	@packaging/dist $(DIST) $(ARCHES)

# `make check`, and the checks of packages.
release-check: release-packages
	+@$(if $(STEPS),,$(MAKE) --no-print-directory check)
	@packaging/check $(DIST) $(ROOTS) $(STEPS)

# --- installation ------------------------------------------------------------

COMPLETIONS = bash-completion/completions/terse zsh/site-functions/_terse fish/vendor_completions.d/terse.fish
PAGES = $(notdir $(wildcard docs/terse*.[1-8]))

.PHONY: install uninstall clean help
install: all
	install -D -m 755 $(BUILD)/terse $(DESTDIR)$(PREFIX)/bin/terse
	for shell in $(notdir $(SHELLS)); do ln -sf terse $(DESTDIR)$(PREFIX)/bin/$$shell || exit; done
	install -D -m 644 $(SHIM) $(DESTDIR)$(PREFIX)/lib/terse/libterse-shim.so
	ln -sf ../../bin/terse-sh $(DESTDIR)$(PREFIX)/lib/terse/terse-sh
	install -D -m 755 -t $(DESTDIR)$(PREFIX)/lib/terse $(LAUNCHER) shim/still-wired
	install -D -m 644 shim/bash-env $(DESTDIR)$(PREFIX)/lib/terse/bash-env
	install -D -m 644 shim/zsh/.zshenv $(DESTDIR)$(PREFIX)/lib/terse/zsh/.zshenv
	for page in $(PAGES); do install -D -m 644 docs/$$page $(DESTDIR)$(PREFIX)/share/man/man$${page##*.}/$$page || exit; done
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/doc/terse README.md config/terse.ini
	for script in $(COMPLETIONS); do install -D -m 644 packaging/completion/$${script##*/} $(DESTDIR)$(PREFIX)/share/$$script || exit; done
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/doc/terse/docs docs/*.md

# UNDO=yes first undoes what `terse init` has changed in your files.
UNDO ?=
uninstall:
	@[ -n "$(DESTDIR)" ] || shim/still-wired $(UNDO)
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/bin/,terse $(notdir $(SHELLS)))
	for page in $(PAGES); do rm -f $(DESTDIR)$(PREFIX)/share/man/man$${page##*.}/$$page; done
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/share/,$(COMPLETIONS))
	rm -rf $(DESTDIR)$(PREFIX)/share/doc/terse $(DESTDIR)$(PREFIX)/lib/terse

clean:
	rm -rf $(BUILD)

help:
	@echo 'all        build $(BUILD)/terse and $(SHIM) (the default)'
	@echo 'demo       install what the build lacks, build, show it at work'
	@echo 'check      install what the tests lack, build, run them'
	@echo 'check-storm  $(STORM_RUNS) runs at a time while the store is cleaned up; output that fills a small disk'
	@echo 'bench      measure against the budgets'
	@echo 'draws      run programs that draw, with and without terse, as an agent does'
	@echo 'bench-preview  measure previews on the labelled logs in DATA=DIR'
	@echo 'bench-tokens  compare the estimate of tokens with real tokenizers, from npm'
	@echo 'check-page  check the page of terse report in chromium (needs node and npm)'
	@echo 'check-agents  drive real agents (npm, about 2 GB below $(AGENTS_DIR))'
	@echo 'check-mcp  drive terse mcp with the official client, inspector and conformance suite, and real agents (npm)'
	@echo 'check-faults   let every system call and allocation fail once (some minutes)'
	@echo 'check-kills    kill terse at a random moment in KILL_RUNS ($(KILL_RUNS)) runs'
	@echo 'check-seeds    the tests that take random data, with SEEDS ($(SEEDS)) other seeds'
	@echo 'check-typed    type SESSIONS ($(SESSIONS)) generated sessions into bash and zsh, with terse and without'
	@echo 'check-person   answer real sudo and ssh in an agent'"'"'s command (root, sudo, openssh-server)'
	@echo 'check-remote   push to and read from real remotes (rclone, s3rver from npm), REMOTE_RUNS ($(REMOTE_RUNS)) runs each'
	@echo 'fuzz       fuzz each parser for FUZZ_SECONDS ($(FUZZ_SECONDS))'
	@echo 'fuzz-terminal  compare FUZZ_STREAMS ($(FUZZ_STREAMS)) streams with xterm.js, from npm'
	@echo 'measure    print sizes, names and edges of the source'
	@echo 'lint       formatting and static analysis'
	@echo 'install, uninstall   below PREFIX ($(PREFIX)), honouring DESTDIR; UNDO=yes takes terse out of agents first'
	@echo 'dist       packages of the last commit for ARCHES ($(ARCHES)), below $(DIST); Debian 12 on x86_64'
	@echo 'release-check  check, then make the packages twice and try each in fresh root file systems below ROOTS; as root.'
	@echo '           STEPS="STEP..." runs only these steps of packaging/check'
	@echo 'clean      remove $(BUILD)'
	@echo 'Variables: JOBS=N (default: every processor) V=1 (whole commands) CC=gcc|clang DEVELOPER=1 (-Werror) SANITIZE=address,undefined BUILD=DIR'

-include $(shell find $(BUILD) -name dist -prune -o -type f -name '*.d' -print 2>/dev/null)
