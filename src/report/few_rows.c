#include "report/select.h"

#include <stdlib.h>
#include <string.h>

#include "onnxcost.h"
#include "onnxcost/report.h"
#include "report/report.h"
#include "report/what_if.h"

/* The rows so far. The first `n_first` are known to precede all others seen. */
struct best {
    const struct oc_select *s;
    struct oc_row *row, *spare; /* allocated for `cap`, for `top` */
    const struct oc_row **order;
    uint32_t top, cap, n, n_first, n_unordered;
};

enum { MOST_ROWS = 4096, MORE_ROWS = 64 };

bool oc_few_rows_do(const struct oc_report *r)
{
    const struct oc_report_opts *o = r->o;
    return r->in->analysis && !r->in->profile && !r->in->device && !o->advise && !o->top_end_key &&
           !oc_report_grouped(o) && !oc_what_if_asked(o) &&
           (!o->has_top || (o->top > 0 && o->top <= MOST_ROWS));
}

/* Sorts the kept rows and drops those after the last requested one. */
static void select_best(struct best *b)
{
    for (uint32_t i = 0; i < b->n; i++)
        b->order[i] = &b->row[i];
    uint32_t n = oc_select_first(b->s, b->order, b->n);
    for (uint32_t i = 0; i < n; i++)
        b->spare[i] = *b->order[i];
    if (n)
        memcpy(b->row, b->spare, n * sizeof(*b->row));
    b->n = b->n_first = n;
}

/* Whether a row comes after all requested ones: the last of them precedes it, or is equal and came earlier.
 */
static bool too_late(const struct best *b, const struct oc_row *row)
{
    return b->n_first == b->top && oc_select_before(b->s, &b->row[b->top - 1], row);
}

static void sum_rows(struct oc_report *r)
{
    const struct oc_analysis *a = r->in->analysis;
    for (uint32_t i = 0; i < a->model->n_node; i++) {
        if (!oc_report_node_executes(&a->cost[i]))
            continue;
        r->all.n++;
        if (a->cost[i].quality != OC_UNKNOWN)
            r->total_flo += oc_report_node_flo(&a->cost[i]);
    }
    r->total_s = NAN;
}

static int few_rows_choose(struct oc_report *r, struct best *b, struct oc_err *err)
{
    b->row[0] = oc_row_blank();
    for (uint32_t i = 0; i < r->in->model->n_node; i++) {
        struct oc_row *row = &b->row[b->n];
        if (!oc_report_node_executes(&r->in->analysis->cost[i]))
            continue;
        oc_report_node_row(r, i, row);
        if (too_late(b, row))
            continue;
        oc_report_node_texts(r, row);
        int passes = oc_select_passes(b->s, row, err);
        if (passes < 0)
            return -1;
        b->n_unordered += passes && b->s->order_given && !oc_select_has_key(b->s, row);
        b->n += (uint32_t)passes;
        if (b->n == b->cap)
            select_best(b);
        b->row[b->n] = oc_row_blank();
    }
    select_best(b);
    return 0;
}

int oc_few_rows_choose(struct oc_report *r, const struct oc_select *s, struct oc_err *err)
{
    struct best b = {.s = s, .top = (uint32_t)s->top};
    b.cap = 2 * b.top + MORE_ROWS;
    b.row = oc_xmalloc(b.cap * sizeof(*b.row));
    b.spare = OC_NEW_ARRAY(&r->arena, b.top, struct oc_row);
    b.order = oc_xmalloc(b.cap * sizeof(struct oc_row *));
    oc_report_no_rows(r);
    sum_rows(r);
    int rc = few_rows_choose(r, &b, err);
    r->shown = (struct oc_rows){.arena = &r->arena,
                                .row = b.spare,
                                .n = rc ? 0 : b.n,
                                .info_key = r->all.info_key,
                                .n_unordered = b.n_unordered};
    free(b.row);
    free(b.order);
    return rc;
}
