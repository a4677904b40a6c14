/* Any profile with one model (and itself as the optimized one): every rule of the join must be valid. */
#include <stdlib.h>
#include <string.h>

#include "fuzz/advice_checks.h"
#include "join/join.h"
#include "join/record_cost.h"
#include "support/build.h"
#include "onnxcost/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

extern const struct oc_importer oc_importer_onnxruntime;

static uint8_t *model_bytes(size_t *n)
{
    struct oc_builder *b = oc_b_new(13);
    oc_b_input(b, "x", "float[N,4,8,8]");
    oc_b_input(b, "c", "bool[]");
    oc_b_init(b, "w1", "float[4,4,3,3]");
    oc_b_init(b, "s", "float[4]");
    oc_b_init(b, "m", "float[8,5]");
    oc_b_init(b, "v", "float[5]");
    oc_b_node(b, "Conv", "conv1", "x,w1", "c1", "pads=1,1,1,1");
    oc_b_node(b, "BatchNormalization", "bn1", "c1,s,s,s,s", "b1", "");
    oc_b_node(b, "Relu", "relu1", "b1", "r1", "");
    oc_b_node(b, "Conv", NULL, "r1,w1", "c2", "pads=1,1,1,1");
    oc_b_node(b, "Add", NULL, "c2,r1", "a2", "");
    oc_b_node(b, "MatMul", "mm", "a2,m", "p", "");
    oc_b_node(b, "Add", "bias", "p,v", "q", "");
    oc_b_node(b, "If", "if", "c", "y", "");
    oc_b_open(b, "then_branch");
    oc_b_node(b, "Relu", "work", "q", "t", "");
    oc_b_output(b, "t", NULL);
    oc_b_close(b);
    oc_b_open(b, "else_branch");
    oc_b_node(b, "Sigmoid", "work", "q", "e", "");
    oc_b_output(b, "e", NULL);
    oc_b_close(b);
    oc_b_output(b, "y", NULL);
    uint8_t *bytes = oc_b_pack(b, n);
    oc_b_free(b);
    return bytes;
}

static void check(const struct oc_join *j)
{
    double all = 0;
    for (uint32_t i = 0; i < j->profile->n_rec; i++) {
        const struct oc_join_rec *r = &j->rec[i];
        if ((r->n_node > 0) == (r->bucket != NULL) || (r->n_node > 0) != (r->rule != NULL))
            abort();
        for (uint32_t k = 0; k < r->n_node; k++)
            if (r->node[k] >= j->model->n_node)
                abort();
        all += j->profile->rec[i].bucket ? 0 : j->profile->rec[i].self_ns;
    }
    double sum = j->mapped_ns + j->overhead_ns + j->unmatched_ns;
    if (!(sum - all <= 1e-6 * (1 + all) && all - sum <= 1e-6 * (1 + all)))
        abort();
}

/* The same records as written by a runtime without node names, together with the originals; every match has
 * an explanation. */
static void side_by_side(const struct oc_model *m, const struct oc_analysis *a, const struct oc_profile *p)
{
    struct oc_profile other = *p;
    struct oc_join *j[2];
    struct oc_arena text = {0};
    struct oc_err err;
    other.format = "kineto";
    if (oc_join_make(m, a, p, NULL, &j[0], &err) != 0 || oc_join_make(m, a, &other, NULL, &j[1], &err) != 0)
        abort();
    check(j[1]);
    for (int k = 0; k < 2; k++) {
        struct oc_explainer x;
        oc_explainer_init(&x, j[k], &text);
        for (uint32_t i = 0; i < p->n_rec; i++)
            if (!oc_join_explain(&x, i))
                abort();
        oc_explainer_free(&x);
    }
    oc_arena_free(&text);
    oc_join_free(j[0]);
    oc_join_free(j[1]);
}

/* Runs of different sizes: the runs of the sets are those of the profile, means are within the range of a
 * run. */
static void sizes(const struct oc_model *m, struct oc_analysis *a, const struct oc_analyze_opts *opts,
                  const struct oc_profile *p)
{
    struct oc_join *j;
    struct oc_err err;
    uint32_t runs = 0;
    if (oc_join_make(m, a, p, NULL, &j, &err) != 0 || oc_join_sizes(a, opts, NULL, j, &err) != 0)
        abort();
    check(j);
    for (uint32_t i = 0; j->sizes && i < j->sizes->n_set; i++)
        runs += j->sizes->set[i].runs;
    if (j->sizes && runs != p->runs_used)
        abort();
    for (uint32_t i = 0; j->sizes && i < p->n_rec; i++) {
        const struct oc_join_rec *r = &j->rec[i];
        if (!p->rec[i].bucket && r->part_of == OC_NONE && r->quality != OC_UNKNOWN &&
            (double)r->flops + (double)r->ops > j->sizes->rec[i].work_max + 1)
            abort();
    }
    fuzz_advice(&(struct oc_report_in){.model = m, .analysis = a, .profile = p, .join = j});
    oc_join_free(j);
}

static void join(const struct oc_model *m, const struct oc_profile *p)
{
    struct oc_err err;
    struct oc_shape_bind *shape;
    struct oc_control_bind *control;
    struct oc_analysis *a;
    struct oc_join *j;
    struct oc_analyze_opts opts = {.n_shape = oc_profile_input_shapes(m, p, &shape)};
    opts.shape = shape;
    opts.n_control = oc_profile_control(m, p, &control);
    opts.control = control;
    if (oc_analyze(m, &opts, &a, &err) == 0) {
        for (int with = 0; with < 2; with++) {
            if (oc_join_make(m, a, p, with ? m : NULL, &j, &err) != 0)
                abort();
            check(j);
            fuzz_advice(&(struct oc_report_in){.model = m, .analysis = a, .profile = p, .join = j});
            oc_join_free(j);
        }
        side_by_side(m, a, p);
        sizes(m, a, &opts, p);
        oc_analysis_free(a);
    }
    oc_profile_input_shapes_free(shape, opts.n_shape);
    free(control);
    struct oc_arena arena = {0};
    struct oc_record_cost cost;
    for (uint32_t i = 0; i < p->n_rec; i++)
        oc_record_cost(p, &p->rec[i], &arena, NULL, &cost);
    oc_arena_free(&arena);
}

static void read_and_join(const uint8_t *data, size_t n, bool by_node)
{
    static uint8_t *bytes; /* one model for all inputs */
    static size_t size_bytes;
    struct oc_profile_opts opts = {.warmup = OC_WARMUP_NONE, .stat = OC_STAT_SUM, .by_node = by_node};
    struct oc_profile p = {.format = oc_importer_onnxruntime.name,
                           .path = "",
                           .producer = "",
                           .device = "",
                           .time_kind = "host time"};
    struct oc_stream *s = oc_stream_mem(data, n);
    struct oc_model *m;
    struct oc_err err;
    if (!bytes)
        bytes = model_bytes(&size_bytes);
    p.names.arena = p.diags.arena = &p.arena;
    p.exprs = oc_exprs_new(&p.arena);
    if (oc_model_load_mem(bytes, size_bytes, NULL, &m, &err) != 0)
        abort();
    if (oc_importer_onnxruntime.read(
            &(struct oc_source){.file = &(struct oc_source_file){.path = "", .s = s}, .n = 1}, &opts, &p,
            &err) == 0)
        join(m, &p);
    oc_model_free(m);
    oc_stream_close(s);
    oc_diags_free(&p.diags);
    oc_map_free(&p.names);
    oc_exprs_free(p.exprs);
    oc_arena_free(&p.arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    read_and_join(data, n, false);
    read_and_join(data, n, true);
    return 0;
}
