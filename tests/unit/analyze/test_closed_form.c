/* Property 3 of the counting rules: a closed form equals the count wherever it claims to be valid. And
 * sweeps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/closed_form.h"
#include "zoo.h"
#include "onnxcost.h"

struct loaded {
    uint8_t *bytes;
    struct oc_model *model;
};

static void load(struct loaded *l, struct oc_builder *b)
{
    size_t n;
    struct oc_err err;
    l->bytes = oc_b_pack(b, &n);
    if (oc_model_load_mem(l->bytes, n, NULL, &l->model, &err))
        fail_msg("%s", err.msg);
}

static void load_zoo(struct loaded *l, const char *name, bool symbolic_hw)
{
    struct zoo z;
    zoo_init(&z, 17);
    z.symbolic_hw = symbolic_hw;
    zoo_find(name)->build(&z);
    load(l, z.b);
    zoo_free(&z);
}

static void unload(struct loaded *l)
{
    oc_model_free(l->model);
    free(l->bytes);
}

static struct oc_closed_form *formula_of(const struct loaded *l, const struct oc_analyze_opts *o)
{
    struct oc_closed_form *f;
    struct oc_err err;
    if (oc_closed_form_make(l->model, o, &f, &err))
        fail_msg("%s", err.msg);
    return f;
}

static void count(const struct loaded *l, const struct oc_closed_form *f, const int64_t *at, uint64_t *value)
{
    struct oc_bind bind[OC_RPOLY_VARS];
    struct oc_analysis *a;
    struct oc_err err;
    for (size_t k = 0; k < oc_closed_form_symbols(f); k++)
        bind[k] = (struct oc_bind){oc_closed_form_symbol(f, k), at[k]};
    const struct oc_analyze_opts o = {.bind = bind, .n_bind = oc_closed_form_symbols(f)};
    if (oc_analyze(l->model, &o, &a, &err))
        fail_msg("%s", err.msg);
    for (unsigned m = 0; m < OC_METRIC_COUNT; m++)
        value[m] = oc_metric_of(a, (enum oc_metric)m);
    oc_analysis_free(a);
}

/* Returns the number of formulas that are valid at the point. */
static unsigned compare(const struct loaded *l, const struct oc_closed_form *f, const int64_t *at)
{
    uint64_t value[OC_METRIC_COUNT];
    unsigned n = 0;
    count(l, f, at, value);
    for (unsigned m = 0; m < OC_METRIC_COUNT; m++) {
        uint64_t v;
        if (!oc_closed_form_at(f, (enum oc_metric)m, at, &v))
            continue;
        if (v != value[m])
            fail_msg("%s: %llu, formula %llu", oc_metric_info((enum oc_metric)m)->key,
                     (unsigned long long)value[m], (unsigned long long)v);
        n++;
    }
    return n;
}

static void closed_form_of_bert_matches_counts(void **state)
{
    (void)state;
    struct loaded l;
    load_zoo(&l, "bert_base", false);
    struct oc_closed_form *f = formula_of(&l, NULL);
    assert_int_equal(oc_closed_form_symbols(f), 2);
    assert_string_equal(oc_closed_form_symbol(f, 0), "batch");
    assert_string_equal(oc_closed_form_symbol(f, 1), "sequence");
    /* a layer: 4 * 768^2 + 2 * 768 * 3072 = 7077888 per token, times 12; scores and weighted sum 2 * 768 * s
     * per token, times 12; pooler 768^2 per sequence */
    assert_string_equal(oc_closed_form_text(f, OC_METRIC_MACS),
                        "batch*(18432*sequence^2 + 84934656*sequence + 589824)");
    assert_string_equal(oc_closed_form_text(f, OC_METRIC_PARAMS), "109482240");
    for (int64_t batch = 1; batch < 40; batch = batch * 3 + 1)
        for (int64_t sequence = 2; sequence <= 512; sequence = sequence * 2 + 3)
            assert_true(compare(&l, f, (const int64_t[]){batch, sequence}) >= OC_METRIC_COUNT - 1);
    /* Peak activation memory is the maximum of several terms. For short sequences: three results of 3072
     * floats in the GELU, 768 for the residual and one of the mask per token, 4 * (3 * 3072 + 768 + 1) =
     * 39940; for long ones the scores. */
    assert_string_equal(oc_closed_form_text(f, OC_METRIC_PEAK), "39940*batch*sequence");
    assert_int_equal(compare(&l, f, (const int64_t[]){3, 128}), OC_METRIC_COUNT);
    assert_int_equal(compare(&l, f, (const int64_t[]){3, 512}), OC_METRIC_COUNT - 1);
    /* 512 positions are embedded: the formula makes no claim for longer sequences */
    assert_int_equal(compare(&l, f, (const int64_t[]){3, 513}), 0);
    assert_true(f->result[OC_METRIC_PEAK].axis[1].piece);
    assert_int_equal(oc_closed_form_findings(f), 1);
    oc_closed_form_free(f);
    unload(&l);
}

