#!/bin/sh
# Valgrind's memcheck over the main commands and the fuzz targets that libxml2 or SQLite feeds (tests/deep/msan.sh cannot
# see into libraries): no error, no definite leak. Prints TAP. usage: tests/deep/memcheck.sh TARGET...   Environment: BUILD
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
: "${BUILD:=build/release}"
work=$BUILD/memcheck
command -v valgrind >/dev/null || {
    skip 'memcheck' 'valgrind is missing'
    finish
}
rm -rf "$work"
mkdir -p "$work/models"
export ONNXCOST_HWDB="$PWD/hwdb" LC_ALL=C.UTF-8 TERM=dumb COLUMNS=120
for model in mobilenetv2 resnet18; do "$BUILD/onnxzoo" $model -o "$work/models/$model.onnx"; done
"$BUILD/onnxzoo" llama --size toy -o "$work/llm.onnx"
a=$work/models/resnet18.onnx b=$work/models/mobilenetv2.onnx
profile=models/profiles/resnet18.all.t1.json.gz device=models/profiles/machine.t1.xml

# title, expected exit codes, arguments
memcheck() {
    title=$1
    codes=$2
    shift 2
    valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite --show-leak-kinds=definite --num-callers=20 \
        --log-file="$work/valgrind.%p" "$BUILD/onnxcost" "$@" >"$work/out" 2>"$work/err" </dev/null
    rc=$?
    problems=$(cat "$work"/valgrind.* 2>/dev/null | head -n 15)
    case " $codes " in *" $rc "*) ;; *) problems="exit code $rc: $(tail -n 2 "$work/err")
$problems" ;; esac
    [ -s "$work/out" ] || problems="no output: $(head -n 2 "$work/err") $problems"
    result "$title" "$problems"
    rm -f "$work"/valgrind.*
}
memcheck 'report of a model' 0 "$a" --all --verbose
memcheck 'report with profile and device' 0 "$a" -p $profile --hw $device --advise
memcheck 'JSON' 0 "$a" -p $profile --hw $device --format json
memcheck 'HTML' 0 "$a" -p $profile --hw $device --format html
memcheck 'CSV by groups' 0 "$a" -p $profile --group-by signature --format csv
memcheck 'filter by a pattern' 0 "$a" --opr-name '.*layer1.*'
memcheck 'closed form' 0 "$b" --formula
memcheck 'summary of a profile' 0 summary $profile
memcheck 'summary of an SQLite profile' 0 summary tests/fuzz/seeds/nsys_sqlite/kernels.sqlite
memcheck 'memory with a plan' 0 memory "$b" --plan "$work/plan.json"
memcheck 'memory of a device' '0 1' memory "$b" --hw t4 --fit
memcheck 'diff of models' '0 1' diff "$a" "$b"
memcheck 'check of limits' '0 1' check "$a" --max macs=4.1G,unknown=0
memcheck 'devices ranked' 0 estimate "$a" --hw t4,l4,a10
memcheck 'estimate' 0 estimate "$a" --hw t4
memcheck 'llm' 0 llm "$work/llm.onnx" --hw a100
memcheck 'scan' 0 scan "$work/models"
memcheck 'diff of conventions' '0 1' diff "$a" --convention onnxcost --convention fvcore
memcheck 'devices' 0 hw list
memcheck 'device' 0 hw show a100
memcheck 'operators' 0 ops
memcheck 'help' 0 help options
printf 'not a model' >"$work/broken.onnx"
valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite "$BUILD/onnxcost" "$work/broken.onnx" >"$work/out" 2>&1
[ $? -eq 3 ]
passed $? 'broken model' "$(head -n 8 "$work/out")"
# --limit: valgrind takes 30 to 70 times as long, and a large output of a generated case 0.25 s without it
for target in "$@"; do
    valgrind -q --error-exitcode=99 --num-callers=20 "$BUILD/fuzz/fuzz_$target" --runs 20 --seconds 20 --limit 120 "tests/fuzz/seeds/$target"/* \
        >"$work/out" 2>"$work/err"
    passed $? "fuzz target $target" "$(head -n 15 "$work/err")"
done
finish
