/* How weights are quantized: quantization_config, the quantization of MLX, or ModelOpt's file. Formats follow
 * transformers, compressed-tensors and ModelOpt. Rules name modules by their own names, with '*', or by a
 * regular expression. What is not certain stays unmodelled. */
#include <string.h>

#include "base/ck.h"
#include "base/pattern.h"
#include "model/decoder.h"
#include "shape/type.h"

enum { MAX_RULES = 200000, MAX_PATTERNS = 2000, MAX_REGEX = 100, MAX_DEPTH = 4 };

/* ---- names of modules ------------------------------------------------------------------------------- */

/* A module, or one that it is in. */
static bool is_inside(const char *pattern, const char *name)
{
    char inside[256];
    int n = snprintf(inside, sizeof(inside), "%s.*", pattern);
    return oc_glob(pattern, name) || (n < (int)sizeof(inside) && oc_glob(inside, name));
}

/* Parts of a name in sequence, from any part on: "self_attn", "mlp.gate". */
static bool has_parts(const char *name, const char *parts)
{
    size_t n = strlen(parts);
    for (const char *at = name; n && (at = strstr(at, parts)); at++)
        if ((at == name || at[-1] == '.') && (!at[n] || at[n] == '.'))
            return true;
    return false;
}

/* The part from the layers on: what is before them differs between files. NULL: none. */
static const char *from_layers(const char *name)
{
    static const char *const start[] = {"layers.", "h.", "blocks.", "block."};
    for (size_t i = 0; i < OC_COUNT(start); i++)
        for (const char *at = name; (at = strstr(at, start[i])); at++)
            if (at == name || at[-1] == '.')
                return at;
    return NULL;
}

/* name: from the layers on, or of a module in none. */
static bool rule_matches(const char *pattern, const char *name)
{
    static const char *const before[] = {"model.", "model.language_model.", "language_model.model."};
    char full[256];
    for (size_t i = 0; !strncmp(pattern, "re:", 3) && i < OC_COUNT(before); i++) {
        snprintf(full, sizeof(full), "%s%s", before[i], name);
        if (oc_regex_find(pattern + 3, full))
            return true;
    }
    if (!strncmp(pattern, "re:", 3) || !strpbrk(pattern, "*?"))
        return has_parts(name, pattern);
    const char *layers = from_layers(pattern), *star = strpbrk(pattern, "*?");
    if (layers && layers < star)
        return is_inside(layers, name);
    for (const char *at = name; at; at = strchr(at, '.') ? strchr(at, '.') + 1 : NULL)
        if (is_inside(pattern, at))
            return true;
    return false;
}

/* The first rule that matches this name of a module; `first` so far. Names of layers are looked up, part by part. */
static uint32_t rule_of(const struct oc_quant *q, const char *name, uint32_t first)
{
    for (size_t n = strlen(name); q->literal.n && n > 0; n--) {
        uint32_t at = name[n] && name[n] != '.' ? OC_NONE : oc_map_get(&q->literal, name, n);
        first = at < first ? at : first;
    }
    for (uint32_t i = 0; i < q->n_pattern && q->pattern[i] < first; i++)
        if (rule_matches(q->rule[q->pattern[i]].name, name))
            first = q->pattern[i];
    return first;
}

/* Files name a module by the name in the graph, which is that of transformers' Llama, or by others. */
struct oc_packing oc_packing_of(const struct oc_quant *q, const char *module, bool linear)
{
    const char *layers = from_layers(module), *name = layers ? layers : module, *other;
    const char *rest = layers ? strchr(strchr(layers, '.') + 1, '.') : NULL;
    uint32_t first = rule_of(q, name, OC_NONE);
    char text[200];
    for (size_t i = 0; q->n_rule && (other = oc_stored_alias(rest ? rest + 1 : name, i)); i++) {
        snprintf(text, sizeof(text), "%.*s%.*s", rest ? (int)(rest + 1 - name) : 0, name,
                 (int)strcspn(other, " "), other);
        first = rule_of(q, text, first);
    }
    if (first != OC_NONE)
        return q->rule[first].as;
    return linear || q->all.biases ? q->all : (struct oc_packing){.kind = OC_PACK_NOT};
}

