/* Memory plans of whole models. float[256] is 1024 bytes, called 1K in the comments. */
#include "memory/memory_report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "memory/memory_plan.h"
#include "support/run_model.h"
#include "onnxcost.h"
#include "onnxcost/memory.h"

struct made {
    struct oc_run r;
    struct oc_memory_plan *p;
    struct oc_err err;
};

static struct made make_plan(struct oc_builder *b, const struct oc_analyze_opts *a,
                             const struct oc_plan_opts *o)
{
    struct made m = {.r = oc_run_model(b, a)};
    assert_non_null(m.r.a);
    if (oc_memory_plan_make(m.r.a, o, &m.p, &m.err))
        m.p = NULL;
    return m;
}

static void made_free(struct made *m)
{
    oc_memory_plan_free(m->p);
    oc_run_free(&m->r);
}

static const struct oc_planned_buffer *find_buffer(const struct made *m, const char *value)
{
    for (uint32_t i = 0; m->p && i < m->p->n_buffer; i++)
        if (m->p->buffer[i].value != OC_NONE && !strcmp(m->r.m->value[m->p->buffer[i].value].name, value))
            return &m->p->buffer[i];
    fail_msg("no buffer for '%s'", value);
    return NULL;
}

/* x (1K) -> a (4K) -> b (1K) and x -> c (4K) -> d (1K), then b + d = y (1K); listed a c b d y. */
static struct oc_builder *two_branches(void)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[1,256]");
    oc_b_init(b, "up", "float[4,1]");
    oc_b_init(b, "axes", "int64[1]{0}");
    oc_b_node(b, "Mul", "to_a", "x,up", "a", "");
    oc_b_node(b, "Sub", "to_c", "x,up", "c", "");
    oc_b_node(b, "ReduceSum", "to_b", "a,axes", "b", "");
    oc_b_node(b, "ReduceSum", "to_d", "c,axes", "d", "");
    oc_b_node(b, "Add", "to_y", "b,d", "y", "");
    oc_b_output(b, "y", NULL);
    return b;
}

/* a and c with x 9K, then a, c and b 9K: no step needs more. */
static void plan_has_the_size_of_the_peak(void **state)
{
    (void)state;
    struct made m = make_plan(two_branches(), NULL, NULL);
    struct oc_plan_info i;
    oc_memory_plan_info(m.p, &i);
    assert_true(i.live == 9 * 1024 && i.size == 9 * 1024 && i.optimal);
    assert_int_equal(i.buffers, 6);
    const struct oc_planned_buffer *a = find_buffer(&m, "a");
    assert_string_equal(m.r.m->node[a->first_node].name, "to_a");
    assert_string_equal(m.r.m->node[a->last_node].name, "to_b");
    made_free(&m);
}

static void alignment_and_input_options_change_the_plan(void **state)
{
    (void)state;
    /* 1024 and 4096 bytes round up to 3000 and 6000; a c b of the third step and x a c of the second: 15000
     */
    struct made m = make_plan(two_branches(), &(struct oc_analyze_opts){.align_bytes = 3000}, NULL);
    struct oc_plan_info i;
    oc_memory_plan_info(m.p, &i);
    assert_int_equal(i.live, 15000);
    assert_int_equal(i.size, 15000);
    for (uint32_t k = 0; k < m.p->n_buffer; k++)
        assert_true(m.p->buffer[k].offset % 3000 == 0 && m.p->buffer[k].bytes % 3000 == 0);
    made_free(&m);
    /* x belongs to the caller: a c 8K, a c b 9K */
    m = make_plan(two_branches(), NULL, &(struct oc_plan_opts){.without_inputs = true});
    oc_memory_plan_info(m.p, &i);
    assert_int_equal(i.buffers, 5);
    assert_int_equal(i.live, 9 * 1024);
    made_free(&m);
    m = make_plan(two_branches(), &(struct oc_analyze_opts){.keep_inputs = true}, NULL);
    assert_int_equal(find_buffer(&m, "x")->last, 4);
    made_free(&m);
}

/* Both branches of the If capture t; then: u 1K in the arena of the If (v is y itself), else: nothing. */
static struct oc_builder *branches(void)
{
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
    return b;
}

static void bodies_have_an_arena_of_their_own(void **state)
{
    (void)state;
    struct made m = make_plan(branches(), NULL, NULL);
    assert_int_equal(m.p->size, 3 * 1024); /* t, y, and the arena of the If */
    const struct oc_planned_buffer *block = NULL, *u = find_buffer(&m, "u");
    for (uint32_t i = 0; i < m.p->n_buffer; i++)
        if (m.p->buffer[i].value == OC_NONE)
            block = &m.p->buffer[i];
    assert_non_null(block);
    assert_true(block->bytes == 1024 && block->first == 1 && block->last == 1 && block->graph == 0);
    assert_true(u->graph != 0 && u->offset == block->offset && u->bytes == 1024);
    assert_string_equal(m.r.m->node[u->first_node].name, "s");
    assert_int_equal(m.p->n_buffer, 5); /* x t y, the arena, u */
    made_free(&m);
}

