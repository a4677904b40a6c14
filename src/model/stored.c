/* Tensors that the headers of weight files list: the list, roles of tensors in a decoder, the reader of
 * safetensors (gguf.c has that of GGUF). */
#include "model/stored.h"

#include <stdlib.h>
#include <string.h>

#include "base/ck.h"
#include "base/json_read.h"
#include "base/wire.h"
#include "model/model.h"
#include "shape/type.h"

/* ---- roles ------------------------------------------------------------------------------------------ */

/* Modules of the graph, and what other families and formats call them. */
static const struct {
    const char *module, *others;
} aliases[] = {
    {"self_attn.q_proj", "self_attn.qkv_proj attn.c_attn attention.query_key_value "
                         "self_attention.query_key_value attn_q attn_qkv attention.self.query "
                         "attention.q_lin mixer.q_proj attn.q_proj"},
    {"self_attn.k_proj", "self_attn.qkv_proj attn.c_attn attention.query_key_value attn_k attn_qkv "
                         "attention.self.key attention.k_lin mixer.k_proj attn.k_proj"},
    {"self_attn.v_proj", "self_attn.qkv_proj attn.c_attn attention.query_key_value attn_v attn_qkv "
                         "attention.self.value attention.v_lin mixer.v_proj attn.v_proj"},
    {"self_attn.o_proj", "self_attn.dense attn.c_proj attention.dense self_attention.dense attn_output "
                         "attention.output.dense attention.out_lin mixer.o_proj attn.o_proj"},
    {"self_attn.q_norm", "attn_q_norm"},
    {"self_attn.k_norm", "attn_k_norm"},
    {"self_attn.q_a_proj", "attn_q_a"},
    {"self_attn.q_a_layernorm", "attn_q_a_norm"},
    {"self_attn.q_b_proj", "attn_q_b"},
    {"self_attn.kv_a_proj_with_mqa", "attn_kv_a_mqa"},
    {"self_attn.kv_a_layernorm", "attn_kv_a_norm"},
    {"self_attn.kv_b_proj", "attn_kv_b attn_k_b attn_v_b"},
    {"mlp.gate_proj", "mlp.gate_up_proj ffn_gate ffn_up"},
    {"mlp.up_proj", "mlp.gate_up_proj ffn_up"},
    {"mlp.down_proj", "ffn_down"},
    {"mlp.fc1", "mlp.c_fc mlp.dense_h_to_4h ffn_up intermediate.dense ffn.lin1 mlp.up_proj mixer.up_proj"},
    {"mlp.fc2", "mlp.c_proj mlp.dense_4h_to_h ffn_down output.dense ffn.lin2 mlp.down_proj mixer.down_proj"},
    {"mlp.gate", "block_sparse_moe.gate block_sparse_moe.router.layer mlp.router ffn_gate_inp mixer.gate "
                 "ffn.gate router moe.gate feed_forward.router router.proj"},
    {"mlp.experts.gate_proj",
     "mlp.experts.0.gate_proj block_sparse_moe.experts.0.w1 block_sparse_moe.input_linear ffn_gate_exps "
     "ffn_gate_up_exps ffn_gate.0 mlp.experts.0.gate_up_proj ffn.experts.0.w1 moe.gate_proj "
     "feed_forward.experts.gate_up_proj experts.0.gate_proj experts.gate_up_proj"},
    {"mlp.experts.up_proj",
     "mlp.experts.0.up_proj block_sparse_moe.experts.0.w3 block_sparse_moe.input_linear ffn_up_exps "
     "ffn_gate_up_exps ffn_up.0 mixer.experts.0.up_proj ffn.experts.0.w3 moe.up_proj "
     "feed_forward.experts.gate_up_proj experts.0.up_proj experts.gate_up_proj"},
    {"mlp.experts.down_proj",
     "mlp.experts.0.down_proj block_sparse_moe.experts.0.w2 block_sparse_moe.output_linear ffn_down_exps "
     "ffn_down.0 mixer.experts.0.down_proj ffn.experts.0.w2 moe.down_proj feed_forward.experts.down_proj "
     "experts.0.down_proj experts.down_proj"},
    {"mlp.shared_experts.gate_proj",
     "mlp.shared_expert.gate_proj ffn_gate_shexp block_sparse_moe.shared_experts.gate_proj "
     "ffn.shared_experts.w1 feed_forward.shared_expert.gate_proj share_expert.gate_proj"},
    {"mlp.shared_experts.up_proj",
     "mlp.shared_expert.up_proj ffn_up_shexp block_sparse_moe.shared_experts.up_proj ffn.shared_experts.w3 "
     "feed_forward.shared_expert.up_proj share_expert.up_proj"},
    {"mlp.shared_experts.down_proj",
     "mlp.shared_expert.down_proj ffn_down_shexp block_sparse_moe.shared_experts.down_proj "
     "ffn.shared_experts.w2 feed_forward.shared_expert.down_proj share_expert.down_proj"},
    {"mlp.shared_expert_gate", "ffn_gate_inp_shexp"},
    {"linear_attn.in_proj_qkv", "linear_attn.in_proj_qkvz"},
    {"linear_attn.in_proj_z", "linear_attn.in_proj_qkvz"},
    {"linear_attn.in_proj_a", "linear_attn.in_proj_ba"},
    {"linear_attn.in_proj_b", "linear_attn.in_proj_ba"},
    {"mlp.shared_experts.fc1", "mixer.shared_experts.up_proj mlp.shared_experts.up_proj"},
    {"mlp.shared_experts.fc2", "mixer.shared_experts.down_proj mlp.shared_experts.down_proj"},
    {"mlp.fc1_latent_proj", "mixer.fc1_latent_proj"},
    {"mlp.fc2_latent_proj", "mixer.fc2_latent_proj"},
    {"mamba.in_proj", "mixer.in_proj"},
    {"mamba.out_proj", "mixer.out_proj"},
    {"mamba.conv1d", "mixer.conv1d"},
    {"moe.experts.gate_proj", "experts.gate_up_proj experts.0.gate_proj moe.gate_up_proj"},
    {"moe.experts.up_proj", "experts.gate_up_proj experts.0.up_proj moe.gate_up_proj"},
    {"moe.experts.down_proj", "experts.down_proj experts.0.down_proj moe.down_proj"},
    {"moe.gate", "router.proj"},
    {"input_layernorm", "ln_1 ln_attn attn_norm"},
    {"post_attention_layernorm", "ln_2 ln_mlp post_attention_norm ffn_norm attn_norm_2 "
                                 "attention.output.LayerNorm sa_layer_norm attn_output_norm"},
    {"pre_feedforward_layernorm", "ffn_norm"},
    {"post_feedforward_layernorm", "post_ffw_norm output.LayerNorm output_layer_norm layer_output_norm"},
    {"embed_tokens", "wte embed_in word_embeddings token_embd"},
    {"embed_positions", "wpe position_embd position_embeddings"},
    {"embed_layernorm", "LayerNorm token_embd_norm"},
    {"token_type_embeddings", "token_types"},
    {"norm", "ln_f final_layer_norm final_layernorm output_norm"},
    {"lm_head", "embed_out output head"},
};

