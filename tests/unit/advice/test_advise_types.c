#include "unit/advice/advice_case.h"
#include "onnxcost/hardware.h"

/* 10 TFLOP/s f32, 40 or 30 TFLOP/s f16 on the matrix unit, 80 TOP/s int8; 100 GB/s. */
static const struct oc_hw_figure f32_peak = {.value = 10e12}, f16_peak = {.value = 40e12},
                                 less = {.value = 30e12}, int_peak = {.value = 80e12},
                                 bandwidth = {.value = 100e9};
static const struct oc_hw_level dram = {.name = "DRAM", .bandwidth = &bandwidth};

static struct oc_device device(const char *vendor, const struct oc_hw_figure *f16)
{
    static struct oc_device_info info[2];
    struct oc_device_info *i = &info[!strcmp(vendor, "NVIDIA")];
    *i = (struct oc_device_info){.id = "d", .name = "Device", .vendor = vendor, .kind = "gpu", .file = ""};
    struct oc_device d = {.info = i, .level = &dram, .n_level = 1};
    d.peak[OC_HW_VECTOR][OC_CLASS_F32] = &f32_peak;
    d.peak[OC_HW_VECTOR][OC_CLASS_F16] = f16;
    d.peak[OC_HW_MATRIX][OC_CLASS_F16] = f16;
    d.peak[OC_HW_MATRIX][OC_CLASS_I8] = &int_peak;
    return d;
}

/* ---- f32 ----------------------------------------------------------------------------------------------- */

/* [512,512] x [512,512]: 2 * 512^3 = 268,435,456 FLOP: 26,843.5456 ns in f32, 6,710.8864 ns in f16; bytes 3 *
 * 1 MiB at 100 GB/s: 31,457.28 ns, halved 15,728.64 ns. So the roofline time falls from 31,457.28 to
 * 15,728.64. */
static struct oc_builder *product(const char *type)
{
    char text[64];
    struct oc_builder *b = oc_b_new(17);
    snprintf(text, sizeof(text), "%s[512,512]", type);
    oc_b_input(b, "x", text);
    oc_b_init(b, "w", text);
    oc_b_node(b, "MatMul", "m", "x,w", "y", "");
    oc_b_output(b, "y", NULL);
    return b;
}

static void f32_products_are_reported(void **state)
{
    struct advised x;
    const struct oc_device d = device("NVIDIA", &f16_peak), slower = device("NVIDIA", &less);
    (void)state;
    advise_case(&x, product("float"), "m,MatMul,CUDAExecutionProvider,80\n", &d);
    expect_finding(&x, "fp32", 1, 0, 40e3); /* half of its time, as the roofline time */
    advise_case(&x, product("float"), NULL, &d);
    expect_finding(&x, "fp32", 1, NAN, 31457.28 - 15728.64);
    advise_case(&x, product("float16"), NULL, &d);
    expect_none(&x, "fp32");
    advise_case(&x, product("float"), NULL, &slower);
    expect_none(&x, "fp32");
    advise_case(&x, product("float"), NULL, NULL);
    expect_none(&x, "fp32");
}

/* A CPU profile is not compared with a GPU. */
static void cpu_profile_is_not_compared_with_a_gpu(void **state)
{
    struct advised x;
    const struct oc_device d = device("NVIDIA", &f16_peak);
    (void)state;
    advise_case(&x, product("float"), "m,MatMul,CPUExecutionProvider,80\n", &d);
    x.profile->device = "CPU";
    advised_report(&x);
    expect_none(&x, "fp32");
}

/* Between DequantizeLinear and QuantizeLinear runtimes multiply integers. */
static void quantized_products_are_not_reported(void **state)
{
    struct advised x;
    const struct oc_device d = device("NVIDIA", &f16_peak);
    struct oc_builder *b = oc_b_new(17);
    (void)state;
    oc_b_input(b, "x", "int8[512,512]");
    oc_b_init(b, "w", "int8[512,512]");
    oc_b_init(b, "s", "float[]{0.1}");
    oc_b_node(b, "DequantizeLinear", "dx", "x,s", "xf", "");
    oc_b_node(b, "DequantizeLinear", "dw", "w,s", "wf", "");
    oc_b_node(b, "MatMul", "m", "xf,wf", "y", "");
    oc_b_node(b, "QuantizeLinear", "q", "y,s", "z", "");
    oc_b_output(b, "z", NULL);
    advise_case(&x, b, NULL, &d);
    expect_none(&x, "fp32");
}

/* ---- channels ------------------------------------------------------------------------------------------ */

