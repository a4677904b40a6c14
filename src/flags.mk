# Flags of the compiler and the linker by MODE, and the libraries. Included before all else that names them.

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
