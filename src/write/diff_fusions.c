/* Which operators the runtime fused on each side of a diff: two optimization levels of one model. */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "join/join.h"
#include "write/diff_view.h"

struct fusion {
    const char *name; /* "Conv+BatchNormalization+Relu" */
    uint32_t n[2];    /* records of each side */
};

struct fusions {
    struct oc_diff_view *v;
    struct fusion *list; /* heap */
    uint32_t n, cap;
    struct oc_map index;
};

static const char *fused_types(struct oc_arena *arena, const struct oc_model *m, const struct oc_join_rec *j)
{
    struct oc_buf b = {0};
    for (uint32_t i = 0; i < j->n_node; i++)
        oc_buf_printf(&b, "%s%s", i ? "+" : "", m->node[j->node[i]].op_type);
    const char *name = oc_strndup(arena, b.data, b.n);
    oc_buf_free(&b);
    return name;
}

static void add_side(struct fusions *f, unsigned side)
{
    const struct oc_report_in *in = &f->v->d->in[side];
    for (uint32_t i = 0; in->join && i < in->profile->n_rec; i++) {
        const struct oc_join_rec *j = &in->join->rec[i];
        uint32_t at = f->n;
        if (j->n_node < 2 || j->part_of != OC_NONE)
            continue;
        const char *name = fused_types(&f->v->arena, in->model, j);
        if (oc_map_add_kept(&f->index, name, strlen(name), &at)) {
            OC_GROW(f->list, f->n, f->cap);
            f->list[f->n++] = (struct fusion){.name = name};
        }
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a name in the map has its place */
        f->list[at].n[side]++;
    }
}

static uint32_t distance(const struct fusion *f)
{
    return f->n[0] > f->n[1] ? f->n[0] - f->n[1] : f->n[1] - f->n[0];
}

/* The largest difference first. */
static int by_difference(const void *a, const void *b)
{
    uint32_t x = distance(a), y = distance(b);
    return x != y ? (x < y) - (x > y)
                  : strcmp(((const struct fusion *)a)->name, ((const struct fusion *)b)->name);
}

void oc_diff_fusions(struct oc_diff_view *v, struct oc_sheet *s)
{
    static const char *const head[] = {"A", "B", "B - A", "fused operators"};
    struct fusions f = {.v = v, .index = {.arena = &v->arena}};
    *s = (struct oc_sheet){.kinds = "nnnt", .head = head};
    add_side(&f, 0);
    add_side(&f, 1);
    if (f.n)
        qsort(f.list, f.n, sizeof(*f.list), by_difference);
    for (uint32_t i = 0; i < f.n && distance(&f.list[i]); i++) {
        const struct fusion *one = &f.list[i];
        const char *const row[] = {
            oc_printf(&v->arena, "%u", one->n[0]), oc_printf(&v->arena, "%u", one->n[1]),
            oc_printf(&v->arena, "%+lld", (long long)one->n[1] - (long long)one->n[0]), one->name};
        oc_sheet_row(s, row);
    }
    oc_map_free(&f.index);
    free(f.list);
}
