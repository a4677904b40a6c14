/* The public functions for calibrations and their validation, on samples already read. */
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/diag.h"
#include "estimate/cal_file.h"
#include "estimate/calibrate.h"
#include "estimate/samples_read.h"
#include "estimate/validation.h"

static int need_device(const struct oc_samples *s, struct oc_err *err)
{
    if (!s->device)
        return oc_fail(err, OC_EARG, "the measured device is unknown");
    if (!oc_cal_text_ok(s->set.device) || !oc_cal_text_ok(s->set.runtime) ||
        !oc_cal_text_ok(s->set.runtime_version))
        return oc_fail(err, OC_EARG,
                       "the names of device, runtime and version must be short texts of one line");
    return s->set.n ? 0 : oc_fail(err, OC_EARG, "no kernel of the recordings is usable");
}

static uint32_t rejected(const struct oc_samples *s)
{
    uint32_t n = 0;
    for (unsigned i = 0; i < OC_REJECT_COUNT; i++)
        n += s->reject[i].n;
    return n;
}

int oc_calibration_make(const struct oc_samples *samples, const struct oc_calibration_opts *opts,
                        struct oc_calibration **out, struct oc_err *err)
{
    OC_C_LOCALE;
    struct oc_calibrate_opts o = {.by_family = opts->by_family,
                                  .no_forest = opts->no_forest,
                                  .tool_version = "onnxcost " ONNXCOST_VERSION,
                                  .created = opts->created};
    *out = NULL;
    if (opts->created && !oc_cal_text_ok(opts->created))
        return oc_fail(err, OC_EARG, "the date of the calibration must be a short text");
    if (need_device(samples, err) || oc_calibrate(&samples->set, samples->device, &o, out, err))
        return -1;
    (*out)->n_rejected += rejected(samples);
    return 0;
}

int oc_validation_make(const struct oc_samples *samples, const struct oc_validation_opts *opts,
                       struct oc_validation_result **out, struct oc_err *err)
{
    OC_C_LOCALE;
    const struct oc_validate_opts o = {.by_family = opts->by_family, .no_forest = opts->no_forest};
    struct oc_validation_result *r = oc_xmalloc(sizeof(*r));
    *r = (struct oc_validation_result){.samples = samples};
    *out = NULL;
    if (need_device(samples, err) || oc_validate(&samples->set, samples->device, &o, &r->v, err)) {
        free(r);
        return -1;
    }
    *out = r;
    return 0;
}

void oc_validation_result_free(struct oc_validation_result *r)
{
    if (!r)
        return;
    oc_validation_free(r->v);
    free(r);
}
