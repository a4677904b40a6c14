/* A recording and its worker: what the caller prepares (record.c), what the process that runs the model does with it and sends
 * back (record_worker.c). */
#ifndef OC_RECORD_JOB_H
#define OC_RECORD_JOB_H

#include <stdbool.h>
#include <stddef.h>

#include "onnxcost/record.h"
#include "profile/profile.h"
#include "run/providers.h"
#include "run/record_files.h"

/* Messages of the worker: numbers are fields of the time of a session, those of the profiled session
 * OC_N_RECORD_FIELDS further. */
enum {
    OC_RECORD_RUNS,
    OC_RECORD_OUTLIERS,
    OC_RECORD_OVER_BUDGET,
    OC_RECORD_NOISY,
    OC_RECORD_TYPICAL,
    OC_RECORD_MIN,
    OC_RECORD_MAX,
    OC_RECORD_ERROR,
    OC_RECORD_SPREAD,
    OC_RECORD_STARTED,
    OC_RECORD_OTHERS,
    OC_RECORD_STEAL,
    OC_RECORD_PROBE,
    OC_RECORD_PROBE_FASTEST,
    OC_RECORD_SESSION,
    OC_RECORD_FIRST,
    OC_RECORD_PEAK,       /* the last one that is sent at the end of a session */
    OC_RECORD_KEPT,       /* processors that the worker kept to; 0: it may use all. Of the first session */
    OC_RECORD_TURN,       /* a turn has ended: the mean of its runs, ns; one message for each */
    OC_RECORD_DIFFERENCE, /* of outputs: the only number of a comparison */
    OC_N_RECORD_FIELDS
};
enum { OC_RECORD_LIBRARY, OC_RECORD_VERSION, OC_RECORD_PROFILE, OC_RECORD_PLACEMENT };

enum { OC_ORT_MAX_EVENTS = 1000000 /* of a profile of ONNX Runtime */ };

struct oc_record_job {
    const struct oc_model *m;
    const char *path; /* of the file that runs: the model's, or that of a rewrite */
    const struct oc_record_opts *o;
    struct oc_arena *a; /* the recording's */
    struct oc_run_input *input;
    size_t n_input;
    const char **assumed_dims; /* by input: oc_input_info.assumed */
    double budget_ns;          /* of both sessions; 0: none */
    struct oc_session_providers providers;
    struct oc_record_files files;
    double turns_id;  /* of oc_record_info */
    double throttled; /* oc_times_throttled before */
    /* results */
    double field[2][OC_N_RECORD_FIELDS];
    double *turn_ns[2]; /* heap; mean of the runs of each turn, by session */
    size_t n_turn[2], cap_turn[2];
    const char *library, *version, *profile, *placement;
    struct oc_prof_machine machine;
};

/* Work of a child process; arg: the job. */
int oc_record_work(void *arg, struct oc_child *c, struct oc_err *err);
/* Both models once: OC_RECORD_DIFFERENCE. */
int oc_record_compare_work(void *arg, struct oc_child *c, struct oc_err *err);

#endif
