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
    struct oc_map seen; /* points to their place in `value` */
    uint64_t **value;   /* heap array of arena rows; NULL: no value */
    uint32_t n_value, cap_value;
    bool stopped;       /* max_evals: a point was refused */
    bool roles_stopped; /* while the roles were sought */
};

/* Distances at which a law is looked for: strides and patches multiply to these. */
extern const int64_t oc_fit_steps[];
extern const size_t oc_fit_n_steps;

/* At f->x, from memory where it was asked before. */
bool oc_fit_at(struct oc_fit *f, const uint64_t **value);

#endif
