#!/bin/sh
# Compares `onnxcost summary` with the tables of Paddle's profiler, recomputed by an independent script from the sample
# traces. Prints TAP.
set -u
cd "$(dirname "$0")/.." || exit 1
: "${BUILD:=build/release}"
command -v python3 >/dev/null || { echo "1..0 # SKIP no python3"; exit 0; }
set -- tests/data/paddle/training.paddle_trace.json
for f in ../shared/samples/paddle/*.paddle_trace.json; do
    [ -e "$f" ] && set -- "$@" "$f"
done
[ $# -gt 1 ] || echo "ok - tables of the sample traces # SKIP no traces under ../shared/samples/paddle"
exec python3 tests/support/paddle_tables.py "$BUILD/onnxcost" "$@"
