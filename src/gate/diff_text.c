/* The differences by operator type. Counts are those of the nodes, times those of the records, by what the
 * runtime calls them: each column adds up to the total. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "gate/diff.h"
#include "join/join.h"

struct typing {
    struct oc_diff *d;
    struct oc_map names;
    struct oc_diff_type *type; /* heap */
    uint32_t n, cap;
};

static struct oc_diff_type *diff_text_type_of(struct typing *x, const char *name, bool bucket)
{
    uint32_t at = x->n;
    const char *key = oc_printf(&x->d->arena, "%c%s", bucket ? 'b' : 't', name);
    if (oc_map_add(&x->names, key, strlen(key), &at, NULL)) {
        OC_GROW(x->type, x->n, x->cap);
        struct oc_diff_type *t = &x->type[x->n++];
        *t = (struct oc_diff_type){.name = name, .bucket = bucket};
        for (unsigned s = 0; s < 2; s++) {
            t->time_ns[s] = x->d->of[s][0].figures.report.has_time ? 0 : NAN;
            t->roof_ns[s] = x->d->in[s].device ? 0 : NAN;
        }
    }
    return &x->type[at];
}

static const char *full_name(struct oc_diff *d, const char *domain, const char *op_type)
{
    return *domain ? oc_printf(&d->arena, "%s:%s", domain, op_type) : op_type;
}

static void diff_text_add_nodes(struct typing *x, unsigned s)
{
    const struct oc_analysis *a = x->d->in[s].analysis;
    for (uint32_t i = 0; i < a->n_by_type; i++) {
        const struct oc_type_total *from = &a->by_type[i];
        struct oc_diff_type *t = diff_text_type_of(x, full_name(x->d, from->domain, from->op_type), false);
        const uint64_t count[OC_DIFF_COUNTS] = {[OC_DIFF_MACS] = from->macs,
                                                [OC_DIFF_FLOPS] = from->flops,
                                                [OC_DIFF_OPS] = from->ops,
                                                [OC_DIFF_BYTES] = from->bytes,
                                                [OC_DIFF_PARAMS] = from->params};
        t->nodes[s] = from->nodes;
        memcpy(t->count[s], count, sizeof(count));
    }
    for (uint32_t i = 0; i < a->model->n_node; i++) {
        const struct oc_node *n = &a->model->node[i];
        if (!oc_node_counts(a, i) || a->cost[i].quality != OC_UNKNOWN)
            continue;
        struct oc_diff_type *t = diff_text_type_of(x, full_name(x->d, n->domain, n->op_type), false);
        for (unsigned m = 0; m < OC_DIFF_PARAMS; m++)
            t->unknown[s][m]++;
    }
}

/* Records count under the runtime's type, which has no domain; under the node's own if the names agree. */
static struct oc_diff_type *type_of_row(struct typing *x, unsigned s, const struct oc_join *j,
                                        const struct oc_row *row)
{
    uint32_t node = row->node;
    if (j && !j->rec[row->record].n_node)
        return diff_text_type_of(x, j->rec[row->record].bucket ? j->rec[row->record].bucket : "unmatched",
                                 true);
    for (uint32_t i = 0; j && i < j->rec[row->record].n_node; i++) {
        const struct oc_node *n = &x->d->in[s].model->node[j->rec[row->record].node[i]];
        if (!node || node == OC_NONE || (row->type && strcmp(n->op_type, row->type) == 0))
            node = j->rec[row->record].node[i];
    }
    const struct oc_node *n = node == OC_NONE ? NULL : &x->d->in[s].model->node[node];
    if (n && (!row->type || !*row->type || strcmp(n->op_type, row->type) == 0))
        return diff_text_type_of(x, full_name(x->d, n->domain, n->op_type), false);
    return diff_text_type_of(x, row->type ? row->type : "", false);
}

static void diff_text_add_times(struct typing *x, unsigned s, size_t k)
{
    const struct oc_report *r = &x->d->of[s][k].figures.report;
    double n = (double)x->d->n_of[s];
    for (uint32_t i = 0; i < r->all.n; i++) {
        struct oc_diff_type *t = type_of_row(x, s, r->in->join, &r->all.row[i]);
        t->time_ns[s] += r->has_time ? oc_ns_of(r->all.row[i].time_s) / n : 0;
        t->roof_ns[s] += r->in->device ? oc_ns_of(r->all.row[i].roofline_s) / n : 0;
    }
}

