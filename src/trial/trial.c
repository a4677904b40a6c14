/* Processes that measure one variant each, in turns, and their comparison. */
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

/* "round 3 of 8, about 40 s left: loading the model" */
static void on_stage(void *arg, const char *what)
{
    const struct stage *s = arg;
    const struct oc_trials *t = s->trials;
    char part[96], text[192];
    oc_part_text("round", t->part, t->parts, t->group_from_s, part, sizeof(part));
    snprintf(text, sizeof(text), "%s: %s", part, what);
    s->of->progress(s->of->progress_arg, text);
}

static double *copy_of(struct oc_arena *a, const double *v, size_t n)
{
    double *copy = OC_NEW_ARRAY(a, n, double);
    if (n)
        memcpy(copy, v, n * sizeof(*v));
    return copy;
}

static int record_trials(struct oc_trials *t, const uint32_t *member, size_t n, struct oc_trial *out,
                         size_t *failed, struct oc_err *err)
{
    struct oc_recording **r = OC_NEW_ARRAY(t->a, n, struct oc_recording *);
    struct oc_record_side *side = OC_NEW_ARRAY(t->a, n, struct oc_record_side);
    struct oc_record_opts *opts = OC_NEW_ARRAY(t->a, n, struct oc_record_opts);
    struct stage *stage = OC_NEW_ARRAY(t->a, n, struct stage);
    for (size_t i = 0; i < n; i++) {
        const struct oc_record_opts *of = &t->variant[member[i]].opts;
        stage[i] = (struct stage){t, of};
        opts[i] = *of;
        opts[i].fastest_probe_ns = t->fastest_probe_ns;
        opts[i].progress = of->progress ? on_stage : NULL;
        opts[i].progress_arg = &stage[i];
        side[i] = (struct oc_record_side){t->model, t->analysis, &opts[i]};
    }
    if (oc_record_in_turns(side, n, r, failed, err))
        return -1;
    for (size_t i = 0; i < n; i++) {
        const struct oc_record_info *info = oc_recording_info(r[i]);
        out[i] = (struct oc_trial){info->plain,    info->loaded,
                                   info->probe_ns, info->fastest_probe_ns,
                                   info->turns_id, copy_of(t->a, info->turn_ns, info->n_turn),
                                   info->n_turn};
        t->fastest_probe_ns = info->fastest_probe_ns;
        oc_recording_free(r[i]);
    }
    return 0;
}

void oc_trials_begin(struct oc_trials *t, struct oc_arena *a, const struct oc_model *m,
                     const struct oc_analysis *analysis)
{
    *t = (struct oc_trials){.a = a, .model = m, .analysis = analysis, .run = record_trials};
}

/* One process of each, and another one in the place of one that ran alone and that other processes disturbed, as often as
 * may be. */
static int run_trials(struct oc_trials *t, const uint32_t *member, size_t n, struct oc_trial *out,
                      size_t *failed, struct oc_err *err)
{
    size_t one;
    if (t->run(t, member, n, out, failed, err))
        return -1;
    t->counts.processes += n;
    for (size_t i = 0; i < n; i++)
        while (out[i].loaded && out[i].turns_id <= 0 && t->may_repeat) {
            t->may_repeat--;
            t->counts.repeated++;
            t->counts.processes++;
            if (!t->run(t, &member[i], 1, &out[i], &one, err))
                continue;
            *failed = one ? n : i;
            return -1;
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
    struct oc_trial *round = OC_NEW_ARRAY(t->a, g->n, struct oc_trial),
                    *made = OC_NEW_ARRAY(t->a, g->n, struct oc_trial);
    uint32_t *member = OC_NEW_ARRAY(t->a, g->n, uint32_t);
    double from = oc_now_s();
    size_t failed = g->n;
    struct oc_err why = {0};
    t->group_from_s = g->rounds ? t->group_from_s : from;
    t->parts = g->most;
    t->part = g->rounds;
    for (uint32_t i = 0; i < g->n; i++)
        member[i] = g->member[reversed ? g->n - 1 - i : i];
    int rc = run_trials(t, member, g->n, made, &failed, &why);
    t->counts.wall_s += oc_now_s() - from;
    const volatile int *stop = t->variant[member[0]].opts.stop;
    if (rc && (failed >= g->n || (stop && *stop))) {
        *err = why;
        return -1;
    }
    if (rc) {
        t->variant[member[failed]].failed = oc_strdup(t->a, why.msg);
        t->variant[member[failed]].code = why.code;
        return 0;
    }
    for (uint32_t i = 0; i < g->n; i++)
        round[reversed ? g->n - 1 - i : i] = made[i];
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
                                t->turns_id, t->loaded);
    return (struct oc_recorded){.latency_ns = x->typical_ns,
                                .spread = isnan(x->spread) ? OC_ASSUMED_SPREAD : x->spread,
                                .runs = x->runs,
                                .started_s = x->started_s,
                                .turns_id = t->turns_id,
                                .turn_ns = t->turn_ns,
                                .n_turn = t->n_turn,
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
