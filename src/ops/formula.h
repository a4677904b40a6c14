/* Formulas of cost rules: one line of text next to each rule (struct oc_op.formula), evaluated here to show
 * its values; the tests compare it with the counts of the rule.
 *
 *   MAC = N*M*taps*Cg; ADD = [B]*N(o); N := o[0]; M := w[0]; Cg := w[1]; taps := o[2:]*w[2:]
 *
 * Statements are separated by ';'. PRIM = expr is an amount of a primitive; several for one primitive are
 * added. NAME := expr defines a name; a value of that name reported by the rule (oc_add_formula_value) takes precedence.
 * The left side may also be a histogram per element, for expr elements:
 *   prim            the row's own primitive
 *   this            the row's list, or the function of its name
 *   activation      the function named by the attribute
 *   Gelu, Silu ...  a function of the library
 *   requantize, dequantize, dynamic_quantize
 *   function        of a quantized row: the one that param names, or prim
 *   functions       amounts reported by the rule itself (oc_add_functions), whatever expr is
 *
 * Expressions: + - * / ( ), whole numbers, names, and
 *   N(x)            elements; x is input 0, w input 1, o output 0, in<k>, out<k>; absent: 0
 *   x[1] x[-1]      a dimension;  x[2:] x[:-1] x[0:2]  a product of them
 *   [B] [in2]       1 if the input is present, else 0; B is the slot of the bias
 *   [alpha:1 != 1]  1 if the comparison holds for the attribute (default after the colon): == or !=,
 *                   with a number or a word
 *   [strict]        1 if reductions count n - 1
 *   inputs          number of inputs
 *   clog2(n) max(a, b) min(a, b) ceil(a, b)      ceil: of a / b */
#ifndef OC_FORMULA_H
#define OC_FORMULA_H

#include "ops/op.h"

struct oc_formula_term {
    uint8_t prim;        /* enum oc_prim */
    const char *expr;    /* "N*M*taps*Cg" */
    const char *numbers; /* "1*64*614656*3" */
    uint64_t value;
    bool known; /* false: a name has no value, or the result is none */
};

struct oc_formula_name { /* a name used in the terms */
    const char *name;
    const char *expr; /* NULL: reported by the rule */
    uint64_t value;
    bool known;
};

enum { OC_FORMULA_TERMS = 40, OC_FORMULA_NAMES = 16 };

struct oc_formula {
    struct oc_formula_term term[OC_FORMULA_TERMS];
    struct oc_formula_name name[OC_FORMULA_NAMES];
    uint32_t n_term, n_name;
};

/* The formula of a row; NULL: no cost rule. */
const char *oc_formula_text(const struct oc_op *op);

/* Evaluates the formula of c->op with the sizes of c and the values in `values`, after the cost rule ran.
 * Texts are in c->arena. Returns 0, or -1 if the formula is malformed: a bug in the row. */
int oc_formula_read(struct oc_op_ctx *c, struct oc_formula *out);

#endif