void oc_quant_free(struct oc_quant *q)
{
    oc_map_free(&q->literal);
}

/* ---- what a file says ------------------------------------------------------------------------------- */

struct spec { /* an object; numbers and flags -1: nothing */
    const char *method, *algo, *experts_algo, *format, *type, *strategy, *scales;
    int64_t bits, group, square, act_bits, symmetric, zeros, four, eight, twice, head;
};
struct group {        /* of compressed-tensors; of MLX and ModelOpt: a module */
    const char *name; /* NULL: all linear layers */
    bool stays;       /* as it is */
    struct spec spec;
    struct group *next;
};

struct oc_quant_reader {
    struct oc_arena *arena;
    struct spec spec;
    struct group *group, **last;
    unsigned n_named, n_all, n_pattern, n_regex;
    bool mlx, configured, unclear;
    bool cache_given, cache_float;
    int64_t cache_bits;
};

static const struct {
    const char *name;
    size_t at;
    bool number;
} members[] = {
#define NUMBER(name, field)                                                                                  \
    {                                                                                                        \
        name, offsetof(struct spec, field), true                                                             \
    }
#define WORDS(name, field)                                                                                   \
    {                                                                                                        \
        name, offsetof(struct spec, field), false                                                            \
    }
    NUMBER("bits", bits),
    NUMBER("num_bits", bits),
    NUMBER("group_size", group),
    NUMBER("sym", symmetric),
    NUMBER("symmetric", symmetric),
    NUMBER("zero_point", zeros),
    NUMBER("load_in_4bit", four),
    NUMBER("load_in_8bit", eight),
    NUMBER("bnb_4bit_use_double_quant", twice),
    NUMBER("lm_head", head),
    WORDS("quant_method", method),
    WORDS("quant_algo", algo),
    WORDS("moe_quant_algo", experts_algo),
    WORDS("format", format),
    WORDS("type", type),
    WORDS("strategy", strategy),
    WORDS("scale_fmt", scales),
};

static void clear(struct spec *s)
{
    *s = (struct spec){.bits = -1,
                       .group = -1,
                       .square = -1,
                       .act_bits = -1,
                       .symmetric = -1,
                       .zeros = -1,
                       .four = -1,
                       .eight = -1,
                       .twice = -1,
                       .head = -1};
}

static void read_members(struct oc_quant_reader *r, struct oc_json *j, struct spec *s, unsigned depth);

static void read_member(struct oc_quant_reader *r, struct oc_json *j, struct spec *s, struct oc_str key)
{
    struct oc_str text;
    bool flag;
    for (size_t i = 0; i < OC_COUNT(members); i++) {
        if (!oc_str_eq(key, members[i].name))
            continue;
        void *at = (char *)s + members[i].at;
        enum oc_json_type type = oc_json_peek(j);
        if (members[i].number && (type == OC_JSON_TRUE || type == OC_JSON_FALSE))
            *(int64_t *)at = oc_json_bool(j, &flag) && flag;
        else if (members[i].number)
            oc_json_i64(j, at);
        else if (type == OC_JSON_STRING && oc_json_string(j, &text))
            *(const char **)at = oc_strndup(r->arena, text.s, text.n);
        else
            oc_json_skip(j);
        return;
    }
    oc_json_skip(j);
}

static struct group *add_group(struct oc_quant_reader *r, struct oc_str name, const struct spec *as)
{
    struct group *g = OC_NEW(r->arena, struct group);
    *g = (struct group){.name = name.n ? oc_strndup(r->arena, name.s, name.n) : NULL, .spec = *as};
    bool regex = g->name && !strncmp(g->name, "re:", 3),
         pattern = g->name && (regex || strpbrk(g->name, "*?") || !from_layers(g->name));
    r->n_named += g->name != NULL;
    r->n_pattern += pattern;
    r->n_regex += regex;
    r->unclear |= r->n_named > MAX_RULES || r->n_pattern > MAX_PATTERNS || r->n_regex > MAX_REGEX ||
                  (regex && !oc_regex_is_simple(g->name + 3));
    *r->last = g;
    r->last = &g->next;
    return g;
}

