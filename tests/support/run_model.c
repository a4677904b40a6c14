#include "support/run_model.h"
#include "onnxcost.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct oc_run oc_run_model(struct oc_builder *b, const struct oc_analyze_opts *opts)
{
    struct oc_run r = {.a = NULL};
    size_t n;
    r.bytes = oc_b_pack(b, &n);
    oc_b_free(b);
    if (oc_model_load_mem(r.bytes, n, NULL, &r.m, &r.err))
        fail_msg("%s", r.err.msg);
    int rc = oc_analyze(r.m, opts, &r.a, &r.err);
    if (rc != (r.a ? 0 : -1))
        fail_msg("%d: %s", rc, r.a ? "the analysis exists" : r.err.msg);
    return r;
}

void oc_run_free(struct oc_run *r)
{
    oc_analysis_free(r->a);
    oc_model_free(r->m);
    free(r->bytes);
}

const char *oc_run_type(struct oc_run *r, const char *value)
{
    if (!r->a)
        fail_msg("%s", r->err.msg);
    for (uint32_t i = 0; i < r->m->n_value; i++)
        if (strcmp(r->m->value[i].name, value) == 0)
            return oc_type_text(&r->a->arena, r->a->exprs, &r->a->type[i]);
    fail_msg("no value '%s'", value);
    return "";
}

uint32_t oc_run_node(const struct oc_run *r, const char *name)
{
    for (uint32_t i = 0; i < r->m->n_node; i++)
        if (strcmp(r->m->node[i].name, name) == 0)
            return i;
    fail_msg("no node '%s'", name);
    return 0;
}

unsigned oc_run_diags(const struct oc_run *r, const char *code)
{
    unsigned n = 0;
    for (size_t i = 0; i < r->a->diags.n; i++)
        n += strcmp(r->a->diags.item[i].code, code) == 0;
    return n;
}
