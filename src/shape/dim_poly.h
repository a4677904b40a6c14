/* Internals of the table of expressions, included only by dim.c and dim_poly.c.
 *
 * An expression is a polynomial with integer coefficients over atoms: named or fresh unknowns, quotients,
 * minima, maxima, remainders, and frozen results that would have grown past the limits below. Terms are in
 * descending order (degree, then atoms), the constant last; no coefficient is 0. Expressions and atoms are
 * stored once each, so equal normal forms have equal ids. */
#ifndef OC_DIM_POLY_H
#define OC_DIM_POLY_H

#include "base/map.h"
#include "shape/dim.h"

#define OC_MAX_TERMS        24
#define OC_MAX_DEGREE       6
#define OC_MAX_EXPRS        (1u << 18) /* beyond this many, unknowns have only an id */
#define OC_MAX_STORED_TERMS (2u << 20)
#define OC_MAX_TEXT         160 /* bytes of an origin */

struct term {
    int64_t coef;
    uint32_t degree;
    uint32_t atom[OC_MAX_DEGREE]; /* ascending, repeated for powers, padded with 0 */
    uint32_t pad;                 /* always 0: terms are hashed as bytes */
};

struct poly {
    uint32_t n;
    struct term t[OC_MAX_TERMS];
};

enum atom_kind { ATOM_NAMED, ATOM_FLOOR, ATOM_CEIL, ATOM_MOD, ATOM_MIN, ATOM_MAX, ATOM_SUM, ATOM_PRODUCT };

/* A range of values; INT64_MIN and INT64_MAX mean unbounded. */
struct range {
    int64_t lo, hi;
};

struct atom {
    uint8_t kind;
    struct oc_dim a, b; /* operands */
    const char *text;
    struct range range;
};

struct expr {
    const struct term *t;
    uint32_t n;
    struct range range;
    const char *text; /* created on demand */
};

struct oc_exprs {
    struct oc_arena *arena;
    struct oc_map names,
        forms;         /* maps from symbols to expressions, and from atoms and polynomials to their ids */
    struct expr *expr; /* [0] unused */
    struct atom *atom; /* [0] unused */
    uint32_t n_expr, cap_expr, n_atom, cap_atom;
    uint32_t n_term;   /* of all expressions */
    uint32_t n_beyond; /* number of unknowns beyond the limits */
    bool overflowed;
    bool least; /* upper bounds are lower ones (oc_exprs_set_least) */
};

/* *out may be one of the operands. False: beyond a limit, or a coefficient overflows; *out is then undefined.
 */
bool oc_poly_add(const struct poly *a, const struct poly *b, int64_t factor,
                 struct poly *out); /* a + factor*b */
bool oc_poly_mul(const struct poly *a, const struct poly *b, struct poly *out);
bool oc_poly_exact(const struct poly *a, const struct poly *b, struct poly *quotient);

struct range oc_poly_range(const struct oc_exprs *x, const struct term *t, uint32_t n);
struct range oc_range_add(struct range a, struct range b);
struct range oc_range_mul(struct range a, struct range b);

/* Text of at most OC_MAX_TEXT bytes, truncated with "..." */
const char *oc_atom_text(struct oc_exprs *x, unsigned kind, struct oc_dim a, struct oc_dim b);
const char *oc_cut_text(struct oc_arena *a, const char *s, size_t n);

#endif