static void read_exceptions(struct oc_quant_reader *r, struct oc_json *j)
{
    struct oc_str s;
    for (oc_json_enter(j); oc_json_item(j);)
        if (oc_json_string(j, &s) && s.n)
            add_group(r, s, &r->spec)->stays = true;
}

/* Rows and columns of a scale. */
static void read_square(struct oc_quant_reader *r, struct oc_json *j, struct spec *s)
{
    int64_t v, last = -1;
    for (oc_json_enter(j); oc_json_item(j);)
        if (oc_json_i64(j, &v)) {
            r->unclear |= last >= 0 && v != last;
            s->square = last = v;
        }
}

/* The modules of a group: "Linear" are all. */
static void read_targets(struct oc_quant_reader *r, struct oc_json *j, const struct spec *s)
{
    struct oc_str name;
    for (oc_json_enter(j); oc_json_item(j);)
        if (oc_json_string(j, &name)) {
            bool all = oc_str_eq(name, "Linear");
            r->n_all += all;
            add_group(r, all ? oc_str("", 0) : name, s);
        }
}

/* A group of compressed-tensors; targets may come before what they are quantized to. */
static void read_group(struct oc_quant_reader *r, struct oc_json *j, const struct spec *outer)
{
    struct oc_str raw;
    struct spec own = *outer;
    if (oc_json_peek(j) != OC_JSON_OBJECT || !oc_json_raw(j, &raw))
        return;
    raw = oc_str(OC_COPY_ARRAY(r->arena, raw.s, raw.n), raw.n);
    for (int pass = 0; pass < 2; pass++) {
        struct oc_stream *text = oc_stream_mem(raw.s, raw.n);
        struct oc_json *in = oc_json_open(text);
        struct oc_str key;
        bool targets = false;
        for (oc_json_enter(in); oc_json_member(in, &key);) {
            bool list = oc_str_eq(key, "targets") && oc_json_peek(in) == OC_JSON_ARRAY;
            targets |= list;
            if (pass && list)
                read_targets(r, in, &own);
            else if (!pass && oc_str_eq(key, "weights") && oc_json_peek(in) == OC_JSON_OBJECT)
                read_members(r, in, &own, MAX_DEPTH);
            else if (!pass && oc_str_eq(key, "input_activations") && oc_json_peek(in) == OC_JSON_OBJECT) {
                struct spec act;
                clear(&act);
                read_members(r, in, &act, MAX_DEPTH);
                own.act_bits = act.type && !strcmp(act.type, "int") ? act.bits : -1;
            } else if (!pass && oc_str_eq(key, "format"))
                read_member(r, in, &own, key);
            else
                oc_json_skip(in);
        }
        if (pass && !targets) {
            add_group(r, oc_str("", 0), &own);
            r->n_all++;
        }
        oc_json_close(in);
        oc_stream_close(text);
    }
}

/* Modules by name with their own quantization. */
static void read_modules(struct oc_quant_reader *r, struct oc_json *j, const struct spec *outer)
{
    struct oc_str key;
    for (oc_json_enter(j); oc_json_member(j, &key);) {
        struct group *g = add_group(r, key, outer);
        if (oc_json_peek(j) == OC_JSON_OBJECT)
            read_members(r, j, &g->spec, MAX_DEPTH);
        else
            oc_json_skip(j);
    }
}

/* Of the cache: an object as of weights, or the name of an algorithm; null: as computed. */
static void read_cache(struct oc_quant_reader *r, struct oc_json *j)
{
    struct spec own;
    struct oc_str name = {0};
    clear(&own);
    if (oc_json_peek(j) == OC_JSON_OBJECT) {
        read_members(r, j, &own, MAX_DEPTH);
        r->cache_given = true;
        r->cache_bits = own.bits;
        r->cache_float = own.type && !strcmp(own.type, "float");
    } else if (oc_json_string(j, &name)) {
        r->cache_given = true;
        r->cache_float = oc_str_starts(name, "FP8") || oc_str_eq(name, "NVFP4");
        r->cache_bits = oc_str_eq(name, "NVFP4") ? 4 : 8;
        r->cache_bits = r->cache_float || oc_str_eq(name, "INT8") ? r->cache_bits : -1;
    }
}

