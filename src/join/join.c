/* The join of a profile with a model. */
#include "join/join.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/ck.h"
#include "join/expansion.h"
#include "join/record_cost.h"
#include "onnxcost.h"

static bool add(uint64_t *sum, uint64_t v)
{
    return oc_add_u64(*sum, v, sum);
}

/* A record whose nodes ran several times per run has the cost of all executions. */
static void scale_by_executions(struct oc_join_rec *r, uint32_t times)
{
    uint64_t *const count[] = {&r->macs, &r->flops, &r->ops, &r->rd_act, &r->rd_wt, &r->wr};
    for (size_t i = 0; i < OC_COUNT(count) && times > 1; i++)
        if (!oc_mul_u64(*count[i], times, count[i])) {
            r->quality = OC_UNKNOWN;
            r->bytes_known = false;
        }
    if (times > 1 && !r->note)
        r->note = "ran more than once per run";
}

/* An inserted node computes nothing; its bytes follow from its recorded shapes. */
static void cost_of_overhead(const struct oc_prof_rec *p, struct oc_join_rec *r)
{
    r->bytes_known = p->has_in && p->has_out;
    for (unsigned side = 0; side < 2 && r->bytes_known; side++) {
        const struct oc_type *t = side ? p->out : p->in;
        for (uint32_t i = 0; i < (side ? p->n_out : p->n_in); i++) {
            uint64_t n = 1, bytes = 0;
            r->bytes_known &= oc_shape_known(&t[i].shape);
            for (unsigned k = 0; k < t[i].shape.rank && r->bytes_known; k++)
                r->bytes_known = oc_mul_u64(n, (uint64_t)t[i].shape.dim[k].v, &n);
            r->bytes_known = r->bytes_known && oc_bytes_of(t[i].dtype, n, &bytes) &&
                             add(side ? &r->wr : &r->rd_act, bytes);
        }
    }
}

void oc_join_recorded_cost(struct oc_join *j, uint32_t rec)
{
    const struct oc_prof_rec *p = &j->profile->rec[rec];
    struct oc_join_rec *r = &j->rec[rec];
    struct oc_record_cost k;
    double calls = p->calls_per_run;
    r->quality = OC_UNKNOWN;
    if (p->bucket || j->profile->functions || (!p->has_in && !p->has_out))
        return;
    oc_record_cost(j->profile, p, &j->arena, NULL, &k);
    if (!(calls >= 1) || calls != floor(calls) || calls > UINT32_MAX)
        return;
    r->quality = k.quality;
    r->macs = k.macs;
    r->flops = k.flops;
    r->ops = k.ops;
    r->bytes_known = k.bytes_known;
    r->rd_act = k.bytes_known ? k.rd : 0;
    r->rd_wt = 0;
    r->wr = k.bytes_known ? k.wr : 0;
    r->note = k.note ? k.note : "from the recorded shapes";
    r->from_profile = true;
    scale_by_executions(r, (uint32_t)calls);
}

/* Compares a recorded type with the type of the model's value; both must be known. */
struct compared {
    const struct oc_type *recorded, *model;
    const char *what;
};

static bool shapes_differ(const struct compared *c)
{
    return c->recorded && c->model && c->model->kind == OC_T_TENSOR && oc_shape_known(&c->model->shape) &&
           oc_shape_known(&c->recorded->shape) && c->model->shape.rank == c->recorded->shape.rank &&
           !oc_match_same_shape(&c->recorded->shape, &c->model->shape);
}

/* Compares the outputs; if only inputs are recorded, those with the most dimensions, if their position in
 * the model's node is known. */
static struct compared can_compare(const struct oc_join *j, const struct oc_prof_rec *p,
                                   const struct oc_node *n)
{
    uint32_t out = n->n_out ? n->out[0] : OC_NONE, in = n->n_in ? n->in[0] : OC_NONE;
    const struct oc_type *main_in = oc_match_main_input(p);
    if (p->n_out)
        return (struct compared){&p->out[0], out == OC_NONE ? NULL : &j->analysis->type[out], "output"};
    return (struct compared){main_in, in == OC_NONE ? NULL : &j->analysis->type[in], "input"};
}