/* Without a model a row has its counts and times. */
static void diff_text_add_recorded(struct typing *x, const struct oc_diff_row *r, unsigned s)
{
    const struct oc_diff_cell *c = &r->side[s];
    const char *type = s ? r->type_b : r->type;
    if (!*(s ? r->name_b : r->name))
        return;
    struct oc_diff_type *t = diff_text_type_of(x, *type ? type : "-", false);
    t->nodes[s]++;
    t->time_ns[s] += c->time_ns;
    t->roof_ns[s] += c->roof_ns;
    for (unsigned m = 0; m < OC_DIFF_COUNTS; m++) {
        t->count[s][m] += c->count[m];
        t->unknown[s][m] += c->unknown[m];
    }
}

/* Parts of a run that belong to no operator record: framework, constants of no operator. */
static void add_buckets(struct typing *x)
{
    for (uint32_t i = x->d->n_operator; i < x->d->n_row; i++) {
        const struct oc_diff_row *r = &x->d->row[i];
        struct oc_diff_type *t = diff_text_type_of(x, r->name, true);
        for (unsigned s = 0; s < 2; s++) {
            t->time_ns[s] = r->side[s].time_ns; /* the whole bucket, including its operator records */
            t->roof_ns[s] = r->side[s].roof_ns;
            t->count[s][OC_DIFF_PARAMS] = r->side[s].count[OC_DIFF_PARAMS];
        }
    }
}

static double diff_text_size_of(double a, double b)
{
    return isnan(a) || isnan(b) ? 0 : fabs(b - a);
}

static double count_size(const struct oc_diff_type *t, unsigned m)
{
    uint64_t a = t->count[0][m], b = t->count[1][m];
    return (double)(a > b ? a - b : b - a);
}

static int diff_text_largest_first(const void *pa, const void *pb)
{
    const struct oc_diff_type *a = pa, *b = pb;
    double x[] = {diff_text_size_of(a->time_ns[0], a->time_ns[1]),
                  diff_text_size_of(a->roof_ns[0], a->roof_ns[1]),
                  count_size(a, OC_DIFF_MACS),
                  count_size(a, OC_DIFF_FLOPS),
                  count_size(a, OC_DIFF_BYTES),
                  count_size(a, OC_DIFF_PARAMS)},
           y[] = {diff_text_size_of(b->time_ns[0], b->time_ns[1]),
                  diff_text_size_of(b->roof_ns[0], b->roof_ns[1]),
                  count_size(b, OC_DIFF_MACS),
                  count_size(b, OC_DIFF_FLOPS),
                  count_size(b, OC_DIFF_BYTES),
                  count_size(b, OC_DIFF_PARAMS)};
    for (size_t i = 0; i < OC_COUNT(x); i++)
        if (x[i] != y[i])
            return x[i] > y[i] ? -1 : 1;
    return a->bucket != b->bucket ? a->bucket - b->bucket : strcmp(a->name, b->name);
}

void oc_diff_types(struct oc_diff *d)
{
    struct typing x = {.d = d, .names = {.arena = &d->arena}};
    for (unsigned s = 0; s < 2; s++) {
        for (uint32_t i = 0; d->by_name && i < d->n_operator; i++)
            diff_text_add_recorded(&x, &d->row[i], s);
        if (d->by_name)
            continue;
        diff_text_add_nodes(&x, s);
        for (size_t k = 0; k < d->n_of[s]; k++)
            diff_text_add_times(&x, s, k);
    }
    add_buckets(&x);
    d->type = OC_NEW_ARRAY(&d->arena, (size_t)x.n + 1, struct oc_diff_type);
    d->n_type = x.n;
    if (x.n) {
        qsort(x.type, x.n, sizeof(*x.type), diff_text_largest_first);
        memcpy(d->type, x.type, x.n * sizeof(*x.type));
    }
    free(x.type);
    oc_map_free(&x.names);
}

/* ---- diff text -------------------------------------------------------------------------------------- */

/* Names of the rows of a diff, and the description of what changed. */

enum { SHOWN = 4, LONGEST = 40 };

/* ---- names ------------------------------------------------------------------------------------------ */

