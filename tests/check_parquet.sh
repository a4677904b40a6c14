#!/bin/sh
# Rows as Parquet, in parts and resumed: each value equals that of NDJSON or CSV. Prints TAP.
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
: >parts.ndjson
for k in 1 2 3 4 5; do
    onnxcost scan m t --rows nodes --partition $k/5 -f ndjson 2>err >>parts.ndjson
    onnxcost scan m --rows nodes --partition $k/5 -f parquet -o part$k.parquet 2>err
done
onnxcost scan m t --rows nodes -f ndjson 2>err | sort >whole
result 'parts have every row once' "$(sort parts.ndjson | cmp - whole 2>&1)"
expect_eq 'a part without files is a table without rows' 'nodes 1: 0 rows in 0 row groups' \
    "$(for k in 1 2 3 4 5; do rows_of part$k.parquet; done | grep ' 0 rows' | head -n 1)"
for wrong in 0/3 4/3 3 a/b 1/ 1/2x; do
    onnxcost scan m --partition $wrong >out 2>err
    expect_eq "--partition $wrong is an error" '2 0' "$? $(wc -c <out)"
done

# ---- resumed
again() { onnxcost scan m --rows nodes -f parquet -o state.parquet --resume "$@" 2>err; }
again
before=$(stat -c %i:%Y state.parquet)
again -j 1
expect_eq 'complete file is not written again' "0 $before" "$? $(stat -c %i:%Y state.parquet)"
again --dim batch=7
result 'other options write it again' "$([ "$before" != "$(stat -c %i:%Y state.parquet)" ] || echo unchanged)"
again
before=$(stat -c %i:%Y state.parquet)
touch -d 2001-01-01 m/resnet18.onnx
again
result 'changed model writes it again' "$([ "$before" != "$(stat -c %i:%Y state.parquet)" ] || echo unchanged)"
head -c 5000 state.parquet >truncated && cp truncated state.parquet
again
result 'truncated file is written again' "$(rows_of state.parquet >/dev/null)"
onnxcost scan m gone.onnx -f parquet -o gone.parquet 2>err
before=$(stat -c %i gone.parquet)
onnxcost scan m gone.onnx -f parquet -o gone.parquet --resume 2>err
result 'file with an error that may be temporary is written again' "$([ "$before" != "$(stat -c %i gone.parquet)" ] || echo unchanged)"
onnxcost scan m --rows nodes -o x.ndjson -f ndjson --resume 2>err
expect_eq '--resume of nodes needs Parquet' 2 $?
mkdir many
onnxzoo chain --nodes 20000 -o many.onnx
for i in $(seq 1 40); do ln -s ../many.onnx "many/$i.onnx"; done
for signal in INT KILL; do
    python3 - $signal <<'PY'
import signal, subprocess, sys, time
p = subprocess.Popen('onnxcost scan many --rows nodes -j 1 -f parquet -o killed.parquet'.split(), stderr=subprocess.DEVNULL)
time.sleep(0.15)
p.send_signal(getattr(signal, 'SIG' + sys.argv[1]))
p.wait()
PY
    expect_eq "SIG$signal: no incomplete file has the name" 1 "$([ ! -e killed.parquet ]; echo $(($? == 0)))"
done
rm -f killed.parquet.??????
finish
