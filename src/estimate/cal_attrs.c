/* The plain numbers of calibration files: one table for reading and writing. */
#include <math.h>

#include "estimate/cal_file.h"

#define BIG 1e30

#define RUN(n, f, lo, hi)                                                                                    \
    {                                                                                                        \
        n, OC_CAL_A_DOUBLE, offsetof(struct oc_calibration, f), lo, hi, false                                \
    }
#define KEY(n, f, lo, hi)                                                                                    \
    {                                                                                                        \
        n, OC_CAL_A_DOUBLE, offsetof(struct oc_cal_key, f), lo, hi, false                                    \
    }
#define CURVE(n, f, lo, hi)                                                                                  \
    {                                                                                                        \
        n, OC_CAL_A_DOUBLE, offsetof(struct oc_cal_curve, f), lo, hi, false                                  \
    }
#define U32(n, s, f)                                                                                         \
    {                                                                                                        \
        n, OC_CAL_A_U32, offsetof(struct s, f), 0, UINT32_MAX, false                                         \
    }
#define FLAG(n, s, f)                                                                                        \
    {                                                                                                        \
        n, OC_CAL_A_FLAG, offsetof(struct s, f), 0, 1, false                                                 \
    }

static const struct oc_cal_attr run[] = {
    RUN("dram", dram_bytes_per_s, 0, BIG),
    RUN("llc", llc_bytes, 0, BIG),
    RUN("fix", t_fix_s, -BIG, BIG),
    RUN("gap", gap_s, -BIG, BIG),
    RUN("tau", tau, 0, 100),
    RUN("rho", rho, -1, 1),
    RUN("z80", z80, 0, 1e6),
    RUN("z95", z95, 0, 1e6),
};
const struct oc_cal_attrs oc_cal_run_attrs = {run, OC_COUNT(run)};

static const struct oc_cal_attr key[] = {
    U32("n", oc_cal_key, n),
    U32("models", oc_cal_key, n_model),
    KEY("flop-min", flop_min, 0, BIG),
    KEY("flop-max", flop_max, 0, BIG),
    KEY("bytes-min", bytes_min, 0, BIG),
    KEY("bytes-max", bytes_max, 0, BIG),
    FLAG("ec-known", oc_cal_key, ec_known),
    FLAG("em-known", oc_cal_key, em_known),
    {"lomo-error", OC_CAL_A_DOUBLE, offsetof(struct oc_cal_key, lomo_error), 0, BIG, true},
    {"lambda", OC_CAL_A_DOUBLE, offsetof(struct oc_cal_key, lambda), 0, BIG, true},
    KEY("peak", peak_flop_per_s, 0, BIG),
};
const struct oc_cal_attrs oc_cal_key_attrs = {key, OC_COUNT(key)};

static const struct oc_cal_attr curve[] = {
    CURVE("t0", t0_s, 0, BIG),
    CURVE("ec", ec, 1e-12, 1e12),
    CURVE("w-half", w_half_flop, 0, BIG),
    CURVE("em", em, 1e-12, 1e12),
    CURVE("b-half", b_half_bytes, 0, BIG),
    CURVE("p", p, 0.25, INFINITY),
    CURVE("wc", wc, 1e-6, 1e6),
    CURVE("alpha", alpha, 0, 1e6),
    U32("tile-m", oc_cal_curve, tile_m),
    U32("tile-n", oc_cal_curve, tile_n),
    U32("align", oc_cal_curve, align),
};
const struct oc_cal_attrs oc_cal_curve_attrs = {curve, OC_COUNT(curve)};

static const struct oc_cal_attr forest[] = {
    {"lo", OC_CAL_A_DOUBLE, offsetof(struct oc_forest, lo), -100, 100, false},
    {"hi", OC_CAL_A_DOUBLE, offsetof(struct oc_forest, hi), -100, 100, false},
};
const struct oc_cal_attrs oc_cal_forest_attrs = {forest, OC_COUNT(forest)};

const struct oc_cal_error_list oc_cal_error_lists[3] = {
    {"bounds", offsetof(struct oc_cal_errors, bound_s), OC_CAL_BINS - 1},
    {"d80", offsetof(struct oc_cal_errors, d80), OC_CAL_BINS},
    {"d95", offsetof(struct oc_cal_errors, d95), OC_CAL_BINS},
};

const char *const oc_cal_kind_names[OC_CAL_KIND_COUNT] = {
    [OC_CAL_CURVE] = "curve",
    [OC_CAL_CONSTANT] = "constant",
    [OC_CAL_PARENT] = "parent",
    [OC_CAL_PRIOR] = "prior",
};
