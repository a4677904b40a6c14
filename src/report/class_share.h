/* A profile of functions beside a model: what share of the CPU's time went to which class of functions (by
 * their names, profile/kernel_names.h), and what share of the model's FLOPs its operators of that class have.
 * No function belongs to a node, so no speed can be told. */
#ifndef OC_CLASS_SHARE_H
#define OC_CLASS_SHARE_H

#include "report/report.h"

struct oc_class_share {
    const char *name;  /* "conv"; "": functions whose names tell none */
    double time_share; /* of all functions, 0..1 */
    double flop_share; /* of the model; NAN without a model */
    uint32_t functions, nodes;
};

/* Longest time first; in the arena. Returns how many; 0 when the profile is not one of functions. */
uint32_t oc_class_shares(const struct oc_report_in *in, struct oc_arena *a,
                         const struct oc_class_share **out);

#endif
