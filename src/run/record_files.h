/* Files of a recording: written to a temporary folder next to their destination, and moved when they are
 * complete. */
#ifndef OC_RECORD_FILES_H
#define OC_RECORD_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "model/model.h"
#include "onnxcost/record.h"
#include "onnxcost_types.h"
#include "profile/profile.h"

struct oc_record_files {             /* texts are in the arena */
    const char *profile, *optimized; /* destinations */
    const char *folder;              /* temporary folder; NULL: none */
    const char *profile_prefix;      /* in the temporary folder */
    const char *temporary_optimized, *weights_name;
    const char *assumed; /* of the inputs, written into both files; NULL or "": nothing */
    bool no_optimized;   /* the optimized model is not kept */
    bool may_lack; /* it may be absent: ONNX Runtime saves no nodes that an execution provider has compiled */
    struct oc_arena *a;
};

/* Creates the temporary folder, and missing folders of o->output. Fails when a file would overwrite the model or one
 * that o->keeps names. */
int oc_record_files_open(const char *model, const struct oc_record_opts *o, struct oc_arena *a,
                         struct oc_record_files *out, struct oc_err *err);

/* Moves the files to their destinations; `profile` is the file written by the runtime, which gets what is known of
 * the machine; NULL: discard. The temporary folder is removed in any case. */
int oc_record_files_close(struct oc_record_files *f, const char *profile, const struct oc_prof_machine *m,
                          struct oc_err *err);

/* Removes a folder with the files in it. Texts are made in the arena. */
void oc_record_folder_remove(const char *folder, struct oc_arena *a);

struct oc_recording {
    struct oc_arena arena;
    struct oc_record_info info;
    const char *level;
    uint32_t threads, warmup;
    struct oc_prof_machine machine;
};

/* ---- load of other processes ---------------------------------------------------------------------------- */

double oc_wall_time_s(void); /* since 1970 */

struct oc_load {
    double started_s; /* since 1970 */
    double wall_s, own_s, busy_s, stolen_s;
    double paused[4]; /* these four when the present pause began */
};
void oc_load_begin(struct oc_load *l);
/* What happens between them is not counted. */
void oc_load_pause(struct oc_load *l);
void oc_load_resume(struct oc_load *l);
/* Processors that other processes have used since then, of those available to this one; 0 also where it is not known. */
double oc_load_of_others(const struct oc_load *l);
/* Of them: those that a hypervisor gave to other machines (steal time). */
double oc_load_stolen(const struct oc_load *l);

/* Processors that a process keeps to, the same ones in every process with as many threads: of the fastest kind, one of each core
 * before a second one. */
struct oc_processors {
    int at[256];
    uint32_t n;  /* 0: the system cannot do it */
    bool all;    /* those that the process may use in any case */
    long newest; /* thread when oc_spread_threads_begin was called */
};
/* Keeps this process, and the threads that it starts, on so many of its processors; 0: on all. */
void oc_keep_processors(const char *folder, uint32_t threads, struct oc_processors *out);
/* Puts the first thread of this process, and each one that was started since _begin, on one of them, in the order of their start:
 * processors of one machine differ, so that it matters which thread runs where. */
void oc_spread_threads_begin(struct oc_processors *p);
void oc_spread_threads(const struct oc_processors *p);
/* Whether a thread of this process apart from the calling one runs or would if it had a processor; false where it is not known. The
 * time that they have used does not say so: the system adds it up at its ticks. */
bool oc_other_threads_run(void);

#define OC_PROCESSORS_FOLDER "/sys/devices/system/cpu"
/* How often the processors were throttled since the machine was started; 0 also where it is not known. */
double oc_times_throttled(const char *folder);
/* "clock limited to 2.00 of 3.50 GHz; governor powersave; turbo is off"; "" where nothing is limited, or known. */
void oc_clock_limits(const char *folder, char *out, size_t cap);

/* ---- stop rule ----------------------------------------------------------------------------------------- */

/* When a measurement has enough runs: by time and by spread, within a time budget. */

enum {
    OC_LEAST_RUNS = 12,    /* two are left out as warm-up runs, and ten carry a comparison */
    OC_LEAST_TIME_S = 3,   /* of measuring ... */
    OC_MOST_TIME_S = 10,   /* ... and where the median stays uncertain, if there are OC_LEAST_RUNS by then */
    OC_TRIAL_TIME_S = 1,   /* of a session alone: processes differ more than the runs of one */
    OC_ERROR_PERCENT = 2,  /* half of the 95 % confidence interval of the median / median */
    OC_TIME_BUDGET_S = 60, /* default for both sessions */
};

struct oc_stop_rule {
    uint32_t runs;    /* exactly so many; 0: the rule below */
    uint32_t most;    /* 0: no limit */
    double budget_ns; /* since `from`, warm-up runs included; one run is measured in any case */
    double enough_s;  /* so much time of OC_LEAST_RUNS or more, however they spread; 0: the rule below */
};

