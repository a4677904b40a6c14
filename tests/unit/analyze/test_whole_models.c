/* Whole models: published MAC counts, and the properties of cost-semantics section 12 that apply to any
 * model. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/liveness.h"
#include "support/run_model.h"
#include "zoo.h"
#include "onnxcost.h"

static struct oc_run run_zoo_sized(const struct zoo_model *model, bool symbolic_hw,
                                   const struct oc_analyze_opts *o)
{
    struct zoo z;
    zoo_init(&z, 17);
    z.symbolic_hw = symbolic_hw;
    model->build(&z);
    struct oc_run r = {.a = NULL};
    size_t n;
    r.bytes = oc_b_pack(z.b, &n);
    zoo_free(&z);
    if (oc_model_load_mem(r.bytes, n, NULL, &r.m, &r.err) || oc_analyze(r.m, o, &r.a, &r.err))
        fail_msg("%s: %s", model->name, r.err.msg);
    return r;
}

static struct oc_run run_zoo(const struct zoo_model *model, const struct oc_analyze_opts *o)
{
    return run_zoo_sized(model, false, o);
}

static uint64_t contraction_macs(const struct oc_run *r)
{
    static const char *const type[] = {"Conv", "ConvTranspose", "Gemm",  "MatMul",     "LSTM",
                                       "GRU",  "QLinearConv",   "QGemm", "ConvInteger"};
    uint64_t macs = 0;
    for (uint32_t i = 0; i < r->a->n_by_type; i++)
        for (size_t k = 0; k < OC_COUNT(type); k++)
            if (strcmp(r->a->by_type[i].op_type, type[k]) == 0)
                macs += r->a->by_type[i].macs;
    return macs;
}

static const struct zoo_model *nth_model(size_t i)
{
    return i < zoo_model_count ? &zoo_models[i] : NULL;
}

/* The sizes of "batch=1,sequence=128". */
static size_t binds_of(const struct zoo_model *m, char *text, struct oc_bind *bind, size_t cap)
{
    size_t n = 0;
    for (char *rest = text, *part; (part = strsep(&rest, ",")) && n < cap; n++) {
        char *value = strchr(part, '=');
        if (!value)
            fail_msg("%s: %s", m->name, m->bind);
        *value++ = '\0';
        bind[n] = (struct oc_bind){part, strtoll(value, NULL, 10)};
    }
    return n;
}

/* Exact values: ResNet-18 1,814,073,344; ResNet-50 4,089,184,256; MobileNetV2 300,774,272; VGG-16
 * 15,470,264,320; ViT-B/16 17,563,828,224; BERT-base 11,174,215,680; GPT-2 16,114,089,984 (zoo_list.c,
 * checked by hand in tests/unit/models). */
static void macs_equal_published_values(void **state)
{
    (void)state;
    size_t n = 0;
    for (const struct zoo_model *m; (m = nth_model(n)); n++) {
        char text[64];
        struct oc_bind bind[4];
        snprintf(text, sizeof(text), "%s", m->bind);
        const struct oc_analyze_opts o = {.bind = bind, .n_bind = binds_of(m, text, bind, OC_COUNT(bind))};
        struct oc_run r = run_zoo(m, &o);
        if (contraction_macs(&r) != m->macs)
            fail_msg("%s: %llu MACs, not %llu", m->name, (unsigned long long)contraction_macs(&r),
                     (unsigned long long)m->macs);
        assert_int_equal(r.a->total->macs, m->macs);
        assert_int_equal(r.a->total->unknown_nodes, 0);
        assert_int_equal(r.a->total->quality, OC_EXACT);
        oc_run_free(&r);
    }
    assert_true(n >= 7);
}

