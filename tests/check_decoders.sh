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
# title, whether
passed() {
    n=$((n + 1))
    [ "$2" = 0 ] || bad=1
    echo "$([ "$2" = 0 ] && echo ok || echo not ok) $n - $1"
}
echo '{"model_type":"whale","strata":4,"hidden_size":64,"vocab_size":100,"num_attention_heads":4,"intermediate_size":128}' >"$work/own.json"
echo '<decoders version="1"><field is="layers" names="strata"/><family names="whale" set="qk_norm=1"/></decoders>' >"$work/own.xml"
answer=$("$BUILD/onnxcost" llm "$work/own.json" -f json --decoder "$work/own.xml")
[[ $answer == *'"params": 177344,'* ]] && found=0 || found=1
passed 'names of fields and families of --decoder come first' "$found" # 12800 + 4 * (4 * 64 * 64 + 3 * 64 * 128 + 160) + 64
sed 's/qk_norm/colour/' "$work/own.xml" >"$work/wrong.xml"
answer=$("$BUILD/onnxcost" llm "$work/own.json" --decoder "$work/wrong.xml" 2>&1 || :)
[[ $answer == *"line 1: family 'whale': 'set' is not like"* ]] && found=0 || found=1
passed 'an unknown field of --decoder is an error with its line' "$found"
for header in '[1,2,3,4]' '{"a":1}'; do # a list; claims 2^40 bytes
    folder=$work/weights$n
    mkdir -p "$folder"
    cp "$work/1.json" "$folder/config.json"
    { [ "$header" = '{"a":1}' ] && printf '\0\0\0\0\0\1\0\0' || printf '\11\0\0\0\0\0\0\0'; printf '%s' "$header"; } >"$folder/model.safetensors"
    answer=$("$BUILD/onnxcost" llm "$folder" 2>&1 || :)
    [[ $answer == *'safetensors header'* ]] && found=0 || found=1
    passed 'weights with a wrong header are an error next to a config.json' "$found"
done
# indexes without their files: title, config.json, total_size, names of tensors by lines, text that the report has
indexed() {
    folder=$work/index$n
    mkdir -p "$folder"
    echo "$2" >"$folder/config.json"
    mapfile -t tensors <<<"$4"
    names=$(printf '"%s": "a.safetensors", ' "${tensors[@]}")
    echo "{\"metadata\": {\"total_size\": $3}, \"weight_map\": {${names%, }}}" >"$folder/model.safetensors.index.json"
    answer=$("$BUILD/onnxcost" llm "$folder/model.safetensors.index.json" -w 0)
    found=0
    [[ $answer == *"$5"* ]] || found=1
    [[ $answer == *W-weights-differ* ]] && differs=differs || differs=
    [ "$differs" = "${6:-}" ] || found=1
    passed "$1" "$found"
}
sizes='"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 100'
in_layer='model.layers.0.self_attn.q_proj.weight
model.layers.0.self_attn.q_proj.bias
model.layers.0.self_attn.o_proj.weight
model.layers.0.self_attn.o_proj.bias
model.layers.0.mlp.down_proj.weight
lm_head.weight'
# 2 * 6400 + 64 + 2 * (2 * 64 + 4 * 64 * 64 + 3 * 64 * 128) = 95040 parameters
indexed 'the bytes of an index decide between 16 and 32 bits' "{\"model_type\": \"llama\", $sizes}" 190080 lm_head.weight 'bfloat16 100.0 %'
indexed 'an index of 32 bits' "{\"model_type\": \"llama\", $sizes}" 380160 lm_head.weight 'float 100.0 %'
indexed 'biases are where an index has them' "{\"model_type\": \"whale\", $sizes, \"bias\": true, \"torch_dtype\": \"float16\"}" \
    $((2 * (95040 + 8 * 64))) "$in_layer" '95,552 parameters'
indexed 'a tower for images says nothing of the decoder' "{\"model_type\": \"whale\", $sizes, \"torch_dtype\": \"float16\"}" 191104 "$in_layer
vpm.encoder.layers.0.mlp.fc1.weight
model.vision_tower.blocks.0.mlp.fc2.bias" '95,552 parameters'
indexed 'gated MLPs are stored as dense_h_to_4h too' "{\"model_type\": \"whale\", $sizes, \"torch_dtype\": \"float16\"}" 190080 \
    'transformer.encoder.layers.0.mlp.dense_h_to_4h.weight
