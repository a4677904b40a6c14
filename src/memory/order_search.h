/* Two ways to find an order with a low peak: greedy priority rules for any size, and a best-first search over
 * sets of executed steps (downsets), which is exact if it completes. */
#ifndef OC_ORDER_SEARCH_H
#define OC_ORDER_SEARCH_H

#include "memory/order_graph.h"

/* The best order of several rules, forwards and backwards; its peak. */
uint64_t oc_order_greedy(const struct oc_order_graph *g, uint32_t *order);

struct oc_order_exact {
    bool solved;    /* `peak` is the minimum, or not above `enough` */
    bool found;     /* order was set: its peak is below `below` */
    uint64_t peak;  /* of the order found */
    uint64_t lower; /* lower bound of any order; above `enough` only if proven */
};

/* Searches for an order with a peak below `below`; stops at `enough`. Uses at most *work (about memory
 * accesses). beam 0: exact; else at most that many sets of each size are expanded, and nothing is proven. */
struct oc_order_exact oc_order_search(const struct oc_order_graph *g, uint32_t beam, uint64_t enough,
                                      uint64_t below, uint64_t *work, uint32_t *order);

#endif
