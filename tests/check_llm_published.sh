#!/usr/bin/env bash
# Published rates and latencies of language models on GPUs (tests/data/llm_published.tsv): none is beyond its bound.
# modes: release
set -euo pipefail
cd "$(dirname "$0")/.."
: "${BUILD:=build/release}"
work=$BUILD/llm_published
mkdir -p "$work"
config() { # NAME WIDTH MLP LAYERS HEADS KEY-HEADS WORDS: weights of 16 bits
    printf '{"model_type": "llama", "hidden_size": %d, "intermediate_size": %d, "num_hidden_layers": %d,
"num_attention_heads": %d, "num_key_value_heads": %d, "vocab_size": %d, "torch_dtype": "float16"}\n' "${@:2}" >"$work/$1.json"
}
config llama-2-7b 4096 11008 32 32 32 32000
config llama-2-70b 8192 28672 80 64 8 32000
config llama-3-8b 4096 14336 32 32 8 128256
exec /usr/bin/python3 tests/support/llm_published.py "$BUILD/onnxcost" tests/data/llm_published.tsv "$work"
