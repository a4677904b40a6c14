#!/bin/sh
# Models of a URL: fetched in parts from a server on 127.0.0.1; and of cold files, whose weights are not read. Prints TAP.
# modes: release
set -u
cd "$(dirname "$0")/.." || exit 1
: "${BUILD:=build/release}"
mkdir -p "$BUILD/remote"
exec /usr/bin/python3 tests/support/http_ranges.py "$BUILD/onnxcost" "$BUILD/onnxzoo" "$BUILD/remote"