/* Sparse weights have fewer bytes. */
static void read_sparsity(struct oc_quant_reader *r, struct oc_json *j)
{
    struct oc_str k;
    for (oc_json_enter(j); oc_json_member(j, &k);)
        if (oc_str_eq(k, "format"))
            r->unclear |= oc_json_string(j, &k) && !oc_str_eq(k, "dense");
        else
            oc_json_skip(j);
}

/* A module that MLX's `quantization` names: a boolean, or an object with its own members. */
static bool read_mlx(struct oc_quant_reader *r, struct oc_json *j, struct oc_str key, const struct spec *s)
{
    enum oc_json_type type = oc_json_peek(j);
    struct oc_str mode;
    if (oc_str_eq(key, "mode")) {
        r->unclear |= oc_json_string(j, &mode) && !oc_str_eq(mode, "affine");
        return true;
    }
    if (type != OC_JSON_OBJECT && type != OC_JSON_TRUE && type != OC_JSON_FALSE)
        return false;
    const char *text = oc_strndup(r->arena, key.s, key.n), *dot = strrchr(text, '.');
    r->unclear |= !oc_stored_is_module(dot ? dot + 1 : text);
    struct spec own = *s;
    own.bits = own.group = -1;
    struct group *g = add_group(r, key, &own);
    g->stays = type == OC_JSON_FALSE;
    if (type == OC_JSON_OBJECT)
        read_members(r, j, &g->spec, MAX_DEPTH);
    else
        oc_json_skip(j);
    return true;
}

static bool is_one_of(struct oc_str key, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (oc_str_eq(key, list[i]))
            return true;
    return false;
}

static bool read_part(struct oc_quant_reader *r, struct oc_json *j, struct spec *s, struct oc_str key)
{
    static const char *const lists[] = {"ignore", "modules_to_not_convert", "ignored_layers",
                                        "llm_int8_skip_modules", "exclude_modules"},
                             *const others[] = {"dynamic", "extra_config"};
    enum oc_json_type type = oc_json_peek(j);
    struct oc_str k;
    bool object = type == OC_JSON_OBJECT, array = type == OC_JSON_ARRAY;
    if (array && is_one_of(key, lists, OC_COUNT(lists)))
        read_exceptions(r, j);
    else if (object && oc_str_eq(key, "config_groups"))
        for (oc_json_enter(j); oc_json_member(j, &k);)
            read_group(r, j, s);
    else if (object && oc_str_eq(key, "quantized_layers"))
        read_modules(r, j, s);
    else if (oc_str_eq(key, "kv_cache_scheme") || oc_str_eq(key, "kv_cache_quant_algo"))
        read_cache(r, j);
    else if (object && oc_str_eq(key, "sparsity_config"))
        read_sparsity(r, j);
    else if (object && is_one_of(key, others, OC_COUNT(others)))
        for (oc_json_enter(j); oc_json_member(j, &k); oc_json_skip(j))
            r->unclear = true; /* modules with a quantization of their own */
    else
        return false;
    return true;
}

static void read_members(struct oc_quant_reader *r, struct oc_json *j, struct spec *s, unsigned depth)
{
    struct oc_str key;
    for (oc_json_enter(j); oc_json_member(j, &key);) {
        key = oc_str(oc_strndup(r->arena, key.s, key.n), key.n);
        if (!depth && oc_str_eq(key, "quant_algo") && oc_json_peek(j) == OC_JSON_NULL)
            r->configured = false; /* only the cache is quantized */
        bool square = oc_json_peek(j) == OC_JSON_ARRAY &&
                      (oc_str_eq(key, "weight_block_size") || oc_str_eq(key, "block_structure"));
        if (square)
            read_square(r, j, s);
        else if (depth || !((r->mlx && read_mlx(r, j, key, s)) || read_part(r, j, s, key)))
            read_member(r, j, s, key);
    }
}

