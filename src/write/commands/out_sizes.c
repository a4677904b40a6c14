#include "write/report_write.h"

#include <math.h>
#include <stdlib.h>

#include "base/units.h"
#include "onnxcost.h"
#include "onnxcost/report.h"
#include "report/headline.h"
#include "write/tables/grid.h"
#include "write/tables/json_keys.h"
#include "write/tables/plain_table.h"

enum { SHOWN = 8, COLUMNS = 7 };

const struct oc_sizes *oc_report_sizes(const struct oc_report *r)
{
    const struct oc_sizes *s = r->in->join ? r->in->join->sizes : NULL;
    return s && s->n_set > 1 ? s : NULL;
}

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

const char *oc_sizes_range(const struct oc_sizes *s, uint32_t input, unsigned axis, struct oc_arena *a)
{
    for (uint32_t i = 0; i < s->n_dim; i++) {
        if (s->dim[i].input != input || s->dim[i].axis != axis || !s->varies[s->dim[i].name])
            continue;
        int64_t *v = OC_NEW_ARRAY(a, s->n_set, int64_t);
        for (uint32_t k = 0; k < s->n_set; k++)
            v[k] = s->set[k].value[s->dim[i].name];
        qsort(v, s->n_set, sizeof(*v), by_number);
        return v[0] < 0 ? "?" : oc_printf(a, "%lld..%lld", (long long)v[0], (long long)v[s->n_set - 1]);
    }
    return NULL;
}

/* ---- table ------------------------------------------------------------------------------------------ */

struct sizes_table {
    struct oc_arena *arena;
    const struct oc_sizes *s;
    struct oc_plain_table t;
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
    return oc_printf(a, "%s%s", oc_quality_mark(t->quality), oc_number_text(a, (double)t->macs * 1e-6, 4));
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
    uint32_t shown = s->n_set > SHOWN + 1 ? SHOWN : s->n_set;
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

static void print_markdown(const struct oc_plain_table *t, FILE *f)
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
    x.t = (struct oc_plain_table){.width_chars = markdown ? 0 : r->o->width_chars, .bold_head = color};
    fill(&x);
    fprintf(f, "%sRuns by size: %u sizes in %u runs; the other figures are means over these runs%s\n%s",
            color ? "\033[1m" : "", x.s->n_set, x.s->runs, color ? "\033[0m" : "", markdown ? "\n" : "");
    if (markdown) {
        print_markdown(&x.t, f);
    } else {
        oc_plain_left(&x.t, 1, &r->arena);
        oc_plain_print(&x.t, 0, f);
    }
    fputc('\n', f);
    oc_plain_free(&x.t);
}

/* ---- JSON ------------------------------------------------------------------------------------------- */

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
