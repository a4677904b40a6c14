#!/bin/sh
# The example of src/doc/fleet.md: generated models and traces, scanned in parts, one part killed and resumed, queried
# with DuckDB in one statement, and the answer checked against an independent computation.
# usage: DUCKDB=node_modules tests/fleet_demo.sh [MODELS [TRACES]]
set -eu
cd "$(dirname "$0")/.."
: "${BUILD:=build/release}" "${DUCKDB:=$PWD/build/duckdb/node_modules}"
models=${1:-5000} traces=${2:-2000} parts=8
top=$PWD
work=$PWD/$BUILD/fleet-demo
machine=$PWD/models/profiles/machine.t1.xml
export ONNXCOST_HWDB="$PWD/hwdb" NODE_PATH="$DUCKDB" PATH="$PWD/$BUILD:$PATH" PARALLEL=--will-cite
rm -rf "$work"
mkdir -p "$work/models" "$work/zoo" "$work/traces" "$work/rows" "$work/reports"
cd "$work"
query() { node "$top/tests/support/duckdb_query.js" "$@"; }

# ---- a fleet
for name in resnet18 mobilenetv2 resnet50 vgg16; do onnxzoo $name -o zoo/$name.onnx; done
cp zoo/*.onnx models
# shellcheck disable=SC2016 # the shell of xargs expands it
seq $((models - 4)) | xargs -P 2 -n 50 sh -c 'for i; do
    set -- conv depthwise product attention elementwise reduce move mixed integer
    shift $((i % 9))
    if [ $((i % 50)) = 0 ]; then onnxzoo randwire --seed $i -o models/randwire$i.onnx
    else onnxzoo micro --kind $1 --seed $i -o models/$1$i.onnx; fi
done' sh
recorded=$top/models/profiles
python3 "$top/tests/support/fleet_traces.py" make traces "$traces" "$recorded"/resnet18.all.t1.json.gz \
    "$recorded"/mobilenetv2.disabled.t1.json.gz "$recorded"/resnet50.all.t1.json.gz "$recorded"/vgg16.all.t1.json.gz
printf 'no profile' >traces/broken.json

# ---- scanned in parts; exit code 1: there are error rows
scan_parts() { # name, arguments of scan
    name=$1
    shift
    seq $parts | parallel -j 2 onnxcost scan "$@" -j 1 --partition "{}/$parts" -f parquet -o "rows/$name.{}.parquet" \
        --resume 2>err || [ $? -le $parts ]
}
onnxcost scan models -j 1 --partition 1/$parts -f parquet -o rows/models.1.parquet &
sleep 0.2
kill -KILL $! 2>/dev/null || true
wait $! 2>/dev/null || true
[ ! -e rows/models.1.parquet ] || echo 'the killed part was complete before'
date +%s.%N >start
scan_parts models models
date +%s.%N >middle
scan_parts operators --profiles traces --rows nodes --join zoo --hw "$machine"
date +%s.%N >end
scan_parts profiles --profiles traces --join zoo --hw "$machine"
awk '{ t[NR] = $1 } END { printf "models: %.1f s; operators of traces: %.1f s\n", t[2] - t[1], t[3] - t[2] }' start middle end
stat -c '%n %Y %i' rows/*.parquet >before
scan_parts models models
stat -c '%n %Y %i' rows/*.parquet | cmp - before && echo 'all parts are complete: a second run writes none'

# ---- queried
query "select count(*) as files, count(distinct path) as paths, count(error) as errors, sum(nodes) as nodes
    from 'rows/models.*.parquet'"
query "select count(*) as files, count(distinct path) as paths, count(error) as errors, count(model) as joined,
    round(median(roofline_efficiency), 3) as efficiency from 'rows/profiles.*.parquet'"
query "select type, count(*) as rows, quantile_cont(gap_ns, 0.95) / 1e6 as p95_gap_ms from 'rows/operators.*.parquet'
    where gap_ns is not null group by type order by p95_gap_ms desc" >answer.csv
cat answer.csv

# ---- checked
query "select path, stat from 'rows/profiles.*.parquet' where error is null" >stats.csv
rm traces/broken.json
for name in resnet18.all mobilenetv2.disabled resnet50.all vgg16.all; do
    onnxcost zoo/"${name%.*}".onnx -p "$recorded/$name.t1.json.gz" --hw "$machine" -f csv -o reports/"${name%.*}".csv 2>err
done
python3 "$top/tests/support/fleet_traces.py" check traces reports stats.csv answer.csv
query "select count(*) = $models and count(distinct path) = $models as every_model_once from 'rows/models.*.parquet'"
