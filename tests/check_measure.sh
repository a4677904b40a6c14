#!/bin/sh
# onnxcost hw measure: a quick measurement writes a file that the schema, hw lint and --hw accept; invalid arguments are
# rejected. Prints TAP. The accuracy of the values is tested by tests/bench/hw_measure.sh.
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
: "${BUILD:=build/release}"
schema=$PWD/hwdb/hwdb.rng
top=$PWD
work=$PWD/$BUILD/measure
rm -rf "$work"
mkdir -p "$work"
export PATH="$PWD/$BUILD:$PATH" LC_ALL=C COLUMNS=120
onnxzoo="$PWD/$BUILD/onnxzoo"
cd "$work" || exit 1
# title, exit code, text of standard error, arguments: standard output must be empty
expect_failure() {
    title=$1 code=$2 text=$3
    shift 3
    onnxcost hw "$@" >out 2>err </dev/null
    rc=$?
    problem=
    [ $rc -eq "$code" ] || problem="exit code $rc, not $code"
    grep -qF -- "$text" err || problem="$problem; stderr: $(cat err)"
    [ -s out ] && problem="$problem; printed: $(head -n 1 out)"
    result "$title" "$problem"
}

onnxcost hw measure --quick -o here.xml >out 2>err
rc=$?
result 'quick measurement writes the file and prints nothing' "$([ $rc -eq 0 ] && [ -s here.xml ] && [ ! -s out ] || { echo "exit code $rc"; cat err out; })"
result 'warning says that the measurement was quick' "$(grep -q 'quick trial' err || cat err)"
if command -v xmllint >/dev/null 2>&1; then
    result 'written file is valid against the schema' "$(xmllint --nonet --noout --relaxng "$schema" here.xml 2>&1 | grep -v ' validates$')"
else
    result 'written file is valid against the schema' 'xmllint is missing (package libxml2-utils)'
fi
# on a busy machine a quick measurement finds too low a clock: peaks are then above the limits of their instruction sets;
# with the counters of coverage on a busy machine a bandwidth is a thousandth
low=' operations per cycle and core; |: [0-9]+ problems$'
case $BUILD in *coverage) low="$low| is not between " ;; esac
result 'hw lint has no warnings, but for the clock of a busy machine' "$(onnxcost hw lint here.xml 2>&1 | grep -vE "$low")"
onnxcost hw show ./here.xml --format csv >figures.csv 2>err
result 'hw show reads the file' "$(cat err)"
# values of the whole device: no cores, no mode (columns by name)
device_value() { # group what
    awk -F, -v g="$1" -v w="$2" '
        NR == 1 { gsub(/\r/, ""); for (i = 1; i <= NF; i++) at[$i] = i; next }
        { gsub(/"[^"]*"/, "\"\""); gsub(/\r/, "") }
        $at["group"] == g && $at["what"] == w && $at["mode"] == "" && $at["cores"] == "" { print $at["value"]; exit }' figures.csv
}
for figure in 'vector f64' 'vector f32' 'vector i8' 'DRAM bandwidth' 'clock sustained' 'count thread' 'latency timer-read'; do
    # shellcheck disable=SC2086 # two words
    result "value is above 0: $figure" "$(awk -v v="$(device_value $figure)" 'BEGIN { if (!(v + 0 > 0)) print "it is \"" v "\"" }')"
done
onnxcost hw measure --quick --format json >figures.json 2>/dev/null
result 'without --output the values are printed, here as JSON' "$(grep -q '"group": "vector"' figures.json || head -n 3 figures.json)"
onnxcost hw measure --quick --threads 1 -o one.xml 2>/dev/null
result 'one thread is the whole device' "$(grep -q 'count of="thread" value="1"' one.xml && ! grep -q 'cores=' one.xml || cat one.xml)"
"$onnxzoo" resnet18 -o model.onnx >out 2>&1
onnxcost model.onnx --hw here.xml --top 1 >out 2>err
rc=$?
result '--hw accepts the file' "$([ $rc -eq 0 ] && grep -q 'measured' out || { echo "exit code $rc"; cat err out; })"
expect_failure '0 threads are rejected' 2 '--threads must be at least 1' measure --quick --threads 0
expect_failure 'more threads than processors are rejected' 2 'this process may use' measure --quick --threads 100000
expect_failure 'non-numeric --threads is rejected' 2 '--threads needs an integer' measure --threads all
expect_failure 'missing output folder is an error' 4 'none/here.xml' measure --quick -o none/here.xml
expect_failure 'extra arguments are rejected' 2 'usage:' measure this
expect_failure '--quick is rejected for other commands' 2 '--quick is for hw measure' list --quick

