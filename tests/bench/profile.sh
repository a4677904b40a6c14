#!/bin/sh
# Profiles many runs of a command with perf: percentages by library and kernel, then by function.
# usage: tests/bench/profile.sh RUNS COMMAND [ARGUMENT...]        (TOP: number of functions)
set -eu
: "${TOP:=15}"
runs=$1
shift
data=$(mktemp)
trap 'rm -f "$data" "$data.old"' EXIT
# shellcheck disable=SC2016 # expanded by the inner shell
perf record -q -e cpu-clock -F 5000 -o "$data" -- \
    sh -c 'n=$1; shift; while [ $n -gt 0 ]; do "$@" >/dev/null 2>&1; n=$((n - 1)); done' sh "$runs" "$@"
perf script -i "$data" --comm "$(basename "$1" | cut -c 1-15)" -F ip,sym,dso 2>/dev/null | awk -v top="$TOP" '
    {
        dso = $NF
        gsub(/[()]/, "", dso)
        sub(/.*\//, "", dso)
        if (dso ~ /^\[/) dso = "kernel"
        where[dso]++
        symbol[$2 "  " dso]++
        n++
    }
    END {
        for (d in where) printf "%5.1f %%  %s\n", 100 * where[d] / n, d | "sort -rn"
        close("sort -rn")
        print ""
        for (s in symbol) printf "%5.1f %%  %s\n", 100 * symbol[s] / n, s | ("sort -rn | head -n " top)
    }'
