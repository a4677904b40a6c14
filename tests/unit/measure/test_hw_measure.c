#include "hw/hwdb.h"
#include "measure/measure.h"
#include "onnxcost.h"
#include "onnxcost/hardware.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void count_calls(void *user, const char *what)
{
    assert_true(what && *what);
    ++*(unsigned *)user;
}

static void quick_measurement_gives_a_readable_device(void **state)
{
    struct oc_hw_measurement *m;
    struct oc_err err;
    const struct oc_hw_figure *f;
    const struct oc_diag *diag;
    unsigned calls = 0;
    const struct oc_hw_measure_opts opts = {.quick = true, .progress = count_calls, .user = &calls};
    (void)state;
    if (oc_hw_measure(&opts, &m, &err))
        fail_msg("%s", err.msg);
    const struct oc_device *d = oc_hw_measurement_device(m);
    assert_true(calls > 5);
    assert_non_null(d->peak[OC_HW_VECTOR][OC_CLASS_F32]);
    assert_non_null(d->peak[OC_HW_VECTOR][OC_CLASS_I64]);
    assert_true(d->f16_fallback || d->peak[OC_HW_VECTOR][OC_CLASS_F16]);
    assert_non_null(oc_device_dram(d)->bandwidth);
    for (size_t i = 0; i < oc_device_figures(d, &f); i++)
        assert_true(f[i].value > 0);
    for (unsigned u = 0; u < OC_HW_UNIT_COUNT; u++)
        for (unsigned c = 0; c < OC_CLASS_COUNT; c++)
            if (d->peak[u][c])
                assert_null(d->peak[u][c]->cores); /* a partial value is never used for the whole device */
    assert_true(oc_hw_measurement_diags(m, &diag) >= 1);
    assert_string_equal(diag[0].code, "W-hw-quick");
    oc_hw_measurement_free(m);
    oc_hw_measurement_free(NULL);
}

static void rejects_too_many_threads(void **state)
{
    struct oc_hw_measurement *m;
    struct oc_err err;
    const struct oc_hw_measure_opts opts = {.threads = 100000, .quick = true};
    (void)state;
    assert_int_equal(oc_hw_measure(&opts, &m, &err), -1);
    assert_int_equal(err.code, OC_EARG);
    assert_null(m);
}

/* ---- device files from results ---- */

static double unused(uint64_t rounds, double x, double y, double zero)
{
    return (double)rounds * x * y + zero;
}

static const struct oc_peak_kernel slow_f32 = {"narrow", "m", OC_HW_VECTOR, OC_CLASS_F32, 0,
                                               0,        8,   false,        unused},
                                   fast_f32 = {"wide", "m", OC_HW_VECTOR, OC_CLASS_F32, 0,
                                               0,      8,   false,        unused};

static struct oc_rate rate(double best)
{
    return (struct oc_rate){best, 0.99 * best, 0.99 * best, 10};
}

/* Two threads; two caches of 1 MiB, one of 64 MiB shared by all, of which a quarter is visible. */
static struct oc_measured *some_results(void)
{
    struct oc_measured *m = calloc(1, sizeof(*m));
    m->threads = 2;
    m->machine = (struct oc_machine){.model = "A <\"&\"> B", .vendor = "V", .system = "S", .processors = 2};
    m->peak[0] = (struct oc_peak_rate){&slow_f32, rate(100e9), rate(200e9)};
    m->peak[1] = (struct oc_peak_rate){&fast_f32, rate(300e9), rate(500e9)};
    m->n_peak = 2;
    m->clock[0] = m->clock[1] = rate(2e9);
    m->region_awake_s = 1e-6;
    m->timer = (struct oc_timer){2e-8, 3e-8};
    m->levels.n = 3;
    m->levels.flatness = 1;
    const struct oc_level_rates levels[3] = {
        {.name = "L1",
         .claim = {1 << 20, 2, 1},
         .border_bytes = 1 << 20,
         .agrees = true,
         .size_bytes = 1 << 20},
        {.name = "L2", .claim = {64 << 20, 1, 2}, .border_bytes = 16 << 20, .size_bytes = 16 << 20},
        {.name = "DRAM"}};
    for (unsigned i = 0; i < 3; i++) {
        m->levels.level[i] = levels[i];
        for (unsigned k = 0; k < OC_STREAM_MODES; k++) {
            m->levels.level[i].rate[1][k] = rate((100e9 + k * 1e9) / (1 + i));
            m->levels.level[i].rate[0][k] = rate(50e9 / (1 + i));
        }
    }
    return m;
}

