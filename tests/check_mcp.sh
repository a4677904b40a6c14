#!/bin/sh
# onnxcost mcp against a client written from the definition of the protocol. Prints TAP.
set -u
cd "$(dirname "$0")/.." || exit 1
: "${BUILD:=build/release}"
mkdir -p "$BUILD/mcp"
case $BUILD in *release*) mode=release ;; *) mode= ;; esac
# shellcheck disable=SC2086 # no word without a mode
exec /usr/bin/python3 tests/support/mcp_client.py "$BUILD/onnxcost" "$BUILD/onnxzoo" "$BUILD/mcp" $mode
