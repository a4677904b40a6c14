/* Evidence for a join. Whether profile and model belong together: names (ONNX Runtime, layers of TensorRT),
 * recorded shapes (any source), the number of convolutions. Why a record is matched: the rule in words. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "join/expansion.h"
#include "join/join.h"

enum {
    FEW_RECORDS = 4, /* a profile with fewer operators may be one compiled subgraph: no verdict */
    BLOCK = 16,      /* channels; blocked layouts pad to whole blocks */
    PER_CENT = 100
};
#define ALMOST_NONE 0.01 /* of the operator time: names that models share, such as /Flatten */
#define HALF        0.5
#define ROUNDING    1e-9

static bool is_blocked(const char *name)
{
    size_t n = strlen(name);
    return n > 6 && strcmp(name + n - 6, "_nchwc") == 0;
}

static double padded(const struct oc_dim *d)
{
    return d->v > 0 ? ceil((double)d->v / BLOCK) * BLOCK / (double)d->v : 1;
}

/* The most that padding of the output and input channels adds to a convolution in blocks. */
static double most_padding(const struct oc_join *j, uint32_t rec)
{
    const struct oc_join_rec *r = &j->rec[rec];
    if (!is_blocked(j->profile->rec[rec].name))
        return 1;
    for (uint32_t i = 0; i < r->n_node; i++) {
        const struct oc_node *n = &j->model->node[r->node[i]];
        bool weights = strcmp(n->op_type, "Conv") == 0 && n->n_in > 1 && n->in[1] != OC_NONE && j->analysis;
        const struct oc_shape *w = weights ? &j->analysis->type[n->in[1]].shape : NULL;
        if (w && oc_shape_known(w) && w->rank > 1)
            return padded(&w->dim[0]) * (w->dim[1].v > 1 ? padded(&w->dim[1]) : 1);
    }
    return BLOCK;
}

/* The recorded shapes give other MACs than the nodes have. Padding adds some; trips of a loop do not
 * depend on shapes. */
static bool contradicts(const struct oc_join *j, uint32_t rec)
{
    const struct oc_join_rec *r = &j->rec[rec];
    if (!r->executed_known || r->quality == OC_UNKNOWN || !r->macs || r->part_of != OC_NONE ||
        j->model->node[r->node[0]].graph)
        return false;
    if (r->executed_macs < r->macs)
        return r->quality != OC_UPPER; /* sizes that depend on data have an upper bound */
    if (r->quality == OC_LOWER)
        return false;
    double padding = most_padding(j, rec);
    return padding > 1 ? (double)r->executed_macs > padding * (double)r->macs * (1 + ROUNDING)
                       : r->executed_macs > r->macs;
}

void oc_join_set_other_shapes(struct oc_join_rec *r)
{
    r->quality = OC_UNKNOWN;
    r->bytes_known = false;
    r->other_shapes = true;
    r->note = "the profile was recorded with different shapes";
}

struct evidence {
    uint32_t ops, mapped, other_shapes; /* records */
    double all_ns, mapped_ns, other_ns;
    uint32_t first;       /* record with other shapes, OC_NONE */
    uint32_t compared;    /* records with shapes that can be compared */
    uint32_t other_batch; /* those whose batch is batch[0] in the profile, batch[1] in the model */
    int64_t batch[2];
    const char *batch_first; /* name of the record or input */
};

/* ---- evidence --------------------------------------------------------------------------------------- */

static const struct oc_type *model_type(const struct oc_join *j, const uint32_t *value, uint32_t n)
{
    return n && value[0] != OC_NONE && j->analysis ? &j->analysis->type[value[0]] : NULL;
}

