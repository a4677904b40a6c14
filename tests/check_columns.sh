#!/bin/sh
# No line of a command's terminal output exceeds COLUMNS=80: commands, help, and reports of the zoo's models and of
# ../shared/samples where they are there. The default report has at most 8 summary lines, and 25 in all. Prints TAP.
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
# names that are wider than the screen and differ at their end
long=$work/exported_from_a_training_framework_in_november/quantized_and_optimized_for_inference/opset17
mkdir -p "$long"
for name in resnet50 resnet18 bert_base; do cp "$work/$name.onnx" "$long/${name}_with_a_name_that_says_everything_about_its_history_v2.onnx"; done
cp "$profiles/resnet50.all.t1.json.gz" "$long/resnet50_on_a_machine_with_a_long_name_and_all_optimizations.json.gz"
echo broken >"$work/broken.onnx"

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
    one_screen "$title"
}
one_screen() { # title: the last report
    lines=$(wc -l <"$work/out")
    [ "$lines" -le 25 ]
    passed $? "$1 has at most 25 lines" "$lines"
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
fits 'llm on four devices' "$onnxcost" llm "$work/llama.onnx" --hw t4,a100,rtx-4090,h100-sxm5-80gb
one_screen 'llm on four devices'
fits 'memory' "$onnxcost" memory "$work/bert_base.onnx"
one_screen 'memory'
fits 'llm on a device' "$onnxcost" llm "$work/llama.onnx" --hw t4
one_screen 'llm on a device'
fits 'estimate' "$onnxcost" estimate "$work/resnet50.onnx" --hw t4
one_screen 'estimate'
fits 'diff of recordings' "$onnxcost" diff "$work/resnet50.onnx" -p "$profiles/resnet50.all.t1.json.gz" -p "$profiles/resnet50.disabled.t1.json.gz"
one_screen 'diff of recordings'
fits 'estimate of several devices' "$onnxcost" estimate "$work/resnet50.onnx" --hw t4,l4,a10
one_screen 'estimate of several devices'
fits 'diff' "$onnxcost" diff "$work/resnet50.onnx" "$work/resnet18.onnx"
one_screen 'diff'
fits 'providers' "$onnxcost" providers
fits 'an assignment to providers' "$onnxcost" providers "$work/bert_base.onnx" --provider qnn+coreml+cuda+cpu --hw a100
fits 'summary' "$onnxcost" summary "$profiles/resnet50.all.t1.json.gz"
one_screen 'summary'
fits 'scan' "$onnxcost" scan "$work/resnet18.onnx" "$work/broken.onnx" "$work/bert_base.onnx"
fits 'scan of long names' "$onnxcost" scan "$long" "$work/resnet18.onnx"
for name in resnet18 resnet50 bert_base; do grep -q "${name}_" "$work/out"; passed $? "scan of long names keeps $name" "$(cat "$work/out")"; done
grep -q 'not shown at 80 columns: nodes, FLOPs, bytes' "$work/out"; passed $? 'scan names its dropped columns' "$(tail -n 3 "$work/out")"
fits 'ops' "$onnxcost" ops
grep -q 'not shown at 80 columns: .*formula' "$work/out"; passed $? 'ops names its dropped columns' "$(tail -n 1 "$work/out")"
for device in $("$onnxcost" hw list -f csv | tail -n +2 | cut -d, -f1); do fits "hw show $device" "$onnxcost" hw show "$device"; done
fits 'hw diff' "$onnxcost" hw diff a100 xeon-platinum-8480-plus
for pair in fvcore,xla mge,torch calflops,onnx-tool; do
    fits "conventions ${pair%,*} and ${pair#*,}" "$onnxcost" diff "$work/bert_base.onnx" --convention "${pair%,*}" --convention "${pair#*,}"
    head -n 1 "$work/out" | grep -q "${pair%,*} .*${pair#*,} "; passed $? "diff shows both counts of $pair" "$(head -n 1 "$work/out")"
done
fits 'formulas' "$onnxcost" "$work/bert_base.onnx" --formula
"$onnxcost" "$work/bert_base.onnx" --formula --width 0 2>/dev/null | tr -d ' \n' >"$work/whole"
tr -d ' \n' <"$work/out" | cmp -s - "$work/whole"; passed $? 'a broken formula has all of its terms' ''
fits 'sweep' "$onnxcost" "$work/bert_base.onnx" -d batch=1,2,4
fits 'bounds' "$onnxcost" "$work/bert_base.onnx" --dim batch=1..8 --dim sequence=1..64
fits 'training step' "$onnxcost" "$work/bert_base.onnx" --training adam
fits 'zeros' "$onnxcost" "$work/bert_base.onnx" --sparsity
fits 'training step of a large model' "$onnxcost" "$work/llama.onnx" --training adam
fits 'estimate' "$onnxcost" estimate "$long"/resnet50_with*.onnx --hw t4
fits 'long names' "$onnxcost" "$long"/resnet50_with*.onnx -p "$long"/resnet50_on*.json.gz --hw t4 -v
fits 'several devices and long names' "$onnxcost" estimate "$long"/resnet50_with*.onnx --hw t4,l4,a10
fits 'diff of long names' "$onnxcost" diff "$long"/resnet50_with*.onnx "$long"/resnet18_with*.onnx
fits 'memory of long names' "$onnxcost" memory "$long"/bert_base_with*.onnx
fits 'summary of long names' "$onnxcost" summary "$long"/resnet50_on*.json.gz
for width in 60 70 80 90; do
    COLUMNS=$width "$onnxcost" "$work/resnet50.onnx" -p "$profiles/resnet50.all.t1.json.gz" --hw t4 -v >"$work/out" 2>/dev/null
    lone=$(grep -nE '^ *(%|ms|us|GFLOP/s|GB/s|MiB|MB)[,;.)]*( |$)' "$work/out")
    [ -s "$work/out" ] && [ -z "$lone" ]; passed $? "no unit starts a line at $width columns" "$lone"
done
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
