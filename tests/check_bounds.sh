#!/bin/sh
# --dim NAME=A..B: bounds and verdicts of check for random models, against the figures at every size (BOUNDS_MODELS of them,
# 30). Prints TAP.
# modes: release
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
: "${BUILD:=build/release}"
work=$BUILD/bounds
rm -rf "$work"
mkdir -p "$work"
export ONNXCOST_HWDB="${ONNXCOST_HWDB:-$PWD/hwdb}" LC_ALL=C.UTF-8

title='random models: bounds and verdicts as by enumeration of all sizes'
if /usr/bin/python3 -c 'import numpy, onnx' 2>"$work/err"; then
    /usr/bin/python3 tests/support/bounds_oracle.py "$BUILD/onnxcost" "$work" "${BOUNDS_MODELS:-30}" >"$work/out" 2>&1
    passed $? "$title" "$(grep '^# seed' "$work/out" || tail -n 3 "$work/out")"
else
    skip "$title" 'no python3-onnx'
fi

# exit code, title, arguments
expect() {
    want=$1
    title=$2
    shift 2
    "$BUILD/onnxcost" "$@" >"$work/out" 2>"$work/err"
    rc=$?
    [ "$rc" -eq "$want" ]
    passed $? "$title" "exit code $rc: $(tail -n 2 "$work/err")"
}
"$BUILD/onnxzoo" resnet18 -o "$work/resnet18.onnx"
export COLUMNS=120
# 1,814,073,344 MACs for each image
expect 0 'within a limit for every batch' check "$work/resnet18.onnx" --dim batch=1..4096 --max macs=7430444417024
expect 1 'beyond a limit at the largest batch' check "$work/resnet18.onnx" --dim batch=1..4096 --max macs=7430444417023
grep -q 'at batch = 4096' "$work/out"
passed $? 'the size is named' "$(cat "$work/out")"
expect 2 'a range of another command' memory "$work/resnet18.onnx" --dim batch=1..8
expect 2 'an empty range' "$work/resnet18.onnx" --dim batch=8..1
expect 2 'a malformed range' "$work/resnet18.onnx" --dim batch=1..x
expect 2 'a range and a baseline to save' check "$work/resnet18.onnx" --dim batch=1..8 --save-baseline "$work/b"

echo "1..$n"
exit "$bad"
