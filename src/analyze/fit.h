/* Fits closed forms to black-box functions: finds how each of several outputs depends on integer variables.
 * Where an output is a polynomial, or one on every step-th number (as with strides), the polynomial is found
 * exactly and verified at further points. Independent of models.
 */
#ifndef OC_FIT_H
#define OC_FIT_H

#include "analyze/rpoly.h"
#include "base/arena.h"
#include "base/map.h"

#define OC_FIT_OUTPUTS 16

/* Writes the outputs at x and returns true, or returns false where the function has no value. */
typedef bool (*oc_fit_eval)(void *ctx, const int64_t *x, uint64_t *value);

struct oc_fit_in {
    oc_fit_eval eval;
    void *ctx;
    unsigned n_var, n_out; /* n_out <= OC_FIT_OUTPUTS */
    const int64_t *base;   /* a point that must have a value */
    uint32_t max_evals;
};

enum oc_fit_role {
    OC_FIT_FREE,
    OC_FIT_TIED, /* has a value only where it equals another variable */
    OC_FIT_FIXED /* no other value found */
};

struct oc_fit_var {
    enum oc_fit_role role;
    unsigned tied_to; /* the free variable */
    unsigned slot;    /* of free variables: their index in polynomials and results */
    int64_t centre;   /* centre of the search */
};

enum oc_fit_end {
    OC_FIT_OPEN,     /* holds up to the end of the searched range */
    OC_FIT_DIFFERS,  /* beyond it the function has other values */
    OC_FIT_NO_VALUE, /* beyond it the function has no value */
    OC_FIT_LEFT_OUT  /* beyond it other polynomials hold for some sizes of the other variables */
};

struct oc_fit_axis {
    int64_t from, to, step; /* the polynomial holds for from, from + step ... to */
    enum oc_fit_end below, above;
    bool held;  /* no polynomial was found: from == to */
    bool piece; /* other polynomials hold beyond */
};

enum oc_fit_state {
    OC_FIT_FOUND,
    OC_FIT_NO_LAW,    /* each variable alone has a fit, all together have none */
    OC_FIT_TOO_LARGE, /* coefficients beyond 64 bits, or too many terms */
    OC_FIT_STOPPED    /* max_evals */
};

struct oc_fit_result {
    enum oc_fit_state state;
    struct oc_rpoly poly;                   /* over the free variables */
    struct oc_fit_axis axis[OC_RPOLY_VARS]; /* by slot */
    uint32_t fitted, checked;               /* points used for the fit; further points that confirmed it */
};

struct oc_fit;

/* Determines which variables are free. Returns NULL when the base point has no value. */
struct oc_fit *oc_fit_new(const struct oc_fit_in *in);
void oc_fit_free(struct oc_fit *f);
const struct oc_fit_var *oc_fit_vars(const struct oc_fit *f); /* by variable */
unsigned oc_fit_slots(const struct oc_fit *f);                /* free variables */
uint32_t oc_fit_evals(const struct oc_fit *f);
/* The value at a point of free variables; tied variables follow. */
bool oc_fit_value(struct oc_fit *f, const int64_t *slot, uint64_t *value);

void oc_fit_output(struct oc_fit *f, unsigned output,
                   struct oc_fit_result *out); /* oc_rpoly_free(&out->poly) */
/* The range of one free variable alone, the others at their centres: fewer evaluations than a polynomial. */
struct oc_fit_axis oc_fit_axis_of(struct oc_fit *f, unsigned output, unsigned slot);

/* Whether the result applies to the point. */
bool oc_fit_covers(const struct oc_fit_result *r, unsigned n_slot, const int64_t *slot);

/* ---- fit vars ------------------------------------------------------------------------------------------ */

/* Private to fit*.c: the search's state. */

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
