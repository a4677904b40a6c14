/* Ranking of devices: two synthetic devices whose times can be computed by hand, devices without a time, devices
 * without enough memory. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "estimate/curve.h"
#include "estimate/predict.h"
#include "estimate/rank_devices.h"
#include "support/build.h"
#include "onnxcost.h"
#include "onnxcost/estimate.h"
#include "onnxcost/hardware.h"

/* ---- models ---- */

struct loaded {
    uint8_t *bytes;
    struct oc_model *model;
};

static void load(struct loaded *l, struct oc_builder *b)
{
    size_t n;
    struct oc_err err;
    l->bytes = oc_b_pack(b, &n);
    if (oc_model_load_mem(l->bytes, n, NULL, &l->model, &err))
        fail_msg("%s", err.msg);
}

static void unload(struct loaded *l)
{
    oc_model_free(l->model);
    free(l->bytes);
}

/* One product, 4,096 N MACs. Bytes: 256 N read, 256 N written, weights 16,384. */
static struct loaded load_product(const char *input)
{
    struct loaded l;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", input);
    oc_b_init(b, "w", "float[64,64]");
    oc_b_node(b, "MatMul", "product", "x,w", "y", "");
    oc_b_output(b, "y", "float[?,64]");
    load(&l, b);
    oc_b_free(b);
    return l;
}

/* ---- devices ---- */

static const struct oc_hw_figure fast = {.value = 1e18}, gb100 = {.value = 100e9}, gb1 = {.value = 1e9},
                                 us100 = {.value = 100e-6}, us1 = {.value = 1e-6}, w50 = {.value = 50},
                                 w10 = {.value = 10}, b100k = {.value = 100000}, gib1 = {.value = 1u << 30};
static const struct oc_hw_level wide_dram = {.name = "DRAM", .bandwidth = &gb100, .size = &b100k},
                                narrow_dram = {.name = "DRAM", .bandwidth = &gb1, .size = &gib1};

/* The last eight stay valid. */
static struct oc_device_info *device_info(const char *id, const char *name, const char *kind)
{
    static struct oc_device_info info[8];
    static unsigned n;
    struct oc_device_info *i = &info[n++ % 8];
    *i = (struct oc_device_info){.id = id, .name = name, .file = "a.xml", .kind = kind, .vendor = "V"};
    return i;
}

/* Memory is fast and small; 50 W. */
static struct oc_device wide(void)
{
    struct oc_device d = {.info = device_info("wide", "Wide", "cpu"),
                          .level = &wide_dram,
                          .n_level = 1,
                          .overhead = &us100,
                          .power = &w50};
    d.peak[OC_HW_VECTOR][OC_CLASS_F32] = &fast;
    return d;
}

/* Memory is slow and large; 10 W. */
static struct oc_device narrow(void)
{
    struct oc_device d = {.info = device_info("narrow", "Narrow", "cpu"),
                          .level = &narrow_dram,
                          .n_level = 1,
                          .overhead = &us1,
                          .power = &w10};
    d.peak[OC_HW_VECTOR][OC_CLASS_F32] = &fast;
    return d;
}

static struct oc_rank *rank(const struct loaded *l, struct oc_rank_opts o)
{
    struct oc_rank *r;
    struct oc_err err;
    if (oc_rank_make(l->model, &o, &r, &err))
        fail_msg("%s", err.msg);
    return r;
}

static void expect_rank_error(const struct loaded *l, struct oc_rank_opts o, const char *message)
{
    struct oc_rank *r;
    struct oc_err err;
    assert_int_equal(oc_rank_make(l->model, &o, &r, &err), -1);
    assert_null(r);
    assert_int_equal(err.code, OC_EARG);
    assert_string_equal(err.msg, message);
}

static void assert_near(double got, double want)
{
    if (!(fabs(got - want) <= 1e-9 * fabs(want)))
        fail_msg("%.17g is not %.17g", got, want);
}

/* ---- order ---- */

/* The weights of 16,384 bytes at 90 % of the bandwidth: what is between operators may stay in a memory that the file
 * does not have. */
static double shortest_ns(const struct oc_device *d)
{
    return 16384 / d->level[0].bandwidth->value / 0.9 * 1e9;
}

/* 512 N + 16,384 bytes at 30 %, and a launch, by the prior of the class. */
static double longest_ns(const struct oc_device *d, double n)
{
    double t0 = oc_curve_prior(OC_CAL_CPU, n > 4 ? OC_KC_GEMM : OC_KC_GEMV).t0_s;
    return ((512 * n + 16384) / d->level[0].bandwidth->value / 0.3 + t0) * 1e9;
}

