/* Bytes as one operator: a row of the table, attributes, inputs with shapes and values from small to absurd;
 * then its shape, fold and cost rules as the engine runs them. Rules must not crash on any model. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ops/op.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

#define MAX_IN   9
#define MAX_OUT  5
#define MAX_ATTR 8

struct bytes {
    const uint8_t *p, *end;
};

static unsigned byte(struct bytes *b)
{
    return b->p < b->end ? *b->p++ : 0;
}

static int64_t number(struct bytes *b)
{
    static const int64_t odd[] = {
        -1, -2,      -3,        INT32_MAX, INT64_MAX,        INT64_MIN,        INT64_MIN + 1,
        64, 1 << 20, INT32_MIN, 4096,      (int64_t)1 << 40, (int64_t)1 << 62, 4097};
    unsigned v = byte(b);
    return v < 224 ? v % 12 : odd[v % OC_COUNT(odd)];
}

static struct oc_dim dim(struct bytes *b, struct oc_exprs *x)
{
    unsigned kind = byte(b) % 8;
    char name[] = {"ABCD"[byte(b) % 4], '\0'};
    if (kind == 0)
        return oc_dim_symbol(x, name, byte(b) % 2 ? 7 : -1);
    if (kind == 1)
        return oc_dim_add(x, oc_dim_symbol(x, name, -1), oc_known(number(b) % 8));
    int64_t v = number(b);
    return oc_known(v < 0 ? -(v + 1) : v); /* types have no negative sizes */
}

static struct oc_elem elem(struct bytes *b, struct oc_exprs *x)
{
    switch (byte(b) % 8) {
    case 0:
        return (struct oc_elem){.kind = OC_E_UNKNOWN};
    case 1:
        return oc_elem_dim(dim(b, x));
    case 2:
        return (struct oc_elem){.kind = OC_E_RATIO, .i = oc_dim_symbol(x, "A", -1), .r = 0.5, .add = byte(b)};
    case 3:
        return oc_elem_real((double)number(b) / 4);
    case 4:
        return (struct oc_elem){.kind = OC_E_STRING, .str = "text"};
    default:
        return oc_elem_int(number(b));
    }
}

/* A sequence, optionally with its length or its elements, an optional or a map. */
static const struct oc_type *container(struct bytes *b, struct oc_arena *a, struct oc_exprs *x,
                                       const struct oc_type *elem)
{
    static const uint8_t kinds[] = {OC_T_SEQUENCE, OC_T_SEQUENCE, OC_T_OPTIONAL, OC_T_MAP};
    struct oc_type *s = OC_NEW(a, struct oc_type), *item = OC_NEW_ARRAY(a, 3, struct oc_type);
    unsigned known = byte(b) % 4;
    *s = (struct oc_type){.kind = kinds[byte(b) % OC_COUNT(kinds)], .dtype = OC_DT_INT64, .elem = elem};
    if (known == 0)
        s->elem = NULL;
    if (known == 1)
        s->shape = oc_shape_1d(a, dim(b, x));
    if (known == 2 && s->kind == OC_T_SEQUENCE) {
        for (unsigned i = 0; i < 3; i++)
            item[i] = i == 1 ? oc_tensor_type(OC_DT_FLOAT, oc_shape_1d(a, dim(b, x))) : *elem;
        s->shape = oc_shape_1d(a, oc_known(3));
        s->item = item;
    }
    return s;
}

static const struct oc_type *type(struct bytes *b, struct oc_arena *a, struct oc_exprs *x)
{
    struct oc_type *t = OC_NEW(a, struct oc_type);
    struct oc_dim d[OC_MAX_RANK];
    unsigned kind = byte(b) % 16, rank = byte(b) % 6;
    if (kind == 0)
        return NULL;
    if (kind == 1)
        return t;
    if (kind == 4)
        rank += OC_MAX_RANK - 5;
    for (unsigned i = 0; i < rank; i++)
        d[i] = dim(b, x);
    *t = oc_tensor_type(byte(b) % OC_DT_COUNT, kind == 2 ? oc_shape_unranked() : oc_shape_of(a, rank, d));
    return kind == 3 ? container(b, a, x, t) : t;
}

/* As many elements as the shape has, if it is known. */
static const struct oc_data *value(struct bytes *b, struct oc_arena *a, struct oc_exprs *x,
                                   const struct oc_type *t)
{
    struct oc_data *d = OC_NEW(a, struct oc_data);
    struct oc_dim n = t && t->kind == OC_T_TENSOR ? oc_shape_count(x, &t->shape) : oc_known(0);
    if (byte(b) % 4 == 0 || !t || t->kind != OC_T_TENSOR)
        return NULL;
    if (oc_is_known(n) && (n.v < 0 || n.v > OC_MAX_DATA))
        return NULL;
    d->n = oc_is_known(n) ? (uint32_t)n.v : byte(b) % 9;
    struct oc_elem *e = OC_NEW_ARRAY(a, d->n + 1, struct oc_elem);
    for (uint32_t i = 0; i < d->n; i++)
        e[i] = b->p < b->end ? elem(b, x) : oc_elem_int(i % 3);
    d->e = e;
    return d;
}