/* The node with the most work, the first of several. */
static uint32_t diff_text_main_node(const struct oc_analysis *a, const struct oc_diff_cell *c)
{
    uint32_t best = OC_NONE;
    uint64_t most = 0;
    for (uint32_t i = 0; i < c->n_node; i++) {
        const struct oc_node_cost *k = &a->cost[c->node[i]];
        uint64_t work = k->quality == OC_UNKNOWN ? 0 : k->flops + k->ops;
        if (best == OC_NONE || work > most) {
            best = c->node[i];
            most = work;
        }
    }
    return best;
}

static const char *diff_text_label_of(struct oc_diff *d, unsigned s, uint32_t node)
{
    char label[512];
    const struct oc_model *m = d->in[s].model;
    return node == OC_NONE ? ""
                           : oc_strdup(&d->arena, oc_node_label(m, &m->node[node], label, sizeof(label)));
}

/* "Conv+BatchNormalization+Relu" */
static const char *diff_text_types_of(struct oc_diff *d, unsigned s, const struct oc_diff_cell *c)
{
    const char *text = "";
    for (uint32_t i = 0; i < c->n_node && i < SHOWN; i++)
        text = oc_printf(&d->arena, "%s%s%s", text, i ? "+" : "", d->in[s].model->node[c->node[i]].op_type);
    return c->n_node > SHOWN ? oc_printf(&d->arena, "%s+%u", text, c->n_node - SHOWN) : text;
}

/* ---- attributes ------------------------------------------------------------------------------------- */

static const char *diff_number_text(struct oc_arena *a, double v)
{
    char buf[40];
    oc_format_repr(v, buf, sizeof(buf));
    return oc_strdup(a, buf);
}

static const char *diff_attr_text(struct oc_arena *a, const struct oc_attr *t)
{
    const char *text = "";
    if (!t)
        return "none";
    switch (t->type) {
    case OC_ATTR_INT:
        return oc_printf(a, "%lld", (long long)t->i);
    case OC_ATTR_FLOAT:
        return diff_number_text(a, (double)t->f);
    case OC_ATTR_STRING:
        return oc_printf(a, "%.*s", t->s.n < LONGEST ? (int)t->s.n : LONGEST, t->s.s);
    case OC_ATTR_INTS:
        for (uint32_t i = 0; i < t->n && i < 8; i++)
            text = oc_printf(a, "%s%s%lld", text, i ? "," : "", (long long)t->ints[i]);
        return t->n > 8 ? oc_printf(a, "%s,...", text) : text;
    case OC_ATTR_FLOATS:
        for (uint32_t i = 0; i < t->n && i < SHOWN; i++)
            text = oc_printf(a, "%s%s%s", text, i ? "," : "", diff_number_text(a, (double)t->floats[i]));
        return t->n > SHOWN ? oc_printf(a, "%s,...", text) : text;
    default:
        return "(other)";
    }
}

/* ---- two nodes -------------------------------------------------------------------------------------- */

struct comparing {
    struct oc_diff *d;
    const struct oc_node *node[2];
    uint8_t change;
    struct oc_buf text;
    bool describe; /* add the text of this pair */
};

__attribute__((format(printf, 3, 4))) static void found(struct comparing *x, unsigned bit, const char *fmt,
                                                        ...)
{
    char part[320];
    x->change |= (uint8_t)bit;
    if (!x->describe || x->text.n > 400)
        return;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(part, sizeof(part), fmt, ap);
    va_end(ap);
    oc_buf_printf(&x->text, "%s%s", x->text.n ? "; " : "", part);
}

/* Whether the attribute, which the other node lacks, says the same there: versions may differ in defaults. */
static bool is_left_out(const struct comparing *x, const struct oc_attr *t)
{
    bool both = !strcmp(x->node[0]->op_type, x->node[1]->op_type);
    for (unsigned s = 0; s < 2 && both; s++)
        both = oc_attr_is_default(x->d->in[s].analysis, x->node[s], t);
    return both;
}

