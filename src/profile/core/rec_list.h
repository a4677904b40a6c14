/* A growing list of records, for importers of tables, whose rows are already sums or averages, and of events. */
#ifndef OC_REC_LIST_H
#define OC_REC_LIST_H

#include "profile/csv_rows.h"
#include "profile/profile.h"

struct oc_rec_list {
    struct oc_prof_rec *rec; /* heap */
    size_t n, cap;
};

/* Appends a record with all members unknown: texts "", numbers NAN or their "absent" value, no time, no
 * call. The pointer is valid until the next append. */
struct oc_prof_rec *oc_rec_add(struct oc_rec_list *l);

/* Appends a record with that name; bucket NULL: an operator. */
struct oc_prof_rec *oc_rec_add_named(struct oc_rec_list *l, const char *bucket, const char *name);

/* For sources with one figure per record: sets time_ns = self_ns = min = max = median. */
void oc_rec_time(struct oc_prof_rec *rec, double ns);

/* Calls with one record: records of events are in the order of their first calls. */
struct oc_first_call {
    uint32_t group, run; /* run: of the first call */
    double start;        /* of that call in its run */
};
/* by_run: those of the first run before all others. */
void oc_sort_first_calls(struct oc_first_call *c, size_t n, bool by_run);

/* Moves the records to the profile and frees the list. */
void oc_rec_list_end(struct oc_rec_list *l, struct oc_profile *p);

/* Interns the text in the profile. */
const char *oc_prof_text(struct oc_profile *p, struct oc_str s);

/* Adds the warning that the table is truncated, and marks the profile. */
void oc_prof_cut(struct oc_profile *p, const struct oc_csv *c);
/* The same of JSON, if its reading met an error or the end of the file. */
void oc_prof_cut_json(struct oc_profile *p, const struct oc_json *j);

/* Adds a lane; returns its index. */
uint32_t oc_prof_lane(struct oc_profile *p, struct oc_lane lane);

#endif
