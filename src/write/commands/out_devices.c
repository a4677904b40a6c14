/* Estimates of several devices and batches: as text, CSV, JSON and page, all from one list of fields. Sizes of memory
 * are in powers of 1,024, rates in powers of 1,000. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/units.h"
#include "estimate/rank_devices.h"
#include "onnxcost.h"
#include "onnxcost/estimate.h"
#include "onnxcost/hardware.h"
#include "write/tables/html_page.h"
#include "write/tables/json_keys.h"
#include "write/tables/table.h"

enum { LABEL = 12, WIDTH = 118 };

struct devices_out {
    const struct oc_rank *r;
    const struct oc_rank_write_opts *o;
    struct oc_arena arena;
};

static double memory_share(const struct oc_rank_row *row)
{
    return row->need_bytes && row->capacity_bytes ? (double)row->need_bytes / (double)row->capacity_bytes
                                                  : (double)NAN;
}

/* Whether the rows differ in the batch. */
static bool has_batches(const struct oc_rank *r)
{
    for (size_t i = 1; i < r->n_row; i++)
        if (r->row[i].batch != r->row[0].batch)
            return true;
    return false;
}

/* ---- the answer ------------------------------------------------------------------------------------- */

/* "478 us per run (276 us to 1.67 ms)", by the key of the order. */
static const char *key_text(struct oc_arena *a, const struct oc_rank *r, const struct oc_rank_row *row)
{
    double rate = row->inferences * 1e9;
    switch (r->order) {
    case OC_RANK_BY_THROUGHPUT:
        return oc_printf(a, "has the highest throughput: %s inferences/s (%s to %s)",
                         oc_si_text(a, rate / row->mid_ns, ""), oc_si_text(a, rate / row->hi_ns, ""),
                         oc_si_text(a, rate / row->lo_ns, ""));
    case OC_RANK_BY_ENERGY:
        return oc_printf(a, "takes the lowest energy: %s per inference (%s to %s)",
                         oc_joule_text(a, row->mid_joule), oc_joule_text(a, row->lo_joule),
                         oc_joule_text(a, row->hi_joule));
    case OC_RANK_BY_PRICE:
        return oc_printf(a, "has the lowest price: %s per 1,000 inferences (%s to %s)",
                         oc_price_text(a, row->mid_price), oc_price_text(a, row->lo_price),
                         oc_price_text(a, row->hi_price));
    default:
        return oc_printf(a, "is the fastest: %s per run (%s to %s)", oc_time_text(a, row->mid_ns, "-"),
                         oc_time_text(a, row->lo_ns, "-"), oc_time_text(a, row->hi_ns, "-"));
    }
}

static const char *rank_verdict(const struct oc_rank *r, struct oc_arena *a)
{
    const struct oc_rank_row *row = &r->row[0];
    if (!row->place)
        return "no device has a known time and enough memory";
    const char *batch = has_batches(r) ? oc_printf(a, " with %s = %" PRId64, r->symbol, row->batch) : "";
    unsigned others = row->last - 1;
    return oc_printf(a, "%s%s %s%s", row->device->info->id, batch, key_text(a, r, row),
                     others ? oc_printf(a, "; %u other%s may be better: their intervals overlap with it",
                                        others, others == 1 ? "" : "s")
                            : "");
}

/* ---- head ------------------------------------------------------------------------------------------- */

#define say(o, label, f, ...) oc_plain_say_format((label), LABEL, text_width(o), (f), __VA_ARGS__)

static size_t text_width(const struct devices_out *o)
{
    return o->o->width_chars && o->o->width_chars < WIDTH ? o->o->width_chars : WIDTH;
}

static bool any_with(const struct oc_rank *r, const char *basis)
{
    for (size_t i = 0; i < r->n_row; i++)
        if (!strcmp(r->row[i].basis, basis))
            return true;
    return false;
}