struct oc_quant_reader *oc_quant_open(struct oc_arena *arena)
{
    struct oc_quant_reader *r = OC_NEW(arena, struct oc_quant_reader);
    *r = (struct oc_quant_reader){.arena = arena, .cache_bits = -1};
    r->last = &r->group;
    clear(&r->spec);
    return r;
}

/* Members may come in any order: groups are read with what the others say. */
void oc_quant_read(struct oc_quant_reader *r, struct oc_json *j, bool mlx)
{
    struct oc_str raw;
    if (!oc_json_raw(j, &raw))
        return;
    if (!mlx && r->mlx && !oc_str_has(raw, "\"quant_")) /* MLX writes the same object under both names */
        return;
    raw = oc_str(OC_COPY_ARRAY(r->arena, raw.s, raw.n), raw.n);
    r->configured |= !mlx;
    r->mlx = mlx;
    for (int pass = 0; pass < 2; pass++) {
        struct oc_stream *text = oc_stream_mem(raw.s, raw.n);
        struct oc_json *in = oc_json_open(text);
        struct spec first = r->spec;
        if (pass) { /* with the members of the first pass */
            struct oc_quant_reader *fresh = oc_quant_open(r->arena);
            fresh->spec = first;
            fresh->mlx = r->mlx;
            fresh->configured = r->configured;
            *r = *fresh;
            r->last = &r->group;
        }
        read_members(r, in, &r->spec, 0);
        oc_json_close(in);
        oc_stream_close(text);
    }
}

bool oc_quant_given(const struct oc_quant_reader *r)
{
    return r->configured || r->mlx;
}

/* ---- packings --------------------------------------------------------------------------------------- */

static bool has(const char *text, const char *part)
{
    return text && strstr(text, part);
}

/* Integers with a scale for each block of a row; block -1: a row. */
static bool integers(struct oc_packing *p, int64_t bits, int64_t block, int scale_dtype, bool zeros)
{
    if (bits < 2 || bits > 8 || bits == 7 || (block != -1 && (block < 16 || block > 1024)))
        return false;
    *p = (struct oc_packing){.kind = OC_PACK_BLOCKS,
                             .bits = bits,
                             .block = block < 0 ? 0 : block,
                             .scale_dtype = scale_dtype,
                             .zeros = zeros};
    return true;
}

/* Floats of 8 bits, with a scale for each block of rows and columns (0: all). */
static bool narrow(struct oc_packing *p, int64_t rows, int64_t columns, int scale_dtype)
{
    if (rows > 1024 || columns > 1024 || (rows > 1 && rows < 16) || (columns && columns < 16))
        return false;
    *p = (struct oc_packing){.kind = OC_PACK_SCALED,
                             .dtype = OC_DT_FLOAT8E4M3FN,
                             .scale_dtype = scale_dtype,
                             .rows = rows,
                             .columns = columns};
    return true;
}

static bool small(struct oc_packing *p, int dtype)
{
    *p = (struct oc_packing){.kind = OC_PACK_TYPE, .dtype = dtype};
    return true;
}

/* Names of ModelOpt's algorithms. */
static bool algorithm(const struct spec *s, const char *algo, struct oc_packing *p)
{
    int64_t group = s->group > 0 ? s->group : 128;
    if (has(algo, "NVFP4"))
        return !has(algo, "AWQ") && small(p, OC_DT_NVFP4);
    if (has(algo, "MXFP4"))
        return small(p, OC_DT_MXFP4);
    if (has(algo, "MXFP8"))
        return narrow(p, 1, 32, OC_DT_UINT8);
    if (has(algo, "FP8_PB") || has(algo, "FP8_BLOCK"))
        return narrow(p, 128, 128, OC_DT_FLOAT);
    if (has(algo, "FP8_PER_CHANNEL"))
        return narrow(p, 1, 0, OC_DT_FLOAT);
    if (has(algo, "W4A16") || has(algo, "INT4"))
        return integers(p, 4, group, 0, false);
    if (has(algo, "W8A16") || has(algo, "W8A8") || has(algo, "INT8"))
        return integers(p, 8, -1, OC_DT_FLOAT, false);
    return algo && !strcmp(algo, "FP8") && narrow(p, 0, 0, OC_DT_FLOAT);
}

