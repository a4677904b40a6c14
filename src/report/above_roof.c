#include "report/above_roof.h"

#include <string.h>

#include "hw/hwdb.h"
#include "join/join.h"

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
    const char *kind = oc_device_info(r->in->device).kind;
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

const char *oc_above_roof_reason(const struct oc_report *r, const struct oc_row *row,
                                 const struct oc_work *work, const struct oc_roof *roof)
{
    if (row->time_s / r->runs < shortest_s(r->in->profile))
        return "too short for the clock resolution";
    if (too_many_nodes(r, row))
        return "some of its nodes may belong to other records (see --explain-match)";
    if (added_view(r, row))
        return "a runtime-inserted view: it may move no bytes";
    if (other_kind(r))
        return "measured on another kind of device";
    if (roof->bound == OC_BOUND_DRAM && !r->o->cache && fits_cache(r, work, row->time_s / r->runs))
        return "input served from a cache";
    if (roof->comp_s >= roof->mem_s && fast_convolution(r, row))
        return "Winograd or FFT: fewer multiplications than counted";
    return "device or clock differs from the hardware file";
}
