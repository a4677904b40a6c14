#include "advice/advisor.h"

#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "hw/hwdb.h"
#include "onnxcost/hardware.h"

/* ---- suggestions ------------------------------------------------------------------------------------ */

struct oc_advice_item *oc_advice_new(struct oc_advisor *x, const char *id, const char *title)
{
    struct oc_advice_item *f = OC_NEW(x->arena, struct oc_advice_item);
    f->id = id;
    f->title = title;
    f->low_ns = f->high_ns = f->share = f->saved_bytes = NAN;
    return f;
}

static struct oc_advice_proof *add_proof(struct oc_advisor *x, struct oc_advice_item *f)
{
    if (f->n_proof == f->cap_proof) {
        uint32_t cap = f->cap_proof ? f->cap_proof * 2 : 8;
        struct oc_advice_proof *bigger = OC_NEW_ARRAY(x->arena, cap, struct oc_advice_proof);
        if (f->n_proof)
            memcpy(bigger, f->proof, f->n_proof * sizeof(*bigger));
        f->proof = bigger;
        f->cap_proof = cap;
    }
    f->proof[f->n_proof] =
        (struct oc_advice_proof){.node = OC_NONE, .record = OC_NONE, .time_ns = NAN, .bytes = NAN};
    return &f->proof[f->n_proof++];
}

void oc_advice_prove(struct oc_advisor *x, struct oc_advice_item *f, const struct oc_piece *p, double time_ns,
                     const char *text)
{
    struct oc_advice_proof *e = add_proof(x, f);
    e->node = p->n_node == 1 ? p->node[0] : OC_NONE;
    e->record = p->row->record;
    e->name = p->name;
    e->type = p->type;
    e->text = text;
    e->time_ns = time_ns;
    e->bytes = p->bytes;
}

void oc_advice_prove_node(struct oc_advisor *x, struct oc_advice_item *f, uint32_t node, const char *text)
{
    uint32_t piece = x->piece_of[node];
    struct oc_advice_proof *e = add_proof(x, f);
    e->node = node;
    e->name = oc_advisor_name(x, node);
    e->type = x->m->node[node].op_type;
    e->text = text;
    if (piece != OC_NONE && x->piece[piece].n_node == 1) {
        e->record = x->piece[piece].row->record;
        e->time_ns = x->piece[piece].time_ns;
        e->bytes = x->piece[piece].bytes;
    }
}

static int advisor_by_time(const void *a, const void *b)
{
    const struct oc_advice_proof *p = a, *q = b;
    double s = isnan(p->time_ns) ? -1 : p->time_ns, t = isnan(q->time_ns) ? -1 : q->time_ns;
    if (s != t)
        return s < t ? 1 : -1;
    s = isnan(p->bytes) ? -1 : p->bytes;
    t = isnan(q->bytes) ? -1 : q->bytes;
    if (s != t)
        return s < t ? 1 : -1;
    if (p->node != q->node)
        return p->node < q->node ? -1 : 1;
    return p->record < q->record ? -1 : p->record > q->record;
}

static double known_saving(const struct oc_advice_item *f)
{
    return isnan(f->high_ns) ? f->low_ns : f->high_ns;
}

void oc_advice_keep(struct oc_advisor *x, struct oc_advice_item *f)
{
    double saving = known_saving(f);
    struct oc_advice *out = x->out;
    if (!f->n_proof || saving <= out->run_ns / 1000)
        return;
    if (f->low_ns > f->high_ns)
        f->low_ns = f->high_ns;
    f->share = saving / out->run_ns;
    f->severity = !(saving > 0)      ? OC_ADVICE_INFO
                  : f->share >= 0.1  ? OC_ADVICE_HIGH
                  : f->share >= 0.03 ? OC_ADVICE_MEDIUM
                                     : OC_ADVICE_LOW;
    qsort(f->proof, f->n_proof, sizeof(*f->proof), advisor_by_time);
    if (out->n == out->cap) {
        uint32_t cap = out->cap ? out->cap * 2 : 16;
        struct oc_advice_item **bigger = OC_NEW_ARRAY(x->arena, cap, struct oc_advice_item *);
        if (out->n)
            memcpy(bigger, out->item, out->n * sizeof(*bigger));
        out->item = bigger;
        out->cap = cap;
    }
    out->item[out->n++] = f;
}

const char *oc_advice_time(struct oc_advisor *x, double ns)
{
    char buf[32];
    oc_format_time_ns(ns, buf, sizeof(buf));
    return isnan(x->out->run_ns)
               ? oc_strdup(x->arena, buf)
               : oc_printf(x->arena, "%s (%.1f %% %s)", buf, ns / x->out->run_ns * 100, x->out->whole);
}

const char *oc_advice_duration(struct oc_advisor *x, double ns)
{
    return oc_time_text(x->arena, ns, "unknown");
}

const char *oc_advice_bytes(struct oc_advisor *x, double bytes)
{
    return oc_bytes_text(x->arena, bytes);
}

/* ---- the graph -------------------------------------------------------------------------------------- */

bool oc_type_in(const char *type, const char *types)
{
    return oc_set_has(types, type, strlen(type));
}

bool oc_advisor_runs(const struct oc_advisor *x, uint32_t node)
{
    const struct oc_node_cost *k = &x->a->cost[node];
    return k->state == OC_NODE_NORMAL && !k->alias && x->a->graph_use[x->m->node[node].graph] == OC_G_RUN;
}

uint32_t oc_advisor_producer(const struct oc_advisor *x, uint32_t value)
{
    for (;;) {
        uint32_t node = value == OC_NONE ? OC_NONE : x->m->value[value].producer;
        if (node == OC_NONE || !x->a->cost[node].alias || !x->m->node[node].n_in)
            return node;
        value = x->m->node[node].in[0];
    }
}

double oc_advisor_value_bytes(const struct oc_advisor *x, uint32_t value)
{
    uint64_t bytes;
    return oc_type_bytes(&x->a->type[value], &bytes) ? (double)bytes : (double)NAN;
}

bool oc_advisor_is(const struct oc_advisor *x, uint32_t node, const char *types)
{
    return node != OC_NONE && oc_type_in(x->m->node[node].op_type, types);
}

const char *oc_advisor_name(struct oc_advisor *x, uint32_t node)
{
    char buf[256];
    return oc_strdup(x->arena, oc_node_label(x->m, &x->m->node[node], buf, sizeof(buf)));
}

double oc_dram_bandwidth(const struct oc_device *d)
{
    const struct oc_hw_level *dram = d ? oc_device_dram(d) : NULL;
    return dram && dram->bandwidth ? dram->bandwidth->value : (double)NAN;
}
