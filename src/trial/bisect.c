/* trial/: Measures a model by several runtimes or with several settings in turns, in processes of their own. trial.c runs
 * the processes and compares them, bisect.c searches for the version that changed the time, tune.c for the settings that
 * improve it; nothing is printed here.
 *
 * Which version of ONNX Runtime made a model slower or faster: the search keeps two versions between which a change is
 * shown, and measures the version in the middle together with both; the halves that show a change are searched further,
 * until the two versions are neighbours. Looks before the last one have a stricter level, and what the search finds is
 * measured once more, because the largest of several differences is too large by selection. */
#include "trial/bisect.h"

#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/diag.h"
#include "base/str.h"
#include "model/model.h"
#include "onnxcost.h"

static struct oc_bisect_step *add_step(struct oc_bisect *b, const struct oc_trial_group *g, uint32_t x,
                                       uint32_t y, double level)
{
    OC_GROW(b->step, b->n_step, b->cap_step);
    struct oc_bisect_step *s = &b->step[b->n_step++];
    *s = (struct oc_bisect_step){.from = g->member[x], .to = g->member[y]};
    oc_trial_compare(g, x, y, b->figure, &s->c);
    s->shown = oc_compared_shows(&s->c, level);
    b->measured[s->from] = b->measured[s->to] = true;
    return s;
}

/* A half without a shown change needs no further look if it would show this one: smaller ones are not worth the time. */
static const double SMALL_CHANGE = 0.05;

/* Whether a look after these rounds settles the group: the whole shows a change, and of its halves at least one, while the
 * other could not hide much. */
static bool is_settled(const struct oc_bisect *b, const struct oc_trial_group *g, double level)
{
    struct oc_comparison whole, half;
    bool any = false;
    oc_trial_compare(g, 0, g->n - 1, b->figure, &whole);
    if (g->n == 2 || !oc_compared_shows(&whole, level))
        return oc_compared_shows(&whole, level);
    for (uint32_t i = 0; i + 1 < g->n; i++) {
        oc_trial_compare(g, i, i + 1, b->figure, &half);
        bool shown = oc_compared_shows(&half, level);
        if (!shown && half.smallest > SMALL_CHANGE)
            return false;
        any |= shown;
    }
    return any;
}

/* Rounds until a look settles the group, or the most. The level of the last look goes to *level. */
static int measure(const struct oc_bisect *b, struct oc_trial_group *g, double *level, struct oc_err *err)
{
    g->most = b->most;
    for (bool more = true; more;) {
        if (oc_trial_round(g, err))
            return -1;
        if (oc_trial_group_failed(g))
            return 0;
        bool look = oc_trial_may_look(g->rounds, b->most, g->n - 1, level);
        more = g->rounds < b->most && !(look && is_settled(b, g, *level));
    }
    return 0;
}

/* The version that works in the middle between two, which must not be neighbours among those that work; else `low`. */
static uint32_t middle_of(const struct oc_bisect *b, uint32_t low, uint32_t high)
{
    uint32_t n = 0, at = low;
    for (uint32_t i = low + 1; i < high; i++)
        n += !b->trials.variant[i].failed;
    for (uint32_t left = (n + 1) / 2; left;)
        left -= !b->trials.variant[++at].failed;
    return at;
}

static void add_index(uint32_t **list, uint32_t *n, uint32_t *cap, uint32_t v)
{
    OC_GROW(*list, *n, *cap);
    (*list)[(*n)++] = v;
}

/* Measures two versions and adds their step. *out is NULL where one of them has failed. */
static int measure_pair(struct oc_bisect *b, uint32_t low, uint32_t high, struct oc_bisect_step **out,
                        struct oc_err *err)
{
    const uint32_t member[] = {low, high};
    struct oc_trial_group g = {.trials = &b->trials, .member = member, .n = 2};
    double level = OC_COMPARISON_LEVEL;
    int rc = measure(b, &g, &level, err);
    *out = rc || oc_trial_group_failed(&g) ? NULL : add_step(b, &g, 0, 1, level);
    return rc;
}

/* Measures two neighbours between which the search has found a change once more. */
static int confirm(struct oc_bisect *b, uint32_t low, uint32_t high, struct oc_err *err)
{
    struct oc_bisect_step *s;
    if (measure_pair(b, low, high, &s, err))
        return -1;
    if (!s)
        return 0;
    s->confirms = true;
    add_index(&b->found, &b->n_found, &b->cap_found, b->n_step - 1);
    return 0;
}

/* `shown` is the step that shows a change between the two. The recursion is as deep as the list halves. */
static int narrow(struct oc_bisect *b, uint32_t low, uint32_t high, uint32_t shown, struct oc_err *err)
{
    for (;;) {
        uint32_t middle = middle_of(b, low, high);
        if (middle == low)
            return confirm(b, low, high, err);
        const uint32_t member[] = {low, middle, high};
        struct oc_trial_group g = {.trials = &b->trials, .member = member, .n = 3};
        double level = OC_COMPARISON_LEVEL;
        if (measure(b, &g, &level, err))
            return -1;
        if (!b->trials.variant[middle].failed && oc_trial_group_failed(&g))
            return oc_fail(err, OC_ELIBRARY, "a version that had run '%s' fails now: %s", b->model_path,
                           b->trials.variant[b->trials.variant[low].failed ? low : high].failed);
        if (b->trials.variant[middle].failed)
            continue; /* with another one in the middle */
        bool first = add_step(b, &g, 0, 1, level)->shown, second = add_step(b, &g, 1, 2, level)->shown;
        uint32_t at = b->n_step - 2;
        if (!first && !second)
            add_index(&b->vague, &b->n_vague, &b->cap_vague, shown);
        return (first && narrow(b, low, middle, at, err)) || (second && narrow(b, middle, high, at + 1, err))
                   ? -1
                   : 0;
    }
}

