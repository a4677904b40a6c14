#!/bin/sh
# The installed library: the header alone, the exported symbols, and the example of src/doc/library.md built with
# pkg-config against a relocated installation. Prints TAP.
# modes: release
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
: "${BUILD:=build/release}" "${CC:=cc}"
mode=${BUILD#build/}
work=$PWD/$BUILD/library
rm -rf "$work"
mkdir -p "$work"
unset MAKEFLAGS MFLAGS MAKELEVEL
case "$mode" in
asan) sanitize='-fsanitize=address,undefined' ;;
tsan) sanitize='-fsanitize=thread' ;;
coverage) sanitize='--coverage' ;;
*) sanitize= ;;
esac
strict='-Wall -Wextra -Werror -pedantic -Wshadow -Wconversion'

# ---- the headers
headers=$(cd src && echo onnxcost.h onnxcost/*.h)
each_alone() { # compiler and options...
    : >"$work/log"
    for header in $headers; do
        echo "#include <$header>" | "$@" -Wall -Wextra -Werror -pedantic -Isrc -fsyntax-only - 2>>"$work/log"
    done
    [ ! -s "$work/log" ]
}
for std in c99 c11 gnu17; do
    each_alone "$CC" -std=$std -Wshadow -Wconversion -x c
    passed $? "each public header compiles alone in $std" "$(head -n 3 "$work/log")"
done
if command -v "${CXX:-c++}" >/dev/null; then
    each_alone "${CXX:-c++}" -std=c++17 -x c++
    passed $? 'each public header compiles alone in C++17' "$(head -n 3 "$work/log")"
else
    skip 'each public header compiles alone in C++17' 'no C++ compiler'
fi
lines=$(wc -l <src/onnxcost.h)
[ "$lines" -le 400 ]; passed $? 'onnxcost.h has at most 400 lines' "$lines"

# ---- exported symbols and global state
for header in $headers; do echo "#include <$header>"; done | $CC -E -P -Isrc -x c - | tr -s ' \n' '  ' | grep -oE '\boc_[a-z0-9_]+ ?\(' | tr -d ' (' | sort -u >"$work/declared"
nm -D --defined-only "$BUILD/libonnxcost.so.1" | awk '$2 ~ /[A-Z]/ && $2 != "A" { sub(/@.*/, "", $3); print $3 }' |
    grep -v '^__\(gcov\|asan\|ubsan\|odr_asan\)\|^_\(init\|fini\)$' | sort -u >"$work/shown"
[ "$(wc -l <"$work/declared")" -gt 100 ]
passed $? 'headers declare more than 100 functions' "$(wc -l <"$work/declared")"
difference=$(diff "$work/declared" "$work/shown")
passed $? 'shared library exports exactly the declared functions' "$(echo "$difference" | head -n 5 | tr '\n' ' ')"
gone=$(sed -n 's/^ \(oc_[a-z0-9_]*\)@.*/\1/p' src/deb/libonnxcost1.symbols | sort -u | comm -23 - "$work/shown")
[ -z "$gone" ]; passed $? 'no function of a released version is gone (src/doc/library.md, Compatibility)' "$(echo "$gone" | tr '\n' ' ')"
foreign=$(nm -g --defined-only "$BUILD/libonnxcost.a" 2>/dev/null | awk '$2 ~ /[TDBRC]/ && $3 !~ /^(oc_|onnxcost__|__(gcov|asan|ubsan|odr_asan))/ { print $3 }' | sort -u)
[ -z "$foreign" ]; passed $? 'global symbols of the static library begin with oc_' "$(echo "$foreign" | head -n 5 | tr '\n' ' ')"
soname=$(objdump -p "$BUILD/libonnxcost.so.1" | awk '$1 == "SONAME" { print $2 }')
[ "$soname" = libonnxcost.so.1 ]; passed $? 'soname is libonnxcost.so.1' "$soname"
heavy=$(objdump -p "$BUILD/libonnxcost.so.1" | awk '$1 == "NEEDED" && /xml2|icu|sqlite|onnxruntime/')
[ -z "$heavy" ]; passed $? 'large libraries are not linked' "$heavy"

