#!/bin/sh
# Differences and limits from the command line: sums, exit codes, messages, and formats for other programs.
# Prints TAP.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
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
# expect CODE 'pattern in the output' title arguments...
expect() {
    want=$1 pattern=$2 title=$3
    shift 3
    "$onnxcost" "$@" >out 2>err </dev/null
    code=$?
    [ "$code" -eq "$want" ] && { [ -z "$pattern" ] || cat out err | grep -qE -- "$pattern"; }
    passed $? "$title" "exit code $code (not $want)
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
    "$onnxcost" diff "$@" --format json -o diff.json 2>err || { passed 1 "$title" "$(cat err)"; return; }
    problems=$(python3 sums.py diff.json 2>deltas)
    passed $? "$title: rows add up" "$problems"
    [ -z "$want" ] || { grep -qF -- "$want" deltas; passed $? "$title: $want" "$(cat deltas)"; }
}
# 4089184256 - 1814073344, 25557032 - 11689512
sums '"macs": 2275110912' 'ResNet-18 and 50' resnet18.onnx resnet50.onnx
sums '"params": 13867520' 'ResNet-18 and 50' resnet18.onnx resnet50.onnx
sums '"macs": -2275110912' 'ResNet-50 and 18' resnet50.onnx resnet18.onnx
sums '"macs": 0' 'ResNet-50 and its quantized form' resnet50.onnx resnet50_qdq.onnx
sums '"macs": 0' 'MobileNetV2 and its quantized operators' mobilenetv2.onnx mobilenetv2_qoperator.onnx
sums '' 'BERT and GPT-2' bert_base.onnx gpt2.onnx
# seven more images: 7 * 1814073344
sums '"macs": 12698513408' 'batch 1 and 8' resnet18.onnx --dim batch=1 --dim batch=8
sums '"macs": 12698513408' 'batch 1 and 8 given as a shape' resnet18.onnx -s input=1x3x224x224 -s input=8x3x224x224
sums '"macs": 0' 'two devices' resnet50.onnx --hw a100 --hw t4
sums '"macs": 0' 'two thread counts' mobilenetv2.onnx -p "$top/models/profiles/mobilenetv2.all.t1.json.gz" \
    -p "$top/models/profiles/mobilenetv2.all.t2.json.gz" --hw "$top/models/profiles/machine.t1.xml" \
    --hw "$top/models/profiles/machine.t2.xml"
sums '' 'unoptimized and optimized graph' resnet50.onnx "$top/models/profiles/resnet50.all.optimized.onnx" \
    -p "$top/models/profiles/resnet50.disabled.t1.json.gz" -p "$top/models/profiles/resnet50.all.t1.json.gz"
sums '' 'two optimization levels' resnet50.onnx -p "$top/models/profiles/resnet50.disabled.t1.json.gz" \
    -p "$top/models/profiles/resnet50.all.t1.json.gz" \
    --optimized-model none --optimized-model "$top/models/profiles/resnet50.all.optimized.onnx"
sums '"macs": 0' 'models without profiles' crnn.onnx crnn.onnx
if [ -n "$samples" ]; then
    sums '"time": -5401000.0' 'PP-OCR at disabled and all' "$samples/ppocr_cls.onnx" \
        -p "$samples/ppocr_cls.ort1.30.disabled.2runs.json" -p "$samples/ppocr_cls.ort1.30.all.2runs.json" \
        --optimized-model none --optimized-model "$samples/ppocr_cls.ort1.30.all.optimized.onnx"
    sums '"macs": 2100528' 'PP-OCR and its optimized graph' "$samples/ppocr_cls.onnx" \
        "$samples/ppocr_cls.ort1.30.all.optimized.onnx" -p "$samples/ppocr_cls.ort1.30.disabled.2runs.json" \
        -p "$samples/ppocr_cls.ort1.30.all.2runs.json"
    "$onnxcost" diff "$samples/ppocr_cls.onnx" "$samples/ppocr_cls_unnamed.onnx" --exit-code >out 2>err
    code=$?
    grep -q -x '215 rows: 215 renamed' out && [ $code -eq 0 ]
    passed $? 'a model without names is matched by structure' "$(head -n 14 out)"
else
    skip_named 'PP-OCR at disabled and all' 'samples are not there'
fi