struct oc_stop_state {
    double *ns; /* of the measured runs, heap; in the order of the runs until the end */
    size_t n, cap;
    double sum_ns;
    size_t next_check; /* the spread is computed at a growing number of runs: it sorts */
    bool over_budget;  /* ended before OC_LEAST_RUNS, or before the fixed number */
};

/* Adds a run and decides whether it was the last one. elapsed_ns: since the measurement began. */
bool oc_stop_after(const struct oc_stop_rule *rule, struct oc_stop_state *s, double run_ns,
                   double elapsed_ns);

/* Runs of which a profile has enough events. How often a loop runs its body is not known here: at most four times
 * in a microsecond of a run. run_ns: without profiling. In turns there are three times as many. */
uint32_t oc_enough_runs(const struct oc_model *m, double run_ns, bool turns);

/* ---- make inputs --------------------------------------------------------------------------------------- */

/* Generates inputs for a run of a model: the shapes are the caller's, the contents random within the range
 * that the model accepts. */

struct oc_run_input {
    uint32_t value; /* of the model: an input of its main graph */
    uint8_t dtype;  /* enum oc_dtype */
    uint32_t rank;
    const int64_t *dim; /* >= 0 */
    uint64_t elements, size_bytes;
    void *data;          /* packed elements, never NULL. Strings: const char *[elements] */
    const char *content; /* description: "-1 to 1", "0 to 30521", "1" */
    bool guessed;        /* a single integer or boolean without a given value */
};

/* Fills what follows `dim` in each of `in`, whose other fields are set; memory is the arena's. By type and name:
 *   floating point   -1 to 1
 *   masks            1 (names with "mask")
 *   positions        0, 1, 2 ... along the last axis (integers, names with "position")
 *   lengths          the longest dimension after the first of any other input (integers, "length", "lens")
 *   integers         rows of the smallest constant table that they are looked up in (Gather and its relatives,
 *                    also after Cast, Reshape and the like); a single one the constant that the model compares
 *                    it with, else 1; else 8-bit ones anything, others 0 and 1
 *   booleans         both; a single one false
 *   strings          "text"
 * `given` (oc_analyze_opts.value) replaces these: numbers, of which a single one fills the input, or @file.pb.
 * Errors: OC_ELIMIT inputs of more than the limit input-bytes, OC_EARG a value that does not fit,
 * OC_EUNSUPPORTED an element type that has no contents here. */
int oc_make_inputs(const struct oc_model *m, const struct oc_value_bind *given, size_t n_given, uint64_t seed,
                   struct oc_run_input *in, size_t n, struct oc_arena *a, struct oc_err *err);

/* ---- weights ------------------------------------------------------------------------------------------ */

/* Fails with OC_EFORMAT when weights are absent, or in a file that the model must not name. */
int oc_check_weights(const struct oc_model *m, struct oc_err *err);

/* ---- child -------------------------------------------------------------------------------------------- */

/* Work in a process of its own: code that is not ours may crash there, print, or end the process, and the
 * program gets an error that says what was being done. The worker sees all memory as it was at the start;
 * results are returned as messages. */

struct oc_child;

struct oc_child_listener { /* called in the caller's process, in the order of the messages; each may be NULL
                            */
    void (*stage)(void *arg, const char *text);
    void (*number)(void *arg, unsigned what, double value);
    void (*text)(void *arg, unsigned what, const char *text);
    void *arg;
    const volatile int *stop; /* not 0 after a signal: the work is interrupted; NULL: never */
};

struct oc_child_task {
    int (*work)(void *arg, struct oc_child *c, struct oc_err *err);
    void *arg;
    const struct oc_child_listener *listener; /* the first task's `stop` counts */
};

/* Runs work(arg) of each task in a process made by fork() and waits for all. Their standard output and standard error are
 * kept away from the caller's. Several take turns: one works, the others wait. Returns 0 when work returned 0 in all; else
 * -1 with the error of the first that failed, *failed: work's own, or one that begins with `who` and describes the crash, the
 * stage and the last line of output. The others are ended. *failed is n where none is to blame. */
int oc_children_run(const char *who, const struct oc_child_task *task, size_t n, size_t *failed,
                    struct oc_err *err);
/* One task. */
int oc_child_run(const char *who, int (*work)(void *arg, struct oc_child *c, struct oc_err *err), void *arg,
                 const struct oc_child_listener *listener, struct oc_err *err);

/* For the worker. Long texts are truncated. */
void oc_child_stage(struct oc_child *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void oc_child_number(struct oc_child *c, unsigned what, double value);
void oc_child_text(struct oc_child *c, unsigned what, const char *text);
bool oc_child_takes_turns(const struct oc_child *c);
/* Ends a turn and waits for the next one. `enough`: the worker could end this phase. Returns whether it has to: all workers that
 * are in the phase have enough. For a worker that runs alone that is `enough`. */
bool oc_child_turn(struct oc_child *c, bool enough);
/* Begins the next phase with a new turn, when no worker is in an earlier phase. */
void oc_child_phase(struct oc_child *c);

#endif
