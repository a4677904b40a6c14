/* Ranks devices and batches for one model by the estimate (predict.h) of each. The public functions are in
 * onnxcost/estimate.h; this header is for the writers. */
#ifndef OC_RANK_DEVICES_H
#define OC_RANK_DEVICES_H

#include "base/arena.h"
#include "estimate/predict.h"
#include "estimate/recast.h"

#define OC_RANK_MAX_BATCH   (INT64_C(1) << 20)
#define OC_RANK_MAX_BATCHES 64

enum oc_rank_order {
    OC_RANK_BY_TIME,
    OC_RANK_BY_THROUGHPUT,
    OC_RANK_BY_ENERGY,
    OC_RANK_BY_PRICE,
    OC_RANK_ORDERS
};
extern const char *const oc_rank_orders[OC_RANK_ORDERS]; /* names of --order-by */

struct oc_rank {
    struct oc_arena arena;
    const struct oc_model *model;
    const struct oc_device *const *device; /* as given */
    size_t n_device;
    enum oc_rank_order order;
    const struct oc_recast *as;             /* NULL: the model's own types */
    const struct oc_calibration *cal;       /* of one of the devices, NULL: none */
    const double *price_per_hour;           /* of the devices as given; NULL: none */
    const char *symbol;                     /* dimension of the batch; NULL: there is none */
    const struct oc_assumption *assumption; /* of the analysis of the first batch */
    uint32_t n_assumption;
    struct oc_rank_row *row; /* ranked; those without a rank are last */
    size_t n_row;
};

/* Whether it is a price of an hour of the device; 0: not given. Returns -1 with an error if not. */
int oc_check_price(const struct oc_device *d, double per_hour, struct oc_err *err);

#endif
