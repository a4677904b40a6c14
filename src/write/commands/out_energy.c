/* Energy of arithmetic and DRAM traffic as text, CSV (one row per operator) and JSON. */
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

struct energy_out {
    const struct oc_energy *e;
    size_t top;
    unsigned width_chars;
    struct oc_arena arena;
    FILE *f;
};

/* Picojoules of DRAM traffic; energies are those of 8 bytes. */
static double moved_pj(uint64_t bytes, double pj)
{
    return (double)bytes / 8 * pj;
}

/* ---- rows ------------------------------------------------------------------------------------------------- */

static void energy_fields(struct oc_fields *o, const struct oc_energy *e, const struct oc_energy_row *r)
{
    oc_fields_begin(o);
    oc_field_node(o, e->a->model, r->node);
    oc_field_double(o, "compute_pj", r->known ? r->compute_pj : NAN);
    oc_field_u64_if(o, "moved_bytes", r->counted, r->moved_bytes);
    oc_field_double(o, "memory_lo_pj", r->counted ? moved_pj(r->moved_bytes, e->info.memory_lo_pj) : NAN);
    oc_field_double(o, "memory_hi_pj", r->counted ? moved_pj(r->moved_bytes, e->info.memory_hi_pj) : NAN);
    oc_field_text(o, "note", r->note);
    oc_fields_end(o);
}

static void energy_csv(struct energy_out *o)
{
    const struct oc_energy_row none = {.node = SIZE_MAX};
    struct oc_fields fields = {.head_only = !o->e->n_row};
    for (uint32_t i = 0; i < o->e->n_row; i++)
        energy_fields(&fields, o->e, &o->e->row[i]);
    if (!o->e->n_row)
        energy_fields(&fields, o->e, &none);
    oc_fields_csv(&fields, "1", o->f);
    oc_fields_free(&fields);
}

static void energy_json(struct energy_out *o)
{
    const struct oc_energy_info *i = &o->e->info;
    struct oc_json_out w;
    struct oc_fields rows = {.json = &w};
    oc_json_begin(&w, o->f, "onnxcost.energy", VERSION, o->e->a->model->path);
    oc_key_text(&w, "process", i->process);
    oc_key_text(&w, "source", i->source);
    oc_key_text(&w, "memory", i->memory);
    oc_key_double(&w, "memory_lo_pj_per_byte", i->memory_lo_pj / 8);
    oc_key_double(&w, "memory_hi_pj_per_byte", i->memory_hi_pj / 8);
    oc_key_u64(&w, "operators", i->operators);
    oc_key_u64(&w, "unknown_operators", i->unknown_operators);
    oc_key_u64(&w, "uncounted_operators", i->uncounted_operators);
    oc_key_quality(&w, i->quality);
    oc_key_double(&w, "compute_pj", i->compute_pj);
    oc_key_u64(&w, "moved_bytes", i->moved_bytes);
    oc_key_u64(&w, "graph_bytes", i->graph_bytes);
    oc_key_quality_of(&w, "graph_bytes_quality", i->graph_quality);
    oc_key_array(&w, "rows");
    for (uint32_t k = 0; k < o->e->n_row; k++)
        energy_fields(&rows, o->e, &o->e->row[k]);
    oc_jw_end_array(&w);
    oc_json_end(&w);
    oc_fields_free(&rows);
}

/* ---- for people ------------------------------------------------------------------------------------------- */

#define line(o, label, ...)                                                                                  \
    oc_plain_say_format((label), LABEL, (o)->width_chars ? (o)->width_chars : WIDTH, (o)->f, __VA_ARGS__)

static const char *range_text(struct energy_out *o, uint64_t bytes)
{
    double lo = moved_pj(bytes, o->e->info.memory_lo_pj), hi = moved_pj(bytes, o->e->info.memory_hi_pj);
    const char *from = oc_joule_text(&o->arena, lo * 1e-12);
    return lo < hi ? oc_printf(&o->arena, "%s to %s", from, oc_joule_text(&o->arena, hi * 1e-12)) : from;
}

