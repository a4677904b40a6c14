#include <string.h>

#include "ops/formula.h"
#include "ops/user_rules.h"

/* Number of tests per name, generated from tests/data/op_tests.tsv. */
static const struct op_tests {
    const char *domain, *name;
    unsigned cases, costs, models, node_tests;
} tests[] = {
#include "op_tests.h"
};

/* Sorted by bytes. */
static const struct op_tests *tests_of(const struct oc_op *op)
{
    static const struct op_tests none = {.name = ""};
    size_t from = 0, to = OC_COUNT(tests);
    while (from < to) {
        size_t mid = from + (to - from) / 2;
        int order = strcmp(op->domain, tests[mid].domain);
        if (order == 0)
            order = strcmp(op->name, tests[mid].name);
        if (order == 0)
            return &tests[mid];
        *(order < 0 ? &to : &from) = order < 0 ? mid : mid + 1;
    }
    return &none;
}

size_t oc_op_count(void)
{
    size_t n_families, n = 0;
    const struct oc_op_family *const *family = oc_op_families(&n_families);
    for (size_t i = 0; i < n_families; i++)
        n += family[i]->n;
    return n;
}

const char *oc_op_family_name(const struct oc_op *op)
{
    size_t n;
    const struct oc_op_family *const *family = oc_op_families(&n);
    if (oc_is_user_op(op))
        return oc_user_op_place(op);
    for (size_t i = 0; i < n; i++)
        if (op >= family[i]->op && op < family[i]->op + family[i]->n)
            return family[i]->name;
    return "";
}

void oc_op_get(size_t index, struct oc_op_info *out)
{
    size_t n_families;
    const struct oc_op_family *const *family = oc_op_families(&n_families);
    *out = (struct oc_op_info){.domain = "", .name = "", .family = "", .op_class = ""};
    for (size_t i = 0; i < n_families; index -= family[i]->n, i++) {
        if (index >= family[i]->n)
            continue;
        const struct oc_op *op = &family[i]->op[index];
        const struct op_tests *n = tests_of(op);
        *out = (struct oc_op_info){.domain = op->domain,
                                   .name = op->name,
                                   .family = family[i]->name,
                                   .op_class = oc_op_class_name(op->op_class),
                                   .since = op->since,
                                   .until = op->until,
                                   .formula = oc_formula_text(op),
                                   .cases = n->cases,
                                   .costs = n->costs,
                                   .models = n->models,
                                   .node_tests = n->node_tests};
        return;
    }
}
