/* Sections of the report that are tables of their own, as text, JSON and Markdown: suggestions
 * (--advise), sizes of runs that differ in them, --what-if. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ck.h"
#include "base/unicode.h"
#include "base/units.h"
#include "onnxcost.h"
#include "onnxcost/report.h"
#include "report/headline.h"
#include "report/report.h"
#include "write/report_write.h"
#include "write/tables/table.h"
#include "write/tables/json_keys.h"

/* ---- suggestions ------------------------------------------------------------------------------------ */

enum { SHOWN = 5, LABEL = 11, NAME = 60, MIN_NAME = 24, TYPE = 20, OTHER = 52 /* columns of the others */ };

/* ---- suggestions: text ------------------------------------------------------------------------------ */

/* "0 to 1.2 ms (31.0 % of a run)", "at least 3 us", "1.2 ms", "1.5 MB not moved", "unknown" */
static const char *saving(const struct oc_advice_item *f, const char *whole, struct oc_arena *a)
{
    const char *share = f->share >= 0 ? oc_printf(a, " (%.1f %% %s)", f->share * 100, whole) : "";
    if (!isnan(f->high_ns) && !isnan(f->low_ns) && f->low_ns > 0.95 * f->high_ns)
        return oc_printf(a, "%s%s", oc_time_text(a, f->high_ns, "unknown"), share);
    if (!isnan(f->high_ns) && f->low_ns > 0)
        return oc_printf(a, "%s to %s%s", oc_time_text(a, f->low_ns, "unknown"),
                         oc_time_text(a, f->high_ns, "unknown"), share);
    if (!isnan(f->high_ns))
        return oc_printf(a, "at most %s%s", oc_time_text(a, f->high_ns, "unknown"), share);
    if (f->low_ns > 0)
        return oc_printf(a, "at least %s%s", oc_time_text(a, f->low_ns, "unknown"), share);
    if (f->saved_bytes > 0)
        return oc_printf(a, "%s not moved; time unknown", oc_si_text(a, f->saved_bytes, "B"));
    return "unknown";
}

/* Kernel names can be very long; names of nodes differ at their end. */
static const char *advice_shortened(const char *s, size_t most, struct oc_arena *a)
{
    size_t n = strlen(s), columns = oc_utf8_columns(s, n);
    if (columns <= most)
        return s;
    const char *tail = s, *end = s + n;
    while (columns > most - 3 && tail < end)
        columns -= oc_uni_columns(oc_utf8_next(&tail, end));
    return oc_printf(a, "...%s", tail);
}

static const char *lead(const struct oc_advice *a)
{
    return a->n > 1 ? "Savings overlap and are not additive." : NULL;
}

static const char *none(const struct oc_advice *a, struct oc_arena *arena)
{
    return oc_printf(arena, "no suggestions (%u of %u rules had their inputs: times, a model, a device)",
                     a->rules, a->all_rules);
}

static void proof(const struct oc_advice_item *f, const struct oc_report_opts *o, struct oc_arena *a,
                  FILE *out)
{
    struct oc_table t = {.kinds = "nnnttt", .width_chars = o->width_chars, .headless = true};
    size_t width = o->width_chars, name = !width || width >= NAME + OTHER ? NAME
                                          : width > MIN_NAME + OTHER      ? width - OTHER
                                                                          : MIN_NAME;
    for (uint32_t i = 0; i < f->n_proof && i < SHOWN; i++) {
        const struct oc_advice_proof *e = &f->proof[i];
        OC_ROW(&t, oc_printf(a, "%*s", LABEL, ""),
               isnan(e->time_ns) ? "" : oc_time_text(a, e->time_ns, "unknown"),
               isnan(e->bytes) ? "" : oc_si_text(a, e->bytes, "B"), advice_shortened(e->name, name, a),
               advice_shortened(e->type, TYPE, a), e->text);
    }
    oc_table_print(&t, out);
    if (f->n_proof > SHOWN)
        fprintf(out, "%*s and %u more\n", LABEL + 1, "", f->n_proof - SHOWN);
}

