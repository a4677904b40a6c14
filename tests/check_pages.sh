#!/bin/sh
# Pages of commands (-f html): every figure is the one of -f json, in cards and in tables; the markup is closed and loads nothing;
# the same input gives the same bytes. Prints TAP.
# modes: release
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
: "${BUILD:=build/release}"
export ONNXCOST_HWDB="$PWD/hwdb" LC_ALL=C
work=$BUILD/pages
rm -rf "$work"
mkdir -p "$work"
machine=models/profiles/machine.t2.xml
for m in resnet50 bert_base; do "$BUILD/onnxzoo" $m -o "$work/$m.onnx" || exit 1; done
"$BUILD/onnxzoo" llama --size toy -o "$work/llama.onnx"

# page min figures: FILE.html has that many, and all are those of FILE.json and NAME=FILE...
page() { # name min title [NAME=JSON...] -- arguments of onnxcost
    name=$1 min=$2 title=$3 documents=
    shift 3
    while [ "$1" != -- ]; do
        documents="$documents $1"
        shift
    done
    shift
    problems=
    "$BUILD/onnxcost" "$@" -f json >"$work/$name.json" 2>"$work/err" || [ $? -eq 1 ] || problems=$(cat "$work/err")
    "$BUILD/onnxcost" "$@" -f html -o "$work/$name.html" 2>"$work/err" || [ $? -eq 1 ] || problems=$problems$(cat "$work/err")
    # shellcheck disable=SC2086 # a list of words
    report=$(python3 tests/support/page_figures.py "$work/$name.html" "$work/$name.json" $documents 2>&1)
    figures=$(printf '%s\n' "$report" | tail -n 1)
    problems=$problems$(printf '%s\n' "$report" | sed '$d')
    case $figures in '' | *[!0-9]*) problems=$report ;; *) [ "$figures" -ge "$min" ] || problems="$problems
only $figures figures" ;; esac
    "$BUILD/onnxcost" "$@" -f html >"$work/again.html" 2>/dev/null
    tail -n +1 "$work/$name.html" | sed 's/ -o [^ <]*//' | cmp -s - "$work/again.html" || problems="$problems
a second page is different"
    result "$title" "$problems"
}
if ! command -v python3 >/dev/null; then
    skip 'pages have the figures of JSON' 'python3 is missing'
    finish
fi

# ---- memory
plan() { # model options...
    model=$1
    shift
    "$BUILD/onnxcost" memory "$work/$model.onnx" "$@" --plan "$work/$model.plan.json" >/dev/null || echo "no plan of $model"
}
plan resnet50 >&2
page memory 2000 'memory: figures and tables of the page are those of JSON and of the plan' "plan=$work/resnet50.plan.json" -- \
    memory "$work/resnet50.onnx" --fit --hw a100
page memory_ort 500 "memory: with ONNX Runtime's allocator the page has live bytes and no offsets" -- memory "$work/resnet50.onnx" --count allocator=ort
problems=
grep -q '<path class="area"' "$work/memory_ort.html" || problems='no curve of the live bytes'
blocks=$(grep -c '<rect ' "$work/memory.html")
[ "$blocks" = 175 ] || problems="$problems
$blocks blocks instead of 175 buffers"
peak=$(grep -c '<rect [^>]*class="peak"' "$work/memory.html")
[ "$peak" = 3 ] || problems="$problems
$peak blocks at the peak instead of 3"
grep -q 'fits: needs 106.88 MiB, NVIDIA A100' "$work/memory.html" || problems="$problems
no sentence about the device"
result 'memory: a block for each buffer, those of the peak are marked' "$problems"
"$BUILD/onnxcost" memory "$work/resnet50.onnx" --fit --hw a100 -d batch=4000 -f html >"$work/limit.html" 2>"$work/err"
result "memory: the device's limit is a line where it is near the peak" "$(grep -q '<line class="limit"' "$work/limit.html" || cat "$work/err" - <<END
no line
END
)"

# ---- summary
page summary 400 'summary: tables of a CPU profile are those of JSON' -- summary models/profiles/resnet50.all.t1.json.gz
page summary_training 400 'summary: phases, devices, kernels and copies of a training run are those of JSON' -- \
    summary tests/data/paddle/training.paddle_trace.json
page summary_two 700 'summary: two profiles on one page, with ids of their own' -- \
    summary models/profiles/resnet50.all.t1.json.gz models/profiles/resnet50.all.t2.json.gz
page summary_view 50 'summary: --view, --top and --op-detail select tables and rows of the page' -- \
    summary tests/data/paddle/training.paddle_trace.json --view operator --top 4 --op-detail
for t in Devices Kernels 'Operator types' Runs 'Phases of a step' 'Threads and streams: busy and idle'; do
    grep -q ">$t</h2>" "$work/summary_training.html" || echo "no section $t"
done >"$work/sections"
[ "$(grep -c '<section' "$work/summary_view.html")" = 1 ] || echo 'sections other than that of --view' >>"$work/sections"
result 'summary: a page has a section for each table' "$(cat "$work/sections")"