static void put_basis(struct devices_out *o, FILE *f)
{
    const struct oc_rank *r = o->r;
    if (any_with(r, "calibration"))
        say(o, "calibration", f, "%s, %s %s: %" PRIu32 " kernels from %" PRIu32 " recordings; 80 %% interval",
            r->cal->device, r->cal->runtime, r->cal->runtime_version, r->cal->n_sample, r->cal->n_model);
    if (any_with(r, "published latencies"))
        say(o, "published", f,
            "latencies of other GPUs (hwdb/published.tsv): 80 %% interval by the errors on devices and "
            "families "
            "left out");
    if (any_with(r, "roofline range"))
        say(o, "roofline", f,
            "at 90 %% to 30 %% efficiency, an assumption; ranked by the geometric mean of its ends");
    say(o, "at least", f, "no runtime is faster: perfect fusion, caches at their best");
    say(o, "energy", f, "of one inference at the design power (TDP) for the whole run, device only");
    if (r->price_per_hour)
        say(o, "price", f,
            "of 1,000 inferences, one run after another in all of the hour that is paid, in the currency of "
            "--price");
    say(o, "units", f, "memory in KiB, MiB, GiB (powers of 1,024); inferences/s in k, M (powers of 1,000)");
}

static void put_assumptions(struct devices_out *o, FILE *f)
{
    const struct oc_rank *r = o->r;
    size_t unknown = 0;
    if (r->as)
        say(o, "as", f, "%s: %s; memory of the unchanged model", r->as->name, r->as->note);
    for (uint32_t i = 0; i < r->n_assumption; i++)
        say(o, i ? "" : "assumed", f, "%s %s = %s: %s", r->assumption[i].what, r->assumption[i].name,
            r->assumption[i].value, r->assumption[i].reason);
    for (size_t i = 0; i < r->n_device; i++) {
        const struct oc_device_info *d = r->device[i]->info;
        for (size_t k = 0; k < d->n_set; k++)
            say(o, "assumed", f, "%s", oc_hw_set_text(&o->arena, d->id, &d->set[k]));
    }
    for (size_t i = 0; i < r->n_row; i++)
        if (!r->row[i].missing && r->row[i].unknown_kernels > unknown)
            unknown = r->row[i].unknown_kernels;
    if (unknown)
        say(o, "excluded", f,
            "up to %zu kernels of a run: their counts, or figures of the device file for them, are not known",
            unknown);
}

static void put_head(void *of, FILE *f)
{
    struct devices_out *o = of;
    if (o->r->model->path[0])
        say(o, "model", f, "%s", o->r->model->path);
    put_basis(o, f);
    put_assumptions(o, f);
    fputc('\n', f);
}

/* ---- table ------------------------------------------------------------------------------------------ */

static const char *place_text(struct oc_arena *a, const struct oc_rank_row *row)
{
    if (!row->place)
        return "-";
    return row->first == row->last ? oc_printf(a, "%u", row->place)
                                   : oc_printf(a, "%u (%u-%u)", row->place, row->first, row->last);
}

/* "685.69 MiB, 4.2 %" of the memory of the device, if that is known. */
static const char *memory_text(struct oc_arena *a, const struct oc_rank_row *row)
{
    const char *bytes = row->need_bytes ? oc_bytes_text(a, (double)row->need_bytes) : "unknown";
    if (row->fits == OC_FITS_UNKNOWN)
        return bytes;
    return oc_printf(a, "%s, %s%s %%", bytes, row->fits == OC_FITS_NO ? "does not fit: " : "",
                     oc_number_text(a, 100 * memory_share(row), 2));
}

/* The columns; that of batches is only there if they differ, that of prices if there are any. */
enum { BATCH = 2, PRICE = 8, N_COLUMN = 12 };

static bool is_shown(const struct oc_rank *r, size_t column)
{
    return column == BATCH ? has_batches(r) : column != PRICE || r->price_per_hour;
}

static void put_cells(struct oc_table *t, const struct oc_rank *r, const char *const cell[N_COLUMN])
{
    const char *some[N_COLUMN];
    size_t n = 0;
    for (size_t i = 0; i < N_COLUMN; i++)
        if (is_shown(r, i))
            some[n++] = cell[i];
    oc_table_cells(t, some, n);
}

