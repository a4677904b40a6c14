#!/bin/sh
# Counts the tests of each operator by running them: domain, name, and the number of
#   cases       sets of inputs whose inferred types are compared (tests/support/op_case.h)
#   costs       of these: exact counts, too
#   models      test programs of the rules and of the analysis that build models with it
#   node_tests  models of the ONNX backend test set that have it
# `make op-tests` writes the result to tests/data/op_tests.tsv, which is compiled into `onnxcost ops`.
cd "$(dirname "$0")/.." || exit 1
: "${BUILD:=build/release}"
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
export ONNXCOST_COUNT_OPS="$log"
for t in tests/unit/ops/test_*.c tests/unit/analyze/test_*.c; do
    t=${t#tests/unit/}
    "$BUILD/unit/${t%.c}" >/dev/null 2>&1 || echo "# ${t%.c} fails" >&2
done
tests/oracle/run.sh >/dev/null
printf '# domain\tname\tcases\tcosts\tmodels\tnode_tests (tests/count_op_tests.sh)\n'
LC_ALL=C awk -F '\t' -v OFS='\t' '
    NR == 1 { split("case cost model node", kind, " ") }
    { op = $2 OFS $3; ops[op] = 1; if ($1 == "case" || $1 == "cost" || !seen[op, $1, $4]++) n[op, $1]++ }
    END { for (op in ops) print op, n[op, kind[1]] + 0, n[op, kind[2]] + 0, n[op, kind[3]] + 0, n[op, kind[4]] + 0 }
' "$log" | LC_ALL=C sort
