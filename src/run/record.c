/* Runs models with ONNX Runtime to measure their time and record their profiles: what the caller's process does. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/c_locale.h"
#include "base/diag.h"
#include "base/os.h"
#include "base/unicode.h"
#include "base/units.h"
#include "measure/free_memory.h"
#include "onnxcost.h"
#include "onnxcost/record.h"
#include "profile/core/run_spread.h"
#include "profile/profile.h"
#include "run/ort_lib.h"
#include "run/providers.h"
#include "run/record_job.h"
#include "shape/type.h"

static const double NS_PER_S = 1e9;

static void on_stage(void *arg, const char *text)
{
    const struct oc_record_job *j = arg;
    if (j->o->progress)
        j->o->progress(j->o->progress_arg, text);
}

static void on_number(void *arg, unsigned what, double value)
{
    struct oc_record_job *j = arg;
    unsigned session = what / OC_N_RECORD_FIELDS;
    if (what % OC_N_RECORD_FIELDS == OC_RECORD_TURN) {
        OC_GROW(j->turn_ns[session], j->n_turn[session], j->cap_turn[session]);
        j->turn_ns[session][j->n_turn[session]++] = value;
        return;
    }
    j->field[what / OC_N_RECORD_FIELDS][what % OC_N_RECORD_FIELDS] = value;
}

static void on_text(void *arg, unsigned what, const char *text)
{
    struct oc_record_job *j = arg;
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

static int record_check_opts(struct oc_record_job *j, struct oc_err *err)
{
    const struct oc_record_opts *o = j->o;
    uint64_t runs = (uint64_t)o->runs + o->warmup;
    if (!*j->m->path)
        return oc_fail(err, OC_EARG, "only a model that was loaded from a file can be recorded");
    if (j->m->graph[0].n_node && runs > OC_ORT_MAX_EVENTS / j->m->graph[0].n_node)
        return oc_fail(err, OC_EARG,
                       "too many runs: ONNX Runtime keeps %d events of a profile, with %u nodes that is "
                       "%u runs",
                       OC_ORT_MAX_EVENTS, j->m->graph[0].n_node, OC_ORT_MAX_EVENTS / j->m->graph[0].n_node);
    if (oc_ort_check_options(o, err) || budget_of(o, &j->budget_ns, err))
        return -1;
    return oc_session_providers_parse(o->provider, j->a, &j->providers, err);
}

static int take_input(struct oc_record_job *j, const struct oc_input_info *info, uint32_t value,
                      struct oc_err *err)
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

static int take_inputs(struct oc_record_job *j, const struct oc_analysis *analysis, struct oc_err *err)
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
    return (struct oc_record_time){.runs = (uint32_t)field[OC_RECORD_RUNS],
                                   .outliers = (uint32_t)field[OC_RECORD_OUTLIERS],
                                   .over_budget = field[OC_RECORD_OVER_BUDGET] != 0,
                                   .noisy = field[OC_RECORD_NOISY] != 0,
                                   .typical_ns = field[OC_RECORD_TYPICAL],
                                   .min_ns = field[OC_RECORD_MIN],
                                   .max_ns = field[OC_RECORD_MAX],
                                   .error = field[OC_RECORD_ERROR],
                                   .spread = field[OC_RECORD_SPREAD],
                                   .session_ns = field[OC_RECORD_SESSION],
                                   .first_run_ns = field[OC_RECORD_FIRST],
                                   .started_s = field[OC_RECORD_STARTED],
                                   .peak_bytes = (uint64_t)field[OC_RECORD_PEAK]};
}

/* The assumptions about an input, and the options that replace them; NULL: none. */
static const char *assumed_text(const struct oc_record_job *j, size_t i)
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
static const char *all_assumed(const struct oc_record_job *j)
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
static void record_name_assumptions(const struct oc_record_job *j, struct oc_err *err)
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

static const double *copy_of(struct oc_arena *a, const double *v, size_t n)
{
    double *copy = OC_NEW_ARRAY(a, n, double);
    if (n)
        memcpy(copy, v, n * sizeof(*v));
    return copy;
}