/* Compares the first input of the first node, or else the output of the last one. */
static void compare_batch(const struct oc_join *j, uint32_t rec, struct evidence *e)
{
    const struct oc_prof_rec *p = &j->profile->rec[rec];
    const struct oc_join_rec *r = &j->rec[rec];
    const struct oc_node *first = &j->model->node[r->node[0]],
                         *last = &j->model->node[r->node[r->n_node - 1]];
    const struct oc_type *in = model_type(j, first->in, first->n_in),
                         *out = model_type(j, last->out, last->n_out);
    int64_t batch[2];
    bool by_in = p->n_in && in && in->kind == OC_T_TENSOR && oc_shape_known(&in->shape) &&
                 oc_shape_known(&p->in[0].shape) && in->shape.rank == p->in[0].shape.rank && in->shape.rank;
    const struct oc_type *model = by_in ? in : out, *recorded = by_in      ? &p->in[0]
                                                                : p->n_out ? &p->out[0]
                                                                           : NULL;
    if (!model || !recorded)
        return;
    if (oc_other_batch(recorded, model, batch)) {
        e->compared++;
        if (!e->other_batch) {
            e->batch[0] = batch[0];
            e->batch[1] = batch[1];
            e->batch_first = p->name;
        }
        e->other_batch += batch[0] == e->batch[0] && batch[1] == e->batch[1];
    } else if (recorded->kind == OC_T_TENSOR && model->kind == OC_T_TENSOR && oc_shape_known(&model->shape) &&
               oc_shape_known(&recorded->shape)) {
        e->compared++;
    }
}

/* Rates of rows with other shapes would be those of other work. */
static void collect(struct oc_join *j, struct evidence *e)
{
    bool runtime = strcmp(j->profile->format, "onnxruntime") == 0;
    for (uint32_t i = 0; i < j->profile->n_rec; i++) {
        const struct oc_prof_rec *p = &j->profile->rec[i];
        struct oc_join_rec *r = &j->rec[i];
        bool lost = r->bucket && strcmp(r->bucket, "unmatched") == 0;
        if (p->bucket || (!r->n_node && !lost)) /* what the runtime inserted is of no model */
            continue;
        e->ops++;
        e->all_ns += oc_prof_own_ns(p);
        if (lost)
            continue;
        e->mapped++;
        e->mapped_ns += oc_prof_own_ns(p);
        compare_batch(j, i, e);
        bool differs = runtime && contradicts(j, i);
        if (differs)
            oc_join_set_other_shapes(r);
        if (!r->other_shapes)
            continue;
        e->first = e->first == OC_NONE && differs ? i : e->first;
        e->other_shapes++;
        e->other_ns += oc_prof_own_ns(p);
    }
}

static bool is_conv(const struct oc_prof_rec *p, struct oc_arena *a)
{
    struct oc_source_type t;
    if (strcmp(p->op_type, "Conv") == 0)
        return true;
    return !p->type_by_name && oc_source_type(p->op_type, "", a, &t) && t.core && strstr(t.core, " Conv ");
}

static bool is_inside_conv(const struct oc_profile *p, uint32_t rec, struct oc_arena *a)
{
    uint32_t at = p->rec[rec].parent;
    for (unsigned depth = 0; at != OC_NONE && depth < 16; depth++, at = p->rec[at].parent)
        if (is_conv(&p->rec[at], a))
            return true;
    return false;
}

/* Convolutions are neither split nor fused with each other, except by TensorRT. Whole multiples are several
 * executions. False: numbers agree, or cannot be compared. */
static bool count_convs(const struct oc_join *j, double *profile, uint64_t *model)
{
    const struct oc_profile *p = j->profile;
    struct oc_arena scratch = {0};
    *profile = 0;
    *model = 0;
    for (uint32_t i = 0; i < p->n_rec; i++)
        if (!p->rec[i].bucket && is_conv(&p->rec[i], &scratch) && !is_inside_conv(p, i, &scratch))
            *profile += p->rec[i].calls_per_run;
    for (uint32_t i = 0; i < j->model->n_node && j->analysis; i++)
        if (strcmp(j->model->node[i].op_type, "Conv") == 0 && j->analysis->cost[i].state == OC_NODE_NORMAL)
            *model += j->analysis->cost[i].trips;
    oc_arena_free(&scratch);
    return *profile > 0 && *model > 0 && (*profile < (double)*model || fmod(*profile, (double)*model) != 0);
}

