#!/bin/sh
# Rows as Parquet, in parts: each value equals that of NDJSON or CSV. Prints TAP.
# With DUCKDB=FOLDER (node packages @duckdb/node-api, hyparquet, hyparquet-compressors; see `make parquet-check`)
# these readers compare each file too.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
: "${BUILD:=build/release}"
top=$PWD
work=$BUILD/parquet
rm -rf "$work"
mkdir -p "$work/bin" "$work/m/sub" "$work/t"
ln -s "$PWD/$BUILD/onnxcost" "$PWD/$BUILD/onnxzoo" "$work/bin"
export ONNXCOST_HWDB="${ONNXCOST_HWDB:-$PWD/hwdb}"
machine=$top/models/profiles/machine.t1.xml
"$BUILD/onnxzoo" resnet18 -o "$work/m/resnet18.onnx"
"$BUILD/onnxzoo" mobilenetv2 -o "$work/m/sub/mobilenetv2.onnx"
cp models/profiles/resnet18.all.t1.json.gz models/profiles/mobilenetv2.*.t1.json.gz models/profiles/gpt2.all.t1.json.gz "$work/t"
cd "$work" || exit 1
export PATH="$PWD/bin:$PATH"
unset NO_COLOR COLUMNS
expect_eq() { # title expected actual
    result "$1" "$([ "$2" = "$3" ] || echo "expected '$2', got '$3'")"
}
rows_of() {
    python3 "$top/tests/support/parquet_rows.py" "$@" 2>&1
}
sum_of() { # column of NDJSON
    python3 -c '
import json, sys
print(sum(json.loads(line)[sys.argv[2]] or 0 for line in open(sys.argv[1])))' "$@"
}
compare() { # name: Parquet and NDJSON, by every reader there is
    result "$1: Parquet has the values of NDJSON" "$(rows_of "$1.parquet" "$1.ndjson")"
    if [ -n "${DUCKDB:-}" ]; then
        result "$1: DuckDB and hyparquet read the same" "$(NODE_PATH=$DUCKDB node "$top/tests/support/parquet_readers.js" "$1.parquet" "$1.ndjson" 2>&1)"
    fi
}
same() { # name, errors, arguments of scan
    name=$1 errors=$2
    shift 2
    for format in parquet ndjson csv; do onnxcost scan "$@" -f $format -o "$name.$format" 2>err; done
    compare "$name"
    expect_eq "$name: an unreadable file is an error row" "$errors" "$(grep -c '"error_code":"format"' "$name.ndjson")"
    expect_eq "$name: CSV has as many rows" "$(wc -l <"$name.ndjson")" "$(python3 -c '
import csv, sys
print(sum(1 for _ in csv.DictReader(open(sys.argv[1], newline="", errors="replace"))))' "$name.csv")"
}

# ---- the same rows in every format
printf 'no model' >m/garbage.onnx
printf 'no profile' >t/other.txt
cp m/resnet18.onnx "m/$(printf 'odd\377\303\251 "').onnx"
same models 1 m
same nodes 1 m --rows nodes
same roofs 1 m --rows nodes --hw epyc-7742
same profiles 1 t --profiles --join m --join m/sub --hw "$machine"
same operators 1 t --profiles --rows nodes --join m --join m/sub --hw "$machine"
onnxcost scan m --rows nodes -f json 2>err >nodes.json
result 'JSON has the rows of nodes' "$(python3 -c '
import json
got = json.load(open("nodes.json"))["rows"]
assert got == [json.loads(line) for line in open("nodes.ndjson")]' 2>&1)"

# ---- figures are those of the reports
want=$(onnxcost m/resnet18.onnx -f json | sed -n '/"totals"/,/}/s/^ *"macs": \([0-9]*\),$/\1/p' | head -n 1)
grep '"path":"m/resnet18.onnx"' nodes.ndjson >one.ndjson
expect_eq 'MACs of the nodes add up to those of the model' "$want" "$(sum_of one.ndjson macs)"
onnxcost m/resnet18.onnx -p t/resnet18.all.t1.json.gz --hw "$machine" -f json >report.json
result 'figures of a profile are those of its report' "$(python3 -c '
import json
report = json.load(open("report.json"))
row = next(r for r in map(json.loads, open("profiles.ndjson")) if "resnet18" in r["path"])
def find(v, key):
    if isinstance(v, dict):
        return ([v[key]] if key in v else []) + [x for w in v.values() for x in find(w, key)]
    return [x for w in v for x in find(w, key)] if isinstance(v, list) else []
