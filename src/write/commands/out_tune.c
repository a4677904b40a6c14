/* Output of `tune`: the answer with the lines of code that set it, the settings that were tried, what was measured. */
#include <math.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/str.h"
#include "base/unicode.h"
#include "base/units.h"
#include "onnxcost/trial.h"
#include "trial/tune.h"
#include "write/tables/json_keys.h"
#include "write/tables/table.h"

enum { LABEL = 12 };

struct tune_view {
    const struct oc_tune *t;
    struct oc_arena *a;
    unsigned width;
};

static const char *label_of(const struct oc_tune *t, const struct oc_tune_row *r)
{
    return t->trials.variant[r->variant].label;
}

static const char *failure_of(const struct oc_tune *t, const struct oc_tune_row *r)
{
    return t->trials.variant[r->variant].failed;
}

static const char *memory_text(struct oc_arena *a, double bytes)
{
    char text[32];
    return bytes > 0 ? oc_strdup(a, oc_format_bytes(bytes, text, sizeof(text))) : "-";
}

/* ---- answer ------------------------------------------------------------------------------------------ */

/* The lines of code that set what is best, in one language. Members of extra.session are written in one object, because a
 * second one would replace the first. */
struct code {
    const char *line[OC_TUNE_SET];
    size_t n;
};

enum language { PYTHON, C, JAVASCRIPT, LANGUAGES };
static const char *const language_title[LANGUAGES] = {"Python", "C", "JavaScript"};
static const char *const language_key[LANGUAGES] = {"python", "c", "javascript"};

static void find_code(const struct tune_view *v, enum language language, struct code *out)
{
    const struct oc_tune_row *best = v->t->best;
    const char *session = NULL;
    *out = (struct code){.n = 0};
    for (uint32_t i = 0; i < best->n_setting; i++) {
        const struct oc_setting *s = best->setting[i];
        if (language == JAVASCRIPT && s->js_in_session)
            session = oc_printf(v->a, "%s%s%s", session ? session : "", session ? ", " : "", s->js);
        else
            out->line[out->n++] = language == PYTHON ? s->python : language == C ? s->c : s->js;
    }
    if (session)
        out->line[out->n++] = oc_printf(v->a, "extra: { session: { %s } } /* onnxruntime-web */", session);
}

static void print_code(const struct tune_view *v, enum language language, FILE *f)
{
    struct code code;
    find_code(v, language, &code);
    for (size_t i = 0; i < code.n; i++)
        fprintf(f, "%-*s%s\n", LABEL, i ? "" : language_title[language], code.line[i]);
}

/* "; expected from a recording: 12.0 to 40.0 % less"; "": nothing is expected. */
static const char *expected_text(const struct tune_view *v, const struct oc_tune_row *r)
{
    const struct oc_setting *s = r->setting[0];
    bool known = r->n_setting == 1 && s->high > 0;
    return known ? oc_printf(v->a, "; expected from a recording: %.1f to %.1f %% less", 100 * s->low,
                             100 * s->high)
                 : "";
}

static void print_best(struct tune_view *v, FILE *f)
{
    const struct oc_tune *t = v->t;
    char before[32];
    oc_plain_say("answer", LABEL, v->width,
                 oc_printf(v->a, "%s: %s%s; peak memory %s, was %s", label_of(t, t->best),
                           oc_compared_text(&t->best->c, v->a), expected_text(v, t->best),
                           memory_text(v->a, t->best->peak_bytes),
                           t->default_peak_bytes > 0
                               ? oc_format_bytes(t->default_peak_bytes, before, sizeof(before))
                               : "unknown"),
                 f);
    for (unsigned i = 0; i < LANGUAGES; i++)
        print_code(v, i, f);
}

/* What the best of the last round could have shown. */
static void print_none(struct tune_view *v, FILE *f)
{
    const struct oc_tune_row *r = v->t->n_row ? &v->t->row[0] : NULL;
    const char *most = r && !isnan(r->c.ratio) ? oc_printf(v->a, "; the best of them, %s: %s",
                                                           label_of(v->t, r), oc_compared_text(&r->c, v->a))
                                               : "";
    oc_plain_say("answer", LABEL, v->width,
                 oc_printf(v->a, "nothing is shown to be better than the default settings%s", most), f);
}

/* ---- text -------------------------------------------------------------------------------------------- */

/* "execution_mode=parallel, --threads 1": without the option that takes the first. */
static const char *short_label(struct tune_view *v, const struct oc_tune_row *r)
{
    static const char option[] = "--session-config ";
    const char *text = "";
    for (uint32_t i = 0; i < r->n_setting; i++) {
        const char *one = r->setting[i]->text;
        bool is_entry = !strncmp(one, option, sizeof(option) - 1);
        text = oc_printf(v->a, "%s%s%s", text, i ? ", " : "", is_entry ? one + sizeof(option) - 1 : one);
    }
    return text;
}