void oc_advice_text(const struct oc_advice *a, const struct oc_report_opts *o, struct oc_arena *arena,
                    FILE *f)
{
    size_t width = o->width_chars;
    fputc('\n', f);
    oc_plain_say("advice", LABEL + 1, width,
                 !a->n     ? none(a, arena)
                 : lead(a) ? lead(a)
                           : "One suggestion.",
                 f);
    for (uint32_t i = 0; i < a->n; i++) {
        const struct oc_advice_item *k = a->item[i];
        fputc('\n', f);
        oc_plain_say(oc_printf(arena, "%u", i + 1), 3, width,
                     oc_printf(arena, "%s  [%s, %s]", k->title, oc_advice_severity_name(k->severity), k->id),
                     f);
        oc_plain_say("   found", LABEL + 1, width, k->found, f);
        oc_plain_say("   saves", LABEL + 1, width,
                     k->basis ? oc_printf(arena, "%s: %s", saving(k, a->whole, arena), k->basis)
                              : saving(k, a->whole, arena),
                     f);
        oc_plain_say("   do", LABEL + 1, width, k->todo, f);
        proof(k, o, arena, f);
    }
}

/* ---- suggestions: JSON ------------------------------------------------------------------------------ */

static void proof_json(const struct oc_advice_proof *e, struct oc_json_out *w)
{
    oc_jw_begin_object(w);
    oc_key_u64_if(w, "node", e->node != OC_NONE, e->node);
    oc_key_u64_if(w, "record", e->record != OC_NONE, e->record);
    oc_key_text(w, "name", e->name);
    oc_key_text(w, "op_type", *e->type ? e->type : NULL);
    oc_key_time(w, "time_ns", e->time_ns);
    oc_key_count(w, "bytes", e->bytes);
    oc_key_text(w, "text", e->text);
    oc_jw_end_object(w);
}

void oc_advice_json(const struct oc_advice *a, struct oc_json_out *w)
{
    oc_advice_json_cut(a, UINT32_MAX, w);
}