lm_head.weight' '95,040 parameters'
indexed 'masks and frequencies in an index count as buffers' "{\"model_type\": \"llama\", $sizes, \"torch_dtype\": \"float16\"}" 190484 'lm_head.weight
model.layers.0.attention.masked_bias
model.layers.0.attention.rotary_emb.inv_freq' '95,040 parameters'
# 4 bits but for the table and the last layer: 4 and 8 bits, 32 bits of scale and zero point each 64
indexed 'rules name a layer with the prefix of the language model' "{\"model_type\": \"llama\", $sizes, \"torch_dtype\": \"float16\", \"quantization\": {\"group_size\": 64, \"bits\": 4,
    \"language_model.lm_head\": {\"group_size\": 64, \"bits\": 8}}}" 64704 'language_model.lm_head.weight' '8 bits in blocks'
indexed 'latent attention that is switched off' "{\"model_type\": \"deepseek_v2\", $sizes, \"use_mla\": false, \"kv_lora_rank\": null,
    \"v_head_dim\": 0, \"torch_dtype\": \"float16\"}" 190080 lm_head.weight '95,040 parameters'
# 2 layers, 3 equal sizes
echo "{\"model_type\": \"llama\", $sizes, \"intermediate_size\": [128, 128, 128], \"shape_rule\": 1}" >"$work/list.json"
answer=$("$BUILD/onnxcost" llm "$work/list.json" -w 0)
[[ $answer == *'95,040 parameters'* && $answer == *"'intermediate_size' has 3 values, not one for each of the 2 layers"* &&
    $answer == *'fields that were not understood: shape_rule'* ]] && found=0 || found=1
passed 'a list of another length, and a field that is not understood, are named' "$found"
# the packed decoder has 55.80 KiB
indexed 'a part that is larger than the whole' "{\"model_type\": \"llama\", $sizes, \"torch_dtype\": \"float16\", \"quantization\": {\"group_size\": 64, \"bits\": 4,
    \"lm_head\": {\"group_size\": 64, \"bits\": 8}}}" 50000 lm_head.weight '8 bits in blocks' differs
verdict=$("$BUILD/onnxcost" llm "$work/1.json" --hw rtx-4090 --measured 50 --reach 20 -w 0)
[[ $verdict =~ verdict\ +NVIDIA\ GeForce\ RTX\ 4090:\ decode\ at\ most\ [0-9.]+\ tokens/s\ \(memory\)\;\ the\ measured\ 50\ tokens/s\ are\ [0-9]+\ %\ of\ it ]] && found=0 || found=1
passed 'the verdict has the bound and the share of a measured rate' "$found"
# the shares recomputed: a rate of half the bound is 50 %, twice the time of the prefill too
"$BUILD/onnxcost" llm "$work/1.json" --hw rtx-4090 -f json >"$work/bounds.json"
half=$(python3 - "$work/bounds.json" <<'END'
import json, sys
llm = json.load(open(sys.argv[1]))
lists = [v for v in llm["devices"][0].values() if isinstance(v, list)]
bound = {r["run"]: r for r in lists[0]}
decode, prefill = bound["decode"], bound["prompt"]
print("decode=%.17gtok/s,prefill=%.17g,ttft=%.17gs"
      % (decode["most_tokens_per_s"] / 2, prefill["most_tokens_per_s"] / 2, 2 * prefill["least_s"]))
END
)
"$BUILD/onnxcost" llm "$work/1.json" --hw rtx-4090 --measured "$half" -f json | python3 -c '
import json, sys
share = json.load(sys.stdin)["devices"][0]["measured_share"]
sys.exit(any(abs(v - 0.5) > 1e-3 for v in share.values()) or len(share) != 3)' && found=0 || found=1
passed 'shares of measured rates and times' "$found"
[[ $verdict == *'smallest    NVIDIA GeForce RTX 4090'* ]] && found=0 || found=1
passed 'the smallest device that reaches a rate' "$found"
echo "1..$n"
exit $bad
