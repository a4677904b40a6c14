/* Processes that measure one variant each, in turn, and their comparison. */
#include "trial/trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/c_locale.h"
#include "base/diag.h"
#include "profile/core/run_spread.h"

enum { TRIAL_WARMUP = 2 }; /* runs that are left out, as in a recording of many runs */

struct oc_variant *oc_trials_add(struct oc_trials *t, const char *label, const struct oc_record_opts *opts)
{
    OC_GROW(t->variant, t->n, t->cap);
    struct oc_variant *v = &t->variant[t->n++];
    *v = (struct oc_variant){.label = label, .opts = *opts};
    v->opts.size = sizeof(v->opts);
    v->opts.plain = true;
    v->opts.warmup = TRIAL_WARMUP;
    return v;
}

/* ---- processes ---------------------------------------------------------------------------------------- */

struct stage {
    const struct oc_trials *trials;
    const struct oc_record_opts *of;
};

/* "process 3 of 24, about 40 s left: loading the model" */
static void on_stage(void *arg, const char *what)
{
    const struct stage *s = arg;
    const struct oc_trials *t = s->trials;
    char part[96], text[192];
    oc_part_text("process", t->part, t->parts, t->group_from_s, part, sizeof(part));
    snprintf(text, sizeof(text), "%s: %s", part, what);
    s->of->progress(s->of->progress_arg, text);
}

static int record_trial(struct oc_trials *t, const struct oc_variant *v, struct oc_trial *out,
                        struct oc_err *err)
{
    struct oc_recording *r;
    struct oc_record_opts opts = v->opts;
    struct stage stage = {t, &v->opts};
    opts.fastest_probe_ns = t->fastest_probe_ns;
    opts.progress = opts.progress ? on_stage : NULL;
    opts.progress_arg = &stage;
    if (oc_record(t->model, t->analysis, &opts, &r, err))
        return -1;
    const struct oc_record_info *info = oc_recording_info(r);
    *out = (struct oc_trial){info->plain, info->loaded, info->probe_ns, info->fastest_probe_ns};
    t->fastest_probe_ns = info->fastest_probe_ns;
    oc_recording_free(r);
    return 0;
}

void oc_trials_begin(struct oc_trials *t, struct oc_arena *a, const struct oc_model *m,
                     const struct oc_analysis *analysis)
{
    *t = (struct oc_trials){.a = a, .model = m, .analysis = analysis, .run = record_trial};
}

/* One process, and another one in its place where other processes disturbed it, as often as may be. */
static int run_trial(struct oc_trials *t, const struct oc_variant *v, struct oc_trial *out,
                     struct oc_err *err)
{
    for (bool again = true; again;) {
        if (t->run(t, v, out, err))
            return -1;
        t->counts.processes++;
        again = out->loaded && t->may_repeat;
        t->may_repeat -= again;
        t->counts.repeated += again;
    }
    return 0;
}

bool oc_trial_is_reversed(uint32_t round)
{
    return __builtin_popcount(round) % 2 == 1; /* the Thue-Morse sequence */
}

uint32_t oc_trial_rounds(uint32_t given)
{
    return !given ? OC_USUAL_ROUNDS : given > OC_MOST_ROUNDS ? OC_MOST_ROUNDS : given;
}

int oc_trial_round(struct oc_trial_group *g, struct oc_err *err)
{
    struct oc_trials *t = g->trials;
    bool reversed = oc_trial_is_reversed(g->rounds);
    struct oc_trial *round = OC_NEW_ARRAY(t->a, g->n, struct oc_trial);
    double from = oc_now_s();
    t->group_from_s = g->rounds ? t->group_from_s : from;
    t->parts = g->n * g->most;
    for (uint32_t i = 0; i < g->n; i++) {
        uint32_t at = reversed ? g->n - 1 - i : i;
        struct oc_variant *v = &t->variant[g->member[at]];
        struct oc_err why = {0};
        t->part = g->rounds * g->n + i;
        if (!run_trial(t, v, &round[at], &why))
            continue;
        if (v->opts.stop && *v->opts.stop) {
            *err = why;
            return -1;
        }
        v->failed = oc_strdup(t->a, why.msg);
        v->code = why.code;
        break;
    }
    t->counts.wall_s += oc_now_s() - from;
    if (!oc_trial_group_failed(g))
        g->trial[g->rounds++] = round;
    return 0;
}

bool oc_trial_group_failed(const struct oc_trial_group *g)
{
    for (uint32_t i = 0; i < g->n; i++)
        if (g->trials->variant[g->member[i]].failed)
            return true;
    return false;
}

/* ---- comparison --------------------------------------------------------------------------------------- */

const char *oc_trial_figure_name(enum oc_trial_figure f)
{
    static const char *const name[] = {"latency", "session", "first-run"};
    return f < OC_COUNT(name) ? name[f] : "?";
}

static struct oc_recorded recorded_of(const struct oc_trial *t, enum oc_trial_figure figure)
{
    const struct oc_record_time *x = &t->time;
    if (figure != OC_TRIAL_LATENCY)
        return oc_recorded_once(figure == OC_TRIAL_SESSION ? x->session_ns : x->first_run_ns, x->started_s,
                                t->loaded);
    return (struct oc_recorded){.latency_ns = x->typical_ns,
                                .spread = isnan(x->spread) ? OC_ASSUMED_SPREAD : x->spread,
                                .runs = x->runs,
                                .started_s = x->started_s,
                                .loaded = t->loaded,
                                .probe_ns = t->probe_ns,
                                .probe_fastest_ns = t->fastest_probe_ns};
}

void oc_trial_compare(const struct oc_trial_group *g, uint32_t a, uint32_t b, enum oc_trial_figure figure,
                      struct oc_comparison *out)
{
    struct oc_recorded x[OC_MOST_ROUNDS], y[OC_MOST_ROUNDS];
    for (uint32_t i = 0; i < g->rounds; i++) {
        x[i] = recorded_of(&g->trial[i][a], figure);
        y[i] = recorded_of(&g->trial[i][b], figure);
    }
    oc_compare_recorded(x, g->rounds, y, g->rounds, oc_recorded_order(x, g->rounds, y, g->rounds), out);
}

bool oc_trial_may_look(uint32_t rounds, uint32_t most, uint32_t n_tests, double *level)
{
    const double early = 0.005; /* two looks before the last one add 1 % to its 5 % */
    bool last = rounds >= most;
    *level = 1 - (last ? 1 - OC_COMPARISON_LEVEL : early) / n_tests;
    return last || rounds == 3 || rounds == 5;
}
