/* Energy of arithmetic and DRAM traffic, by hand from the published tables. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "onnxcost.h"
#include "onnxcost/energy.h"
#include "support/build.h"

struct made {
    struct oc_model *m;
    struct oc_analysis *a;
    struct oc_energy *e;
    struct oc_err err;
    const struct oc_energy_info *i;
    const struct oc_energy_row *row;
    size_t n_row;
};

static int make(struct made *k, struct oc_builder *b, const struct oc_analyze_opts *opts, const char *what)
{
    size_t n;
    *k = (struct made){0};
    uint8_t *bytes = oc_b_pack(b, &n);
    oc_b_free(b);
    if (oc_model_load_mem(bytes, n, NULL, &k->m, &k->err) || oc_analyze(k->m, opts, &k->a, &k->err))
        fail_msg("%s", k->err.msg);
    free(bytes);
    if (oc_energy_make(k->a, what, &k->e, &k->err))
        return -1;
    k->i = oc_energy_info(k->e);
    k->n_row = oc_energy_rows(k->e, &k->row);
    return 0;
}

static void end(struct made *k)
{
    oc_energy_free(k->e);
    oc_analysis_free(k->a);
    oc_model_free(k->m);
}

static void assert_near(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%.12g instead of %.12g", found, expected);
}

/* MatMul [3,4] x [4,5], then Relu: 60 MACs and 15 comparisons of one type. */
static struct oc_builder *two_operators(const char *type, const char *weight)
{
    char x[32], w[32];
    struct oc_builder *b = oc_b_new(17);
    snprintf(x, sizeof(x), "%s[3,4]", type);
    snprintf(w, sizeof(w), "%s[4,5]", weight);
    oc_b_input(b, "x", x);
    oc_b_init(b, "w", w);
    oc_b_node(b, "MatMul", "m", "x,w", "y", "");
    oc_b_node(b, "Relu", "r", "y", "z", "");
    oc_b_output(b, "z", NULL);
    return b;
}

static void counts_products_sums_and_bytes(void **state)
{
    (void)state;
    static const struct {
        const char *type, *what, *memory;
        double mac_pj, compare_pj, lo_pj, hi_pj;
        unsigned bytes;
    } t[] = {
        {"float", "7nm", "ddr4", 1.31 + 0.38, 0.38, 1300, 1300, 4},
        {"float", "7nm,hbm2", "hbm2", 1.31 + 0.38, 0.38, 250, 450, 4},
        {"float", "7nm,gddr6", "gddr6", 1.31 + 0.38, 0.38, 350, 480, 4},
        {"float16", "7nm", "ddr4", 0.34 + 0.16, 0.16, 1300, 1300, 2},
        {"bfloat16", "7nm", "ddr4", 0.21 + 0.11, 0.11, 1300, 1300, 2},
        {"float", "45nm", "dram", 3.7 + 0.9, 0.9, 1300, 2600, 4},
        {"float16", "45nm,dram", "dram", 1.1 + 0.4, 0.4, 1300, 2600, 2},
        {"double", "45nm", "dram", 3.7 + 0.9, 0.9, 1300, 2600, 8}, /* no figure: at least that of float */
    };
    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        struct made k;
        assert_int_equal(make(&k, two_operators(t[i].type, t[i].type), NULL, t[i].what), 0);
        assert_int_equal(k.n_row, 2);
        assert_string_equal(k.i->memory, t[i].memory);
        assert_near(k.row[0].compute_pj, 60 * t[i].mac_pj);
        assert_near(k.row[1].compute_pj, 15 * t[i].compare_pj);
        assert_near(k.i->compute_pj, 60 * t[i].mac_pj + 15 * t[i].compare_pj);
        assert_int_equal(k.row[0].moved_bytes, (12 + 20 + 15) * t[i].bytes);
        assert_int_equal(k.i->moved_bytes, (12 + 20 + 15 + 15 + 15) * t[i].bytes);
        assert_int_equal(k.i->graph_bytes, (12 + 20 + 15) * t[i].bytes);
        assert_near(k.i->memory_lo_pj, t[i].lo_pj);
        assert_near(k.i->memory_hi_pj, t[i].hi_pj);
        assert_int_equal(k.i->unknown_operators, 0);
        end(&k);
    }
}

static void sums_integer_products_in_32_bits(void **state)
{
    (void)state;
    struct made k;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "uint8[3,4]");
    oc_b_init(b, "w", "int8[4,5]");
    oc_b_node(b, "MatMulInteger", "m", "x,w", "y", "");
    oc_b_output(b, "y", NULL);
    assert_int_equal(make(&k, b, NULL, "7nm"), 0);
    assert_near(k.i->compute_pj, 60 * (0.07 + 0.03));
    assert_int_equal(k.i->graph_bytes, 12 + 20 + 15 * 4);
    end(&k);
}