static void times_of_batch_1_equal_hand_calculation(void **state)
{
    (void)state;
    struct loaded l = load_product("float[N,64]");
    struct oc_device a = wide(), b = narrow();
    const struct oc_device *const device[] = {&b, &a};
    struct oc_rank *r = rank(&l, (struct oc_rank_opts){.device = device, .n_device = 2});
    const struct oc_rank_row *row;
    assert_int_equal(oc_rank_rows(r, &row), 2);
    assert_ptr_equal(row[0].device, &a);
    for (unsigned i = 0; i < 2; i++) {
        const struct oc_device *d = device[1 - i];
        double lo = shortest_ns(d), hi = longest_ns(d, 1);
        assert_ptr_equal(row[i].device, d);
        assert_int_equal(row[i].batch, 1);
        assert_near(row[i].lo_ns, lo);
        assert_near(row[i].hi_ns, hi);
        assert_near(row[i].mid_ns, sqrt(lo * hi));
        assert_string_equal(row[i].basis, "roofline range");
        assert_int_equal(row[i].place, i + 1);
    }
    /* constants 16,384, activations 256 + 256 */
    assert_int_equal(row[0].need_bytes, 16384 + 512);
    assert_int_equal(row[0].capacity_bytes, 100000);
    assert_int_equal(row[0].fits, OC_FITS_YES);
    oc_rank_free(r);
    unload(&l);
}

/* A run of 64 inferences takes the energy of its time; one inference a 64th of it. */
static void energy_is_that_of_one_inference(void **state)
{
    (void)state;
    static const int64_t batch[] = {1, 64};
    struct loaded l = load_product("float[N,64]");
    struct oc_device b = narrow();
    const struct oc_device *const device[] = {&b};
    struct oc_rank *r =
        rank(&l, (struct oc_rank_opts){.device = device, .n_device = 1, .batch = batch, .n_batch = 2});
    const struct oc_rank_row *row;
    assert_int_equal(oc_rank_rows(r, &row), 2);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(row[i].batch, batch[i]);
        assert_near(row[i].inferences, (double)batch[i]);
        assert_near(row[i].lo_joule * (double)batch[i], 10e-9 * row[i].lo_ns);
        assert_near(row[i].mid_joule * (double)batch[i], 10e-9 * row[i].mid_ns);
        assert_near(row[i].hi_joule * (double)batch[i], 10e-9 * row[i].hi_ns);
    }
    oc_rank_free(r);
    unload(&l);
}

/* 3.6 an hour are 1e-12 a nanosecond. A device without a price has no rank by it. */
static void price_is_that_of_a_thousand_inferences(void **state)
{
    (void)state;
    static const int64_t batch[] = {1, 64};
    static const double price[] = {3.6, 0};
    struct loaded l = load_product("float[N,64]");
    struct oc_device a = narrow(), b = wide();
    const struct oc_device *const device[] = {&a, &b};
    struct oc_rank_opts o = {.device = device,
                             .n_device = 2,
                             .batch = batch,
                             .n_batch = 2,
                             .sort = "price",
                             .price_per_hour = price};
    struct oc_rank *r = rank(&l, o);
    const struct oc_rank_row *row;
    assert_int_equal(oc_rank_rows(r, &row), 4);
    for (unsigned i = 0; i < 2; i++) {
        assert_ptr_equal(row[i].device, &a);
        assert_int_equal(row[i].batch, i ? 1 : 64);
        assert_int_equal(row[i].place, i + 1);
        assert_near(row[i].price_per_hour, 3.6);
        assert_near(row[i].lo_price * row[i].inferences, 1e-9 * row[i].lo_ns);
        assert_near(row[i].mid_price * row[i].inferences, 1e-9 * row[i].mid_ns);
        assert_near(row[i].hi_price * row[i].inferences, 1e-9 * row[i].hi_ns);
        assert_int_equal(row[i + 2].place, 0);
        assert_true(isnan(row[i + 2].mid_price) && isnan(row[i + 2].price_per_hour));
        assert_null(row[i + 2].missing);
    }
    oc_rank_free(r);
    unload(&l);
}

/* Four rows of two devices at two batches. The shortest run is the small batch on wide; most inferences per second
 * and the lowest energy of one are of the large batch: 49,152 bytes instead of 64 times 16,896. */
