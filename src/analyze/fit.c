/* Fits one output: each variable alone first (degree, step, range), then all together. */
#include "analyze/fit.h"

#include <stdlib.h>
#include <string.h>

/* Determines which variables can change, alone or tied to others, and the centre of the search. */

/* Steps that are tried: strides and patch sizes multiply to these. */
static const int64_t steps[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 12, 14, 15,  16,  18,  20, 21,
                                24, 25, 28, 30, 32, 36, 40, 48, 56, 60, 64, 96, 112, 128, 224, 256};

/* Evaluates at f->x; memoised. */
static bool fit_at(struct oc_fit *f, const uint64_t **value)
{
    const char *key = (const char *)f->x;
    size_t n = f->in.n_var * sizeof(*f->x);
    uint32_t id = oc_map_get(&f->seen, key, n);
    *value = id == OC_NONE ? NULL : f->value[id];
    if (id != OC_NONE)
        return *value != NULL;
    if (f->n_value >= f->in.max_evals) {
        f->stopped = true;
        return false;
    }
    uint64_t *row = OC_NEW_ARRAY(&f->arena, f->in.n_out, uint64_t);
    OC_GROW(f->value, f->n_value, f->cap_value);
    f->value[f->n_value++] = f->in.eval(f->in.ctx, f->x, row) ? row : NULL;
    oc_map_set(&f->seen, key, n, f->n_value - 1);
    *value = f->value[f->n_value - 1];
    return *value != NULL;
}

/* A point with all variables at their centres, and those of `group` (by variable) at v. */
static bool group_at(struct oc_fit *f, const bool *group, int64_t v)
{
    const uint64_t *unused;
    for (unsigned k = 0; k < f->in.n_var; k++)
        f->x[k] = group[k] ? v : f->var[k].centre;
    return fit_at(f, &unused);
}

static bool moves_from(struct oc_fit *f, const bool *group, int64_t centre)
{
    if (!group_at(f, group, centre))
        return false;
    for (size_t i = 0; i < OC_COUNT(steps); i++)
        if (group_at(f, group, centre + steps[i]) && group_at(f, group, centre + 2 * steps[i]))
            return true;
    return false;
}

/* Finds a centre from which the group can increase. Sizes of 0 and 1 are special cases of many operators: the
 * search starts above them. Returns it, or -1. */
static int64_t find_centre(struct oc_fit *f, const bool *group, int64_t base)
{
    for (int64_t c = base < 2 ? 2 : base; c >= 2; c /= 2)
        if (moves_from(f, group, c))
            return c;
    for (int64_t c = 4; c <= 64 && base < 2; c *= 2)
        if (moves_from(f, group, c))
            return c;
    return -1;
}

static bool move_group(struct oc_fit *f, const bool *group, unsigned leader)
{
    int64_t c = find_centre(f, group, f->in.base[leader]);
    if (c < 0)
        return false;
    for (unsigned k = 0; k < f->in.n_var; k++) {
        if (!group[k])
            continue;
        f->var[k].centre = c;
        f->var[k].role = k == leader ? OC_FIT_FREE : OC_FIT_TIED;
        f->var[k].tied_to = leader;
    }
    return true;
}

static void try_alone(struct oc_fit *f, bool *group)
{
    for (unsigned k = 0; k < f->in.n_var; k++) {
        memset(group, 0, f->in.n_var);
        group[k] = true;
        move_group(f, group, k);
    }
}

/* The leader, the variables already tied to it, and `more`. */
static void group_of(const struct oc_fit *f, unsigned leader, bool *group)
{
    for (unsigned k = 0; k < f->in.n_var; k++)
        group[k] = k == leader || (f->var[k].role == OC_FIT_TIED && f->var[k].tied_to == leader);
}

/* Ties names that mean the same size: a variable that cannot change alone may follow one with the same base.
 */
static void try_behind(struct oc_fit *f, unsigned k, bool *group)
{
    for (unsigned leader = 0; leader < f->in.n_var; leader++) {
        if (f->var[leader].role != OC_FIT_FREE || f->in.base[leader] != f->in.base[k])
            continue;
        group_of(f, leader, group);
        group[k] = true;
        if (move_group(f, group, leader))
            return;
    }
}

