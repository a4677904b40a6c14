/* Measured zeros of weights as text, CSV (one row per operator) and JSON. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/handles.h"
#include "base/c_locale.h"
#include "base/units.h"
#include "base/unicode.h"
#include "write/tables/json_keys.h"
#include "write/tables/plain_table.h"

enum { VERSION = 1, LABEL = 12, WIDTH = 118 };

struct sparsity_out {
    const struct oc_sparsity *s;
    size_t top;
    unsigned width_chars;
    struct oc_arena arena;
    FILE *f;
};

static double zero_part(uint64_t zeros, uint64_t elements)
{
    return elements ? (double)zeros / (double)elements : 0;
}

/* ---- rows ------------------------------------------------------------------------------------------- */

static void sparsity_fields(struct oc_fields *o, const struct oc_sparsity *s, const struct oc_sparsity_row *r)
{
    static const char *const pattern[] = {NULL, "none", "2:4"};
    oc_fields_begin(o);
    oc_field_node(o, s->a->model, r->node);
    oc_field_text(o, "weight", r->weight);
    oc_field_u64(o, "elements", r->elements);
    oc_field_u64_if(o, "zeros", r->known, r->zeros);
    oc_field_bool(o, "stored_sparse", r->sparse);
    oc_field_u64(o, "stored_bytes", r->stored_bytes);
    oc_field_text(o, "pattern", pattern[r->pattern]);
    oc_field_u64(o, "macs", r->macs);
    oc_field_u64_if(o, "nonzero_macs", r->counted, r->nonzero_macs);
    oc_field_text(o, "note", r->note);
    oc_fields_end(o);
}

static void sparsity_csv(struct sparsity_out *o)
{
    const struct oc_sparsity_row none = {.node = SIZE_MAX};
    struct oc_fields fields = {.head_only = !o->s->n_row};
    for (uint32_t i = 0; i < o->s->n_row; i++)
        sparsity_fields(&fields, o->s, &o->s->row[i]);
    if (!o->s->n_row)
        sparsity_fields(&fields, o->s, &none);
    oc_fields_csv(&fields, "1", o->f);
    oc_fields_free(&fields);
}

static void sparsity_json(struct sparsity_out *o)
{
    const struct oc_sparsity_info *i = &o->s->info;
    struct oc_json_out w;
    struct oc_fields rows = {.json = &w};
    oc_json_begin(&w, o->f, "onnxcost.sparsity", VERSION, o->s->a->model->path);
    oc_key_u64(&w, "weights", i->weights);
    oc_key_u64(&w, "unread_weights", i->unread);
    oc_key_u64(&w, "elements", i->elements);
    oc_key_u64(&w, "zeros", i->zeros);
    oc_key_u64(&w, "stored_bytes", i->stored_bytes);
    oc_key_u64(&w, "stored_sparse", i->sparse_stored);
    oc_key_u64(&w, "pattern_2_4", i->pattern);
    oc_key_u64(&w, "operators", i->operators);
    oc_key_u64(&w, "unknown_operators", i->unknown_operators);
    oc_key_u64(&w, "macs", i->macs);
    oc_key_u64(&w, "nonzero_macs", i->nonzero_macs);
    oc_key_array(&w, "rows");
    for (uint32_t k = 0; k < o->s->n_row; k++)
        sparsity_fields(&rows, o->s, &o->s->row[k]);
    oc_jw_end_array(&w);
    oc_json_end(&w);
    oc_fields_free(&rows);
}

/* ---- for people ------------------------------------------------------------------------------------- */

#define line(o, label, ...)                                                                                  \
    oc_plain_say_format((label), LABEL, (o)->width_chars ? (o)->width_chars : WIDTH, (o)->f, __VA_ARGS__)

