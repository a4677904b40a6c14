/* Ranking of devices: two synthetic devices whose crossing can be computed by hand, devices without a time,
 * devices without enough memory; and counts between analyzed batches equal those of an analysis. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "estimate/predict.h"
#include "estimate/rank_devices.h"
#include "zoo.h"
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

/* Launches are slow, memory is fast. */
static struct oc_device wide(void)
{
    struct oc_device d = {.info = device_info("wide", "Wide", "npu"),
                          .level = &wide_dram,
                          .n_level = 1,
                          .overhead = &us100,
                          .power = &w50};
    d.peak[OC_HW_VECTOR][OC_CLASS_F32] = &fast;
    return d;
}

/* Launches are fast, memory is slow. */
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

static void assert_phases(const struct oc_rank_phase *p, size_t n, const struct oc_rank_phase *want,
                          size_t n_want)
{
    assert_int_equal(n, n_want);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(p[i].from, want[i].from);
        assert_int_equal(p[i].what, want[i].what);
    }
}

/* ---- order ---- */

/* X = 512 N + 16,384 bytes; at N = 1 16,896. wide: 0.16896 us / e + 100 us; narrow: 16.896 us / e + 1 us; e =
 * 0.9, sqrt(0.27), 0.3. Energy per inference: 50 W and 10 W. */
static void times_of_batch_1_equal_hand_calculation(void **state)
{
    (void)state;
    struct loaded l = load_product("float[N,64]");
    struct oc_device a = wide(), b = narrow();
    const struct oc_device *const device[] = {&a, &b};
    struct oc_rank *r = rank(&l, (struct oc_rank_opts){.device = device, .n_device = 2});
    const struct oc_rank_row *row;
    int64_t batch;
    assert_int_equal(oc_rank_rows(r, 0, &batch, &row), 2);
    assert_int_equal(oc_rank_rows(r, 1, &batch, &row), 0);
    assert_int_equal(batch, 1);
    assert_ptr_equal(row[0].device, &b);
    assert_near(row[0].lo_ns, 16896 / 0.9 + 1000);
    assert_near(row[0].mid_ns, 16896 / sqrt(0.27) + 1000);
    assert_near(row[0].hi_ns, 16896 / 0.3 + 1000);
    assert_near(row[0].lo_joule, 10e-9 * (16896 / 0.9 + 1000));
    assert_near(row[0].hi_joule, 10e-9 * (16896 / 0.3 + 1000));
    assert_string_equal(row[0].limit, "DRAM");
    assert_near(row[1].mid_ns, 168.96 / sqrt(0.27) + 100000);
    assert_string_equal(row[1].limit, "overhead");
    /* narrow takes at most 57.3 us, wide at least 100 us */
    assert_int_equal(row[0].place, 1);
    assert_int_equal(row[0].last, 1);
    assert_int_equal(row[1].place, 2);
    assert_int_equal(row[1].first, 2);
    /* constants 16,384, activations 256 + 256 */
    assert_int_equal(row[1].need_bytes, 16384 + 512);
    assert_int_equal(row[1].capacity_bytes, 100000);
    assert_int_equal(row[1].fits, OC_FITS_YES);
    oc_rank_free(r);
    unload(&l);
}

/* The shortest time has the weights of 16,384 bytes alone and no launch; the mean is that of both ends. */
static void npu_holds_what_is_between_operators(void **state)
{
    (void)state;
    static const struct oc_hw_figure small = {.value = 1e-3};
    struct loaded l = load_product("float[N,64]");
    struct oc_device npu = narrow(), cpu = narrow();
    const struct oc_hw_level level[] = {{.name = "L2", .size = &small}, narrow_dram};
    npu.info->kind = npu.info->id = "npu";
    npu.level = cpu.level = level;
    npu.n_level = cpu.n_level = 2;
    const struct oc_device *const device[] = {&npu, &cpu};
    struct oc_rank *r = rank(&l, (struct oc_rank_opts){.device = device, .n_device = 2, .cache = true});
    const struct oc_rank_row *row;
    oc_rank_rows(r, 0, NULL, &row);
    assert_ptr_equal(row[0].device, &npu);
    assert_near(row[0].lo_ns, 16384 / 0.9);
    assert_near(row[0].mid_ns, sqrt(16384.0 / 0.9 * 16896 / 0.3) + 1000);
    assert_near(row[0].hi_ns, 16896 / 0.3 + 1000);
    assert_near(row[1].lo_ns, 16896 / 0.9 + 1000);
    assert_near(row[1].mid_ns, 16896 / sqrt(0.27) + 1000);
    oc_rank_free(r);
    unload(&l);
}

