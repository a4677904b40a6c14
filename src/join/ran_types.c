/* Models of 32-bit floating-point tensors that ran in 16 bits: model.half(), autocast, a builder that lowers the precision.
 * The evidence are the recorded types of inputs. */
#include "join/join.h"

#define NEARLY_ALL 0.95 /* of the time of records with floating-point inputs */

/* Class of the first recorded floating-point input, OC_CLASS_NONE. */
static uint8_t recorded_class(const struct oc_prof_rec *r)
{
    for (uint32_t i = 0; i < r->n_in; i++) {
        uint8_t cls = oc_dtype_info(r->in[i].dtype)->cls;
        if (cls != OC_CLASS_NONE && !oc_class_is_int(cls))
            return cls;
    }
    return OC_CLASS_NONE;
}

static bool is_half(uint8_t cls)
{
    return cls == OC_CLASS_F16 || cls == OC_CLASS_BF16;
}

/* Whether the nodes read or write 32-bit floating-point tensors, and none of 16 bits. */
static bool is_single(const struct oc_matcher *x, const struct oc_match *m)
{
    bool single = false, half = false;
    for (uint32_t i = 0; i < m->n_node; i++) {
        const struct oc_node *n = &x->m->node[m->node[i]];
        for (uint32_t k = 0; k < n->n_in + n->n_out; k++) {
            uint32_t v = k < n->n_in ? n->in[k] : n->out[k - n->n_in];
            unsigned dtype = v == OC_NONE ? OC_DT_UNDEFINED : x->a->type[v].dtype;
            single |= dtype == OC_DT_FLOAT;
            half |= dtype == OC_DT_FLOAT16 || dtype == OC_DT_BFLOAT16;
        }
    }
    return single && !half;
}

uint8_t oc_ran_all(const struct oc_matcher *x)
{
    uint8_t all = OC_CLASS_NONE;
    double all_ns = 0, ns[OC_CLASS_COUNT] = {0};
    for (uint32_t i = 0; i < x->p->n_rec; i++) {
        const struct oc_prof_rec *r = &x->p->rec[i];
        uint8_t cls = r->bucket ? OC_CLASS_NONE : recorded_class(r);
        double own_ns = oc_prof_own_ns(r);
        if (cls == OC_CLASS_NONE)
            continue;
        all_ns += own_ns;
        ns[cls] += own_ns;
    }
    for (unsigned c = 0; c < OC_CLASS_COUNT; c++)
        if (is_half((uint8_t)c) && ns[c] > 0 && ns[c] >= NEARLY_ALL * all_ns)
            all = (uint8_t)c;
    return all;
}

uint8_t oc_ran_class(const struct oc_matcher *x, uint32_t rec, uint8_t all, bool *assumed)
{
    uint8_t cls = recorded_class(&x->p->rec[rec]);
    *assumed = cls == OC_CLASS_NONE;
    cls = *assumed ? all : cls;
    return x->a && is_half(cls) && is_single(x, &x->match[rec]) ? cls : OC_CLASS_NONE;
}
