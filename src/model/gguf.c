/* GGUF: metadata as members of a config.json, tensors with their types. */
#include "model/stored.h"

#include <string.h>

#include "base/os.h"
#include "base/wire.h"
#include "model/decoder.h"
#include "shape/type.h"

enum { MAGIC_BYTES = 4, MAX_DIMS = 4, MAX_DEPTH = 4, MAX_ALIGNMENT = 1 << 20, MAX_PARTS = 10000 };

/* By the number of the file. */
static const uint8_t types[] = {
    OC_DT_FLOAT,
    OC_DT_FLOAT16,
    OC_DT_Q4_0,
    OC_DT_Q4_1,
    0,
    0, /* two that were removed */
    OC_DT_Q5_0,
    OC_DT_Q5_1,
    OC_DT_Q8_0,
    OC_DT_Q8_1,
    OC_DT_Q2_K,
    OC_DT_Q3_K,
    OC_DT_Q4_K,
    OC_DT_Q5_K,
    OC_DT_Q6_K,
    OC_DT_Q8_K,
    OC_DT_IQ2_XXS,
    OC_DT_IQ2_XS,
    OC_DT_IQ3_XXS,
    OC_DT_IQ1_S,
    OC_DT_IQ4_NL,
    OC_DT_IQ3_S,
    OC_DT_IQ2_S,
    OC_DT_IQ4_XS,
    OC_DT_INT8,
    OC_DT_INT16,
    OC_DT_INT32,
    OC_DT_INT64,
    OC_DT_DOUBLE,
    OC_DT_IQ1_M,
    OC_DT_BFLOAT16,
    0,
    0,
    0, /* three layouts that were removed */
    OC_DT_TQ1_0,
    OC_DT_TQ2_0,
    0,
    0,
    0,
    OC_DT_MXFP4,
    OC_DT_NVFP4,
    OC_DT_Q1_0,
};

/* Metadata of an architecture, "llama.block_count", as members of a config.json. */
static const struct {
    const char *key, *member;
} members[] = {
    {"block_count", "num_hidden_layers"},
    {"embedding_length", "hidden_size"},
    {"feed_forward_length", "intermediate_size"},
    {"context_length", "max_position_embeddings"},
    {"vocab_size", "vocab_size"},
    {"attention.head_count", "num_attention_heads"},
    {"attention.head_count_kv", "num_key_value_heads"},
    {"attention.sliding_window", "sliding_window"},
    {"attention.q_lora_rank", "q_lora_rank"},
    {"attention.kv_lora_rank", "kv_lora_rank"},
    {"expert_count", "num_experts"},
    {"expert_used_count", "num_experts_per_tok"},
    {"expert_feed_forward_length", "moe_intermediate_size"},
    {"expert_shared_feed_forward_length", "shared_expert_intermediate_size"},
    {"expert_shared_count", "n_shared_experts"},
    {"leading_dense_block_count", "first_k_dense_replace"},
};

/* ---- values ----------------------------------------------------------------------------------------- */

enum value_type { U8, I8, U16, I16, U32, I32, F32, BOOL, STRING, ARRAY, U64, I64, F64, VALUE_TYPES };
static const uint8_t width[VALUE_TYPES] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

struct cursor {
    const uint8_t *start, *p, *end;
    const char *bad; /* NULL: none */
};

static uint64_t take(struct cursor *c, size_t bytes)
{
    if (c->bad || (size_t)(c->end - c->p) < bytes) {
        c->bad = c->bad ? c->bad : "it ends inside its header";
        return 0;
    }
    oc_os_need(c->p, bytes);
    uint64_t v = oc_load_le(c->p, bytes);
    c->p += bytes;
    return v;
}

static struct oc_str take_text(struct cursor *c)
{
    uint64_t n = take(c, 8);
    if (c->bad || n > (uint64_t)(c->end - c->p)) {
        c->bad = c->bad ? c->bad : "a text is longer than the file";
        return oc_str("", 0);
    }
    oc_os_need(c->p, (size_t)n);
    struct oc_str text = oc_str((const char *)c->p, (size_t)n);
    c->p += n;
    return text;
}

