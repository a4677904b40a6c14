#include "profile/launches.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/launch_parts.h"

#define MAX_LAUNCHES ((size_t)1 << 31)
#define MAX_LANES    60000

struct oc_launches *oc_launches_new(struct oc_profile *out, const struct oc_profile_opts *opts)
{
    struct oc_launches *l = oc_xmalloc(sizeof(*l));
    memset(l, 0, sizeof(*l));
    l->out = out;
    l->opts = opts;
    l->groups.arena = l->labels.arena = l->lanes.arena = &l->scratch;
    return l;
}

void oc_launches_free(struct oc_launches *l)
{
    if (!l)
        return;
    free(l->entry);
    free(l->group);
    free(l->label);
    free(l->host);
    free(l->lane);
    free(l->run);
    free(l->order);
    free(l->recs.rec);
    oc_run_sums_free(&l->sums);
    oc_run_sums_free(&l->group_sums);
    oc_map_free(&l->groups);
    oc_map_free(&l->labels);
    oc_map_free(&l->lanes);
    oc_arena_free(&l->scratch);
    free(l);
}

void oc_label_describe(const struct oc_label *label, struct oc_prof_rec *rec)
{
    rec->name = label->name;
    rec->op_type = label->op_type;
    rec->provider = label->provider;
    rec->index = label->index;
    rec->in = label->in;
    rec->n_in = label->n_in;
    rec->has_in = label->has_in;
}

/* ---- adding launches -------------------------------------------------------------------------------- */

uint32_t oc_launches_label(struct oc_launches *l, const struct oc_label *label, const char *variant)
{
    char *key = oc_printf(&l->scratch, "%s\x1f%s\x1f%lld\x1f%s", label->name, label->op_type,
                          (long long)label->index, variant ? variant : "");
    uint32_t id = (uint32_t)l->n_label;
    if (oc_map_add(&l->labels, key, strlen(key), &id, NULL)) {
        OC_GROW(l->label, l->n_label, l->label_cap);
        l->label[l->n_label++] = *label;
    }
    return id;
}

void oc_launches_host(struct oc_launches *l, uint32_t label, uint32_t run, double dur_ns)
{
    OC_GROW(l->host, l->n_host, l->host_cap);
    l->host[l->n_host++] = (struct launch_host_time){label, run, dur_ns};
}

uint32_t oc_launches_lane(struct oc_launches *l, int64_t process, int64_t device, int64_t stream)
{
    int64_t key[3] = {process, device, stream};
    uint32_t id = l->n_lane < MAX_LANES ? (uint32_t)l->n_lane : MAX_LANES - 1;
    if (!oc_map_add(&l->lanes, (const char *)key, sizeof(key), &id, NULL) || l->n_lane == MAX_LANES)
        return id;
    OC_GROW(l->lane, l->n_lane, l->lane_cap);
    l->lane[l->n_lane++] =
        (struct oc_lane){.name = "", .device = true, .process = process, .device_id = device, .id = stream};
    return id;
}

static uint32_t launches_group_of(struct oc_launches *l, const struct oc_launch *x)
{
    struct {
        const char *name;
        uint32_t label, kind;
    } key = {x->name, x->label, x->kind};
    uint32_t id = (uint32_t)l->n_group;
    if (!oc_map_add(&l->groups, (const char *)&key, sizeof(key), &id, NULL))
        return id;
    OC_GROW(l->group, l->n_group, l->group_cap);
    l->group[l->n_group++] = (struct launch_group){.name = x->name,
                                                   .label = x->label,
                                                   .lane = x->lane,
                                                   .kind = x->kind,
                                                   .where = x->where,
                                                   .rec = OC_NONE};
    return id;
}

static uint32_t known_group(struct oc_launches *l, const struct oc_launch *x)
{
    size_t slot = (((uintptr_t)x->name >> 4) + (size_t)x->label * 31 + x->kind) % LAUNCH_MEMO;
    if (l->memo[slot].name != x->name || l->memo[slot].label != x->label ||
        l->group[l->memo[slot].group].kind != x->kind) {
        l->memo[slot].group = launches_group_of(l, x);
        l->memo[slot].name = x->name;
        l->memo[slot].label = x->label;
    }
    return l->memo[slot].group;
}

static void add_counters(struct oc_launches *l, struct launch_group *g, const struct oc_prof_counters *c)
{
    if (!g->counters)
        g->counters = OC_NEW(&l->scratch, struct launch_counters);
    for (unsigned i = 0; i < OC_CTR_COUNT; i++) {
        g->counters->sum[i] += isnan(c->v[i]) ? 0 : c->v[i];
        g->counters->n[i] += isnan(c->v[i]) ? 0 : 1;
    }
}

bool oc_launches_add(struct oc_launches *l, const struct oc_launch *x)
{
    if (l->n == MAX_LAUNCHES)
        return false;
    uint32_t id = known_group(l, x);
    struct launch_group *g = &l->group[id];
    if (!isnan(x->bytes)) {
        g->bytes += x->bytes;
        g->n_bytes++;
    }
    if (!isnan(x->flop)) {
        g->flop += x->flop;
        g->n_flop++;
    }
    if (x->counters)
        add_counters(l, g, x->counters);
    g->n++;
    l->unsorted |= l->n && l->entry[l->n - 1].start_ns > x->start_ns;
    OC_GROW(l->entry, l->n, l->cap);
    l->entry[l->n++] = (struct launch_entry){x->start_ns, x->dur_ns, id, x->run, x->lane, x->shape};
    l->total_ns += x->dur_ns;
    return true;
}

size_t oc_launches_count(const struct oc_launches *l)
{
    return l->n;
}
