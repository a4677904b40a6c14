#!/bin/sh
# Latencies of GPUs, published (hwdb/published.tsv) and of models/h200: no bound is above one, intervals of devices without
# a calibration hold most of them, and devices are in order. The rows "test" and "own" were not used to fit anything.
# Prints a table (lines with '#') and TAP.
# modes: release
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
: "${BUILD:=build/release}"
work=$BUILD/published
tests/make_zoo.sh "$work" >/dev/null || exit 1
ONNXCOST_HWDB=$PWD/hwdb LC_ALL=C exec python3 tests/support/published_rules.py "$BUILD/onnxcost" "$work" \
    hwdb/published.tsv,models/h200/latencies.tsv hwdb "$@"