/* Whether no output of the nodes can be the recorded one. */
static const struct oc_type *other_output(const struct oc_join *j, const struct oc_join_rec *r,
                                          const struct oc_prof_rec *p)
{
    const struct oc_type *first = NULL;
    for (uint32_t i = 0; i < r->n_node; i++) {
        const struct oc_node *n = &j->model->node[r->node[i]];
        for (uint32_t k = 0; k < n->n_out; k++) {
            const struct oc_type *t = n->out[k] == OC_NONE ? NULL : &j->analysis->type[n->out[k]];
            if (!t || t->kind != OC_T_TENSOR || oc_match_same_shape(&p->out[0].shape, &t->shape))
                return NULL;
            first = first ? first : t;
        }
    }
    return first;
}

/* Nodes that the runtime names exactly and that keep their type, and nodes of other formats: another batch
 * size. */
static struct compared compare_single(const struct oc_join *j, const struct oc_join_rec *r,
                                      const struct oc_prof_rec *p, bool runtime)
{
    const struct oc_node *n = &j->model->node[r->node[0]];
    struct compared c = can_compare(j, p, n);
    bool plain = strcmp(p->op_type, n->op_type) == 0;
    if ((runtime && (!plain || !p->n_out)) || !shapes_differ(&c))
        c.recorded = NULL;
    return c;
}

/* Recorded shapes that contradict the analysis: the costs of this analysis do not apply. Every rule passes
 * this check; parts of function bodies have shapes of their own. */
static void check_shapes(struct oc_join *j, uint32_t rec)
{
    struct oc_join_rec *r = &j->rec[rec];
    const struct oc_prof_rec *p = &j->profile->rec[rec];
    bool runtime = strcmp(j->profile->format, "onnxruntime") == 0;
    struct compared c = {.what = "output"};
    if (strcmp(r->rule, "range") == 0 || strcmp(r->rule, "function body") == 0)
        return;
    if (r->n_node == 1 && (!runtime || strcmp(r->rule, "name") == 0))
        c = compare_single(j, r, p, runtime);
    else if (runtime && p->n_out && (c.model = other_output(j, r, p)) != NULL)
        c.recorded = &p->out[0];
    if (!c.recorded)
        return;
    oc_join_set_other_shapes(r);
    oc_diag_add(&j->diags, OC_WARNING, "W-shape-differs", p->name, "the profile has %s %s, the analysis %s",
                c.what, oc_shape_text(&j->arena, j->profile->exprs, &c.recorded->shape, "x"),
                oc_shape_text(&j->arena, j->analysis->exprs, &c.model->shape, "x"));
}

/* MACs in the profile that differ from the model: another batch size or other dimensions. */
static void check_macs(struct oc_join *j, uint32_t rec)
{
    struct oc_join_rec *r = &j->rec[rec];
    const struct oc_prof_rec *p = &j->profile->rec[rec];
    if (!p->has_macs || r->quality == OC_UNKNOWN || r->macs == p->macs)
        return;
    oc_diag_add(&j->diags, OC_WARNING, "W-shape-differs", p->name,
                "the profile has %" PRIu64 " MACs, the analysis %" PRIu64, p->macs, r->macs);
    oc_join_set_other_shapes(r);
}

/* ---- coverage --------------------------------------------------------------------------------------- */

static double known_time(double ns)
{
    return isnan(ns) ? 0 : ns;
}

static void add_to_bucket(struct oc_join *j, const char *name, const struct oc_prof_rec *p)
{
    uint32_t i = 0;
    while (i < j->n_bucket && strcmp(j->bucket[i].name, name) != 0)
        i++;
    if (i == j->n_bucket)
        j->bucket[j->n_bucket++] = (struct oc_join_bucket){.name = name};
    j->bucket[i].time_ns += oc_prof_own_ns(p);
    j->bucket[i].total_ns += known_time(p->total_ns);
    j->bucket[i].total_kernel_ns += known_time(p->total_kernel_ns);
    j->bucket[i].records++;
}

/* ---- conservation of time --------------------------------------------------------------------------- */

