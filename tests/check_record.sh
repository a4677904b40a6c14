#!/bin/sh
# onnxcost record: messages without a library and with unusable ones, and real recordings if ONNX Runtime is found (ONNXRUNTIME_LIB, the usual places, or what `make corpus` has installed). Prints TAP; downloads nothing.
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
: "${BUILD:=build/release}"
top=$PWD
work=$PWD/$BUILD/record
samples=$PWD/../shared/samples/onnxruntime
rm -rf "$work"
mkdir -p "$work"
export PATH="$PWD/$BUILD:$PATH" LC_ALL=C COLUMNS=120
onnxzoo="$PWD/$BUILD/onnxzoo"
fake="$PWD/$BUILD/fake_ort.so"
cd "$work" || exit 1
# title, exit code, text of standard error, arguments of record: no output and no files
expect_failure() {
    title=$1 code=$2 text=$3
    shift 3
    onnxcost record "$@" -o refused >out 2>err </dev/null
    rc=$?
    problem=
    [ $rc -eq "$code" ] || problem="exit code $rc, not $code"
    grep -qF -- "$text" err || problem="$problem; stderr: $(cat err)"
    [ -s out ] && problem="$problem; printed: $(head -n 1 out)"
    [ -z "$(find . -maxdepth 1 \( -name 'refused*' -o -name '.onnxcost*' \))" ] || problem="$problem; files remain: $(find . -maxdepth 1 | tr '\n' ' ')"
    result "$title" "$problem"
}

"$onnxzoo" resnet18 -o empty.onnx >/dev/null
"$onnxzoo" mobilenetv2 --weights random -o net.onnx >/dev/null

# ---- without ONNX Runtime, or with something else -----------------------------------------------------------
expect_failure 'missing library is an error' 4 "--ort-lib: cannot load './none.so'" net.onnx --ort-lib none.so
expect_failure 'file that is not a library is an error' 4 "--ort-lib: cannot load './net.onnx'" net.onnx --ort-lib net.onnx
FAKE_ORT=old expect_failure 'old library is an error' 4 'ONNX Runtime 1.3.0 is too old: 1.10 needed' net.onnx --ort-lib "$fake"
FAKE_ORT=no_api expect_failure 'library without the API version is an error' 4 'does not offer version 10 of its API' net.onnx --ort-lib "$fake"
FAKE_ORT=crash_loading expect_failure 'crash while loading is an error' 4 'ONNX Runtime crashed while loading the model (Aborted)' net.onnx --ort-lib "$fake"
FAKE_ORT=bad_model expect_failure 'model rejected by the library is an error' 3 "cannot load 'net.onnx': protobuf parsing failed" net.onnx --ort-lib "$fake"
expect_failure 'absent weights are an error' 3 "its weights are absent: 'conv1.weight' should be in 'empty.onnx.data'" empty.onnx --ort-lib "$fake"
expect_failure 'weights that are absent: the zoo can write them' 3 'onnxzoo MODEL --weights random' empty.onnx --ort-lib "$fake"
expect_failure 'a time budget without a unit that exists' 2 "--time-budget needs a time such as 90s, 5min or 500ms, not '5 parsecs'" net.onnx --time-budget '5 parsecs' --ort-lib "$fake"
expect_failure '--runs 0 is rejected' 2 '--runs needs a number from 1' net.onnx --runs 0 --ort-lib "$fake"
expect_failure 'no model is an error' 2 'record needs a model'
expect_failure '-p is rejected' 2 'record makes the profile itself' net.onnx -p x.json
expect_failure 'missing model is an error' 3 "nothing.onnx" nothing.onnx
expect_failure 'inputs beyond the limit are rejected' 3 "net.onnx: input 'input': 60211200000 bytes of inputs for a run: more than 536870912" net.onnx -d batch=100000 --ort-lib "$fake"
expect_failure 'shape of another rank is rejected' 2 "input 'input' has 4 dimensions, not 2" net.onnx -s input=3x4 --ort-lib "$fake"

FAKE_ORT=prints onnxcost record net.onnx --ort-lib "$fake" --runs 3 -o fake/ >out 2>err
rc=$?
result 'fake library is recorded, its output is suppressed' "$([ $rc -eq 0 ] && grep -q '^runtime     ONNX Runtime 1.16.0' out &&
    grep -q '^profiled    .* of 3 runs' out && ! grep -q 'must not be seen' out err && [ -s fake/net.profile.json ] || cat out err)"