static const struct oc_device *read_back(const struct oc_measured *m, struct oc_arena *a,
                                         struct oc_device_list *list)
{
    struct oc_buf xml = {0};
    struct oc_err err;
    oc_measured_write_xml(m, &xml);
    if (oc_hw_read_mem("x", xml.data, xml.n, a, list, &err))
        fail_msg("%s\n%s", err.msg, xml.data);
    oc_buf_free(&xml);
    return list->item[0];
}

/* The fastest instructions on all cores give the peak; the highest rate is the bandwidth: the triad's, 103
 * GB/s of the first level. */
static void device_file_contains_the_measured_values(void **state)
{
    struct oc_measured *m = some_results();
    struct oc_arena a = {0};
    struct oc_device_list list = {0};
    (void)state;
    const struct oc_device *d = read_back(m, &a, &list);
    assert_string_equal(d->info->id, "a-b-2-threads");
    assert_string_equal(d->info->name, "A <\"&\"> B, 2 threads, measured");
    assert_float_equal(d->peak[OC_HW_VECTOR][OC_CLASS_F32]->value, 500e9, 1);
    assert_string_equal(d->peak[OC_HW_VECTOR][OC_CLASS_F32]->isa, "wide");
    assert_true(d->f16_fallback);
    assert_int_equal(d->n_level, 3);
    assert_true(d->level[0].size->value == 2097152);
    assert_int_equal(d->level[0].size->basis, OC_BASIS_DERIVED);
    assert_float_equal(d->level[0].bandwidth->value, 103e9, 1);
    assert_true(d->level[1].size->value == 16777216);
    assert_int_equal(d->level[1].size->basis, OC_BASIS_MEASURED);
    assert_float_equal(d->level[2].bandwidth->value, 103e9 / 3, 1e7);
    assert_float_equal(d->overhead->value, 1e-6, 1e-12);
    free(list.item);
    oc_arena_free(&a);
    free(m);
}

/* Other processes can take a core while all are measured. */
static void rate_of_one_core_is_bounded_by_the_rate_of_all(void **state)
{
    struct oc_measured *m = some_results();
    struct oc_arena a = {0};
    struct oc_device_list list = {0};
    (void)state;
    m->levels.level[2].rate[0][OC_STREAM_COPY] = rate(40e9); /* all: at most 103 / 3 */
    const struct oc_device *d = read_back(m, &a, &list);
    assert_true(d->level[2].bandwidth->value == 40e9);
    assert_string_equal(d->level[2].bandwidth->note, "The highest of the rates below: copy by one core.");
    free(list.item);
    oc_arena_free(&a);
    free(m);
}

/* A level that is not faster than DRAM has no bandwidth, and a level that is not larger than the one before
 * is omitted: otherwise no reader would accept the file. */
static void cache_levels_are_written_in_order(void **state)
{
    struct oc_measured *m = some_results();
    struct oc_arena a = {0};
    struct oc_device_list list = {0};
    (void)state;
    m->levels.level[1].rate[1][0] = m->levels.level[1].rate[1][1] = m->levels.level[1].rate[1][2] =
        m->levels.level[1].rate[1][3] = rate(30e9);
    const struct oc_device *d = read_back(m, &a, &list);
    assert_int_equal(d->n_level, 3);
    assert_null(d->level[1].bandwidth);
    m->levels.level[1].size_bytes = m->levels.level[1].claim.bytes = 1 << 19;
    list.n = 0;
    d = read_back(m, &a, &list);
    assert_int_equal(d->n_level, 2);
    assert_string_equal(d->level[1].name, "DRAM");
    free(list.item);
    oc_arena_free(&a);
    free(m);
}

static const char *const *codes_of(const struct oc_measured *m, struct oc_arena *a, size_t *n)
{
    struct oc_diags diags = {.arena = a};
    oc_measured_judge(m, &diags);
    const char **codes = OC_NEW_ARRAY(a, diags.n + 1, const char *);
    for (size_t i = 0; i < diags.n; i++)
        codes[i] = oc_strdup(a, diags.item[i].code);
    *n = diags.n;
    oc_diags_free(&diags);
    return codes;
}

static void unreliable_measurements_have_warnings(void **state)
{
    struct oc_measured *m = some_results();
    struct oc_arena a = {0};
    size_t n;
    (void)state;
    const char *const *codes = codes_of(m, &a, &n);
    assert_int_equal(n, 1);
    assert_string_equal(codes[0], "W-hw-cache-size");
    m->peak[0].all.late = 0.5 * m->peak[0].all.best;
    m->features = OC_CPU_AMX_REFUSED;
    m->levels.level[0].border_bytes = 0;
    m->levels.flatness = 0.8;
    codes = codes_of(m, &a, &n);
    assert_int_equal(n, 5);
    assert_string_equal(codes[0], "W-hw-amx");
    assert_string_equal(codes[1], "W-hw-slows-down");
    assert_string_equal(codes[2], "W-hw-cache-unseen");
    assert_string_equal(codes[4], "W-hw-small-memory");
    m->peak[0].all.median = 0.5 * m->peak[0].all.best;
    codes = codes_of(m, &a, &n);
    assert_string_equal(codes[1], "W-hw-busy");
    oc_arena_free(&a);
    free(m);
}