static void list(struct bytes *b, struct oc_arena *a, struct oc_attr *at)
{
    at->n = byte(b);
    at->n = at->n < 240 ? at->n % 9 : OC_MAX_RANK - 6 + at->n % 9;
    int64_t *ints = OC_NEW_ARRAY(a, at->n + 1, int64_t);
    float *floats = OC_NEW_ARRAY(a, at->n + 1, float);
    struct oc_bytes *strings = OC_NEW_ARRAY(a, at->n + 1, struct oc_bytes);
    for (uint32_t i = 0; i < at->n; i++) {
        ints[i] = number(b);
        floats[i] = (float)ints[i] / 4;
        strings[i] = (struct oc_bytes){byte(b) % 2 ? "Tanh" : "none", 4};
    }
    at->ints = ints;
    at->floats = floats;
    at->strings = strings;
}

static struct oc_attr attribute(struct bytes *b, struct oc_arena *a)
{
    static const char *const names[] = {"axis",
                                        "axes",
                                        "shape",
                                        "pads",
                                        "kernel_shape",
                                        "strides",
                                        "dilations",
                                        "group",
                                        "auto_pad",
                                        "ceil_mode",
                                        "output_shape",
                                        "output_padding",
                                        "to",
                                        "keepdims",
                                        "blocksize",
                                        "perm",
                                        "split",
                                        "num_outputs",
                                        "start",
                                        "end",
                                        "starts",
                                        "ends",
                                        "scales",
                                        "mode",
                                        "block_size",
                                        "hidden_size",
                                        "direction",
                                        "layout",
                                        "equation",
                                        "batch_dims",
                                        "value_ints",
                                        "k",
                                        "dtype",
                                        "num_heads",
                                        "alpha",
                                        "transA",
                                        "transB",
                                        "reduction",
                                        "allowzero",
                                        "sample_size",
                                        "activations",
                                        "output_height",
                                        "pooled_shape",
                                        "q_num_heads",
                                        "kv_num_heads",
                                        "bits",
                                        "K",
                                        "N",
                                        "num_groups",
                                        "size",
                                        "p",
                                        "antialias",
                                        "keep_aspect_ratio_policy",
                                        "border",
                                        "scale",
                                        "sampling_ratio",
                                        "output_dtype",
                                        "saturate",
                                        "noop_with_empty_axes",
                                        "select_last_index",
                                        "gather_axis",
                                        "is_causal",
                                        "onesided",
                                        "inverse",
                                        "signal_ndim",
                                        "new_axis",
                                        "ngram_indexes",
                                        "intercepts",
                                        "coefficients",
                                        "classlabels_ints",
                                        "classlabels_strings",
                                        "vectors_per_class",
                                        "n_supports",
                                        "prob_a",
                                        "n_targets",
                                        "targets",
                                        "nodes_treeids",
                                        "nodes_nodeids",
                                        "nodes_truenodeids",
                                        "nodes_falsenodeids",
                                        "nodes_modes",
                                        "nodes_featureids",
                                        "nodes_trueleafs",
                                        "nodes_falseleafs",
                                        "tree_roots",
                                        "inputdimensions",
                                        "values_floats",
                                        "cats_int64s",
                                        "max_map",
                                        "max_ngram_size",
                                        "n_head_per_ngram",
                                        "dim",
                                        "step",
                                        "window",
                                        "state_update_capacity",
                                        "dilation",
                                        "qk_l2_norm",
                                        "xs",
                                        "v_head_size",
                                        "local_window_size",
                                        "do_rotary",
                                        "output_datatype"};
    static const char *const texts[] = {"SAME_UPPER", "VALID",         "SAME_LOWER", "linear",
                                        "cubic",      "not_larger",    "ij,jk->ik",  "...a,...a",
                                        "ii->i",      "bidirectional", "add",        "not_smaller"};
    static const uint8_t types[] = {OC_ATTR_INT,   OC_ATTR_INTS,   OC_ATTR_INT,    OC_ATTR_INTS,
                                    OC_ATTR_FLOAT, OC_ATTR_FLOATS, OC_ATTR_STRING, OC_ATTR_STRINGS};
    struct oc_attr at = {
        .name = names[byte(b) % OC_COUNT(names)], .type = types[byte(b) % OC_COUNT(types)], .n = 1};
    at.i = number(b);
    at.f = (float)at.i / 4;
    at.s.s = texts[byte(b) % OC_COUNT(texts)];
    at.s.n = strlen(at.s.s);
    if (at.type >= OC_ATTR_FLOATS)
        list(b, a, &at);
    return at;
}

static const struct oc_op *pick(struct bytes *b)
{
    size_t n_families;
    const struct oc_op_family *const *f = oc_op_families(&n_families);
    const struct oc_op_family *chosen = f[byte(b) % n_families];
    return &chosen->op[byte(b) % chosen->n];
}

