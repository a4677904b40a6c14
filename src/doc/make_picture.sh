#!/bin/sh
# The picture of the README: an HTML report of a recorded profile, as Chromium shows it.
# usage: src/doc/make_picture.sh      (BUILD=build/<mode>; needs chromium)
set -eu
cd "$(dirname "$0")/../.."
: "${BUILD:=build/release}"
work=$BUILD/picture
mkdir -p "$work"
"$BUILD/onnxzoo" resnet50 -o "$work/resnet50.onnx"
"$BUILD/onnxcost" "$work/resnet50.onnx" -p models/profiles/resnet50.disabled.t1.json.gz \
    --hw models/profiles/machine.t1.xml --cache on --format html -o "$work/report.html"
chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1360,850 --virtual-time-budget=4000 \
    --screenshot="$work/report.png" "file://$PWD/$work/report.html" >"$work/log" 2>&1
cp "$work/report.png" src/doc/report.png
ls -l src/doc/report.png
