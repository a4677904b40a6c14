/* Any bytes as a model for which two devices are compared. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "estimate/rank_devices.h"
#include "wire_mutator.h"
#include "onnxcost.h"
#include "onnxcost/estimate.h"
#include "onnxcost/hardware.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
FUZZ_WIRE_TARGET

static const struct oc_hw_figure peak = {.value = 1e12}, rate = {.value = 1e11}, launch = {.value = 1e-6},
                                 room = {.value = 1e6};
static const struct oc_hw_level dram = {.name = "DRAM", .bandwidth = &rate, .size = &room};

static void write_all(const struct oc_rank *r)
{
    static const char *const format[] = {"table", "csv", "json"};
    struct oc_err err;
    FILE *f = fopen("/dev/null", "w");
    for (size_t i = 0; f && i < OC_COUNT(format); i++) {
        const struct oc_rank_write_opts o = {.format = format[i], .width_chars = 60};
        oc_rank_write(r, &o, f, &err);
    }
    if (f)
        fclose(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const int64_t batch[] = {3, OC_RANK_MAX_BATCH};
    const struct oc_input_limits limits = {.most = {[OC_LIMIT_NODES] = 2000}};
    struct oc_device a = {.info =
                              &(struct oc_device_info){
                                  .id = "a", .file = "x.xml", .name = "A", .vendor = "V", .kind = "gpu"},
                          .level = &dram,
                          .n_level = 1,
                          .overhead = &launch},
                     b = a;
    const struct oc_device *const device[] = {&a, &b};
    b.info = &(struct oc_device_info){.id = "b", .file = "x.xml", .name = "A", .vendor = "V", .kind = "gpu"};
    a.peak[OC_HW_VECTOR][OC_CLASS_F32] = b.peak[OC_HW_VECTOR][OC_CLASS_F32] = &peak;
    b.peak[OC_HW_VECTOR][OC_CLASS_I64] = &peak;
    struct oc_model *m = NULL;
    struct oc_err err;
    if (oc_model_load_mem(data, n, &limits, &m, &err))
        return 0;
    for (size_t k = 0; k < 3; k++) {
        const struct oc_rank_opts o = {.device = device, .n_device = 2, .batch = batch, .n_batch = k};
        struct oc_rank *r = NULL;
        if (oc_rank_make(m, &o, &r, &err) == 0) {
            write_all(r);
            oc_rank_free(r);
        }
    }
    oc_model_free(m);
    return 0;
}