static void compare_attrs(struct comparing *x)
{
    struct oc_arena *a = &x->d->arena;
    const struct oc_node *p = x->node[0], *q = x->node[1];
    for (uint32_t i = 0; i < p->n_attr; i++) {
        if (oc_node_attr(p, p->attr[i].name) != &p->attr[i])
            continue; /* a repeated name: rules read the first */
        const struct oc_attr *other = oc_node_attr(q, p->attr[i].name);
        if (other ? !oc_attr_same(&p->attr[i], other) : !is_left_out(x, &p->attr[i]))
            found(x, OC_DIFF_ATTRS, "%.60s %s -> %s", p->attr[i].name,
                  x->describe ? diff_attr_text(a, &p->attr[i]) : "",
                  x->describe ? diff_attr_text(a, other) : "");
    }
    for (uint32_t i = 0; i < q->n_attr; i++)
        if (!oc_node_attr(p, q->attr[i].name) && !is_left_out(x, &q->attr[i]))
            found(x, OC_DIFF_ATTRS, "%.60s none -> %s", q->attr[i].name,
                  x->describe ? diff_attr_text(a, &q->attr[i]) : "");
}

static const struct oc_type *type_text(const struct comparing *x, unsigned s, uint32_t value)
{
    return value == OC_NONE ? NULL : &x->d->in[s].analysis->type[value];
}

static bool diff_text_same_shape(const struct oc_shape *p, const struct oc_shape *q)
{
    if (p->ranked != q->ranked || (p->ranked && p->rank != q->rank))
        return false;
    for (unsigned i = 0; p->ranked && i < p->rank; i++)
        if (oc_is_known(p->dim[i]) != oc_is_known(q->dim[i]) ||
            (oc_is_known(p->dim[i]) && p->dim[i].v != q->dim[i].v))
            return false;
    return true;
}

static const char *diff_shape_text(struct comparing *x, unsigned s, const struct oc_type *t)
{
    const char *text = oc_shape_text(&x->d->arena, x->d->in[s].analysis->exprs, &t->shape, "x");
    return *text ? text : "scalar";
}

static void compare_value(struct comparing *x, const char *side, uint32_t slot, uint32_t a, uint32_t b)
{
    const struct oc_type *p = type_text(x, 0, a), *q = type_text(x, 1, b);
    if (!p != !q)
        found(x, OC_DIFF_INPUTS, "%s%u %s", side, slot, p ? "removed" : "added");
    if (!p || !q)
        return;
    if (p->dtype != q->dtype || p->kind != q->kind)
        found(x, OC_DIFF_DTYPES, "%s%u %s -> %s", side, slot, oc_dtype_info(p->dtype)->name,
              oc_dtype_info(q->dtype)->name);
    if (p->kind == OC_T_TENSOR && q->kind == OC_T_TENSOR && !diff_text_same_shape(&p->shape, &q->shape))
        found(x, OC_DIFF_SHAPES, "%s%u %.100s -> %.100s", side, slot,
              x->describe ? diff_shape_text(x, 0, p) : "", x->describe ? diff_shape_text(x, 1, q) : "");
}

static void compare_nodes(struct comparing *x)
{
    const struct oc_node *p = x->node[0], *q = x->node[1];
    if (strcmp(p->op_type, q->op_type) || strcmp(p->domain, q->domain))
        found(x, OC_DIFF_TYPE, "%s%s%.60s -> %s%s%.60s", p->domain, *p->domain ? ":" : "", p->op_type,
              q->domain, *q->domain ? ":" : "", q->op_type);
    if (strcmp(p->name, q->name))
        x->change |= OC_DIFF_NAME;
    compare_attrs(x);
    if (p->n_in != q->n_in)
        found(x, OC_DIFF_INPUTS, "%u -> %u inputs", p->n_in, q->n_in);
    if (p->n_out != q->n_out)
        found(x, OC_DIFF_INPUTS, "%u -> %u outputs", p->n_out, q->n_out);
    for (uint32_t i = 0; i < p->n_out && i < q->n_out; i++)
        compare_value(x, "out", i, p->out[i], q->out[i]);
    for (uint32_t i = 0; i < p->n_in && i < q->n_in; i++)
        compare_value(x, "in", i, p->in[i], q->in[i]);
}

/* ---- a row ------------------------------------------------------------------------------------------ */

