#!/bin/sh
# The roofline time is a lower bound: with --cache on and the measured bandwidth of each memory level no recorded model is
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

# The member "roofline" of the hardware, and rows above 100 % with and without a reason, of a report as JSON.
figures() {
    awk '
        { split($0, part, "\""); key = part[2]; value = $2; sub(/,$/, "", value) }
        key == "rows_above_roofline" { above = value }
        key == "roofline" && !inside && !done { inside = 1 }
        inside && !(key in got) { got[key] = value }
        inside && key == "wasted_ns" { inside = 0; done = 1 }
        END { print got["roofline_time_ns"], got["time_ns"], got["rows_without_limit"], got["rows"], above }' "$1"
}
# title arguments: roofline time <= measured, every row has a roofline, rows above 100 % have a reason
check_bound() {
    title=$1
    shift
    if ! onnxcost "$@" --cache on -f json >"$work/report.json" 2>"$work/err" ||
        ! onnxcost "$@" --cache on -f csv >"$work/report.csv" 2>>"$work/err" ||
        ! onnxcost "$@" --cache on --print-only summary >"$work/summary" 2>>"$work/err"; then
        result "$title" "$(cat "$work/err")"
        return
    fi
    # shellcheck disable=SC2046 # figures have no blanks
    set -- $(figures "$work/report.json")
    problem=$(awk -v roof="$1" -v time="$2" -v missing="$3" -v rows="$4" 'BEGIN {
        if (!(roof > 0) || !(time > 0) || !(rows > 0)) print "no roofline: " roof " of " time
        else if (roof > time) print "faster than its roofline: " time " ns, not " roof
        if (missing != 0) print missing " rows without a limit" }')
    explained=$(sed -n 's/.*efficiency above 100 % in [0-9]* of [0-9]* operators: //p' "$work/summary" | grep -oE '(^|, )[0-9]+ \([^)]+\)' |
        grep -oE '[0-9]+ ' | awk '{ n += $1 } END { print n + 0 }')
    [ "$explained" = "${5:-none}" ] || problem="$problem; ${5:-no} rows above 100 %, $explained with a reason"
    printf '# %-28s %9.3f ms of %9.3f ms  %5.1f %%  rows above: %s\n' "$title" "$(echo "$1" | awk '{ print $1 / 1e6 }')" \
        "$(echo "$2" | awk '{ print $1 / 1e6 }')" "$(echo "$1 $2" | awk '{ print 100 * $1 / $2 }')" "$5"
    result "$title: roofline time <= measured time" "$problem"
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

# One engine: the lower bound of a model alone is that of compare and of estimate.
bounds() {
    sed -n 's/^ *"bound_\(s\|time_ns\)": \(.*[0-9l]\),*$/\1 \2/p' "$1" | head -n 1 |
        awk '{ print $2 == "null" ? $2 : sprintf("%.3f", $2 * ($1 == "s" ? 1e9 : 1)) }'
}
same() { # the report rounds to picoseconds
    [ "$1" = "$2" ] || echo "$1 $2" | awk '$1 > 0 && $2 > 0 && ($1 - $2) ^ 2 < 1e-5 { ok = 1 } END { exit !ok }'
}

# A missing figure never voids the bound: every device of the database, float and integer models, with and without caches.
# Unknown only where the file has no DRAM bandwidth, or where caches of unknown bandwidth hold everything.
problem= differ=
onnxcost hw list -f csv | sed 1d | cut -d, -f1,8 | tr , ' ' >"$work/devices"
for model in mobilenetv2 resnet18_qdq distilbert; do
    for cache in on off; do
        while read -r device bandwidth; do
            onnxcost "$work/zoo/$model.onnx" --hw "$device" --cache $cache -f json >"$work/report.json" 2>"$work/err"
            least=$(figures "$work/report.json" | cut -d' ' -f1)
            case $least in
            null) [ $cache = on ] || [ -z "$bandwidth" ] || problem="$problem $model on $device: unknown;" ;;
            *[1-9]*) ;;
            *) problem="$problem $model on $device, --cache $cache: '$least';" ;;
            esac
            head=$(bounds "$work/report.json")
            onnxcost compare "$work/zoo/$model.onnx" --hw "$device" --cache $cache -f json >"$work/compare.json" 2>"$work/err"
            other=$(bounds "$work/compare.json")
            same "$head" "$other" || differ="$differ $model on $device: $head, compare $other;"
            [ $cache = on ] || continue
            onnxcost estimate "$work/zoo/$model.onnx" --hw "$device" -f json >"$work/estimate.json" 2>"$work/err"
            other=$(bounds "$work/estimate.json")
            same "$head" "$other" || differ="$differ $model on $device: $head, estimate $other;"
        done <"$work/devices"
    done
done
result 'a device with a bandwidth or a peak has a roofline time above 0' "$problem"
result 'report, compare and estimate have the same lower bound' "$differ"

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
    for model in mobilenetv2 resnet18 bert_base; do
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
