/* How the weights of a config.json are quantized: its quantization_config, or the quantization of MLX. Formats
 * follow transformers, compressed-tensors and ModelOpt. What is not certain stays unmodelled. */
#include <string.h>

#include "model/decoder.h"
#include "shape/type.h"

enum { MAX_OWN = 8192, MAX_NESTED = 3 };

/* ---- reading ---------------------------------------------------------------------------------------- */

#define AT(field) offsetof(struct oc_quant, field)

static const struct oc_config_member table[] = {
    {"bits", OC_CONFIG_NUMBER, AT(bits)},
    {"num_bits", OC_CONFIG_NUMBER, AT(bits)},
    {"group_size", OC_CONFIG_NUMBER, AT(block)},
    {"sym", OC_CONFIG_FLAG, AT(symmetric)},
    {"symmetric", OC_CONFIG_FLAG, AT(symmetric)},
    {"zero_point", OC_CONFIG_FLAG, AT(zeros)},
    {"load_in_4bit", OC_CONFIG_FLAG, AT(four)},
    {"load_in_8bit", OC_CONFIG_FLAG, AT(eight)},
    {"bnb_4bit_use_double_quant", OC_CONFIG_FLAG, AT(twice)},
    {"lm_head", OC_CONFIG_FLAG, AT(head)},
    {"quant_method", OC_CONFIG_TEXT, AT(method)},
    {"quant_algo", OC_CONFIG_TEXT, AT(algo)},
    {"format", OC_CONFIG_TEXT, AT(format)},
    {"type", OC_CONFIG_TEXT, AT(type)},
    {"strategy", OC_CONFIG_TEXT, AT(strategy)},
};

/* The names of a file for images and text have a part more, before or after "model". */
static struct oc_packing *add_own(struct oc_quant *q, struct oc_str module, int64_t bits)
{
    static const char more[] = "language_model.";
    struct oc_packing *p = OC_NEW(q->arena, struct oc_packing);
    char *name = oc_strndup(q->arena, module.s, module.n), *part = strstr(name, more);
    if (part)
        memmove(part, part + sizeof(more) - 1, strlen(part) - sizeof(more) + 2);
    *p = (struct oc_packing){name, bits, -1, q->own};
    q->own = p;
    q->n_own++;
    return p;
}

/* A module that MLX's `quantization` names: a boolean, or an object with its own members. */
static bool read_own(struct oc_quant *q, struct oc_json *j, struct oc_str key)
{
    enum oc_json_type type = oc_json_peek(j);
    struct oc_str k;
    if (type != OC_JSON_OBJECT && type != OC_JSON_TRUE && type != OC_JSON_FALSE)
        return false;
    struct oc_packing *p = add_own(q, key, type == OC_JSON_FALSE ? 0 : -1);
    if (!oc_json_enter_type(j, OC_JSON_OBJECT))
        return true;
    while (oc_json_member(j, &k))
        if (oc_str_eq(k, "bits"))
            oc_json_i64(j, &p->bits);
        else if (oc_str_eq(k, "group_size"))
            oc_json_i64(j, &p->block);
        else if (oc_str_eq(k, "mode"))
            q->unclear |= oc_json_string(j, &k) && !oc_str_eq(k, "affine");
        else
            oc_json_skip(j);
    return true;
}

static const char *const matrices[] = {"q_proj",    "k_proj", "v_proj", "o_proj",    "gate_proj", "up_proj",
                                       "down_proj", "fc1",    "fc2",    "in_proj_a", "in_proj_b"};

static bool is_matrix(const char *module)
{
    const char *dot = strrchr(module, '.'), *last = dot ? dot + 1 : module;
    for (size_t i = 0; i < OC_COUNT(matrices); i++)
        if (!strcmp(last, matrices[i]))
            return true;
    return false;
}

/* A module that stays as it is. Norms, convolutions, last layers, routers and other modalities do so anyway; of a
 * pattern it is not certain what it matches. */
static void read_exception(struct oc_quant *q, struct oc_str name)
{
    static const char *const anyway[] = {"lm_head", "router", "vis",  "audio",  "multi_modal",
                                         "mtp",     "embed",  "norm", "conv1d", "e_score_correction_bias"};
    const char *text = oc_strndup(q->arena, name.s, name.n);
    bool stays = strstr(text, "gate") && !strstr(text, "gate_");
    for (size_t i = 0; i < OC_COUNT(anyway) && !stays; i++)
        stays = strstr(text, anyway[i]);
    if (stays)
        return;
    if (strpbrk(text, "*:^$") || strstr(text, "experts") || !strstr(text, "layers.") || !is_matrix(text))
        q->pattern = true;
    else
        add_own(q, name, 0);
}