# ---- several recordings of a side: copies of one with other times and starts, alternated
mkdir -p a b
python3 - "$top/models/profiles/resnet18.all.t1.json.gz" <<'EOF'
import gzip, json, sys
events = json.load(gzip.open(sys.argv[1]))
for k, side in enumerate("abbabaabab"):
    n = k // 2
    factor = [1.0, 1.01, 0.995, 1.005, 0.99][n] * (1.2 if side == "b" else 1)
    copy = [dict(e, dur=round(e["dur"] * factor), ts=round(e["ts"] * factor)) for e in events]
    copy.append({"cat": "onnxcost", "ph": "M", "name": "", "ts": 0, "dur": 0, "pid": 0, "tid": 0,
                 "args": {"started_s": 1764400000 + 7 * k, "processors": 2, "threads": 1, "processors_of_others": 0.5}})
    json.dump(copy, open(f"{side}/r{n}.json", "w"))
EOF
expect 0 'B is slower by 20\.0 % \(.*5 and 5 recordings, alternated; these' 'a folder for each side' diff resnet18.onnx -p a -p b
mv out of_folder
expect 0 'A +[0-9.]+ [mu]s: resnet18.onnx, a/r0.json .* and 4 more recordings' 'a list for each side' diff resnet18.onnx \
    -p a/r0.json,a/r1.json,a/r2.json,a/r3.json,a/r4.json -p b/r0.json,b/r1.json,b/r2.json,b/r3.json,b/r4.json
cmp -s out of_folder
passed $? 'lists and folders are the same'
expect 0 'Conv .*slower by 20\.. %' 'rows have verdicts' diff resnet18.onnx -p a -p b
expect 0 'inconclusive: \+0\.0 % .*10 of 10 with fewer than 10 runs' 'equal sides' diff resnet18.onnx -p a -p a
expect 0 '[0-9]+ rows without a shown difference' 'rows without a shown difference are one line' diff resnet18.onnx -p a -p a
expect 0 'inconclusive: \+20\.0 % .*2 and 2 recordings, alternated' 'two recordings each' diff resnet18.onnx -p a/r0.json,a/r1.json \
    -p b/r0.json,b/r1.json
grep -q 'verdict' out
passed "$((!$?))" 'rows of few recordings have no verdicts' "$(grep verdict out)"
expect 0 'recorded within a minute' 'not alternated' diff resnet18.onnx -p a/r0.json,a/r1.json -p b/r0.json,b/r1.json,b/r2.json
expect 0 'title=onnxcost diff%3A latency::.*slower by 20' 'GitHub annotations have the verdict' diff resnet18.onnx -p a -p b -f github
sums '"macs": 0' 'several recordings' resnet18.onnx -p a -p b
python3 - <<'EOF' >err
import json
d = json.load(open("diff.json"))
latency = d["totals"]["latency"]
assert latency["verdict"] == "slower" and latency["order"] == "alternated" and abs(latency["ratio"] - 1.2) < 1e-3, latency
assert len(d["a"]["recordings"]) == len(d["b"]["recordings"]) == 5
judged = [r for r in d["rows"] if r["verdict"]]
assert judged and all(abs(r["ratio"] - 1.2) < 0.2 for r in judged if r["verdict"] == "slower"), judged
EOF
passed $? 'JSON has the verdicts' "$(cat err)"
expect 2 'one -p for each side' 'three -p are rejected' diff resnet18.onnx -p a/r0.json -p a/r1.json -p b/r0.json
expect 3 'cannot read' 'a list with a missing file is an error' diff resnet18.onnx -p a/r0.json,missing.json -p b/r0.json

expect 0 '^69 rows: 69 equal' 'equal models have no differences' diff resnet18.onnx resnet18.onnx --exit-code
expect 1 '34 changed, 106 added' '--exit-code gives 1 for differences' diff resnet18.onnx resnet50.onnx --exit-code
expect 0 '34 changed, 106 added' 'differences give 0 without --exit-code' diff resnet18.onnx resnet50.onnx
expect 2 'needs two profiles, two devices' 'one model without profiles is rejected' diff resnet18.onnx
expect 2 'a profile for each' 'two models with one profile are rejected' diff resnet18.onnx resnet50.onnx \
    -p "$top/models/profiles/resnet18.all.t1.json.gz"
expect 2 'one or two models' 'three models are rejected' diff resnet18.onnx resnet50.onnx crnn.onnx
expect 2 "unknown key 'size' for --order-by" 'unknown --order-by is rejected' diff resnet18.onnx resnet50.onnx --order-by size
expect 2 'no diff of them' '--count bytes=graph is rejected' diff resnet18.onnx resnet50.onnx --count bytes=graph
expect 3 'cannot read' 'missing file is an error' diff resnet18.onnx missing.onnx
expect 4 'cannot write' 'missing output folder is an error' diff resnet18.onnx resnet50.onnx -o missing/out
for format in table csv json markdown html; do
    "$onnxcost" diff resnet18.onnx resnet50.onnx --format $format >one 2>/dev/null
    "$onnxcost" diff resnet18.onnx resnet50.onnx --format $format >two 2>/dev/null
    [ -s one ] && cmp -s one two
    passed $? "output is deterministic: $format"
