/* Which settings of ONNX Runtime make a model faster. Every setting and the default are measured in turns; the worse
 * half is dropped until few are left (successive halving), those that go together are joined, and what remains is
 * measured once more with more processes. Only that last round decides: the best of many is too good by selection. */
#include "trial/tune.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/c_locale.h"
#include "base/diag.h"
#include "base/os.h"
#include "base/str.h"
#include "model/model.h"
#include "onnxcost.h"

enum { SCREEN_ROUNDS = 2, FINALISTS = 3 };
/* A ratio that is worth joining: two processes of each differ by about 2 % without a reason. */
static const double WORTH_JOINING = 0.98;

/* ---- settings ------------------------------------------------------------------------------------------ */

/* "%s" is the value. Entries that change results, such as approximations, are not tried. */
static const struct kind {
    const char *key, *text, *python, *c, *js;
} PROVIDER = {"provider", "--provider %s",
              "session = onnxruntime.InferenceSession(path, options, providers=[\"%s\"])",
              "api->SessionOptionsAppendExecutionProvider(options, \"%s\", NULL, NULL, 0);",
              "executionProviders: ['%s']"},
  THREADS = {"threads", "--threads %s", "options.intra_op_num_threads = %s",
             "api->SetIntraOpNumThreads(options, %s);", "intraOpNumThreads: %s"};

static const struct kind REWRITE = {"rewrite", "--apply %s",
                                    "# the model that onnxcost MODEL --apply %s -o FILE writes",
                                    "/* the model that onnxcost MODEL --apply %s -o FILE writes */",
                                    "/* the model that onnxcost MODEL --apply %s -o FILE writes */"};

static const struct setting {
    struct kind kind;
    const char *value;
} settings[] = {
    {{"level", "--opt-level %s",
      "options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED",
      "api->SetSessionGraphOptimizationLevel(options, ORT_ENABLE_EXTENDED);", "graphOptimizationLevel: '%s'"},
     "extended"},
    {{"level", "--opt-level %s",
      "options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC",
      "api->SetSessionGraphOptimizationLevel(options, ORT_ENABLE_BASIC);", "graphOptimizationLevel: '%s'"},
     "basic"},
    {{"execution_mode", "--session-config execution_mode=%s",
      "options.execution_mode = onnxruntime.ExecutionMode.ORT_PARALLEL",
      "api->SetSessionExecutionMode(options, ORT_PARALLEL);", "executionMode: '%s'"},
     "parallel"},
    {{"enable_cpu_mem_arena", "--session-config enable_cpu_mem_arena=%s",
      "options.enable_cpu_mem_arena = False", "api->DisableCpuMemArena(options);",
      "enableCpuMemArena: false"},
     "0"},
    {{"enable_mem_pattern", "--session-config enable_mem_pattern=%s", "options.enable_mem_pattern = False",
      "api->DisableMemPattern(options);", "enableMemPattern: false"},
     "0"},
    {{"session.intra_op.allow_spinning", "--session-config session.intra_op.allow_spinning=%s",
      "options.add_session_config_entry(\"session.intra_op.allow_spinning\", \"%s\")",
      "api->AddSessionConfigEntry(options, \"session.intra_op.allow_spinning\", \"%s\");",
      "intra_op: { allow_spinning: '%s' }"},
     "0"},
    {{"session.set_denormal_as_zero", "--session-config session.set_denormal_as_zero=%s",
      "options.add_session_config_entry(\"session.set_denormal_as_zero\", \"%s\")",
      "api->AddSessionConfigEntry(options, \"session.set_denormal_as_zero\", \"%s\");",
      "set_denormal_as_zero: '%s'"},
     "1"},
    {{"session.disable_prepacking", "--session-config session.disable_prepacking=%s",
      "options.add_session_config_entry(\"session.disable_prepacking\", \"%s\")",
      "api->AddSessionConfigEntry(options, \"session.disable_prepacking\", \"%s\");",
      "disable_prepacking: '%s'"},
     "1"},
    {{"session.dynamic_block_base", "--session-config session.dynamic_block_base=%s",
      "options.add_session_config_entry(\"session.dynamic_block_base\", \"%s\")",
      "api->AddSessionConfigEntry(options, \"session.dynamic_block_base\", \"%s\");",
      "dynamic_block_base: '%s'"},
     "4"},
};

