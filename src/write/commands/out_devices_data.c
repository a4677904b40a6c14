/* The comparison of devices as JSON and CSV, with exact numbers (unknown values are null or empty), and
 * as a page. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/units.h"
#include "onnxcost/hardware.h"
#include "write/commands/page_views.h"
#include "write/tables/html_page.h"
#include "write/tables/json_keys.h"

static const char *const fits_name[] = {NULL, "yes", "no", "unknown"};
static const char *const part_key[OC_SPAN_PARTS] = {"vector", "matrix", "special",
                                                    "memory", "cache",  "overhead"};

struct devices_out {
    const struct oc_rank *r;
    const struct oc_rank_write_opts *o;
};

/* ---- JSON ------------------------------------------------------------------------------------------- */

static void put_band(struct oc_json_out *w, const char *key, double lo, double mid, double hi)
{
    if (!oc_key_object_if(w, key, isfinite(mid)))
        return;
    oc_key_double(w, "low", lo);
    oc_key_double(w, "middle", mid);
    oc_key_double(w, "high", hi);
    oc_jw_end_object(w);
}

/* Times in seconds and their parts. */
static void put_span(struct oc_json_out *w, const struct oc_span *s)
{
    unsigned limit = oc_span_limit(s);
    put_band(w, "time_s", s->lo_s, s->mid_s, s->hi_s);
    oc_key_text(w, "limit", limit < OC_SPAN_PARTS ? oc_span_part_name(limit) : NULL);
    oc_key_object(w, "middle_s_by_limit");
    for (unsigned i = 0; i < OC_SPAN_PARTS; i++)
        oc_key_double(w, part_key[i], s->part_s[i]);
    oc_jw_end_object(w);
    oc_key_u64(w, "unknown_kernels", s->unknown_kernels);
    oc_key_text(w, "missing", s->missing[0] ? s->missing : NULL);
    oc_key_array(w, "left_out");
    for (unsigned c = 0; c < OC_CLASS_COUNT; c++)
        if (s->left_out & 1u << c)
            oc_jw_string(w, oc_class_name(c));
    oc_jw_end_array(w);
    oc_key_double(w, "left_out_share", s->left_out_part);
}

double oc_devices_memory_share(const struct oc_rank_row *row)
{
    return row->need_bytes && row->capacity_bytes ? (double)row->need_bytes / (double)row->capacity_bytes
                                                  : (double)NAN;
}

static void devices_data_put_row(struct oc_json_out *w, const struct oc_rank *r,
                                 const struct oc_rank_table *t, size_t i)
{
    const struct oc_rank_row *row = &t->row[i];
    const struct oc_span *s = &t->whole[t->device[i]];
    double n = oc_rank_samples(r, t->batch);
    oc_jw_begin_object(w);
    oc_key_text(w, "device", row->device->info->id);
    oc_key_text(w, "evidence", oc_span_evidence_name(s->evidence));
    oc_key_u64_if(w, "place", row->place, row->place);
    oc_key_u64_if(w, "first_place", row->place, row->first);
    oc_key_u64_if(w, "last_place", row->place, row->last);
    put_span(w, s);
    oc_key_double(w, "bound_s", row->bound_ns * 1e-9);
    put_band(w, "inferences_per_s", n / s->hi_s, n / s->mid_s, n / s->lo_s);
    put_band(w, "joule_per_inference", row->lo_joule, row->mid_joule, row->hi_joule);
    oc_key_text(w, "fits", fits_name[row->fits]);
    oc_key_u64_if(w, "needed_bytes", row->need_bytes, row->need_bytes);
    oc_key_u64_if(w, "memory_bytes", row->capacity_bytes, row->capacity_bytes);
    oc_key_double(w, "memory_share", oc_devices_memory_share(row));
    oc_jw_end_object(w);
}

