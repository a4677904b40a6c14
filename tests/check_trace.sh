#!/bin/sh
# --format trace: the rules of Perfetto (tests/support/trace_rules.py, which shares no code with the writer), no time
# lost, and our own reader takes what our writer writes. Prints TAP.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
: "${BUILD:=build/release}"
work=$BUILD/trace
rm -rf "$work"
mkdir -p "$work"
onnxcost=$PWD/$BUILD/onnxcost
rules=$PWD/tests/support/trace_rules.py
profiles=models/profiles
export ONNXCOST_HWDB="${ONNXCOST_HWDB:-$PWD/hwdb}"
for model in resnet18 bert_base resnet50 mobilenetv2; do
    "$BUILD/onnxzoo" "$model" -o "$work/$model.onnx"
done
told() { result "$2" "$1"; } # problems title: long ones first
write() { # name arguments...: the trace into $work/name.json, what it holds into $work/name.held
    trace=$work/$1.json
    name=$1
    shift
    "$onnxcost" "$@" -f trace -o "$trace" 2>"$work/err" || { cat "$work/err"; return; }
    # shellcheck disable=SC2069 # complaints are what is told, the rest goes to the file
    python3 "$rules" "$trace" 2>&1 >"$work/$name.held"
}
held() { # name key
    python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$work/$1.held" "$2"
}
report() { # path.of.number arguments...: a number of the JSON report
    path=$1
    shift
    "$onnxcost" "$@" -f json 2>/dev/null | python3 -c '
import functools, json, sys
print(functools.reduce(lambda d, k: d[k], sys.argv[1].split("."), json.load(sys.stdin)))' "$path"
}
near() { # a b: the same to a nanosecond
    awk -v a="$1" -v b="$2" 'BEGIN { d = a - b; if (a == "" || b == "" || a == 0 || d > 1 || d < -1) print a " is not " b }'
}
again() { # name: our reader finds the time that the trace holds
    near "$(held "$1" lanes_ns)" "$(report join.imported.host.imported_ns "$work/$1.json")"
}
case_of() { # title name arguments...
    title=$1
    shift
    problem=$(write "$@")
    [ -z "$problem" ] && problem=$(again "$1")
    told "$problem" "$title"
}

case_of 'a model alone' alone "$work/resnet18.onnx"
told "$([ "$(held alone slices)" = 69 ] || held alone slices)" 'a model alone: a slice for each of its 69 nodes'
told "$([ "$(held alone counters)" -gt 60 ] || held alone counters)" 'a model alone: memory along the steps'

case_of 'a model on hardware' roof "$work/bert_base.onnx" --hw a100
told "$(near "$(held roof estimated_rows_ns)" "$(report hardware.roofline.roofline_time_ns "$work/bert_base.onnx" --hw a100)")" \
    'a model on hardware: the time of the roofline'

both="$work/resnet50.onnx -p $profiles/resnet50.all.t1.json.gz --hw $profiles/machine.t1.xml"
# shellcheck disable=SC2086 # the list is meant to be split
{
    case_of 'a model with its profile' both $both
    told "$(near "$(held both measured_rows_ns)" "$(report join.imported.host.operators_ns $both)")" \
        'a model with its profile: all time of the operators in the used runs'
    told "$(near "$(held both estimated_rows_ns)" "$(report hardware.roofline.roofline_time_ns $both)")" \
        'a model with its profile: the time of the roofline'
    told "$([ "$(held both counters)" -gt 50 ] || held both counters)" 'a model with its profile: memory'
    case_of 'some rows' some $both --type Gemm
    told "$([ "$(held some slices)" = 5 ] || held some slices)" 'some rows: four runs of one operator and its estimate'
}
case_of 'a profile alone' profile "$profiles/mobilenetv2.all.t1.json.gz"
case_of 'several threads' threads "$work/resnet50.onnx" -p "$profiles/resnet50.all.t2.json.gz"
case_of 'threads and streams of a GPU' gpu tests/data/kineto/small_cuda.json
told "$([ "$(held gpu threads)" -ge 2 ] || held gpu threads)" 'threads and streams of a GPU: both'
case_of 'begin and end events' chrome tests/data/chrome/begin_end.json
case_of 'no start times' openvino tests/data/openvino/detailed.csv
told "$(near "$(held openvino measured_rows_ns)" "$("$onnxcost" tests/data/openvino/detailed.csv -f csv 2>/dev/null |
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "time_ns") c = i } NR > 1 { s += $c } END { print s }')")" \
    'no start times: the rows behind one another'
case_of 'MegEngine' mge tests/data/megengine/mixed.json
case_of 'a loop' loop tests/data/onnxruntime/loop_two_runs.json

# slices that overlap on one thread, and names that need escapes
cat >"$work/overlap.in" <<'JSON'
{"traceEvents":[
{"ph":"X","pid":1,"tid":1,"ts":0,"dur":10,"name":"a\"b\\\n\u0007"},
{"ph":"X","pid":1,"tid":1,"ts":5,"dur":10,"name":"half over it"},
{"ph":"X","pid":1,"tid":1,"ts":7,"dur":10,"name":"half over both"},
{"ph":"X","pid":1,"tid":1,"ts":20,"dur":0.001,"name":"short"},
{"ph":"X","pid":1,"tid":1,"ts":20,"dur":0,"name":"none"}]}
JSON
case_of 'slices that overlap' overlap "$work/overlap.in"
told "$([ "$(held overlap threads)" = 3 ] || held overlap threads)" 'slices that overlap: each on a copy of the thread'

refused() { # pattern title arguments...
    pattern=$1 title=$2
    shift 2
    "$onnxcost" "$@" >"$work/out" 2>"$work/err"
    code=$?
    told "$([ $code -eq 2 ] && grep -qE "$pattern" "$work/err" || echo "$code $(cat "$work/err")")" "$title"
}
refused 'no groups' 'no groups' "$work/resnet18.onnx" -f trace --group-by type
refused 'receipts come as table or json' 'no receipts' "$work/resnet18.onnx" -f trace --why 0
finish