static void print_rows(struct tune_view *v, FILE *f)
{
    const struct oc_tune *t = v->t;
    static const uint8_t drop[] = {0, 0, 1, 1, 2, 0, 0}, least[] = {0, 0, 0, 0, 0, 0, 34};
    bool any = false;
    for (uint32_t i = 0; i < t->n_row; i++)
        any = any || *expected_text(v, &t->row[i]);
    struct oc_table table = {.kinds = "nnnnntt", .width_chars = v->width, .drop = drop, .min_width = least};
    OC_ROW(&table, "change", "95 % interval", any ? "expected" : "", "n", "memory", "", "setting");
    for (uint32_t i = 0; i < t->n_row; i++) {
        const struct oc_tune_row *r = &t->row[i];
        if (failure_of(t, r))
            continue;
        const struct oc_comparison *c = &r->c;
        OC_ROW(&table, oc_printf(v->a, "%+.1f %%", 100 * (c->ratio - 1)),
               oc_printf(v->a, "%+.1f to %+.1f", 100 * (c->low - 1), 100 * (c->high - 1)),
               *expected_text(v, r)
                   ? oc_printf(v->a, "%+.1f to %+.1f", -100 * r->setting[0]->high, -100 * r->setting[0]->low)
                   : "",
               oc_printf(v->a, "%u", c->n[1]), memory_text(v->a, r->peak_bytes),
               r->shown                ? "better"
               : r->stage < t->n_stage ? "dropped"
                                       : "",
               short_label(v, r));
    }
    oc_table_print(&table, f);
    for (uint32_t i = 0; i < t->n_row; i++)
        if (failure_of(t, &t->row[i]))
            oc_plain_say("impossible", LABEL, v->width,
                         oc_printf(v->a, "%s: %s", label_of(t, &t->row[i]), failure_of(t, &t->row[i])), f);
}

static void tune_text(void *of, FILE *f)
{
    struct tune_view *v = of;
    const struct oc_tune *t = v->t;
    const struct oc_trial_counts *n = &t->trials.counts;
    char time[32];
    oc_plain_say("model", LABEL, v->width,
                 oc_printf(v->a, "%s, %s with the default settings, peak memory %s", t->model_path,
                           oc_format_time_ns(t->default_ns, time, sizeof(time)),
                           memory_text(v->a, t->default_peak_bytes)),
                 f);
    if (t->best)
        print_best(v, f);
    else
        print_none(v, f);
    fputc('\n', f);
    print_rows(v, f);
    fputc('\n', f);
    oc_plain_say(
        "measured", LABEL, v->width,
        oc_printf(v->a,
                  "%u settings in %zu processes, %zu of them repeated because of load of others, %.0f s",
                  t->n_row, n->processes, n->repeated, n->wall_s),
        f);
}

/* ---- rows and members -------------------------------------------------------------------------------- */

static void setting_fields(struct oc_fields *o, const void *of, size_t i)
{
    const struct oc_tune *t = of;
    const struct oc_tune_row *r = &t->row[i];
    bool known = !isnan(r->c.ratio);
    oc_field_text(o, "setting", label_of(t, r));
    oc_field_double(o, "ratio", r->c.ratio);
    oc_field_double(o, "low", known ? r->c.low : NAN);
    oc_field_double(o, "high", known ? r->c.high : NAN);
    oc_field_text(o, "verdict", known ? oc_compared_name(r->c.verdict) : NULL);
    bool expected = r->n_setting == 1 && r->setting[0]->high > 0;
    oc_field_double(o, "expected_low", expected ? 1 - r->setting[0]->high : NAN);
    oc_field_double(o, "expected_high", expected ? 1 - r->setting[0]->low : NAN);
    oc_field_u64(o, "processes", r->c.n[1]);
    oc_field_u64_if(o, "peak_bytes", r->peak_bytes > 0, (uint64_t)r->peak_bytes);
    oc_field_u64(o, "round", r->stage);
    oc_field_bool(o, "last_round", r->stage == t->n_stage);
    oc_field_bool(o, "shown_better", r->shown);
    oc_field_text(o, "failed", failure_of(t, r));
}

static void code_member(struct oc_json_out *w, const struct tune_view *v, enum language language)
{
    struct code code;
    find_code(v, language, &code);
    oc_key_array(w, language_key[language]);
    for (size_t i = 0; i < code.n; i++)
        oc_jw_string(w, code.line[i]);
    oc_jw_end_array(w);
}

static void tune_members(void *of, struct oc_json_out *w)
{
    const struct tune_view *v = of;
    const struct oc_tune *t = v->t;
    const struct oc_trial_counts *n = &t->trials.counts;
    oc_key_time(w, "default_ns", t->default_ns);
    oc_key_u64_if(w, "default_peak_bytes", t->default_peak_bytes > 0, (uint64_t)t->default_peak_bytes);
    oc_key_u64(w, "rounds", t->n_stage);
    oc_key_u64(w, "processes", n->processes);
    oc_key_u64(w, "repeated", n->repeated);
    oc_key_double(w, "wall_s", n->wall_s);
    if (!oc_key_object_if(w, "best", t->best != NULL))
        return;
    oc_key_text(w, "setting", label_of(t, t->best));
    for (unsigned i = 0; i < LANGUAGES; i++)
        code_member(w, v, i);
    oc_jw_end_object(w);
}

int oc_tune_write(const struct oc_tune *t, const char *format, unsigned width_chars, FILE *out,
                  struct oc_err *err)
{
    OC_ENTRY(err);
    struct oc_arena a = {0};
    struct tune_view v = {.t = t, .a = &a, .width = width_chars};
    const struct oc_output o = {.what = "tune",
                                .of = &v,
                                .text = tune_text,
                                .rows = OC_ROWS(t->n_row, t, setting_fields),
                                .key = "settings",
                                .schema = "onnxcost.tune",
                                .model = t->model_path,
                                .members = tune_members};
    int rc = oc_output_write(&o, format, out, err);
    oc_arena_free(&a);
    return rc;
}