/* Weights of a group: type, bits and how scales are shared. */
static bool weights(const struct spec *s, struct oc_packing *p)
{
    bool row = has(s->strategy, "channel"), group = !row && s->group > 0 && s->square < 0;
    int64_t square = s->square > 0 ? s->square : 0;
    if (has(s->format, "24"))
        return false;
    if (has(s->format, "fp4") || (has(s->type, "float") && s->bits == 4))
        return small(p, has(s->format, "mx") || s->group == 32 ? OC_DT_MXFP4 : OC_DT_NVFP4);
    if (has(s->type, "float") && s->bits == 8 && group)
        return s->group == 32 && narrow(p, 1, 32, OC_DT_UINT8);
    if (has(s->type, "float") && s->bits == 8)
        return narrow(p, row ? 1 : square, square, 0);
    if (!has(s->type, "int") || !(row || group) ||
        !integers(p, s->bits, row ? -1 : s->group, 0, s->symmetric == 0))
        return false;
    p->int_products = s->act_bits > 0 && s->act_bits <= 8;
    return true;
}

static bool gptq(const struct spec *s, struct oc_packing *p)
{
    return s->head != 1 &&
           integers(p, s->bits, s->group, 0, !strcmp(s->method, "awq") ? s->zeros != 0 : s->symmetric == 0);
}

static bool fp8(const struct spec *s, struct oc_packing *p)
{
    int64_t square = s->square < 0 ? 0 : s->square;
    return narrow(p, square, square, has(s->scales, "ue8m0") ? OC_DT_UINT8 : OC_DT_FLOAT);
}

/* Twice: the scales are quantized to 8 bits, too. */
static bool bitsandbytes(const struct spec *s, struct oc_packing *p)
{
    if (s->four == 1)
        return integers(p, 4, 64, s->twice == 1 ? OC_DT_UINT8 : OC_DT_FLOAT, false);
    bool known = s->eight == 1 && integers(p, 8, -1, OC_DT_FLOAT, false);
    p->int_products = true;
    return known;
}

/* ModelOpt: by the algorithm, or as compressed-tensors. */
static bool modelopt(const struct spec *s, struct oc_packing *p)
{
    return algorithm(s, s->algo, p) || (!s->algo && weights(s, p));
}

static const struct {
    const char *method;
    bool (*pack)(const struct spec *s, struct oc_packing *p);
    const char *algo; /* that of ModelOpt */
} methods[] = {{"gptq", gptq, NULL},
               {"awq", gptq, NULL},
               {"auto-round", gptq, NULL},
               {"intel/auto-round", gptq, NULL},
               {"compressed-tensors", weights, NULL},
               {"modelopt", modelopt, NULL},
               {"modelopt_fp4", modelopt, NULL},
               {"fp8", fp8, NULL},
               {"fbgemm_fp8", NULL, "FP8_PER_CHANNEL"},
               {"bitsandbytes", bitsandbytes, NULL},
               {"mxfp4", NULL, "MXFP4"}};

static bool pack(const char *method, const struct spec *s, struct oc_packing *p)
{
    for (size_t i = 0; i < OC_COUNT(methods); i++)
        if (!strcmp(method, methods[i].method))
            return methods[i].pack ? methods[i].pack(s, p) : algorithm(s, methods[i].algo, p);
    return false;
}

static bool mlx_pack(const struct spec *s, struct oc_packing *p)
{
    if (s->group < 0 || !integers(p, s->bits, s->group, 0, false))
        return false;
    p->biases = true;
    return true;
}

/* Names of modules in layers are looked up, all others are patterns. */
static void add_rule(struct oc_quant *q, const char *name, struct oc_packing as)
{
    const char *layers = from_layers(name);
    uint32_t at = q->n_rule++;
    q->rule[at] = (struct oc_quant_rule){name, as};
    if (layers && strncmp(name, "re:", 3) != 0 && !strpbrk(name, "*?"))
        oc_map_add_kept(&q->literal, layers, strlen(layers), &at);
    else
        q->pattern[q->n_pattern++] = at;
}