/* Geometric mean: 1e-6 + X / 1e9 / e = 100e-6 + X / 1e11 / e, so X = 99e-6 e / 0.99e-9 = 51,961.5 and N
 * = 69.49: wide is faster from 70 on. Narrow is faster with separate intervals while 1e-6 + X / 0.3e9 <
 * 100e-6 + X / 0.9e11: X < 29,799.3, up to N = 26. Wide once 100e-6 + X / 0.3e11 < 1e-6 + X / 0.9e9: X >
 * 91,855.7, from N = 148 on. */
static void crossing_batch_equals_hand_calculation(void **state)
{
    (void)state;
    static const struct oc_rank_phase want[] = {
        {1, OC_RANK_SECOND_SURELY}, {27, OC_RANK_SECOND}, {70, OC_RANK_FIRST}, {148, OC_RANK_FIRST_SURELY}};
    struct loaded l = load_product("float[N,64]");
    struct oc_device a = wide(), b = narrow();
    const struct oc_device *const device[] = {&a, &b};
    struct oc_rank *r = rank(&l, (struct oc_rank_opts){.device = device, .n_device = 2});
    const struct oc_rank_phase *p;
    size_t n = oc_rank_faster(r, 0, 1, &p);
    assert_phases(p, n, want, OC_COUNT(want));
    assert_int_equal(oc_rank_faster(r, 1, 0, &p), 0);
    assert_int_equal(oc_rank_faster(r, 0, 2, &p), 0);
    assert_int_equal(oc_rank_max_batch(r), 1024);
    /* wide has 100,000 bytes: 512 N + 16,384 up to N = 163. Above it only narrow is left. */
    static const struct oc_rank_phase fastest[] = {{1, 1}, {70, 0}, {164, 1}};
    n = oc_rank_fastest(r, &p);
    assert_phases(p, n, fastest, OC_COUNT(fastest));
    assert_int_equal(r->analyses <= 4, true); /* the other points are on a line */
    oc_rank_free(r);
    unload(&l);
}

/* On wide, memory takes longer than the launch once X / 1e11 / e > 100e-6: X > 5,196,152.4, N > 10,116.7. On
 * narrow always: 1e-6 e 1e9 = 519.6 < X. */
static void limiting_resource_changes_at_the_computed_batch(void **state)
{
    (void)state;
    static const struct oc_rank_phase want[] = {{1, OC_SPAN_OVERHEAD}, {10117, OC_SPAN_MEMORY}};
    static const int64_t batch[] = {16384};
    struct loaded l = load_product("float[N,64]");
    struct oc_device a = wide(), b = narrow();
    const struct oc_device *const device[] = {&a, &b};
    struct oc_rank *r =
        rank(&l, (struct oc_rank_opts){.device = device, .n_device = 2, .batch = batch, .n_batch = 1});
    const struct oc_rank_phase *p;
    size_t n = oc_rank_limits(r, 0, &p);
    assert_phases(p, n, want, OC_COUNT(want));
    assert_int_equal(oc_rank_limits(r, 1, &p), 1);
    assert_string_equal(oc_rank_limit_name(p[0].what), "DRAM");
    assert_int_equal(oc_rank_limits(r, 2, &p), 0);
    oc_rank_free(r);
    /* up to 1,024 it is always launch bound */
    r = rank(&l, (struct oc_rank_opts){.device = device, .n_device = 2});
    assert_int_equal(oc_rank_limits(r, 0, &p), 1);
    assert_string_equal(oc_rank_limit_name(p[0].what), "overhead");
    oc_rank_free(r);
    unload(&l);
}

