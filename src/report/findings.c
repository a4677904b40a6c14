#include "report/findings.h"

#include <string.h>

#include "base/diag.h"
#include "hw/hwdb.h"
#include "profile/profile.h"

static bool begins(const char *s, const char *prefix)
{
    return strncmp(s, prefix, strlen(prefix)) == 0;
}

/* "cpu", "gpu" or NULL: not known. */
static const char *recorded_on(const struct oc_profile *p)
{
    static const char *const gpus[] = {"CUDA", "GPU", "ROCm", "NVIDIA", "Tesla", "GeForce", "Quadro", "AMD"};
    if (begins(p->device, "CPU"))
        return "cpu";
    for (size_t i = 0; i < OC_COUNT(gpus); i++)
        if (begins(p->device, gpus[i]))
            return "gpu";
    return NULL;
}

/* Efficiency and gap compare measured times with the device: they mean nothing on another kind of device. */
static size_t device_findings(const struct oc_report_in *in, const struct oc_diag **d)
{
    static const struct oc_diag on_cpu = {
        OC_WARNING, OC_DIAG_OTHER_DEVICE, "--hw",
        "the profile was recorded on a CPU, but this device is not a CPU: efficiency and gap to roofline are "
        "those of "
        "other hardware; give the CPU, or --what-if hw=NAME for a forecast"};
    static const struct oc_diag on_gpu = {
        OC_WARNING, OC_DIAG_OTHER_DEVICE, "--hw",
        "the profile was recorded on a GPU, but this device is not a GPU: efficiency and gap to roofline are "
        "those of "
        "other hardware; give the GPU, or --what-if hw=NAME for a forecast"};
    const char *on = in->profile && in->device ? recorded_on(in->profile) : NULL;
    const char *kind = on ? in->device->info.kind : NULL;
    if (!kind || !*kind || strcmp(on, kind) == 0)
        return 0;
    *d = strcmp(on, "cpu") == 0 ? &on_cpu : &on_gpu;
    return 1;
}

size_t oc_headlines(const struct oc_report_in *in, struct oc_diag *out, size_t max)
{
    static const char *const first[] = {OC_DIAG_WRONG_MODEL, OC_DIAG_OTHER_MODEL, OC_DIAG_OTHER_DEVICE};
    size_t n = 0;
    for (size_t k = 0; k < OC_COUNT(first); k++)
        for (unsigned source = 0; source < OC_FINDING_SOURCES; source++) {
            const struct oc_diag *d = NULL;
            size_t count = oc_findings_of(in, source, &d);
            for (size_t i = 0; i < count && n < max; i++)
                if (strcmp(d[i].code, first[k]) == 0)
                    out[n++] = d[i];
        }
    return n;
}

bool oc_is_mismatch(const struct oc_diag *d)
{
    return strcmp(d->code, OC_DIAG_WRONG_MODEL) == 0 || strcmp(d->code, OC_DIAG_OTHER_MODEL) == 0;
}

size_t oc_mismatches(const struct oc_report_in *in, const char *text[OC_MAX_MISMATCHES])
{
    struct oc_diag d[OC_MAX_MISMATCHES];
    size_t all = oc_headlines(in, d, OC_MAX_MISMATCHES), n = 0;
    for (size_t i = 0; i < all; i++)
        if (oc_is_mismatch(&d[i]))
            text[n++] = d[i].text;
    return n;
}

size_t oc_findings_of(const struct oc_report_in *in, unsigned source, const struct oc_diag **d)
{
    switch (source) {
    case 0:
        return in->model ? oc_model_diags(in->model, d) : 0;
    case 1:
        return in->analysis ? oc_analysis_diags(in->analysis, d) : 0;
    case 2:
        return in->profile ? oc_profile_diags(in->profile, d) : 0;
    case 4:
        return device_findings(in, d);
    default:
        return in->join ? oc_join_diags(in->join, d) : 0;
    }
}

const char *oc_severity_name(const struct oc_diag *d)
{
    static const char *const name[] = {[OC_INFO] = "info", [OC_WARNING] = "warning", [OC_ERROR] = "error"};
    return name[d->severity <= OC_ERROR ? d->severity : OC_ERROR];
}