/* An integer of a value, and in an array the value that all elements share. */
struct number {
    int64_t v;       /* -1: none */
    uint64_t length; /* of an array */
    bool mixed;      /* elements differ */
};

static int64_t take_integer(struct cursor *c, uint64_t type)
{
    uint64_t v = take(c, width[type]);
    switch (type) {
    case I8:
        return (int8_t)v;
    case I16:
        return (int16_t)v;
    case I32:
        return (int32_t)v;
    case F32:
    case F64:
        return -1;
    default:
        return v > INT64_MAX ? -1 : (int64_t)v;
    }
}

static struct number take_value(struct cursor *c, uint64_t type, unsigned depth);

static struct number take_array(struct cursor *c, unsigned depth)
{
    uint64_t type = take(c, 4), n = take(c, 8), least = type < VALUE_TYPES && width[type] ? width[type] : 8;
    struct number out = {.v = -1, .length = n};
    if (!c->bad && (depth >= MAX_DEPTH || n > (uint64_t)(c->end - c->p) / least))
        c->bad = "an array is longer than the file, or nested too deeply";
    for (uint64_t i = 0; i < n && !c->bad; i++) {
        struct number item = take_value(c, type, depth + 1);
        out.mixed |= i > 0 && item.v != out.v;
        out.v = item.v;
    }
    return out;
}

static struct number take_value(struct cursor *c, uint64_t type, unsigned depth)
{
    struct number out = {.v = -1};
    if (type >= VALUE_TYPES)
        c->bad = c->bad ? c->bad : "a value has an unknown type";
    else if (type == ARRAY)
        return take_array(c, depth);
    else if (type == STRING)
        take_text(c);
    else
        out.v = take_integer(c, type);
    return out;
}

/* ---- metadata --------------------------------------------------------------------------------------- */

_Static_assert(OC_COUNT(members) == OC_GGUF_MEMBERS, "a number for each member");

/* "llama.block_count" of the architecture "llama": "block_count" */
static struct oc_str inside(const struct oc_gguf *m, struct oc_str key)
{
    size_t n = strlen(m->architecture);
    bool is = n && key.n > n && memcmp(key.s, m->architecture, n) == 0 && key.s[n] == '.';
    return is ? oc_str_skip(key, n + 1) : oc_str("", 0);
}

static void keep(struct oc_gguf *m, struct oc_str key, struct number v)
{
    const struct {
        const char *name;
        int64_t *to;
    } single[] = {
        {"attention.key_length", &m->head},
        {"attention.value_length", &m->value},
        {"attention.key_length_mla", &m->head_latent},
        {"attention.value_length_mla", &m->value_latent},
        {"rope.dimension_count", &m->rope},
    };
    struct oc_str name = inside(m, key);
    for (size_t i = 0; i < OC_COUNT(single); i++)
        if (oc_str_eq(name, single[i].name))
            *single[i].to = v.v;
    for (size_t i = 0; i < OC_COUNT(members); i++)
        if (oc_str_eq(name, members[i].key)) {
            m->of[i] = v.v;
            m->mixed |= v.mixed;
        }
    if (oc_str_eq(key, "general.alignment"))
        m->alignment = v.v;
    else if (oc_str_eq(key, "split.count"))
        m->parts = v.v;
    else if (oc_str_eq(key, "tokenizer.ggml.token_type_count"))
        m->segments = v.v;
    else if (oc_str_eq(key, "tokenizer.ggml.tokens"))
        m->tokens = (int64_t)v.length;
}

static void read_metadata(struct cursor *c, uint64_t n, struct oc_arena *arena, struct oc_gguf *m)
{
    *m = (struct oc_gguf){.architecture = "",
                          .head = -1,
                          .value = -1,
                          .head_latent = -1,
                          .value_latent = -1,
                          .rope = -1,
                          .tokens = -1,
                          .segments = -1,
                          .alignment = 32,
                          .parts = 1};
    for (size_t i = 0; i < OC_COUNT(members); i++)
        m->of[i] = -1;
    for (uint64_t i = 0; i < n && !c->bad; i++) {
        struct oc_str key = take_text(c);
        uint64_t type = take(c, 4);
        if (type != STRING || !oc_str_eq(key, "general.architecture")) {
            keep(m, key, take_value(c, type, 0));
            continue;
        }
        struct oc_str name = take_text(c);
        m->architecture = oc_strndup(arena, name.s, name.n < 64 ? name.n : 64);
    }
}

