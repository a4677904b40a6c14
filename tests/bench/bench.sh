#!/bin/sh
# Generates the inputs and runs the benchmarks: commands.tsv lists the commands, targets.tsv the targets, README.md the method.
# Environment: BUILD; QUICK=1 for a short run; RUNS of the short commands; TRACE_BYTES, KINETO_BYTES, BIG_BYTES,
# NSYS_KERNELS, MODELS; HUGE=yes|no a trace of 4 GB (default: if there is room); ONLY=group,group... of commands.tsv;
# UPDATE=1 writes the figures into README.md.
set -eu
cd "$(dirname "$0")/../.."
: "${BUILD:=build/release}" "${QUICK:=}" "${HUGE:=}" "${ONLY:=}" "${UPDATE:=}"
if [ "${QUICK:-0}" != 0 ]; then
    QUICK=quick
    : "${RUNS:=21}" "${TRACE_BYTES:=50000000}" "${BIG_BYTES:=500000000}" "${NSYS_KERNELS:=200000}" "${HUGE:=no}"
    : "${KINETO_BYTES:=50000000}" "${MODELS:=300}"
else
    QUICK=
    : "${RUNS:=101}" "${TRACE_BYTES:=500000000}" "${BIG_BYTES:=2000000000}" "${NSYS_KERNELS:=2000000}"
    : "${KINETO_BYTES:=500000000}" "${MODELS:=1000}"
fi
B=$BUILD/bench ZOO=$B/zoo EXE=$BUILD/onnxcost
export B ZOO EXE RUNS NSYS_KERNELS MODELS ONNXCOST_HWDB="$PWD/hwdb" LC_ALL=C

# ---- peers: those that are installed
PYTHON3=$(command -v python3 || :)
PYTHON=
for python in python3 /usr/bin/python3; do
    [ -z "$PYTHON" ] && "$python" -c 'import onnx.shape_inference' 2>/dev/null && PYTHON=$(command -v $python)
done
JQ=$(command -v jq || :)
export PYTHON PYTHON3 JQ WHY_PYTHON='no python3-onnx' WHY_PYTHON3='no python3' WHY_JQ='no jq'
export WHY_ORT_HUGE='not enough memory, or HUGE=no' WHY_MODELS='no libonnx-testdata'

# ---- inputs
once() { # FILE COMMAND...    writes its output to FILE, unless FILE exists
    file=$1
    shift
    [ -s "$file" ] || { "$@" >"$file.new" && mv "$file.new" "$file"; }
}
events() { # FILE   number of events of a report: those that `summary` counts
    once "$1.events" sh -c '"$0" summary "$1" -f json | awk "
        /\"overview\"/ { inside = 1 } /\"runs\": \{/ { inside = 0 }
        inside && /\"calls\":/ { sub(/,/, \"\"); n += \$2 } END { print n }"' "$EXE" "$1"
    cat "$1.events"
}
mb() {
    echo $(($1 / 1000000))
}
tests/make_zoo.sh "$ZOO"
for n in 1000 10000 100000 1000000; do
    [ -s "$B/chain.$n.onnx" ] || "$BUILD/onnxzoo" chain --nodes $n -o "$B/chain.$n.onnx"
done
BIG=$B/big.$BIG_BYTES.onnx
[ -s "$BIG" ] || "$BUILD/onnxzoo" bigfile --bytes "$BIG_BYTES" -o "$BIG"
ORT_10=$B/trace.10000000.json ORT_100=$B/trace.100000000.json ORT=$B/trace.$TRACE_BYTES.json
for n in 10000000 100000000 "$TRACE_BYTES"; do once "$B/trace.$n.json" "$B/make_trace" "$n"; done
KINETO=$B/kineto.$KINETO_BYTES.json
once "$KINETO" "$B/make_kineto" "$KINETO_BYTES"
for file in "$ORT" "$KINETO"; do once "$file.gz" gzip -c "$file"; done
NSYS=$B/nsys.$NSYS_KERNELS.sqlite
[ -s "$NSYS" ] || "$B/nsys_file" make "$NSYS_KERNELS" "$NSYS"
NSYS_ROWS=$((2 * NSYS_KERNELS)) NSYS_ALL=$((NSYS_KERNELS * 251 / 100)) # also ranges: one per two kernels, one per run
ORT_EVENTS=$(events "$ORT") ORT_10_EVENTS=$(events "$ORT_10") KINETO_EVENTS=$(events "$KINETO")
BIG_MB=$(mb "$BIG_BYTES") ORT_MB=$(mb "$TRACE_BYTES") KINETO_MB=$(mb "$KINETO_BYTES")

