#!/bin/sh
# The pictures of the README and of python.md: pages of recorded profiles as Chromium shows them, in src/doc/gallery.
# usage: make gallery      (BUILD=build/<mode>; needs chromium and playwright-core, which `make browser` installs)
set -eu
cd "$(dirname "$0")/../.."
: "${BUILD:=build/release}" "${PLAYWRIGHT:=$PWD/build/browser/node_modules/playwright-core}"
export PLAYWRIGHT SOURCE_DATE_EPOCH=1767225600 ONNXCOST_HWDB="$PWD/hwdb"
work=$BUILD/gallery
most=1000000 # bytes of all pictures
mkdir -p "$work" src/doc/gallery
"$BUILD/onnxzoo" resnet50 -o "$work/resnet50.onnx"
cp models/profiles/resnet50.*.t1.json.gz models/profiles/machine.t1.xml tests/data/paddle/training.paddle_trace.json "$work"
program=$PWD/$BUILD/onnxcost
(
    cd "$work"
    "$program" resnet50.onnx -p resnet50.disabled.t1.json.gz --hw machine.t1.xml -f html -o demo.html
    "$program" diff resnet50.onnx -p resnet50.disabled.t1.json.gz -p resnet50.all.t1.json.gz --hw machine.t1.xml -f html -o diff.html
    "$program" memory resnet50.onnx --hw t4 --fit -f html -o memory.html
    "$program" summary training.paddle_trace.json -f html -o summary.html
)
node tests/browser/gallery.js "$work" src/doc/gallery
picture() { # page, picture, width,height
    chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size="$3" --virtual-time-budget=4000 \
        --screenshot="$work/$2.png" "file://$PWD/$work/$1.html" >"$work/log" 2>&1
    cp "$work/$2.png" "src/doc/gallery/$2.png"
}
picture demo report 1360,850
make -s python
(cd "$work" && PYTHONPATH=$OLDPWD/build/python ONNXCOST_LIBRARY=$OLDPWD/$BUILD/libonnxcost.so.1 python3 -c '
import onnxcost as oc
r = oc.analyze("resnet50.onnx", profile="resnet50.disabled.t1.json.gz", hw="machine.t1.xml")
style = "<style>body { font: 13px sans-serif }</style>"
print("<!DOCTYPE html><meta charset=utf-8>" + style + r._repr_html_())') >"$work/python.html"
picture python python 900,560
ls -l src/doc/gallery
bytes=$(cat src/doc/gallery/*.png | wc -c)
[ "$bytes" -le $most ] || {
    echo "onnxcost: the pictures have $bytes bytes, more than $most" >&2
    exit 1
}
