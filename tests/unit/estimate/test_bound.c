/* The lower bound of a model: figures by hand, and 300 random graphs on random devices. */
#include "estimate/bound.h"
#include "onnxcost/bounds.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "estimate/fusion_plan.h"
#include "estimate/predict.h"
#include "support/build.h"
#include "onnxcost.h"
#include "onnxcost/estimate.h"
#include "onnxcost/hardware.h"

/* ---- devices ---------------------------------------------------------------------------------------- */

enum { F32, MATRIX_F32, TF32, SPECIAL, PEAKS };

struct machine {
    const char *kind; /* NULL: gpu */
    struct oc_hw_figure peak[PEAKS], size[2], rate[2], dram, overhead;
    struct oc_hw_level level[3];
    struct oc_device_info info;
    struct oc_device device;
};

static void connect_machine(struct machine *m)
{
    static const struct {
        uint8_t unit, cls;
    } place[PEAKS] = {{OC_HW_VECTOR, OC_CLASS_F32},
                      {OC_HW_MATRIX, OC_CLASS_F32},
                      {OC_HW_MATRIX, OC_CLASS_TF32},
                      {OC_HW_SPECIAL, OC_CLASS_F32}};
    m->info = (struct oc_device_info){
        .id = "random", .name = "random", .file = "", .kind = m->kind ? m->kind : "gpu"};
    m->device =
        (struct oc_device){.info = &m->info, .level = m->level, .n_level = 3, .overhead = &m->overhead};
    for (unsigned i = 0; i < PEAKS; i++)
        m->device.peak[place[i].unit][place[i].cls] = m->peak[i].value > 0 ? &m->peak[i] : NULL;
    for (unsigned i = 0; i < 2; i++)
        m->level[i] = (struct oc_hw_level){.name = i ? "L3" : "L2",
                                           .size = m->size[i].value > 0 ? &m->size[i] : NULL,
                                           .bandwidth = m->rate[i].value > 0 ? &m->rate[i] : NULL};
    m->level[2] = (struct oc_hw_level){.name = "DRAM", .bandwidth = m->dram.value > 0 ? &m->dram : NULL};
}

static uint64_t state;

static unsigned draw(unsigned n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % n;
}

/* 1 to 10^decades, times scale */
static double draw_figure(double scale, double decades)
{
    return scale * pow(10, decades * draw(1000) / 1000.0);
}

/* Nearer levels are smaller and faster; a figure may be missing. */
static struct machine draw_machine(void)
{
    struct machine m = {.dram.value = draw_figure(1e10, 2), .overhead.value = 1e-6};
    for (unsigned i = 0; i < PEAKS; i++)
        m.peak[i].value = draw(4) ? draw_figure(1e11, 3) : 0;
    m.size[0].value = draw(4) ? draw_figure(1e4, 2) : 0;
    m.size[1].value = draw(4) ? draw_figure(1e6, 2) : 0;
    m.rate[1].value = draw(4) ? m.dram.value * draw_figure(1, 1) : 0;
    m.rate[0].value = draw(4) ? fmax(m.dram.value, m.rate[1].value) * draw_figure(1, 1) : 0;
    m.dram.value = draw(8) ? m.dram.value : 0;
    return m;
}

/* ---- graphs ----------------------------------------------------------------------------------------- */

struct graph {
    struct oc_builder *b;
    unsigned n;
    char last[16];
};

static void append(struct graph *g, const char *op, const char *more, const char *attr)
{
    char name[16], in[64];
    snprintf(name, sizeof(name), "t%u", ++g->n);
    snprintf(in, sizeof(in), "%s%s", g->last, more);
    oc_b_node(g->b, op, name, in, name, attr);
    memcpy(g->last, name, sizeof(name));
}

static void append_product(struct graph *g, unsigned kind)
{
    static const char *const shape[] = {"float[32,32,1,1]", "float[32,32,3,3]", "float[32,1,3,3]"};
    static const char *const attr[] = {"", "pads=1,1,1,1", "pads=1,1,1,1 group=32"};
    char weight[16], more[24];
    snprintf(weight, sizeof(weight), "w%u", g->n);
    snprintf(more, sizeof(more), ",%s", weight);
    oc_b_init(g->b, weight, shape[kind]);
    append(g, "Conv", more, attr[kind]);
}

