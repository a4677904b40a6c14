#!/bin/sh
# `make install` puts everything where it belongs, what is installed works, `make uninstall` takes it all away.
# `.ci/setup` says what is missing. Prints TAP.
set -u
cd "$(dirname "$0")/.." || exit 1
: "${BUILD:=build/release}"
mode=${BUILD#build/}
work=$PWD/$BUILD/install
rm -rf "$work"
mkdir -p "$work"
n=0
bad=0
result() { # passed? title details
    n=$((n + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $n - $2"
    else
        bad=1
        echo "not ok $n - $2: $3"
    fi
}
unset MAKEFLAGS MFLAGS MAKELEVEL
root=$work/root
make -s MODE="$mode" ${CC:+"CC=$CC"} DESTDIR="$root" install >"$work/log" 2>&1
result $? 'make install' "$(tail -n 3 "$work/log")"

missing=
for file in bin/onnxcost lib/libonnxcost.a lib/pkgconfig/onnxcost.pc include/onnxcost.h share/man/man1/onnxcost.1 \
    share/onnxcost/hwdb/hwdb.rng share/onnxcost/hwdb/nvidia.xml share/onnxcost/hwdb/op-rules/example.xml \
    share/onnxcost/hwdb/op-rules/op-rules.rng share/onnxcost/hwdb/calibrations/xeon-2-threads.onnxruntime.xml share/onnxcost/hwdb/kernel-names/example.xml \
    share/onnxcost/hwdb/kernel-names/kernel-names.rng; do
    [ -s "$root/usr/local/$file" ] || missing="$missing $file"
done
[ -z "$missing" ]; result $? 'every file is installed' "missing:$missing"

text=$("$root/usr/local/bin/onnxcost" --version 2>&1)
[ "$text" = "onnxcost $(sed -n 's/^#define ONNXCOST_VERSION "\(.*\)"/\1/p' src/onnxcost.h)" ]
result $? 'the installed program starts' "$text"
ONNXCOST_HWDB=$root/usr/local/share/onnxcost/hwdb "$root/usr/local/bin/onnxcost" hw show a100 2>&1 | grep -q 'A100'
result $? 'the installed hardware files are used' ''
[ "$mode" = asan ] || ! ldd "$root/usr/local/bin/onnxcost" | grep -qE 'libxml2|libicu|libsqlite'
result $? 'nothing heavy is linked' "$(ldd "$root/usr/local/bin/onnxcost" 2>&1)"

cat >"$work/user.c" <<'E2'
#include <onnxcost.h>
int main(void)
{
    struct oc_model *model;
    struct oc_err err;
    return oc_model_load("no such file", NULL, &model, &err) == -1 && err.msg[0] ? 0 : 1;
}
E2
pc=$root/usr/local/lib/pkgconfig/onnxcost.pc
libs=$(sed -n 's/^Libs: -L${libdir} //p' "$pc")
sanitize=
[ "$mode" = coverage ] && sanitize=--coverage
[ "$mode" = asan ] && sanitize=-fsanitize=address,undefined
# shellcheck disable=SC2086 # flags are words
"${CC:-cc}" -std=c11 $sanitize -I"$root/usr/local/include" -o "$work/user" "$work/user.c" \
    -L"$root/usr/local/lib" $libs >"$work/log" 2>&1 && "$work/user"
result $? 'a program builds with the installed header, library and flags' "$(head -n 5 "$work/log")"

make -s MODE="$mode" ${CC:+"CC=$CC"} DESTDIR="$root" uninstall >"$work/log" 2>&1
left=$(find "$root" -type f)
[ -z "$left" ]; result $? 'make uninstall leaves nothing' "$left"

mkdir -p "$work/bin"
for tool in sh id cat mktemp rm env; do ln -s "$(command -v "$tool")" "$work/bin/$tool"; done
text=$(PATH=$work/bin CC=cc .ci/setup -n build 2>&1)
code=$?
[ $code -eq 4 ] && case "$text" in *gcc*protobuf-c-compiler*) true ;; *) false ;; esac
result $? 'set-up names what is missing and stops' "exit code $code: $text"
text=$(PATH=$work/bin CC=cc .ci/setup build 2>&1)
code=$?
[ $code -eq 4 ] && case "$text" in *"no apt-get"*gcc*) true ;; *) false ;; esac
result $? 'set-up stops where it cannot install' "exit code $code: $text"
echo "1..$n"
exit $bad
