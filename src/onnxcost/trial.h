/* Trials: a model is run by several runtimes or with several settings in turns, each time in a process of its own, until it
 * is known which of them is faster. Conventions: onnxcost.h. */
#ifndef ONNXCOST_TRIAL_H
#define ONNXCOST_TRIAL_H

#include "onnxcost/record.h"
#include "onnxcost_types.h"

OC_API_BEGIN

/* What is compared. */
enum oc_trial_figure {
    OC_TRIAL_LATENCY, /* the mean of the central half of the runs */
    OC_TRIAL_SESSION, /* creation of the session: one value of each process */
    OC_TRIAL_FIRST_RUN,
    OC_TRIAL_FIGURES
};

/* Whether a round, counted from 0, has the reverse order, so that what is compared alternates: ABBA BAAB. */
bool oc_trial_is_reversed(uint32_t round);

/* What was measured. */
struct oc_trial_counts {
    size_t processes, repeated; /* repeated: because other processes disturbed them */
    double wall_s;
};

/* ---- bisect: which version of ONNX Runtime made a model slower or faster ------------------------------ */

struct oc_bisect_opts {
    size_t size; /* sizeof(struct oc_bisect_opts) */
    /* Of every process; library, output, tag and plain are not read; NULL: none. */
    const struct oc_record_opts *record;
    const char *const
        *library; /* files of libonnxruntime in any order, or folders that are searched for them; of one
                                   version the first is taken */
    size_t n_library;
    enum oc_trial_figure figure;
    uint32_t most; /* processes of each version in a step; 0: 8 */
    bool all;      /* measure every version, not only those that the search needs */
};

/* Measures the oldest and the newest version in turns; where a difference is shown, the version in the middle, and so
 * on in each half that shows one. Two neighbours between which a change was found are measured once more. Versions that
 * cannot run the model are left out and named. Errors: those of oc_record; OC_EARG: fewer than two versions. */
struct oc_bisect;
int oc_bisect_make(const struct oc_model *model, const struct oc_analysis *analysis,
                   const struct oc_bisect_opts *opts, struct oc_bisect **out, struct oc_err *err);
void oc_bisect_free(struct oc_bisect *b);
/* The i-th change that was found, by files of neighbouring versions; false past the end. */
bool oc_bisect_found(const struct oc_bisect *b, size_t index, const char **from, const char **to);
/* "table" (NULL), "csv", "json"; width_chars: of the table, 0: no limit */
int oc_bisect_write(const struct oc_bisect *b, const char *format, unsigned width_chars, FILE *out,
                    struct oc_err *err);

/* ---- tune: which settings of ONNX Runtime make a model faster ----------------------------------------- */

struct oc_tune_opts {
    size_t size; /* sizeof(struct oc_tune_opts) */
    /* Of every process; what is set here is not varied; output, tag and plain are not read; NULL: none. */
    const struct oc_record_opts *record;
    uint32_t most; /* processes of each setting in the last round; 0: 8 */
};

/* Measures every setting and the default in turns, drops the worse half until at most three are left, joins those that
 * go together, and measures what remains once more: only that decides. */
struct oc_tune;
int oc_tune_make(const struct oc_model *model, const struct oc_analysis *analysis,
                 const struct oc_tune_opts *opts, struct oc_tune **out, struct oc_err *err);
void oc_tune_free(struct oc_tune *t);
int oc_tune_write(const struct oc_tune *t, const char *format, unsigned width_chars, FILE *out,
                  struct oc_err *err);

OC_API_END

#endif
