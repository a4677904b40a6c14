/* The process that runs the model: a session without profiling, one with it, or both models once. Results are messages (child.h of
 * record_files.h); nothing here reaches the caller in another way. Workers that take turns run on the same processors, and
 * the time in which others run is not counted. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/arena.h"
#include "base/diag.h"
#include "measure/vector_probe.h"
#include "onnxcost.h"
#include "profile/core/run_spread.h"
#include "run/ort_lib.h"
#include "run/record_job.h"

enum {
    ORT_LOG_ERROR = 3,
    ORT_ARENA_ALLOCATOR = 1,
    MOST_RUNS = 100000,
    REST_NS = 1000000,
    MOST_RESTS = 200,
    TURNS = 32, /* that runs of a given number, or of a profile, are divided into */
};
static const double NS_PER_S = 1e9, SHORT_S = 0.2, MOST_TURN_NS = 2e7, LEAST_TURN_NS = 2e6;
/* Above this size the optimized model's weights go to an external file: a protobuf cannot exceed 2 GiB, and
 * optimization may pad weights. */
#define LARGE_MODEL_BYTES (UINT64_C(1) << 30)

struct worker {
    const struct oc_record_job *j;
    struct oc_child *c;
    struct oc_err *err;
    struct oc_ort ort;
    struct ort_env *env;
    struct ort_allocator *allocator;
    struct ort_value **value;
    const char **input_name, **output_name;
    size_t n_output;
    double began_ns; /* first run */
    double plain_ns; /* typical time of the plain session */
    struct oc_probe probe;
    double session_ns,
        first_ns;              /* of the present session: its creation, its first run; first_ns 0: none yet */
    struct oc_processors kept; /* by workers that take turns */
    double others_ns;          /* in which other workers had their turns */
    struct oc_arena a;
};

/* Time of this worker: without the turns of others. */
static double worker_now_ns(const struct worker *w)
{
    return 1e9 * oc_now_s() - w->others_ns;
}

static int record_check(struct worker *w, struct ort_status *s, enum oc_code code, const char *what)
{
    return oc_ort_check(&w->ort, s, code, what, w->err);
}

static int check_library(struct worker *w, struct ort_status *s)
{
    return s ? record_check(w, s, OC_ELIBRARY, oc_printf(&w->a, "cannot use '%s'", w->ort.file)) : 0;
}

static int check_run(struct worker *w, struct ort_status *s)
{
    return s ? record_check(w, s, OC_EUNSUPPORTED,
                            oc_printf(&w->a, "ONNX Runtime cannot run '%s'", w->j->m->path))
             : 0;
}

static int record_start(struct worker *w)
{
    if (oc_child_takes_turns(w->c)) {
        oc_keep_processors(OC_PROCESSORS_FOLDER, w->j->o->threads, &w->kept);
        oc_spread_threads(&w->kept);
    }
    oc_child_number(w->c, OC_RECORD_KEPT, w->kept.all ? 0 : w->kept.n);
    oc_child_stage(w->c, "loading ONNX Runtime");
    if (oc_ort_open(w->j->o->library, &w->ort, w->err))
        return -1;
    oc_child_text(w->c, OC_RECORD_LIBRARY, w->ort.file);
    oc_child_text(w->c, OC_RECORD_VERSION, w->ort.version);
    if (check_library(w, w->ort.create_env(ORT_LOG_ERROR, "onnxcost", &w->env)))
        return -1;
    oc_probe_begin(&w->probe);
    return check_library(w, w->ort.get_allocator(&w->allocator));
}

static int make_tensor(struct worker *w, const struct ort_memory *memory, const struct oc_run_input *in,
                       struct ort_value **out)
{
    const struct oc_ort *ort = &w->ort;
    if (in->dtype != OC_DT_STRING)
        return check_run(
            w, ort->wrap_tensor(memory, in->data, (size_t)in->size_bytes, in->dim, in->rank, in->dtype, out));
    if (check_run(w, ort->create_tensor(w->allocator, in->dim, in->rank, in->dtype, out)))
        return -1;
    return check_run(w, ort->fill_strings(*out, in->data, (size_t)in->elements));
}

static int make_tensors(struct worker *w)
{
    const struct oc_record_job *j = w->j;
    const struct oc_graph *g = &j->m->graph[0];
    struct ort_memory *memory;
    if (check_library(w, w->ort.create_cpu_memory(ORT_ARENA_ALLOCATOR, 0, &memory)))
        return -1;
    w->value = OC_NEW_ARRAY(&w->a, j->n_input, struct ort_value *);
    w->input_name = OC_NEW_ARRAY(&w->a, j->n_input, const char *);
    w->output_name = OC_NEW_ARRAY(&w->a, g->n_output, const char *);
    for (size_t i = 0; i < j->n_input; i++) {
        w->input_name[i] = j->m->value[j->input[i].value].name;
        if (make_tensor(w, memory, &j->input[i], &w->value[i]))
            return -1;
    }
    for (uint32_t i = 0; i < g->n_output; i++)
        w->output_name[w->n_output++] = j->m->value[g->output[i]].name;
    return 0;
}

