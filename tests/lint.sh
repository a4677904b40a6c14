#!/bin/sh
# The static checks of `make lint` in addition to clang-tidy, whose output make caches per file in build/lint; prints all
# problems. The rules are in .clang-tidy, .clang-format, .shellcheckrc and below; exit code 1: there are problems.
# usage: tests/lint.sh      (CLANG_FORMAT CLANG_TIDY CPPCHECK SHELLCHECK name other programs; JOBS)
set -u
cd "$(dirname "$0")/.." || exit 1
: "${JOBS:=2}" "${CLANG_FORMAT:=clang-format}" "${CLANG_TIDY:=clang-tidy}" "${CPPCHECK:=cppcheck}" "${SHELLCHECK:=shellcheck}"
work=build/lint
mkdir -p "$work/cppcheck"
found=$work/problems.txt

# C: one line per problem; clang-tidy repeats those of a header for each file that includes it
find src models -name '*.c' | sort >"$work/sources"
grep -vE '/os_(wasm|win[a-z_]*)\.c$' "$work/sources" | sed "s|^|$work/|; s|c\$|tidy|" | xargs cat | sed "s|^$PWD/||" |
    grep -E '^[^ :]+:[0-9]+:[0-9]+: (warning|error):' | sort -u >"$work/tidy.found"
"$CPPCHECK" --quiet --std=c11 --enable=warning,portability --inline-suppr --template=gcc -j "$JOBS" \
    --cppcheck-build-dir="$work/cppcheck" -Isrc -Ibuild/gen \
    --suppress=missingIncludeSystem --suppress=nullPointerOutOfMemory src models 2>&1 |
    grep -E '^[^ ]*: ?(warning|error|portability)|^nofile' | sort -u >"$work/cppcheck.found"
find src models tests -name '*.[ch]' | sort | xargs "$CLANG_FORMAT" --dry-run 2>&1 |
    grep 'Wclang-format' | sort -u >"$work/format.found"
# scripts
{ find tests src .ci models -name '*.sh'; echo .ci/run; echo .ci/setup; } | sort >"$work/scripts"
xargs "$SHELLCHECK" -f gcc <"$work/scripts" >"$work/shell.found" 2>&1
# plain words
tests/words.sh | grep -v '^# words: ' >"$work/words.found"
# data files are validated with their schemas
validate() { # schema files...
    schema=$1
    shift
    xmllint --nonet --noout --relaxng "$schema" "$@" 2>&1 | grep -v ' validates$'
}
{
    validate hwdb/hwdb.rng hwdb/*.xml
    validate hwdb/calibration.rng hwdb/calibrations/*.onnxruntime.xml
    validate hwdb/hwdb.rng hwdb/calibrations/xeon-2-threads.xml
    for kind in budget kernel-names op-rules providers; do
        validate hwdb/$kind/$kind.rng hwdb/$kind/*.xml
    done
    find src tests -name '*.json' -path '*schema*' -exec python3 -c '
import json, sys
for name in sys.argv[1:]:
    try: json.load(open(name))
    except ValueError as e: print(name + ": " + str(e))' {} +
} >"$work/data.found"

cat "$work"/*.found >"$found"
cat "$found"
rules=$("$CLANG_TIDY" --list-checks | grep -c '^  ')
files=$(cat "$work/sources" "$work/scripts" | wc -l)
printf 'lint: %d files, %d rules of clang-tidy, cppcheck, clang-format, shellcheck, xmllint, words: %d problems\n' \
    "$files" "$rules" "$(wc -l <"$found")"
[ ! -s "$found" ]