static void compare_pairs(struct comparing *x, struct oc_diff_row *r, uint32_t largest)
{
    const struct oc_alignment *al = &x->d->align;
    uint32_t paired = 0;
    for (uint32_t i = 0; i < r->side[0].n_node; i++) {
        uint32_t a = r->side[0].node[i], b = al->b_of_a[a];
        if (b == OC_NONE)
            continue;
        paired++;
        x->node[0] = &x->d->in[0].model->node[a];
        x->node[1] = &x->d->in[1].model->node[b];
        x->describe = a == largest || !x->text.n;
        if (!r->rule || a == largest)
            r->rule = al->rule[a];
        compare_nodes(x);
    }
    if (paired < r->side[0].n_node || paired < r->side[1].n_node) {
        x->describe = true;
        found(x, OC_DIFF_FUSION, "%u -> %u nodes", r->side[0].n_node, r->side[1].n_node);
    }
}

static bool same_costs(const struct oc_diff_row *r)
{
    return memcmp(r->side[0].count, r->side[1].count, sizeof(r->side[0].count)) == 0 &&
           memcmp(r->side[0].unknown, r->side[1].unknown, sizeof(r->side[0].unknown)) == 0;
}

void oc_diff_describe(struct oc_diff *d, struct oc_diff_row *r)
{
    uint32_t main_a = diff_text_main_node(d->in[0].analysis, &r->side[0]),
             main_b = diff_text_main_node(d->in[1].analysis, &r->side[1]);
    struct comparing x = {.d = d};
    r->name = diff_text_label_of(d, 0, main_a);
    r->name_b = diff_text_label_of(d, 1, main_b);
    r->type = diff_text_types_of(d, 0, &r->side[0]);
    r->type_b = diff_text_types_of(d, 1, &r->side[1]);
    r->what = "";
    if (!r->side[0].n_node || !r->side[1].n_node) {
        r->status = r->side[0].n_node ? OC_DIFF_REMOVED : OC_DIFF_ADDED;
        return;
    }
    compare_pairs(&x, r, main_a);
    if (!same_costs(r))
        x.change |= OC_DIFF_COSTS;
    r->change = x.change;
    r->status = x.change & ~(unsigned)OC_DIFF_NAME ? OC_DIFF_CHANGED
                : x.change                         ? OC_DIFF_RENAMED
                                                   : OC_DIFF_SAME;
    if (x.text.n)
        r->what = oc_strndup(&d->arena, x.text.data, x.text.n);
    oc_buf_free(&x.text);
}

/* ---- defaults of attributes --------------------------------------------------------------------------- */

/* Defaults of attributes of ai.onnx: an exporter may write them or leave them out. */

