/* Rooflines of rows and of the report; rows above the roofline, and why. */
#include "report/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ck.h"
#include "base/str.h"
#include "estimate/bound.h"
#include "hw/hwdb.h"
#include "join/join.h"
#include "onnxcost.h"
#include "onnxcost/hardware.h"
#include "onnxcost/report.h"
#include "profile/core/kernel_names.h"
#include "report/columns.h"

static struct oc_bound_share *share_of(struct oc_report *r, struct oc_row_bounds *b, const char *name)
{
    for (uint32_t i = 0; i < b->n_share; i++)
        if (!strcmp(b->share[i].name, name))
            return &b->share[i];
    struct oc_bound_share *s = &b->share[b->n_share++];
    *s = (struct oc_bound_share){.name = name, .time_s = r->has_time ? 0 : NAN};
    return s;
}

static void add_limits(struct oc_row_limits *sum, const struct oc_row_limits *l)
{
    for (size_t at = 0; at < sizeof(*sum); at += sizeof(double)) {
        double a, b;
        memcpy(&a, (const char *)sum + at, sizeof(a));
        memcpy(&b, (const char *)l + at, sizeof(b));
        a += isnan(b) ? 0 : b; /* NAN: the device has no such level */
        memcpy((char *)sum + at, &a, sizeof(a));
    }
}

static int row_roof_by_time(const void *a, const void *b)
{
    const struct oc_bound_share *x = a, *y = b;
    double dx = isnan(x->time_s) ? x->roof_s : x->time_s, dy = isnan(y->time_s) ? y->roof_s : y->time_s;
    return dx != dy ? (dx < dy) - (dx > dy) : strcmp(x->name, y->name);
}

void oc_bounds_of(struct oc_report *r, struct oc_row_bounds *out)
{
    *out = (struct oc_row_bounds){.time_s = r->has_time ? 0 : NAN,
                                  .share = OC_NEW_ARRAY(&r->arena, r->all.n, struct oc_bound_share)};
    for (uint32_t i = 0; i < r->all.n; i++) {
        const struct oc_row *row = &r->all.row[i];
        bool timed = !r->has_time || !isnan(row->time_s);
        out->partial += row->roof_partial && timed && !isnan(row->roofline_s);
        if (isnan(row->roofline_s) || !timed) {
            out->missing += isnan(row->roofline_s) ? 1 : 0;
            continue;
        }
        struct oc_bound_share *s = share_of(r, out, row->bound_by);
        s->time_s += row->time_s;
        s->roof_s += row->roofline_s;
        s->rows++;
        out->rows++;
        out->time_s += oc_row_rate_time_s(row);
        out->roof_s += row->roofline_s;
        add_limits(&out->limits, row->limits);
    }
    if (out->roof_s == 0 && out->missing)
        out->roof_s = NAN; /* only operators that do nothing have a limit */
    out->wasted_s = out->time_s - out->roof_s;
    if (out->n_share)
        qsort(out->share, out->n_share, sizeof(*out->share), row_roof_by_time);
    while (out->n_share && !(oc_bound_fraction(out, &out->share[out->n_share - 1]) > 0))
        out->n_share--; /* rows that take no time */
}

double oc_bound_fraction(const struct oc_row_bounds *b, const struct oc_bound_share *s)
{
    return isnan(b->time_s) ? s->roof_s / b->roof_s : s->time_s / b->time_s;
}

/* ---- rows above the roofline ------------------------------------------------------------------------ */

/* ONNX Runtime and PyTorch record whole microseconds, Paddle's report and TensorRT tenths; a few clock steps
 * are noise. */
static double shortest_s(const struct oc_profile *p)
{
    return p && (strcmp(p->format, "onnxruntime") == 0 || strcmp(p->format, "kineto") == 0) ? 3e-6 : 5e-7;
}

static bool names_gpu(const char *device)
{
    static const char *const word[] = {"CUDA",     "ROCm", "ROCM",  "GPU",     "Tensorrt", "NVIDIA",
                                       "DirectML", "Dml",  "Tesla", "GeForce", "Quadro",   "Radeon"};
    for (size_t i = 0; i < OC_COUNT(word); i++)
        if (strstr(device, word[i]))
            return true;
    return false;
}

/* A profile of a CPU with a device file of a GPU, or vice versa; an unnamed device is not compared. */
static bool other_kind(const struct oc_report *r)
{
    const struct oc_profile *p = r->in->profile;
    const char *kind = oc_device_info(r->in->device)->kind;
    if (!p || !p->device || !*p->device || !kind)
        return false;
    bool gpu = names_gpu(p->device), cpu = strstr(p->device, "CPU") != NULL;
    return (strcmp(kind, "gpu") == 0 && cpu && !gpu) || (strcmp(kind, "cpu") == 0 && gpu);
}

