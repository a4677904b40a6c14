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
*release) mib=512 most=2500 largest=300k cases=700 ;;
# a sanitizer reserves terabytes of address space and has its own limit; it is slow, so fewer and smaller files are used
*asan) mib=0 most=300 largest=40k cases=100
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
# shellcheck disable=SC2046 # names without blanks
"$BUILD/hostile" mutants "$BUILD/onnxcost" "$work/mutants" "$MUTANTS" "$JOBS" "$mib" $(cat "$work/list") >"$work/out" || {
    echo "Bail out! the runner failed"
    exit 1
}
grep -v '^[01] [0-9]' "$work/out" | head -n 100
tail -n 1 "$work/out" | {
    read -r bad run passed failed
    [ "$run" -eq "$MUTANTS" ] && echo "ok 1 - $run mutants run" || echo "not ok 1 - $run mutants run of $MUTANTS"
    [ "$bad" -eq 0 ] && echo "ok 2 - every mutant exits with 0, 1, 3 or 4 within 2 s and 512 MB" ||
        echo "not ok 2 - $failed mutants crash, hang or exit with another code; they are in $work/mutants"
    [ $((passed * 2)) -ge "$run" ] && echo "ok 3 - $passed of $run mutants pass the probe and reach a reader" ||
        echo "not ok 3 - only $passed of $run mutants pass the probe"
}

mkdir "$work/cases"
export ONNXRUNTIME_LIB="$PWD/$BUILD/fake_ort.so" # of `record`: an imitation
"$BUILD/hostile" cases "$BUILD/onnxcost" "$work/cases" "$CASES" "$JOBS" $((mib * 2)) "$SEED" >"$work/out" || {
    echo "Bail out! the runner failed"
    exit 1
}
echo "# seed $SEED"
grep -v '^[01] [0-9]' "$work/out" | head -n 100
tail -n 1 "$work/out" | {
    read -r bad run passed failed
    [ "$run" -eq "$CASES" ] && echo "ok 4 - $run generated cases run" || echo "not ok 4 - $run cases run of $CASES"
    [ "$bad" -eq 0 ] && echo "ok 5 - every case exits with 0 to 4 within 5 s and 1 GB, and says why it fails" ||
        echo "not ok 5 - $failed cases crash, hang or exit without a message; they are in $work/cases"
    [ $((passed * 4)) -ge "$run" ] && echo "ok 6 - $passed of $run cases exit with 0 or 1" ||
        echo "not ok 6 - only $passed of $run cases exit with 0 or 1"
}
