/* Groups of rows: the keys of --group-by, what a row is called, the row of a group under --aggregate. */
#include "report/columns.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/units.h"
#include "join/join.h"
#include "onnxcost.h"
#include "profile/profile.h"
#include "report/python.h"
#include "report/report.h"

/* ---- group keys ------------------------------------------------------------------------------------- */

struct keying {
    struct oc_report *r; /* may be NULL */
    struct oc_arena *arena;
    const char *
        *kernel; /* by record: the name of the kernel with most of its device time; NULL until needed */
    unsigned depth;
    struct oc_buf text; /* of a signature */
};

typedef const char *(*key_rule)(struct keying *k, const struct oc_row *row);

static const struct oc_prof_rec *record_of(const struct keying *k, const struct oc_row *row)
{
    return k->r && k->r->in->profile && row->record != OC_NONE ? &k->r->in->profile->rec[row->record] : NULL;
}

static uint32_t node_of(const struct keying *k, const struct oc_row *row)
{
    return k->r ? oc_row_node(k->r, row) : row->node;
}

static const char *by_type(struct keying *k, const struct oc_row *row)
{
    (void)k;
    return row->type;
}

static const char *by_provider(struct keying *k, const struct oc_row *row)
{
    (void)k;
    return row->provider;
}

static const char *by_bound(struct keying *k, const struct oc_row *row)
{
    (void)k;
    return row->bound_by;
}

static const char *by_rule(struct keying *k, const struct oc_row *row)
{
    (void)k;
    return row->rule;
}

/* A name with the node's module before the last dot; where the file does not record it, the node's name. */
static const char *name_with_module(struct keying *k, const struct oc_row *row)
{
    uint32_t node = node_of(k, row);
    struct oc_origin from;
    if (node == OC_NONE)
        return row->name;
    oc_node_origin(k->r->in->model, node, k->arena, &from);
    if (from.module)
        return oc_printf(k->arena, "%s.", from.module);
    const char *name = k->r->in->model->node[node].name;
    return *name ? name : row->name;
}

/* "/encoder/layer.3/attention/self/MatMul" to "/encoder/layer.3" for a depth of 2; names without slashes are
 * split at dots, as parameter names are: "encoder.layer.3.conv1". */
static const char *by_module(struct keying *k, const struct oc_row *row)
{
    const char *name = name_with_module(k, row);
    if (!name)
        return NULL;
    char cut = strchr(name, '/') ? '/' : '.';
    const char *last = strrchr(name, cut), *at = name + (*name == cut);
    for (unsigned d = 0; k->depth && at && at <= last; d++) {
        const char *next = strchr(at, cut);
        if (d + 1 == k->depth)
            last = next && next < last ? next : last;
        at = next ? next + 1 : NULL;
    }
    return last && last > name ? oc_strndup(k->arena, name, (size_t)(last - name)) : "(no module)";
}

/* What the exporter recorded of the row's node. */
static const char *by_origin(struct keying *k, const struct oc_row *row, bool class)
{
    uint32_t node = node_of(k, row);
    struct oc_origin from = {NULL, NULL, NULL};
    if (node != OC_NONE && k->r)
        oc_node_origin(k->r->in->model, node, k->arena, &from);
    return class ? from.module_class : from.source;
}

static const char *by_class(struct keying *k, const struct oc_row *row)
{
    const char *name = by_origin(k, row, true);
    return name ? name : "(no class)";
}

static const char *by_source(struct keying *k, const struct oc_row *row)
{
    const char *place = by_origin(k, row, false);
    return place ? place : "(no source)";
}

static void add_shapes(struct oc_buf *b, const struct oc_row_shape *s, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        oc_buf_str(b, i ? "," : "");
        oc_buf_str(b, s[i].text ? s[i].text : "?");
    }
}