/* softmax(x x') x over the last two dimensions */
static void append_attention(struct graph *g)
{
    char value[16], more[24];
    memcpy(value, g->last, sizeof(value));
    append(g, "Transpose", "", "perm=0,1,3,2");
    snprintf(more, sizeof(more), ",%s", value);
    append(g, "MatMul", more, "");
    append(g, "Softmax", "", "axis=-1");
    append(g, "MatMul", more, "");
}

static void append_random(struct graph *g)
{
    static const char *const single[] = {"Relu", "Sigmoid", "Exp", "Identity", "Neg"};
    char before[16], more[24];
    memcpy(before, g->last, sizeof(before));
    switch (draw(6)) {
    case 0:
    case 1:
        append_product(g, draw(3));
        break;
    case 2:
        append_attention(g);
        break;
    case 3:
        append(g, single[draw(5)], "", "");
        snprintf(more, sizeof(more), ",%s", before);
        append(g, draw(2) ? "Add" : "Mul", more, "");
        break;
    case 4:
        append_product(g, draw(2));
        append(g, "Softmax", "", "axis=1");
        break;
    default:
        append(g, single[draw(5)], "", "");
    }
}

struct built {
    uint8_t *bytes;
    struct oc_model *model;
    struct oc_analysis *analysis;
};

/* The same graph for the same seed, `copies` times in sequence. */
static struct built build_of(const char *type, uint64_t seed, unsigned copies)
{
    struct built r;
    struct graph g = {.b = oc_b_new(17), .last = "x"};
    size_t n;
    struct oc_err err;
    oc_b_input(g.b, "x", type);
    for (unsigned c = 0; c < copies; c++) {
        state = seed;
        for (unsigned i = 1 + draw(12); i > 0; i--)
            append_random(&g);
    }
    oc_b_output(g.b, g.last, type);
    r.bytes = oc_b_pack(g.b, &n);
    oc_b_free(g.b);
    if (oc_model_load_mem(r.bytes, n, NULL, &r.model, &err) ||
        oc_analyze(r.model, &(struct oc_analyze_opts){0}, &r.analysis, &err))
        fail_msg("seed %llu: %s", (unsigned long long)seed, err.msg);
    return r;
}

static struct built build(uint64_t seed, unsigned batch, unsigned copies)
{
    char type[40];
    snprintf(type, sizeof(type), "float[%u,32,16,16]", batch);
    return build_of(type, seed, copies);
}

static void release(struct built *r)
{
    oc_analysis_free(r->analysis);
    oc_model_free(r->model);
    free(r->bytes);
}

static double bound(const struct built *r, const struct machine *given, bool cache)
{
    struct machine m = *given;
    connect_machine(&m);
    double s = oc_bound_of(r->analysis, NULL, &m.device, cache);
    if (!isnan(s) && !(s > 0 && isfinite(s)))
        fail_msg("a bound of %g", s);
    return isnan(s) ? 0 : s;
}

static void expect_at_most(double a, double b, const char *what, uint64_t seed)
{
    if (!(a <= b * (1 + 1e-9)))
        fail_msg("%s: %.9g is above %.9g, seed %llu", what, a, b, (unsigned long long)seed);
}

/* ---- figures by hand -------------------------------------------------------------------------------- */

#define NO_BYTE 1e-3 /* of a cache: it is known to hold nothing */

static double bound_on(struct oc_builder *b, const struct machine *m)
{
    struct built r;
    size_t n;
    struct oc_err err;
    r.bytes = oc_b_pack(b, &n);
    oc_b_free(b);
    if (oc_model_load_mem(r.bytes, n, NULL, &r.model, &err) ||
        oc_analyze(r.model, &(struct oc_analyze_opts){0}, &r.analysis, &err))
        fail_msg("%s", err.msg);
    struct machine copy = *m;
    double s = bound(&r, &copy, true);
    release(&r);
    return s;
}

