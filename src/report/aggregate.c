/* report/: Rows of a report: selection, grouping, sorting, columns, verdict. The one place where figures of
 * rows and totals are computed; every output reads them. A column is a row of columns.c, a key of
 * --group-by one of group_keys.c. */

#include "report/columns.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/units.h"
#include "profile/profile.h"
#include "report/pyfmt.h"

/* ---- one column ------------------------------------------------------------------------------------- */

/* With gaps numpy falls back to sequential summation. */
static double aggregate_plain_sum(const double *v, size_t n)
{
    double sum = v[0];
    for (size_t i = 1; i < n; i++)
        sum += v[i];
    return sum;
}

bool oc_reduction_read(const char *text, struct oc_reduction *out)
{
    static const struct {
        const char *name;
        struct oc_reduction how;
    } row[] = {
        {"max", {OC_AGG_MAX, 0}},
        {"min", {OC_AGG_MIN, 0}},
        {"sum", {OC_AGG_SUM, 0}},
        {"mean", {OC_AGG_MEAN, 0}},
        {"median", {OC_AGG_PERCENTILE, 50}},
        {"count", {OC_AGG_COUNT, 0}},
    };
    for (size_t i = 0; i < OC_COUNT(row); i++)
        if (strcmp(row[i].name, text) == 0) {
            *out = row[i].how;
            return true;
        }
    *out = (struct oc_reduction){.how = OC_AGG_PERCENTILE};
    return text[0] == 'p' && text[1] >= '0' && text[1] <= '9' &&
           oc_parse_double(text + 1, strlen(text + 1), &out->percent) && out->percent >= 0 &&
           out->percent <= 100;
}

/* As in numpy: the value at (n - 1) * percent / 100 of the sorted ones, counted from 0, interpolated. */
static double percentile(double *v, size_t n, double percent)
{
    double at = (double)(n - 1) * percent / 100;
    size_t low = (size_t)at;
    oc_stat_of(OC_STAT_MIN, v, n); /* sorts v */
    return low + 1 < n ? v[low] + (v[low + 1] - v[low]) * (at - (double)low) : v[n - 1];
}

double oc_aggregate_of(struct oc_reduction how, double *v, size_t n)
{
    size_t known = 0;
    for (size_t i = 0; i < n; i++)
        if (oc_num_known(v[i]))
            v[known++] = v[i];
    if (!known || how.how == OC_AGG_COUNT)
        return NAN;
    double sum = how.how == OC_AGG_MAX          ? oc_np_max(v, known)
                 : how.how == OC_AGG_MIN        ? oc_np_min(v, known)
                 : how.how == OC_AGG_PERCENTILE ? percentile(v, known, how.percent)
                 : known == n                   ? oc_np_sum(v, n)
                                                : aggregate_plain_sum(v, known);
    return oc_num_measured(how.how == OC_AGG_MEAN ? sum / (double)n : sum);
}

/* ---- rows ------------------------------------------------------------------------------------------- */

struct reduced {
    size_t offset;         /* offset of the double in struct oc_row */
    enum oc_aggregate how; /* OC_AGG_NONE: the requested aggregation */
};

static const struct reduced columns[] = {
    {offsetof(struct oc_row, time_s), OC_AGG_NONE},    {offsetof(struct oc_row, computation), OC_AGG_NONE},
    {offsetof(struct oc_row, memory), OC_AGG_NONE},    {offsetof(struct oc_row, macs), OC_AGG_NONE},
    {offsetof(struct oc_row, params), OC_AGG_NONE},    {offsetof(struct oc_row, calls), OC_AGG_NONE},
    {offsetof(struct oc_row, self_s), OC_AGG_NONE},    {offsetof(struct oc_row, roofline_s), OC_AGG_NONE},
    {offsetof(struct oc_row, wasted_s), OC_AGG_NONE},  {offsetof(struct oc_row, min_s), OC_AGG_MIN},
    {offsetof(struct oc_row, max_s), OC_AGG_MAX},      {offsetof(struct oc_row, overhead_s), OC_AGG_NONE},
    {offsetof(struct oc_row, what_if_s), OC_AGG_NONE}, {offsetof(struct oc_row, share), OC_AGG_NONE},
    {offsetof(struct oc_row, energy_j), OC_AGG_NONE},
};

static double aggregate_number_at(const void *in, size_t offset)
{
    double v;
    memcpy(&v, (const char *)in + offset, sizeof(v));
    return v;
}

/* Members without a cost make the sum a lower bound. */
static uint8_t group_quality(const struct oc_rows *in, const uint32_t *member, uint32_t n)
{
    unsigned quality = OC_EXACT;
    bool known = false;
    for (uint32_t i = 0; i < n; i++) {
        known |= in->row[member[i]].quality != OC_UNKNOWN;
        quality = oc_quality_add(quality, in->row[member[i]].quality);
    }
    return known ? (uint8_t)quality : OC_UNKNOWN;
}

