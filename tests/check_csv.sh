#!/bin/sh
# --format csv in other readers: Python's csv and sqlite3 (tests/support/csv_rules.py), and the import of the SQLite shell
# if installed. Prints TAP.
# modes: release
set -u
cd "$(dirname "$0")/.." || exit 1
: "${BUILD:=build/release}"
work=$BUILD/csv
rm -rf "$work"
mkdir -p "$work"
onnxcost=$PWD/$BUILD/onnxcost
export ONNXCOST_HWDB="${ONNXCOST_HWDB:-$PWD/hwdb}"
"$BUILD/onnxzoo" resnet50 -o "$work/resnet50.onnx"
"$BUILD/onnxzoo" bert_base -o "$work/bert_base.onnx"
# names with every character that CSV must quote, a node without a name, an unknown operator
python3 - "$work/hostile.onnx" <<'PYTHON'
import sys


def varint(v):
    out = b""
    while v > 127:
        out += bytes([v & 127 | 128])
        v >>= 7
    return out + bytes([v])


def part(field, data):
    data = data.encode() if isinstance(data, str) else data
    return varint(field << 3 | 2) + varint(len(data)) + data


def number(field, v):
    return varint(field << 3) + varint(v)


names = ['a,b', 'say "hi"', 'two\nlines', 'cr\r\nlf', ' blanks ', '=1+1', 'é', "it's", '"', '']
nodes, last = b"", "x"
for i, name in enumerate(names):
    nodes += part(1, part(1, last) + part(2, f"v{i}") + (part(3, name) if name else b"") + part(4, "Relu"))
    last = f"v{i}"
nodes += part(1, part(1, last) + part(2, "end") + part(3, "unknown, to us") + part(4, "Mystery") + part(7, "my.domain"))
shape = b"".join(part(1, number(1, d)) for d in (2, 3))
value = part(1, "x") + part(2, part(1, number(1, 1) + part(2, shape)))
graph = nodes + part(2, "g") + part(11, value) + part(12, part(1, "end"))
model = number(1, 8) + part(8, part(1, "") + number(2, 17)) + part(8, part(1, "my.domain") + number(2, 1)) + part(7, graph)
open(sys.argv[1], "wb").write(model)
PYTHON

lines=$work/lines
: >"$lines"
test_report() { # name arguments...
    name=$1
    shift
    "$onnxcost" "$@" -f csv -o "$work/$name.csv" 2>"$work/err" && "$onnxcost" "$@" -f json -o "$work/$name.json" 2>"$work/err" ||
        { echo "not ok $name: $(cat "$work/err")" >>"$lines"; return; }
    python3 tests/support/csv_rules.py "$work/$name.csv" "$work/$name.json" >"$work/out" 2>&1
    sed "s/^ok /ok $name: /; s/^not ok /not ok $name: /" "$work/out" >>"$lines"
}
test_report hostile "$work/hostile.onnx"
test_report hardware "$work/bert_base.onnx" --hw a100
test_report resnet50 "$work/resnet50.onnx"

# a model with its profile: the times of the table add up to those of the report
"$onnxcost" "$work/resnet50.onnx" -p models/profiles/resnet50.disabled.t1.json.gz -f csv -o "$work/p.csv" 2>/dev/null
"$onnxcost" "$work/resnet50.onnx" -p models/profiles/resnet50.disabled.t1.json.gz -f json -o "$work/p.json" 2>/dev/null
python3 - "$work/p.csv" "$work/p.json" >>"$lines" <<'PYTHON'
import csv, json, sys
time = sum(float(r["time_ns"]) for r in csv.DictReader(open(sys.argv[1], newline="")))
rows = sum(r["time_ns"] for r in json.load(open(sys.argv[2]))["rows"])
print("ok times add up" if abs(time - rows) < 1 else f"not ok times add up: {time} is not {rows}")
PYTHON

# measured energies: of rows, of groups with all of them, of the run as a bound where one is missing
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; print "layer,kind,time,energy (mJ)"; next }
    { print $at["name"] "," $at["type"] ",1.5ms," (NR == 3 ? "" : NR) }' "$work/resnet50.csv" >"$work/energy.csv"
for form in csv json table; do
    COLUMNS=200 "$onnxcost" "$work/resnet50.onnx" -p "$work/energy.csv" --map name=layer,type=kind,time=time,energy=energy -f $form \
        --order-by energy -o "$work/e.$form" 2>"$work/err" || cat "$work/err"