/* 1 TFLOP/s of f32 and 100 GB/s; no matrix unit. */
static double simple_bound(struct oc_builder *b)
{
    return bound_on(
        b, &(struct machine){.peak = {{.value = 1e12}}, .size = {{.value = NO_BYTE}}, .dram.value = 100e9});
}

static void expect_near(double got, double want)
{
    if (!(fabs(got - want) <= 1e-9 * want))
        fail_msg("%.12g is not %.12g", got, want);
}

/* Weights 1024 x 1024 x 4 B = 4,194,304 B, 4,096 B read and 4,096 B written, the Relu nothing: 4,202,496 B /
 * 100 GB/s. Twice in sequence: twice. */
static void products_run_in_sequence(void **unused)
{
    (void)unused;
    for (unsigned copies = 1; copies <= 2; copies++) {
        struct oc_builder *b = oc_b_new(17);
        oc_b_input(b, "x", "float[1,1024]");
        oc_b_init(b, "w1", "float[1024,1024]");
        oc_b_node(b, "MatMul", "", "x,w1", "a", "");
        oc_b_node(b, "Relu", "", "a", "y1", "");
        if (copies == 2) {
            oc_b_init(b, "w2", "float[1024,1024]");
            oc_b_node(b, "MatMul", "", "y1,w2", "c", "");
            oc_b_node(b, "Relu", "", "c", "y2", "");
        }
        oc_b_output(b, copies == 2 ? "y2" : "y1", "float[1,1024]");
        expect_near(simple_bound(b), copies * 42.02496e-6);
    }
}

/* An absent input of an operator that joins others. */
static void absent_inputs_have_no_size(void **unused)
{
    (void)unused;
    double time[2];
    for (int absent = 0; absent < 2; absent++) {
        struct oc_builder *b = oc_b_new(17);
        oc_b_input(b, "x", "float[1024]");
        oc_b_node(b, "Relu", "", "x", "a", "");
        oc_b_node(b, "Concat", "", absent ? ",a" : "a,x", "y", "axis=0");
        oc_b_output(b, "y", "float[2048]");
        time[absent] = simple_bound(b);
    }
    assert_true(time[0] > 0 && !(time[1] > time[0]));
}

/* Each product reads 4 MiB of weights and 4 MiB and writes 4 MiB: 2 * 12 MiB; without what is between them
 * 16 MiB, in 4.3 us of arithmetic. */
static void tensors_between_products_may_stay_on_the_chip(void **unused)
{
    (void)unused;
    static const struct {
        const char *kind;
        double cache, mib;
    } row[] = {{"gpu", NO_BYTE, 24}, {"gpu", 0, 16}, {"cpu", 0, 16}, {"npu", NO_BYTE, 16}};
    for (size_t i = 0; i < OC_COUNT(row); i++) {
        struct oc_builder *b = oc_b_new(17);
        oc_b_input(b, "x", "float[1024,1024]");
        oc_b_init(b, "w1", "float[1024,1024]");
        oc_b_init(b, "w2", "float[1024,1024]");
        oc_b_node(b, "MatMul", "", "x,w1", "a", "");
        oc_b_node(b, "MatMul", "", "a,w2", "y", "");
        oc_b_output(b, "y", "float[1024,1024]");
        struct machine m = {.kind = row[i].kind,
                            .peak = {{.value = 1e15}},
                            .size = {{.value = row[i].cache}},
                            .dram.value = 100e9};
        expect_near(bound_on(b, &m), row[i].mib * 1048576 / 100e9);
    }
}

static void attention_never_writes_scores(void **unused)
{
    (void)unused;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "q", "float[8,64,4]");
    oc_b_input(b, "k", "float[8,4,4096]");
    oc_b_input(b, "v", "float[8,4096,4]");
    oc_b_node(b, "MatMul", "", "q,k", "s", "");
    oc_b_node(b, "Softmax", "", "s", "p", "axis=-1");
    oc_b_node(b, "MatMul", "", "p,v", "y", "");
    oc_b_output(b, "y", "float[8,64,4]");
    /* arithmetic: 2 products of 8 x 64 x 4096 x 4 MACs are 33,554,432 FLOPs, and the softmax; transfers: q
     * and y 8,192 B each, k and v 524,288 B each, not 2 x 8,388,608 B of scores in 168 us */
    double s = simple_bound(b);
    assert_true(s >= 33.554432e-6 && s < 60e-6);
}

