/* Private to the writers of JSON: members with keys. An unknown number is null. */
#ifndef OC_JSON_KEYS_H
#define OC_JSON_KEYS_H

#include "base/arena.h"
#include "base/json_write.h"
#include "base/row_cells.h"
#include "estimate/kernels.h"
#include "join/join.h"
#include "onnxcost_types.h"
#include "report/report.h"
#include "write/tables/table.h"

void oc_key_text(struct oc_json_out *w, const char *key, const char *s); /* NULL: null */
void oc_key_u64(struct oc_json_out *w, const char *key, uint64_t v);
void oc_key_i64(struct oc_json_out *w, const char *key, int64_t v);
void oc_key_bool(struct oc_json_out *w, const char *key, bool v);
void oc_key_u64_if(struct oc_json_out *w, const char *key, bool known, uint64_t v);
void oc_key_double(struct oc_json_out *w, const char *key, double v); /* not finite: null */
void oc_key_time(struct oc_json_out *w, const char *key, double ns);  /* rounded to 15 digits to remove
                                                                       * arithmetic error */
void oc_key_count(struct oc_json_out *w, const char *key, double v);  /* integers without a decimal point */
void oc_key_quality(struct oc_json_out *w, unsigned quality);
void oc_key_quality_of(struct oc_json_out *w, const char *key, unsigned quality);

void oc_key_null(struct oc_json_out *w, const char *key);

/* Begin a member that is an object or an array. */
void oc_key_object(struct oc_json_out *w, const char *key);
void oc_key_array(struct oc_json_out *w, const char *key);
/* Or null, and false, where it is not known. Inline, for the static analysis of pointers. */
static inline bool oc_key_object_if(struct oc_json_out *w, const char *key, bool known)
{
    if (known)
        oc_key_object(w, key);
    else
        oc_key_null(w, key);
    return known;
}
static inline bool oc_key_array_if(struct oc_json_out *w, const char *key, bool known)
{
    if (known)
        oc_key_array(w, key);
    else
        oc_key_null(w, key);
    return known;
}

/* A document: one object, whose first members are schema, version, tool and model (its path; NULL: no
 * model). */
void oc_json_begin(struct oc_json_out *w, FILE *f, const char *schema, unsigned version, const char *model);
void oc_json_end(struct oc_json_out *w);
/* These members alone. */
void oc_json_head(struct oc_json_out *w, const char *schema, unsigned version, const char *model);

/* An object in a list of assumptions. */
void oc_json_assumption(struct oc_json_out *w, const struct oc_assumption *a);

/* Whether options select rows; otherwise the report has all rows. */
bool oc_json_narrowed(const struct oc_report *r);

/* The member "join": the records of the profile, with or without a model. */
void oc_json_join(struct oc_json_out *w, struct oc_report *r);
/* "rows": the table, with the remainder rows; their times add up to total_ns of "measurement". */
void oc_json_rows(struct oc_json_out *w, struct oc_report *r);
void oc_json_measurement(struct oc_json_out *w, const struct oc_report *r);
/* The member "buckets" of it, and "host" or "device" with the time accounting. They need a profile. */
void oc_json_buckets(struct oc_json_out *w, struct oc_report *r);
void oc_json_conserved(struct oc_json_out *w, const struct oc_report *r, bool device);
/* Computes the index of each record in the list of rows that oc_json_rows writes; call before ... */
void oc_json_place_rows(struct oc_report *r);
/* ... the index of the node's record. OC_NONE: it has none. */
uint32_t oc_json_row_of_node(const struct oc_report *r, uint32_t node);

/* The member "groups": the rows of --aggregate, null without it. */
void oc_json_groups(struct oc_json_out *w, const struct oc_report *r);

/* The member "run_times": spread of the run times of a profile; null if unknown. */
void oc_json_run_times(struct oc_json_out *w, const struct oc_run_spread *s);

/* The figures that the user changed, as objects in a list of assumptions. NULL: none. */
void oc_hw_set_json(struct oc_json_out *w, const struct oc_device_info *device);

/* ---- fields ----------------------------------------------------------------------------------------- */

