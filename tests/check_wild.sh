#!/bin/sh
# Profiles made by other people (../shared/cases/wild): reader, runs, rows and times are those of the file, computed by
# tests/support/wild_times.py; expectations: tests/data/wild.tsv. Without the files or python3: skipped.
# modes: release
cd "$(dirname "$0")/.." || exit 1
: "${BUILD:=build/release}"
archive=../shared/cases/wild/wild.tar.gz
if [ ! -e $archive ]; then
    echo "1..0 # SKIP no profiles in '$archive'"
    exit 0
fi
command -v python3 >/dev/null || { echo '1..0 # SKIP python3 is not there'; exit 0; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
tar -xzf $archive -C "$work" || exit 1
PYTHONDONTWRITEBYTECODE=1 python3 tests/support/wild_rules.py "$BUILD/onnxcost" tests/data/wild.tsv "$work"
