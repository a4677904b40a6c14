/* Liveness of buffers (cost-semantics 7). float[256] is 1024 bytes, called 1K in the comments. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/liveness.h"
#include "support/run_model.h"
#include "onnxcost.h"

struct seen {
    struct oc_run r;
    struct oc_liveness *l;
};

static struct seen analyze_liveness(struct oc_builder *b, const struct oc_liveness_opts *o)
{
    static const struct oc_liveness_opts plain = {0};
    struct seen s = {.r = oc_run_model(b, NULL)};
    assert_non_null(s.r.a);
    s.l = oc_liveness_make(s.r.a, 0, o ? o : &plain);
    return s;
}

static void seen_free(struct seen *s)
{
    oc_liveness_free(s->l);
    oc_run_free(&s->r);
}

static uint32_t find_value(const struct seen *s, const char *name)
{
    for (uint32_t v = 0; v < s->r.m->n_value; v++)
        if (strcmp(s->r.m->value[v].name, name) == 0)
            return v;
    fail_msg("no value '%s'", name);
    return 0;
}

static const struct oc_life *find_life(const struct seen *s, const char *name)
{
    uint32_t i = s->l->of_value[find_value(s, name)];
    if (i >= OC_LIFE_CALLER)
        fail_msg("'%s' has no buffer", name);
    return &s->l->life[i];
}

static void check_life(const struct seen *s, const char *name, uint32_t first, uint32_t last, uint64_t bytes)
{
    const struct oc_life *l = find_life(s, name);
    if (l->first != first || l->last != last || l->bytes != bytes)
        fail_msg("%s: %u..%u, %llu bytes", name, l->first, l->last, (unsigned long long)l->bytes);
}

static struct oc_builder *chain(void)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[256]");
    oc_b_init(b, "flat", "int64[1]{-1}");
    oc_b_node(b, "Relu", "a", "x", "t", "");
    oc_b_node(b, "Reshape", "view", "t,flat", "u", "");
    oc_b_node(b, "Sigmoid", "c", "u", "v", "");
    oc_b_node(b, "Add", "d", "v,t", "y", "");
    oc_b_output(b, "y", NULL);
    return b;
}

/* Without training the output of a Dropout is its input: 240 bytes, and 60 of a mask or 8 of packed bits. In
 * training it is written. */
static void dropout_shares_its_input_also_with_a_mask(void **state)
{
    (void)state;
    static const struct {
        const char *op, *inputs, *outputs;
        uint64_t peak;
    } row[] = {{"Dropout", "x", "y", 240},
               {"Dropout", "x", "y,mask", 240 + 60},
               {"com.microsoft::BitmaskDropout", "x", "y,mask", 240 + 8},
               {"Dropout", "x,ratio,train", "y,mask", 240 + 240 + 60}};
    for (size_t i = 0; i < OC_COUNT(row); i++) {
        struct oc_builder *b = oc_b_new(13);
        oc_b_opset(b, "com.microsoft", 1);
        oc_b_input(b, "x", "float[3,4,5]");
        oc_b_init(b, "ratio", "float{0.5}");
        oc_b_init(b, "train", "bool{1}");
        oc_b_node(b, row[i].op, "drop", row[i].inputs, row[i].outputs, "");
        oc_b_output(b, "y", NULL);
        if (strchr(row[i].outputs, ','))
            oc_b_output(b, "mask", NULL);
        struct seen s = analyze_liveness(b, NULL);
        assert_int_equal(s.l->peak, row[i].peak);
        seen_free(&s);
    }
}

