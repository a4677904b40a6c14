/* Several profiles of one model: rows that no kernel of any profile crosses, times added up and never split.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "join/join.h"
#include "support/build.h"
#include "onnxcost.h"
#include "onnxcost/report.h"

/* conv -> bn -> relu -> mm -> add */
static struct oc_model *model(uint8_t **bytes)
{
    struct oc_builder *b = oc_b_new(13);
    struct oc_model *m;
    struct oc_err e;
    size_t n;
    oc_b_input(b, "x", "float[1,4,8,8]");
    oc_b_init(b, "w", "float[4,4,1,1]");
    oc_b_init(b, "s", "float[4]");
    oc_b_init(b, "m", "float[8,5]");
    oc_b_init(b, "v", "float[5]");
    oc_b_node(b, "Conv", "conv", "x,w", "t1", "");
    oc_b_node(b, "BatchNormalization", "bn", "t1,s,s,s,s", "t2", "");
    oc_b_node(b, "Relu", "relu", "t2", "t3", "");
    oc_b_node(b, "MatMul", "mm", "t3,m", "t4", "");
    oc_b_node(b, "Add", "add", "t4,v", "y", "");
    oc_b_output(b, "y", NULL);
    *bytes = oc_b_pack(b, &n);
    oc_b_free(b);
    if (oc_model_load_mem(*bytes, n, NULL, &m, &e) != 0)
        fail_msg("%s", e.msg);
    return m;
}

struct given {
    const char *name, *type;
    double host_ns, kernel_ns, flop;
};

static void make(struct oc_profile *p, const char *format, const struct given *g, uint32_t n)
{
    *p = (struct oc_profile){.format = format,
                             .producer = "",
                             .device = "",
                             .imported_ns = NAN,
                             .imported_kernel_ns = NAN,
                             .n_rec = n};
    p->rec = calloc(n, sizeof(*p->rec));
    for (uint32_t i = 0; i < n; i++)
        p->rec[i] = (struct oc_prof_rec){.name = g[i].name,
                                         .op_type = g[i].type,
                                         .provider = "",
                                         .precision = "",
                                         .index = -1,
                                         .parent = OC_NONE,
                                         .calls_per_run = 1,
                                         .time_ns = g[i].host_ns,
                                         .self_ns = g[i].host_ns,
                                         .host_ns = g[i].host_ns,
                                         .kernel_ns = g[i].kernel_ns,
                                         .flop = g[i].flop,
                                         .bytes = g[i].flop * 2};
}

/* A names every node; B fused conv + bn + relu, and mm + add: two rows. A: 10 + 5 + 3 and 20 + 2 us. C has
 * kernels only for the first group; Nsight Compute's counters are in D, whose times do not count. */
static void rows_of_several_sources_are_merged(void **state)
{
    (void)state;
    static const struct given a[] = {{"conv", "Conv", 10e3, NAN, NAN},
                                     {"bn", "BatchNormalization", 5e3, NAN, NAN},
                                     {"relu", "Relu", 3e3, NAN, NAN},
                                     {"mm", "MatMul", 20e3, NAN, NAN},
                                     {"add", "Add", 2e3, NAN, NAN}},
                              b[] = {{"conv", "FusedConv", 12e3, NAN, NAN},
                                     {"mm/MatMulAddFusion", "Gemm", 11e3, NAN, NAN},
                                     {"ReorderOutput_token_1", "ReorderOutput", 1e3, NAN, NAN}},
                              c[] = {{"conv + relu", "", 2e3, 7e3, NAN}, {"relu", "", 1e3, 1e3, NAN}},
                              d[] = {{"conv + bn", "", NAN, 900e3, 5000}};
    struct oc_profile p[4];
    struct oc_compare_source source[4];
    uint8_t *bytes;
    struct oc_analysis *an;
    struct oc_err e;
    struct oc_model *m = model(&bytes);
    make(&p[0], "onnxruntime", a, OC_COUNT(a));
    make(&p[1], "onnxruntime", b, OC_COUNT(b));
    make(&p[2], "nsys_sqlite", c, OC_COUNT(c));
    make(&p[3], "ncu_csv", d, OC_COUNT(d));
    assert_int_equal(oc_analyze(m, NULL, &an, &e), 0);
    for (int i = 0; i < 4; i++) {
        struct oc_join *j;
        assert_int_equal(oc_join_make(m, an, &p[i], NULL, &j, &e), 0);
        source[i] = (struct oc_compare_source){.profile = &p[i], .join = j};
    }
    struct oc_compare x;
    oc_compare_make(m, an, source, 4, &x);
    assert_int_equal(x.n, 2);
    const struct oc_compare_row *first = &x.row[0], *second = &x.row[1];
    assert_int_equal(first->cost.n_node, 3);
    assert_int_equal(second->cost.n_node, 2);
    assert_int_equal(first->cost.macs, 64 * 4 * 4); /* 8*8*4 outputs of 4 channels */
    assert_int_equal(first->cost.rd_act, 1024);     /* x; tensors between the members stay inside */
    assert_int_equal(first->cost.wr, 1024);
    assert_true(first->cell[0].time_ns == 18e3 && first->cell[0].records == 3 && !first->cell[0].device);
    assert_true(first->cell[1].time_ns == 12e3 && second->cell[1].time_ns == 11e3);
    assert_true(first->cell[2].time_ns == 8e3 && first->cell[2].device && first->cell[2].host_ns == 3e3);
    assert_true(isnan(second->cell[2].time_ns) && second->cell[2].records == 0);
    assert_true(first->cell[3].flop == 5000 && first->cell[3].bytes == 10000);
    assert_true(x.total_ns[0] == 40e3 && x.total_ns[1] == 23e3 && x.beside_ns[1] == 1e3);
    assert_int_equal(first->chosen, 2); /* kernel times before host times; never those of Nsight Compute */
    assert_int_equal(second->chosen, 0);
    oc_compare_free(&x);
    p[0].stat = OC_STAT_SUM; /* sums over 4 runs are shown as sums */
    p[0].runs_used = 4;
    oc_compare_make(m, an, source, 4, &x);
    assert_true(x.row[0].cell[0].time_ns == 18e3 && x.total_ns[0] == 40e3);
    assert_true(x.row[0].cell[1].time_ns == 12e3 && x.beside_ns[1] == 1e3);
    oc_compare_free(&x);
    for (int i = 0; i < 4; i++) {
        oc_join_free((struct oc_join *)(uintptr_t)source[i].join);
        free(p[i].rec);
    }
    oc_analysis_free(an);
    oc_model_free(m);
    free(bytes);
}

/* Nsight Systems, TensorRT, device times of a runtime, its host times, Nsight Compute. */
static void sources_are_ranked_by_the_quality_of_their_times(void **state)
{
    (void)state;
    static const struct {
        const char *format;
        bool device;
        unsigned rank;
    } row[] = {{"nsys_sqlite", true, 4}, {"nsys_csv", true, 4},     {"tensorrt", true, 3},
               {"onnxruntime", true, 2}, {"onnxruntime", false, 1}, {"chrome_trace", true, 2},
               {"ncu_csv", true, 0}};
    for (size_t i = 0; i < OC_COUNT(row); i++)
        assert_int_equal(oc_compare_rank(&(struct oc_profile){.format = row[i].format}, row[i].device),
                         row[i].rank);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_of_several_sources_are_merged),
                                       cmocka_unit_test(sources_are_ranked_by_the_quality_of_their_times)};
    return cmocka_run_group_tests_name("join/compare", tests, NULL, NULL);
}
