#!/bin/sh
# --format xlsx: the workbook has the values of CSV and JSON (read with openpyxl, tests/support/xlsx_rules.py), names from
# files are texts and no formulas, and the same report gives the same file. Prints TAP.
# modes: release
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
: "${BUILD:=build/release}"
onnxcost=$PWD/$BUILD/onnxcost
work=$BUILD/xlsx
python=
for p in /usr/bin/python3 python3; do
    [ -z "$python" ] && "$p" -c 'import openpyxl' 2>/dev/null && python=$p
done
if [ -z "$python" ]; then
    echo "1..1"
    echo "ok 1 # SKIP python3 has no openpyxl (Debian: python3-openpyxl)"
    exit 0
fi
rm -rf "$work"
mkdir -p "$work"
export ONNXCOST_HWDB="${ONNXCOST_HWDB:-$PWD/hwdb}"
"$BUILD/onnxzoo" resnet50 -o "$work/model.onnx"
# names that a spreadsheet would compute, of the same length
for name in '=1+1*2;/Con' '+1-2;;;/Con' '@SUM(1;2)Co' '-2+3;;;;Con'; do
    k=$((${k:-0} + 1))
    LC_ALL=C sed "s|/conv1/Conv|$name|g" "$work/model.onnx" >"$work/formula$k.onnx"
done
compare() { # title arguments...
    title=$1
    shift
    for f in xlsx csv json; do "$onnxcost" "$@" -f $f -o "$work/report.$f" 2>"$work/err" || cat "$work/err"; done
    result "$title" "$("$python" tests/support/xlsx_rules.py "$work/report.xlsx" "$work/report.csv" "$work/report.json" 2>&1)"
}
profile=models/profiles/resnet50.disabled.t1.json.gz
compare 'a model' "$work/model.onnx"
compare 'a model on a device' "$work/model.onnx" --hw a100
compare 'a profile on its machine' "$work/model.onnx" -p $profile --hw models/profiles/machine.t1.xml
for k in 1 2 3 4; do compare "formula $k in a name" "$work/formula$k.onnx"; done
"$onnxcost" "$work/model.onnx" -f xlsx -o "$work/a.xlsx" 2>/dev/null
"$onnxcost" "$work/model.onnx" -f xlsx -o "$work/b.xlsx" 2>/dev/null
cmp "$work/a.xlsx" "$work/b.xlsx" >"$work/cmp" 2>&1; passed $? 'the same report gives the same file' "$(cat "$work/cmp")"
"$python" -c 'import json
t = {"timeMs": 2.0, "averageMs": 1.0, "medianMs": 1.0, "percentage": 50.0}
print(json.dumps([{"count": 2}, {"name": "\u00e9" * 3 + "x" * 40000 + "z", **t}, {"name": "short", **t}]))' >"$work/long.profile.json"
"$onnxcost" "$work/long.profile.json" -f xlsx -o "$work/long.xlsx" 2>"$work/err"
result 'a text has at most 32,767 characters' "$("$python" -c 'import openpyxl, sys
texts = {c.value for s in openpyxl.load_workbook(sys.argv[1]) for r in s.iter_rows() for c in r}
if not {"\u00e9" * 3 + "x" * 32764, "short"} <= texts: print([len(t) for t in texts if isinstance(t, str)])' "$work/long.xlsx" 2>&1)"
"$onnxcost" "$work/model.onnx" -f xlsx >"$work/out" 2>"$work/err"
[ $? -eq 2 ] && [ ! -s "$work/out" ]; passed $? 'a workbook needs a file' "$(cat "$work/err")"
finish
