/* The comparison of devices as text. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "estimate/bound.h"
#include "onnxcost/hardware.h"
#include "write/commands/page_views.h"
#include "write/tables/table.h"

struct view {
    const struct oc_rank *r;
    const struct oc_rank_write_opts *o;
    struct oc_arena arena;
    FILE *f;
};

enum { LABEL = 12, WIDTH = 118, TOP = 20, CLASS_DEVICES = 6, MOST_PAIRS = 28 };

static size_t text_width(const struct view *v)
{
    return v->o->width_chars && v->o->width_chars < WIDTH ? v->o->width_chars : WIDTH;
}

#define say(v, label, ...) oc_plain_say_format((label), LABEL, text_width(v), (v)->f, __VA_ARGS__)

static const char *devices_name_of(const struct view *v, size_t device)
{
    return v->r->device[device]->info->id;
}

static struct oc_table new_table(const struct view *v, const char *kinds)
{
    return (struct oc_table){.kinds = kinds, .width_chars = v->o->width_chars, .color = v->o->color};
}

/* Number of rows to print of n, from --top. */
static size_t shown(const struct view *v, size_t n)
{
    int64_t top = v->o->has_top ? v->o->top : TOP;
    if (top == 0)
        return n;
    if (top < 0)
        return (uint64_t)-top < n ? n - (size_t)-top : 0;
    return (uint64_t)top < n ? (size_t)top : n;
}

/* ---- head ------------------------------------------------------------------------------------------- */

static void put_left_out(struct view *v)
{
    const struct oc_rank_table *t = &v->r->table[0];
    uint32_t seen = 0;
    unsigned said = 0;
    for (unsigned c = 0; c < OC_CLASS_COUNT; c++)
        for (size_t i = 0; i < v->r->n_device; i++)
            if (!t->whole[i].missing[0] && t->whole[i].left_out & 1u << c)
                seen |= 1u << c;
    for (unsigned c = 0; c < OC_CLASS_COUNT; c++) {
        size_t n = 0, last = 0;
        double most = 0;
        for (size_t i = 0; seen & 1u << c && i < v->r->n_device; i++)
            if (!t->whole[i].missing[0] && t->whole[i].left_out & 1u << c) {
                n++;
                last = i;
                most = fmax(most, t->whole[i].left_out_part);
            }
        if (n)
            say(v, said++ ? "" : "excluded",
                "arithmetic in %s on %s (no peak rate in the device file): at most %.2g %% of all operations",
                oc_class_name(c), n == 1 ? devices_name_of(v, last) : oc_printf(&v->arena, "%zu devices", n),
                100 * most);
    }
}

static void put_calibration(struct view *v)
{
    const struct oc_rank *r = v->r;
    const struct oc_span *s = r->calibration ? &r->table[0].whole[r->calibrated] : NULL;
    if (s)
        say(v, "calibrated", "%s: estimate and 80 %% interval for the predicted kernels of the runtime%s",
            r->calibration,
            s->unknown_kernels ? oc_printf(&v->arena, "; %u kernels cannot be estimated", s->unknown_kernels)
                               : "");
}

static bool any_with(const struct oc_rank *r, unsigned evidence)
{
    for (size_t i = 0; i < r->n_device; i++)
        if (r->table[0].whole[i].evidence == evidence)
            return true;
    return false;
}

/* Of them the shortest time counts less. */
static bool any_keeps_tensors(const struct oc_rank *r)
{
    for (size_t i = 0; i < r->n_device; i++)
        if (r->table[0].whole[i].evidence == OC_SPAN_BAND && oc_bound_keeps_tensors(r->device[i]))
            return r->cache;
    return false;
}

