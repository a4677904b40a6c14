#!/bin/sh
# Every format of every command in an independent parser: csv, JSON (published schemas, else tests/data/json_members.tsv),
# markdown tables, HTML, XML, SARIF (tests/support/format_rules.py). --update writes the table of members. Prints TAP.
# modes: release
set -u
cd "$(dirname "$0")/.." || exit 1
: "${BUILD:=build/release}"
work=$BUILD/formats
rm -rf "$work"
mkdir -p "$work"
export ONNXCOST_HWDB="${ONNXCOST_HWDB:-$PWD/hwdb}" LC_ALL=C.UTF-8
unset NO_COLOR COLUMNS
for model in resnet18 resnet50 t5_decoder mobilenetv2; do "$BUILD/onnxzoo" $model -o "$work/$model.onnx"; done
"$BUILD/onnxzoo" llama --size 1b -o "$work/llama.onnx"
"$BUILD/onnxzoo" keyword_gru --weights random -o "$work/weights.onnx"
cp models/profiles/* "$work"
ln -s "$PWD/$BUILD/fake_ort.so" "$work/ort.so"
mkdir "$work/versions"
for version in 1.14.0 1.15.0; do cp "$BUILD/fake_ort.so" "$work/versions/libonnxruntime.so.$version"; done
"$BUILD/onnxcost" memory "$work/resnet18.onnx" --plan "$work/plan.json" >/dev/null 2>&1
set='resnet18.onnx resnet18.all.t1.json.gz resnet50.onnx resnet50.all.t1.json.gz mobilenetv2.onnx mobilenetv2.all.t1.json.gz --hw machine.t1.xml'
tr '|' '\t' <<END | python3 tests/support/format_rules.py "$PWD/$BUILD/onnxcost" "$work" "$@" >"$work/lines" 2>"$work/err"
cost|table csv json markdown md html fragment trace model-explorer netron xlsx|mobilenetv2.onnx -p mobilenetv2.all.t1.json.gz --hw machine.t1.xml
cost|table csv json markdown md html fragment trace xlsx|mobilenetv2.all.t1.json.gz
cost|table csv json markdown md html fragment xlsx|resnet18.onnx --group-by type --hw a100
cost|table json markdown md html fragment|resnet18.onnx --hw a100 --advise
cost|table csv json|t5_decoder.onnx --formula
cost|table csv json|t5_decoder.onnx -d batch=1,2
cost|table csv json|resnet18.onnx --training adam
cost|table csv json|t5_decoder.onnx --dim batch=1..4
cost|table csv json|weights.onnx --sparsity
cost|table json|resnet18.onnx --why 4
diff|table json|resnet18.onnx --convention onnxcost --convention fvcore
estimate|table csv json html fragment|resnet18.onnx --hw a100 --hw t4
llm|table csv json html fragment|llama.onnx --prompt 8 --hw a100
scan|table csv ndjson json html fragment parquet|resnet18.onnx resnet50.onnx missing.onnx
memory|table csv json html fragment ort-node-stats|resnet18.onnx --hw a100
providers|table csv json|
providers|table csv json|mobilenetv2.onnx -p mobilenetv2.all.t1.json.gz --provider qnn+cuda+cpu --hw a100
summary|table csv json html fragment parquet paddle|mobilenetv2.all.t1.json.gz
record|table csv json markdown md html fragment trace model-explorer netron|weights.onnx --ort-lib ./ort.so --report
bisect|table csv json|weights.onnx --ort-lib ./versions --repeat 3 --runs 12
tune|table csv json|weights.onnx --ort-lib ./ort.so --repeat 3 --runs 12 --threads 1
calibrate|table csv json|$set
calibrate|table csv json|$set --check
estimate|table csv json html fragment|resnet18.onnx --hw a100
hw|table csv json|list
hw|table csv json|show a100
hw|table csv json|diff a100 t4
hw|table csv json|lint
diff|table csv json markdown md html fragment github|resnet18.onnx resnet50.onnx
diff|table csv json markdown md html fragment github|mobilenetv2.onnx -p mobilenetv2.disabled.t1.json.gz -p mobilenetv2.all.t1.json.gz
diff|table csv json markdown md html fragment github|-p mobilenetv2.disabled.t1.json.gz -p mobilenetv2.all.t1.json.gz
diff|table csv json markdown md html fragment github|resnet18.onnx --hw a100 --hw t4
check|table csv json markdown md junit sarif github|resnet18.onnx --max macs=1G,params=1M,opset=20
ops|table csv json|
file||plan.json
END
cat "$work/err" >>"$work/lines"
awk '/^(not )?ok / { n++; sub(/ok /, "ok " n " - "); print; bad += /^not/; next }
    { print "# " $0; broken = 1 }
    END { if (broken || n < 30) { n++; bad++; print "not ok " n " - the checks were not completed" } print "1.." n; exit bad > 0 }' "$work/lines"