static void print_totals(struct energy_out *o)
{
    const struct oc_energy_info *i = &o->e->info;
    /* published energies leave things out: an upper bound or an estimate of a count is neither bound of the energy */
    bool bound = i->quality == OC_EXACT || i->quality == OC_LOWER;
    if (o->e->a->model->path[0])
        line(o, "model", "%s", o->e->a->model->path);
    line(o, "arithmetic", "%s %s, in %s (%s)", bound ? "at least" : "about",
         oc_joule_text(&o->arena, i->compute_pj * 1e-12), i->process, i->source);
    line(o, "DRAM",
         "%s%s in %s if every operator reads from and writes to it (%s); %s%s for the constants, inputs and "
         "outputs "
         "of the graph (%s)",
         oc_quality_word(i->quality), range_text(o, i->moved_bytes), i->memory,
         oc_bytes_text(&o->arena, (double)i->moved_bytes), oc_quality_word(i->graph_quality),
         range_text(o, i->graph_bytes), oc_bytes_text(&o->arena, (double)i->graph_bytes));
    line(o, "excluded", "SRAM, control, leakage, cooling: a device takes more");
    if (i->unknown_operators)
        line(o, "unknown", "arithmetic of %" PRIu64 " of %" PRIu64 " operators, DRAM of %" PRIu64,
             i->unknown_operators, i->operators, i->uncounted_operators);
}

static double row_pj(const struct oc_energy *e, const struct oc_energy_row *r)
{
    return r->compute_pj + moved_pj(r->moved_bytes, e->info.memory_lo_pj);
}

struct sorted {
    const struct oc_energy_row *row;
    double pj;
};

static int by_energy(const void *a, const void *b)
{
    const struct sorted *x = a, *y = b;
    if (x->pj != y->pj)
        return x->pj < y->pj ? 1 : -1;
    return (x->row->node > y->row->node) - (x->row->node < y->row->node);
}

static void energy_table(struct energy_out *o)
{
    const struct oc_energy *e = o->e;
    const struct oc_model *m = e->a->model;
    struct sorted *s = OC_NEW_ARRAY(&o->arena, e->n_row, struct sorted);
    struct oc_plain_table table = {.width_chars = o->width_chars};
    char label[256];
    print_totals(o);
    for (uint32_t i = 0; i < e->n_row; i++)
        s[i] = (struct sorted){&e->row[i], row_pj(e, &e->row[i])};
    if (e->n_row)
        qsort(s, e->n_row, sizeof(*s), by_energy);
    OC_ROW(&table, "operator", "type", "arithmetic", "moved", "DRAM", "note");
    for (size_t i = 0; i < e->n_row && (!o->top || i < o->top); i++) {
        const struct oc_energy_row *r = s[i].row;
        OC_ROW(&table, oc_strdup(&o->arena, oc_node_label(m, &m->node[r->node], label, sizeof(label))),
               m->node[r->node].op_type, r->known ? oc_joule_text(&o->arena, r->compute_pj * 1e-12) : "?",
               r->counted ? oc_bytes_text(&o->arena, (double)r->moved_bytes) : "?",
               r->counted ? range_text(o, r->moved_bytes) : "?", r->note ? r->note : "");
    }
    fputc('\n', o->f);
    oc_plain_left(&table, 2, &o->arena);
    oc_plain_print(&table, 1, o->f);
    if (o->top && e->n_row > o->top)
        fprintf(o->f, "(%zu more operators; --top 0 prints all)\n", e->n_row - o->top);
}

int oc_energy_write(const struct oc_energy *e, const char *format, size_t top, unsigned width_chars, FILE *f,
                    struct oc_err *err)
{
    OC_C_LOCALE;
    static void (*const write[])(struct energy_out *) = {energy_table, energy_csv, energy_json};
    struct energy_out o = {.e = e, .top = top, .width_chars = width_chars, .f = f};
    int form = oc_format_of("--energy", format, "table, csv, json", err);
    if (form < 0)
        return -1;
    write[form](&o);
    oc_arena_free(&o.arena);
    return 0;
}
