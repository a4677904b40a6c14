#!/bin/sh
# CUDA recordings of models/h200: device time, its conservation, the share that nodes get and the MACs of linear layers,
# against sums of the traces. Prints TAP.
# modes: release
cd "$(dirname "$0")/.." || exit 1
: "${BUILD:=build/release}"
work=$BUILD/cuda
mkdir -p "$work" || exit 1
ONNXCOST_HWDB=$PWD/hwdb LC_ALL=C exec python3 tests/support/cuda_recordings.py "$BUILD/onnxcost" models/h200 "$work"
