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

/* --format; compact is the table of commands that have only one. */
const char *cli_format(const struct cli_opts *o);
/* --warmup as oc_profile_opts.warmup. */
int32_t cli_warmup(const struct cli_opts *o, int32_t otherwise);
/* --stat by its name; OC_STAT_AUTO without one. */
enum oc_stat cli_stat(const char *name);
/* For commands that take one: the last --hw, NULL without one. */
const char *cli_hw(const struct cli_opts *o);

/* ---- filters ---------------------------------------------------------------------------------------- */

/* Options that choose or order rows, and would leave nothing without a word. */

/* Warns about --type and --opr-name that no operator of the model (NULL: there is none) or of the profiles
 * has, with what is near. */
void cli_check_filters(const struct cli_opts *o, const struct oc_analysis *a,
                       struct oc_profile *const *profile, size_t n_profile);

/* 0, or CLI_USAGE after a message: a column of --order-by (NULL: none) has no values without a profile or a
 * device. */
int cli_check_order(const char *order_by, bool profile, bool device);

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

/* Whether a dimension is given as a range. */
bool cli_has_range(const struct cli_opts *o);

/* `more`: shapes from elsewhere, used for inputs that the command line does not speak of.
 * Returns 0, or an exit code after a message. */
int cli_shapes_parse(const struct cli_opts *o, const struct oc_shape_bind *more, size_t n_more,
                     struct cli_shapes *out);
void cli_shapes_free(struct cli_shapes *s);

/* Borrows from both. The last --convention holds. */
struct oc_analyze_opts cli_analyze_opts(const struct cli_opts *o, const struct cli_shapes *s);

/* ---- devices ---------------------------------------------------------------------------------------- */

/* What --hw-set and --no-tf32 change of a device. Returns 0, or the exit code after a message. */
int cli_change_device(const struct cli_opts *o, struct oc_hwdb *db, const struct oc_device **device);

/* The device of --hw with what --hw-set changes. Opens *db if it is not open yet. Returns 0, or the exit code
 * after a message. */
int cli_find_device(const struct cli_opts *o, const char *name, struct oc_hwdb **db,
                    const struct oc_device **device);

/* As cli_find_device; "auto" is the device that the profile names. p: NULL without a profile. */
int cli_find_recorded_device(const struct cli_opts *o, const char *name, const struct oc_profile *p,
                             struct oc_hwdb **db, const struct oc_device **device);

/* The device that the profile names, for a proposal; NULL: none in the hardware files. */
const struct oc_device *cli_recorded_device(const struct oc_profile *p, struct oc_hwdb **db);

/* The devices of --what-if hw=NAME, one for each --what-if, NULL for the others; freed with free(). */
int cli_what_if_devices(const struct cli_opts *o, struct oc_hwdb **db, const struct oc_device ***device);

/* ---- models ----------------------------------------------------------------------------------------- */

/* oc_model_load. Says when the file is a profile. Returns 0, or the exit code after a message. */
int cli_load_model(const char *path, const struct cli_opts *o, struct oc_model **model);

/* Warns, before the report, that profile, model and device do not belong together. Returns 0, or CLI_INPUT
 * after a message: no operator of the profile is in the model, and there is no --force. */
int cli_check_pair(const struct cli_opts *o, const struct oc_report_in *in);
bool cli_is_headline(const struct oc_diag *d); /* printed by cli_check_pair */

/* ---- inputs of a report ----------------------------------------------------------------------------- */

/* Everything that one report is made of: a model, perhaps its profile, its device and what joins them. A
 * check has one, a diff has two. */

struct cli_side {
    /* set before opening; borrowed */
    const char *model_path;
    const char *profile_path, *optimized_path, *hw; /* NULL: none */
    const struct oc_model *same_model;              /* of another side: it is not read again; NULL */
    bool any_device;                                /* the device need not be the one that was profiled */
    /* made */
    struct oc_report_in in;
    struct oc_model *model, *optimized;
    struct oc_profile *profile;
    struct oc_shape_bind *profile_shape;
    size_t n_profile_shape;
    struct oc_control_bind *control;
    struct cli_shapes shapes;
    struct oc_analyze_opts opts;
    struct oc_analysis *analysis;
    struct oc_join *join;
    struct oc_hwdb *hwdb;
};

/* Reads, analyses and joins. Returns 0, or an exit code after a message. */
int cli_side_open(const struct cli_opts *o, struct cli_side *s);
void cli_side_close(struct cli_side *s);

#endif
