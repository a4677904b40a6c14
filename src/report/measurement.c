/* The measurement of a report: which runs its times stand for, its latency, and the rows of the time that belongs to
 * no operator.
 *
 * Invariant: the times of all rows, operators and remainder, add up to total_ns, and where the recording has a
 * latency, total_ns - overlap_ns is the latency. Every output reads its times from these rows and from struct
 * oc_measurement. Readers divide times by runs (profile/core/run_spread.h); nothing above them does
 * (tests/check_layers.sh). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/units.h"
#include "join/join.h"
#include "onnxcost.h"
#include "onnxcost/report.h"
#include "report/report.h"

bool oc_bucket_is_excluded(const char *bucket)
{
    static const char *const names[] = {
        "load",           "session",      "warm-up runs", "unused runs",
        "incomplete run", "outside runs", "framework",    "copies outside the engine"};
    for (size_t i = 0; i < OC_COUNT(names); i++)
        if (strcmp(bucket, names[i]) == 0)
            return true;
    return false;
}

static struct oc_row *add_row(struct oc_report *r, const char *name, double ns)
{
    struct oc_row *row = &r->all.row[OC_ALL_ROWS(r)];
    r->all.n_rest++;
    *row = oc_row_blank();
    row->name = name;
    row->time_s = row->self_s = ns * 1e-9;
    row->quality = OC_UNKNOWN;
    row->remainder = true;
    return row;
}

uint32_t oc_remainder_most(const struct oc_profile *p)
{
    uint32_t n = 2; /* outside of operators, overlap */
    for (uint32_t i = 0; i < p->n_rec; i++)
        n += p->rec[i].bucket != NULL;
    return n;
}

/* Records of the runs that are not operators: copies, kernels without an operator. Returns their time. */
static double add_buckets(struct oc_report *r)
{
    const struct oc_profile *p = r->in->profile;
    double sum_ns = 0;
    for (uint32_t i = 0; i < p->n_rec; i++) {
        const struct oc_prof_rec *rec = &p->rec[i];
        double ns = isnan(rec->kernel_ns) ? rec->self_ns : rec->kernel_ns;
        if (!rec->bucket || oc_bucket_is_excluded(rec->bucket) || !(ns > 0))
            continue;
        struct oc_row *row = add_row(r, rec->name ? rec->name : rec->bucket, ns);
        row->record = i;
        row->calls = rec->calls_per_run;
        row->min_s = rec->min_ns * 1e-9;
        row->max_s = rec->max_ns * 1e-9;
        sum_ns += ns;
    }
    return sum_ns;
}

/* Time in which at least one row runs, on the clock of the rows; NAN: not known. */
static double union_of_rows(const struct oc_report *r, bool *on_device)
{
    const struct oc_profile *p = r->in->profile;
    bool host = false, device = false;
    for (uint32_t i = 0; i < r->all.n; i++) {
        const struct oc_row *row = &r->all.row[i];
        bool timed = row->record != OC_NONE && !isnan(p->rec[row->record].kernel_ns);
        host |= !timed && row->time_s > 0;
        device |= timed;
    }
    *on_device = device && !host;
    if (host && device)
        return (double)NAN;
    return !device || p->busy_on_device ? p->busy_ns : p->device_busy_ns;
}

/* Adds the time in which no row runs. Returns the time that rows share: they ran side by side. */
static double add_balance(struct oc_report *r, double rows_ns)
{
    bool on_device;
    double union_ns = union_of_rows(r, &on_device), latency_ns = r->m.latency_ns;
    double slack_ns = OC_ROUNDING_NS * (OC_ALL_ROWS(r) + 1);
    double outside_ns = fmax(latency_ns - (isnan(union_ns) ? rows_ns : union_ns), 0);
    double missing_ns = latency_ns - outside_ns - rows_ns;
    if (outside_ns > slack_ns)
        add_row(r, on_device ? "(gaps)" : OC_OUTSIDE_OPERATORS, outside_ns);
    if (missing_ns > slack_ns)
        add_row(r, "(not attributed)", missing_ns);
    return missing_ns < -slack_ns ? -missing_ns : 0;
}

