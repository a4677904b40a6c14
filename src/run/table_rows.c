/* Valid values of ids: follows an input to the tables in which it is looked up. */
#include <string.h>

#include "ops/op.h"
#include "run/record_files.h"

/* Slots with indices, and their tables. `by_axis`: along the attribute "axis", else the first axis. */
static const struct lookup {
    const char *op_type;
    uint8_t index, table;
    bool by_axis;
} lookups[] = {
    {"Gather", 1, 0, true},
    {"GatherElements", 1, 0, true},
    {"GatherBlockQuantized", 1, 0, false},
    {"EmbedLayerNormalization", 0, 2, false},
    {"EmbedLayerNormalization", 1, 4, false},
    {"EmbedLayerNormalization", 8, 3, false},
};

struct follow {
    const struct oc_model *m;
    bool *carries; /* by value: has elements of the input */
    uint64_t rows;
};

/* Dimension `axis` of a constant, also after nodes that keep its shape; 0: unknown. */
static uint64_t constant_dim(const struct oc_model *m, uint32_t value, int64_t axis)
{
    for (int depth = 0; depth < 4 && value != OC_NONE; depth++) {
        const struct oc_value *v = &m->value[value];
        const struct oc_node *n = v->producer != OC_NONE ? &m->node[v->producer] : NULL;
        const struct oc_tensor *t = v->constant ? v->constant : n ? oc_node_constant(n) : NULL;
        if (t) {
            axis += axis < 0 ? t->rank : 0;
            return axis >= 0 && axis < t->rank ? (uint64_t)t->dim[axis] : 0;
        }
        bool keeps = n && n->n_in &&
                     (!strcmp(n->op_type, "DequantizeLinear") || !strcmp(n->op_type, "Cast") ||
                      !strcmp(n->op_type, "Identity"));
        value = keeps ? n->in[0] : OC_NONE;
    }
    return 0;
}

static bool table_rows_carried(const struct follow *f, const struct oc_node *n, uint32_t slot)
{
    return slot < n->n_in && n->in[slot] != OC_NONE && f->carries[n->in[slot]];
}

static void table_rows_look_up(struct follow *f, const struct oc_node *n)
{
    for (size_t i = 0; i < OC_COUNT(lookups); i++) {
        const struct lookup *l = &lookups[i];
        if (strcmp(l->op_type, n->op_type) || !table_rows_carried(f, n, l->index) || l->table >= n->n_in)
            continue;
        const struct oc_attr *axis = l->by_axis ? oc_node_attr(n, "axis") : NULL;
        uint64_t rows = constant_dim(f->m, n->in[l->table], axis ? axis->i : 0);
        if (rows && (!f->rows || rows < f->rows))
            f->rows = rows;
    }
}

static void pass_on(struct follow *f, const struct oc_node *n)
{
    if (n->kind == OC_NODE_CALL) {
        const struct oc_graph *body = &f->m->graph[n->body];
        for (uint32_t i = 0; i < body->n_input && i < n->n_in; i++)
            if (table_rows_carried(f, n, i))
                f->carries[body->input[i]] = true;
        return;
    }
    const struct oc_op *op = oc_op_find(n->domain, n->op_type, n->opset);
    if (!oc_op_selects(op))
        return;
    /* the table of a Gather is data, too: looked-up elements of the input are its elements */
    bool from = table_rows_carried(f, n, 0);
    for (uint32_t i = 1; i < n->n_in && !from; i++)
        from = table_rows_carried(f, n, i) && op->op_class != OC_OP_GATHER;
    for (uint32_t i = 0; from && i < n->n_out; i++)
        if (n->out[i] != OC_NONE)
            f->carries[n->out[i]] = true;
}

uint64_t oc_table_rows(const struct oc_model *m, uint32_t value, struct oc_arena *a)
{
    struct follow f = {.m = m, .carries = OC_NEW_ARRAY(a, m->n_value, bool)};
    f.carries[value] = true;
    for (uint32_t g = 0; g < m->n_graph; g++)
        for (uint32_t i = 0; i < m->graph[g].n_node; i++) {
            const struct oc_node *n = &m->node[m->graph[g].node[i]];
            table_rows_look_up(&f, n);
            pass_on(&f, n);
        }
    return f.rows;
}
