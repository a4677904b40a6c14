#!/bin/sh
# --sparsity: zeros, pattern and MACs of random models as numpy counts them.
# --training: multiplications, saved bytes and parameters of random graphs as by definition (TRAINING_GRAPHS of them, 40),
# published figures, rows that sum to the totals. Prints TAP.
# modes: release
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
: "${BUILD:=build/release}"
work=$BUILD/training
rm -rf "$work"
mkdir -p "$work"
onnxcost=$BUILD/onnxcost
export ONNXCOST_HWDB="${ONNXCOST_HWDB:-$PWD/hwdb}" LC_ALL=C.UTF-8

title='random graphs: multiplications, saved bytes and parameters as by definition'
if /usr/bin/python3 -c 'import numpy, onnx' 2>"$work/err"; then
    /usr/bin/python3 tests/support/training_oracle.py "$onnxcost" "$work" "${TRAINING_GRAPHS:-40}" >"$work/out" 2>&1
    passed $? "$title" "$(grep '^#' "$work/out" || tail -n 3 "$work/out")"
else
    skip "$title" 'no python3-onnx'
fi

# shellcheck disable=SC2086 # several words each
# model, sizes, MACs of forward and backward pass together
total() {
    "$BUILD/onnxzoo" $1 -o "$work/model.onnx" >"$work/out"
    "$onnxcost" "$work/model.onnx" $2 --training adam -f json -o "$work/model.json" 2>"$work/err"
    result "$1: MACs of a training step as published" "$(python3 - "$work/model.json" "$3" 2>&1 <<'END'
import json, sys
t, want = json.load(open(sys.argv[1])), int(sys.argv[2])
macs = t["forward_macs"] + t["backward_macs"]
if macs != want:
    print(macs, "not", want)
for key, column in (("backward_macs",) * 2, ("backward_flops",) * 2):
    if sum(r[column] or 0 for r in t["rows"]) != t[key]:
        print(key, "is not the sum of the rows")
END
)"
}
# calflops' README: llama2-7b, batch 1, 128 tokens: 2550 GMACs, three times 850,000,871,424
total 'llama --size 7b' '' 2550002614272
# three times 11,174,215,680
total bert_base '-d batch=1 -d sequence=128' 33522647040
# three times 4,089,184,256 without dX of the first convolution, 118,013,952
total resnet50 '-d batch=1' 12149538816

title='models with zeros: elements, zeros, pattern and MACs as by numpy'
if /usr/bin/python3 -c 'import numpy, onnx' 2>"$work/err"; then
    /usr/bin/python3 tests/support/sparsity_oracle.py "$onnxcost" "$work" "${TRAINING_GRAPHS:-40}" >"$work/out" 2>&1
    passed $? "$title" "$(grep '^#' "$work/out" || tail -n 3 "$work/out")"
else
    skip "$title" 'no python3-onnx'
fi

echo "1..$n"
exit "$bad"
