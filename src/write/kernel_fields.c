#include "write/kernel_fields.h"

#include <inttypes.h>
#include <math.h>

#include "base/ck.h"

const char *oc_signature_text(struct oc_arena *a, uint64_t signature)
{
    return signature ? oc_printf(a, "%016" PRIx64, signature) : NULL;
}

static uint64_t sum(const uint64_t *v)
{
    uint64_t n = 0;
    for (unsigned c = 0; c < OC_CLASS_COUNT; c++)
        if (!oc_add_u64(n, v[c], &n))
            return UINT64_MAX;
    return n;
}

static void roof(struct oc_fields *f, const struct oc_kernel *k, const struct oc_device *device)
{
    struct oc_roof r;
    oc_roofline(device, &k->work, OC_OVERLAP_UNITS, (double)NAN, &r);
    oc_field_double(f, "compute_s", r.comp_s);
    oc_field_double(f, "memory_s", r.mem_s);
    oc_field_double(f, "roofline_s", r.roof_s);
    oc_field_text(f, "bound_by", oc_bound_name(r.bound));
}

void oc_kernel_fields(struct oc_fields *f, const struct oc_kernel *k, const struct oc_device *device)
{
    const struct oc_work *w = &k->work;
    oc_field_text(f, "class", oc_kernel_class_name(k->cls));
    oc_field_text(f, "dtype", oc_class_name(k->dtype));
    oc_field_text(f, "signature", oc_signature_text(&f->arena, k->signature));
    oc_field_u64(f, "nodes", k->members);
    oc_field_u64(f, "macs", sum(w->macs));
    oc_field_u64(f, "other_flops", sum(w->flops));
    oc_field_u64(f, "special", sum(w->special));
    oc_field_u64(f, "bytes_read_act", k->rd_act);
    oc_field_u64(f, "bytes_read_weight", k->rd_wt);
    oc_field_u64(f, "bytes_written", k->wr);
    oc_field_size(f, "m", k->m);
    oc_field_size(f, "n", k->n);
    oc_field_size(f, "k", k->k);
    oc_field_size(f, "batch", k->batch);
    oc_field_size(f, "kernel_h", k->kernel_h);
    oc_field_size(f, "kernel_w", k->kernel_w);
    oc_field_size(f, "stride", k->stride);
    oc_field_size(f, "dilation", k->dilation);
    oc_field_size(f, "groups", k->groups);
    oc_field_size(f, "channels_in", k->channels_in);
    if (device)
        roof(f, k, device);
}
