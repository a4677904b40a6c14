/* Function operators of the ONNX standard: what ONNX Runtime executes in their place if no execution provider
 * has a kernel. */
#ifndef OC_FUNCTION_BODIES_H
#define OC_FUNCTION_BODIES_H

#include <stdbool.h>
#include <stddef.h>

struct oc_function_body {
    const char *type, *ops; /* types of the body's nodes in order, separated by blanks */
    int since;              /* opset from which the body applies */
    bool expanded;          /* the CPU provider has no kernel for the operator */
};

/* The forms of an operator's body, newest first; NULL: not a function operator. */
const struct oc_function_body *oc_function_bodies(const char *op_type, size_t *n);

#endif
