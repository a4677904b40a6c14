/* Formulas as text, grouped by the sizes that they are valid for. */
#include <inttypes.h>
#include <string.h>

#include "write/closed_form_data.h"
#include "write/plain_table.h"

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

static void end_line(struct closed_form_out *o, FILE *f)
{
    end_line_at(o, 0, f);
}

/* ---- variables ----------------------------------------------------------------------------------------- */

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

/* ---- formulas by range --------------------------------------------------------------------------------- */

static int title_width(void)
{
    size_t width = 0;
    for (unsigned m = 0; m < OC_METRIC_COUNT; m++) {
        size_t n = strlen(oc_metric_info((enum oc_metric)m)->title);
        width = n > width ? n : width;
    }
    return (int)width;
}

static void put_group(struct closed_form_out *o, unsigned first, bool *done, FILE *f)
{
    const struct oc_fit_result *r = o->f->result;
    if (o->f->n_slot) {
        oc_buf_str(&o->b, "for ");
        oc_closed_form_sizes(&o->b, o->f, &r[first]);
        end_line_at(o, strlen("for "), f);
    }
    for (unsigned m = first; m < OC_METRIC_COUNT; m++) {
        if (done[m] || !o->f->text[m] || !same_sizes(&r[first], &r[m], o->f->n_slot))
            continue;
        done[m] = true;
        oc_buf_printf(&o->b, "  %-*s %2s %s", title_width(), oc_metric_info((enum oc_metric)m)->title,
                      oc_closed_form_sign(o->f, (enum oc_metric)m), o->f->text[m]);
        end_line_at(o, (size_t)title_width() + 6, f);
    }
}

static void put_missing(struct closed_form_out *o, FILE *f)
{
    for (unsigned m = 0; m < OC_METRIC_COUNT; m++) {
        if (o->f->text[m])
            continue;
        oc_buf_printf(&o->b, "no formula  %s: %s in ", oc_metric_info((enum oc_metric)m)->title,
                      oc_closed_form_missing(o->f, (enum oc_metric)m));
        for (unsigned k = 0; k < o->f->n_slot; k++)
            oc_buf_printf(&o->b, "%s%s", k ? ", " : "", o->f->slot_name[k]);
        end_line_at(o, LABEL, f);
    }
}

/* ---- limits of the formulas ---------------------------------------------------------------------------- */

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

static void put_limits(struct closed_form_out *o, axis_test test, const char *why, FILE *f)
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
        end_line(o, f);
    }
}

struct end { /* end of a range */
    enum oc_fit_end why;
    int64_t at;
};

static struct end end_of(const struct closed_form_out *o, unsigned metric, unsigned slot, bool above)
{
    const struct oc_fit_axis *a = &o->f->result[metric].axis[slot];
    return above ? (struct end){a->above, a->to} : (struct end){a->below, a->from};
}

/* The first metric with the same end of the range for the same reason. */
static unsigned first_alike(const struct closed_form_out *o, unsigned metric, unsigned slot, bool above)
{
    struct end e = end_of(o, metric, slot, above);
    for (unsigned m = 0; m < metric; m++) {
        struct end x = end_of(o, m, slot, above);
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
    struct end e = end_of(o, metric, slot, above);
    const char *between = "";
    oc_buf_printf(&o->b, "%s %s %" PRId64 ": %s", o->f->slot_name[slot], above ? "above" : "below", e.at,
                  text[e.why]);
    for (unsigned m = metric; m < OC_METRIC_COUNT && e.why != OC_FIT_NO_VALUE; m++) {
        if (!o->f->text[m] || first_alike(o, m, slot, above) != metric)
            continue;
        oc_buf_printf(&o->b, "%s%s", between, oc_metric_info((enum oc_metric)m)->title);
        between = ", ";
    }
    end_line(o, f);
}

static void put_ends(struct closed_form_out *o, bool above, FILE *f)
{
    for (unsigned k = 0; k < o->f->n_slot; k++)
        for (unsigned m = 0; m < OC_METRIC_COUNT; m++)
            if (end_of(o, m, k, above).why != OC_FIT_OPEN && o->f->text[m] && !o->f->result[m].axis[k].held &&
                first_alike(o, m, k, above) == m)
                put_end(o, m, k, above, f);
}

static void write_text(struct closed_form_out *o, FILE *f)
{
    bool done[OC_METRIC_COUNT] = {false};
    uint32_t checked = UINT32_MAX;
    if (o->f->model->path[0]) {
        oc_buf_printf(&o->b, "model       %s", o->f->model->path);
        end_line_at(o, LABEL, f);
    }
    put_open(o, f);
    end_line(o, f);
    for (unsigned m = 0; m < OC_METRIC_COUNT; m++) {
        if (o->f->text[m])
            checked = o->f->result[m].checked < checked ? o->f->result[m].checked : checked;
        if (o->f->text[m] && !done[m])
            put_group(o, m, done, f);
    }
    put_missing(o, f);
    if (!o->f->n_slot)
        return;
    end_line(o, f);
    put_limits(o, is_stepped, "the formula is valid for the sizes above only", f);
    put_limits(o, is_piece, "other formulas are valid outside this range", f);
    put_limits(o, is_held, "no formula was found; valid for one size only", f);
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
    static const struct {
        const char *name;
        void (*write)(struct closed_form_out *, FILE *);
    } formats[] = {{"table", write_text}, {"csv", oc_closed_form_csv}, {"json", oc_closed_form_json}};
    struct closed_form_out o = {.f = formula, .width_chars = width_chars};
    for (size_t i = 0; i < OC_COUNT(formats); i++) {
        if (format && strcmp(format, formats[i].name))
            continue;
        formats[i].write(&o, f);
        oc_buf_free(&o.b);
        return 0;
    }
    return oc_fail(err, OC_EARG, "--formula has no format '%s'; valid: table, csv, json", format);
}