/* One description of a row for the machine-readable formats: members of a JSON object, CSV cells below a
 * header with the same names, or the cells of a row of Parquet. An unknown number is null, or an empty cell.
 */

#define OC_MAX_FIELDS 80

struct oc_fields {
    struct oc_json_out *json;             /* NULL: CSV, or ... */
    struct oc_parquet *parquet;           /* ... whose columns are the fields in this order */
    struct oc_datum value[OC_MAX_FIELDS]; /* of Parquet; "" is unknown, as in CSV */
    struct oc_table table;
    struct oc_arena arena;
    const char *name[OC_MAX_FIELDS], *cell[OC_MAX_FIELDS];
    size_t n;
    bool head_only; /* CSV: a row gives its names alone, for a table without rows */
    bool no_head;   /* CSV: rows without names above them */
};

void oc_fields_begin(struct oc_fields *f); /* a row */
void oc_fields_end(struct oc_fields *f);
void oc_field_text(struct oc_fields *f, const char *name, const char *s); /* NULL: unknown */
void oc_field_u64(struct oc_fields *f, const char *name, uint64_t v);
void oc_field_i64(struct oc_fields *f, const char *name, int64_t v);
void oc_field_u64_if(struct oc_fields *f, const char *name, bool known, uint64_t v);
void oc_field_bool(struct oc_fields *f, const char *name, bool v);     /* in CSV 1 or 0 */
void oc_field_double(struct oc_fields *f, const char *name, double v); /* not finite: unknown */
void oc_field_time(struct oc_fields *f, const char *name, double ns);  /* as oc_key_time */
void oc_field_size(struct oc_fields *f, const char *name, double v);   /* a count; 0 means unknown */
/* "node", "name" and "op_type" of a node of the model; unknown if it has none of this index. */
void oc_field_node(struct oc_fields *f, const struct oc_model *m, size_t node);
/* All cells of a row; texts are copied unless they are written at once. */
void oc_field_cells(struct oc_fields *f, const struct oc_cell_table *t, const struct oc_datum *cell);
void oc_fields_free(struct oc_fields *f);

/* ---- output of a command ---------------------------------------------------------------------------- */

/* Rows: objects of an array in JSON, lines of CSV, a table of a page (oc_html_list). */
struct oc_row_list {
    size_t n;
    const void *of;
    /* The fields of row i; headed: also of no row (i == n), all unknown, for their names. */
    void (*fields)(struct oc_fields *o, const void *of, size_t i);
    bool headed; /* CSV without rows has names above them */
};
#define OC_ROWS(count, subject, fields_of)                                                                   \
    ((struct oc_row_list){.n = (count), .of = (subject), .fields = (fields_of)})
/* With names above no rows. */
#define OC_HEADED_ROWS(count, subject, fields_of)                                                            \
    ((struct oc_row_list){.n = (count), .of = (subject), .fields = (fields_of), .headed = true})
void oc_row_list_json(const struct oc_row_list *l, const char *key, struct oc_json_out *w);
void oc_row_list_csv(const struct oc_row_list *l, FILE *f);
void oc_row_list_fill(const struct oc_row_list *l, struct oc_fields *o);

/* What a command writes in its formats. */
struct oc_output {
    const char *what; /* in the message about another format */
    void *of;         /* argument of the functions */
    void (*text)(void *of, FILE *f);
    struct oc_row_list rows;                          /* CSV, and of JSON ... */
    const char *key;                                  /* ... the last member; NULL: `members` has all */
    const char *schema, *model;                       /* of JSON; model: as in oc_json_begin */
    void (*members)(void *of, struct oc_json_out *w); /* NULL: none but the rows */
    void (*page)(void *of, bool fragment, FILE *f);   /* NULL: no page */
};
int oc_output_write(const struct oc_output *c, const char *format, FILE *f, struct oc_err *err);

/* ---- kernels ---------------------------------------------------------------------------------------- */

/* Size and work of a kernel as fields. */
void oc_kernel_fields(struct oc_fields *f, const struct oc_kernel *k);

#endif