/* Rows and columns of a scale. */
static void read_square(struct oc_quant *q, struct oc_json *j)
{
    int64_t v, last = -1;
    for (oc_json_enter(j); oc_json_item(j);)
        if (oc_json_i64(j, &v)) {
            q->unclear |= last >= 0 && v != last;
            q->square = last = v;
        }
}

static void read_members(struct oc_quant *q, struct oc_json *j, unsigned depth);

/* Of compressed-tensors: each group has its modules and its format. */
static void read_groups(struct oc_quant *q, struct oc_json *j, unsigned depth)
{
    struct oc_str k;
    for (oc_json_enter(j); oc_json_member(j, &k);) {
        q->unclear |= q->groups++ > 0;
        if (oc_json_peek(j) == OC_JSON_OBJECT)
            read_members(q, j, depth + 1);
        else
            oc_json_skip(j);
    }
}

static void read_activations(struct oc_quant *q, struct oc_json *j)
{
    struct oc_quant own = {.arena = q->arena, .bits = -1};
    read_members(&own, j, MAX_NESTED);
    q->act_bits = own.type && !strcmp(own.type, "int") ? own.bits : 0;
}

/* Sparse weights have fewer bytes. */
static void read_sparsity(struct oc_quant *q, struct oc_json *j)
{
    struct oc_str k;
    for (oc_json_enter(j); oc_json_member(j, &k);)
        if (oc_str_eq(k, "format"))
            q->unclear |= oc_json_string(j, &k) && !oc_str_eq(k, "dense");
        else
            oc_json_skip(j);
}

/* Of the cache: an object as of weights, or the name of an algorithm; null: as computed. */
static void read_cache(struct oc_quant *q, struct oc_json *j)
{
    struct oc_quant own = {.arena = q->arena, .bits = -1};
    struct oc_str name = {0};
    bool object = oc_json_peek(j) == OC_JSON_OBJECT;
    if (object)
        read_members(&own, j, MAX_NESTED);
    else if (!oc_json_string(j, &name))
        return;
    bool f8 = object ? own.bits == 8 && own.type && !strcmp(own.type, "float") : oc_str_eq(name, "FP8");
    q->cache = f8 ? OC_CACHE_F8 : OC_CACHE_OTHER;
}

static bool read_part(struct oc_quant *q, struct oc_json *j, struct oc_str key, unsigned depth)
{
    static const char *const lists[] = {"ignore", "modules_to_not_convert", "ignored_layers",
                                        "llm_int8_skip_modules", "exclude_modules"};
    enum oc_json_type type = oc_json_peek(j);
    struct oc_str s;
    for (size_t i = 0; i < OC_COUNT(lists); i++)
        if (type == OC_JSON_ARRAY && oc_str_eq(key, lists[i])) {
            for (oc_json_enter(j); oc_json_item(j);)
                if (oc_json_string(j, &s))
                    read_exception(q, s);
            return true;
        }
    bool object = type == OC_JSON_OBJECT && depth < MAX_NESTED;
    if (type == OC_JSON_ARRAY && (oc_str_eq(key, "weight_block_size") || oc_str_eq(key, "block_structure")))
        read_square(q, j);
    else if (object && oc_str_eq(key, "config_groups"))
        read_groups(q, j, depth);
    else if (object && oc_str_eq(key, "weights"))
        read_members(q, j, depth + 1);
    else if (object && oc_str_eq(key, "input_activations"))
        read_activations(q, j);
    else if (depth == 0 && (oc_str_eq(key, "kv_cache_scheme") || oc_str_eq(key, "kv_cache_quant_algo")))
        read_cache(q, j);
    else if (object && oc_str_eq(key, "sparsity_config"))
        read_sparsity(q, j);
    else if (object && (oc_str_eq(key, "dynamic") || oc_str_eq(key, "extra_config") ||
                        oc_str_eq(key, "quantized_layers")))
        for (oc_json_enter(j); oc_json_member(j, &s); oc_json_skip(j))
            q->unclear = true; /* modules with a quantization of their own */
    else
        return false;
    return true;
}

