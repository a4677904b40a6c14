#include "measure/measure.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* With x and y 1 the lanes of all accumulators sum to the multiply-adds executed (two operations each), or to
 * the additions: the operation count used for rates is that of the executed instructions. */
static void kernels_execute_the_operations_they_count(void **state)
{
    uint32_t has = oc_cpu_features();
    const struct oc_peak_kernel *k;
    unsigned tried = 0;
    (void)state;
    for (size_t i = 0; (k = oc_peak_kernel(i)); i++) {
        if ((k->needs & has) != k->needs)
            continue;
        for (uint64_t rounds = 1; rounds <= 5; rounds += 2) {
            double sum = k->run(rounds, 1, 1, 0);
            assert_true(sum * (k->adds ? 1 : 2) == (double)(k->ops * rounds));
        }
        tried++;
    }
    assert_true(tried >= 6); /* the kernels that run on every machine */
}

/* Multiplied by 3 and increased by 1: 0, 1, 4, 13. Dot products of threes and ones: 3 per multiply-add. */
static void kernels_use_their_operands(void **state)
{
    uint32_t has = oc_cpu_features();
    const struct oc_peak_kernel *k;
    (void)state;
    for (size_t i = 0; (k = oc_peak_kernel(i)); i++) {
        if ((k->needs & has) != k->needs || k->adds)
            continue;
        double one = k->run(3, 1, 1, 0), three = k->run(3, 3, 1, 0);
        assert_true(three > 1.5 * one);
    }
}

/* For each class and unit at least one kernel needs no CPU feature, or the row exists only because of its
 * feature. */
static void kernel_table_is_complete(void **state)
{
    const struct oc_peak_kernel *k, *o;
    bool plain[OC_CLASS_COUNT] = {false};
    (void)state;
    for (size_t i = 0; (k = oc_peak_kernel(i)); i++) {
        assert_true(k->unit < OC_HW_UNIT_COUNT && k->cls > OC_CLASS_NONE && k->cls < OC_CLASS_COUNT);
        assert_true(k->ops > 0 && k->run && k->isa && k->how);
        assert_true(k->unit != OC_HW_MATRIX || k->accumulate); /* as the hardware schema requires */
        assert_null(strpbrk(k->isa, " ,"));                    /* a token */
        plain[k->cls] |= !k->needs;
        for (size_t j = 0; j < i && (o = oc_peak_kernel(j)); j++) /* no duplicate values */
            assert_false(o->unit == k->unit && o->cls == k->cls && o->accumulate == k->accumulate &&
                         !strcmp(o->isa, k->isa));
    }
    assert_true(plain[OC_CLASS_F64] && plain[OC_CLASS_F32] && plain[OC_CLASS_I64] && plain[OC_CLASS_I32] &&
                plain[OC_CLASS_I16] && plain[OC_CLASS_I8]);
}

#define DOUBLES 384 /* three steps */

static void stream_kernels_move_the_counted_bytes(void **state)
{
    uint32_t has = oc_cpu_features();
    const struct oc_stream_kernel *k;
    double *a = aligned_alloc(64, 3 * DOUBLES * sizeof(double)), *b = a + DOUBLES, *c = b + DOUBLES;
    unsigned seen = 0;
    (void)state;
    for (size_t i = 0; (k = oc_stream_kernel(i)); i++) {
        if ((k->needs & has) != k->needs)
            continue;
        uint64_t bits = 0, result;
        for (int j = 0; j < DOUBLES; j++) {
            a[j] = j + 0.25;
            b[j] = 2 * j;
            c[j] = 4 * j;
        }
        for (int j = 0; j < DOUBLES; j++) {
            uint64_t word;
            memcpy(&word, &a[j], sizeof(word));
            bits ^= word;
        }
        result = k->run(a, b, c, DOUBLES * sizeof(double));
        for (int j = 0; j < DOUBLES; j++) {
            const double want[] = {[OC_STREAM_READ] = j + 0.25,
                                   [OC_STREAM_WRITE] = 1,
                                   [OC_STREAM_COPY] = 2 * j,
                                   [OC_STREAM_TRIAD] = 2 * j + 0.5 * (4 * j)};
            assert_true(a[j] == want[k->mode]);
        }
        assert_true(result == (k->mode == OC_STREAM_READ ? bits : 0));
        seen |= 1u << k->mode;
    }
    assert_int_equal(seen, (1u << OC_STREAM_MODES) - 1);
    free(a);
}

static void pointer_chain_visits_every_line(void **state)
{
    uint64_t a = 0x123456789, b = 0xfedcba98, x = 7;
    (void)state;
    for (int i = 0; i < 7 * OC_CHAIN_CYCLES / 4; i++) {
        x = (x + a) ^ b;
        x = (x + b) ^ a;
    }
    assert_true(oc_chain_run(7, a, b) == x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_execute_the_operations_they_count),
        cmocka_unit_test(kernels_use_their_operands),
        cmocka_unit_test(kernel_table_is_complete),
        cmocka_unit_test(stream_kernels_move_the_counted_bytes),
        cmocka_unit_test(pointer_chain_visits_every_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