/* The error names the newest version that fails. */
static int too_few(const struct oc_bisect *b, struct oc_err *err)
{
    uint32_t i = b->trials.n - 1;
    while (i && !b->trials.variant[i].failed)
        i--;
    const struct oc_variant *v = &b->trials.variant[i];
    return oc_fail(err, v->code, "fewer than two versions can run '%s': %s: %s", b->model_path, v->label,
                   v->failed);
}

/* The oldest and the newest version that work. */
static int measure_ends(struct oc_bisect *b, struct oc_err *err)
{
    for (;;) {
        uint32_t low = 0, high = b->trials.n - 1;
        while (low < high && b->trials.variant[low].failed)
            low++;
        while (high > low && b->trials.variant[high].failed)
            high--;
        struct oc_bisect_step *step;
        if (low == high)
            return too_few(b, err);
        if (measure_pair(b, low, high, &step, err))
            return -1;
        if (step)
            return step->shown ? narrow(b, low, high, b->n_step - 1, err) : 0;
    }
}

/* Every version in each round; the level allows for as many tests as there are neighbours. */
static int measure_all(struct oc_bisect *b, struct oc_err *err)
{
    uint32_t *member = OC_NEW_ARRAY(&b->arena, b->trials.n, uint32_t);
    struct oc_trial_group g = {.trials = &b->trials, .member = member, .most = b->most};
    while (g.rounds < b->most) {
        uint32_t n = 0;
        for (uint32_t i = 0; i < b->trials.n; i++)
            if (!b->trials.variant[i].failed)
                member[n++] = i;
        if (n != g.n)
            g.rounds = 0; /* one has failed: in the first round */
        g.n = n;
        if (n < 2)
            return too_few(b, err);
        if (oc_trial_round(&g, err))
            return -1;
    }
    for (uint32_t i = 0; i + 1 < g.n; i++)
        if (add_step(b, &g, i, i + 1, 1 - (1 - OC_COMPARISON_LEVEL) / (g.n - 1))->shown)
            add_index(&b->found, &b->n_found, &b->cap_found, b->n_step - 1);
    return 0;
}

static int take_versions(struct oc_bisect *b, const struct oc_bisect_opts *o, struct oc_err *err)
{
    size_t n;
    if (oc_onnxruntime_list(o->library, o->n_library, &b->library, &n, err))
        return -1;
    if (n < 2)
        return oc_fail(err, OC_EARG,
                       "a bisection needs two versions of ONNX Runtime or more, not %zu: give --ort-lib "
                       "several times, or a folder",
                       n);
    for (size_t i = 0; i < n; i++)
        oc_trials_add(&b->trials, b->library[i].version, o->record)->opts.library = b->library[i].file;
    return 0;
}

int oc_bisect_search(struct oc_bisect *b, bool all, struct oc_err *err)
{
    b->most = oc_trial_rounds(b->most);
    b->trials.may_repeat = b->trials.n * b->most;
    b->measured = OC_NEW_ARRAY(&b->arena, b->trials.n, bool);
    return all ? measure_all(b, err) : measure_ends(b, err);
}

int oc_bisect_make(const struct oc_model *model, const struct oc_analysis *analysis,
                   const struct oc_bisect_opts *given, struct oc_bisect **out, struct oc_err *err)
{
    OC_ENTRY(err);
    *out = NULL;
    struct oc_bisect_opts full, *const opts = &full;
    struct oc_record_opts record;
    if (OC_OPTIONS(&full, given, err) || OC_OPTIONS(&record, full.record, err))
        return -1;
    full.record = &record;
    struct oc_bisect *b = oc_xcalloc(1, sizeof(*b));
    b->figure = opts->figure < OC_TRIAL_FIGURES ? opts->figure : OC_TRIAL_LATENCY;
    b->most = opts->most;
    b->model_path = model->path;
    oc_trials_begin(&b->trials, &b->arena, model, analysis);
    if (take_versions(b, opts, err) || oc_bisect_search(b, opts->all, err)) {
        oc_bisect_free(b);
        return -1;
    }
    *out = b;
    return 0;
}

void oc_bisect_free(struct oc_bisect *b)
{
    if (!b)
        return;
    free(b->library);
    free(b->step);
    free(b->found);
    free(b->vague);
    free(b->trials.variant);
    oc_arena_free(&b->arena);
    free(b);
}

bool oc_bisect_found(const struct oc_bisect *b, size_t index, const char **from, const char **to)
{
    for (uint32_t i = 0; i < b->n_found; i++) {
        const struct oc_bisect_step *s = &b->step[b->found[i]];
        if (!s->shown || index--)
            continue;
        *from = b->library[s->from].file;
        *to = b->library[s->to].file;
        return true;
    }
    return false;
}
