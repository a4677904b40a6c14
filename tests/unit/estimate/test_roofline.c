#include "estimate/roofline.h"
#include "onnxcost/hardware.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* The device of the example in cost-semantics section 8: 10 TFLOP/s f32, 100 GB/s, 5 us. The matrix unit has
 * only f16 (40 TFLOP/s); special functions 1 TOP/s in f32. */
static const struct oc_hw_figure f32_peak = {.value = 10e12}, f16_matrix = {.value = 40e12},
                                 special_rate = {.value = 1e12}, bandwidth = {.value = 100e9},
                                 launch = {.value = 5e-6};
static const struct oc_hw_level dram = {.name = "DRAM", .bandwidth = &bandwidth};

static struct oc_device example(void)
{
    struct oc_device d = {.level = &dram, .n_level = 1, .overhead = &launch};
    d.peak[OC_HW_VECTOR][OC_CLASS_F32] = &f32_peak;
    return d;
}

static void assert_near(double got, double want)
{
    if (!(fabs(got - want) <= 1e-9 * fabs(want)))
        fail_msg("%.17g is not %.17g", got, want);
}

static struct oc_roof roof_of(const struct oc_device *d, const struct oc_work *w, double measured_s)
{
    struct oc_roof r;
    oc_roofline(d, w, measured_s, &r);
    return r;
}

/* Worked case 15: MatMul f32 A{1,128,768} W{768,3072}. */
static struct oc_work case_15(void)
{
    struct oc_work w = {.bytes = 393216 + 9437184 + 1572864, .launches = 1};
    w.macs[OC_CLASS_F32] = 301989888;
    return w;
}

/* flops 603,979,776 / 10e12 = 60.3979776 us; bytes 11,403,264 / 100e9 = 114.03264 us;
 * I = 603,979,776 / 11,403,264 = 52.9655... */
static void example_of_section_8_is_exact(void **state)
{
    (void)state;
    struct oc_device d = example();
    struct oc_work w = case_15();
    struct oc_roof r = roof_of(&d, &w, NAN);
    assert_near(r.unit_s[OC_HW_VECTOR], 60.3979776e-6);
    assert_near(r.comp_s, 60.3979776e-6);
    assert_near(r.mem_s, 114.03264e-6);
    assert_near(r.roof_s, 114.03264e-6);
    assert_near(r.intensity, 603979776.0 / 11403264.0);
    assert_true(fabs(r.intensity - 52.966) < 0.0005);
    assert_string_equal(oc_bound_name(r.bound), "DRAM");
    assert_string_equal(r.missing, "");
}

static void measured_example_is_bound_by_dram(void **state)
{
    (void)state;
    struct oc_device d = example();
    struct oc_work w = case_15();
    struct oc_roof r = roof_of(&d, &w, 150e-6);
    assert_int_equal(r.bound, OC_BOUND_DRAM);
}

/* The largest known time is a lower bound; what limits is not known. */
static void missing_figure_does_not_void_the_bound(void **state)
{
    (void)state;
    struct oc_device d = example();
    struct oc_work w = case_15();
    w.macs[OC_CLASS_F8] = 1;
    struct oc_roof r = roof_of(&d, &w, NAN);
    assert_near(r.comp_s, 60.3979776e-6);
    assert_near(r.roof_s, 114.03264e-6);
    assert_int_equal(r.bound, OC_BOUND_UNKNOWN);
    assert_string_equal(r.missing, "vector f8 peak");

    d.peak[OC_HW_VECTOR][OC_CLASS_F32] = NULL;
    r = roof_of(&d, &w, NAN);
    assert_true(isnan(r.comp_s) && isnan(r.unit_s[OC_HW_VECTOR]));
    assert_near(r.roof_s, 114.03264e-6);
    assert_string_equal(r.missing, "vector f32 peak");

    w = case_15();
    d = example();
    d.level = NULL;
    d.n_level = 0;
    r = roof_of(&d, &w, NAN);
    assert_true(isnan(r.mem_s));
    assert_near(r.roof_s, 60.3979776e-6);
    assert_string_equal(r.missing, "DRAM bandwidth");
    assert_string_equal(oc_bound_name(r.bound), "unknown");
    assert_string_equal(oc_bound_name(OC_BOUND_COUNT), "unknown");
}