static void closed_form_of_gpt2_matches_counts(void **state)
{
    (void)state;
    struct loaded l;
    load_zoo(&l, "gpt2", false);
    struct oc_closed_form *f = formula_of(&l, NULL);
    /* a layer: 12 * 768^2 = 7077888 per token, times 12, and the output embedding of 768 * 50257 = 38597376
     */
    assert_string_equal(oc_closed_form_text(f, OC_METRIC_MACS),
                        "batch*(18432*sequence^2 + 123532032*sequence)");
    for (int64_t sequence = 2; sequence <= 1024; sequence = sequence * 3 + 1)
        assert_int_equal(compare(&l, f, (const int64_t[]){5, sequence}), OC_METRIC_COUNT);
    oc_closed_form_free(f);
    unload(&l);
}

static void closed_form_of_resnet50_holds_on_multiples_of_its_stride(void **state)
{
    (void)state;
    struct loaded l;
    load_zoo(&l, "resnet50", true);
    struct oc_closed_form *f = formula_of(&l, NULL);
    assert_int_equal(oc_closed_form_symbols(f), 3);
    /* 4089184256 at 224 x 224 with a classifier of 2048 * 1000: (4089184256 - 2048000) / 224^2 = 81456 */
    assert_string_equal(oc_closed_form_text(f, OC_METRIC_MACS), "batch*(81456*height*width + 2048000)");
    const struct oc_fit_axis *a = f->result[OC_METRIC_MACS].axis;
    assert_int_equal(a[0].step, 1);
    assert_int_equal(a[1].step, 32);
    assert_int_equal(a[2].step, 32);
    assert_int_equal(f->result[OC_METRIC_PARAMS].axis[1].step, 1);
    /* MACs, FLOPs, activation bytes: read, written, peak */
    assert_int_equal(oc_closed_form_findings(f), 5);
    /* peak from 224 on: three results of 256 floats on a sixteenth of the pixels: 4 * 768 / 16 = 192 bytes
     * per pixel */
    assert_string_equal(oc_closed_form_text(f, OC_METRIC_PEAK), "192*batch*height*width");
    assert_int_equal(compare(&l, f, (const int64_t[]){1, 224, 640}), OC_METRIC_COUNT);
    assert_int_equal(compare(&l, f, (const int64_t[]){7, 1024, 96}), OC_METRIC_COUNT - 1);
    /* elsewhere only what does not depend on the size: OPs, weights, parameters */
    assert_int_equal(compare(&l, f, (const int64_t[]){2, 225, 224}), 3);
    /* the formula would be wrong there */
    uint64_t value[OC_METRIC_COUNT];
    count(&l, f, (const int64_t[]){1, 225, 224}, value);
    assert_int_not_equal(value[OC_METRIC_MACS], 81456LL * 225 * 224 + 2048000);
    oc_closed_form_free(f);
    unload(&l);
}

