#!/bin/sh
# `make demo`: the report of a zoo model with its recorded profile.
set -eu
cd "$(dirname "$0")/.."
: "${BUILD:=build/release}"
model=build/demo/resnet50.onnx
profile=models/profiles/resnet50.all.t1.json.gz
mkdir -p build/demo
"$BUILD/onnxzoo" resnet50 --weights random -o "$model"
echo
echo "ResNet-50, one image, measured by ONNX Runtime on one core (models/profiles/ORIGIN.md). The command:"
echo
echo "  $BUILD/onnxcost $model --profile $profile --hw models/profiles/machine.t1.xml --top 15"
echo
"$BUILD/onnxcost" "$model" --profile "$profile" --hw models/profiles/machine.t1.xml --top 15
"$BUILD/onnxcost" "$model" --profile "$profile" --hw models/profiles/machine.t1.xml --format html -o build/demo/report.html
echo
echo "The same for the browser, with the roofline of the machine: build/demo/report.html"
