#!/bin/sh
# Every hardware file is valid against the schema. Prints TAP.
cd "$(dirname "$0")/.." || exit 1
n=0
bad=0
for file in hwdb/*.xml; do
    [ -e "$file" ] || continue
    n=$((n + 1))
    if text=$(xmllint --nonet --noout --relaxng hwdb/hwdb.rng "$file" 2>&1); then
        echo "ok $n - $file"
    else
        bad=1
        echo "not ok $n - $file"
        printf '%s\n' "$text" | sed 's/^/# /'
    fi
done
echo "1..$n"
exit $bad