# ---- probe: a calibration from recordings of small networks
export TMPDIR="$work/temporary"
mkdir "$TMPDIR"
# the same, with --probe: neither the files nor the temporary folder remain
expect_no_probe() {
    expect_failure "$@"
    result "$1: no files remain" "$(find . -name 'refused*' -o -name 'onnxcost-*')"
}
fake="$top/$BUILD/fake_ort.so"
expect_no_probe '--probe without --output is rejected' 2 '--probe writes two files: give --output FILE.xml' measure --quick --probe
expect_no_probe '--probe is rejected for other commands' 2 '--probe is for hw measure' list --probe
expect_no_probe '--calibration without --probe is rejected' 2 '--calibration is for hw measure --probe' measure --quick --calibration x.xml -o refused.xml
expect_no_probe '--ort-lib without --probe is rejected' 2 '--ort-lib is for hw measure --probe' measure --quick --ort-lib x.so -o refused.xml
expect_no_probe 'missing library is an error' 4 "--ort-lib: cannot load './none.so'" measure --quick --probe --ort-lib none.so -o refused.xml
expect_no_probe 'missing calibration to start from is an error' 3 "'none.xml'" measure --quick --probe --ort-lib "$fake" --calibration none.xml -o refused.xml
FAKE_ORT=crash_loading expect_no_probe 'crash of the library is an error' 4 'ONNX Runtime crashed while loading the model' measure --quick --probe --ort-lib "$fake" -o refused.xml
[ -d "$top/build/corpus/node_modules" ] && NODE_PATH=${NODE_PATH:+$NODE_PATH:}$top/build/corpus/node_modules && export NODE_PATH
# leaks of the runtime are not tested
case "$BUILD" in *asan*) export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" ;; esac
onnxcost hw measure --quick --probe -o probed.xml >out 2>err </dev/null
rc=$?
if [ $rc -eq 4 ] && grep -qE 'was not found|cannot load|cannot use' err; then
    for title in 'both files' 'schema of the calibration' 'classes of kernels' 'use of both files'; do
        skip_named "probe: $title" 'no libonnxruntime is found (ONNXRUNTIME_LIB names one)'
    done
else
    result 'probe: both files are written and named, and no other' "$([ $rc -eq 0 ] && [ -s probed.xml ] && [ -s probed.cal.xml ] && grep -q '^device *probed\.xml$' out &&
        grep -q '^calibration *probed\.cal\.xml$' out && [ -z "$(find "$TMPDIR" -name 'onnxcost*')" ] || { echo "exit code $rc"; cat out err; find "$TMPDIR"; })"
    if command -v xmllint >/dev/null 2>&1; then
        result 'probe: calibration is valid against the schema' "$(xmllint --nonet --noout --relaxng "${schema%hwdb.rng}calibration.rng" probed.cal.xml 2>&1 | grep -v ' validates$')"
    fi
    for class in gemm gemv batched_gemm conv_1x1 conv_kxk conv_depthwise elementwise activation softmax norm reduce pool transpose copy reorder; do
        grep -q "class=\"$class\" dtype=\"f32\"" probed.cal.xml || echo "no kernel of class $class"
    done >missing
    result 'probe: kernels of every common class are measured' "$(cat missing)"
    eval "$(sed -n 's/^estimate *//; s/ MODEL / model.onnx /p' out)" >estimate 2>err
    result 'probe: the printed command estimates a model' "$(grep -q '^verdict .* per run' estimate || cat estimate err)"
fi
finish