/* At 64, X = 49,152: narrow 55.6 to 164.8 us, wide 100.5 to 101.6 us. The intervals overlap: either may be
 * first. At 200 the model does not fit wide, though it is faster: 118,784 bytes. */
static void overlapping_intervals_and_insufficient_memory(void **state)
{
    (void)state;
    static const int64_t batch[] = {64, 200};
    struct loaded l = load_product("float[N,64]");
    struct oc_device a = wide(), b = narrow();
    const struct oc_device *const device[] = {&a, &b};
    struct oc_rank *r =
        rank(&l, (struct oc_rank_opts){.device = device, .n_device = 2, .batch = batch, .n_batch = 2});
    const struct oc_rank_row *row;
    assert_int_equal(oc_rank_rows(r, 0, NULL, &row), 2);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(row[i].place, i + 1);
        assert_int_equal(row[i].first, 1);
        assert_int_equal(row[i].last, 2);
    }
    assert_near(row[0].mid_joule, 10.0 / 64 * (49152e-9 / sqrt(0.27) + 1e-6));
    assert_int_equal(oc_rank_rows(r, 1, NULL, &row), 2);
    assert_ptr_equal(row[0].device, &b);
    assert_int_equal(row[0].place, 1);
    assert_int_equal(row[0].last, 1);
    assert_ptr_equal(row[1].device, &a);
    assert_int_equal(row[1].place, 0);
    assert_int_equal(row[1].fits, OC_FITS_NO);
    assert_true(row[1].hi_ns < row[0].lo_ns * 1.1);
    oc_rank_free(r);
    unload(&l);
}

/* At 128, X = 81,920: narrow 158.7 us x 10 W = 1.59 mJ, wide 101.6 us x 50 W = 5.1 mJ. Wide is first by time.
 */
static void devices_are_ranked_by_energy(void **state)
{
    (void)state;
    static const int64_t batch[] = {128};
    struct loaded l = load_product("float[N,64]");
    struct oc_device a = wide(), b = narrow(), c = wide();
    const struct oc_device *const device[] = {&a, &c, &b};
    c.info->id = "no power";
    c.power = NULL;
    struct oc_rank_opts o = {.device = device, .n_device = 3, .batch = batch, .n_batch = 1};
    struct oc_rank *r = rank(&l, o);
    const struct oc_rank_row *row;
    oc_rank_rows(r, 0, NULL, &row);
    assert_ptr_equal(row[0].device, &a); /* as fast as the next, and listed before it */
    assert_ptr_equal(row[1].device, &c);
    oc_rank_free(r);
    o.sort = "energy";
    r = rank(&l, o);
    oc_rank_rows(r, 0, NULL, &row);
    assert_ptr_equal(row[0].device, &b);
    assert_int_equal(row[0].last, 1);
    assert_ptr_equal(row[1].device, &a);
    assert_ptr_equal(row[2].device, &c);
    assert_int_equal(row[2].place, 0);
    assert_true(isnan(row[2].mid_joule));
    assert_null(row[2].missing);
    oc_rank_free(r);
    unload(&l);
}

/* A cache of 20,000 bytes holds everything: 16,384 of weights, 256 read, 256 written; with 1 TB/s and a
 * launch of 1 ns. It writes while it reads. Without caches DRAM of narrow is the limit. */
static void caches_are_an_option(void **state)
{
    (void)state;
    static const struct oc_hw_figure size = {.value = 20000}, tb1 = {.value = 1e12}, ns1 = {.value = 1e-9};
    struct loaded l = load_product("float[N,64]");
    struct oc_device d = narrow();
    const struct oc_hw_level level[] = {{.name = "L2", .size = &size, .bandwidth = &tb1}, narrow_dram};
    const struct oc_device *const device[] = {&d};
    const struct oc_rank_row *row;
    d.level = level;
    d.n_level = 2;
    d.overhead = &ns1;
    for (unsigned cache = 0; cache < 2; cache++) {
        struct oc_rank *r =
            rank(&l, (struct oc_rank_opts){.device = device, .n_device = 1, .cache = cache == 1});
        oc_rank_rows(r, 0, NULL, &row);
        assert_near(row[0].lo_ns, (cache ? 16.640 : 16896) / 0.9 + 1);
        assert_string_equal(row[0].limit, cache ? "cache" : "DRAM");
        oc_rank_free(r);
    }
    unload(&l);
}

