/* Formulas as CSV and JSON, and the texts that all formats share. */

#include <inttypes.h>
#include <string.h>

#include "write/tables/json_keys.h"
#include "write/tables/plain_table.h"
#include "analyze/closed_form.h"

struct closed_form_out {
    const struct oc_closed_form *f;
    unsigned width_chars;
    struct oc_buf b; /* scratch */
};

enum { VERSION = 1 };

/* "=", "<=", ">=", "~" */
static const char *closed_form_sign(const struct oc_closed_form *f, enum oc_metric m)
{
    static const char *const sign[] = {
        [OC_EXACT] = "=", [OC_UPPER] = "<=", [OC_LOWER] = ">=", [OC_EST] = "~", [OC_UNKNOWN] = "?"};
    return sign[oc_trust_quality(&f->trust, m)];
}

static void closed_form_sizes(struct oc_buf *b, const struct oc_closed_form *f, const struct oc_fit_result *r)
{
    for (unsigned k = 0; k < f->n_slot; k++) {
        const struct oc_fit_axis *a = &r->axis[k];
        oc_buf_printf(b, "%s%s ", k ? ", " : "", f->slot_name[k]);
        if (a->from == a->to)
            oc_buf_printf(b, "%" PRId64, a->from);
        else if (a->step == 1)
            oc_buf_printf(b, "%" PRId64 " to %" PRId64, a->from, a->to);
        else
            oc_buf_printf(b, "%" PRId64 ", %" PRId64 " ... %" PRId64, a->from, a->from + a->step, a->to);
    }
}

/* "batch 1 to 4096, height 32, 64 ... 4096" */
/* reason if there is none */
static const char *closed_form_missing(const struct oc_closed_form *f, enum oc_metric m)
{
    static const char *const text[] = {[OC_FIT_NO_LAW] = "not a polynomial",
                                       [OC_FIT_TOO_LARGE] = "coefficients beyond 64 bits",
                                       [OC_FIT_STOPPED] = "not found within the maximum number of analyses"};
    return oc_trust_quality(&f->trust, m) == OC_UNKNOWN ? "unknown" : text[f->result[m].state];
}

static void closed_form_csv(struct closed_form_out *o, FILE *f)
{
    struct oc_fields row = {0};
    for (unsigned m = 0; m < OC_METRIC_COUNT; m++) {
        const struct oc_fit_result *r = &o->f->result[m];
        bool known = o->f->text[m] != NULL;
        oc_buf_clear(&o->b);
        oc_buf_str(&o->b, "");
        if (known)
            closed_form_sizes(&o->b, o->f, r);
        oc_fields_begin(&row);
        oc_field_text(&row, "metric", oc_metric_info((enum oc_metric)m)->key);
        oc_field_text(&row, "unit", oc_metric_info((enum oc_metric)m)->unit);
        oc_field_text(&row, "sign", known ? closed_form_sign(o->f, (enum oc_metric)m) : NULL);
        oc_field_text(&row, "formula", o->f->text[m]);
        oc_field_text(&row, "holds_for", oc_strdup(&row.arena, o->b.data));
        oc_field_u64_if(&row, "fitted_points", known, r->fitted);
        oc_field_u64_if(&row, "checked_points", known, r->checked);
        oc_fields_end(&row);
    }
    oc_fields_csv(&row, "1", f);
    oc_fields_free(&row);
}