/* A convolution after another one, so that its input is not the network's. */
static struct oc_builder *conv(int in, int out, const char *type)
{
    char text[64];
    struct oc_builder *b = oc_b_new(17);
    snprintf(text, sizeof(text), "%s[1,16,8,8]", type);
    oc_b_input(b, "x", text);
    snprintf(text, sizeof(text), "%s[%d,16,1,1]", type, in);
    oc_b_init(b, "w", text);
    snprintf(text, sizeof(text), "%s[%d,%d,1,1]", type, out, in);
    oc_b_init(b, "v", text);
    oc_b_node(b, "Conv", "first", "x,w", "y", "");
    oc_b_node(b, "Relu", "relu", "y", "r", "");
    oc_b_node(b, "Conv", "second", "r,v", "z", "");
    oc_b_output(b, "z", NULL);
    return b;
}

static void unaligned_channels_are_reported(void **state)
{
    struct advised x;
    const struct oc_device d = device("NVIDIA", &f16_peak), other = device("Acme", &f16_peak);
    (void)state;
    advise_case(&x, conv(24, 20, "float16"), NULL, &d);
    expect_finding(&x, "alignment", 1, NAN, NAN); /* 24 is a multiple of 8, 20 is not */
    advise_case(&x, conv(20, 16, "float16"), NULL, &d);
    expect_finding(&x, "alignment", 2, NAN,
                   NAN); /* the first one writes 20 channels, the second one reads them */
    advise_case(&x, conv(24, 40, "float16"), NULL, &d);
    expect_none(&x, "alignment");
    advise_case(&x, conv(24, 20, "float16"), NULL, &other);
    expect_none(&x, "alignment");
    advise_case(&x, conv(24, 20, "float"), NULL, &d);
    expect_none(&x, "alignment");
}

/* 24 to 20 channels padded to 24 to 24: 64 * 24 * 24 * 2 FLOP at 40 TFLOP/s take 1.8432 ns. */
static void unaligned_channels_have_a_saving(void **state)
{
    struct advised x;
    const struct oc_device d = device("NVIDIA", &f16_peak);
    (void)state;
    advise_case(&x, conv(24, 20, "float16"),
                "first,Conv,CUDAExecutionProvider,10\nrelu,Relu,CUDAExecutionProvider,10\nsecond,Conv,"
                "CUDAExecutionProvider,10\n",
                &d);
    expect_finding(&x, "alignment", 1, 0, 10e3 - 1.8432);
}

/* The input's own channels, and depthwise convolutions, are given. */
static void channels_of_inputs_are_not_reported(void **state)
{
    struct advised x;
    const struct oc_device d = device("NVIDIA", &f16_peak);
    struct oc_builder *b = oc_b_new(17);
    (void)state;
    oc_b_input(b, "x", "float16[1,3,8,8]");
    oc_b_init(b, "w", "float16[16,3,1,1]");
    oc_b_init(b, "v", "float16[16,1,3,3]");
    oc_b_node(b, "Conv", "first", "x,w", "y", "");
    oc_b_node(b, "Conv", "depthwise", "y,v", "z", "group=16");
    oc_b_output(b, "z", NULL);
    advise_case(&x, b, NULL, &d);
    expect_none(&x, "alignment");
}

/* ---- subnormal weights --------------------------------------------------------------------------------- */

static void subnormal_weights_are_reported_on_a_cpu(void **state)
{
    static const struct {
        const char *weight, *device;
        bool found;
    } c[] = {{"float[8,8]{*1e-40}", "CPU", true},
             {"float[8,8]{*1e-40}", "CUDA", false},
             {"float[8,8]{*1e-30}", "CPU", false},
             {"float16[8,8]{*1e-7}", "CPU", false}};
    (void)state;
    for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
        struct advised x;
        struct oc_builder *b = oc_b_new(17);
        oc_b_input(b, "x", strncmp(c[i].weight, "float16", 7) ? "float[8,8]" : "float16[8,8]");
        oc_b_init(b, "w", c[i].weight);
        oc_b_node(b, "MatMul", "m", "x,w", "y", "");
        oc_b_output(b, "y", NULL);
        char table[80];
        snprintf(table, sizeof(table), "m,MatMul,%sExecutionProvider,80\n", c[i].device);
        advise_case(&x, b, table, NULL);
        if (c[i].found)
            expect_finding(&x, "subnormal", 1, 16e3, 80e3 * 39 / 40);
        else
            expect_none(&x, "subnormal");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(f32_products_are_reported),
                                       cmocka_unit_test(cpu_profile_is_not_compared_with_a_gpu),
                                       cmocka_unit_test(quantized_products_are_not_reported),
                                       cmocka_unit_test(unaligned_channels_are_reported),
                                       cmocka_unit_test(unaligned_channels_have_a_saving),
                                       cmocka_unit_test(channels_of_inputs_are_not_reported),
                                       cmocka_unit_test(subnormal_weights_are_reported_on_a_cpu)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