/* ---- tensors ---------------------------------------------------------------------------------------- */

static int read_tensor(struct cursor *c, struct oc_stored_list *out, uint64_t *offset, struct oc_err *err)
{
    struct oc_str name = take_text(c);
    uint64_t rank = take(c, 4);
    int64_t dim[MAX_DIMS] = {0};
    int shown = (int)(name.n < 64 ? name.n : 64);
    if (!c->bad && rank > MAX_DIMS)
        return oc_fail(err, OC_EFORMAT, "tensor '%.*s': %llu dimensions, at most %d are possible", shown,
                       name.s, (unsigned long long)rank, MAX_DIMS);
    for (uint64_t i = 0; i < rank && !c->bad; i++) { /* the file begins with the axis of rows */
        uint64_t size = take(c, 8);
        dim[rank - 1 - i] = size > INT64_MAX ? -1 : (int64_t)size;
    }
    uint64_t type = take(c, 4);
    *offset = take(c, 8);
    if (c->bad)
        return 0;
    if (type >= OC_COUNT(types) || !types[type])
        return oc_fail(err, OC_EUNSUPPORTED, "tensor '%.*s': unknown type %llu", shown, name.s,
                       (unsigned long long)type);
    return oc_stored_add(out, name, types[type], dim, (size_t)rank, err);
}

/* Tensors follow each other, each at a multiple of the alignment. *end: of the last one, from their start. */
static int read_tensors(struct cursor *c, uint64_t n, uint64_t alignment, struct oc_stored_list *out,
                        uint64_t *end, struct oc_err *err)
{
    *end = 0;
    for (uint64_t i = 0; i < n && !c->bad; i++) {
        uint64_t offset = 0;
        if (read_tensor(c, out, &offset, err))
            return -1;
        if (c->bad)
            break;
        const struct oc_stored *t = &out->item[out->n - 1];
        uint64_t from = (*end + alignment - 1) / alignment * alignment;
        if (offset != from)
            return oc_fail(err, OC_EFORMAT,
                           "tensor '%.64s': starts at %llu, but the tensor before it ends at %llu", t->name,
                           (unsigned long long)offset, (unsigned long long)*end);
        *end = from + t->bytes;
    }
    return 0;
}

/* ---- as a config.json ------------------------------------------------------------------------------- */

static void member(struct oc_buf *b, const char *name, int64_t v)
{
    if (v >= 0)
        oc_buf_printf(b, ",\"%s\":%lld", name, (long long)v);
}

static void flag(struct oc_buf *b, const char *name, bool v)
{
    oc_buf_printf(b, ",\"%s\":%s", name, v ? "true" : "false");
}

static int64_t rows_of(const struct oc_stored_list *list, const char *name, int64_t otherwise)
{
    const struct oc_stored *t = oc_stored_find(list, name);
    return t && t->rank == 2 ? t->dim[0] : otherwise;
}

/* Sizes of latent attention: of old files without the _mla keys, those of the heads. */
static void latent_members(const struct oc_gguf *m, struct oc_buf *b)
{
    int64_t head = m->head_latent >= 0 ? m->head_latent : m->head;
    member(b, "qk_rope_head_dim", m->rope);
    member(b, "qk_nope_head_dim", m->rope >= 0 && head > m->rope ? head - m->rope : -1);
    member(b, "v_head_dim", m->value_latent >= 0 ? m->value_latent : m->value);
}

static int64_t member_of(const struct oc_gguf *m, const char *name)
{
    size_t i = 0;
    while (strcmp(members[i].member, name) != 0)
        i++;
    return m->of[i];
}