static void put_assumed(struct view *v)
{
    const struct oc_rank *r = v->r;
    bool published = any_with(r, OC_SPAN_PUBLISHED);
    if (published)
        say(v, "basis",
            "GPUs: efficiencies fitted to published latencies (hwdb/published.tsv), fused kernels of an "
            "optimizing runtime; 80 %% interval by the errors on devices and families left out");
    if (any_with(r, OC_SPAN_BAND))
        say(v, "assumed",
            "%skernel efficiency between %.0f %% and %.0f %% of the roofline, mean %.0f %%; no operator "
            "fusion; launch overhead from the device file; %s%s",
            published ? "other devices: " : "", 100 * OC_BAND_LEAST, 100 * OC_BAND_MOST,
            100 * oc_band_middle(),
            r->cache ? "each transfer at the smallest memory level that fits" : "all transfers from DRAM",
            any_keeps_tensors(r)
                ? "; NPUs: in the shortest time no launches and no transfers between operators"
                : "");
    say(v, "", "at least: no runtime is faster; perfect fusion, caches at their best");
    say(v, "", "energy: design power (TDP) for the whole run, device only");
    for (uint32_t i = 0; i < r->n_assumption; i++)
        say(v, "", "%s %s = %s: %s", r->assumption[i].what, r->assumption[i].name, r->assumption[i].value,
            r->assumption[i].reason);
    for (size_t i = 0; i < r->n_device; i++) {
        const struct oc_device_info *d = r->device[i]->info;
        for (size_t k = 0; k < d->n_set; k++)
            say(v, "", "%s", oc_hw_set_text(&v->arena, d->id, &d->set[k]));
    }
}

static void put_head(struct view *v)
{
    const struct oc_rank *r = v->r;
    const struct oc_rank_load *k = &r->table[0].total;
    if (r->model->path[0])
        say(v, "model", "%s", r->model->path);
    say(v, "work", "%s%s operations, %s of constants, peak activation memory %s%s", oc_sum_mark(k->quality),
        oc_si_text(&v->arena, k->operations, ""), oc_bytes_text(&v->arena, (double)k->const_bytes),
        k->peak_quality == OC_UNKNOWN ? "unknown" : oc_bytes_text(&v->arena, (double)k->peak_bytes),
        r->symbol ? oc_printf(&v->arena, ", %s = %" PRId64, r->symbol, k->batch) : "");
    say(v, "times", "ranges; ranked by their mean%s. Rank 2 (1-3): overlapping ranges allow ranks 1 to 3",
        strcmp(r->sort, "energy") ? "" : ", times power");
    if (r->as)
        say(v, "as", "%s: %s; memory of the unchanged model", r->as->name, r->as->note);
    put_calibration(v);
    put_assumed(v);
    put_left_out(v);
}

/* ---- ranking ---------------------------------------------------------------------------------------- */

static const char *place_text(struct view *v, const struct oc_rank_row *row)
{
    if (!row->place)
        return "-";
    return row->first == row->last ? oc_printf(&v->arena, "%u", row->place)
                                   : oc_printf(&v->arena, "%u (%u-%u)", row->place, row->first, row->last);
}

static const char *memory_text(struct view *v, const struct oc_rank_row *row)
{
    double part = 100 * oc_devices_memory_share(row);
    if (row->fits == OC_FITS_NO)
        return oc_printf(&v->arena, "does not fit: %s %%", oc_number_text(&v->arena, part, 3));
    return row->fits == OC_FITS_YES ? oc_printf(&v->arena, "%.2g %%", part) : "unknown";
}

static const char *devices_limit_text(struct view *v, const struct oc_span *s)
{
    unsigned limit = oc_span_limit(s);
    if (limit == OC_SPAN_PARTS)
        return "unknown";
    return oc_printf(&v->arena, "%s %.0f %%", oc_span_part_name(limit), 100 * s->part_s[limit] / s->mid_s);
}

/* "1.2 - 3.4", "unknown" */
static const char *devices_range_text(struct view *v, double lo, double hi)
{
    if (!isfinite(lo))
        return "unknown";
    return oc_printf(&v->arena, "%s - %s", oc_si_text(&v->arena, lo, ""), oc_si_text(&v->arena, hi, ""));
}

static const char *joules(struct view *v, double lo, double hi)
{
    return isfinite(lo)
               ? oc_printf(&v->arena, "%s - %s", oc_joule_text(&v->arena, lo), oc_joule_text(&v->arena, hi))
               : "unknown";
}

