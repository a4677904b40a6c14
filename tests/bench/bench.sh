#!/bin/sh
# Speed and memory of onnxcost on small and on large input. Limits that depend on the machine (starting a process,
# touching every byte of a file) are measured in the same run.
# Environment: BUILD, RUNS (of the short measurements), TRACE_BYTES, BIG_BYTES, NSYS_KERNELS, KINETO_BYTES.
set -eu
cd "$(dirname "$0")/../.."
: "${BUILD:=build/release}" "${RUNS:=101}" "${TRACE_BYTES:=500000000}" "${BIG_BYTES:=2000000000}" "${NSYS_KERNELS:=2000000}"
: "${KINETO_BYTES:=500000000}"
work=$BUILD/bench
export ONNXCOST_HWDB="$PWD/hwdb"
onnxcost=$BUILD/onnxcost
tests/make_zoo.sh "$work/zoo"
[ -s "$work/trace.$TRACE_BYTES.json" ] || "$work/make_trace" "$TRACE_BYTES" >"$work/trace.$TRACE_BYTES.json"
[ -s "$work/chain.onnx" ] || "$BUILD/onnxzoo" chain --nodes 100000 -o "$work/chain.onnx"
[ -s "$work/big.$BIG_BYTES.onnx" ] || "$BUILD/onnxzoo" bigfile --bytes "$BIG_BYTES" -o "$work/big.$BIG_BYTES.onnx"

printf '%-44s %10s %10s %10s %12s\n' 'measurement (median of several runs)' 'median ms' 'least ms' 'RSS MiB' 'private MiB'
measure() { # title runs command...
    title=$1
    shift
    line=$("$work/measure" "$@") || { echo "$title: failed: $line"; exit 1; }
    # shellcheck disable=SC2086 # five numbers
    set -- $line
    printf '%-44s %10s %10s %10s %12s\n' "$title" "$1" "$2" "$3" "$4"
    median=$1
    least=$2
}
measure 'empty C program' "$RUNS" "$work/empty"
empty=$median
empty_least=$least
measure 'onnxcost --version' "$RUNS" "$onnxcost" --version
version=$median
version_least=$least
measure 'ResNet-50: load, analyse, report' "$RUNS" "$onnxcost" "$work/zoo/resnet50.onnx"
measure 'BERT-base: load, analyse, report' "$RUNS" "$onnxcost" "$work/zoo/bert_base.onnx"
measure '70B decoder, float16, no weights: the same' "$RUNS" "$onnxcost" "$work/zoo/llama_70b_f16.onnx"
measure '70B decoder, 4 bits, no weights: the same' "$RUNS" "$onnxcost" "$work/zoo/llama_70b_q4.onnx"
measure "100,000 nodes" 5 "$onnxcost" "$work/chain.onnx"
measure "100,000 nodes: plan and order" 5 "$onnxcost" memory "$work/chain.onnx" --plan "$work/plan.json" --reorder -o /dev/null
measure "Llama 70B (5468 steps): plan and order" 5 "$onnxcost" memory "$work/zoo/llama_70b_f16.onnx" --plan "$work/plan.json" --reorder -o /dev/null
measure "$((BIG_BYTES / 1000000)) MB model in one file" 11 "$onnxcost" "$work/big.$BIG_BYTES.onnx"
measure "$((BIG_BYTES / 1000000)) MB model annotated" 1 "$onnxcost" "$work/big.$BIG_BYTES.onnx" --annotate "$work/annotated.onnx"
rm -f "$work/annotated.onnx"
measure "$((TRACE_BYTES / 1000000)) MB trace: memchr over every byte" 5 "$work/scan" "$work/trace.$TRACE_BYTES.json"
limit=$median
measure "$((TRACE_BYTES / 1000000)) MB trace of ONNX Runtime" 5 "$onnxcost" "$work/trace.$TRACE_BYTES.json"
trace=$median
nsys=$work/nsys.$NSYS_KERNELS.sqlite
[ -s "$nsys" ] || "$work/nsys_file" make "$NSYS_KERNELS" "$nsys"
measure "$NSYS_KERNELS kernels in SQLite: a scan by SQLite" 3 "$work/nsys_file" scan "$nsys"
sqlite=$median
measure "$NSYS_KERNELS kernels of Nsight Systems" 3 "$onnxcost" "$nsys"
awk -v scan="$sqlite" -v all="$median" -v n="$NSYS_KERNELS" 'BEGIN {
    printf "Nsight Systems: %.2f million kernels/s, %.2f of the speed of SQLite alone over kernels and calls\n",
        n / all / 1000, scan / all
}'
kineto=$work/kineto.$KINETO_BYTES.json
[ -s "$kineto" ] || "$work/make_kineto" "$KINETO_BYTES" >"$kineto"
[ -s "$kineto.gz" ] || gzip -1 -c "$kineto" >"$kineto.gz"
measure "$((KINETO_BYTES / 1000000)) MB trace of PyTorch: memchr" 5 "$work/scan" "$kineto"
scan=$median
measure "$((KINETO_BYTES / 1000000)) MB trace of PyTorch" 5 "$onnxcost" "$kineto"
plain=$median
measure "$((KINETO_BYTES / 1000000)) MB trace of PyTorch, gzipped" 1 "$onnxcost" "$kineto.gz"
awk -v scan="$scan" -v plain="$plain" -v gz="$median" -v size="$(wc -c <"$kineto")" 'BEGIN {
    printf "PyTorch: %.0f MB/s, %.2f of the speed of memchr; gzipped %.0f MB/s of what is inflated\n",
        size / plain / 1000, scan / plain, size / gz / 1000
}'
size=$(wc -c <"$work/trace.$TRACE_BYTES.json")
awk -v empty="$empty" -v version="$version" -v empty_least="$empty_least" -v version_least="$version_least" -v limit="$limit" -v trace="$trace" -v size="$size" 'BEGIN {
    printf "\nstart-up above an empty program   %.2f ms by the medians, %.2f ms by the least\n", version - empty,
        version_least - empty_least
    printf "trace                             %.0f MB/s, %.2f of the speed of memchr (%.0f MB/s)\n",
        size / trace / 1000, limit / trace, size / limit / 1000
}'
echo
"$work/plan_boxes"
