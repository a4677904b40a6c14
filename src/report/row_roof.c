#include <string.h>

#include "base/ck.h"
#include "estimate/predict.h"
#include "join/join.h"
#include "profile/kernel_names.h"
#include "report/above_roof.h"
#include "report/report.h"

_Static_assert((int)OC_ROW_UNITS == (int)OC_HW_UNIT_COUNT && (int)OC_ROW_LEVELS == (int)OC_ROOF_LEVELS,
               "rows have all limits");

/* Constants read by a run: of an embedding table not all rows. */
struct oc_roof_opts oc_report_roof_opts(const struct oc_report_opts *o, const struct oc_analysis *a)
{
    struct oc_roof_opts opts = {.overlap = OC_OVERLAP_UNITS, .cache = o->cache};
    if (a)
        opts.const_bytes = a->total.const_bytes < a->total.bytes_read_weight ? a->total.const_bytes
                                                                             : a->total.bytes_read_weight;
    return opts;
}

static const struct oc_row_limits *new_limits(struct oc_arena *arena, const struct oc_roof *roof, double runs)
{
    struct oc_row_limits *l = OC_NEW(arena, struct oc_row_limits);
    *l = oc_no_limits;
    l->comp_s = roof->comp_s * runs;
    l->mem_s = roof->mem_s * runs;
    for (unsigned u = 0; u < OC_ROW_UNITS; u++)
        l->unit_s[u] = roof->unit_s[u] * runs;
    for (unsigned i = 0; i < roof->n_level; i++) {
        l->level_s[i] = roof->level_s[i] * runs;
        l->level_bytes[i] = (double)roof->level_bytes[i] * runs;
    }
    return l;
}

/* Roofline of a row: of its node, or of the nodes covered by the row. */
static void set_roof(struct oc_report *r, struct oc_row *row, const struct oc_work *work)
{
    struct oc_roof roof;
    double time_s = oc_row_rate_time_s(row) / r->runs;
    oc_roofline_of(r->in->device, work, &r->roof, time_s, &roof);
    row->roofline_s = roof.roof_s * r->runs;
    row->overhead_s = roof.overhead_s * r->runs;
    row->bound_by = roof.bound_name;
    row->wasted_s = oc_row_rate_time_s(row) - row->roofline_s;
    row->efficiency = oc_row_rate(row, row->roofline_s);
    row->limits = new_limits(&r->arena, &roof, r->runs);
    if (time_s < roof.roof_s) {
        r->n_too_fast++;
        row->above_roof = oc_above_roof_reason(r, row, work, &roof);
    }
}

/* A group of fused nodes computes what its members compute, in one launch, and moves only the bytes at the
 * group's border. */
static void work_of(const struct oc_report *r, const struct oc_row *row, struct oc_work *work)
{
    const struct oc_analysis *a = r->in->analysis;
    *work = (struct oc_work){0};
    if (!r->in->join) {
        oc_work_add(work, &a->cost[row->node]);
        return;
    }
    const struct oc_join_rec *j = &r->in->join->rec[row->record];
    uint64_t launches = 1;
    for (uint32_t i = 0; i < j->n_node; i++) {
        const struct oc_node_cost *k = &a->cost[j->node[i]];
        oc_work_add(work, k);
        launches = k->trips > launches ? k->trips : launches;
    }
    work->bytes = j->rd_act + j->rd_wt + j->wr;
    work->weight_bytes = j->rd_wt;
    work->written = j->wr;
    work->launches = launches;
    work->unknown = work->unknown || !j->bytes_known || (j->n_node && j->quality == OC_UNKNOWN);
}

/* Without a model, or where the profile has counts of its own: those of the row, in the class of the first
 * recorded input or of the kernels. */