const char *oc_stored_alias(const char *module, size_t i)
{
    for (size_t a = 0; a < OC_COUNT(aliases); a++) {
        if (strcmp(aliases[a].module, module) != 0)
            continue;
        const char *p = aliases[a].others;
        for (; *p && i; i--)
            p += strcspn(p, " ") + (p[strcspn(p, " ")] == ' ');
        return *p ? p : NULL;
    }
    return NULL;
}

bool oc_stored_is_module(const char *last)
{
    size_t n = strlen(last);
    for (size_t a = 0; a < OC_COUNT(aliases); a++) {
        size_t m = strlen(aliases[a].module);
        if (m >= n && !strcmp(aliases[a].module + m - n, last) &&
            (m == n || aliases[a].module[m - n - 1] == '.'))
            return true;
        if (oc_str_has(oc_str(aliases[a].others, strlen(aliases[a].others)), last))
            return true;
    }
    return false;
}

static bool is_number(struct oc_str s)
{
    size_t i = 0;
    while (i < s.n && oc_is_digit(s.s[i]))
        i++;
    return s.n > 0 && s.n < 6 && i == s.n;
}

/* Removes the first part of "a.b.c". False: there is one part only. */
static bool next_part(struct oc_str *rest, struct oc_str *part)
{
    const char *dot = oc_str_chr(*rest, '.');
    if (!dot)
        return false;
    *part = oc_str_before(*rest, dot);
    *rest = oc_str_skip(*rest, part->n + 1);
    return true;
}

