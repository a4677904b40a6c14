#!/bin/sh
# Every operator of the index has a test of its types and one of its exact cost (or one in a whole model, where only an
# analysis can run it), and `onnxcost ops` counts only existing tests. Prints TAP.
# modes: release
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
: "${BUILD:=build/release}"
table=$(mktemp) || exit 1
trap 'rm -f "$table"' EXIT
tests/count_op_tests.sh >"$table"

result 'every operator of the index has tests' "$(awk -F '\t' '
    /^#/ { next }
    NR == FNR { cases[$1, $2] = $3; costs[$1, $2] = $4; models[$1, $2] = $5; next }
    { domain = $2 == "ai.onnx" ? "" : $2; bodies = $1 ~ /^(If|Loop|Scan|SequenceMap|.*Search|Sampling)$/ }
    !(cases[domain, $1] && costs[domain, $1]) && !(bodies && models[domain, $1]) {
        print $2 ":" $1 ": " cases[domain, $1] + 0 " of types, " costs[domain, $1] + 0 " of costs"
    }' "$table" tests/data/operator_index.tsv)"

# without the test set node_tests are unknown
nodes=$(awk -F '\t' '!/^#/ && $6 { some = 1 } END { print some + 0 }' "$table")
result 'tests/data/op_tests.tsv counts only existing tests (make op-tests)' "$(awk -F '\t' -v nodes="$nodes" '
    /^#/ { next }
    NR == FNR { for (i = 3; i < 7; i++) n[$1, $2, i] = $i; next }
    { for (i = 3; i < 6 + nodes; i++) if ($i > n[$1, $2, i] + 0) { print $1 ":" $2 ": " $0; break } }
    ' "$table" tests/data/op_tests.tsv)"

result 'onnxcost ops --format json prints the numbers of the table' "$("$BUILD/onnxcost" ops --format json | awk -F '"' '
    $2 == "domain" { domain = $4 == "ai.onnx" ? "" : $4 } $2 == "name" { name = $4 }
    $2 == "tests" { gsub(/[^0-9]/, "", $3); print domain "\t" name "\t" $3 }' | awk -F '\t' '
    /^#/ { next }
    FILENAME != "-" { n[$1, $2] = $3 + $5 + $6; next }
    { seen++ } $3 != n[$1, $2] + 0 { print $1 ":" $2 ": " $3 " instead of " n[$1, $2] + 0 }
    END { if (seen < 370) print "only " seen + 0 " operators" }' tests/data/op_tests.tsv -)"
finish
