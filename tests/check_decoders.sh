#!/usr/bin/env bash
# Decoders from a config.json: published parameters, bytes and cache (tests/data/decoders_published.tsv), and MACs
# against graphs of the zoo. Prints TAP.
set -euo pipefail
cd "$(dirname "$0")/.."
: "${BUILD:=build/release}"
work=$BUILD/decoders
mkdir -p "$work/bert"
/usr/bin/python3 tests/support/decoders_published.py "$BUILD/onnxcost" tests/data/decoders_published.tsv "$work"

n=$(grep -cv '^#' tests/data/decoders_published.tsv)
bad=0
# shellcheck disable=SC2317 # called by name
macs() { "$BUILD/onnxcost" "$1" | grep -oE '^cost +[0-9,]+ MACs' | tr -s ' '; }
# shellcheck disable=SC2317
llm_macs() { "$BUILD/onnxcost" llm "$1" -f json | grep '"macs"'; } # of every run
# title, function, config.json, model of the zoo: the same MACs
compare() {
    n=$((n + 1))
    if [ -n "$("$2" "$3")" ] && [ "$("$2" "$3")" = "$("$2" "$4")" ]; then
        echo "ok $n - $1"
    else
        bad=1
        echo "not ok $n - $1"
        paste <("$2" "$3") <("$2" "$4") | sed 's/^/# /'
    fi
}
"$BUILD/onnxzoo" llama --size 7b --layout genai -o "$work/llama.onnx"
compare 'Llama 2 7B has the MACs of the graph of the zoo in prefill and decode' llm_macs "$work/1.json" "$work/llama.onnx"
echo '{"model_type":"bert","hidden_size":768,"intermediate_size":3072,"max_position_embeddings":512,"num_attention_heads":12,
"num_hidden_layers":12,"type_vocab_size":2,"vocab_size":30522}' >"$work/bert/config.json"
"$BUILD/onnxzoo" bert_base -o "$work/bert.onnx"
compare 'BERT has the MACs of the graph of the zoo' macs "$work/bert/config.json" "$work/bert.onnx"
exit $bad
