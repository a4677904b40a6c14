#!/bin/sh
# Runs the program on thousands of broken models and profiles, mutated from valid ones: each run takes at most 2 s and
# 512 MB, and exits with 0, 1, 3 or 4. Then every command with generated models, profiles with almost the same names,
# hardware files and options: 5 s, 1 GB. Prints TAP. Environment: BUILD, MUTANTS, CASES (numbers), SEED (of the cases), JOBS.
set -u
cd "$(dirname "$0")/.." || exit 1
: "${BUILD:=build/release}" "${JOBS:=2}"
work=$BUILD/hostile_files
export ONNXCOST_HWDB="$PWD/hwdb"
case "$BUILD" in
*release) mib=512 most=1500 largest=300k cases=400 ;;
# a sanitizer reserves terabytes of address space and has its own limit; it is slow, so fewer and smaller files are used
*asan) mib=0 most=200 largest=40k cases=60
    export ASAN_OPTIONS="${ASAN_OPTIONS:-detect_leaks=1:allocator_may_return_null=1:exitcode=99}:hard_rss_limit_mb=512" ;;
*) mib=0 most=400 largest=40k cases=100 ;;
esac
: "${MUTANTS:=$most}" "${CASES:=$cases}" "${SEED:=1}"
echo 1..6
rm -rf "$work"
mkdir -p "$work/zoo" "$work/plain" "$work/mutants"
tests/make_zoo.sh "$work/zoo"
for gz in models/profiles/*.json.gz; do
    gzip -dc "$gz" >"$work/plain/$(basename "$gz" .gz)"
done
# all models and profiles of the tree small enough for thousands of runs
find "$work/zoo" "$work/plain" models/profiles tests/data tests/fuzz/seeds -type f -size -"$largest" \
    \( -name '*.onnx' -o -path '*/plain/*.json' -o -name '*.json.gz' -o -path '*/nsys_*/*' -o -path '*/ncu/*' \
    -o -path '*/tensorrt/*' -o -path '*/openvino/*' -o -path '*/paddle*/*' -o -path '*/mindspore/*' \
    -o -path '*/megengine/*.json' -o -path '*/chrome/*' -o -path '*/kineto/*' -o -path '*/onnxruntime*/*' \
    -o -path '*/functions/*' -o -path '*/generic_csv/*' \) ! -name README ! -name ORIGIN.md | LC_ALL=C sort >"$work/list"
# Runs one kind of input and prints three tests: all were run, none shows a fault, enough of them pass.
run() { # kind, number, MiB, first test, what a good one does, one in how many passes at least, what passing is, arguments...
    kind=$1 wanted=$2 memory=$3 n=$4 good=$5 share=$6 passing=$7
    shift 7
    mkdir -p "$work/$kind"
    "$BUILD/hostile" "$kind" "$BUILD/onnxcost" "$work/$kind" "$wanted" "$JOBS" "$memory" "$@" >"$work/out" || {
        echo "Bail out! the runner failed"
        exit 1
    }
    grep -v '^[01] [0-9]' "$work/out" | head -n 100
    tail -n 1 "$work/out" | {
        read -r bad run passed failed
        [ "$run" -eq "$wanted" ] && echo "ok $n - $run $kind run" || echo "not ok $n - $run $kind run of $wanted"
        [ "$bad" -eq 0 ] && echo "ok $((n + 1)) - all $kind $good" ||
            echo "not ok $((n + 1)) - $failed $kind crash, hang or exit with another code; they are in $work/$kind"
        [ $((passed * share)) -ge "$run" ] && echo "ok $((n + 2)) - $passed of $run $kind $passing" ||
            echo "not ok $((n + 2)) - only $passed of $run $kind $passing"
    }
}
# shellcheck disable=SC2046 # names without blanks
run mutants "$MUTANTS" "$mib" 1 'exit with 0, 1, 3 or 4 within 2 s and 512 MB' 2 'pass the probe and reach a reader' $(cat "$work/list")
export ONNXRUNTIME_LIB="$PWD/$BUILD/fake_ort.so" # of `record`: an imitation
[ "$mib" -eq 0 ] && ASAN_OPTIONS=${ASAN_OPTIONS:-}:hard_rss_limit_mb=1024
echo "# seed $SEED"
run cases "$CASES" $((mib * 2)) 4 'exit with 0 to 4 within 5 s and 1 GB, and say why they fail' 4 'exit with 0 or 1' "$SEED"
