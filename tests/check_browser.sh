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
html hostile "$work/hostile.json"
kineto=../shared/samples/pytorch/resnet50_train_v100.pt.trace.json.gz
rm -f "$work/kineto.html"
[ -e "$kineto" ] && html kineto "$kineto"

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
