#include "write/json_keys.h"

#include <math.h>

#include "base/units.h"

void oc_key_text(struct oc_json_out *w, const char *key, const char *s)
{
    oc_jw_key(w, key);
    oc_jw_string(w, s);
}

void oc_key_u64(struct oc_json_out *w, const char *key, uint64_t v)
{
    oc_jw_key(w, key);
    oc_jw_u64(w, v);
}

void oc_key_u64_if(struct oc_json_out *w, const char *key, bool known, uint64_t v)
{
    oc_jw_key(w, key);
    if (known)
        oc_jw_u64(w, v);
    else
        oc_jw_null(w);
}

void oc_key_double(struct oc_json_out *w, const char *key, double v)
{
    oc_jw_key(w, key);
    oc_jw_double(w, v);
}

void oc_key_time(struct oc_json_out *w, const char *key, double ns)
{
    oc_key_double(w, key, fabs(ns) < 9e12 ? round(ns * 1e3) / 1e3 : ns);
}

void oc_key_count(struct oc_json_out *w, const char *key, double v)
{
    bool whole = v >= 0 && v < 9e15 && v == floor(v);
    if (whole)
        oc_key_u64(w, key, (uint64_t)v);
    else
        oc_key_double(w, key, v);
}

void oc_key_null(struct oc_json_out *w, const char *key)
{
    oc_jw_key(w, key);
    oc_jw_null(w);
}

void oc_key_quality_of(struct oc_json_out *w, const char *key, unsigned quality)
{
    oc_key_text(w, key, oc_quality_name(quality));
}

void oc_key_quality(struct oc_json_out *w, unsigned quality)
{
    oc_key_quality_of(w, "quality", quality);
}

void oc_json_head(struct oc_json_out *w, const char *schema, unsigned version, const char *model)
{
    oc_key_text(w, "schema", schema);
    oc_key_u64(w, "version", version);
    oc_jw_key(w, "tool");
    oc_jw_begin_object(w);
    oc_key_text(w, "name", "onnxcost");
    oc_key_text(w, "version", ONNXCOST_VERSION);
    oc_jw_end_object(w);
    if (model)
        oc_key_text(w, "model", model[0] ? model : NULL);
}

bool oc_json_narrowed(const struct oc_report *r)
{
    const struct oc_report_opts *o = r->o;
    bool ordered = o->has_top || o->order_by; /* with --aggregate they apply to the groups */
    return (ordered && !oc_report_grouped(o)) || o->n_name_pattern || o->n_type || o->n_input_dtype ||
           o->min_time || o->max_time;
}

void oc_json_run_times(struct oc_json_out *w, const struct oc_run_spread *s)
{
    oc_jw_key(w, "run_times");
    if (!s->n) {
        oc_jw_null(w);
        return;
    }
    oc_jw_begin_object(w);
    oc_key_u64(w, "runs", s->n);
    oc_key_time(w, "min_ns", s->min_ns);
    oc_key_time(w, "p25_ns", s->p25_ns);
    oc_key_time(w, "median_ns", s->median_ns);
    oc_key_time(w, "p75_ns", s->p75_ns);
    oc_key_time(w, "max_ns", s->max_ns);
    oc_key_time(w, "median_low_ns", s->low_ns);
    oc_key_time(w, "median_high_ns", s->high_ns);
    oc_key_u64(w, "outliers", s->outliers);
    oc_key_double(w, "spread", oc_run_spread_share(s));
    oc_jw_key(w, "noisy");
    oc_jw_bool(w, oc_run_spread_noisy(s));
    oc_jw_end_object(w);
}

void oc_hw_set_json(struct oc_json_out *w, const struct oc_hw_set *set)
{
    oc_jw_begin_object(w);
    oc_key_text(w, "what", "hw");
    oc_key_text(w, "name", set->key);
    oc_key_text(w, "value", set->value);
    oc_key_text(w, "reason", "set by --hw-set");
    oc_key_text(w, "before", set->before);
    oc_jw_end_object(w);
}