/* From the number of the layer on: "3.attn_q.weight"; in no layer the last module: "norm.weight". */
static struct oc_str role_of(struct oc_str name)
{
    struct oc_str rest = name, part, last = name;
    for (struct oc_str at = rest; next_part(&rest, &part); at = rest) {
        if (is_number(part))
            return at;
        last = at;
    }
    return last;
}

static const struct oc_stored *with_role(const struct oc_stored_list *l, const char *layer, int n_layer,
                                         struct oc_str module, const char *leaf)
{
    char role[192];
    int n = snprintf(role, sizeof(role), "%.*s%.*s.%s", n_layer, layer, (int)module.n, module.s, leaf);
    uint32_t at = n > 0 && n < (int)sizeof(role) ? oc_map_get(&l->by_role, role, (size_t)n) : OC_NONE;
    return at == OC_NONE ? NULL : &l->item[at];
}

static const struct oc_stored *with_alias(const struct oc_stored_list *l, const char *layer, int n_layer,
                                          struct oc_str module, const char *leaf)
{
    const struct oc_stored *found = with_role(l, layer, n_layer, module, leaf);
    for (size_t i = 0; !found && i < OC_COUNT(aliases); i++) {
        if (!oc_str_eq(module, aliases[i].module))
            continue;
        for (const char *p = aliases[i].others; *p && !found;) {
            size_t n = strcspn(p, " ");
            found = with_role(l, layer, n_layer, oc_str(p, n), leaf);
            p += n + (p[n] == ' ');
        }
    }
    return found;
}

unsigned oc_stored_dtype(const struct oc_stored_list *l, const char *weight, unsigned otherwise)
{
    struct oc_str role = role_of(oc_str(weight, strlen(weight))), rest = role, part = {0};
    int n_layer = next_part(&rest, &part) && is_number(part) ? (int)part.n + 1 : 0;
    const char *dot = strrchr(role.s, '.');
    if (!dot || dot < role.s + n_layer)
        return otherwise;
    struct oc_str module = oc_str(role.s + n_layer, (size_t)(dot - role.s) - (size_t)n_layer);
    const struct oc_stored *t = with_alias(l, role.s, n_layer, module, dot + 1);
    return t && oc_dtype_info(t->dtype)->kind == OC_KIND_FLOAT ? t->dtype : otherwise;
}

/* ---- the list --------------------------------------------------------------------------------------- */

static int size_of(const struct oc_stored_list *l, struct oc_stored *t, const int64_t *dim,
                   struct oc_err *err)
{
    t->elements = 1;
    for (size_t i = 0; i < t->rank; i++)
        if (dim[i] < 0 || !oc_mul_u64(t->elements, (uint64_t)dim[i], &t->elements))
            return oc_fail(err, OC_EFORMAT, "tensor '%.100s': its dimensions overflow 64 bits", t->name);
    uint64_t block = oc_dtype_block(t->dtype), all;
    if (block > 1 && (!t->rank || (uint64_t)dim[t->rank - 1] % block))
        return oc_fail(err, OC_EFORMAT, "tensor '%.100s': rows of %lld elements are not whole blocks of %llu",
                       t->name, t->rank ? (long long)dim[t->rank - 1] : 0, (unsigned long long)block);
    if (!oc_bytes_of(t->dtype, t->elements, &t->bytes) || !oc_add_u64(l->bytes, t->bytes, &all) ||
        all > INT64_MAX || !oc_add_u64(l->elements, t->elements, &all) || all > INT64_MAX)
        return oc_fail(err, OC_EFORMAT, "tensor '%.100s': more than 2^63 bytes", t->name);
    return 0;
}

