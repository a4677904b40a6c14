/* The cost of a model as a function of its open dimensions: closed forms (--formula), values over lists
 * of sizes (--dim NAME=A,B), intervals over ranges of sizes (--dim NAME=A..B); as text, CSV and JSON. */
#include <inttypes.h>
#include <string.h>

#include "analyze/closed_form.h"
#include "analyze/handles.h"
#include "base/unicode.h"
#include "base/units.h"
#include "onnxcost.h"
#include "write/tables/json_keys.h"
#include "write/tables/table.h"

struct closed_form_out {
    const struct oc_closed_form *f;
    unsigned width_chars;
    struct oc_buf b; /* scratch */
};

enum { LABEL = 12 }; /* columns of the labels of lines */

/* ---- formulas: rows of CSV, JSON -------------------------------------------------------------------- */

/* "=", "<=", ">=", "~" */
static const char *closed_form_sign(const struct oc_closed_form *f, enum oc_metric m)
{
    static const char *const sign[] = {
        [OC_EXACT] = "=", [OC_UPPER] = "<=", [OC_LOWER] = ">=", [OC_EST] = "~", [OC_UNKNOWN] = "?"};
    return sign[oc_trust_quality(&f->trust, m)];
}

/* "batch 1 to 4096, height 32, 64 ... 4096" */
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

/* The reason if there is none. */
static const char *closed_form_missing(const struct oc_closed_form *f, enum oc_metric m)
{
    static const char *const text[] = {[OC_FIT_NO_LAW] = "not a polynomial",
                                       [OC_FIT_TOO_LARGE] = "coefficients beyond 64 bits",
                                       [OC_FIT_STOPPED] = "not found within the maximum number of analyses"};
    return oc_trust_quality(&f->trust, m) == OC_UNKNOWN ? "unknown" : text[f->result[m].state];
}