/* Nothing known: unknown, never 0; with a part of the operations known, that part. */
static void nothing_known_is_not_a_bound_of_0(void **state)
{
    (void)state;
    struct oc_device d = {0};
    struct oc_work w = case_15();
    struct oc_roof r = roof_of(&d, &w, NAN);
    assert_true(isnan(r.roof_s));
    assert_string_equal(r.missing, "vector f32 peak");
    struct oc_work copy = {.bytes = 1000, .launches = 1};
    assert_true(isnan(roof_of(&d, &copy, NAN).roof_s));
}

static void unknown_counts_have_no_roofline(void **state)
{
    (void)state;
    struct oc_device d = example();
    struct oc_work w = {.unknown = true, .launches = 1};
    struct oc_roof r = roof_of(&d, &w, 1e-3);
    assert_true(isnan(r.roof_s) && isnan(r.intensity) && isnan(r.flops));
    assert_int_equal(r.bound, OC_BOUND_UNKNOWN);
}

/* f16 MACs run on the matrix unit (2 x 10e6 / 40e12 = 0.5 us), f32 MACs on vector although there is a matrix
 * unit. */
static void macs_run_on_the_unit_that_has_their_class(void **state)
{
    (void)state;
    struct oc_device d = example();
    d.peak[OC_HW_MATRIX][OC_CLASS_F16] = &f16_matrix;
    struct oc_work w = {.launches = 1};
    w.macs[OC_CLASS_F16] = 10000000;
    w.macs[OC_CLASS_F32] = 10000000; /* 2 us */
    struct oc_roof r = roof_of(&d, &w, NAN);
    assert_near(r.unit_s[OC_HW_MATRIX], 0.5e-6);
    assert_near(r.unit_s[OC_HW_VECTOR], 2e-6);
    assert_near(r.comp_s, 2e-6);
    assert_true(isinf(r.intensity));
}

/* 1e6 transcendentals: 1 us on the special unit; without one they are vector flops: 0.1 us. */
static void special_functions_run_on_the_special_unit(void **state)
{
    (void)state;
    struct oc_device d = example();
    struct oc_work w = {.launches = 1};
    w.special[OC_CLASS_F32] = w.special_flops[OC_CLASS_F32] = 1000000;
    w.flops[OC_CLASS_F32] = 2000000; /* 0.2 us */
    struct oc_roof r = roof_of(&d, &w, NAN);
    assert_near(r.unit_s[OC_HW_VECTOR], 0.3e-6);
    assert_true(r.unit_s[OC_HW_SPECIAL] == 0);
    d.peak[OC_HW_SPECIAL][OC_CLASS_F32] = &special_rate;
    d.overhead = NULL;
    r = roof_of(&d, &w, NAN);
    assert_near(r.unit_s[OC_HW_VECTOR], 0.2e-6);
    assert_near(r.unit_s[OC_HW_SPECIAL], 1e-6);
    assert_string_equal(oc_bound_name(r.bound), "compute:special");
    assert_near(r.flops, 3000000);
    assert_true(isnan(r.overhead_s));
}

static void f16_falls_back_to_f32(void **state)
{
    (void)state;
    struct oc_device d = example();
    struct oc_work w = {.launches = 1};
    w.macs[OC_CLASS_F16] = 5000000;
    assert_true(isnan(roof_of(&d, &w, NAN).comp_s));
    d.f16_fallback = true;
    struct oc_roof r = roof_of(&d, &w, NAN);
    assert_near(r.comp_s, 1e-6);
    assert_true(r.fallback);
    w.macs[OC_CLASS_BF16] = 1; /* only for f16 */
    r = roof_of(&d, &w, NAN);
    assert_string_equal(r.missing, "vector bf16 peak");
}

/* AVX2 and older have no 16-bit arithmetic; of AVX-512 it is not known. */
static void avx2_converts_16_bit_floats_to_f32(void **state)
{
    (void)state;
    struct oc_device d = example();
    struct oc_hw_figure f32 = f32_peak;
    struct oc_work w = {.launches = 1};
    w.macs[OC_CLASS_BF16] = 5000000;
    d.peak[OC_HW_VECTOR][OC_CLASS_F32] = &f32;
    f32.isa = "avx512";
    assert_string_equal(roof_of(&d, &w, NAN).missing, "vector bf16 peak");
    f32.isa = "avx2";
    struct oc_roof r = roof_of(&d, &w, NAN);
    assert_near(r.comp_s, 1e-6);
    assert_true(r.fallback);
}

