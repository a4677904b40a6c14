/* How weights are quantized: quantization_config, the quantization of MLX, or ModelOpt's file. Formats follow
 * transformers, compressed-tensors and ModelOpt. Rules name modules by their own names, with '*', or by a
 * regular expression. What is not certain stays unmodelled. */
#include <string.h>

#include "base/ck.h"
#include "base/pattern.h"
#include "model/decoder.h"
#include "shape/type.h"

enum { MAX_RULES = 200000, MAX_PATTERNS = 2000, MAX_REGEX = 100 };

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
    static const char *const before[] = {"model.", "model.language_model.", "language_model.model.",
                                         "language_model."};
    char full[256];
    for (size_t i = 0; !strncmp(pattern, "re:", 3) && i < OC_COUNT(before); i++) {
        snprintf(full, sizeof(full), "%s%s", before[i], name);
        if (oc_regex_find(pattern + 3, full))
            return true;
    }
    if (!strncmp(pattern, "re:", 3))
        return has_parts(name, pattern);
    if (!strpbrk(pattern, "*?")) {
        bool found = has_parts(name, pattern);
        for (size_t i = 0; !found && i < OC_COUNT(before); i++)
            found = !strncmp(pattern, before[i], strlen(before[i])) &&
                    has_parts(name, pattern + strlen(before[i]));
        return found;
    }
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
    int64_t bits, group, square, act_bits, symmetric, zeros, four, eight, twice, head;
    const char *method, *algo, *experts_algo, *format, *type, *strategy, *scales;
    bool targets; /* the group lists its modules */
};
static const struct spec unsaid = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, .method = NULL};

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
    int cache; /* type of the cache; 0: that of the model, -1: one that is not modelled */
};

#define AT(field) offsetof(struct spec, field)
static const struct {
    const char *name;
    size_t at;
} members[] = {
    {"bits", AT(bits)},
    {"num_bits", AT(bits)},
    {"group_size", AT(group)},
    {"sym", AT(symmetric)},
    {"symmetric", AT(symmetric)},
    {"zero_point", AT(zeros)},
    {"load_in_4bit", AT(four)},
    {"load_in_8bit", AT(eight)},
    {"bnb_4bit_use_double_quant", AT(twice)},
    {"lm_head", AT(head)},
    {"quant_method", AT(method)},
    {"quant_algo", AT(algo)},
    {"moe_quant_algo", AT(experts_algo)},
    {"format", AT(format)},
    {"type", AT(type)},
    {"strategy", AT(strategy)},
    {"scale_fmt", AT(scales)},
};

typedef void (*member_reader)(struct oc_quant_reader *r, struct oc_json *j, struct spec *s,
                              struct oc_str key);

static void read_object(struct oc_quant_reader *r, struct oc_json *j, struct spec *s, member_reader read)
{
    struct oc_str key;
    if (!oc_json_enter_type(j, OC_JSON_OBJECT))
        return;
    while (oc_json_member(j, &key))
        read(r, j, s, oc_str(oc_strndup(r->arena, key.s, key.n), key.n));
}