static void closed_form_fields(struct oc_fields *row, const void *of, size_t m)
{
    const struct oc_closed_form *f = of;
    const struct oc_metric_info *info = oc_metric_info((enum oc_metric)m);
    bool known = f->text[m] != NULL;
    struct oc_buf sizes = {0};
    if (known)
        closed_form_sizes(&sizes, f, &f->result[m]);
    oc_field_text(row, "metric", info->key);
    oc_field_text(row, "unit", info->unit);
    oc_field_text(row, "sign", known ? closed_form_sign(f, (enum oc_metric)m) : NULL);
    oc_field_text(row, "formula", f->text[m]);
    oc_field_text(row, "holds_for", oc_strdup(&row->arena, sizes.data ? sizes.data : ""));
    oc_field_u64_if(row, "fitted_points", known, f->result[m].fitted);
    oc_field_u64_if(row, "checked_points", known, f->result[m].checked);
    oc_buf_free(&sizes);
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

static void closed_form_members(void *of, struct oc_json_out *w)
{
    const struct oc_closed_form *f = ((const struct closed_form_out *)of)->f;
    json_symbols(w, f);
    oc_key_u64(w, "unknown_nodes", f->trust.unknown_nodes);
    oc_key_array(w, "formulas");
    for (unsigned m = 0; m < OC_METRIC_COUNT; m++)
        json_formula(w, f, (enum oc_metric)m);
    oc_jw_end_array(w);
}

/* ---- formulas: text, grouped by the sizes that they are valid for ----------------------------------- */

static bool same_sizes(const struct oc_fit_result *a, const struct oc_fit_result *b, unsigned n_slot)
{
    for (unsigned k = 0; k < n_slot; k++)
        if (a->axis[k].from != b->axis[k].from || a->axis[k].to != b->axis[k].to ||
            a->axis[k].step != b->axis[k].step)
            return false;
    return true;
}

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

/* ---- formulas: variables ---------------------------------------------------------------------------- */

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

/* ---- formulas: groups ------------------------------------------------------------------------------- */

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

/* ---- formulas: limits ------------------------------------------------------------------------------- */

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

static void closed_form_text(void *of, FILE *f)
{
    struct closed_form_out *o = of;
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
    struct closed_form_out o = {.f = formula, .width_chars = width_chars};
    const struct oc_output out = {.what = "--formula",
                                  .of = &o,
                                  .text = closed_form_text,
                                  .rows = OC_ROWS(OC_METRIC_COUNT, formula, closed_form_fields),
                                  .schema = "onnxcost.formula",
                                  .model = formula->model->path,
                                  .members = closed_form_members};
    int rc = oc_output_write(&out, format, f, err);
    oc_buf_free(&o.b);
    return rc;
}

/* ---- sweep ------------------------------------------------------------------------------------------ */

/* A sweep as a table, CSV or JSON. CSV and JSON have exact numbers; unknown values are empty or null. */

enum { MIN_NOTE = 33 }; /* "510 of 1097 nodes of unknown cost" */

struct sweep_out {
    const struct oc_sweep *s;
    struct oc_arena arena;
    struct oc_table table;
    const char **cell; /* one row */
};

static bool all_zero(const struct oc_sweep *s, enum oc_metric m)
{
    for (size_t i = 0; i < s->n_row; i++)
        if (!s->row[i].failure && s->row[i].value[m])
            return false;
    return true;
}

static bool sweep_is_known(const struct oc_sweep_row *row, enum oc_metric m)
{
    return !row->failure && (m != OC_METRIC_PEAK || row->peak_quality != OC_UNKNOWN);
}

static const char *sweep_human(struct sweep_out *o, const struct oc_sweep_row *row, enum oc_metric m)
{
    char buf[48];
    if (!sweep_is_known(row, m))
        return "-";
    double v = (double)row->value[m];
    bool bytes = !strcmp(oc_metric_info(m)->unit, "B");
    const char *text = bytes ? oc_format_bytes(v, buf, sizeof(buf)) : oc_format_si(v, "", buf, sizeof(buf));
    const char *mark = oc_sum_mark(m == OC_METRIC_PARAMS ? OC_EXACT
                                   : m == OC_METRIC_PEAK ? row->peak_quality
                                                         : row->quality);
    if (v == 0 && *mark == '>') /* at least 0 */
        return "-";
    return oc_printf(&o->arena, "%s%.*s", mark, (int)strcspn(text, "\n"), text);
}

static const char *note_of(struct sweep_out *o, const struct oc_sweep_row *row)
{
    if (row->failure)
        return row->failure;
    if (!row->unknown_nodes)
        return "";
    return oc_printf(&o->arena, "%" PRIu64 " of %" PRIu64 " nodes of unknown cost", row->unknown_nodes,
                     row->nodes);
}

static size_t put_axes(struct sweep_out *o, const struct oc_sweep_row *row)
{
    for (size_t i = 0; i < o->s->n_axis; i++)
        o->cell[i] = row ? oc_printf(&o->arena, "%" PRId64, row->at[i]) : o->s->axis[i].symbol;
    return o->s->n_axis;
}

/* ---- sweep: text ------------------------------------------------------------------------------------ */

static void human_row(struct sweep_out *o, const struct oc_sweep_row *row, const bool *shown)
{
    size_t n = put_axes(o, row);
    for (unsigned m = 0; m < OC_METRIC_COUNT; m++)
        if (shown[m])
            o->cell[n++] =
                row ? sweep_human(o, row, (enum oc_metric)m) : oc_metric_info((enum oc_metric)m)->title;
    o->cell[n++] = row ? note_of(o, row) : "";
    oc_table_cells(&o->table, o->cell, n);
}

static void sweep_text(void *of, FILE *f)
{
    struct sweep_out *o = of;
    bool shown[OC_METRIC_COUNT];
    for (unsigned m = 0; m < OC_METRIC_COUNT; m++)
        shown[m] = m != OC_METRIC_OPS || !all_zero(o->s, (enum oc_metric)m);
    human_row(o, NULL, shown);
    for (size_t i = 0; i < o->s->n_row; i++)
        human_row(o, &o->s->row[i], shown);
    uint8_t *drop = OC_NEW_ARRAY(&o->arena, o->table.n_col, uint8_t); /* not the sizes and the note */
    for (size_t i = o->s->n_axis; i + 1 < o->table.n_col; i++)
        drop[i] = (uint8_t)(i + 1);
    o->table.drop = drop;
    o->table.kinds = oc_table_kinds(&o->arena, o->table.n_col - 1, 1);
    oc_table_print(&o->table, f);
}

/* ---- sweep: rows ------------------------------------------------------------------------------------ */

static void sweep_fields(struct oc_fields *o, const void *of, size_t index)
{
    const struct oc_sweep *s = of;
    const struct oc_sweep_row *row = &s->row[index];
    const char *unknown = o->json ? oc_quality_name(OC_UNKNOWN) : NULL;
    if (o->json)
        oc_key_object(o->json, "dims");
    for (size_t i = 0; i < s->n_axis; i++)
        oc_field_i64(o, s->axis[i].symbol, row->at[i]);
    if (o->json)
        oc_jw_end_object(o->json);
    for (unsigned m = 0; m < OC_METRIC_COUNT; m++)
        oc_field_u64_if(o, oc_metric_info((enum oc_metric)m)->key, sweep_is_known(row, (enum oc_metric)m),
                        row->value[m]);
    oc_field_text(o, "quality", row->failure ? unknown : oc_quality_name(row->quality));
    oc_field_u64_if(o, "unknown_nodes", !row->failure, row->unknown_nodes);
    oc_field_text(o, "failure", row->failure);
}

int oc_sweep_write(const struct oc_sweep *s, const char *format, unsigned width_chars, FILE *f,
                   struct oc_err *err)
{
    struct sweep_out o = {.s = s, .table.width_chars = width_chars, .table.min_text = MIN_NOTE};
    const struct oc_output out = {.what = "--dim with a list",
                                  .of = &o,
                                  .text = sweep_text,
                                  .rows = OC_ROWS(s->n_row, s, sweep_fields),
                                  .key = "rows",
                                  .schema = "onnxcost.sweep",
                                  .model = s->model->path};
    o.cell = OC_NEW_ARRAY(&o.arena, s->n_axis + OC_METRIC_COUNT + 3, const char *);
    int rc = oc_output_write(&out, format, f, err);
    oc_arena_free(&o.arena);
    return rc;
}

/* ---- bounds ----------------------------------------------------------------------------------------- */

/* Proven intervals as a table, CSV and JSON. */

enum { WIDTH = 118 };

struct bounds_out {
    const struct oc_bounds *b;
    unsigned width_chars;
    struct oc_arena arena;
};

static void bounds_fields(struct oc_fields *o, const void *of, size_t i)
{
    const struct oc_bounds *b = of;
    const struct oc_range_bound *x = &b->bound[i];
    oc_field_text(o, "figure", x->key);
    oc_field_bool(o, "proven", x->proven);
    oc_field_u64_if(o, "low", x->proven && x->has_low, x->low);
    oc_field_u64_if(o, "high", x->proven, x->high);
    oc_field_u64(o, "least", x->least);
    oc_field_text(o, "least_at", oc_bounds_sizes(b, x->at_least));
    oc_field_u64(o, "most", x->most);
    oc_field_text(o, "most_at", oc_bounds_sizes(b, x->at_most));
    oc_field_text(o, "why", x->why);
}

static void bounds_members(void *of, struct oc_json_out *w)
{
    const struct oc_bounds *b = ((const struct bounds_out *)of)->b;
    oc_key_array(w, "ranges");
    for (size_t i = 0; i < b->n_range; i++) {
        oc_jw_begin_object(w);
        oc_key_text(w, "symbol", b->range[i].symbol);
        oc_key_i64(w, "from", b->range[i].from);
        oc_key_i64(w, "to", b->range[i].to);
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
    oc_key_u64(w, "boxes", b->boxes);
    oc_key_u64(w, "analyses", b->analyses);
    oc_key_u64(w, "sizes_without_figures", b->without_figures);
    oc_key_text(w, "assumption", oc_bounds_assumption());
}

static void bounds_text(void *of, FILE *out)
{
    struct bounds_out *o = of;
    const struct oc_bounds *b = o->b;
    static const uint8_t drop[] = {0, 0, 0, 2, 1};
    struct oc_table table = {.kinds = "tnnnt", .width_chars = o->width_chars, .drop = drop, .min_text = 40};
    const char *why = NULL;
    for (size_t i = 0; i < b->n_range; i++)
        fprintf(out, "%-*s%s = %" PRId64 " to %" PRId64 "\n", LABEL, i ? "" : "for all", b->range[i].symbol,
                b->range[i].from, b->range[i].to);
    OC_ROW(&table, "figure", "at least", "at most", "largest found", "at");
    for (unsigned f = 0; f < OC_RANGE_COUNT; f++) {
        const struct oc_range_bound *x = &b->bound[f];
        why = x->proven ? why : x->why;
        OC_ROW(&table, x->key, x->proven && x->has_low ? oc_count_text(&o->arena, x->low) : "?",
               x->proven ? oc_count_text(&o->arena, x->high) : "?", oc_count_text(&o->arena, x->most),
               oc_bounds_sizes(b, x->at_most));
    }
    oc_table_print(&table, out);
    oc_plain_say_format(why ? "not proven" : "proven", LABEL, o->width_chars ? o->width_chars : WIDTH, out,
                        "%s%sassumed: %s; boxes: %" PRIu32 ", analyses: %" PRIu32 "%s", why ? why : "",
                        why ? "; " : "", oc_bounds_assumption(), b->boxes, b->analyses,
                        b->without_figures
                            ? oc_printf(&o->arena,
                                        "; %" PRIu32 " of the sizes that were evaluated have no figures",
                                        b->without_figures)
                            : "");
}

int oc_bounds_write(const struct oc_bounds *b, const char *format, unsigned width_chars, FILE *f,
                    struct oc_err *err)
{
    struct bounds_out o = {.b = b, .width_chars = width_chars};
    const struct oc_output out = {.what = "the bounds",
                                  .of = &o,
                                  .text = bounds_text,
                                  .rows = OC_ROWS(OC_RANGE_COUNT, b, bounds_fields),
                                  .key = "figures",
                                  .schema = "onnxcost.bounds",
                                  .model = b->model->path,
                                  .members = bounds_members};
    int rc = oc_output_write(&out, format, f, err);
    oc_arena_free(&o.arena);
    return rc;
}
