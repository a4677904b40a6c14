/* Integers that may be unknown: dimensions and small shape values.
 *
 * An oc_dim is a known integer (expr == 0), or an unknown one: `expr` names an expression in a table of
 * expressions (struct oc_exprs). Equal ids mean equal values; the table normalises expressions (polynomials
 * over named atoms, floor and ceiling quotients, minima and maxima), so that e - e is 0 and (a*b)/b is a.
 * Every expression has a printable origin ("floor((H - 1)/2) + 1") and perhaps an upper bound. */
#ifndef OC_DIM_H
#define OC_DIM_H

#include "base/arena.h"

struct oc_dim {
    int64_t v;     /* the value when expr == 0 */
    uint32_t expr; /* 0: a known integer */
};

struct oc_exprs; /* table of expressions, allocated in an arena */
struct oc_exprs *oc_exprs_new(struct oc_arena *a);
void oc_exprs_free(struct oc_exprs *x); /* heap parts; the rest is in the arena */

static inline struct oc_dim oc_known(int64_t v)
{
    return (struct oc_dim){.v = v};
}
static inline bool oc_is_known(struct oc_dim d)
{
    return d.expr == 0;
}
static inline bool oc_is(struct oc_dim d, int64_t v)
{
    return d.expr == 0 && d.v == v;
}
static inline bool oc_same_dim(struct oc_dim a, struct oc_dim b)
{
    return a.expr == b.expr && (a.expr || a.v == b.v);
}

/* Creates an unknown. origin: its printed form. max < 0: no upper bound known. Values are assumed to be >= 0.
 */
struct oc_dim oc_dim_fresh(struct oc_exprs *x, const char *origin, int64_t max);
/* The unknown of that name: the same name means the same value. */
struct oc_dim oc_dim_symbol(struct oc_exprs *x, const char *name, int64_t max);

/* Arithmetic. An overflow of known values gives a fresh unknown with origin "overflow" and sets *overflow in
 * the table (oc_exprs_overflowed). Division by zero likewise. */
struct oc_dim oc_dim_add(struct oc_exprs *x, struct oc_dim a, struct oc_dim b);
struct oc_dim oc_dim_sub(struct oc_exprs *x, struct oc_dim a, struct oc_dim b);
struct oc_dim oc_dim_mul(struct oc_exprs *x, struct oc_dim a, struct oc_dim b);
struct oc_dim oc_dim_floordiv(struct oc_exprs *x, struct oc_dim a, struct oc_dim b);
struct oc_dim oc_dim_ceildiv(struct oc_exprs *x, struct oc_dim a, struct oc_dim b);
struct oc_dim oc_dim_mod(struct oc_exprs *x, struct oc_dim a, struct oc_dim b);
struct oc_dim oc_dim_min(struct oc_exprs *x, struct oc_dim a, struct oc_dim b);
struct oc_dim oc_dim_max(struct oc_exprs *x, struct oc_dim a, struct oc_dim b);
/* Exact quotient if b divides a (also symbolically); false if that cannot be proved. */
bool oc_dim_divides(struct oc_exprs *x, struct oc_dim a, struct oc_dim b, struct oc_dim *quotient);

bool oc_exprs_overflowed(const struct oc_exprs *x);
void oc_exprs_clear_overflow(struct oc_exprs *x);

/* Upper bound: the value itself when known; -1: none. Lower bound likewise (0 for a plain symbol). */
int64_t oc_dim_max_value(const struct oc_exprs *x, struct oc_dim d);
int64_t oc_dim_min_value(const struct oc_exprs *x, struct oc_dim d);
/* From now on the upper bound of a dimension is its lower one, 0 or more: counts that grow with the sizes
 * become lower bounds. */
void oc_exprs_set_least(struct oc_exprs *x, bool least);

/* Decimal number, or the origin. The text is static or in the arena. */
const char *oc_dim_text(struct oc_exprs *x, struct oc_dim d);

/* dim_poly.c: numbers for the named unknowns of a table of expressions, from equations "expression =
 * number". */
struct oc_solver;
struct oc_solver *oc_solver_new(const struct oc_exprs *x, struct oc_arena *a);

/* Equations that were added first win over later ones that contradict them. */
void oc_solver_add(struct oc_solver *s, struct oc_dim d, int64_t v);

/* Substitutes until nothing changes: an equation with one unknown gives the interval of its values by
 * bisection, which is exact for expressions that grow or fall with it (sums, products, windows, quotients).
 * Then an unknown whose interval has several values gets the roundest of them. O(passes x equations). */
void oc_solver_run(struct oc_solver *s);

enum oc_solved { OC_SOLVED_NOT, OC_SOLVED_CHOSEN, OC_SOLVED_ONLY };
/* The value of an expression; CHOSEN: it depends on an unknown that had several. */
enum oc_solved oc_solver_get(struct oc_solver *s, struct oc_dim d, int64_t *v);

#endif