/* Aggregates every limit with the requested function. */
static const struct oc_row_limits *reduce_limits(const struct oc_rows *in, const uint32_t *member, uint32_t n,
                                                 struct oc_reduction how, double *column)
{
    struct oc_row_limits *out = OC_NEW(in->arena, struct oc_row_limits);
    for (size_t at = 0; at < sizeof(*out); at += sizeof(double)) {
        for (uint32_t i = 0; i < n; i++)
            column[i] = aggregate_number_at(in->row[member[i]].limits, at);
        double v = oc_aggregate_of(how, column, n);
        memcpy((char *)out + at, &v, sizeof(v));
    }
    return out;
}

static struct oc_row aggregate_reduce(const struct oc_rows *in, const char *name, const uint32_t *member,
                                      uint32_t n, struct oc_reduction how, double *column)
{
    struct oc_row row = oc_row_blank();
    for (size_t k = 0; k < OC_COUNT(columns); k++) {
        for (uint32_t i = 0; i < n; i++)
            column[i] = aggregate_number_at(&in->row[member[i]], columns[k].offset);
        double v = oc_aggregate_of(
            columns[k].how && how.how != OC_AGG_COUNT ? (struct oc_reduction){columns[k].how, 0} : how,
            column, n);
        memcpy((char *)&row + columns[k].offset, &v, sizeof(v));
    }
    for (uint32_t i = 0; i < n; i++)
        if (isnan(in->row[member[i]].energy_j)) /* a sum without it would look complete */
            row.energy_j = NAN;
    row.limits = reduce_limits(in, member, n, how, column);
    const char **info = OC_NEW_ARRAY(in->arena, 3, const char *);
    info[0] = name;
    info[1] = oc_printf(in->arena, "%u", n);
    info[2] = "N/A";
    row.info = info;
    row.n_info = 3;
    row.type = row.group = name;
    row.id = info[2];
    row.count = n;
    row.in_state = row.out_state = OC_SHAPES_NONE;
    row.quality = group_quality(in, member, n);
    oc_row_drop_empty_bounds(&row);
    row.rates = in->row[member[0]].rates; /* equal in all rows of a report, but for launches */
    for (uint32_t i = 0; i < n; i++)
        if (in->row[member[i]].rates == OC_RATES_LAUNCH)
            row.rates = OC_RATES_LAUNCH;
    for (uint32_t i = 0; i < n; i++)
        row.roof_partial |= in->row[member[i]].roof_partial;
    row.efficiency = row.roof_partial ? NAN : oc_row_rate(&row, row.roofline_s);
    return row;
}

/* Members of all groups, sorted by group, then in row order; start[g] is the first member of group g. */
static uint32_t aggregate_group(const struct oc_rows *in, uint32_t *member, uint32_t *start)
{
    struct oc_map seen = {.arena = in->arena};
    uint32_t n_group = 0, *of = oc_xmalloc((in->n + 1) * sizeof(*of)),
             *size = OC_NEW_ARRAY(in->arena, in->n, uint32_t);
    for (uint32_t i = 0; i < in->n; i++) {
        const char *key = in->row[i].group ? in->row[i].group : "";
        of[i] = n_group;
        n_group += oc_map_add(&seen, key, strlen(key), &of[i], NULL);
        size[of[i]]++;
    }
    start[0] = 0;
    for (uint32_t g = 0; g < n_group; g++) {
        start[g + 1] = start[g] + size[g];
        size[g] = start[g];
    }
    for (uint32_t i = 0; i < in->n; i++)
        member[size[of[i]]++] = i;
    oc_map_free(&seen);
    free(of);
    return n_group;
}

void oc_rows_aggregate(const struct oc_rows *in, struct oc_reduction how, struct oc_rows *out)
{
    static const char *const keys[] = {"type", "count", "id"};
    uint32_t *member = OC_NEW_ARRAY(in->arena, in->n, uint32_t),
             *start = OC_NEW_ARRAY(in->arena, in->n + 1, uint32_t);
    double *column = oc_xmalloc((in->n + 1) * sizeof(*column));
    uint32_t n = aggregate_group(in, member, start);
    *out = (struct oc_rows){
        .arena = in->arena, .row = OC_NEW_ARRAY(in->arena, n, struct oc_row), .n = n, .info_key = keys};
    for (uint32_t g = 0; g < n; g++) {
        const char *key = in->row[member[start[g]]].group;
        out->row[g] =
            aggregate_reduce(in, key ? key : "all", &member[start[g]], start[g + 1] - start[g], how, column);
    }
    free(column);
}