/* In fp16 every tensor has half of its bytes, 8,448, and the products need an f16 peak. In fp16-weights only
 * the weights are halved, 16,896 - 8,192 bytes, and the arithmetic is unchanged. */
static void recast_changes_bytes_and_peaks(void **state)
{
    (void)state;
    struct loaded l = load_product("float[N,64]");
    struct oc_device a = narrow(), b = narrow();
    const struct oc_device *const device[] = {&a, &b};
    const struct oc_rank_row *row;
    struct oc_rank_opts o = {.device = device, .n_device = 2, .as = "fp16"};
    b.info->id = "half";
    b.peak[OC_HW_MATRIX][OC_CLASS_F16] = &fast;
    struct oc_rank *r = rank(&l, o);
    oc_rank_rows(r, 0, NULL, &row);
    assert_ptr_equal(row[0].device, &b);
    assert_near(row[0].lo_ns, 8448 / 0.9 + 1000);
    assert_string_equal(row[1].missing, "no vector f16 peak");
    assert_int_equal(row[0].need_bytes, 16384 + 512); /* unchanged */
    oc_rank_free(r);
    o.as = "fp16-weights";
    r = rank(&l, o);
    oc_rank_rows(r, 0, NULL, &row);
    assert_near(row[0].lo_ns, (16896 - 8192) / 0.9 + 1000);
    assert_near(row[1].lo_ns, (16896 - 8192) / 0.9 + 1000);
    oc_rank_free(r);
    o.as = "fp17";
    struct oc_err err;
    assert_int_equal(oc_rank_make(l.model, &o, &r, &err), -1);
    assert_non_null(strstr(err.msg, "unknown data type 'fp17' for --as; did you mean 'fp16'"));
    unload(&l);
}

/* The calibrated device has the estimate of oc_estimate_make for the analysis at each batch, the other device
 * its interval. */
static void calibrated_device_has_an_estimate(void **state)
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
        const struct oc_bind bind[] = {{"N", batch[i]}};
        const struct oc_analyze_opts analyze = {.bind = bind, .n_bind = 1};
        const struct oc_estimate_opts how = {.calibration = &cal};
        const struct oc_rank_row *row;
        struct oc_analysis *an;
        struct oc_estimate *e;
        struct oc_err err;
        assert_int_equal(oc_analyze(l.model, &analyze, &an, &err), 0);
        assert_int_equal(oc_estimate_make(an, &b, &how, &e, &err), 0);
        struct oc_estimate_info want = *oc_estimate_info(e);
        oc_rank_rows(r, i, NULL, &row);
        size_t at = row[0].device == &b ? 0 : 1;
        assert_true(row[at].calibrated);
        assert_false(row[1 - at].calibrated);
        assert_near(row[at].mid_ns, want.time_ns);
        assert_near(row[at].lo_ns, want.low_ns);
        assert_near(row[at].hi_ns, want.high_ns);
        assert_near(row[1 - at].lo_ns, (512.0 * (double)batch[i] + 16384) / 100 / 0.9 + 100000);
        const struct oc_span *gemm = &r->table[i].by_class[OC_OP_CLASS_COUNT + OC_OP_GEMM];
        assert_near(gemm->mid_s, oc_estimate_kernel_s(e, 0));
        oc_estimate_free(e);
        oc_analysis_free(an);
    }
    assert_string_equal(r->calibration, "narrow with onnxruntime 1.0, 7 samples of 2 recordings");
    oc_rank_free(r);
    o.n_device = 1;
    expect_rank_error(&l, o, "the calibration is of 'narrow', which is not among the devices");
    o.n_device = 2;
    o.as = "fp16";
    expect_rank_error(&l, o, "a calibration does not apply to the model as fp16");
    unload(&l);
}

