#!/bin/sh
# What the change of the time consists of, with and without a model: the parts of `onnxcost diff` are computed again from the rows
# (tests/support/decomposition_rules.py) and add up to the difference of the latencies. Prints TAP.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
: "${BUILD:=build/release}"
top=$PWD
work=$BUILD/decomposition
rm -rf "$work"
mkdir -p "$work"
onnxcost=$top/$BUILD/onnxcost
"$BUILD/onnxzoo" resnet50 -o "$work/resnet50.onnx" >/dev/null || exit 1
cd "$work" || exit 1
unset NO_COLOR COLUMNS
profiles=$top/models/profiles
data=$top/tests/data
shared=$top/../shared

# parts TITLE 'wanted parts' arguments...: see decomposition_rules.py; a file of ../shared that is not there skips the test
parts() {
    title=$1 wanted=$2
    shift 2
    for file in "$@"; do
        case $file in "$shared"/*) [ -e "$file" ] || { skip_named "$title" "$file is not there" && return; } ;; esac
    done
    "$onnxcost" diff "$@" -f json -o diff.json 2>err || { passed 1 "$title" "$(cat err)"; return; }
    # shellcheck disable=SC2086 # parts have no blanks in this list
    problems=$(python3 "$top/tests/support/decomposition_rules.py" diff.json $wanted 2>&1)
    passed $? "$title: the parts are those of the rows and add up" "$problems"
}

# ---- own fixtures
parts 'equal recordings' '' -p "$data/kineto/small_cuda.json" -p "$data/kineto/small_cuda.json"
parts 'two traces of PyTorch' 'copies<0' -p "$data/kineto/small_cuda.json" -p "$data/kineto/pauses.json"
parts 'one device and two' '' -p "$data/kineto/small_cuda.json" -p "$data/kineto/two_devices.json" --iterations 1
parts 'collectives' 'communication>0' -p "$data/kineto/small_cuda.json" -p "$data/kineto/collective.json"
parts 'ONNX Runtime without a model' '' -p "$profiles/resnet50.disabled.t1.json.gz" -p "$profiles/resnet50.all.t1.json.gz"
parts 'ONNX Runtime with a model' '' resnet50.onnx -p "$profiles/resnet50.disabled.t1.json.gz" -p "$profiles/resnet50.all.t1.json.gz"
parts 'two batch sizes' '' resnet50.onnx -p "$profiles/resnet50.all.t1.json.gz" -p "$profiles/resnet50.all.t2.json.gz" -d batch=1 -d batch=2
parts 'sums of runs' '' -p "$profiles/resnet50.disabled.t1.json.gz" -p "$profiles/resnet50.all.t1.json.gz" --stat sum

# ---- public traces
pytorch=$shared/samples/pytorch nsys=$shared/samples/nsys cases=$shared/cases/profiles3 tensorrt=$shared/samples/tensorrt
parts 'PyTorch on MI250 and V100' '' -p "$pytorch/kineto_2024.rocm_mi250.json.gz" -p "$pytorch/resnet50_train_v100.pt.trace.json.gz"
parts 'PyTorch with collectives' 'communication>0' -p "$pytorch/kineto_2024.rocm_mi250.json.gz" -p "$pytorch/kineto_2021.sampled_rank0.json.gz"
parts 'Nsight Systems tables of two frameworks' 'copies<0' -p "$nsys/nsys2023.stats.paddle_gcn.txt" \
    -p "$nsys/nsys2023.stats.torch_gcn.txt" --iterations 1
parts 'Nsight Systems databases' '' -p "$cases/A5_nsys_library_nvtx_only.sqlite" -p "$cases/J1_nsys_start_end_ranges.sqlite" --iterations 1
parts 'TensorRT fp32 and fp16' '' -p "$tensorrt/pytorch.resnet.A100.fp32.resnet.onnx.engine.profile.json" \
    -p "$tensorrt/pytorch.resnet.A100.fp16.resnet.onnx.engine.profile.json"
parts 'two devices and two ranks' 'communication>0' -p "$cases/F1_two_gpus_one_process.json" -p "$cases/F2_two_ranks_merged.json"

# ---- every output has the parts
both="-p $profiles/resnet50.disabled.t1.json.gz -p $profiles/resnet50.all.t1.json.gz"
for format in table markdown html github; do
    # shellcheck disable=SC2086 # options
    "$onnxcost" diff $both -f $format >out 2>err
    grep -q 'other kernels for the same work' out
    passed $? "$format has the parts" "$(head -n 5 out err)"
done
# shellcheck disable=SC2086 # options
COLUMNS=80 "$onnxcost" diff $both >out 2>err
head -n 1 out | grep -q '^latency '
passed $? 'the table begins with the verdict' "$(head -n 2 out)"
result 'the table fits 80 columns' "$(python3 -c 'print("".join(line for line in open("out", encoding="utf-8") if len(line) > 81), end="")')"

# ---- several recordings without a model
mkdir -p a b
python3 - "$profiles/resnet50.all.t1.json.gz" <<'PYTHON'
import gzip, json, sys
events = json.load(gzip.open(sys.argv[1]))
for k, side in enumerate("abbabaabab"):
    n = k // 2
    factor = [1.0, 1.01, 0.995, 1.005, 0.99][n] * (1.2 if side == "b" else 1)
    copy = [dict(e, dur=round(e["dur"] * factor), ts=round(e["ts"] * factor)) for e in events]
    copy.append({"cat": "onnxcost", "ph": "M", "name": "", "ts": 0, "dur": 0, "pid": 0, "tid": 0,
                 "args": {"started_s": 1764400000 + 7 * k, "processors": 2, "threads": 1, "processors_of_others": 0.5}})
    json.dump(copy, open(f"{side}/r{n}.json", "w"))
PYTHON
parts 'five recordings a side' '' -p a -p b
"$onnxcost" diff -p a -p b --width 140 >out 2>err
grep -q '^latency .*B is slower by 20\.0 %' out
passed $? 'several recordings have a verdict' "$(head -n 4 out err)"
grep -qE 'slower by 20\.. % .*Conv' out
passed $? 'rows have verdicts' "$(head -n 40 out)"

# ---- what is rejected
# rejects CODE 'pattern' title arguments...
rejects() {
    want=$1 pattern=$2 title=$3
    shift 3
    "$onnxcost" diff "$@" >out 2>err
    code=$?
    [ $code -eq "$want" ] && grep -qE -- "$pattern" err
    passed $? "$title" "exit code $code (not $want): $(head -n 3 err)"
}
rejects 2 'needs two profiles' 'one profile' -p a/r0.json
rejects 2 'need a model' 'sizes without a model' -p a/r0.json -p b/r0.json -d batch=2
rejects 2 'one -p for each side' 'three profiles' -p a/r0.json -p b/r0.json -p b/r1.json
rejects 3 'cannot read' 'a file that is not there' -p a/r0.json -p missing.json
finish
