#!/bin/sh
# Reproducible build: two clones in folders with names of different length with a different umask,
# locale, time zone, home and number of jobs, give the same program, libraries, manual pages and packages. Prints TAP.
# usage: tests/chroot/check_reproducible.sh [--no-deb]      needs what `.ci/setup deb` installs, except debootstrap
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
: "${MAKE:=make}" "${JOBS:=$(nproc)}"
# the second compilation must not be taken from a cache, and a date in the environment would hide one in the files
export CCACHE_DISABLE=1
unset SOURCE_DATE_EPOCH MAKEFLAGS MFLAGS MAKELEVEL CFLAGS CPPFLAGS LDFLAGS
packages=yes
[ "${1:-}" = --no-deb ] && packages=no
work=$PWD/build/reproducible
commit=$(git rev-parse HEAD) # of both clones, whatever is committed between them
first=$work/a second=$work/a-folder-with-a-longer-name/and-another-one
rm -rf "$work"
mkdir -p "$first" "$second" "$work/locale"
localedef -c -i de_DE -f UTF-8 "$work/locale/de_DE.UTF-8" >/dev/null 2>&1

build() { # folder, variables of the environment
    folder=$1
    shift
    git clone -q --no-hardlinks "$PWD" "$folder/onnxcost" && cd "$folder/onnxcost" && git checkout -q "$commit" &&
        env "$@" sh -c "$MAKE -s -j\${PARALLEL} all" &&
        { [ "$packages" = no ] || env "$@" DEB_BUILD_PROFILES=nocheck sh -c 'DEB_BUILD_OPTIONS="nocheck parallel=$PARALLEL" src/deb/make_deb.sh build/deb'; }
}
(umask 022 && build "$first" LC_ALL=C TZ=UTC PARALLEL="$JOBS") >"$work/first.txt" 2>&1
passed $? 'first clone builds' "$(tail -n 5 "$work/first.txt")"
(umask 077 && build "$second" LOCPATH="$work/locale" LC_ALL=de_DE.UTF-8 TZ=Asia/Kathmandu HOME="$work" PARALLEL=1) >"$work/second.txt" 2>&1
passed $? 'second clone builds' "$(tail -n 5 "$work/second.txt")"

compare() { # title, files relative to the clone
    title=$1
    shift
    result "$title" "$(
        cd "$first/onnxcost" || exit
        for file; do
            [ -s "$file" ] || { echo "$file does not exist"; continue; }
            cmp -s "$file" "$second/onnxcost/$file" || echo "$file differs: $(cmp "$file" "$second/onnxcost/$file" 2>&1 | head -n 1)"
        done
    )"
}
compare 'programs are identical' build/release/onnxcost # not onnxzoo, which is not installed and has the folder of tests/support
compare 'libraries are identical' build/release/libonnxcost.a build/release/libonnxcost.so.1
# shellcheck disable=SC2046 # names without spaces
compare 'manual pages are identical' $(cd "$first/onnxcost" && ls build/release/man/onnxcost*)
result 'the folder of the build is in no file' "$(cd "$first/onnxcost/build/release" && grep -lF "$work" onnxcost libonnxcost.a libonnxcost.so.1 man/*)"
if [ "$packages" = yes ]; then
    # shellcheck disable=SC2046
    compare 'packages are identical' $(cd "$first/onnxcost" && ls build/deb/*.deb)
    result 'there are packages' "$([ "$(find "$first/onnxcost/build/deb" -name '*.deb' | wc -l)" -ge 5 ] || ls "$first/onnxcost/build/deb")"
else
    skip 'packages are identical' '--no-deb'
fi
[ "${bad:-0}" -ne 0 ] || rm -rf "$work"
finish