struct loaded {
    struct built r;
    struct oc_arena arena;
    struct oc_bound_load load;
};

static struct loaded load_of(struct oc_builder *b, const struct oc_analyze_opts *opts)
{
    struct loaded x = {0};
    struct oc_err err;
    size_t n;
    x.r.bytes = oc_b_pack(b, &n);
    oc_b_free(b);
    if (oc_model_load_mem(x.r.bytes, n, NULL, &x.r.model, &err) ||
        oc_analyze(x.r.model, opts, &x.r.analysis, &err))
        fail_msg("%s", err.msg);
    oc_bound_load_make(x.r.analysis, NULL, &x.arena, &x.load);
    return x;
}

static void unload(struct loaded *x)
{
    oc_arena_free(&x->arena);
    release(&x->r);
}

/* Products of dequantized operands may run in their type; views between change nothing, other operators do. */
static void dequantized_products_are_of_integers(void **unused)
{
    (void)unused;
    static const struct {
        const char *type, *between, *more;
        bool weight;
        uint8_t also;
    } row[] = {
        {"int8", NULL, NULL, true, OC_ALSO_I8},
        {"int8", NULL, NULL, false, 0},
        {"int8", "Reshape", ",shape", true, OC_ALSO_I8},
        {"int8", "Identity", "", true, OC_ALSO_I8},
        {"int8", "Relu", "", true, 0},
        {"float8e4m3fn", NULL, NULL, true, OC_ALSO_F8},
    };
    for (size_t i = 0; i < OC_COUNT(row); i++) {
        struct oc_builder *b = oc_b_new(19);
        struct oc_arena *a = oc_b_arena(b);
        oc_b_input(b, "x", oc_printf(a, "%s[2,2,8]", row[i].type));
        oc_b_init(b, "s", "float[]{0.5}");
        oc_b_init(b, "shape", "int64[3]{1,4,8}");
        oc_b_init(b, "w8", oc_printf(a, "%s[8,6]", row[i].type));
        oc_b_init(b, "w", "float[8,6]");
        oc_b_node(b, "DequantizeLinear", NULL, "x,s", "a", "");
        if (row[i].between)
            oc_b_node(b, row[i].between, NULL, oc_printf(a, "a%s", row[i].more), "c", "");
        oc_b_node(b, "DequantizeLinear", NULL, "w8,s", "v", "");
        oc_b_node(b, "MatMul", NULL,
                  oc_printf(a, "%s,%s", row[i].between ? "c" : "a", row[i].weight ? "v" : "w"), "y", "");
        oc_b_output(b, "y", NULL);
        struct loaded x = load_of(b, NULL);
        assert_int_equal(x.load.n_part, 1);
        assert_int_equal(x.load.part[0].also, row[i].also);
        unload(&x);
    }
}

/* Weights in floats of 8 bits: arithmetic at that peak too, where the device has one. */
static void narrow_weights_may_be_multiplied_in_their_type(void **unused)
{
    (void)unused;
    const struct {
        double f8, want; /* 2 * 64 * 64 * 64 FLOPs at 1 TFLOP/s of f16; f8: at twice that */
    } row[] = {{0, 524288e-12}, {2e12, 262144e-12}};
    for (size_t i = 0; i < OC_COUNT(row); i++) {
        struct oc_builder *b = oc_b_new(20);
        oc_b_input(b, "x", "float16[64,64]");
        oc_b_init(b, "w", "float8e4m3fn[64,64]");
        oc_b_init(b, "s", "float[1,1]");
        oc_b_node(b, "com.microsoft::MatMulBlockQuantizedFp8Weight", NULL, "x,w,s", "y",
                  "K=64 N=64 block_size=128");
        oc_b_output(b, "y", NULL);
        struct loaded x = load_of(b, NULL);
        assert_int_equal(x.load.part[0].also, OC_ALSO_I8 | OC_ALSO_F8);
        struct machine m = {.dram.value = 1e18};
        const struct oc_hw_figure f16 = {.value = 1e12}, i8 = {.value = 1e11}, f8 = {.value = row[i].f8};
        connect_machine(&m);
        m.device.peak[OC_HW_MATRIX][OC_CLASS_F16] = &f16;
        m.device.peak[OC_HW_MATRIX][OC_CLASS_I8] = &i8;
        m.device.peak[OC_HW_MATRIX][OC_CLASS_F8] = row[i].f8 > 0 ? &f8 : NULL;
        expect_near(oc_bound_time(&x.load, &m.device, true), row[i].want);
        unload(&x);
    }
}

