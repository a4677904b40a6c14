/* advice/: Suggestions of --advise, with the rows that support them. One family of rules per advise_*.c;
 * advice.c has the table of rules. A rule may be added or changed without touching another one; figures
 * come from the report and are not computed here again.
 * Private to the folder: advisor.h. */
#include <stdlib.h>
#include <string.h>

#include "advice/advisor.h"
#include "base/units.h"
#include "hw/hwdb.h"
#include "onnxcost.h"
#include "onnxcost/hardware.h"
#include "profile/time_summary.h"
#include "report/columns.h"
#include "report/headline.h"

/* ---- suggestions ------------------------------------------------------------------------------------ */

struct oc_advice_item *oc_advice_new(struct oc_advisor *x, const char *id, const char *title)
{
    struct oc_advice_item *f = OC_NEW(x->arena, struct oc_advice_item);
    f->id = id;
    f->title = title;
    f->low_ns = f->high_ns = f->share = f->saved_bytes = NAN;
    f->before = x->newest;
    x->newest = f;
    return f;
}

/* The heap parts of suggestions that were not kept. */
static void free_rejected(const struct oc_advisor *x)
{
    for (struct oc_advice_item *f = x->newest; f; f = f->before)
        if (f->cap_proof)
            free(f->proof);
}

static struct oc_advice_proof *add_proof(struct oc_advice_item *f)
{
    struct oc_advice_proof *e = &OC_PUSH(f->proof, f->n_proof, f->cap_proof);
    *e = (struct oc_advice_proof){.node = OC_NONE, .record = OC_NONE, .time_ns = NAN, .bytes = NAN};
    return e;
}

void oc_advice_prove(struct oc_advice_item *f, const struct oc_piece *p, double time_ns, const char *text)
{
    struct oc_advice_proof *e = add_proof(f);
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
    struct oc_advice_proof *e = add_proof(f);
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
    struct oc_advice_proof *grown = f->proof;
    f->proof = OC_COPY_ARRAY(x->arena, grown, f->n_proof);
    f->cap_proof = 0;
    free(grown);
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
    return oc_si_text(x->arena, bytes, "B"); /* traffic */
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
    const char *name = oc_node_label(x->m, &x->m->node[node], buf, sizeof(buf));
    return name == buf ? oc_strdup(x->arena, name) : name;
}

/* ---- rules --------------------------------------------------------------------------------------- */

enum needs { MODEL = 1, TIMES = 2, DEVICE = 4 };

/* The order is a priority: a kernel that several rules could report belongs to the first of them. */
static const struct rule {
    void (*find)(struct oc_advisor *x);
    unsigned needs; /* enum needs */
} rules[] = {
    {oc_advise_layout, TIMES},        {oc_advise_copies, TIMES},
    {oc_advise_fallbacks, TIMES},     {oc_advise_fusion, MODEL},
    {oc_advise_chains, MODEL},        {oc_advise_tiny, TIMES},
    {oc_advise_fp32, MODEL | DEVICE}, {oc_advise_alignment, MODEL | DEVICE},
    {oc_advise_causes, MODEL},        {oc_advise_qdq, TIMES},
    {oc_advise_rates, MODEL | TIMES}, {oc_advise_dynamic, MODEL},
    {oc_advise_idle, TIMES},          {oc_advise_dataloader, TIMES},
};

const char *oc_advice_severity_name(unsigned severity)
{
    static const char *const name[] = {"info", "low", "medium", "high"};
    return name[severity <= OC_ADVICE_HIGH ? severity : OC_ADVICE_HIGH];
}

static void set_piece(struct oc_advisor *x, struct oc_piece *p, const struct oc_row *row)
{
    *p =
        (struct oc_piece){.row = row, .name = row->name ? row->name : "", .type = row->type ? row->type : ""};
    p->one = row->node;
    p->node = &p->one;
    p->n_node = row->node != OC_NONE;
    if (row->record != OC_NONE) {
        const struct oc_join_rec *j = x->j ? &x->j->rec[row->record] : NULL;
        p->rec =
            &x->p->rec[row->record]; /* NOLINT(clang-analyzer-core.NullDereference): it is the profile's */
        p->type = p->rec->op_type;
        p->bucket = j ? j->bucket : p->rec->overhead;
        if (j) {
            p->node = j->node;
            p->n_node = j->n_node;
        }
    } else if (x->m && row->node != OC_NONE) {
        p->name = oc_advisor_name(x, row->node);
        p->type = x->m->node[row->node].op_type;
    }
    p->time_ns = row->rates == OC_RATES_LAUNCH ? (double)NAN : oc_of_one_run(&x->r->m, row->time_s) * 1e9;
    p->computation = row->computation;
    p->bytes = oc_of_one_run(&x->r->m, row->memory);
    p->calls = row->calls > 0 ? row->calls : 1;
}

static void find_pieces(struct oc_advisor *x)
{
    const struct oc_rows *all = &x->r->all;
    x->piece = OC_NEW_ARRAY(&x->scratch, (size_t)all->n + 1, struct oc_piece);
    x->n_piece = all->n;
    for (uint32_t i = 0; i < all->n; i++)
        set_piece(x, &x->piece[i], oc_row_at(x->r, all, i, &x->room));
    x->room = oc_row_blank();
    if (!x->m)
        return;
    x->piece_of = OC_NEW_ARRAY(&x->scratch, (size_t)x->m->n_node + 1, uint32_t);
    for (uint32_t i = 0; i < x->m->n_node; i++)
        x->piece_of[i] = OC_NONE;
    for (uint32_t i = 0; i < x->n_piece; i++)
        for (uint32_t k = 0; k < x->piece[i].n_node; k++)
            if (x->piece_of[x->piece[i].node[k]] == OC_NONE)
                x->piece_of[x->piece[i].node[k]] = i;
}

