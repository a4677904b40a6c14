#include "report/findings.h"

#include "base/diag.h"

size_t oc_findings_of(const struct oc_report_in *in, unsigned source, const struct oc_diag **d)
{
    switch (source) {
    case 0:
        return in->model ? oc_model_diags(in->model, d) : 0;
    case 1:
        return in->analysis ? oc_analysis_diags(in->analysis, d) : 0;
    case 2:
        return in->profile ? oc_profile_diags(in->profile, d) : 0;
    default:
        return in->join ? oc_join_diags(in->join, d) : 0;
    }
}

const char *oc_severity_name(const struct oc_diag *d)
{
    static const char *const name[] = {[OC_INFO] = "info", [OC_WARNING] = "warning", [OC_ERROR] = "error"};
    return name[d->severity <= OC_ERROR ? d->severity : OC_ERROR];
}