/* Two matrices of 64 x 128 floats for each of 16 experts, of which a token uses 2. Uniform: 16 * (1 - (14 /
 * 16)^8) of them. */
static void experts_of_one_token_are_the_fewest(void **unused)
{
    (void)unused;
    const struct {
        bool expected;
        uint64_t weights;
    } row[] = {{false, 131072}, {true, 688276}};
    for (size_t i = 0; i < OC_COUNT(row); i++) {
        struct oc_builder *b = oc_b_new(20);
        oc_b_input(b, "x", "float[8,64]");
        oc_b_input(b, "r", "float[8,16]");
        oc_b_init(b, "up", "float[16,128,64]");
        oc_b_init(b, "down", "float[16,64,128]");
        oc_b_node(b, "com.microsoft::MoE", NULL, "x,r,up,,down", "y", "k=2");
        oc_b_output(b, "y", NULL);
        struct loaded x = load_of(b, &(struct oc_analyze_opts){.moe_expected = row[i].expected});
        assert_int_equal(x.load.part[0].bytes.weight_bytes, row[i].weights);
        assert_int_equal(x.load.const_bytes, row[i].weights);
        assert_int_equal(x.load.fewest_experts, !row[i].expected);
        unload(&x);
    }
}

/* 4 queries in 2 heads against 16 latents of 8 elements, of which 6 are the values: in the graph 2 * 4 * 16 *
 * (8 + 6) MACs. One query takes all of them, and so does attention whose values are of another tensor, or
 * another part of it. */
static void latent_attention_may_expand_keys(void **unused)
{
    (void)unused;
    static const struct {
        const char *queries, *keys, *values;
        uint64_t macs;
    } row[] = {{"float[1,2,4,8]", "kv", "kv", 0},
               {"float[1,2,1,8]", "kv", "kv", 448},
               {"float[1,2,4,8]", "kv", "other", 1792},
               {"float[1,2,4,8]", "first", "packed", 1792}};
    for (size_t i = 0; i < OC_COUNT(row); i++) {
        struct oc_builder *b = oc_b_new(20);
        struct oc_arena *a = oc_b_arena(b);
        oc_b_input(b, "q", row[i].queries);
        oc_b_input(b, "kv", "float[1,1,16,8]");
        oc_b_input(b, "other", "float[1,1,16,8]");
        oc_b_input(b, "packed", "float[1,1,16,14]");
        oc_b_init(b, "parts", "int64[2]{8,6}");
        oc_b_init(b, "from", "int64[1]{0}");
        oc_b_init(b, "to", "int64[1]{6}");
        oc_b_init(b, "axis", "int64[1]{3}");
        oc_b_node(b, "Split", NULL, "packed,parts", "first,second", "axis=-1");
        oc_b_node(b, "Transpose", NULL, row[i].keys, "k", "perm=0,1,3,2");
        oc_b_node(b, "MatMul", NULL, "q,k", "s", "");
        oc_b_node(b, "Softmax", NULL, "s", "p", "axis=-1");
        oc_b_node(b, "Slice", NULL, oc_printf(a, "%s,from,to,axis", row[i].values), "v", "");
        oc_b_node(b, "MatMul", NULL, "p,v", "y", "");
        oc_b_output(b, "y", NULL);
        struct loaded x = load_of(b, NULL);
        assert_int_equal(x.load.n_part, 1);
        assert_int_equal(oc_bound_part_work(&x.load.part[0]).macs[OC_CLASS_F32], row[i].macs);
        assert_int_equal(x.load.all.macs[OC_CLASS_F32], row[i].macs);
        unload(&x);
    }
}

