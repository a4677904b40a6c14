#include "profile/megengine.h"

#include <math.h>
#include <string.h>

#include "base/units.h"
#include "profile/rec_list.h"

static unsigned mge_records_dtype_of(const char *name)
{
    static const struct {
        const char *name;
        uint8_t dtype;
    } known[] = {
        {"Float32", OC_DT_FLOAT},      {"Float16", OC_DT_FLOAT16},  {"BFloat16", OC_DT_BFLOAT16},
        {"Int32", OC_DT_INT32},        {"Int16", OC_DT_INT16},      {"Int8", OC_DT_INT8},
        {"Uint8", OC_DT_UINT8},        {"Uint16", OC_DT_UINT16},    {"Bool", OC_DT_BOOL},
        {"Byte", OC_DT_UINT8},         {"QuantizedS8", OC_DT_INT8}, {"Quantized8Asymm", OC_DT_UINT8},
        {"QuantizedS32", OC_DT_INT32},
    };
    for (size_t i = 0; name && i < OC_COUNT(known); i++) {
        size_t n = strlen(known[i].name);
        if (strncmp(name, known[i].name, n) == 0 && (!name[n] || name[n] == '('))
            return known[i].dtype;
    }
    return OC_DT_UNDEFINED;
}

static const struct oc_type *make_types(struct oc_arena *a, const struct oc_mge_shapes *s,
                                        const char *const *dtype, uint32_t n_dtype)
{
    struct oc_type *type = OC_NEW_ARRAY(a, s->n, struct oc_type);
    for (uint32_t i = 0; i < s->n; i++) {
        struct oc_shape shape = oc_shape_unranked();
        if (s->item[i].rank <= OC_MAX_RANK) {
            struct oc_dim dim[OC_MAX_RANK];
            for (uint32_t k = 0; k < s->item[i].rank; k++)
                dim[k] = oc_known(s->item[i].dim[k]);
            shape = oc_shape_of(a, s->item[i].rank, dim);
        }
        type[i] = oc_tensor_type(i < n_dtype ? mge_records_dtype_of(dtype[i]) : OC_DT_UNDEFINED, shape);
    }
    return type;
}

/* A measured nan has its sign set, unlike one that means "no time". */
static double ns_of(struct oc_mge_time t)
{
    return !t.known ? (double)NAN : isnan(t.s) ? copysign(t.s, -1.0) : t.s * 1e9;
}

double oc_mge_own_ns(const struct oc_mge_opr *o)
{
    bool device = o->time[OC_MGE_DEVICE][OC_MGE_END].known;
    return ns_of(o->time[device ? OC_MGE_DEVICE : OC_MGE_HOST][OC_MGE_END]);
}

static int64_t mge_records_index_of(const char *id)
{
    int64_t v;
    return oc_parse_i64(id, strlen(id), &v) && v >= 0 ? v : -1;
}

static struct oc_prof_rec mge_records_make_record(struct oc_arena *a, const struct oc_mge_opr *o)
{
    bool device = o->time[OC_MGE_DEVICE][OC_MGE_END].known;
    double ns = oc_mge_own_ns(o), total_ns = isfinite(ns) ? ns : (double)NAN;
    struct oc_prof_rec rec = oc_prof_rec_new(o->name);
    rec.op_type = o->type;
    rec.index = mge_records_index_of(o->id);
    oc_rec_time(&rec, ns);
    rec.total_ns = total_ns;
    rec.host_ns = ns_of(o->time[OC_MGE_HOST][OC_MGE_END]);
    if (device) {
        rec.kernel_ns = ns;
        rec.total_kernel_ns = total_ns;
        rec.wait_ns = ns_of(o->time[OC_MGE_DEVICE][OC_MGE_KERN]);
    }
    rec.start_ns = o->start_s * 1e9;
    rec.calls = rec.runs = 1;
    rec.calls_per_run = 1;
    rec.in = make_types(a, &o->in, o->in_dtype, o->n_in_dtype);
    rec.n_in = o->in.n;
    rec.has_in = o->in.state == OC_MGE_GIVEN;
    rec.out = make_types(a, &o->out, NULL, 0);
    rec.n_out = o->out.n;
    rec.has_out = o->out.state == OC_MGE_GIVEN;
    rec.flop = o->computation;
    rec.bytes = o->memory;
    rec.where = o->where;
    return rec;
}

/* Times under an id without an operator in the graph. */
static struct oc_prof_rec stray_record(const struct oc_mge *m)
{
    struct oc_prof_rec rec = oc_prof_rec_new("(times of no operator)");
    rec.bucket = "times of no operator";
    rec.time_ns = rec.self_ns = rec.total_ns = m->stray_ns;
    rec.kernel_ns = rec.total_kernel_ns = m->stray_kernel_ns;
    rec.calls = m->n_stray;
    return rec;
}

void oc_mge_fill(struct oc_profile *p, const struct oc_mge *m)
{
    p->native = m;
    p->producer = "MegEngine";
    p->device = "";
    p->time_kind = m->n_device ? "device time" : "host time";
    p->runs_from = OC_RUNS_MARKED;
    p->runs_total = p->runs_used = 1; /* events are overwritten: the file holds only the last run */
    p->run_ns = p->busy_ns = NAN;
    p->rec = OC_NEW_ARRAY(&p->arena, (size_t)m->n + 1, struct oc_prof_rec);
    for (uint32_t i = 0; i < m->n; i++) {
        const struct oc_mge_opr *o = &m->opr[i];
        if (o->time[OC_MGE_DEVICE][OC_MGE_END].known || o->time[OC_MGE_HOST][OC_MGE_END].known)
            p->rec[p->n_rec++] = mge_records_make_record(&p->arena, o);
    }
    if (m->n_stray)
        p->rec[p->n_rec++] = stray_record(m);
    if (!m->n_device)
        oc_diag_add(&p->diags, OC_WARNING, m->has_device ? "W-host-times-only" : "W-no-device-time", "",
                    m->has_device ? "the profile has no device times, only host times"
                                  : "the profile has no device times: the host table is shown");
}