static void aliases_cost_nothing(void **state)
{
    (void)state;
    struct oc_device d = example();
    struct oc_work w = {0};
    struct oc_roof r = roof_of(&d, &w, NAN);
    assert_true(r.roof_s == 0);
    assert_string_equal(oc_bound_name(r.bound), "none");
}

/* t_roof in us compared with an overhead of 5 us */
static void small_kernels_are_bound_by_overhead(void **state)
{
    (void)state;
    struct oc_device d = example();
    struct oc_work w = {.bytes = 400000, .launches = 1}; /* 4 us */
    assert_string_equal(oc_bound_name(roof_of(&d, &w, NAN).bound), "overhead");
    w.bytes = 600000; /* 6 us: DRAM when predicted and when the measurement is close */
    assert_int_equal(roof_of(&d, &w, NAN).bound, OC_BOUND_DRAM);
    assert_int_equal(roof_of(&d, &w, 12e-6).bound, OC_BOUND_DRAM);
    /* overhead while 4 * t_roof < T < 4 * overhead = 20 us: never here, 4 * 6 = 24 */
    assert_int_equal(roof_of(&d, &w, 19e-6).bound, OC_BOUND_DRAM);
    assert_int_equal(roof_of(&d, &w, 25e-6).bound, OC_BOUND_DRAM);
    w.launches = 2; /* overhead 10 us */
    assert_int_equal(roof_of(&d, &w, NAN).bound, OC_BOUND_OVERHEAD);
}

/* Vector 6 us; DRAM 5.5 us is within 10 % of it, 5.3 us is not; a device without overhead */
static void equal_compute_and_memory_times_are_balanced(void **state)
{
    (void)state;
    struct oc_device d = example();
    d.overhead = NULL;
    struct oc_work w = {.bytes = 550000, .launches = 1};
    w.flops[OC_CLASS_F32] = 60000000;
    assert_string_equal(oc_bound_name(roof_of(&d, &w, NAN).bound), "balanced");
    w.bytes = 530000;
    assert_string_equal(oc_bound_name(roof_of(&d, &w, NAN).bound), "compute:vector");
    w.bytes = 650000;
    assert_string_equal(oc_bound_name(roof_of(&d, &w, NAN).bound), "balanced");
    w.bytes = 670000;
    assert_string_equal(oc_bound_name(roof_of(&d, &w, NAN).bound), "DRAM");
}

/* f16 MACs run on the matrix unit (603,979,776 / 40e12 = 15.0994944 us), unless they are known to have run on
 * the vector unit, whose f16 rate is unknown here. */
static void macs_known_to_run_on_the_vector_unit(void **state)
{
    (void)state;
    struct oc_device d = example();
    struct oc_work w = {.bytes = 100, .launches = 1};
    d.peak[OC_HW_MATRIX][OC_CLASS_F16] = &f16_matrix;
    d.peak[OC_HW_MATRIX][OC_CLASS_F32] = &f16_matrix;
    w.macs[OC_CLASS_F32] = 301989888;
    assert_near(roof_of(&d, &w, NAN).comp_s, 15.0994944e-6);
    w.vector_macs = true;
    assert_near(roof_of(&d, &w, NAN).comp_s, 60.3979776e-6);
}

/* f32 products run in TF32 (15.0994944 us) where the device has it, unless its f32 matrix rate is higher, or
 * they are known to have run on the vector unit. */
static void f32_products_may_run_in_tf32(void **state)
{
    (void)state;
    static const struct oc_hw_figure higher = {.value = 80e12};
    struct oc_device d = example();
    struct oc_work w = {.bytes = 100, .launches = 1};
    d.peak[OC_HW_MATRIX][OC_CLASS_TF32] = &f16_matrix;
    w.macs[OC_CLASS_F32] = 301989888;
    assert_near(roof_of(&d, &w, NAN).unit_s[OC_HW_MATRIX], 15.0994944e-6);
    d.peak[OC_HW_MATRIX][OC_CLASS_F32] = &higher;
    assert_near(roof_of(&d, &w, NAN).comp_s, 7.5497472e-6);
    w.vector_macs = true;
    assert_near(roof_of(&d, &w, NAN).comp_s, 60.3979776e-6);
}

/* ---- caches ---- */

