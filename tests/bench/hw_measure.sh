#!/bin/sh
# Compares `onnxcost hw measure` with references of the same run: the f32 peak with OpenBLAS's sgemm and the best of its
# kernels, the DRAM triad with a plain STREAM triad, both on all processors, and the time with 30 s. Installs nothing:
# without OpenBLAS that line is SKIPPED. Needs an idle machine.
# Environment: BUILD, SGEMM_N.
set -eu
cd "$(dirname "$0")/../.."
: "${BUILD:=build/release}" "${SGEMM_N:=2048}"
work=$BUILD/bench
mkdir -p "$work"
export ONNXCOST_HWDB="$PWD/hwdb" LC_ALL=C
threads=$(nproc)
file=$work/here.xml

start=$(date +%s.%N)
"$BUILD/onnxcost" hw measure -o "$file"
end=$(date +%s.%N)
"$BUILD/onnxcost" hw lint "$file"

value() { # pattern level: the value of the element
    awk -v want="$1" -v level="$2" '
        /<memory name=/ { inside = index($0, "name=\"" level "\"") }
        (level == "" || inside) && $0 ~ want && !/cores=/ { sub(/.* value="/, ""); sub(/".*/, ""); print; exit }' "$file"
}
peak=$(value 'peak class="f32"' '')
ours=$(value 'bandwidth mode="triad"' DRAM)
mib=$(awk '/<memory name="DRAM"/ { dram = 1 } dram && /mode="triad"/ { sub(/.* note="/, ""); print int($1 / 1024); exit }' "$file")
mib=$((mib * threads))

stream=0 large=0
for _ in 1 2; do
    once=$("$work/stream_triad" "$threads" "$mib")
    stream=$(printf '%s\n%s\n' "$stream" "$once" | sort -n | tail -n 1)
    once=$("$work/stream_triad" "$threads" "$mib" huge)
    large=$(printf '%s\n%s\n' "$large" "$once" | sort -n | tail -n 1)
done

best=0 core=
case $(uname -m) in
x86_64) names='SAPPHIRERAPIDS COOPERLAKE SKYLAKEX ZEN HASWELL' ;;
aarch64) names='NEOVERSEV1 NEOVERSEN1 ARMV8' ;;
*) names= ;;
esac
for kernels in '' $names; do
    line=$(OPENBLAS_CORETYPE=$kernels timeout 60 "$work/sgemm" "$threads" "$SGEMM_N" 2>/dev/null) || continue
    rate=${line% *}
    echo "sgemm $SGEMM_N, OPENBLAS_CORETYPE=${kernels:-default}: $line"
    if [ "$(printf '%s\n%s\n' "$best" "$rate" | sort -n | tail -n 1)" = "$rate" ]; then best=$rate core=${line#* }; fi
done

awk -v peak="$peak" -v best="$best" -v core="$core" -v ours="$ours" -v stream="$stream" -v large="$large" -v mib="$mib" \
    -v threads="$threads" -v took="$(awk -v a="$start" -v b="$end" 'BEGIN { print b - a }')" '
    function verdict(good) { bad += !good; return good ? "passed" : "FAILED" }
    BEGIN {
        printf "\nhw measure on %d processors\n", threads
        if (best > 0)
            printf "f32 peak            %8.1f GFLOP/s, OpenBLAS (%s) %8.1f: ratio %.3f   %s\n", peak, core, best, peak / best,
                verdict(peak >= 0.9 * best)
        else
            printf "f32 peak            %8.1f GFLOP/s; SKIPPED: no OpenBLAS (package libopenblas0-pthread)\n", peak
        printf "DRAM triad          %8.2f GB/s, STREAM of %d MiB %8.2f: ratio %.3f   %s\n", ours, mib, stream, ours / stream,
            verdict(ours >= 0.9 * stream)
        printf "                    STREAM in large pages %8.2f: ratio %.3f\n", large, ours / large
        printf "time                %8.1f s   %s\n", took, verdict(took < 30)
        exit bad > 0
    }'