static void devices_put_row(struct view *v, struct oc_table *t, const struct oc_rank_table *b, size_t i)
{
    const struct oc_rank_row *row = &b->row[i];
    bool known = isfinite(row->mid_ns);
    double rate = 1e9 * oc_rank_samples(v->r, b->batch);
    OC_ROW(t, place_text(v, row), devices_name_of(v, b->device[i]),
           known ? oc_time_text(&v->arena, row->mid_ns, "unknown") : "unknown",
           known          ? oc_printf(&v->arena, "%s - %s", oc_time_text(&v->arena, row->lo_ns, "unknown"),
                                      oc_time_text(&v->arena, row->hi_ns, "unknown"))
           : row->missing ? row->missing
                          : "unknown",
           oc_time_text(&v->arena, row->bound_ns, "unknown"),
           known ? devices_range_text(v, rate / row->hi_ns, rate / row->lo_ns) : "",
           known ? joules(v, row->lo_joule, row->hi_joule) : "", memory_text(v, row),
           known ? devices_limit_text(v, &b->whole[b->device[i]]) : "");
}

static void put_order(struct view *v, const struct oc_rank_table *b)
{
    struct oc_table t = new_table(v, "ttnnnnnnt");
    size_t n = shown(v, v->r->n_device);
    fputc('\n', v->f);
    if (v->r->n_table > 1)
        oc_print_line(v->f, "%s = %" PRId64, v->r->symbol, b->batch);
    if (b->total.unknown_nodes)
        say(v, "excluded", "%" PRIu64 " operators of unknown cost: all times are lower bounds",
            b->total.unknown_nodes);
    if (b->total.estimated_nodes)
        say(v, "estimated", "counts of %" PRIu64 " operators", b->total.estimated_nodes);
    OC_ROW(&t, "rank", "device", "mean", "time per run", "at least", "inferences/s", "energy per run",
           "memory", "bound by");
    for (size_t i = 0; i < n; i++)
        devices_put_row(v, &t, b, i);
    oc_table_print(&t, v->f);
    if (n < v->r->n_device)
        fprintf(v->f, "... %zu more (--top 0 shows all)\n", v->r->n_device - n);
}

/* ---- classes of operators --------------------------------------------------------------------------- */

/* The first device with times for all classes, otherwise n_device. */
static size_t reference_device(const struct view *v, const struct oc_rank_table *b)
{
    for (size_t i = 0; i < v->r->n_device; i++) {
        const struct oc_span *s = &b->by_class[(size_t)b->device[i] * OC_OP_CLASS_COUNT];
        unsigned c = 0;
        while (c < OC_OP_CLASS_COUNT && !isnan(s[c].mid_s))
            c++;
        if (c == OC_OP_CLASS_COUNT)
            return b->device[i];
    }
    return v->r->n_device;
}

/* Classes with operators, sorted by their time on that device, or by their operations. */
static size_t order_classes(const struct view *v, const struct oc_rank_table *b, uint8_t *list)
{
    size_t n = 0, device = reference_device(v, b);
    double key[OC_OP_CLASS_COUNT];
    for (unsigned c = 0; c < OC_OP_CLASS_COUNT; c++) {
        key[c] = device < v->r->n_device ? b->by_class[device * OC_OP_CLASS_COUNT + c].mid_s
                                         : b->total.class_operations[c];
        if (!b->total.class_nodes[c])
            continue;
        size_t at = n++;
        for (; at > 0 && key[c] > key[list[at - 1]]; at--)
            list[at] = list[at - 1];
        list[at] = (uint8_t)c;
    }
    return n;
}

static const char *devices_share_text(struct view *v, const struct oc_span *whole, const struct oc_span *s)
{
    unsigned limit = oc_span_limit(s);
    if (isnan(s->mid_s))
        return "unknown";
    if (s->evidence != OC_SPAN_BAND && !(s->mid_s > 0))
        return "fused";
    if (isnan(whole->mid_s))
        return oc_time_text(&v->arena, s->mid_s * 1e9, "unknown");
    return oc_printf(&v->arena, "%.3g %% %s", whole->mid_s > 0 ? 100 * s->mid_s / whole->mid_s : 0,
                     limit == OC_SPAN_PARTS ? "" : oc_span_part_name(limit));
}

