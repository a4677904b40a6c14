/* The installed hardware files: complete, with sources, and consistent. The reader checks much itself
 * (formulas to 2 %, levels in order); these tests cover what only our own files must have. */
#include "hw/hwdb.h"
#include "onnxcost.h"
#include "onnxcost/hardware.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct oc_hwdb *db;
static const struct oc_device *const *device;
static size_t n_device;

static int open_files(void **state)
{
    (void)state;
    struct oc_err err = {0};
    if (oc_hwdb_open(NULL, &db, &err) || oc_hwdb_list(db, &device, &n_device, &err)) {
        print_error("%s\n", err.msg);
        return -1;
    }
    return 0;
}

static int close_files(void **state)
{
    (void)state;
    oc_hwdb_free(db);
    return 0;
}

static void enough_devices_of_each_kind(void **state)
{
    (void)state;
    static const char *const expected[] = {
        "v100",
        "a100-sxm4-40gb",
        "a100-pcie-80gb",
        "h100",
        "h100-pcie",
        "h200",
        "l4",
        "t4",
        "mi250x",
        "mi300x",
        "rtx-3090",
        "rtx-4090",
        "epyc-7763",
        "epyc-9654",
        "ryzen-9-7950x",
        "xeon-platinum-8380",
        "core-i9-13900k",
        "jetson-agx-orin",
        "raspberry-pi-5",
        "b200",
        "rtx-5090",
        "rtx-a6000",
        "radeon-pro-w7900",
        "rx-9070-xt",
        "arc-a770",
        "jetson-nano",
        "jetson-agx-xavier",
        "jetson-thor",
        "tpu-v5e",
        "ascend-310p",
        "ascend-910",
        "rk3588",
        "edge-tpu",
        "gaudi3",
        "trainium2",
        "graviton3",
        "apple-m1-ultra-gpu",
        "core-i7-8700",
    };
    assert_true(n_device >= 60);
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        const struct oc_device *d;
        struct oc_err err = {0};
        if (oc_hwdb_find(db, expected[i], &d, &err))
            fail_msg("%s", err.msg);
    }
}

static void every_number_has_unit_and_source(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_device; i++)
        for (size_t k = 0; k < device[i]->n_figure; k++) {
            const struct oc_hw_figure *f = &device[i]->figure[k];
            bool is_count = strcmp(f->group, "count") == 0;
            bool sourced = f->source[0] && f->source[0]->title && (f->section || f->source[0]->section);
            if (!(f->value > 0) || !*f->unit == !is_count || !*f->text ||
                (f->basis == OC_BASIS_ASSUMED ? !f->note : !sourced))
                fail_msg("%s:%u: %s: %s %s", device[i]->info->file, f->line, device[i]->info->id, f->group,
                         f->what);
        }
}

/* For an NPU the vendor may publish only the rate of its matrix unit. */
static bool has_all_peaks(const struct oc_device *d)
{
    return strcmp(d->info->kind, "npu") != 0;
}

/* Without these two values no operator has a roofline time. */
static void every_device_has_f32_peak_and_bandwidth(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_device; i++) {
        const struct oc_device *d = device[i];
        if (has_all_peaks(d) &&
            (!d->peak[OC_HW_VECTOR][OC_CLASS_F32] || !oc_device_dram(d) || !oc_device_dram(d)->bandwidth))
            fail_msg("%s has no f32 vector peak or no DRAM bandwidth", d->info->id);
        if (!d->overhead)
            fail_msg("%s has no overhead", d->info->id);
    }
}

/* A value in the wrong unit is off by 1000; every device of these kinds is within these bounds. */
static void magnitudes_are_plausible(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_device; i++) {
        const struct oc_device *d = device[i];
        if (!has_all_peaks(d))
            continue;
        double f32 = d->peak[OC_HW_VECTOR][OC_CLASS_F32]->value, bw = oc_device_dram(d)->bandwidth->value;
        bool ok = f32 >= 50e9 && f32 <= 500e12 && bw >= 5e9 && bw <= 10e12 && f32 / bw >= 2 &&
                  f32 / bw <= 200 && d->overhead->value >= 1e-7 && d->overhead->value <= 1e-4;
        if (!ok)
            fail_msg("%s: f32 %g, DRAM %g, overhead %g", d->info->id, f32, bw, d->overhead->value);
    }
}

