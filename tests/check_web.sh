#!/bin/sh
# The program as WebAssembly (make web): the same bytes as the native program and as the Python package, under node, for models of
# the zoo and profiles; the page in Chromium; sizes and times. Prints TAP. ALL=1: every model and every profile, not a selection.
# modes: release
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
: "${BUILD:=build/release}"
: "${CHROMIUM:=$(command -v chromium || echo /usr/bin/chromium)}" "${PLAYWRIGHT:=$PWD/build/browser/node_modules/playwright-core}" "${AXE:=$PWD/build/browser/node_modules/axe-core/axe.min.js}"
case "$BUILD" in *release*) ;; *) echo '1..0 # SKIP only in release mode'; exit 77 ;; esac
[ -s build/web/onnxcost.html ] || {
    echo '1..0 # SKIP build/web is missing (make web builds it with emscripten)'
    exit 77
}
[ -z "$(find src hwdb -newer build/web/onnxcost.html \( -name '*.[ch]' -o -name '*.xml' -o -name '*.js' \))" ] || {
    echo '1..0 # SKIP build/web is older than the sources (make web)'
    exit 77
}
command -v node >/dev/null || {
    echo '1..0 # SKIP node is missing'
    exit 77
}
# unchanged environment for both; the package finds its own hardware files
ONNXCOST_HWDB=$PWD/hwdb
export CHROMIUM PLAYWRIGHT AXE ONNXCOST_HWDB LC_ALL=C
native=$PWD/$BUILD/onnxcost wasm=$PWD/build/web/npm/bin/onnxcost.js work=$PWD/$BUILD/web
rm -rf "$work"
mkdir -p "$work/zoo" "$work/page"

# ---- the same bytes: standard output, standard error, exit code
count=0 problems=
same() {
    "$native" "$@" >"$work/native" 2>"$work/native.err"
    a=$?
    node "$wasm" "$@" >"$work/wasm" 2>"$work/wasm.err"
    b=$?
    count=$((count + 1))
    { [ $a = $b ] && cmp -s "$work/native" "$work/wasm" && cmp -s "$work/native.err" "$work/wasm.err"; } || problems="$problems
$a $b: onnxcost $*: $(diff "$work/native" "$work/wasm" | head -n 2 | cut -c 1-200) $(diff "$work/native.err" "$work/wasm.err" | head -n 2 | cut -c 1-200)"
}
same_done() { # minimum, title
    [ $count -ge "$1" ] || problems="$problems
only $count comparisons"
    result "$2 ($count comparisons)" "${problems#
}"
    count=0 problems=
}

tests/make_zoo.sh "$work/zoo" || exit 1
take() { if [ -n "${ALL:-}" ]; then cat; else awk '!/chain/' | head -n "$1"; fi; }
for m in $(find "$work/zoo" -name '*.onnx' | sort | take 20); do
    same "$m" -f json
    same "$m" --hw a100-sxm4-40gb -f json
    same memory "$m" -f json
done
same_done 60 'models: JSON of costs, roofline and memory is that of the native program'

if [ -d ../shared/samples ]; then
    BUILD=$BUILD tests/check_probe_matrix.sh --show 2>/dev/null | awk 'NF' >/dev/null
    find ../shared/samples -type f -size -4M | sort | while read -r f; do
        "$native" summary "$f" -f json >"$work/native" 2>/dev/null && echo "$(dirname "$f" | cut -d / -f 4) $f"
    done >"$work/profiles"
    # one of each tool, then more
    { awk '!seen[$1]++' "$work/profiles"; awk 'seen[$1]++' "$work/profiles"; } | cut -d ' ' -f 2- | take 16 >"$work/chosen"
    while read -r f; do same summary "$f" -f json; done <"$work/chosen"
    same_done 10 'profiles: JSON of summaries is that of the native program'
else
    skip 'profiles: JSON of summaries is that of the native program' '../shared/samples is missing'
fi

zoo=$work/zoo machine=models/profiles/machine.t2.xml
for m in resnet50 bert_base; do
    for p in models/profiles/"$m".*.json.gz; do
        same "$zoo/$m.onnx" -p "$p" --hw $machine -f json
        same "$zoo/$m.onnx" -p "$p" --advise
    done