static void put_classes(struct view *v, const struct oc_rank_table *b)
{
    uint8_t list[OC_OP_CLASS_COUNT];
    size_t n = order_classes(v, b, list), n_device = shown(v, v->r->n_device);
    const char *cell[4 + CLASS_DEVICES] = {"class", "operators", "OPs", "fastest"};
    n_device = n_device < CLASS_DEVICES ? n_device : CLASS_DEVICES;
    struct oc_table t = new_table(v, "tnntttttttt");
    for (size_t d = 0; d < n_device; d++)
        cell[4 + d] = devices_name_of(v, b->device[d]);
    if (!n)
        return;
    fputc('\n', v->f);
    oc_table_cells(&t, cell, 4 + n_device);
    for (size_t i = 0; i < n; i++) {
        size_t best = oc_rank_best_for(v->r, b, list[i]);
        cell[0] = oc_op_class_name(list[i]);
        cell[1] = oc_printf(&v->arena, "%" PRIu64, b->total.class_nodes[list[i]]);
        cell[2] = oc_printf(
            &v->arena, "%.3g %%",
            b->total.operations > 0 ? 100 * b->total.class_operations[list[i]] / b->total.operations : 0);
        cell[3] = best < v->r->n_device               ? devices_name_of(v, best)
                  : any_with(v->r, OC_SPAN_PUBLISHED) ? "-"
                                                      : "unknown";
        for (size_t d = 0; d < n_device; d++)
            cell[4 + d] = devices_share_text(v, &b->whole[b->device[d]],
                                             &b->by_class[b->device[d] * OC_OP_CLASS_COUNT + list[i]]);
        oc_table_row(&t, cell);
    }
    oc_table_print(&t, v->f);
}

/* ---- other batches ---------------------------------------------------------------------------------- */

static const char *phases_text(struct view *v, const struct oc_rank_phases *p,
                               const char *(*name)(const struct view *v, int what))
{
    struct oc_buf b = {0};
    for (size_t i = 0; i < p->n; i++) {
        oc_buf_printf(&b, "%s%s", i ? ", " : "", name(v, p->item[i].what));
        if (i)
            oc_buf_printf(&b, " from %" PRId64, p->item[i].from);
    }
    const char *text = oc_strdup(&v->arena, b.data ? b.data : "");
    oc_buf_free(&b);
    return text;
}

static const char *devices_device_name(const struct view *v, int what)
{
    return what < 0 ? "none" : devices_name_of(v, (size_t)what);
}

static const char *devices_limit_name(const struct view *v, int what)
{
    (void)v;
    return oc_rank_limit_name(what);
}

static const char *fits_text(struct view *v, const struct oc_rank_phases *p)
{
    if (p->item[0].what == OC_FITS_NO)
        return "none";
    if (p->item[0].what != OC_FITS_YES)
        return "unknown";
    if (p->n > 1 && p->item[1].what == OC_FITS_NO)
        return oc_printf(&v->arena, "%" PRId64, p->item[1].from - 1);
    return oc_printf(&v->arena, ">= %" PRId64, p->n > 1 ? p->item[1].from - 1 : v->r->max_batch);
}

static bool has_time(const struct view *v, size_t device)
{
    return !v->r->table[0].whole[device].missing[0];
}

static void devices_put_limits(struct view *v)
{
    struct oc_table t = new_table(v, "tnt");
    size_t n = shown(v, v->r->n_device);
    fputc('\n', v->f);
    OC_ROW(&t, "device", "max batch", "bound by");
    for (size_t i = 0; i < n; i++) {
        size_t d = v->r->table[0].device[i];
        if (!has_time(v, d))
            continue;
        OC_ROW(&t, devices_name_of(v, d), fits_text(v, &v->r->fits[d]),
               phases_text(v, &v->r->limit[d], devices_limit_name));
    }
    oc_table_print(&t, v->f);
}

