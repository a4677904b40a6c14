/* Results of a search for better settings (tune.c), for their writer. */
#ifndef OC_TUNE_H
#define OC_TUNE_H

#include "trial/trial.h"

enum { OC_TUNE_SET = 8 }; /* most settings that are joined */

/* One setting of ONNX Runtime: what it is and how programs set it. */
struct oc_setting {
    const char *
        text; /* as an option of `record`: "--threads 1", "--session-config enable_mem_pattern=0"; of a rewrite:
                         "--apply softmax-axis" */
    const char *key; /* settings of one key exclude each other: "threads", "level", "execution_mode" */
    const char *python, *c,
        *js; /* a line of code each; js: a member of the options of InferenceSession.create, or ... */
    const char *file;   /* of a rewrite; NULL: a setting */
    double low, high;   /* part of a run that it is expected to save; high 0 or NAN: not known */
    bool js_in_session; /* ... of their extra.session, which onnxruntime-web alone reads */
};

struct oc_tune_row {
    uint32_t variant;
    const struct oc_setting *setting[OC_TUNE_SET];
    uint32_t n_setting;
    struct oc_comparison c; /* against the default, in the last round that the row was in */
    double peak_bytes;      /* mean over its processes of that round; 0: unknown */
    uint32_t stage;         /* round in which it was measured last */
    bool shown;             /* better at the level of the last round; only there */
};

struct oc_tune {
    struct oc_arena arena;
    struct oc_trials trials;            /* variant 0 has the default settings */
    const char *model_path, *providers; /* providers: those of the library, separated by blanks */
    uint32_t most, n_stage;
    struct oc_tune_row *row; /* heap; best first: those of the last round, then those that were dropped */
    uint32_t n_row, cap_row;
    char **file; /* heap: temporary files of rewrites */
    uint32_t n_file, cap_file;
    double subnormal_low, subnormal_high; /* as in oc_setting, of numbers that are flushed to zero */
    double default_peak_bytes;
    double default_ns;              /* mean latency of the default in the last round */
    const struct oc_tune_row *best; /* NULL: nothing is shown to be better */
};

/* Measures the settings that the caller has not given, drops, joins, and decides; `most` 0: the usual number. */
int oc_tune_search(struct oc_tune *t, const struct oc_record_opts *given, struct oc_err *err);

/* tune_rewrites.c: adds a row for each rewrite of the model. */
void oc_tune_add_rewrites(struct oc_tune *t, const struct oc_record_opts *given);
/* tune.c: adds the row and returns its setting. why_not: its outputs differ, or it cannot run; NULL: it is measured */
struct oc_setting *oc_tune_add_rewrite(struct oc_tune *t, const char *name, const char *path,
                                       const char *why_not);

#endif
