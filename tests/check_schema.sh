#!/bin/sh
# Validates JSON reports with their JSON Schema, and the coverage of the schema by the reports
# (tests/support/schema_rules.py); documents without a schema: tests/check_formats.sh. Prints TAP.
# modes: release
set -u
cd "$(dirname "$0")/.." || exit 1
: "${BUILD:=build/release}"
work=$BUILD/schema
python=
for p in /usr/bin/python3 python3; do
    [ -z "$python" ] && "$p" -c 'import jsonschema; jsonschema.Draft202012Validator' 2>/dev/null && python=$p
done
if [ -z "$python" ]; then
    echo "1..1"
    echo "ok 1 # SKIP python3 has no jsonschema (Debian: python3-jsonschema)"
    exit 0
fi
rm -rf "$work"
mkdir -p "$work/json"
onnxcost=$PWD/$BUILD/onnxcost
export ONNXCOST_HWDB="${ONNXCOST_HWDB:-$PWD/hwdb}"
profiles=models/profiles
for model in resnet18 resnet50 bert_base t5_decoder mobilenetv2 resnet18_qdq; do
    "$BUILD/onnxzoo" "$model" -o "$work/$model.onnx"
done
"$BUILD/onnxzoo" llama --size 1b -o "$work/llama.onnx"
report() { # name arguments...
    name=$1
    shift
    "$onnxcost" "$@" -f json -o "$work/json/$name.json" 2>"$work/err" || {
        echo "not ok $name: $(head -n 1 "$work/err")"
    }
}
m=$work
{
    report model "$m/resnet18.onnx"
    report hardware "$m/resnet18.onnx" --hw a100 --count cache=on --hw-set overhead=3us
    report profile "$m/resnet50.onnx" -p $profiles/resnet50.all.t1.json.gz
    report all "$m/resnet50.onnx" -p $profiles/resnet50.all.t1.json.gz --hw $profiles/machine.t1.xml --count cache=on
    report optimized "$m/resnet50.onnx" -p $profiles/resnet50.all.t1.json.gz --stat sum \
        --optimized-model $profiles/resnet50.all.optimized.onnx
    report top "$m/resnet50.onnx" -p $profiles/resnet50.disabled.t1.json.gz --top 3 --order-by flops
    report groups "$m/bert_base.onnx" --group-by type,module:2 --hw a100 --aggregate p90
    report measured_groups "$m/bert_base.onnx" -p $profiles/bert_base.all.t1.json.gz --hw $profiles/machine.t1.xml --group-by signature
    report why "$m/bert_base.onnx" --why 0 --why 4 --why /encoder/layer.0/attention/self/MatMul
    report why_symbols "$m/bert_base.onnx" --default-dim none --why 4
    report what_if "$m/resnet50.onnx" -p $profiles/resnet50.all.t1.json.gz --hw $profiles/machine.t1.xml \
        --what-if Conv=80% --what-if fuse=elementwise --what-if hw=a100
    report what_if_roofline "$m/bert_base.onnx" --hw edge-tpu --as int8 --group-by type --what-if MatMul=2x
    report explain_match "$m/bert_base.onnx" -p $profiles/bert_base.all.t1.json.gz --explain-match
    report what_if_match "$m/mobilenetv2.onnx" -p $profiles/mobilenetv2.all.t2.json.gz --hw a100 --what-if Conv=2x --explain-match
    report advise "$m/bert_base.onnx" -p $profiles/bert_base.disabled.t1.json.gz --hw $profiles/machine.t1.xml --advise
    report advise_model "$m/resnet18.onnx" --hw a100 --advise
    report symbols "$m/t5_decoder.onnx" --default-dim none
    report quantized "$m/resnet18_qdq.onnx" --convention fvcore
    report llama "$m/llama.onnx" -d sequence_length=1 -d past_sequence_length=1000 --hw rtx-4090
    report llama_symbols "$m/llama.onnx" --default-dim none
    printf 'layer,kind,ms,mJ\n/conv1/Conv,Conv,2,30\n/fc/Gemm,Gemm,1,\n' >"$work/energy.csv"
    report energy "$m/resnet18.onnx" -p "$work/energy.csv" --map name=layer,type=kind,time=ms:ms,energy=mJ:mJ
    python3 tests/support/slow_row.py $profiles/resnet50.disabled.t1.json.gz /layer1/layer1.0/relu_2/Relu >"$work/slow_row.json"
    report anomaly "$m/resnet50.onnx" -p "$work/slow_row.json"
    report modules tests/data/torch_export/encoder.onnx
    report unknown_operator tests/data/op_rules/custom.onnx --why 0
    report user_rules tests/data/op_rules/custom.onnx --op-rules hwdb/op-rules/example.xml
    report tensorrt tests/data/tensorrt/fused.profile.json
    report devices tests/data/kineto/two_devices.json
    report other_batch tests/data/torch_export/encoder.onnx -p tests/data/tensorrt/encoder.profile.json
    report profile_alone $profiles/mobilenetv2.all.t1.json.gz
    report profile_hardware $profiles/mobilenetv2.all.t1.json.gz --hw a100
    report loop tests/data/onnxruntime/loop_two_runs.json
    "$onnxcost" "$m/resnet18.onnx" -d batch=2 -f json >"$m/batch2.json"
    python3 tests/support/sizes_check.py make "$m/json/model.json" "$m/json/model.json" "$m/batch2.json" >"$m/sizes.profile.json"
    report sizes "$m/resnet18.onnx" -p "$m/sizes.profile.json"
    report node_memory tests/data/onnxruntime/node_memory.csv
    report megengine tests/data/megengine/mixed.json
    report nonfinite tests/data/megengine/nonfinite.json --aggregate mean
    report kineto tests/data/kineto/small_cuda.json
    report openvino tests/data/openvino/detailed.csv --type Convolution
    report functions tests/data/functions/perf_n.txt
    report cycles tests/data/functions/perf_cycles.txt
    report counters tests/data/ncu/raw.csv --hw a100
    report chrome tests/data/chrome/begin_end.json
    for seed in tests/fuzz/seeds/model/*.onnx; do # control flow, functions, sequences
        report "seed_$(basename "$seed" .onnx)" "$seed"
    done
    "$onnxcost" schema | cmp -s - src/write/report.schema.json && echo "ok program prints the schema of the sources" ||
        echo "not ok program prints the schema of the sources"
    "$python" tests/support/schema_rules.py src/write/report.schema.json "$work"/json/*.json 2>&1
} >"$work/lines"
awk '
    /^(not )?ok / { n++; sub(/ok /, "ok " n " - "); print; bad += /^not/; next }
    { print "# " $0; trouble = 1 }
    END {
        if (trouble || n < 60) { n++; bad++; print "not ok " n " - the checks were not completed" }
        print "1.." n
        exit bad > 0
    }' "$work/lines"
