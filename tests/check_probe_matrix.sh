#!/bin/sh
# Runs the probes of all importers on every file under ../shared/samples: the expected winner is in
# tests/data/probe_matrix.tsv, whose last column lists all bids. Without the samples: exit code 77, skipped.
# usage: tests/check_probe_matrix.sh [--update|--show]      Prints TAP.
set -u
cd "$(dirname "$0")/.." || exit 1
: "${BUILD:=build/release}"
samples=../shared/samples
list=tests/data/probe_matrix.tsv
if [ ! -d $samples ]; then
    echo "SKIPPED: no samples in '$samples'"
    exit 77
fi
if [ ! -x "$BUILD/oracle/probe_matrix" ]; then
    echo "Bail out! no program '$BUILD/oracle/probe_matrix': make $BUILD/oracle/probe_matrix" >&2
    exit 1
fi
matrix() {
    printf '# file\twinner\tbids\n'
    find $samples -type f | LC_ALL=C sort | xargs -d '\n' "$BUILD/oracle/probe_matrix" $samples
}
case ${1:-} in
--show) matrix; exit ;;
--update) matrix >$list.new && mv $list.new $list; exit ;;
esac
matrix | awk -F '\t' -v list="$list" -v importers="$("$BUILD/oracle/probe_matrix" --importers | tr '\n' ' ')" '
    BEGIN {
        while ((getline line < list) > 0) {
            split(line, f, "\t")
            if (line !~ /^#/) want[f[1]] = f[2]
        }
        n = split(importers " model", f, " ")
        for (i = 1; i <= n; i++) known[f[i]] = 1
        known["not a profile"] = 1
        n = 0
    }
    /^#/ { next }
    {
        n++
        if (!($1 in want)) problem = "not in the list: " $2
        else if (!(want[$1] in known) && $2 == "not a profile") {
            print "ok " n " # SKIP " $1 ": no importer " want[$1]
            delete want[$1]
            next
        } else if (want[$1] != $2) problem = "is " $2 " (" $3 "), expected " want[$1]
        else problem = ""
        bad += problem != ""
        print (problem == "" ? "ok " : "not ok ") n " - " $1 (problem == "" ? "" : ": " problem)
        delete want[$1]
    }
    END {
        for (file in want) { n++; bad++; print "not ok " n " - " file ": no such file" }
        print "1.." n
        exit bad > 0
    }'