static void put_row(struct devices_out *o, struct oc_table *t, const struct oc_rank_row *row)
{
    struct oc_arena *a = &o->arena;
    bool known = !row->missing;
    const char *const cell[N_COLUMN] = {
        place_text(a, row),
        row->device->info->id,
        row->batch ? oc_printf(a, "%" PRId64, row->batch) : "-",
        known ? oc_time_text(a, row->mid_ns, "unknown") : "unknown",
        known ? oc_printf(a, "%s - %s", oc_time_text(a, row->lo_ns, "-"), oc_time_text(a, row->hi_ns, "-"))
              : row->missing,
        oc_time_text(a, row->bound_ns, "unknown"),
        known ? oc_si_text(a, 1e9 * row->inferences / row->mid_ns, "") : "-",
        isfinite(row->mid_joule) ? oc_joule_text(a, row->mid_joule) : "unknown",
        oc_price_text(a, row->mid_price),
        memory_text(a, row),
        known && isfinite(row->limit_share) ? oc_printf(a, "%s %.0f %%", row->limit, 100 * row->limit_share)
                                            : "unknown",
        row->basis};
    put_cells(t, o->r, cell);
}

static void put_verdict_and_head(void *of, FILE *f)
{
    struct devices_out *o = of;
    say(o, "verdict", f, "%s", rank_verdict(o->r, &o->arena));
    put_head(o, f);
}

static void devices_text(void *of, FILE *f)
{
    struct devices_out *o = of;
    enum {
        BESIDE = 4
    }; /* names of the columns, two lines of those that are not shown, rows that are not shown */
    size_t top = oc_top_rows(o->o->top, oc_print_counted(put_verdict_and_head, o, f) + BESIDE);
    size_t n = top && top < o->r->n_row ? top : o->r->n_row;
    static const char kind[] = "ttnnnnnnnntt";
    const char *const title[N_COLUMN] = {"rank",        "device",   o->r->symbol,   "time per run",
                                         "interval",    "at least", "inferences/s", "energy/inference",
                                         "price/1,000", "memory",   "bound by",     "basis"};
    char kinds[N_COLUMN + 1] = "";
    for (size_t i = 0, k = 0; i < N_COLUMN; i++)
        if (is_shown(o->r, i))
            kinds[k++] = kind[i];
    struct oc_table t = {.kinds = kinds, .width_chars = o->o->width_chars, .color = o->o->color};
    put_cells(&t, o->r, title);
    for (size_t i = 0; i < n; i++)
        put_row(o, &t, &o->r->row[i]);
    oc_table_print(&t, f);
    if (n < o->r->n_row)
        fprintf(f, "... %zu more (--top 0 shows all)\n", o->r->n_row - n);
}

/* ---- CSV, JSON and page ----------------------------------------------------------------------------- */

static void devices_fields(struct oc_fields *f, const void *of, size_t i)
{
    static const char *const fits[] = {NULL, "yes", "no", "unknown"};
    const struct oc_rank *r = of;
    const struct oc_rank_row *row = &r->row[i];
    oc_field_u64_if(f, "place", row->place, row->place);
    oc_field_u64_if(f, "first_place", row->place, row->first);
    oc_field_u64_if(f, "last_place", row->place, row->last);
    oc_field_text(f, "device", row->device->info->id);
    oc_field_u64_if(f, "batch", row->batch, (uint64_t)row->batch);
    oc_field_double(f, "low_s", row->lo_ns * 1e-9);
    oc_field_double(f, "time_s", row->mid_ns * 1e-9);
    oc_field_double(f, "high_s", row->hi_ns * 1e-9);
    oc_field_double(f, "bound_s", row->bound_ns * 1e-9);
    oc_field_double(f, "inferences_per_s", 1e9 * row->inferences / row->mid_ns);
    oc_field_double(f, "joule_per_inference_low", row->lo_joule);
    oc_field_double(f, "joule_per_inference", row->mid_joule);
    oc_field_double(f, "joule_per_inference_high", row->hi_joule);
    oc_field_text(f, "fits", fits[row->fits]);
    oc_field_u64_if(f, "needed_bytes", row->need_bytes, row->need_bytes);
    oc_field_u64_if(f, "memory_bytes", row->capacity_bytes, row->capacity_bytes);
    oc_field_double(f, "memory_share", memory_share(row));
    oc_field_text(f, "bound_by", row->limit);
    oc_field_double(f, "bound_by_share", row->limit_share);
    oc_field_text(f, "basis", row->basis);
    oc_field_text(f, "missing", row->missing);
    oc_field_u64(f, "unknown_kernels", row->unknown_kernels);
    oc_field_double(f, "price_per_hour", row->price_per_hour);
    oc_field_double(f, "price_per_1000_inferences_low", row->lo_price);
    oc_field_double(f, "price_per_1000_inferences", row->mid_price);
    oc_field_double(f, "price_per_1000_inferences_high", row->hi_price);
}

