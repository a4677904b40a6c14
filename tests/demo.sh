#!/bin/sh
# What `make demo` shows: a model of the zoo beside its recorded profile.
set -eu
cd "$(dirname "$0")/.."
: "${BUILD:=build/release}"
export ONNXCOST_HWDB="$PWD/hwdb"
mkdir -p build/demo
