#!/bin/sh
# onnxcost bisect and tune: the searches are tested with simulated times (tests/unit/trial); here the program, with imitations of ONNX Runtime of several versions, and with real ones if ORT_VERSIONS names a folder of them. Prints TAP; downloads nothing.
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
: "${BUILD:=build/release}"
work=$PWD/$BUILD/trials
rm -rf "$work"
mkdir -p "$work/versions/a/linux" "$work/versions/b" "$work/versions/c"
export PATH="$PWD/$BUILD:$PATH" LC_ALL=C.UTF-8 COLUMNS=120
fake="$PWD/$BUILD/fake_ort.so"
cp "$fake" "$work/versions/a/linux/libonnxruntime.so.1.14.0"
cp "$fake" "$work/versions/b/libonnxruntime.so.1.9.1"
cp "$fake" "$work/versions/b/libonnxruntime.so.1.12.1"
cp "$fake" "$work/versions/c/libonnxruntime.so.1.14.0"
cp "$fake" "$work/versions/c/libonnxruntime_providers_shared.so"
echo text >"$work/versions/c/libonnxruntime.so.1.15.0"
cd "$work" || exit 1
# expression of Python about the document d: prints it unless it is true
holds() {
    python3 -c 'import json, sys
d = json.load(open("out"))
v = eval(sys.argv[1])
v is True or print(v, json.dumps(d)[:800])' "$1" 2>&1
}
onnxzoo mobilenetv2 --weights random -o net.onnx >/dev/null
export FAKE_ORT=plain

onnxcost bisect net.onnx --ort-lib versions --runs 12 --repeat 3 -f json >out 2>err
rc=$?
result 'versions of a folder: the oldest first, each once, those that can be loaded' "$([ $rc -eq 0 ] || cat err
    holds '[v["version"] for v in d["versions"]] == ["1.12.1", "1.14.0"]')"
result 'two versions are measured three times each' "$(holds 'd["processes"] - d["repeated"] == 6 or len(d["steps"]) > 1')"
result 'a step has its interval and verdict' "$(holds '[s["low"] <= s["ratio"] <= s["high"] and s["processes_a"] == 3 and len(s["verdict"]) > 0 and s["from"] == "1.12.1" for s in d["steps"]][0]')"
onnxcost bisect net.onnx --ort-lib versions/c/libonnxruntime.so.1.14.0 --ort-lib versions/b/libonnxruntime.so.1.12.1 --runs 12 --repeat 3 --all --figure session -w 80 >out 2>err
rc=$?
result 'files in any order, every version, another figure' "$([ $rc -eq 0 ] && grep -q '^model .*creation of the session with 2 versions' out && grep -q '^answer .*1.12.1 -> 1.14.0' out || cat out err)"
result 'no line is wider than 80 columns' "$(grep -E '^.{81}' out)"
result 'no recordings are made for another figure' "$(find . -name '*.profile.json')"
onnxcost bisect net.onnx --ort-lib versions --runs 12 --repeat 3 -f csv >out 2>err
result 'CSV has the steps' "$(head -n 1 out | grep -q '^from,to,ratio,low,high,verdict,' || cat out err)"

# title, exit code, text of standard error, arguments
expect_failure() {
    title=$1 code=$2 text=$3
    shift 3
    onnxcost "$@" >out 2>err </dev/null
    rc=$?
    problem=
    [ $rc -eq "$code" ] || problem="exit code $rc, not $code"
    grep -qF -- "$text" err || problem="$problem; stderr: $(cat err)"
    [ -s out ] && problem="$problem; printed: $(head -n 1 out)"
    result "$title" "$problem"
}
expect_failure 'bisect without versions' 2 'bisect needs versions of ONNX Runtime' bisect net.onnx
expect_failure 'bisect without a model' 2 'bisect needs a model' bisect --ort-lib versions
expect_failure 'bisect of one version' 2 'needs two versions of ONNX Runtime or more, not 1' bisect net.onnx --ort-lib versions/a
mkdir versions/empty
expect_failure 'an empty folder' 4 "'versions/empty' has no libonnxruntime.so" bisect net.onnx --ort-lib versions/empty
expect_failure 'a file of another kind' 4 'cannot load' bisect net.onnx --ort-lib net.onnx --ort-lib versions
expect_failure 'few processes carry no verdict' 2 '--repeat needs a number from 3' bisect net.onnx --ort-lib versions --repeat 2
expect_failure 'a figure that does not exist' 2 'latency, session, first-run' bisect net.onnx --ort-lib versions --figure memory
FAKE_ORT=bad_model expect_failure 'a model that no version runs' 3 "fewer than two versions can run 'net.onnx'" bisect net.onnx --ort-lib versions --repeat 3

