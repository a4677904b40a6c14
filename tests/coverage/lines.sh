#!/bin/sh
# Line coverage of src/ by folder, from the output of `gcov -b -c` of a build with MODE=coverage. `make coverage` runs it.
# usage: tests/coverage/lines.sh GCOV.TXT [MINIMUM]      exit code 1: less than MINIMUM percent, or no data
cd "$(dirname "$0")/../.." || exit 1
[ -s "${1:-}" ] || { echo "usage: tests/coverage/lines.sh GCOV.TXT [MINIMUM]" >&2; exit 2; }
exec awk -F : -v minimum="${2:-0}" '
    # "        -:    0:Source:src/base/arena.c", then "count:line:text"; - no code, ##### and ===== not executed
    $2 + 0 == 0 && $3 == "Source" {
        file = $4
        wanted = file ~ /^src\/.*\.c$/
    }
    wanted && /^ *[0-9#=*]+:/ && $2 + 0 > 0 {
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
        if (100 * sum_reached < minimum * sum) { printf "less than %d %% of the lines\n", minimum; exit 1 }
    }' "$1"
