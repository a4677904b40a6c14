/* Causes as data: what makes an operator slow, and what is known about it. A cause is a row of cause_table.c; cause_facts.c
 * says what its condition may ask, advise_causes.c looks for it. Other files have no cause. Private to advice/. */
#ifndef OC_CAUSE_H
#define OC_CAUSE_H

#include <stddef.h>
#include <stdint.h>

enum oc_cause_of {
    OC_CAUSE_TIMED = 1, /* only where a profile has its time: runtimes may remove it when they load */
    OC_CAUSE_CPU = 2,   /* of kernels of a CPU */
    OC_CAUSE_GPU = 4,
    OC_CAUSE_ORT = 8,    /* of ONNX Runtime */
    OC_CAUSE_SINGLE = 16 /* the node is a kernel of its own: it is not fused */
};

struct oc_cause {
    const char *id, *title;
    const char *types; /* " Softmax LogSoftmax ", NULL: any */
    const char *when;  /* conditions of the formula language, separated by ';', all of which hold */
    unsigned of;       /* enum oc_cause_of */
    double low, high;  /* share of the kernel's time that the remedy saves; high 0: not known */
    const char *text;  /* of a row: "its axis is not the last" */
    const char *todo;
    const char *source, *holds; /* how this is known; runtimes and versions for which it is meant */
};

extern const struct oc_cause oc_cause_table[];
extern const size_t oc_causes;

#endif
