#!/bin/sh
# The pictures of the README, an HTML report of a recorded profile, and of python.md, an analysis in a notebook, as Chromium
# shows them.
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
make -s python
cp models/profiles/resnet50.disabled.t1.json.gz models/profiles/machine.t1.xml "$work"
(cd "$work" && PYTHONPATH=$OLDPWD/build/python ONNXCOST_LIBRARY=$OLDPWD/$BUILD/libonnxcost.so.0 python3 -c '
import onnxcost as oc
r = oc.analyze("resnet50.onnx", profile="resnet50.disabled.t1.json.gz", hw="machine.t1.xml")
style = "<style>body { font: 13px sans-serif } td, th { padding: 2px 6px }</style>"
print("<!DOCTYPE html><meta charset=utf-8>" + style + r._repr_html_())') >"$work/python.html"
chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=840,470 --screenshot="$work/python.png" \
    "file://$PWD/$work/python.html" >>"$work/log" 2>&1
cp "$work/python.png" src/doc/python.png
ls -l src/doc/*.png
