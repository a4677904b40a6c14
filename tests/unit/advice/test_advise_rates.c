#include "unit/advice/advice_case.h"
#include "onnxcost/hardware.h"

/* 3x3 convolutions of 64 to 64 channels over 32x32 positions: 64 * 64 * 9 * 1024 = 37,748,736 MACs, that is
 * 75,497,472 operations: 755 us at 100 G/s. */
#define OPS 75497472.0

enum kind { FLOAT, DYNAMIC, STATIC };

static void add_conv(struct oc_builder *b, enum kind kind, int i)
{
    char in[8], out[8], name[8], q[64], text[96];
    snprintf(in, sizeof(in), "x%d", i);
    snprintf(out, sizeof(out), "x%d", i + 1);
    snprintf(name, sizeof(name), "c%d", i);
    if (kind == FLOAT) {
        snprintf(text, sizeof(text), "%s,w", in);
        oc_b_node(b, "Conv", name, text, out, "pads=1,1,1,1");
        return;
    }
    if (kind == STATIC) {
        snprintf(q, sizeof(q), "q%d", i);
        snprintf(text, sizeof(text), "%s,s,z", in);
        oc_b_node(b, "QuantizeLinear", "", text, q, "");
        snprintf(text, sizeof(text), "%s,s,z,v,s,zv,s,z", q);
        snprintf(q, sizeof(q), "r%d", i);
        oc_b_node(b, "QLinearConv", name, text, q, "pads=1,1,1,1");
        snprintf(text, sizeof(text), "%s,s,z", q);
        oc_b_node(b, "DequantizeLinear", "", text, out, "");
        return;
    }
    snprintf(q, sizeof(q), "q%d,s%d,z%d", i, i, i);
    snprintf(text, sizeof(text), "d%d", i);
    oc_b_node(b, "DynamicQuantizeLinear", text, in, q, "");
    snprintf(q, sizeof(q), "q%d,v,z%d,zv", i, i);
    snprintf(text, sizeof(text), "i%d", i);
    oc_b_node(b, "ConvInteger", name, q, text, "pads=1,1,1,1");
    snprintf(q, sizeof(q), "f%d", i);
    snprintf(name, sizeof(name), "k%d", i);
    oc_b_node(b, "Cast", name, text, q, "to=1");
    snprintf(text, sizeof(text), "f%d,s%d", i, i);
    snprintf(name, sizeof(name), "m%d", i);
    oc_b_node(b, "Mul", name, text, out, "");
}

static struct oc_builder *convolutions(const enum kind *kind, int n)
{
    char last[8];
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x0", "float[1,64,32,32]");
    oc_b_init(b, "w", "float[64,64,3,3]");
    oc_b_init(b, "v", "uint8[64,64,3,3]");
    oc_b_init(b, "s", "float[]{0.1}");
    oc_b_init(b, "z", "uint8[]{0}");
    oc_b_init(b, "zv", "uint8[]{0}");
    for (int i = 0; i < n; i++)
        add_conv(b, kind[i], i);
    snprintf(last, sizeof(last), "x%d", n);
    oc_b_output(b, last, NULL);
    return b;
}

static const enum kind mixed[] = {FLOAT, FLOAT, FLOAT, DYNAMIC, DYNAMIC};

/* Float at 100 GFLOP/s (755 us), integers at 50 GOP/s (1510 us): 1510 - 754.97 saved by each, and all of what
 * is around them: 2 * (20 + 10 + 10) us. */
static void integer_kernels_slower_than_float_ones(void **state)
{
    struct advised x;
    (void)state;
    const char *table =
        "c0,Conv,CPU,754.97472\nc1,Conv,CPU,754.97472\nc2,Conv,CPU,754.97472\n"
        "d3,DynamicQuantizeLinear,CPU,20\nc3,ConvInteger,CPU,1510\nk3,Cast,CPU,10\nm3,Mul,CPU,10\n"
        "d4,DynamicQuantizeLinear,CPU,20\nc4,ConvInteger,CPU,1510\nk4,Cast,CPU,10\nm4,Mul,CPU,10\n";
    advise_case(&x, convolutions(mixed, 5), table, NULL);
    const struct oc_advice_item *f = finding(&x, "quantized-slow");
    assert_non_null(f);
    assert_string_equal(f->title, "Quantized kernels slower than float kernels");
    assert_non_null(strstr(f->found, "2 ConvInteger take 3.02 ms"));
    assert_non_null(strstr(f->found, "50.00 GOP/s; Conv (f32) reaches 100.00 GFLOP/s in this run"));
    assert_non_null(strstr(f->todo, "quantize_static"));
    assert_int_equal(f->severity, OC_ADVICE_HIGH);
    expect_finding(&x, "quantized-slow", 2, 0, 2 * (1510e3 - 754974.72) + 80e3);
}