/* Members come in any order: what is of the whole model is read before what is of modules. */
static void read_twice(struct oc_quant_reader *r, struct oc_str raw, struct spec *s, member_reader first,
                       member_reader second)
{
    raw = oc_str(OC_COPY_ARRAY(r->arena, raw.s, raw.n), raw.n);
    for (int pass = 0; pass < 2; pass++) {
        struct oc_stream *text = oc_stream_mem(raw.s, raw.n);
        struct oc_json *in = oc_json_open(text);
        read_object(r, in, s, pass ? second : first);
        oc_json_close(in);
        oc_stream_close(text);
    }
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

static void read_member(struct oc_quant_reader *r, struct oc_json *j, struct spec *s, struct oc_str key)
{
    enum oc_json_type type = oc_json_peek(j);
    struct oc_str text;
    bool flag;
    size_t i = 0;
    if (type == OC_JSON_ARRAY && (oc_str_eq(key, "weight_block_size") || oc_str_eq(key, "block_structure"))) {
        read_square(r, j, s);
        return;
    }
    while (i < OC_COUNT(members) && !oc_str_eq(key, members[i].name))
        i++;
    void *at = (char *)s + (i < OC_COUNT(members) ? members[i].at : 0);
    bool number = i < OC_COUNT(members) && members[i].at < offsetof(struct spec, method);
    if (number && (type == OC_JSON_TRUE || type == OC_JSON_FALSE))
        *(int64_t *)at = oc_json_bool(j, &flag) && flag;
    else if (number)
        oc_json_i64(j, at);
    else if (i < OC_COUNT(members) && type == OC_JSON_STRING && oc_json_string(j, &text))
        *(const char **)at = oc_strndup(r->arena, text.s, text.n);
    else
        oc_json_skip(j);
}

static struct group *add_group(struct oc_quant_reader *r, struct oc_str name, const struct spec *as)
{
    struct group *g = OC_NEW(r->arena, struct group);
    *g = (struct group){.name = name.n ? oc_strndup(r->arena, name.s, name.n) : NULL, .spec = *as};
    bool regex = g->name && !strncmp(g->name, "re:", 3),
         pattern = g->name && (regex || strpbrk(g->name, "*?") || !from_layers(g->name));
    r->n_named += g->name != NULL;
    r->n_all += !g->name;
    r->n_pattern += pattern;
    r->n_regex += regex;
    r->unclear |= r->n_named > MAX_RULES || r->n_pattern > MAX_PATTERNS || r->n_regex > MAX_REGEX ||
                  (regex && !oc_regex_is_simple(g->name + 3));
    *r->last = g;
    r->last = &g->next;
    return g;
}

/* A group of compressed-tensors: how its weights are stored. */
static void read_group_spec(struct oc_quant_reader *r, struct oc_json *j, struct spec *s, struct oc_str key)
{
    struct spec act = unsaid;
    if (oc_str_eq(key, "weights")) {
        read_object(r, j, s, read_member);
    } else if (oc_str_eq(key, "input_activations")) {
        read_object(r, j, &act, read_member);
        s->act_bits = act.type && !strcmp(act.type, "int") ? act.bits : -1;
    } else if (oc_str_eq(key, "format")) {
        read_member(r, j, s, key);
    } else {
        s->targets |= oc_str_eq(key, "targets") && oc_json_peek(j) == OC_JSON_ARRAY;
        oc_json_skip(j);
    }
}

/* Its modules: "Linear" are all. */
static void read_targets(struct oc_quant_reader *r, struct oc_json *j, struct spec *s, struct oc_str key)
{
    struct oc_str name;
    if (!oc_str_eq(key, "targets") || oc_json_peek(j) != OC_JSON_ARRAY) {
        oc_json_skip(j);
        return;
    }
    for (oc_json_enter(j); oc_json_item(j);)
        if (oc_json_string(j, &name))
            add_group(r, oc_str_eq(name, "Linear") ? oc_str("", 0) : name, s);
}

static void read_group(struct oc_quant_reader *r, struct oc_json *j, struct spec *outer, struct oc_str key)
{
    struct spec own = *outer;
    struct oc_str raw;
    (void)key;
    if (!oc_json_raw(j, &raw) || raw.s[0] != '{')
        return;
    read_twice(r, raw, &own, read_group_spec, read_targets);
    if (!own.targets)
        add_group(r, oc_str("", 0), &own);
}

/* A module with its own quantization: an object, or of MLX also a boolean. */
static void read_module(struct oc_quant_reader *r, struct oc_json *j, struct spec *outer, struct oc_str key)
{
    struct group *g = add_group(r, key, outer);
    g->stays = oc_json_peek(j) == OC_JSON_FALSE;
    if (oc_json_peek(j) == OC_JSON_OBJECT)
        read_object(r, j, &g->spec, read_member);
    else
        oc_json_skip(j);
}

/* Of the cache: an object as of weights, or the name of an algorithm; null: as computed. */
static void read_cache(struct oc_quant_reader *r, struct oc_json *j)
{
    struct spec own = unsaid;
    struct oc_str name = {0};
    bool narrow;
    if (oc_json_peek(j) == OC_JSON_OBJECT) {
        read_object(r, j, &own, read_member);
        narrow = own.type && !strcmp(own.type, "float");
    } else if (oc_json_string(j, &name)) {
        narrow = oc_str_starts(name, "FP8") || oc_str_eq(name, "NVFP4");
        own.bits = oc_str_eq(name, "NVFP4") ? 4 : narrow || oc_str_eq(name, "INT8") ? 8 : -1;
    } else {
        return;
    }
    r->cache = own.bits == 8             ? (narrow ? OC_DT_FLOAT8E4M3FN : OC_DT_INT8)
               : narrow && own.bits == 4 ? OC_DT_NVFP4
                                         : -1;
}

/* Sparse weights have fewer bytes. */
static void read_sparsity(struct oc_quant_reader *r, struct oc_json *j, struct spec *s, struct oc_str key)
{
    struct oc_str v;
    (void)s;
    if (oc_str_eq(key, "format"))
        r->unclear |= oc_json_string(j, &v) && !oc_str_eq(v, "dense");
    else
        oc_json_skip(j);
}

/* Modules with a quantization of their own that is not modelled. */
static void read_unclear(struct oc_quant_reader *r, struct oc_json *j, struct spec *s, struct oc_str key)
{
    (void)s;
    (void)key;
    r->unclear = true;
    oc_json_skip(j);
}

static const struct {
    const char *names; /* of an object */
    member_reader read;
} parts[] = {{" config_groups ", read_group},
             {" quantized_layers ", read_module},
             {" sparsity_config ", read_sparsity},
             {" dynamic extra_config ", read_unclear}};

/* The parts that concern modules. */
static void read_part(struct oc_quant_reader *r, struct oc_json *j, struct spec *s, struct oc_str key)
{
    static const char lists[] =
        " ignore modules_to_not_convert ignored_layers llm_int8_skip_modules exclude_modules ";
    enum oc_json_type type = oc_json_peek(j);
    struct oc_str name;
    for (size_t i = 0; type == OC_JSON_OBJECT && i < OC_COUNT(parts); i++)
        if (oc_set_has(parts[i].names, key.s, key.n)) {
            read_object(r, j, s, parts[i].read);
            return;
        }
    if (oc_str_eq(key, "kv_cache_scheme") || oc_str_eq(key, "kv_cache_quant_algo")) {
        read_cache(r, j);
    } else if (type == OC_JSON_ARRAY && oc_set_has(lists, key.s, key.n)) {
        for (oc_json_enter(j); oc_json_item(j);)
            if (oc_json_string(j, &name) && name.n)
                add_group(r, name, s)->stays = true;
    } else {
        r->configured &=
            !oc_str_eq(key, "quant_algo") || type != OC_JSON_NULL; /* only the cache is quantized */
        oc_json_skip(j);
    }
}

/* The same of MLX's `quantization`, in which modules are members. */
static void read_mlx(struct oc_quant_reader *r, struct oc_json *j, struct spec *s, struct oc_str key)
{
    enum oc_json_type type = oc_json_peek(j);
    struct oc_str mode;
    if (oc_str_eq(key, "mode")) {
        r->unclear |= oc_json_string(j, &mode) && !oc_str_eq(mode, "affine");
    } else if (type == OC_JSON_OBJECT || type == OC_JSON_TRUE || type == OC_JSON_FALSE) {
        const char *dot = strrchr(key.s, '.');
        struct spec own = *s;
        r->unclear |= !oc_stored_is_module(dot ? dot + 1 : key.s);
        own.bits = own.group = -1;
        read_module(r, j, &own, key);
    } else {
        read_part(r, j, s, key);
    }
}

struct oc_quant_reader *oc_quant_open(struct oc_arena *arena)
{
    struct oc_quant_reader *r = OC_NEW(arena, struct oc_quant_reader);
    *r = (struct oc_quant_reader){.arena = arena, .spec = unsaid};
    r->last = &r->group;
    return r;
}

void oc_quant_read(struct oc_quant_reader *r, struct oc_json *j, bool mlx)
{
    struct oc_str raw;
    if (!oc_json_raw(j, &raw))
        return;
    if (!mlx && r->mlx && !oc_str_has(raw, "\"quant_")) /* MLX writes the same object under both names */
        return;
    *r = (struct oc_quant_reader){
        .arena = r->arena, .spec = r->spec, .configured = r->configured || !mlx, .mlx = mlx};
    r->last = &r->group;
    read_twice(r, raw, &r->spec, read_member, mlx ? read_mlx : read_part);
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

/* GPTQ's files have zero points where the weights are symmetric, too. */
static bool gptq(const struct spec *s, struct oc_packing *p)
{
    return s->head != 1 && integers(p, s->bits, s->group, 0, strcmp(s->method, "awq") != 0 || s->zeros != 0);
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
    q.cache = r->cache > 0 ? r->cache : 0;
    q.other_cache = r->cache < 0;
    if (!r->spec.method && !r->mlx && !(r->configured && (r->spec.algo || has_groups(r) || !r->cache)))
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
