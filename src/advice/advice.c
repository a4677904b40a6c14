/* advice/: Suggestions of --advise, with the rows that support them. One family of rules per advise_*.c;
 * advice.c has the table of rules. A rule may be added or changed without touching another one; figures
 * come from the report and are not computed here again.
 * Private to the folder: advisor.h. */

#include <stdlib.h>
#include <string.h>

#include "advice/advisor.h"
#include "profile/time_summary.h"
#include "onnxcost.h"

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
    {oc_advise_subnormal, MODEL},     {oc_advise_qdq, 0},
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
    double runs = x->r->runs;
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
    } else if (row->node != OC_NONE) {
        p->name = oc_advisor_name(x, row->node);
        p->type = x->m->node[row->node].op_type;
    }
    p->time_ns = row->rates == OC_RATES_LAUNCH ? (double)NAN : row->time_s * 1e9 / runs;
    p->bytes = row->memory / runs;
    p->calls = row->calls > 0 ? row->calls : 1;
}

static void find_pieces(struct oc_advisor *x)
{
    const struct oc_rows *all = &x->r->all;
    x->piece = OC_NEW_ARRAY(x->arena, (size_t)all->n + 1, struct oc_piece);
    x->n_piece = all->n;
    for (uint32_t i = 0; i < all->n; i++)
        set_piece(x, &x->piece[i], &all->row[i]);
    if (!x->m)
        return;
    x->piece_of = OC_NEW_ARRAY(x->arena, (size_t)x->m->n_node + 1, uint32_t);
    for (uint32_t i = 0; i < x->m->n_node; i++)
        x->piece_of[i] = OC_NONE;
    for (uint32_t i = 0; i < x->n_piece; i++)
        for (uint32_t k = 0; k < x->piece[i].n_node; k++)
            if (x->piece_of[x->piece[i].node[k]] == OC_NONE)
                x->piece_of[x->piece[i].node[k]] = i;
}

/* Copies without a row. */
static double other_copies(const struct oc_profile *p)
{
    double sum = 0;
    for (uint32_t i = 0; i < p->n_kernel; i++) {
        const struct oc_prof_kernel *k = &p->kernel[i];
        if (k->kind == OC_EV_MEMCPY && (k->rec == OC_NONE || p->rec[k->rec].bucket) && k->time_ns > 0)
            sum += k->time_ns;
    }
    return sum;
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
    double runs = x->r->runs, all = x->r->total_s * 1e9 / runs;
    x->out->whole = "of a run";
    x->out->run_ns = all;
    if (p && p->run_ns > 0 && !(p->timeline && p->timeline->runs_implicit)) {
        x->out->run_ns = p->run_ns / runs;
    } else if (p) {
        struct oc_time_summary *s = p->timeline ? oc_time_summary_make(p, &opts) : NULL;
        x->out->whole = s || !p->runs_total ? "of the recording" : "of a run";
        x->out->run_ns = s && s->total_ns > all ? s->total_ns : all + other_copies(p) / runs;
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
    uint32_t *reads = OC_NEW_ARRAY(x->arena, (size_t)m->n_value + 1, uint32_t);
    x->user = OC_NEW_ARRAY(x->arena, (size_t)m->n_value + 1, uint32_t);
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

static int by_saving(const void *a, const void *b)
{
    const struct oc_advice_item *f = *(const struct oc_advice_item *const *)a,
                                *g = *(const struct oc_advice_item *const *)b;
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

struct oc_advice *oc_advice_make(struct oc_report *r)
{
    const struct oc_report_in *in = r->in;
    struct oc_advisor x = {.r = r,
                           .arena = &r->arena,
                           .m = in->analysis ? in->model : NULL,
                           .a = in->analysis,
                           .p = in->profile,
                           .j = in->join,
                           .d = measured_device(in),
                           .out = OC_NEW(&r->arena, struct oc_advice)};
    unsigned have =
        (x.m ? MODEL : 0) | (x.p && !x.p->functions && r->has_time ? TIMES : 0) | (x.d ? DEVICE : 0);
    x.out->all_rules = OC_COUNT(rules);
    find_pieces(&x);
    set_whole(&x);
    if (x.m)
        find_users(&x);
    for (size_t i = 0; i < OC_COUNT(rules); i++) {
        if ((rules[i].needs & have) != rules[i].needs)
            continue;
        rules[i].find(&x);
        x.out->rules++;
    }
    if (x.out->n)
        qsort(x.out->item, x.out->n, sizeof(*x.out->item), by_saving);
    return x.out;
}