static void rows_are_ranked_by_the_key(void **state)
{
    (void)state;
    static const int64_t batch[] = {1, 64};
    static const struct {
        const char *sort;
        int64_t batch;
    } best[] = {{NULL, 1}, {"time", 1}, {"throughput", 64}, {"energy", 64}};
    struct loaded l = load_product("float[N,64]");
    struct oc_device a = wide(), b = narrow();
    const struct oc_device *const device[] = {&a, &b};
    struct oc_rank_opts o = {.device = device, .n_device = 2, .batch = batch, .n_batch = 2};
    for (size_t i = 0; i < OC_COUNT(best); i++) {
        const struct oc_rank_row *row;
        o.sort = best[i].sort;
        struct oc_rank *r = rank(&l, o);
        assert_int_equal(oc_rank_rows(r, &row), 4);
        assert_ptr_equal(row[0].device, &a);
        assert_int_equal(row[0].batch, best[i].batch);
        assert_int_equal(row[3].batch, 65 - best[i].batch);
        for (unsigned k = 0; k < 4; k++) {
            assert_int_equal(row[k].place, k + 1);
            assert_true(row[k].first <= k + 1 && row[k].last >= k + 1);
        }
        oc_rank_free(r);
    }
    unload(&l);
}

/* At 200 the model does not fit wide, though it is faster: 118,784 bytes. Without power there is no energy. */
static void devices_without_memory_or_key_have_no_rank(void **state)
{
    (void)state;
    static const int64_t batch[] = {200};
    struct loaded l = load_product("float[N,64]");
    struct oc_device a = wide(), b = narrow(), c = narrow();
    const struct oc_device *const device[] = {&a, &c, &b};
    c.info->id = "no power";
    c.power = NULL;
    struct oc_rank_opts o = {.device = device, .n_device = 3, .batch = batch, .n_batch = 1, .sort = "energy"};
    struct oc_rank *r = rank(&l, o);
    const struct oc_rank_row *row;
    oc_rank_rows(r, &row);
    assert_ptr_equal(row[0].device, &b);
    assert_int_equal(row[0].place, 1);
    assert_int_equal(row[0].last, 1);
    assert_ptr_equal(row[1].device, &a);
    assert_int_equal(row[1].place, 0);
    assert_int_equal(row[1].fits, OC_FITS_NO);
    assert_ptr_equal(row[2].device, &c);
    assert_int_equal(row[2].place, 0);
    assert_true(isnan(row[2].mid_joule));
    assert_null(row[2].missing);
    oc_rank_free(r);
    o.sort = NULL;
    r = rank(&l, o);
    oc_rank_rows(r, &row);
    assert_ptr_equal(row[0].device, &c); /* as fast as the next, and listed before it */
    assert_ptr_equal(row[1].device, &b);
    assert_int_equal(row[0].last, 2);
    oc_rank_free(r);
    unload(&l);
}

/* ---- estimates ---- */

/* The row of the device at the batch. */
static const struct oc_rank_row *row_of(const struct oc_rank *r, const struct oc_device *d, int64_t batch)
{
    const struct oc_rank_row *row;
    for (size_t n = oc_rank_rows(r, &row); n; n--, row++)
        if (row->device == d && row->batch == batch)
            return row;
    fail();
    return NULL;
}

static void assert_row_is_estimate(const struct loaded *l, const struct oc_rank *r, const struct oc_device *d,
                                   int64_t batch, const struct oc_calibration *cal)
{
    const struct oc_bind bind[] = {{"N", batch}};
    const struct oc_analyze_opts analyze = {.bind = bind, .n_bind = 1};
    const struct oc_estimate_opts how = {.calibration = cal};
    const struct oc_rank_row *row = row_of(r, d, batch);
    struct oc_analysis *an;
    struct oc_estimate *e;
    struct oc_err err;
    assert_int_equal(oc_analyze(l->model, &analyze, &an, &err), 0);
    assert_int_equal(oc_estimate_make(an, d, &how, &e, &err), 0);
    struct oc_estimate_info want = *oc_estimate_info(e);
    assert_near(row->mid_ns, want.time_ns);
    assert_near(row->lo_ns, want.low_ns);
    assert_near(row->hi_ns, want.high_ns);
    assert_near(row->bound_ns, want.bound_ns);
    oc_estimate_free(e);
    oc_analysis_free(an);
}

