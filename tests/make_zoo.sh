#!/bin/sh
# Writes every model of the zoo, without weights, into a folder.
# usage: tests/make_zoo.sh FOLDER        BUILD=build/<mode>
set -eu
: "${BUILD:=build/release}"
mkdir -p "$1"
[ -x "$BUILD/onnxzoo" ] || exit 0
for name in $("$BUILD/onnxzoo" list | awk '{ print $1 }'); do
    "$BUILD/onnxzoo" "$name" -o "$1/$name.onnx"
done
"$BUILD/onnxzoo" resnet50 --symbolic-hw -o "$1/resnet50_hw.onnx"
for size in 1b 7b 70b; do
    "$BUILD/onnxzoo" llama --size "$size" -o "$1/llama_${size}_f16.onnx"
    "$BUILD/onnxzoo" llama --size "$size" --layout genai --bits 4 -o "$1/llama_${size}_q4.onnx"
done
"$BUILD/onnxzoo" randwire -o "$1/randwire.onnx"