struct scratch {
    const struct oc_type *in[MAX_IN];
    const struct oc_data *in_data[MAX_IN], *out_data[MAX_OUT];
    bool in_const[MAX_IN], out_used[MAX_OUT];
    uint32_t in_id[MAX_IN], out_id[MAX_OUT];
    struct oc_type out[MAX_OUT];
    uint64_t rd[MAX_IN], wr[MAX_OUT];
};

/* Results of a rule must be consistent: no negative sizes, values as long as the shape. */
static void check(struct oc_op_ctx *c)
{
    for (uint32_t i = 0; i < c->n_out; i++) {
        const struct oc_type *t = &c->out[i];
        if (t->kind == OC_T_NONE || !t->shape.ranked)
            continue;
        bool good = t->shape.rank <= OC_MAX_RANK && t->dtype < OC_DT_COUNT;
        for (unsigned k = 0; good && k < t->shape.rank; k++)
            good = !oc_is_known(t->shape.dim[k]) || t->shape.dim[k].v >= 0;
        const char *text = oc_type_text(c->arena, c->exprs, t);
        struct oc_dim n = oc_shape_count(c->exprs, &t->shape);
        const struct oc_data *d = c->out_data[i];
        good = good && (!d || t->kind != OC_T_TENSOR || !oc_is_known(n) || d->n == n.v);
        if (!good) {
            fprintf(stderr, "%s-%d: output %u is %s, a value of %u elements\n", c->op->name, (int)c->opset,
                    (unsigned)i, text, d ? (unsigned)d->n : 0);
            abort();
        }
    }
}

static struct oc_counting counting(struct bytes *b)
{
    unsigned v = byte(b), w = byte(b), u = byte(b);
    return (struct oc_counting){.taps_valid = v & 1,
                                .strict_reduce = w & 1,
                                .literal_ceil_mode = u & 1,
                                .attention_full = v & 2,
                                .einsum_optimal = v & 4,
                                .trees_max = v & 8,
                                .moe_expected = v & 16,
                                .lut = w & 2,
                                .inplace = w & 4,
                                .rnn_reload = w & 8,
                                .kv_share = (uint8_t)((u >> 1) % 3)};
}

static void run(struct bytes *b, struct oc_arena *a, struct oc_exprs *x)
{
    struct scratch s = {0};
    struct oc_attr attr[MAX_ATTR];
    struct oc_err err = {0};
    const struct oc_op *op = pick(b);
    int newest = op->until ? op->until : 28;
    struct oc_node node = {.name = "n",
                           .op_type = op->name,
                           .domain = op->domain,
                           .overload = "",
                           .attr = attr,
                           .in = s.in_id,
                           .out = s.out_id,
                           .n_in = byte(b) % (MAX_IN + 1),
                           .n_out = 1 + byte(b) % MAX_OUT,
                           .n_attr = byte(b) % (MAX_ATTR + 1),
                           .opset = op->since + (int)byte(b) % (newest - op->since + 1)};
    for (uint32_t i = 0; i < node.n_attr; i++)
        attr[i] = attribute(b, a);
    for (uint32_t i = 0; i < node.n_in; i++) {
        s.in[i] = type(b, a, x);
        s.in_data[i] = value(b, a, x, s.in[i]);
        s.in_const[i] = byte(b) % 2;
        s.in_id[i] = s.in[i] ? i : OC_NONE;
    }
    for (uint32_t i = 0; i < node.n_out; i++) {
        s.out_id[i] = byte(b) % 8 ? 100 + i : OC_NONE;
        s.out_used[i] = byte(b) % 2;
    }
    struct oc_op_ctx c = {.node = &node,
                          .op = op,
                          .opset = node.opset,
                          .arena = a,
                          .exprs = x,
                          .in = s.in,
                          .in_data = s.in_data,
                          .in_const = s.in_const,
                          .n_in = node.n_in,
                          .n_out = node.n_out,
                          .out = s.out,
                          .out_data = s.out_data,
                          .out_used = s.out_used,
                          .err = &err,
                          .opt = counting(b)};
    if (oc_op_infer(&c) || oc_exprs_overflowed(x)) /* the engine stops there, too */
        return;
    if (op->fold)
        op->fold(&c);
    check(&c);
    struct oc_cost k = {.rd = s.rd,
                        .wr = s.wr,
                        .n_in = c.n_in,
                        .n_out = c.n_out,
                        .mac_class = OC_CLASS_F32,
                        .rest_class = (uint8_t)(byte(b) % OC_CLASS_COUNT)};
    if (op->cost)
        op->cost(&c, &k);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct oc_arena a = {0};
    struct oc_exprs *x = oc_exprs_new(&a);
    struct bytes b = {data, data + n};
    run(&b, &a, x);
    oc_exprs_free(x);
    oc_arena_free(&a);
    return 0;
}
