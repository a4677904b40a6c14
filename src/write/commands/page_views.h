/* What the commands write in several formats: their rows as lists of fields, their texts, their pages. */
#ifndef OC_PAGE_VIEWS_H
#define OC_PAGE_VIEWS_H

#include <stdio.h>

#include "base/arena.h"
#include "gate/diff.h"
#include "join/join.h"
#include "llm/llm.h"
#include "memory/memory_report.h"
#include "onnxcost/estimate.h"
#include "onnxcost/llm.h"
#include "onnxcost/report.h"
#include "profile/time_summary.h"
#include "report/report.h"
#include "write/tables/json_keys.h"

/* ---- llm view ----------------------------------------------------------------------------------------- */

/* Private to the writers of the report of a language model. */

struct oc_llm_line { /* a run of the graph, or all decode steps */
    const char *name, *key;
    enum oc_llm_part part;
    int64_t fresh, past; /* -1: does not apply */
    double tokens;       /* tokens produced or read, over all sequences */
};
enum { OC_LLM_LINES = 5 };
/* Returns the number of lines: without decode steps after the first token the others are omitted. */
size_t oc_llm_lines(const struct oc_llm *l, struct oc_arena *a, struct oc_llm_line line[OC_LLM_LINES]);

/* The reason if a part has no counts. */
const char *oc_llm_failure(const struct oc_llm *l, enum oc_llm_part part);

/* The counts with closed forms, in order; false after the last. */
struct oc_llm_form {
    const char *title, *key;
    enum oc_llm_num num;
};
bool oc_llm_form(size_t i, struct oc_llm_form *out);
/* The summary of a device: rates, what they are bound by, whether it fits. */
const char *oc_llm_verdict(const struct oc_llm *l, const struct oc_llm_device *d, struct oc_arena *a);
/* The same of several devices: the fastest and the smallest of those that hold the context. NULL: fewer than two devices. */
const char *oc_llm_choice(const struct oc_llm *l, struct oc_arena *a);
/* The same without a device: what a decode step needs. NULL: its counts are unknown. */
const char *oc_llm_needs(const struct oc_llm *l, struct oc_arena *a);
/* Part of the bound that the measured figure reaches, NAN: not measured, or the bound is unknown. */
double oc_llm_measured_share(const struct oc_llm *l, const struct oc_llm_device *d, enum oc_llm_figure of);
double oc_llm_decode_rate(const struct oc_llm *l, const struct oc_llm_device *d); /* tokens per second, NAN */
/* Price of a million generated tokens at a rate of decode, NAN: the price of the device or the rate is unknown. */
double oc_llm_price(const struct oc_llm_device *d, double tokens_per_s);
/* The device with the smallest memory of those that hold the context and reach the rate; NULL: none. */
const struct oc_llm_device *oc_llm_smallest(const struct oc_llm *l);
const char *oc_llm_form_text(const struct oc_llm *l, enum oc_llm_phase phase, enum oc_llm_num n,
                             struct oc_arena *a);

/* Text: all of it; the lines that have no table: of the model; closed forms and notes on devices. */
void oc_llm_write_text(const struct oc_llm *l, FILE *f);
void oc_llm_write_head(void *llm, FILE *f);
void oc_llm_write_notes(void *llm, FILE *f);

/* ---- memory view -------------------------------------------------------------------------------------- */

/* Rows and texts of the memory report and of plans, shared by JSON, CSV, text and HTML. */

/* Rows of an oc_list of a struct oc_memory: members of "live_at_peak", "buffers", "steps" (also of no step). */
void oc_memory_live_fields(struct oc_fields *o, const void *of, size_t i);
void oc_memory_buffer_fields(struct oc_fields *o, const void *of, size_t i);
void oc_memory_step_fields(struct oc_fields *o, const void *of, size_t step);
/* Of a struct oc_memory_plan: a member of "buffers". */
void oc_plan_buffer_fields(struct oc_fields *o, const void *of, size_t i);
/* Size of the plan as a multiple of the peak activation memory. */
double oc_plan_ratio(const struct oc_memory_plan *p);

/* Of what ONNX Runtime's allocator holds, over sizes of quality `sizes`. */
unsigned oc_memory_run_quality(const struct oc_ort_run *r, unsigned sizes);

/* The members of JSON before "steps". */
void oc_memory_members(void *of, struct oc_json_out *w);

/* ---- diff view ---------------------------------------------------------------------------------------- */

/* Selection and texts of a diff, shared by all text formats. */

struct oc_diff_view {
    const struct oc_diff *d;
    const struct oc_diff_write_opts *o;
    struct oc_arena arena;
    bool has[OC_DIFF_METRICS];    /* the metric is non-zero or unknown on some side */
    bool column[OC_DIFF_METRICS]; /* the metric has a column: it differs in some row */
    uint32_t *row;                /* indices in output order */
    uint32_t n_row;               /* number of rows printed */
    uint32_t n_wanted;            /* number before --top */
    bool screen;                  /* the default screen: no totals that are equal */
    uint32_t n_unshown;           /* rows left out: their verdict is that no difference is shown */
};

/* whole: also unchanged rows, all of them and in model order, unless the options say otherwise. */
int oc_diff_view_make(struct oc_diff_view *v, const struct oc_diff *d, const struct oc_diff_write_opts *o,
                      bool whole, struct oc_err *err);
void oc_diff_view_free(struct oc_diff_view *v);