static void read_members(struct oc_quant *q, struct oc_json *j, unsigned depth)
{
    struct oc_str key, mode;
    for (oc_json_enter(j); oc_json_member(j, &key);) {
        if (q->mlx && depth == 0 && read_own(q, j, key))
            continue;
        if (q->mlx && oc_str_eq(key, "mode"))
            q->unclear |= oc_json_string(j, &mode) && !oc_str_eq(mode, "affine");
        else if (!read_part(q, j, key, depth) && !oc_config_read(table, OC_COUNT(table), q, q->arena, j, key))
            oc_json_skip(j);
    }
}

void oc_quant_init(struct oc_quant *q, struct oc_arena *arena)
{
    *q = (struct oc_quant){.arena = arena, .square = -1, .act_bits = -1};
    oc_config_unset(table, OC_COUNT(table), q);
}

void oc_quant_read(struct oc_quant *q, struct oc_json *j, bool mlx)
{
    bool before = q->mlx;
    q->configured |= !mlx;
    q->mlx = mlx;
    read_members(q, j, 0);
    q->mlx |= before;
}

/* ---- from members to a decoder ---------------------------------------------------------------------- */

/* block -1: a row */
static bool is_packing(int64_t bits, int64_t block)
{
    return bits >= 2 && bits <= 8 && bits != 7 && (block == -1 || (block >= 16 && block <= 1024));
}

/* MLX packs every Linear and Embedding module, with a scale and a bias for each group (affine). Experts and
 * the projections of latent attention are in modules of other kinds. */
static bool mlx_weights(const struct oc_quant *q, struct oc_decoder *d)
{
    if (q->method || d->experts > 0 || d->traits & (OC_DEC_LATENT | OC_DEC_HYBRID) || q->block < 0 ||
        !is_packing(q->bits, q->block))
        return false;
    for (struct oc_packing *p = q->own; p; p = p->next) {
        const char *dot = strrchr(p->module, '.'), *last = dot ? dot + 1 : p->module;
        p->bits = p->bits < 0 ? q->bits : p->bits;
        p->block = p->block < 0 ? q->block : p->block;
        bool known = is_matrix(p->module) || !strcmp(last, "embed_tokens") || !strcmp(last, "lm_head");
        if (!known || (p->bits && (p->block < 0 || !is_packing(p->bits, p->block))))
            return false;
    }
    d->mlx = true;
    d->bits = q->bits;
    d->block = q->block;
    return true;
}

/* Integers with a scale for each block of a row. */
static bool integers(struct oc_decoder *d, int64_t bits, int64_t block, int scale_dtype)
{
    bool experts = d->experts > 0 && bits != 2 && bits != 4 && bits != 8;
    if (d->traits & (OC_DEC_LATENT | OC_DEC_HYBRID) || experts || !is_packing(bits, block))
        return false;
    d->bits = bits;
    d->block = block < 0 ? 0 : block;
    d->scale_dtype = scale_dtype;
    return true;
}

/* Floats of 8 bits, with a scale for each block of rows and columns (0: all). */
static bool narrow_floats(struct oc_decoder *d, int64_t rows, int64_t columns, int scale_dtype)
{
    d->packed_dtype = OC_DT_FLOAT8E4M3FN;
    d->packs_all = d->scaled = true;
    d->scale_rows = rows;
    d->scale_columns = columns;
    d->scale_dtype = scale_dtype;
    return true;
}

static bool small_floats(struct oc_decoder *d, unsigned dtype)
{
    d->packed_dtype = (int)dtype;
    d->packs_all = true;
    return !(d->traits & (OC_DEC_LATENT | OC_DEC_HYBRID)); /* these layers stay as they are */
}

static bool has(const char *text, const char *part)
{
    return text && strstr(text, part);
}

static bool gptq(const struct oc_quant *q, struct oc_decoder *d)
{
    d->zeros = !strcmp(q->method, "awq") ? q->zeros != 0 : q->symmetric == 0;
    return q->head != 1 && integers(d, q->bits, q->block, d->dtype);
}

static bool compressed_tensors(const struct oc_quant *q, struct oc_decoder *d)
{
    bool row = has(q->strategy, "channel"), group = !row && has(q->strategy, "group");
    if (q->groups != 1 || has(q->format, "24") || has(q->format, "mixed"))
        return false;
    if (has(q->format, "fp4"))
        return small_floats(d, has(q->format, "mx") ? OC_DT_MXFP4 : OC_DT_NVFP4);
    int64_t square = q->square > 0 ? q->square : 0;
    if (has(q->type, "float") && q->bits == 8 && !group)
        return narrow_floats(d, row ? 1 : square, square, d->dtype);
    d->zeros = q->symmetric == 0;
    d->int_products = q->act_bits > 0 && q->act_bits <= 8;
    return has(q->type, "int") && (row || group) && integers(d, q->bits, row ? -1 : q->block, d->dtype);
}

