#!/bin/sh
# Runs the libFuzzer targets for some seconds each and prints a table. A corpus starts with the seeds, the models of the zoo
# and the files of tests/data, minimized to the same coverage; every run extends and minimizes it. Exit code 1: a target
# crashed, hung or leaked; the input is named. Columns: edges covered by the corpus before the run, after half of its executions and at
# its end; the execution that found the last new edge.
# usage: tests/fuzz/libfuzzer.sh TARGET...     (T: seconds each; BUILD)
set -u
cd "$(dirname "$0")/../.." || exit 1
: "${BUILD:=build/fuzz}" "${T:=60}"
export BUILD
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1:exitcode=77
export UBSAN_OPTIONS=print_stacktrace=1
export ONNXCOST_HWDB="$PWD/hwdb"
bad=0
# 20 s: sanitizers, counters and load slow a run of half a second down ten times and more; check_hostile.sh tests the time
# of the program itself

dictionary_of() { # target
    for dict in "$1" $(awk -v t="$1" '$1 == t { print $2 }' tests/fuzz/dict/TARGETS); do
        [ -e "tests/fuzz/dict/$dict.dict" ] && echo "-dict=tests/fuzz/dict/$dict.dict" && return
    done
}

# Maximum input size in bytes; long inputs cost executions, and smaller models cover everything.
longest() { # target
    case $1 in
    wire) echo 4096 ;;
    model | advice | devices | diff | llm | plan | join) echo 24576 ;;
    *) echo 65536 ;;
    esac
}

# Additional start files of a target, small enough not to be truncated.
start_of() { # target dictionary
    case "$1 $2" in
    *onnx.dict)
        if [ ! -d "$BUILD/start" ]; then
            tests/make_zoo.sh "$BUILD/zoo"
            mkdir -p "$BUILD/start"
            find "$BUILD/zoo" tests/data models/profiles -name '*.onnx' -size -64k -exec cp {} "$BUILD/start" \;
        fi
        echo "$BUILD/start" ;;
    probe*) for dir in tests/data/*/; do echo "$dir"; done ;;
    generic_csv*) echo tests/data/functions ;;
    paddle_trace*) echo tests/data/paddle ;;
    *) [ -d "tests/data/$1" ] && echo "tests/data/$1" ;;
    esac
}

# Minimizes a corpus to the same coverage.
minimize() { # target corpus from...
    target=$1
    corpus=$2
    shift 2
    rm -rf "$corpus.new"
    mkdir -p "$corpus.new"
    nice -n 15 "$BUILD/fuzz/fuzz_$target" -merge=1 -timeout=20 -rss_limit_mb=1024 \
        -max_len="$(longest "$target")" -artifact_prefix="$found/" \
        "$corpus.new" "$@" >"$BUILD/log/$target.merge.log" 2>&1 || return
    rm -rf "$corpus"
    mv "$corpus.new" "$corpus"
}

# Processor time of all programs run so far: the second line of `times`, "1m2.34s 0m5.6s"; it is empty in a subshell.
read_cpu() { # into cpu
    times >"$BUILD/log/times.$$"
    cpu=$(awk 'NR == 2 { for (i = 1; i <= 2; i++) { split($i, t, "[ms]"); sum += 60 * t[1] + t[2] } printf "%.0f", sum }' \
        "$BUILD/log/times.$$")
}

set_columns() { # the columns of a row
    ran=$2
    seconds=$((seconds + $9))
}

mkdir -p "$BUILD/log"
executions=0
seconds=0
printf '%-18s %11s %7s %7s %7s %7s %11s %7s %6s  %s\n' \
    target executions exec/s before half edges 'last new at' corpus 'CPU s' crashes
for target in "$@"; do
    corpus=$BUILD/corpus/$target
    log=$BUILD/log/$target.log
    found=$BUILD/crashes/$target
    dictionary=$(dictionary_of "$target")
    mkdir -p "$BUILD/log" "$found"
    rm -f "$found"/*
    if [ ! -d "$corpus" ]; then
        mkdir -p "$corpus"
        # shellcheck disable=SC2046 # folders without blanks
        minimize "$target" "$corpus" "tests/fuzz/seeds/$target" $(start_of "$target" "$dictionary")
    fi
    read_cpu
    before=$cpu
    # shellcheck disable=SC2086 # an empty dictionary must not be an argument
    nice -n 15 "$BUILD/fuzz/fuzz_$target" $dictionary -max_total_time="$T" -max_len="$(longest "$target")" \
        -timeout=20 -report_slow_units=60 -rss_limit_mb=1024 -print_final_stats=1 -artifact_prefix="$found/" \
        "$corpus" "tests/fuzz/seeds/$target" >"$log" 2>&1
    rc=$?
    read_cpu
    cpu=$((cpu - before))
    minimize "$target" "$corpus" "$corpus"
    crashes=$(find "$found" -type f | wc -l)
    line=$(awk -v target="$target" -v rc="$rc" -v crashes="$crashes" -v cpu="$cpu" '
        / cov: / {
            for (i = 1; i < NF; i++) { if ($i == "cov:") cov = $(i + 1); if ($i == "corp:") corp = $(i + 1) }
            n = substr($1, 2) + 0
            if ($2 == "INITED") before = cov
            if (cov > edges) { edges = cov; last = n; at[++steps] = n; edges_at[steps] = cov }
        }
        /^#[0-9]+/ { n = substr($1, 2) + 0 }
        /^stat::number_of_executed_units:/ { n = $2 }
        /^stat::average_exec_per_sec:/ { rate = $2 }
        END {
            sub("/.*", "", corp)
            for (i = 1; i <= steps && at[i] <= n / 2; i++) half = edges_at[i]
            printf "%-18s %11d %7d %7d %7d %7d %11d %7d %6d  %s\n", target, n, rate, before, half, edges, last, corp, cpu, \
                crashes ? crashes : rc ? "exit code " rc : 0
        }' "$log")
    echo "$line"
    # shellcheck disable=SC2086 # the columns
    set_columns $line
    executions=$((executions + ran))
    if [ "$rc" -ne 0 ] || [ "$crashes" -ne 0 ]; then
        bad=1
        grep -m 3 -E 'ERROR|SUMMARY|runtime error' "$log"
        for file in "$found"/*; do
            [ -e "$file" ] && echo "    reproduce with: $BUILD/fuzz/fuzz_$target $file"
        done
        echo "    log: $log"
    fi
done
echo "$executions executions in $((seconds / 60)) minutes $((seconds % 60)) s of processor time"
exit $bad