/* Stride 1 windows of more than one element: Winograd and FFT algorithms multiply less. */
static bool fast_convolution(const struct oc_report *r, const struct oc_row *row)
{
    const struct oc_join *j = r->in->join;
    const struct oc_join_rec *rec = j && row->record != OC_NONE ? &j->rec[row->record] : NULL;
    for (uint32_t i = 0; rec && i < rec->n_node; i++) {
        const struct oc_node *n = &r->in->model->node[rec->node[i]];
        const struct oc_attr *s = oc_node_attr(n, "strides");
        if (strcmp(n->op_type, "Conv") != 0 || n->n_in < 2 || n->in[1] == OC_NONE)
            continue;
        const struct oc_shape *w = &r->in->analysis->type[n->in[1]].shape;
        bool wide = false, moved_by_one = true;
        for (unsigned k = 2; w->ranked && k < w->rank; k++)
            wide |= w->dim[k].v > 1;
        for (uint32_t k = 0; s && s->ints && k < s->n; k++)
            moved_by_one &= s->ints[k] == 1;
        if (wide && moved_by_one)
            return true;
    }
    return false;
}

/* Whether input bytes left in the last-level cache by the previous operator explain the difference. */
static bool fits_cache(const struct oc_report *r, const struct oc_work *work, double time_s)
{
    const struct oc_hw_level *dram = oc_device_dram(r->in->device);
    const struct oc_device *d = r->in->device;
    for (size_t i = 0; i + 1 < d->n_level && dram && dram->bandwidth; i++)
        if (d->level[i].size &&
            (double)work->bytes - d->level[i].size->value <= dram->bandwidth->value * time_s)
            return true;
    return false;
}

/* A runtime-inserted row: its bytes are those of the recorded shapes, and a view may move none. */
static bool added_view(const struct oc_report *r, const struct oc_row *row)
{
    const struct oc_join *j = r->in->join;
    const struct oc_op *op =
        j && row->record != OC_NONE && !j->rec[row->record].n_node ? oc_op_find("", row->type, 0) : NULL;
    return op && op->op_class == OC_OP_VIEW;
}

/* A kernel performs one convolution or product, rarely more. */
static bool too_many_nodes(const struct oc_report *r, const struct oc_row *row)
{
    const struct oc_join *j = r->in->join;
    const struct oc_join_rec *rec = j && row->record != OC_NONE ? &j->rec[row->record] : NULL;
    unsigned products = 0;
    for (uint32_t i = 0; rec && i < rec->n_node; i++) {
        unsigned c = r->in->analysis->cost[rec->node[i]].op_class;
        products += c == OC_OP_CONV || c == OC_OP_GEMM;
    }
    return products > 1;
}

/* Static text; the first that applies of: shorter than the clock resolution, measured on another kind of
 * device, a fast convolution algorithm, bytes that fit a cache, device or clock different from the file. */
static const char *reason_above(const struct oc_report *r, const struct oc_row *row,
                                const struct oc_work *work, const struct oc_roof *roof)
{
    if (oc_of_one_run(&r->m, row->time_s) < shortest_s(r->in->profile))
        return "too short for the clock resolution";
    if (too_many_nodes(r, row))
        return "some of its nodes may belong to other records (see --explain-match)";
    if (added_view(r, row))
        return "a runtime-inserted view: it may move no bytes";
    if (other_kind(r))
        return "measured on another kind of device";
    if (roof->bound == OC_BOUND_DRAM && !r->o->cache &&
        fits_cache(r, work, oc_of_one_run(&r->m, row->time_s)))
        return "input served from a cache";
    if (roof->comp_s >= roof->mem_s && fast_convolution(r, row))
        return "Winograd or FFT: fewer multiplications than counted";
    return "device or clock differs from the hardware file";
}

/* ---- limit columns ---------------------------------------------------------------------------------- */

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
static const char *row_roof_key_of(struct oc_arena *arena, const char *name)
{
    char *key = oc_printf(arena, "%s_ns", name);
    for (char *p = key; *p; p++)
        *p = (char)(oc_is_alnum((unsigned char)*p) ? oc_lower((unsigned char)*p) : '_');
    return key;
}

static bool row_roof_has_work(const struct oc_report *r, unsigned unit)
{
    for (uint32_t i = 0; i < r->all.n; i++)
        if (r->all.row[i].limits->unit_s[unit] > 0)
            return true;
    return false;
}

static struct oc_column *row_roof_add(struct oc_report *r, const char *key, const char *title, uint8_t kind,
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
        row_roof_add(r, "what_if_ns", "what if", OC_FIELD_TIME, get_what_if)->use =
            OC_COL_CSV | OC_COL_COMPACT;
    if (!r->in->device)
        return;
    for (unsigned u = 0; u < OC_ROW_UNITS; u++)
        if (row_roof_has_work(r, u))
            row_roof_add(r, row_roof_key_of(&r->arena, oc_hw_unit_name(u)), oc_hw_unit_name(u), OC_FIELD_TIME,
                         get_unit)
                ->index = (uint8_t)u;
    for (unsigned i = 0; i < oc_roof_levels(r->in->device); i++) {
        const char *name = oc_roof_level(r->in->device, i)->name;
        row_roof_add(r, row_roof_key_of(&r->arena, name), name, OC_FIELD_TIME, get_level)->index = (uint8_t)i;
    }
    if (!r->has_time)
        return;
    row_roof_add(r, "compute_efficiency", "comp %", OC_FIELD_FRACTION, get_compute);
    row_roof_add(r, "bandwidth_efficiency", "mem %", OC_FIELD_FRACTION, get_memory);
}

