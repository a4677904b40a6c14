#!/bin/sh
# Profiles whose runs differ in their sizes: work per row and per size, against an independent computation from the
# recorded shapes (tests/support/sizes_check.py). The profiles are written by that script. Prints TAP.
# modes: release
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
: "${BUILD:=build/release}"
top=$PWD
work=$PWD/$BUILD/sizes
rm -rf "$work"
mkdir -p "$work"
export PATH="$PWD/$BUILD:$PATH" LC_ALL=C ONNXCOST_HWDB="${ONNXCOST_HWDB:-$PWD/hwdb}"
sizes="python3 $top/tests/support/sizes_check.py"
cd "$work" || exit 1

# name, symbol, sizes of the runs; the first run is a warm-up. Writes NAME.onnx and NAME.profile.json.
record() {
    name=$1 symbol=$2
    shift 2
    onnxzoo "$name" -o "$name.onnx" >/dev/null
    list=
    for size in "$@"; do
        [ -f "$name.$size.json" ] || onnxcost "$name.onnx" -d "$symbol=$size" -f json >"$name.$size.json"
        list="$list $name.$size.json"
    done
    # shellcheck disable=SC2086 # several files
    $sizes make $list >"$name.profile.json"
}

contains() { # title file text...
    title=$1 file=$2 missing=
    shift 2
    for text in "$@"; do
        grep -qF -- "$text" "$file" || missing="$missing'$text' is not in $file: $(head -n 20 "$file")
"
    done
    result "$title" "$missing"
}

# rows, sizes
work_of_rows_is_the_sum_over_runs() {
    onnxcost "$1.onnx" -p "$1.profile.json" -f json >"$1.report.json" 2>err
    found=$($sizes check "$1.profile.json" "$1.report.json" 2>&1)
    [ "$found" = "$2" ] && found=
    result "$1: the work of each row is the sum over its runs, its rate that of all runs" "$found$(cat err)"
}

record distilbert sequence 16 16 48
work_of_rows_is_the_sum_over_runs distilbert '48 rows, 2 sizes equal'
record resnet18 batch 1 1 1 2 8 2 1 3
work_of_rows_is_the_sum_over_runs resnet18 '21 rows, 4 sizes equal'

onnxcost resnet18.onnx -p resnet18.profile.json >text
contains 'the report names the sizes and says that its figures are means' text \
    'float[1..8,3,224,224]' 'cost      mean ' 'mean of 6 of 8 runs of 4 sizes' 'Runs by size: 4 sizes in 6 runs' 'batch = 8'
python3 - resnet18.report.json resnet18.2.json >out 2>&1 <<'END'
import json, sys
report, one = (json.load(open(p)) for p in sys.argv[1:])
sets = report["sizes"]["sets"]
assert [s["values"]["batch"] for s in sets] == [1, 2, 3, 8], sets
assert [s["runs"] for s in sets] == [2, 2, 1, 1], sets
assert sets[1]["macs"] == one["totals"]["macs"]
runs = sum(s["runs"] for s in sets)
mean = sum(s["macs"] * s["runs"] for s in sets) / runs
assert abs(report["totals"]["macs"] - mean) <= len(report["nodes"]) / 2, (report["totals"]["macs"], mean)
assert sum(n["macs"] for n in report["nodes"]) == report["totals"]["macs"]
for s in sets:
    assert s["time_min_ns"] <= s["time_median_ns"] <= s["time_max_ns"]
    work = s["flops"] + s["ops"]
    assert s["achieved_flops_per_s"] + s["achieved_ops_per_s"] <= work / s["time_ns"] * 1e9 * 1.0000001
for r in report["rows"]:
    if not r["remainder"]:
        z = r["sizes"]
        assert z["operations_min"] <= z["operations_median"] <= z["operations_max"]
        assert z["flops_total"] + z["ops_total"] >= z["operations_max"]
END
result 'sizes have the totals of the model at that size, totals are means' "$(cat out)"

# integers and floats; batches 1 and 3 take the shortest time
record resnet18_dynamic batch 1 1 1 2 1 3 4 5 6 7 8 9 10 2
onnxcost resnet18_dynamic.onnx -p resnet18_dynamic.profile.json >text
onnxcost resnet18_dynamic.onnx -p resnet18_dynamic.profile.json -f json >report.json
python3 - report.json text >out 2>&1 <<'END'
import json, re, sys
sets = json.load(open(sys.argv[1]))["sizes"]["sets"]
total = lambda s: s["time_ns"] * s["runs"]
others = [s for s in sets if s["values"]["batch"] in (1, 3)]
ns, every = sum(map(total, others)), sum(map(total, sets))
rate = lambda key: sum(s[key] * total(s) for s in others) / ns * 1e-9
line = re.search(r"^\(2 others\) .*", open(sys.argv[2]).read(), re.M).group().split()[2:]
assert line == ["3", "-", "%.1f" % (100 * ns / every), "-", "%.4g" % (rate("achieved_flops_per_s") + rate("achieved_ops_per_s")),
                "%.4g" % rate("achieved_bytes_per_s")], line
END
result 'the sizes with the shortest time share a line, with the rates of all their runs' "$(cat out)"

onnxcost resnet18.onnx -p resnet18.profile.json -d batch=2 >text 2>err
head -n 1 text | grep -q '^mismatch' && found= || found=$(head -n 3 text)
result 'a size given by --dim that other runs do not have is reported first' "$found"
onnxcost resnet18.onnx -p resnet18.profile.json --stat median >text 2>&1
contains '--stat median is the mean for runs of different sizes' text 'mean of 6 of 8 runs of 4 sizes' 'W-shapes-stat'
onnxcost resnet18.onnx -p resnet18.profile.json --stat sum -f json >sum.json 2>err
python3 - sum.json resnet18.report.json >out 2>&1 <<'END'
import json, sys
total, mean = (json.load(open(p))["totals"] for p in sys.argv[1:])
for key in "achieved_flops_per_s", "achieved_bytes_per_s":
    assert abs(total[key] / mean[key] - 1) < 1e-9, (key, total[key], mean[key])
END
result 'rates are the same for sums and for means' "$(cat err out)"
onnxcost resnet18.onnx -p resnet18.profile.json -f html | python3 "$top/tests/support/page_data.py" >page.json
contains 'the page has the sizes' page.json '"sizes":{"runs":6,"shapes":4,"sets":['
onnxcost resnet18.onnx -p resnet18.profile.json -f markdown >page.md
contains 'Markdown has the sizes' page.md '| batch = 8 | 1 |'
onnxcost -p resnet18.profile.json >text
contains 'without a model the latency names the sets of shapes' text 'mean of 6 of 8 runs of 4 sets of shapes'
cd "$top" && rm -rf "$work"
finish
