/* Tables of a summary as text. */
#ifndef OC_SUMMARY_TEXT_H
#define OC_SUMMARY_TEXT_H

#include "write/commands/page_views.h"

struct summary_printer {
    const struct oc_time_summary *s;
    const struct oc_summary_opts *o;
    struct oc_arena arena;
    double unit_ns;
    const char *unit;
    FILE *f;
    uint32_t most; /* lines of a list on the default screen; 0: as the options say */
};

static inline uint32_t oc_least_u32(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

void oc_summary_print_head(struct summary_printer *p);
void oc_summary_print_runs(struct summary_printer *p);
void oc_summary_print_list(struct summary_printer *p, enum oc_view v, const struct oc_sum_list *list);
void oc_summary_print_view(struct summary_printer *p, enum oc_view v);
/* The runs and two lists in the lines of a screen. */
void oc_summary_print_screen(struct summary_printer *p);

#endif