static void account_time(struct oc_join *j, bool device, struct oc_join_time *out)
{
    const struct oc_profile *p = j->profile;
    long double nodes = 0, groups = 0, buckets = 0;
    bool any = false;
    for (uint32_t i = 0; i < p->n_rec; i++) {
        double ns = device ? p->rec[i].total_kernel_ns : p->rec[i].total_ns;
        if (isnan(ns))
            continue;
        any = true;
        *(j->rec[i].bucket ? &buckets : j->rec[i].n_node > 1 ? &groups : &nodes) += (long double)ns;
    }
    double none = (double)NAN, imported_ns = device ? p->imported_kernel_ns : p->imported_ns;
    *out = (struct oc_join_time){.imported_ns = imported_ns,
                                 .nodes_ns = any ? (double)nodes : none,
                                 .groups_ns = any ? (double)groups : none,
                                 .buckets_ns = any ? (double)buckets : none,
                                 .lost_ns = (double)((long double)imported_ns - nodes - groups - buckets)};
    if (oc_time_is_lost(out->lost_ns, imported_ns))
        oc_diag_add(&j->diags, OC_ERROR, "E-conservation", "",
                    "internal error: of %.0f ns of %s time, %.0f ns have neither a node nor a bucket",
                    imported_ns, device ? "device" : "host", out->lost_ns);
}

static int by_own_time(const void *a, const void *b, void *profile)
{
    const struct oc_profile *p = profile;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    double x = oc_prof_own_ns(&p->rec[i]), y = oc_prof_own_ns(&p->rec[k]);
    if (x != y)
        return x > y ? -1 : 1;
    return (i > k) - (i < k);
}

static void sum_times(struct oc_join *j)
{
    const struct oc_profile *p = j->profile;
    j->bucket = OC_NEW_ARRAY(&j->arena, (size_t)p->n_rec + 1, struct oc_join_bucket);
    j->unmatched = OC_NEW_ARRAY(&j->arena, (size_t)p->n_rec + 1, uint32_t);
    for (uint32_t i = 0; i < p->n_rec; i++) {
        struct oc_join_rec *r = &j->rec[i];
        double ns = oc_prof_own_ns(&p->rec[i]);
        if (r->bucket)
            add_to_bucket(j, r->bucket, &p->rec[i]);
        if (p->rec[i].bucket)
            continue;
        bool lost = r->bucket && strcmp(r->bucket, "unmatched") == 0;
        *(r->n_node ? &j->mapped_ns : lost ? &j->unmatched_ns : &j->overhead_ns) += ns;
        if (lost)
            j->unmatched[j->n_unmatched++] = i;
        for (uint32_t k = 0; k < r->n_node && r->part_of == OC_NONE; k++) {
            uint32_t *best = &j->node_rec[r->node[k]];
            if (*best == OC_NONE || oc_prof_own_ns(&p->rec[*best]) < ns)
                *best = i;
        }
    }
    if (j->n_unmatched)
        qsort_r(j->unmatched, j->n_unmatched, sizeof(*j->unmatched), by_own_time, (void *)(uintptr_t)p);
    double all = j->mapped_ns + j->overhead_ns + j->unmatched_ns;
    j->time_matched_fraction = all > 0 ? j->mapped_ns / all : (double)NAN;
}

static void sum_flops(struct oc_join *j)
{
    double all = 0, covered = 0;
    j->flops_matched_fraction = (double)NAN;
    if (!j->analysis)
        return;
    for (uint32_t i = 0; i < j->model->n_node; i++) {
        const struct oc_node_cost *c = &j->analysis->cost[i];
        if (!oc_carries_cost(c) || c->quality == OC_UNKNOWN)
            continue;
        double work = (double)c->flops + (double)c->ops;
        all += work;
        covered += j->node_rec[i] != OC_NONE ? work : 0;
        bool own = work > 0 && c->state == OC_NODE_NORMAL;
        j->nodes_without_time += own && j->node_rec[i] == OC_NONE;
    }
    if (all > 0)
        j->flops_matched_fraction = covered / all;
}