/* F(6 x 6, 3 x 3) needs 8 x 8 multiplications for 36 x 9 of the direct method. */
static void convolutions_may_use_winograd(void **unused)
{
    (void)unused;
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[1,32,16,16]");
    oc_b_init(b, "w", "float[320,32,3,3]");
    oc_b_node(b, "Conv", "", "x,w", "y", "pads=1,1,1,1");
    oc_b_output(b, "y", "float[1,320,16,16]");
    /* 23,592,960 / 5.0625 = 4,660,337.8: 9.320674 us; 368,640 + 32,768 + 327,680 B: 7.29088 us */
    expect_near(simple_bound(b), 9.320674e-6);
}

/* ---- 300 random properties -------------------------------------------------------------------------- */

enum { SEEDS = 300 };

static void faster_or_larger_devices_never_raise_the_bound(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct built r = build(seed, 1 + (unsigned)seed % 3, 1);
        state = seed * 7919;
        struct machine m = draw_machine(), other = m;
        bool cache = draw(2);
        double now = bound(&r, &m, cache), times = draw_figure(1, 1);
        unsigned i = draw(PEAKS);
        other.peak[i].value *= times;
        expect_at_most(bound(&r, &other, cache), now, "a higher peak", seed);
        other = m;
        other.dram.value *= times;
        expect_at_most(bound(&r, &other, false), bound(&r, &m, false), "a higher bandwidth", seed);
        other = m;
        for (unsigned k = 0; k < 2; k++)
            other.rate[k].value *= times;
        expect_at_most(bound(&r, &other, true), bound(&r, &m, true), "faster caches", seed);
        for (unsigned k = 0; k < PEAKS; k++)
            other.peak[k].value = m.peak[k].value * 2;
        for (unsigned k = 0; k < 2; k++)
            other.rate[k].value = m.rate[k].value * 2;
        other.dram.value = m.dram.value * 2;
        double half = bound(&r, &other, cache);
        assert_true(fabs(2 * half - now) <= 1e-9 * now); /* all rates twice: half the time */
        release(&r);
    }
}

static void missing_figures_never_raise_the_bound(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct built r = build(seed, 1, 1);
        state = seed * 104729;
        struct machine m = draw_machine(), other = m;
        double now = bound(&r, &m, true);
        unsigned i = draw(3);
        if (i == 0)
            other.peak[F32].value = other.peak[MATRIX_F32].value = other.peak[TF32].value = 0;
        else if (i == 1)
            other.dram.value = 0;
        else
            other.rate[draw(2)].value = 0;
        expect_at_most(bound(&r, &other, true), now, "a missing figure", seed);
        if (m.dram.value > 0)
            expect_at_most(now, bound(&r, &m, false), "caches", seed);
        release(&r);
    }
}

static void larger_batches_never_lower_the_bound(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        unsigned batch = 1 + (unsigned)seed % 7;
        struct built small = build(seed, batch, 1), large = build(seed, batch + 1, 1);
        state = seed * 31337;
        struct machine m = draw_machine();
        for (int cache = 0; cache < 2; cache++)
            expect_at_most(bound(&small, &m, cache), bound(&large, &m, cache), "a larger batch", seed);
        release(&small);
        release(&large);
    }
}

/* Two models in sequence take at least as long as the model of both. */
static void bound_of_a_sequence_is_at_most_the_sum(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct built one = build(seed, 1, 1), two = build(seed, 1, 2);
        state = seed * 65537;
        struct machine m = draw_machine();
        expect_at_most(bound(&two, &m, false), 2 * bound(&one, &m, false), "two copies", seed);
        release(&one);
        release(&two);
    }
}