static void calibrated_device_has_its_estimate(void **state)
{
    (void)state;
    static const int64_t batch[] = {1, 40};
    const struct oc_calibration cal = {
        .device = "narrow", .runtime = "onnxruntime", .runtime_version = "1.0", .n_sample = 7, .n_model = 2};
    struct loaded l = load_product("float[N,64]");
    struct oc_device a = wide(), b = narrow();
    const struct oc_device *const device[] = {&a, &b};
    struct oc_rank_opts o = {
        .device = device, .n_device = 2, .batch = batch, .n_batch = 2, .calibration = &cal};
    struct oc_rank *r = rank(&l, o);
    for (size_t i = 0; i < 2; i++) {
        assert_row_is_estimate(&l, r, &b, batch[i], &cal);
        assert_string_equal(row_of(r, &b, batch[i])->basis, "calibration");
        assert_string_equal(row_of(r, &a, batch[i])->basis, "roofline range");
        assert_near(row_of(r, &a, batch[i])->hi_ns, longest_ns(&a, (double)batch[i]));
    }
    oc_rank_free(r);
    o.n_device = 1;
    expect_rank_error(&l, o, "the calibration is of 'narrow', which is not among the devices");
    o.n_device = 2;
    o.as = "fp16";
    expect_rank_error(&l, o, "a calibration does not apply to the model as fp16");
    unload(&l);
}

/* A GPU has the estimate from published latencies: one product of 8,192 N FLOPs and 512 N + 16,384 bytes. */
static void gpu_without_a_calibration_has_the_estimate_from_published_latencies(void **state)
{
    (void)state;
    static const int64_t batch[] = {1, 64};
    static const struct oc_hw_figure teraflop = {.value = 1e12},
                                     us5 = {.value = 5e-6, .basis = OC_BASIS_ASSUMED};
    struct loaded l = load_product("float[N,64]");
    struct oc_device gpu = wide();
    gpu.info->kind = "gpu";
    gpu.overhead = &us5; /* an assumption: the fitted launch time is used */
    gpu.peak[OC_HW_VECTOR][OC_CLASS_F32] = &teraflop;
    const struct oc_device *const device[] = {&gpu};
    struct oc_rank *r =
        rank(&l, (struct oc_rank_opts){.device = device, .n_device = 1, .batch = batch, .n_batch = 2});
    for (size_t i = 0; i < 2; i++) {
        double n = (double)batch[i], launch = 8.6e-6,
               t = 8192 * n / 0.73e12 + (512 * n + 16384) / 0.64 / 100e9 + launch;
        const struct oc_rank_row *row = row_of(r, &gpu, batch[i]);
        assert_string_equal(row->basis, "published latencies");
        assert_near(row->mid_ns, t * 1e9);
        assert_near(row->lo_ns, t * exp(-0.55) * 1e9);
        assert_near(row->hi_ns, t * exp(0.65 + 0.6) * 1e9); /* launches are more than a quarter */
        assert_string_equal(row->limit, "launches");
        assert_near(row->limit_share, launch / t);
        assert_row_is_estimate(&l, r, &gpu, batch[i], NULL);
    }
    oc_rank_free(r);
    unload(&l);
}

/* In fp16 every tensor has half of its bytes, 8,448, and the products need an f16 peak. */
static void another_type_changes_bytes_and_peaks(void **state)
{
    (void)state;
    struct loaded l = load_product("float[N,64]");
    struct oc_device a = narrow(), b = narrow();
    const struct oc_device *const device[] = {&a, &b};
    const struct oc_rank_row *row;
    b.info->id = "f16";
    b.peak[OC_HW_VECTOR][OC_CLASS_F16] = &fast;
    struct oc_rank *r = rank(&l, (struct oc_rank_opts){.device = device, .n_device = 2, .as = "fp16"});
    oc_rank_rows(r, &row);
    assert_ptr_equal(row[0].device, &b);
    assert_near(row[0].lo_ns, 8192 / 0.9);
    assert_int_equal(row[0].need_bytes, 16384 + 512); /* memory of the unchanged model */
    assert_string_equal(row[1].missing, "no vector f16 peak");
    oc_rank_free(r);
    expect_rank_error(&l, (struct oc_rank_opts){.device = device, .n_device = 2, .as = "f7"},
                      "unknown data type 'f7' for --as; valid: fp16, bf16, fp8, int8, int4, fp16-weights, "
                      "int8-weights, int4-weights");
    unload(&l);
}

/* ---- unknown values ---- */