static void sum_work(struct oc_join *j, const struct oc_matcher *x)
{
    struct oc_join_work w = {.known = j->analysis && !j->profile->functions, .lost = OC_NONE};
    for (uint32_t i = 0; i < j->profile->n_rec && w.known; i++) {
        const struct oc_join_rec *r = &j->rec[i];
        bool of_source =
            (r->from_profile && r->macs) || oc_engine_has_layers(j->profile, &j->profile->rec[i]);
        bool of_model = r->quality != OC_UNKNOWN && !r->other_shapes && !of_source;
        w.known = !r->n_node || (of_model && add(&w.row_macs, r->macs));
    }
    for (uint32_t i = 0; i < j->model->n_node && w.known; i++) {
        const struct oc_node_cost *c = &j->analysis->cost[i];
        if (!oc_carries_cost(c) || !c->macs)
            continue;
        bool none = j->node_rec[i] == OC_NONE, equal = none && oc_match_ran_as_equal(x, i);
        w.known = c->quality != OC_UNKNOWN && add(&w.model_macs, c->macs) &&
                  (!none || add(equal ? &w.eliminated_macs : &w.lost_macs, c->macs));
        if (none && !equal && (w.lost == OC_NONE || c->macs > j->analysis->cost[w.lost].macs))
            w.lost = i;
    }
    w.known &= w.model_macs > 0;
    j->work = w.known ? w : (struct oc_join_work){.lost = OC_NONE};
}

/* From 1 % on: the rates of the rows are then not those of the model. */
static void warn_work(struct oc_join *j)
{
    const struct oc_join_work *w = &j->work;
    double have = (double)w->row_macs + (double)w->eliminated_macs, all = (double)w->model_macs;
    char label[256];
    if (!w->known || (have > 0.99 * all && have < 1.01 * all))
        return;
    oc_diag_add(&j->diags, OC_WARNING, "W-work", "",
                "the rows have %" PRIu64 " of the model's %" PRIu64
                " MACs (%.1f %%), equal nodes that ran once %" PRIu64 ", nodes without a row %" PRIu64
                "%s%s: rates of these rows are not those of the model",
                w->row_macs, w->model_macs, 100 * (double)w->row_macs / all, w->eliminated_macs, w->lost_macs,
                w->lost == OC_NONE ? "" : ", the largest: ",
                w->lost == OC_NONE ? ""
                                   : oc_node_label(j->model, &j->model->node[w->lost], label, sizeof(label)));
}

/* Checks that the saved optimized model contains every operator that ran. */
static void warn_companion(struct oc_join *j, const struct oc_matcher *x, const struct oc_model *optimized)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < j->profile->n_rec; i++)
        n += !j->profile->rec[i].bucket;
    if (optimized && x->n_strange)
        oc_diag_add(
            &j->diags, OC_WARNING, "W-optimized-model", optimized->path ? optimized->path : "",
            "%u of the %u operators of the profile are not in the optimized model: it is not the model "
            "that ran",
            x->n_strange, n);
}

/* Advice for records that match no node. */
static const char *advice(const struct oc_profile *p)
{
    static const struct {
        const char *format, *text;
    } row[] = {
        {"onnxruntime", "record with graph optimization disabled, or pass the optimized model"},
        {"nsys", "record with NVTX ranges around the operators"},
        {"ncu", "record with NVTX ranges around the operators"},
        {"kineto", "operators without names are matched to nodes by order: the profile must be the forward "
                   "pass of this model; or record each node in a record_function range with its name"},
    };
    if (oc_equal(p->format, "tensorrt"))
        return oc_engine_is_detailed(p)
                   ? "their names are not in this model: pass the ONNX file that the engine was built from"
                   : "also pass the layer information (trtexec --exportLayerInfo) of an engine built with "
                     "--profilingVerbosity=detailed";
    for (size_t i = 0; i < OC_COUNT(row); i++)
        if (strncmp(p->format, row[i].format, strlen(row[i].format)) == 0)
            return row[i].text;
    return "check that the profile is of this model";
}

static void warn_unattributed(struct oc_join *j, const struct oc_model *optimized)
{
    double all_ns = j->mapped_ns + j->overhead_ns + j->unmatched_ns;
    if (j->time_matched_fraction + j->overhead_ns / all_ns < 0.8)
        oc_diag_add(&j->diags, OC_WARNING, "W-coverage", "",
                    "%.1f %% of operator time is unattributed: %s; --explain-match lists the records",
                    100 * j->unmatched_ns / all_ns,
                    optimized
                        ? "record with graph optimization disabled, or give the nodes of the model names"
                        : advice(j->profile));
}

/* ---- public ----------------------------------------------------------------------------------------- */

/* A part is matched to the nodes of the whole, which has their cost. */
static void take_part(const struct oc_matcher *x, uint32_t i, struct oc_join_rec *r)
{
    const struct oc_match *outer = &x->match[x->match[i].inner_of];
    r->part_of = x->match[i].inner_of;
    r->node = outer->node;
    r->n_node = outer->n_node;
    r->rule = x->match[i].rule;
    r->confidence = outer->confidence;
    r->bytes_known = true;
    r->note = "its cost is in the record that contains it";
}