static const struct oc_hw_figure l2_size = {.value = 1e6}, l2_rate = {.value = 1e12},
                                 l3_size = {.value = 9e6}, l3_rate = {.value = 400e9};
static const struct oc_hw_level levels[] = {
    {.name = "L2", .size = &l2_size, .bandwidth = &l2_rate},
    {.name = "L3", .size = &l3_size, .bandwidth = &l3_rate},
    {.name = "DRAM", .bandwidth = &bandwidth},
};

static struct oc_device with_caches(void)
{
    struct oc_device d = example();
    d.level = levels;
    d.n_level = 3;
    d.overhead = NULL;
    return d;
}

static struct oc_roof cached(const struct oc_device *d, const struct oc_work *w, uint64_t const_bytes)
{
    struct oc_roof r;
    oc_roofline_of(d, w, &(struct oc_roof_opts){.cache = true, .const_bytes = const_bytes}, NAN, &r);
    return r;
}

/* Case 15 of a model that has only these constants: of 9,437,184 B L2 can hold 1,000,000, L3 the other
 * 8,437,184. 393,216 B are read, all from L2; of 1,572,864 B written 1,000,000 fit L2 and 572,864 L3. L2
 * reads 1,393,216 B at 1 TB/s in 1.393216 us and writes 1,000,000 B meanwhile; L3 reads 8,437,184 B at
 * 400 GB/s in 21.09296 us; DRAM nothing; the arithmetic takes 60.3979776 us. */
static void model_that_fits_the_caches_needs_no_dram(void **state)
{
    (void)state;
    struct oc_device d = with_caches();
    struct oc_work w = case_15();
    w.weight_bytes = 9437184;
    w.written = 1572864;
    struct oc_roof r = cached(&d, &w, 9437184);
    assert_int_equal(r.n_level, 3);
    assert_int_equal(r.level_bytes[0], 2393216);
    assert_int_equal(r.level_bytes[1], 9010048);
    assert_int_equal(r.level_bytes[2], 0);
    assert_near(r.level_s[0], 1.393216e-6);
    assert_near(r.level_s[1], 21.09296e-6);
    assert_true(r.level_s[2] == 0);
    assert_near(r.mem_s, 21.09296e-6);
    assert_near(r.roof_s, 60.3979776e-6);
    assert_string_equal(r.bound_name, "compute:vector");
    /* without caches: the unchanged example of section 8 */
    assert_near(roof_of(&d, &w, NAN).mem_s, 114.03264e-6);
    assert_string_equal(roof_of(&d, &w, NAN).bound_name, "DRAM");
}

/* The same in a model with 100,000,000 B of constants: L2 holds a hundredth (94,371 B of these), L3 nine
 * (849,346 B), DRAM serves 9,437,184 - 94,371 - 849,346 = 8,493,467 B: 84.93467 us. */
static void constants_of_a_large_model_come_from_dram(void **state)
{
    (void)state;
    struct oc_device d = with_caches();
    struct oc_work w = case_15();
    w.weight_bytes = 9437184;
    w.written = 1572864;
    struct oc_roof r = cached(&d, &w, 100000000);
    assert_int_equal(r.level_bytes[0], 94371 + 1000000 + 393216);
    assert_int_equal(r.level_bytes[1], 849346 + 572864);
    assert_int_equal(r.level_bytes[2], 8493467);
    assert_near(r.roof_s, 84.93467e-6);
    assert_string_equal(r.bound_name, "DRAM");
}

/* An activation of 25 MB that is copied: read 1 + 9 + 15 MB, written 1 + 9 + 15 MB. DRAM: 30 MB in 300 us,
 * not the 500 us of all bytes. Ten launches of a tenth each stay in the caches: of 2.5 MB each, 1 from
 * L2, 1.5 from L3. */
static void large_activations_exceed_the_caches(void **state)
{
    (void)state;
    struct oc_device d = with_caches();
    struct oc_work w = {.bytes = 50000000, .written = 25000000, .launches = 1};
    struct oc_roof r = cached(&d, &w, 0);
    assert_int_equal(r.level_bytes[0], 2000000);
    assert_int_equal(r.level_bytes[1], 18000000);
    assert_int_equal(r.level_bytes[2], 30000000);
    assert_near(r.roof_s, 300e-6);
    w.launches = 10;
    r = cached(&d, &w, 0);
    assert_int_equal(r.level_bytes[0], 20000000);
    assert_int_equal(r.level_bytes[1], 30000000);
    assert_int_equal(r.level_bytes[2], 0);
    assert_near(r.roof_s, 37.5e-6); /* 15 MB read, 15 MB written / 400 GB/s */
    assert_string_equal(r.bound_name, "L3");
    assert_int_equal(r.bound, OC_BOUND_CACHE);
}