done
same diff "$zoo/resnet18.onnx" "$zoo/resnet50.onnx" -f json
same estimate "$zoo/resnet50.onnx" --hw t4,a100 -f json
same estimate "$zoo/resnet50.onnx" --hw a100-sxm4-40gb -f json
same llm "$zoo/llama_1b_q4.onnx" --hw a100-sxm4-40gb -f json
same "$zoo/resnet50.onnx" --opr-name '/layer1.*conv'
rows() { sed 's/"seconds":[^,]*,//; s/"mtime_ns":[^,]*,//'; }
printf '%s\n' "$zoo/resnet18.onnx" "$work/absent.onnx" "$zoo/bert_base.onnx" >"$work/list"
"$native" scan --files-from "$work/list" -f ndjson 2>&1 | rows >"$work/native"
node "$wasm" scan --files-from "$work/list" -f ndjson 2>&1 | rows >"$work/wasm"
cmp -s "$work/native" "$work/wasm" || problems="$problems
scan: $(diff "$work/native" "$work/wasm" | head -n 2 | cut -c 1-300)"
same hw list
same hw lint hwdb/nvidia-ampere.xml
head -c 40000 "$zoo/resnet50.onnx" >"$work/page/cut.onnx"
same "$work/page/cut.onnx"
same "$work/absent.onnx"
same "$zoo/resnet50.onnx" --dimm batch=8
same_done 15 'other commands, tables and messages are those of the native program'

text=$(node "$wasm" hw measure 2>&1)
[ $? = 4 ] && [ "$text" = 'onnxcost: hw measure needs processes of the operating system, which WebAssembly does not have: use the native program' ]
passed $? 'a command that needs processes says so' "$text"

# ---- the Python package, whose JSON is that of the C interface
title='models: JSON of the Python package is that of WebAssembly'
if [ -s build/python/onnxcost/_api.py ] && [ -s "$BUILD/libonnxcost.so.1" ]; then
    problems=$(find "$zoo" -name '*.onnx' | sort | take 20 | PYTHONPATH=build/python ONNXCOST_LIBRARY=$PWD/$BUILD/libonnxcost.so.1 \
        python3 tests/support/web_python.py "$wasm" 2>&1)
    result "$title" "$problems"
else
    skip "$title" 'make python was not run'
fi

# ---- large files: a sparse one of 3 GB next to the model, one of 1.5 GB in the model; both are read on demand
title='large models: only what is needed is read'
if /usr/bin/python3 tests/support/large_models.py "$work/page" 2>/dev/null; then
    for m in outside inside; do same "$work/page/$m.onnx" -f json; done
    same "$work/page/inside.onnx" --dim x=1 -a
    same_done 2 "$title"
else
    skip "$title" 'python3-onnx is missing'
fi

# ---- sizes and times
ms() { # command...: the fastest of 5, in ms
    best=
    for _ in 1 2 3 4 5; do
        start=$(date +%s%N)
        "$@" >/dev/null 2>&1
        t=$((($(date +%s%N) - start) / 100000))
        { [ -z "$best" ] || [ $t -lt "$best" ]; } && best=$t
    done
    echo "$((best / 10)).$((best % 10))"
}
size() { wc -c <"$1" | tr -d ' '; }
html=$(size build/web/onnxcost.html)
[ "$html" -lt 3000000 ]
passed $? "onnxcost.html has less than 3 MB" "$html bytes"
echo "# bytes: wasm $(size build/web/npm/lib/onnxcost.wasm), compressed $(size build/web/wasm.gz), onnxcost.html $html"
echo "# ms, native and wasm under node: --version $(ms "$native" --version) $(ms node "$wasm" --version), ResNet-50 $(ms "$native" "$zoo/resnet50.onnx") $(ms node "$wasm" "$zoo/resnet50.onnx")," \
    "ResNet-50 page $(ms "$native" "$zoo/resnet50.onnx" -f html) $(ms node "$wasm" "$zoo/resnet50.onnx" -f html); node alone $(ms node -e 0)"

# ---- the page
title='the page works in Chromium'
if [ ! -x "$CHROMIUM" ] || [ ! -e "$PLAYWRIGHT/package.json" ]; then
    skip "$title" 'Chromium or playwright-core is missing (make browser)'
    finish
fi
cp "$zoo/resnet50.onnx" "$zoo/resnet18.onnx" "$work/page"
cp "$zoo/resnet50_hw.onnx" "$work/page/symbolic.onnx"
cp "$zoo/llama_70b_f16.onnx" "$work/page/long.onnx"
cp models/profiles/resnet50.all.t1.json.gz "$work/page/resnet50.json.gz"
cp $machine "$work/page/machine.xml"
(cd "$work/page" && "$native" resnet50.onnx --hw a100-sxm4-40gb -f json >native.json 2>/dev/null && ! "$native" cut.onnx 2>cut.txt)
text=$(node tests/browser/web_test.js build/web/onnxcost.html "$work/page" 2>&1)
rc=$?
printf '%s\n' "$text" | grep -E '^ok|^# ms' | sed 's/^ok [0-9]* - /# /'
passed $rc "$title" "$(printf '%s\n' "$text" | grep -v '^ok')"
finish