/* ---- roofline of a row ------------------------------------------------------------------------------ */

_Static_assert((int)OC_ROW_UNITS == (int)OC_HW_UNIT_COUNT && (int)OC_ROW_LEVELS == (int)OC_ROOF_LEVELS,
               "rows have all limits");

/* Constants read by a run: of an embedding table not all rows. */
bool oc_report_grouped(const struct oc_report_opts *o)
{
    return o->aggregate || o->group_by;
}

struct oc_roof_opts oc_report_roof_opts(const struct oc_report_opts *o, const struct oc_analysis *a)
{
    struct oc_roof_opts opts = {.cache = o->cache};
    if (a)
        opts.const_bytes = a->total->const_bytes < a->total->bytes_read_weight ? a->total->const_bytes
                                                                               : a->total->bytes_read_weight;
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

/* Sets the roofline time of a row and what follows from it: a lower bound of it (`partial`) has no
 * efficiency. */
static void row_set_roof(struct oc_row *row, double roof_s, bool partial)
{
    row->roofline_s = roof_s;
    row->roof_partial = partial;
    row->wasted_s = partial ? NAN : oc_row_rate_time_s(row) - roof_s;
    row->efficiency = partial ? NAN : oc_row_rate(row, roof_s);
}

/* Roofline of a row: of its node, or of the nodes covered by the row. */
static void set_row_roof(struct oc_report *r, struct oc_row *row, const struct oc_work *work)
{
    struct oc_roof roof;
    double time_s = oc_of_one_run(&r->m, oc_row_rate_time_s(row));
    oc_roofline_of(r->in->device, work, &r->roof, time_s, &roof);
    row->overhead_s = roof.overhead_s * r->m.runs;
    row->bound_by = roof.bound_name;
    row_set_roof(row, roof.roof_s * r->m.runs, roof.missing[0]);
    row->limits = new_limits(&r->arena, &roof, r->m.runs);
    if (time_s < roof.roof_s) {
        r->n_too_fast++;
        row->above_roof = reason_above(r, row, work, &roof);
    }
}

/* A group of fused nodes computes what its members compute, in one launch, and moves only the bytes at the
 * group's border. */
static void row_roof_work_of(const struct oc_report *r, const struct oc_row *row, struct oc_work *work)
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
 * peak, whatever the model's types are; otherwise that of the recorded types. */
static void use_kernels(const struct oc_prof_rec *rec, unsigned ran, struct oc_work *work)
{
    unsigned named = oc_precision_class(rec->precision), cls = named == OC_CLASS_NONE ? ran : named;
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

/* Without times, the roofline of a node is that of its twin, if that has one already. row_of: by node. */
static bool take_roof_of_twin(const struct oc_report *r, struct oc_row **row_of, struct oc_row *row)
{
    uint32_t twin = r->in->analysis->twin[row->node];
    const struct oc_row *t = row_of[twin];
    row_of[row->node] = row;
    if (twin == row->node || !t || !t->work)
        return false;
    row->work = t->work;
    row->overhead_s = t->overhead_s;
    row->bound_by = t->bound_by;
    row->roofline_s = t->roofline_s;
    row->roof_partial = t->roof_partial;
    row->wasted_s = t->wasted_s;
    row->efficiency = t->efficiency;
    row->limits = t->limits;
    return true;
}

void oc_report_roofs(struct oc_report *r)
{
    r->roof = oc_report_roof_opts(r->o, r->in->analysis);
    r->bound_s = NAN;
    if (!r->in->device)
        return;
    if (r->in->analysis && !(r->in->join && r->in->join->sizes && r->in->join->sizes->n_set > 1))
        r->bound_s = oc_bound_of(r->in->analysis, NULL, r->in->device, r->o->cache);
    bool twins = r->in->analysis && !r->in->profile;
    struct oc_row **row_of =
        twins ? OC_NEW_ARRAY(&r->arena, r->in->model->n_node, struct oc_row *) : NULL; /* by node */
    for (uint32_t i = 0; i < r->all.n; i++) {
        struct oc_row *row = &r->all.row[i];
        if (row->rates == OC_RATES_LAUNCH)
            continue; /* nothing to compare with */
        if (twins && take_roof_of_twin(r, row_of, row))
            continue;
        struct oc_work *work = OC_NEW(&r->arena, struct oc_work);
        bool recorded = !r->in->analysis || (r->in->join && r->in->join->rec[row->record].from_profile);
        if (recorded && !work_of_record(r, row, work))
            continue;
        if (!recorded)
            row_roof_work_of(r, row, work);
        if (r->in->profile && (r->in->join || !r->in->analysis))
            use_kernels(&r->in->profile->rec[row->record],
                        r->in->join ? r->in->join->rec[row->record].float_class : OC_CLASS_NONE, work);
        if (r->in->join && !recorded)
            /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a join has a profile */
            use_recorded_types(&r->in->profile->rec[row->record], work);
        row->work = work;
        set_row_roof(r, row, work);
    }
}
