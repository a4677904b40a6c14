#!/bin/sh
# Golden tests. A case is a folder with `cmd` (a shell script that calls onnxcost), the expected `stdout` and `exit`, and
# `stderr` unless standard error must be empty. It runs in a folder with links to `samples` and `zoo`, with fixed terminal
# width and colour. Prints TAP.
# usage: tests/golden/run.sh [--update] [case...]        BUILD=build/<mode>
#
# STOP=1 ends at the first case that fails.
# A first line `# needs FILE` in cmd skips the case if FILE does not exist.
set -u
cd "$(dirname "$0")/../.." || exit 1
top=$PWD
: "${BUILD:=build/release}"
update=no
[ "${1:-}" = --update ] && update=yes && shift
# shellcheck disable=SC2046,SC2012 # case names have no blanks
[ $# -gt 0 ] || set -- $(cd tests/golden && ls -d -- */ | tr -d /)

work=$BUILD/golden
rm -rf "$work"
mkdir -p "$work/bin" "$work/out"
ln -s "$top/$BUILD/onnxcost" "$work/bin/onnxcost"
ln -s "$top/tests" "$work/tests"
ln -s "$top/models" "$work/models"
ln -s "$top/hwdb" "$work/hwdb"
[ -d ../shared/samples ] && ln -s "$top/../shared/samples" "$work/samples"
tests/make_zoo.sh "$work/zoo" >/dev/null || exit 1
cd "$work" || exit 1
unset NO_COLOR
export PATH="$PWD/bin:$PATH" COLUMNS=120 TERM=dumb LC_ALL=C ONNXCOST_HWDB=hwdb

n=0
bad=0
for name in "$@"; do
    n=$((n + 1))
    case=$top/tests/golden/$name
    needs=$(sed -n '1s/^# needs //p' "$case/cmd")
    if [ -n "$needs" ] && [ ! -e "$needs" ]; then
        echo "ok $n # SKIP $name: $needs is missing"
        continue
    fi
    sh "$case/cmd" >out/stdout 2>out/stderr </dev/null
    echo $? >out/exit
    if [ "$update" = yes ]; then
        cp out/stdout out/exit "$case/"
        if [ -s out/stderr ]; then cp out/stderr "$case/"; else rm -f "$case/stderr"; fi
        continue
    fi
    problem=
    for part in stdout stderr exit; do
        expected=$case/$part
        [ $part != stderr ] || [ -e "$expected" ] || expected=/dev/null
        diff -u "$expected" "out/$part" >"out/diff.$part" 2>&1 || problem="$problem $part"
    done
    if [ -z "$problem" ]; then
        echo "ok $n - $name"
    else
        bad=1
        echo "not ok $n - $name:$problem differs"
        cat out/diff.* | head -n 40 | sed 's/^/# /'
        [ -z "${STOP:-}" ] || break
    fi
done
echo "1..$n"
exit $bad