# ---- execution providers: the fake library has WebGPU and New (by name), CUDA (own functions), MIGraphX (exported) and the CPU
expect_failure 'unknown provider is an error that lists those of the library' 2 \
    '--provider cdua: ONNX Runtime 1.16.0 has no such execution provider; it offers CUDAExecutionProvider, WebGpuExecutionProvider, MIGraphXExecutionProvider, NewExecutionProvider, CPUExecutionProvider; see --ort-lib (' \
    net.onnx --provider cdua --ort-lib "$fake"
expect_failure 'provider that the library lacks is an error' 4 '--provider xnnpack: ONNX Runtime 1.16.0 has no such execution provider; it offers CUDA' net.onnx --provider xnnpack --ort-lib "$fake"
FAKE_ORT=no_list expect_failure 'library without a list of providers is an error' 4 'cannot list its execution providers: no list today' net.onnx --provider webgpu --ort-lib "$fake"
FAKE_ORT=1.10 expect_failure 'library too old for providers by name is an error' 4 '--provider webgpu: ONNX Runtime 1.10.0 is too old to add WebGpuExecutionProvider: 1.12 needed' net.onnx --provider webgpu --ort-lib "$fake"
FAKE_ORT=1.10 expect_failure 'library too old for CUDA by options is an error' 4 'is too old to add CUDAExecutionProvider: 1.11 needed' net.onnx --provider cuda --ort-lib "$fake"
for provider in webgpu cuda; do
    expect_failure "$provider: refused option is an error with the library's message" 2 ': there is no option bad' net.onnx --provider "$provider:x=1,bad=2" --ort-lib "$fake"
    FAKE_ORT=no_device expect_failure "$provider: failing provider is an error with the library's message" 4 'ExecutionProvider: no device' net.onnx --provider $provider --ort-lib "$fake"
done
expect_failure 'exported function takes one number' 2 'has one option, device_id, which is a number' net.onnx --provider migraphx:device_id=x --ort-lib "$fake"
expect_failure 'the CPU provider comes last' 2 'CPUExecutionProvider runs what the others do not take: put it last' net.onnx --provider cpu+webgpu --ort-lib "$fake"
expect_failure 'the CPU provider has no options' 2 '--provider cpu: CPUExecutionProvider has no options' net.onnx --provider cpu:x=1 --ort-lib "$fake"
for text in '' 'webgpu+' '+webgpu' 'webgpu:' 'webgpu:x' 'webgpu:x=' 'webgpu:=1' 'webgpu:x=1,'; do
    expect_failure "--provider '$text' is rejected" 2 "--provider needs NAME[:KEY=VALUE,...][+NAME...], not '$text'" net.onnx --provider "$text" --ort-lib "$fake"
done
# providers, what the library has added, the placement
expect_provider() {
    FAKE_ORT=plain onnxcost record net.onnx --ort-lib "$fake" --runs 3 --provider "$1" -o provider/ >out 2>err
    rc=$?
    result "--provider $1" "$([ $rc -eq 0 ] && grep -qF "\"added\" : \"$2\"" provider/net.profile.json && tr -s ' \n' ' ' <out | grep -qF "providers $3" || cat out err; grep -o '"added" : "[^"]*"' provider/net.profile.json | grep -vF "\"$2\"")"
    rm -rf provider
}
expect_provider webgpu 'WebGPU()' 'webgpu: 1 of 2 operators by WebGpuExecutionProvider; 1 by CPUExecutionProvider: sum (Add)'
expect_provider 'WEBGPUexecutionprovider:layout=NCHW,list=a\,b\+c+cpu' 'WebGPU(layout=NCHW,list=a,b+c,)' 'WEBGPUexecutionprovider:layout=NCHW,list=a\,b\+c+cpu: 1 of 2'
expect_provider 'cuda:device_id=1+webgpu' 'CUDA(device_id=1,)WebGPU()' 'cuda:device_id=1+webgpu: 1 of 2 operators by CUDAExecutionProvider'
expect_provider new:k=v 'New(k=v,)' 'new:k=v: 1 of 2 operators by NewExecutionProvider'
expect_provider migraphx:device_id=2 'MIGraphX(2)' 'migraphx:device_id=2: 1 of 2 operators by MIGraphXExecutionProvider'
expect_provider CPU '' 'CPU: 1 of 1 operators by CPUExecutionProvider'
FAKE_ORT=compiled onnxcost record net.onnx --ort-lib "$fake" --runs 3 --provider cuda --report -t 2 -o provider/ >out 2>err
rc=$?
result 'provider whose nodes cannot be saved: a profile without an optimized model' "$([ $rc -eq 0 ] && [ "$(ls provider)" = net.profile.json ] && ! grep -q '^optimized' out && grep -q '^latency' out || cat out err)"
FAKE_ORT=compiled onnxcost record net.onnx --ort-lib "$fake" --runs 12 --repeat 1 --provider cpu --provider cuda:device_id=1 -o provider/ >out 2>err
rc=$?
result 'several providers are compared' "$([ $rc -eq 0 ] && grep -q '^A  *--provider cpu -p provider/net-a1' out && grep -q '^B  *--provider cuda:device_id=1 -p provider/net-b1' out &&
    grep -q '^  *cuda:device_id=1: 1 of 2 operators by CUDA' out && grep -q '^B  *no difference shown' out || cat out err)"
