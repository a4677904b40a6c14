/* Output of `bisect`: the answer, the steps of the search, what was measured. */
#include <string.h>

#include "base/c_locale.h"
#include "base/str.h"
#include "base/unicode.h"
#include "base/units.h"
#include "onnxcost/trial.h"
#include "trial/bisect.h"
#include "write/tables/json_keys.h"
#include "write/tables/table.h"

enum { LABEL = 12 };

struct bisect_view {
    const struct oc_bisect *b;
    struct oc_arena *a;
    unsigned width;
};

static const char *version_of(const struct oc_bisect *b, uint32_t at)
{
    return b->library[at].version;
}

static const char *figure_words(enum oc_trial_figure f)
{
    static const char *const words[] = {"latency", "creation of the session", "first run"};
    return words[f];
}

/* ---- answer ------------------------------------------------------------------------------------------ */

static const char *change_text(struct bisect_view *v, const struct oc_bisect_step *s)
{
    return oc_printf(v->a, "%s -> %s: %s", version_of(v->b, s->from), version_of(v->b, s->to),
                     oc_compared_text(&s->c, v->a));
}

/* No difference between the ends, or between any neighbours where every version was measured: what could have been seen. */
static void print_none(struct bisect_view *v, FILE *f)
{
    const struct oc_bisect *b = v->b;
    double smallest = 0;
    for (uint32_t i = 0; i < b->n_step; i++)
        smallest = b->step[i].c.smallest > smallest ? b->step[i].c.smallest : smallest;
    const char *text =
        b->n_step == 1
            ? oc_printf(v->a, "no change is shown: %s, %s", change_text(v, b->step),
                        oc_compared_note(&b->step->c, v->a))
            : oc_printf(v->a, "no change between neighbours is shown; from %.1f %% on each would have been",
                        100 * smallest);
    oc_plain_say("answer", LABEL, v->width, text, f);
}

static void print_answer(struct bisect_view *v, FILE *f)
{
    const struct oc_bisect *b = v->b;
    for (uint32_t i = 0; i < b->n_found; i++) {
        const struct oc_bisect_step *s = &b->step[b->found[i]];
        const char *again = !s->confirms ? "" : s->shown ? ", measured again" : ", when measured again";
        oc_plain_say("answer", LABEL, v->width, oc_printf(v->a, "%s%s", change_text(v, s), again), f);
    }
    for (uint32_t i = 0; i < b->n_vague; i++)
        oc_plain_say("answer", LABEL, v->width,
                     oc_printf(v->a, "%s, in steps that are too small to be shown one by one",
                               change_text(v, &b->step[b->vague[i]])),
                     f);
    if (!b->n_found && !b->n_vague)
        print_none(v, f);
}

/* ---- text -------------------------------------------------------------------------------------------- */

static void print_steps(struct bisect_view *v, FILE *f)
{
    struct oc_table t = {.kinds = "nttt", .width_chars = v->width};
    OC_ROW(&t, "processes", "from", "to", "change");
    for (uint32_t i = 0; i < v->b->n_step; i++) {
        const struct oc_bisect_step *s = &v->b->step[i];
        OC_ROW(&t, oc_printf(v->a, "%u and %u", s->c.n[0], s->c.n[1]), version_of(v->b, s->from),
               version_of(v->b, s->to),
               oc_printf(v->a, "%s%s", oc_compared_text(&s->c, v->a), s->confirms ? ", again" : ""));
    }
    oc_table_print(&t, f);
}

static uint32_t n_measured(const struct oc_bisect *b)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < b->trials.n; i++)
        n += b->measured[i];
    return n;
}

static void bisect_text(void *of, FILE *f)
{
    struct bisect_view *v = of;
    const struct oc_bisect *b = v->b;
    const struct oc_trial_counts *n = &b->trials.counts;
    oc_plain_say("model", LABEL, v->width,
                 oc_printf(v->a, "%s, %s with %u versions of ONNX Runtime from %s to %s", b->model_path,
                           figure_words(b->figure), b->trials.n, version_of(b, 0),
                           version_of(b, b->trials.n - 1)),
                 f);
    print_answer(v, f);
    fputc('\n', f);
    print_steps(v, f);
    fputc('\n', f);
    const char *repeated =
        n->repeated ? oc_printf(v->a, ", of which %zu were repeated because of load of others", n->repeated)
                    : "";
    oc_plain_say("measured", LABEL, v->width,
                 oc_printf(v->a, "%u of %u versions in %zu processes%s, %.0f s", n_measured(b), b->trials.n,
                           n->processes, repeated, n->wall_s),
                 f);
    for (uint32_t i = 0; i < b->trials.n; i++)
        if (b->trials.variant[i].failed)
            oc_plain_say("left out", LABEL, v->width,
                         oc_printf(v->a, "%s: %s", b->library[i].version, b->trials.variant[i].failed), f);
}

/* ---- rows and members -------------------------------------------------------------------------------- */

static bool is_answer(const struct oc_bisect *b, uint32_t step)
{
    for (uint32_t i = 0; i < b->n_found; i++)
        if (b->found[i] == step)
            return b->step[step].shown;
    return false;
}

static void step_fields(struct oc_fields *o, const void *of, size_t i)
{
    const struct oc_bisect *b = of;
    const struct oc_bisect_step *s = &b->step[i];
    oc_field_text(o, "from", version_of(b, s->from));
    oc_field_text(o, "to", version_of(b, s->to));
    oc_field_double(o, "ratio", s->c.ratio);
    oc_field_double(o, "low", s->c.low);
    oc_field_double(o, "high", s->c.high);
    oc_field_text(o, "verdict", oc_compared_name(s->c.verdict));
    oc_field_double(o, "smallest", s->c.smallest);
    oc_field_u64(o, "processes_a", s->c.n[0]);
    oc_field_u64(o, "processes_b", s->c.n[1]);
    oc_field_bool(o, "shown", s->shown);
    oc_field_bool(o, "again", s->confirms);
    oc_field_bool(o, "answer", is_answer(b, (uint32_t)i));
}

static void bisect_members(void *of, struct oc_json_out *w)
{
    const struct bisect_view *v = of;
    const struct oc_bisect *b = v->b;
    const struct oc_trial_counts *n = &b->trials.counts;
    oc_key_text(w, "figure", oc_trial_figure_name(b->figure));
    oc_key_array(w, "versions");
    for (uint32_t i = 0; i < b->trials.n; i++) {
        oc_jw_begin_object(w);
        oc_key_text(w, "version", b->library[i].version);
        oc_key_text(w, "library", b->library[i].file);
        oc_key_bool(w, "measured", b->measured[i]);
        oc_key_text(w, "failed", b->trials.variant[i].failed);
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
    oc_key_u64(w, "processes", n->processes);
    oc_key_u64(w, "repeated", n->repeated);
    oc_key_double(w, "wall_s", n->wall_s);
}

int oc_bisect_write(const struct oc_bisect *b, const char *format, unsigned width_chars, FILE *out,
                    struct oc_err *err)
{
    OC_ENTRY(err);
    struct oc_arena a = {0};
    struct bisect_view v = {.b = b, .a = &a, .width = width_chars};
    const struct oc_output o = {.what = "a bisection",
                                .of = &v,
                                .text = bisect_text,
                                .rows = OC_ROWS(b->n_step, b, step_fields),
                                .key = "steps",
                                .schema = "onnxcost.bisect",
                                .model = b->model_path,
                                .members = bisect_members};
    int rc = oc_output_write(&o, format, out, err);
    oc_arena_free(&a);
    return rc;
}
