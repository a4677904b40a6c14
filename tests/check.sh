#!/bin/sh
# Builds and runs every test in the given modes; the last line is `N passed, N failed, N skipped`.
# usage: tests/check.sh release|debug|asan|coverage...      (MAKE, JOBS from the Makefile)
set -u
cd "$(dirname "$0")/.." || exit 1
: "${MAKE:=make}" "${JOBS:=2}"
export RESULTS=build/check
rm -rf "$RESULTS"
mkdir -p "$RESULTS"
jobs=$RESULTS/jobs

for mode in "$@"; do
    echo "building: $mode"
    case "${MAKEFLAGS:-}" in *jobserver*) j= ;; *) j=-j$JOBS ;; esac
    # shellcheck disable=SC2086 # an empty $j is no argument
    $MAKE --no-print-directory -s $j MODE="$mode" check-bin >"$RESULTS/build.$mode.txt" 2>&1 || {
        cat "$RESULTS/build.$mode.txt"
        echo "onnxcost: the $mode build failed"
        echo "0 passed, 1 failed, 0 skipped"
        exit 1
    }
    grep -A 4 'warning:' "$RESULTS/build.$mode.txt"
done

# a locale with a decimal comma, for the unit tests that ask what it changes
if command -v localedef >/dev/null; then
    mkdir -p "$RESULTS/locale"
    localedef -c -i de_DE -f UTF-8 "$RESULTS/locale/de_DE.UTF-8" >/dev/null 2>&1
fi

add() { # name command
    printf '%s\t%s\n' "$1" "$2" >>"$jobs"
}
# Long suites first, so that the processors stay busy to the end.
for mode in "$@"; do
    env="BUILD=build/$mode ONNXCOST_HWDB=\$PWD/hwdb"
    [ "$mode" = asan ] && env="$env ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1:exitcode=99 UBSAN_OPTIONS=print_stacktrace=1"
    # a process that may not write files cannot write its counters either
    [ "$mode" = coverage ] && env="$env GCOV_ERROR_FILE=/dev/null"
    for t in tests/fuzz/fuzz_*.c; do
        [ -e "$t" ] || continue
        reader=$(basename "$t" .c)
        add "$mode/fuzz/${reader#fuzz_}" "$env build/$mode/fuzz/$reader tests/fuzz/seeds/${reader#fuzz_}/*"
    done
    [ -x tests/oracle/run.sh ] && add "$mode/oracle" "$env tests/oracle/run.sh"
    for t in tests/check_*.sh; do
        case "$t" in
        tests/check_layers.sh | tests/check_hwdb.sh | tests/check_op_rules.sh | tests/check_kernel_names.sh) ;; # do not run the program: once, below
        *) name=$(basename "$t" .sh); add "$mode/${name#check_}" "$env $t" ;;
        esac
    done
    [ -x tests/golden/run.sh ] && add "$mode/golden" "$env tests/golden/run.sh"
    for t in tests/unit/*/test_*.c; do
        [ -e "$t" ] || continue
        name=${t#tests/unit/}
        add "$mode/unit/${name%.c}" "$env LOCPATH=\$PWD/$RESULTS/locale CMOCKA_MESSAGE_OUTPUT=TAP build/$mode/unit/${name%.c}"
    done
done
for t in layers hwdb op_rules kernel_names; do
    [ -x "tests/check_$t.sh" ] && add "$t" "tests/check_$t.sh"
done

xargs -d '\n' -n 1 -P "$JOBS" tests/run_suite.sh <"$jobs"

cat "$RESULTS"/*.res >"$RESULTS/all.txt"
suites=$(wc -l <"$jobs")
reported=$(cut -f 2 "$RESULTS/all.txt" | sort -u | wc -l)
[ "$suites" -eq "$reported" ] || printf 'not ok\tcheck\t%s\n' \
    "$((suites - reported)) suites left no result" >>"$RESULTS/all.txt"

awk -F '\t' '$1 == "skip" { print "skipped: " $2 ": " $3 }' "$RESULTS/all.txt" | sort | uniq | head -n 40
awk -F '\t' '$1 == "not ok" { print "FAILED: " $2 ": " $3 }' "$RESULTS/all.txt"
for suite in $(awk -F '\t' '$1 == "not ok" { print $2 }' "$RESULTS/all.txt" | sort -u | head -n 8); do
    echo "--- $suite (end of its output)"
    tail -n 30 "$RESULTS/$(printf '%s' "$suite" | tr '/ ' '__').log" 2>/dev/null
done
awk -F '\t' '{ n[$1]++ } END {
    printf "%d passed, %d failed, %d skipped\n", n["ok"], n["not ok"], n["skip"]
    exit n["not ok"] > 0 || n["ok"] == 0 }' "$RESULTS/all.txt"