const char *oc_total_text(struct oc_report *r, struct oc_arena *a)
{
    char total[32], part[32], run[32];
    double shown_s = 0;
    uint64_t n = 0;
    for (uint32_t i = 0; i < r->shown.n; i++) {
        shown_s += isnan(r->shown.row[i].time_s) ? 0 : r->shown.row[i].time_s;
        n += r->shown.row[i].count;
    }
    const struct oc_measurement *m = &r->m;
    const char *others = "", *note = "", *what = "the latency, ";
    double rest_ns = m->total_ns - oc_ns_of(shown_s);
    uint64_t all = OC_ALL_ROWS(r);
    if (!r->has_time)
        return NULL;
    if (n < all)
        others = oc_printf(a, "others: %llu row%s, %s, %.1f %%; ", (unsigned long long)(all - n),
                           all - n > 1 ? "s" : "", oc_format_time_ns(fmax(rest_ns, 0), part, sizeof(part)),
                           100 * fmax(rest_ns, 0) / m->total_ns);
    if (isnan(m->latency_ns) || m->overlap_ns > 0)
        what = "";
    if (isnan(m->latency_ns))
        note = " over an unknown number of runs";
    else if (m->overlap_ns > 0)
        note = oc_printf(a, ", of which %s ran side by side: latency %s",
                         oc_format_time_ns(m->overlap_ns, part, sizeof(part)),
                         oc_format_time_ns(m->latency_ns, run, sizeof(run)));
    return oc_printf(a, "(%s100 %% is %s%s%s)", others, what,
                     oc_format_time_ns(m->total_ns, total, sizeof(total)), note);
}

void oc_measure(struct oc_report *r)
{
    const struct oc_profile *p = r->in->profile;
    const double none = (double)NAN;
    r->m = (struct oc_measurement){.runs = 1, .latency_ns = none, .total_ns = none, .busy_ns = none};
    if (!p)
        return;
    bool known = oc_profile_runs_known(p);
    r->m.runs = p->stat == OC_STAT_SUM && p->runs_used > 1 ? p->runs_used : 1;
    r->m.latency_ns = known ? p->run_ns : none;
    r->m.busy_ns = known ? p->busy_ns : none;
    double rows_ns = 0;
    for (uint32_t i = 0; i < r->all.n; i++)
        rows_ns += isnan(r->all.row[i].time_s) ? 0 : oc_ns_of(r->all.row[i].time_s);
    rows_ns += add_buckets(r);
    if (known && isnan(p->run_ns) && !p->truncated) /* a truncated file has only some of the rows */
        r->m.latency_ns = rows_ns;
    r->m.total_ns = rows_ns;
    if (p->beside) /* the latency is that of other runs than the rows' */
        r->m.overlap_ns = none;
    if (isnan(r->m.latency_ns) || p->beside)
        return;
    r->m.overlap_ns = add_balance(r, rows_ns);
    r->m.total_ns = r->m.latency_ns + r->m.overlap_ns;
}

/* ---- buckets -------------------------------------------------------------------------- */

static const char *measurement_bucket_of(const struct oc_report_in *in, uint32_t record)
{
    const struct oc_prof_rec *r = &in->profile->rec[record];
    return in->join ? in->join->rec[record].bucket : r->bucket ? r->bucket : r->overhead;
}

static void add_known(double *sum, double ns)
{
    if (!isnan(ns))
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): as below */
        *sum = isnan(*sum) ? ns : *sum + ns;
}

uint32_t oc_report_buckets(struct oc_report *r, const struct oc_bucket_sum **out)
{
    const struct oc_profile *p = r->in->profile;
    struct oc_map seen = {.arena = &r->arena};
    struct oc_bucket_sum *sum = NULL;
    uint32_t n = 0, cap = 0;
    for (uint32_t i = 0; i < p->n_rec; i++) {
        const char *name = measurement_bucket_of(r->in, i);
        uint32_t at = n;
        if (!name)
            continue;
        if (oc_map_add(&seen, name, strlen(name), &at, NULL)) {
            OC_GROW(sum, n, cap);
            sum[n++] = (struct oc_bucket_sum){
                .name = name, .time_ns = NAN, .kernel_ns = NAN, .total_ns = NAN, .total_kernel_ns = NAN};
            sum[at].of_profile = p->rec[i].bucket != NULL;
        }
        /* NOLINTBEGIN(clang-analyzer-core.NullDereference): a known name has its index in sum[] */
        add_known(&sum[at].time_ns, p->rec[i].self_ns);
        add_known(&sum[at].kernel_ns, p->rec[i].kernel_ns);
        add_known(&sum[at].total_ns, p->rec[i].total_ns);
        add_known(&sum[at].total_kernel_ns, p->rec[i].total_kernel_ns);
        sum[at].records++;
        /* NOLINTEND(clang-analyzer-core.NullDereference) */
    }
    struct oc_bucket_sum *kept = OC_NEW_ARRAY(&r->arena, n, struct oc_bucket_sum);
    if (n)
        memcpy(kept, sum, n * sizeof(*sum));
    free(sum);
    oc_map_free(&seen);
    *out = kept;
    return n;
}