int oc_stored_add(struct oc_stored_list *l, struct oc_str name, unsigned dtype, const int64_t *dim,
                  size_t rank, struct oc_err *err)
{
    uint32_t at = l->n;
    struct oc_stored t = {.dtype = (uint8_t)dtype, .rank = (uint8_t)rank};
    l->by_name.arena = l->by_role.arena = l->arena;
    if (l->n >= oc_input_limit(l->limits, OC_LIMIT_NODES))
        return oc_input_limit_fail(l->limits, OC_LIMIT_NODES, 0, err);
    if (!oc_map_add(&l->by_name, name.s, name.n, &at, &t.name))
        return oc_fail(err, OC_EFORMAT, "two tensors are called '%.100s'", l->item[at].name);
    if (size_of(l, &t, dim, err))
        return -1;
    t.dim = OC_COPY_ARRAY(l->arena, dim, rank);
    struct oc_str role = role_of(oc_str(t.name, name.n));
    oc_map_add_kept(&l->by_role, role.s, role.n, &at);
    OC_PUSH(l->item, l->n, l->cap) = t;
    l->elements += t.elements;
    l->bytes += t.bytes;
    return 0;
}

const struct oc_stored *oc_stored_find(const struct oc_stored_list *l, const char *name)
{
    uint32_t at = oc_map_get(&l->by_name, name, strlen(name));
    return at == OC_NONE ? NULL : &l->item[at];
}

bool oc_stored_any(const struct oc_stored_list *l, const char *part)
{
    for (uint32_t i = 0; i < l->n; i++)
        if (strstr(l->item[i].name, part))
            return true;
    return false;
}

const char *oc_stored_text(const struct oc_stored_list *l)
{
    uint64_t of[OC_DT_ALL] = {0};
    const char *text = oc_printf(l->arena, "%u tensors", l->n), *mark = ":";
    for (uint32_t i = 0; i < l->n; i++)
        of[l->item[i].dtype] += l->item[i].elements;
    for (unsigned t = 0; t < OC_DT_ALL; t++) {
        if (!of[t])
            continue;
        text = oc_printf(l->arena, "%s%s %s %llu", text, mark, oc_dtype_info(t)->name,
                         (unsigned long long)of[t]);
        mark = ",";
    }
    return text;
}

void oc_stored_free(struct oc_stored_list *l)
{
    free(l->item);
    oc_map_free(&l->by_name);
    oc_map_free(&l->by_role);
    *l = (struct oc_stored_list){0};
}

/* The part of a role after the number of its layer. */
static struct oc_str after_layer(struct oc_str role)
{
    struct oc_str rest = role, part;
    return next_part(&rest, &part) && is_number(part) ? rest : role;
}

bool oc_stored_is_mask(const char *name)
{
    static const char *const mask[] = {"attn.bias", "attn.masked_bias", "attention.bias",
                                       "attention.masked_bias"};
    struct oc_str rest = after_layer(role_of(oc_str(name, strlen(name))));
    for (size_t i = 0; i < OC_COUNT(mask); i++)
        if (oc_str_eq(rest, mask[i]))
            return true;
    return false;
}

static bool is_of_decoder(const struct oc_stored *t, int64_t layers, bool tied)
{
    static const char *const other[] = {"vision",   "visual",     "multi_modal",  "audio", "mtp",
                                        "inv_freq", "rope_freqs", "rope_factors", "scale"},
                             *const head[] = {"lm_head", "cls.", "classifier", "vocab_", "qa_outputs"},
                             *const last[] = {"output.weight"};
    struct oc_str name = oc_str(t->name, strlen(t->name)), role = role_of(name), rest = role, part;
    if (next_part(&rest, &part) && is_number(part) && strtoll(part.s, NULL, 10) >= layers)
        return false;
    for (size_t i = 0; i < OC_COUNT(other); i++)
        if (strstr(t->name, other[i]))
            return false;
    for (size_t i = 0; tied && i < OC_COUNT(head); i++)
        if (strstr(t->name, head[i]))
            return false;
    if (oc_stored_is_mask(t->name))
        return false;
    for (size_t i = 0; tied && i < OC_COUNT(last); i++)
        if (oc_str_eq(role, last[i]))
            return false;
    return oc_dtype_info(t->dtype)->kind == OC_KIND_FLOAT;
}

