#!/usr/bin/env bash
# Decoders from a config.json: published parameters, bytes and cache (tests/data/decoders_published.tsv), and the operations
# of Llama 2 7B against the graph of the zoo. Prints TAP.
set -euo pipefail
cd "$(dirname "$0")/.."
: "${BUILD:=build/release}"
work=$BUILD/decoders
mkdir -p "$work"
/usr/bin/python3 tests/support/decoders_published.py "$BUILD/onnxcost" tests/data/decoders_published.tsv "$work"

last=$(grep -cv '^#' tests/data/decoders_published.tsv)
"$BUILD/onnxzoo" llama --size 7b --layout genai -o "$work/zoo.onnx"
macs() { "$BUILD/onnxcost" llm "$1" -f json | grep '"macs"'; } # of every run
title='Llama 2 7B has the MACs of the zoo'"'"'s graph in prefill and decode'
if [ "$(macs "$work/1.json")" = "$(macs "$work/zoo.onnx")" ] && [ "$(macs "$work/1.json" | wc -l)" -ge 4 ]; then
    echo "ok $((last + 1)) - $title"
else
    echo "not ok $((last + 1)) - $title"
    paste <(macs "$work/1.json") <(macs "$work/zoo.onnx") | sed 's/^/# /'
    exit 1
fi
