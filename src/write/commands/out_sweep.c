/* A sweep as a table, CSV or JSON. CSV and JSON have exact numbers; unknown values are empty or null. */
#include <inttypes.h>
#include <string.h>

#include "base/c_locale.h"
#include "analyze/closed_form.h"
#include "base/units.h"
#include "write/tables/json_keys.h"
#include "write/tables/plain_table.h"

enum { VERSION = 1, MIN_NOTE = 33 }; /* "510 of 1097 nodes of unknown cost" */

struct sweep_out {
    const struct oc_sweep *s;
    struct oc_arena arena;
    struct oc_plain_table table;
    const char **cell; /* one row */
};

static bool all_zero(const struct oc_sweep *s, enum oc_metric m)
{
    for (size_t i = 0; i < s->n_row; i++)
        if (!s->row[i].failure && s->row[i].value[m])
            return false;
    return true;
}

static bool sweep_is_known(const struct oc_sweep_row *row, enum oc_metric m)
{
    return !row->failure && (m != OC_METRIC_PEAK || row->peak_quality != OC_UNKNOWN);
}

static const char *sweep_human(struct sweep_out *o, const struct oc_sweep_row *row, enum oc_metric m)
{
    char buf[48];
    if (!sweep_is_known(row, m))
        return "-";
    double v = (double)row->value[m];
    bool bytes = !strcmp(oc_metric_info(m)->unit, "B");
    const char *text = bytes ? oc_format_bytes(v, buf, sizeof(buf)) : oc_format_si(v, "", buf, sizeof(buf));
    const char *mark = oc_sum_mark(m == OC_METRIC_PARAMS ? OC_EXACT
                                   : m == OC_METRIC_PEAK ? row->peak_quality
                                                         : row->quality);
    if (v == 0 && *mark == '>') /* at least 0 */
        return "-";
    return oc_printf(&o->arena, "%s%.*s", mark, (int)strcspn(text, "\n"), text);
}

static const char *note_of(struct sweep_out *o, const struct oc_sweep_row *row)
{
    if (row->failure)
        return row->failure;
    if (!row->unknown_nodes)
        return "";
    return oc_printf(&o->arena, "%" PRIu64 " of %" PRIu64 " nodes of unknown cost", row->unknown_nodes,
                     row->nodes);
}

static size_t put_axes(struct sweep_out *o, const struct oc_sweep_row *row)
{
    for (size_t i = 0; i < o->s->n_axis; i++)
        o->cell[i] = row ? oc_printf(&o->arena, "%" PRId64, row->at[i]) : o->s->axis[i].symbol;
    return o->s->n_axis;
}

/* ---- for people ------------------------------------------------------------------------------------- */

static void human_row(struct sweep_out *o, const struct oc_sweep_row *row, const bool *shown)
{
    size_t n = put_axes(o, row);
    for (unsigned m = 0; m < OC_METRIC_COUNT; m++)
        if (shown[m])
            o->cell[n++] =
                row ? sweep_human(o, row, (enum oc_metric)m) : oc_metric_info((enum oc_metric)m)->title;
    o->cell[n++] = row ? note_of(o, row) : "";
    o->table.n_col = n;
    oc_plain_row(&o->table, o->cell);
}

static void sweep_write_table(struct sweep_out *o, FILE *f)
{
    bool shown[OC_METRIC_COUNT];
    for (unsigned m = 0; m < OC_METRIC_COUNT; m++)
        shown[m] = m != OC_METRIC_OPS || !all_zero(o->s, (enum oc_metric)m);
    human_row(o, NULL, shown);
    for (size_t i = 0; i < o->s->n_row; i++)
        human_row(o, &o->s->row[i], shown);
    uint8_t *drop = OC_NEW_ARRAY(&o->arena, o->table.n_col, uint8_t); /* not the sizes and the note */
    for (size_t i = o->s->n_axis; i + 1 < o->table.n_col; i++)
        drop[i] = (uint8_t)(i + 1);
    o->table.drop = drop;
    oc_plain_print(&o->table, 1, f);
}

/* ---- for machines ----------------------------------------------------------------------------------- */

static void sweep_fields(struct oc_fields *o, const struct oc_sweep *s, const struct oc_sweep_row *row)
{
    const char *unknown = o->json ? oc_quality_name(OC_UNKNOWN) : NULL;
    oc_fields_begin(o);
    if (o->json)
        oc_key_object(o->json, "dims");
    for (size_t i = 0; i < s->n_axis; i++)
        oc_field_i64(o, s->axis[i].symbol, row->at[i]);
    if (o->json)
        oc_jw_end_object(o->json);
    for (unsigned m = 0; m < OC_METRIC_COUNT; m++)
        oc_field_u64_if(o, oc_metric_info((enum oc_metric)m)->key, sweep_is_known(row, (enum oc_metric)m),
                        row->value[m]);
    oc_field_text(o, "quality", row->failure ? unknown : oc_quality_name(row->quality));
    oc_field_u64_if(o, "unknown_nodes", !row->failure, row->unknown_nodes);
    oc_field_text(o, "failure", row->failure);
    oc_fields_end(o);
}

static void sweep_write_csv(struct sweep_out *o, FILE *f)
{
    struct oc_fields fields = {0};
    for (size_t i = 0; i < o->s->n_row; i++)
        sweep_fields(&fields, o->s, &o->s->row[i]);
    oc_fields_csv(&fields, "1", f);
    oc_fields_free(&fields);
}

static void sweep_write_json(struct sweep_out *o, FILE *f)
{
    struct oc_json_out w;
    struct oc_fields fields = {.json = &w};
    oc_json_begin(&w, f, "onnxcost.sweep", VERSION, o->s->model->path);
    oc_key_array(&w, "rows");
    for (size_t i = 0; i < o->s->n_row; i++)
        sweep_fields(&fields, o->s, &o->s->row[i]);
    oc_jw_end_array(&w);
    oc_json_end(&w);
}

int oc_sweep_write(const struct oc_sweep *s, const char *format, unsigned width_chars, FILE *f,
                   struct oc_err *err)
{
    OC_C_LOCALE;
    static void (*const write[])(struct sweep_out *, FILE *) = {sweep_write_table, sweep_write_csv,
                                                                sweep_write_json};
    struct sweep_out o = {.s = s, .table.width_chars = width_chars, .table.min_text = MIN_NOTE};
    int form = oc_format_of("--sweep", format, "table, csv, json", err);
    if (form < 0)
        return -1;
    o.cell = OC_NEW_ARRAY(&o.arena, s->n_axis + OC_METRIC_COUNT + 3, const char *);
    write[form](&o, f);
    oc_arena_free(&o.arena);
    return 0;
}
