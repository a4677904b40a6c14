/* The devices of --hw. */
#ifndef OC_CLI_DEVICES_H
#define OC_CLI_DEVICES_H

#include "cli/arguments.h"
#include "cli/options.h"
#include "onnxcost.h"

struct cli_devices {
    struct oc_hwdb *db; /* NULL until one is requested */
    const struct oc_device **item;
    size_t n, cap;
};

/* As cli_find_device; "auto" is the device that the profile names. p: NULL without a profile. */
int cli_find_recorded_device(const struct cli_opts *o, const char *name, const struct oc_profile *p,
                             struct oc_hwdb **db, const struct oc_device **device);

/* The device that the profile names, for a proposal; NULL: none in the hardware files. */
const struct oc_device *cli_recorded_device(const struct oc_profile *p, struct oc_hwdb **db);

/* All of them, in the order given, with what --hw-set changes. `filters`: "all" and "kind=gpu" stand for
 * many, each of which is taken once. Returns 0, or the exit code after a message. */
int cli_find_devices(const struct cli_opts *o, bool filters, struct cli_devices *out);
void cli_devices_free(struct cli_devices *d);

/* For commands that take one: the last --hw, NULL without one. */
const char *cli_hw(const struct cli_opts *o);

/* ---- side --------------------------------------------------------------------------------------------- */

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

/* --stat by its name; OC_STAT_AUTO without one. */
enum oc_stat cli_stat(const char *name);

/* ---- standard input --------------------------------------------------------------------------------- */

/* "-" as an input file: standard input. */

/* If an input file is "-": makes standard input a regular file in memory when it is a pipe (the library reads
 * "-" more than once), within the limit file-bytes. Returns 0, or an exit code after a message. */
int cli_take_stdin(const struct cli_opts *o);

#endif