/* What ran in 16 bits moved half the bytes. A runtime that quantizes moves less than the model says. */
static void take_types(struct oc_matcher *x, uint32_t i, struct oc_join_rec *r, struct oc_group_costs *costs,
                       uint8_t all)
{
    bool assumed;
    uint8_t cls = oc_ran_class(x, i, all, &assumed);
    if (oc_ran_quantized(x, i)) {
        r->bytes_known = false;
        r->note = r->note ? r->note : "quantized by the runtime: its bytes are unknown";
    }
    if (cls == OC_CLASS_NONE || r->quality == OC_UNKNOWN)
        return;
    oc_group_halve(costs, r);
    r->float_class = cls;
    if (!r->note)
        r->note = oc_printf(x->arena, "bytes of %s, %s", cls == OC_CLASS_F16 ? "float16" : "bfloat16",
                            assumed ? "assumed: the recorded type of other operators" : "as recorded");
}

/* PyTorch transposes and slices without moving data: by the recorded operator, and no kernel contradicts it. */
static void take_view(struct oc_join *j, uint32_t rec)
{
    const struct oc_prof_rec *p = &j->profile->rec[rec];
    struct oc_join_rec *r = &j->rec[rec];
    struct oc_record_cost k;
    if (r->macs || r->flops || r->ops || p->kernel_ns > 0 || strncmp(p->op_type, "aten::", 6) != 0)
        return;
    oc_record_cost(j->profile, p, &j->arena, NULL, &k);
    if (k.quality != OC_EXACT || !k.bytes_known || k.rd || k.wr)
        return;
    r->rd_act = r->rd_wt = r->wr = 0;
    r->note = "a view: moves no bytes";
}

/* Dequantizations of weights are counted with their consumers: if they ran by themselves, by their recorded shapes. */
static void take_dequantization(struct oc_join *j, uint32_t rec)
{
    struct oc_join_rec *r = &j->rec[rec], was = *r;
    for (uint32_t i = 0; i < r->n_node; i++)
        if (j->analysis->cost[r->node[i]].state != OC_NODE_ABSORBED)
            return;
    oc_join_recorded_cost(j, rec);
    if (!r->bytes_known || r->quality == OC_UNKNOWN)
        *r = was;
}

static void cost_of_nodes(struct oc_matcher *x, uint32_t i, struct oc_join_rec *r,
                          struct oc_group_costs *costs, uint8_t all)
{
    oc_group_cost(costs, r);
    take_types(x, i, r, costs, all);
}

/* A sum of calls of one node each: a tensor that two of them read is read twice. Where the group has grown, it is not
 * known which of its nodes ran together, and the bytes are those of one call. */
static void cost_of_calls(struct oc_matcher *x, uint32_t i, struct oc_join_rec *r,
                          struct oc_group_costs *costs, uint8_t all)
{
    uint64_t *const sum[] = {&r->rd_act, &r->rd_wt, &r->wr};
    cost_of_nodes(x, i, r, costs, all);
    if (r->n_node < 2 || r->n_node != x->match[i].calls || !r->bytes_known)
        return;
    r->rd_act = r->rd_wt = r->wr = 0;
    for (uint32_t k = 0; k < r->n_node; k++) {
        struct oc_join_rec one = {.node = &r->node[k], .n_node = 1};
        cost_of_nodes(x, i, &one, costs, all);
        const uint64_t part[] = {one.rd_act, one.rd_wt, one.wr};
        for (size_t s = 0; s < OC_COUNT(sum); s++)
            r->bytes_known &= one.bytes_known && oc_add_u64(*sum[s], part[s], sum[s]);
    }
}

