/* Imports of operator sets, of a model or a function. */
#include <string.h>

#include "model/loader.h"

static const char *domain_of(const Oc__Opset *opset)
{
    return strcmp(opset->domain, "ai.onnx") == 0 ? "" : opset->domain;
}

/* By import: another one of the domain follows. As for ONNX Runtime, the last one counts. */
static bool *find_repeated(struct oc_loader *l, Oc__Opset *const *opset, size_t n)
{
    bool *again = OC_NEW_ARRAY(&l->m->arena, n + 1, bool);
    struct oc_map seen = {.arena = &l->m->arena};
    for (size_t i = n; i-- > 0;) {
        const char *domain = domain_of(opset[i]);
        uint32_t at = 0;
        again[i] = !oc_map_add(&seen, domain, strlen(domain), &at, NULL);
    }
    oc_map_free(&seen);
    return again;
}

struct oc_opset *oc_load_opsets(struct oc_loader *l, Oc__Opset *const *opset, size_t *n, const uint8_t *at)
{
    struct oc_opset *set = OC_NEW_ARRAY(&l->m->arena, *n + 1, struct oc_opset);
    const bool *again = find_repeated(l, opset, *n);
    size_t kept = 0;
    for (size_t i = 0; i < *n; i++) {
        const char *domain = domain_of(opset[i]);
        if (again[i]) {
            oc_diag_add(&l->m->diags, OC_WARNING, "W-opset-twice", domain[0] ? domain : "ai.onnx",
                        "the operator set is imported twice: the last import is used, not version %lld",
                        (long long)opset[i]->version);
            continue;
        }
        set[kept] = (struct oc_opset){.domain = oc_load_text(l, domain, strlen(domain)),
                                      .version = opset[i]->version};
        if (set[kept++].version < 1) {
            oc_load_fail(l, OC_EFORMAT, at, "opset import '%s': version %lld", domain,
                         (long long)opset[i]->version);
            return NULL;
        }
    }
    *n = kept;
    return set;
}