/* A kernel without a prediction leaves out its own time only; the parts add up to the time. */
static void kernels_after_an_unknown_one_are_counted(void **state)
{
    (void)state;
    const struct oc_calibration cal = {.device = "narrow", .runtime = "onnxruntime"};
    const struct oc_device d = narrow();
    struct oc_span span[2];
    double of_class[2];
    for (int with = 0; with < 2; with++) {
        struct loaded l;
        struct oc_analysis *a;
        struct oc_err err;
        struct oc_span by_class[OC_OP_CLASS_COUNT];
        struct oc_builder *b = oc_b_new(17);
        oc_b_opset(b, "my", 1);
        oc_b_input(b, "x", "float[8,64]");
        oc_b_init(b, "w", "float[64,64]");
        if (with) {
            oc_b_node(b, "my::Unknown", "unknown", "x", "z", "");
            oc_b_output(b, "z", NULL);
        }
        oc_b_node(b, "MatMul", "product", "x,w", "y", "");
        oc_b_output(b, "y", NULL);
        load(&l, b);
        oc_b_free(b);
        assert_int_equal(oc_analyze(l.model, NULL, &a, &err), 0);
        oc_span_of(&(struct oc_span_in){.analysis = a, .device = &d, .cal = &cal}, &span[with], by_class);
        of_class[with] = by_class[OC_OP_GEMM].mid_s;
        double parts = 0;
        for (unsigned i = 0; i < OC_SPAN_PARTS; i++)
            parts += span[with].part_s[i];
        assert_near(parts, span[with].mid_s);
        assert_int_equal(span[with].unknown_kernels, with);
        assert_true(of_class[with] > 0);
        oc_analysis_free(a);
        unload(&l);
    }
    assert_near(of_class[1], of_class[0]);
    assert_near(span[1].mid_s, span[0].mid_s);
}

/* A GPU has the estimate from published latencies: one product of 8,192 N FLOPs and 512 N + 16,384 bytes, and
 * between analyzed batches the interpolated one. `estimate` prints the same. */
static void gpu_without_a_calibration_has_the_estimate_from_published_latencies(void **state)
{
    (void)state;
    static const int64_t batch[] = {1, 64};
    static const struct oc_hw_figure teraflop = {.value = 1e12},
                                     us5 = {.value = 5e-6, .basis = OC_BASIS_ASSUMED};
    struct loaded l = load_product("float[N,64]");
    struct oc_device gpu = wide(), none = wide();
    gpu.info->kind = none.info->kind = "gpu";
    none.info->id = "none";
    gpu.overhead = &us5; /* an assumption: the fitted launch time is used */
    gpu.peak[OC_HW_VECTOR][OC_CLASS_F32] = &teraflop;
    none.peak[OC_HW_VECTOR][OC_CLASS_F32] = NULL;
    const struct oc_device *const device[] = {&gpu, &none};
    struct oc_rank *r =
        rank(&l, (struct oc_rank_opts){.device = device, .n_device = 2, .batch = batch, .n_batch = 2});
    for (size_t i = 0; i < 2; i++) {
        const struct oc_bind bind[] = {{"N", batch[i]}};
        const struct oc_analyze_opts analyze = {.bind = bind, .n_bind = 1};
        const struct oc_rank_row *row;
        struct oc_analysis *an;
        struct oc_estimate *e;
        struct oc_err err;
        double n = (double)batch[i], launch = 8.6e-6,
               t = 8192 * n / 0.73e12 + (512 * n + 16384) / 0.64 / 100e9 + launch;
        oc_rank_rows(r, i, NULL, &row);
        assert_ptr_equal(row[0].device, &gpu);
        assert_near(row[0].mid_ns, t * 1e9);
        assert_near(row[0].lo_ns, t * exp(-0.55) * 1e9);
        assert_near(row[0].hi_ns, t * exp(0.65 + 0.6) * 1e9); /* launches are more than a quarter */
        assert_string_equal(row[1].missing, "no vector f32 peak");
        assert_int_equal(r->table[i].whole[0].evidence, OC_SPAN_PUBLISHED);
        assert_int_equal(oc_analyze(l.model, &analyze, &an, &err), 0);
        assert_int_equal(oc_estimate_make(an, &gpu, NULL, &e, &err), 0);
        assert_near(oc_estimate_info(e)->time_ns, row[0].mid_ns);
        assert_near(oc_estimate_info(e)->low_ns, row[0].lo_ns);
        assert_near(oc_estimate_info(e)->high_ns, row[0].hi_ns);
        oc_estimate_free(e);
        assert_int_equal(oc_estimate_make(an, &none, NULL, &e, &err), 0);
        assert_true(isnan(oc_estimate_info(e)->time_ns) && !isnan(oc_estimate_info(e)->bound_ns));
        assert_int_equal(oc_estimate_info(e)->unknown_kernels, 1);
        oc_estimate_free(e);
        oc_analysis_free(an);
    }
    oc_rank_free(r);
    gpu.overhead = &us100; /* measured */
    r = rank(&l, (struct oc_rank_opts){.device = device, .n_device = 2});
    const struct oc_rank_row *row;
    oc_rank_rows(r, 0, NULL, &row);
    assert_near(row[0].mid_ns, (8192 / 0.73e12 + 16896 / 0.64 / 100e9 + 106.2e-6) * 1e9);
    oc_rank_free(r);
    unload(&l);
}

