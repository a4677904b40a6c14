/* Determines which variables can change, alone or tied to others, and the centre of the search. */
#include "analyze/fit_vars.h"

#include <stdlib.h>
#include <string.h>

const int64_t oc_fit_steps[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 12, 14, 15,  16,  18,  20, 21,
                                24, 25, 28, 30, 32, 36, 40, 48, 56, 60, 64, 96, 112, 128, 224, 256};
const size_t oc_fit_n_steps = OC_COUNT(oc_fit_steps);

bool oc_fit_at(struct oc_fit *f, const uint64_t **value)
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
static bool fit_vars_group_at(struct oc_fit *f, const bool *group, int64_t v)
{
    const uint64_t *unused;
    for (unsigned k = 0; k < f->in.n_var; k++)
        f->x[k] = group[k] ? v : f->var[k].centre;
    return oc_fit_at(f, &unused);
}

static bool moves_from(struct oc_fit *f, const bool *group, int64_t centre)
{
    if (!fit_vars_group_at(f, group, centre))
        return false;
    for (size_t i = 0; i < oc_fit_n_steps; i++)
        if (fit_vars_group_at(f, group, centre + oc_fit_steps[i]) &&
            fit_vars_group_at(f, group, centre + 2 * oc_fit_steps[i]))
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
static void fit_vars_group_of(const struct oc_fit *f, unsigned leader, bool *group)
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
        fit_vars_group_of(f, leader, group);
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
    if (!oc_fit_at(f, &unused)) {
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
    oc_fit_at(f, &row);
    return row;
}

bool oc_fit_value(struct oc_fit *f, const int64_t *slot, uint64_t *value)
{
    const uint64_t *row = row_at(f, slot);
    if (row)
        memcpy(value, row, f->in.n_out * sizeof(*value));
    return row != NULL;
}