static void integer_kernels_faster_than_float_ones(void **state)
{
    struct advised x;
    (void)state;
    const char *table = "c0,Conv,CPU,755\nc1,Conv,CPU,755\nc2,Conv,CPU,755\n"
                        "c3,ConvInteger,CPU,300\nc4,ConvInteger,CPU,300\n";
    advise_case(&x, convolutions(mixed, 5), table, NULL);
    assert_null(finding(&x, "quantized-slow"));
    expect_none(&x, "below-peers");
    /* as fast within 20 %: noise */
    table =
        "c0,Conv,CPU,755\nc1,Conv,CPU,755\nc2,Conv,CPU,755\nc3,ConvInteger,CPU,880\nc4,ConvInteger,CPU,880\n";
    advise_case(&x, convolutions(mixed, 5), table, NULL);
    expect_none(&x, "quantized-slow");
}

static void dynamic_quantization_slower_than_static(void **state)
{
    struct advised x;
    (void)state;
    static const enum kind kind[] = {STATIC, STATIC, STATIC, DYNAMIC, DYNAMIC};
    advise_case(&x, convolutions(kind, 5),
                "c0,QLinearConv,CPU,200\nc1,QLinearConv,CPU,200\nc2,QLinearConv,CPU,200\n"
                "c3,ConvInteger,CPU,1000\nc4,ConvInteger,CPU,1000\n",
                NULL);
    const struct oc_advice_item *f = finding(&x, "quantized-slow");
    assert_non_null(f);
    assert_string_equal(f->title, "Quantized kernels slower than other quantized kernels");
    expect_finding(&x, "quantized-slow", 2, 0, 1600e3);
}

/* Nothing to compare with: what is known is the time around the convolutions. */
static void only_dynamic_convolutions(void **state)
{
    struct advised x;
    (void)state;
    static const enum kind kind[] = {DYNAMIC, DYNAMIC};
    const char *table =
        "d0,DynamicQuantizeLinear,CPU,20\nc0,ConvInteger,CPU,1000\nk0,Cast,CPU,10\nm0,Mul,CPU,10\n"
        "d1,DynamicQuantizeLinear,CPU,20\nc1,ConvInteger,CPU,1000\nk1,Cast,CPU,10\nm1,Mul,CPU,10\n";
    advise_case(&x, convolutions(kind, 2), table, NULL);
    assert_null(finding(&x, "quantized-slow"));
    const struct oc_advice_item *f = finding(&x, "dynamic-convolution");
    assert_non_null(f);
    assert_non_null(strstr(f->found, "75.50 GOP/s"));
    assert_non_null(strstr(f->found, "At twice this rate they would take 1.00 ms less"));
    expect_finding(&x, "dynamic-convolution", 2, 80e3, NAN);
}

static const enum kind floats[] = {FLOAT, FLOAT, FLOAT, FLOAT, FLOAT};

static void kernel_far_below_its_peers(void **state)
{
    struct advised x;
    (void)state;
    const char *slow =
        "c0,Conv,CPU,755\nc1,Conv,CPU,755\nc2,Conv,CPU,755\nc3,Conv,CPU,755\nc4,Conv,CPU,2000\n";
    advise_case(&x, convolutions(floats, 5), slow, NULL);
    expect_none(&x, "below-peers"); /* one run: it may be noise */
    advise_case(&x, convolutions(floats, 5), slow, NULL);
    x.profile->runs_used = 3;
    x.profile->stat = OC_STAT_MEAN;
    advised_report(&x);
    expect_finding(&x, "below-peers", 1, 0, 1245e3);
    /* one of its runs was as fast as the others */
    advise_case(&x, convolutions(floats, 5), slow, NULL);
    x.profile->runs_used = 3;
    x.profile->stat = OC_STAT_MEAN;
    x.profile->rec[4].min_ns = 800e3;
    advised_report(&x);
    expect_none(&x, "below-peers");
    /* less than twice as long */
    advise_case(&x, convolutions(floats, 5),
                "c0,Conv,CPU,755\nc1,Conv,CPU,755\nc2,Conv,CPU,755\nc3,Conv,CPU,755\nc4,Conv,CPU,1400\n",
                NULL);
    x.profile->runs_used = 3;
    x.profile->stat = OC_STAT_MEAN;
    advised_report(&x);
    expect_none(&x, "below-peers");
}

/* 3 input channels: no implementation fills its vectors with these. */
static void small_channel_counts_are_not_compared(void **state)
{
    struct advised x;
    struct oc_builder *b = oc_b_new(17);
    (void)state;
    oc_b_input(b, "x", "float[1,3,64,64]");
    oc_b_init(b, "stem", "float[64,3,7,7]");
    oc_b_init(b, "w", "float[64,64,3,3]");
    oc_b_node(b, "Conv", "c0", "x,stem", "y0", "pads=3,3,3,3");
    oc_b_node(b, "Conv", "c1", "y0,w", "y1", "pads=1,1,1,1");
    oc_b_node(b, "Conv", "c2", "y1,w", "y2", "pads=1,1,1,1");
    oc_b_node(b, "Conv", "c3", "y2,w", "y3", "pads=1,1,1,1");
    oc_b_output(b, "y3", NULL);
    advise_case(&x, b, "c0,Conv,CPU,5000\nc1,Conv,CPU,1500\nc2,Conv,CPU,1500\nc3,Conv,CPU,1500\n", NULL);
    x.profile->runs_used = 3;
    x.profile->stat = OC_STAT_MEAN;
    advised_report(&x);
    expect_none(&x, "below-peers");
}