/* ---- unknown values ---- */

static void device_without_peak_or_bandwidth_has_no_time(void **state)
{
    (void)state;
    struct loaded l = load_product("float[N,64]");
    struct oc_device peak = wide(), launch = wide(), memory = wide(), good = narrow();
    const struct oc_device *const device[] = {&peak, &launch, &memory, &good};
    static const char *const missing[] = {"no vector f32 peak", "no overhead of a launch",
                                          "no DRAM bandwidth"};
    peak.info->id = "peak";
    peak.peak[OC_HW_VECTOR][OC_CLASS_F32] = NULL;
    peak.peak[OC_HW_MATRIX][OC_CLASS_F16] = &fast; /* a neighbouring class is not used */
    launch.info->id = "launch";
    launch.overhead = NULL;
    memory.info->id = "memory";
    memory.n_level = 0;
    struct oc_rank *r = rank(&l, (struct oc_rank_opts){.device = device, .n_device = 4});
    const struct oc_rank_row *row;
    const struct oc_rank_phase *p;
    oc_rank_rows(r, 0, NULL, &row);
    assert_ptr_equal(row[0].device, &good);
    assert_int_equal(row[0].place, 1);
    for (unsigned i = 0; i < 3; i++) {
        assert_ptr_equal(row[i + 1].device, device[i]);
        assert_string_equal(row[i + 1].missing, missing[i]);
        assert_int_equal(row[i + 1].place, 0);
        assert_true(isnan(row[i + 1].lo_ns) && isnan(row[i + 1].hi_ns) && isnan(row[i + 1].mid_joule));
        assert_string_equal(row[i + 1].limit, "unknown");
    }
    assert_int_equal(oc_rank_faster(r, 0, 3, &p), 1);
    assert_int_equal(p[0].what, -1);
    oc_rank_free(r);
    unload(&l);
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
        const struct oc_span *s = &r->table[0].whole[0];
        assert_int_equal(s->left_out, 1u << OC_CLASS_I64);
        assert_near(s->left_out_part, i ? 128.0 / 8320 : 64.0 / 8256);
        assert_string_equal(s->missing, i ? "no vector i64 peak" : "");
        assert_int_equal(isnan(s->mid_s), i);
        /* of its own class it is 100 % */
        assert_true(isnan(r->table[0].by_class[OC_OP_ELEMENTWISE].mid_s));
        assert_true(r->table[0].by_class[OC_OP_GEMM].mid_s > 0);
        oc_rank_free(r);
        unload(&l);
    }
}

