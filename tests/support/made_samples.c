#include "support/made_samples.h"

#include <math.h>
#include <stdlib.h>

void oc_made_device(struct oc_made_device *d)
{
    *d = (struct oc_made_device){.f32 = {.value = 200e9},
                                 .i8 = {.value = 800e9},
                                 .dram_bw = {.value = 20e9},
                                 .llc_size = {.value = 8e6},
                                 .llc_bw = {.value = 100e9}};
    d->level[0] = (struct oc_hw_level){.name = "L3", .size = &d->llc_size, .bandwidth = &d->llc_bw};
    d->level[1] = (struct oc_hw_level){.name = "DRAM", .bandwidth = &d->dram_bw};
    d->info = (struct oc_device_info){.id = "made", .kind = "cpu"};
    d->device = (struct oc_device){.info = &d->info, .level = d->level, .n_level = 2};
    d->device.peak[OC_HW_VECTOR][OC_CLASS_F32] = &d->f32;
    d->device.peak[OC_HW_VECTOR][OC_CLASS_I8] = &d->i8;
}

void oc_made_start(struct oc_made *m, uint64_t seed)
{
    *m = (struct oc_made){.random = seed};
    m->set.device = "made";
    m->set.runtime = "none";
}

void oc_made_free(struct oc_made *m)
{
    free(m->set.item);
    free(m->set.model);
    oc_arena_free(&m->arena);
}

double oc_made_uniform(struct oc_made *m) /* splitmix64 */
{
    uint64_t z = (m->random += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return ((double)((z ^ (z >> 31)) >> 11) + 0.5) / 9007199254740992.0;
}

double oc_made_between(struct oc_made *m, double lo, double hi)
{
    return lo * exp(oc_made_uniform(m) * log(hi / lo));
}

double oc_made_normal(struct oc_made *m)
{
    double u = oc_made_uniform(m);
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * oc_made_uniform(m));
}

uint32_t oc_made_model(struct oc_made *m, const char *name)
{
    OC_GROW(m->set.model, m->set.n_model, m->cap_model);
    const char *s = oc_strdup(&m->arena, name);
    m->set.model[m->set.n_model] = (struct oc_sample_model){
        .name = s, .model_id = s, .family_id = s, .run_s = NAN, .plain_s = NAN, .kernels_s = NAN};
    return (uint32_t)m->set.n_model++;
}

struct oc_kernel oc_made_kernel(unsigned cls, double flop, double bytes)
{
    struct oc_kernel k = {.cls = (uint8_t)cls, .dtype = OC_CLASS_F32, .members = 1, .node = 0};
    k.work.macs[OC_CLASS_F32] = (uint64_t)(flop / 2);
    k.work.bytes = (uint64_t)bytes;
    k.work.launches = 1;
    k.rd_act = k.work.bytes / 2;
    k.wr = k.work.bytes - k.rd_act;
    k.signature =
        (k.work.macs[OC_CLASS_F32] * 0x9e3779b97f4a7c15u ^ k.work.bytes * 0xc2b2ae3d27d4eb4fu) + cls + 1;
    return k;
}

void oc_made_add(struct oc_made *m, uint32_t model, const struct oc_kernel *k, double t_s, uint32_t repeats)
{
    OC_GROW(m->set.item, m->set.n, m->cap);
    m->set.item[m->set.n++] = (struct oc_sample){
        .kernel = *k, .model = model, .t_s = t_s, .p10_s = NAN, .p90_s = NAN, .runs = 10, .repeats = repeats};
}

void oc_made_plans(struct oc_made *m)
{
    for (size_t i = 0; i < m->set.n_model; i++) {
        struct oc_planned_kernels *plan = OC_NEW_ARRAY(&m->arena, m->set.n + 1, struct oc_planned_kernels);
        struct oc_sample_model *model = &m->set.model[i];
        model->n_plan = 0;
        for (size_t k = 0; k < m->set.n; k++)
            if (m->set.item[k].model == i)
                plan[model->n_plan++] =
                    (struct oc_planned_kernels){m->set.item[k].kernel, m->set.item[k].repeats, true};
        model->plan = plan;
    }
}
