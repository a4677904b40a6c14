/* Cost as a function of the open dimensions: closed forms, and tables of many analyses.
 * Conventions: onnxcost.h. */
#ifndef ONNXCOST_SWEEP_H
#define ONNXCOST_SWEEP_H

#include "onnxcost_types.h"

OC_API_BEGIN

enum oc_metric {
    OC_METRIC_MACS,
    OC_METRIC_FLOPS,
    OC_METRIC_OPS,
    OC_METRIC_BYTES_READ_ACT,
    OC_METRIC_BYTES_READ_WEIGHT,
    OC_METRIC_BYTES_WRITTEN,
    OC_METRIC_PEAK, /* peak activation memory in bytes */
    OC_METRIC_PARAMS,
    OC_METRIC_COUNT
};

/* Closed forms of the totals in the dimensions that the model leaves open and `opts` does not bind. They are
 * interpolated from many analyses in exact arithmetic and verified at further points. Where a total is not a
 * polynomial, the formula holds for multiples of a step, for a range, or there is none. */
struct oc_closed_form;
int oc_closed_form_make(const struct oc_model *model, const struct oc_analyze_opts *opts,
                        struct oc_closed_form **out, struct oc_err *err);
void oc_closed_form_free(struct oc_closed_form *f);
size_t oc_closed_form_symbols(const struct oc_closed_form *f); /* dimensions in the formulas */
const char *oc_closed_form_symbol(const struct oc_closed_form *f, size_t index);
/* "batch*(18432*sequence^2 + 85054464*sequence)"; NULL: no closed form was found. */
const char *oc_closed_form_text(const struct oc_closed_form *f, enum oc_metric m);
/* The formula at a point, one number per symbol. False where the formula does not apply. */
bool oc_closed_form_at(const struct oc_closed_form *f, enum oc_metric m, const int64_t *at, uint64_t *out);
/* Number of formulas that are missing, hold only for some sizes, or are not exact. */
size_t oc_closed_form_findings(const struct oc_closed_form *f);
/* format: table (NULL), csv or json; width_chars: of the table, 0: no limit */
int oc_closed_form_write(const struct oc_closed_form *formula, const char *format, unsigned width_chars,
                         FILE *f, struct oc_err *err);

struct oc_sweep_axis {
    const char *symbol;
    const int64_t *value;
    size_t n;
};
struct oc_sweep_row {
    const int64_t *at;   /* by axis */
    const char *failure; /* reason why there are no numbers, NULL: there are */
    uint64_t value[OC_METRIC_COUNT];
    uint64_t nodes, unknown_nodes;
    enum oc_quality quality;      /* quality of the sums, as in struct oc_totals */
    enum oc_quality peak_quality; /* OC_UNKNOWN: value[OC_METRIC_PEAK] is invalid */
};
#define OC_SWEEP_MAX_ROWS 100000

/* One analysis for each combination, the last axis fastest. Fails when no row has totals. */
struct oc_sweep;
int oc_sweep_make(const struct oc_model *model, const struct oc_analyze_opts *opts,
                  const struct oc_sweep_axis *axis, size_t n_axis, struct oc_sweep **out, struct oc_err *err);
void oc_sweep_free(struct oc_sweep *s);
size_t oc_sweep_rows(const struct oc_sweep *s, const struct oc_sweep_row **out);
size_t oc_sweep_findings(const struct oc_sweep *s); /* number of rows without totals or with inexact ones */
int oc_sweep_write(const struct oc_sweep *s, const char *format, unsigned width_chars, FILE *out,
                   struct oc_err *err);

OC_API_END

#endif
