/* One description of a row for both machine-readable formats: members of a JSON object, or CSV cells below
 * a header with the same names. An unknown number is null, or an empty cell. */
#ifndef OC_FIELDS_H
#define OC_FIELDS_H

#include "base/arena.h"
#include "base/json_write.h"
#include "write/plain_table.h"

#define OC_MAX_FIELDS 80

struct oc_fields {
    struct oc_json_out *json; /* NULL: CSV */
    struct oc_plain_table table;
    struct oc_arena arena;
    const char *name[OC_MAX_FIELDS], *cell[OC_MAX_FIELDS];
    size_t n;
};

void oc_fields_begin(struct oc_fields *f); /* a row */
void oc_fields_end(struct oc_fields *f);
void oc_fields_head(struct oc_fields *f); /* CSV only: prints the names instead, for a table without rows */
void oc_field_text(struct oc_fields *f, const char *name, const char *s); /* NULL: unknown */
void oc_field_u64(struct oc_fields *f, const char *name, uint64_t v);
void oc_field_double(struct oc_fields *f, const char *name, double v);   /* not finite: unknown */
void oc_field_size(struct oc_fields *f, const char *name, double v);     /* a count; 0 means unknown */
void oc_fields_csv(struct oc_fields *f, const char *version, FILE *out); /* all rows */
void oc_fields_free(struct oc_fields *f);

#endif
