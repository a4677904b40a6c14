#include <math.h>

#include "base/units.h"
#include "write/tables/json_keys.h"
#include "write/tables/plain_table.h"
#include "report/what_if.h"
#include "onnxcost.h"

/* ---- for people ------------------------------------------------------------------------------------- */

/* Whether the time of some row is unknown in this step or an earlier one. */
static bool is_unknown_at(const struct oc_what_if *x, size_t step)
{
    for (size_t i = 0; i <= step; i++)
        if (x->step[i].unknown)
            return true;
    return false;
}

static void step_row(const struct oc_what_if *x, size_t i, struct oc_arena *a, struct oc_plain_table *t)
{
    const struct oc_what_if_step *s = &x->step[i];
    bool known = !is_unknown_at(x, i);
    double saved_s = s->before_s - s->after_s;
    OC_ROW(t, oc_printf(a, "%s%s", known ? "" : ">=", oc_seconds_text(a, s->after_s, "unknown")),
           known ? oc_seconds_text(a, saved_s, "unknown") : "-",
           known && x->now_s > 0 ? oc_printf(a, "%.1f", 100 * saved_s / x->now_s) : "-",
           known && s->after_s > 0 ? oc_printf(a, "%.2fx", x->now_s / s->after_s) : "-",
           oc_printf(a, "%u", s->rows), s->title);
}

static void print_note(const struct oc_what_if_step *s, struct oc_arena *a, FILE *f)
{
    const char *kept = s->kept ? oc_printf(a, "; unchanged: %u rows", s->kept) : "",
               *unknown =
                   s->unknown ? oc_printf(a, "; unknown: %u rows (no %s)", s->unknown, s->missing) : "";
    oc_print_line(f, "%-11s %s: %s%s%s", "assumed", s->title, s->note, kept, unknown);
}

void oc_what_if_text(const struct oc_what_if *x, struct oc_arena *a, FILE *f)
{
    struct oc_plain_table t = {0};
    OC_ROW(&t, "time", "saved", "%", "speedup", "rows", "what if");
    OC_ROW(&t,
           oc_printf(a, "%s%s", x->left_out && !x->r->has_time ? ">=" : "",
                     oc_seconds_text(a, x->now_s, "unknown")),
           "", "", "", oc_printf(a, "%u", x->rows),
           x->r->has_time ? "(now, measured)" : "(now, roofline time)");
    for (size_t i = 0; i < x->n_step; i++)
        step_row(x, i, a, &t);
    fputc('\n', f);
    oc_plain_print(&t, 1, f);
    for (size_t i = 0; i < x->n_step; i++)
        print_note(&x->step[i], a, f);
    double then_s = x->n_step ? x->step[x->n_step - 1].after_s : NAN;
    if (!isnan(x->bound_s))
        fprintf(f, "%-11s %s on %s\n", "at least", oc_seconds_text(a, x->bound_s, "unknown"),
                oc_device_info(x->device)->name);
    if (x->beside_s > 0 && !x->unknown)
        fprintf(f, "%-11s %s instead of %s, if the %s outside operators stays\n", "latency",
                oc_seconds_text(a, then_s + x->beside_s, "unknown"),
                oc_seconds_text(a, x->now_s + x->beside_s, "unknown"),
                oc_seconds_text(a, x->beside_s, "unknown"));
}

/* ---- for machines ----------------------------------------------------------------------------------- */

static void step_json(const struct oc_what_if *x, size_t i, struct oc_json_out *w)
{
    const struct oc_what_if_step *s = &x->step[i];
    bool known = !is_unknown_at(x, i);
    oc_jw_begin_object(w);
    oc_key_text(w, "what", s->title);
    oc_key_text(w, "assumed", s->note);
    oc_key_double(w, "before_ns", i && is_unknown_at(x, i - 1) ? NAN : oc_ns_of(s->before_s));
    oc_key_double(w, "after_ns", known ? oc_ns_of(s->after_s) : NAN);
    oc_key_double(w, "after_at_least_ns", oc_ns_of(s->after_s));
    oc_key_double(w, "saved_ns", known ? oc_ns_of(s->before_s - s->after_s) : NAN);
    oc_key_double(w, "speedup_in_all", known && s->after_s > 0 ? x->now_s / s->after_s : NAN);
    oc_key_u64(w, "rows", s->rows);
    oc_key_u64(w, "rows_as_before", s->kept);
    oc_key_u64(w, "rows_unknown", s->unknown);
    oc_key_text(w, "missing", s->missing);
    oc_jw_end_object(w);
}

void oc_what_if_json(const struct oc_what_if *x, struct oc_json_out *w)
{
    double then_s = x->n_step ? x->step[x->n_step - 1].after_s : x->now_s;
    oc_jw_begin_object(w);
    oc_key_text(w, "basis", x->r->has_time ? "measured" : "roofline");
    oc_key_u64(w, "rows", x->rows);
    oc_key_u64(w, "rows_left_out", x->left_out);
    oc_key_double(w, "now_ns", oc_ns_of(x->now_s));
    oc_key_double(w, "then_ns", x->unknown ? NAN : oc_ns_of(then_s));
    oc_key_double(w, "beside_ns", oc_ns_of(x->beside_s));
    oc_key_double(w, "bound_time_ns", oc_ns_of(x->bound_s));
    oc_key_array(w, "steps");
    for (size_t i = 0; i < x->n_step; i++)
        step_json(x, i, w);
    oc_jw_end_array(w);
    oc_jw_end_object(w);
}