/* ---- figures that cannot be right ---- */

/* 2 threads at 2 GHz: at most 2 * 2e9 * 32 = 128 GFLOP/s with AVX2, 256 with AVX-512. */
static void impossible_figures_are_doubted_and_measured_again(void **state)
{
    static const struct oc_peak_kernel avx2 = {"avx2", "m", OC_HW_VECTOR, OC_CLASS_F32, 0,
                                               0,      8,   false,        unused},
                                       avx512 = {"avx512", "m", OC_HW_VECTOR, OC_CLASS_F32, 0,
                                                 0,        8,   false,        unused},
                                       other = {"rvv", "m", OC_HW_VECTOR, OC_CLASS_F32, 0,
                                                0,     8,   false,        unused};
    static const struct {
        const struct oc_peak_kernel *kernel;
        double one, all, median, next; /* median / best; next: of the AVX2 kernel after it */
        const char *doubt;
        double again_one, again_all, kept;
    } c[] = {
        {&avx512, 120e9, 240e9, 0.9, 120e9, NULL, 0, 0, 0},
        {&avx512, 120e9, 400e9, 0.9, 120e9, "more operations per cycle", 120e9, 230e9, 230e9},
        {&avx512, 120e9, 125e9, 0.9, 60e9, "not faster than one", 119e9, 235e9, 235e9},
        {&avx512, 50e9, 99e9, 0.9, 120e9, "older instruction set", 120e9, 220e9, 220e9},
        {&avx512, 120e9, 240e9, 0.5, 120e9, "most samples", 100e9, 200e9, 240e9},
        {&other, 9e12, 18e12, 0.9, 120e9, NULL, 0, 0, 0}, /* without a known limit */
    };
    struct oc_measured *m = some_results();
    (void)state;
    m->clock[0] = m->clock[1] = rate(2e9);
    for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
        m->peak[0] = (struct oc_peak_rate){c[i].kernel, rate(c[i].one), rate(c[i].all)};
        m->peak[0].all.median = c[i].median * c[i].all;
        m->peak[1] = (struct oc_peak_rate){&avx2, rate(c[i].next / 2), rate(c[i].next)};
        const char *doubt = oc_measured_doubt(m, 0);
        if (!c[i].doubt) {
            assert_null(doubt);
            continue;
        }
        assert_true(doubt && strstr(doubt, c[i].doubt));
        const struct oc_peak_rate again = {c[i].kernel, rate(c[i].again_one), rate(c[i].again_all)};
        oc_measured_again(m, 0, &again);
        assert_true(m->peak[0].all.best == c[i].kept);
    }
    free(m);
}

static void remaining_doubts_and_busy_memory_have_warnings(void **state)
{
    static const struct oc_peak_kernel avx2 = {"avx2", "m", OC_HW_VECTOR, OC_CLASS_F32, 0,
                                               0,      8,   false,        unused};
    struct oc_measured *m = some_results();
    struct oc_arena a = {0};
    size_t n;
    (void)state;
    m->peak[0] = (struct oc_peak_rate){&avx2, rate(120e9), rate(300e9)};
    m->levels.level[1].border_bytes = 64 << 20;
    m->levels.level[1].agrees = true;
    m->levels.level[2].rate[1][0].median = 0.5 * m->levels.level[2].rate[1][0].best;
    const char *const *codes = codes_of(m, &a, &n);
    assert_int_equal(n, 2);
    assert_string_equal(codes[0], "W-hw-impossible");
    assert_string_equal(codes[1], "W-hw-busy");
    oc_arena_free(&a);
    free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quick_measurement_gives_a_readable_device),
        cmocka_unit_test(rejects_too_many_threads),
        cmocka_unit_test(device_file_contains_the_measured_values),
        cmocka_unit_test(rate_of_one_core_is_bounded_by_the_rate_of_all),
        cmocka_unit_test(cache_levels_are_written_in_order),
        cmocka_unit_test(unreliable_measurements_have_warnings),
        cmocka_unit_test(impossible_figures_are_doubted_and_measured_again),
        cmocka_unit_test(remaining_doubts_and_busy_memory_have_warnings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