/* ---- verdict ---------------------------------------------------------------------------------------- */

static const char *first_contradiction(struct oc_join *j, const struct evidence *e)
{
    for (size_t i = 0; e->first == OC_NONE && i < j->diags.n; i++)
        if (strcmp(j->diags.item[i].code, "W-shape-differs") == 0)
            return oc_printf(&j->arena, "; first: %s: %s", j->diags.item[i].where, j->diags.item[i].text);
    if (e->first == OC_NONE)
        return "";
    return oc_printf(&j->arena,
                     "; first: %.80s: the recorded shapes give %" PRIu64 " MACs, the model %" PRIu64,
                     j->profile->rec[e->first].name, j->rec[e->first].executed_macs, j->rec[e->first].macs);
}

/* The option that sets the batch of the model's first input. */
static const char *batch_option(struct oc_join *j, int64_t batch)
{
    const struct oc_model *m = j->model;
    for (uint32_t i = 0; i < m->graph[0].n_input; i++) {
        const struct oc_value *v = &m->value[m->graph[0].input[i]];
        const struct oc_type *t = v->declared;
        if (v->constant || !t || t->kind != OC_T_TENSOR || !t->shape.ranked || !t->shape.rank)
            continue;
        struct oc_dim d = t->shape.dim[0];
        if (d.expr && d.expr <= m->n_symbol)
            return oc_printf(&j->arena, "give --dim %s=%" PRId64, m->symbol[d.expr - 1], batch);
        const char *shape = oc_printf(&j->arena, "give --shape %s=%" PRId64, v->name, batch);
        for (unsigned k = 1; k < t->shape.rank; k++)
            shape = t->shape.dim[k].expr || t->shape.dim[k].v < 0
                        ? oc_printf(&j->arena, "%sx?", shape)
                        : oc_printf(&j->arena, "%sx%" PRId64, shape, t->shape.dim[k].v);
        return shape;
    }
    return "give --dim or --shape";
}

/* Rows keep only figures of the recorded shapes. */
static void use_recorded_costs(struct oc_join *j)
{
    for (uint32_t i = 0; i < j->profile->n_rec; i++) {
        struct oc_join_rec *r = &j->rec[i];
        if (!r->n_node || r->from_profile || r->part_of != OC_NONE)
            continue;
        oc_join_set_other_shapes(r);
        oc_join_recorded_cost(j, i);
    }
}

static bool check_batch(struct oc_join *j, const struct evidence *e)
{
    if (!e->other_batch || 2 * e->other_batch <= e->compared)
        return false;
    oc_diag_add(&j->diags, OC_WARNING, OC_DIAG_OTHER_MODEL, "",
                "profile and model differ: recorded with batch %" PRId64
                ", the model is analysed with batch %" PRId64
                " (%.80s); FLOPs and bytes of the table are those of the recorded shapes or unknown: %s",
                e->batch[0], e->batch[1], e->batch_first, batch_option(j, e->batch[0]));
    use_recorded_costs(j);
    return true;
}

/* An input that the profile recorded by name, with other dimensions in the analysis: outweighs the records.
 */
static bool check_inputs(struct oc_join *j, struct evidence *e)
{
    const struct oc_graph *g = &j->model->graph[0];
    for (uint32_t i = 0; i < g->n_input && j->analysis; i++) {
        uint32_t v = g->input[i];
        const struct oc_prof_input *input = oc_join_input(j->model, j->profile, v);
        const struct oc_type *model = &j->analysis->type[v];
        if (j->model->value[v].constant || !input || model->kind != OC_T_TENSOR ||
            !oc_shape_known(&model->shape) || oc_shape_equal(&input->type.shape, &model->shape))
            continue;
        if (oc_other_batch(&input->type, model, e->batch)) {
            e->compared = e->other_batch = 1;
            e->batch_first = input->name;
            return check_batch(j, e);
        }
        const char *recorded = oc_shape_text(&j->arena, j->profile->exprs, &input->type.shape, "x");
        oc_diag_add(
            &j->diags, OC_WARNING, OC_DIAG_OTHER_MODEL, "",
            "profile and model differ: input %.80s is %s in the profile, %s in the analysis; FLOPs and "
            "bytes of the table are those of the recorded shapes or unknown: give --shape %.80s=%s",
            input->name, recorded, oc_shape_text(&j->arena, j->analysis->exprs, &model->shape, "x"),
            j->model->value[v].name, recorded);
        use_recorded_costs(j);
        return true;
    }
    return false;
}

