/* Looks for the causes of cause_table.c: one suggestion for each cause that a node has, with the nodes as rows. The time
 * that is saved is expected, not measured: the share that the remedy saved where it was tried, or what the class of the row
 * takes elsewhere in the recording (report/expected.c); where both are known, the interval has both. A cause without a known
 * share saves an unknown time, and is ranked after those that have one. */
#include <string.h>

#include "advice/advisor.h"
#include "advice/cause_facts.h"
#include "base/map.h"
#include "base/units.h"
#include "hw/hwdb.h"
#include "onnxcost/hardware.h"
#include "onnxcost.h"
#include "report/headline.h"

struct search {
    struct oc_advisor *x;
    uint64_t *may; /* by node: a bit for each cause that its type can have */
    struct oc_cause_facts *facts;
    const struct oc_anomaly *anomaly;
    uint32_t n_anomaly;
};

struct sum { /* of a suggestion */
    double time, low, high, known;
};

/* Whether the row is of the kind of device and runtime; without a profile that of the device file. */
static bool fits(const struct oc_advisor *x, const struct oc_cause *c, const struct oc_piece *p)
{
    const char *provider = p && p->rec ? p->rec->provider : "";
    bool cpu = x->p ? (*provider ? !strncmp(provider, "CPU", 3) : !strcmp(x->p->device, "CPU"))
                    : !x->d || !strcmp(oc_device_info(x->d)->kind, "cpu");
    bool ort = !x->p || !strcmp(x->p->format, "onnxruntime") || strstr(provider, "ExecutionProvider");
    return !(c->of & OC_CAUSE_CPU && !cpu) && !(c->of & OC_CAUSE_GPU && cpu) &&
           !(c->of & OC_CAUSE_ORT && !ort);
}

/* The row that the node's time is in: its own, or one of a kernel that it is the largest part of. NULL: none. */
static struct oc_piece *row_of(const struct oc_advisor *x, const struct oc_cause *c, uint32_t node)
{
    struct oc_piece *p = x->piece_of[node] == OC_NONE ? NULL : &x->piece[x->piece_of[node]];
    if (!p || p->bucket || !oc_piece_timed(p))
        return NULL;
    bool alone = p->n_node == 1;
    return alone || (!(c->of & OC_CAUSE_SINGLE) && x->a->cost[node].macs) ? p : NULL;
}

static const struct oc_anomaly *anomaly_of(const struct search *s, const struct oc_piece *p)
{
    for (uint32_t i = 0; i < s->n_anomaly; i++)
        if (s->anomaly[i].row == p->row)
            return &s->anomaly[i];
    return NULL;
}

/* Of a row, per run: the share that the remedy saved elsewhere, and the interval that its class suggests. high 0: unknown */
static void gain_of(const struct oc_cause *c, const struct oc_anomaly *a, double time_ns, double *low,
                    double *high)
{
    *low = c->low * time_ns;
    *high = c->high * time_ns;
    if (a) { /* between both expectations */
        *low = *high > 0 ? fmin(*low, time_ns - a->high_ns) : time_ns - a->high_ns;
        *high = fmax(*high, time_ns - a->low_ns);
    }
    *low = *high > 0 && *low > 0 ? *low : 0;
}

static void add_row(struct search *s, struct oc_advice_item *f, const struct oc_cause *c, uint32_t node,
                    const struct oc_piece *p, struct sum *sum)
{
    double low, high;
    oc_advice_prove_node(s->x, f, node, c->text);
    if (!p)
        return;
    gain_of(c, anomaly_of(s, p), p->time_ns, &low, &high);
    f->proof[f->n_proof - 1].time_ns = p->time_ns;
    sum->time += p->time_ns;
    if (!(high > 0))
        return;
    sum->low += low;
    sum->high += high;
    sum->known += p->time_ns;
}

static void describe(struct oc_advisor *x, struct oc_advice_item *f, const struct oc_cause *c,
                     const struct sum *sum)
{
    uint32_t n = f->n_proof;
    f->low_ns = sum->known > 0 ? sum->low : (double)NAN;
    f->high_ns = sum->known > 0 ? sum->high : (double)NAN;
    f->found = oc_printf(x->arena, "%u operator%s: %s%s%s", n, oc_plural(n), c->text,
                         sum->time > 0 ? "; " : "", sum->time > 0 ? oc_advice_time(x, sum->time) : "");
    f->todo = c->todo;
    f->basis = oc_printf(x->arena, "expected, not measured here; source: %s (%s)", c->source, c->holds);
}

