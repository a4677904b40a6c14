#!/bin/sh
# onnxcost hw measure: a quick trial of this machine makes a file that the schema, hw lint and --hw accept; what it
# refuses. Prints TAP. Says nothing of how good the figures are: tests/bench/measure.sh does.
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
: "${BUILD:=build/release}"
schema=$PWD/hwdb/hwdb.rng
work=$PWD/$BUILD/measure
rm -rf "$work"
mkdir -p "$work"
export PATH="$PWD/$BUILD:$PATH" LC_ALL=C COLUMNS=120
onnxzoo="$PWD/$BUILD/onnxzoo"
cd "$work" || exit 1
# title, exit code, text of standard error, arguments: nothing is printed
refuses() {
    title=$1 code=$2 text=$3
    shift 3
    onnxcost hw "$@" >out 2>err </dev/null
    rc=$?
    problem=
    [ $rc -eq "$code" ] || problem="exit code $rc, not $code"
    grep -qF -- "$text" err || problem="$problem; it says: $(cat err)"
    [ -s out ] && problem="$problem; printed: $(head -n 1 out)"
    result "$title" "$problem"
}

onnxcost hw measure --quick -o here.xml >out 2>err
rc=$?
result 'a quick trial' "$([ $rc -eq 0 ] && [ -s here.xml ] && [ ! -s out ] || { echo "exit code $rc"; cat err out; })"
result 'it says that it was quick' "$(grep -q 'a quick trial' err || cat err)"
if command -v xmllint >/dev/null 2>&1; then
    result 'valid against the schema' "$(xmllint --nonet --noout --relaxng "$schema" here.xml 2>&1 | grep -v ' validates$')"
else
    result 'valid against the schema' 'xmllint is missing (package libxml2-utils)'
fi
result 'hw lint has nothing to say' "$(onnxcost hw lint here.xml 2>&1 | grep -v ': 0 findings$')"
onnxcost hw show ./here.xml --format csv >figures.csv 2>err
result 'hw show reads it' "$(cat err)"
# figures of the device itself: no cores, no mode (columns by name)
used() { # group what: its value
    awk -F, -v g="$1" -v w="$2" '
        NR == 1 { gsub(/\r/, ""); for (i = 1; i <= NF; i++) at[$i] = i; next }
        { gsub(/"[^"]*"/, "\"\""); gsub(/\r/, "") }
        $at["group"] == g && $at["what"] == w && $at["mode"] == "" && $at["cores"] == "" { print $at["value"]; exit }' figures.csv
}
for figure in 'vector f64' 'vector f32' 'vector i8' 'DRAM bandwidth' 'clock sustained' 'count thread' 'latency timer-read'; do
    # shellcheck disable=SC2086 # two words
    result "above 0: $figure" "$(awk -v v="$(used $figure)" 'BEGIN { if (!(v + 0 > 0)) print "it is \"" v "\"" }')"
done
onnxcost hw measure --quick --format json >figures.json 2>/dev/null
result 'without --output: the figures, here as JSON' "$(grep -q '"group": "vector"' figures.json || head -n 3 figures.json)"
onnxcost hw measure --quick --threads 1 -o one.xml 2>/dev/null
result 'one thread: it is the device' "$(grep -q 'count of="thread" value="1"' one.xml && ! grep -q 'cores=' one.xml || cat one.xml)"
"$onnxzoo" resnet18 -o model.onnx >out 2>&1
onnxcost model.onnx --hw here.xml --top 1 >out 2>err
rc=$?
result '--hw takes it' "$([ $rc -eq 0 ] && grep -q 'measured' out || { echo "exit code $rc"; cat err out; })"
refuses 'no threads' 2 '--threads must be at least 1' measure --quick --threads 0
refuses 'more threads than processors' 2 'this process may use' measure --quick --threads 100000
refuses 'threads are no number' 2 '--threads needs an integer' measure --threads all
refuses 'a folder that is not there' 4 'none/here.xml' measure --quick -o none/here.xml
refuses 'words behind it' 2 'usage:' measure this
refuses '--quick is for measuring' 2 '--quick is for hw measure' list --quick
finish