static int profiling_options(struct worker *w, struct ort_options *o, bool optimized)
{
    const struct oc_record_files *f = &w->j->files;
    if (check_library(w, w->ort.enable_profiling(o, f->profile_prefix)) ||
        (optimized && check_library(w, w->ort.set_optimized_model(o, f->temporary_optimized))))
        return -1;
    return optimized && w->j->m->init_bytes > LARGE_MODEL_BYTES
               ? check_library(w,
                               w->ort.add_config(o, "session.optimized_model_external_initializers_file_name",
                                                 f->weights_name))
               : 0;
}

static int open_session(struct worker *w, const char *path, bool profiled, bool optimized,
                        struct ort_session **out)
{
    const struct oc_record_job *j = w->j;
    struct ort_options *o;
    oc_child_stage(w->c, "loading the model");
    if (check_library(w, w->ort.create_options(&o)) ||
        check_library(w, oc_ort_set_options(&w->ort, o, j->o, &w->a)) ||
        oc_session_providers_add(&w->ort, &j->providers, o, &w->a, w->err) ||
        (profiled && profiling_options(w, o, optimized)))
        return -1;
    const char *with = j->o->provider ? oc_printf(&w->a, " with --provider %s", j->o->provider) : "";
    const char *what = oc_printf(&w->a, "ONNX Runtime cannot load '%s'%s", path, with);
    oc_spread_threads_begin(&w->kept);
    double from = 1e9 * oc_now_s();
    int rc = record_check(w, w->ort.create_session(w->env, path, o, out), OC_EFORMAT, what);
    w->session_ns = 1e9 * oc_now_s() - from;
    w->first_ns = 0;
    w->ort.release_options(o);
    return rc;
}

/* out: as many as there are outputs, NULL before */
static struct ort_status *run_model(struct worker *w, struct ort_session *s, struct ort_value **out)
{
    return w->ort.run(s, NULL, w->input_name, (const struct ort_value *const *)w->value, w->j->n_input,
                      w->output_name, w->n_output, out);
}

static int run_once(struct worker *w, struct ort_session *s, double *ns)
{
    struct oc_arena a = {0};
    struct ort_value **out = OC_NEW_ARRAY(&a, w->n_output, struct ort_value *);
    double from = 1e9 * oc_now_s();
    struct ort_status *status = run_model(w, s, out);
    *ns = 1e9 * oc_now_s() - from;
    w->first_ns = w->first_ns > 0 ? w->first_ns : *ns;
    for (size_t i = 0; i < w->n_output; i++)
        if (out[i])
            w->ort.release_value(out[i]);
    oc_arena_free(&a);
    return check_run(w, status);
}

/* The plain session gets half of the budget, the profiled one the rest; all of it where it is the only one. In turns it is the
 * profiles that are compared: they have most of the time, and more events. */
static struct oc_stop_rule record_rule_of(struct worker *w, bool profiled, double now)
{
    const struct oc_record_opts *o = w->j->o;
    bool turns = oc_child_takes_turns(w->c);
    if (!profiled)
        w->began_ns = now;
    double left_ns = profiled ? w->j->budget_ns - (now - w->began_ns) : w->j->budget_ns / (o->plain ? 1 : 2);
    return (struct oc_stop_rule){
        .runs = o->runs,
        .enough_s = o->plain             ? OC_TRIAL_TIME_S
                    : turns && !profiled ? SHORT_S
                                         : 0,
        .most = profiled ? oc_enough_runs(w->j->m, w->plain_ns, turns) : MOST_RUNS,
        .budget_ns = w->j->budget_ns <= 0 ? 0
                     : left_ns > 1        ? left_ns
                                          : 1,
    };
}

/* Most memory that the process has had resident; 0: not known. */
static double peak_bytes(void)
{
#ifdef __APPLE__
    const double unit_bytes = 1;
#else
    const double unit_bytes = 1024;
#endif
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) ? 0 : (double)usage.ru_maxrss * unit_bytes;
}

