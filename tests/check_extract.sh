#!/bin/sh
# --extract: rows of several networks as models of their own have the costs of the row, pass python3-onnx's checker if it is
# installed, and run on ONNX Runtime if it is found (ONNXRUNTIME_LIB, or what `make corpus` installed). Prints TAP.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
: "${BUILD:=build/release}"
work=$PWD/$BUILD/extract
rm -rf "$work"
mkdir -p "$work"
export ONNXCOST_HWDB="${ONNXCOST_HWDB:-$PWD/hwdb}" LC_ALL=C
onnxcost=$PWD/$BUILD/onnxcost onnxzoo=$PWD/$BUILD/onnxzoo
python=python3
/usr/bin/python3 -c 'import onnx.checker' 2>/dev/null && python=/usr/bin/python3
for name in keyword_gru squeezenet1_1 resnet18_qdq mobilenetv2 shufflenetv2; do "$onnxzoo" $name --weights random -o "$work/$name.onnx" >/dev/null; done
"$onnxzoo" bert_base -o "$work/bert_base.onnx" >/dev/null

# title, model, step, minimum of rows, options
rows_are_models() {
    title=$1 model=$2 step=$3 minimum=$4
    shift 4
    $python tests/support/extract_rules.py "$onnxcost" "$work/$model.onnx" "$work" "$step" "$@" >"$work/lines" 2>&1
    found=$(sed -n '$s/ rows$//p' "$work/lines")
    result "$title" "$([ "${found:-0}" -ge "$minimum" ] || echo "only ${found:-0} rows"; sed '$d' "$work/lines")"
}
rows_are_models 'recurrent network' keyword_gru 1 16
rows_are_models 'convolutions' squeezenet1_1 9 7
rows_are_models 'quantized weights are folded as in the model' resnet18_qdq 13 7
rows_are_models 'shapes that the model computes, weights without data' bert_base 23 18
rows_are_models 'channels are shuffled' shufflenetv2 29 7
rows_are_models 'fused groups of a recording' mobilenetv2 5 10 -p models/profiles/mobilenetv2.all.t1.json.gz

cd "$work" || exit 1
"$onnxcost" mobilenetv2.onnx -p "$OLDPWD/models/profiles/mobilenetv2.all.t1.json.gz" --extract '#1' -o row.onnx >out 2>err
result 'the answer names the nodes, the time in the profile and the next command' "$(
    grep -qx 'nodes   3 of the row, 0 that compute its constants' out && grep -q '^time    416 us in the profile$' out &&
        grep -qx 'next    onnxcost record row.onnx' out || cat out err)"
expect_error 'a name that no row has' 2 "unknown operator 'nosuch' for --extract" keyword_gru.onnx --extract nosuch -o none.onnx
expect_error 'a name of several rows' 2 'selects 2 rows' keyword_gru.onnx --extract GRU -o none.onnx
expect_error 'no output' 2 'give --output FILE.onnx' keyword_gru.onnx --extract /gru1/GRU
expect_error 'a report at the same time' 2 'leave out --format' keyword_gru.onnx --extract /gru1/GRU -o none.onnx -f json
expect_error 'a profile without a model' 2 '--extract needs a model' "$OLDPWD/models/profiles/mobilenetv2.all.t1.json.gz" --extract '#1' -o none.onnx
expect_error 'a row that the runtime inserted' 2 'has no node of the model' mobilenetv2.onnx -p "$OLDPWD/models/profiles/mobilenetv2.all.t1.json.gz" --extract '(outside operators)' -o none.onnx
before=$(cksum <keyword_gru.onnx)
expect_error 'the output is the model' 2 'the command reads this file' keyword_gru.onnx --extract /gru1/GRU -o keyword_gru.onnx
result 'the model stays as it is' "$([ "$before" = "$(cksum <keyword_gru.onnx)" ] || echo changed)"

# ---- real runs
if ! "$onnxcost" record squeezenet1_1.onnx --runs 1 -o probe >out 2>err; then
    grep -qE 'was not found|cannot load|cannot use' err || result 'ONNX Runtime works' "$(cat err)"
    skip_named 'extracted rows run' 'no libonnxruntime is found (ONNXRUNTIME_LIB names one)'
    finish
fi
# model, number of the row: what fails when it is extracted from a recording of this model and recorded alone
runs_alone() {
    "$onnxcost" "$1.onnx" -p "$1.profile.json" --optimized-model "$1.optimized.onnx" --extract "#$2" -o alone.onnx >out 2>err || {
        grep -q 'has no node of the model' err || sed "s/^/$1, row $2: /" err
        return
    }
    "$onnxcost" record alone.onnx --runs 2 >out 2>err || sed "s/^/$1, row $2: /" err
}
for model in squeezenet1_1 keyword_gru resnet18_qdq mobilenetv2; do
    "$onnxcost" record $model.onnx --runs 2 -o ./ >out 2>err || cat err
    for row in 1 2 5 9; do runs_alone $model $row; done
done >problems
result 'rows of recordings of this machine run alone' "$(cat problems)"
finish
