/* What options name: sizes, rows, shapes, devices, models, the inputs of a report. */
#ifndef OC_ARGUMENTS_H
#define OC_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/cli.h"
#include "cli/options.h"
#include "onnxcost.h"

/* ---- sizes ------------------------------------------------------------------------------------------ */

/* Lists of sizes: "1,2,4", "1..64*2", "128..512+128", or several of these with commas. */

struct cli_sizes {
    int64_t *v; /* heap */
    size_t n, cap;
};

/* False: not a list, or too long. `out` is initially empty; the caller frees its memory in any case. */
bool cli_sizes_parse(const char *text, struct cli_sizes *out);

/* ---- single options --------------------------------------------------------------------------------- */

/* --warmup as oc_profile_opts.warmup. */
int32_t cli_warmup(const struct cli_opts *o, int32_t otherwise);
/* --top, 0: all rows. */
size_t cli_rows(const struct cli_opts *o, size_t otherwise);
/* --batch as one number, 0 without it. Returns 0, or CLI_USAGE after a message. */
int cli_batch(const struct cli_opts *o, int64_t *out);
/* For commands that take one: the last --hw, NULL without one. */
const char *cli_hw(const struct cli_opts *o);

/* ---- shapes ----------------------------------------------------------------------------------------- */

/* --dim, --shape, --value, --trip and --op-rules: texts to bindings; and all options of an analysis. */

struct cli_shapes {
    struct oc_bind *bind, *trip;
    struct oc_shape_bind *shape;
    struct oc_value_bind *value;
    struct oc_range_bind *range; /* --dim NAME=1..64 */
    size_t n_bind, n_trip, n_shape, n_value, n_range;
    struct oc_op_rules *rules; /* NULL: none */
    size_t n_own;              /* the first shapes, from the command line; what follows is borrowed */
};

/* A --dim with several sizes, "batch=1,2,4" or "batch=1..64*2". It does not bind the dimension. */
bool cli_is_size_list(const char *dim);
/* Whether a dimension is given as a range; as a list of sizes. */
bool cli_has_range(const struct cli_opts *o);
bool cli_has_size_list(const struct cli_opts *o);

/* Returns 0, or an exit code after a message. */
int cli_shapes_parse(const struct cli_opts *o, struct cli_shapes *out);
void cli_shapes_free(struct cli_shapes *s);

/* Borrows from both. The last --convention holds. */
struct oc_analyze_opts cli_analyze_opts(const struct cli_opts *o, const struct cli_shapes *s);

/* ---- devices ---------------------------------------------------------------------------------------- */

/* The device of --hw with what --hw-set changes. Opens *db if it is not open yet. Returns 0, or the exit code
 * after a message. */
int cli_find_device(const struct cli_opts *o, const char *name, struct oc_hwdb **db,
                    const struct oc_device **device);

/* Those of --hw, where it can name several. */
struct cli_devices {
    struct oc_hwdb *db; /* NULL until one is requested */
    const struct oc_device **item;
    size_t n, cap;
    double *price_per_hour; /* of each, in one currency; 0: not given; NULL: none is */
};

/* In the order given, with what --hw-set changes. `filters`: "all" and "kind=gpu" stand for many, each of which is taken
 * once. Returns 0, or the exit code after a message. */
int cli_devices_open(const struct cli_opts *o, bool filters, struct cli_devices *out);
/* Where the device is, maybe with other figures; d->n: nowhere. */
size_t cli_devices_index(const struct cli_devices *d, const struct oc_device *device);
/* Items DEVICE=PRICE/h of --price. Returns 0, or the exit code after a message. */
int cli_devices_prices(const struct cli_opts *o, const struct cli_list *price, struct cli_devices *d);
void cli_devices_close(struct cli_devices *d);

/* ---- models ----------------------------------------------------------------------------------------- */

/* oc_model_load. Says when the file is a profile. Returns 0, or the exit code after a message. */
int cli_load_model(const char *path, const struct cli_opts *o, struct oc_model **model);

/* The calibration of --calibration; NULL without one. Returns 0, or the exit code after a message. */
int cli_load_calibration(const struct cli_opts *o, struct oc_calibration **out);

/* Whether a warning says, before the report, that profile, model and device do not belong together. */
bool cli_is_headline(const struct oc_diag *d);

/* ---- profiles --------------------------------------------------------------------------------------- */

struct cli_profiles {
    struct oc_profile **item; /* heap; the files may be parts of fewer measurements */
    size_t n;
    struct oc_kernel_names *kernel_names;
};

/* Reads them with the options of the command line; `own`: warm-up runs, statistic, use of the model, events. Returns 0, or
 * the exit code after a message. */
int cli_profiles_open(const struct cli_opts *o, const char *const *path, size_t n, struct oc_profile_opts own,
                      struct cli_profiles *out);
void cli_profiles_close(struct cli_profiles *p);

/* ---- inputs of a report ----------------------------------------------------------------------------- */

/* Everything that one report is made of: a model, perhaps its profiles, its device and what joins them. Most
 * commands have one, a diff has two. */

struct cli_side {
    /* set before opening; borrowed */
    const char *model_path, *optimized_path, *hw; /* NULL: none */
    const char *const *profile_path;
    size_t n_profile_path;
    const struct oc_model *same_model; /* of another side: it is not read again; NULL */
    bool any_device;                   /* the device need not be the one that was profiled */
    bool keep_events;                  /* of the profile */
    bool strict;                       /* a conflict of shapes is an error */
    struct cli_progress *progress;     /* NULL: silent */
    char part[96];                     /* of the work that the progress concerns, "recording 2 of 6"; or "" */
    /* made; in: with the first profile and its join */
    struct oc_report_in in;
    struct oc_model *model, *optimized;
    struct cli_profiles profiles;
    struct oc_shape_bind *profile_shape; /* shapes of inputs that the profile recorded */
    size_t n_profile_shape;
    struct oc_control_bind *control; /* branches and trips that the profile shows */
    struct cli_shapes shapes;
    struct oc_analyze_opts opts;
    struct oc_analysis *analysis;
    struct oc_join **join; /* of each profile */
    struct oc_hwdb *hwdb;
};

/* Sets the files and the device of a command that takes one model and the last --profile; its device may be
 * another one than that of the profile. */
void cli_side_of(const struct cli_opts *o, struct cli_side *s);
/* Reads options, the model, profiles and the device. Returns 0, or an exit code after a message. */
int cli_side_read(const struct cli_opts *o, struct cli_side *s);
/* Then analyses and joins what was read. */
int cli_side_analyze(const struct cli_opts *o, struct cli_side *s);
/* Both. */
int cli_side_open(const struct cli_opts *o, struct cli_side *s);
void cli_side_close(struct cli_side *s);

#endif