# ---- scan, estimate, llm
page ranking 60 'estimate: devices of every batch are those of JSON' -- \
    estimate "$work/resnet50.onnx" --hw epyc-7742 --hw a100 --hw rtx-4090 --batch 1,8
page scan 60 'scan: rows of all models, with an unreadable one, are those of JSON' -- scan "$work" "$work/memory.json" --jobs 1
problems=
grep -q '<div class="hist">' "$work/scan.html" || problems='no histogram'
grep -q 'data-field="error"' "$work/scan.html" || problems="$problems
no column of errors"
result 'scan: the page has histograms and the error of a file' "$problems"
page estimate 500 'estimate: kernels and the interval are those of JSON' -- estimate "$work/resnet50.onnx" --hw "$machine"
page estimate_measured 500 'estimate: measured kernels are those of JSON' -- \
    estimate "$work/resnet50.onnx" --hw "$machine" -p models/profiles/resnet50.all.t1.json.gz
page llm 120 'llm: phases, lower bounds and serving are those of JSON' -- \
    llm "$work/llama.onnx" --hw a100 --hw rtx-4090 --prompt 8 --generate 4 --parallel 1,2
grep -q 'batch\*(256\*prompt^2' "$work/llm.html"
passed $? 'llm: the page has the closed forms'

# ---- diff
page diff 450 'diff: two profiles of a model: totals, types and rows are those of JSON' -- \
    diff "$work/resnet50.onnx" -p models/profiles/resnet50.disabled.t1.json.gz -p models/profiles/resnet50.all.t1.json.gz
problems=
grep -q '<span class="side1" style="width:' "$work/diff.html" || problems='no paired bars'
grep -q 'Conv+BatchNormalization+Add+Relu</td>' "$work/diff.html" || problems="$problems
no fused operators"
grep -q '<span class="good">-22.5 ms' "$work/diff.html" || grep -q -- '; -22.5 ms' "$work/diff.html" || problems="$problems
no difference of the time"
result 'diff: the page has paired bars, fused operators and the differences' "$problems"

page diff_device 450 'diff: with a device, times and rooflines are those of JSON' -- \
    diff "$work/resnet50.onnx" -p models/profiles/resnet50.disabled.t1.json.gz -p models/profiles/resnet50.all.t1.json.gz --hw "$machine"
"$BUILD/onnxzoo" resnet18 -o "$work/resnet18.onnx"
page diff_models 500 'diff: two models: added, removed and changed operators are those of JSON' -- \
    diff "$work/resnet18.onnx" "$work/resnet50.onnx"
for status in added changed; do
    grep -q "<tr [^>]*class=\"status-$status\"" "$work/diff_models.html" || echo "no $status row"
done >"$work/rows"
result 'diff: rows of a page have the class of their status' "$(cat "$work/rows")"

# ---- graphs of the report of costs
"$BUILD/onnxzoo" llama --size toy -o "$work/llama.onnx"
for m in resnet50 bert_base llama; do
    "$BUILD/onnxcost" "$work/$m.onnx" -f html -o "$work/graph_$m.html" 2>/dev/null
    "$BUILD/onnxcost" "$work/$m.onnx" -f json -o "$work/graph_$m.json" 2>/dev/null
    python3 tests/support/page_edges.py "$work/graph_$m.html" "$work/graph_$m.json"
done >"$work/problems" 2>&1
result 'edges of the page are the inputs and outputs of the nodes in JSON, with their types and bytes' "$(cat "$work/problems")"

