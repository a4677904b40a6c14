#include "provider/fallback.h"

#include <stdlib.h>
#include <string.h>

#include "base/ck.h"

static const char *const agreement_name[] = {
    [OC_AGREE_NOT_MEASURED] = "not measured",
    [OC_AGREES] = "agrees",
    [OC_AGREES_IF] = "not decided",
    [OC_DIFFERS] = "differs",
};

const char *oc_agreement_name(unsigned agreement)
{
    return agreement < OC_AGREE_COUNT ? agreement_name[agreement] : "";
}

/* ---- groups ----------------------------------------------------------------------------------------- */

static void group_node(struct oc_fallbacks *f, struct oc_map *known, const struct oc_assignment *x,
                       uint32_t i)
{
    const struct oc_assigned *n = &x->node[i];
    const struct oc_node *node = &x->analysis->model->node[i];
    const struct oc_node_cost *cost = &x->analysis->cost[i];
    const char *key = oc_printf(known->arena, "%u %u %u %s:%s %s", n->first, n->best, n->worst, node->domain,
                                node->op_type, n->reason ? n->reason : "");
    uint32_t at = f->n;
    if (oc_map_add(known, key, strlen(key), &at, NULL)) {
        OC_GROW(f->item, f->n, f->cap);
        f->item[f->n++] = (struct oc_fallback){.from = n->first,
                                               .best = n->best,
                                               .worst = n->worst,
                                               .domain = node->domain,
                                               .op_type = node->op_type,
                                               .reason = n->reason};
    }
    struct oc_fallback *g = &f->item[at];
    g->nodes++;
    if (cost->quality == OC_UNKNOWN || !oc_add_u64(g->macs, cost->macs, &g->macs))
        g->unknown++;
}

static int compare_fallbacks(const void *a, const void *b)
{
    const struct oc_fallback *x = a, *y = b;
    if (x->macs != y->macs)
        return x->macs < y->macs ? 1 : -1;
    if (x->nodes != y->nodes)
        return x->nodes < y->nodes ? 1 : -1;
    int order = strcmp(x->op_type, y->op_type);
    return order ? order : strcmp(x->reason ? x->reason : "", y->reason ? y->reason : "");
}

/* ---- a profile -------------------------------------------------------------------------------------- */

static uint8_t agreement_of(const struct oc_assignment *x, uint32_t node, const char *measured)
{
    const struct oc_assigned *n = &x->node[node];
    bool best = n->best != OC_NO_PROVIDER && !strcmp(x->providers->list[n->best]->info.name, measured);
    bool worst = n->worst != OC_NO_PROVIDER && !strcmp(x->providers->list[n->worst]->info.name, measured);
    return best && worst ? OC_AGREES : best || worst ? OC_AGREES_IF : OC_DIFFERS;
}

static void compare_profile(struct oc_fallbacks *f, const struct oc_assignment *x, const struct oc_join *join)
{
    for (uint32_t r = 0; r < join->profile->n_rec; r++) {
        const char *measured = join->profile->rec[r].provider;
        for (uint32_t k = 0; *measured && k < join->rec[r].n_node; k++) {
            uint32_t i = join->rec[r].node[k];
            if (!x->node[i].runs || f->measured[i])
                continue;
            f->measured[i] = measured;
            f->agrees[i] = agreement_of(x, i, measured);
        }
    }
}

void oc_fallbacks_make(struct oc_assignment *x, const struct oc_join *join, struct oc_fallbacks *out)
{
    uint32_t n = x->analysis->model->n_node;
    struct oc_map known = {.arena = &x->arena};
    *out = (struct oc_fallbacks){.measured = OC_NEW_ARRAY(&x->arena, n, const char *),
                                 .agrees = OC_NEW_ARRAY(&x->arena, n, uint8_t)};
    for (uint32_t i = 0; i < n; i++)
        if (x->node[i].runs && x->node[i].first != OC_NO_PROVIDER)
            group_node(out, &known, x, i);
    if (out->n)
        qsort(out->item, out->n, sizeof(*out->item), compare_fallbacks);
    oc_map_free(&known);
    if (join)
        compare_profile(out, x, join);
    for (uint32_t i = 0; i < n; i++)
        out->count[out->agrees[i]] += x->node[i].runs;
}

void oc_fallbacks_free(struct oc_fallbacks *f)
{
    free(f->item);
}
