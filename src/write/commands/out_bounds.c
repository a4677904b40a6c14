/* Proven intervals as a table, CSV and JSON. */
#include <inttypes.h>

#include "analyze/handles.h"
#include "base/c_locale.h"
#include "base/units.h"
#include "base/unicode.h"
#include "onnxcost.h"
#include "write/tables/json_keys.h"
#include "write/tables/plain_table.h"

enum { VERSION = 1, LABEL = 12, WIDTH = 118 };

struct bounds_out {
    const struct oc_bounds *b;
    unsigned width_chars;
    struct oc_arena arena;
    FILE *f;
};

static void bounds_fields(struct oc_fields *o, const struct oc_bounds *b, const struct oc_range_bound *x)
{
    oc_fields_begin(o);
    oc_field_text(o, "figure", x->key);
    oc_field_bool(o, "proven", x->proven);
    oc_field_u64_if(o, "low", x->proven && x->has_low, x->low);
    oc_field_u64_if(o, "high", x->proven, x->high);
    oc_field_u64(o, "least", x->least);
    oc_field_text(o, "least_at", oc_bounds_sizes(b, x->at_least));
    oc_field_u64(o, "most", x->most);
    oc_field_text(o, "most_at", oc_bounds_sizes(b, x->at_most));
    oc_field_text(o, "why", x->why);
    oc_fields_end(o);
}

static void bounds_csv(struct bounds_out *o)
{
    struct oc_fields fields = {0};
    for (unsigned f = 0; f < OC_RANGE_COUNT; f++)
        bounds_fields(&fields, o->b, &o->b->bound[f]);
    oc_fields_csv(&fields, "1", o->f);
    oc_fields_free(&fields);
}

static void bounds_json(struct bounds_out *o)
{
    struct oc_json_out w;
    struct oc_fields fields = {.json = &w};
    oc_json_begin(&w, o->f, "onnxcost.bounds", VERSION, o->b->model->path);
    oc_key_array(&w, "ranges");
    for (size_t i = 0; i < o->b->n_range; i++) {
        oc_jw_begin_object(&w);
        oc_key_text(&w, "symbol", o->b->range[i].symbol);
        oc_key_i64(&w, "from", o->b->range[i].from);
        oc_key_i64(&w, "to", o->b->range[i].to);
        oc_jw_end_object(&w);
    }
    oc_jw_end_array(&w);
    oc_key_u64(&w, "boxes", o->b->boxes);
    oc_key_u64(&w, "analyses", o->b->analyses);
    oc_key_u64(&w, "sizes_without_figures", o->b->without_figures);
    oc_key_text(&w, "assumption", oc_bounds_assumption());
    oc_key_array(&w, "figures");
    for (unsigned f = 0; f < OC_RANGE_COUNT; f++)
        bounds_fields(&fields, o->b, &o->b->bound[f]);
    oc_jw_end_array(&w);
    oc_json_end(&w);
    oc_fields_free(&fields);
}

static void bounds_table(struct bounds_out *o)
{
    const struct oc_bounds *b = o->b;
    static const uint8_t drop[] = {0, 0, 0, 2, 1};
    struct oc_plain_table table = {.width_chars = o->width_chars, .drop = drop, .min_text = 40};
    const char *why = NULL;
    for (size_t i = 0; i < b->n_range; i++)
        fprintf(o->f, "%-*s%s = %" PRId64 " to %" PRId64 "\n", LABEL, i ? "" : "for all", b->range[i].symbol,
                b->range[i].from, b->range[i].to);
    OC_ROW(&table, "figure", "at least", "at most", "largest found", "at");
    for (unsigned f = 0; f < OC_RANGE_COUNT; f++) {
        const struct oc_range_bound *x = &b->bound[f];
        why = x->proven ? why : x->why;
        OC_ROW(&table, x->key, x->proven && x->has_low ? oc_count_text(&o->arena, x->low) : "?",
               x->proven ? oc_count_text(&o->arena, x->high) : "?", oc_count_text(&o->arena, x->most),
               oc_bounds_sizes(b, x->at_most));
    }
    oc_plain_left(&table, 1, &o->arena);
    oc_plain_print(&table, 1, o->f);
    oc_plain_say_format(why ? "not proven" : "proven", LABEL, o->width_chars ? o->width_chars : WIDTH, o->f,
                        "%s%sassumed: %s; boxes: %" PRIu32 ", analyses: %" PRIu32 "%s", why ? why : "",
                        why ? "; " : "", oc_bounds_assumption(), b->boxes, b->analyses,
                        b->without_figures
                            ? oc_printf(&o->arena,
                                        "; %" PRIu32 " of the sizes that were evaluated have no figures",
                                        b->without_figures)
                            : "");
}

int oc_bounds_write(const struct oc_bounds *b, const char *format, unsigned width_chars, FILE *f,
                    struct oc_err *err)
{
    OC_C_LOCALE;
    static void (*const write[])(struct bounds_out *) = {bounds_table, bounds_csv, bounds_json};
    struct bounds_out o = {.b = b, .width_chars = width_chars, .f = f};
    int form = oc_format_of("the bounds", format, "table, csv, json", err);
    if (form < 0)
        return -1;
    write[form](&o);
    oc_arena_free(&o.arena);
    return 0;
}
