/* When a measurement has enough runs: by time and by spread, within a time budget. */
#ifndef OC_STOP_RULE_H
#define OC_STOP_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    OC_LEAST_RUNS = 5,
    OC_LEAST_TIME_S = 3,   /* of measuring ... */
    OC_MOST_TIME_S = 10,   /* ... and where the median stays uncertain, if there are OC_LEAST_RUNS by then */
    OC_ERROR_PERCENT = 2,  /* half of the 95 % confidence interval of the median / median */
    OC_TIME_BUDGET_S = 60, /* default for both sessions */
};

struct oc_stop_rule {
    uint32_t runs;    /* exactly so many; 0: the rule below */
    uint32_t most;    /* 0: no limit */
    double budget_ns; /* since `from`, warm-up runs included; one run is measured in any case */
};

struct oc_stop_state {
    double *ns; /* of the measured runs, heap; in the order of the runs until the end */
    size_t n, cap;
    double sum_ns;
    size_t next_check; /* the spread is computed at a growing number of runs: it sorts */
    bool over_budget;  /* ended before OC_LEAST_RUNS, or before the fixed number */
};

/* Adds a run and decides whether it was the last one. elapsed_ns: since the measurement began. */
bool oc_stop_after(const struct oc_stop_rule *rule, struct oc_stop_state *s, double run_ns,
                   double elapsed_ns);

#endif