/* The faster of two devices by batch: "a100 (overlap); disjoint from batch 12",
 * "t4; a100 from batch 5 (overlap)". */
static const char *faster_text(struct view *v, size_t first, size_t second, const struct oc_rank_phases *p)
{
    struct oc_buf b = {0};
    int winner = -2;
    bool changes = false;
    for (size_t i = 0; i < p->n; i++) {
        int what = p->item[i].what;
        int now = what < 0 ? -1 : (what + 1) / 2; /* 0 equal, 1 the first, 2 the second */
        bool sure = what == OC_RANK_FIRST_SURELY || what == OC_RANK_SECOND_SURELY;
        const char *name = now < 0    ? "unknown"
                           : now == 0 ? "equal"
                                      : devices_name_of(v, now == 1 ? first : second);
        const char *from = i ? oc_printf(&v->arena, " from batch %" PRId64, p->item[i].from) : "";
        if (now != winner)
            oc_buf_printf(&b, "%s%s%s%s", i ? "; " : "", name, from, sure || now < 1 ? "" : " (overlap)");
        else
            oc_buf_printf(&b, "; %s%s", sure ? "disjoint" : "overlap", from);
        changes = changes || (i && now != winner);
        winner = now;
    }
    if (!changes && winner > 0)
        oc_buf_printf(&b, "; %s never (batch <= %" PRId64 ")",
                      devices_name_of(v, winner == 1 ? second : first), v->r->max_batch);
    const char *text = oc_strdup(&v->arena, b.data ? b.data : "");
    oc_buf_free(&b);
    return text;
}

/* Pairs of the listed devices, in rank order. */
static void put_pairs(struct view *v)
{
    struct oc_table t = new_table(v, "tt");
    const uint32_t *device = v->r->table[0].device;
    size_t n = shown(v, v->r->n_device), left = 0;
    if (!v->r->pair || n < 2)
        return;
    OC_ROW(&t, "devices", "faster");
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++) {
            size_t a = device[i] < device[j] ? device[i] : device[j], b = device[i] + device[j] - a;
            if (!has_time(v, a) || !has_time(v, b))
                continue;
            const char *cell[] = {
                oc_printf(&v->arena, "%s, %s", devices_name_of(v, device[i]), devices_name_of(v, device[j])),
                faster_text(v, a, b, &v->r->pair[a * v->r->n_device + b])};
            if (t.n_row <= MOST_PAIRS)
                oc_table_row(&t, cell);
            else
                left++;
        }
    if (t.n_row < 2) { /* there is no pair of devices with times */
        oc_table_free(&t);
        return;
    }
    fputc('\n', v->f);
    oc_table_print(&t, v->f);
    if (left)
        fprintf(v->f, "... %zu more pairs (--format json has all)\n", left);
}

static void devices_put_batches(struct view *v)
{
    const struct oc_rank *r = v->r;
    fputc('\n', v->f);
    if (!r->max_batch) {
        say(v, "batches", "only this one: %s", r->no_batch);
        return;
    }
    say(v, "batches", "%s from 1 to %" PRId64 "%s%s", r->symbol, r->max_batch, r->no_larger ? "; " : "",
        r->no_larger ? r->no_larger : "");
    if (r->n_device > 1)
        say(v, "fastest", "%s%s (by geometric mean, devices with enough memory)",
            phases_text(v, &r->fastest, devices_device_name), r->fastest.n == 1 ? " at every batch" : "");
    devices_put_limits(v);
    put_pairs(v);
}

void oc_devices_table(const struct oc_rank *r, const struct oc_rank_write_opts *o, FILE *f)
{
    struct view v = {.r = r, .o = o, .f = f};
    put_head(&v);
    for (size_t i = 0; i < r->n_table; i++) {
        put_order(&v, &r->table[i]);
        put_classes(&v, &r->table[i]);
    }
    devices_put_batches(&v);
    oc_arena_free(&v.arena);
}