/* x is live at step 0, t with its view u in one buffer until the last step. Live: x t, t, t v, t v y. */
static void views_share_the_buffer_of_their_source(void **state)
{
    (void)state;
    struct seen s = analyze_liveness(chain(), NULL);
    assert_int_equal(s.l->n_step, 4);
    assert_int_equal(s.l->n_life, 4);
    check_life(&s, "x", 0, 0, 1024);
    check_life(&s, "t", 0, 3, 1024);
    check_life(&s, "v", 2, 3, 1024);
    check_life(&s, "y", 3, 3, 1024);
    assert_ptr_equal(find_life(&s, "t"), find_life(&s, "u"));
    assert_true(find_life(&s, "x")->input && !find_life(&s, "x")->output && find_life(&s, "y")->output);
    static const uint64_t live[] = {2048, 1024, 2048, 3072};
    assert_memory_equal(s.l->live, live, sizeof(live));
    assert_int_equal(s.l->peak, 3072);
    assert_int_equal(s.l->peak_step, 3);
    assert_int_equal(s.l->lower, 3072); /* d: v, t, y */
    assert_int_equal(s.l->quality, OC_EXACT);
    assert_int_equal(s.r.a->peak.bytes, 3072);
    seen_free(&s);
}

/* 1024 rounded up to multiples of 1000 is 2000, four buffers. */
static void buffers_are_rounded_up_to_the_alignment(void **state)
{
    (void)state;
    struct seen s = analyze_liveness(chain(), &(struct oc_liveness_opts){.align = 1000});
    assert_int_equal(s.l->peak, 6000);
    assert_int_equal(s.l->lower, 6000);
    check_life(&s, "t", 0, 3, 2000);
    seen_free(&s);
    s = analyze_liveness(chain(), &(struct oc_liveness_opts){.align = 512});
    assert_int_equal(s.l->peak, 3072);
    seen_free(&s);
}

/* x is kept: x t v y at the end. Without inputs: t v y. */
static void inputs_are_kept_or_excluded_by_option(void **state)
{
    (void)state;
    struct seen s = analyze_liveness(chain(), &(struct oc_liveness_opts){.keep_inputs = true});
    check_life(&s, "x", 0, 3, 1024);
    assert_int_equal(s.l->peak, 4096);
    seen_free(&s);
    s = analyze_liveness(chain(), &(struct oc_liveness_opts){.without_inputs = true});
    assert_int_equal(s.l->of_value[find_value(&s, "x")], OC_LIFE_CALLER);
    assert_int_equal(s.l->n_life, 3);
    assert_int_equal(s.l->live[0], 1024);
    assert_int_equal(s.l->peak, 3072);
    seen_free(&s);
}

/* a writes over x, whose live range ends there. c may not write over u: t, the same buffer, is read later. d
 * writes over v. Two buffers: 2K; d alone needs v and t, 2K. Kept inputs are not overwritten: x t v, 3K. */
static void in_place_reuses_the_buffer_of_the_last_read(void **state)
{
    (void)state;
    struct seen s = analyze_liveness(chain(), &(struct oc_liveness_opts){.inplace = true});
    assert_int_equal(s.l->n_life, 2);
    assert_ptr_equal(find_life(&s, "x"), find_life(&s, "u"));
    assert_ptr_equal(find_life(&s, "v"), find_life(&s, "y"));
    check_life(&s, "x", 0, 3, 1024);
    check_life(&s, "y", 2, 3, 1024);
    assert_true(find_life(&s, "y")->output && find_life(&s, "x")->input);
    assert_int_equal(s.l->peak, 2048);
    assert_int_equal(s.l->lower, 2048);
    seen_free(&s);
    s = analyze_liveness(chain(), &(struct oc_liveness_opts){.inplace = true, .keep_inputs = true});
    assert_int_equal(s.l->peak, 3072);
    seen_free(&s);
}

/* Add of [256] and [1]: the output has the bytes of the first only. MatMul and Softmax write elsewhere. x 1K,
 * o 4 bytes; s 1K. add: x o p; in place p is the buffer of x. soft: p s. */
static void in_place_needs_element_wise_operator_and_equal_bytes(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "o", "float[1]");
    oc_b_input(b, "x", "float[256]");
    oc_b_node(b, "Add", "add", "o,x", "p", "");
    oc_b_node(b, "Softmax", "soft", "p", "s", "");
    oc_b_output(b, "s", NULL);
    struct seen s = analyze_liveness(b, &(struct oc_liveness_opts){.inplace = true});
    assert_ptr_equal(find_life(&s, "p"), find_life(&s, "x"));
    assert_ptr_not_equal(find_life(&s, "p"), find_life(&s, "s"));
    static const uint64_t live[] = {1028, 2048};
    assert_memory_equal(s.l->live, live, sizeof(live));
    seen_free(&s);
}

