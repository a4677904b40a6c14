#!/bin/sh
# `make install` installs every file, the installed program works, `make uninstall` removes everything. `.ci/setup` names
# missing packages. Prints TAP.
# modes: release
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
: "${BUILD:=build/release}"
mode=${BUILD#build/}
work=$PWD/$BUILD/install
rm -rf "$work"
mkdir -p "$work"
unset MAKEFLAGS MFLAGS MAKELEVEL
root=$work/root
make -s MODE="$mode" ${CC:+"CC=$CC"} DESTDIR="$root" install >"$work/log" 2>&1
passed $? 'make install succeeds' "$(tail -n 3 "$work/log")"

missing=
for file in bin/onnxcost lib/libonnxcost.a lib/libonnxcost.so lib/pkgconfig/onnxcost.pc include/onnxcost.h include/onnxcost_types.h include/onnxcost/report.h share/man/man1/onnxcost.1 share/man/man1/onnxcost-record.1 \
    share/man/man7/onnxcost-metrics.7 share/man/man5/onnxcost-json.5 share/onnxcost/man/onnxcost-json.txt share/doc/onnxcost/README.md share/doc/onnxcost/src/doc/faq.md \
    share/bash-completion/completions/onnxcost share/zsh/site-functions/_onnxcost share/fish/vendor_completions.d/onnxcost.fish \
    share/onnxcost/report.schema.json share/onnxcost/hwdb/hwdb.rng share/onnxcost/hwdb/nvidia-ampere.xml share/onnxcost/hwdb/op-rules/example.xml \
    share/onnxcost/hwdb/op-rules/op-rules.rng share/onnxcost/hwdb/calibrations/xeon-2-threads.onnxruntime.xml share/onnxcost/hwdb/kernel-names/example.xml \
    share/onnxcost/hwdb/kernel-names/kernel-names.rng share/onnxcost/hwdb/budget/example.xml share/onnxcost/hwdb/budget/budget.rng share/onnxcost/hwdb/providers/providers.rng share/onnxcost/hwdb/providers/cuda.xml; do
    [ -s "$root/usr/local/$file" ] || missing="$missing $file"
done
[ -z "$missing" ]; passed $? 'every file is installed' "missing:$missing"

text=$("$root/usr/local/bin/onnxcost" --version 2>&1)
[ "$text" = "onnxcost $(sed -n 's/^#define ONNXCOST_VERSION "\(.*\)"/\1/p' src/onnxcost.h)" ]
passed $? 'installed program starts' "$text"
ONNXCOST_HWDB=$root/usr/local/share/onnxcost/hwdb "$root/usr/local/bin/onnxcost" hw show a100 2>&1 | grep -q 'A100'
passed $? 'installed hardware files are used' ''
text=$(ONNXCOST_HWDB=$root/usr/local/share/onnxcost/hwdb "$root/usr/local/bin/onnxcost" help metrics 2>&1 | sed -n 4p)
case $text in *onnxcost-metrics*) true ;; *) false ;; esac
passed $? 'installed manual pages are found' "$text"
[ "$mode" = asan ] || ! ldd "$root/usr/local/bin/onnxcost" | grep -qE 'libxml2|libicu|libsqlite|libpcre'
passed $? 'large libraries are not linked' "$(ldd "$root/usr/local/bin/onnxcost" 2>&1)"

[ "$(readlink "$root/usr/local/lib/libonnxcost.so")" = libonnxcost.so.1 ] && [ -s "$root/usr/local/lib/libonnxcost.so.1" ]
passed $? 'links of the shared library exist' "$(ls -l "$root/usr/local/lib")"
grep -q "$root" "$root/usr/local/lib/pkgconfig/onnxcost.pc"
[ $? -eq 1 ]; passed $? 'no file contains DESTDIR' 'onnxcost.pc does'

# as in the tree of a Debian package, where src/deb is debian/
mkdir -p "$work/package/src"
for path in "$PWD"/* "$PWD"/src/*; do
    case $path in */src | */src/deb | */build) ;; *) ln -s "$path" "$work/package${path#"$PWD"}" ;; esac
