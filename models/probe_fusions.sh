#!/bin/sh
# Writes tests/data/fusions.tsv: how ONNX Runtime optimizes the probes (models/probe_fusions.c) at every optimization
# level. Rows with "avx2" or "neon" after the name are those that differ with these instruction sets.
# usage: models/probe_fusions.sh [AVX2-TABLE [NEON-TABLE]]     BUILD=build/<mode>, ONNXRUNTIME_LIB
# This machine must have AVX-512. The other tables come from `onnxzoo probes --folder F -o TABLE` on such a machine, or
# from the same program under emulation (qemu-x86_64 -cpu Haswell; qemu-aarch64 -cpu cortex-a76 with the ARM64 library).
set -eu
cd "$(dirname "$0")/.."
: "${BUILD:=build/release}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
table=tests/data/fusions.tsv
"$BUILD/onnxzoo" probes --folder "$work" -o "$work/table.tsv"
{
    echo "# ONNX Runtime 1.30.0, CPU provider; written by models/probe_fusions.sh"
    cat "$work/table.tsv"
    for set in avx2 neon; do
        [ $# -gt 0 ] || break
        awk -F'\t' -v OFS='\t' -v set=$set 'NR == FNR { row[$1] = $0; next }
            row[$1] != $0 { $1 = $1 " " set; print }' "$work/table.tsv" "$1"
        shift
    done
} >"$work/new.tsv"
mv "$work/new.tsv" $table
wc -l $table