static bool work_of_record(const struct oc_report *r, const struct oc_row *row, struct oc_work *work)
{
    const struct oc_prof_rec *rec = &r->in->profile->rec[row->record];
    unsigned cls = rec->n_in ? oc_dtype_info(rec->in[0].dtype)->cls : oc_precision_class(rec->precision);
    enum oc_kernel_unit unit = rec->unit ? oc_kernel_unit(rec->unit) : OC_UNIT_UNKNOWN;
    *work = (struct oc_work){.launches = rec->calls_per_run > 1 ? (uint64_t)rec->calls_per_run : 1};
    if (cls == OC_CLASS_NONE || !(row->computation >= 0) || !(row->memory >= 0))
        return false;
    bool split = row->macs >= 0; /* share on the matrix unit */
    if (!split && unit == OC_UNIT_UNKNOWN && r->in->device->peak[OC_HW_MATRIX][cls])
        return false;
    work->macs[cls] = split                    ? (uint64_t)row->macs
                      : unit == OC_UNIT_MATRIX ? (uint64_t)(row->computation / 2)
                                               : 0;
    unsigned rest = rec->has_macs && oc_class_is_int(cls) ? OC_CLASS_F32 : cls; /* bias, scales, activation */
    work->flops[rest] = (uint64_t)fmax(row->computation - 2 * (double)work->macs[cls], 0);
    work->bytes = (uint64_t)row->memory;
    return true;
}

/* If the kernel names show the precision and the unit of a record's multiply-adds, the roofline uses that
 * peak, whatever the model's types are. */
static void use_kernels(const struct oc_prof_rec *rec, struct oc_work *work)
{
    unsigned cls = oc_precision_class(rec->precision);
    uint64_t macs = 0;
    work->vector_macs = rec->unit && oc_kernel_unit(rec->unit) == OC_UNIT_VECTOR;
    if (cls == OC_CLASS_NONE)
        return;
    for (unsigned c = 0; c < OC_CLASS_COUNT; c++)
        if (!oc_add_u64(macs, work->macs[c], &macs))
            return;
    memset(work->macs, 0, sizeof(work->macs));
    work->macs[cls] = macs;
}

static bool is_float_class(unsigned c)
{
    return c != OC_CLASS_NONE && !oc_class_is_int(c);
}

static bool sum_types(const struct oc_type *t, uint32_t n, uint64_t *sum)
{
    uint64_t bytes;
    *sum = 0;
    for (uint32_t i = 0; i < n; i++)
        if (!oc_type_bytes(&t[i], &bytes) || !oc_add_u64(*sum, bytes, sum))
            return false;
    return true;
}

/* By the recorded types, a runtime may have fused the float operators of a quantized model, with the
 * conversions around them, into one quantized operator. */
static void use_recorded_types(const struct oc_prof_rec *rec, struct oc_work *work)
{
    uint64_t macs = 0, rd, wr, moved;
    if (!rec->n_in || oc_dtype_info(rec->in[0].dtype)->cls != OC_CLASS_I8 || work->launches > 1)
        return;
    for (unsigned c = 0; c < OC_CLASS_COUNT; c++)
        if (is_float_class(c) && !oc_add_u64(macs, work->macs[c], &macs))
            return;
    if (!oc_add_u64(macs, work->macs[OC_CLASS_I8], &macs))
        return;
    for (unsigned c = 0; c < OC_CLASS_COUNT; c++)
        work->macs[c] = c == OC_CLASS_I8 ? macs : is_float_class(c) ? 0 : work->macs[c];
    if (!sum_types(rec->in, rec->n_in, &rd) || !sum_types(rec->out, rec->n_out, &wr))
        return;
    if (rd < work->weight_bytes && !oc_add_u64(rd, work->weight_bytes, &rd))
        return; /* ONNX Runtime does not record weights that it has packed */
    if (!rd || !wr || !oc_add_u64(rd, wr, &moved) || moved >= work->bytes)
        return;
    work->bytes = moved;
    work->written = wr;
    work->weight_bytes = work->weight_bytes < rd ? work->weight_bytes : rd;
}

void oc_report_roofs(struct oc_report *r)
{
    r->roof = oc_report_roof_opts(r->o, r->in->analysis);
    if (!r->in->device)
        return;
    struct oc_work *works = OC_NEW_ARRAY(&r->arena, r->all.n, struct oc_work);
    for (uint32_t i = 0; i < r->all.n; i++) {
        struct oc_row *row = &r->all.row[i];
        struct oc_work *work = &works[i];
        bool recorded = !r->in->analysis || (r->in->join && r->in->join->rec[row->record].from_profile);
        if (recorded && !work_of_record(r, row, work))
            continue;
        if (!recorded)
            work_of(r, row, work);
        if (r->in->profile && (r->in->join || !r->in->analysis))
            use_kernels(&r->in->profile->rec[row->record], work);
        if (r->in->join && !recorded)
            /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a join has a profile */
            use_recorded_types(&r->in->profile->rec[row->record], work);
        row->work = work;
        set_roof(r, row, work);
    }
}
