#!/usr/bin/env bash
# Published rates and latencies of language models on GPUs (tests/data/llm_published.tsv): none is beyond its bound.
# modes: release
set -euo pipefail
cd "$(dirname "$0")/.."
: "${BUILD:=build/release}"
work=$BUILD/llm_published
mkdir -p "$work"
config() { # NAME WIDTH MLP LAYERS HEADS KEY-HEADS WORDS [QUANTIZATION]: weights of 16 bits
    printf '{"model_type": "llama", "hidden_size": %d, "intermediate_size": %d, "num_hidden_layers": %d,
"num_attention_heads": %d, "num_key_value_heads": %d, "vocab_size": %d, "torch_dtype": "float16"%s}\n' "${@:2:6}" \
        "${8:+, \"quantization_config\": {$8}}" >"$work/$1.json"
}
config llama-2-7b 4096 11008 32 32 32 32000
config llama-2-70b 8192 28672 80 64 8 32000
for bits in 8 4; do # a scale for each row; scales and zero points for 32 weights
    block=$((bits == 8 ? -1 : 32))
    quantization="\"quant_method\": \"gptq\", \"bits\": $bits, \"group_size\": $block, \"sym\": $((bits == 8)) "
    quantization=${quantization/: 1 /: true} quantization=${quantization/: 0 /: false}
    config "llama-2-7b-int$bits" 4096 11008 32 32 32 32000 "$quantization"
    config "llama-2-70b-int$bits" 8192 28672 80 64 8 32000 "$quantization"
done
quantization='"quant_method": "gptq", "bits": 4, "group_size": 128, "sym": true' # the smallest of the runtimes' formats
config llama-2-7b-w4 4096 11008 32 32 32 32000 "$quantization"
config llama-2-70b-w4 8192 28672 80 64 8 32000 "$quantization"
bytes=$(/usr/bin/python3 tests/support/gguf_file.py 4096 14336 32 32 8 128256 "$work/llama-3-8b-q4_k_m.gguf")
bytes+=" $(/usr/bin/python3 tests/support/gguf_file.py 8192 28672 80 64 8 128256 "$work/llama-3-70b-q4_k_m.gguf")"
config llama-3-8b 4096 14336 32 32 8 128256
for algorithm in FP8 NVFP4; do # with a cache of FP8
    quantization="\"quant_algo\": \"$algorithm\", \"kv_cache_quant_algo\": \"FP8\", \"exclude_modules\": [\"lm_head\"]"
    config "llama-3-8b-${algorithm,,}" 4096 14336 32 32 8 128256 "$quantization"
    config "llama-3-70b-${algorithm,,}" 8192 28672 80 64 8 128256 "$quantization"
done
cat >"$work/qwen3-30b-a3b-nvfp4.json" <<END
{"model_type": "qwen3_moe", "head_dim": 128, "hidden_size": 2048, "intermediate_size": 6144, "moe_intermediate_size": 768,
"num_attention_heads": 32, "num_experts": 128, "num_experts_per_tok": 8, "num_hidden_layers": 48, "num_key_value_heads": 4,
"vocab_size": 151936, "torch_dtype": "bfloat16", "quantization_config": {$quantization}}
END
cat >"$work/deepseek-v3.json" <<'END'
{"model_type": "deepseek_v3", "first_k_dense_replace": 3, "hidden_size": 7168, "intermediate_size": 18432, "kv_lora_rank": 512,
"moe_intermediate_size": 2048, "n_routed_experts": 256, "n_shared_experts": 1, "num_attention_heads": 128,
"num_experts_per_tok": 8, "num_hidden_layers": 61, "q_lora_rank": 1536, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
"v_head_dim": 128, "vocab_size": 129280, "torch_dtype": "bfloat16",
"quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]}}
END
# their published sizes are 4.58 and 39.59 GiB
exec /usr/bin/python3 tests/support/llm_published.py "$BUILD/onnxcost" tests/data/llm_published.tsv "$work" "$bytes"
