/* Cost of TensorRT's layers: those of the engine, which may have another batch, other element types and other
 * fusions than the model. */
#include <math.h>
#include <string.h>

#include "base/ck.h"
#include "join/engine_cost.h"

static bool elements(const struct oc_type *t, uint64_t *n)
{
    *n = 1;
    if (t->kind != OC_T_TENSOR || !oc_shape_known(&t->shape))
        return false;
    for (unsigned i = 0; i < t->shape.rank; i++)
        if (!oc_mul_u64(*n, (uint64_t)t->shape.dim[i].v, n))
            return false;
    return *n > 0;
}

bool oc_engine_has_layers(const struct oc_profile *p, const struct oc_prof_rec *rec)
{
    return strcmp(p->format, "tensorrt") == 0 && rec->has_in && rec->has_out;
}

bool oc_engine_is_detailed(const struct oc_profile *p)
{
    for (uint32_t i = 0; i < p->n_rec; i++)
        if (oc_engine_has_layers(p, &p->rec[i]))
            return true;
    return false;
}

bool oc_other_batch(const struct oc_type *recorded, const struct oc_type *model, int64_t batch[2])
{
    const struct oc_shape *a = &recorded->shape, *b = &model->shape;
    if (recorded->kind != OC_T_TENSOR || model->kind != OC_T_TENSOR || !oc_shape_known(a) ||
        !oc_shape_known(b) || a->rank != b->rank || !a->rank)
        return false;
    for (unsigned i = 1; i < a->rank; i++)
        if (a->dim[i].v != b->dim[i].v)
            return false;
    batch[0] = a->dim[0].v;
    batch[1] = b->dim[0].v;
    return batch[0] > 0 && batch[1] > 0 && batch[0] != batch[1];
}

/* How often the model's work is done in the engine: by the elements of the last output. 0: unknown. */
static uint64_t times_of_model(const struct oc_join *j, const struct oc_prof_rec *rec,
                               const struct oc_join_rec *r)
{
    uint64_t recorded, model;
    const struct oc_node *last = &j->model->node[r->node[r->n_node - 1]];
    if (!rec->n_out || !last->n_out || last->out[0] == OC_NONE || !elements(&rec->out[0], &recorded) ||
        !elements(&j->analysis->type[last->out[0]], &model) || recorded % model)
        return 0;
    return recorded / model;
}

/* Operations that the layer information does not determine are the model's, for the engine's batch. */
static void scale_model(const struct oc_join *j, const struct oc_prof_rec *rec, struct oc_join_rec *r)
{
    uint64_t times = r->n_node && j->analysis && r->quality != OC_UNKNOWN ? times_of_model(j, rec, r) : 0;
    if (times == 1)
        return;
    if (!times || !oc_mul_u64(r->macs, times, &r->macs) || !oc_mul_u64(r->flops, times, &r->flops) ||
        !oc_mul_u64(r->ops, times, &r->ops)) {
        r->quality = OC_UNKNOWN;
        return;
    }
    r->quality = r->quality == OC_EXACT ? OC_EST : r->quality;
    r->note = "the model's count for the engine's batch";
}

static void set_operations(const struct oc_prof_rec *rec, struct oc_join_rec *r)
{
    bool integer = oc_record_is_integer(rec);
    uint64_t flop = rec->flop < 0x1p63 ? (uint64_t)rec->flop : UINT64_MAX;
    r->macs = rec->has_macs ? rec->macs : 0;
    r->flops = integer ? 0 : flop;
    r->ops = integer ? flop : 0;
    r->quality = flop == UINT64_MAX ? OC_UNKNOWN : rec->quality;
    r->note = "from the engine's layer information";
}

/* Reads are all bytes but those of the weights and of the outputs. */
static void set_bytes(const struct oc_prof_rec *rec, struct oc_join_rec *r)
{
    uint64_t all = rec->bytes < 0x1p63 ? (uint64_t)rec->bytes : 0, one;
    uint64_t params = rec->param_bytes != UINT64_MAX && rec->param_bytes <= all ? rec->param_bytes : 0;
    r->wr = 0;
    for (uint32_t i = 0; i < rec->n_out; i++)
        if (oc_type_bytes(&rec->out[i], &one) && !oc_add_u64(r->wr, one, &r->wr))
            r->wr = UINT64_MAX;
    r->wr = r->wr <= all - params ? r->wr : all - params;
    r->rd_wt = params;
    r->rd_act = all - params - r->wr;
    r->bytes_known = !isnan(rec->bytes);
}

/* Engines with dynamic shapes have dimensions of -1. */
static bool are_shapes_known(const struct oc_type *t, uint32_t n)
{
    uint64_t count;
    for (uint32_t i = 0; i < n; i++)
        if (!elements(&t[i], &count))
            return false;
    return true;
}

bool oc_engine_cost(const struct oc_join *j, const struct oc_prof_rec *rec, struct oc_join_rec *r)
{
    if (!oc_engine_has_layers(j->profile, rec) || !are_shapes_known(rec->in, rec->n_in) ||
        !are_shapes_known(rec->out, rec->n_out))
        return false;
    if (!isnan(rec->flop))
        set_operations(rec, r);
    else
        scale_model(j, rec, r);
    set_bytes(rec, r);
    r->from_profile = true;
    return true;
}
