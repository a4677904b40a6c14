/* Lists of sizes in options: "1,2,4", "1..64*2", "128..512+128", or several of these with commas. */
#ifndef OC_ARGUMENTS_H
#define OC_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/cli.h"
#include "cli/options.h"
#include "onnxcost.h"

struct cli_sizes {
    int64_t *v; /* heap */
    size_t n, cap;
};

/* False: not a list, or too long. `out` is initially empty; the caller frees its memory in any case. */
bool cli_sizes_parse(const char *text, struct cli_sizes *out);

/* ---- limits ----------------------------------------------------------------------------------------- */

/* Checks the ranges of options that are numbers. Returns 0, or CLI_USAGE after a message. */
int cli_check_numbers(const struct cli_opts *o);
/* --embed: the format "html" becomes "fragment". Returns 0, or CLI_USAGE after a message. */
int cli_take_embed(struct cli_opts *o);
/* --format; compact is the table of commands that have only one. */
const char *cli_format(const struct cli_opts *o);
/* --warmup as oc_profile_opts.warmup. */
int32_t cli_warmup(const struct cli_opts *o, int32_t otherwise);

/* --limit and --external-data. */

/* Fills o->limits. Returns 0, or an exit code after a message. */
int cli_take_limits(struct cli_opts *o);

/* The default of a limit: "64 MiB", "600 s", "4000000"; bytes in the largest unit that they are a multiple
 * of. Returns `buf`. */
const char *cli_limit_amount(const struct oc_input_limit_info *c, char *buf, size_t cap);

/* ---- recordings ------------------------------------------------------------------------------------- */

/* RECORDINGS... on the command line, with --hw and related options: reads the measured kernels. */

struct cli_measured {
    struct oc_hwdb *hwdb;
    const struct oc_device *device; /* NULL: without --hw */
    struct oc_samples *samples;
};

/* Returns 0, or an exit code after a message. What is wrong with single recordings goes to stderr. */
int cli_measured_read(const struct cli_opts *o, const char *command, struct cli_measured *out);
void cli_measured_free(struct cli_measured *m);

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

#endif