/* While the runs of the last session were made. */
static struct oc_prof_machine machine_of(const struct oc_record_job *j, double throttled)
{
    const unsigned last = j->o->plain ? 0 : 1;
    const double *field = j->field[last];
    size_t n_turn = j->n_turn[last] < OC_MOST_TURNS ? j->n_turn[last] : OC_MOST_TURNS;
    double kept = j->field[0][OC_RECORD_KEPT], processors = kept > 0 ? kept : oc_os_processors();
    struct oc_prof_machine m = {.started_s = field[OC_RECORD_STARTED],
                                .processors = processors,
                                .threads = j->o->threads ? j->o->threads : processors,
                                .turns_id = j->turns_id,
                                .turn_ns = copy_of(j->a, j->turn_ns[last], n_turn),
                                .n_turn = (uint32_t)n_turn,
                                .others = field[OC_RECORD_OTHERS],
                                .providers = j->o->provider,
                                .stolen = field[OC_RECORD_STEAL],
                                .probe_ns = field[OC_RECORD_PROBE],
                                .probe_fastest_ns =
                                    fastest_of(field[OC_RECORD_PROBE_FASTEST], j->o->fastest_probe_ns),
                                .throttled = oc_times_throttled(OC_PROCESSORS_FOLDER) - throttled,
                                .session_ns = j->field[0][OC_RECORD_SESSION],
                                .first_run_ns = j->field[0][OC_RECORD_FIRST]};
    oc_clock_limits(OC_PROCESSORS_FOLDER, m.limits, sizeof(m.limits));
    return m;
}

static void fill_info(struct oc_record_job *j, struct oc_record_info *info)
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

/* What can be wrong before a process is started. */
static int prepare(struct oc_record_job *j, const struct oc_analysis *analysis, struct oc_err *err)
{
    j->throttled = oc_times_throttled(OC_PROCESSORS_FOLDER);
    return record_check_opts(j, err) || oc_check_weights(j->m, err) || take_inputs(j, analysis, err) ||
                   (!j->o->plain && oc_record_files_open(j->m->path, j->o, j->a, &j->files, err))
               ? -1
               : 0;
}

static bool has_results(const struct oc_record_job *j)
{
    return j->library && j->version && j->field[0][OC_RECORD_RUNS] > 0 &&
           (j->o->plain || j->field[1][OC_RECORD_RUNS] > 0);
}

/* Keeps the files of a recording that was made, and what is known of it; removes others. */
static int finish(struct oc_record_job *j, bool made, struct oc_err *err)
{
    j->files.assumed = all_assumed(j);
    j->files.may_lack = j->providers.n > 0;
    j->machine = machine_of(j, j->throttled);
    free(j->turn_ns[0]);
    free(j->turn_ns[1]);
    return j->o->plain ? 0 : oc_record_files_close(&j->files, made ? j->profile : NULL, &j->machine, err);
}

/* In processes that take turns, if there are several. *failed: the one to blame; n: none. */
static int do_record(struct oc_record_job *j, const struct oc_record_side *side, size_t n, size_t *failed,
                     struct oc_err *err)
{
    struct oc_child_listener *l = OC_NEW_ARRAY(j->a, n, struct oc_child_listener);
    struct oc_child_task *task = OC_NEW_ARRAY(j->a, n, struct oc_child_task);
    size_t ready = 0;
    struct oc_err other;
    for (*failed = n; ready < n; ready++) {
        struct oc_record_job *x = &j[ready];
        l[ready] = (struct oc_child_listener){
            .stage = on_stage, .number = on_number, .text = on_text, .arg = x, .stop = x->o->stop};
        task[ready] = (struct oc_child_task){oc_record_work, x, &l[ready]};
        if (!prepare(x, side[ready].analysis, err))
            continue;
        *failed = ready;
        break;
    }
    int rc = ready < n ? -1 : oc_children_run("ONNX Runtime", task, n, failed, err);
    for (size_t i = 0; i < n && !rc; i++)
        if (!has_results(&j[i])) {
            *failed = i;
            rc = oc_fail(err, OC_ELIBRARY, "ONNX Runtime ended without results");
        }
    if (rc && *failed < ready)
        record_name_assumptions(&j[*failed], err);
    for (size_t i = 0; i < ready; i++)
        if (finish(&j[i], !rc, rc ? &other : err))
            rc = -1;
    return rc;
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
    struct oc_record_job j = {.m = model, .path = path_of(model, opts), .o = opts, .a = &a};
    const struct oc_child_listener listener = {
        .stage = on_stage, .number = on_number, .text = on_text, .arg = &j, .stop = opts->stop};
    j.field[0][OC_RECORD_DIFFERENCE] = NAN;
    int rc = record_check_opts(&j, err) || oc_check_weights(model, err) || take_inputs(&j, analysis, err) ||
             oc_child_run("ONNX Runtime", oc_record_compare_work, &j, &listener, err);
    if (!rc && isnan(j.field[0][OC_RECORD_DIFFERENCE]))
        rc = oc_fail(err, OC_ELIBRARY, "ONNX Runtime ended without results");
    *difference = j.field[0][OC_RECORD_DIFFERENCE];
    oc_arena_free(&a);
    return rc ? -1 : 0;
}