static void try_together(struct oc_fit *f, unsigned k, bool *group)
{
    for (unsigned t = 0; t < f->in.n_var; t++)
        group[t] = f->var[t].role == OC_FIT_FIXED && f->in.base[t] == f->in.base[k];
    move_group(f, group, k);
}

static void number_slots(struct oc_fit *f)
{
    for (unsigned k = 0; k < f->in.n_var; k++) {
        struct oc_fit_var *v = &f->var[k];
        if (v->role == OC_FIT_FREE && f->n_slot == OC_RPOLY_VARS)
            v->role = OC_FIT_FIXED;
        if (v->role != OC_FIT_FREE)
            continue;
        v->slot = f->n_slot;
        f->var_of[f->n_slot++] = k;
    }
    for (unsigned k = 0; k < f->in.n_var; k++)
        if (f->var[k].role == OC_FIT_TIED && f->var[f->var[k].tied_to].role == OC_FIT_FIXED)
            f->var[k].role = OC_FIT_FIXED;
}

struct oc_fit *oc_fit_new(const struct oc_fit_in *in)
{
    struct oc_fit *f = oc_xmalloc(sizeof(*f));
    const uint64_t *unused;
    *f = (struct oc_fit){.in = *in};
    f->seen.arena = &f->arena;
    f->x = OC_NEW_ARRAY(&f->arena, in->n_var, int64_t);
    f->var = OC_NEW_ARRAY(&f->arena, in->n_var, struct oc_fit_var);
    for (unsigned k = 0; k < in->n_var; k++) {
        f->var[k] = (struct oc_fit_var){.role = OC_FIT_FIXED, .centre = in->base[k]};
        f->x[k] = in->base[k];
    }
    if (!fit_at(f, &unused)) {
        oc_fit_free(f);
        return NULL;
    }
    bool *group = OC_NEW_ARRAY(&f->arena, in->n_var, bool);
    try_alone(f, group);
    for (unsigned k = 0; k < in->n_var; k++)
        if (f->var[k].role == OC_FIT_FIXED)
            try_behind(f, k, group);
    for (unsigned k = 0; k < in->n_var; k++)
        if (f->var[k].role == OC_FIT_FIXED)
            try_together(f, k, group);
    number_slots(f);
    f->roles_stopped = f->stopped;
    return f;
}

void oc_fit_free(struct oc_fit *f)
{
    if (!f)
        return;
    oc_map_free(&f->seen);
    free(f->value);
    oc_arena_free(&f->arena);
    free(f);
}

const struct oc_fit_var *oc_fit_vars(const struct oc_fit *f)
{
    return f->var;
}

unsigned oc_fit_slots(const struct oc_fit *f)
{
    return f->n_slot;
}

uint32_t oc_fit_evals(const struct oc_fit *f)
{
    return f->n_value;
}

static const uint64_t *row_at(struct oc_fit *f, const int64_t *slot)
{
    const uint64_t *row;
    for (unsigned k = 0; k < f->in.n_var; k++) {
        const struct oc_fit_var *v = &f->var[k];
        f->x[k] =
            v->role == OC_FIT_FIXED ? v->centre : slot[f->var[v->role == OC_FIT_TIED ? v->tied_to : k].slot];
    }
    fit_at(f, &row);
    return row;
}

bool oc_fit_value(struct oc_fit *f, const int64_t *slot, uint64_t *value)
{
    const uint64_t *row = row_at(f, slot);
    if (row)
        memcpy(value, row, f->in.n_out * sizeof(*value));
    return row != NULL;
}

enum {
    CHECKS = 3,                         /* minimum number of vanishing differences */
    ROW = OC_RPOLY_DEGREE + 1 + CHECKS, /* values along one variable */
    FAR = 4096,
    FAR_FACTOR = 16,  /* upper end of the search range */
    SMALL = 16,       /* larger start values (centres of batches) are kept */
    WHOLE_PIECE = 64, /* a range of at most so many points is checked exhaustively */
    FIRST_CHECKS = 12,
    MORE_CHECKS = 28
};

