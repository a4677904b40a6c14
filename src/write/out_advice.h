/* Suggestions of --advise: below the table, as a member of the JSON report, as a section of Markdown. */
#ifndef OC_OUT_ADVICE_H
#define OC_OUT_ADVICE_H

#include "advice/advice.h"
#include "base/buf.h"
#include "base/json_write.h"

void oc_advice_text(const struct oc_advice *a, const struct oc_report_opts *o, struct oc_arena *arena,
                    FILE *f);
void oc_advice_json(const struct oc_advice *a, struct oc_json_out *w); /* the value of the member "advice" */
/* The same with at most so many rows of each suggestion, and with them how many there are. */
void oc_advice_json_cut(const struct oc_advice *a, uint32_t most, struct oc_json_out *w);
void oc_advice_markdown(const struct oc_advice *a, struct oc_arena *arena, struct oc_buf *b);

#endif