static void json_symbols(struct oc_json_out *w, const struct oc_closed_form *f)
{
    static const char *const role[] = {
        [OC_FIT_FREE] = "free", [OC_FIT_TIED] = "equal", [OC_FIT_FIXED] = "fixed"};
    const struct oc_fit_var *var = oc_fit_vars(f->fit);
    oc_key_array(w, "symbols");
    for (unsigned k = 0; k < f->n_symbol; k++) {
        oc_jw_begin_object(w);
        oc_key_text(w, "name", f->symbol[k]);
        oc_key_i64(w, "start", f->base[k]);
        oc_key_text(w, "role", role[var[k].role]);
        oc_key_text(w, "equal_to", var[k].role == OC_FIT_TIED ? f->symbol[var[k].tied_to] : NULL);
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
}

static void json_terms(struct oc_json_out *w, const struct oc_closed_form *f, const struct oc_rpoly *p)
{
    oc_key_array(w, "terms");
    for (uint32_t i = 0; i < p->n_term; i++) {
        oc_jw_begin_object(w);
        oc_key_i64(w, "coefficient", p->term[i].num);
        oc_key_object(w, "powers");
        for (unsigned k = 0; k < p->n_var; k++)
            if (p->term[i].pow.of[k])
                oc_key_u64(w, f->slot_name[k], p->term[i].pow.of[k]);
        oc_jw_end_object(w);
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
    oc_key_i64(w, "denominator", p->den);
}

static void json_sizes(struct oc_json_out *w, const struct oc_closed_form *f, const struct oc_fit_result *r)
{
    static const char *const end[] = {[OC_FIT_OPEN] = NULL,
                                      [OC_FIT_DIFFERS] = "differs",
                                      [OC_FIT_NO_VALUE] = "unknown",
                                      [OC_FIT_LEFT_OUT] = "differs for some"};
    oc_key_array(w, "holds_for");
    for (unsigned k = 0; k < f->n_slot; k++) {
        const struct oc_fit_axis *a = &r->axis[k];
        oc_jw_begin_object(w);
        oc_key_text(w, "symbol", f->slot_name[k]);
        oc_key_i64(w, "from", a->from);
        oc_key_i64(w, "to", a->to);
        oc_key_i64(w, "step", a->step);
        oc_key_text(w, "below", end[a->below]);
        oc_key_text(w, "above", end[a->above]);
        oc_key_bool(w, "polynomial", a->step == 1 && !a->piece && !a->held);
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
}

static void json_formula(struct oc_json_out *w, const struct oc_closed_form *f, enum oc_metric m)
{
    const struct oc_fit_result *r = &f->result[m];
    oc_jw_begin_object(w);
    oc_key_text(w, "metric", oc_metric_info(m)->key);
    oc_key_text(w, "unit", oc_metric_info(m)->unit);
    oc_key_quality(w, oc_trust_quality(&f->trust, m));
    oc_key_text(w, "formula", f->text[m]);
    if (f->text[m]) {
        json_terms(w, f, &r->poly);
        json_sizes(w, f, r);
        oc_key_u64(w, "fitted_points", r->fitted);
        oc_key_u64(w, "checked_points", r->checked);
    } else {
        oc_key_text(w, "reason", closed_form_missing(f, m));
    }
    oc_jw_end_object(w);
}

static void closed_form_json(struct closed_form_out *o, FILE *f)
{
    struct oc_json_out w;
    oc_json_begin(&w, f, "onnxcost.formula", VERSION, o->f->model->path);
    json_symbols(&w, o->f);
    oc_key_u64(&w, "unknown_nodes", o->f->trust.unknown_nodes);
    oc_key_array(&w, "formulas");
    for (unsigned m = 0; m < OC_METRIC_COUNT; m++)
        json_formula(&w, o->f, (enum oc_metric)m);
    oc_jw_end_array(&w);
    oc_json_end(&w);
}

/* ---- out closed form -------------------------------------------------------------------------------- */

/* Formulas as text, grouped by the sizes that they are valid for. */

static bool same_sizes(const struct oc_fit_result *a, const struct oc_fit_result *b, unsigned n_slot)
{
    for (unsigned k = 0; k < n_slot; k++)
        if (a->axis[k].from != b->axis[k].from || a->axis[k].to != b->axis[k].to ||
            a->axis[k].step != b->axis[k].step)
            return false;
    return true;
}

enum { LABEL = 12 };

/* Lines that start with a label of `indent` columns are continued below their text. */
static void end_line_at(struct closed_form_out *o, size_t indent, FILE *f)
{
    const char *text = o->b.data ? o->b.data : "";
    size_t n = strlen(text) < indent ? strlen(text) : indent;
    fprintf(f, "%.*s", (int)n, text);
    oc_plain_wrap(indent, o->width_chars, text + n, f);
    oc_buf_clear(&o->b);
}

static void closed_form_end_line(struct closed_form_out *o, FILE *f)
{
    end_line_at(o, 0, f);
}

/* ---- variables -------------------------------------------------------------------------------------- */

static void put_open(struct closed_form_out *o, FILE *f)
{
    oc_buf_str(&o->b, "variables   ");
    for (unsigned k = 0; k < o->f->n_slot; k++)
        oc_buf_printf(&o->b, "%s%s", k ? ", " : "", o->f->slot_name[k]);
    oc_buf_str(&o->b, o->f->n_slot ? "" : "none: the formulas are numbers");
    end_line_at(o, LABEL, f);
    const struct oc_fit_var *var = oc_fit_vars(o->f->fit);
    for (unsigned k = 0; k < o->f->n_symbol; k++) {
        if (var[k].role == OC_FIT_TIED)
            oc_buf_printf(&o->b, "assumed     %s = %s: other sizes are inconsistent", o->f->symbol[k],
                          o->f->symbol[var[k].tied_to]);
        else if (var[k].role == OC_FIT_FIXED)
            oc_buf_printf(&o->b, "assumed     %s = %" PRId64 ": %s", o->f->symbol[k], var[k].centre,
                          o->f->n_slot == OC_RPOLY_VARS
                              ? "too many variables"
                              : "other sizes give inconsistent shapes or unknown costs");
        if (o->b.n)
            end_line_at(o, LABEL, f);
    }
    if (o->f->trust.unknown_nodes) {
        oc_buf_printf(&o->b, "excluded    %" PRIu64 " nodes of unknown cost", o->f->trust.unknown_nodes);
        end_line_at(o, LABEL, f);
    }
}

/* ---- formulas by range ------------------------------------------------------------------------------ */

static int title_width(void)
{
    size_t width = 0;
    for (unsigned m = 0; m < OC_METRIC_COUNT; m++) {
        size_t n = strlen(oc_metric_info((enum oc_metric)m)->title);
        width = n > width ? n : width;
    }
    return (int)width;
}

static void closed_form_put_group(struct closed_form_out *o, unsigned first, bool *done, FILE *f)
{
    const struct oc_fit_result *r = o->f->result;
    if (o->f->n_slot) {
        oc_buf_str(&o->b, "for ");
        closed_form_sizes(&o->b, o->f, &r[first]);
        end_line_at(o, strlen("for "), f);
    }
    for (unsigned m = first; m < OC_METRIC_COUNT; m++) {
        if (done[m] || !o->f->text[m] || !same_sizes(&r[first], &r[m], o->f->n_slot))
            continue;
        done[m] = true;
        oc_buf_printf(&o->b, "  %-*s %2s %s", title_width(), oc_metric_info((enum oc_metric)m)->title,
                      closed_form_sign(o->f, (enum oc_metric)m), o->f->text[m]);
        end_line_at(o, (size_t)title_width() + 6, f);
    }
}

static void put_missing(struct closed_form_out *o, FILE *f)
{
    for (unsigned m = 0; m < OC_METRIC_COUNT; m++) {
        if (o->f->text[m])
            continue;
        oc_buf_printf(&o->b, "no formula  %s: %s in ", oc_metric_info((enum oc_metric)m)->title,
                      closed_form_missing(o->f, (enum oc_metric)m));
        for (unsigned k = 0; k < o->f->n_slot; k++)
            oc_buf_printf(&o->b, "%s%s", k ? ", " : "", o->f->slot_name[k]);
        end_line_at(o, LABEL, f);
    }
}

/* ---- limits of the formulas ------------------------------------------------------------------------- */

/* Prints "not polynomial in SYMBOL: MACs, FLOPs (reason)" for the metrics that pass the test. */
typedef bool (*axis_test)(const struct oc_fit_axis *a);

static bool is_held(const struct oc_fit_axis *a)
{
    return a->held;
}

static bool is_stepped(const struct oc_fit_axis *a)
{
    return !a->held && a->step != 1;
}

static bool is_piece(const struct oc_fit_axis *a)
{
    return a->piece;
}

static void closed_form_put_limits(struct closed_form_out *o, axis_test test, const char *why, FILE *f)
{
    for (unsigned k = 0; k < o->f->n_slot; k++) {
        unsigned n = 0;
        for (unsigned m = 0; m < OC_METRIC_COUNT; m++) {
            if (!o->f->text[m] || !test(&o->f->result[m].axis[k]))
                continue;
            if (!n)
                oc_buf_printf(&o->b, "not polynomial in %s: ", o->f->slot_name[k]);
            oc_buf_printf(&o->b, "%s%s", n++ ? ", " : "", oc_metric_info((enum oc_metric)m)->title);
        }
        if (!n)
            continue;
        oc_buf_printf(&o->b, " (%s)", why);
        closed_form_end_line(o, f);
    }
}

struct end { /* end of a range */
    enum oc_fit_end why;
    int64_t at;
};

static struct end closed_form_end_of(const struct closed_form_out *o, unsigned metric, unsigned slot,
                                     bool above)
{
    const struct oc_fit_axis *a = &o->f->result[metric].axis[slot];
    return above ? (struct end){a->above, a->to} : (struct end){a->below, a->from};
}

/* The first metric with the same end of the range for the same reason. */
static unsigned first_alike(const struct closed_form_out *o, unsigned metric, unsigned slot, bool above)
{
    struct end e = closed_form_end_of(o, metric, slot, above);
    for (unsigned m = 0; m < metric; m++) {
        struct end x = closed_form_end_of(o, m, slot, above);
        if (o->f->text[m] && x.why == e.why && x.at == e.at)
            return m;
    }
    return metric;
}

static void put_end(struct closed_form_out *o, unsigned metric, unsigned slot, bool above, FILE *f)
{
    static const char *const text[] = {
        [OC_FIT_DIFFERS] = "different formula for ",
        [OC_FIT_NO_VALUE] = "inconsistent shapes or unknown costs",
        [OC_FIT_LEFT_OUT] = "different formulas for ",
    };
    struct end e = closed_form_end_of(o, metric, slot, above);
    const char *between = "";
    oc_buf_printf(&o->b, "%s %s %" PRId64 ": %s", o->f->slot_name[slot], above ? "above" : "below", e.at,
                  text[e.why]);
    for (unsigned m = metric; m < OC_METRIC_COUNT && e.why != OC_FIT_NO_VALUE; m++) {
        if (!o->f->text[m] || first_alike(o, m, slot, above) != metric)
            continue;
        oc_buf_printf(&o->b, "%s%s", between, oc_metric_info((enum oc_metric)m)->title);
        between = ", ";
    }
    closed_form_end_line(o, f);
}

static void put_ends(struct closed_form_out *o, bool above, FILE *f)
{
    for (unsigned k = 0; k < o->f->n_slot; k++)
        for (unsigned m = 0; m < OC_METRIC_COUNT; m++)
            if (closed_form_end_of(o, m, k, above).why != OC_FIT_OPEN && o->f->text[m] &&
                !o->f->result[m].axis[k].held && first_alike(o, m, k, above) == m)
                put_end(o, m, k, above, f);
}

static void closed_form_write_text(struct closed_form_out *o, FILE *f)
{
    bool done[OC_METRIC_COUNT] = {false};
    uint32_t checked = UINT32_MAX;
    if (o->f->model->path[0]) {
        oc_buf_printf(&o->b, "model       %s", o->f->model->path);
        end_line_at(o, LABEL, f);
    }
    put_open(o, f);
    closed_form_end_line(o, f);
    for (unsigned m = 0; m < OC_METRIC_COUNT; m++) {
        if (o->f->text[m])
            checked = o->f->result[m].checked < checked ? o->f->result[m].checked : checked;
        if (o->f->text[m] && !done[m])
            closed_form_put_group(o, m, done, f);
    }
    put_missing(o, f);
    if (!o->f->n_slot)
        return;
    closed_form_end_line(o, f);
    closed_form_put_limits(o, is_stepped, "the formula is valid for the sizes above only", f);
    closed_form_put_limits(o, is_piece, "other formulas are valid outside this range", f);
    closed_form_put_limits(o, is_held, "no formula was found; valid for one size only", f);
    put_ends(o, false, f);
    put_ends(o, true, f);
    if (checked != UINT32_MAX)
        oc_buf_printf(&o->b,
                      "verified    every formula equals the analysis at %" PRIu32
                      " or more further points (%" PRIu32 " analyses)",
                      checked, o->f->analyses);
    end_line_at(o, LABEL, f);
}

int oc_closed_form_write(const struct oc_closed_form *formula, const char *format, unsigned width_chars,
                         FILE *f, struct oc_err *err)
{
    static void (*const write[])(struct closed_form_out *, FILE *) = {closed_form_write_text, closed_form_csv,
                                                                      closed_form_json};
    struct closed_form_out o = {.f = formula, .width_chars = width_chars};
    int form = oc_format_of("--formula", format, "table, csv, json", err);
    if (form < 0)
        return -1;
    write[form](&o, f);
    oc_buf_free(&o.b);
    return 0;
}
