#!/usr/bin/env python3
"""Writes the header of a GGUF file of a Llama, without its weights, with the types that llama.cpp's Q4_K_M gives them.
usage: gguf_file.py WIDTH MLP LAYERS HEADS KEY-HEADS WORDS FILE; prints the bytes of all tensors."""
import struct
import sys

F32, Q4_K, Q5_K, Q6_K = 0, 12, 13, 14  # ids of GGML
BYTES_OF_256 = {F32: 1024, Q4_K: 144, Q5_K: 176, Q6_K: 210}


def text(s):
    return struct.pack("<Q", len(s)) + s.encode()


def metadata(width, mlp, layers, heads, kv_heads, words):
    yield "general.architecture", 8, text("llama")
    for name, value in (("block_count", layers), ("embedding_length", width), ("feed_forward_length", mlp),
                        ("attention.head_count", heads), ("attention.head_count_kv", kv_heads),
                        ("context_length", 8192), ("vocab_size", words)):
        yield "llama." + name, 4, struct.pack("<I", value)


def tensors(width, mlp, layers, heads, kv_heads, words):
    """(name, shape, type): more bits for values and the second product of the MLP in the first and the last eighth of the
    layers and in every third one; values that eight query heads share have 5 bits at least."""
    keys = width // heads * kv_heads
    yield "token_embd.weight", (width, words), Q4_K
    for i in range(layers):
        eighth = layers // 8
        more = i < eighth or i >= 7 * layers // 8 or (i - eighth) % 3 == 2
        values = Q6_K if more else Q4_K
        if heads // kv_heads == 8:
            values = Q5_K if not more else Q6_K
        for name, shape, kind in (("attn_norm", (width,), F32), ("attn_q", (width, width), Q4_K),
                                  ("attn_k", (width, keys), Q4_K), ("attn_v", (width, keys), values),
                                  ("attn_output", (width, width), Q4_K), ("ffn_norm", (width,), F32),
                                  ("ffn_gate", (width, mlp), Q4_K), ("ffn_up", (width, mlp), Q4_K),
                                  ("ffn_down", (mlp, width), Q6_K if more else Q4_K)):
            yield f"blk.{i}.{name}.weight", shape, kind
    yield "output_norm.weight", (width,), F32
    yield "output.weight", (width, words), Q6_K


def main():
    sizes, path = [int(a) for a in sys.argv[1:7]], sys.argv[7]
    entries, offset = list(tensors(*sizes)), 0
    facts = list(metadata(*sizes))
    with open(path, "wb") as f:
        f.write(b"GGUF" + struct.pack("<IQQ", 3, len(entries), len(facts)))
        for name, kind, value in facts:
            f.write(text(name) + struct.pack("<I", kind) + value)
        for name, shape, kind in entries:
            f.write(text(name) + struct.pack("<I", len(shape)) + b"".join(struct.pack("<Q", n) for n in shape))
            f.write(struct.pack("<IQ", kind, offset))
            elements = shape[0] * (shape[1] if len(shape) > 1 else 1)
            offset += elements * BYTES_OF_256[kind] // 256
    print(offset)


if __name__ == "__main__":
    main()
