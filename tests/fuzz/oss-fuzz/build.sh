#!/bin/bash
# Builds every fuzz target for OSS-Fuzz, with its dictionary and its seeds. Environment, as OSS-Fuzz sets it: CC, CFLAGS
# (with the sanitizer), LIB_FUZZING_ENGINE, OUT (the result); FUZZ=NAME: only that target; CXX_LIBS: the C++ library of the
# engine.
# Packages: make pkg-config protobuf-c-compiler libprotobuf-c-dev zlib1g-dev libxml2-dev libpcre2-dev libsqlite3-dev
# libcurl4-openssl-dev libjs-chart.js node-dagre-layout zip python3
set -eu
cd "$(dirname "$0")/../../.."
: "${OUT:?the folder of the result}" "${CC:=clang}" "${LIB_FUZZING_ENGINE:=-fsanitize=fuzzer}" "${FUZZ:=*}"
: "${CFLAGS:=-O1 -g -DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION -fsanitize=address,undefined,fuzzer-no-link}" "${CXX_LIBS=-lc++}"
build=build/oss-fuzz
mkdir -p "$OUT/lib"

# a machine that runs the targets has no packages: libraries are next to them, also those loaded on demand
make -s -j"$(nproc)" MODE=fuzz BUILD=$build FUZZ="$FUZZ" CC="$CC" FLAGS_fuzz="$CFLAGS" CFLAGS= \
    FUZZ_LINK="$LIB_FUZZING_ENGINE $CXX_LIBS" LDFLAGS="-Wl,-rpath,'\$\$ORIGIN/lib'" fuzz-bin
libraries() { # of a program
    ldd "$1" | awk '$3 ~ /^\// { print $3 }' | grep -vE '/(libc|libm|libdl|libpthread|librt|ld-linux[^/]*)\.so'
}
for name in xml2 pcre2-8 sqlite3 zstd; do
    for file in $(ldconfig -p | awk -v name="lib$name.so." 'index($1, name) == 1 { print $NF }'); do
        cp -L "$file" "$OUT/lib/"
        for needed in $(libraries "$file"); do cp -L "$needed" "$OUT/lib/"; done
    done
done

mkdir -p "$OUT/hwdb"
cp -r hwdb/. "$OUT/hwdb/"
for program in "$build"/fuzz/fuzz_*; do
    [ -x "$program" ] || continue
    target=$(basename "$program")
    name=${target#fuzz_}
    cp "$program" "$OUT/$target"
    for file in $(libraries "$program"); do cp -L "$file" "$OUT/lib/"; done
    (cd "tests/fuzz/seeds/$name" && zip -q -X -r - .) >"$OUT/${target}_seed_corpus.zip"
    for dict in "$name" $(awk -v t="$name" '$1 == t { print $2 }' tests/fuzz/dict/TARGETS); do
        [ -e "tests/fuzz/dict/$dict.dict" ] || continue
        cp "tests/fuzz/dict/$dict.dict" "$OUT/$target.dict"
        break
    done
    printf '[libfuzzer]\ntimeout = 20\nrss_limit_mb = 1024\n' >"$OUT/$target.options"
done
