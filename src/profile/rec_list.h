/* A growing list of records for importers of tables, whose rows are sums or averages already. */
#ifndef OC_REC_LIST_H
#define OC_REC_LIST_H

#include "profile/csv_rows.h"
#include "profile/profile.h"

struct oc_rec_list {
    struct oc_prof_rec *rec; /* heap */
    size_t n, cap;
};

/* One more record, with nothing known: texts "", numbers NAN or their "not given", no time, no call. The
 * pointer holds until the next one is added. */
struct oc_prof_rec *oc_rec_add(struct oc_rec_list *l);

/* Sets what a source knows that tells one figure: time_ns = self_ns = min = max = median. */
void oc_rec_time(struct oc_prof_rec *rec, double ns);

/* Hands the records to the profile and frees the list. */
void oc_rec_list_end(struct oc_rec_list *l, struct oc_profile *p);

/* The one copy of the text in the profile. */
const char *oc_prof_text(struct oc_profile *p, struct oc_str s);

/* Says that the table ends early, and remembers it in the profile. */
void oc_prof_cut(struct oc_profile *p, const struct oc_csv *c);

/* A lane more; returns its index. */
uint32_t oc_prof_lane(struct oc_profile *p, struct oc_lane lane);

#endif
