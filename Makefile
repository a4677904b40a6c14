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

include src/flags.mk

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
PB := $(GEN)/onnx.pb-c
PB_OBJ := $(BUILD)/obj/onnx.pb-c.o
# what the loader unpacks: in the library
HEADER_PB := $(GEN)/onnx_header.pb-c

.PHONY: all man lib shared python wheel web web-files web-check zoo unit fuzz-bin fast-bin check-bin check check-fast check-deep coverage check-unit check-golden golden-update check-layers demo \
        oracle probe-matrix corpus op-tests wild join-recordings plan-shares browser browser-check browser-rows viewers-check action-check parquet-check fleet-check mcp-check gallery bench fuzz growth hostile mutate lint lint-tidy words format install install-program install-library uninstall deb deb-check readme-check cross reproducible clean help FORCE
all: lib shared $(if $(CLI_SRC),$(BIN) man) $(if $(ZOO_SRC),$(ZOO))
man: $(BUILD)/man/made
lib: $(LIB)
shared: $(SHARED)
zoo: $(ZOO)

# data folders: everything except notes for developers
DATA_DIRS := hwdb hwdb/calibrations hwdb/op-rules hwdb/kernel-names hwdb/budget hwdb/providers
data_files = $(wildcard $(addprefix $(1)/*.,xml rng tsv txt))

# Each fragment documents its targets in lines that begin with "#: ".
#: make              build the program and both libraries in build/MODE
#: make demo         install what is missing, build, show a report of a measured profile
#: make check        install what is missing, run every test in release and under ASan+UBSan
#: make clean        remove build/
#: make musl         the program in one file for every Linux system (build/musl/onnxcost)
#: make dist         the files of a release in build/dist, from the last commit (needs root and network); dist-check installs each in a clean system
help:
	@sed -n 's/^#: //p' $(filter Makefile %.mk,$(MAKEFILE_LIST))
	@echo 'MODE=release|debug|asan|tsan|coverage|fuzz|msan (now $(MODE)), CC=$(CC), DESTDIR=$(DESTDIR) prefix=$(prefix), CI=true makes warnings errors'

# ---- targets for users: set-up first, then a new make that finds the compiler ----------------------------------
demo:
	@.ci/setup build
	@+$(MAKE) --no-print-directory $(PARALLEL) all
	@BUILD=$(BUILD) tests/demo.sh

check:
	@.ci/setup check
	@+MAKE='$(MAKE)' JOBS='$(JOBS)' tests/check.sh release asan

format:
	@clang-format -i $(wildcard src/*.h src/*/*.[ch] src/*/*/*.[ch] models/*.[ch] tests/*/*.[ch] tests/unit/*/*.[ch])

clean:
	rm -rf build

# ---- fragments: one for each folder that makes something of its own -------------------------------------------
# what rules.mk names in prerequisites comes before it
include src/model/model.mk
include src/profile/profile.mk
include src/write/write.mk
include src/rules.mk
include src/man/man.mk
include models/models.mk
include tests/tests.mk
include src/doc/doc.mk
include src/python/python.mk
include src/web/web.mk
include src/base/windows.mk
include src/dist/dist.mk
include src/install.mk
# in the tree of a package that folder is debian/
include $(wildcard src/deb/deb.mk)
