#!/bin/sh
# No line of a command's terminal output exceeds COLUMNS=80: commands, help, and reports of the zoo's models and of
# ../shared/samples where they are there. The default report has at most 8 summary lines. Prints TAP.
# modes: release
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
: "${BUILD:=build/release}"
work=$PWD/$BUILD/columns
rm -rf "$work"
mkdir -p "$work"
onnxcost=$PWD/$BUILD/onnxcost
export ONNXCOST_HWDB="$PWD/hwdb" COLUMNS=80 LC_ALL=C.UTF-8
unset NO_COLOR
for name in resnet50 resnet18 bert_base; do "$BUILD/onnxzoo" $name -o "$work/$name.onnx"; done
"$BUILD/onnxzoo" llama --size 1b -o "$work/llama.onnx"
profiles=$PWD/models/profiles

fits() { # title command...
    title=$1
    shift
    "$@" >"$work/out" 2>"$work/err" </dev/null
    wide=$(sed "s/…/./g" "$work/out" | awk "length > 80" | head -n 3)
    [ -s "$work/out" ] && [ -z "$wide" ]
    passed $? "$title fits 80 columns" "$wide$(head -n 1 "$work/err")"
}
short() { # title: the summary of the last report
    lines=$(sed '/^$/,$d; /^warnings/,$d' "$work/out" | grep -c '^[a-z]')
    [ "$lines" -ge 1 ] && [ "$lines" -le 8 ]
    passed $? "$1 has at most 8 summary lines" "$lines"
}
report() { # title arguments...
    title=$1
    shift
    fits "$title" "$onnxcost" "$@"
    short "$title"
}
report 'a model' "$work/resnet50.onnx"
report 'a transformer' "$work/bert_base.onnx"
report 'a model on a device' "$work/resnet50.onnx" --hw t4
report 'a joined profile on a device' "$work/resnet50.onnx" -p "$profiles/resnet50.all.t1.json.gz" --hw xeon-platinum-8480-plus
report 'a profile alone' "$profiles/resnet50.all.t1.json.gz"
fits 'all operators' "$onnxcost" "$work/resnet50.onnx" -p "$profiles/resnet50.all.t1.json.gz" -a
fits 'verbose' "$onnxcost" "$work/resnet50.onnx" -p "$profiles/resnet50.all.t1.json.gz" --hw t4 -v
fits 'hw list' "$onnxcost" hw list
fits 'llm' "$onnxcost" llm "$work/llama.onnx" --hw t4,a100
fits 'memory' "$onnxcost" memory "$work/bert_base.onnx"
fits 'compare' "$onnxcost" compare "$work/resnet50.onnx" --hw t4,l4,a10
fits 'diff' "$onnxcost" diff "$work/resnet50.onnx" "$work/resnet18.onnx"
fits 'summary' "$onnxcost" summary "$profiles/resnet50.all.t1.json.gz"
fits 'help' "$onnxcost" -h
[ "$(wc -l <"$work/out")" -le 40 ]; passed $? 'help has at most 40 lines' "$(wc -l <"$work/out")"
for command in options cost record hw diff check memory; do fits "help $command" "$onnxcost" help $command; done
if [ -d ../shared/samples ]; then
    find ../shared/samples -type f ! -path '*/megengine/*' ! -name '*.md' ! -name '*.onnx' ! -name '*.tsv' | sort >"$work/files"
    while read -r file; do
        "$onnxcost" "$file" >/dev/null 2>&1 </dev/null || continue
        fits "sample $(basename "$file")" "$onnxcost" "$file"
    done <"$work/files"
else
    skip 'samples' '../shared/samples is not there'
fi
finish