FAKE_ORT=plain onnxcost record net.onnx --ort-lib "$fake" --runs 12 --repeat 1 --provider cuda --threads 1000 -o again/ >out 2>err
rc=$?
result 'a recording with a provider that load disturbed is repeated' "$([ $rc -eq 0 ] && grep -q '^repeated    1 disturbed' out || cat out err)"
rm -rf again
result 'a recording has its providers' "$(grep -q '"execution_providers" : "cuda:device_id=1","in_turns" : [1-9][0-9]*,"in_turns_ns" : .[1-9][0-9,]*.,"started_s"' provider/net-b1.profile.json || tail -n 3 provider/net-b1.profile.json)"
rm -rf provider

rm -f fake/*
FAKE_ORT=prints onnxcost record net.onnx --ort-lib "$fake" --runs 3 --warmup 0 -o fake >out 2>err
sh -c "$(sed -n 's/^table *//p' out)" >table 2>>err
result 'printed command shows the table of all runs' "$(grep -q '^latency .* of 3 runs' table || cat out err table)"

# ---- several recordings: the fake library's runs take 20 us, and 10 more for each thread
FAKE_ORT=plain onnxcost record net.onnx --ort-lib "$fake" --runs 12 --threads 1 --threads 2 -o several/ >out 2>err
rc=$?
result 'two values of an option are recorded in turns and compared' "$([ $rc -eq 0 ] &&
    [ "$(sed -n 's/^\([ab][0-9]\) .*/\1/p' out | tr '\n' ' ')" = 'a1 b1 a2 b2 a3 b3 a4 b4 a5 b5 ' ] &&
    grep -q '^B  *slower by 33\.3 % (.*5 and 5 recordings, recorded in turns' out || cat out err)"
result 'each variant is named with its value and files' "$(grep -q '^A  *--threads 1 -p several/net-a1.profile.json,.*a5.profile.json$' out &&
    grep -q '^B  *--threads 2 -p several/net-b1' out || cat out)"
result 'one optimized model for each variant' "$([ "$(find several -name '*.optimized.onnx' | sort | tr '\n' ' ')" = 'several/net-a1.optimized.onnx several/net-b1.optimized.onnx ' ] || ls several)"
result 'a recording has its start, processors and threads' "$(grep -q '"started_s" : [1-9][0-9]*\.[0-9]*,"processors" : [1-9][0-9]*,"threads" : 2,"processors_of_others" : 0' \
    several/net-b1.profile.json || tail -n 3 several/net-b1.profile.json)"
# shellcheck disable=SC2046 # two options and their values
onnxcost diff net.onnx $(sed -n 's/^[AB] .* \(-p .*\)/\1/p' out) -f markdown >printed 2>err
result 'diff of the files says the same' "$([ "$(sed -n 's/^B is //p' printed)" = "$(sed -n 's/^B  *slower/slower/p' out)" ] || cat printed out err)"
rm -rf several
FAKE_ORT=plain onnxcost record net.onnx --ort-lib "$fake" --runs 12 --repeat 3 --opt-level all --session-config session.k=1 --session-config session.k=1 --session-config session.k=2 -o three/ >out 2>err
rc=$?
result 'more than two are compared with the first' "$([ $rc -eq 0 ] && [ "$(grep -c '^[abc][123] ' out)" -eq 9 ] && grep -q '^A  *--session-config session.k=1 -p' out &&
    grep -q '^B  *no difference shown (.*3 and 3 recordings, recorded in turns' out && grep -q '^C  *no difference shown (' out || cat out err)"