static void take_match(struct oc_join *j, struct oc_matcher *x, uint32_t i, struct oc_group_costs *costs,
                       uint8_t all)
{
    const struct oc_match *m = &x->match[i];
    const struct oc_prof_rec *p = &j->profile->rec[i];
    struct oc_join_rec *r = &j->rec[i];
    *r = (struct oc_join_rec){
        .node = m->node, .n_node = m->n_node, .rule = m->n_node ? m->rule : NULL, .part_of = OC_NONE};
    if (m->inner_of != OC_NONE) {
        take_part(x, i, r);
        return;
    }
    r->confidence = m->n_node ? m->confidence : 0;
    r->bucket = p->bucket ? p->bucket : m->n_node ? NULL : m->bucket;
    bool lost = r->bucket && (p->bucket || j->profile->functions || strcmp(r->bucket, "unmatched") == 0);
    if (lost) {
        oc_join_recorded_cost(j, i);
    } else if (r->n_node && !j->analysis) {
        r->quality = OC_UNKNOWN;
    } else if (r->n_node) {
        cost_of_calls(x, i, r, costs, all);
        take_view(j, i);
        scale_by_executions(r, m->repeats);
        take_dequantization(j, i);
    } else {
        cost_of_overhead(p, r);
    }
    if ((!p->bucket && oc_engine_cost(j, p, r)) || !r->n_node || !j->analysis)
        return;
    check_shapes(j, i);
    check_macs(j, i);
}

int oc_join_make(const struct oc_model *model, const struct oc_analysis *a, const struct oc_profile *p,
                 const struct oc_model *optimized, struct oc_join **out, struct oc_err *err)
{
    OC_ENTRY(err);
    (void)err;
    struct oc_join *j = oc_xmalloc(sizeof(*j));
    *j = (struct oc_join){.model = model, .analysis = a, .profile = p};
    j->diags.arena = &j->arena;
    struct oc_matcher x = {.m = model, .p = p, .a = a, .arena = &j->arena};
    oc_match_all(&x, optimized);
    j->rec = OC_NEW_ARRAY(&j->arena, (size_t)p->n_rec + 1, struct oc_join_rec);
    j->node_rec = OC_NEW_ARRAY(&j->arena, (size_t)model->n_node + 1, uint32_t);
    memset(j->node_rec, 0xff, model->n_node * sizeof(*j->node_rec));
    struct oc_group_costs costs;
    oc_group_costs_init(&costs, model, a, &x.x, &j->arena);
    const uint8_t all = oc_ran_all(&x);
    for (uint32_t i = 0; i < p->n_rec; i++)
        take_match(j, &x, i, &costs, all);
    oc_join_executed(j);
    oc_join_check_model(j);
    sum_times(j);
    account_time(j, false, &j->host);
    account_time(j, true, &j->device);
    sum_flops(j);
    sum_work(j, &x);
    warn_companion(j, &x, optimized);
    warn_work(j);
    warn_unattributed(j, optimized);
    oc_match_free(&x);
    *out = j;
    return 0;
}

void oc_join_free(struct oc_join *j)
{
    if (!j)
        return;
    oc_diags_free(&j->diags);
    oc_arena_free(&j->arena);
    free(j);
}

size_t oc_join_diags(const struct oc_join *j, const struct oc_diag **out)
{
    *out = j->diags.item;
    return j->diags.n;
}

/* ---- join info ---------------------------------------------------------------------------------------- */

/* Public interface to the results of a join. */

void oc_join_totals(const struct oc_join *join, struct oc_join_totals *out)
{
    *out = (struct oc_join_totals){
        .nodes_ns = join->mapped_ns,
        .added_ns = join->overhead_ns,
        .unmatched_ns = join->unmatched_ns,
        .time_share = join->time_matched_fraction,
        .flops_share = join->flops_matched_fraction,
    };
}

size_t oc_join_records(const struct oc_join *join)
{
    return join->profile->n_rec;
}

int oc_join_record(const struct oc_join *join, size_t index, struct oc_join_record *out)
{
    if (index >= join->profile->n_rec)
        return -1;
    const struct oc_join_rec *r = &join->rec[index];
    const struct oc_prof_rec *p = &join->profile->rec[index];
    *out = (struct oc_join_record){
        .name = p->name,
        .op_type = p->op_type,
        .node = r->node,
        .n_node = r->n_node,
        .rule = r->rule,
        .confidence = r->confidence,
        .bucket = r->bucket,
        .time_ns = p->self_ns,
        .macs = r->macs,
        .flops = r->flops,
        .ops = r->ops,
        .quality = r->quality,
    };
    return 0;
}

int oc_join_node(const struct oc_join *join, size_t node, struct oc_join_record *out)
{
    if (node >= join->model->n_node || join->node_rec[node] == OC_NONE)
        return -1;
    return oc_join_record(join, join->node_rec[node], out);
}
