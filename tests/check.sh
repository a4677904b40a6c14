#!/bin/sh
# Builds and runs every test in the given modes; the last line is `N passed, N failed, N skipped`.
# usage: tests/check.sh [--fast] release|debug|asan|coverage...      (MAKE, JOBS from the Makefile)
# --fast: unit tests, expected output and include rules only.
# Suites start in order of CPU time, longest first: tests/data/suite_seconds.tsv, or the last run here (build/seconds.tsv).
set -u
cd "$(dirname "$0")/.." || exit 1
: "${MAKE:=make}" "${JOBS:=2}"
export RESULTS=build/check
rm -rf "$RESULTS"
mkdir -p "$RESULTS"
jobs=$RESULTS/jobs
scope=all target=check-bin
[ "${1:-}" = --fast ] && scope=fast target=fast-bin && shift
started=$(date +%s)
elapsed() {
    s=$(($(date +%s) - started))
    printf '%d:%02d' $((s / 60)) $((s % 60))
}

# every 15 s while the build runs: how much is built
report_build() { # log
    while sleep 15 >/dev/null 2>&1; do
        echo "  $(grep -c '^  ' "$1") files built ($(elapsed))"
    done
}
reporter=
trap '[ -z "$reporter" ] || kill $reporter 2>/dev/null' EXIT

for mode in "$@"; do
    echo "building: $mode ($(elapsed))"
    report_build "$RESULTS/build.$mode.txt" &
    reporter=$!
    case "${MAKEFLAGS:-}" in *jobserver*) j= ;; *) j=-j$JOBS ;; esac
    # shellcheck disable=SC2086 # an empty $j must not be an argument
    $MAKE --no-print-directory -s $j MODE="$mode" "$target" >"$RESULTS/build.$mode.txt" 2>&1 || {
        cat "$RESULTS/build.$mode.txt"
        echo "onnxcost: the $mode build failed"
        echo "0 passed, 1 failed, 0 skipped"
        exit 1
    }
    kill "$reporter" 2>/dev/null
    grep -A 4 'warning:' "$RESULTS/build.$mode.txt"
done

# a locale with a decimal comma, for unit tests of locale independence
if command -v localedef >/dev/null; then
    mkdir -p "$RESULTS/locale"
    localedef -c -i de_DE -f UTF-8 "$RESULTS/locale/de_DE.UTF-8" >/dev/null 2>&1
fi

add() { # name command
    printf '%s\t%s\n' "$1" "$2" >>"$jobs"
}
add_scripts() { # of $mode, with the environment $env
    for t in tests/fuzz/fuzz_*.c; do
        [ "$mode" = release ] && break # not built: sanitizers find more
        reader=$(basename "$t" .c)
        add "$mode/fuzz/${reader#fuzz_}" "$env build/$mode/fuzz/$reader --seconds 1 tests/fuzz/seeds/${reader#fuzz_}/*"
    done
    [ -x tests/oracle/run.sh ] && add "$mode/oracle" "$env tests/oracle/run.sh"
    for t in tests/check_*.sh; do
        case "$t" in
        tests/check_layers.sh | tests/check_hwdb.sh | tests/check_op_rules.sh | tests/check_kernel_names.sh) ;; # these do not run the program: once, below
        *) [ "$mode" = asan ] && grep -q '^# modes: release$' "$t" && continue # sanitizers would find nothing in it
            name=$(basename "$t" .sh); add "$mode/${name#check_}" "$env $t" ;;
        esac
    done
}
for mode in "$@"; do
    env="BUILD=build/$mode ONNXCOST_HWDB=\$PWD/hwdb"
    [ "$mode" = asan ] && env="$env ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1:exitcode=99 UBSAN_OPTIONS=print_stacktrace=1"
    # a process without write permission cannot write its counters
    [ "$mode" = coverage ] && env="$env GCOV_ERROR_FILE=/dev/null"
    [ "$scope" = all ] && add_scripts
    [ -x tests/golden/run.sh ] && add "$mode/golden" "$env tests/golden/run.sh"
    for t in tests/unit/*/test_*.c; do
        [ -e "$t" ] || continue
        name=${t#tests/unit/}
        add "$mode/unit/${name%.c}" "$env LOCPATH=\$PWD/$RESULTS/locale CMOCKA_MESSAGE_OUTPUT=TAP build/$mode/unit/${name%.c}"
    done
done
for t in layers hwdb op_rules kernel_names; do
    [ "$scope" = all ] || [ "$t" = layers ] || continue
    [ -x "tests/check_$t.sh" ] && add "$t" "tests/check_$t.sh"
done

seconds=tests/data/suite_seconds.tsv
[ -s build/seconds.tsv ] && seconds=build/seconds.tsv
# suite, CPU seconds, command; longest first; 0.1 s for a suite that was never measured
awk -F '\t' -v OFS='\t' -v seconds="$seconds" 'BEGIN { while ((getline line < seconds) > 0) { split(line, f, "\t"); s[f[1]] = f[2] } }
    { print $1, ($1 in s ? s[$1] : 0.1), $2 }' "$jobs" | sort -t '	' -k 2,2gr -s >"$RESULTS/weighted"
cut -f 1,3 "$RESULTS/weighted" >"$jobs"
suites=$(wc -l <"$jobs")
echo "running: $suites suites, $(awk -F '\t' '{ s += $2 } END { printf "%.0f", s }' "$RESULTS/weighted") CPU seconds, $((JOBS + 1)) at a time ($(elapsed))"

# A line every 15 s: completed suites, and the remaining time estimated from their CPU times.
progress() {
    from=$(date +%s)
    while sleep 15 >/dev/null 2>&1; do
        cat "$RESULTS"/*.sec 2>/dev/null | awk -F '\t' -v all="$RESULTS/weighted" -v took=$(($(date +%s) - from)) -v at="$(elapsed)" '
            BEGIN { while ((getline line < all) > 0) { split(line, f, "\t"); s[f[1]] = f[2]; n++; total += f[2] } }
            { done++; sum += s[$1] }
            END { left = sum > 0 ? took * (total - sum) / sum : 0
                printf "  %d of %d suites (%s)%s\n", done, n, at, (sum > total / 10 ? sprintf(", about %d:%02d left", left / 60, left % 60) : "") }'
    done
}
progress &
reporter=$!
# one more than processors: suites also wait
xargs -d '\n' -n 1 -P $((JOBS + 1)) tests/run_suite.sh <"$jobs"

kill "$reporter" 2>/dev/null
cat "$RESULTS"/*.sec | sort -t '	' -k 2,2gr >"$RESULTS/seconds.tsv"
[ "$scope" = all ] && cp "$RESULTS/seconds.tsv" build/seconds.tsv
echo "slowest (CPU seconds): $(head -n 8 "$RESULTS/seconds.tsv" | awk -F '\t' '{ printf "%s%s %.0f", (NR > 1 ? ", " : ""), $1, $2 }'); all $(awk -F '\t' '{ s += $2 } END { printf "%.0f", s }' "$RESULTS/seconds.tsv"); wall time $(elapsed)"
cat "$RESULTS"/*.res >"$RESULTS/all.txt"
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
