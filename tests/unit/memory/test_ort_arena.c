/* ONNX Runtime's arena computed by hand: sizes of its chunks and regions. K is 1024 bytes, M 1024 K. */
#include "memory/memory_report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "support/run_model.h"

#define K 1024u
#define M (1024u * K)

/* 100 bytes take 256 of the first region of 1 M; a freed chunk merges with its free neighbours. */
static void chunks_are_rounded_up_and_merged(void **state)
{
    (void)state;
    struct oc_bfc_arena a;
    oc_bfc_arena_init(&a);
    assert_int_equal(oc_bfc_arena_take(&a, 0), OC_NONE);
    uint32_t x = oc_bfc_arena_take(&a, 100), y = oc_bfc_arena_take(&a, 257), z = oc_bfc_arena_take(&a, 256);
    assert_int_equal(a.requested, 613);
    assert_int_equal(a.in_use, 256 + 512 + 256);
    assert_int_equal(a.held, M);
    oc_bfc_arena_give(&a, x);
    oc_bfc_arena_give(&a, z); /* merges with the rest of the region */
    oc_bfc_arena_give(&a, y); /* merges with both */
    assert_int_equal(a.in_use, 0);
    assert_int_equal(a.requested, 0);
    x = oc_bfc_arena_take(&a, M); /* the whole region again */
    assert_int_equal(a.held, M);
    assert_int_equal(a.in_use, M);
    oc_bfc_arena_give(&a, x);
    assert_int_equal(a.max_in_use, M);
    oc_bfc_arena_free(&a);
}

/* A free chunk is split when it is twice the request: 600 K of 1 M take 1 M, 512 K take 512 K. */
static void chunks_are_split_when_twice_the_request(void **state)
{
    (void)state;
    struct oc_bfc_arena a;
    oc_bfc_arena_init(&a);
    uint32_t x = oc_bfc_arena_take(&a, 600 * K);
    assert_int_equal(a.in_use, M);
    oc_bfc_arena_give(&a, x);
    x = oc_bfc_arena_take(&a, 512 * K);
    assert_int_equal(a.in_use, 512 * K);
    oc_bfc_arena_give(&a, x);
    oc_bfc_arena_free(&a);
}

/* Regions: 1 M first; the next one is 2 M, or as many doublings as the request needs. 3 M: 4 M, as one chunk
 * because 3 M is more than half of it; the region after a doubled one has the same size, then twice that. */
static void regions_double_in_size(void **state)
{
    (void)state;
    struct oc_bfc_arena a;
    oc_bfc_arena_init(&a);
    oc_bfc_arena_take(&a, M);
    assert_int_equal(a.held, M);
    oc_bfc_arena_take(&a, 3 * M);
    assert_int_equal(a.held, M + 4 * M);
    assert_int_equal(a.in_use, M + 4 * M);
    oc_bfc_arena_take(&a, 256);
    assert_int_equal(a.held, M + 8 * M);
    oc_bfc_arena_take(&a, 4 * M);
    assert_int_equal(a.held, M + 16 * M);
    oc_bfc_arena_free(&a);
}

/* Best fit among free chunks: 2 K freed between used ones serves 2 K, not the rest of the region. */
static void smallest_free_chunk_that_fits_is_used(void **state)
{
    (void)state;
    struct oc_bfc_arena a;
    oc_bfc_arena_init(&a);
    uint32_t big = oc_bfc_arena_take(&a, 8 * K);
    oc_bfc_arena_take(&a, K);
    uint32_t small = oc_bfc_arena_take(&a, 2 * K);
    oc_bfc_arena_take(&a, K);
    uint64_t place = a.chunk[small].at;
    oc_bfc_arena_give(&a, big);
    oc_bfc_arena_give(&a, small);
    uint32_t x = oc_bfc_arena_take(&a, 2 * K);
    assert_int_equal(a.chunk[x].at, place);
    x = oc_bfc_arena_take(&a, 3 * K); /* of 8 K, split */
    assert_int_equal(a.chunk[x].at, 0);
    assert_int_equal(a.chunk[x].size, 3 * K);
    oc_bfc_arena_free(&a);
}

/* x [200000] float belongs to the caller. t: 800,000 bytes, all of the first region of 1 M. u has the same
 * size: a second region, now of 2 M, split: 800,000 = 3125 * 256 exactly. Requested 1,600,000; in use 1 M +
 * 800,000. */