/* A template with its value. */
static const char *fill(struct oc_arena *a, const char *text, const char *value)
{
    const char *at = strstr(text, "%s");
    return at ? oc_printf(a, "%.*s%s%s", (int)(at - text), text, value, at + 2) : text;
}

static struct oc_setting *make_setting(struct oc_arena *a, const struct kind *k, const char *value)
{
    struct oc_setting *s = OC_NEW_ARRAY(a, 1, struct oc_setting);
    *s = (struct oc_setting){.text = fill(a, k->text, value),
                             .key = k->key,
                             .python = fill(a, k->python, value),
                             .c = fill(a, k->c, value),
                             .js = fill(a, k->js, value),
                             .js_in_session = strchr(k->key, '.') != NULL};
    return s;
}

/* Adds the setting to options, as `record` reads its text. */
static void apply(struct oc_arena *a, const struct oc_setting *s, struct oc_record_opts *o)
{
    const char *value = strrchr(s->text, ' ') + 1;
    if (!strcmp(s->key, "provider")) {
        o->provider = value;
    } else if (!strcmp(s->key, "threads")) {
        o->threads = (uint32_t)strtoul(value, NULL, 10);
    } else if (!strcmp(s->key, "level")) {
        o->level = value;
    } else if (!strcmp(s->key, "rewrite")) {
        o->rewritten = s->file;
    } else {
        const char **entry = OC_NEW_ARRAY(a, o->n_session_config + 1, const char *);
        if (o->n_session_config)
            memcpy(entry, o->session_config, o->n_session_config * sizeof(*entry));
        entry[o->n_session_config++] = value;
        o->session_config = entry;
    }
}

/* Whether the caller has set it. */
static bool is_given(const struct oc_record_opts *o, const char *key)
{
    size_t n = strlen(key);
    for (size_t i = 0; i < o->n_session_config; i++)
        if (!strncmp(o->session_config[i], key, n) && o->session_config[i][n] == '=')
            return true;
    return (o->provider && !strcmp(key, "provider")) || (o->threads && !strcmp(key, "threads")) ||
           (o->level && !strcmp(key, "level"));
}

static struct oc_tune_row *add_row(struct oc_tune *t, const struct oc_setting *const *setting, uint32_t n)
{
    struct oc_record_opts opts = t->trials.variant[0].opts;
    const char *label = "";
    OC_GROW(t->row, t->n_row, t->cap_row);
    struct oc_tune_row *r = &t->row[t->n_row++];
    *r = (struct oc_tune_row){.variant = t->trials.n, .n_setting = n, .c = {.ratio = NAN}};
    for (uint32_t i = 0; i < n; i++) {
        r->setting[i] = setting[i];
        label = oc_printf(&t->arena, "%s%s%s", label, i ? " " : "", setting[i]->text);
        apply(&t->arena, setting[i], &opts);
    }
    oc_trials_add(&t->trials, label, &opts);
    return r;
}

struct oc_setting *oc_tune_add_rewrite(struct oc_tune *t, const char *name, const char *path,
                                       const char *why_not)
{
    struct oc_setting *s = make_setting(&t->arena, &REWRITE, name);
    const struct oc_setting *one = s;
    s->file = path;
    struct oc_tune_row *r = add_row(t, &one, 1);
    t->trials.variant[r->variant].failed = why_not;
    return s;
}

/* The execution providers that the library offers but for the CPU's, which is the default; separated by blanks. */
static void add_providers(struct oc_tune *t, const char *names)
{
    while (*names) {
        size_t n = strcspn(names, " ");
        const char *name = oc_strndup(&t->arena, names, n);
        const struct oc_setting *s = make_setting(&t->arena, &PROVIDER, name);
        if (strcmp(name, "CPUExecutionProvider") != 0)
            add_row(t, &s, 1);
        names += n + (names[n] == ' ');
    }
}