static void devices_members(void *of, struct oc_json_out *w)
{
    struct devices_out *o = of;
    const struct oc_rank *r = o->r;
    oc_key_text(w, "verdict", rank_verdict(r, &o->arena));
    oc_key_text(w, "sort", oc_rank_orders[r->order]);
    oc_key_text(w, "as", r->as ? r->as->name : NULL);
    oc_key_text(w, "dimension", r->symbol);
    oc_key_text(w, "calibration_device", r->cal ? r->cal->device : NULL);
    oc_key_text(w, "calibration_runtime", r->cal ? r->cal->runtime : NULL);
    oc_key_array(w, "assumptions");
    for (uint32_t i = 0; i < r->n_assumption; i++)
        oc_json_assumption(w, &r->assumption[i]);
    for (size_t i = 0; i < r->n_device; i++)
        oc_hw_set_json(w, r->device[i]->info);
    oc_jw_end_array(w);
}

static const struct oc_html_column device_columns[] = {
    {.field = "place", .title = "Rank", .kind = OC_HTML_COUNT},
    {.field = "first_place", .title = "Rank from", .kind = OC_HTML_COUNT},
    {.field = "last_place", .title = "Rank to", .kind = OC_HTML_COUNT},
    {.field = "device", .title = "Device", .kind = OC_HTML_CODE},
    {.field = "batch", .title = "Batch", .kind = OC_HTML_COUNT},
    {.field = "low_s", .title = "Interval of a run", .kind = OC_HTML_SECONDS, .high = "high_s"},
    {.field = "time_s", .title = "Time per run", .kind = OC_HTML_SECONDS},
    {.field = "low_s", .title = "Low", .kind = OC_HTML_SECONDS},
    {.field = "high_s", .title = "High", .kind = OC_HTML_SECONDS},
    {.field = "bound_s", .title = "At least", .kind = OC_HTML_SECONDS},
    {.field = "inferences_per_s", .title = "Inferences/s", .kind = OC_HTML_SI, .bar = true},
    {.field = "joule_per_inference", .title = "Joule per inference", .kind = OC_HTML_NUMBER},
    {.field = "price_per_1000_inferences", .title = "Price of 1,000", .kind = OC_HTML_NUMBER},
    {.field = "memory_share", .title = "Of device memory", .kind = OC_HTML_PERCENT, .bar = true},
    {.field = "fits", .title = "Fits"},
    {.field = "needed_bytes", .title = "Needed", .kind = OC_HTML_BYTES},
    {.field = "memory_bytes", .title = "Device memory", .kind = OC_HTML_BYTES},
    {.field = "bound_by", .title = "Bound by"},
    {.field = "basis", .title = "Basis"},
    {.field = "missing", .title = "Missing"},
};

static void devices_page(void *of, bool fragment, FILE *f)
{
    struct devices_out *o = of;
    struct oc_html h = {.fragment = fragment};
    const struct oc_html_table t = {.id = "devices",
                                    .title = "Devices",
                                    .json = "devices",
                                    .column = device_columns,
                                    .n_column = OC_COUNT(device_columns)};
    oc_html_sentence(&h, rank_verdict(o->r, &o->arena));
    oc_html_list(&h, &t, &OC_ROWS(o->r->n_row, o->r, devices_fields));
    oc_html_text_of(&h, put_head, of);
    oc_html_write(&h, o->r->model->path, "estimates of devices", o->o->made, f);
}

int oc_rank_write(const struct oc_rank *r, const struct oc_rank_write_opts *given, FILE *f,
                  struct oc_err *err)
{
    struct oc_rank_write_opts full;
    if (OC_OPTIONS(&full, given, err))
        return -1;
    struct devices_out o = {.r = r, .o = &full};
    const struct oc_output out = {.what = "estimates of several devices",
                                  .of = &o,
                                  .text = devices_text,
                                  .rows = OC_ROWS(r->n_row, r, devices_fields),
                                  .key = "devices",
                                  .schema = "onnxcost.devices",
                                  .model = r->model->path,
                                  .members = devices_members,
                                  .page = devices_page};
    int rc = oc_output_write(&out, full.format, f, err);
    oc_arena_free(&o.arena);
    return rc;
}
