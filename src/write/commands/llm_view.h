/* Private to the writers of the report of a language model. */
#ifndef OC_LLM_VIEW_H
#define OC_LLM_VIEW_H

#include "base/arena.h"
#include "llm/llm.h"
#include "write/tables/json_keys.h"
#include "onnxcost/llm.h"

struct oc_llm_line { /* a run of the graph, or all decode steps */
    const char *name, *key;
    enum oc_llm_part part;
    int64_t fresh, past; /* -1: does not apply */
    double tokens;       /* tokens produced or read, over all sequences */
};
enum { OC_LLM_LINES = 5 };
/* Returns the number of lines: without decode steps after the first token the others are omitted. */
size_t oc_llm_lines(const struct oc_llm *l, struct oc_arena *a, struct oc_llm_line line[OC_LLM_LINES]);
const struct oc_llm_roof *oc_llm_roof_of(const struct oc_llm_device *d, enum oc_llm_part part);

/* The reason if a part has no counts. */
const char *oc_llm_failure(const struct oc_llm *l, enum oc_llm_part part);

/* The counts with closed forms, in order; false after the last. */
struct oc_llm_form {
    const char *title, *key;
    enum oc_llm_num num;
};
bool oc_llm_form(size_t i, struct oc_llm_form *out);
/* "batch*(524288*past + 6607077376)"; NULL: no closed form was found. */
const char *oc_llm_form_text(const struct oc_llm *l, enum oc_llm_phase phase, enum oc_llm_num n,
                             struct oc_arena *a);

/* Members of "runs", "roofs" and "batches". */
void oc_llm_run_fields(struct oc_fields *o, const struct oc_llm *l, const struct oc_llm_line *line);
void oc_llm_roof_fields(struct oc_fields *o, const struct oc_llm_line *line, const struct oc_llm_roof *r);
void oc_llm_serving_fields(struct oc_fields *o, const struct oc_llm_serving_row *r);

/* Lines of the text format that have no table: the model; closed forms and notes on devices. */
void oc_llm_write_head(const struct oc_llm *l, FILE *f);
void oc_llm_write_notes(const struct oc_llm *l, FILE *f);

void oc_llm_page(const struct oc_llm *l, bool fragment, FILE *f);
void oc_llm_write_csv(const struct oc_llm *l, FILE *f);
void oc_llm_write_json(const struct oc_llm *l, FILE *f);

#endif