static const char *by_signature(struct keying *k, const struct oc_row *row)
{
    struct oc_row copy = *row;
    if (copy.in_state != OC_SHAPES_KNOWN && copy.node != OC_NONE && k->r && k->r->in->analysis)
        oc_report_node_shapes(k->r, &copy, &k->r->in->model->node[copy.node]);
    struct oc_buf *b = &k->text;
    oc_buf_clear(b);
    oc_buf_str(b, copy.type ? copy.type : "");
    oc_buf_char(b, ' ');
    if (copy.in_state == OC_SHAPES_KNOWN)
        add_shapes(b, copy.in, copy.n_in);
    else
        oc_buf_str(b, "?");
    if (copy.out_state == OC_SHAPES_KNOWN) {
        oc_buf_str(b, " -> ");
        add_shapes(b, copy.out, copy.n_out);
    }
    return oc_strndup(k->arena, b->data, b->n);
}

/* Precision by the kernels' names, else the type of the first input. */
static const char *by_precision(struct keying *k, const struct oc_row *row)
{
    const struct oc_prof_rec *rec = record_of(k, row);
    uint32_t node = node_of(k, row);
    if (rec && rec->precision && *rec->precision)
        return rec->precision;
    if (rec && rec->n_in)
        return oc_dtype_info(rec->in[0].dtype)->name;
    if (row->n_in_dtype && row->in_dtype[0])
        return row->in_dtype[0];
    if (node == OC_NONE || !k->r->in->analysis || !k->r->in->model->node[node].n_in)
        return NULL;
    uint32_t v = k->r->in->model->node[node].in[0];
    const struct oc_type *t = v == OC_NONE ? NULL : &k->r->in->analysis->type[v];
    return t && t->kind == OC_T_TENSOR ? oc_dtype_info(t->dtype)->name : NULL;
}

static void find_kernels(struct keying *k, const struct oc_profile *p)
{
    double *most = OC_NEW_ARRAY(k->arena, (size_t)p->n_rec + 1, double);
    k->kernel = OC_NEW_ARRAY(k->arena, (size_t)p->n_rec + 1, const char *);
    for (uint32_t i = 0; i < p->n_kernel; i++) {
        const struct oc_prof_kernel *one = &p->kernel[i];
        if (one->rec >= p->n_rec || (k->kernel[one->rec] && one->total_ns <= most[one->rec]))
            continue;
        most[one->rec] = one->total_ns;
        k->kernel[one->rec] = one->name;
    }
}

static const char *by_kernel(struct keying *k, const struct oc_row *row)
{
    if (!record_of(k, row))
        return NULL;
    if (!k->kernel)
        find_kernels(k, k->r->in->profile);
    return k->kernel[row->record] ? k->kernel[row->record] : "(no kernel)";
}

static const struct {
    const char *name;
    key_rule rule;
    bool has_depth;
} keys[] = {
    {"type", by_type, false},           {"module", by_module, true},        {"class", by_class, false},
    {"source", by_source, false},       {"signature", by_signature, false}, {"provider", by_provider, false},
    {"precision", by_precision, false}, {"kernel", by_kernel, false},       {"bound", by_bound, false},
    {"rule", by_rule, false},
};

static int read_one(const char *option, const char *s, size_t n, struct oc_group_by *out, struct oc_err *err)
{
    const char *colon = memchr(s, ':', n);
    size_t len = colon ? (size_t)(colon - s) : n;
    for (size_t i = 0; i < OC_COUNT(keys); i++) {
        if (strlen(keys[i].name) != len || strncmp(keys[i].name, s, len) != 0 ||
            (colon && !keys[i].has_depth))
            continue;
        unsigned depth = 0;
        for (const char *at = colon ? colon + 1 : s + n; at < s + n; at++)
            depth = *at >= '0' && *at <= '9' && depth < 26 ? depth * 10 + (unsigned)(*at - '0') : 1000;
        if (colon && (depth < 1 || depth > 255))
            return oc_fail(err, OC_EARG, "invalid depth in '%.*s' for %s: a number from 1 to 255 is needed",
                           (int)(n < 80 ? n : 80), s, option);
        *out = (struct oc_group_by){.what = (uint8_t)i, .depth = (uint8_t)depth};
        return 0;
    }
    const char *names[OC_COUNT(keys)];
    char where[60];
    for (size_t i = 0; i < OC_COUNT(keys); i++)
        names[i] = keys[i].name;
    snprintf(where, sizeof(where), "for %s", option);
    if (!n)
        return oc_fail(err, OC_EARG, "%s: a key is missing, such as type or module:2", option);
    return oc_fail_unknown(err, OC_EARG,
                           &(struct oc_unknown){.what = "key",
                                                .where = where,
                                                .given = s,
                                                .given_n = n,
                                                .valid = names,
                                                .n = OC_COUNT(names),
                                                .more = "module:DEPTH"});
}

