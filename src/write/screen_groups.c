/* Groups of the rows of the default table: by operator type, or by signature. */
#include "write/screen.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/str.h"
#include "join/join.h"
#include "onnxcost.h"
#include "onnxcost/report.h"
#include "report/columns.h"
#include "report/names.h"

enum { MOST_BY_TYPE = 60 }; /* rows of a report that are grouped by type: so many fit two screens */

/* The bound of most of a group's time. */
static void screen_set_bounds(const struct screen *s, struct oc_rows *groups)
{
    struct oc_map index = {.arena = &s->r->arena};
    double *most = OC_NEW_ARRAY(&s->r->arena, groups->n, double);
    struct oc_map sums = {.arena = &s->r->arena};
    double *sum = OC_NEW_ARRAY(&s->r->arena, s->r->all.n, double);
    uint32_t n_sum = 0;
    for (uint32_t i = 0; i < groups->n; i++) {
        uint32_t at = i;
        oc_map_add_kept(&index, groups->row[i].group, strlen(groups->row[i].group), &at);
    }
    for (uint32_t i = 0; i < s->r->all.n; i++) {
        const struct oc_row *row = &s->r->all.row[i];
        uint32_t group = 0, at = n_sum;
        if (!row->bound_by || !row->group || oc_map_add_kept(&index, row->group, strlen(row->group), &group))
            continue;
        const char *key = oc_printf(&s->r->arena, "%u %s", group, row->bound_by);
        n_sum += oc_map_add_kept(&sums, key, strlen(key), &at);
        sum[at] += oc_screen_known(oc_screen_measured(s, row));
        if (!groups->row[group].bound_by || sum[at] > most[group]) {
            most[group] = sum[at];
            groups->row[group].bound_by = row->bound_by;
        }
    }
    oc_map_free(&sums);
    oc_map_free(&index);
}

static void rows_of_types(struct screen *s, struct oc_rows *out)
{
    const struct oc_analysis *a = s->r->in->analysis;
    *out = (struct oc_rows){.arena = &s->r->arena,
                            .row = OC_NEW_ARRAY(&s->r->arena, a->n_by_type, struct oc_row)};
    for (uint32_t i = 0; i < a->n_by_type; i++) {
        const struct oc_type_total *t = &a->by_type[i];
        struct oc_row *row = &out->row[out->n++];
        *row = oc_row_blank();
        row->group = t->op_type;
        row->count = t->nodes;
        row->quality = t->quality;
        if (t->quality == OC_UNKNOWN)
            continue;
        row->computation = (double)t->flops + (double)t->ops;
        row->memory = (double)t->bytes;
    }
}

static void group_rows(struct screen *s, bool by_signature, struct oc_rows *out)
{
    struct oc_group_by by[OC_MAX_GROUP_KEYS];
    struct oc_err err;
    size_t n = 0;
    if (!s->r->all.row) {
        rows_of_types(s, out);
        return;
    }
    if (by_signature && oc_group_by_read("", "signature", by, &n, &err) == 0)
        oc_group_keys(s->r, by, n, &s->r->all);
    struct oc_rows all = s->r->all; /* with the remainder rows, each its own group */
    all.n += all.n_rest;
    for (uint32_t i = n ? s->r->all.n : 0; i < all.n; i++)
        all.row[i].group = oc_group_at(&s->r->arena, oc_row_type(s->r, &all.row[i]), &all.row[i]);
    oc_rows_aggregate(&all, (struct oc_reduction){.how = OC_AGG_SUM}, out);
    screen_set_bounds(s, out);
}

static int by_measure(const void *a, const void *b, void *arg)
{
    double x = oc_screen_known(oc_screen_measured(arg, a)), y = oc_screen_known(oc_screen_measured(arg, b));
    return x != y ? (x < y) - (x > y)
                  : strcmp(((const struct oc_row *)a)->group, ((const struct oc_row *)b)->group);
}

void oc_screen_cut_groups(struct oc_rows *g, uint32_t most)
{
    if (g->n <= most)
        return;
    struct oc_rows rest = {.arena = g->arena, .row = g->row + most - 1, .n = g->n - most + 1}, one;
    uint64_t count = 0;
    for (uint32_t i = 0; i < rest.n; i++) {
        count += rest.row[i].count;
        rest.row[i].group = "";
    }
    oc_rows_aggregate(&rest, (struct oc_reduction){.how = OC_AGG_SUM}, &one);
    g->row[most - 1] = one.row[0];
    g->row[most - 1].group = oc_printf(g->arena, "(%u others)", rest.n);
    g->row[most - 1].count = count;
    g->n = most;
}

static void sort_groups(struct screen *s, struct oc_rows *g)
{
    if (g->n)
        qsort_r(g->row, g->n, sizeof(*g->row), by_measure, s);
}

/* Groups by signature if signatures repeat: for many operators that is more specific than types. */
static bool has_signatures(const struct screen *s, uint32_t n_types)
{
    const struct oc_rows *all = &s->r->all;
    uint32_t shaped = 0;
    for (uint32_t i = 0; i < all->n && all->row; i++)
        shaped +=
            all->row[i].in_state == OC_SHAPES_KNOWN || (all->row[i].node != OC_NONE && s->r->in->analysis);
    return all->row && all->n > MOST_BY_TYPE && all->n <= OC_SCREEN_MOST_SIGNATURES && shaped > all->n / 2 &&
           n_types < all->n;
}

void oc_screen_find_groups(struct screen *s)
{
    group_rows(s, false, &s->types);
    sort_groups(s, &s->types);
    s->by_signature = has_signatures(s, s->types.n);
    if (!s->by_signature)
        return;
    group_rows(s, true, &s->signatures);
    sort_groups(s, &s->signatures);
}