static void first_run_of_a_model_allocates_as_ort(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[200000]");
    oc_b_node(b, "Exp", "one", "x", "t", "");
    oc_b_node(b, "Exp", "two", "t", "u", "");
    oc_b_node(b, "Exp", "three", "u", "y", "");
    oc_b_output(b, "y", NULL);
    struct oc_run r = oc_run_model(b, NULL);
    struct oc_liveness_opts o = {.all = true, .without_inputs = true, .order = OC_ORDER_ORT};
    struct oc_liveness *l = oc_liveness_make(r.a, 0, &o);
    struct oc_ort_run run = oc_ort_first_run(l, NULL);
    assert_int_equal(run.max_requested, 1600000);
    assert_int_equal(run.max_in_use, M + 800000);
    assert_int_equal(run.held, 3 * M);
    assert_int_equal(run.in_use_at, oc_run_node(&r, "two"));
    oc_liveness_free(l);
    oc_run_free(&r);
}

/* The order: leaves first, and of a node's inputs the one whose producer is last in the file. add reads t
 * (node 0) and v (node 2): u v t, then add; lone, which has no reader, is the last leaf and comes first. */
static void execution_order_follows_ort(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[4]");
    oc_b_node(b, "Exp", "t", "x", "t", "");
    oc_b_node(b, "Exp", "u", "x", "u", "");
    oc_b_node(b, "Exp", "v", "u", "v", "");
    oc_b_node(b, "Add", "add", "t,v", "y", "");
    oc_b_node(b, "Exp", "lone", "x", "w", "");
    oc_b_output(b, "y", NULL);
    oc_b_output(b, "w", NULL);
    struct oc_run r = oc_run_model(b, NULL);
    struct oc_liveness_opts o = {.order = OC_ORDER_ORT};
    struct oc_liveness *l = oc_liveness_make(r.a, 0, &o);
    static const char *const order[] = {"lone", "u", "v", "t", "add"};
    assert_int_equal(l->n_step, 5);
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(l->step[i], oc_run_node(&r, order[i]));
    oc_liveness_free(l);
    oc_run_free(&r);
}

/* w [8,4,2,2] is stored as 512 bytes from the start and not part of the run: y is [1,4,4,4], 256 bytes. */
static void prepacked_filters_are_not_part_of_the_run(void **state)
{
    (void)state;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[1,8,2,2]");
    oc_b_init(b, "w", "float[8,4,2,2]");
    oc_b_node(b, "ConvTranspose", "up", "x,w", "y", "strides=2,2");
    oc_b_output(b, "y", NULL);
    struct oc_run r = oc_run_model(b, NULL);
    struct oc_liveness_opts o = {.all = true, .without_inputs = true, .order = OC_ORDER_ORT};
    struct oc_liveness *l = oc_liveness_make(r.a, 0, &o);
    struct oc_ort_run run = oc_ort_first_run(l, NULL);
    assert_int_equal(run.max_requested, 256);
    assert_int_equal(run.max_in_use, 256);
    oc_liveness_free(l);
    oc_run_free(&r);
}

static uint64_t bytes_of_conv(const char *x, const char *w)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", x);
    oc_b_init(b, "w", w);
    oc_b_node(b, "Conv", "c", "x,w", "y", "");
    oc_b_output(b, "y", NULL);
    struct oc_run r = oc_run_model(b, NULL);
    struct oc_liveness_opts o = {.all = true, .without_inputs = true, .order = OC_ORDER_ORT};
    struct oc_liveness *l = oc_liveness_make(r.a, 0, &o);
    uint64_t bytes = oc_ort_first_run(l, NULL).held;
    oc_liveness_free(l);
    oc_run_free(&r);
    return bytes;
}

/* The patches of a convolution of one dimension need the workspace of those of an image of one line: 298 places * 400
 * channels * 3 taps are 1.4 MB, more than the first region of 1 M, which holds y; 1x1 needs none. */
static void convolutions_of_one_dimension_have_a_workspace(void **state)
{
    (void)state;
    uint64_t line = bytes_of_conv("float[1,400,300]", "float[600,400,3]");
    assert_int_equal(line, bytes_of_conv("float[1,400,1,300]", "float[600,400,1,3]"));
    assert_true(line > M);
    assert_int_equal(bytes_of_conv("float[1,400,298]", "float[600,400,1]"), M);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_are_rounded_up_and_merged),
        cmocka_unit_test(chunks_are_split_when_twice_the_request),
        cmocka_unit_test(regions_double_in_size),
        cmocka_unit_test(smallest_free_chunk_that_fits_is_used),
        cmocka_unit_test(first_run_of_a_model_allocates_as_ort),
        cmocka_unit_test(execution_order_follows_ort),
        cmocka_unit_test(prepacked_filters_are_not_part_of_the_run),
        cmocka_unit_test(convolutions_of_one_dimension_have_a_workspace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