/* Of each type at most one: a number (of lists: of every element), or a text. */
static const struct attr_default {
    const char *ops; /* " Conv MaxPool "; NULL: all that have the attribute */
    const char *name;
    double number;
    const char *text; /* NULL: number */
    int since;        /* first version of ai.onnx with this default */
} defaults[] = {
    {NULL, "allowzero", 0, NULL, 14},
    {NULL, "antialias", 0, NULL, 18},
    {NULL, "auto_pad", 0, "NOTSET", 1},
    {NULL, "batch_dims", 0, NULL, 12},
    {NULL, "block_size", 0, NULL, 21},
    {NULL, "ceil_mode", 0, NULL, 10},
    {NULL, "count_include_pad", 0, NULL, 7},
    {NULL, "dilations", 1, NULL, 1},
    {NULL, "direction", 0, "forward", 1},
    {NULL, "exclude_outside", 0, NULL, 11},
    {NULL, "extrapolation_value", 0, NULL, 11},
    {NULL, "group", 1, NULL, 1},
    {NULL, "keepdims", 1, NULL, 1},
    {NULL, "layout", 0, NULL, 14},
    {NULL, "linear_before_reset", 0, NULL, 3},
    {NULL, "noop_with_empty_axes", 0, NULL, 13},
    {NULL, "output_padding", 0, NULL, 1},
    {NULL, "pads", 0, NULL, 1},
    {NULL, "saturate", 1, NULL, 19},
    {NULL, "select_last_index", 0, NULL, 12},
    {NULL, "stash_type", 1, NULL, 17},
    {NULL, "storage_order", 0, NULL, 8},
    {NULL, "strides", 1, NULL, 1},
    {NULL, "training_mode", 0, NULL, 14},
    {" BatchNormalization InstanceNormalization LayerNormalization ", "epsilon", 1e-5, NULL, 1},
    {" BatchNormalization ", "momentum", 0.9, NULL, 1},
    {" CumSum ", "exclusive", 0, NULL, 11},
    {" CumSum ", "reverse", 0, NULL, 11},
    {" DepthToSpace ", "mode", 0, "DCR", 11},
    {" Elu ", "alpha", 1, NULL, 1},
    {" Flatten DequantizeLinear QuantizeLinear ", "axis", 1, NULL, 1},
    {" Gather GatherElements ScatterElements Split ArgMax ArgMin ", "axis", 0, NULL, 1},
    {" Gelu ", "approximate", 0, "none", 20},
    {" Gemm ", "alpha", 1, NULL, 1},
    {" Gemm ", "beta", 1, NULL, 1},
    {" Gemm ", "transA", 0, NULL, 1},
    {" Gemm ", "transB", 0, NULL, 1},
    {" HardSigmoid ", "alpha", 0.2, NULL, 1},
    {" HardSigmoid ", "beta", 0.5, NULL, 1},
    {" LSTM ", "input_forget", 0, NULL, 1},
    {" LayerNormalization TopK ", "axis", -1, NULL, 1},
    {" LeakyRelu ", "alpha", 0.01, NULL, 1},
    {" LRN ", "alpha", 1e-4, NULL, 1},
    {" LRN ", "beta", 0.75, NULL, 1},
    {" LRN ", "bias", 1, NULL, 1},
    {" Pad ", "mode", 0, "constant", 1},
    {" Resize ", "coordinate_transformation_mode", 0, "half_pixel", 11},
    {" Resize ", "cubic_coeff_a", -0.75, NULL, 11},
    {" Resize ", "keep_aspect_ratio_policy", 0, "stretch", 18},
    {" Resize ", "nearest_mode", 0, "round_prefer_floor", 11},
    {" Resize Upsample ", "mode", 0, "nearest", 1},
    {" ScatterElements ScatterND ", "reduction", 0, "none", 16},
    {" Softmax LogSoftmax Hardmax ", "axis", -1, NULL, 13},
    {" TopK ", "largest", 1, NULL, 11},
    {" TopK ", "sorted", 1, NULL, 11},
};

static bool has_number(const struct oc_attr *t, double v)
{
    bool same = true;
    switch (t->type) {
    case OC_ATTR_INT:
        return (double)t->i == v;
    case OC_ATTR_FLOAT:
        return t->f == (float)v;
    case OC_ATTR_INTS:
        for (uint32_t i = 0; i < t->n; i++)
            same &= (double)t->ints[i] == v;
        return same;
    default:
        return false;
    }
}

/* Whether the attribute is the size of the kernel that the weight of a convolution has. */
static bool is_kernel_of_weight(const struct oc_analysis *a, const struct oc_node *n, const struct oc_attr *t)
{
    const struct oc_op *op = oc_op_find(n->domain, n->op_type, n->opset);
    uint32_t slot = oc_op_weight_slot(op);
    if (!op || op->op_class != OC_OP_CONV || strcmp(t->name, "kernel_shape") != 0 ||
        t->type != OC_ATTR_INTS || slot >= n->n_in || n->in[slot] == OC_NONE)
        return false;
    const struct oc_shape *w = &a->type[n->in[slot]].shape;
    bool same = w->ranked && w->rank == t->n + 2;
    for (uint32_t i = 0; same && i < t->n; i++)
        same = oc_is_known(w->dim[i + 2]) && w->dim[i + 2].v == t->ints[i];
    return same;
}

bool oc_attr_is_default(const struct oc_analysis *a, const struct oc_node *n, const struct oc_attr *t)
{
    if (*n->domain)
        return false;
    for (size_t i = 0; i < OC_COUNT(defaults); i++) {
        const struct attr_default *d = &defaults[i];
        if (strcmp(d->name, t->name) != 0 || n->opset < d->since ||
            (d->ops && !oc_set_has(d->ops, n->op_type, strlen(n->op_type))))
            continue;
        return d->text ? t->type == OC_ATTR_STRING && t->s.n == strlen(d->text) &&
                             memcmp(t->s.s, d->text, t->s.n) == 0
                       : has_number(t, d->number);
    }
    return is_kernel_of_weight(a, n, t);
}
