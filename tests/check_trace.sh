#!/bin/sh
# --format trace: the rules of Perfetto (tests/support/trace_rules.py, which shares no code with the writer), conservation
# of time, and the written trace can be imported. Prints TAP.
# modes: release
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
check() { result "$2" "$1"; } # problems title
write() { # name arguments...: the trace into $work/name.json, its summary into $work/name.summary
    trace=$work/$1.json
    name=$1
    shift
    "$onnxcost" "$@" -f trace -o "$trace" 2>"$work/err" || { cat "$work/err"; return; }
    # shellcheck disable=SC2069 # problems go to standard output, the rest to the file
    python3 "$rules" "$trace" 2>&1 >"$work/$name.summary"
}
summary_value() { # name key
    python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$work/$1.summary" "$2"
}
report() { # path.of.number arguments...: a number of the JSON report
    path=$1
    shift
    "$onnxcost" "$@" -f json 2>/dev/null | python3 -c '
import functools, json, sys
print(functools.reduce(lambda d, k: d[k], sys.argv[1].split("."), json.load(sys.stdin)))' "$path"
}
expect_near() { # a b: equal up to a nanosecond
    awk -v a="$1" -v b="$2" 'BEGIN { d = a - b; if (a == "" || b == "" || a == 0 || d > 1 || d < -1) print a " is not " b }'
}
reimport() { # name: the importer finds the time of the trace
    expect_near "$(summary_value "$1" lanes_ns)" "$(report join.imported.host.imported_ns "$work/$1.json")"
}
test_trace() { # title name arguments...
    title=$1
    shift
    problem=$(write "$@")
    [ -z "$problem" ] && problem=$(reimport "$1")
    check "$problem" "$title"
}

test_trace 'model without a profile' alone "$work/resnet18.onnx"
check "$([ "$(summary_value alone slices)" = 69 ] || summary_value alone slices)" 'model without a profile: one slice per node'
check "$([ "$(summary_value alone counters)" -gt 60 ] || summary_value alone counters)" 'model without a profile: memory counter'

test_trace 'model with hardware' roof "$work/bert_base.onnx" --hw a100
check "$(expect_near "$(summary_value roof estimated_rows_ns)" "$(report hardware.roofline.roofline_time_ns "$work/bert_base.onnx" --hw a100)")" \
    'model with hardware: roofline time'

both="$work/resnet50.onnx -p $profiles/resnet50.all.t1.json.gz --hw $profiles/machine.t1.xml"
# shellcheck disable=SC2086 # the list is meant to be split
{
    test_trace 'model with its profile' both $both
    check "$(expect_near "$(summary_value both measured_rows_ns)" "$(report join.imported.host.operators_ns $both)")" \
        'model with its profile: operator time of the used runs'
    check "$(expect_near "$(summary_value both estimated_rows_ns)" "$(report hardware.roofline.roofline_time_ns $both)")" \
        'model with its profile: roofline time'
    check "$([ "$(summary_value both counters)" -gt 50 ] || summary_value both counters)" 'model with its profile: memory counter'
    test_trace 'filtered rows' some $both --type Gemm
    check "$([ "$(summary_value some slices)" = 5 ] || summary_value some slices)" 'filtered rows: four runs of one operator and its roofline'
}
test_trace 'profile without a model' profile "$profiles/mobilenetv2.all.t1.json.gz"
test_trace 'several threads' threads "$work/resnet50.onnx" -p "$profiles/resnet50.all.t2.json.gz"
test_trace 'threads and streams of a GPU' gpu tests/data/kineto/small_cuda.json
check "$([ "$(summary_value gpu arrows)" -eq 3 ] || summary_value gpu arrows)" 'an arrow from each launch to its work on the device'
check "$([ "$(summary_value gpu threads)" -ge 2 ] || summary_value gpu threads)" 'threads and streams of a GPU are separate tracks'
test_trace 'begin and end events' chrome tests/data/chrome/begin_end.json
test_trace 'profile without start times' openvino tests/data/openvino/detailed.csv
check "$(expect_near "$(summary_value openvino measured_rows_ns)" "$("$onnxcost" tests/data/openvino/detailed.csv -f csv 2>/dev/null |
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "time_ns") c = i } NR > 1 { s += $c } END { printf "%.3f\n", s }')")" \
    'profile without start times: rows in sequence'
test_trace 'MegEngine' mge tests/data/megengine/mixed.json
test_trace 'a loop' loop tests/data/onnxruntime/loop_two_runs.json

# slices that overlap on one thread, and names that need escapes
cat >"$work/overlap.in" <<'JSON'
{"traceEvents":[
{"ph":"X","pid":1,"tid":1,"ts":0,"dur":10,"name":"a\"b\\\n\u0007"},
{"ph":"X","pid":1,"tid":1,"ts":5,"dur":10,"name":"half over it"},
{"ph":"X","pid":1,"tid":1,"ts":7,"dur":10,"name":"half over both"},
{"ph":"X","pid":1,"tid":1,"ts":20,"dur":0.001,"name":"short"},
{"ph":"X","pid":1,"tid":1,"ts":20,"dur":0,"name":"none"}]}
JSON
test_trace 'overlapping slices' overlap "$work/overlap.in"
check "$([ "$(summary_value overlap threads)" = 3 ] || summary_value overlap threads)" 'overlapping slices: each on a copy of the thread'

expect_usage_error() { # pattern title arguments...
    pattern=$1 title=$2
    shift 2
    "$onnxcost" "$@" >"$work/out" 2>"$work/err"
    code=$?
    check "$([ $code -eq 2 ] && grep -qE "$pattern" "$work/err" || echo "$code $(cat "$work/err")")" "$title"
}
expect_usage_error 'no groups' '--group-by is rejected' "$work/resnet18.onnx" -f trace --group-by type
expect_usage_error 'supports the formats table and json' '--why is rejected' "$work/resnet18.onnx" -f trace --why 0
finish