/* One output and the current variable. */
struct search {
    struct oc_fit *f;
    unsigned output, slot;
    int64_t *at;        /* by slot */
    struct oc_map used; /* points that the fit was made of or compared at */
};

static bool value_at(const struct search *s, const int64_t *at, uint64_t *out)
{
    uint64_t row[OC_FIT_OUTPUTS];
    if (!oc_fit_value(s->f, at, row))
        return false;
    *out = row[s->output];
    return true;
}

static int64_t centre_of(const struct search *s, unsigned slot)
{
    return s->f->var[s->f->var_of[slot]].centre;
}

static bool value_along(const struct search *s, int64_t x, uint64_t *out)
{
    for (unsigned k = 0; k < s->f->n_slot; k++)
        s->at[k] = centre_of(s, k);
    s->at[s->slot] = x;
    return value_at(s, s->at, out);
}

/* ---- one variable ----------------------------------------------------------------------------------- */

struct line { /* the fit along one variable from its centre, for one step */
    struct oc_rpoly_axis axis;
    struct oc_rpoly poly; /* largest exponent of that variable */
    struct oc_fit_axis range;
};

enum verdict { GOOD, DIFFERS, NO_VALUE };

static enum verdict fit_judge(const struct search *s, const struct line *l, int64_t x)
{
    uint64_t actual, expected;
    if (x < 0 || !value_along(s, x, &actual))
        return NO_VALUE;
    return oc_rpoly_eval(&l->poly, &x, &expected) && expected == actual ? GOOD : DIFFERS;
}

static bool local_law(const struct search *s, int64_t step, struct line *l)
{
    uint64_t value[ROW];
    size_t n = 0;
    int64_t centre = centre_of(s, s->slot);
    while (n < ROW && value_along(s, centre + (int64_t)n * step, &value[n]))
        n++;
    int degree = oc_rpoly_degree(value, n, CHECKS);
    if (degree < 0 || degree > OC_RPOLY_DEGREE)
        return false;
    l->axis = (struct oc_rpoly_axis){.start = centre, .step = step, .degree = (unsigned)degree};
    l->range = (struct oc_fit_axis){.from = centre, .to = centre + (int64_t)(n - 1) * step, .step = step};
    struct oc_pow point[OC_RPOLY_DEGREE + 1] = {{{0}}};
    for (int i = 0; i <= degree; i++)
        point[i].of[0] = (uint8_t)i;
    return oc_rpoly_fit(&l->axis, 1, point, value, (size_t)degree + 1, &l->poly);
}

/* Bisects on the step's grid: the last good point between a good and a bad one. */
static int64_t last_good(const struct search *s, const struct line *l, int64_t good, int64_t bad,
                         enum verdict *why)
{
    while (good - bad > l->axis.step || bad - good > l->axis.step) {
        int64_t middle = good + (bad - good) / l->axis.step / 2 * l->axis.step;
        enum verdict v = fit_judge(s, l, middle);
        if (v == GOOD) {
            good = middle;
        } else {
            bad = middle;
            *why = v;
        }
    }
    return good;
}

static enum oc_fit_end fit_end_of(enum verdict v)
{
    return v == DIFFERS ? OC_FIT_DIFFERS : v == NO_VALUE ? OC_FIT_NO_VALUE : OC_FIT_OPEN;
}

/* Moves one end of the range towards the limit, as far as the law holds; returns what is beyond. */
static enum oc_fit_end reach(const struct search *s, struct line *l, int64_t *end, int64_t limit)
{
    int64_t start = l->axis.start, last = (limit - start) / l->axis.step, sign = last < 0 ? -1 : 1;
    int64_t reached = (*end - start) / l->axis.step * sign, most = last * sign;
    enum verdict v = GOOD;
    for (int64_t i = reached + 1; reached < most && v == GOOD; i += i / 2 + 1) {
        reached = i < most ? i : most;
        int64_t x = start + reached * sign * l->axis.step;
        v = fit_judge(s, l, x);
        *end = v == GOOD ? x : last_good(s, l, *end, x, &v);
    }
    return fit_end_of(v);
}