struct oc_metric_name {
    const char *key, *title;
    bool bytes, time;
};
extern const struct oc_metric_name oc_diff_metric_names[OC_DIFF_METRICS];

/* The tables, each freed by oc_table_free; their texts are allocated in the view. */

void oc_diff_sides(struct oc_diff_view *v, struct oc_table *t);  /* description of A and B */
void oc_diff_beside(struct oc_diff_view *v, struct oc_table *t); /* time outside the runs */
/* What the change of the latency consists of, and their sum; without rows: there is none. */
void oc_diff_parts(struct oc_diff_view *v, struct oc_table *t);
/* "same work at another speed -12.3 ms, copies +1.0 ms"; NULL: there is none. */
const char *oc_diff_parts_text(struct oc_diff_view *v);
/* What the latencies show, with the interval; NULL: a side has none. */
const char *oc_diff_statement(struct oc_diff_view *v);
const char *oc_diff_unshown(struct oc_diff_view *v);             /* "12 rows without a shown difference" */
void oc_diff_totals(struct oc_diff_view *v, struct oc_table *t); /* exact totals with differences */
void oc_diff_fusions(struct oc_diff_view *v,
                     struct oc_table *t); /* whose counts differ between two profiles */
/* "69 rows: 12 equal ...", and the rows excluded from the sums. Arena text. */
const char *oc_diff_sentence(struct oc_diff_view *v);
bool oc_diff_is_news(const struct oc_diff_row *r); /* whether anything differs, figures too */

/* Rows whose metrics are unknown, as text; NULL: none. */
const char *oc_diff_gaps(struct oc_diff_view *v);
bool oc_diff_type_differs(const struct oc_diff_view *v, const struct oc_diff_type *t);
double oc_diff_type_delta(const struct oc_diff_type *t, unsigned metric); /* NAN: unknown */

/* Members of "rows", of a view, also of no row; members of "types", of a diff. */
void oc_diff_row_fields(struct oc_fields *o, const void *view, size_t i);
void oc_diff_type_fields(struct oc_fields *o, const void *diff, size_t i);

/* Formats. */
void oc_diff_page(struct oc_diff_view *v, FILE *f);
void oc_diff_csv(struct oc_diff_view *v, FILE *f);
void oc_diff_json(struct oc_diff_view *v, FILE *f);
void oc_diff_github(struct oc_diff_view *v, FILE *f); /* annotations of GitHub Actions */

/* ---- summary view ------------------------------------------------------------------------------------ */

/* Private to the writers of summaries. */

enum oc_view {
    OC_VIEW_DEVICE,
    OC_VIEW_OVERVIEW,
    OC_VIEW_RUNS,
    OC_VIEW_MODEL,
    OC_VIEW_DISTRIBUTION,
    OC_VIEW_TYPE,
    OC_VIEW_OPERATOR,
    OC_VIEW_EVENT,
    OC_VIEW_KERNEL,
    OC_VIEW_MEMORY,
    OC_VIEW_COPIES,
    OC_VIEW_USER,
    OC_VIEW_LANES,
    OC_VIEW_BENCHMARK,
    OC_VIEW_COUNT
};

struct oc_view_info {
    const char *name, *title;
};
extern const struct oc_view_info oc_views[OC_VIEW_COUNT];

/* The rows of a view that is a list, NULL: it is none. */
const struct oc_sum_list *oc_view_list(const struct oc_time_summary *s, enum oc_view v);
bool oc_view_wanted(const struct oc_summary_opts *o, enum oc_view v);
/* Rows to write of the list: a part and a kernel never without their operator. */
uint32_t oc_view_cut(const struct oc_summary_opts *o, enum oc_view v, const struct oc_sum_list *list);
/* What the shares of a view refer to. Operators, types and kernels: the sum of the view's rows; a part of an
 * operator: the row that contains it (as in Paddle's tables); other views: the total time. */
#define OC_VIEW_DEPTH 8
struct oc_view_base {
    bool own;                           /* parts refer to the row that contains them */
    double whole[2][OC_VIEW_DEPTH + 1]; /* [host, device][depth] */
};
void oc_view_base_init(struct oc_view_base *b, const struct oc_time_summary *s, enum oc_view v,
                       const struct oc_sum_list *list);
/* For the rows in order: the whole that the shares of this row refer to. */
double oc_view_base_next(struct oc_view_base *b, const struct oc_sum_item *item, bool device);
/* "thread 4242", "stream 7 of device 0" */
const char *oc_lane_text(const struct oc_profile *p, uint32_t lane, struct oc_arena *a);

void oc_summary_page(const struct oc_time_summary *const *s, size_t n, const struct oc_summary_opts *o,
                     FILE *f);
void oc_summary_json(const struct oc_time_summary *const *s, size_t n, const struct oc_summary_opts *o,
                     FILE *f);
void oc_summary_csv(const struct oc_time_summary *const *s, size_t n, const struct oc_summary_opts *o,
                    FILE *f);
/* The rows of CSV. */
extern const struct oc_cell_table oc_summary_table;
/* As Paddle's Profiler.summary() prints its tables. */
void oc_summary_paddle(const struct oc_time_summary *const *s, size_t n, const struct oc_summary_opts *o,
                       FILE *f);
double oc_summary_unit_ns(const char *name); /* NULL: ms; 0: no such unit */
void oc_summary_parquet(const struct oc_time_summary *const *s, size_t n, const struct oc_summary_opts *o,
                        FILE *f);

#endif
