/* The two ways to an order that needs few bytes: rules of thumb for any size, and a search through the sets
 * of steps that can have run (downsets), which is exact if it gets to its end. */
#ifndef OC_ORDER_SEARCH_H
#define OC_ORDER_SEARCH_H

#include "memory/order_graph.h"

/* The best order of several rules, forwards and backwards; its peak. */
uint64_t oc_order_greedy(const struct oc_order_graph *g, uint32_t *order);

struct oc_order_exact {
    bool solved;    /* `peak` is the least there is, or not above `enough` */
    bool found;     /* order was filled: its peak is below `below` */
    uint64_t peak;  /* of the order found */
    uint64_t lower; /* no order needs less; above `enough` only if that was shown */
};

/* Looks for an order with a peak below `below`; not interested in less than `enough`. Uses up *work (about
 * memory accesses) at most. beam 0: exact; else only that many sets of each size are followed, nothing is
 * shown about other orders. */
struct oc_order_exact oc_order_search(const struct oc_order_graph *g, uint32_t beam, uint64_t enough,
                                      uint64_t below, uint64_t *work, uint32_t *order);

#endif
