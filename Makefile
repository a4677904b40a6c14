# onnxcost: build, test, install. `make help` lists the targets.
# Modes: MODE=release (default), debug, asan (ASan+UBSan), coverage; objects stay apart under build/<mode>/.

MODE ?= release
BUILD := build/$(MODE)
GEN := build/gen
CC = cc
PREFIX ?= /usr/local
prefix ?= $(PREFIX)
bindir ?= $(prefix)/bin
libdir ?= $(prefix)/lib
includedir ?= $(prefix)/include
datadir ?= $(prefix)/share
mandir ?= $(datadir)/man
DESTDIR ?=

# ---- flags -----------------------------------------------------------------------------------------------
WARN := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wformat=2 \
        -Wno-format-nonliteral -Wundef -Wpointer-arith -Wwrite-strings
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
ALL_CFLAGS = -std=c11 $(FLAGS_$(MODE)) $(WARN) $(CFLAGS)
ALL_LDFLAGS = $(FLAGS_$(MODE)) $(LDFLAGS)
LIBS := -lprotobuf-c -lpcre2-8 -lz -lm -ldl

# ---- files -----------------------------------------------------------------------------------------------
LIB_SRC := $(filter-out src/cli/%,$(wildcard src/*/*.c))
CLI_SRC := $(wildcard src/cli/*.c)
ZOO_SRC := $(wildcard models/*.c)
UNIT_SRC := $(wildcard tests/unit/*/test_*.c)
SUPPORT_SRC := $(wildcard tests/support/*.c)
FUZZ_SRC := $(wildcard tests/fuzz/fuzz_*.c)
obj = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))

LIB := $(BUILD)/libonnxcost.a
BIN := $(BUILD)/onnxcost
ZOO := $(BUILD)/onnxzoo
UNIT_BIN := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(UNIT_SRC))
FUZZ_BIN := $(patsubst tests/fuzz/%.c,$(BUILD)/fuzz/%,$(FUZZ_SRC))
PB := $(GEN)/onnx.pb-c

.PHONY: all lib zoo unit fuzz-bin check-unit check-fuzz check-layers clean help
all: $(LIB) $(if $(CLI_SRC),$(BIN)) $(if $(ZOO_SRC),$(ZOO))
lib: $(LIB)
zoo: $(ZOO)
unit: $(UNIT_BIN)
fuzz-bin: $(FUZZ_BIN)

# ---- rules -----------------------------------------------------------------------------------------------
$(PB).c $(PB).h &: proto/onnx.proto
	@mkdir -p $(GEN)
	protoc-c --proto_path=proto --c_out=$(GEN) $<

$(BUILD)/obj/%.o: %.c | $(PB).h
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/obj/onnx.pb-c.o: $(PB).c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -std=gnu11 $(FLAGS_$(MODE)) -w -MMD -MP -c -o $@ $<

$(LIB): $(call obj,$(LIB_SRC)) $(BUILD)/obj/onnx.pb-c.o
	@rm -f $@
	$(AR) rcs $@ $^

$(BIN): $(call obj,$(CLI_SRC)) $(LIB)
	$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

$(ZOO): $(call obj,$(ZOO_SRC)) $(LIB)
	$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/unit/%: $(BUILD)/obj/tests/unit/%.o $(call obj,$(SUPPORT_SRC)) $(LIB)
	@mkdir -p $(@D)
	$(CC) $(ALL_LDFLAGS) -o $@ $^ -lcmocka $(LIBS)

$(BUILD)/fuzz/%: $(BUILD)/obj/tests/fuzz/%.o $(BUILD)/obj/tests/fuzz/driver.o $(call obj,$(SUPPORT_SRC)) $(LIB)
	@mkdir -p $(@D)
	$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

CPPFLAGS_tests := -Itests
$(BUILD)/obj/tests/%.o: CPPFLAGS += $(CPPFLAGS_tests)

.SECONDARY:
-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)

check-unit: $(UNIT_BIN)
	@fail=0; for t in $(UNIT_BIN); do $$t || fail=1; done; exit $$fail

clean:
	rm -rf build