/* Property 2: twice the batch doubles MACs; counts independent of it (masks, statistics) stay. */
static void doubling_the_batch_doubles_macs(void **state)
{
    (void)state;
    const struct oc_bind one = {"batch", 1}, two = {"batch", 2};
    for (size_t i = 0; nth_model(i); i++) {
        const struct oc_analyze_opts o1 = {.bind = &one, .n_bind = 1}, o2 = {.bind = &two, .n_bind = 1};
        struct oc_run a = run_zoo(nth_model(i), &o1), b = run_zoo(nth_model(i), &o2);
        assert_int_equal(b.a->total->macs, 2 * a.a->total->macs);
        assert_true(b.a->total->flops <= 2 * a.a->total->flops);
        /* not at most twice: a transposition that moves a batch of 1 is a view, of 2 a copy */
        assert_true(b.a->total->bytes_written > a.a->total->bytes_written);
        assert_int_equal(b.a->total->params, a.a->total->params);
        assert_int_equal(b.a->total->const_bytes, a.a->total->const_bytes);
        oc_run_free(&a);
        oc_run_free(&b);
    }
}

/* Nothing is computed for a batch of 0, and the weights are the same. */
static void an_empty_batch_has_all_parameters(void **state)
{
    (void)state;
    const struct oc_bind none = {"batch", 0}, one = {"batch", 1};
    for (size_t i = 0; nth_model(i); i++) {
        const struct oc_analyze_opts o0 = {.bind = &none, .n_bind = 1}, o1 = {.bind = &one, .n_bind = 1};
        struct oc_run a = run_zoo(nth_model(i), &o0), b = run_zoo(nth_model(i), &o1);
        assert_int_equal(a.a->total->macs, 0);
        assert_int_equal(a.a->total->params, b.a->total->params);
        assert_int_equal(a.a->total->params_all, b.a->total->params_all);
        oc_run_free(&a);
        oc_run_free(&b);
    }
}

/* Property 9: the classes contain every element of every constant, once. */
static void parameter_classes_add_up(void **state)
{
    (void)state;
    for (size_t i = 0; nth_model(i); i++) {
        struct oc_run r = run_zoo(nth_model(i), NULL);
        uint64_t constants = 0, classes = 0, by_node = 0;
        for (uint32_t v = 0; v < r.m->n_value; v++) {
            const struct oc_tensor *t = oc_analysis_constant(r.a, v);
            constants += t ? t->elements : 0;
        }
        for (unsigned c = 0; c < OC_PC_COUNT; c++)
            classes += r.a->class_elems[c];
        for (uint32_t n = 0; n < r.m->n_node; n++)
            by_node += r.a->cost[n].params;
        assert_int_equal(classes, constants);
        assert_int_equal(by_node, r.a->total->params);
        oc_run_free(&r);
    }
}

/* Property 10: the peak is at least what the largest node needs. Sums over nodes equal the totals. */
static void peak_covers_the_largest_node_and_sums_equal_totals(void **state)
{
    (void)state;
    for (size_t i = 0; nth_model(i); i++) {
        struct oc_run r = run_zoo(nth_model(i), NULL);
        uint64_t flops = 0, written = 0;
        assert_int_equal(r.a->peak.quality, OC_EXACT);
        assert_true(r.a->peak.bytes >= r.a->peak.lower_bytes && r.a->peak.lower_bytes > 0);
        for (uint32_t n = 0; n < r.m->n_node; n++) {
            flops += r.a->cost[n].flops;
            written += r.a->cost[n].wr;
        }
        assert_int_equal(flops, r.a->total->flops);
        assert_int_equal(written, r.a->total->bytes_written);
        oc_run_free(&r);
    }
}

/* Property 10: in-place reuse does not increase the peak or its lower bound; larger buffers and kept inputs
 * do not decrease it. ONNX Runtime's order is one of the orders covered by the lower bound; it shares less
 * memory. */
