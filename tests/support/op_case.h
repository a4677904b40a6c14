/* One operator without a model: a node from short texts, run through its shape, fold and cost rules with the
 * engine's prefill (default bytes, classes). For tests of rules.
 *
 *   struct op_case t;
 *   op_case_run(&t, "Conv", 22, "strides=[2,2] pads=[3,3,3,3]", "float[1,3,224,224] float[64,3,7,7]!", "y");
 *   assert_string_equal(op_case_types(&t), "float[1,64,112,112]");
 *   op_case_free(&t);
 *
 * op: "Name" or "domain:Name". Attributes, separated by blanks: i=3  f=0.5 (with '.' or 'e')  s=text  l=[1,2]
 * l=[0.5,1.0]  l=["a","b"]  t=int64[2]{1,2} (a tensor). Inputs, separated by blanks:
 *   -                    absent
 *   ?                    present, unknown type
 *   float[1,N,3]         activation; a name is a symbol (same name, same size), "float" alone: unranked
 *   ...!                 constant without known elements (a weight)
 *   ...{1,2,-1}          constant with these elements (0.5: real, "a": string, ?: unknown, H: the symbol,
 *                        2*H: a multiple of it; true and false)
 *   ...~{1,2}            the same, but not a constant
 *   @0                   the same value as input 0
 *   seq(float[1,2])  opt(float[1,2])   a sequence, an optional; of unknown length
 *   seq(float[2])*3  opt(float[2])*0   with its length, a number or a symbol
 *   seq(float[1];float[2])             the elements of a sequence
 *   map(int64,float[])                 a map
 * Outputs: one letter each: y present, - absent, u present without a reader. */
#ifndef OP_CASE_H
#define OP_CASE_H

#include "ops/op.h"

#define OP_CASE_MAX 24

struct op_case {
    struct oc_arena arena;
    struct oc_exprs *exprs;
    struct oc_node node;
    struct oc_op_ctx ctx;
    struct oc_cost cost;
    struct oc_err err;
    int rc; /* of the shape rule, or of the cost rule after it */
    /* sums after the cost rule */
    uint64_t macs;
    uint64_t flops, ops; /* weights `unit`: float operations, integer and boolean operations */
    uint64_t total, hw;  /* sum of both: weights `unit`, weights `hw` */
    uint64_t rd_act, rd_const, wr;
    /* storage */
    const struct oc_type *in[OP_CASE_MAX];
    const struct oc_data *in_data[OP_CASE_MAX];
    bool in_const[OP_CASE_MAX], out_used[OP_CASE_MAX];
    uint32_t in_id[OP_CASE_MAX], out_id[OP_CASE_MAX];
    struct oc_type out[OP_CASE_MAX];
    const struct oc_data *out_data[OP_CASE_MAX];
    uint64_t rd[OP_CASE_MAX], wr_slot[OP_CASE_MAX];
};

/* Initializes everything; options may then be set in ctx. Fails the test when a text is malformed or the
 * operator does not exist. */
void op_case_init(struct op_case *t, const char *op, int opset, const char *attrs, const char *in,
                  const char *out);
void op_case_init_row(struct op_case *t, const struct oc_op *row, int opset, const char *attrs,
                      const char *in, const char *out); /* with a row that is in no table */
int op_case_shape(struct op_case *t); /* shape and fold rule; returns the result of the shape rule */
int op_case_cost(struct op_case *t);  /* cost rule and the sums */
void op_case_run(struct op_case *t, const char *op, int opset, const char *attrs, const char *in,
                 const char *out); /* all rules; t->rc is the result */
void op_case_free(struct op_case *t);

const char *op_case_types(struct op_case *t);                   /* "float[1,2] - int64[3]" */
const char *op_case_value(struct op_case *t, unsigned slot);    /* "1,N,0.5,?"; "none": no value */
uint64_t op_case_prim(const struct op_case *t, enum oc_prim p); /* sum of float and integer operations */

/* Only the shape rule: the text of op_case_types, or "error: ..."; static storage, overwritten by the next
 * call. */
const char *op_shapes(const char *op, int opset, const char *attrs, const char *in, const char *out);
/* Shape and fold rule: the text of op_case_value of output 0. Static storage. */
const char *op_fold(const char *op, int opset, const char *attrs, const char *in);

/* The histogram as text: "MAC 12, ADD 3", "nothing"; followed by ", alias", ", upper", ", unknown", ", est"
 * where they apply. Static storage. */
const char *op_hist(const char *op, int opset, const char *attrs, const char *in, const char *out);

#endif