static void check_names(struct oc_join *j, const struct evidence *e)
{
    bool runtime = strcmp(j->profile->format, "onnxruntime") == 0;
    double good = (e->mapped_ns - e->other_ns) / e->all_ns;
    if (!e->mapped)
        oc_diag_add(&j->diags, runtime ? OC_ERROR : OC_WARNING,
                    runtime ? OC_DIAG_WRONG_MODEL : OC_DIAG_OTHER_MODEL, "",
                    "no operator of this profile is in this model: wrong model or profile?");
    else if (runtime && good < ALMOST_NONE)
        oc_diag_add(&j->diags, OC_ERROR, OC_DIAG_WRONG_MODEL, "",
                    "almost no operator of this profile is in this model (%u of %u): wrong model or profile?",
                    e->mapped - e->other_shapes, e->ops);
    else if (e->other_shapes || e->mapped_ns < HALF * e->all_ns)
        oc_diag_add(&j->diags, OC_WARNING, OC_DIAG_OTHER_MODEL, "",
                    "profile and model differ: %.1f %% of the operator time is on operators of this model, "
                    "%.1f %% with other shapes%s: wrong model, profile or --dim, --shape?",
                    PER_CENT * e->mapped_ns / e->all_ns, PER_CENT * e->other_ns / e->all_ns,
                    first_contradiction(j, e));
}

/* The names of a source are those of the model: ONNX Runtime's, and TensorRT's in detailed layer information.
 */
static bool has_model_names(const struct oc_profile *p)
{
    if (strcmp(p->format, "onnxruntime") == 0)
        return true;
    for (uint32_t i = 0; i < p->n_rec; i++)
        if (oc_engine_has_layers(p, &p->rec[i]) && p->rec[i].has_macs && p->rec[i].macs)
            return true;
    return false;
}

void oc_join_check_model(struct oc_join *j)
{
    struct evidence e = {.first = OC_NONE, .batch_first = ""};
    double convs;
    uint64_t in_model;
    if (j->profile->functions)
        return;
    collect(j, &e);
    if (check_inputs(j, &e) || e.ops < FEW_RECORDS || !(e.all_ns > 0) || check_batch(j, &e))
        return;
    if (has_model_names(j->profile) || e.other_shapes)
        check_names(j, &e);
    else if (strcmp(j->profile->format, "tensorrt") != 0 && count_convs(j, &convs, &in_model))
        oc_diag_add(&j->diags, OC_WARNING, OC_DIAG_OTHER_MODEL, "",
                    "profile and model differ: the profile has %.6g Conv calls per run, the model %" PRIu64
                    ": wrong model or profile, or several models in one recording?",
                    convs, in_model);
}

/* ---- why a record is matched ------------------------------------------------------------------------ */

#define MAX_NAMED 3