int oc_group_by_read(const char *option, const char *text, struct oc_group_by out[OC_MAX_GROUP_KEYS],
                     size_t *n, struct oc_err *err)
{
    *n = 0;
    for (const char *at = text;; at++) {
        size_t len = strcspn(at, ",");
        if (*n == OC_MAX_GROUP_KEYS)
            return oc_fail(err, OC_EARG, "more than %d keys for %s", OC_MAX_GROUP_KEYS, option);
        if (read_one(option, at, len, &out[*n], err) != 0)
            return -1;
        ++*n;
        at += len;
        if (!*at)
            return 0;
    }
}

const char *oc_group_at(struct oc_arena *arena, const char *key, const struct oc_row *row)
{
    return key && row->place ? oc_printf(arena, "%s | %s", key, row->place) : key;
}

void oc_group_keys(struct oc_report *r, const struct oc_group_by *by, size_t n, struct oc_rows *rows)
{
    struct keying k = {.r = r, .arena = rows->arena};
    for (uint32_t i = 0; i < rows->n; i++) {
        const char *text = NULL;
        for (size_t b = 0; b < n; b++) {
            k.depth = by[b].depth;
            const char *part =
                rows->row[i].remainder ? rows->row[i].name : keys[by[b].what].rule(&k, &rows->row[i]);
            /* a type may be empty: MegEngine's tool then prints an empty one */
            part = part && (*part || n == 1) ? part : "(unknown)";
            text = text && !rows->row[i].remainder ? oc_printf(rows->arena, "%s | %s", text, part) : part;
        }
        rows->row[i].group = oc_group_at(rows->arena, text, &rows->row[i]);
    }
    oc_buf_free(&k.text);
}

/* ---- aggregation of one column ---------------------------------------------------------------------- */

/* With gaps numpy falls back to sequential summation. */
static double plain_sum(const double *v, size_t n)
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
                                                : plain_sum(v, known);
    return oc_num_measured(how.how == OC_AGG_MEAN ? sum / (double)n : sum);
}

/* ---- aggregation of rows ---------------------------------------------------------------------------- */

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

static double number_at(const void *in, size_t offset)
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
        if (in->row[member[i]].remainder) /* it has no work */
            continue;
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
            column[i] = number_at(in->row[member[i]].limits, at);
        double v = oc_aggregate_of(how, column, n);
        memcpy((char *)out + at, &v, sizeof(v));
    }
    return out;
}

static struct oc_row reduce_rows(const struct oc_rows *in, const char *name, const uint32_t *member,
                                 uint32_t n, struct oc_reduction how, double *column)
{
    struct oc_row row = oc_row_blank();
    for (size_t k = 0; k < OC_COUNT(columns); k++) {
        for (uint32_t i = 0; i < n; i++)
            column[i] = number_at(&in->row[member[i]], columns[k].offset);
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
    row.remainder = in->row[member[0]].remainder;
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
static uint32_t group_rows(const struct oc_rows *in, uint32_t *member, uint32_t *start)
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
    static const char *const info_key[] = {"type", "count", "id"};
    uint32_t *member = OC_NEW_ARRAY(in->arena, in->n, uint32_t),
             *start = OC_NEW_ARRAY(in->arena, in->n + 1, uint32_t);
    double *column = oc_xmalloc((in->n + 1) * sizeof(*column));
    uint32_t n = group_rows(in, member, start);
    *out = (struct oc_rows){
        .arena = in->arena, .row = OC_NEW_ARRAY(in->arena, n, struct oc_row), .n = n, .info_key = info_key};
    for (uint32_t g = 0; g < n; g++) {
        const char *key = in->row[member[start[g]]].group;
        out->row[g] =
            reduce_rows(in, key ? key : "all", &member[start[g]], start[g + 1] - start[g], how, column);
    }
    free(column);
}
