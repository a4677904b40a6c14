/* Names that are shortened to a width keep what makes them different. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/unicode.h"
#include "write/tables/table.h"

enum { MOST = 300 };

static size_t columns(const char *s)
{
    return oc_utf8_columns(s, strlen(s));
}

/* Shortens, and checks: everything fits, different names stay different, equal ones equal, short ones as they
 * are. */
static void shorten(struct oc_arena *arena, const char **name, size_t n, size_t width)
{
    const char *full[MOST];
    assert_true(n <= MOST);
    memcpy(full, name, n * sizeof(*full));
    oc_short_names(arena, name, 1, n, width);
    for (size_t i = 0; i < n; i++) {
        assert_true(columns(name[i]) <= width);
        if (columns(full[i]) <= width)
            assert_string_equal(name[i], full[i]);
        for (size_t k = 0; k < i; k++)
            assert_int_equal(strcmp(name[i], name[k]) == 0, strcmp(full[i], full[k]) == 0);
    }
}

static void paths_keep_their_end(void **state)
{
    (void)state;
    struct oc_arena arena = {0};
    const char *name[] = {"/encoder/layer.0/output/dense/MatMul", "/encoder/layer.1/attention/self/Softmax"};
    shorten(&arena, name, 2, 20);
    assert_string_equal(name[0], "…output/dense/MatMul");
    assert_string_equal(name[1], "…ention/self/Softmax");
    oc_arena_free(&arena);
}

static void other_texts_keep_both_ends(void **state)
{
    (void)state;
    struct oc_arena arena = {0};
    const char *name[] = {"sm80_xmma_fprop_implicit_gemm_kernel_trt"};
    shorten(&arena, name, 1, 16);
    assert_string_equal(name[0], "sm80_…kernel_trt");
    oc_arena_free(&arena);
}

static void layers_with_the_same_end_stay_different(void **state)
{
    (void)state;
    struct oc_arena arena = {0};
    const char *name[MOST];
    for (size_t i = 0; i < MOST; i++)
        name[i] = oc_printf(&arena, "/model/stage%zu/block.%zu/downsample/downsample.0/Conv", i / 10, i % 10);
    for (size_t width = 12; width < 60; width += 8) {
        const char *copy[MOST];
        memcpy(copy, name, sizeof(copy));
        shorten(&arena, copy, MOST, width);
    }
    oc_arena_free(&arena);
}

static void equal_names_stay_equal(void **state)
{
    (void)state;
    struct oc_arena arena = {0};
    const char *name[] = {"aten::cudnn_convolution_backward", "aten::cudnn_convolution_backward", "relu"};
    shorten(&arena, name, 3, 12);
    oc_arena_free(&arena);
}

static void names_that_differ_in_the_middle_stay_different(void **state)
{
    (void)state;
    struct oc_arena arena = {0};
    const char *name[26];
    for (size_t i = 0; i < 26; i++)
        name[i] = oc_printf(&arena, "%040d%c%040d", 0, (int)('a' + i), 0);
    shorten(&arena, name, 26, 10);
    oc_arena_free(&arena);
}

static void wide_and_broken_characters_fit(void **state)
{
    (void)state;
    struct oc_arena arena = {0};
    const char *name[] = {"/层/层/层/层/层/层/层/卷积", "/层/层/层/层/层/层/层/激活",
                          "\xff\xfe\xff\xfe\xff\xfe\xff\xfe\xff\xfe\xff\xfe\xff", ""};
    shorten(&arena, name, 4, 9);
    oc_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_keep_their_end),
        cmocka_unit_test(other_texts_keep_both_ends),
        cmocka_unit_test(layers_with_the_same_end_stay_different),
        cmocka_unit_test(equal_names_stay_equal),
        cmocka_unit_test(names_that_differ_in_the_middle_stay_different),
        cmocka_unit_test(wide_and_broken_characters_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