for name, key in (("latency_ns", "run_ns"), ("run_median_ns", "median_ns"), ("run_max_ns", "max_ns"),
                  ("roofline_efficiency", "roofline_efficiency"), ("macs", "macs"), ("flops", "flops"),
                  ("attributed_fraction", "time_matched_fraction"), ("format", "format")):
    assert row[name] is not None and row[name] in find(report, key), (name, row[name])' 2>&1)"
expect_eq 'model of a profile is the longest beginning of its name' \
    '"m/resnet18.onnx" "m/sub/mobilenetv2.onnx" "m/sub/mobilenetv2.onnx" null null' \
    "$(sed 's/.*"model":\([^,]*\),.*/\1/' profiles.ndjson | sort | tr '\n' ' ' | sed 's/ $//')"

# ---- summary
onnxcost summary t/resnet18.all.t1.json.gz -f parquet -o summary.parquet
onnxcost summary t/resnet18.all.t1.json.gz -f csv -o summary.csv
result 'summary: Parquet has the values of CSV' "$(PYTHONPATH=$top/tests/support python3 -c '
import csv, parquet_rows
names, rows, meta, groups = parquet_rows.read("summary.parquet")
want = list(csv.DictReader(open("summary.csv", newline="")))
assert len(want) == len(rows) > 20, (len(want), len(rows))
for w, row in zip(want, rows):
    for name, got in zip(names, row):
        text = w[name]
        assert (got is None) == (text == "") and (got is None or got == type(got)(text)), (name, got, text)
assert [*names, "csv_version"] == list(want[0])' 2>&1)"

# ---- more than one row group
if [ -n "${DUCKDB:-}" ]; then
    onnxzoo chain --nodes 130000 -o long.onnx
    for format in parquet ndjson; do onnxcost scan long.onnx --rows nodes -f $format -o long.$format; done
    compare long
    expect_eq 'row groups are bounded' 'nodes 1: 130000 rows in 2 row groups' "$(rows_of long.parquet)"
fi

# ---- parts
find m t -type f | sort >list
for k in 0 1 2 3 4; do
    awk -v k=$k 'NR % 5 == k' list | onnxcost scan --files-from - --rows nodes -f ndjson 2>err
done >parts.ndjson
onnxcost scan m t/*.json.gz t/other.txt --rows nodes -f ndjson 2>err | sort >whole
result 'parts have every row once' "$(sort parts.ndjson | cmp - whole 2>&1)"
onnxcost scan --files-from - --rows nodes -f parquet -o none.parquet </dev/null 2>err
expect_eq 'a part without files is a table without rows' 'nodes 1: 0 rows in 0 row groups' "$(rows_of none.parquet | head -n 1)"

# ---- two writers of one part, one of which stops in between: the rows of one of them, once
mkdir many
onnxzoo chain --nodes 20000 -o many.onnx
for i in $(seq 1 40); do ln -s ../many.onnx "many/$i.onnx"; done
onnxcost scan many --rows nodes -f parquet -o one.parquet 2>err
for last in first second; do
    rm -f two.parquet
    python3 - $last <<'PY' 2>err
import glob, os, signal, subprocess, sys, time
def write():
    return subprocess.Popen('onnxcost scan many --rows nodes -j 1 -f parquet -o two.parquet'.split(), stderr=subprocess.DEVNULL)
first = write()
while first.poll() is None and not glob.glob('two.parquet.??????'):
    time.sleep(0.005)
first.send_signal(signal.SIGSTOP)
os.path.exists('two.parquet') and sys.exit('a file has the name before it is complete')
second = write()
if sys.argv[1] == 'first':
    second.wait()
first.send_signal(signal.SIGCONT)
sys.exit('a writer failed' if first.wait() or second.wait() else 0)
PY
    result "two writers, the $last one may end last: the rows are there once" "$(cat err; cmp one.parquet two.parquet 2>&1; find . -name 'two.parquet.??????')"
done
finish
