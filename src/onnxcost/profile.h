/* More of profiles: options of reading, formats, rules for kernel names, shapes and control flow for the
 * analysis. Conventions: onnxcost.h. */
#ifndef ONNXCOST_PROFILE_H
#define ONNXCOST_PROFILE_H

#include "onnxcost_types.h"

OC_API_BEGIN

#define OC_WARMUP_NONE (-1)

/* How to read a profile. */
struct oc_profile_opts {
    size_t size;        /* sizeof(struct oc_profile_opts) */
    const char *format; /* importer name, NULL: probe */
    int32_t warmup; /* runs to drop, or OC_WARMUP_NONE; 0: the importer's default (the first of several) */
    uint32_t iterations; /* number of runs in files that do not mark them; 0: detect it */
    enum oc_stat stat;
    bool by_node; /* runs with different shapes: one record for each node instead of one for each of its sets
                     of shapes. Requires oc_join_sizes after oc_join_make */
    bool keep_events; /* keep single events, for summaries over time: 48 bytes each */
    const char *map;  /* columns of a table: "name=Function,time='CPU Time'"; NULL: by their headers. Files of
                         unknown format are then read as "generic_csv" */
    const struct oc_kernel_names *kernel_names; /* NULL: none; must outlive the profile */
    /* NULL, or a flag that a signal handler or another thread sets to non-zero while a file is read: reading
     * stops, and the profile contains the data so far, with the warning W-partial that states how much.
     * Without any data the call fails with OC_ESTOPPED. */
    const volatile int *stop;
    struct oc_reading *reading; /* NULL, or where to note how far a file is; files of SQLite note nothing */
    const struct oc_input_limits *limits; /* NULL: the defaults */
    /* Names of the model's nodes: an annotation with such a name (record_function of PyTorch, ...) is the node,
     * and the operators inside it are its parts. The number of the model's products shows how many runs a
     * recording of PyTorch has. NULL: none; must outlive reading. */
    const struct oc_operator_names *operators;
};

/* For oc_profile_opts.operators. A name of several nodes is none. The model must outlive it. */
struct oc_operator_names *oc_operator_names_make(const struct oc_model *model);
void oc_operator_names_free(struct oc_operator_names *names); /* NULL is accepted */

/* Rules that derive precision, unit, class and library from kernel names: rows of a file
 * (hwdb/kernel-names/kernel-names.rng), applied before the built-in ones. */
int oc_kernel_names_load(const char *path, struct oc_kernel_names **out, struct oc_err *err);
void oc_kernel_names_free(struct oc_kernel_names *names);

/* OC_EARG: not a name for oc_profile_opts.format. */
int oc_profile_format_check(const char *name, struct oc_err *err);

enum oc_file_kind { OC_FILE_MODEL, OC_FILE_PROFILE };
/* Classifies by content. Fails for a file that is recognized as something else (an archive, a model of
 * another framework, a web page). Any other file counts as the more similar kind, so that its reader can
 * report the error. */
int oc_file_kind(const char *path, enum oc_file_kind *out, struct oc_err *err);

/* Name of the format in which the file is a profile; NULL: none, or several. */
const char *oc_profile_recognize(const char *path);

/* Names and titles of the importers; false past the end. */
bool oc_profile_format(size_t index, const char **name, const char **title);
/* Versions that were read from real files, and what a report leaves out; false past the end. */
bool oc_profile_format_facts(size_t index, const char **seen, const char **lost);

/* The recordings that one argument names, for a comparison: "a.json,b.json", a file, or a folder with several files
 * of one format. *path: one block with *n paths; free it with free(). */
int oc_recordings_named(const char *text, const char ***path, size_t *n, struct oc_err *err);

/* Shapes of graph inputs without a fixed shape, for oc_analyze_opts.shape: recorded in the profile, or
 * implied by other recorded shapes and in contradiction to none. Names belong to the model. Returns their
 * number; free the list with oc_profile_input_shapes_free. */
size_t oc_profile_input_shapes(const struct oc_model *model, const struct oc_profile *profile,
                               struct oc_shape_bind **out);
void oc_profile_input_shapes_free(struct oc_shape_bind *shape, size_t n);

/* For a profile read with oc_profile_opts.by_node whose runs have different shapes: analyses the model for
 * the sizes of each run, and replaces the counts of the analysis and of the join by their means over the
 * runs. Reports show the sizes. opts: those of the analysis. Nothing to do for other profiles. */
int oc_join_sizes(struct oc_analysis *analysis, const struct oc_analyze_opts *opts,
                  const struct oc_model *optimized, struct oc_join *join, struct oc_err *err);

/* Executed branches and trip counts of loops, derived from the nodes of their bodies. Free with free(). */
size_t oc_profile_control(const struct oc_model *model, const struct oc_profile *profile,
                          struct oc_control_bind **out);

OC_API_END

#endif