done
make -s -C "$work/package" help >"$work/log" 2>&1
passed $? 'the Makefile needs no file of src/deb' "$(tail -n 3 "$work/log")"

# a program whose compiled-in folder is another copy: the tree around it is used, and the two are never mixed
if [ "$mode" = release ]; then
    mkdir -p "$work/tree/build/release" "$work/installed"
    cp -r "$root/usr/local/share/onnxcost/hwdb" "$work/tree/hwdb"
    cp -r "$root/usr/local/share/onnxcost/hwdb" "$work/installed/hwdb"
    sources_objects() { # of sources that exist: objects of others may be left
        for source in src/cli/*.c; do
            object=$BUILD/obj/${source%.c}.o
            [ ! -e "$object" ] || echo "$object"
        done
    }
    # shellcheck disable=SC2046 # no blanks
    ${CC:-cc} -std=c11 -D_GNU_SOURCE -Isrc -DOC_DATADIR="\"$work/installed\"" -o "$work/tree/build/release/onnxcost" \
        src/base/file.c $(sources_objects) "$BUILD/libonnxcost.a" -lprotobuf-c -lz -lm -ldl -pthread >"$work/log" 2>&1
    passed $? 'program with another data folder links' "$(tail -n 3 "$work/log")"
    folders() { env -u ONNXCOST_HWDB "$1" --version --verbose | grep -o "$work/[^ ]*hwdb" | sed "s|$work/||"; }
    text=$(folders "$work/tree/build/release/onnxcost")
    [ "$text" = tree/hwdb ]; passed $? 'build tree is used without the installed copy' "$text"
    text=$(env -u ONNXCOST_HWDB "$work/tree/build/release/onnxcost" hw lint 2>&1)
    [ "$text" = "$(ONNXCOST_HWDB=$PWD/hwdb "$BUILD/onnxcost" hw lint)" ]
    passed $? 'no device is loaded twice' "$text"
    alone=$(mktemp -d) # outside of any checkout
    mv "$work/tree/build/release/onnxcost" "$alone/onnxcost"
    text=$(folders "$alone/onnxcost")
    rm -r "$alone"
    [ "$text" = installed/hwdb ]; passed $? 'installed copy is used outside a build tree' "$text"
fi

make -s MODE="$mode" ${CC:+"CC=$CC"} DESTDIR="$root" uninstall >"$work/log" 2>&1
left=$(find "$root" ! -type d; ls -d "$root/usr/local/share/onnxcost" "$root/usr/local/share/doc/onnxcost" 2>/dev/null)
[ -z "$left" ]; passed $? 'make uninstall leaves nothing' "$left"

# `-m32` fails here without 32-bit headers too: the message must come first
if echo __SIZEOF_POINTER__ | cc -m32 -E - >/dev/null 2>&1; then
    text=$(make MODE="$mode" CC='cc -m32' all 2>&1)
    [ $? -eq 2 ] && case "$text" in *'onnxcost needs a 64-bit platform'*) true ;; *) false ;; esac
    passed $? 'make refuses a compiler for 32 bits' "$text"
fi

text=$(make MODE="$mode" CC='cc -U__linux__' all 2>&1)
[ $? -eq 2 ] && case "$text" in *'onnxcost needs Linux'*) true ;; *) false ;; esac
passed $? 'make refuses a compiler for another system' "$text"

mkdir -p "$work/bin"
for tool in sh id cat mktemp rm env; do ln -s "$(command -v "$tool")" "$work/bin/$tool"; done
text=$(PATH=$work/bin CC=cc .ci/setup -n build 2>&1)
code=$?
[ $code -eq 4 ] && case "$text" in *gcc*protobuf-c-compiler*) true ;; *) false ;; esac
passed $? 'set-up names what is missing and stops' "exit code $code: $text"
text=$(PATH=$work/bin CC=cc .ci/setup build 2>&1)
code=$?
[ $code -eq 4 ] && case "$text" in *"no apt-get"*gcc*) true ;; *) false ;; esac
passed $? 'set-up stops where it cannot install' "exit code $code: $text"
finish
