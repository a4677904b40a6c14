#include "analyze/convention.h"

#include <string.h>

#include "analyze/convention_rules.h"
#include "onnxcost.h"

const struct oc_convention *oc_convention_find(const char *name)
{
    for (size_t i = 0; i < oc_convention_total; i++)
        if (strcmp(oc_conventions[i].name, name) == 0)
            return &oc_conventions[i];
    return NULL;
}

int oc_convention_set(const char *name, const struct oc_convention **out)
{
    bool ours = !name || strcmp(name, "onnxcost") == 0;
    *out = ours ? NULL : oc_convention_find(name);
    return ours || *out ? 0 : -1;
}

const char *oc_convention_name(size_t index)
{
    return index < oc_convention_total ? oc_conventions[index].name : NULL;
}

bool oc_convention_loops_once(const struct oc_convention *v)
{
    return v && v->loops_once;
}

bool oc_convention_counts_folded(const struct oc_convention *v)
{
    return v && v->folded;
}

void oc_convention_options(const struct oc_convention *v, struct oc_op_ctx *c)
{
    c->opt.taps_valid |= v->taps_valid && c->op->op_class == OC_OP_CONV; /* windows of pools count in full */
    c->opt.strict_reduce |= v->strict_reduce;
    c->opt.attention_full |= v->attention_full;
}

/* ---- counts ----------------------------------------------------------------------------------------- */

static uint64_t weighted(const uint32_t *weight, struct oc_op_ctx *c, const struct oc_cost *k)
{
    uint64_t sum = 0;
    for (unsigned p = 0; p < OC_PRIM_COUNT; p++)
        sum = oc_c_add(c, sum, oc_c_mul(c, oc_c_add(c, k->hist_f[p], k->hist_i[p]), weight[p]));
    return sum;
}

/* Whether a list of words, separated by single spaces, has the word. */
static bool convention_has_word(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at += n)
        if ((at == list || at[-1] == ' ') && (at[n] == ' ' || !at[n]))
            return true;
    return false;
}

static const struct oc_rule *find_rule(const struct oc_convention *v, const struct oc_op *op)
{
    for (size_t i = 0; v && i < v->n; i++) {
        const struct oc_rule *r = &v->rule[i];
        if (r->ops ? convention_has_word(r->ops, op->name) : r->op_class == op->op_class)
            return r;
    }
    return NULL;
}

static uint64_t convention_macs_of(struct oc_op_ctx *c, const struct oc_cost *k)
{
    return oc_c_add(c, k->hist_f[OC_MAC], k->hist_i[OC_MAC]);
}

uint64_t oc_convention_count(const struct oc_convention *v, struct oc_op_ctx *c, const struct oc_cost *k)
{
    const struct oc_rule *r = find_rule(v, c->op);
    if (!r)
        return weighted(v->weight, c, k);
    struct oc_count_parts p = {.macs = convention_macs_of(c, k)};
    oc_rule_count(r, c, k, &p);
    return oc_c_add(c, p.mac_part, p.rest);
}

static bool only_macs(const uint32_t *weight)
{
    for (unsigned p = 0; p < OC_PRIM_COUNT; p++)
        if (p != OC_MAC && weight[p])
            return false;
    return true;
}

void oc_convention_parts(const struct oc_convention *v, const uint32_t *weight, struct oc_op_ctx *c,
                         const struct oc_cost *k, struct oc_count_parts *out)
{
    const struct oc_rule *r = find_rule(v, c->op);
    *out = (struct oc_count_parts){.macs = convention_macs_of(c, k)};
    if (r) {
        oc_rule_count(r, c, k, out);
        out->rest_text = oc_rule_text(r, c);
        if (out->mac_part != oc_c_mul(c, out->unit, out->macs))
            out->mac_text = oc_rule_mac_text(r);
        return;
    }
    weight = v ? v->weight : weight;
    out->unit = weight[OC_MAC];
    out->mac_part = oc_c_mul(c, out->unit, out->macs);
    out->rest = weighted(weight, c, k) - out->mac_part;
    out->rest_text = only_macs(weight) ? "nothing" : "every primitive";
}