/* Whatever a runtime fuses: the sum over the kernels of a plan. */
static double plan_time(const struct built *r, const struct machine *given, unsigned rules, bool cache)
{
    struct machine m = *given;
    struct oc_arena arena = {0};
    struct oc_kernel_list list;
    double sum = 0;
    connect_machine(&m);
    oc_fusion_plan(r->model, r->analysis, rules, &arena, &list);
    for (size_t i = 0; i < list.n; i++) {
        struct oc_roof_opts opts = {.cache = cache, .const_bytes = r->analysis->total->const_bytes};
        struct oc_roof roof;
        oc_roofline_of(&m.device, &list.item[i].kernel.work, &opts, NAN, &roof);
        sum += isnan(roof.roof_s) ? 0 : roof.roof_s * list.item[i].calls;
    }
    oc_arena_free(&arena);
    return sum;
}

static void no_plan_is_faster_than_the_bound(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct built r = build(seed, 1 + (unsigned)seed % 3, 1);
        state = seed * 27449;
        struct machine m = draw_machine();
        for (unsigned rules = 0; rules < OC_FUSE_COUNT; rules++)
            for (int cache = 0; cache < 2; cache++)
                expect_at_most(bound(&r, &m, cache), plan_time(&r, &m, rules, cache),
                               oc_fusion_rules_name(rules), seed);
        release(&r);
    }
}

/* One engine: the same figure from a ranking and an estimate. */
static void commands_have_the_same_bound(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct built r = build(seed, 1, 1);
        state = seed * 15485863;
        struct machine m = draw_machine();
        struct oc_rank *rank;
        struct oc_estimate *estimate = NULL;
        struct oc_err err;
        const struct oc_rank_row *row;
        connect_machine(&m);
        const struct oc_device *device = &m.device;
        struct oc_rank_opts opts = {.device = &device, .n_device = 1};
        if (oc_rank_make(r.model, &opts, &rank, &err) ||
            oc_estimate_make(r.analysis, device, &(struct oc_estimate_opts){0}, &estimate, &err))
            fail_msg("%s", err.msg);
        assert_int_equal(oc_rank_rows(rank, &row), 1);
        double a = row->bound_ns, b = oc_estimate_info(estimate)->bound_ns,
               c = oc_bound_of(r.analysis, NULL, device, true) * 1e9;
        assert_true((isnan(a) && isnan(b) && isnan(c)) || (a == b && fabs(b - c) <= 1e-9 * c));
        oc_rank_free(rank);
        oc_estimate_free(estimate);
        release(&r);
    }
}

/* ---- closed forms ---- */

static double analysed_ns(const struct built *r, const int64_t *size, const struct oc_device *device,
                          bool cache)
{
    const struct oc_bind bind[] = {{"N", size[0]}, {"S", size[1]}};
    struct oc_analysis *a;
    struct oc_err err;
    if (oc_analyze(r->model, &(struct oc_analyze_opts){.bind = bind, .n_bind = 2}, &a, &err))
        fail_msg("%s", err.msg);
    double s = oc_bound_of(a, NULL, device, cache);
    oc_analysis_free(a);
    return s * 1e9;
}

/* Any graph, any machine, any size: the same figure as an analysis, nearly always without one. */
static void closed_forms_are_the_bound(void **unused)
{
    (void)unused;
    const struct oc_range_bind range[] = {{"N", 1, 64}, {"S", 4, 64}};
    unsigned closed = 0, points = 0;
    for (uint64_t seed = 1; seed <= SEEDS / 3; seed++) {
        struct built r = build_of("float[N,32,S,S]", seed, 1 + seed % 2);
        state = seed * 32452843;
        struct machine m = draw_machine();
        struct oc_time_bound *b;
        struct oc_err err;
        connect_machine(&m);
        const struct oc_time_bound_opts opts = {.range = range, .n_range = 2, .cache = seed % 2};
        if (oc_time_bound_make(r.model, &m.device, &opts, &b, &err))
            fail_msg("seed %llu: %s", (unsigned long long)seed, err.msg);
        for (unsigned i = 0; i < 8; i++) {
            int64_t size[] = {1 + draw(64), 4 + draw(61)};
            double got = oc_time_bound_at(b, size), want = analysed_ns(&r, size, &m.device, opts.cache), all;
            oc_time_bound_all(b, size, 1, &all);
            assert_true(isnan(got) ? isnan(all) : got == all);
            if (isnan(got) != isnan(want) || fabs(got - want) > 1e-9 * want)
                fail_msg("seed %llu, N = %lld, S = %lld: %.12g ns, not %.12g", (unsigned long long)seed,
                         (long long)size[0], (long long)size[1], got, want);
            closed += oc_time_bound_is_closed(b, size);
            points++;
        }
        oc_time_bound_free(b);
        release(&r);
    }
    if (closed < points / 20 * 19)
        fail_msg("closed forms at %u of %u sizes", closed, points);
}