static void closed_form_omits_bound_dimensions(void **state)
{
    (void)state;
    struct loaded l;
    load_zoo(&l, "bert_base", false);
    const struct oc_bind bind = {"sequence", 128};
    const struct oc_analyze_opts o = {.bind = &bind, .n_bind = 1};
    struct oc_closed_form *f = formula_of(&l, &o);
    assert_int_equal(oc_closed_form_symbols(f), 1);
    /* 18432 * 128^2 + 84934656 * 128 + 589824 */
    assert_string_equal(oc_closed_form_text(f, OC_METRIC_MACS), "11174215680*batch");
    oc_closed_form_free(f);
    const struct oc_analyze_opts unknown = {.no_defaults = true};
    struct oc_err err;
    assert_int_equal(oc_closed_form_make(l.model, &unknown, &f, &err), -1);
    assert_null(f);
    const struct oc_analyze_opts wrong = {.size = 1};
    assert_int_equal(oc_closed_form_open(l.model, &wrong, &f, &err), -1);
    assert_null(f);
    const struct oc_bind missing = {"width", 8};
    const struct oc_analyze_opts unused = {.bind = &missing, .n_bind = 1};
    assert_int_equal(oc_closed_form_open(l.model, &unused, &f, &err), -1);
    assert_null(f);
    assert_non_null(strstr(err.msg, "no dimension is named 'width'"));
    unload(&l);
}

/* ---- small graphs ---- */

static struct oc_closed_form *formula_of_graph(struct loaded *l, struct oc_builder *b)
{
    load(l, b);
    oc_b_free(b);
    return formula_of(l, NULL);
}

static void closed_form_without_symbols_is_constant(void **state)
{
    (void)state;
    struct loaded l;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[2,3]");
    oc_b_init(b, "w", "float[3,5]");
    oc_b_node(b, "MatMul", "n", "x,w", "y", "");
    oc_b_output(b, "y", NULL);
    struct oc_closed_form *f = formula_of_graph(&l, b);
    assert_int_equal(oc_closed_form_symbols(f), 0);
    assert_string_equal(oc_closed_form_text(f, OC_METRIC_MACS), "30");
    oc_closed_form_free(f);
    unload(&l);
}

/* Two inputs whose symbols have different names but must be equal. */
static void closed_form_ties_symbols_that_must_be_equal(void **state)
{
    (void)state;
    struct loaded l;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[seq_a,16]");
    oc_b_input(b, "y", "float[16,seq_b]");
    oc_b_node(b, "MatMul", "n", "x,y", "xy", "");
    oc_b_input(b, "z", "float[seq_a,seq_c]");
    oc_b_node(b, "Add", "m", "xy,z", "o", "");
    oc_b_output(b, "o", NULL);
    struct oc_closed_form *f = formula_of_graph(&l, b);
    assert_int_equal(oc_closed_form_symbols(f), 2);
    assert_int_equal(oc_fit_vars(f->fit)[2].role, OC_FIT_TIED); /* seq_c follows seq_b */
    assert_int_equal(oc_fit_vars(f->fit)[2].tied_to, 1);
    assert_string_equal(oc_closed_form_text(f, OC_METRIC_MACS), "16*seq_a*seq_b");
    oc_closed_form_free(f);
    unload(&l);
}

/* NonZero gives at most as many rows as there are elements: the count after it is an upper bound and marked
 * as one. */