static void send_times(struct worker *w, bool profiled, struct oc_stop_state *s, const struct oc_load *load)
{
    struct oc_run_spread r;
    oc_run_spread_of(s->ns, s->n, &r);
    const double field[OC_RECORD_PEAK + 1] = {[OC_RECORD_RUNS] = r.n,
                                              [OC_RECORD_OUTLIERS] = r.outliers,
                                              [OC_RECORD_OVER_BUDGET] = s->over_budget,
                                              [OC_RECORD_NOISY] = oc_run_spread_noisy(&r),
                                              [OC_RECORD_TYPICAL] = r.typical_ns,
                                              [OC_RECORD_MIN] = r.min_ns,
                                              [OC_RECORD_MAX] = r.max_ns,
                                              [OC_RECORD_ERROR] = oc_run_spread_error(&r),
                                              [OC_RECORD_SPREAD] = oc_run_spread_share(&r),
                                              [OC_RECORD_STARTED] = load->started_s,
                                              [OC_RECORD_OTHERS] = oc_load_of_others(load),
                                              [OC_RECORD_STEAL] = oc_load_stolen(load),
                                              [OC_RECORD_PROBE] = oc_probe_mean_ns(&w->probe),
                                              [OC_RECORD_PROBE_FASTEST] =
                                                  w->probe.n ? w->probe.fastest_ns : 0,
                                              [OC_RECORD_SESSION] = w->session_ns,
                                              [OC_RECORD_FIRST] = w->first_ns,
                                              [OC_RECORD_PEAK] = peak_bytes()};
    for (unsigned i = 0; i <= OC_RECORD_PEAK; i++)
        oc_child_number(w->c, i + (profiled ? OC_N_RECORD_FIELDS : 0), field[i]);
    free(s->ns);
    w->plain_ns = profiled ? w->plain_ns : r.typical_ns;
}

static int run_warmup(struct worker *w, struct ort_session *s, const char *how)
{
    double ns;
    for (uint32_t i = 0; i < w->j->o->warmup; i++) {
        oc_child_stage(w->c, "running the model%s (warm-up run %u of %u)", how, i + 1, w->j->o->warmup);
        if (run_once(w, s, &ns))
            return -1;
    }
    return 0;
}

/* ---- turns -------------------------------------------------------------------------------------------- */

struct turn {
    double from_ns, most_ns; /* time of the worker at which it began; its length */
    double sum_ns;           /* of its runs */
    unsigned session;
    size_t runs, most_runs; /* in it; 0: as many as there is time for */
    size_t least_left;      /* runs of the session at which the worker stops without the others */
};

static struct turn turn_of(const struct worker *w, const struct oc_stop_rule *rule, bool profiled)
{
    uint32_t nodes = w->j->m->graph[0].n_node;
    struct turn t = {
        .from_ns = worker_now_ns(w), .most_ns = MOST_TURN_NS, .session = profiled, .least_left = MOST_RUNS};
    if (profiled && nodes)
        t.least_left = OC_ORT_MAX_EVENTS / nodes;
    if (rule->runs) {
        t.most_runs = rule->runs / TURNS > 1 ? rule->runs / TURNS : 1;
        t.least_left = rule->runs;
    } else if (rule->most && profiled && rule->most * w->plain_ns / TURNS < MOST_TURN_NS) {
        t.most_ns = fmax(rule->most * w->plain_ns / TURNS, LEAST_TURN_NS);
    }
    return t;
}

static bool turn_is_over(const struct turn *t, double now_ns)
{
    return t->most_runs ? t->runs >= t->most_runs : now_ns - t->from_ns >= t->most_ns;
}

/* Other threads of the runtime look for work some time before they sleep, on processors that another worker is about to use: waits
 * until they do. */
static void rest(const struct worker *w)
{
    if (!oc_child_takes_turns(w->c) || w->j->o->threads == 1)
        return;
    for (int i = 0; i < MOST_RESTS && oc_other_threads_run(); i++)
        nanosleep(&(struct timespec){.tv_nsec = REST_NS}, NULL);
}

/* After a run: whether it was the last one. A worker that has enough goes on for as long as another one has not: their runs
 * are spread over the same time. */
static bool end_runs(struct worker *w, struct turn *t, double run_ns, struct oc_load *load, size_t runs,
                     bool enough)
{
    if (!oc_child_takes_turns(w->c))
        return enough;
    bool alone = enough && runs >= t->least_left;
    t->runs++;
    t->sum_ns += run_ns;
    if (!alone && !turn_is_over(t, worker_now_ns(w)))
        return false;
    oc_child_number(w->c, OC_RECORD_TURN + t->session * OC_N_RECORD_FIELDS, t->sum_ns / (double)t->runs);
    if (alone)
        return true;
    double from_ns = 1e9 * oc_now_s();
    oc_load_pause(load);
    rest(w);
    bool end = oc_child_turn(w->c, enough);
    oc_load_resume(load);
    w->others_ns += 1e9 * oc_now_s() - from_ns;
    t->from_ns = worker_now_ns(w);
    t->runs = 0;
    t->sum_ns = 0;
    return end;
}

