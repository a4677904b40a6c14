#!/bin/sh
# Lines of src/ that tests reached, by folder: what gcov says of a build with MODE=coverage. `make coverage` runs it.
# usage: tests/coverage.sh [build/coverage]
cd "$(dirname "$0")/.." || exit 1
build=${1:-build/coverage}
find "$build/obj/src" -name '*.gcda' -print0 | sort -z | xargs -0 "${GCOV:-gcov}" --stdout 2>/dev/null |
    awk -F : '
    # "        -:    0:Source:src/base/arena.c", then "count:line:text"; - no code, ##### and ===== not reached
    $2 + 0 == 0 && $3 == "Source" {
        file = $4
        wanted = file ~ /^src\/.*\.c$/
    }
    wanted && $2 + 0 > 0 && $1 !~ /-$/ {
        n[file]++
        hit[file] += $1 !~ /[#=]/
    }
    END {
        for (file in n) {
            folder = file
            sub(/\/[^\/]*$/, "/", folder)
            all[folder] += n[file]
            reached[folder] += hit[file]
            sum += n[file]
            sum_reached += hit[file]
        }
        if (!sum) { print "no coverage data"; exit 1 }
        for (folder in all)
            printf "%-16s %6d of %6d lines %6.1f %%\n", folder, reached[folder], all[folder], 100 * reached[folder] / all[folder] | "sort"
        close("sort")
        printf "%-16s %6d of %6d lines %6.1f %%\n", "all", sum_reached, sum, 100 * sum_reached / sum
    }'