static struct oc_recording *begin_recording(const struct oc_record_side *side, struct oc_record_opts *o,
                                            double turns_id, struct oc_record_job *j)
{
    struct oc_recording *r = oc_xmalloc(sizeof(*r));
    *r = (struct oc_recording){0};
    if (o->provider)
        o->provider = oc_strdup(&r->arena, o->provider);
    *j = (struct oc_record_job){
        .m = side->model, .path = path_of(side->model, o), .o = o, .a = &r->arena, .turns_id = turns_id};
    return r;
}

static void end_recording(struct oc_record_job *j, struct oc_recording *r)
{
    fill_info(j, &r->info);
    r->machine = j->machine;
    r->info.loaded = oc_machine_is_loaded(&j->machine);
    r->info.probe_ns = j->machine.probe_ns;
    r->info.fastest_probe_ns = j->machine.probe_fastest_ns;
    r->info.turns_id = j->turns_id;
    r->info.turn_ns = j->machine.turn_ns;
    r->info.n_turn = j->machine.n_turn;
    r->level = oc_strdup(&r->arena, j->o->level ? j->o->level : "all");
    r->threads = j->o->threads;
    r->warmup = j->o->warmup;
}

/* Whether the sessions fit into the free memory at once: weights as stored and as the runtime lays them out, and at most all
 * results. */
static bool fit_together(const struct oc_record_side *side, size_t n)
{
    const double runtime_bytes = 128 << 20, weights = 2, share = 0.75;
    double need = 0, available = (double)oc_memory_available();
    for (size_t i = 0; i < n; i++) {
        struct oc_totals t;
        oc_analysis_total(side[i].analysis, &t);
        need += runtime_bytes + weights * (double)side[i].model->init_bytes + (double)t.bytes_written;
    }
    return available <= 0 || need <= share * available;
}

/* In sequence. */
static int record_each(const struct oc_record_side *side, size_t n, struct oc_recording **out, size_t *failed,
                       struct oc_err *err)
{
    size_t made = 0;
    while (made < n && !oc_record(side[made].model, side[made].analysis, side[made].opts, &out[made], err))
        made++;
    *failed = made;
    for (size_t i = 0; i < n && made < n; i++) {
        if (i < made)
            oc_recording_free(out[i]);
        out[i] = NULL;
    }
    return made < n ? -1 : 0;
}

int oc_record_in_turns(const struct oc_record_side *side, size_t n, struct oc_recording **out, size_t *failed,
                       struct oc_err *err)
{
    OC_ENTRY(err);
    if (n > 1 && !fit_together(side, n))
        return record_each(side, n, out, failed, err);
    struct oc_record_opts *opts = oc_xcalloc(n, sizeof(*opts));
    struct oc_record_job *j = oc_xcalloc(n, sizeof(*j));
    double id = n > 1 ? floor(1e6 * oc_wall_time_s()) : 0;
    size_t begun = 0;
    int rc = n ? 0 : oc_fail(err, OC_EARG, "nothing to record");
    *failed = n;
    for (; begun < n && !rc; begun++) {
        if (OC_OPTIONS(&opts[begun], side[begun].opts, err)) {
            *failed = begun;
            rc = -1;
            break;
        }
        out[begun] = begin_recording(&side[begun], &opts[begun], id, &j[begun]);
    }
    rc = rc ? rc : do_record(j, side, n, failed, err);
    for (size_t i = 0; i < n; i++) {
        if (!rc)
            end_recording(&j[i], out[i]);
        else if (i < begun)
            oc_recording_free(out[i]);
        out[i] = rc ? NULL : out[i];
    }
    free(j);
    free(opts);
    return rc;
}

int oc_record(const struct oc_model *model, const struct oc_analysis *analysis,
              const struct oc_record_opts *opts, struct oc_recording **out, struct oc_err *err)
{
    size_t failed;
    return oc_record_in_turns(&(struct oc_record_side){model, analysis, opts}, 1, out, &failed, err);
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