static void next_phase(struct worker *w)
{
    double from_ns = 1e9 * oc_now_s();
    if (oc_child_takes_turns(w->c))
        oc_child_phase(w->c);
    w->others_ns += 1e9 * oc_now_s() - from_ns;
}

static int record_measure_runs(struct worker *w, struct ort_session *s, bool profiled)
{
    const double shown_every_ns = NS_PER_S / 10, probe_every_ns = NS_PER_S / 20;
    const char *how = profiled ? " with profiling" : "";
    oc_spread_threads(&w->kept);
    if (run_warmup(w, s, how))
        return -1;
    rest(w);
    next_phase(w);
    double from = worker_now_ns(w), shown = 0, now = from, probed = from, ns;
    struct oc_stop_rule rule = record_rule_of(w, profiled, from);
    struct turn turn = turn_of(w, &rule, profiled);
    struct oc_stop_state state = {0};
    struct oc_load load;
    bool enough = false;
    w->probe.sum_ns = 0;
    w->probe.n = 0;
    oc_probe_run(&w->probe);
    oc_load_begin(&load);
    do {
        if (now - shown > shown_every_ns)
            oc_child_stage(w->c, "running the model%s (run %zu)", how, state.n + 1);
        shown = now - shown > shown_every_ns ? now : shown;
        if (run_once(w, s, &ns)) {
            free(state.ns);
            return -1;
        }
        now = worker_now_ns(w);
        if (now - probed > probe_every_ns) {
            oc_probe_run(&w->probe);
            probed = worker_now_ns(w);
        }
        enough = oc_stop_after(&rule, &state, ns, now - from) || enough;
    } while (!end_runs(w, &turn, ns, &load, state.n, enough));
    send_times(w, profiled, &state, &load);
    next_phase(w);
    return 0;
}

/* The plain session has loaded the model: with execution providers, what fails is saving nodes that one has compiled. */
static int open_profiled(struct worker *w, struct ort_session **out)
{
    bool failed = open_session(w, w->j->path, true, true, out) != 0;
    return failed && w->j->providers.n ? open_session(w, w->j->path, true, false, out) : -failed;
}

/* The worker reads the profile: for the caller's process it stays a file that may be replaced, not an input. */
static void send_profile(struct worker *w, const char *file)
{
    const char *placement = w->j->providers.n ? oc_session_providers_placement(file, &w->a) : NULL;
    oc_child_text(w->c, OC_RECORD_PROFILE, file);
    if (placement)
        oc_child_text(w->c, OC_RECORD_PLACEMENT, placement);
}

static int record_run_all(struct worker *w, bool profiled)
{
    struct ort_session *s;
    char *file = NULL;
    if ((profiled ? open_profiled(w, &s) : open_session(w, w->j->path, false, false, &s)) ||
        record_measure_runs(w, s, profiled))
        return -1;
    oc_child_stage(w->c, profiled ? "writing the profile" : "ending the session");
    if (profiled && check_run(w, w->ort.end_profiling(s, w->allocator, &file)))
        return -1;
    if (profiled)
        send_profile(w, file ? file : "");
    w->ort.release_session(s);
    return 0;
}

/* The process exits afterwards: only sessions, which hold threads and memory, are released. */
int oc_record_work(void *arg, struct oc_child *c, struct oc_err *err)
{
    struct worker w = {.j = arg, .c = c, .err = err};
    if (record_start(&w) || make_tensors(&w) || record_run_all(&w, false))
        return -1;
    return w.j->o->plain ? 0 : record_run_all(&w, true);
}

/* Its outputs stay: the process exits afterwards. */
static int run_for_outputs(struct worker *w, const char *path, struct ort_value ***out)
{
    struct ort_session *s;
    *out = OC_NEW_ARRAY(&w->a, w->n_output, struct ort_value *);
    return open_session(w, path, false, false, &s) || check_run(w, run_model(w, s, *out)) ? -1 : 0;
}

int oc_record_compare_work(void *arg, struct oc_child *c, struct oc_err *err)
{
    struct worker w = {.j = arg, .c = c, .err = err};
    struct ort_value **own, **other;
    double difference;
    if (record_start(&w) || make_tensors(&w) || run_for_outputs(&w, w.j->m->path, &own) ||
        run_for_outputs(&w, w.j->path, &other) ||
        check_run(&w, oc_ort_difference(&w.ort, own, other, w.n_output, &difference)))
        return -1;
    oc_child_number(c, OC_RECORD_DIFFERENCE, difference);
    return 0;
}
