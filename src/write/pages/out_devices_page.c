/* The comparison of devices as a page: for each batch the devices with bars for time and memory. */
#include <inttypes.h>
#include <math.h>

#include "base/units.h"
#include "write/commands/page_views.h"
#include "write/tables/html_page.h"

struct devices_page {
    struct oc_html h;
    const struct oc_rank *r;
    size_t index; /* of the batch */
    const struct oc_rank_table *t;
};

static void rank_sentence(struct devices_page *p)
{
    const struct oc_rank *r = p->r;
    const struct oc_rank_row *row = &p->t->row[0];
    const struct oc_span *s = &p->t->whole[p->t->device[0]];
    struct oc_arena *a = &p->h.arena;
    const char *batch = r->symbol ? oc_printf(a, "%s = %" PRId64 ": ", r->symbol, p->t->batch) : "";
    if (!row->place) {
        oc_html_sentence(&p->h, oc_printf(a, "%sno device has a known time.", batch));
        return;
    }
    oc_html_sentence(&p->h, oc_printf(a, "%s%s has the shortest mean time, %s per run (%s to %s)%s.", batch,
                                      row->device->info->name, oc_seconds_text(a, s->mid_s, "-"),
                                      oc_seconds_text(a, s->lo_s, "-"), oc_seconds_text(a, s->hi_s, "-"),
                                      row->last > row->place
                                          ? oc_printf(a, "; overlapping ranges allow ranks %u to %u",
                                                      row->first, row->last)
                                          : ""));
}

static void rank_facts(struct devices_page *p)
{
    const struct oc_rank_load *l = &p->t->total;
    struct oc_arena *a = &p->h.arena;
    oc_html_facts_begin(&p->h);
    oc_html_fact_double(&p->h, "Operations", oc_printf(a, "batches.%zu.operations", p->index), OC_HTML_SI,
                        l->operations, NULL);
    oc_html_fact_u64(&p->h, "Constants", oc_printf(a, "batches.%zu.constant_bytes", p->index), OC_HTML_BYTES,
                     l->const_bytes, NULL, NULL);
    if (l->peak_quality != OC_UNKNOWN)
        oc_html_fact_u64(&p->h, "Peak activation memory",
                         oc_printf(a, "batches.%zu.peak_activation_bytes", p->index), OC_HTML_BYTES,
                         l->peak_bytes, oc_quality_word(l->peak_quality), NULL);
    oc_html_facts_end(&p->h);
}

/* `low` is also the start of the bar. */
static const struct oc_html_column device_columns[] = {
    {.field = "place", .title = "Rank", .kind = OC_HTML_COUNT},
    {.field = "first_place", .title = "Rank from", .kind = OC_HTML_COUNT},
    {.field = "last_place", .title = "Rank to", .kind = OC_HTML_COUNT},
    {.field = "device", .title = "Device", .kind = OC_HTML_CODE},
    {.field = "class", .title = "Class of operators"},
    {.field = "low_s",
     .json = "time_s_low",
     .title = "Time per run",
     .kind = OC_HTML_SECONDS,
     .high = "high_s"},
    {.field = "middle_s", .json = "time_s_middle", .title = "Mean", .kind = OC_HTML_SECONDS},
    {.field = "low_s", .json = "time_s_low", .title = "Low", .kind = OC_HTML_SECONDS},
    {.field = "high_s", .json = "time_s_high", .title = "High", .kind = OC_HTML_SECONDS},
    {.field = "bound_s", .title = "At least", .kind = OC_HTML_SECONDS},
    {.field = "limit", .title = "Bound by"},
    {.field = "middle_inferences_per_s",
     .json = "inferences_per_s_middle",
     .title = "Inferences/s",
     .kind = OC_HTML_SI,
     .bar = true},
    {.field = "middle_joule",
     .json = "joule_per_inference_middle",
     .title = "Joule per inference",
     .kind = OC_HTML_NUMBER},
    {.field = "memory_share", .title = "Memory", .kind = OC_HTML_PERCENT, .bar = true},
    {.field = "fits", .title = "Fits"},
    {.field = "needed_bytes", .title = "Needed", .kind = OC_HTML_BYTES},
    {.field = "memory_bytes", .title = "Device memory", .kind = OC_HTML_BYTES},
    {.field = "evidence", .title = "Basis"},
    {.field = "missing", .title = "Missing"},
};

/* The first columns are ranks, of whole runs only. */
static void rank_table(struct devices_page *p, const char *id, const char *title, const char *json,
                       size_t skip, struct oc_fields *o)
{
    struct oc_html_table t = {.id = p->index ? oc_printf(&p->h.arena, "%s-%zu", id, p->index + 1) : id,
                              .title = title,
                              .json = json,
                              .column = device_columns + skip,
                              .n_column = OC_COUNT(device_columns) - skip};
    if (p->r->symbol && p->r->n_table > 1)
        t.title = oc_printf(&p->h.arena, "%s, %s = %" PRId64, title, p->r->symbol, p->t->batch);
    oc_html_table(&p->h, &t, o);
    oc_fields_free(o);
}

static void rank_batch(struct devices_page *p)
{
    struct oc_fields devices = {0}, classes = {0};
    for (size_t i = 0; i < p->r->n_device; i++)
        oc_devices_fields(&devices, p->r, p->t, i, OC_OP_CLASS_COUNT);
    for (unsigned c = 0; c < OC_OP_CLASS_COUNT; c++)
        for (size_t i = 0; i < p->r->n_device && p->t->total.class_nodes[c]; i++)
            oc_devices_fields(&classes, p->r, p->t, i, c);
    rank_sentence(p);
    rank_facts(p);
    rank_table(p, "devices", "Devices", oc_printf(&p->h.arena, "batches.%zu.devices", p->index), 0, &devices);
    rank_table(p, "classes", "Classes of operators", NULL, 3, &classes);
}

/* The fastest device as the batch grows. */
static void rank_growth(struct devices_page *p)
{
    const struct oc_rank_phases *f = &p->r->fastest;
    const char *text = "";
    for (size_t i = 0; i < f->n; i++)
        text = oc_printf(&p->h.arena, "%s%s%s from %" PRId64, text, i ? ", " : "",
                         f->item[i].what < 0 ? "unknown" : p->r->device[f->item[i].what]->info->id,
                         f->item[i].from);
    if (f->n)
        oc_html_note(&p->h, oc_printf(&p->h.arena,
                                      "Shortest mean time of the devices with enough memory, by %s: %s.",
                                      p->r->symbol, text));
}

void oc_devices_page(const struct oc_rank *r, const struct oc_rank_write_opts *o, FILE *f)
{
    struct devices_page p = {.r = r, .h.fragment = oc_is_fragment(o->format)};
    for (; p.index < r->n_table; p.index++) {
        p.t = &r->table[p.index];
        rank_batch(&p);
    }
    rank_growth(&p);
    oc_html_note(&p.h,
                 "Times are ranges; at least: no runtime is faster, with perfect fusion and caches at their "
                 "best. Energy: design power for the whole run, device only.");
    oc_html_write(&p.h, r->model->path, "comparison of devices", o->made, f);
}
