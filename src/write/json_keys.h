/* Private to the writers of JSON: members with keys. An unknown number is null. */
#ifndef OC_JSON_KEYS_H
#define OC_JSON_KEYS_H

#include "base/json_write.h"
#include "join/join.h"
#include "report/report.h"
#include "onnxcost.h"

void oc_key_text(struct oc_json_out *w, const char *key, const char *s); /* NULL: null */
void oc_key_u64(struct oc_json_out *w, const char *key, uint64_t v);
void oc_key_u64_if(struct oc_json_out *w, const char *key, bool known, uint64_t v);
void oc_key_double(struct oc_json_out *w, const char *key, double v); /* not finite: null */
void oc_key_time(struct oc_json_out *w, const char *key, double ns);  /* rounded to 15 digits to remove
                                                                       * arithmetic error */
void oc_key_count(struct oc_json_out *w, const char *key, double v);  /* integers without a decimal point */
void oc_key_null(struct oc_json_out *w, const char *key);
void oc_key_quality(struct oc_json_out *w, unsigned quality);
void oc_key_quality_of(struct oc_json_out *w, const char *key, unsigned quality);

/* The first members of documents other than the report: schema, version, tool, model (its path; NULL: no
 * model). */
void oc_json_head(struct oc_json_out *w, const char *schema, unsigned version, const char *model);

/* Whether options select rows; otherwise the report has all rows. */
bool oc_json_narrowed(const struct oc_report *r);

/* The member "join": the records of the profile, with or without a model. */
void oc_json_join(struct oc_json_out *w, struct oc_report *r);
/* The member "buckets" of it, and "host" or "device" with the time accounting. They need a profile. */
void oc_json_buckets(struct oc_json_out *w, struct oc_report *r);
void oc_json_conserved(struct oc_json_out *w, const struct oc_report *r, bool device);
/* Computes the index of each record in the list of rows that oc_json_join writes; call before ... */
void oc_json_place_rows(struct oc_report *r);
/* ... the index of the node's record. OC_NONE: it has none. */
uint32_t oc_json_row_of_node(const struct oc_report *r, uint32_t node);

/* The member "groups": the rows of --aggregate, null without it. */
void oc_json_groups(struct oc_json_out *w, const struct oc_report *r);

/* The member "run_times": spread of the run times of a profile; null if unknown. */
void oc_json_run_times(struct oc_json_out *w, const struct oc_run_spread *s);

/* A figure changed by the user, as an object in a list of assumptions. */
void oc_hw_set_json(struct oc_json_out *w, const struct oc_hw_set *set);

#endif
