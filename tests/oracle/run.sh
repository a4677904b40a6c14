#!/bin/sh
# Compares inferred shapes with the ONNX backend test set (Debian: libonnx-testdata). Without it: exit code 77, skipped.
cd "$(dirname "$0")/../.." || exit 1
: "${BUILD:=build/release}" "${ONNX_TESTDATA:=/usr/share/libonnx-testdata/data}"
if [ ! -d "$ONNX_TESTDATA/node" ]; then
    echo "SKIPPED: no ONNX test data in '$ONNX_TESTDATA' (package libonnx-testdata, or set ONNX_TESTDATA)"
    exit 77
fi
exec "$BUILD/oracle/node_tests" "$ONNX_TESTDATA" tests/oracle/skips.txt