/* 20 trips with 5 MB of constants each: the first trip's share of 50 MB of constants (L2 1/50: 100,000 B, L3
 * 9/50: 900,000 B, DRAM 4,000,000 B), the other 19 from what the previous trip left: 19 x 5 MB, of which L2
 * can serve 20 x 1 MB. */
static void loop_constants_are_cached_after_the_first_trip(void **state)
{
    (void)state;
    struct oc_device d = with_caches();
    struct oc_work w = {.bytes = 100000000, .weight_bytes = 100000000, .launches = 20};
    struct oc_roof r = cached(&d, &w, 50000000);
    assert_int_equal(r.level_bytes[0], 100000 + 20000000);
    assert_int_equal(r.level_bytes[1], 900000 + 75000000);
    assert_int_equal(r.level_bytes[2], 4000000);
}

/* A level without a size is ignored; the bytes of a level without a bandwidth take no time. */
static void cache_levels_with_missing_values(void **state)
{
    (void)state;
    struct oc_device d = with_caches();
    struct oc_hw_level gap[3] = {levels[0], levels[1], levels[2]};
    struct oc_work w = {.bytes = 400000, .written = 200000, .launches = 1};
    d.level = gap;
    gap[0].size = NULL;
    struct oc_roof r = cached(&d, &w, 0);
    assert_near(r.roof_s, 0.5e-6); /* 200,000 B read and as many written / 400 GB/s */
    assert_string_equal(r.bound_name, "L3");
    gap[1].bandwidth = NULL;
    r = cached(&d, &w, 0);
    assert_true(isnan(r.roof_s) && isnan(r.mem_s) && isnan(r.level_s[1])); /* all bytes are in it */
    assert_string_equal(r.missing, "");
    assert_near(r.slow_s, 4e-6); /* as fast as DRAM or faster */
    assert_string_equal(r.bound_name, "L3");
    struct oc_work large = {.bytes = 10000000, .launches = 1}; /* 9 MB in L3, 1 MB in DRAM */
    assert_near(cached(&d, &large, 0).roof_s, 10e-6);
    w.flops[OC_CLASS_F32] = 20000000;
    assert_near(cached(&d, &w, 0).roof_s, 2e-6);
    w.flops[OC_CLASS_F32] = 0;
    gap[0].size = &l2_size;
    assert_near(cached(&d, &w, 0).roof_s, 0.2e-6);
    /* DRAM only: with or without caches the same */
    d.level = &dram;
    d.n_level = 1;
    assert_near(cached(&d, &w, 0).roof_s, 4e-6);
    assert_near(roof_of(&d, &w, NAN).roof_s, 4e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(example_of_section_8_is_exact),
        cmocka_unit_test(measured_example_is_bound_by_dram),
        cmocka_unit_test(missing_figure_does_not_void_the_bound),
        cmocka_unit_test(nothing_known_is_not_a_bound_of_0),
        cmocka_unit_test(unknown_counts_have_no_roofline),
        cmocka_unit_test(macs_run_on_the_unit_that_has_their_class),
        cmocka_unit_test(special_functions_run_on_the_special_unit),
        cmocka_unit_test(f16_falls_back_to_f32),
        cmocka_unit_test(avx2_converts_16_bit_floats_to_f32),
        cmocka_unit_test(aliases_cost_nothing),
        cmocka_unit_test(small_kernels_are_bound_by_overhead),
        cmocka_unit_test(macs_known_to_run_on_the_vector_unit),
        cmocka_unit_test(f32_products_may_run_in_tf32),
        cmocka_unit_test(equal_compute_and_memory_times_are_balanced),
        cmocka_unit_test(model_that_fits_the_caches_needs_no_dram),
        cmocka_unit_test(constants_of_a_large_model_come_from_dram),
        cmocka_unit_test(large_activations_exceed_the_caches),
        cmocka_unit_test(loop_constants_are_cached_after_the_first_trip),
        cmocka_unit_test(cache_levels_with_missing_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