static void memory_options_change_the_peak_monotonically(void **state)
{
    (void)state;
    for (size_t i = 0; nth_model(i); i++) {
        struct oc_run r = run_zoo(nth_model(i), NULL);
        static const struct oc_liveness_opts ways[] = {{.inplace = true},
                                                       {.align = 0},
                                                       {.align = 256},
                                                       {.align = 256, .keep_inputs = true},
                                                       {.order = OC_ORDER_ORT}};
        struct oc_liveness *l[OC_COUNT(ways)];
        for (size_t k = 0; k < OC_COUNT(ways); k++) {
            l[k] = oc_liveness_make(r.a, 0, &ways[k]);
            assert_true(l[k]->peak >= l[k]->lower && l[k]->n_step == l[0]->n_step);
        }
        for (size_t k = 1; k < 4; k++)
            assert_true(l[k - 1]->peak <= l[k]->peak && l[k - 1]->lower <= l[k]->lower);
        assert_true(l[4]->lower >= l[1]->lower);
        for (size_t k = 0; k < OC_COUNT(ways); k++)
            oc_liveness_free(l[k]);
        oc_run_free(&r);
    }
}

/* Property 8: an empty batch computes and moves nothing, and nothing divides by it. */
static void empty_batch_computes_nothing(void **state)
{
    (void)state;
    const struct oc_bind none = {"batch", 0};
    const struct oc_analyze_opts o = {.bind = &none, .n_bind = 1};
    for (size_t i = 0; nth_model(i); i++) {
        struct oc_run r = run_zoo(nth_model(i), &o);
        assert_int_equal(r.a->total->macs, 0);
        oc_run_free(&r);
    }
}

/* Folding changes which nodes cost something, never a shape. */
static void folding_keeps_shapes(void **state)
{
    (void)state;
    const struct oc_analyze_opts o = {.no_fold = true};
    for (size_t i = 0; nth_model(i); i++) {
        struct oc_run a = run_zoo(nth_model(i), NULL), b = run_zoo(nth_model(i), &o);
        for (uint32_t v = 0; v < a.m->n_value; v++) {
            const char *x = oc_type_text(&a.a->arena, a.a->exprs, &a.a->type[v]);
            const char *y = oc_type_text(&b.a->arena, b.a->exprs, &b.a->type[v]);
            if (strcmp(x, y))
                fail_msg("%s: '%s' is %s folded, %s not", nth_model(i)->name, a.m->value[v].name, x, y);
        }
        assert_int_equal(a.a->total->macs, b.a->total->macs);
        oc_run_free(&a);
        oc_run_free(&b);
    }
}

/* Symbolic heights and widths give the same counts as the numbers. */
static void symbolic_sizes_give_the_same_counts(void **state)
{
    (void)state;
    unsigned n = 0;
    for (size_t i = 0; nth_model(i); i++) {
        if (!nth_model(i)->any_size)
            continue;
        struct oc_run fixed = run_zoo(nth_model(i), NULL);
        int64_t side;
        assert_int_equal(sscanf(oc_run_type(&fixed, "input"), "float[%*d,%*d,%" SCNd64, &side), 1);
        const struct oc_bind bind[] = {{"height", side}, {"width", side}};
        const struct oc_analyze_opts o = {.bind = bind, .n_bind = 2};
        struct oc_run open = run_zoo_sized(nth_model(i), true, &o);
        assert_string_equal(oc_run_type(&open, "output"), oc_run_type(&fixed, "output"));
        assert_int_equal(open.a->total->macs, fixed.a->total->macs);
        assert_int_equal(open.a->total->flops, fixed.a->total->flops);
        assert_int_equal(open.a->peak.bytes, fixed.a->peak.bytes);
        assert_int_equal(open.a->total->unknown_nodes, 0);
        oc_run_free(&fixed);
        oc_run_free(&open);
        n++;
    }
    assert_true(n >= 11);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(macs_equal_published_values),
        cmocka_unit_test(doubling_the_batch_doubles_macs),
        cmocka_unit_test(an_empty_batch_has_all_parameters),
        cmocka_unit_test(parameter_classes_add_up),
        cmocka_unit_test(peak_covers_the_largest_node_and_sums_equal_totals),
        cmocka_unit_test(memory_options_change_the_peak_monotonically),
        cmocka_unit_test(empty_batch_computes_nothing),
        cmocka_unit_test(folding_keeps_shapes),
        cmocka_unit_test(symbolic_sizes_give_the_same_counts),
    };
    return cmocka_run_group_tests_name("analyze/whole_models", tests, NULL, NULL);
}
