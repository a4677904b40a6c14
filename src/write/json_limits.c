#include "write/json_limits.h"

#include <math.h>

#include "hw/hwdb.h"
#include "report/bounds.h"

static void units(struct oc_json_out *w, const struct oc_row_limits *l)
{
    oc_jw_key(w, "units");
    oc_jw_begin_array(w);
    for (unsigned u = 0; u < OC_ROW_UNITS; u++) {
        oc_jw_begin_object(w);
        oc_key_text(w, "name", oc_hw_unit_name(u));
        oc_key_double(w, "time_ns", oc_ns_of(l->unit_s[u]));
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
}

static void levels(struct oc_json_out *w, const struct oc_report *r, const struct oc_row_limits *l)
{
    oc_jw_key(w, "levels");
    oc_jw_begin_array(w);
    for (unsigned i = 0; i < oc_roof_levels(r->in->device); i++) {
        oc_jw_begin_object(w);
        oc_key_text(w, "name", oc_roof_level(r->in->device, i)->name);
        oc_key_count(w, "bytes", l->level_bytes[i]);
        oc_key_double(w, "time_ns", oc_ns_of(l->level_s[i]));
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
}

void oc_json_limits(struct oc_json_out *w, const struct oc_report *r, const struct oc_row *row)
{
    if (!r->in->device)
        return;
    oc_jw_key(w, "limits");
    if (!row) {
        oc_jw_null(w);
        return;
    }
    oc_jw_begin_object(w);
    units(w, row->limits);
    levels(w, r, row->limits);
    oc_key_double(w, "compute_efficiency", oc_row_rate(row, row->limits->comp_s));
    oc_key_double(w, "bandwidth_efficiency", oc_row_rate(row, row->limits->mem_s));
    oc_key_double(w, "wasted_ns", oc_ns_of(row->wasted_s));
    oc_jw_end_object(w);
}

static void shares(struct oc_json_out *w, const struct oc_bounds *b)
{
    oc_jw_key(w, "bounds");
    oc_jw_begin_array(w);
    for (uint32_t i = 0; i < b->n_share; i++) {
        oc_jw_begin_object(w);
        oc_key_text(w, "bound_by", b->share[i].name);
        oc_key_u64(w, "rows", b->share[i].rows);
        oc_key_double(w, "time_ns", oc_ns_of(b->share[i].time_s));
        oc_key_double(w, "roofline_time_ns", oc_ns_of(b->share[i].roof_s));
        oc_key_double(w, "fraction", oc_bound_fraction(b, &b->share[i]));
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
}

void oc_json_roofline(struct oc_json_out *w, struct oc_report *r)
{
    struct oc_bounds b;
    oc_bounds_of(r, &b);
    oc_jw_key(w, "roofline");
    oc_jw_begin_object(w);
    oc_jw_key(w, "cache");
    oc_jw_bool(w, r->o->cache);
    oc_key_u64(w, "rows", b.rows);
    oc_key_u64(w, "rows_without_limit", b.missing);
    oc_key_double(w, "time_ns", b.rows ? oc_ns_of(b.time_s) : NAN);
    oc_key_double(w, "roofline_time_ns", b.rows ? oc_ns_of(b.roof_s) : NAN);
    oc_key_double(w, "roofline_efficiency", b.roof_s / b.time_s);
    oc_key_double(w, "wasted_ns", oc_ns_of(b.wasted_s));
    units(w, &b.limits);
    levels(w, r, &b.limits);
    shares(w, &b);
    oc_jw_end_object(w);
}