enum oc_file_part oc_stored_part(const char *name)
{
    static const struct {
        const char *name;
        enum oc_file_part part;
    } parts[] = {{"vision", OC_FILE_VISION},      {"visual", OC_FILE_VISION},
                 {"multi_modal", OC_FILE_VISION}, {"mm_projector", OC_FILE_VISION},
                 {"patch_merge", OC_FILE_VISION}, {"v.blk", OC_FILE_VISION},
                 {"vpm.", OC_FILE_VISION},        {"resampler", OC_FILE_VISION},
                 {"audio", OC_FILE_AUDIO},        {"mtp", OC_FILE_MTP},
                 {"nextn", OC_FILE_MTP}};
    for (size_t i = 0; i < OC_COUNT(parts); i++)
        if (strstr(name, parts[i].name))
            return parts[i].part;
    return OC_FILE_LANGUAGE;
}

static enum oc_file_part part_of(const struct oc_stored *t, int64_t layers)
{
    struct oc_str rest = role_of(oc_str(t->name, strlen(t->name))), number;
    enum oc_file_part part = oc_stored_part(t->name);
    if (part != OC_FILE_LANGUAGE)
        return part;
    bool after =
        layers > 0 && next_part(&rest, &number) && is_number(number) && strtoll(number.s, NULL, 10) >= layers;
    return after ? OC_FILE_MTP : OC_FILE_LANGUAGE;
}

void oc_stored_parts(const struct oc_stored_list *l, int64_t layers, struct oc_file_sum *out)
{
    *out = (struct oc_file_sum){.tensors = l->n, .bytes = l->bytes};
    for (uint32_t i = 0; i < l->n; i++)
        out->part[part_of(&l->item[i], layers)] += l->item[i].bytes;
}

struct oc_stored_sum oc_stored_decoder(const struct oc_stored_list *l, int64_t layers, bool tied)
{
    struct oc_stored_sum sum = {0};
    for (uint32_t i = 0; i < l->n; i++)
        if (is_of_decoder(&l->item[i], layers, tied)) {
            sum.elements += l->item[i].elements;
            sum.bytes += l->item[i].bytes;
        }
    return sum;
}

/* ---- safetensors -------------------------------------------------------------------------------------- */

enum { LENGTH_BYTES = 8, MAX_HEADER = 100000000 }; /* the limit of the format's own library */

static const struct {
    const char *name;
    uint8_t dtype;
} types[] = {
    {"BOOL", OC_DT_BOOL},
    {"U8", OC_DT_UINT8},
    {"I8", OC_DT_INT8},
    {"I16", OC_DT_INT16},
    {"U16", OC_DT_UINT16},
    {"I32", OC_DT_INT32},
    {"U32", OC_DT_UINT32},
    {"I64", OC_DT_INT64},
    {"U64", OC_DT_UINT64},
    {"F16", OC_DT_FLOAT16},
    {"BF16", OC_DT_BFLOAT16},
    {"F32", OC_DT_FLOAT},
    {"F64", OC_DT_DOUBLE},
    {"C64", OC_DT_COMPLEX64},
    {"F8_E4M3", OC_DT_FLOAT8E4M3FN},
    {"F8_E4M3FNUZ", OC_DT_FLOAT8E4M3FNUZ},
    {"F8_E5M2", OC_DT_FLOAT8E5M2},
    {"F8_E5M2FNUZ", OC_DT_FLOAT8E5M2FNUZ},
    {"F8_E8M0", OC_DT_FLOAT8E8M0},
    {"F4", OC_DT_FLOAT4E2M1},
};

