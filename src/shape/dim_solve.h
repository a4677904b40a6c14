/* Numbers for the named unknowns of a table of expressions, from equations "expression = number". */
#ifndef OC_DIM_SOLVE_H
#define OC_DIM_SOLVE_H

#include "shape/dim.h"

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
