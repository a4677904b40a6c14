/* A CPU profile of functions together with a model: the share of CPU time per class of functions (by name,
 * profile/core/kernel_names.h), and the share of the model's FLOPs per class of operators. Functions are not
 * attributed to nodes, so there are no rates. */
#ifndef OC_CLASS_SHARE_H
#define OC_CLASS_SHARE_H

#include "report/report.h"

struct oc_class_share {
    const char *name;  /* "conv"; "": the name has no known class */
    double time_share; /* of all functions, 0..1 */
    double flop_share; /* of the model; NAN without a model */
    uint32_t functions, nodes;
};

/* Longest time first; in the arena. Returns their number; 0 when the profile is not one of functions. */
uint32_t oc_class_shares(const struct oc_report_in *in, struct oc_arena *a,
                         const struct oc_class_share **out);

#endif
