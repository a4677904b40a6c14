#include "report/limit_columns.h"

#include <math.h>
#include <string.h>

#include "base/str.h"
#include "hw/hwdb.h"

static void get_unit(const struct oc_line *l, struct oc_field *c)
{
    c->number = l->row->limits->unit_s[l->column->index];
}

static void get_level(const struct oc_line *l, struct oc_field *c)
{
    c->number = l->row->limits->level_s[l->column->index];
}

static void get_compute(const struct oc_line *l, struct oc_field *c)
{
    c->number = oc_row_rate(l->row, l->row->limits->comp_s);
}

static void get_memory(const struct oc_line *l, struct oc_field *c)
{
    c->number = oc_row_rate(l->row, l->row->limits->mem_s);
}

/* "Infinity Cache" to "infinity_cache_ns" */
static const char *key_of(struct oc_arena *arena, const char *name)
{
    char *key = oc_printf(arena, "%s_ns", name);
    for (char *p = key; *p; p++)
        *p = (char)(oc_is_alnum((unsigned char)*p) ? oc_lower((unsigned char)*p) : '_');
    return key;
}

static bool has_work(const struct oc_report *r, unsigned unit)
{
    for (uint32_t i = 0; i < r->all.n; i++)
        if (r->all.row[i].limits->unit_s[unit] > 0)
            return true;
    return false;
}

static struct oc_column *add(struct oc_report *r, const char *key, const char *title, uint8_t kind,
                             void (*get)(const struct oc_line *, struct oc_field *))
{
    unsigned use = OC_COL_CSV | (r->o->roofline ? OC_COL_COMPACT : 0);
    struct oc_column *c = &r->extra[r->n_extra++];
    *c = (struct oc_column){.key = key, .title = title, .kind = kind, .use = (uint8_t)use, .get = get};
    return c;
}

static void get_what_if(const struct oc_line *l, struct oc_field *c)
{
    c->number = l->row->what_if_s;
}

void oc_limit_columns(struct oc_report *r)
{
    r->extra = OC_NEW_ARRAY(&r->arena, OC_ROW_UNITS + OC_ROW_LEVELS + 3, struct oc_column);
    if (r->what_if)
        add(r, "what_if_ns", "what if", OC_FIELD_TIME, get_what_if)->use = OC_COL_CSV | OC_COL_COMPACT;
    if (!r->in->device)
        return;
    for (unsigned u = 0; u < OC_ROW_UNITS; u++)
        if (has_work(r, u))
            add(r, key_of(&r->arena, oc_hw_unit_name(u)), oc_hw_unit_name(u), OC_FIELD_TIME, get_unit)
                ->index = (uint8_t)u;
    for (unsigned i = 0; i < oc_roof_levels(r->in->device); i++) {
        const char *name = oc_roof_level(r->in->device, i)->name;
        add(r, key_of(&r->arena, name), name, OC_FIELD_TIME, get_level)->index = (uint8_t)i;
    }
    if (!r->has_time)
        return;
    add(r, "compute_efficiency", "comp %", OC_FIELD_FRACTION, get_compute);
    add(r, "bandwidth_efficiency", "mem %", OC_FIELD_FRACTION, get_memory);
}