/* A Relu after a product is part of its kernel on the GPU: no device is the fastest for it. */
static void class_that_one_device_fuses_has_no_fastest_device(void **state)
{
    (void)state;
    struct oc_device a = wide(), b = narrow();
    const struct oc_device *const device[] = {&a, &b};
    for (int gpu = 0; gpu < 2; gpu++) {
        struct loaded l;
        struct oc_builder *m = oc_b_new(17);
        oc_b_input(m, "x", "float[N,64]");
        oc_b_init(m, "w", "float[64,64]");
        oc_b_node(m, "MatMul", "product", "x,w", "y", "");
        oc_b_node(m, "Relu", "relu", "y", "z", "");
        oc_b_output(m, "z", "float[?,64]");
        load(&l, m);
        oc_b_free(m);
        b.info->kind = gpu ? "gpu" : "cpu";
        struct oc_rank *r = rank(&l, (struct oc_rank_opts){.device = device, .n_device = 2});
        assert_int_equal(r->table[0].whole[1].evidence, gpu ? OC_SPAN_PUBLISHED : OC_SPAN_BAND);
        assert_true(oc_rank_best_for(r, &r->table[0], OC_OP_GEMM) < 2);
        assert_int_equal(oc_rank_best_for(r, &r->table[0], OC_OP_ELEMENTWISE) == 2, gpu);
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
    struct oc_rank_opts one = {.device = twice, .n_device = 1}, o = one;
    expect_rank_error(&l, (struct oc_rank_opts){0}, "no device to compare");
    expect_rank_error(&l, (struct oc_rank_opts){.device = twice, .n_device = 2},
                      "device 'wide' is listed twice");
    o.sort = "price";
    expect_rank_error(&l, o, "unknown key 'price' for --sort; valid: time, throughput, energy");
    o = one;
    o.batch_dim = "M";
    expect_rank_error(&l, o, "no input has a dimension named 'M'");
    o = one;
    o.batch = zero;
    o.n_batch = 1;
    expect_rank_error(&l, o, "a batch must be from 1 to 1048576, not 0");
    o.batch = two;
    expect_rank_error(&fixed, o, "other batches are not possible: the model has a fixed batch");
    struct oc_rank *r = rank(&fixed, one);
    const struct oc_rank_phase *p;
    assert_int_equal(oc_rank_max_batch(r), 0);
    assert_int_equal(oc_rank_fastest(r, &p), 0);
    assert_int_equal(oc_rank_limits(r, 0, &p), 0);
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
    int64_t size;
    oc_rank_rows(r, 0, &size, &row);
    assert_int_equal(size, 8);
    /* 512 x 24 + 16,384 = 28,672 bytes */
    assert_near(row[0].mid_ns, 28672 / sqrt(0.27) + 1000);
    assert_near(row[0].mid_joule, 10.0 / 3 * 1e-9 * (28672 / sqrt(0.27) + 1000));
    oc_rank_free(r);
    unload(&l);
}

/* ---- counts between analyses ---- */

static void check_equal_load(const struct oc_rank_load *a, const struct oc_rank_load *b)
{
    assert_int_equal(a->batch, b->batch);
    assert_int_equal(a->n_item, b->n_item);
    assert_int_equal(a->peak_bytes, b->peak_bytes);
    assert_int_equal(a->const_bytes, b->const_bytes);
    assert_int_equal(a->unknown_nodes, b->unknown_nodes);
    for (uint32_t i = 0; i < a->n_item; i++) {
        assert_int_equal(a->item[i].count, b->item[i].count);
        assert_int_equal(a->item[i].op_class, b->item[i].op_class);
        assert_memory_equal(&a->item[i].work, &b->item[i].work, sizeof(a->item[i].work));
    }
}

static void compare_with_analyses(const struct loaded *l, const char *symbol, unsigned most_analyses)
{
    static const struct oc_analyze_opts none = {0};
    static const int64_t batch[] = {1,   2,   3,   5,   7,   16,  31,  33,   100,
                                    237, 238, 239, 240, 511, 512, 513, 1000, 1024};
    struct oc_rank_loads *lines, *direct;
    struct oc_err err;
    assert_int_equal(oc_rank_loads_make(l->model, &none, NULL, symbol, &lines, &err), 0);
    assert_int_equal(oc_rank_loads_make(l->model, &none, NULL, symbol, &direct, &err), 0);
    assert_int_equal(oc_rank_loads_span(lines, 1024), 1024);
    unsigned before = oc_rank_loads_analyses(lines);
    assert_true(before <= most_analyses);
    for (size_t i = 0; i < OC_COUNT(batch); i++) {
        const struct oc_rank_load *a = oc_rank_load_at(lines, batch[i], &err);
        const struct oc_rank_load *b = oc_rank_load_at(direct, batch[i], &err);
        assert_non_null(a);
        assert_non_null(b);
        check_equal_load(a, b);
    }
    if (most_analyses < 48)
        assert_int_equal(oc_rank_loads_analyses(lines), before); /* all points were on lines */
    oc_rank_loads_free(lines);
    oc_rank_loads_free(direct);
}

static void lines_through_counts_equal_analyses_of_real_models(void **state)
{
    (void)state;
    static const char *const names[] = {"resnet50", "bert_base", "mobilenetv2", "gpt2"};
    for (size_t i = 0; i < OC_COUNT(names); i++) {
        struct zoo z;
        struct loaded l;
        zoo_init(&z, 17);
        zoo_find(names[i])->build(&z);
        load(&l, z.b);
        zoo_free(&z);
        compare_with_analyses(&l, oc_batch_symbol(l.model), 60);
        unload(&l);
    }
}

/* x x^T has N^2 elements: not a line, each batch is analyzed. */
static void quadratic_counts_are_analyzed_at_every_batch(void **state)
{
    (void)state;
    struct loaded l;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[N,4]");
    oc_b_node(b, "Transpose", "turn", "x", "t", "perm=1,0");
    oc_b_node(b, "MatMul", "square", "x,t", "y", "");
    oc_b_output(b, "y", "float[?,?]");
    load(&l, b);
    oc_b_free(b);
    compare_with_analyses(&l, "N", 60);
    unload(&l);
}

/* ---- phases ---- */

static int steps(void *ctx, int64_t batch)
{
    unsigned *calls = ctx;
    ++*calls;
    return batch < 5 ? 0 : batch < 300 ? 1 : batch < 310 ? 2 : batch < 1000 ? 3 : 1;
}

static void every_phase_change_is_found(void **state)
{
    (void)state;
    static const struct oc_rank_phase want[] = {{1, 0}, {5, 1}, {300, 2}, {310, 3}, {1000, 1}};
    struct oc_arena arena = {0};
    struct oc_rank_phases p;
    unsigned calls = 0;
    oc_find_phases(steps, &calls, 1000, &arena, &p);
    assert_phases(p.item, p.n, want, OC_COUNT(want));
    assert_true(calls < 60);
    oc_find_phases(steps, &calls, 1, &arena, &p);
    assert_int_equal(p.n, 1);
    oc_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_of_batch_1_equal_hand_calculation),
        cmocka_unit_test(npu_holds_what_is_between_operators),
        cmocka_unit_test(crossing_batch_equals_hand_calculation),
        cmocka_unit_test(limiting_resource_changes_at_the_computed_batch),
        cmocka_unit_test(overlapping_intervals_and_insufficient_memory),
        cmocka_unit_test(devices_are_ranked_by_energy),
        cmocka_unit_test(caches_are_an_option),
        cmocka_unit_test(recast_changes_bytes_and_peaks),
        cmocka_unit_test(calibrated_device_has_an_estimate),
        cmocka_unit_test(kernels_after_an_unknown_one_are_counted),
        cmocka_unit_test(class_that_one_device_fuses_has_no_fastest_device),
        cmocka_unit_test(gpu_without_a_calibration_has_the_estimate_from_published_latencies),
        cmocka_unit_test(device_without_peak_or_bandwidth_has_no_time),
        cmocka_unit_test(at_most_one_percent_of_operations_without_a_peak_is_ignored),
        cmocka_unit_test(rejects_invalid_options),
        cmocka_unit_test(another_dimension_than_the_batch_can_vary),
        cmocka_unit_test(lines_through_counts_equal_analyses_of_real_models),
        cmocka_unit_test(quadratic_counts_are_analyzed_at_every_batch),
        cmocka_unit_test(every_phase_change_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