static void print_totals(struct sparsity_out *o)
{
    const struct oc_sparsity_info *i = &o->s->info;
    const char *mark = i->unread ? "of what could be read, " : "";
    if (o->s->a->model->path[0])
        line(o, "model", "%s", o->s->a->model->path);
    line(o, "weights", "%s%s of %s elements are zero (%.1f %%), in %" PRIu64 " tensors, %s stored", mark,
         oc_count_text(&o->arena, i->zeros), oc_count_text(&o->arena, i->elements),
         100 * zero_part(i->zeros, i->elements), i->weights - i->unread,
         oc_bytes_text(&o->arena, (double)i->stored_bytes));
    line(o, "", "2:4 pattern in %" PRIu64 " tensors; stored sparse: %" PRIu64 "; not read: %" PRIu64,
         i->pattern, i->sparse_stored, i->unread);
    line(o, "MACs", "%s, of these %s with a weight that is not zero", oc_count_text(&o->arena, i->macs),
         oc_count_text(&o->arena, i->nonzero_macs));
    if (i->unknown_operators)
        line(o, "unknown", "MACs without zeros of %" PRIu64 " of %" PRIu64 " operators", i->unknown_operators,
             i->operators);
}

/* Unknown ones first, then the largest number of MACs with zeros. */
static int by_zero_macs(const void *a, const void *b)
{
    const struct oc_sparsity_row *x = *(const struct oc_sparsity_row *const *)a,
                                 *y = *(const struct oc_sparsity_row *const *)b;
    uint64_t m = x->macs - x->nonzero_macs, n = y->macs - y->nonzero_macs;
    if (x->counted != y->counted)
        return x->counted ? 1 : -1;
    return m != n ? (m < n ? 1 : -1) : (x->node > y->node) - (x->node < y->node);
}

static void sparsity_table(struct sparsity_out *o)
{
    static const char *const pattern[] = {"?", "-", "2:4"};
    const struct oc_sparsity *s = o->s;
    const struct oc_model *m = s->a->model;
    const struct oc_sparsity_row **row = OC_NEW_ARRAY(&o->arena, s->n_row, const struct oc_sparsity_row *);
    struct oc_plain_table table = {.width_chars = o->width_chars};
    char label[256];
    print_totals(o);
    for (uint32_t i = 0; i < s->n_row; i++)
        row[i] = &s->row[i];
    if (s->n_row)
        qsort(row, s->n_row, sizeof(struct oc_sparsity_row *), by_zero_macs);
    OC_ROW(&table, "operator", "type", "elements", "zeros %", "pattern", "MACs", "without zeros", "note");
    for (size_t i = 0; i < s->n_row && (!o->top || i < o->top); i++) {
        const struct oc_sparsity_row *r = row[i];
        OC_ROW(&table, oc_strdup(&o->arena, oc_node_label(m, &m->node[r->node], label, sizeof(label))),
               m->node[r->node].op_type, oc_si_text(&o->arena, (double)r->elements, ""),
               r->known ? oc_printf(&o->arena, "%.1f", 100 * zero_part(r->zeros, r->elements)) : "-",
               pattern[r->pattern], oc_si_text(&o->arena, (double)r->macs, ""),
               r->counted ? oc_si_text(&o->arena, (double)r->nonzero_macs, "") : "-", r->note ? r->note : "");
    }
    fputc('\n', o->f);
    oc_plain_left(&table, 2, &o->arena);
    oc_plain_print(&table, 1, o->f);
    if (o->top && s->n_row > o->top)
        fprintf(o->f, "(%zu more operators; --top 0 prints all)\n", s->n_row - o->top);
}

int oc_sparsity_write(const struct oc_sparsity *s, const char *format, size_t top, unsigned width_chars,
                      FILE *f, struct oc_err *err)
{
    OC_C_LOCALE;
    static void (*const write[])(struct sparsity_out *) = {sparsity_table, sparsity_csv, sparsity_json};
    struct sparsity_out o = {.s = s, .top = top, .width_chars = width_chars, .f = f};
    int form = oc_format_of("--sparsity", format, "table, csv, json", err);
    if (form < 0)
        return -1;
    write[form](&o);
    oc_arena_free(&o.arena);
    return 0;
}