static void device_without_peak_or_bandwidth_has_no_time(void **state)
{
    (void)state;
    struct loaded l = load_product("float[N,64]");
    struct oc_device peak = wide(), memory = wide(), good = narrow();
    const struct oc_device *const device[] = {&peak, &memory, &good};
    static const char *const missing[] = {"no vector f32 peak", "no DRAM bandwidth"};
    peak.info->id = "peak";
    peak.peak[OC_HW_VECTOR][OC_CLASS_F32] = NULL;
    peak.peak[OC_HW_MATRIX][OC_CLASS_F16] = &fast; /* a neighbouring class is not used */
    memory.info->id = "memory";
    memory.n_level = 0;
    for (int gpu = 0; gpu < 2; gpu++) {
        peak.info->kind = memory.info->kind = gpu ? "gpu" : "cpu";
        struct oc_rank *r = rank(&l, (struct oc_rank_opts){.device = device, .n_device = 3});
        const struct oc_rank_row *row;
        oc_rank_rows(r, &row);
        assert_ptr_equal(row[0].device, &good);
        assert_int_equal(row[0].place, 1);
        for (unsigned i = 0; i < 2; i++) {
            assert_ptr_equal(row[i + 1].device, device[i]);
            assert_string_equal(row[i + 1].missing, missing[i]);
            assert_int_equal(row[i + 1].place, 0);
            assert_true(isnan(row[i + 1].lo_ns) && isnan(row[i + 1].hi_ns) && isnan(row[i + 1].mid_joule));
        }
        oc_rank_free(r);
    }
    unload(&l);
}

/* The estimate of this device alone has as many unknown kernels, and nothing below the bound. */
static void check_estimate(const struct loaded *l, const struct oc_device *d, size_t unknown)
{
    struct oc_analysis *a;
    struct oc_estimate *e;
    struct oc_err err;
    if (oc_analyze(l->model, NULL, &a, &err) || oc_estimate_make(a, d, NULL, &e, &err))
        fail_msg("%s", err.msg);
    const struct oc_estimate_info *info = oc_estimate_info(e);
    assert_int_equal(info->unknown_kernels, unknown);
    assert_true(unknown || info->low_ns >= info->bound_ns);
    oc_estimate_free(e);
    oc_analysis_free(a);
}

/* 2 x 4,096 FLOPs of the product, and n integer operations: 64 are 0.8 % and ignored, 128 are 1.5 % and make
 * the time unknown. */
static void at_most_one_percent_of_operations_without_a_peak_is_ignored(void **state)
{
    (void)state;
    static const char *const shape[] = {"int64[64]", "int64[128]"};
    struct oc_device d = narrow();
    const struct oc_device *const device[] = {&d};
    for (unsigned i = 0; i < 2; i++) {
        struct loaded l;
        struct oc_builder *b = oc_b_new(17);
        const struct oc_rank_row *row;
        oc_b_input(b, "x", "float[N,64]");
        oc_b_input(b, "k", shape[i]);
        oc_b_init(b, "w", "float[64,64]");
        oc_b_node(b, "MatMul", "product", "x,w", "y", "");
        oc_b_node(b, "Add", "sum", "k,k", "z", "");
        oc_b_output(b, "y", "float[?,64]");
        oc_b_output(b, "z", shape[i]);
        load(&l, b);
        oc_b_free(b);
        struct oc_rank *r = rank(&l, (struct oc_rank_opts){.device = device, .n_device = 1});
        oc_rank_rows(r, &row);
        assert_int_equal(row[0].unknown_kernels, i); /* with little work the bytes of the sum count */
        assert_int_equal(isnan(row[0].mid_ns), i);
        check_estimate(&l, &d, i);
        if (i)
            assert_string_equal(row[0].missing, "no vector i64 peak");
        else
            assert_null(row[0].missing);
        oc_rank_free(r);
        unload(&l);
    }
}

/* ---- options ---- */

