/* Where the system has no fork, nothing is recorded. */
#include <math.h>

#include "base/os.h"
#include "onnxcost.h"
#include "onnxcost/estimate.h"
#include "onnxcost/record.h"

int oc_record(const struct oc_model *model, const struct oc_analysis *analysis,
              const struct oc_record_opts *opts, struct oc_recording **out, struct oc_err *err)
{
    (void)model;
    (void)analysis;
    (void)opts;
    *out = NULL;
    return oc_os_check_processes("record", err);
}

int oc_record_in_turns(const struct oc_record_side *side, size_t n, struct oc_recording **out, size_t *failed,
                       struct oc_err *err)
{
    (void)side;
    *failed = n;
    for (size_t i = 0; i < n; i++)
        out[i] = NULL;
    return oc_os_check_processes("record", err);
}

void oc_recording_free(struct oc_recording *r)
{
    (void)r;
}

const struct oc_record_info *oc_recording_info(const struct oc_recording *r)
{
    (void)r;
    return NULL;
}

void oc_recording_write(const struct oc_recording *r, FILE *f)
{
    (void)r;
    (void)f;
}

void oc_recording_write_providers(const struct oc_recording *r, const char *label, FILE *f)
{
    (void)r;
    (void)label;
    (void)f;
}

void oc_recording_write_line(const struct oc_recording *r, const char *label, FILE *f)
{
    (void)r;
    (void)label;
    (void)f;
}

int oc_record_compare(const struct oc_model *model, const struct oc_analysis *analysis,
                      const struct oc_record_opts *opts, double *difference, struct oc_err *err)
{
    (void)model;
    (void)analysis;
    (void)opts;
    *difference = (double)NAN;
    return oc_os_check_processes("ONNX Runtime", err);
}

int oc_samples_record(const struct oc_device *device, const struct oc_record_opts *opts,
                      struct oc_samples **out, struct oc_err *err)
{
    (void)device;
    (void)opts;
    *out = NULL;
    return oc_os_check_processes("ONNX Runtime", err);
}

int oc_onnxruntime_find(const char *library, struct oc_library_info *out, struct oc_err *err)
{
    (void)library;
    *out = (struct oc_library_info){.name = "ONNX Runtime", .use = "record", .on_demand = true};
    return oc_os_check_processes("ONNX Runtime", err);
}

int oc_onnxruntime_list(const char *const *path, size_t n_path, struct oc_library_info **out, size_t *n_out,
                        struct oc_err *err)
{
    (void)path;
    (void)n_path;
    *out = NULL;
    *n_out = 0;
    return oc_os_check_processes("ONNX Runtime", err);
}
