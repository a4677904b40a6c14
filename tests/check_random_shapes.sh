#!/bin/sh
# Shapes and element types of random graphs against the shape inference of python3-onnx (tests/support/random_shapes.py).
# Prints TAP. Environment: BUILD, GRAPHS (number), SEED.
# modes: release
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
: "${BUILD:=build/release}" "${GRAPHS:=100}" "${SEED:=1}"
export ONNXCOST_HWDB="$PWD/hwdb"
if ! /usr/bin/python3 -c 'import onnx' 2>/dev/null; then
    skip 'random graphs have the shapes of python3-onnx' 'python3-onnx is missing'
    finish
fi
work=$BUILD/random_shapes
rm -rf "$work"
found=$(/usr/bin/python3 tests/support/random_shapes.py "$BUILD/onnxcost" "$work" "$SEED" "$GRAPHS" 2>&1)
rc=$?
echo "$found" | tail -n 1
result 'random graphs have the shapes of python3-onnx' "$([ $rc -eq 0 ] || echo "$found")"
# 8 sizes of a graph: a generator whose graphs are all refused must not pass
compared=$(echo "$found" | sed -n 's/.* \([0-9]*\) sizes compared.*/\1/p')
result 'enough sizes are compared' "$([ "${compared:-0}" -gt $((GRAPHS * 8)) ] || echo "$compared sizes of $GRAPHS graphs")"
finish
