/* Fits closed forms to black-box functions: finds how each of several outputs depends on integer variables.
 * Where an output is a polynomial, or one on every step-th number (as with strides), the polynomial is found
 * exactly and verified at further points. Independent of models.
 */
#ifndef OC_FIT_H
#define OC_FIT_H

#include "base/arena.h"
#include "base/map.h"

/* ---- rpoly -------------------------------------------------------------------------------------------- */

/* Polynomials in several variables with rational coefficients, found by interpolation. Everything is exact:
 * checked 128-bit integers inside, 64-bit coefficients over one denominator outside; overflow is a failure,
 * never a rounded number. */

#define OC_RPOLY_VARS   8
#define OC_RPOLY_DEGREE 6 /* of one variable */
#define OC_RPOLY_TERMS  2048

struct oc_pow { /* exponents, or steps along the axes */
    uint8_t of[OC_RPOLY_VARS];
};

struct oc_rpoly { /* sum of num * product of x^pow, divided by den */
    unsigned n_var;
    uint32_t n_term;
    int64_t den; /* > 0; 1 for integer coefficients */
    struct {
        int64_t num;
        struct oc_pow pow;
    } * term; /* heap; freed by oc_rpoly_free */
};
void oc_rpoly_free(struct oc_rpoly *p);

/* The points of an interpolation lie at start + i * step, 0 <= i <= degree, along each axis. */
struct oc_rpoly_axis {
    int64_t start, step;
    unsigned degree;
};

/* All i with i.of[k] <= axis[k].degree and a sum of at most `total`: as many points as monomials. Returns
 * their number; 0: more than OC_RPOLY_TERMS. */
size_t oc_rpoly_points(const struct oc_rpoly_axis *axis, unsigned n_var, unsigned total,
                       struct oc_pow out[OC_RPOLY_TERMS]);

/* The unique polynomial over these monomials with value[i] at point[i]. False: overflow. */
bool oc_rpoly_fit(const struct oc_rpoly_axis *axis, unsigned n_var, const struct oc_pow *point,
                  const uint64_t *value, size_t n, struct oc_rpoly *out);

/* Degree of the polynomial through equidistant values: the smallest whose next differences vanish, with a
 * minimum of `checks` of these. -1: none. */
int oc_rpoly_degree(const uint64_t *value, size_t n, unsigned checks);

/* False: not an integer from 0 to UINT64_MAX, or overflow. */
bool oc_rpoly_eval(const struct oc_rpoly *p, const int64_t *x, uint64_t *out);

/* Format: "batch*(12*sequence^2 + 5*sequence)", with "(...)/2" around fractions. */
void oc_rpoly_text(const struct oc_rpoly *p, const char *const *name, struct oc_buf *out);

/* ---- fit ---------------------------------------------------------------------------------------------- */

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

/* ---- fit boxes ---------------------------------------------------------------------------------------- */

/* Fits many outputs at once: polynomials on boxes, products of ranges of the variables, found exactly and
 * verified at further points of each box. In addition to fit.h, which finds one formula with its range for
 * each of a few outputs, this covers what is piecewise (maxima of sizes), and thousands of outputs of which
 * most are equal, such as those of the layers of a network. Independent of models. */

#define OC_BOX_GROUPS 16

struct oc_box_var {
    int64_t start;          /* a size at which the function has a value when all variables have theirs */
    int64_t from, to, step; /* to be covered: start, start +- step ... */
};

struct oc_boxes_in {
    oc_fit_eval eval;
    void *ctx;
    unsigned n_var; /* <= OC_RPOLY_VARS */
    const struct oc_box_var *var;
    unsigned step_groups; /* where these first groups have no fit, multiples of a step are tried; 0: never */
    size_t n_out;
    unsigned n_group;        /* outputs in groups with boxes of their own; <= OC_BOX_GROUPS */
    const size_t *group_end; /* by group: index after its last output */
    uint32_t max_evals;
};

enum oc_box_form { OC_BOX_POLY, OC_BOX_MIN, OC_BOX_MAX, OC_BOX_FORMS };

struct oc_box {
    int64_t from[OC_RPOLY_VARS], to[OC_RPOLY_VARS];
    uint32_t *poly;  /* by class of outputs: index of the polynomial */
    uint32_t *other; /* OC_NONE, or the value is the smaller or larger of two polynomials */
    uint8_t *form;   /* enum oc_box_form */
};

struct oc_box_group {
    uint32_t n_class, zero; /* zero: the class of outputs that are 0; OC_NONE: none */
    uint32_t *class_id;     /* private */
    struct oc_box *box;     /* heap, disjoint */
    uint32_t n_box, cap_box;
};

struct oc_boxes {
    struct oc_arena arena;
    unsigned n_var;
    int64_t first[OC_RPOLY_VARS],
        step[OC_RPOLY_VARS]; /* a box holds for x with (x - first) divisible by step */
    unsigned n_group;
    struct oc_box_group group[OC_BOX_GROUPS];
    uint32_t *class_of;    /* by output, in its group: outputs of a class are equal everywhere */
    struct oc_rpoly *poly; /* heap, distinct */
    uint32_t n_poly, cap_poly;
    uint32_t evals;
};

/* False: the function has no value at the start. What cannot be fitted is in no box. */
bool oc_boxes_make(const struct oc_boxes_in *in, struct oc_boxes *out);
void oc_boxes_free(struct oc_boxes *b);
/* Value of an output; false: no box covers the point. */
bool oc_boxes_at(const struct oc_boxes *b, unsigned group, size_t output, const int64_t *x, uint64_t *out);

#endif