# 4 GB if twice that is free in memory and on disk: it is measured from the page cache
ORT_HUGE='' ORT_HUGE_EVENTS=''
case ",$ONLY," in
,, | *,sweep*) ;;
*) HUGE=no ;;
esac
if [ -z "$HUGE" ]; then
    HUGE=$(awk -v disk="$(df -Pk "$B" | awk 'END { print $4 }')" '
        /^MemAvailable:/ { print ($2 > 8e6 && disk > 8e6) ? "yes" : "no" }' /proc/meminfo)
fi
if [ "$HUGE" = yes ]; then
    ORT_HUGE=$B/trace.4000000000.json
    trap 'rm -f "$ORT_HUGE" "$ORT_HUGE.events" "$ORT_HUGE.new"' EXIT
    once "$ORT_HUGE" "$B/make_trace" 4000000000
    ORT_HUGE_EVENTS=$(events "$ORT_HUGE")
fi
export BIG ORT ORT_10 ORT_100 ORT_HUGE KINETO NSYS NSYS_ROWS NSYS_ALL ORT_EVENTS ORT_10_EVENTS ORT_HUGE_EVENTS KINETO_EVENTS
export BIG_MB ORT_MB KINETO_MB

# ---- models: distinct real models, and those of ONNX's node tests
LIST_models=$B/real_models
# shellcheck disable=SC2046 # no name has a blank
cksum $(find "$ZOO" ../shared/samples models build/corpus -name '*.onnx' 2>/dev/null | sort) |
    awk '!seen[$1, $2]++ { print $3 }' >"$LIST_models"
REAL_MODELS=$(wc -l <"$LIST_models")
[ -z "$QUICK" ] || { sed -n '1~6p' "$LIST_models" >"$LIST_models.quick"; LIST_models=$LIST_models.quick; }
export LIST_models REAL_MODELS
{
    cat "$B/real_models"
    for dir in /usr/share/libonnx-testdata/data /usr/lib/python3/dist-packages/onnx/backend/test/data; do
        [ -d "$dir" ] && find "$dir/" -name '*.onnx' | sort && break
    done
} >"$B/models.all"
for n in 10 100 "$MODELS"; do # evenly spaced over all of them, with duplicates if there are fewer
    awk -v n="$n" '{ line[NR] = $0 } END { for (i = 0; i < n; i++) print line[1 + int(i * NR / n)] }' "$B/models.all" >"$B/models.$n"
done
sync # no write-back during the measurement

# ---- measure
awk -F '\t' -v only="$ONLY" 'only == "" || /^#/ || index("," only ",", "," $1 ",")' tests/bench/commands.tsv >"$B/commands.tsv"
awk -F '\t' 'NR == FNR { id[$2] = 1; next } /^#/ || (id[$2] && ($5 == "-" || id[$5]))' "$B/commands.tsv" \
    tests/bench/targets.tsv >"$B/targets.tsv"
rm -f "$B/log"
"$B/harness" "$B/commands.tsv" "$B/targets.tsv" "$B/results.json" "$B/targets.md" "$B/log" $QUICK >"$B/table" || { cat "$B/table"; exit 1; }
cat "$B/table"
rm -f "$B/annotated.onnx" "$B/plan.json"
[ -z "$PYTHON3" ] || "$PYTHON3" -c 'import json, sys; json.load(open(sys.argv[1]))' "$B/results.json"
echo "results: $B/results.json"
if [ -n "$UPDATE" ]; then
    sed -e '/^<!-- figures -->$/,/^<!-- end of figures -->$/{//!d;}' -e "/^<!-- figures -->\$/r $B/targets.md" \
        tests/bench/README.md >"$B/README.new"
    cat "$B/README.new" >tests/bench/README.md
fi
if [ -z "$QUICK$ONLY" ]; then
    printf '\nmemory plans of generated buffers\n'
    "$B/plan_boxes"
    printf '\nlower bounds as closed forms, processor time of a size\n'
    for device in t4 a100 ryzen-9-7950x; do
        "$B/time_bounds" $device "$ZOO/resnet50.onnx" batch=1..512
        "$B/time_bounds" $device llm "$ZOO/llama_7b_f16.onnx"
    done
    printf '\ngrowth of time and memory with the size of the input\n'
    "$B/growth" "$EXE" "$B/growth.files" || echo 'growth: some exponents are above 1.2'
    printf '\nhw measure\n'
    tests/bench/hw_measure.sh || echo 'hw measure: some limits were missed'
fi
echo
grep '^independent of the machine' "$B/table"