/* Up to FAR, and down to the smallest size on the grid; 0 only where the base is 0. */
static void reach_ends(const struct search *s, struct line *l)
{
    int64_t far = l->axis.start * FAR_FACTOR;
    int64_t least = s->f->in.base[s->f->var_of[s->slot]] == 0 ? 0 : 1;
    l->range.above = reach(s, l, &l->range.to, far > FAR ? far : FAR);
    l->range.below = reach(s, l, &l->range.from, least);
}

static bool fit_piece_holds(const struct search *s, const struct line *l)
{
    int64_t n = (l->range.to - l->range.from) / l->axis.step;
    for (int64_t i = 0; i <= n && n < WHOLE_PIECE; i++)
        if (fit_judge(s, l, l->range.from + i * l->axis.step) != GOOD)
            return false;
    return true;
}

static void start_range(const struct search *s, struct line *l)
{
    int64_t x = centre_of(s, s->slot);
    *l = (struct line){.axis = {.start = x, .step = 1},
                       .range = {.from = x, .to = x, .step = 1, .held = true}};
}

/* The smallest step with a fit up to the end of the range; else a fit on a part of it; else none. */
static void find_line(const struct search *s, struct line *out)
{
    struct line piece = {0};
    for (size_t i = 0; i < OC_COUNT(steps); i++) {
        struct line l = {0};
        if (local_law(s, steps[i], &l)) {
            reach_ends(s, &l);
            if (l.range.above != OC_FIT_DIFFERS) {
                oc_rpoly_free(&piece.poly);
                oc_rpoly_free(&l.poly);
                *out = l;
                return;
            }
        }
        if (l.poly.den && !piece.poly.den && fit_piece_holds(s, &l))
            piece = l;
        else
            oc_rpoly_free(&l.poly);
    }
    if (piece.poly.den) {
        oc_rpoly_free(&piece.poly);
        *out = piece;
        out->range.piece = true;
        return;
    }
    start_range(s, out);
}

/* ---- all variables ---------------------------------------------------------------------------------- */

/* Random point of the range, every other time among the first points. */
static int64_t random_in(const struct oc_fit_axis *a, uint64_t *state)
{
    uint64_t n = (uint64_t)((a->to - a->from) / a->step) + 1, r = oc_random(state);
    uint64_t span = r & 1 && n > 8 ? 8 : n;
    return a->from + (int64_t)((r >> 1) % span) * a->step;
}

static bool is_new(struct search *s)
{
    uint32_t unused = 0;
    return oc_map_add(&s->used, (const char *)s->at, s->f->n_slot * sizeof(*s->at), &unused, NULL);
}

/* Compares at points inside the ranges; points without a value are skipped. */
static bool verify_points(struct search *s, struct oc_fit_result *r, unsigned n, uint64_t seed)
{
    for (unsigned i = 0; i < n; i++) {
        uint64_t actual, expected;
        for (unsigned k = 0; k < s->f->n_slot; k++)
            s->at[k] = random_in(&r->axis[k], &seed);
        if (!is_new(s) || !value_at(s, s->at, &actual))
            continue;
        if (!oc_rpoly_eval(&r->poly, s->at, &expected) || expected != actual)
            return false;
        r->checked++;
    }
    return true;
}

static bool fit_values_of(struct search *s, const struct oc_rpoly_axis *axis, const struct oc_pow *point,
                          size_t n, uint64_t *value)
{
    for (size_t i = 0; i < n; i++) {
        for (unsigned k = 0; k < s->f->n_slot; k++)
            s->at[k] = axis[k].start + axis[k].step * point[i].of[k];
        is_new(s);
        if (!value_at(s, s->at, &value[i]))
            return false;
    }
    return true;
}

static bool has_more_points(const struct oc_fit_result *r, unsigned n_slot, size_t n)
{
    uint64_t points = 1;
    for (unsigned k = 0; k < n_slot && points <= n; k++)
        points *= (uint64_t)((r->axis[k].to - r->axis[k].from) / r->axis[k].step) + 1;
    return points > n;
}