static void rejects_invalid_options(void **state)
{
    (void)state;
    static const int64_t zero[] = {0}, two[] = {2};
    struct loaded l = load_product("float[N,64]"), fixed = load_product("float[1,64]");
    struct oc_device a = wide(), b = wide();
    const struct oc_device *const twice[] = {&a, &b};
    static const double negative[] = {-1};
    struct oc_rank_opts one = {.device = twice, .n_device = 1}, o = one;
    expect_rank_error(&l, (struct oc_rank_opts){0}, "no device to compare");
    expect_rank_error(&l, (struct oc_rank_opts){.device = twice, .n_device = 2},
                      "device 'wide' is listed twice");
    o.sort = "colour";
    expect_rank_error(&l, o, "unknown key 'colour' for --order-by; valid: time, throughput, energy, price");
    o.sort = "price";
    expect_rank_error(&l, o, "no device has a price to order by");
    o.price_per_hour = negative;
    expect_rank_error(&l, o, "the price of 'wide' is not a number of at least 0");
    o = one;
    o.batch_dim = "M";
    expect_rank_error(&l, o, "no input has a dimension named 'M'");
    o = one;
    o.batch = zero;
    o.n_batch = 1;
    expect_rank_error(&l, o, "a batch must be from 1 to 1048576, not 0");
    o.n_batch = OC_RANK_MAX_BATCHES + 1;
    expect_rank_error(&l, o, "more than 64 batches");
    o.batch = two;
    o.n_batch = 1;
    expect_rank_error(&fixed, o, "other batches are not possible: the model has a fixed batch");
    struct oc_rank *r = rank(&fixed, one);
    const struct oc_rank_row *row;
    assert_int_equal(oc_rank_rows(r, &row), 1);
    assert_int_equal(row[0].batch, 0);
    oc_rank_free(r);
    unload(&l);
    unload(&fixed);
}

/* The batch stays 3 while the sequence changes: three inferences per run. */
static void another_dimension_than_the_batch_can_vary(void **state)
{
    (void)state;
    static const int64_t sizes[] = {8};
    static const struct oc_bind bind[] = {{"N", 3}};
    struct loaded l = load_product("float[N,T,64]");
    struct oc_device d = narrow();
    const struct oc_device *const device[] = {&d};
    struct oc_analyze_opts analyze = {.bind = bind, .n_bind = 1};
    struct oc_rank *r = rank(&l, (struct oc_rank_opts){.analyze = &analyze,
                                                       .device = device,
                                                       .n_device = 1,
                                                       .batch_dim = "T",
                                                       .batch = sizes,
                                                       .n_batch = 1});
    const struct oc_rank_row *row;
    oc_rank_rows(r, &row);
    assert_int_equal(row[0].batch, 8);
    assert_near(row[0].inferences, 3);
    assert_near(row[0].hi_ns, longest_ns(&d, 24));
    assert_near(row[0].mid_joule, 10.0 / 3 * 1e-9 * row[0].mid_ns);
    oc_rank_free(r);
    unload(&l);
}

/* ---- text ---- */

/* The verdict is first, energy is of one inference, and memory has one system of units, which the head names. */
static void table_names_its_units(void **state)
{
    (void)state;
    static const int64_t batch[] = {1, 8};
    struct loaded l = load_product("float[N,64]");
    struct oc_device a = wide(), b = narrow();
    const struct oc_device *const device[] = {&a, &b};
    struct oc_rank *r =
        rank(&l, (struct oc_rank_opts){.device = device, .n_device = 2, .batch = batch, .n_batch = 2});
    struct oc_err err;
    char text[8192];
    FILE *f = tmpfile();
    assert_non_null(f);
    assert_int_equal(oc_rank_write(r, NULL, f, &err), 0);
    rewind(f);
    text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
    fclose(f);
    assert_int_equal(strncmp(text, "verdict     wide with N = 1 is the fastest: ", 44), 0);
    assert_non_null(strstr(text, "  energy/inference"));
    assert_null(strstr(text, "energy per run"));
    assert_non_null(strstr(text, "KiB, MiB, GiB (powers of 1,024)"));
    assert_non_null(strstr(text, "  16.50 KiB, 17 %"));
    assert_null(strstr(text, " KB"));
    assert_null(strstr(text, " MB"));
    oc_rank_free(r);
    unload(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_of_batch_1_equal_hand_calculation),
        cmocka_unit_test(energy_is_that_of_one_inference),
        cmocka_unit_test(price_is_that_of_a_thousand_inferences),
        cmocka_unit_test(rows_are_ranked_by_the_key),
        cmocka_unit_test(devices_without_memory_or_key_have_no_rank),
        cmocka_unit_test(calibrated_device_has_its_estimate),
        cmocka_unit_test(gpu_without_a_calibration_has_the_estimate_from_published_latencies),
        cmocka_unit_test(another_type_changes_bytes_and_peaks),
        cmocka_unit_test(device_without_peak_or_bandwidth_has_no_time),
        cmocka_unit_test(at_most_one_percent_of_operations_without_a_peak_is_ignored),
        cmocka_unit_test(rejects_invalid_options),
        cmocka_unit_test(another_dimension_than_the_batch_can_vary),
        cmocka_unit_test(table_names_its_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