struct entry { /* of the header */
    struct oc_str dtype;
    int64_t dim[OC_MAX_RANK], offset[2];
    size_t rank, n_offset;
};

/* An array of integers; returns its length. */
static size_t read_integers(struct oc_json *j, int64_t *out, size_t room)
{
    size_t n = 0;
    if (!oc_json_enter_type(j, OC_JSON_ARRAY))
        return SIZE_MAX;
    for (int64_t v = -1; oc_json_item(j); n++, v = -1)
        if (oc_json_i64(j, &v) && n < room)
            out[n] = v;
    return n;
}

static void read_entry(struct oc_json *j, struct oc_arena *arena, struct entry *e)
{
    struct oc_str key, text;
    *e = (struct entry){.rank = SIZE_MAX};
    if (!oc_json_enter_type(j, OC_JSON_OBJECT))
        return;
    while (oc_json_member(j, &key)) {
        bool dtype = oc_str_eq(key, "dtype"), shape = oc_str_eq(key, "shape");
        if (shape)
            e->rank = read_integers(j, e->dim, OC_MAX_RANK);
        else if (!dtype && oc_str_eq(key, "data_offsets"))
            e->n_offset = read_integers(j, e->offset, 2);
        else if (!dtype)
            oc_json_skip(j);
        else if (oc_json_string(j, &text))
            e->dtype = oc_str(oc_strndup(arena, text.s, text.n), text.n);
    }
}

static int add_entry(struct oc_stored_list *out, struct oc_str name, const struct entry *e, uint64_t *end,
                     struct oc_err *err)
{
    size_t t = 0;
    while (t < OC_COUNT(types) && !oc_str_eq(e->dtype, types[t].name))
        t++;
    if (!e->dtype.n || e->rank > OC_MAX_RANK || e->n_offset != 2)
        return oc_fail(err, OC_EFORMAT, "tensor '%.*s': needs dtype, shape and two data_offsets",
                       (int)(name.n < 100 ? name.n : 100), name.s);
    if (t == OC_COUNT(types))
        return oc_fail(err, OC_EUNSUPPORTED, "tensor '%.*s': unknown dtype '%.40s'",
                       (int)(name.n < 100 ? name.n : 100), name.s, e->dtype.s);
    if (oc_stored_add(out, name, types[t].dtype, e->dim, e->rank, err))
        return -1;
    const struct oc_stored *s = &out->item[out->n - 1];
    if (e->offset[0] < 0 || e->offset[1] < e->offset[0] ||
        (uint64_t)(e->offset[1] - e->offset[0]) != s->bytes)
        return oc_fail(err, OC_EFORMAT,
                       "tensor '%.100s': data_offsets %lld to %lld, but its shape takes %llu bytes", s->name,
                       (long long)e->offset[0], (long long)e->offset[1], (unsigned long long)s->bytes);
    if ((uint64_t)e->offset[1] > *end)
        *end = (uint64_t)e->offset[1];
    return 0;
}

/* Member by member of the header; *end: of the last tensor. */
static int read_header(struct oc_json *j, struct oc_stored_list *out, uint64_t *end, struct oc_err *err)
{
    struct oc_str key;
    struct entry e;
    if (!oc_json_enter_type(j, OC_JSON_OBJECT))
        return oc_json_error(j, NULL)
                   ? 0
                   : oc_fail(err, OC_EFORMAT,
                             "the safetensors header must be an object of tensors; download the file again");
    while (oc_json_member(j, &key)) {
        if (oc_str_eq(key, "__metadata__")) {
            oc_json_skip(j);
            continue;
        }
        struct oc_str name = oc_str(oc_strndup(out->arena, key.s, key.n), key.n);
        read_entry(j, out->arena, &e);
        if (!oc_json_error(j, NULL) && !oc_json_truncated(j) && add_entry(out, name, &e, end, err))
            return -1;
    }
    return 0;
}

static int check_json(struct oc_json *j, const char *what, struct oc_err *err)
{
    uint64_t at = 0;
    const char *bad = oc_json_error(j, &at);
    if (!bad && oc_json_truncated(j))
        bad = "the text ends inside a value";
    return bad ? oc_fail(err, OC_EFORMAT, "%s is damaged: %s (offset %llu)", what, bad,
                         (unsigned long long)at)
               : 0;
}