/* The packing of a module or group, with what it does not say from the whole. */
static bool pack_group(const struct oc_quant_reader *r, const char *method, struct group *g,
                       struct oc_packing *p)
{
    struct spec s = g->spec;
    if (r->mlx) {
        s.bits = s.bits < 0 ? r->spec.bits : s.bits;
        s.group = s.group < 0 ? r->spec.group : s.group;
        return mlx_pack(&s, p);
    }
    bool own = s.algo && strcmp(s.algo, "MIXED_PRECISION") != 0;
    if (own)
        return algorithm(&s, s.algo, p);
    s.algo = NULL;
    return s.type ? weights(&s, p) : pack(method, &s, p);
}

/* Rules of the groups that stay, or of the others. */
static bool close_groups(struct oc_quant_reader *r, const char *method, bool stays, struct oc_quant *q)
{
    bool mixed = r->spec.algo && !strcmp(r->spec.algo, "MIXED_PRECISION"), fp8 = !strcmp(method, "fp8");
    for (struct group *g = r->group; g; g = g->next) {
        struct oc_packing p = {.kind = OC_PACK_NOT};
        /* all linear layers: the names say more; FP8 with an algorithm: exceptions of it are FP8 */
        if (g->stays != stays || (!g->name && ((mixed && r->n_named) || fp8)) ||
            (g->stays && fp8 && r->spec.algo))
            continue;
        if (!g->stays && !pack_group(r, method, g, &p))
            return false;
        if (g->name)
            add_rule(q, g->name, p);
        else
            q->all = p;
    }
    return true;
}

static bool has_groups(const struct oc_quant_reader *r)
{
    for (const struct group *g = r->group; g; g = g->next)
        if (!g->stays)
            return true;
    return false;
}

static bool quantize(struct oc_quant_reader *r, int expert_type, struct oc_quant *q)
{
    const char *method = r->spec.method ? r->spec.method : r->spec.algo || has_groups(r) ? "modelopt" : "";
    bool first = r->mlx || (r->spec.algo && !strcmp(r->spec.algo, "MIXED_PRECISION"));
    struct oc_packing experts = {.kind = OC_PACK_NOT};
    if (r->unclear || r->n_all > 1 || has(r->spec.format, "24") || (r->mlx && r->spec.method))
        return false;
    q->literal.arena = r->arena;
    q->rule = OC_NEW_ARRAY(r->arena, r->n_named + 1U, struct oc_quant_rule);
    q->pattern = OC_NEW_ARRAY(r->arena, r->n_pattern + 1U, uint32_t);
    bool known = r->mlx ? mlx_pack(&r->spec, &q->all) : pack(method, &r->spec, &q->all);
    if (r->spec.experts_algo ? !algorithm(&r->spec, r->spec.experts_algo, &experts)
                             : expert_type && !has_groups(r) && !small(&experts, expert_type))
        return false;
    if (experts.kind != OC_PACK_NOT && !has_groups(r))
        add_rule(q, "*.experts*", experts);
    /* a module that is named is not an exception, if the names say how */
    return (known || (!r->mlx && has_groups(r))) && close_groups(r, method, !first, q) &&
           close_groups(r, method, first, q);
}

struct oc_quant oc_quant_close(struct oc_quant_reader *r, int expert_type)
{
    struct oc_quant q = {.method = NULL};
    q.cache = !r->cache_given                        ? 0
              : r->cache_float && r->cache_bits == 8 ? OC_DT_FLOAT8E4M3FN
              : r->cache_float && r->cache_bits == 4 ? OC_DT_NVFP4
              : r->cache_bits == 8                   ? OC_DT_INT8
                                                     : 0;
    q.other_cache = r->cache_given && !q.cache;
    if (!r->spec.method && !r->mlx && !(r->configured && (r->spec.algo || has_groups(r) || !r->cache_given)))
        return q;
    struct oc_quant plain = q;
    q.method = plain.method = r->spec.method ? r->spec.method
                              : r->mlx       ? "quantization"
                              : r->spec.algo ? r->spec.algo
                                             : "quantization_config";
    if (quantize(r, expert_type, &q))
        return q;
    oc_quant_free(&q);
    plain.unknown = true;
    return plain;
}