static void put_class(struct oc_json_out *w, const struct oc_rank *r, const struct oc_rank_table *t,
                      unsigned c)
{
    size_t best = oc_rank_best_for(r, t, c);
    oc_jw_begin_object(w);
    oc_key_text(w, "class", oc_op_class_name(c));
    oc_key_u64(w, "operators", t->total.class_nodes[c]);
    oc_key_count(w, "operations", t->total.class_operations[c]);
    oc_key_text(w, "fastest", best < r->n_device ? r->device[best]->info->id : NULL);
    oc_key_array(w, "devices");
    for (size_t i = 0; i < r->n_device; i++) {
        oc_jw_begin_object(w);
        oc_key_text(w, "device", t->row[i].device->info->id);
        put_span(w, &t->by_class[t->device[i] * OC_OP_CLASS_COUNT + c]);
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
    oc_jw_end_object(w);
}

static void put_table(struct oc_json_out *w, const struct oc_rank *r, const struct oc_rank_table *t)
{
    oc_jw_begin_object(w);
    oc_key_u64_if(w, "batch", r->symbol != NULL, (uint64_t)t->batch);
    oc_key_count(w, "operations", t->total.operations);
    oc_key_quality(w, t->total.quality);
    oc_key_u64(w, "unknown_operators", t->total.unknown_nodes);
    oc_key_u64(w, "estimated_operators", t->total.estimated_nodes);
    oc_key_u64(w, "constant_bytes", t->total.const_bytes);
    oc_key_u64_if(w, "peak_activation_bytes", t->total.peak_quality != OC_UNKNOWN, t->total.peak_bytes);
    oc_key_array(w, "devices");
    for (size_t i = 0; i < r->n_device; i++)
        devices_data_put_row(w, r, t, i);
    oc_jw_end_array(w);
    oc_key_array(w, "classes");
    for (unsigned c = 0; c < OC_OP_CLASS_COUNT; c++)
        if (t->total.class_nodes[c])
            put_class(w, r, t, c);
    oc_jw_end_array(w);
    oc_jw_end_object(w);
}

typedef const char *(*name_fn)(const struct oc_rank *r, int what);

static void put_phases(struct oc_json_out *w, const char *key, const struct oc_rank *r,
                       const struct oc_rank_phases *p, const char *what, name_fn name)
{
    oc_key_array(w, key);
    for (size_t i = 0; i < p->n; i++) {
        oc_jw_begin_object(w);
        oc_key_u64(w, "from", (uint64_t)p->item[i].from);
        oc_key_text(w, what, name(r, p->item[i].what));
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
}

static const char *devices_data_device_name(const struct oc_rank *r, int what)
{
    return what < 0 ? NULL : r->device[what]->info->id;
}

static const char *devices_data_limit_name(const struct oc_rank *r, int what)
{
    (void)r;
    return what < 0 ? NULL : oc_rank_limit_name(what);
}

static const char *fit_name(const struct oc_rank *r, int what)
{
    (void)r;
    return fits_name[what];
}

static void put_pair(struct oc_json_out *w, const struct oc_rank *r, size_t first, size_t second)
{
    const struct oc_rank_phases *p = &r->pair[first * r->n_device + second];
    const char *const id[] = {r->device[first]->info->id, r->device[second]->info->id};
    oc_jw_begin_object(w);
    oc_key_text(w, "first", id[0]);
    oc_key_text(w, "second", id[1]);
    oc_key_array(w, "faster");
    for (size_t i = 0; i < p->n; i++) {
        int what = p->item[i].what;
        oc_jw_begin_object(w);
        oc_key_u64(w, "from", (uint64_t)p->item[i].from);
        oc_key_text(w, "device", what <= OC_RANK_SAME ? NULL : id[what >= OC_RANK_SECOND]);
        oc_key_bool(w, "equal", what == OC_RANK_SAME);
        oc_key_bool(w, "surely", what == OC_RANK_FIRST_SURELY || what == OC_RANK_SECOND_SURELY);
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
    oc_jw_end_object(w);
}

static void devices_data_put_batches(struct oc_json_out *w, const struct oc_rank *r)
{
    if (!oc_key_object_if(w, "larger_batches", r->max_batch))
        return;
    oc_key_text(w, "dimension", r->symbol);
    oc_key_u64(w, "up_to", (uint64_t)r->max_batch);
    put_phases(w, "fastest", r, &r->fastest, "device", devices_data_device_name);
    oc_key_array(w, "devices");
    for (size_t i = 0; i < r->n_device; i++) {
        oc_jw_begin_object(w);
        oc_key_text(w, "device", r->device[i]->info->id);
        put_phases(w, "limit", r, &r->limit[i], "limit", devices_data_limit_name);
        put_phases(w, "memory", r, &r->fits[i], "fits", fit_name);
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
    if (oc_key_array_if(w, "pairs", r->pair != NULL)) {
        for (size_t i = 0; i < r->n_device; i++)
            for (size_t j = i + 1; j < r->n_device; j++)
                put_pair(w, r, i, j);
        oc_jw_end_array(w);
    }
    oc_jw_end_object(w);
}

static void put_assumptions(struct oc_json_out *w, const struct oc_rank *r)
{
    oc_key_array(w, "assumptions");
    for (uint32_t i = 0; i < r->n_assumption; i++) {
        oc_json_assumption(w, &r->assumption[i]);
    }
    oc_jw_end_array(w);
    oc_key_array(w, "devices");
    for (size_t i = 0; i < r->n_device; i++) {
        const struct oc_device *d = r->device[i];
        oc_jw_begin_object(w);
        oc_key_text(w, "device", d->info->id);
        oc_key_text(w, "name", d->info->name);
        oc_key_text(w, "vendor", d->info->vendor);
        oc_key_text(w, "kind", d->info->kind);
        oc_key_double(w, "overhead_s", d->overhead ? d->overhead->value : NAN);
        oc_key_double(w, "design_power_w", d->power ? d->power->value : NAN);
        oc_key_array(w, "set");
        oc_hw_set_json(w, d->info);
        oc_jw_end_array(w);
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
}

static void devices_members(void *of, struct oc_json_out *w)
{
    const struct oc_rank *r = ((const struct devices_out *)of)->r;
    oc_key_text(w, "calibration", r->calibration);
    oc_key_object(w, "efficiency");
    oc_key_double(w, "low", OC_BAND_LEAST);
    oc_key_double(w, "middle", oc_band_middle());
    oc_key_double(w, "high", OC_BAND_MOST);
    oc_jw_end_object(w);
    oc_key_text(w, "sort", r->sort);
    oc_key_text(w, "as", r->as ? r->as->name : NULL);
    oc_key_bool(w, "cache", r->cache);
    put_assumptions(w, r);
    oc_key_array(w, "batches");
    for (size_t i = 0; i < r->n_table; i++)
        put_table(w, r, &r->table[i]);
    oc_jw_end_array(w);
    devices_data_put_batches(w, r);
}

/* ---- CSV -------------------------------------------------------------------------------------------- */

/* A row of CSV and of the page: a device in total (op_class OC_OP_CLASS_COUNT) or for one class of operators. */
struct devices_row {
    const struct oc_rank_table *t;
    size_t device; /* in rank order */
    unsigned op_class;
};

struct devices_list {
    const struct oc_rank *r;
    struct devices_row *row; /* arena */
    size_t n;
};

static void add_devices_row(struct devices_list *l, const struct oc_rank_table *t, size_t device, unsigned c)
{
    if (c == OC_OP_CLASS_COUNT || t->total.class_nodes[c])
        l->row[l->n++] = (struct devices_row){t, device, c};
}

/* Room for all rows of `n_table` batches. */
static struct devices_list new_devices_list(struct oc_arena *a, const struct oc_rank *r, size_t n_table)
{
    size_t most = n_table * r->n_device * (OC_OP_CLASS_COUNT + 1);
    return (struct devices_list){.r = r, .row = OC_NEW_ARRAY(a, most, struct devices_row)};
}

static void devices_fields(struct oc_fields *o, const void *of, size_t index)
{
    const struct devices_list *list = of;
    const struct oc_rank *r = list->r;
    const struct oc_rank_table *t = list->row[index].t;
    size_t i = list->row[index].device;
    unsigned op_class = list->row[index].op_class;
    const struct oc_rank_row *row = &t->row[i];
    bool all = op_class == OC_OP_CLASS_COUNT;
    const struct oc_span *s =
        all ? &t->whole[t->device[i]] : &t->by_class[t->device[i] * OC_OP_CLASS_COUNT + op_class];
    unsigned limit = oc_span_limit(s);
    oc_field_u64_if(o, "batch", r->symbol != NULL, (uint64_t)t->batch);
    oc_field_u64_if(o, "place", row->place, row->place);
    oc_field_u64_if(o, "first_place", row->place, row->first);
    oc_field_u64_if(o, "last_place", row->place, row->last);
    oc_field_text(o, "device", row->device->info->id);
    oc_field_text(o, "class", all ? NULL : oc_op_class_name(op_class));
    oc_field_double(o, "low_s", s->lo_s);
    oc_field_double(o, "middle_s", s->mid_s);
    oc_field_double(o, "high_s", s->hi_s);
    oc_field_double(o, "middle_inferences_per_s", all ? oc_rank_samples(r, t->batch) / s->mid_s : NAN);
    oc_field_double(o, "low_joule", all ? row->lo_joule : NAN);
    oc_field_double(o, "middle_joule", all ? row->mid_joule : NAN);
    oc_field_double(o, "high_joule", all ? row->hi_joule : NAN);
    oc_field_text(o, "fits", all ? fits_name[row->fits] : NULL);
    oc_field_u64_if(o, "needed_bytes", all && row->need_bytes, row->need_bytes);
    oc_field_u64_if(o, "memory_bytes", all && row->capacity_bytes, row->capacity_bytes);
    oc_field_text(o, "evidence", oc_span_evidence_name(s->evidence));
    oc_field_text(o, "limit", limit < OC_SPAN_PARTS ? oc_span_part_name(limit) : NULL);
    for (unsigned k = 0; k < OC_SPAN_PARTS; k++)
        oc_field_double(o, oc_printf(&o->arena, "%s_s", part_key[k]), s->part_s[k]);
    oc_field_text(o, "missing", s->missing);
    oc_field_double(o, "bound_s", all ? row->bound_ns * 1e-9 : NAN);
    oc_field_double(o, "memory_share", all ? oc_devices_memory_share(row) : NAN);
}

/* ---- page ------------------------------------------------------------------------------------------- */

/* The comparison of devices as a page: for each batch the devices with bars for time and memory. */

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
                       size_t skip, const struct devices_list *list)
{
    struct oc_html_table t = {.id = p->index ? oc_printf(&p->h.arena, "%s-%zu", id, p->index + 1) : id,
                              .title = title,
                              .json = json,
                              .column = device_columns + skip,
                              .n_column = OC_COUNT(device_columns) - skip};
    if (p->r->symbol && p->r->n_table > 1)
        t.title = oc_printf(&p->h.arena, "%s, %s = %" PRId64, title, p->r->symbol, p->t->batch);
    oc_html_list(&p->h, &t, &OC_ROWS(list->n, list, devices_fields));
}

static void rank_batch(struct devices_page *p)
{
    struct devices_list devices = new_devices_list(&p->h.arena, p->r, 1),
                        classes = new_devices_list(&p->h.arena, p->r, 1);
    for (size_t i = 0; i < p->r->n_device; i++)
        add_devices_row(&devices, p->t, i, OC_OP_CLASS_COUNT);
    for (unsigned c = 0; c < OC_OP_CLASS_COUNT; c++)
        for (size_t i = 0; i < p->r->n_device; i++)
            add_devices_row(&classes, p->t, i, c);
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

static void devices_write_page(void *of, bool fragment, FILE *f)
{
    const struct devices_out *o = of;
    const struct oc_rank *r = o->r;
    struct devices_page p = {.r = r, .h.fragment = fragment};
    for (; p.index < r->n_table; p.index++) {
        p.t = &r->table[p.index];
        rank_batch(&p);
    }
    rank_growth(&p);
    oc_html_note(&p.h,
                 "Times are ranges; at least: no runtime is faster, with perfect fusion and caches at their "
                 "best. Energy: design power for the whole run, device only.");
    oc_html_write(&p.h, r->model->path, "comparison of devices", o->o->made, f);
}

/* ---- formats ---------------------------------------------------------------------------------------- */

static void devices_text(void *of, FILE *f)
{
    const struct devices_out *o = of;
    oc_devices_table(o->r, o->o, f);
}

int oc_rank_write(const struct oc_rank *r, const struct oc_rank_write_opts *given, FILE *f,
                  struct oc_err *err)
{
    struct oc_rank_write_opts full;
    if (OC_OPTIONS(&full, given, err))
        return -1;
    struct oc_arena arena = {0};
    struct devices_out o = {.r = r, .o = &full};
    struct devices_list all = new_devices_list(&arena, r, r->n_table);
    for (size_t b = 0; b < r->n_table; b++)
        for (size_t i = 0; i < r->n_device; i++) {
            add_devices_row(&all, &r->table[b], i, OC_OP_CLASS_COUNT);
            for (unsigned c = 0; c < OC_OP_CLASS_COUNT; c++)
                add_devices_row(&all, &r->table[b], i, c);
        }
    const struct oc_output out = {.what = "compare",
                                  .of = &o,
                                  .text = devices_text,
                                  .rows = OC_ROWS(all.n, &all, devices_fields),
                                  .schema = "onnxcost.devices",
                                  .model = r->model->path,
                                  .members = devices_members,
                                  .page = devices_write_page};
    int rc = oc_output_write(&out, full.format, f, err);
    oc_arena_free(&arena);
    return rc;
}
