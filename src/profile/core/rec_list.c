#include "profile/core/rec_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct oc_prof_rec *oc_rec_add(struct oc_rec_list *l)
{
    OC_GROW(l->rec, l->n, l->cap);
    struct oc_prof_rec *rec = &l->rec[l->n++];
    *rec = oc_prof_rec_new("");
    return rec;
}

struct oc_prof_rec *oc_rec_add_named(struct oc_rec_list *l, const char *bucket, const char *name)
{
    struct oc_prof_rec *rec = oc_rec_add(l);
    rec->bucket = bucket;
    rec->name = name;
    return rec;
}

void oc_rec_time(struct oc_prof_rec *rec, double ns)
{
    rec->time_ns = rec->self_ns = rec->min_ns = rec->max_ns = rec->median_ns = ns;
}

static int rec_list_by_start(const void *a, const void *b)
{
    const struct oc_first_call *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return (x->group > y->group) - (x->group < y->group);
}

static int rec_list_by_run(const void *a, const void *b)
{
    const struct oc_first_call *x = a, *y = b;
    return x->run != y->run ? (x->run < y->run ? -1 : 1) : rec_list_by_start(a, b);
}

void oc_sort_first_calls(struct oc_first_call *c, size_t n, bool by_run)
{
    if (n)
        qsort(c, n, sizeof(*c), by_run ? rec_list_by_run : rec_list_by_start);
}

void oc_rec_list_end(struct oc_rec_list *l, struct oc_profile *p)
{
    p->rec = OC_COPY_ARRAY(&p->arena, l->rec, l->n);
    p->n_rec = (uint32_t)l->n;
    free(l->rec);
    *l = (struct oc_rec_list){0};
}

const char *oc_prof_text(struct oc_profile *p, struct oc_str s)
{
    return oc_intern(&p->names, s.n ? s.s : "", s.n);
}

void oc_prof_cut(struct oc_profile *p, const struct oc_csv *c)
{
    p->truncated = true;
    oc_diag_add(&p->diags, OC_WARNING, "W-truncated", "",
                "the file is truncated in line %u (offset %llu): the lines before it are used",
                oc_csv_line_number(c), (unsigned long long)oc_csv_offset(c));
}

void oc_prof_cut_json(struct oc_profile *p, const struct oc_json *j)
{
    uint64_t offset = oc_json_offset(j);
    const char *why = oc_json_error(j, &offset);
    if (!why && !oc_json_truncated(j))
        return;
    p->truncated = true;
    oc_diag_add(&p->diags, OC_WARNING, "W-truncated", "",
                "the file is truncated or damaged: %s (offset %llu)", why ? why : "it ends early",
                (unsigned long long)offset);
}

uint32_t oc_prof_lane(struct oc_profile *p, struct oc_lane lane)
{
    struct oc_lane *all = OC_NEW_ARRAY(&p->arena, (size_t)p->n_lane + 1, struct oc_lane);
    if (p->n_lane)
        memcpy(all, p->lane, p->n_lane * sizeof(*all));
    all[p->n_lane] = lane;
    p->lane = all;
    return p->n_lane++;
}
