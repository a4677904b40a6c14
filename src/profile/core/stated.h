/* What a printed table says about itself: a total and shares, compared with its rows. Each function returns what differs in
 * words, with both figures, or NULL. NAN: the file does not have the figure. */
#ifndef OC_CORE_STATED_H
#define OC_CORE_STATED_H

#include "profile/profile.h"

struct oc_stated_row {
    const char *name;
    double ns, share; /* share: as printed, in percent or of `hundred` */
    uint32_t line;
};

double oc_stated_sum(const struct oc_stated_row *row, size_t n);
/* within: percent of the stated total. */
const char *oc_stated_total(struct oc_arena *a, double have_ns, double want_ns, double within);
/* within: percent, in addition to what rounding of the shares explains. *less: rows are missing. */
const char *oc_stated_hundred(struct oc_arena *a, const struct oc_stated_row *row, size_t n, double hundred,
                              double within, bool *less);
/* Each share, of the shares of all rows, is that of its time. *line: of the row that differs. */
const char *oc_stated_agree(struct oc_arena *a, const struct oc_stated_row *row, size_t n, double within,
                            uint32_t *line);
/* known: why the tool may disagree with itself; NULL: no reason is known. */
void oc_stated_warn(struct oc_profile *p, const char *text, bool less, const char *known);

#endif
