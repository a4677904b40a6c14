/* Calibration files. Layout (hwdb/calibration.rng is the schema):
 *
 *   calibration version="4" device runtime [runtime-version] [threads] [tool] [created]
 *               checksum samples models rejected
 *     run       dram llc fix gap tau rho z80 z95     rates and sizes of the device, whole runs
 *     again     ERRORS                               of a signature, from model to model
 *     key       class [dtype] kind [parent] n models flop-min flop-max bytes-min bytes-max
 *               ec-known em-known lomo-error lambda peak [residual] [ops]
 *               ops: codes of its operator types, ascending
 *               class: a class of kernels, or "group:compute" ...
 *       curve   t0 ec w-half em b-half p wc alpha tile-m tile-n align
 *       errors  ERRORS
 *     forest    lo hi
 *       tree    nodes v "FEATURE LEFT VALUE;..."     FEATURE -1: a leaf
 *     kernel    id t sd n                            a measured signature
 *
 *   ERRORS: n sd bias bounds d80 d95 (lists, separated by blanks)
 *
 * Times are seconds, sizes FLOPs and bytes, rates per second; numbers are written so that they round-trip
 * exactly. parent and residual are indices of keys and forests, from 0. Unknown elements, values out of
 * range, and cycles are errors with their line. */
#ifndef OC_CAL_FILE_H
#define OC_CAL_FILE_H

#include "base/buf.h"
#include "estimate/calibrate.h"
#include "estimate/regression.h"

#define OC_CAL_MAX_FILE_BYTES   (64u << 20)
#define OC_CAL_MAX_KEYS         4096u
#define OC_CAL_MAX_FORESTS      4096u
#define OC_CAL_MAX_TREES        1000u
#define OC_CAL_MAX_TREE_NODES   65535u /* of a tree */
#define OC_CAL_MAX_FOREST_NODES 4000000u
#define OC_CAL_MAX_SIGNATURES   1000000u
#define OC_CAL_MAX_TEXT         100u /* limit of a name in bytes */

/* oc_calibration_load, oc_calibration_write: see onnxcost/estimate.h. */

/* name: for messages. *out is freed by oc_calibration_free. */
int oc_cal_read_mem(const char *name, const void *data, size_t n, struct oc_calibration **out,
                    struct oc_err *err);

/* Whether the text may be written to the file: short, UTF-8, no control characters. */
bool oc_cal_text_ok(const char *s);

/* ---- private to cal_read.c and cal_file.c: attributes that are plain numbers ------------------------ */

enum oc_cal_attr_kind { OC_CAL_A_DOUBLE, OC_CAL_A_U32, OC_CAL_A_FLAG };
struct oc_cal_attr {
    const char *name;
    uint8_t kind; /* enum oc_cal_attr_kind */
    size_t offset;
    double lo, hi; /* of a double; NAN is allowed where `nan` says so */
    bool nan;
};
struct oc_cal_attrs {
    const struct oc_cal_attr *attr;
    size_t n;
};
extern const struct oc_cal_attrs oc_cal_run_attrs, oc_cal_key_attrs, oc_cal_curve_attrs, oc_cal_forest_attrs;
extern const char *const oc_cal_kind_names[OC_CAL_KIND_COUNT];

/* The elements of ERRORS, in order. */
struct oc_cal_error_list {
    const char *name;
    size_t offset, n; /* in struct oc_cal_errors */
};
extern const struct oc_cal_error_list oc_cal_error_lists[3];

#endif