/* Types are looked at once for each of them: models have a few types and many nodes. */
static void find_types(struct search *s)
{
    const struct oc_model *m = s->x->m;
    struct oc_map seen = {.arena = &s->x->scratch};
    uint64_t *mask = OC_NEW_ARRAY(&s->x->scratch, (size_t)m->n_node + 1, uint64_t);
    s->may = OC_NEW_ARRAY(&s->x->scratch, (size_t)m->n_node + 1, uint64_t);
    for (uint32_t i = 0; i < m->n_node; i++) {
        const char *type = m->node[i].op_type;
        uint32_t first = i;
        if (oc_map_add(&seen, type, strlen(type), &first, NULL)) {
            mask[i] = 0;
            for (size_t k = 0; k < oc_causes; k++)
                mask[i] |= (uint64_t)(!oc_cause_table[k].types || oc_type_in(type, oc_cause_table[k].types))
                           << k;
        }
        s->may[i] = mask[first];
    }
    oc_map_free(&seen);
}

/* p: the row of the node (row_of) */
static bool has_cause(const struct search *s, const struct oc_cause *c, uint32_t node,
                      const struct oc_piece *p)
{
    const struct oc_advisor *x = s->x;
    bool counts = x->p ? p != NULL : !(c->of & OC_CAUSE_TIMED) && oc_advisor_runs(x, node);
    return counts && fits(x, c, p) && oc_cause_holds(s->facts, c, node);
}

static void add_rows(struct search *s, const struct oc_cause *c, struct oc_advice_item *f, struct sum *sum)
{
    size_t bit = (size_t)(c - oc_cause_table);
    for (uint32_t i = 0; i < s->x->m->n_node; i++) {
        if (!(s->may[i] >> bit & 1))
            continue;
        struct oc_piece *p = row_of(s->x, c, i);
        if (has_cause(s, c, i, p))
            add_row(s, f, c, i, p, sum);
    }
}

/* Rows of the table with the same name are one suggestion, with a share for each kind of operators. Returns how many. */
static size_t look_for(struct search *s, const struct oc_cause *c, size_t left)
{
    struct oc_advisor *x = s->x;
    struct oc_advice_item *f = oc_advice_new(x, c->id, c->title);
    struct sum sum = {0, 0, 0, 0};
    size_t n = 0;
    do
        add_rows(s, &c[n], f, &sum);
    while (++n < left && !strcmp(c[n].id, c->id));
    describe(x, f, c, &sum);
    if (!x->p || sum.time > x->out->run_ns / 1000)
        oc_advice_keep(x, f);
    return n;
}

void oc_advise_causes(struct oc_advisor *x)
{
    struct search s = {.x = x, .facts = oc_cause_facts_new(x)};
    if (x->p && (!x->j || !x->r->has_time))
        return;
    find_types(&s);
    if (x->p)
        s.n_anomaly = oc_anomalies_of(x->r, &s.anomaly);
    for (size_t i = 0; i < oc_causes;)
        i += look_for(&s, &oc_cause_table[i], oc_causes - i);
}

/* Of several causes that whose remedy saved the largest share. */
static void explain(struct search *s, struct oc_anomaly *a, const struct oc_piece *p)
{
    const struct oc_cause *best = NULL;
    for (uint32_t v = 0; v < p->n_node; v++)
        for (size_t i = 0; i < oc_causes; i++) {
            const struct oc_cause *c = &oc_cause_table[i];
            const char *type = s->x->m->node[p->node[v]].op_type;
            if ((!c->types || oc_type_in(type, c->types)) && (!best || c->high > best->high) &&
                has_cause(s, c, p->node[v], row_of(s->x, c, p->node[v])))
                best = c;
        }
    if (!best)
        return;
    a->cause = best->text;
    gain_of(best, a, p->time_ns, &a->gain_low_ns, &a->gain_high_ns);
}

void oc_advise_anomalies(struct oc_advisor *x, struct oc_anomaly *a, uint32_t n)
{
    struct search s = {.x = x, .facts = oc_cause_facts_new(x)};
    for (uint32_t i = 0; i < x->n_piece; i++)
        for (uint32_t k = 0; k < n; k++)
            if (x->piece[i].row == a[k].row)
                explain(&s, &a[k], &x->piece[i]);
}
