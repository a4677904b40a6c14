#!/bin/sh
# Every output prints the same figures (tests/support/figures_rules.py): recordings of the zoo, fixtures of tests/data,
# and, where they exist, ../shared/samples and ../shared/cases. Prints TAP. --all: every set of options for every profile,
# and large files too. RULES=conservation: rows, remainder and total add up in every output (conservation_rules.py).
# modes: release
cd "$(dirname "$0")/.." || exit 1
: "${BUILD:=build/release}"
command -v python3 >/dev/null || { echo '1..0 # SKIP python3 is not there'; exit 0; }
export ONNXCOST_HWDB="${ONNXCOST_HWDB:-$PWD/hwdb}"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
list=$work/list
largest=200k
[ "${1:-}" = --all ] && largest=100000k

add() { # profile, model or -
    [ -e "$1" ] && printf '%s\t%s\n' "$1" "$2" >>"$list"
}
for model in bert_base mobilenetv2 resnet18 resnet50; do
    "$BUILD/onnxzoo" $model -o "$work/$model.onnx" || exit 1
    recorded=models/profiles/$model
    add "$recorded.all.t1.json.gz" -
    add "$recorded.all.t1.json.gz" "$work/$model.onnx"
done
add tests/data/tensorrt/resnet18.profile.json "$work/resnet18.onnx"
samples=../shared/samples/onnxruntime cases=../shared/cases/join
for profile in "$samples"/*.json*; do
    model=${profile%%.ort1*}.onnx
    [ -e "$model" ] && case "$profile" in *silero_legacy*) model=$samples/silero_vad_legacy.onnx ;; esac
    [ -e "$model" ] && add "$profile" "$model"
done
for model in "$cases"/*.onnx; do
    name=${model%.onnx}
    for profile in "$name".*json.gz; do add "$profile" "$model"; done
done
wild=../shared/cases/wild/wild.tar.gz
[ -e $wild ] && mkdir "$work/wild" && tar -xzf $wild -C "$work/wild"
find tests/data ../shared/samples ../shared/cases "$work/wild" -type f -size -$largest \
    ! -name '*.onnx' ! -name '*.tar.gz' ! -name '*.md' ! -name '*.tsv' ! -name README 2>/dev/null | LC_ALL=C sort | while read -r file; do
    printf '%s\t-\n' "$file" >>"$list"
done
PYTHONDONTWRITEBYTECODE=1 python3 "tests/support/${RULES:-figures}_rules.py" "$BUILD/onnxcost" "$list" ${1:+"$1"}
