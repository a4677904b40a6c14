/* The lower bound of a run's time (bound.h) on one device, as closed forms of the sizes, for searches over
 * millions of sizes. Where no closed form holds, the model is analysed. Public functions: onnxcost/bounds.h. */
#ifndef OC_TIME_BOUND_H
#define OC_TIME_BOUND_H

#include "estimate/bound.h"
#include "onnxcost/bounds.h"

struct oc_time_bound_in {
    struct oc_law_source source; /* its type, and its context, must outlive the result */
    const struct oc_device *device;
    bool cache;         /* as of oc_bound_time */
    const char *module; /* only products in it; NULL: the whole model */
};

/* OC_EARG: no figures at the start, or no product in the module. The result takes over the context: it ends with
 * free_ctx(ctx), also on failure; NULL: the caller's. */
int oc_time_bound_of(const struct oc_time_bound_in *in, void (*free_ctx)(void *ctx),
                     struct oc_time_bound **out, struct oc_err *err);

#endif
