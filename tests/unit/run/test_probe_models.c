/* The networks of the probe: they load, every size is known, and together they have the kernels that they are for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "estimate/fusion_plan.h"
#include "onnxcost.h"
#include "run/probe_models.h"
#include "support/build.h"

struct opened {
    struct oc_buf file;
    struct oc_model *model;
    struct oc_analysis *analysis;
};

static struct opened open_network(size_t i)
{
    struct opened o = {0};
    struct oc_err err;
    oc_probe_model_write(i, &o.file);
    if (oc_model_load_mem(o.file.data, o.file.n, NULL, &o.model, &err) ||
        oc_analyze(o.model, NULL, &o.analysis, &err))
        fail_msg("%s: %s", oc_probe_model_name(i), err.msg);
    return o;
}

static void close_network(struct opened *o)
{
    oc_analysis_free(o->analysis);
    oc_model_free(o->model);
    oc_buf_free(&o->file);
}

static void a_network_is_always_the_same(void **state)
{
    struct oc_buf a = {0}, b = {0};
    (void)state;
    oc_probe_model_write(0, &a);
    oc_probe_model_write(0, &b);
    assert_int_equal(a.n, b.n);
    assert_memory_equal(a.data, b.data, a.n);
    oc_buf_free(&a);
    oc_buf_free(&b);
}

static void the_files_are_small(void **state)
{
    size_t bytes = 0;
    (void)state;
    for (size_t i = 0; oc_probe_model_name(i); i++) {
        struct oc_buf file = {0};
        oc_probe_model_write(i, &file);
        bytes += file.n;
        oc_buf_free(&file);
    }
    assert_true(bytes > 1e6 && bytes < 32e6);
}

static void every_size_and_cost_is_known(void **state)
{
    (void)state;
    for (size_t i = 0; oc_probe_model_name(i); i++) {
        struct opened o = open_network(i);
        struct oc_totals total;
        const struct oc_diag *diag;
        oc_analysis_total(o.analysis, &total);
        assert_int_equal(oc_analysis_diags(o.analysis, &diag), 0);
        assert_int_equal(total.unknown_nodes, 0);
        assert_int_equal(total.estimated_nodes, 0);
        for (uint32_t v = 0; v < o.model->n_value; v++)
            if (*o.model->value[v].name && !oc_shape_known(&o.analysis->type[v].shape))
                fail_msg("%s: %s", oc_probe_model_name(i), o.model->value[v].name);
        close_network(&o);
    }
}

static void no_weight_is_subnormal(void **state)
{
    (void)state;
    for (size_t i = 0; oc_probe_model_name(i); i++) {
        struct opened o = open_network(i);
        for (uint32_t n = 0; n < o.model->n_node; n++)
            assert_true(oc_subnormal_share(o.model, &n, 1) == 0);
        close_network(&o);
    }
}

struct counts {
    size_t of[OC_KC_COUNT][OC_CLASS_COUNT];
};

static void count_kernels(size_t i, struct counts *c)
{
    struct opened o = open_network(i);
    struct oc_arena a = {0};
    struct oc_kernel_list list;
    oc_fusion_plan(o.model, o.analysis, OC_FUSE_ORT_CPU, &a, &list);
    for (size_t k = 0; k < list.n; k++) {
        const struct oc_kernel *kernel = &list.item[k].kernel;
        bool first = true;
        for (size_t p = 0; p < k; p++)
            first = first && list.item[p].kernel.signature != kernel->signature;
        assert_true(list.item[k].known);
        c->of[kernel->cls][kernel->dtype] += first;
    }
    oc_arena_free(&a);
    close_network(&o);
}

/* Different kernels of each class: at two sizes at least, the common ones at many. */
static void every_common_class_of_kernels_is_there(void **state)
{
    static const struct {
        unsigned cls, dtype;
        size_t least;
    } wanted[] = {
        {OC_KC_GEMM, OC_CLASS_F32, 10},
        {OC_KC_GEMV, OC_CLASS_F32, 8},
        {OC_KC_BATCHED_GEMM, OC_CLASS_F32, 8},
        {OC_KC_CONV_1X1, OC_CLASS_F32, 20},
        {OC_KC_CONV_KXK, OC_CLASS_F32, 8},
        {OC_KC_CONV_DEPTHWISE, OC_CLASS_F32, 8},
        {OC_KC_CONV_GROUPED, OC_CLASS_F32, 2},
        {OC_KC_CONV_PLAIN, OC_CLASS_F32, 2},
        {OC_KC_CONV_TRANSPOSED, OC_CLASS_F32, 2},
        {OC_KC_RNN, OC_CLASS_F32, 3},
        {OC_KC_ELEMENTWISE, OC_CLASS_F32, 20},
        {OC_KC_ACTIVATION, OC_CLASS_F32, 8},
        {OC_KC_SOFTMAX, OC_CLASS_F32, 6},
        {OC_KC_NORM, OC_CLASS_F32, 6},
        {OC_KC_REDUCE, OC_CLASS_F32, 8},
        {OC_KC_POOL, OC_CLASS_F32, 8},
        {OC_KC_RESIZE, OC_CLASS_F32, 2},
        {OC_KC_TRANSPOSE, OC_CLASS_F32, 8},
        {OC_KC_COPY, OC_CLASS_F32, 8},
        {OC_KC_GATHER, OC_CLASS_F32, 2},
        {OC_KC_SORT, OC_CLASS_F32, 2},
        {OC_KC_CONTROL, OC_CLASS_F32, 4},
        {OC_KC_REORDER, OC_CLASS_F32, 8},
        {OC_KC_CONV_1X1, OC_CLASS_I8, 2},
        {OC_KC_CONV_KXK, OC_CLASS_I8, 2},
        {OC_KC_CONV_DEPTHWISE, OC_CLASS_I8, 2},
        {OC_KC_GEMM, OC_CLASS_I8, 2},
    };
    struct counts c = {0};
    (void)state;
    for (size_t i = 0; oc_probe_model_name(i); i++)
        count_kernels(i, &c);
    for (size_t i = 0; i < OC_COUNT(wanted); i++)
        if (c.of[wanted[i].cls][wanted[i].dtype] < wanted[i].least)
            fail_msg("%s of type %u: %zu", oc_kernel_class_name(wanted[i].cls), wanted[i].dtype,
                     c.of[wanted[i].cls][wanted[i].dtype]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_network_is_always_the_same),           cmocka_unit_test(the_files_are_small),
        cmocka_unit_test(every_size_and_cost_is_known),           cmocka_unit_test(no_weight_is_subnormal),
        cmocka_unit_test(every_common_class_of_kernels_is_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
