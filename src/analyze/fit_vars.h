/* Private to fit*.c: the search's state. */
#ifndef OC_FIT_VARS_H
#define OC_FIT_VARS_H

#include "analyze/fit.h"
#include "base/arena.h"
#include "base/map.h"

struct oc_fit {
    struct oc_arena arena;
    struct oc_fit_in in;
    struct oc_fit_var *var; /* by variable */
    unsigned var_of[OC_RPOLY_VARS], n_slot;
    int64_t *x;         /* scratch, a point of all variables */
    struct oc_map seen; /* indices of points in `value` */
    uint64_t **value;   /* heap array of arena rows; NULL: no value */
    uint32_t n_value, cap_value;
    bool stopped;       /* max_evals: a point was refused */
    bool roles_stopped; /* while variables are being classified */
};

/* Steps that are tried: strides and patch sizes multiply to these. */
extern const int64_t oc_fit_steps[];
extern const size_t oc_fit_n_steps;

/* Evaluates at f->x; memoised. */
bool oc_fit_at(struct oc_fit *f, const uint64_t **value);

#endif