/* As in test_liveness.c: x, y and all are 7K; in the body the state 1K to its end and z 1K. */
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
    struct made m = make_plan(b, NULL, NULL);
    assert_int_equal(m.p->size, 9 * 1024 + 1);
    const struct oc_planned_buffer *s = find_buffer(&m, "s"), *z = find_buffer(&m, "z");
    assert_true(s->first == 0 && s->last == 2 && s->offset != z->offset);
    made_free(&m);
}

/* Elements of a sequence are live as long as the sequence: a and c (1K each) until the last reader. */
static void sequence_elements_are_live_with_the_sequence(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[256]");
    oc_b_init(b, "at", "int64[]{0}");
    oc_b_node(b, "Relu", "to_a", "x", "a", "");
    oc_b_node(b, "Sigmoid", "to_c", "x", "c", "");
    oc_b_node(b, "SequenceConstruct", "put", "a,c", "seq", "");
    oc_b_node(b, "Tanh", "other", "x", "z", "");
    oc_b_node(b, "SequenceAt", "get", "seq,at", "e", "");
    oc_b_node(b, "Add", "sum", "e,z", "y", "");
    oc_b_output(b, "y", NULL);
    struct made m = make_plan(b, NULL, NULL);
    if (!m.p)
        fail_msg("%s", m.err.msg);
    const struct oc_planned_buffer *a = find_buffer(&m, "a"), *c = find_buffer(&m, "c");
    assert_int_equal(a->last, c->last);
    made_free(&m);
}

static void rejects_unknown_sizes(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[N,4]");
    oc_b_node(b, "Relu", "a", "x", "t", "");
    oc_b_output(b, "t", NULL);
    struct made m = make_plan(b, &(struct oc_analyze_opts){.no_defaults = true}, NULL);
    assert_null(m.p);
    assert_string_equal(m.err.msg,
                        "cannot plan memory: the size of 'x' is unknown (set it with --dim or --shape)");
    made_free(&m);

    b = oc_b_new(17);
    oc_b_input(b, "s", "string[4]");
    oc_b_node(b, "Identity", "a", "s", "t", "");
    oc_b_output(b, "t", NULL);
    m = make_plan(b, NULL, NULL);
    assert_null(m.p);
    assert_string_equal(m.err.msg, "cannot plan memory: the string lengths of 's' are unknown");
    made_free(&m);

    /* an upper bound is a valid size: NonZero gives at most 1 x 64 positions of 8 bytes */
    b = oc_b_new(17);
    oc_b_input(b, "x", "float[64]");
    oc_b_node(b, "NonZero", "a", "x", "t", "");
    oc_b_output(b, "t", NULL);
    m = make_plan(b, NULL, NULL);
    assert_non_null(m.p);
    assert_int_equal(m.p->quality, OC_UPPER);
    assert_int_equal(find_buffer(&m, "t")->bytes, 512);
    made_free(&m);
}

/* In-place writes: v takes the buffer of t, whose other reader runs before. */
static void in_place_writes_share_a_buffer(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[256]");
    oc_b_node(b, "Softmax", "a", "x", "t", "");
    oc_b_node(b, "Softmax", "other", "t", "u", "");
    oc_b_node(b, "Relu", "over", "t", "v", "");
    oc_b_node(b, "Concat", "cat", "u,v", "y", "axis=0");
    oc_b_output(b, "y", NULL);
    struct made m = make_plan(b, &(struct oc_analyze_opts){.inplace = true}, NULL);
    assert_int_equal(m.p->n_buffer, 4); /* x, t with v, u, y */
    made_free(&m);
}

/* ---- written plans ---- */

static char *write_plan(const struct oc_memory_plan *p, const char *format)
{
    char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    struct oc_err err;
    int rc = oc_memory_plan_write(p, format, f, &err);
    fclose(f);
    assert_int_equal(rc, 0);
    return text;
}

static void plan_is_written_as_csv_and_json(void **state)
{
    (void)state;
    struct made m = make_plan(branches(), NULL, NULL);
    char *csv = write_plan(m.p, "csv");
    assert_non_null(strstr(csv, "t,tensor,,1024,"));
    assert_non_null(strstr(csv, ",bodies,,1024,"));
    assert_non_null(strstr(csv, "u,tensor,if/then_branch,1024,"));
    free(csv);
    char *json = write_plan(m.p, NULL);
    assert_non_null(strstr(json, "\"schema\": \"onnxcost.plan\""));
    assert_non_null(strstr(json, "\"size_bytes\": 3072"));
    assert_non_null(strstr(json, "\"ratio\": 1"));
    free(json);
    struct oc_err err;
    assert_int_equal(oc_memory_plan_write(m.p, "table", stdout, &err), -1);
    assert_string_equal(err.msg, "the plan has no format 'table'; valid: json, csv");
    made_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plan_has_the_size_of_the_peak),
        cmocka_unit_test(alignment_and_input_options_change_the_plan),
        cmocka_unit_test(bodies_have_an_arena_of_their_own),
        cmocka_unit_test(loop_state_is_live_during_the_body),
        cmocka_unit_test(sequence_elements_are_live_with_the_sequence),
        cmocka_unit_test(rejects_unknown_sizes),
        cmocka_unit_test(in_place_writes_share_a_buffer),
        cmocka_unit_test(plan_is_written_as_csv_and_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
