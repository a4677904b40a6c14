/* Runs a model with ONNX Runtime to measure its time and record its profile. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/arena.h"
#include "base/c_locale.h"
#include "base/diag.h"
#include "base/unicode.h"
#include "base/units.h"
#include "base/os.h"
#include "onnxcost.h"
#include "onnxcost/record.h"
#include "measure/vector_probe.h"
#include "profile/core/run_spread.h"
#include "profile/profile.h"
#include "run/ort_lib.h"
#include "run/providers.h"
#include "run/record_files.h"
#include "shape/type.h"

/* Messages of the worker: numbers are fields of the time of a session, those of the profiled session N_FIELDS
 * further. */
enum {
    RUNS,
    OUTLIERS,
    OVER_BUDGET,
    NOISY,
    TYPICAL,
    MIN,
    MAX,
    ERROR,
    SPREAD,
    STARTED,
    OTHERS,
    STEAL,
    PROBE,
    PROBE_FASTEST,
    SESSION,
    FIRST,
    PEAK,
    DIFFERENCE, /* of outputs: the only number of a comparison */
    N_FIELDS
};
enum { LIBRARY, VERSION, PROFILE, PLACEMENT };

enum {
    ORT_LOG_ERROR = 3,
    ORT_ARENA_ALLOCATOR = 1,
    MAX_EVENTS = 1000000, /* maximum number of profile events in ONNX Runtime */
    MOST_RUNS = 100000,
};
static const double NS_PER_S = 1e9;
/* Above this size the optimized model's weights go to an external file: a protobuf cannot exceed 2 GiB, and
 * optimization may pad weights. */
#define LARGE_MODEL_BYTES (UINT64_C(1) << 30)

struct job {
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
    /* results */
    double field[2][N_FIELDS];
    const char *library, *version, *profile, *placement;
    struct oc_prof_machine machine;
};

/* ---- in the worker's process ------------------------------------------------------------------------ */

struct worker {
    const struct job *j;
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
        first_ns; /* of the present session: its creation, its first run; first_ns 0: none yet */
    struct oc_arena a;
};

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
    oc_child_stage(w->c, "loading ONNX Runtime");
    if (oc_ort_open(w->j->o->library, &w->ort, w->err))
        return -1;
    oc_child_text(w->c, LIBRARY, w->ort.file);
    oc_child_text(w->c, VERSION, w->ort.version);
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
    const struct job *j = w->j;
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
    const struct job *j = w->j;
    struct ort_options *o;
    oc_child_stage(w->c, "loading the model");
    if (check_library(w, w->ort.create_options(&o)) ||
        check_library(w, oc_ort_set_options(&w->ort, o, j->o, &w->a)) ||
        oc_session_providers_add(&w->ort, &j->providers, o, &w->a, w->err) ||
        (profiled && profiling_options(w, o, optimized)))
        return -1;
    const char *with = j->o->provider ? oc_printf(&w->a, " with --provider %s", j->o->provider) : "";
    const char *what = oc_printf(&w->a, "ONNX Runtime cannot load '%s'%s", path, with);
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