# Allowed writable data: the out-of-memory handler and the place of each thread to fail, the handlers of files that are mapped and
# read, the folders that may be read, files of servers, the list of readers with the printed formats of the program and of the user,
# the one-time initializations of libxml2 and of the indices of operators, and a per-thread sink for unused results of measurement kernels.
if [ -z "$sanitize" ]; then
    objdump -t "$BUILD/libonnxcost.a" | awk '/ (\.data|\.bss|\.tdata|\.tbss|\.data\.rel|\.data\.rel\.local|\*COM\*)\t/ && !/ d  / {
        sub(/\.[0-9]+$/, "", $NF); print $NF }' | sort >"$work/written"
    printf '%s\n' built_in built_in entry importers lock lock map_watch memory memory memory n_built_in n_importer oc_os_n_lazy of_user of_user once once once oom_handler op_index op_index_once read_watch remote_files remote_lock roots set_up_error sink source_words source_words_once xml_once | diff - "$work/written" >"$work/log"
    passed $? 'library has no other global state' "$(tr '\n' ' ' <"$work/log")"
else
    skip 'library has no other global state' 'sanitizers and coverage add their own'
fi

# ---- a relocated installation and the example. Nothing is rebuilt: other tests use the same files at the same time.
make -s MODE="$mode" CC="$CC" DESTDIR="$work/made" install >"$work/log" 2>&1
passed $? 'make install succeeds' "$(tail -n 3 "$work/log")"
mkdir "$work/moved" && mv "$work/made/usr/local" "$work/moved/there"
root=$work/moved/there
# each program is named by the comment in its first line
awk -v folder="$work/" '/^```c(pp)?$/ { p = 1; file = ""; next } /^```/ { p = 0 }
    p && !file { file = folder $2; sub(/:$/, "", file) } p { print >file }' src/doc/library.md
"$BUILD/onnxzoo" resnet50 -o "$work/resnet50.onnx"
sed -n '/^    \$ \.\/heaviest /,/^$/s/^    //p' src/doc/library.md | sed 1d | grep . >"$work/want"
[ "$(wc -l <"$work/want")" -eq 6 ]; passed $? 'src/doc/library.md contains the output of the example' "$(cat "$work/want")"