done
"$onnxcost" "$work/resnet50.onnx" -p "$work/energy.csv" --map name=layer,type=kind,time=time,energy=energy -f csv \
    --group-by type -o "$work/e.types.csv" 2>"$work/err"
python3 - "$work" >>"$lines" <<'PYTHON'
import csv, json, math, sys
read = lambda name: list(csv.DictReader(open(sys.argv[1] + "/" + name, newline="")))
given = {r["layer"]: float(r["energy (mJ)"]) / 1e3 for r in read("energy.csv") if r["energy (mJ)"]}
rows, types, profile = read("e.csv"), read("e.types.csv"), json.load(open(sys.argv[1] + "/e.json"))["profile"][0]
def same(a, b): return math.isclose(a, b, rel_tol=1e-12)
def check(ok, what): print(("ok " if ok else "not ok ") + what)
check({r["name"]: float(r["energy_j"]) for r in rows if r["energy_j"]} == given and len(given) == len(rows) - 1, "energies of rows")
check(all(same(float(r["flop_per_j"]), (float(r["float_ops"]) + float(r["int_ops"])) / float(r["energy_j"])) for r in rows if r["energy_j"]), "FLOPs per joule")
order = [float(r["energy_j"]) for r in rows if r["energy_j"]]
check(order == sorted(order, reverse=True) and not rows[-1]["energy_j"], "order by energy, unknown last")
missing = {r["type"] for r in rows if not r["energy_j"]}
want = {t: sum(given[r["name"]] for r in rows if r["type"] == t) for t in {r["type"] for r in rows} - missing}
got = {r["type"]: float(r["energy_j"]) for r in types if r["energy_j"]}
check(len(want) > 2 and got.keys() == want.keys() and all(same(got[t], want[t]) for t in want), "energies of types; none where a row has none")
check(same(profile["energy_j"], sum(given.values())) and profile["energy_quality"] == "lower", "energy of a run")
power = sum(given.values()) / 1.5e-3 / len(given)
check(f"at least {sum(given.values()):.3g} J measured, {power:.3g} W" in open(sys.argv[1] + "/e.table").read(), "energy and power in the table")
PYTHON

# without rows: the same header
cp tests/fuzz/seeds/diff/no_nodes.onnx "$work/none.onnx"
mkdir -p "$work/folder"
test_empty() { # name, command with rows, command without rows
    # shellcheck disable=SC2086 # words
    "$onnxcost" $2 -f csv 2>/dev/null | head -n 1 >"$work/some.head"
    # shellcheck disable=SC2086
    "$onnxcost" $3 -f csv >"$work/none.csv" 2>"$work/err"
    if [ -s "$work/some.head" ] && cmp -s "$work/some.head" "$work/none.csv"; then
        echo "ok without rows: $1" >>"$lines"
    else
        echo "not ok without rows: $1: $(wc -l <"$work/none.csv") lines: $(head -c 70 "$work/none.csv" "$work/err" | tr '\r\n' '  ')" >>"$lines"
    fi
}
test_empty report "$work/resnet50.onnx" "$work/none.onnx"
p=models/profiles/resnet50.disabled.t1.json.gz
test_empty 'times without rows' "$p" "$p --min-time 1000"
test_empty diff "diff $work/resnet50.onnx $work/resnet50.onnx" "diff $work/none.onnx $work/none.onnx"
test_empty memory "memory $work/resnet50.onnx" "memory $work/none.onnx"
test_empty scan "scan $work/resnet50.onnx" "scan $work/folder"
test_empty summary 'summary models/profiles/resnet50.disabled.t1.json.gz' \
    'summary models/profiles/resnet50.disabled.t1.json.gz --view operator --opr-name nowhere'

if command -v sqlite3 >/dev/null; then
    got=$(sqlite3 -cmd '.mode csv' -cmd ".import $work/hostile.csv report" :memory: \
        "SELECT COUNT(*), SUM(macs = ''), SUM(name = 'two' || char(10) || 'lines') FROM report" 2>&1)
    [ "$got" = 11,1,1 ] && echo "ok import by the SQLite shell" >>"$lines" || echo "not ok import by the SQLite shell: $got" >>"$lines"
else
    echo "ok import by the SQLite shell # SKIP no sqlite3 (Debian: sqlite3)" >>"$lines"
fi
awk '/^(not )?ok / { n++; sub(/ok /, "ok " n " - "); print; bad += /^not/; next }
    { print "# " $0; n++; bad++; print "not ok " n " - the checks were not completed" }
    END { if (n < 20) { n++; bad++; print "not ok " n " - not all checks ran" } print "1.." n; exit bad > 0 }' "$lines"
