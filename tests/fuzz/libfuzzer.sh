#!/bin/sh
# Runs the libFuzzer targets for some seconds of processor time each and prints a table. A first run starts with the seeds, the
# models of the zoo and the files of tests/data, a later one with what is left of the corpus for the same coverage. Exit code 1:
# a target crashed, hung or leaked; the input is named. Columns: edges covered by the corpus before the run and after each quarter
# of its executions; the execution that found the last new edge. Every run adds a row to BUILD/runs.tsv.
# usage: tests/fuzz/libfuzzer.sh TARGET...       (T: seconds each; BUILD)
#        tests/fuzz/libfuzzer.sh --table         the rows of all runs as Markdown
#        tests/fuzz/libfuzzer.sh --update        writes that table into tests/fuzz/README.md
set -u
cd "$(dirname "$0")/../.." || exit 1
: "${BUILD:=build/fuzz}" "${T:=60}"
export BUILD
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1:exitcode=77
export UBSAN_OPTIONS=print_stacktrace=1
export ONNXCOST_HWDB="$PWD/hwdb"
bad=0
# wall time of one execution: sanitizers, counters and load slow a run of half a second down ten times and more;
# check_hostile.sh tests the processor time of the program itself
longest_s=100

# Rows: target, executions, processor seconds, faults, files of the corpus, edges before and after each quarter.
print_table() {
    awk -F '\t' '
        function quarter(t, q) { return edges[t, runs[t] * q] } # of all runs
        !($1 in runs) { order[++n] = $1; before[$1] = $6 }
        {
            executions[$1] += $2; cpu[$1] += $3; faults[$1] += $4; corpus[$1] = $5
            for (q = 1; q <= 4; q++) edges[$1, 4 * runs[$1] + q] = $(6 + q)
            runs[$1]++
        }
        END {
            print "| target | executions | CPU s | edges, seeds | after 1/4 | 1/2 | 3/4 | end | new | in the last quarter | corpus | faults |"
            print "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
            for (i = 1; i <= n; i++) {
                t = order[i]
                end = quarter(t, 4)
                late = 100 * (end - quarter(t, 3)) / end
                printf "| %s | %d | %d | %d | %d | %d | %d | %d | %d | %.2f %% | %d | %d |\n", t, executions[t], cpu[t],
                    before[t], quarter(t, 1), quarter(t, 2), quarter(t, 3), end, end - before[t], late, corpus[t], faults[t]
                all += executions[t]; seconds += cpu[t]; found += faults[t]; new += end - before[t]; total += end
                none += late <= 0; small += late < 0.5
                if (late > most) { most = late; worst = t }
            }
            printf "\n%d targets, %d executions in %.2f hours of processor time, %d faults. The corpora cover %d edges, %d more than\n",
                n, all, seconds / 3600, found, total, new
            printf "the seeds. In the last quarter %d targets found no new edge and %d less than 0.5 %%; the most, %.2f %%, is %s.\n",
                none, small, most, worst ? worst : "none"
        }' "$BUILD/runs.tsv"
}
case "${1:-}" in
--table)
    print_table
    exit ;;
--update)
    print_table >"$BUILD/table.md" && readme=tests/fuzz/README.md &&
        sed -e '/^<!-- figures -->$/,/^<!-- end of figures -->$/{//!d;}' -e "/^<!-- figures -->\$/r $BUILD/table.md" \
            "$readme" >"$BUILD/README.new" && cat "$BUILD/README.new" >"$readme"
    exit ;;
esac

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
    nice -n 15 "$BUILD/fuzz/fuzz_$target" -merge=1 -timeout=$longest_s -rss_limit_mb=1024 \
        -max_len="$(longest "$target")" -artifact_prefix="$found/" \
        "$corpus.new" "$@" >"$BUILD/log/$target.merge.log" 2>&1 || return
    rm -rf "$corpus"
    mv "$corpus.new" "$corpus"
}

# Processor time of a process in seconds, nothing if it has ended; its name may contain blanks.
cpu_of() { # pid
    sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | awk -v hz="$hz" '$1 != "Z" { printf "%d", ($12 + $13) / hz }'
}

# Waits for a target, which stops on a signal after T seconds of processor time; a run that gets hardly any ends too.
wait_for_cpu() { # pid; sets rc and cpu
    cpu=0
    end=$(($(date +%s) + 20 * T + 60))
    while now=$(cpu_of "$1") && [ -n "$now" ]; do
        cpu=$now
        if [ "$cpu" -ge "$T" ] || [ "$(date +%s)" -ge "$end" ]; then
            kill -USR1 "$1" 2>/dev/null
            break
        fi
        sleep 1
    done
    wait "$1"
    rc=$?
}

add_run() { # the columns of the printed row
    executions=$((executions + $2))
    seconds=$((seconds + ${11}))
    printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' \
        "$1" "$2" "${11}" "$crashes" "${10}" "$4" "$5" "$6" "$7" "$8" >>"$BUILD/runs.tsv"
}

mkdir -p "$BUILD/log"
hz=$(getconf CLK_TCK)
executions=0
seconds=0
printf '%-18s %11s %7s %7s %7s %7s %7s %7s %11s %7s %6s  %s\n' \
    target executions 'per s' before 1/4 1/2 3/4 end 'last new at' corpus 'CPU s' crashes
for target in "$@"; do
    corpus=$BUILD/corpus/$target
    log=$BUILD/log/$target.log
    found=$BUILD/crashes/$target
    dictionary=$(dictionary_of "$target")
    mkdir -p "$BUILD/log" "$found"
    rm -f "$found"/*
    start="tests/fuzz/seeds/$target $(start_of "$target" "$dictionary")"
    # shellcheck disable=SC2086 # folders without blanks; an empty dictionary must not be an argument
    {
        [ ! -d "$corpus" ] || minimize "$target" "$corpus" "$corpus" $start
        mkdir -p "$corpus"
        nice -n 15 "$BUILD/fuzz/fuzz_$target" $dictionary -max_len="$(longest "$target")" -timeout=$longest_s \
            -report_slow_units=$longest_s -rss_limit_mb=1024 -print_final_stats=1 -artifact_prefix="$found/" \
            "$corpus" $start >"$log" 2>&1 &
    }
    wait_for_cpu $!
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
        END {
            sub("/.*", "", corp)
            for (q = 1; q <= 4; q++) {
                after[q] = before
                for (i = 1; i <= steps && at[i] <= n * q / 4; i++) after[q] = edges_at[i]
            }
            printf "%-18s %11d %7d %7d %7d %7d %7d %7d %11d %7d %6d  %s\n", target, n, n / (cpu + !cpu), before, after[1], after[2],
                after[3], edges, last, corp, cpu, crashes ? crashes : rc ? "exit code " rc : 0
        }' "$log")
    echo "$line"
    # shellcheck disable=SC2086 # the columns
    add_run $line
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