static void closed_form_marks_upper_bounds(void **state)
{
    (void)state;
    struct loaded l;
    struct oc_builder *b = oc_b_new(17);
    char *text = NULL;
    size_t size;
    struct oc_err err;
    oc_b_input(b, "x", "float[n,16]");
    oc_b_node(b, "NonZero", "z", "x", "i", "");
    oc_b_node(b, "Transpose", "t", "i", "p", "perm=1,0");
    oc_b_node(b, "Cast", "c", "p", "q", "to=1");
    oc_b_init(b, "w", "float[2,5]");
    oc_b_node(b, "MatMul", "m", "q,w", "y", "");
    oc_b_output(b, "y", NULL);
    struct oc_closed_form *f = formula_of_graph(&l, b);
    assert_string_equal(oc_closed_form_text(f, OC_METRIC_MACS), "160*n"); /* 16 n rows at most, 2 * 5 each */
    assert_int_equal(oc_trust_quality(&f->trust, OC_METRIC_MACS), OC_UPPER);
    assert_int_equal(oc_closed_form_findings(f), OC_METRIC_COUNT - 1); /* all except the parameters */
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(oc_closed_form_write(f, NULL, 0, out, &err), 0);
    fclose(out);
    assert_non_null(strstr(text, "MACs             <= 160*n\n"));
    free(text);
    oc_closed_form_free(f);
    unload(&l);
}

static void closed_form_of_unknown_operators_is_unknown(void **state)
{
    (void)state;
    struct loaded l;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[n,16]");
    oc_b_init(b, "w", "float[16,5]");
    oc_b_node(b, "MatMul", "m", "x,w", "y", "");
    oc_b_node(b, "example.com::Strange", "s", "y", "z", "");
    oc_b_opset(b, "example.com", 1);
    oc_b_output(b, "z", NULL);
    struct oc_closed_form *f = formula_of_graph(&l, b);
    assert_string_equal(oc_closed_form_text(f, OC_METRIC_MACS), "80*n");
    assert_int_equal(oc_trust_quality(&f->trust, OC_METRIC_MACS), OC_LOWER);
    assert_int_equal(f->trust.unknown_nodes, 1);
    oc_closed_form_free(f);
    unload(&l);
}

/* ---- sweeps ---- */

static void sweep_evaluates_every_point(void **state)
{
    (void)state;
    struct loaded l;
    struct oc_sweep *s;
    struct oc_err err;
    const struct oc_sweep_row *row;
    load_zoo(&l, "bert_base", false);
    const int64_t batch[] = {1, 8}, sequence[] = {128, 384, 513};
    const struct oc_sweep_axis axis[] = {{"batch", batch, 2}, {"sequence", sequence, 3}};
    assert_int_equal(oc_sweep_make(l.model, NULL, axis, 2, &s, &err), 0);
    assert_int_equal(oc_sweep_rows(s, &row), 6);
    /* the last axis varies fastest; counts from the formula of closed_form_of_bert_matches_counts */
    for (size_t i = 0; i < 6; i++) {
        uint64_t n = (uint64_t)row[i].at[0], k = (uint64_t)row[i].at[1];
        assert_int_equal(n, batch[i / 3]);
        assert_int_equal(k, sequence[i % 3]);
        if (k <= 512)
            assert_int_equal(row[i].value[OC_METRIC_MACS], n * (18432 * k * k + 84934656 * k + 589824));
        assert_int_equal(row[i].unknown_nodes > 0, k > 512);
        assert_null(row[i].failure);
    }
    assert_int_equal(oc_sweep_findings(s), 2);
    oc_sweep_free(s);
    unload(&l);
}

static void expect_sweep_error(const struct loaded *l, const struct oc_analyze_opts *o,
                               const struct oc_sweep_axis *axis, size_t n_axis, const char *message)
{
    struct oc_sweep *s;
    struct oc_err err;
    assert_int_equal(oc_sweep_make(l->model, o, axis, n_axis, &s, &err), -1);
    assert_null(s);
    if (!strstr(err.msg, message))
        fail_msg("'%s' is not in '%s'", message, err.msg);
}