/* Constants, folded nodes and what only the host reads (the repeats of Tile) take no memory; an
 * output without a reader is live for its step. */
static struct oc_builder *small_things(void)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[256]");
    oc_b_input(b, "r", "int64[1]");
    oc_b_init(b, "w", "float[256]");
    oc_b_init(b, "two", "float[]{2}");
    oc_b_init(b, "axes", "int64[1]{0}");
    oc_b_node(b, "Add", "folded", "two,two", "four", "");
    oc_b_node(b, "ReduceSum", "sum", "x,axes", "scalar", "keepdims=0");
    oc_b_node(b, "Mul", "unread", "x,w", "lost", "");
    oc_b_node(b, "Add", "last", "x,four", "y", "");
    oc_b_output(b, "y", NULL);
    oc_b_output(b, "scalar", NULL);
    return b;
}

static void constants_and_host_values_take_no_memory(void **state)
{
    (void)state;
    struct seen s = analyze_liveness(small_things(), NULL);
    assert_int_equal(s.l->n_step, 3);
    check_life(&s, "scalar", 0, 2, 4);
    assert_int_equal(s.l->of_value[find_value(&s, "w")], OC_LIFE_NONE);
    assert_int_equal(s.l->of_value[find_value(&s, "four")], OC_LIFE_NONE);
    check_life(&s, "lost", 1, 1, 1024);
    check_life(&s, "x", 0, 2, 1024);
    /* r, which no node reads: 8 bytes at step 0; the scalar: 4 */
    static const uint64_t live[] = {1036, 2052, 2052};
    assert_memory_equal(s.l->live, live, sizeof(live));
    seen_free(&s);
    /* counted in full: the scalars four and scalar of 4 bytes too, four from step 0 to 3 */
    s = analyze_liveness(small_things(), &(struct oc_liveness_opts){.all = true});
    static const uint64_t all[] = {1024 + 8 + 4, 1024 + 4 + 4, 1024 + 4 + 4 + 1024, 1024 + 4 + 4 + 1024};
    assert_int_equal(s.l->n_step, 4);
    assert_memory_equal(s.l->live, all, sizeof(all));
    seen_free(&s);
}

/* The branches of the If: then has t u v with u, v of 1K each and t captured; v is the buffer of y. else is
 * smaller. Live outside at the If: t, y = 2K; the body's own: u = 1K. */
static void branch_buffers_are_live_while_the_if_runs(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[256]");
    oc_b_input(b, "go", "bool[]");
    oc_b_node(b, "Relu", "a", "x", "t", "");
    oc_b_node(b, "If", "if", "go", "y", "");
    oc_b_open(b, "then_branch");
    oc_b_node(b, "Sigmoid", "s", "t", "u", "");
    oc_b_node(b, "Softmax", "soft", "u", "v", "");
    oc_b_output(b, "v", NULL);
    oc_b_close(b);
    oc_b_open(b, "else_branch");
    oc_b_node(b, "Neg", "n", "t", "w", "");
    oc_b_output(b, "w", NULL);
    oc_b_close(b);
    oc_b_output(b, "y", NULL);
    struct seen s = analyze_liveness(b, NULL);
    assert_int_equal(s.l->n_step, 2);
    assert_int_equal(s.l->inner[0], 0);
    assert_int_equal(s.l->inner[1], 1024);
    assert_int_equal(s.l->live[1], 3072);
    check_life(&s, "t", 0, 1, 1024); /* its only readers are in the branches */
    struct oc_liveness_maker *bodies = oc_liveness_maker_new(s.r.a, &s.l->opts);
    struct oc_liveness *then = oc_liveness_of_largest(bodies, oc_run_node(&s.r, "if"));
    oc_liveness_maker_free(bodies);
    assert_int_equal(then->peak, 1024);
    assert_int_equal(oc_life_of(then, find_value(&s, "t")), OC_LIFE_CALLER);
    assert_int_equal(oc_life_of(then, OC_NONE), OC_LIFE_NONE);
    oc_liveness_free(then);
    seen_free(&s);
}