/* One row for each setting that the caller has not set: powers of two of threads below the processors, which are the
 * default, the table, and the providers. */
static void add_settings(struct oc_tune *t, const struct oc_record_opts *given)
{
    if (!is_given(given, "provider"))
        add_providers(t, t->providers);
    unsigned processors = (unsigned)oc_os_processors();
    for (unsigned n = 1; n < processors && !is_given(given, "threads"); n *= 2) {
        const struct oc_setting *s = make_setting(&t->arena, &THREADS, oc_printf(&t->arena, "%u", n));
        add_row(t, &s, 1);
    }
    for (size_t i = 0; i < OC_COUNT(settings); i++) {
        struct oc_setting *s = make_setting(&t->arena, &settings[i].kind, settings[i].value);
        if (!strcmp(s->key, "session.set_denormal_as_zero")) {
            s->low = t->subnormal_low;
            s->high = t->subnormal_high;
        }
        const struct oc_setting *one = s;
        if (!is_given(given, s->key))
            add_row(t, &one, 1);
    }
}

/* ---- rounds -------------------------------------------------------------------------------------------- */

static double mean_peak(const struct oc_trial_group *g, uint32_t member)
{
    double sum = 0;
    for (uint32_t i = 0; i < g->rounds; i++)
        sum += (double)g->trial[i][member].time.peak_bytes;
    return sum / g->rounds;
}

static double mean_latency(const struct oc_trial_group *g, uint32_t member)
{
    double sum = 0;
    for (uint32_t i = 0; i < g->rounds; i++)
        sum += g->trial[i][member].time.typical_ns;
    return sum / g->rounds;
}

/* The default and the first `n` rows, without those that cannot run. Returns how many rows. */
static uint32_t members_of(const struct oc_tune *t, uint32_t n, uint32_t *member)
{
    uint32_t k = 1;
    member[0] = 0;
    for (uint32_t i = 0; i < n; i++)
        if (!t->trials.variant[t->row[i].variant].failed)
            member[k++] = t->row[i].variant;
    return k - 1;
}

/* Measures the first *n rows together with the default; rows that fail come last, and *n is less. */
static int measure_rows(struct oc_tune *t, uint32_t *n, uint32_t rounds, struct oc_err *err)
{
    uint32_t *member = OC_NEW_ARRAY(&t->arena, t->n_row + 1, uint32_t), place = 0;
    struct oc_trial_group g = {.trials = &t->trials, .member = member, .most = rounds};
    g.n = members_of(t, *n, member) + 1;
    while (g.rounds < rounds) {
        if (oc_trial_round(&g, err))
            return -1;
        if (t->trials.variant[0].failed)
            return oc_fail(err, t->trials.variant[0].code, "%s", t->trials.variant[0].failed);
        if (oc_trial_group_failed(&g)) {
            g.n = members_of(t, *n, member) + 1;
            g.rounds = 0;
        }
    }
    t->n_stage++;
    for (uint32_t i = 0; i < *n; i++) {
        struct oc_tune_row *r = &t->row[i];
        if (t->trials.variant[r->variant].failed)
            continue;
        place++;
        oc_trial_compare(&g, 0, place, OC_TRIAL_LATENCY, &r->c);
        r->peak_bytes = mean_peak(&g, place);
        r->stage = t->n_stage;
    }
    t->default_peak_bytes = mean_peak(&g, 0);
    t->default_ns = mean_latency(&g, 0);
    *n = place;
    return 0;
}

/* Those of the latest round first, in it the smallest ratio. */
static int best_first(const void *x, const void *y)
{
    const struct oc_tune_row *a = x, *b = y;
    if (a->stage != b->stage)
        return a->stage > b->stage ? -1 : 1;
    return (a->c.ratio > b->c.ratio) - (a->c.ratio < b->c.ratio);
}

