#include "report/bounds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct oc_bound_share *share_of(struct oc_report *r, struct oc_bounds *b, const char *name)
{
    for (uint32_t i = 0; i < b->n_share; i++)
        if (!strcmp(b->share[i].name, name))
            return &b->share[i];
    struct oc_bound_share *s = &b->share[b->n_share++];
    *s = (struct oc_bound_share){.name = name, .time_s = r->has_time ? 0 : NAN};
    return s;
}

static void add_limits(struct oc_row_limits *sum, const struct oc_row_limits *l)
{
    for (size_t at = 0; at < sizeof(*sum); at += sizeof(double)) {
        double a, b;
        memcpy(&a, (const char *)sum + at, sizeof(a));
        memcpy(&b, (const char *)l + at, sizeof(b));
        a += isnan(b) ? 0 : b; /* NAN: the device has no such level */
        memcpy((char *)sum + at, &a, sizeof(a));
    }
}

static int by_time(const void *a, const void *b)
{
    const struct oc_bound_share *x = a, *y = b;
    double dx = isnan(x->time_s) ? x->roof_s : x->time_s, dy = isnan(y->time_s) ? y->roof_s : y->time_s;
    return dx != dy ? (dx < dy) - (dx > dy) : strcmp(x->name, y->name);
}

void oc_bounds_of(struct oc_report *r, struct oc_bounds *out)
{
    *out = (struct oc_bounds){.time_s = r->has_time ? 0 : NAN,
                              .share = OC_NEW_ARRAY(&r->arena, r->all.n, struct oc_bound_share)};
    for (uint32_t i = 0; i < r->all.n; i++) {
        const struct oc_row *row = &r->all.row[i];
        bool timed = !r->has_time || !isnan(row->time_s);
        if (isnan(row->roofline_s) || !timed) {
            out->missing += isnan(row->roofline_s) ? 1 : 0;
            continue;
        }
        struct oc_bound_share *s = share_of(r, out, row->bound_by);
        s->time_s += row->time_s;
        s->roof_s += row->roofline_s;
        s->rows++;
        out->rows++;
        out->time_s += oc_row_rate_time_s(row);
        out->roof_s += row->roofline_s;
        add_limits(&out->limits, row->limits);
    }
    out->wasted_s = out->time_s - out->roof_s;
    if (out->n_share)
        qsort(out->share, out->n_share, sizeof(*out->share), by_time);
    while (out->n_share && !(oc_bound_fraction(out, &out->share[out->n_share - 1]) > 0))
        out->n_share--; /* rows that take no time */
}

double oc_bound_fraction(const struct oc_bounds *b, const struct oc_bound_share *s)
{
    return isnan(b->time_s) ? s->roof_s / b->roof_s : s->time_s / b->time_s;
}
