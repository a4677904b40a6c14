/* Formulas as CSV and JSON, and the texts that all formats share. */
#include "write/closed_form_data.h"

#include <inttypes.h>
#include <string.h>

#include "write/json_keys.h"
#include "write/plain_table.h"

enum { VERSION = 1 };

const char *oc_closed_form_sign(const struct oc_closed_form *f, enum oc_metric m)
{
    static const char *const sign[] = {
        [OC_EXACT] = "=", [OC_UPPER] = "<=", [OC_LOWER] = ">=", [OC_EST] = "~", [OC_UNKNOWN] = "?"};
    return sign[oc_trust_quality(&f->trust, m)];
}

void oc_closed_form_sizes(struct oc_buf *b, const struct oc_closed_form *f, const struct oc_fit_result *r)
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

const char *oc_closed_form_missing(const struct oc_closed_form *f, enum oc_metric m)
{
    static const char *const text[] = {[OC_FIT_NO_LAW] = "not a polynomial",
                                       [OC_FIT_TOO_LARGE] = "coefficients beyond 64 bits",
                                       [OC_FIT_STOPPED] = "not found within the maximum number of analyses"};
    return oc_trust_quality(&f->trust, m) == OC_UNKNOWN ? "unknown" : text[f->result[m].state];
}

void oc_closed_form_csv(struct closed_form_out *o, FILE *f)
{
    static const char *const header[] = {"metric",    "unit",          "sign",          "formula",
                                         "holds_for", "fitted_points", "checked_points"};
    struct oc_plain_table t = {.n_col = OC_COUNT(header)};
    struct oc_arena arena = {0};
    oc_plain_row(&t, header);
    for (unsigned m = 0; m < OC_METRIC_COUNT; m++) {
        const struct oc_fit_result *r = &o->f->result[m];
        const char *text = o->f->text[m];
        oc_buf_clear(&o->b);
        oc_buf_str(&o->b, "");
        if (text)
            oc_closed_form_sizes(&o->b, o->f, r);
        const char *cell[] = {oc_metric_info((enum oc_metric)m)->key,
                              oc_metric_info((enum oc_metric)m)->unit,
                              text ? oc_closed_form_sign(o->f, (enum oc_metric)m) : "",
                              text ? text : "",
                              oc_strdup(&arena, o->b.data),
                              text ? oc_printf(&arena, "%" PRIu32, r->fitted) : "",
                              text ? oc_printf(&arena, "%" PRIu32, r->checked) : ""};
        oc_plain_row(&t, cell);
    }
    oc_plain_csv(&t, "1", f);
    oc_plain_free(&t);
    oc_arena_free(&arena);
}

static void key_i64(struct oc_json_out *w, const char *key, int64_t v)
{
    oc_jw_key(w, key);
    oc_jw_i64(w, v);
}

static void key_bool(struct oc_json_out *w, const char *key, bool v)
{
    oc_jw_key(w, key);
    oc_jw_bool(w, v);
}

static void json_symbols(struct oc_json_out *w, const struct oc_closed_form *f)
{
    static const char *const role[] = {
        [OC_FIT_FREE] = "free", [OC_FIT_TIED] = "equal", [OC_FIT_FIXED] = "fixed"};
    const struct oc_fit_var *var = oc_fit_vars(f->fit);
    oc_jw_key(w, "symbols");
    oc_jw_begin_array(w);
    for (unsigned k = 0; k < f->n_symbol; k++) {
        oc_jw_begin_object(w);
        oc_key_text(w, "name", f->symbol[k]);
        key_i64(w, "start", f->base[k]);
        oc_key_text(w, "role", role[var[k].role]);
        oc_key_text(w, "equal_to", var[k].role == OC_FIT_TIED ? f->symbol[var[k].tied_to] : NULL);
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
}

static void json_terms(struct oc_json_out *w, const struct oc_closed_form *f, const struct oc_rpoly *p)
{
    oc_jw_key(w, "terms");
    oc_jw_begin_array(w);
    for (uint32_t i = 0; i < p->n_term; i++) {
        oc_jw_begin_object(w);
        key_i64(w, "coefficient", p->term[i].num);
        oc_jw_key(w, "powers");
        oc_jw_begin_object(w);
        for (unsigned k = 0; k < p->n_var; k++)
            if (p->term[i].pow.of[k])
                oc_key_u64(w, f->slot_name[k], p->term[i].pow.of[k]);
        oc_jw_end_object(w);
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
    key_i64(w, "denominator", p->den);
}

static void json_sizes(struct oc_json_out *w, const struct oc_closed_form *f, const struct oc_fit_result *r)
{
    static const char *const end[] = {[OC_FIT_OPEN] = NULL,
                                      [OC_FIT_DIFFERS] = "differs",
                                      [OC_FIT_NO_VALUE] = "unknown",
                                      [OC_FIT_LEFT_OUT] = "differs for some"};
    oc_jw_key(w, "holds_for");
    oc_jw_begin_array(w);
    for (unsigned k = 0; k < f->n_slot; k++) {
        const struct oc_fit_axis *a = &r->axis[k];
        oc_jw_begin_object(w);
        oc_key_text(w, "symbol", f->slot_name[k]);
        key_i64(w, "from", a->from);
        key_i64(w, "to", a->to);
        key_i64(w, "step", a->step);
        oc_key_text(w, "below", end[a->below]);
        oc_key_text(w, "above", end[a->above]);
        key_bool(w, "polynomial", a->step == 1 && !a->piece && !a->held);
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
        oc_key_text(w, "reason", oc_closed_form_missing(f, m));
    }
    oc_jw_end_object(w);
}

void oc_closed_form_json(struct closed_form_out *o, FILE *f)
{
    struct oc_json_out w = {.f = f, .pretty = true};
    oc_jw_begin_object(&w);
    oc_json_head(&w, "onnxcost.formula", VERSION, o->f->model->path);
    json_symbols(&w, o->f);
    oc_key_u64(&w, "unknown_nodes", o->f->trust.unknown_nodes);
    oc_jw_key(&w, "formulas");
    oc_jw_begin_array(&w);
    for (unsigned m = 0; m < OC_METRIC_COUNT; m++)
        json_formula(&w, o->f, (enum oc_metric)m);
    oc_jw_end_array(&w);
    oc_jw_end_object(&w);
    fputc('\n', f);
}