static double sum_of_rooflines(const struct oc_advisor *x)
{
    double sum = 0;
    for (uint32_t i = 0; i < x->n_piece; i++)
        sum += x->piece[i].row->roofline_s > 0 ? x->piece[i].row->roofline_s * 1e9 : 0;
    return sum > 0 ? sum : (double)NAN;
}

/* Basis of shares: a run; of a profile without runs, all of it; of a model with a device, its roofline time.
 */
static void set_whole(struct oc_advisor *x)
{
    static const struct oc_sum_table_opts opts = {0};
    const struct oc_profile *p = x->p;
    const struct oc_measurement *m = &x->r->m;
    double all = oc_of_one_run(m, x->r->total_s) * 1e9;
    x->out->whole = "of a run";
    x->out->run_ns = all;
    if (p && m->latency_ns > 0 && !(p->timeline && p->timeline->runs_implicit)) {
        x->out->run_ns = oc_of_one_run(m, m->latency_ns);
    } else if (p) {
        struct oc_time_summary *s = p->timeline ? oc_time_summary_make(p, &opts) : NULL;
        x->out->whole = s || !p->runs_total ? "of the recording" : "of a run";
        x->out->run_ns = s && s->total_ns > all ? s->total_ns : all;
        oc_time_summary_free(s);
    } else if (x->d) {
        x->out->whole = "of the roofline time";
        x->out->run_ns = sum_of_rooflines(x);
    }
}

/* Folded nodes read nothing in a run. */
static void find_users(struct oc_advisor *x)
{
    const struct oc_model *m = x->m;
    uint32_t *reads = OC_NEW_ARRAY(&x->scratch, (size_t)m->n_value + 1, uint32_t);
    x->user = OC_NEW_ARRAY(&x->scratch, (size_t)m->n_value + 1, uint32_t);
    for (uint32_t v = 0; v < m->n_value; v++) {
        x->user[v] = OC_NONE;
        reads[v] = m->value[v].graph_output;
    }
    for (uint32_t c = 0; c < m->n_capture; c++)
        reads[m->capture[c].value]++;
    for (uint32_t i = 0; i < m->n_node; i++)
        for (uint32_t k = 0; k < m->node[i].n_in; k++) {
            uint32_t v = m->node[i].in[k];
            if (v == OC_NONE || x->a->cost[i].state == OC_NODE_FOLDED)
                continue;
            x->user[v] = reads[v]++ ? OC_NONE : i;
        }
}

/* What is known to save time comes before what saves at most a time. */
static int by_saving(const void *a, const void *b)
{
    const struct oc_advice_item *f = *(const struct oc_advice_item *const *)a,
                                *g = *(const struct oc_advice_item *const *)b;
    if ((f->low_ns > 0) != (g->low_ns > 0))
        return f->low_ns > 0 ? -1 : 1;
    double s = isnan(f->high_ns) ? f->low_ns : f->high_ns, t = isnan(g->high_ns) ? g->low_ns : g->high_ns;
    s = isnan(s) ? 0 : s;
    t = isnan(t) ? 0 : t;
    if (s != t)
        return s < t ? 1 : -1;
    s = isnan(f->saved_bytes) ? 0 : f->saved_bytes;
    t = isnan(g->saved_bytes) ? 0 : g->saved_bytes;
    if (s != t)
        return s < t ? 1 : -1;
    return strcmp(f->id, g->id);
}

/* A CPU profile is not compared with a GPU. */
static const struct oc_device *measured_device(const struct oc_report_in *in)
{
    bool other = in->device && in->profile && !strcmp(in->profile->device, "CPU") &&
                 strcmp(oc_device_info(in->device)->kind, "cpu");
    return other ? NULL : in->device;
}

/* To be released with oc_arena_free(&x->scratch). */
static void start(struct oc_advisor *x, struct oc_report *r)
{
    const struct oc_report_in *in = r->in;
    *x = (struct oc_advisor){.r = r,
                             .arena = &r->arena,
                             .m = in->analysis ? in->model : NULL,
                             .a = in->analysis,
                             .p = in->profile,
                             .j = in->join,
                             .d = measured_device(in),
                             .out = OC_NEW(&r->arena, struct oc_advice)};
    find_pieces(x);
    set_whole(x);
    if (x->m)
        find_users(x);
}

void oc_advice_explain_anomalies(struct oc_report *r)
{
    struct oc_advisor x;
    const struct oc_anomaly *found;
    bool may = r->in->analysis && r->in->join && r->in->profile && r->has_time;
    uint32_t n = may ? oc_anomalies_of(r, &found) : 0;
    if (!n)
        return;
    start(&x, r);
    oc_advise_anomalies(&x, r->anomaly, n);
    oc_arena_free(&x.scratch);
}

struct oc_advice *oc_advice_make(struct oc_report *r)
{
    struct oc_advisor x;
    start(&x, r);
    unsigned have =
        (x.m ? MODEL : 0) | (x.p && !x.p->functions && r->has_time ? TIMES : 0) | (x.d ? DEVICE : 0);
    x.out->all_rules = OC_COUNT(rules);
    for (size_t i = 0; i < OC_COUNT(rules); i++) {
        if ((rules[i].needs & have) != rules[i].needs)
            continue;
        rules[i].find(&x);
        x.out->rules++;
    }
    if (x.out->n)
        qsort(x.out->item, x.out->n, sizeof(*x.out->item), by_saving);
    free_rejected(&x);
    oc_arena_free(&x.scratch);
    return x.out;
}
