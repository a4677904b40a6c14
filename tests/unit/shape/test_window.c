#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"
#include "shape/type.h"

static struct oc_arena arena;
static struct oc_exprs *x;

static int setup(void **state)
{
    (void)state;
    x = oc_exprs_new(&arena);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    oc_exprs_free(x);
    oc_arena_free(&arena);
    return 0;
}

static struct oc_window window(int64_t k, int64_t s, int64_t p)
{
    return (struct oc_window){
        .kernel = oc_known(k), .stride = s, .dilation = 1, .pad_begin = p, .pad_end = p};
}

static int64_t out(int64_t in, struct oc_window w)
{
    struct oc_dim d = oc_window_out(x, oc_known(in), &w);
    assert_true(oc_is_known(d));
    return d.v;
}

/* The resnet stem and its stages: 224, 112, 56, 28, 14, 7 */
static void output_size_of_plain_windows(void **state)
{
    (void)state;
    int64_t size = out(224, window(7, 2, 3));
    assert_int_equal(size, 112);
    for (int64_t want = 56; want >= 7; want /= 2) {
        size = out(size, window(3, 2, 1));
        assert_int_equal(size, want);
    }
    struct oc_window w = window(10, 5, 0);
    assert_int_equal(out(16000, w), 3199);
    w = window(3, 1, 2);
    w.dilation = 2; /* spans 5 */
    assert_int_equal(out(32, w), 32);
    assert_int_equal(out(2, window(5, 1, 0)), -2); /* the window does not fit: unchanged */
    w = window(3, 1, 0);
    w.auto_pad = OC_PAD_VALID;
    w.pad_begin = w.pad_end = 7;
    assert_int_equal(out(9, w), 7);
}

/* shape-inference section 8 f */
static void output_size_in_ceil_mode(void **state)
{
    (void)state;
    static const struct {
        int64_t in, k, s, p, want, literal;
    } row[] = {
        {6, 3, 2, 1, 4, 4}, {4, 2, 2, 1, 3, 3}, {2, 1, 2, 0, 1, 2}, {3, 2, 2, 1, 2, 3}, {7, 2, 2, 0, 4, 4},
    };
    for (size_t i = 0; i < OC_COUNT(row); i++) {
        struct oc_window w = window(row[i].k, row[i].s, row[i].p);
        w.ceil_mode = true;
        assert_int_equal(out(row[i].in, w), row[i].want);
        w.literal_ceil = true;
        assert_int_equal(out(row[i].in, w), row[i].literal);
    }
}

static void auto_pad_same_padding(void **state)
{
    (void)state;
    struct oc_window w = window(3, 2, 0);
    w.auto_pad = OC_PAD_SAME_UPPER;
    assert_int_equal(out(7, w), 4);
    assert_int_equal(out(8, w), 4);
    assert_int_equal(oc_window_pad_begin(8, 4, &w),
                     0); /* total (4-1)*2 + 3 - 8 = 1; the odd element is at the end */
    w.auto_pad = OC_PAD_SAME_LOWER;
    assert_int_equal(oc_window_pad_begin(8, 4, &w), 1);
    w.auto_pad = OC_PAD_VALID;
    assert_int_equal(oc_window_pad_begin(8, 3, &w), 0);
    w = window(3, 2, 5);
    assert_int_equal(oc_window_pad_begin(8, 4, &w), 5);
}

/* shape-inference section 8 g, and auto_pad of 4.2 */
static void output_size_of_transposed_windows(void **state)
{
    (void)state;
    struct oc_window w = window(4, 2, 1);
    assert_int_equal(oc_window_out_transposed(x, oc_known(16), &w, 0).v, 32);
    assert_int_equal(oc_window_out_transposed(x, oc_known(16), &w, 1).v, 33);
    w = window(1, 3, 0);
    w.auto_pad = OC_PAD_SAME_UPPER;
    assert_int_equal(oc_window_out_transposed(x, oc_known(16), &w, 0).v, 46); /* 3*15 + 1 */
    w = window(5, 3, 0);
    w.auto_pad = OC_PAD_SAME_LOWER;
    assert_int_equal(oc_window_out_transposed(x, oc_known(16), &w, 0).v, 48);
    w.auto_pad = OC_PAD_VALID;
    assert_int_equal(oc_window_out_transposed(x, oc_known(16), &w, 0).v, 50); /* 3*15 + 5 */
}

static void output_size_of_unknown_inputs(void **state)
{
    (void)state;
    struct oc_dim h = oc_dim_symbol(x, "H", 224);
    struct oc_window w = window(7, 2, 3);
    struct oc_dim o = oc_window_out(x, h, &w);
    assert_string_equal(oc_dim_text(x, o), "floor((H - 1)/2) + 1");
    assert_int_equal(oc_dim_max_value(x, o), 112);
    w = window(3, 1, 1);
    assert_true(oc_same_dim(oc_window_out(x, h, &w), h));
    w = window(2, 2, 0);
    assert_string_equal(oc_dim_text(x, oc_window_out(x, h, &w)), "floor(H/2)");
    w.ceil_mode = true;
    assert_string_equal(oc_dim_text(x, oc_window_out(x, h, &w)), "floor((H - 1)/2) + 1");
    w.pad_begin = w.pad_end = 1; /* the last window may start in the padding: at most ceil((H + 1)/2) */
    assert_string_equal(oc_dim_text(x, oc_window_out(x, h, &w)), "floor(H/2) + 1");
    w = window(4, 2, 1);
    assert_string_equal(oc_dim_text(x, oc_window_out_transposed(x, h, &w, 0)), "2*H");
}

static void huge_sizes_do_not_wrap(void **state)
{
    (void)state;
    struct oc_window w = window(INT64_MAX, 1, 0);
    w.dilation = INT64_MAX;
    assert_false(oc_is_known(oc_window_out(x, oc_known(5), &w)));
    w = window(3, 1, INT64_MAX);
    assert_false(oc_is_known(oc_window_out(x, oc_known(5), &w)));
    assert_true(oc_exprs_overflowed(x));
    w.auto_pad = OC_PAD_SAME_UPPER;
    w.dilation = INT64_MAX;
    assert_int_equal(oc_window_pad_begin(INT64_MIN, INT64_MAX, &w), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(output_size_of_plain_windows, setup, teardown),
        cmocka_unit_test_setup_teardown(output_size_in_ceil_mode, setup, teardown),
        cmocka_unit_test_setup_teardown(auto_pad_same_padding, setup, teardown),
        cmocka_unit_test_setup_teardown(output_size_of_transposed_windows, setup, teardown),
        cmocka_unit_test_setup_teardown(output_size_of_unknown_inputs, setup, teardown),
        cmocka_unit_test_setup_teardown(huge_sizes_do_not_wrap, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
