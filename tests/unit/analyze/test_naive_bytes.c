/* The naive byte model compared with what ONNX Runtime recorded for the same node: activation_size +
 * parameter_size for all inputs, output_size for all outputs. Constant weights that its kernels prepack are
 * missing from its parameter_size (cost-semantics section 5). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/analysis.h"
#include "profile/profile.h"
#include "zoo.h"
#include "onnxcost.h"

struct zoo_run {
    struct zoo z;
    uint8_t *bytes;
    struct oc_model *m;
    struct oc_analysis *a;
};

static void analyze(struct zoo_run *r, const char *name)
{
    /* as with graph optimization disabled: nothing is folded */
    static const struct oc_analyze_opts o = {.naive_bytes = true, .no_fold = true, .keep_qdq = true};
    struct oc_err err;
    size_t n;
    zoo_init(&r->z, 17);
    zoo_find(name)->build(&r->z);
    r->bytes = oc_b_pack(r->z.b, &n);
    if (oc_model_load_mem(r->bytes, n, NULL, &r->m, &err) || oc_analyze(r->m, &o, &r->a, &err))
        fail_msg("%s: %s", name, err.msg);
}

static void finish(struct zoo_run *r)
{
    oc_analysis_free(r->a);
    oc_model_free(r->m);
    free(r->bytes);
    zoo_free(&r->z);
}

static const struct oc_node *node_of(const struct oc_model *m, const char *name)
{
    for (uint32_t i = 0; i < m->n_node; i++)
        if (strcmp(m->node[i].name, name) == 0)
            return &m->node[i];
    return NULL;
}

/* The constant second operand of MatMul and Gemm is stored in packed form; that of a float Conv is not. */
static uint64_t packed_bytes(const struct oc_analysis *a, const struct oc_node *n)
{
    static const char *const packers[] = {"MatMul", "Gemm"};
    const struct oc_tensor *t = n->n_in > 1 ? oc_analysis_constant(a, n->in[1]) : NULL;
    for (size_t i = 0; i < OC_COUNT(packers) && t; i++)
        if (strcmp(n->op_type, packers[i]) == 0)
            return t->size_bytes;
    return 0;
}

static void check_model(const char *name, uint32_t n_expected)
{
    struct zoo_run r = {.m = NULL};
    struct oc_profile *p;
    struct oc_err err;
    char path[128];
    uint32_t n_checked = 0;
    snprintf(path, sizeof(path), "models/profiles/%s.disabled.t1.json.gz", name);
    if (oc_profile_open(path, NULL, &p, &err))
        fail_msg("%s", err.msg);
    analyze(&r, name);
    for (uint32_t i = 0; i < p->n_rec; i++) {
        const struct oc_prof_rec *rec = &p->rec[i];
        const struct oc_node *n = rec->bucket ? NULL : node_of(r.m, rec->name);
        if (!n || rec->act_bytes == UINT64_MAX || rec->param_bytes == UINT64_MAX ||
            rec->out_bytes == UINT64_MAX)
            continue;
        const struct oc_node_cost *k = &r.a->cost[n - r.m->node];
        uint64_t recorded = rec->act_bytes + rec->param_bytes;
        uint64_t read = k->rd_act + k->rd_wt - packed_bytes(r.a, n);
        if (recorded != read || k->wr != rec->out_bytes)
            fail_msg("%s: %s: reads %llu, recorded %llu; writes %llu, recorded %llu", name, rec->name,
                     (unsigned long long)read, (unsigned long long)recorded, (unsigned long long)k->wr,
                     (unsigned long long)rec->out_bytes);
        n_checked++;
    }
    if (n_checked != n_expected)
        fail_msg("%s: %u nodes compared, not %u", name, n_checked, n_expected);
    finish(&r);
    oc_profile_close(p);
}

static void naive_bytes_equal_recorded_sizes(void **state)
{
    (void)state;
    check_model("resnet50", 175); /* every operator in the file */
    check_model("mobilenetv2", 152);
    check_model("bert_base", 763);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(naive_bytes_equal_recorded_sizes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
