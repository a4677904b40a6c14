#!/bin/sh
# The what-if panel of the HTML report: its closed forms give the program's own figures for random sizes, devices and data
# types of models of the zoo (tests/browser/live_test.js evaluates the page's script in node).
# SEED, SETTINGS: the settings of a run are reproducible.
# modes: release
set -u
cd "$(dirname "$0")/.." || exit 1
: "${BUILD:=build/release}"
export ONNXCOST_HWDB="$PWD/hwdb"
: "${SETTINGS:=200}"
export SETTINGS
work=$BUILD/live
mkdir -p "$work"
fail() {
    echo '1..1'
    echo "not ok 1 - $1"
    exit 1
}
pairs=
report() { # name, arguments of onnxzoo...
    name=$1
    shift
    [ -s "$work/$name.onnx" ] || "$BUILD/onnxzoo" "$@" -o "$work/$name.onnx" || fail "onnxzoo $*"
    "$BUILD/onnxcost" "$work/$name.onnx" --format html -o "$work/$name.html" 2>"$work/$name.txt" ||
        fail "the report $name: $(cat "$work/$name.txt")"
    pairs="$pairs $work/$name.html=$work/$name.onnx"
}
report resnet50 resnet50
report resnet50_hw resnet50 --symbolic-hw
report resnet50_qdq resnet50_qdq
report bert_base bert_base
report deepspeech2_gru deepspeech2_gru
report t5_decoder t5_decoder
report llama_toy llama --size toy
report llama_1b_q4 llama --size 1b --layout genai --bits 4
command -v node >/dev/null 2>&1 || {
    echo '1..1'
    echo 'ok 1 - what-if of the page # SKIP node is missing'
    exit 0
}
# shellcheck disable=SC2086
exec node tests/browser/live_test.js "$BUILD/onnxcost" src/write/page/page_bound.js $pairs