int oc_safetensors_read(const char *path, const void *data, size_t n, struct oc_stored_list *out,
                        struct oc_diags *diags, struct oc_err *err)
{
    uint64_t length = n >= LENGTH_BYTES ? oc_load_le(data, LENGTH_BYTES) : 0, end = 0, before = out->bytes;
    if (length < 2 || length > MAX_HEADER)
        return oc_fail(err, OC_EFORMAT, "a safetensors header of %llu bytes: from 2 to %d are possible",
                       (unsigned long long)length, MAX_HEADER);
    if (length > n - LENGTH_BYTES)
        return oc_fail(err, OC_EFORMAT,
                       "the file ends inside its header: %zu of %llu bytes; download it again", n,
                       (unsigned long long)length + LENGTH_BYTES);
    struct oc_stream *s = oc_stream_mem((const char *)data + LENGTH_BYTES, (size_t)length);
    struct oc_json *j = oc_json_open(s);
    int rc = read_header(j, out, &end, err);
    if (rc == 0)
        rc = check_json(j, "the header", err);
    oc_json_close(j);
    oc_stream_close(s);
    if (rc == 0 && end != out->bytes - before)
        rc = oc_fail(err, OC_EFORMAT, "the tensors overlap or leave holes: %llu bytes of tensors end at %llu",
                     (unsigned long long)(out->bytes - before), (unsigned long long)end);
    if (rc == 0 && end > n - LENGTH_BYTES - length)
        oc_diag_add(diags, OC_WARNING, "W-weights-cut", path,
                    "the file has %llu of %llu bytes of weights; sizes come from its header",
                    (unsigned long long)(n - LENGTH_BYTES - length), (unsigned long long)end);
    return rc;
}

/* ---- the index of several files ----------------------------------------------------------------------- */

static void read_map(struct oc_json *j, struct oc_arena *arena, struct oc_weight_index *out)
{
    struct oc_map files = {.arena = arena};
    struct oc_str key, file;
    while (oc_json_member(j, &key)) {
        OC_PUSH(out->tensor, out->n_tensor, out->cap_tensor) = oc_strndup(arena, key.s, key.n);
        uint32_t at = out->n_file;
        const char *kept;
        if (!oc_json_string(j, &file) || !oc_map_add(&files, file.s, file.n, &at, &kept))
            continue;
        OC_PUSH(out->file, out->n_file, out->cap_file) = kept;
    }
    oc_map_free(&files);
}

static void read_metadata(struct oc_json *j, struct oc_arena *arena, struct oc_weight_index *out)
{
    (void)arena;
    struct oc_str key;
    while (oc_json_member(j, &key))
        if (!oc_str_eq(key, "total_size"))
            oc_json_skip(j);
        else
            oc_json_i64(j, &out->total_bytes);
}

int oc_weight_index_read(const void *data, size_t n, struct oc_arena *arena, struct oc_weight_index *out,
                         struct oc_err *err)
{
    struct oc_stream *s = oc_stream_mem(data, n);
    struct oc_json *j = oc_json_open(s);
    struct oc_str key;
    *out = (struct oc_weight_index){.total_bytes = -1};
    for (oc_json_enter(j); oc_json_member(j, &key);) {
        bool map = oc_str_eq(key, "weight_map"), metadata = oc_str_eq(key, "metadata");
        if (!map && !metadata)
            oc_json_skip(j);
        else if (oc_json_enter_type(j, OC_JSON_OBJECT))
            (map ? read_map : read_metadata)(j, arena, out);
    }
    int rc = check_json(j, "the index", err);
    oc_json_close(j);
    oc_stream_close(s);
    if (rc == 0 && !out->n_file)
        rc = oc_fail(err, OC_EFORMAT, "the index names no file in 'weight_map'");
    return rc;
}

void oc_weight_index_free(struct oc_weight_index *index)
{
    free(index->file);
    free(index->tensor);
}
