#!/bin/sh
# memory -f ort-node-stats: names, with their hash, and bytes are those that ONNX Runtime recorded
# (tests/data/ort_node_stats); the file is read as ONNX Runtime reads it. Prints TAP.
# modes: release
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
: "${BUILD:=build/release}"
onnxcost=$PWD/$BUILD/onnxcost
work=$BUILD/node_stats
rm -rf "$work"
mkdir -p "$work"
export ONNXCOST_HWDB="${ONNXCOST_HWDB:-$PWD/hwdb}"

# name, bytes of inputs and initializers (ONNX Runtime has both in one column), bytes of outputs; five fields, else an error
rows() { # file
    awk -F, '/^#/ || !NF { next } NF != 5 || $1 == "" { print "invalid line: " $0; next }
        { printf "%s %d %d\n", $1, $2 + $3, $4 }' "$1" | sort
}
for model in resnet18 mobilenetv2; do
    recorded=tests/data/ort_node_stats/$model.ort1.30.csv
    "$BUILD/onnxzoo" $model -o "$work/$model.onnx"
    "$onnxcost" memory "$work/$model.onnx" -f ort-node-stats -o "$work/$model.csv" 2>"$work/err"
    rows "$recorded" >"$work/recorded"
    rows "$work/$model.csv" | diff "$work/recorded" - >"$work/diff"
    passed $? "$model: every node has the recorded bytes" "$(head -n 4 "$work/diff"; cat "$work/err")"
    [ "$(wc -l <"$work/recorded")" -ge 60 ]
    passed $? "$model: all rows were compared" "$(wc -l <"$work/recorded")"
done
"$onnxcost" memory "$work/resnet18.onnx" -f ort-node-stats --count allocator=ort >/dev/null 2>"$work/err"
[ $? -eq 2 ] && grep -q 'does not go with' "$work/err"; passed $? 'another allocator is rejected' "$(cat "$work/err")"
! "$onnxcost" memory tests/data/op_rules/custom.onnx --default-dim none -f ort-node-stats >/dev/null 2>"$work/err" &&
    grep -q 'is unknown: give sizes' "$work/err"; passed $? 'an unknown size is an error' "$(cat "$work/err")"
finish