/* Narrower classes are not slower on the same unit, and a matrix unit is not slower than the vector unit. */
static void narrower_classes_are_not_slower(void **state)
{
    (void)state;
    static const uint8_t order[] = {OC_CLASS_F64, OC_CLASS_F32, OC_CLASS_TF32, OC_CLASS_F16, OC_CLASS_F8};
    for (size_t i = 0; i < n_device; i++)
        for (unsigned u = OC_HW_VECTOR; u <= OC_HW_MATRIX; u++) {
            double before = 0;
            for (size_t c = 0; c < sizeof(order); c++) {
                const struct oc_hw_figure *f = device[i]->peak[u][order[c]];
                const struct oc_hw_figure *vector = device[i]->peak[OC_HW_VECTOR][order[c]];
                if (f && f->value < before)
                    fail_msg("%s: %s %s is slower than a wider class", device[i]->info->id, f->group,
                             f->what);
                if (f && vector && f->value < vector->value)
                    fail_msg("%s: matrix %s is slower than vector", device[i]->info->id, f->what);
                before = f ? f->value : before;
            }
        }
}

static const struct {
    const char *id;
    unsigned unit, cls;
    double tera;
} known[] = {
    {"v100-sxm2-16gb", OC_HW_MATRIX, OC_CLASS_F16, 125},
    {"a100-sxm4-80gb", OC_HW_VECTOR, OC_CLASS_F32, 19.5},
    {"a100-sxm4-80gb", OC_HW_MATRIX, OC_CLASS_BF16, 312}, /* not the 624 with sparsity */
    {"h100-sxm5-80gb", OC_HW_MATRIX, OC_CLASS_F16, 989.4},
    {"h200", OC_HW_MATRIX, OC_CLASS_I8, 1979},
    {"l4", OC_HW_MATRIX, OC_CLASS_F16, 121},
    {"rtx-4090", OC_HW_MATRIX, OC_CLASS_F16, 330.3}, /* accumulating in f16, twice the rate into f32 */
    {"rtx-3090", OC_HW_MATRIX, OC_CLASS_F16, 142},
    {"jetson-agx-orin", OC_HW_MATRIX, OC_CLASS_I8, 85},
    {"mi300x", OC_HW_MATRIX, OC_CLASS_F16, 1307.4},
    {"xeon-platinum-8380", OC_HW_VECTOR, OC_CLASS_F32,
     8.704}, /* 40 x 64 x 3.4 GHz, turbo clock instead of base clock */
    {"epyc-7763", OC_HW_VECTOR, OC_CLASS_F32, 7.168}, /* 64 x 32 x 3.5 GHz */
    {"b200", OC_HW_MATRIX, OC_CLASS_F16, 2250},       /* not the 4500 with sparsity */
    {"rtx-5090", OC_HW_MATRIX, OC_CLASS_F16, 419},
    {"mi325x", OC_HW_MATRIX, OC_CLASS_F16, 1307.4}, /* inherited */
    {"tpu-v5e", OC_HW_MATRIX, OC_CLASS_I8, 393},
};

static void well_known_peaks_are_exact(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        const struct oc_device *d;
        struct oc_err err = {0};
        assert_int_equal(oc_hwdb_find(db, known[i].id, &d, &err), 0);
        const struct oc_hw_figure *f = d->peak[known[i].unit][known[i].cls];
        assert_non_null(f);
        if (fabs(f->value - known[i].tera * 1e12) > 1e-9 * f->value)
            fail_msg("%s: %s is %g", known[i].id, f->what, f->value);
    }
}

/* TF32 and sparse rates are never used for f32. */
static void classes_are_not_substituted(void **state)
{
    (void)state;
    const struct oc_device *d;
    struct oc_err err = {0};
    assert_int_equal(oc_hwdb_find(db, "a100", &d, &err), 0);
    assert_null(d->peak[OC_HW_MATRIX][OC_CLASS_F32]);
    assert_true(d->peak[OC_HW_MATRIX][OC_CLASS_TF32]->value == 156e12);
    assert_null(d->peak[OC_HW_MATRIX][OC_CLASS_F8]);
    assert_false(d->f16_fallback);
}

/* onnxcost hw lint has no warnings and recomputes most of the values. */
static void lint_has_no_warnings(void **state)
{
    (void)state;
    struct oc_hw_lint *lint;
    const struct oc_hw_finding *finding;
    struct oc_err err = {0};
    if (oc_hwdb_lint(db, NULL, 0, &lint, &err))
        fail_msg("%s", err.msg);
    if (oc_hw_lint_findings(lint, &finding))
        fail_msg("%s:%u: %s", finding->file, finding->line, finding->text);
    oc_hw_lint_free(lint);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(enough_devices_of_each_kind),
        cmocka_unit_test(every_number_has_unit_and_source),
        cmocka_unit_test(every_device_has_f32_peak_and_bandwidth),
        cmocka_unit_test(magnitudes_are_plausible),
        cmocka_unit_test(narrower_classes_are_not_slower),
        cmocka_unit_test(well_known_peaks_are_exact),
        cmocka_unit_test(classes_are_not_substituted),
        cmocka_unit_test(lint_has_no_warnings),
    };
    return cmocka_run_group_tests(tests, open_files, close_files);
}
