#!/bin/sh
# The output of some thousand command lines (tests/outputs/commands.txt) by their digests: a change anywhere shows which outputs
# it changes. Whether an output is right is a matter of the other tests. Prints TAP.
# modes: release
# usage: tests/check_outputs.sh [--update | --against PROGRAM]      BUILD=build/<mode>; PROGRAM: of another version, to see what differs
set -u
cd "$(dirname "$0")/.." || exit 1
top=$PWD
: "${BUILD:=build/release}" "${JOBS:=2}"
mode=check other=
[ "${1:-}" = --update ] && mode=update
[ "${1:-}" = --against ] && mode=against && other=$(realpath "$2")

work=$BUILD/outputs
rm -rf "$work"
mkdir -p "$work"
for folder in tests models hwdb; do ln -s "$top/$folder" "$work/$folder"; done
tests/make_zoo.sh "$work/zoo" >/dev/null || exit 1
program=$(realpath "$BUILD/onnxcost")
cd "$work" || exit 1
unset NO_COLOR
export JOBS COLUMNS=120 TERM=dumb LC_ALL=C.UTF-8 ONNXCOST_HWDB=hwdb SOURCE_DATE_EPOCH=0
# shellcheck disable=SC2086 # none or one
exec perl "$top/tests/outputs/run.pl" $mode "$top/tests/outputs" "$program" $other
