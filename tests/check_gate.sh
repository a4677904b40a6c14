#!/bin/sh
# Differences and limits from the command line: sums, exit codes, messages, and what other programs read.
# Prints TAP.
set -u
cd "$(dirname "$0")/.." || exit 1
: "${BUILD:=build/release}"
top=$PWD
work=$BUILD/gate
rm -rf "$work"
mkdir -p "$work"
onnxcost=$top/$BUILD/onnxcost
for model in resnet18 resnet50 mobilenetv2 mobilenetv2_qoperator resnet50_qdq bert_base gpt2 crnn; do
    "$BUILD/onnxzoo" $model -o "$work/$model.onnx" >/dev/null || exit 1
done
samples=$(cd ../shared/samples/onnxruntime 2>/dev/null && pwd)
cd "$work" || exit 1
unset NO_COLOR COLUMNS
n=0
bad=0
result() { # passed? title details
    n=$((n + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $n - $2"
    else
        bad=1
        echo "not ok $n - $2"
        printf '%s\n' "${3:-}" | head -n 20 | sed 's/^/# /'
    fi
}
skip() {
    n=$((n + 1))
    echo "ok $n # SKIP $1: $2"
}
# expect CODE 'pattern in the output' title arguments...
expect() {
    want=$1 pattern=$2 title=$3
    shift 3
    "$onnxcost" "$@" >out 2>err </dev/null
    code=$?
    [ "$code" -eq "$want" ] && cat out err | grep -qE -- "$pattern"
    result $? "$title" "exit code $code (not $want)
$(head -n 12 out err)"
}

# ---- differences: rows add up to the totals
cat >sums.py <<'EOF'
import json, sys
d = json.load(open(sys.argv[1]))
problems = []
counts = ["macs", "flops", "ops", "bytes", "params"]
for key in counts:
    t = d["totals"][key]
    known = [r for r in d["rows"] if r[key + "_delta"] is not None]
    unknown = [r for r in d["rows"] if r[key + "_delta"] is None]
    if sum(r[key + "_delta"] for r in known) != t["rows_delta"]:
        problems.append(f"{key}: the rows do not add up to rows_delta")
    if len(unknown) != t["unknown_rows"]:
        problems.append(f"{key}: {len(unknown)} rows are not known, not {t['unknown_rows']}")
    if not unknown and (t["delta"] != t["rows_delta"] or t["delta"] != t["b"] - t["a"]):
        problems.append(f"{key}: {t}")
    if unknown and t["delta"] is not None:
        problems.append(f"{key}: a difference although rows are not known")
    if any(r[key + "_a"] + r[key + "_delta"] != r[key + "_b"] for r in known):
        problems.append(f"{key}: a + delta is not b")
    types = [x[key + "_delta"] for x in d["types"]]
    if None not in types and sum(types) != t["b"] - t["a"]:
        problems.append(f"{key}: the types do not add up")
for key in ["time", "roofline"]:
    t = d["totals"][key]
    deltas = [r[key + "_delta_ns"] for r in d["rows"]]
    if t["a"] is None or t["b"] is None:
        if any(x is not None for x in deltas):
            problems.append(f"{key}: rows have what the total has not")
        continue
    if None in deltas:
        continue
    near = 1e-9 * (t["a"] + t["b"]) + 0.002 * len(deltas)
    if abs(sum(deltas) - (t["b"] - t["a"])) > near:
        problems.append(f"{key}: rows {sum(deltas)}, totals {t['b'] - t['a']}")
    for side in "ab":
        if abs(sum(r[f"{key}_{side}_ns"] for r in d["rows"]) - t[side]) > near:
            problems.append(f"{key}: side {side} of the rows does not add up")
        if abs(sum(x[f"{key}_{side}_ns"] for x in d["types"]) - t[side]) > near:
            problems.append(f"{key}: side {side} of the types does not add up")
print("\n".join(problems))
print(json.dumps({k: d["totals"][k]["delta"] for k in counts + ["time"]}), file=sys.stderr)
sys.exit(1 if problems else 0)
EOF
# sums 'expected differences, as JSON' title arguments...
sums() {
    want=$1 title=$2
    shift 2
    "$onnxcost" diff "$@" --format json -o diff.json 2>err || { result 1 "$title" "$(cat err)"; return; }
    problems=$(python3 sums.py diff.json 2>deltas)
    result $? "$title: rows add up" "$problems"
    [ -z "$want" ] || { grep -qF -- "$want" deltas; result $? "$title: $want" "$(cat deltas)"; }
}
# 4089184256 - 1814073344, 25557032 - 11689512
sums '"macs": 2275110912' 'ResNet-18 and 50' resnet18.onnx resnet50.onnx
sums '"params": 13867520' 'ResNet-18 and 50' resnet18.onnx resnet50.onnx
sums '"macs": -2275110912' 'ResNet-50 and 18' resnet50.onnx resnet18.onnx
sums '"macs": 0' 'ResNet-50 and its quantized form' resnet50.onnx resnet50_qdq.onnx
sums '"macs": 0' 'MobileNetV2 and its quantized operators' mobilenetv2.onnx mobilenetv2_qoperator.onnx
sums '' 'BERT and GPT-2' bert_base.onnx gpt2.onnx
# seven more images: 7 * 1814073344
sums '"macs": 12698513408' 'batch 1 and 8' resnet18.onnx --dim batch=1 --b-dim batch=8
sums '"macs": 12698513408' 'the same by a shape' resnet18.onnx --b-shape input=8x3x224x224
sums '"macs": 0' 'two devices' resnet50.onnx --hw a100 --hw t4
sums '"macs": 0' 'two thread counts' mobilenetv2.onnx -p "$top/models/profiles/mobilenetv2.all.t1.json.gz" \
    -p "$top/models/profiles/mobilenetv2.all.t2.json.gz" --hw "$top/models/profiles/machine.t1.xml" \
    --hw "$top/models/profiles/machine.t2.xml"
sums '' 'unoptimized and optimized graph' resnet50.onnx "$top/models/profiles/resnet50.all.optimized.onnx" \
    -p "$top/models/profiles/resnet50.disabled.t1.json.gz" -p "$top/models/profiles/resnet50.all.t1.json.gz"
sums '' 'two optimization levels' resnet50.onnx -p "$top/models/profiles/resnet50.disabled.t1.json.gz" \
    -p "$top/models/profiles/resnet50.all.t1.json.gz" \
    --b-optimized-model "$top/models/profiles/resnet50.all.optimized.onnx"
sums '"macs": 0' 'no profile and none' crnn.onnx crnn.onnx
if [ -n "$samples" ]; then
    sums '"time": -5401000.0' 'PP-OCR at disabled and all' "$samples/ppocr_cls.onnx" \
        -p "$samples/ppocr_cls.ort1.30.disabled.2runs.json" -p "$samples/ppocr_cls.ort1.30.all.2runs.json" \
        --b-optimized-model "$samples/ppocr_cls.ort1.30.all.optimized.onnx"
    sums '"macs": 2100528' 'PP-OCR and its optimized graph' "$samples/ppocr_cls.onnx" \
        "$samples/ppocr_cls.ort1.30.all.optimized.onnx" -p "$samples/ppocr_cls.ort1.30.disabled.2runs.json" \
        -p "$samples/ppocr_cls.ort1.30.all.2runs.json"
    "$onnxcost" diff "$samples/ppocr_cls.onnx" "$samples/ppocr_cls_unnamed.onnx" --exit-code >out 2>err
    code=$?
    grep -q '215 rows: 0 changed, 0 added, 0 removed, 215 renamed, 0 the same' out && [ $code -eq 0 ]
    result $? 'a model without names is found by structure' "$(head -n 14 out)"
else
    skip 'PP-OCR at disabled and all' 'samples are not there'
fi

expect 0 '0 changed, 0 added, 0 removed' 'nothing differs' diff resnet18.onnx resnet18.onnx --exit-code
expect 1 '34 changed, 106 added' 'something differs, with --exit-code' diff resnet18.onnx resnet50.onnx --exit-code
expect 0 '34 changed, 106 added' 'something differs, without' diff resnet18.onnx resnet50.onnx
expect 2 'needs two profiles, two devices' 'one model and nothing else' diff resnet18.onnx
expect 2 'a profile for each' 'two models and one profile' diff resnet18.onnx resnet50.onnx \
    -p "$top/models/profiles/resnet18.all.t1.json.gz"
expect 2 'one or two models' 'three models' diff resnet18.onnx resnet50.onnx crnn.onnx
expect 2 'sorted by' 'no such order' diff resnet18.onnx resnet50.onnx --sort size
expect 2 'no diff of them' 'bytes of the whole graph' diff resnet18.onnx resnet50.onnx --bytes graph
expect 3 'cannot read' 'no such file' diff resnet18.onnx missing.onnx
expect 4 'cannot write' 'no place to write' diff resnet18.onnx resnet50.onnx -o missing/out
for format in table csv json markdown html; do
    "$onnxcost" diff resnet18.onnx resnet50.onnx --format $format >one 2>/dev/null
    "$onnxcost" diff resnet18.onnx resnet50.onnx --format $format >two 2>/dev/null
    [ -s one ] && cmp -s one two
    result $? "the same output twice: $format"
done
"$onnxcost" diff resnet18.onnx resnet50.onnx --format html -t 0 >diff.html && xmllint --html --noout diff.html 2>err
result $? 'the page is HTML' "$(cat err)"
[ "$(grep -cE '<script|https?://|src=' diff.html)" -eq 0 ]
result $? 'the page loads nothing'
"$onnxcost" diff resnet18.onnx resnet50.onnx --format csv | python3 -c '
import csv, sys
rows = list(csv.DictReader(sys.stdin))
assert len(rows) == 175 and sum(int(r["macs_delta"]) for r in rows) == 2275110912, len(rows)'
result $? 'the CSV adds up'

# ---- limits: ResNet-50 has 4089184256 MACs and 25557032 parameters
expect 0 '1 of 1 limits kept' 'as many MACs as allowed' check resnet50.onnx --max-macs 4089184256
expect 1 'macs: 4,089,184,256 exceeds the limit of 4089184255 by 1 ' 'one MAC too many' check resnet50.onnx \
    --max-macs 4089184255
expect 0 'limits kept' 'a limit with a unit' check resnet50.onnx --max-macs 4.1G --max-params 25.6M
expect 1 '0 of 2 limits kept, 2 exceeded' 'all reasons' check resnet50.onnx --max-macs 4G --max-params 25M
expect 1 'type Relu is forbidden' 'a forbidden operator' check resnet50.onnx --forbid-op Relu
expect 1 'neither a profile nor hardware' 'no time to tell' check resnet50.onnx --max-latency 1s
expect 0 'passed +latency' 'an estimate within the limit' check resnet50.onnx --max-latency 1s --hw a100
expect 1 'latency: .* exceeds the limit of 1us' 'an estimate beyond it' check resnet50.onnx --max-latency 1us --hw a100
expect 1 'cannot be held against' 'an estimate on both sides of it' check resnet50.onnx --max-latency 1ms --hw a100
expect 1 'efficiency: .* is below the limit of 90%' 'efficiency' check resnet50.onnx --min-efficiency 90% \
    -p "$top/models/profiles/resnet50.all.t1.json.gz" --hw "$top/models/profiles/machine.t1.xml"
expect 0 'measured|limits kept' 'measured latency' check resnet50.onnx --max-latency 60ms \
    -p "$top/models/profiles/resnet50.all.t1.json.gz"
expect 1 'latency: .* exceeds the limit of 50ms' 'measured latency too long' check resnet50.onnx --max-latency 50ms \
    -p "$top/models/profiles/resnet50.all.t1.json.gz"
expect 2 'there is no limit' 'no limit' check resnet50.onnx
expect 2 'is no limit for macs' 'a wrong limit' check resnet50.onnx --max-macs many
expect 2 'is no limit for latency' 'a time without a unit' check resnet50.onnx --max-latency 12
expect 3 'cannot read' 'no such model' check missing.onnx --max-macs 1G
expect 4 'cannot write' 'no place to write' check resnet50.onnx --max-macs 9G -o missing/out

echo "1..$n"
exit $bad