onnxcost tune net.onnx --ort-lib "$fake" --runs 12 --repeat 3 --threads 1 -f json >out 2>err
rc=$?
result 'tune measures the settings that are not given' "$([ $rc -eq 0 ] || cat err
    holds 'len(d["settings"]) >= 9 and "--threads 1" not in [s["setting"] for s in d["settings"]] and d["default_ns"] > 0')"
result 'the last round has three processes of each setting' "$(holds '[s["processes"] for s in d["settings"] if s["last_round"]] in ([3] * 3, [3] * 4)')"
FAKE_ORT=no_switches onnxcost tune net.onnx --ort-lib "$fake" --runs 12 --repeat 3 --threads 1 -w 80 >out 2>err
rc=$?
result 'a setting that the runtime refuses is named' "$([ $rc -eq 0 ] && grep -q '^impossible  --session-config enable_cpu_mem_arena=0: ' out || cat out err)"
# The lines of code above the table are to be pasted, so they are not broken.
result 'the table of tune names the settings' "$(grep -q ' session.dynamic_block_base=4$' out || cat out)"
result 'the table of tune is not wider than 80 columns' "$(sed '1,/^$/d' out | grep -E '^.{81}')"
FAKE_ORT=bad_model expect_failure 'tune of a model that cannot be loaded' 3 'protobuf parsing failed' tune net.onnx --ort-lib "$fake"
onnxzoo yolov8n --weights random -o softmax.onnx >/dev/null
rewritten() { # title, mode of the imitation, expression of Python about the row of the rewrite
    FAKE_ORT=$2 TMPDIR=$work onnxcost tune softmax.onnx --ort-lib "$fake" --runs 12 --repeat 3 --threads 1 -f json >out 2>err
    result "$1" "$(cat err; holds "(lambda r: $3)([s for s in d[\"settings\"] if s[\"setting\"] == \"--apply softmax-axis\"][0])")"
}
rewritten 'a rewrite of the model is measured' plain 'r["failed"] is None and r["ratio"] > 0'
rewritten 'outputs of a rewrite may be rounded otherwise' rounded 'r["failed"] is None'
rewritten 'a rewrite with other outputs is not measured' other_outputs '"differ by 0.001 of their largest" in r["failed"] and r["processes"] == 0'
result 'temporary files of rewrites are removed' "$(find . -maxdepth 1 -name '*onnxcost-*')"
expect_failure 'tune without a model' 2 'tune needs a model' tune
expect_failure 'a value of an attribute' 2 'execution_mode needs one of: sequential parallel' tune net.onnx --ort-lib "$fake" --session-config execution_mode=both
expect_failure 'an entry without a dot that is not an attribute' 2 "'spinning' is neither a key" record net.onnx --ort-lib "$fake" --session-config spinning=1
expect_failure 'a number of an attribute' 2 'inter_op_num_threads needs a number from 0 to 4096' record net.onnx --ort-lib "$fake" --session-config inter_op_num_threads=-1

if [ -d "${ORT_VERSIONS:-}" ]; then
    unset FAKE_ORT
    onnxcost bisect net.onnx --ort-lib "$ORT_VERSIONS" --threads 1 --repeat 3 -f json >out 2>err
    result 'real versions are compared' "$(cat err; holds 'len(d["versions"]) >= 2 and 0.2 < d["steps"][0]["ratio"] < 5')"
    library=$(sed -n 's/.*"library":"\([^"]*\)".*/\1/p' out | tail -n 1)
    onnxcost tune net.onnx --ort-lib "$library" --threads 1 --repeat 3 -f json >out 2>err
    result 'real settings are compared' "$(cat err; holds 'len([s for s in d["settings"] if s["failed"] is None]) >= 8')"
else
    skip_named 'real versions' 'ORT_VERSIONS names no folder'
    skip_named 'real settings' 'ORT_VERSIONS names no folder'
fi
cd / && rm -rf "$work"
finish
