#!/bin/sh
# The roofline time is a lower bound: with --count cache=on and the measured bandwidth of each memory level no recorded model is
# faster, and rows above 100 % have a reason. Uses the recordings of models/profiles, and new ones of this machine if ONNX
# Runtime is found. Prints a table (lines with '#') and TAP.
# modes: release
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
: "${BUILD:=build/release}"
top=$PWD
work=$PWD/$BUILD/roofline
rm -rf "$work"
mkdir -p "$work"
export PATH="$PWD/$BUILD:$PATH" LC_ALL=C COLUMNS=120

# The member "roofline" of the hardware, and rows above 100 %, of a report as JSON.
figures() {
    awk '
        { split($0, part, "\""); key = part[2]; value = $2; sub(/,$/, "", value) }
        key == "rows_above_roofline" { above = value }
        key == "roofline" && !inside && !done { inside = 1 }
        inside && !(key in got) { got[key] = value }
        inside && key == "wasted_ns" { inside = 0; done = 1 }
        END { print got["roofline_time_ns"], got["time_ns"], got["rows_without_limit"], got["rows"], above, got["bound_time_ns"] }' "$1"
}
# title arguments: bound of any runtime <= roofline time of the kernels <= measured time, of the run and of each row
check_bound() {
    title=$1
    shift
    if ! onnxcost "$@" -f json >"$work/report.json" 2>"$work/err"; then
        result "$title" "$(cat "$work/err")"
        return
    fi
    # shellcheck disable=SC2046 # figures have no blanks
    set -- $(figures "$work/report.json")
    problem=$(awk -v kernels="$1" -v time="$2" -v missing="$3" -v rows="$4" -v above="$5" -v any="$6" 'BEGIN {
        if (!(kernels > 0) || !(time > 0) || !(rows > 0)) print "no roofline: " kernels " of " time
        else if (kernels > time) print "faster than its roofline: " time " ns, not " kernels
        if (any != "null" && !(any > 0 && any <= kernels)) print "bound of any runtime: " any ", of the kernels " kernels
        if (missing != 0) print missing " rows without a limit"
        if (above != 0) print above " rows faster than their roofline" }')
    echo "$1 $2 ${6%null}" | awk -v title="$title" '{
        printf "# %-28s at least %9.3f ms, kernels %9.3f ms of %9.3f ms  %5.1f %%\n", title, $3 / 1e6, $1 / 1e6, $2 / 1e6, 100 * $1 / $2 }'
    result "$title: bound <= roofline time <= measured time" "$problem"
}

tests/make_zoo.sh "$work/zoo" >/dev/null || exit 1
for profile in models/profiles/*.json.gz; do
    title=$(basename "$profile" .json.gz)
    model=${title%%.*} threads=${title##*.}
    graph=models/profiles/$model.all.optimized.onnx
    case $title in *.all.*) [ -f "$graph" ] || graph= ;; *) graph= ;; esac
    [ -f "models/profiles/machine.$threads.xml" ] || continue
    check_bound "$title" "$work/zoo/$model.onnx" -p "$profile" ${graph:+--optimized-model "$graph"} \
        --hw "models/profiles/machine.$threads.xml"
done

samples=../shared/samples
if [ -d $samples ]; then
    for profile in "$samples"/onnxruntime/ppocr_cls.ort1.[123][2-9]*.json "$samples"/onnxruntime/silero_legacy.*.json; do
        case $profile in */ppocr*) model=ppocr_cls ;; *) model=silero_vad_legacy ;; esac
        check_bound "$(basename "$profile" .json)" $samples/onnxruntime/$model.onnx -p "$profile" --hw hwdb/calibrations/xeon-2-threads.xml
    done
fi

# A missing figure never voids the bound: every device of the database, float and integer models, with and without caches.
# Unknown only where the file has no DRAM bandwidth, or where caches of unknown bandwidth hold everything.
python3 "$top/tests/support/same_bound.py" "$top/$BUILD/onnxcost" "$work/zoo/mobilenetv2.onnx" "$work/zoo/resnet18_qdq.onnx" \
    "$work/zoo/distilbert.onnx" >"$work/problems" 2>&1 || echo 'bound not completed' >>"$work/problems"
result 'a device with a bandwidth or a peak has a roofline time above 0' "$(sed -n 's/^roofline //p' "$work/problems")"
result 'report and estimate, of one device and of several, have the same lower bound' "$(grep -v '^roofline ' "$work/problems")"

# --as takes the names of types in tables and hardware files too
problems=$(for pair in f16:fp16 f8:fp8 i8:int8 i4:int4 f16-weights:fp16-weights i8-weights:int8-weights i4-weights:int4-weights; do
        for name in "${pair%:*}" "${pair#*:}"; do
            "$top/$BUILD/onnxcost" estimate "$work/zoo/mobilenetv2.onnx" --hw a100 --hw t4 --as "$name" -f json >"$work/as.$name" || echo "--as $name: $?"
        done
        cmp "$work/as.${pair%:*}" "$work/as.${pair#*:}"
    done 2>&1)
result 'names of data types in tables and hardware files are those of --as too' "$problems"

# ---- this machine -------------------------------------------------------------------------------------------------
[ -d "$top/build/corpus/node_modules" ] && NODE_PATH=${NODE_PATH:+$NODE_PATH:}$top/build/corpus/node_modules && export NODE_PATH
case "$BUILD" in *asan*) export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" ;; esac
cd "$work" || exit 1
onnxzoo mobilenetv2 --weights random -o probe.onnx >/dev/null
if ! onnxcost record probe.onnx --runs 1 -o probe >/dev/null 2>err; then
    skip_named 'recordings of this machine' "$(head -n 1 err)"
elif case "$BUILD" in *asan*) true ;; *) false ;; esac; then
    skip_named 'recordings of this machine' 'sanitizers slow down the peak measurement'
elif ! onnxcost hw measure --threads 1 -o here.xml >/dev/null 2>err; then
    skip_named 'recordings of this machine' "$(head -n 1 err)"
else
    for model in mobilenetv2 resnet18 distilbert; do
        onnxzoo $model --weights random -o model.onnx >/dev/null
        if onnxcost record model.onnx --runs 5 --threads 1 -o now >/dev/null 2>err; then
            check_bound "$model, recorded now" model.onnx -p now.profile.json --optimized-model now.optimized.onnx --hw here.xml
        else
            result "$model, recorded now" "$(cat err)"
        fi
        rm -f model.onnx now.*
    done
fi
finish
