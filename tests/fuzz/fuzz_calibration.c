/* Calibration files: any bytes are read or rejected with a location; the result predicts, terminates, and is
 * written so that it reads back equal. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "estimate/calibrate.h"
#include "estimate/predict.h"
#include "onnxcost.h"
#include "onnxcost/estimate.h"
#include "onnxcost/hardware.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static const struct oc_hw_figure peak = {.value = 1e12}, bandwidth = {.value = 1e11}, size = {.value = 1e8};
static const struct oc_hw_level level[] = {{.name = "L3", .size = &size},
                                           {.name = "DRAM", .bandwidth = &bandwidth}};

static char *written(const struct oc_calibration *c, size_t *n)
{
    char *text = NULL;
    FILE *f = open_memstream(&text, n);
    if (!f)
        abort();
    oc_calibration_write(c, f);
    fclose(f);
    return text;
}

static void predict_all(const struct oc_calibration *c)
{
    struct oc_device d = {
        .info = &(struct oc_device_info){.id = "x", .kind = "cpu"}, .level = level, .n_level = 2};
    struct oc_kernel k = {.m = 64, .n = 100, .k = 32, .batch = 1, .rd_act = 4000, .rd_wt = 8000, .wr = 25600};
    struct oc_prediction p;
    d.peak[OC_HW_VECTOR][OC_CLASS_F32] = &peak;
    k.work = (struct oc_work){.bytes = 37600, .launches = 1};
    k.work.macs[OC_CLASS_F32] = 64 * 100 * 32;
    k.dtype = OC_CLASS_F32;
    for (unsigned cls = 0; cls < OC_KC_COUNT; cls++) {
        k.cls = (uint8_t)cls;
        k.signature = c->n_signature ? c->signature[0].signature : cls;
        oc_predict_kernel(c, &d, &k, NULL, &p);
        if (p.t_s < 0)
            abort();
        d.info->id = cls % 2 ? c->device : "x";
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct oc_calibration *c, *again;
    struct oc_err err = {0};
    int rc = oc_cal_read_mem("fuzz.xml", data, n, &c, &err);
    if ((rc != 0) != (err.msg[0] != '\0') || (rc != 0) != (c == NULL))
        abort();
    if (rc)
        return 0;
    predict_all(c);
    size_t n_first, n_second;
    char *first = written(c, &n_first);
    if (oc_cal_read_mem("again.xml", first, n_first, &again, &err))
        abort();
    char *second = written(again, &n_second);
    if (n_first != n_second || memcmp(first, second, n_first) != 0)
        abort();
    free(first);
    free(second);
    oc_calibration_free(c);
    oc_calibration_free(again);
    return 0;
}
