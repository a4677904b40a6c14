/* What some importers leave in oc_profile.native for reports with the columns of the tool.
 *
 * The contents of a dump of MegEngine's `load_and_run --profile` per operator, in file order (MegEngine's
 * own report uses that order for ties and groups). Times are seconds as written. Allocated in the
 * profile's arena; available through oc_profile.native when oc_profile.format is "megengine". */
#ifndef OC_NATIVE_REPORTS_H
#define OC_NATIVE_REPORTS_H

#include "profile/profile.h"

enum oc_mge_side { OC_MGE_DEVICE, OC_MGE_HOST, OC_MGE_SIDES };
enum oc_mge_end {
    OC_MGE_END,
    OC_MGE_KERN,
    OC_MGE_ENDS
}; /* time to the end; time to the start of the
    * kernel */

/* The maximum over the operator's entries (one per computing node or thread). The value may be nan or
 * infinite. */
struct oc_mge_time {
    double s;
    bool known, integer; /* integer: written without a decimal point */
};

struct oc_mge_shape {
    const int64_t *dim, *stride; /* stride NULL: contiguous */
    uint32_t rank, n_stride;
};

enum oc_mge_shapes_state { OC_MGE_ABSENT, OC_MGE_NULL, OC_MGE_GIVEN };

struct oc_mge_shapes {
    const struct oc_mge_shape *item;
    uint32_t n;
    enum oc_mge_shapes_state state;
};

struct oc_mge_opr {
    const char *name, *type, *id;
    const char *const *in_dtype; /* layouts of the input variables that have a memory plan; NULL entries:
                                  * none */
    uint32_t n_in_dtype;
    struct oc_mge_time time[OC_MGE_SIDES][OC_MGE_ENDS];
    double start_s;             /* earliest start on the device, else on the host; NAN: did not run */
    double computation, memory; /* FLOPs and bytes; NAN: null or absent (computation: or 0) */
    struct oc_mge_shapes in, out;
    uint64_t where; /* offset in the file */
};

struct oc_mge {
    const struct oc_mge_opr *opr;
    uint32_t n;
    bool has_device;           /* the file contains the member */
    uint32_t n_device, n_host; /* number of operators with such times */
    uint32_t n_stray;          /* ids with times but without an operator */
    double stray_ns, stray_kernel_ns;
};

/* ---- Paddle Inference ------------------------------------------------------------------------------- */

/* The text report of Paddle Inference (config.EnableProfile()), unmodified, for a summary with the same
 * columns. It is oc_profile.native of the importer "paddle_report"; times in nanoseconds, NAN: not in the
 * report. */

struct oc_paddle_row { /* row i belongs to record i of the profile */
    uint32_t depth;    /* nesting depth: rows of depth 0 add up, deeper rows are part of the row above */
    double calls, total_ns, cpu_ns, gpu_ns;
    double min_ns, max_ns, ave_ns; /* per call */
    double ratio;                  /* fraction, as printed */
};

struct oc_paddle_report {
    const struct oc_paddle_row *row;
    uint32_t n_row;
};

#endif