/* A conversion may take less than an addition. */
static void leaves_out_what_has_no_figure(void **state)
{
    (void)state;
    struct made k;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[3,4]");
    oc_b_node(b, "Cast", "c", "x", "y", "to=10");
    oc_b_output(b, "y", NULL);
    assert_int_equal(make(&k, b, NULL, "7nm"), 0);
    assert_true(k.row[0].known);
    assert_near(k.i->compute_pj, 0);
    assert_int_equal(k.i->moved_bytes, 12 * (4 + 2));
    end(&k);
}

static void unknown_figures_are_not_zero(void **state)
{
    (void)state;
    struct made k;
    assert_int_equal(make(&k, two_operators("bfloat16", "bfloat16"), NULL, "45nm"), 0);
    assert_int_equal(k.i->unknown_operators, 2);
    assert_false(k.row[0].known);
    assert_string_equal(k.row[0].note, "no published energy for bf16");
    end(&k);
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[3,4]");
    oc_b_node(b, "Mystery", "m", "x", "y", "");
    oc_b_output(b, "y", NULL);
    assert_int_equal(make(&k, b, NULL, "7nm"), 0);
    assert_int_equal(k.i->operators, 1);
    assert_int_equal(k.i->unknown_operators, 1);
    assert_int_equal(k.i->uncounted_operators, 1);
    assert_false(k.row[0].counted);
    assert_int_equal(k.i->graph_quality, OC_UNKNOWN); /* the output has no size */
    end(&k);
}

static void qualities_are_those_of_the_counts(void **state)
{
    (void)state;
    struct made k;
    struct oc_analyze_opts open = {.size = sizeof(open), .no_defaults = true};
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[3,4]");
    oc_b_node(b, "Relu", "r", "x", "y", "");
    oc_b_node(b, "NonZero", "nz", "y", "z", ""); /* at most 12 places */
    oc_b_output(b, "z", NULL);
    assert_int_equal(make(&k, b, &open, "7nm"), 0);
    assert_int_equal(k.i->quality, OC_UPPER);
    assert_int_equal(k.i->graph_quality, OC_UPPER);
    assert_int_equal(k.i->graph_bytes, 12 * 4 + 2 * 12 * 8);
    end(&k);
    assert_int_equal(make(&k, two_operators("float", "float"), NULL, "7nm"), 0);
    assert_int_equal(k.i->quality, OC_EXACT);
    assert_int_equal(k.i->graph_quality, OC_EXACT);
    end(&k);
}

static void repeated_bodies_count_each_time(void **state)
{
    (void)state;
    struct made k;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[2,4]");
    oc_b_init(b, "trips", "int64[]{3}");
    oc_b_init(b, "go", "bool[]{1}");
    oc_b_node(b, "Loop", "loop", "trips,go,x", "y", "");
    oc_b_open(b, "body");
    oc_b_input(b, "i", "int64[]");
    oc_b_input(b, "more", "bool[]");
    oc_b_input(b, "s", "float[2,4]");
    oc_b_node(b, "Add", "add", "s,s", "v", "");
    oc_b_output(b, "more", NULL);
    oc_b_output(b, "v", NULL);
    oc_b_close(b);
    oc_b_output(b, "y", NULL);
    assert_int_equal(make(&k, b, NULL, "7nm"), 0);
    assert_near(k.i->compute_pj, 3 * 8 * 0.38);
    end(&k);
}

static void refuses_what_is_not_published(void **state)
{
    (void)state;
    static const struct {
        const char *what, *why;
    } bad[] = {
        {"5nm", "unknown process '5nm'"},
        {"", "unknown process ''"},
        {"7nm,", "unknown memory ''"},
        {"45nm,hbm2", "unknown memory 'hbm2'"},
        {"7nm,hbm2,x", "unknown memory 'hbm2,x'"},
    };
    struct made k;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(make(&k, two_operators("float", "float"), NULL, bad[i].what), -1);
        assert_int_equal(k.err.code, OC_EARG);
        assert_memory_equal(k.err.msg, bad[i].why, strlen(bad[i].why));
        end(&k);
    }
    struct oc_analyze_opts thop = {.size = sizeof(thop), .convention = "thop"};
    assert_int_equal(make(&k, two_operators("float", "float"), &thop, "7nm"), -1);
    end(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_products_sums_and_bytes),
        cmocka_unit_test(sums_integer_products_in_32_bits),
        cmocka_unit_test(leaves_out_what_has_no_figure),
        cmocka_unit_test(unknown_figures_are_not_zero),
        cmocka_unit_test(repeated_bodies_count_each_time),
        cmocka_unit_test(qualities_are_those_of_the_counts),
        cmocka_unit_test(refuses_what_is_not_published),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