# ---- fragments
fragment() { # name min -- arguments of onnxcost: figures of the fragment are those of JSON, and it is one element
    name=fragment_$1 min=$2
    shift 3
    "$BUILD/onnxcost" "$@" -f json >"$work/$name.json" 2>"$work/err" || [ $? -eq 1 ] || cat "$work/err"
    "$BUILD/onnxcost" "$@" -f fragment -o "$work/$name.html" 2>"$work/err" || [ $? -eq 1 ] || cat "$work/err"
    report=$(python3 tests/support/page_figures.py "$work/$name.html" "$work/$name.json" "plan=$work/resnet50.plan.json" 2>&1)
    figures=$(printf '%s\n' "$report" | tail -n 1)
    printf '%s\n' "$report" | sed '$d'
    case $figures in '' | *[!0-9]*) echo "$name: $report" ;; *) [ "$figures" -ge "$min" ] || echo "$name: only $figures figures" ;; esac
    [ "$(head -n 1 "$work/$name.html")$(tail -n 1 "$work/$name.html")" = '<div class="onnxcost"></div>' ] || echo "$name is not one element"
    grep -n -i -E '<(html|head|body|meta|script|link)[ >]|[ "]id=|url\(|aria-labelledby' "$work/$name.html" | cut -c1-120
    sed -n '/<style>/,/<\/style>/p' "$work/$name.html" | sed '1d; $d' | tr '}' '\n' | sed 's/{.*//' | tr ',' '\n' | grep . | grep -v '^ *\.onnxcost'
    [ "$(wc -c <"$work/$name.html")" -lt 150000 ] || echo "$name is larger than 150 kB"
}
{
    fragment cost 9 -- "$work/resnet50.onnx" -p models/profiles/resnet50.all.t1.json.gz --hw "$machine"
    fragment model 5 -- "$work/bert_base.onnx"
    fragment profile 2 -- models/profiles/resnet50.all.t1.json.gz
    fragment memory 600 -- memory "$work/resnet50.onnx" --fit --hw a100
    fragment summary 300 -- summary tests/data/paddle/training.paddle_trace.json
    fragment ranking 30 -- estimate "$work/resnet50.onnx" --hw epyc-7742 --hw a100 --batch 1,8
    fragment scan 15 -- scan "$work" --jobs 1
    fragment estimate 400 -- estimate "$work/resnet50.onnx" --hw "$machine"
    fragment llm 60 -- llm "$work/llama.onnx" --hw a100
    fragment diff 450 -- diff "$work/resnet50.onnx" -p models/profiles/resnet50.disabled.t1.json.gz \
        -p models/profiles/resnet50.all.t1.json.gz --hw "$machine"
} >"$work/problems" 2>&1
result 'fragments of all commands: one element without ids and scripts, every style rule begins with its class, figures are those of JSON' "$(cat "$work/problems")"
"$BUILD/onnxcost" "$work/resnet50.onnx" -p models/profiles/resnet50.all.t1.json.gz --hw "$machine" --order-by flops --top 7 -f csv >"$work/rows.csv"
"$BUILD/onnxcost" "$work/resnet50.onnx" -p models/profiles/resnet50.all.t1.json.gz --hw "$machine" --order-by flops --top 7 -f fragment >"$work/rows.html"
python3 - "$work" >"$work/problems" 2>&1 <<'END'
import csv, sys
sys.path.insert(0, "tests/support")
import page_figures
page = page_figures.Page()
page.feed(open(sys.argv[1] + "/rows.html", encoding="utf-8").read())
table, rows = page.tables[-1], list(csv.DictReader(open(sys.argv[1] + "/rows.csv", encoding="utf-8")))
body = [r[1] for r in table["rows"] if r[1]]
if len(body) != 7 or len(rows) != 7:
    print(len(body), "rows,", len(rows), "in CSV")
for have, want in zip(body, rows):
    for field, (v, text) in zip(table["fields"], have):
        if field in want and (v is not None and float(v) != float(want[field]) or v is None and text != want[field]):
            print(f"{field}: {v} {text}, CSV {want[field]}")
END
result 'the fragment of costs has the rows of --top and --order-by with the figures of CSV' "$(cat "$work/problems")"
# two different fragments and one twice, in a page with a style of its own
{
    echo '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>dashboard</title><style>:root { color-scheme: light dark }'
    echo 'body { font: 16px serif } dt { float: left; width: 20% } td { padding: 20px }</style></head><body><main><h1>Dashboard</h1>'
    echo '<table id="own"><tr><td class="mono">own</td></tr></table><p class="verdict" id="text">text</p>'
    cat "$work/fragment_cost.html" "$work/fragment_diff.html" "$work/fragment_memory.html" "$work/fragment_cost.html"
    echo '</main></body></html>'
} >"$work/dashboard.html"

# ---- costs: a recording with its model, device and suggestions; a model; a recording alone; a decoder; what record writes
cost() { # name -- arguments of onnxcost
    name=$1
    shift
    "$BUILD/onnxcost" "$@" -f html -o "$work/$name.html" >"$work/err" 2>&1 || cat "$work/err"
}
"$BUILD/onnxzoo" mobilenetv2 --weights random -o "$work/mobilenetv2.onnx" >/dev/null
problems=$(
    cost cost "$work/resnet50.onnx" -p models/profiles/resnet50.all.t1.json.gz --hw "$machine" --advise
    cost cost_static "$work/bert_base.onnx" --hw a100
    cost cost_profile tests/data/kineto/small_cuda.json
    cost cost_decoder "$work/llama.onnx" --hw a100
    FAKE_ORT=plain "$BUILD/onnxcost" record "$work/mobilenetv2.onnx" --ort-lib "$BUILD/fake_ort.so" --runs 2 --report -f html -o "$work/" >"$work/record.html" 2>"$work/err" || cat "$work/err"
)
result 'costs and record write pages' "$problems"

# ---- in a browser: only the release mode, the pages are the same in every mode
: "${CHROMIUM:=$(command -v chromium || echo /usr/bin/chromium)}" "${PLAYWRIGHT:=$PWD/build/browser/node_modules/playwright-core}"
export CHROMIUM PLAYWRIGHT AXE="$PWD/build/browser/node_modules/axe-core/axe.min.js"
title='pages sort, filter and work with the keyboard in a browser, 360 to 2560 pixels wide, light and dark'
if command -v node >/dev/null && [ -x "$CHROMIUM" ] && [ -e "$PLAYWRIGHT/package.json" ] && [ "$BUILD" = build/release ]; then
    result "$title" "$(node tests/browser/commands_test.js "$work" 2>&1)"
else
    skip "$title" 'needs node, Chromium, playwright-core (make browser) and the release mode'
fi

finish