done
"$onnxcost" diff resnet18.onnx resnet50.onnx --format html -t 0 >diff.html && xmllint --html --noout diff.html 2>err
passed $? 'HTML is well-formed' "$(cat err)"
[ "$(grep -cE 'https?://|src=|<link rel="stylesheet' diff.html)" -eq 0 ] && grep -q "default-src 'none'" diff.html && [ "$(grep -c '<script' diff.html)" -eq 1 ]
passed $? 'HTML loads nothing'
"$onnxcost" diff resnet18.onnx resnet50.onnx --format csv | python3 -c '
import csv, sys
rows = list(csv.DictReader(sys.stdin))
assert len(rows) == 175 and sum(int(r["macs_delta"]) for r in rows) == 2275110912, len(rows)'
passed $? 'CSV adds up'

# ---- limits: ResNet-50 has 4089184256 MACs and 25557032 parameters
expect 0 '1 of 1 limits passed' 'MACs at the limit pass' check resnet50.onnx --max macs=4089184256
expect 1 'macs: 4,089,184,256 exceeds the limit of 4089184255 by 1 ' 'one MAC over the limit fails' check resnet50.onnx \
    --max macs=4089184255
expect 0 'limits passed' 'a limit with a unit' check resnet50.onnx --max macs=4.1G,params=25.6M
expect 1 '0 of 2 limits passed, 2 failed' 'all failed limits are listed' check resnet50.onnx --max macs=4G,params=25M
expect 1 'type Relu is forbidden' 'forbidden operator fails' check resnet50.onnx --forbid-op Relu
expect 1 'needs a profile .* or a device' 'a latency without a profile and a device is inconclusive' check resnet50.onnx --max latency=1s
expect 0 'passed +latency' 'estimate within the limit passes' check resnet50.onnx --max latency=1s --hw a100
expect 1 'latency: .* exceeds the limit of 1us' 'estimate over the limit fails' check resnet50.onnx --max latency=1us --hw a100
expect 1 'latency: at least .* exceeds the limit of 50us' 'a lower bound over the limit fails' check resnet50.onnx \
    --max latency=50us --hw tpu-v4
expect 1 'inconclusive .*latency' 'an estimate whose interval holds the limit is inconclusive' check resnet50.onnx --max latency=1ms --hw a100
expect 1 'efficiency: .* is below the limit of 90%' 'efficiency' check resnet50.onnx --min efficiency=90% \
    -p "$top/models/profiles/resnet50.all.t1.json.gz" --hw "$top/models/profiles/machine.t1.xml"
expect 0 'measured|limits passed' 'measured latency' check resnet50.onnx --max latency=60ms \
    -p "$top/models/profiles/resnet50.all.t1.json.gz"
expect 1 'latency: .* exceeds the limit of 50ms' 'measured latency too long' check resnet50.onnx --max latency=50ms \
    -p "$top/models/profiles/resnet50.all.t1.json.gz"
expect 2 'there is no limit' 'no limit' check resnet50.onnx
expect 2 'is not a limit for macs' 'a wrong limit' check resnet50.onnx --max macs=many
expect 2 'is not a limit for latency' 'a time without a unit' check resnet50.onnx --max latency=12
expect 3 'cannot read' 'no such model' check missing.onnx --max macs=1G
expect 4 'cannot write' 'missing output folder is an error' check resnet50.onnx --max macs=9G -o missing/out

# ---- budgets and baselines
budget=$top/hwdb/budget/budget.rng
expect 0 '12 of 12 limits passed' 'example budget passes' check resnet50.onnx --budget "$top/hwdb/budget/example.xml"
sed 's/max="4.1G"/max="4.0G"/' "$top/hwdb/budget/example.xml" >tight.xml
expect 1 'macs: 4,089,184,256 exceeds the limit of 4.0G by 89,184,256' 'tighter budget fails' check resnet50.onnx --budget tight.xml
expect 1 'tight.xml:10' 'failed limit names its file and line' check resnet50.onnx --budget tight.xml
sed 's/metric="opset"/metric="opsets"/' tight.xml >wrong.xml
expect 3 "cannot read 'wrong.xml': line 14: .*unknown metric 'opsets'.*opset" 'invalid budget is an error' check resnet50.onnx --budget wrong.xml
expect 3 "cannot read 'missing.xml'" 'missing budget is an error' check resnet50.onnx --budget missing.xml
profile=$top/models/profiles/resnet50
expect 0 '' 'a baseline is saved' check resnet50.onnx --save-baseline base.xml -p "$profile.all.t1.json.gz" \
    --hw "$top/models/profiles/machine.t1.xml"
[ "$(grep -c '<value' base.xml)" -eq 10 ] && grep -q 'metric="macs" is="4089184256"' base.xml
passed $? 'saved baseline has ten values' "$(cat base.xml)"
expect 0 '9 of 10 limits passed, 1 not decided by the recordings' 'unchanged model passes its baseline' check resnet50.onnx --baseline base.xml \
    -p "$profile.all.t1.json.gz" --hw "$top/models/profiles/machine.t1.xml"
expect 1 '8 of 10 limits passed, 1 failed, 1 not decided' 'a slower run of 4 shows nothing; the efficiency fails' check resnet50.onnx --baseline base.xml \
    -p "$profile.disabled.t1.json.gz" --hw "$top/models/profiles/machine.t1.xml"
expect 0 '9 of 10 limits passed, 1 not decided' 'wider tolerance passes' check resnet50.onnx --baseline base.xml --tolerance latency=50% \
    --tolerance efficiency=20% -p "$profile.disabled.t1.json.gz" --hw "$top/models/profiles/machine.t1.xml"
"$onnxcost" check resnet50.onnx --save-baseline counts.xml
expect 0 '8 of 8 limits passed' 'baseline of counts only' check resnet50.onnx --baseline counts.xml
sed 's/4089184256/4089184255/' counts.xml >one.xml
expect 1 'macs: 4,089,184,256 exceeds the limit of 4,089,184,255 \(baseline\) by 1 ' 'one MAC more than the baseline' \
    check resnet50.onnx --baseline one.xml
expect 0 '8 of 8' 'one MAC of tolerance' check resnet50.onnx --baseline one.xml --tolerance macs=1
expect 0 '8 of 8' 'a better model passes' check resnet18.onnx --baseline counts.xml
expect 2 '--tolerance needs --baseline' 'a tolerance without a baseline' check resnet50.onnx --tolerance macs=1 --max macs=9G
expect 2 "'macs' has no tolerance: write macs=5%" 'a metric without a tolerance' check resnet50.onnx --baseline counts.xml --tolerance macs
expect 0 '8 of 8' 'a tolerance for all metrics' check resnet50.onnx --baseline one.xml --tolerance 1%
expect 0 '8 of 8' 'a tolerance for all metrics, another one for macs' check resnet50.onnx --baseline one.xml --tolerance 1%,macs=1
expect 1 '1 failed' 'the tolerance of a metric overrides that for all' check resnet50.onnx --baseline one.xml --tolerance macs=0,1%
expect 0 '9 of 10 limits passed, 1 not decided' 'several tolerances in one list' check resnet50.onnx --baseline base.xml --tolerance latency=50%,efficiency=20% \
    -p "$profile.disabled.t1.json.gz" --hw "$top/models/profiles/machine.t1.xml"
expect 2 "unknown metric 'mac'.*alid: macs, flops, ops, .*efficiency" 'an unknown metric lists the valid ones' \
    check resnet50.onnx --baseline counts.xml --tolerance mac=2%
expect 2 "unknown metric 'nodes'" 'a metric that baselines do not have' check resnet50.onnx --baseline counts.xml --tolerance nodes=2%
expect 2 "'1000' is not a tolerance for all metrics: give a share such as 2%" 'an amount for all metrics' \
    check resnet50.onnx --baseline counts.xml --tolerance 1000
expect 2 "'5' is not a tolerance of latency: give a share such as 5% or an amount such as 12ms" 'a time without a unit' \
    check resnet50.onnx --baseline counts.xml --tolerance macs=1,latency=5
[ "$("$onnxcost" check resnet50.onnx --baseline one.xml --format markdown 2>/dev/null |
    grep -c '^- macs: 4,089,184,256 exceeds the limit of 4,089,184,255 (baseline) by 1 ')" -eq 1 ]
passed $? 'Markdown has the reason of a failed limit'

# ---- a baseline that is saved again: what was set by hand stays
cat >hand.xml <<'EOF'
<?xml version="1.0" encoding="UTF-8"?>
<!-- agreed with the <hardware> team -->
<baseline version="1" tool='0'>
  <value tolerance="3%" metric="macs" is="1"/> <!-- <value metric="flops" is="7"/> -->
  <value metric = 'params'
         is = '2' ></value>
  <value metric="latency" is="51 ms" tolerance='20%'/>
  <limit metric="latency" max="80ms"/>
  <limit metric="macs" type="Gemm" max="3M"/>
  <forbid type="Loop"/></baseline>
EOF
cp hand.xml saved.xml
expect 0 "'saved.xml' keeps the old value of latency: unknown without a profile" 'an unknown figure keeps its old value' \
    check resnet50.onnx --save-baseline saved.xml
problems=$(for text in '<!-- agreed with the <hardware> team -->' 'tolerance="3%" metric="macs" is="4089184256"' \
    '<!-- <value metric="flops" is="7"/> -->' "is = '25557032' ></value>" '<value metric="flops" is="8217767080"/>' \
    "<value metric=\"latency\" is=\"51 ms\" tolerance='20%'/>" '<limit metric="latency" max="80ms"/>' 'model="resnet50.onnx"' \
    '<limit metric="macs" type="Gemm" max="3M"/>' '<forbid type="Loop"/>'; do
    [ "$(grep -cF -- "$text" saved.xml)" -eq 1 ] || echo "not once: $text"
done)
[ -z "$problems" ]
passed $? 'tolerances, limits and comments stay' "$problems
$(cat saved.xml)"
cp saved.xml again.xml
"$onnxcost" check resnet50.onnx --save-baseline again.xml 2>/dev/null && cmp -s saved.xml again.xml
passed $? 'baseline saved twice is the same file'
expect 1 '10 of 12 limits passed, 2 inconclusive' 'limits of a saved baseline are checked' check resnet50.onnx --baseline saved.xml
expect 1 '11 of 13 limits passed, 1 failed, 1 not decided' 'limits of the command line are added' check resnet50.onnx \
    --baseline saved.xml --tolerance latency=90% -p "$profile.disabled.t1.json.gz" --max latency=60ms
expect 0 '11 of 12 limits passed, 1 not decided' 'with a profile all limits are checked' check resnet50.onnx --baseline saved.xml -p "$profile.all.t1.json.gz"
printf '<baseline version="1"/>' >bare.xml
"$onnxcost" check resnet50.onnx --save-baseline bare.xml && "$onnxcost" check resnet50.onnx --baseline bare.xml >out 2>&1 &&
    grep -q '8 of 8' out
passed $? 'an empty baseline is filled' "$(cat bare.xml out)"
echo 'do not lose this' >notes.txt
expect 3 "cannot read 'notes.txt'.*updated only if it is a baseline" 'a file that is not a baseline is not overwritten' \
    check resnet50.onnx --save-baseline notes.txt
[ "$(cat notes.txt)" = 'do not lose this' ]
passed $? 'file that is not a baseline is unchanged'
cp "$top/hwdb/budget/example.xml" budget.xml
expect 3 'updated only if it is a baseline' 'a budget is not overwritten' check resnet50.onnx --save-baseline budget.xml

problems=$(for file in "$top"/hwdb/budget/example.xml "$top"/tests/fuzz/seeds/budget/*.xml tight.xml base.xml counts.xml hand.xml saved.xml bare.xml; do
    xmllint --nonet --noout --relaxng "$budget" "$file" 2>&1 | grep -v ' validates$'
done)
[ -z "$problems" ]
passed $? 'budgets and baselines are valid' "$problems"
problems=$(for edit in 's/version="1"/version="2"/' 's/metric="macs" max/metric="macs" min/' 's/metric="opset"/metric="opsets"/' \
    's/<forbid type="Loop"/<forbid/' 's/<forbid type/<allow type/' 's/metric="opset" max/metric="opset" type="Conv" max/'; do
    sed "$edit" "$top/hwdb/budget/example.xml" >edited.xml
    xmllint --nonet --noout --relaxng "$budget" edited.xml >/dev/null 2>&1 && echo "the schema accepts $edit"
    "$onnxcost" check resnet50.onnx --budget edited.xml >/dev/null 2>&1
    [ $? -eq 3 ] || echo "the reader accepts $edit"
done)
[ -z "$problems" ]
passed $? 'schema and reader reject the same files' "$problems"

# ---- names of limits that no operator has would pass every limit
for part in 'type="Cnov"' 'module="/layer9"' 'type="Conv" module="layer1/layer1.7"'; do
    echo "<budget version='1'><limit metric='macs' $part max='1'/></budget>" >names.xml
    expect 2 'names.xml:1: no operator is (of type|in module) .*; the nearest is ' "a limit with $part is refused" check resnet18.onnx --budget names.xml
done
echo "<budget version='1'><limit metric='macs' type='Loop' max='1'/></budget>" >names.xml
expect 0 '' 'a limit of an operator of ONNX that the model lacks passes' check resnet18.onnx --budget names.xml

# ---- formats for other programs: names with quotes and markup
python3 - hostile.onnx <<'EOF'
import sys


def varint(v):
    out = b""
    while v > 127:
        out += bytes([v & 127 | 128])
        v >>= 7
    return out + bytes([v])


def part(field, data):
    data = data.encode() if isinstance(data, str) else data
    return varint(field << 3 | 2) + varint(len(data)) + data


def number(field, v):
    return varint(field << 3) + varint(v)


names = [b']]>"<&\'', b'line\nbreak\ttab\rreturn', b'\x01\x1b[31m\x7f', '\ufffe\u202e\U0001f600é'.encode(), b'\xff\xc0\x80', b'']
nodes, last = b"", "x"
for i, name in enumerate(names):
    nodes += part(1, part(1, last) + part(2, f"v{i}") + (part(3, name) if name else b"") + part(4, "Relu"))
    last = f"v{i}"
nodes += part(1, part(1, last) + part(2, "end") + part(3, "unknown <to> us") + part(4, "Mystery") + part(7, "my.domain"))
value = part(1, "x") + part(2, part(1, number(1, 1) + part(2, b"".join(part(1, number(1, d)) for d in (2, 3)))))
graph = nodes + part(2, "g") + part(11, value) + part(12, part(1, "end"))
model = number(1, 8) + part(8, part(1, "") + number(2, 17)) + part(8, part(1, "my.domain") + number(2, 1)) + part(7, graph)
open(sys.argv[1], "wb").write(model)
EOF
cat >hostile.xml <<'EOF'
<budget version="1">
  <limit metric="macs" max="0" type="&lt;&amp;&quot;]]&gt;*"/>
  <limit metric="flops" max="1"/>
  <limit metric="unknown" max="0"/>
  <limit metric="latency" max="1s"/>
  <forbid type="Relu"/>
</budget>
EOF
for format in table csv json markdown junit sarif github; do
    expect 1 '' "hostile names: $format" check hostile.onnx --budget hostile.xml --format $format -o hostile.$format
done
xmllint --nonet --noout hostile.junit 2>err
passed $? 'JUnit is XML' "$(cat err)"
junitparser=
for python in python3 /usr/bin/python3; do
    [ -z "$junitparser" ] && $python -c 'import junitparser' 2>/dev/null && junitparser=$python
done
cat >junit.py <<'EOF'
import sys, junitparser
x = junitparser.JUnitXml.fromfile(sys.argv[1])
cases = [case for suite in x for case in suite]
failed = [case for case in cases if case.result]
assert (x.tests, x.failures, x.errors) == (len(cases), len(failed), 0), (x.tests, x.failures)
assert len(cases) == int(sys.argv[2]) and len(failed) == int(sys.argv[3]), (len(cases), len(failed))
assert all(type(r) is junitparser.Failure and r.message and r.text == r.message for case in failed for r in case.result)
assert all(case.classname == "onnxcost.check" and case.time is not None for case in cases)
assert len({case.name for case in cases}) == len(cases)
for want in sys.argv[4:]:
    assert any(want in r.message for case in failed for r in case.result), want
EOF
junit() { # file cases failures texts...
    if [ -z "$junitparser" ]; then
        skip_named "$1 read by junitparser" 'package python3-junitparser is missing'
        return
    fi
    $junitparser junit.py "$@" 2>err
    passed $? "$1 read by junitparser: $2 cases, $3 failures" "$(tail -n 1 err)"
}
junit hostile.junit 5 4 "]]>\"<&'" 'is forbidden' 'unknown <to> us'
"$onnxcost" check resnet50.onnx --budget tight.xml --format junit >budget.junit 2>/dev/null
junit budget.junit 12 1 'macs: 4,089,184,256 exceeds the limit of 4.0G by 89,184,256'
"$onnxcost" check resnet50.onnx --max macs=4089184256 --format junit >kept.junit
junit kept.junit 1 0
"$onnxcost" check resnet50.onnx --max macs=4089184255 --format junit >over.junit 2>over.err
junit over.junit 1 1 'by 1 '
grep -q 'onnxcost: macs: 4,089,184,256 exceeds' over.err
passed $? 'failed limits are also printed on standard error' "$(cat over.err)"
"$onnxcost" check resnet50.onnx --max latency=60ms -p "$profile.all.t1.json.gz" --format junit | grep -q 'time="0.0512085"'
passed $? 'latency is the time of its JUnit case'

# The relevant rules of SARIF 2.1.0, implemented independently of the writer.
cat >sarif.py <<'EOF'
import json, sys, urllib.parse
d = json.load(open(sys.argv[1]))
assert d["version"] == "2.1.0" and d["$schema"].endswith("sarif-2.1.0.json")
assert isinstance(d["runs"], list) and len(d["runs"]) == 1
run = d["runs"][0]
driver = run["tool"]["driver"]
assert driver["name"] == "onnxcost" and driver["version"]
rules = driver["rules"]
assert len({r["id"] for r in rules}) == len(rules)
assert all(r["id"] and r["shortDescription"]["text"] for r in rules)
uris = [a["location"]["uri"] for a in run["artifacts"]]
assert len(run["results"]) == int(sys.argv[2]), len(run["results"])
prints = set()
for r in run["results"]:
    assert rules[r["ruleIndex"]]["id"] == r["ruleId"] and r["level"] in ("none", "note", "warning", "error")
    assert r["message"]["text"] and r["locations"]
    for l in r["locations"]:
        uri = l["physicalLocation"]["artifactLocation"]["uri"]
        assert uri in uris and not set(uri) & set(' <>"{}|\\^`'), uri
        assert urllib.parse.unquote(uri).endswith(sys.argv[3])
        assert l["physicalLocation"]["region"]["startLine"] >= 1
        for n in l.get("logicalLocations", []):
            assert n["name"] and n["fullyQualifiedName"]
    prints.add(json.dumps(r["partialFingerprints"]))
assert len(prints) == len(run["results"])
names = [n["name"] for r in run["results"] for l in r["locations"] for n in l.get("logicalLocations", [])]
for want in sys.argv[4:]:
    assert want in names, (want, names)
EOF
sarif() { # file results model names...
    python3 sarif.py "$@" 2>err
    passed $? "$1 follows the rules of SARIF" "$(tail -n 1 err)"
}
sarif hostile.sarif 4 hostile.onnx "]]>\"<&'" 'unknown <to> us'
cp resnet18.onnx 'with blank & "quote".onnx'
"$onnxcost" check 'with blank & "quote".onnx' --max macs=1G,params=1M --format sarif >blank.sarif 2>/dev/null
sarif blank.sarif 2 'with blank & "quote".onnx' /conv1/Conv
"$onnxcost" check resnet50.onnx --max macs=9G --format sarif >kept.sarif
sarif kept.sarif 0 resnet50.onnx
"$onnxcost" diff hostile.onnx resnet18.onnx --format html -t 0 >hostile.html
! grep -qE '<(to|&)' hostile.html && xmllint --html --noout hostile.html 2>/dev/null
passed $? 'hostile names are escaped in HTML'

# ---- annotations of GitHub Actions and the step summary
cat >annotations.py <<'EOF'
"""Reads workflow commands as the runner does and prints one a line: level, properties, message."""
import re, sys
for line in open(sys.argv[1], encoding="utf-8"):
    m = re.fullmatch(r"::(error|warning|notice)( (.*?))?::(.*)\n", line)
    if line.startswith("::") and not m:
        sys.exit(f"not a command: {line}")
    if not m:
        continue
    def plain(text, names):
        assert not re.search("%(?!(" + "|".join(n[1:] for n in names) + "))", text), text
        for name in names:
            text = text.replace(name, chr(int(name[1:], 16)))
        return text
    props = dict(p.split("=", 1) for p in m[3].split(",")) if m[3] else {}
    props = {k: plain(v, ["%0D", "%0A", "%3A", "%2C", "%25"]) for k, v in props.items()}
    print(m[1], props.get("file"), props.get("line"), props.get("title"), repr(plain(m[4], ["%0D", "%0A", "%25"]))[1:-1], sep="|")
EOF
annotations() { # title, exit code, lines of annotations (ERE each), arguments
    title=$1 want=$2 lines=$3
    shift 3
    rm -f summary.md
    GITHUB_STEP_SUMMARY=summary.md "$onnxcost" "$@" --format github >out 2>err
    code=$?
    python3 annotations.py out >parsed 2>>err
    [ "$code" -eq "$want" ] && [ "$(grep -c . parsed)" -eq "$(printf '%s\n' "$lines" | grep -c .)" ] &&
        printf '%s\n' "$lines" | while read -r line; do [ -z "$line" ] || grep -qxE -- "$line" parsed || exit 1; done
    passed $? "$title" "exit code $code (not $want)
$(cat parsed out err)"
}
annotations 'a failed limit of the command line is an error of the model' 1 \
    'error[|]resnet50.onnx[|]None[|]onnxcost check: macs failed[|]macs: 4,089,184,256 exceeds the limit of 4G by 89,184,256 .*' \
    check resnet50.onnx --max macs=4G,params=26M
grep -q '^### onnxcost check: `resnet50.onnx`' summary.md && grep -q '^| failed | macs |' summary.md && grep -q '^| passed | params |' summary.md
passed $? 'the step summary has the table' "$(cat summary.md)"
annotations 'a limit of a file is annotated there, an inconclusive one is a warning' 1 \
    'error[|]one.xml[|]3[|]onnxcost check: macs failed[|]macs: .*
warning[|]resnet50.onnx[|]None[|]onnxcost check: latency inconclusive[|]latency: unknown cannot be compared .*' \
    check resnet50.onnx --baseline one.xml --max latency=1s
cp resnet18.onnx '100%,a:b,line=7::error::c.onnx'
annotations 'a file name with %, commas and colons' 1 \
    'error[|]100%,a:b,line=7::error::c.onnx[|]None[|]onnxcost check: macs failed[|]macs: .*' \
    check '100%,a:b,line=7::error::c.onnx' --max macs=1G
annotations 'names with line breaks stay in their line' 1 \
    'error[|]hostile.xml[|].*
error[|]hostile.xml[|].*
error[|]hostile.xml[|].*
warning[|]hostile.xml[|].*' check hostile.onnx --budget hostile.xml
grep -q 'line%0Abreak' out && ! grep -qE '^(break|%0A)' out
passed $? 'a line break is escaped' "$(cat out)"
annotations 'nothing is annotated when all limits pass' 0 '' check resnet50.onnx --max macs=9G
[ "$(cat out)" = '1 of 1 limits passed' ]
passed $? 'the summary is printed' "$(cat out)"
annotations 'differences of totals are warnings when larger' 0 \
    'warning[|]resnet50.onnx[|]None[|]onnxcost diff: MACs[|]1,814,073,344 -> 4,089,184,256 \(\+2,275,110,912, \+125.4 %\)
warning[|].*FLOPs.*
warning[|].*bytes.*
warning[|].*parameters.*
warning[|].*peak .*
warning[|].*weights.*' diff resnet18.onnx resnet50.onnx
grep -q '^### onnxcost diff' summary.md && grep -q '| MACs |' summary.md
passed $? 'the step summary has the diff' "$(head -n 20 summary.md)"
annotations 'smaller ones are notices' 0 'notice[|]resnet18.onnx[|]None[|]onnxcost diff: MACs[|].*-55.6 %\)
notice.*FLOPs.*
notice.*bytes.*
notice.*parameters.*
notice.*peak.*
notice.*weights.*' diff resnet50.onnx resnet18.onnx
annotations 'a slower run is a warning only where the recordings show it' 0 'notice.*latency.*51.* -> 73.*inconclusive.*' diff resnet50.onnx -p "$profile.all.t1.json.gz" -p "$profile.disabled.t1.json.gz"
annotations 'the same model twice has no annotation' 0 '' diff resnet18.onnx resnet18.onnx
printf 'before\n' >kept.md
GITHUB_STEP_SUMMARY=kept.md "$onnxcost" check resnet50.onnx --max macs=9G --format github >/dev/null 2>&1
[ "$(head -n 1 kept.md)" = before ] && [ "$(grep -c '^### onnxcost check' kept.md)" -eq 1 ]
passed $? 'the step summary is appended to' "$(cat kept.md)"
rm -f none.md
GITHUB_STEP_SUMMARY=none.md "$onnxcost" check resnet50.onnx --max macs=9G >/dev/null 2>&1
[ ! -e none.md ]
passed $? 'other formats write no step summary'
GITHUB_STEP_SUMMARY=missing/s.md "$onnxcost" check resnet50.onnx --max macs=9G --format github >/dev/null 2>err
[ $? -eq 4 ] && grep -qF "cannot write 'missing/s.md' (\$GITHUB_STEP_SUMMARY)" err
passed $? 'a step summary that cannot be written' "$(cat err)"

finish