/* The plain session gets half of the budget, the profiled one the rest; all of it where it is the only one. */
static struct oc_stop_rule record_rule_of(struct worker *w, bool profiled, double now)
{
    const struct oc_record_opts *o = w->j->o;
    if (!profiled)
        w->began_ns = now;
    double left_ns = profiled ? w->j->budget_ns - (now - w->began_ns) : w->j->budget_ns / (o->plain ? 1 : 2);
    return (struct oc_stop_rule){
        .runs = o->runs,
        .enough_s = o->plain ? OC_TRIAL_TIME_S : 0,
        .most = profiled ? oc_enough_runs(w->j->m, w->plain_ns) : MOST_RUNS,
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
    const double field[N_FIELDS] = {[RUNS] = r.n,
                                    [OUTLIERS] = r.outliers,
                                    [OVER_BUDGET] = s->over_budget,
                                    [NOISY] = oc_run_spread_noisy(&r),
                                    [TYPICAL] = r.typical_ns,
                                    [MIN] = r.min_ns,
                                    [MAX] = r.max_ns,
                                    [ERROR] = oc_run_spread_error(&r),
                                    [SPREAD] = oc_run_spread_share(&r),
                                    [STARTED] = load->started_s,
                                    [OTHERS] = oc_load_of_others(load),
                                    [STEAL] = oc_load_stolen(load),
                                    [PROBE] = oc_probe_mean_ns(&w->probe),
                                    [PROBE_FASTEST] = w->probe.n ? w->probe.fastest_ns : 0,
                                    [SESSION] = w->session_ns,
                                    [FIRST] = w->first_ns,
                                    [PEAK] = peak_bytes()};
    for (unsigned i = 0; i < N_FIELDS; i++)
        oc_child_number(w->c, i + (profiled ? N_FIELDS : 0), field[i]);
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

static int record_measure_runs(struct worker *w, struct ort_session *s, bool profiled)
{
    const double shown_every_ns = NS_PER_S / 10, probe_every_ns = NS_PER_S / 20;
    const char *how = profiled ? " with profiling" : "";
    double from = 1e9 * oc_now_s(), shown = 0, now = from, probed = from, ns;
    struct oc_stop_rule rule = record_rule_of(w, profiled, from);
    struct oc_stop_state state = {0};
    struct oc_load load;
    if (run_warmup(w, s, how))
        return -1;
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
        now = 1e9 * oc_now_s();
        if (now - probed > probe_every_ns) {
            oc_probe_run(&w->probe);
            probed = 1e9 * oc_now_s();
        }
    } while (!oc_stop_after(&rule, &state, ns, now - from));
    send_times(w, profiled, &state, &load);
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
    oc_child_text(w->c, PROFILE, file);
    if (placement)
        oc_child_text(w->c, PLACEMENT, placement);
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
static int record_work(void *arg, struct oc_child *c, struct oc_err *err)
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

static int compare_work(void *arg, struct oc_child *c, struct oc_err *err)
{
    struct worker w = {.j = arg, .c = c, .err = err};
    struct ort_value **own, **other;
    double difference;
    if (record_start(&w) || make_tensors(&w) || run_for_outputs(&w, w.j->m->path, &own) ||
        run_for_outputs(&w, w.j->path, &other) ||
        check_run(&w, oc_ort_difference(&w.ort, own, other, w.n_output, &difference)))
        return -1;
    oc_child_number(c, DIFFERENCE, difference);
    return 0;
}

/* ---- in the caller's -------------------------------------------------------------------------------- */

static void on_stage(void *arg, const char *text)
{
    const struct job *j = arg;
    if (j->o->progress)
        j->o->progress(j->o->progress_arg, text);
}

static void on_number(void *arg, unsigned what, double value)
{
    struct job *j = arg;
    j->field[what / N_FIELDS][what % N_FIELDS] = value;
}

static void on_text(void *arg, unsigned what, const char *text)
{
    struct job *j = arg;
    const char **const slot[] = {&j->library, &j->version, &j->profile, &j->placement};
    *slot[what] = oc_strdup(j->a, text);
}

/* "90s", "500ms", "5min". */
static bool record_parse_time(const char *text, double *s)
{
    size_t n = strlen(text);
    bool minutes = n > 3 && !strcmp(text + n - 3, "min");
    if (!(minutes ? oc_parse_double(text, n - 3, s) : oc_parse_scaled(text, "s", s)))
        return false;
    *s *= minutes ? 60 : 1;
    return *s > 0 && *s < 1e9;
}

static int budget_of(const struct oc_record_opts *o, double *ns, struct oc_err *err)
{
    double s = o->runs ? 0 : OC_TIME_BUDGET_S;
    if (o->time_budget && !record_parse_time(o->time_budget, &s))
        return oc_fail(err, OC_EARG, "--time-budget needs a time such as 90s, 5min or 500ms, not '%s'",
                       o->time_budget);
    *ns = s * NS_PER_S;
    return 0;
}

static int record_check_opts(struct job *j, struct oc_err *err)
{
    const struct oc_record_opts *o = j->o;
    uint64_t runs = (uint64_t)o->runs + o->warmup;
    if (!*j->m->path)
        return oc_fail(err, OC_EARG, "only a model that was loaded from a file can be recorded");
    if (j->m->graph[0].n_node && runs > MAX_EVENTS / j->m->graph[0].n_node)
        return oc_fail(err, OC_EARG,
                       "too many runs: ONNX Runtime keeps %d events of a profile, with %u nodes that is "
                       "%u runs",
                       MAX_EVENTS, j->m->graph[0].n_node, MAX_EVENTS / j->m->graph[0].n_node);
    if (oc_ort_check_options(o, err) || budget_of(o, &j->budget_ns, err))
        return -1;
    return oc_session_providers_parse(o->provider, j->a, &j->providers, err);
}

static int take_input(struct job *j, const struct oc_input_info *info, uint32_t value, struct oc_err *err)
{
    if (!info->tensor)
        return oc_fail(err, OC_EUNSUPPORTED, "input '%s' is not a tensor: its contents cannot be generated",
                       info->name);
    for (uint32_t i = 0; i < info->rank; i++)
        if (info->dim[i] < 0)
            return oc_fail(err, OC_EARG, "input '%s': dimension %u is unknown; set it with --dim or --shape",
                           info->name, i);
    if (!info->known)
        return oc_fail(err, OC_EARG, "input '%s': its shape is unknown; set it with --shape %s=...",
                       info->name, info->name);
    int64_t *dim = OC_NEW_ARRAY(j->a, info->rank, int64_t);
    if (info->rank)
        memcpy(dim, info->dim, info->rank * sizeof(*dim));
    j->input[j->n_input++] =
        (struct oc_run_input){.value = value,
                              .dtype = (uint8_t)oc_dtype_by_name(info->dtype, strlen(info->dtype)),
                              .rank = info->rank,
                              .dim = dim};
    j->assumed_dims[j->n_input - 1] = info->assumed ? oc_strdup(j->a, info->assumed) : NULL;
    return 0;
}

static int take_inputs(struct job *j, const struct oc_analysis *analysis, struct oc_err *err)
{
    const struct oc_graph *g = &j->m->graph[0];
    struct oc_input_info info;
    int64_t dim[64];
    size_t at = 0;
    j->input = OC_NEW_ARRAY(j->a, g->n_input, struct oc_run_input);
    j->assumed_dims = OC_NEW_ARRAY(j->a, g->n_input, const char *);
    for (uint32_t i = 0; i < g->n_input; i++) {
        if (j->m->value[g->input[i]].constant || !oc_analysis_input(analysis, at++, dim, &info))
            continue;
        if (take_input(j, &info, g->input[i], err))
            return -1;
    }
    return oc_make_inputs(j->m, j->o->value, j->o->n_value, j->o->seed, j->input, j->n_input, j->a, err);
}

static struct oc_record_time record_time_of(const double *field)
{
    return (struct oc_record_time){.runs = (uint32_t)field[RUNS],
                                   .outliers = (uint32_t)field[OUTLIERS],
                                   .over_budget = field[OVER_BUDGET] != 0,
                                   .noisy = field[NOISY] != 0,
                                   .typical_ns = field[TYPICAL],
                                   .min_ns = field[MIN],
                                   .max_ns = field[MAX],
                                   .error = field[ERROR],
                                   .spread = field[SPREAD],
                                   .session_ns = field[SESSION],
                                   .first_run_ns = field[FIRST],
                                   .started_s = field[STARTED],
                                   .peak_bytes = (uint64_t)field[PEAK]};
}

/* The assumptions about an input, and the options that replace them; NULL: none. */
static const char *assumed_text(const struct job *j, size_t i)
{
    const struct oc_run_input *in = &j->input[i];
    const char *name = j->m->value[in->value].name, *text = NULL;
    if (j->assumed_dims[i])
        text = oc_printf(j->a, "%s; set with --shape %s=...", j->assumed_dims[i], name);
    if (in->guessed)
        text = oc_printf(j->a, "%s%scontents = %s; set with --value %s=...", text ? text : "",
                         text ? "; " : "", in->content, name);
    return text;
}

/* "input: input.1 = 256 (...); set with --shape input=... | sr: ...", "" without assumptions. */
static const char *all_assumed(const struct job *j)
{
    const char *all = "";
    for (size_t i = 0; i < j->n_input; i++) {
        const char *text = assumed_text(j, i);
        if (text)
            all = oc_printf(j->a, "%s%s%s: %s", all, *all ? " | " : "", j->m->value[j->input[i].value].name,
                            text);
    }
    return all;
}

/* A run that fails may do so because of what was assumed: that comes first, the runtime's text may be long.
 */
static void record_name_assumptions(const struct job *j, struct oc_err *err)
{
    const char *assumed = all_assumed(j);
    if (err && *assumed && err->code == OC_EUNSUPPORTED) {
        char *message = oc_strdup(j->a, err->msg);
        snprintf(err->msg, sizeof(err->msg), "%.400s. Assumed inputs: %s", message, assumed);
    }
}

/* The smaller one of two times of which 0 is not known. */
static double fastest_of(double a, double b)
{
    return a > 0 && (b <= 0 || a < b) ? a : b;
}

/* While the runs of the last session were made. */
static struct oc_prof_machine machine_of(const struct job *j, double throttled)
{
    double processors = oc_os_processors();
    const double *field = j->field[j->o->plain ? 0 : 1];
    struct oc_prof_machine m = {.started_s = field[STARTED],
                                .processors = processors,
                                .threads = j->o->threads ? j->o->threads : processors,
                                .others = field[OTHERS],
                                .providers = j->o->provider,
                                .stolen = field[STEAL],
                                .probe_ns = field[PROBE],
                                .probe_fastest_ns = fastest_of(field[PROBE_FASTEST], j->o->fastest_probe_ns),
                                .throttled = oc_times_throttled(OC_PROCESSORS_FOLDER) - throttled,
                                .session_ns = j->field[0][SESSION],
                                .first_run_ns = j->field[0][FIRST]};
    oc_clock_limits(OC_PROCESSORS_FOLDER, m.limits, sizeof(m.limits));
    return m;
}

static void fill_info(struct job *j, struct oc_record_info *info)
{
    struct oc_record_input *in = OC_NEW_ARRAY(j->a, j->n_input, struct oc_record_input);
    for (size_t i = 0; i < j->n_input; i++)
        in[i] = (struct oc_record_input){.name = oc_strdup(j->a, j->m->value[j->input[i].value].name),
                                         .dtype = oc_dtype_info(j->input[i].dtype)->name,
                                         .content = oc_strdup(j->a, j->input[i].content),
                                         .rank = j->input[i].rank,
                                         .dim = j->input[i].dim,
                                         .assumed = assumed_text(j, i)};
    *info =
        (struct oc_record_info){.library = j->library,
                                .version = j->version,
                                .profile = j->files.profile,
                                .optimized = j->files.no_optimized || j->o->plain ? NULL : j->files.optimized,
                                .plain = record_time_of(j->field[0]),
                                .profiled = record_time_of(j->field[1]),
                                .n_input = j->n_input,
                                .input = in};
    info->provider = j->o->provider;
    info->placement = j->placement;
}

static int do_record(struct job *j, const struct oc_analysis *analysis, struct oc_err *err)
{
    const struct oc_child_listener listener = {
        .stage = on_stage, .number = on_number, .text = on_text, .arg = j, .stop = j->o->stop};
    bool plain = j->o->plain;
    double throttled = oc_times_throttled(OC_PROCESSORS_FOLDER);
    if (record_check_opts(j, err) || oc_check_weights(j->m, err) || take_inputs(j, analysis, err) ||
        (!plain && oc_record_files_open(j->m->path, j->o, j->a, &j->files, err)))
        return -1;
    int rc = oc_child_run("ONNX Runtime", record_work, j, &listener, err);
    if (!rc &&
        (!j->library || !j->version || !(j->field[0][RUNS] > 0) || (!plain && !(j->field[1][RUNS] > 0))))
        rc = oc_fail(err, OC_ELIBRARY, "ONNX Runtime ended without results");
    if (rc)
        record_name_assumptions(j, err);
    j->files.assumed = all_assumed(j);
    j->files.may_lack = j->providers.n > 0;
    j->machine = machine_of(j, throttled);
    if (plain)
        return rc ? -1 : 0;
    return oc_record_files_close(&j->files, rc ? NULL : j->profile, &j->machine, err) || rc ? -1 : 0;
}

static const char *path_of(const struct oc_model *m, const struct oc_record_opts *o)
{
    return o->rewritten ? o->rewritten : m->path;
}

int oc_record_compare(const struct oc_model *model, const struct oc_analysis *analysis,
                      const struct oc_record_opts *given, double *difference, struct oc_err *err)
{
    OC_ENTRY(err);
    struct oc_record_opts full, *const opts = &full;
    struct oc_arena a = {0};
    if (OC_OPTIONS(&full, given, err))
        return -1;
    struct job j = {.m = model, .path = path_of(model, opts), .o = opts, .a = &a};
    const struct oc_child_listener listener = {
        .stage = on_stage, .number = on_number, .text = on_text, .arg = &j, .stop = opts->stop};
    j.field[0][DIFFERENCE] = NAN;
    int rc = record_check_opts(&j, err) || oc_check_weights(model, err) || take_inputs(&j, analysis, err) ||
             oc_child_run("ONNX Runtime", compare_work, &j, &listener, err);
    if (!rc && isnan(j.field[0][DIFFERENCE]))
        rc = oc_fail(err, OC_ELIBRARY, "ONNX Runtime ended without results");
    *difference = j.field[0][DIFFERENCE];
    oc_arena_free(&a);
    return rc ? -1 : 0;
}

int oc_record(const struct oc_model *model, const struct oc_analysis *analysis,
              const struct oc_record_opts *given, struct oc_recording **out, struct oc_err *err)
{
    OC_ENTRY(err);
    *out = NULL;
    struct oc_record_opts full, *const opts = &full;
    if (OC_OPTIONS(&full, given, err))
        return -1;
    struct oc_recording *r = oc_xmalloc(sizeof(*r));
    *r = (struct oc_recording){0};
    if (opts->provider)
        opts->provider = oc_strdup(&r->arena, opts->provider);
    struct job j = {.m = model, .path = path_of(model, opts), .o = opts, .a = &r->arena};
    int rc = do_record(&j, analysis, err);
    if (!rc)
        fill_info(&j, &r->info);
    r->machine = j.machine;
    r->info.loaded = oc_machine_is_loaded(&j.machine);
    r->info.probe_ns = j.machine.probe_ns;
    r->info.fastest_probe_ns = j.machine.probe_fastest_ns;
    r->level = oc_strdup(&r->arena, opts->level ? opts->level : "all");
    r->threads = opts->threads;
    r->warmup = opts->warmup;
    if (rc) {
        oc_recording_free(r);
        r = NULL;
    }
    *out = r;
    return rc;
}

const struct oc_record_info *oc_recording_info(const struct oc_recording *r)
{
    return &r->info;
}

void oc_recording_free(struct oc_recording *r)
{
    if (r)
        oc_arena_free(&r->arena);
    free(r);
}
