#!/bin/sh
# MACs of random graphs with loops, branches and local functions, two levels deep, against an interpreter that executes
# them (tests/support/random_control_flow.py). CONTROL_FLOW_GRAPHS=500 tests/check_control_flow.sh runs more graphs.
# Prints TAP.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
: "${BUILD:=build/release}" "${CONTROL_FLOW_GRAPHS:=60}" "${CONTROL_FLOW_SEED:=0}"
work=$BUILD/control_flow
rm -rf "$work"
mkdir -p "$work"
export ONNXCOST_HWDB="${ONNXCOST_HWDB:-$PWD/hwdb}"
title="MACs of $CONTROL_FLOW_GRAPHS random graphs with control flow equal an interpreter's, or are bounds of them"
python=
for p in /usr/bin/python3 python3; do
    [ -z "$python" ] && "$p" -c 'import numpy, onnx.helper' 2>/dev/null && python=$p
done
if [ -z "$python" ]; then
    skip_named "$title" 'no python3-onnx or no python3-numpy'
    finish
fi
"$python" tests/support/random_control_flow.py "$PWD/$BUILD/onnxcost" "$work" "$CONTROL_FLOW_SEED" \
    "$CONTROL_FLOW_GRAPHS" >"$work/lines" 2>&1 || echo 'the script failed' >>"$work/lines"
grep '^# ' "$work/lines"
result "$title" "$(grep -v '^# ' "$work/lines")"
finish