static void head_members(const struct oc_gguf *m, struct oc_buf *b)
{
    int64_t heads = member_of(m, "num_attention_heads"), head = m->head;
    member(b, "head_dim", head);
    if (head < 0 && heads > 0)
        head = member_of(m, "hidden_size") / heads;
    if (m->rope > 0 && head > m->rope)
        oc_buf_printf(b, ",\"partial_rotary_factor\":%.17g", (double)m->rope / (double)head);
}

bool oc_gguf_config(const struct oc_gguf *m, const struct oc_stored_list *list, struct oc_buf *out)
{
    bool latent = false;
    char type[64];
    if (!*m->architecture)
        return false;
    oc_decoder_of_gguf(m->architecture, oc_stored_any(list, ".exp_probs_b.bias"), &latent, type);
    oc_buf_printf(out, "{\"torch_dtype\":\"float16\",\"model_type\":\"%s\"", type);
    for (size_t i = 0; i < OC_COUNT(members); i++)
        if (strcmp(members[i].member, "vocab_size") != 0)
            member(out, members[i].member, m->of[i]);
    int64_t words = member_of(m, "vocab_size");
    member(out, "vocab_size", rows_of(list, "token_embd.weight", words >= 0 ? words : m->tokens));
    if (latent)
        latent_members(m, out);
    else
        head_members(m, out);
    if (list->n)
        flag(out, "tie_word_embeddings", !oc_stored_find(list, "output.weight"));
    member(out, "type_vocab_size", rows_of(list, "token_types.weight", m->segments));
    if (oc_stored_any(list, ".attn_norm_2.")) /* Falcon with two norms and groups of queries */
        flag(out, "new_decoder_architecture", true);
    if (oc_stored_any(list, ".attn_output.bias") && oc_stored_any(list, ".attn_q.bias"))
        flag(out, "attention_bias", true);
    oc_buf_str(out, "}");
    return true;
}

/* ---- the file --------------------------------------------------------------------------------------- */

static int check_version(uint64_t version, struct oc_err *err)
{
    if (version == 2 || version == 3)
        return 0;
    bool swapped = version && !(version & 0xffff);
    return oc_fail(err, OC_EUNSUPPORTED,
                   swapped ? "a GGUF file of a big-endian machine: convert it (gguf_convert_endian.py)"
                           : "version %llu of GGUF: 2 and 3 are read; convert the model again",
                   (unsigned long long)version);
}

int oc_gguf_read(const char *path, const void *data, size_t n, struct oc_stored_list *out,
                 struct oc_gguf *gguf, struct oc_diags *diags, struct oc_err *err)
{
    struct cursor c = {.start = data, .p = data, .end = (const uint8_t *)data + n};
    take(&c, MAGIC_BYTES);
    uint64_t version = take(&c, 4), end = 0;
    if (!c.bad && check_version(version, err))
        return -1;
    uint64_t tensors = take(&c, 8), pairs = take(&c, 8);
    read_metadata(&c, pairs, out->arena, gguf);
    if (!c.bad && (gguf->alignment < 1 || gguf->alignment > MAX_ALIGNMENT || gguf->parts < 0 ||
                   gguf->parts > MAX_PARTS))
        c.bad = "general.alignment or split.count is out of range";
    if (!c.bad && read_tensors(&c, tensors, (uint64_t)gguf->alignment, out, &end, err))
        return -1;
    if (c.bad)
        return oc_fail(err, OC_EFORMAT, "the GGUF file is damaged: %s (offset %llu); download it again",
                       c.bad, (unsigned long long)(c.p - c.start));
    uint64_t from = (uint64_t)(c.p - c.start), gap = from % (uint64_t)gguf->alignment;
    from += gap ? (uint64_t)gguf->alignment - gap : 0;
    if (end && end > (n > from ? n - from : 0))
        oc_diag_add(diags, OC_WARNING, "W-weights-cut", path,
                    "the file has %llu of %llu bytes of weights; sizes come from its header",
                    (unsigned long long)(n > from ? n - from : 0), (unsigned long long)end);
    return 0;
}
