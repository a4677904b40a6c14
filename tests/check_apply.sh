#!/bin/sh
# --apply: the rewritten model has the costs and the shapes of the original, its outputs are the same on ONNX Runtime if that is
# found (ONNXRUNTIME_LIB), weights in files of their own stay there, and errors say what to do. Prints TAP.
# modes: release
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
: "${BUILD:=build/release}"
work=$PWD/$BUILD/apply
rm -rf "$work"
mkdir -p "$work"
export ONNXCOST_HWDB="${ONNXCOST_HWDB:-$PWD/hwdb}" LC_ALL=C
onnxcost=$PWD/$BUILD/onnxcost onnxzoo=$PWD/$BUILD/onnxzoo same=$PWD/tests/support/same_outputs.py
cd "$work" || exit 1
"$onnxzoo" yolov8n --weights random -o net.onnx >/dev/null
"$onnxzoo" yolov8n -o outside.onnx >/dev/null
"$onnxzoo" resnet18 --weights random -o plain.onnx >/dev/null
"$onnxzoo" whisper_tiny_encoder --weights random -o signal.onnx >/dev/null

"$onnxcost" net.onnx --apply softmax-axis -o new.onnx >out 2>err
result 'the answer says what changed and how to measure it' "$(
    grep -qx 'changed  1 operator: Softmax over an axis that is not the last' out &&
        grep -qx 'next     onnxcost record net.onnx new.onnx' out && [ ! -s err ] || cat out err)"
rows() { "$onnxcost" "$1" -a -f csv | sed '/^[^,]*,[^,]*,Transpose,/d; s/^[^,]*,//' | cut -d, -f1-2,4-7 | sort; }

rows net.onnx >before
rows new.onnx >after
result 'the costs of all other operators are the same' "$(cut -d, -f2- before >a; cut -d, -f2- after >b; diff a b | head -n 5; [ -s a ] || echo 'no rows')"
result 'a Softmax over the last axis is not suggested again' "$("$onnxcost" new.onnx --advise | grep softmax-axis)"
"$onnxcost" outside.onnx --apply softmax-axis -o moved.onnx >out 2>err || cat err
result 'weights in files of their own stay there' "$([ "$(wc -c <moved.onnx)" -lt 1000000 ] || wc -c moved.onnx)"

"$onnxcost" signal.onnx --apply conv-not-2d -o images.onnx >out 2>err
result 'convolutions over one axis get another one' "$(grep -qx 'changed  2 operators: Convolutions over one axis' out && [ ! -s err ] || cat out err)"
"$onnxcost" signal.onnx --apply dynamic-shapes -o fixed.onnx >out 2>err
result 'open sizes become fixed' "$(grep -qx '         for inputs of batch = 1' out && "$onnxcost" fixed.onnx | grep -q 'float.1,80,3000.' || cat out err)"
counts() { "$onnxcost" "$1" -f json | python3 -c 'import json, sys; d = json.load(sys.stdin)["totals"]; print(d["macs"], d["params"])'; }
result 'the work of both is the same' "$(for f in images fixed; do [ "$(counts signal.onnx)" = "$(counts $f.onnx)" ] || counts $f.onnx; done)"

expect_error 'a suggestion without a rewrite' 2 "no rewrite is known for 'layout'" net.onnx --apply layout -o none.onnx
expect_error 'a suggestion that the model does not get' 2 'does not suggest it for this model' plain.onnx --apply softmax-axis -o none.onnx
expect_error 'no output' 2 'give --output FILE.onnx' net.onnx --apply softmax-axis
expect_error 'two files at once' 2 'give one of them' net.onnx --apply softmax-axis --extract '#1' -o none.onnx
expect_error 'a report at the same time' 2 'leave out --format' net.onnx --apply softmax-axis -o none.onnx -f json
expect_error 'weights in another folder' 2 'must be next to the model' outside.onnx --apply softmax-axis -o ../none.onnx

library=${ONNXRUNTIME_LIB:-}
if [ -z "$library" ] || ! command -v python3 >/dev/null; then
    skip_named 'outputs are the same' 'ONNXRUNTIME_LIB names no libonnxruntime, or python3 is missing'
    finish
fi
same() { # title, models, input, output
    difference=$(python3 "$same" "$library" "$2" "$3" "$4" "$5" 2>&1 | tail -n 1)
    result "$1" "$(awk -v d="$difference" 'BEGIN { if (d !~ /^[0-9.e-]+$/ || d > 1e-5) print "difference", d }')"
}
same 'outputs are the same up to rounding' net.onnx new.onnx images=1x3x640x640 output0
same 'outputs with another axis are the same' signal.onnx images.onnx input_features=1x80x3000 last_hidden_state
same 'outputs with fixed sizes are the same' signal.onnx fixed.onnx input_features=1x80x3000 last_hidden_state
finish