static void sort_rows(struct oc_tune *t)
{
    qsort(t->row, t->n_row, sizeof(*t->row), best_first);
}

/* Joins those of the first rows that look better than the default and have different keys. */
static bool join_rows(struct oc_tune *t, uint32_t n)
{
    const struct oc_setting *joined[OC_TUNE_SET];
    uint32_t k = 0;
    for (uint32_t i = 0; i < n && k < OC_TUNE_SET; i++) {
        bool fits = t->row[i].c.ratio < WORTH_JOINING;
        for (uint32_t j = 0; j < k; j++)
            fits &= strcmp(joined[j]->key, t->row[i].setting[0]->key) != 0;
        if (fits)
            joined[k++] = t->row[i].setting[0];
    }
    if (k < 2)
        return false;
    add_row(t, joined, k)->stage = t->n_stage;
    return true;
}

/* The smallest ratio of what is shown to be better; a joined row only where it is clearly better than a single one, which
 * is simpler: its whole interval lies below the other's ratio. */
static void choose(struct oc_tune *t, uint32_t n)
{
    const struct oc_tune_row *single = NULL, *joined = NULL;
    for (uint32_t i = 0; i < n; i++) {
        struct oc_tune_row *r = &t->row[i];
        r->shown = r->c.ratio < 1 && oc_compared_shows(&r->c, 1 - (1 - OC_COMPARISON_LEVEL) / n);
        const struct oc_tune_row **best = r->n_setting > 1 ? &joined : &single;
        if (r->shown && (!*best || r->c.ratio < (*best)->c.ratio))
            *best = r;
    }
    t->best = joined && (!single || joined->c.high < single->c.ratio) ? joined : single;
}

int oc_tune_search(struct oc_tune *t, const struct oc_record_opts *given, struct oc_err *err)
{
    t->most = oc_trial_rounds(t->most);
    oc_trials_add(&t->trials, "default", given);
    oc_tune_add_rewrites(t, given);
    add_settings(t, given);
    t->trials.may_repeat = 4 * t->most;
    uint32_t n = t->n_row;
    do {
        if (measure_rows(t, &n, SCREEN_ROUNDS, err))
            return -1;
        sort_rows(t);
        n = n > 2 * FINALISTS ? (n + 1) / 2 : n > FINALISTS ? FINALISTS : n;
    } while (n > FINALISTS);
    if (join_rows(t, n)) { /* the new row follows those that remain */
        struct oc_tune_row joined = t->row[t->n_row - 1];
        memmove(&t->row[n + 1], &t->row[n], (t->n_row - 1 - n) * sizeof(*t->row));
        t->row[n++] = joined;
    }
    if (measure_rows(t, &n, t->most, err))
        return -1;
    sort_rows(t);
    choose(t, n);
    return 0;
}

int oc_tune_make(const struct oc_model *model, const struct oc_analysis *analysis,
                 const struct oc_tune_opts *given, struct oc_tune **out, struct oc_err *err)
{
    OC_ENTRY(err);
    *out = NULL;
    struct oc_tune_opts full, *const opts = &full;
    struct oc_record_opts record;
    if (OC_OPTIONS(&full, given, err) || OC_OPTIONS(&record, full.record, err))
        return -1;
    struct oc_library_info library;
    if (oc_onnxruntime_find(record.library, &library, err))
        return -1;
    struct oc_tune *t = oc_xcalloc(1, sizeof(*t));
    t->most = opts->most;
    t->model_path = model->path;
    t->providers = oc_strdup(&t->arena, library.providers);
    oc_trials_begin(&t->trials, &t->arena, model, analysis);
    if (oc_tune_search(t, &record, err)) {
        oc_tune_free(t);
        return -1;
    }
    *out = t;
    return 0;
}

void oc_tune_free(struct oc_tune *t)
{
    if (!t)
        return;
    free(t->trials.variant);
    free(t->row);
    for (uint32_t i = 0; i < t->n_file; i++)
        unlink(t->file[i]);
    free(t->file);
    oc_arena_free(&t->arena);
    free(t);
}