/* Fits with total degree at most this in all variables together. */
static bool try_degree(struct search *s, const struct oc_rpoly_axis *axis, unsigned total,
                       struct oc_fit_result *r)
{
    s->used = (struct oc_map){.arena = &s->f->arena};
    struct oc_pow *point = oc_xmalloc(OC_RPOLY_TERMS * sizeof(*point));
    uint64_t *value = oc_xmalloc(OC_RPOLY_TERMS * sizeof(*value));
    size_t n = oc_rpoly_points(axis, s->f->n_slot, total, point);
    bool ok = false;
    r->state = OC_FIT_NO_LAW;
    r->checked = 0;
    if (!n || (fit_values_of(s, axis, point, n, value) &&
               !oc_rpoly_fit(axis, s->f->n_slot, point, value, n, &r->poly)))
        r->state = OC_FIT_TOO_LARGE;
    else if (r->poly.den)
        ok = verify_points(s, r, FIRST_CHECKS, 1) && verify_points(s, r, MORE_CHECKS, 2) &&
             (r->checked || !has_more_points(r, s->f->n_slot, n));
    oc_map_free(&s->used);
    free(point);
    free(value);
    r->fitted = (uint32_t)n;
    if (ok)
        r->state = OC_FIT_FOUND;
    else
        oc_rpoly_free(&r->poly);
    return ok;
}

static void fit_all(struct search *s, const struct oc_rpoly_axis *axis, struct oc_fit_result *r)
{
    unsigned least = 0, most = 0;
    for (unsigned k = 0; k < s->f->n_slot; k++) {
        least = axis[k].degree > least ? axis[k].degree : least;
        most += axis[k].degree;
    }
    for (unsigned total = least; total <= most; total++)
        if (try_degree(s, axis, total, r) || r->state == OC_FIT_TOO_LARGE)
            break;
}

/* Small sizes of several variables together may follow another polynomial (the largest of several terms):
 * excludes them. Returns whether there were any. */
static bool fit_narrow(struct search *s, struct oc_fit_result *r)
{
    bool any = false;
    for (unsigned k = 0; k < s->f->n_slot; k++) {
        struct oc_fit_axis *a = &r->axis[k];
        if (centre_of(s, k) < SMALL || a->from == centre_of(s, k))
            continue;
        a->from = centre_of(s, k);
        a->below = OC_FIT_LEFT_OUT;
        any = true;
    }
    return any;
}

void oc_fit_output(struct oc_fit *f, unsigned output, struct oc_fit_result *out)
{
    int64_t at[OC_RPOLY_VARS];
    struct search s = {.f = f, .output = output, .at = at};
    struct oc_rpoly_axis axis[OC_RPOLY_VARS] = {{0}};
    *out = (struct oc_fit_result){.state = OC_FIT_NO_LAW};
    f->stopped = f->roles_stopped;
    for (s.slot = 0; s.slot < f->n_slot; s.slot++) {
        struct line l = {0};
        find_line(&s, &l);
        axis[s.slot] = l.axis;
        out->axis[s.slot] = l.range;
    }
    fit_all(&s, axis, out);
    if (out->state == OC_FIT_NO_LAW && fit_narrow(&s, out))
        fit_all(&s, axis, out);
    if (f->stopped) { /* some evaluations were refused (max_evals) */
        oc_rpoly_free(&out->poly);
        out->state = OC_FIT_STOPPED;
    }
}

struct oc_fit_axis oc_fit_axis_of(struct oc_fit *f, unsigned output, unsigned slot)
{
    int64_t at[OC_RPOLY_VARS];
    const struct search s = {.f = f, .output = output, .slot = slot, .at = at};
    struct line l = {0};
    find_line(&s, &l);
    oc_rpoly_free(&l.poly);
    return l.range;
}

bool oc_fit_covers(const struct oc_fit_result *r, unsigned n_slot, const int64_t *slot)
{
    if (r->state != OC_FIT_FOUND)
        return false;
    for (unsigned k = 0; k < n_slot; k++) {
        const struct oc_fit_axis *a = &r->axis[k];
        if (slot[k] < a->from || slot[k] > a->to || (slot[k] - a->from) % a->step)
            return false;
    }
    return true;
}