run_example() { # title program
    ONNXCOST_HWDB='' "$2" "$work/resnet50.onnx" models/profiles/resnet50.disabled.t1.json.gz >"$work/out" 2>&1
    diff "$work/want" "$work/out" >"$work/log"
    passed $? "$1" "$(head -n 4 "$work/log")"
}
if command -v pkg-config >/dev/null; then
    # the prefix differs from the configured one
    export PKG_CONFIG_PATH="$root/lib/pkgconfig"
    pc() { pkg-config --define-variable=prefix="$root" "$@" onnxcost; }
    version=$(pc --modversion)
    [ "onnxcost $version" = "$("$root/bin/onnxcost" --version)" ]; passed $? 'pkg-config prints the version' "$version"
    # shellcheck disable=SC2046,SC2086 # flags are words
    $CC -std=c11 $strict $sanitize -o "$work/shared" "$work/heaviest.c" $(pc --cflags --libs) 2>"$work/log"
    passed $? 'example builds with the shared library' "$(head -n 3 "$work/log")"
    LD_LIBRARY_PATH=$root/lib run_example 'example runs with the shared library' "$work/shared"
    ldd "$work/shared" 2>/dev/null | grep -q 'libonnxcost.so.1'; passed $? 'example is linked with the shared library' "$(ldd "$work/shared")"
    mkdir "$work/static" && cp "$root/lib/libonnxcost.a" "$work/static"
    # shellcheck disable=SC2046,SC2086
    $CC -std=c11 $strict $sanitize -o "$work/alone" "$work/heaviest.c" $(pc --cflags) \
        $(pkg-config --static --libs --define-variable=libdir="$work/static" onnxcost) 2>"$work/log"
    passed $? 'example builds with the static library' "$(head -n 3 "$work/log")"
    run_example 'example runs with the static library' "$work/alone"

    # shellcheck disable=SC2046,SC2086
    $CC -std=c11 $strict $sanitize -o "$work/shapes" "$work/shapes.c" $(pc --cflags --libs) 2>"$work/log"
    passed $? 'example of shapes builds' "$(head -n 3 "$work/log")"
    LD_LIBRARY_PATH=$root/lib "$work/shapes" "$work/resnet50.onnx" >"$work/shapes.txt" 2>&1
    if /usr/bin/python3 -c 'import onnx' 2>/dev/null; then
        /usr/bin/python3 tests/support/value_shapes.py "$work/resnet50.onnx" | sort >"$work/want_shapes"
        [ "$(wc -l <"$work/want_shapes")" -gt 100 ] && sort "$work/shapes.txt" | diff "$work/want_shapes" - >"$work/log"
        passed $? 'example prints the shapes that the onnx package infers' "$(head -n 4 "$work/log")"
    else
        skip 'example prints the shapes that the onnx package infers' 'no package onnx'
    fi
    # shellcheck disable=SC2046,SC2086
    $CC -std=c11 $strict $sanitize -o "$work/largest_batch" "$work/largest_batch.c" $(pc --cflags --libs) 2>"$work/log"
    passed $? 'example of lower bounds builds' "$(head -n 3 "$work/log")"
    LD_LIBRARY_PATH=$root/lib "$work/largest_batch" "$work/resnet50.onnx" t4 5e6 >"$work/log" 2>&1
    grep -q '^no runtime takes a batch above 6 ' "$work/log"; passed $? 'example of lower bounds finds the batch' "$(cat "$work/log")"
    if command -v "${CXX:-c++}" >/dev/null; then
        # shellcheck disable=SC2046,SC2086
        "${CXX:-c++}" -std=c++17 -Wall -Wextra -Werror -pedantic $sanitize -o "$work/report" "$work/report.cpp" $(pc --cflags --libs) \
            2>"$work/log"
        passed $? 'example in C++ builds' "$(head -n 3 "$work/log")"
        LD_LIBRARY_PATH=$root/lib "$work/report" "$work/resnet50.onnx" >"$work/report.json" 2>&1
        "$BUILD/onnxcost" "$work/resnet50.onnx" -f json 2>/dev/null | diff - "$work/report.json" >"$work/log"
        passed $? 'example in C++ writes the report of onnxcost' "$(head -n 4 "$work/log")"
    else
        skip 'example in C++' 'no C++ compiler'
    fi

    # the library of a relocated installation finds its data from any program
    cat >"$work/device.c" <<'E2'
#include <onnxcost.h>
int main(void)
{
    struct oc_hwdb *db;
    const struct oc_device *d;
    struct oc_err err;
    if (oc_hwdb_open(NULL, &db, &err) || oc_hwdb_find(db, "a100", &d, &err)) {
        puts(err.msg);
        return 1;
    }
    puts(oc_hwdb_folder(db, 0));
    oc_hwdb_free(db);
    return 0;
}
E2
    mkdir -p "$work/elsewhere"
    outside=$(mktemp -d) # of any checkout, with an unpredictable name
    # shellcheck disable=SC2046,SC2086
    $CC -std=c11 $sanitize -o "$outside/device" "$work/device.c" $(pc --cflags --libs) 2>"$work/log"
    text=$(cd / && unset ONNXCOST_HWDB && LD_LIBRARY_PATH=$root/lib "$outside/device" 2>&1)
    [ "$text" = "$root/share/onnxcost/hwdb" ]; passed $? 'relocated library finds its data' "$text"
    rm -rf "$outside"
else
    skip 'example with pkg-config' 'no pkg-config'
fi
folder=$(unset ONNXCOST_HWDB; cd / && "$root/bin/onnxcost" hw show a100 2>&1 | head -n 1)
case "$folder" in *A100*) true ;; *) false ;; esac
passed $? 'relocated program finds its data' "$folder"
finish
