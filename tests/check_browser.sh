#!/bin/sh
# The HTML report: written for several sources and tested in headless Chromium (tests/browser/page_test.js).
# Needs node, Chromium and playwright-core (`make browser` installs it from npm); missing tools are skipped with a message.
# SHOTS=FOLDER keeps screenshots.
# modes: release
set -u
cd "$(dirname "$0")/.." || exit 1
: "${BUILD:=build/release}"
: "${CHROMIUM:=$(command -v chromium || echo /usr/bin/chromium)}" "${PLAYWRIGHT:=$PWD/build/browser/node_modules/playwright-core}"
: "${AXE:=$PWD/build/browser/node_modules/axe-core/axe.min.js}"
export ONNXCOST_HWDB="$PWD/hwdb" CHROMIUM PLAYWRIGHT AXE
work=$BUILD/browser
mkdir -p "$work"
fail() {
    echo '1..1'
    echo "not ok 1 - $1"
    exit 1
}
html() { # name arguments...
    name=$1
    shift
    "$BUILD/onnxcost" "$@" --format html -o "$work/$name.html" 2>"$work/$name.txt" || fail "the report $name: $(cat "$work/$name.txt")"
    grep -q '</html>' "$work/$name.html" || fail "the report $name is incomplete"
}
[ -s "$work/resnet50.onnx" ] || "$BUILD/onnxzoo" resnet50 -o "$work/resnet50.onnx" || fail 'onnxzoo resnet50'
[ -s "$work/chain.onnx" ] || "$BUILD/onnxzoo" chain --nodes 100000 -o "$work/chain.onnx" || fail 'onnxzoo chain'
[ -s "$work/bert_base.onnx" ] || "$BUILD/onnxzoo" bert_base -o "$work/bert_base.onnx" || fail 'onnxzoo bert_base'
cat >"$work/hostile.json" <<'END'
[{"ph":"X","cat":"operator","name":"</script><img src=x onerror=alert(1)>","ts":0,"dur":50,"pid":1,"tid":1},
{"ph":"X","cat":"operator","name":"<!--<script>\u2028'\"&lt;","ts":60,"dur":20,"pid":1,"tid":1},
{"ph":"X","cat":"operator","name":"gpj\u202eexe\u2066\u061c\u009b\\u202e","ts":90,"dur":10,"pid":1,"tid":1}]
END
html demo "$work/resnet50.onnx" -p models/profiles/resnet50.all.t1.json.gz --hw models/profiles/machine.t2.xml
html advice "$work/bert_base.onnx" -p models/profiles/bert_base.disabled.t1.json.gz --hw models/profiles/machine.t2.xml
html static "$work/resnet50.onnx"
[ -s "$work/llama.onnx" ] || "$BUILD/onnxzoo" llama --size 1b -o "$work/llama.onnx" || fail 'onnxzoo llama'
html decoder "$work/llama.onnx" --hw a100
html chain "$work/chain.onnx" --hw a100
[ -s "$work/chain5000.onnx" ] || "$BUILD/onnxzoo" chain --nodes 5000 -o "$work/chain5000.onnx" || fail 'onnxzoo chain of 5,000 nodes'
html rows "$work/chain5000.onnx"
html hostile "$work/hostile.json"
kineto=../shared/samples/pytorch/resnet50_train_v100.pt.trace.json.gz
rm -f "$work/kineto.html"
[ -e "$kineto" ] && html kineto "$kineto"

# ---- the headline figures of all sources: page, JSON and terminal of the same command
rm -rf "$work/figures"
mkdir -p "$work/figures"
figures() { # name arguments...
    name=figures/$1
    shift
    html "$name" "$@"
    "$BUILD/onnxcost" "$@" -f json >"$work/$name.json" 2>/dev/null || fail "JSON of $name"
    COLUMNS=300 TERM=dumb "$BUILD/onnxcost" "$@" >"$work/$name.term" 2>/dev/null || fail "the table of $name"
}
for name in resnet18 mobilenetv2; do [ -s "$work/$name.onnx" ] || "$BUILD/onnxzoo" $name -o "$work/$name.onnx" || fail "onnxzoo $name"; done
device=models/profiles/machine.t2.xml recorded=models/profiles
figures onnxruntime_model "$work/resnet50.onnx" -p $recorded/resnet50.all.t1.json.gz --hw $device
figures onnxruntime_unfused "$work/bert_base.onnx" -p $recorded/bert_base.disabled.t1.json.gz
figures onnxruntime "$recorded/mobilenetv2.all.t1.json.gz"
figures onnxruntime_sum "$work/mobilenetv2.onnx" -p $recorded/mobilenetv2.all.t1.json.gz --stat sum
figures model "$work/mobilenetv2.onnx"
figures model_device "$work/resnet18.onnx" --hw t4
figures tensorrt tests/data/tensorrt/resnet18.profile.json
figures tensorrt_model "$work/resnet18.onnx" -p tests/data/tensorrt/resnet18.profile.json --hw a10
figures kineto tests/data/kineto/small_cuda.json
for name in begin_end ascend_msprof mindspore_timeline; do figures "chrome_$name" tests/data/chrome/$name.json; done
for name in numbers mixed; do figures "megengine_$name" tests/data/megengine/$name.json; done
figures mindspore tests/data/mindspore/cpu_op_detail_info_0.csv
figures ncu tests/data/ncu/raw.csv
figures nsight_systems tests/fuzz/seeds/nsys_sqlite/kernels.sqlite
figures loop tests/data/onnxruntime/loop_two_runs.json
figures gprof tests/data/functions/gprof.txt
for name in nvprof.csv onednn.txt op_summary.csv openvino_pc.txt pytorch_table.txt qnn.csv rocprof_results.csv rocprofv3_kernel_trace.csv tflite.csv; do
    figures "table_${name%.*}" tests/data/op_tables/$name
done
for sample in ../shared/samples/*/*.json ../shared/samples/*/*.json.gz; do # of other people, the small ones
    [ -e "$sample" ] && [ "$(wc -c <"$sample")" -lt 300000 ] || continue
    name=$(basename "${sample%.gz}" .json)
    case $sample in *.graph.json | *onnxruntime*) continue ;; esac
    "$BUILD/onnxcost" "$sample" >/dev/null 2>&1 && figures "sample_$name" "$sample"
done

# the page is the same in every mode: only the release mode runs the browser
case "$BUILD" in *release*) ;; *) echo '1..1'; echo 'ok 1 - reports are written'; exit 0 ;; esac
skip() {
    echo '1..2'
    echo 'ok 1 - reports are written'
    echo "ok 2 - page works in a browser # SKIP $1"
    exit 0
}
command -v node >/dev/null 2>&1 || skip 'node is missing'
[ -x "$CHROMIUM" ] || skip 'Chromium is missing (package chromium)'
[ -e "$PLAYWRIGHT/package.json" ] || skip 'playwright-core is missing (make browser installs it from npm)'
exec node tests/browser/page_test.js "$work"
