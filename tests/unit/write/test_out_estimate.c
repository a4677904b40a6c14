/* Kernels with subnormal weights in the output of `estimate`: on Intel they are in the prediction, on AMD in its upper ends
 * only, and other models have neither. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "estimate/calibrate.h"
#include "support/run_model.h"
#include "onnxcost.h"
#include "onnxcost/estimate.h"
#include "onnxcost/hardware.h"

/* A convolution of 16 to 32 channels: every weight is `weight`. */
static struct oc_builder *convolution(const char *weight)
{
    struct oc_builder *b = oc_b_new(17);
    oc_b_input(b, "x", "float[1,16,8,8]");
    oc_b_init(b, "w", oc_printf(oc_b_arena(b), "float[32,16,1,1]{*%s}", weight));
    oc_b_node(b, "Sigmoid", "before", "x", "a", "");
    oc_b_node(b, "Conv", "conv", "a,w", "y", "");
    oc_b_output(b, "y", NULL);
    return b;
}

/* The output of `estimate`; free() it. */
static char *estimated(const char *weight, const char *device, bool calibrated, const char *format)
{
    struct oc_run r = oc_run_model(convolution(weight), NULL);
    const struct oc_calibration cal = {.device = device, .runtime = "onnxruntime", .runtime_version = "1.0"};
    const struct oc_estimate_opts opts = {.calibration = calibrated ? &cal : NULL};
    const struct oc_device *d;
    struct oc_hwdb *db;
    struct oc_estimate *e;
    struct oc_err err = {0};
    char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    assert_int_equal(oc_hwdb_open("hwdb", &db, &err), 0);
    if (oc_hwdb_find(db, device, &d, &err) || oc_estimate_make(r.a, d, &opts, &e, &err) ||
        oc_estimate_write(e, format, 0, f, &err))
        fail_msg("%s", err.msg);
    fclose(f);
    oc_estimate_free(e);
    oc_hwdb_free(db);
    oc_run_free(&r);
    return text;
}

static void expect(const char *weight, const char *device, bool calibrated, const char *format,
                   const char *part, bool there)
{
    char *text = estimated(weight, device, calibrated, format);
    if (!strstr(text, part) == there)
        fail_msg("%s, %s: '%s' in\n%s", weight, device, part, text);
    free(text);
}

static void subnormal_weights_are_reported(void **state)
{
    (void)state;
    const char *intel = "xeon-platinum-8480-plus", *amd = "epyc-9654";
    expect("1e-40", intel, true, NULL, "weights of 1 kernel add about ", true);
    expect("1e-40", intel, true, "json", "\"subnormal_kernels\": 1,", true);
    expect("1e-40", intel, true, "json", "\"subnormal_added_s\": null", false);
    expect("1e-40", amd, false, NULL,
           "weights of 1 kernel add an unknown time, in the upper ends only: at most ", true);
    expect("1e-40", amd, false, "json", "\"subnormal_kernels\": 1,", true);
    expect("1e-40", amd, false, "json", "\"subnormal_added_s\": null", true);
    expect("1", intel, true, NULL, "subnormal", false);
    expect("1", intel, true, "json", "\"subnormal_kernels\": 0,", true);
    expect("1", intel, true, "json", "\"subnormal_added_s\": 0.0", true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(subnormal_weights_are_reported)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