static const struct {
    const char *rule, *text;
} rules[] = {
    {"name", "the node has this name"},
    {"inlined name", "the text after '__Inline_<k>__' is the name of a node in an inlined branch"},
    {"fused name", "the name without the fusion's suffix is the name of a node; the group was grown from it"},
    {"output tensor", "the name is the name of an output tensor of the group"},
    {"tensor name", "the name is the name of an output tensor of the node"},
    {"index", "an unnamed node at this position, counted without Constants, functions expanded"},
    {"function body", "a node of the body of this function operator, which the runtime has no kernel for"},
    {"type and shape",
     "a layer and a node of the same type, multiply-adds and shapes without the batch, in order "
     "or between matched neighbours"},
    {"order",
     "no information in the name: the first node in execution order with this type and the recorded output "
     "shape that has no other record"},
    {"optimized model",
     "the original nodes between the input and output tensors of this operator in the optimized model"},
    {"marker", "the record lists the nodes that it was made from"},
    {"name parts", "each part of the name is the name of a node or tensor"},
    {"range", "every node on a path from the first to the last node in the name"},
    {"plain name", "the name of a node, ignoring characters that tools replace or append"},
    {"by size", "no names: as many products of this size as nodes, in execution order"},
    {"by order", "no names: operators of the same type were aligned in execution order"},
    {"by type", "the number of calls equals the number of nodes of the type"},
    {"by type and shape", "the number of calls equals the number of nodes of the type with these shapes"},
    {"part of", "executed inside another record that is matched to these nodes"},
};

static const struct {
    const char *bucket, *text;
} buckets[] = {
    {"layout", "a conversion between memory layouts that the runtime inserted"},
    {"reformat",
     "a layer of the engine that converts the memory layout or the element type; no node matches"},
    {"DLA transfers", "a copy to or from the DLA; waiting for the DLA counts as a copy from it"},
    {"copies", "a copy between devices or buffers that the runtime inserted"},
    {"casts", "a conversion of element types that the runtime inserted"},
    {"inserted", "the runtime gives this name to operators that it inserts; no node matches"},
    {"training", "part of the backward pass or of the weight update, which the model does not have"},
    {"generated kernels", "a compiler generated this kernel from several operators and did not record which"},
};

static void label(const struct oc_join *j, uint32_t node, struct oc_buf *out)
{
    char text[256];
    oc_buf_str(out, oc_node_label(j->model, &j->model->node[node], text, sizeof(text)));
}

/* Appends a node as the n-th of a list: ": conv1 (Conv, in record 'conv1_nchwc')". */
static void list_node(const struct oc_join *j, struct oc_buf *out, uint32_t node, unsigned n)
{
    const char *type = j->model->node[node].op_type;
    uint32_t owner = j->node_rec[node];
    oc_buf_str(out, n > 1 ? ", " : ": ");
    label(j, node, out);
    if (owner == OC_NONE)
        oc_buf_printf(out, " (%s, no record)", type);
    else
        oc_buf_printf(out, " (%s, in record '%.60s')", type, j->profile->rec[owner].name);
}

/* Appends, for example: "; 2 nodes with this name: conv1 (Conv, no record), ...". The nodes are all nodes, or
 * those of a chain; set: only types of this set. */
static void candidates(const struct oc_join *j, struct oc_buf *out, const char *what, uint32_t first,
                       const uint32_t *next, const char *set)
{
    struct oc_buf list = {0};
    unsigned n = 0;
    for (uint32_t i = first; i < j->model->n_node; i = next ? next[i] : i + 1) {
        if (set && !oc_type_set_has(set, j->model->node[i].op_type))
            continue;
        if (n++ < MAX_NAMED)
            list_node(j, &list, i, n);
    }
    if (n > MAX_NAMED)
        oc_buf_printf(&list, ", and %u more", n - MAX_NAMED);
    if (n)
        oc_buf_printf(out, "; %u %s%.*s", n, what, (int)list.n, list.data);
    else
        oc_buf_printf(out, "; no %s", what);
    oc_buf_free(&list);
}

static void link_node(struct oc_map *map, uint32_t *next, const char *key, uint32_t node)
{
    uint32_t old = node;
    next[node] = OC_NONE;
    if (oc_map_add_kept(map, key, strlen(key), &old))
        return;
    next[node] = old;
    oc_map_set(map, key, strlen(key), node);
}

