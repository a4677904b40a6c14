#!/bin/sh
# Nodes whose names ONNX Runtime generates, in functions that it expands and by fusions: networks are recorded at the four optimization levels, and every
# record must be on the nodes that the optimized model, which the runtime saved, shows (tests/support/join_truth.py). Then the
# function operators of the standard and of com.microsoft (tests/support/function_op_models.py), each in a network of its
# own: a selection; with ALL_FORMS=1 every form at every level. Needs
# ONNX Runtime as tests/check_record.sh does, and Debian's python3-onnx. Prints TAP; downloads nothing.
# modes: release
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
: "${BUILD:=build/release}"
top=$PWD
work=$PWD/$BUILD/functions
rm -rf "$work"
mkdir -p "$work"
export PATH="$PWD/$BUILD:$PATH" LC_ALL=C
[ -d "$top/build/corpus/node_modules" ] && NODE_PATH=${NODE_PATH:+$NODE_PATH:}$top/build/corpus/node_modules && export NODE_PATH
# leaks of the runtime are not tested
case "$BUILD" in *asan*) export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" ;; esac
models='mobilenetv3 mish hardswish_unnamed groupnorm groupnorm18 local local_norm
    matmul matmul_unnamed gemm gemm_unnamed batchnormalization batchnormalization_unnamed scaled'
python='' reason=''
for p in /usr/bin/python3 python3; do
    # libonnx-testdata alone installs a folder `onnx` that Python imports as an empty package
    [ -z "$python" ] && "$p" -c 'import onnx.checker' 2>/dev/null && python=$p
done
onnxzoo="$PWD/$BUILD/onnxzoo"
cd "$work" || exit 1
"$onnxzoo" mobilenetv3 --weights random -o mobilenetv3.onnx >/dev/null
if [ -z "$python" ]; then
    reason='no python3-onnx'
elif ! onnxcost record mobilenetv3.onnx --runs 1 -o probe >out 2>err; then
    grep -qE 'was not found|cannot load|cannot use' err || result 'ONNX Runtime works' "$(cat err)"
    reason='no libonnxruntime is found (ONNXRUNTIME_LIB names one)'
fi
if [ -n "$reason" ]; then
    for model in $models; do skip_named "$model: every record is on the right nodes" "$reason"; done
    cd "$top" && rm -rf "$work"
    finish
fi
"$python" "$top/tests/support/function_models.py" . 2>err || result 'networks are written' "$(cat err)"
# MODEL LEVEL BASE LAST LIST: reports of BASE.profile.json without and with the saved model; a line of LIST for each
add_reports() {
    for optimized in '' "$3.optimized.onnx"; do
        title="$1, $2${optimized:+, with the optimized model}: every record is on the right nodes"
        report=$3${optimized:+.optimized}.json
        if onnxcost "$1.onnx" -p "$3.profile.json" ${optimized:+--optimized-model "$optimized"} -f json >"$report" 2>err; then
            printf '%s\t%s\t%s\t%s\t%s\n' "$title" "$1.onnx" "$report" "$3.profile.json" "$4" >>"$5"
        else
            result "$title" "$(cat err)"
        fi
    done
}
# LIST TRUTH.py
compare_with() {
    "$python" "$top/tests/support/$2" <"$1" >verdicts 2>err || result "$2" "$(cat err)"
    while IFS='	' read -r title problem; do result "$title" "$problem"; done <verdicts
    result "$2 compared all" "$([ "$(wc -l <verdicts)" -eq "$(wc -l <"$1")" ] && [ -s "$1" ] || cat err)"
}
for model in $models; do
    for level in disabled basic extended all; do
        if onnxcost record "$model.onnx" --opt-level "$level" --runs 2 --threads 1 -o "$model.$level" >out 2>err; then
            add_reports "$model" "$level" "$model.$level" "$model.$level.optimized.onnx" networks
        else
            result "$model, $level is recorded" "$(cat err)"
        fi
    done
done
compare_with networks join_truth.py

record_form() { # NETWORK LEVEL
    for x in "$1" "$1.sizes"; do
        onnxcost record "$x.onnx" --opt-level "$2" --runs 1 --threads 1 -o "$x.$2" >out 2>err || return 1
    done
}
selected='affinegrid20h attention23d attention24f centercroppad18f fastgelu17d gelu20h greaterorequal16h groupnormalization21h
    mish18d negativeloglikelihoodloss13f quickgelu17h reducelogsumexp18h relu14f softmax13h softmaxcrossentropyloss13h swish24d'
levels='disabled basic'
"$python" "$top/tests/support/function_op_models.py" . 1 >forms 2>err || result 'networks of function operators are written' "$(cat err)"
if [ -n "${ALL_FORMS:-}" ]; then
    levels='disabled basic extended all' selected=$(cat forms)
else
    for name in $selected; do grep -m 1 "^${name}_" forms; done >names
    selected=$(cat names)
fi
for model in $selected; do
    for level in $levels; do
        if record_form "$model" "$level"; then
            add_reports "$model" "$level" "$model.$level" "$model.sizes.$level.profile.json" copies
        else
            result "$model, $level is recorded" "$(cat err)"
        fi
    done
done
compare_with copies function_truth.py
cd "$top" && rm -rf "$work"
finish