/* Loop of 5: state of 1K, scan output [5,256] of 5K. Live outside at the loop: x (initial state), y, all = 1
 * + 1 + 5 = 7K. In the body: the state s during the whole body, t is the buffer of y, u a view of t, z 1K. So
 * the state exists twice, in addition to the initial value: 7 + 1 + 1 = 9K. */
static void loop_state_is_live_during_the_body(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[256]");
    oc_b_init(b, "m", "int64[]{5}");
    oc_b_node(b, "Loop", "loop", "m,,x", "y,all", "");
    oc_b_open(b, "body");
    oc_b_input(b, "i", "int64[]");
    oc_b_input(b, "go", "bool[]");
    oc_b_input(b, "s", "float[256]");
    oc_b_node(b, "Identity", "pass", "go", "go_on", "");
    oc_b_node(b, "Softmax", "first", "s", "z", "");
    oc_b_node(b, "Softmax", "second", "z", "t", "");
    oc_b_output(b, "go_on", NULL);
    oc_b_output(b, "t", NULL);
    oc_b_output(b, "t", NULL);
    oc_b_close(b);
    oc_b_output(b, "y", NULL);
    oc_b_output(b, "all", NULL);
    struct seen s = analyze_liveness(b, NULL);
    assert_int_equal(s.l->n_step, 1);
    check_life(&s, "all", 0, 0, 5 * 1024);
    assert_int_equal(s.l->inner[0], 2049);
    assert_int_equal(s.l->peak, 9 * 1024 + 1); /* and go_on */
    struct oc_liveness_maker *bodies = oc_liveness_maker_new(s.r.a, &s.l->opts);
    struct oc_liveness *body = oc_liveness_of_largest(bodies, 0);
    oc_liveness_maker_free(bodies);
    static const uint64_t live[] = {1033, 2049, 2049}; /* s and go to the end, i, z from the second step on */
    assert_memory_equal(body->live, live, sizeof(live));
    oc_liveness_free(body);
    seen_free(&s);
}

/* past [1,2,8,16] float16 = 512 bytes each; present [1,2,9,16] = 576. Shared, the two are one buffer of 576.
 * K and V of one token: 1*2*1*16*2 = 64 bytes each; q and y with 2 heads have the same size. */
static struct oc_builder *attention(void)
{
    struct oc_builder *b = oc_b_new(23);
    oc_b_input(b, "q", "float16[1,2,1,16]");
    oc_b_input(b, "k", "float16[1,2,1,16]");
    oc_b_input(b, "v", "float16[1,2,1,16]");
    oc_b_input(b, "pk", "float16[1,2,8,16]");
    oc_b_input(b, "pv", "float16[1,2,8,16]");
    oc_b_node(b, "Attention", "att", "q,k,v,,pk,pv", "y,nk,nv", "");
    oc_b_output(b, "y", NULL);
    oc_b_output(b, "nk", NULL);
    oc_b_output(b, "nv", NULL);
    return b;
}

static void shared_kv_caches_are_one_buffer(void **state)
{
    (void)state;
    struct seen s = analyze_liveness(attention(), NULL);
    assert_int_equal(s.l->peak, 4 * 64 + 2 * 512 + 2 * 576);
    seen_free(&s);
    s = analyze_liveness(attention(), &(struct oc_liveness_opts){.kv_share = OC_KV_ON});
    assert_int_equal(s.l->peak, 4 * 64 + 2 * 576);
    assert_ptr_equal(find_life(&s, "pk"), find_life(&s, "nk"));
    assert_true(find_life(&s, "nv")->input && find_life(&s, "nv")->output);
    seen_free(&s);
    s = analyze_liveness(attention(),
                         &(struct oc_liveness_opts){.kv_share = OC_KV_ON, .without_inputs = true});
    assert_int_equal(s.l->peak, 64);
    seen_free(&s);
}