static bool modelopt(const struct oc_quant *q, struct oc_decoder *d)
{
    if (has(q->algo, "NVFP4") && !has(q->algo, "_AWQ"))
        return small_floats(d, OC_DT_NVFP4);
    return q->algo && !strcmp(q->algo, "FP8") && narrow_floats(d, 0, 0, OC_DT_FLOAT);
}

static bool fp8(const struct oc_quant *q, struct oc_decoder *d)
{
    int64_t square = q->square < 0 ? 0 : q->square;
    return (!square || square >= 16) && square <= 1024 && narrow_floats(d, square, square, OC_DT_FLOAT);
}

static bool fbgemm(const struct oc_quant *q, struct oc_decoder *d)
{
    (void)q;
    return narrow_floats(d, 1, 0, OC_DT_FLOAT);
}

/* Twice: the scales are quantized to 8 bits, too. */
static bool bitsandbytes(const struct oc_quant *q, struct oc_decoder *d)
{
    if (d->experts > 0)
        return false;
    if (q->four == 1)
        return integers(d, 4, 64, q->twice == 1 ? OC_DT_UINT8 : OC_DT_FLOAT);
    d->int_products = true;
    return q->eight == 1 && integers(d, 8, -1, OC_DT_FLOAT);
}

/* gpt-oss: experts only */
static bool mxfp4(const struct oc_quant *q, struct oc_decoder *d)
{
    (void)q;
    d->packed_dtype = OC_DT_MXFP4;
    return d->traits & OC_DEC_SINKS;
}

static const struct {
    const char *method;
    bool (*apply)(const struct oc_quant *q, struct oc_decoder *d);
} methods[] = {{"gptq", gptq},
               {"awq", gptq},
               {"auto-round", gptq},
               {"intel/auto-round", gptq},
               {"compressed-tensors", compressed_tensors},
               {"modelopt", modelopt},
               {"modelopt_fp4", modelopt},
               {"fp8", fp8},
               {"fbgemm_fp8", fbgemm},
               {"bitsandbytes", bitsandbytes},
               {"mxfp4", mxfp4}};

static bool quant_apply(const struct oc_quant *q, struct oc_decoder *d)
{
    if (q->unclear || q->n_own > MAX_OWN)
        return false;
    d->own = q->own;
    if (q->mlx)
        return mlx_weights(q, d);
    const char *method = q->method ? q->method : q->algo ? "modelopt" : "";
    for (size_t i = 0; i < OC_COUNT(methods); i++)
        if (!strcmp(method, methods[i].method)) {
            d->dtype = d->dtype_known || methods[i].apply == gptq ? d->dtype : OC_DT_BFLOAT16;
            bool all = methods[i].apply != mxfp4;
            return methods[i].apply(q, d) && !(all && q->pattern) &&
                   (!all || !q->own || d->bits || d->scaled);
        }
    return false;
}

void oc_quant_apply(const struct oc_quant *q, struct oc_decoder *d)
{
    bool grouped = !(d->traits & OC_DEC_LATENT);
    d->cache_dtype = q->cache == OC_CACHE_F8 && grouped ? OC_DT_FLOAT8E4M3FN : 0;
    d->other_cache = q->cache == OC_CACHE_OTHER || (q->cache && !grouped);
    struct oc_decoder plain = *d;
    if ((!q->method && !q->mlx && !q->configured) || quant_apply(q, d))
        return;
    *d = plain;
    d->other_quantization = q->method ? q->method
                            : q->mlx  ? "quantization"
                            : q->algo ? q->algo
                                      : "quantization_config";
}

void oc_decoder_note_quantization(const struct oc_decoder *d, bool stored, struct oc_diags *diags)
{
    const char *type = d->dtype == 10 ? "float16" : d->dtype == 16 ? "bfloat16" : "float32";
    if (d->other_quantization)
        oc_diag_add(diags, OC_WARNING, "W-quantization", d->other_quantization,
                    stored
                        ? "this quantization is not modelled: weights that the file stores as integers are "
                          "counted as %s, and scales are not; bounds count no bytes of weights then"
                        : "this quantization is not modelled: weights are counted as %s; bounds count no "
                          "bytes of them; safetensors files give the types of floats",
                    type);
    if (d->other_cache)
        oc_diag_add(diags, OC_WARNING, "W-quantization", "kv_cache_scheme",
                    "this type of the cache is not modelled: it is counted as %s, also in bounds", type);
}