/* A product of [N,64] and [64,64] moves 4 (2 * 64 N + 4096) bytes. */
static void a_module_has_its_own_bound(void **unused)
{
    (void)unused;
    const struct oc_range_bind range = {"N", 1, 1000};
    struct machine m = {.dram.value = 1e9};
    struct built r;
    struct oc_builder *b = oc_b_new(17);
    struct oc_time_bound *t;
    struct oc_err err;
    size_t n;
    int64_t size = 100;
    oc_b_input(b, "x", "float[N,64]");
    oc_b_init(b, "w", "float[64,64]");
    oc_b_init(b, "u", "float[64,64]");
    oc_b_node(b, "MatMul", "/layer.1/product", "x,w", "y", "");
    oc_b_node(b, "MatMul", "/layer.10/product", "y,u", "z", "");
    oc_b_output(b, "z", "float[N,64]");
    r.bytes = oc_b_pack(b, &n);
    oc_b_free(b);
    assert_int_equal(oc_model_load_mem(r.bytes, n, NULL, &r.model, &err), 0);
    connect_machine(&m);
    struct oc_time_bound_opts opts = {.range = &range, .n_range = 1, .module = "/layer.1"};
    assert_int_equal(oc_time_bound_make(r.model, &m.device, &opts, &t, &err), 0);
    assert_true(oc_time_bound_is_closed(t, &size));
    assert_true(fabs(oc_time_bound_at(t, &size) - 4 * (2 * 64 * 100 + 4096)) < 1e-6);
    size = 1001; /* beyond the range: analysed */
    assert_false(oc_time_bound_is_closed(t, &size));
    assert_true(fabs(oc_time_bound_at(t, &size) - 4 * (2 * 64 * 1001 + 4096)) < 1e-6);
    oc_time_bound_free(t);
    opts.module = "/laye";
    assert_int_equal(oc_time_bound_make(r.model, &m.device, &opts, &t, &err), -1);
    assert_string_equal(err.msg, "no matrix product or convolution in '/laye'");
    opts = (struct oc_time_bound_opts){.range = &(struct oc_range_bind){"M", 1, 2}, .n_range = 1};
    assert_int_equal(oc_time_bound_make(r.model, &m.device, &opts, &t, &err), -1);
    assert_string_equal(err.msg, "the model has no dimension 'M'");
    oc_model_free(r.model);
    free(r.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_run_in_sequence),
        cmocka_unit_test(absent_inputs_have_no_size),
        cmocka_unit_test(dequantized_products_are_of_integers),
        cmocka_unit_test(narrow_weights_may_be_multiplied_in_their_type),
        cmocka_unit_test(experts_of_one_token_are_the_fewest),
        cmocka_unit_test(latent_attention_may_expand_keys),
        cmocka_unit_test(tensors_between_products_may_stay_on_the_chip),
        cmocka_unit_test(attention_never_writes_scores),
        cmocka_unit_test(convolutions_may_use_winograd),
        cmocka_unit_test(faster_or_larger_devices_never_raise_the_bound),
        cmocka_unit_test(missing_figures_never_raise_the_bound),
        cmocka_unit_test(larger_batches_never_lower_the_bound),
        cmocka_unit_test(bound_of_a_sequence_is_at_most_the_sum),
        cmocka_unit_test(no_plan_is_faster_than_the_bound),
        cmocka_unit_test(commands_have_the_same_bound),
        cmocka_unit_test(closed_forms_are_the_bound),
        cmocka_unit_test(a_module_has_its_own_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
