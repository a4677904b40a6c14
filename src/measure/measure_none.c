/* Where threads cannot be pinned to processors, nothing is measured. */
#include "base/os.h"
#include "onnxcost.h"
#include "onnxcost/hardware.h"

int oc_hw_measure(const struct oc_hw_measure_opts *opts, struct oc_hw_measurement **out, struct oc_err *err)
{
    (void)opts;
    *out = NULL;
    return oc_os_check_processes("hw measure", err);
}

void oc_hw_measurement_free(struct oc_hw_measurement *m)
{
    (void)m;
}

const struct oc_device *oc_hw_measurement_device(const struct oc_hw_measurement *m)
{
    (void)m;
    return NULL;
}

size_t oc_hw_measurement_diags(const struct oc_hw_measurement *m, const struct oc_diag **out)
{
    (void)m;
    *out = NULL;
    return 0;
}

int oc_hw_measurement_write(const struct oc_hw_measurement *m, const char *format, unsigned width_chars,
                            FILE *out, struct oc_err *err)
{
    (void)m;
    (void)format;
    (void)width_chars;
    (void)out;
    return oc_os_check_processes("hw measure", err);
}