FAKE_ORT=plain onnxcost record net.onnx --ort-lib "$fake" --runs 12 --repeat 2 -o one/ >out 2>err
result '--repeat of one setting' "$([ "$(find one -name 'net-a?.profile.json' | wc -l)" -eq 2 ] && ! grep -q '^B' out || cat out err)"
cp net.onnx other.onnx
FAKE_ORT=plain onnxcost record net.onnx other.onnx --ort-lib "$fake" --runs 12 --repeat 1 -o models/ >out 2>err
result 'two models' "$(grep -q '^A  *net.onnx -p models/net-a1' out && grep -q '^B  *other.onnx -p models/other-b1' out && grep -q 'recorded in turns; these' out || cat out err)"
FAKE_ORT=plain onnxcost record net.onnx --ort-lib "$fake" --runs 12 --threads 1 --threads 2 --report -t 1 -o models/ >out 2>err
result '--report prints the whole difference' "$(grep -q '^latency  *B is slower by 33' out && grep -q '^parameters' out || cat out err)"
rm -rf three one models other.onnx
expect_failure 'numbers of values that differ are rejected' 2 '2 values of --threads and 3 of another option' net.onnx --threads 1 --threads 2 \
    --opt-level all --opt-level basic --opt-level disabled --ort-lib "$fake"
expect_failure 'few runs are rejected for a comparison' 2 'need --runs 12 or more, not 3' net.onnx --threads 1 --threads 2 --runs 3 --ort-lib "$fake"
expect_failure '--repeat 0 is rejected' 2 '--repeat needs a number from 1' net.onnx --repeat 0 --ort-lib "$fake"

# ---- ended by a signal: no folder, no file, no process is left
for signal in INT TERM HUP; do
    FAKE_ORT=slow onnxcost record net.onnx --ort-lib "$fake" --runs 100 -o stopped/ >out 2>err </dev/null &
    pid=$!
    for _ in $(seq 100); do
        child=$(cat /proc/$pid/task/$pid/children 2>/dev/null)
        [ -n "$child" ] && break
        sleep 0.02
    done
    sleep 0.3
    kill -$signal $pid
    wait $pid
    rc=$?
    sleep 0.1
    result "SIG$signal ends record and leaves nothing" "$([ $rc -gt 128 ] || echo "exit code $rc"; find stopped -mindepth 1 2>/dev/null
        for one in $child; do [ ! -e "/proc/$one" ] || echo "process $one is left: $(cat "/proc/$one/stat")"; done)"
    rm -rf stopped
done

# the search fails: only testable if the machine has no ONNX Runtime
nowhere=$(mktemp -d)
without() { # folder: record there, without what the environment names
    (unset ONNXRUNTIME_LIB NODE_PATH VIRTUAL_ENV CONDA_PREFIX; HOME=/nonexistent; export HOME
        cd "$1" && onnxcost record "$work/net.onnx" --runs 1 -o "$work/refused" >"$work/out" 2>"$work/err")
}
if without "$nowhere"; then
    skip_named 'without a library' 'ONNX Runtime is installed'
    skip_named 'a library of the working directory' 'ONNX Runtime is installed'
else
    rc=$?
    result 'without a library the message says how to install it' "$([ $rc -eq 4 ] && grep -q 'npm install --prefix ~/.local --ignore-scripts onnxruntime-node' err || cat err)"
    # a cloned repository with a library of its own
    case $(uname -m) in aarch64) node=arm64 ;; *) node=x64 ;; esac
    for place in "node_modules/onnxruntime-node/bin/napi-v6/linux/$node" .venv/lib/python3.11/site-packages/onnxruntime/capi; do
        rm -rf "${nowhere:?}"/* "$nowhere"/.venv
        mkdir -p "$nowhere/$place" "$nowhere/models/below"
        cp "$fake" "$nowhere/$place/libonnxruntime.so.1"
        rc=0
        without "$nowhere" || rc=$?
        result "not loaded from the working directory: ${place%%/*}" "$([ $rc -eq 4 ] && grep -qF -- "--ort-lib '" err && grep -q 'working directory' err || cat err out)"
        named=$(sed -n "s/.*--ort-lib '\([^']*\)'.*/\1/p" err)
        rc=0
        (cd "$nowhere" && onnxcost record "$work/net.onnx" --runs 1 -o "$work/refused" --ort-lib "$named" >"$work/out" 2>"$work/err") || rc=$?
        result "loaded when it is named: ${place%%/*}" "$([ $rc -eq 0 ] || cat err)"
        [ "${place%%/*}" = .venv ] || { # npm looks in parent folders
            rc=0
            without "$nowhere/models/below" || rc=$?
            result 'not loaded from a folder above the working directory' "$([ $rc -eq 4 ] && grep -q 'working directory' err || cat err out)"
        }
    done
fi
rm -rf "$nowhere" refused.*