/* 1 TFLOP/s and 1 TB/s: 75.497472 us for each of five. */
static void contributor_far_below_the_roofline(void **state)
{
    struct advised x;
    (void)state;
    static const struct oc_hw_figure f32_peak = {.value = 1e12}, bandwidth = {.value = 1e12};
    static const struct oc_hw_level dram = {.name = "DRAM", .bandwidth = &bandwidth};
    struct oc_device d = {.info =
                              &(struct oc_device_info){
                                  .id = "d", .name = "Device", .vendor = "Acme", .kind = "cpu", .file = ""},
                          .level = &dram,
                          .n_level = 1};
    d.peak[OC_HW_VECTOR][OC_CLASS_F32] = &f32_peak;
    const char *table =
        "c0,Conv,CPU,755\nc1,Conv,CPU,755\nc2,Conv,CPU,755\nc3,Conv,CPU,755\nc4,Conv,CPU,755\n";
    advise_case(&x, convolutions(floats, 5), table, &d);
    const struct oc_advice_item *f = finding(&x, "below-roofline");
    assert_non_null(f);
    assert_non_null(
        strstr(f->found, "100.00 GFLOP/s, 10 % of the roofline; at half of it they would take 755 us"));
    assert_non_null(strstr(f->found, "f32 peak of the device 1.00 TFLOP/s"));
    expect_finding(&x, "below-roofline", 5, 0, 5 * (755e3 - OPS / 1e3));
    table = "c0,Conv,CPU,200\nc1,Conv,CPU,200\nc2,Conv,CPU,200\nc3,Conv,CPU,200\nc4,Conv,CPU,200\n";
    advise_case(&x, convolutions(floats, 5), table, &d);
    expect_none(&x, "below-roofline");
    advise_case(&x, convolutions(floats, 5), table, NULL);
    expect_none(&x, "below-roofline");
}

/* A multiply-add is 2 operations in every data type, in counts, rates and peaks: with equal peaks a float and
 * an integer convolution have the same count and the same roofline time, but for zero points (under 5 %). */
static void integer_and_float_operations_have_one_unit(void **state)
{
    struct advised x;
    (void)state;
    static const struct oc_hw_figure peak = {.value = 1e12}, bandwidth = {.value = 1e15};
    static const struct oc_hw_level dram = {.name = "DRAM", .bandwidth = &bandwidth};
    struct oc_device d = {.info =
                              &(struct oc_device_info){
                                  .id = "d", .name = "Device", .vendor = "Acme", .kind = "cpu", .file = ""},
                          .level = &dram,
                          .n_level = 1};
    d.peak[OC_HW_VECTOR][OC_CLASS_F32] = d.peak[OC_HW_VECTOR][OC_CLASS_I32] = &peak;
    d.peak[OC_HW_VECTOR][OC_CLASS_I8] = &peak;
    static const enum kind kinds[] = {FLOAT, DYNAMIC};
    advise_case(&x, convolutions(kinds, 2), NULL, &d);
    double ops[2] = {0}, roof_s[2] = {0};
    for (uint32_t i = 0; i < x.r.all.n; i++) {
        const struct oc_row *row = &x.r.all.row[i];
        unsigned k = !strcmp(row->type, "ConvInteger");
        if (!k && strcmp(row->type, "Conv") != 0)
            continue;
        assert_true(row->macs == OPS / 2);
        ops[k] = row->computation;
        roof_s[k] = row->roofline_s;
    }
    assert_true(ops[0] == OPS);
    assert_true(ops[1] >= OPS && ops[1] < 1.05 * OPS);
    assert_true(fabs(roof_s[0] - OPS / 1e12) < 1e-12);
    assert_true(roof_s[1] >= roof_s[0] && roof_s[1] < 1.05 * roof_s[0]);
    advised_free(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integer_kernels_slower_than_float_ones),
        cmocka_unit_test(integer_kernels_faster_than_float_ones),
        cmocka_unit_test(dynamic_quantization_slower_than_static),
        cmocka_unit_test(only_dynamic_convolutions),
        cmocka_unit_test(kernel_far_below_its_peers),
        cmocka_unit_test(small_channel_counts_are_not_compared),
        cmocka_unit_test(contributor_far_below_the_roofline),
        cmocka_unit_test(integer_and_float_operations_have_one_unit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
