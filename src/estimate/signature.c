#include "estimate/signature.h"

#include <string.h>

#include "ops/op.h"

/* FNV-1a, 64 bits. */
static void hash(uint64_t *h, const void *data, size_t n)
{
    const unsigned char *p = data;
    for (size_t i = 0; i < n; i++)
        *h = (*h ^ p[i]) * UINT64_C(0x100000001b3);
}

/* Byte by byte, so that the hash is independent of the machine's byte order. */
static void number(uint64_t *h, uint64_t v)
{
    unsigned char b[8];
    for (unsigned i = 0; i < 8; i++)
        b[i] = (unsigned char)(v >> (8 * i));
    hash(h, b, sizeof(b));
}

static void text(uint64_t *h, const char *s)
{
    hash(h, s, strlen(s) + 1);
}

static void size(uint64_t *h, double v)
{
    number(h, v > 0 && v < 1e18 ? (uint64_t)v : 0);
}

static bool is_contraction(const struct oc_kernel *k)
{
    return k->m > 0 && k->n > 0 && k->k > 0;
}

static void sizes(uint64_t *h, const struct oc_kernel *k)
{
    const double v[] = {k->m,        k->n,      k->k,        k->batch,  k->kernel_h,
                        k->kernel_w, k->stride, k->dilation, k->groups, k->channels_in};
    for (size_t i = 0; i < OC_COUNT(v); i++)
        size(h, v[i]);
}

/* A contraction with its fused operators: activations by name, a residual changes the bytes. */
static void fused(uint64_t *h, const struct oc_model *m, const struct oc_analysis *a,
                  const struct oc_kernel *k, const uint32_t *node, uint32_t n)
{
    static const char *const silent[] = {"Add", "Mul", "Sub", "Div", "Sum", "Cast", "Dropout"};
    for (uint32_t i = 0; i < n; i++) {
        const struct oc_node *nd = &m->node[node[i]];
        const struct oc_attr *at = oc_node_attr(nd, "activation");
        bool quiet = !a->op[node[i]] || a->op[node[i]]->op_class != OC_OP_ELEMENTWISE || node[i] == k->node;
        for (size_t s = 0; s < OC_COUNT(silent) && !quiet; s++)
            quiet = !strcmp(nd->op_type, silent[s]);
        if (!quiet)
            text(h, nd->op_type);
        if (at && at->type == OC_ATTR_STRING)
            text(h, at->s.s);
    }
}

static void shapes(uint64_t *h, const struct oc_analysis *a, const uint32_t *value, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct oc_type *t = value[i] == OC_NONE ? NULL : &a->type[value[i]];
        if (!t || t->kind != OC_T_TENSOR || !t->shape.ranked)
            continue;
        number(h, t->dtype);
        number(h, t->shape.rank);
        for (unsigned d = 0; d < t->shape.rank; d++)
            number(h, oc_is_known(t->shape.dim[d]) ? (uint64_t)t->shape.dim[d].v : UINT64_MAX);
    }
}

/* Attributes are unordered: their hashes are added. */
static void attributes(uint64_t *h, const struct oc_node *n)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n->n_attr; i++) {
        const struct oc_attr *at = &n->attr[i];
        uint64_t one = UINT64_C(0xcbf29ce484222325);
        text(&one, at->name);
        if (at->type == OC_ATTR_INT)
            number(&one, (uint64_t)at->i);
        else if (at->type == OC_ATTR_STRING)
            text(&one, at->s.s);
        else if (at->type != OC_ATTR_INTS)
            continue; /* factors and tensors change values, not work */
        for (uint32_t k = 0; at->type == OC_ATTR_INTS && k < at->n; k++)
            number(&one, (uint64_t)at->ints[k]);
        sum += one;
    }
    number(h, sum);
}

static uint64_t start(const struct oc_kernel *k)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    text(&h, oc_kernel_class_name(k->cls));
    text(&h, oc_class_name(k->dtype));
    number(&h, k->rd_act);
    number(&h, k->wr);
    return h;
}

uint64_t oc_kernel_signature(const struct oc_model *m, const struct oc_analysis *a, const struct oc_kernel *k,
                             const uint32_t *node, uint32_t n_node, const char *type)
{
    const struct oc_node *core = &m->node[k->node];
    uint64_t h = start(k);
    sizes(&h, k);
    if (is_contraction(k)) {
        fused(&h, m, a, k, node, n_node);
    } else {
        text(&h, type ? type : core->op_type);
        number(&h, k->rd_wt);
        shapes(&h, a, core->in, core->n_in);
        attributes(&h, core);
    }
    return h ? h : 1;
}

uint64_t oc_kernel_signature_inserted(const struct oc_kernel *k, const char *type)
{
    uint64_t h = start(k);
    text(&h, type);
    return h ? h : 1;
}