void oc_explainer_init(struct oc_explainer *x, const struct oc_join *j, struct oc_arena *a)
{
    uint32_t n = j->model->n_node;
    *x = (struct oc_explainer){.j = j,
                               .a = a,
                               .names.arena = a,
                               .types.arena = a,
                               .lists.arena = a,
                               .next_name = OC_NEW_ARRAY(a, n, uint32_t),
                               .next_type = OC_NEW_ARRAY(a, n, uint32_t)};
    while (n-- > 0) { /* backwards: chains are in order */
        link_node(&x->names, x->next_name, j->model->node[n].name, n);
        link_node(&x->types, x->next_type, j->model->node[n].op_type, n);
    }
}

void oc_explainer_free(struct oc_explainer *x)
{
    oc_map_free(&x->names);
    oc_map_free(&x->types);
    oc_map_free(&x->lists);
    free(x->list);
}

static const char *finish_text(struct oc_buf *b, struct oc_arena *a)
{
    const char *text = oc_strndup(a, b->n ? b->data : "", b->n);
    oc_buf_free(b);
    return text;
}

/* The candidates of a name, a type or a set of types: listed once. */
static const char *listed(struct oc_explainer *x, const char *what, const char *key, const struct oc_map *map,
                          const uint32_t *next)
{
    uint32_t at = x->n_list;
    char *name = oc_printf(x->a, "%s %s", what, key);
    if (!oc_map_add_kept(&x->lists, name, strlen(name), &at))
        return x->list[at];
    struct oc_buf b = {0};
    if (map)
        candidates(x->j, &b, what, oc_map_get(map, key, strlen(key)), next, NULL);
    else
        candidates(x->j, &b, what, 0, NULL, key);
    OC_GROW(x->list, x->n_list, x->cap_list);
    x->list[x->n_list++] = finish_text(&b, x->a);
    return x->list[at];
}

static void list_rejected(struct oc_explainer *x, const struct oc_prof_rec *p, struct oc_buf *out)
{
    struct oc_source_type t;
    oc_buf_str(out, "no rule matched a node");
    if (p->name[0])
        oc_buf_str(out, listed(x, "nodes with this name", p->name, &x->names, x->next_name));
    if (p->op_type[0])
        oc_buf_str(out, listed(x, "nodes of this type", p->op_type, &x->types, x->next_type));
    if (oc_source_type(p->op_type, p->name, x->a, &t))
        oc_buf_str(out, listed(x, "nodes of an equivalent type", t.core, NULL, NULL));
    else if (strcmp(x->j->profile->format, "onnxruntime") != 0)
        oc_buf_str(out, "; the type is not in the table of types of other frameworks");
}

const char *oc_join_explain(struct oc_explainer *x, uint32_t rec)
{
    const struct oc_join *j = x->j;
    const struct oc_join_rec *r = &j->rec[rec];
    const struct oc_prof_rec *p = &j->profile->rec[rec];
    struct oc_buf b = {0};
    if (p->bucket)
        return "time that the profile reports outside operators";
    if (p->rest)
        return "the profile names no operator that launched this kernel";
    if (!r->n_node) {
        size_t i = 0;
        while (i < OC_COUNT(buckets) && strcmp(buckets[i].bucket, r->bucket ? r->bucket : "") != 0)
            i++;
        if (i < OC_COUNT(buckets))
            return buckets[i].text;
        list_rejected(x, p, &b);
        return finish_text(&b, x->a);
    }
    for (size_t i = 0; i < OC_COUNT(rules); i++)
        if (strcmp(rules[i].rule, r->rule) == 0)
            oc_buf_str(&b, rules[i].text);
    if (r->part_of != OC_NONE)
        oc_buf_printf(&b, ", '%.80s'", j->profile->rec[r->part_of].name);
    if (r->confidence < 1 && r->n_node == 1 && p->op_type[0] &&
        strcmp(p->op_type, j->model->node[r->node[0]].op_type) != 0)
        oc_buf_printf(&b, "; types differ: %s here, %s in the model", p->op_type,
                      j->model->node[r->node[0]].op_type);
    if (r->note)
        oc_buf_printf(&b, "; %s", r->note);
    return finish_text(&b, x->a);
}
