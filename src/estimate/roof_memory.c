/* Where the bytes of a kernel are: in which levels of the memory of a device, nearest first, and how long they take. All
 * bytes are in exactly one level. roofline.c makes a roofline of it. */
#include "estimate/roofline.h"

#include <math.h>

#include "onnxcost/hardware.h"

unsigned oc_roof_levels(const struct oc_device *d)
{
    return d->n_level < OC_ROOF_LEVELS ? (unsigned)d->n_level : OC_ROOF_LEVELS;
}

/* The last one is DRAM, also if there are more levels than are distinguished. */
const struct oc_hw_level *oc_roof_level(const struct oc_device *d, unsigned i)
{
    return &d->level[i + 1 == oc_roof_levels(d) ? d->n_level - 1 : i];
}

static double size_of_level(const struct oc_hw_level *level)
{
    return level->size ? level->size->value : 0;
}

static uint64_t at_most(double bytes, uint64_t limit)
{
    return bytes < (double)limit ? (uint64_t)bytes : limit;
}

/* Bytes read, or `written`, by launches in sequence fill the levels from the nearest on. */
static void fill_levels(const struct oc_device *d, uint64_t bytes, uint64_t launches, bool written,
                        struct oc_roof_placed *p)
{
    unsigned last = p->n - 1;
    for (unsigned i = 0; i < last && bytes; i++) {
        uint64_t held =
            at_most(size_of_level(oc_roof_level(d, i)) * (double)(launches ? launches : 1), bytes);
        p->bytes[i] += held;
        p->written[i] += written ? held : 0;
        bytes -= held;
    }
    p->bytes[last] += bytes;
}

/* Of the `all` constants of a run, each level can retain at most its size: that share of these is in it. */
static void share_levels(const struct oc_device *d, uint64_t bytes, uint64_t all, struct oc_roof_placed *p)
{
    unsigned last = p->n - 1;
    uint64_t left = bytes;
    for (unsigned i = 0; i < last && all && left; i++) {
        uint64_t held = at_most((double)bytes * (size_of_level(oc_roof_level(d, i)) / (double)all), left);
        p->bytes[i] += held;
        left -= held;
    }
    p->bytes[last] += left;
}

/* Later trips of a loop reuse the constants of the first one, with only the body in between. */
static void place_bytes(const struct oc_device *d, const struct oc_roof_traffic *w,
                        const struct oc_roof_opts *o, struct oc_roof_placed *p)
{
    if (!o->cache) {
        p->bytes[p->n - 1] = w->bytes;
        return;
    }
    uint64_t first = w->launches > 1 ? w->weight_bytes / w->launches : w->weight_bytes,
             again = w->weight_bytes - first, told = w->weight_bytes + w->written;
    share_levels(d, first, o->const_bytes > first ? o->const_bytes : first, p);
    fill_levels(d, again, w->launches, false, p);
    fill_levels(d, w->written, w->launches, true, p);
    fill_levels(d, w->bytes > told ? w->bytes - told : 0, w->launches, false, p);
}

/* Caches read and write at once; DRAM has one bus. */
static double transfer_time(const struct oc_roof_placed *p, unsigned level, double bytes_per_s)
{
    uint64_t written = p->written[level], read = p->bytes[level] - written;
    bool dram = level + 1 == p->n;
    return (double)(dram ? p->bytes[level] : read > written ? read : written) / bytes_per_s;
}

void oc_roof_place(const struct oc_device *d, const struct oc_roof_traffic *w, const struct oc_roof_opts *o,
                   struct oc_roof_placed *p)
{
    *p = (struct oc_roof_placed){.n = oc_roof_levels(d), .slowest_s = w->bytes ? (double)NAN : 0};
    if (!w->bytes || !p->n)
        return;
    place_bytes(d, w, o, p);
    for (unsigned i = 0; i < p->n; i++) {
        const struct oc_hw_level *level = oc_roof_level(d, i);
        if (!p->bytes[i])
            continue;
        p->level_s[i] = level->bandwidth ? transfer_time(p, i, level->bandwidth->value) : NAN;
        p->slowest_s = isnan(p->slowest_s) || p->level_s[i] > p->slowest_s ? p->level_s[i] : p->slowest_s;
    }
}

double oc_roof_slowest_bandwidth(const struct oc_device *device)
{
    double slowest = INFINITY;
    for (unsigned i = 0; i < oc_roof_levels(device); i++) {
        const struct oc_hw_level *level = oc_roof_level(device, i);
        slowest = level->bandwidth ? fmin(slowest, level->bandwidth->value) : slowest;
    }
    return slowest;
}