# ---- a real one --------------------------------------------------------------------------------------------------
[ -d "$top/build/corpus/node_modules" ] && NODE_PATH=${NODE_PATH:+$NODE_PATH:}$top/build/corpus/node_modules && export NODE_PATH
# leaks of the runtime are not tested
case "$BUILD" in *asan*) export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" ;; esac
# title model arguments: all profiled time is attributed, all nodes are matched, a table is printed
expect_recording() {
    title=$1 model=$2
    shift 2
    COLUMNS=200 onnxcost record "$model" --runs 2 "$@" --report -v -t 3 -o real >out 2>err </dev/null
    rc=$?
    problem=
    [ $rc -eq 0 ] || problem="exit code $rc: $(cat err)"
    grep -q '^attribution .* 0\.0 % unattributed; FLOPs: 100\.0 %' out || problem="$problem; $(grep ^attribution out)"
    grep -q '^# ' out && grep -q '^3 ' out || problem="$problem; no table"
    grep -qE '^profiled    .*(profiling overhead .*x|NOISY)' out || grep -q '^time .*NOISY' out || problem="$problem; no factor"
    [ -s real.profile.json ] && [ -s real.optimized.onnx ] || problem="$problem; files are missing"
    result "$title" "$problem"
    rm -f real.*
}
if ! onnxcost record net.onnx --runs 1 -o probe >out 2>err; then
    grep -qE 'was not found|cannot load|cannot use' err || result 'ONNX Runtime works' "$(cat err)"
    for title in 'quick start' 'zoo: mobilenetv2' 'zoo: resnet50' 'zoo: distilbert' ppocr_cls silero 'a broken graph' 'JSON'; do
        skip_named "$title" 'no libonnxruntime is found (ONNXRUNTIME_LIB names one)'
    done
else
    rm -f probe.*
    expect_recording 'zoo: mobilenetv2' net.onnx
    # sanitizers would find nothing in a larger network
    if case "$BUILD" in *asan*) false ;; *) true ;; esac; then
        # the lines of the README's quick start, with a smaller network
        "$onnxzoo" resnet18 --weights random -o model.onnx >/dev/null
        onnxcost record model.onnx --report -o quick/ >out 2>err </dev/null
        rc=$?
        result 'quick start: a model with weights is recorded and reported' "$([ $rc -eq 0 ] && [ -s quick/model.profile.json ] &&
            grep -qE '^time        .* of [0-9]+ runs' out && grep -q '^latency' out && grep -q Conv out || cat out err)"
        rm -rf quick model.onnx
        "$onnxzoo" resnet50 --weights random -o resnet50.onnx >/dev/null
        expect_recording 'zoo: resnet50' resnet50.onnx --threads 1
        rm -f resnet50.onnx
        "$onnxzoo" distilbert --weights random -o bert.onnx >/dev/null
        expect_recording 'zoo: distilbert' bert.onnx -d sequence=16 -d batch=1
        rm -f bert.onnx
    fi
    if [ -d "$samples" ]; then
        for level in disabled basic extended all; do
            expect_recording "ppocr_cls, $level" "$samples/ppocr_cls.onnx" -s x=1x3x48x192 --opt-level $level
        done
        expect_recording 'silero' "$samples/silero_vad_legacy.onnx" -s input=1x1536 -s sr=scalar --value sr=16000
        onnxcost record "$samples/silero_vad_legacy.onnx" --runs 2 -o guessed >out 2>err </dev/null
        rc=$?
        result 'silero without options: sizes that fit, marked as assumed' "$([ $rc -eq 0 ] &&
            grep -q '^assumed     input: .*sequence = 512 (first tried size that fits the model); set with --shape input=' out &&
            grep -q '^assumed     sr: contents = 16000; set with --value sr=' out && grep -q 'contents = 16000' guessed.profile.json ||
            cat out err)"
        rm -f guessed.*
        expect_failure 'a run that fails names what was assumed' 3 'Assumed inputs: ' "$samples/silero_vad_legacy.onnx" -s input=1x3
    else
        skip_named ppocr_cls 'no samples'
    fi
    # onnxcost infers the shapes, the runtime rejects the model
    sed 's/Clip/Clop/g' net.onnx >broken.onnx
    expect_failure 'operator unknown to ONNX Runtime is an error' 3 "ONNX Runtime cannot load 'broken.onnx':" broken.onnx
    onnxcost record net.onnx --runs 1 --report -f json -o real >out 2>err
    result 'only JSON is printed on standard output' "$(head -c 1 out | grep -q '{' && grep -q '^runtime' err || head -n 3 out err)"
    rm -f real.*
fi
cd "$top" && rm -rf "$work"
finish