void oc_advice_json_cut(const struct oc_advice *a, uint32_t most, struct oc_json_out *w)
{
    oc_jw_begin_object(w);
    oc_key_time(w, "run_time_ns", a->run_ns);
    oc_key_text(w, "share_of", a->whole);
    oc_key_u64(w, "rules", a->rules);
    oc_key_array(w, "findings");
    for (uint32_t i = 0; i < a->n; i++) {
        const struct oc_advice_item *k = a->item[i];
        oc_jw_begin_object(w);
        oc_key_text(w, "id", k->id);
        oc_key_text(w, "title", k->title);
        oc_key_text(w, "severity", oc_advice_severity_name(k->severity));
        oc_key_text(w, "found", k->found);
        oc_key_text(w, "todo", k->todo);
        oc_key_object(w, "saving");
        oc_key_time(w, "low_ns", k->low_ns);
        oc_key_time(w, "high_ns", k->high_ns);
        oc_key_double(w, "share", k->share);
        oc_key_count(w, "bytes", k->saved_bytes);
        oc_key_text(w, "basis", k->basis);
        oc_jw_end_object(w);
        oc_key_array(w, "evidence");
        for (uint32_t e = 0; e < k->n_proof && e < most; e++)
            proof_json(&k->proof[e], w);
        oc_jw_end_array(w);
        if (most < UINT32_MAX)
            oc_key_u64(w, "rows", k->n_proof);
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
    oc_jw_end_object(w);
}

/* ---- suggestions: Markdown -------------------------------------------------------------------------- */

static void proof_markdown(const struct oc_advice_item *k, struct oc_arena *arena, struct oc_buf *b)
{
    oc_buf_str(b, "\n| time | type | name | |\n| ---: | --- | --- | --- |\n");
    for (uint32_t i = 0; i < k->n_proof && i < SHOWN; i++) {
        const struct oc_advice_proof *e = &k->proof[i];
        oc_buf_printf(b, "| %s | ", isnan(e->time_ns) ? "" : oc_time_text(arena, e->time_ns, "unknown"));
        oc_md_code(b, e->type);
        oc_buf_str(b, " | ");
        oc_md_code(b, e->name);
        oc_buf_str(b, " | ");
        oc_md_text(b, e->text);
        oc_buf_str(b, " |\n");
    }
    if (k->n_proof > SHOWN)
        oc_buf_printf(b, "\nand %u more\n", k->n_proof - SHOWN);
}

void oc_advice_markdown(const struct oc_advice *a, struct oc_arena *arena, struct oc_buf *b)
{
    oc_buf_str(b, "\n#### Advice\n\n");
    oc_md_text(b, !a->n ? none(a, arena) : lead(a) ? lead(a) : "One suggestion.");
    oc_buf_char(b, '\n');
    if (a->n)
        oc_buf_str(b, "\n| | suggestion | saves |\n| ---: | --- | --- |\n");
    for (uint32_t i = 0; i < a->n; i++) {
        oc_buf_printf(b, "| %u | %s (%s) | ", i + 1, a->item[i]->title,
                      oc_advice_severity_name(a->item[i]->severity));
        oc_md_text(b, saving(a->item[i], a->whole, arena));
        oc_buf_str(b, " |\n");
    }
    for (uint32_t i = 0; i < a->n; i++) {
        const struct oc_advice_item *k = a->item[i];
        oc_buf_printf(b, "\n<details>\n<summary>%u: %s</summary>\n\n", i + 1, k->title);
        oc_md_text(b, k->found);
        oc_buf_str(b, "\n\nDo: ");
        oc_md_text(b, k->todo);
        if (k->basis) {
            oc_buf_str(b, "\n\nThe saving is ");
            oc_md_text(b, k->basis);
        }
        oc_buf_char(b, '\n');
        proof_markdown(k, arena, b);
        oc_buf_str(b, "\n</details>\n");
    }
}

/* ---- sizes of runs ---------------------------------------------------------------------------------- */

enum { SETS_SHOWN = 8, COLUMNS = 7 };

const struct oc_sizes *oc_report_sizes(const struct oc_report *r)
{
    const struct oc_sizes *s = r->in->join ? r->in->join->sizes : NULL;
    return s && s->n_set > 1 ? s : NULL;
}

const char *oc_sizes_range(const struct oc_sizes *s, uint32_t input, unsigned axis, struct oc_arena *a)
{
    for (uint32_t i = 0; i < s->n_dim; i++) {
        if (s->dim[i].input != input || s->dim[i].axis != axis || !s->varies[s->dim[i].name])
            continue;
        int64_t *v = OC_NEW_ARRAY(a, s->n_set, int64_t);
        for (uint32_t k = 0; k < s->n_set; k++)
            v[k] = s->set[k].value[s->dim[i].name];
        qsort(v, s->n_set, sizeof(*v), oc_by_i64);
        return v[0] < 0 ? "?" : oc_printf(a, "%lld..%lld", (long long)v[0], (long long)v[s->n_set - 1]);
    }
    return NULL;
}

/* ---- sizes: table ----------------------------------------------------------------------------------- */

struct sizes_table {
    struct oc_arena *arena;
    const struct oc_sizes *s;
    struct oc_table t;
    double all_ns;
};

static int by_time(const void *a, const void *b)
{
    double x = oc_size_total_ns(*(const struct oc_size_set *const *)a),
           y = oc_size_total_ns(*(const struct oc_size_set *const *)b);
    return (x < y) - (x > y);
}

static int by_place(const void *a, const void *b)
{
    const struct oc_size_set *x = *(const struct oc_size_set *const *)a,
                             *y = *(const struct oc_size_set *const *)b;
    return (x > y) - (x < y);
}

static const char *giga_rate(struct oc_arena *a, double per_s, unsigned quality)
{
    return isfinite(per_s)
               ? oc_printf(a, "%s%s", oc_quality_mark(quality), oc_number_text(a, per_s * 1e-9, 4))
               : "-";
}

/* "123.5": millions; with a mark for bounds and estimates. */
static const char *mega_macs(struct oc_arena *a, const struct oc_totals *t)
{
    if (t->quality == OC_UNKNOWN)
        return t->least.macs ? oc_printf(a, ">=%s", oc_number_text(a, (double)t->least.macs * 1e-6, 4)) : "-";
    return oc_printf(a, "%s%s", t->macs_exact ? "" : oc_quality_mark(t->quality),
                     oc_number_text(a, (double)t->macs * 1e-6, 4));
}

static double known(double v)
{
    return isnan(v) ? 0 : v;
}

static void add_line(struct sizes_table *x, const char *name, const struct oc_size_set *set,
                     const char *median, const char *macs)
{
    bool work = !isnan(set->flops) || !isnan(set->ops);
    OC_ROW(&x->t, name, oc_printf(x->arena, "%u", set->runs), median,
           oc_printf(x->arena, "%.1f", 100 * oc_size_total_ns(set) / x->all_ns), macs,
           giga_rate(x->arena, oc_size_rate(set, work ? known(set->flops) + known(set->ops) : NAN),
                     set->flops_quality),
           giga_rate(x->arena, oc_size_rate(set, set->bytes), set->bytes_quality));
}

static void add_others(struct sizes_table *x, struct oc_size_set *const *set, uint32_t n)
{
    struct oc_size_set sum = {.flops = NAN, .ops = NAN, .bytes = NAN};
    double ns = 0;
    for (uint32_t i = 0; i < n; i++) {
        sum.runs += set[i]->runs;
        ns += oc_size_total_ns(set[i]);
        sum.flops = isnan(set[i]->flops) ? sum.flops : known(sum.flops) + set[i]->flops;
        sum.ops = isnan(set[i]->ops) ? sum.ops : known(sum.ops) + set[i]->ops;
        sum.bytes = isnan(set[i]->bytes) ? sum.bytes : known(sum.bytes) + set[i]->bytes;
        sum.flops_quality = (uint8_t)oc_quality_add(sum.flops_quality, set[i]->flops_quality);
        sum.bytes_quality = (uint8_t)oc_quality_add(sum.bytes_quality, set[i]->bytes_quality);
    }
    sum.mean_ns = ns / sum.runs;
    add_line(x, oc_printf(x->arena, "(%u others)", n), &sum, "-", "-");
}

static void fill(struct sizes_table *x)
{
    const struct oc_sizes *s = x->s;
    struct oc_size_set **set = OC_NEW_ARRAY(x->arena, s->n_set, struct oc_size_set *);
    uint32_t shown = s->n_set > SETS_SHOWN + 1 ? SETS_SHOWN : s->n_set;
    for (uint32_t i = 0; i < s->n_set; i++) {
        set[i] = &s->set[i];
        x->all_ns += oc_size_total_ns(set[i]);
    }
    qsort(set, s->n_set, sizeof(struct oc_size_set *), by_time);
    qsort(set, shown, sizeof(struct oc_size_set *), by_place);
    OC_ROW(&x->t, "size", "runs", "median", "%", "MMACs", "GFLOP/s", "GB/s");
    for (uint32_t i = 0; i < shown; i++)
        add_line(x, oc_size_text(s, set[i], x->arena), set[i],
                 oc_time_text(x->arena, set[i]->median_ns, "unknown"), mega_macs(x->arena, set[i]->total));
    if (shown < s->n_set)
        add_others(x, set + shown, s->n_set - shown);
}

static void print_markdown(const struct oc_table *t, FILE *f)
{
    struct oc_buf b = {0};
    for (size_t i = 0; i < t->n_row; i++) {
        for (size_t k = 0; k < t->n_col; k++) {
            oc_buf_str(&b, k ? " | " : "| ");
            oc_md_text(&b, t->cell[i * t->n_col + k]);
        }
        oc_buf_str(&b, i ? " |\n" : " |\n| --- | --: | --: | --: | --: | --: | --: |\n");
    }
    fwrite(b.data, 1, b.n, f);
    oc_buf_free(&b);
}

void oc_out_sizes(struct oc_report *r, bool markdown, FILE *f)
{
    struct sizes_table x = {.arena = &r->arena, .s = oc_report_sizes(r)};
    if (!x.s)
        return;
    bool color = r->o->color && !markdown;
    x.t = (struct oc_table){.kinds = "tnnnnnn", .width_chars = r->o->width_chars, .color = color};
    fill(&x);
    fprintf(f, "%sRuns by size: %u sizes in %u runs; the other figures are means over these runs%s\n%s",
            color ? "\033[1m" : "", x.s->n_set, x.s->runs, color ? "\033[0m" : "", markdown ? "\n" : "");
    if (markdown)
        print_markdown(&x.t, f);
    else
        oc_table_print(&x.t, f);
    fputc('\n', f);
    oc_table_free(&x.t);
}

/* ---- sizes: JSON ------------------------------------------------------------------------------------ */

static void json_set(struct oc_json_out *w, const struct oc_sizes *s, const struct oc_size_set *set)
{
    const struct oc_totals *t = set->total;
    bool known_work = t->quality != OC_UNKNOWN;
    oc_jw_begin_object(w);
    oc_key_object(w, "values");
    for (uint32_t i = 0; i < s->n_name; i++)
        oc_key_u64_if(w, s->name[i], set->value[i] >= 0, (uint64_t)set->value[i]);
    oc_jw_end_object(w);
    oc_key_u64(w, "runs", set->runs);
    oc_key_time(w, "time_ns", set->mean_ns);
    oc_key_time(w, "time_min_ns", set->min_ns);
    oc_key_time(w, "time_median_ns", set->median_ns);
    oc_key_time(w, "time_max_ns", set->max_ns);
    oc_key_u64_if(w, "macs", known_work, t->macs);
    oc_key_u64_if(w, "flops", known_work, t->flops);
    oc_key_u64_if(w, "ops", known_work, t->ops);
    oc_key_u64_if(w, "bytes", known_work, t->bytes_read_act + t->bytes_read_weight + t->bytes_written);
    oc_key_quality(w, t->quality);
    oc_key_quality_of(w, "achieved_flops_quality", isnan(set->flops) ? OC_UNKNOWN : set->flops_quality);
    oc_key_quality_of(w, "achieved_bytes_quality", isnan(set->bytes) ? OC_UNKNOWN : set->bytes_quality);
    oc_key_double(w, "achieved_flops_per_s", oc_size_rate(set, set->flops));
    oc_key_double(w, "achieved_ops_per_s", oc_size_rate(set, set->ops));
    oc_key_double(w, "achieved_bytes_per_s", oc_size_rate(set, set->bytes));
    oc_jw_end_object(w);
}

void oc_json_sizes(struct oc_json_out *w, const struct oc_sizes *s)
{
    oc_jw_begin_object(w);
    oc_key_u64(w, "runs", s->runs);
    oc_key_u64(w, "shapes", s->n_shapes);
    oc_key_array(w, "sets");
    for (uint32_t i = 0; i < s->n_set; i++)
        json_set(w, s, &s->set[i]);
    oc_jw_end_array(w);
    oc_jw_end_object(w);
}

void oc_json_row_sizes(struct oc_json_out *w, const struct oc_join *j, uint32_t record)
{
    const struct oc_join_rec *r = &j->rec[record];
    const struct oc_prof_rec *p = &j->profile->rec[record];
    const struct oc_size_rec *s = &j->sizes->rec[record];
    bool work = r->quality != OC_UNKNOWN && r->part_of == OC_NONE;
    oc_jw_begin_object(w);
    oc_key_u64_if(w, "macs_total", work, s->macs);
    oc_key_u64_if(w, "flops_total", work, s->flops);
    oc_key_u64_if(w, "ops_total", work, s->ops);
    oc_key_u64_if(w, "bytes_total", r->bytes_known && r->part_of == OC_NONE, s->rd_act + s->rd_wt + s->wr);
    oc_key_time(w, "time_total_ns", isnan(p->kernel_ns) ? p->total_ns : p->total_kernel_ns);
    oc_key_time(w, "time_min_ns", p->min_ns);
    oc_key_time(w, "time_median_ns", p->median_ns);
    oc_key_time(w, "time_max_ns", p->max_ns);
    oc_key_count(w, "operations_min", s->work_min);
    oc_key_count(w, "operations_median", s->work_median);
    oc_key_count(w, "operations_max", s->work_max);
    oc_jw_end_object(w);
}

/* ---- what-if: text ---------------------------------------------------------------------------------- */

/* Whether the time of some row is unknown in this step or an earlier one. */
static bool is_unknown_at(const struct oc_what_if *x, size_t step)
{
    for (size_t i = 0; i <= step; i++)
        if (x->step[i].unknown)
            return true;
    return false;
}

static void step_row(const struct oc_what_if *x, size_t i, struct oc_arena *a, struct oc_table *t)
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
    struct oc_table t = {.kinds = "nnnnnt"};
    OC_ROW(&t, "time", "saved", "%", "speedup", "rows", "what if");
    OC_ROW(&t,
           oc_printf(a, "%s%s", x->left_out && !x->r->has_time ? ">=" : "",
                     oc_seconds_text(a, x->now_s, "unknown")),
           "", "", "", oc_printf(a, "%u", x->rows), x->r->has_time ? "(now, measured)" : "(now, estimated)");
    for (size_t i = 0; i < x->n_step; i++)
        step_row(x, i, a, &t);
    fputc('\n', f);
    oc_table_print(&t, f);
    if (!x->r->has_time)
        oc_print_line(
            f, "%-11s %s", "assumed",
            "now: roofline time and launches; caches of unknown bandwidth at that of the next level");
    for (size_t i = 0; i < x->n_step; i++)
        print_note(&x->step[i], a, f);
    if (!isnan(x->bound_s))
        fprintf(f, "%-11s %s on %s\n", "at least", oc_seconds_text(a, x->bound_s, "unknown"),
                oc_device_info(x->device)->name);
    if (x->rest_s > 0)
        fprintf(f, "%-11s %s outside operators stays\n", "assumed", oc_seconds_text(a, x->rest_s, "unknown"));
}

/* ---- what-if: JSON ---------------------------------------------------------------------------------- */

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
    oc_key_double(w, "rest_ns", oc_ns_of(x->rest_s));
    oc_key_double(w, "bound_time_ns", oc_ns_of(x->bound_s));
    oc_key_array(w, "steps");
    for (size_t i = 0; i < x->n_step; i++)
        step_json(x, i, w);
    oc_jw_end_array(w);
    oc_jw_end_object(w);
}