static void rejects_invalid_sweeps(void **state)
{
    (void)state;
    struct loaded l;
    load_zoo(&l, "resnet18", false);
    static int64_t many[1000];
    const int64_t one[] = {1};
    const struct oc_bind bind = {"batch", 2};
    const struct oc_analyze_opts bound = {.bind = &bind, .n_bind = 1};
    expect_sweep_error(&l, NULL, &(struct oc_sweep_axis){"nonsense", one, 1}, 1,
                       "no dimension is named 'nonsense'");
    expect_sweep_error(&l, NULL, &(struct oc_sweep_axis){"batch", one, 0}, 1, "has no sizes");
    expect_sweep_error(&l, &bound, &(struct oc_sweep_axis){"batch", one, 1}, 1, "both bound and swept");
    expect_sweep_error(&l, NULL, (const struct oc_sweep_axis[]){{"batch", one, 1}, {"batch", one, 1}}, 2,
                       "twice");
    expect_sweep_error(&l, NULL, (const struct oc_sweep_axis[]){{"a", many, 1000}, {"b", many, 1000}}, 2,
                       "more than 100000 combinations");
    unload(&l);
}

/* Only the row that overflows fails. */
static void sweep_row_that_overflows_fails_alone(void **state)
{
    (void)state;
    struct loaded l;
    struct oc_sweep *s;
    struct oc_err err;
    const struct oc_sweep_row *row;
    char *text = NULL;
    size_t size;
    load_zoo(&l, "resnet18", false);
    const int64_t batch[] = {1, INT64_MAX};
    assert_int_equal(oc_sweep_make(l.model, NULL, &(struct oc_sweep_axis){"batch", batch, 2}, 1, &s, &err),
                     0);
    assert_int_equal(oc_sweep_rows(s, &row), 2);
    assert_null(row[0].failure);
    assert_int_equal(row[0].value[OC_METRIC_MACS], 1814073344);
    assert_true(row[1].failure || row[1].quality == OC_UNKNOWN);
    assert_int_equal(oc_sweep_findings(s), 1);
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(oc_sweep_write(s, "json", 0, out, &err), 0);
    assert_int_equal(oc_sweep_write(s, "yaml", 0, out, &err), -1);
    fclose(out);
    assert_non_null(strstr(text, "\"macs\": 1814073344"));
    free(text);
    oc_sweep_free(s);
    unload(&l);
}

/* A thousand unknown sizes: rejected immediately, with a hint. */
static void closed_form_rejects_too_many_symbols(void **state)
{
    (void)state;
    struct loaded l;
    struct oc_closed_form *f;
    struct oc_err err = {0};
    struct oc_builder *b = oc_b_new(17);
    for (int i = 0; i < 1000; i++) {
        char name[16], type[32];
        snprintf(name, sizeof(name), "x%d", i);
        snprintf(type, sizeof(type), "float[s%d]", i);
        oc_b_input(b, name, type);
    }
    oc_b_node(b, "Relu", "n", "x0", "y", "");
    oc_b_output(b, "y", NULL);
    load(&l, b);
    oc_b_free(b);
    assert_int_equal(oc_closed_form_make(l.model, NULL, &f, &err), -1);
    assert_int_equal(err.code, OC_ELIMIT);
    assert_non_null(strstr(err.msg, "--dim"));
    unload(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_form_rejects_too_many_symbols),
        cmocka_unit_test(closed_form_of_bert_matches_counts),
        cmocka_unit_test(closed_form_of_gpt2_matches_counts),
        cmocka_unit_test(closed_form_of_resnet50_holds_on_multiples_of_its_stride),
        cmocka_unit_test(closed_form_omits_bound_dimensions),
        cmocka_unit_test(closed_form_without_symbols_is_constant),
        cmocka_unit_test(closed_form_ties_symbols_that_must_be_equal),
        cmocka_unit_test(closed_form_marks_upper_bounds),
        cmocka_unit_test(closed_form_of_unknown_operators_is_unknown),
        cmocka_unit_test(sweep_evaluates_every_point),
        cmocka_unit_test(rejects_invalid_sweeps),
        cmocka_unit_test(sweep_row_that_overflows_fails_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