/* A sequence is its elements: a and c are live until the last read of either. */
static void sequence_elements_are_live_with_the_sequence(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[256]");
    oc_b_init(b, "one", "int64[]{1}");
    oc_b_node(b, "Relu", "r", "x", "a", "");
    oc_b_node(b, "Softmax", "f", "x", "c", "");
    oc_b_node(b, "SequenceConstruct", "put", "a,c", "seq", "");
    oc_b_node(b, "Softmax", "g", "a", "d", "");
    oc_b_node(b, "SequenceAt", "get", "seq,one", "e", "");
    oc_b_node(b, "Add", "h", "d,e", "y", "");
    oc_b_output(b, "y", NULL);
    struct seen s = analyze_liveness(b, NULL);
    check_life(&s, "a", 0, 5, 1024);
    check_life(&s, "c", 1, 5, 1024);
    assert_int_equal(s.l->n_life, 5); /* x a c d y */
    assert_int_equal(s.l->quality, OC_EXACT);
    assert_int_equal(s.l->peak, 4096); /* h: a c d y */
    seen_free(&s);
}

/* N from 0 to the bound of Compress: at most 256. An operator without a rule: unknown. */
static void unknown_sizes_lower_the_quality(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[256]");
    oc_b_input(b, "c", "bool[256]");
    oc_b_node(b, "Compress", "z", "x,c", "y", "axis=0");
    oc_b_output(b, "y", NULL);
    struct seen s = analyze_liveness(b, NULL);
    assert_int_equal(s.l->peak, 1024 + 256 + 1024);
    assert_int_equal(s.l->quality, OC_UPPER);
    assert_int_equal(find_life(&s, "y")->quality, OC_UPPER);
    assert_int_equal(find_life(&s, "x")->quality, OC_EXACT);
    seen_free(&s);
    b = oc_b_new(17);
    oc_b_opset(b, "private", 1);
    oc_b_input(b, "x", "float[256]");
    oc_b_node(b, "private::Odd", "z", "x", "y", "");
    oc_b_node(b, "Relu", "r", "y", "t", "");
    oc_b_output(b, "t", NULL);
    s = analyze_liveness(b, NULL);
    assert_int_equal(s.l->quality, OC_UNKNOWN);
    assert_int_equal(find_life(&s, "y")->quality, OC_UNKNOWN);
    assert_int_equal(s.l->peak, 1024);
    seen_free(&s);
}

/* The peak of an analysis uses its options: 3K plain, 4K with the input kept, each rounded up to 2000. */
static void analysis_peak_uses_the_memory_options(void **state)
{
    (void)state;
    static const struct {
        struct oc_analyze_opts o;
        uint64_t peak;
    } ways[] = {{{.strict = false}, 3072},
                {{.keep_inputs = true}, 4096},
                {{.inplace = true}, 2048},
                {{.align_bytes = 1000, .keep_inputs = true}, 8000}};
    for (size_t i = 0; i < OC_COUNT(ways); i++) {
        struct oc_run r = oc_run_model(chain(), &ways[i].o);
        assert_int_equal(r.a->peak.bytes, ways[i].peak);
        oc_run_free(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(views_share_the_buffer_of_their_source),
        cmocka_unit_test(dropout_shares_its_input_also_with_a_mask),
        cmocka_unit_test(buffers_are_rounded_up_to_the_alignment),
        cmocka_unit_test(inputs_are_kept_or_excluded_by_option),
        cmocka_unit_test(in_place_reuses_the_buffer_of_the_last_read),
        cmocka_unit_test(in_place_needs_element_wise_operator_and_equal_bytes),
        cmocka_unit_test(constants_and_host_values_take_no_memory),
        cmocka_unit_test(branch_buffers_are_live_while_the_if_runs),
        cmocka_unit_test(loop_state_is_live_during_the_body),
        cmocka_unit_test(shared_kv_caches_are_one_buffer),
        cmocka_unit_test(sequence_elements_are_live_with_the_sequence),
        cmocka_unit_test(unknown_sizes_lower_the_quality),
        cmocka_unit_test(analysis_peak_uses_the_memory_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
