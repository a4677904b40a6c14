/* What the change of the time between two recordings consists of. Each row's difference falls into one part, or into
 * two where its work has changed: the time of A scaled with the work is work added or removed, the rest is speed or
 * other kernels. Invariant: the parts add up to the change of the latency, or of the time where the recordings have no
 * latency; oc_diff_decompose() fails otherwise. Where the recordings have several devices or ranks, every part names
 * its own. Also the sets of operators and kernels that the runtime ran for a row, from which "other kernels" follows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ck.h"
#include "gate/diff.h"
#include "join/join.h"
#include "profile/core/places.h"

/* ---- what the runtime ran ---------------------------------------------------------------------------- */

static uint8_t kind_of_bucket(const char *bucket)
{
    static const char *const inserted[] = {"layout", "casts", "inserted", "reformat", "no-op", "shuffle"};
    static const char *const host[] = {"framework", "whole engine", "functions not listed",
                                       "times of no operator"};
    if (strcmp(bucket, "copies") == 0 || strcmp(bucket, "DLA transfers") == 0)
        return OC_DIFF_COPIES;
    for (size_t i = 0; i < OC_COUNT(inserted); i++)
        if (strcmp(bucket, inserted[i]) == 0)
            return OC_DIFF_INSERTED;
    for (size_t i = 0; i < OC_COUNT(host); i++)
        if (strcmp(bucket, host[i]) == 0)
            return OC_DIFF_HOST;
    return OC_DIFF_OPERATOR;
}

static uint8_t kind_of(const struct oc_report_in *in, const struct oc_row *row)
{
    if (row->record == OC_NONE)
        return row->remainder ? OC_DIFF_HOST : OC_DIFF_OPERATOR;
    const struct oc_prof_rec *rec = &in->profile->rec[row->record];
    const char *bucket = rec->bucket ? rec->bucket
                         : in->join  ? in->join->rec[row->record].bucket
                                     : rec->overhead;
    if (rec->rest && strcmp(rec->rest, OC_REST_COPIES) == 0)
        return OC_DIFF_COPIES;
    if ((rec->rest && strcmp(rec->rest, OC_REST_COMMUNICATION) == 0) || oc_is_collective(rec->op_type) ||
        (rec->name && oc_is_collective(rec->name)))
        return OC_DIFF_COMMUNICATION;
    if (bucket)
        return kind_of_bucket(bucket);
    return strncmp(rec->op_type, "Memcpy", 6) == 0 ? OC_DIFF_COPIES : OC_DIFF_OPERATOR;
}

/* Adds a name to the set of row `at`. Returns its share of the hash; 0: it is there already. */
static uint64_t add_to_set(struct oc_diff_ran *x, const char *set, unsigned s, uint32_t at, const char *name)
{
    uint32_t id = x->names.n, old = 0;
    oc_map_add(&x->names, name, strlen(name), &id, NULL);
    const char *key = oc_printf(&x->d->arena, "%s%u.%u.%u", set, s, at, id);
    if (!oc_map_add_kept(&x->seen, key, strlen(key), &old))
        return 0;
    uint64_t hash = (id + 1) * 0x9e3779b97f4a7c15u; /* spreads the number over all bits: splitmix64 */
    hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9u;
    return (hash ^ hash >> 31) | 1;
}

void oc_diff_add_ran(struct oc_diff_ran *x, unsigned s, size_t k, struct oc_diff_row *r, uint32_t at,
                     const struct oc_row *from)
{
    const struct oc_report_in *in = &x->d->of[s][k].in;
    uint8_t kind = kind_of(in, from);
    bool first = r->kind == OC_DIFF_KIND_UNKNOWN;
    if (first)
        r->place = from->place;
    else if (from->place && (!r->place || strcmp(r->place, from->place) != 0))
        r->place = "several devices";
    r->kind = first || r->kind == kind ? kind : (uint8_t)OC_DIFF_OPERATOR;
    if (at == OC_NONE || from->record == OC_NONE)
        return;
    const char *name =
        oc_printf(&x->d->arena, "%s@%s", from->type ? from->type : "", from->provider ? from->provider : "");
    r->side[s].operators += add_to_set(x, "o", s, at, name);
}

/* The row of the diff that a record of recording k belongs to, by record. */
static uint32_t *rows_of_records(struct oc_diff *d, const struct oc_diff_recording *of)
{
    const struct oc_rows *all = &of->figures.report.all;
    uint32_t n = of->in.profile->n_rec, *row_of = OC_NEW_ARRAY(&d->arena, (size_t)n + 1, uint32_t);
    for (uint32_t i = 0; i < n; i++)
        row_of[i] = OC_NONE;
    for (uint32_t i = 0; i < all->n; i++)
        if (all->row[i].record != OC_NONE)
            row_of[all->row[i].record] = of->row_of[i];
    for (uint32_t i = 0; i < n && of->in.join; i++)
        if (of->in.join->rec[i].part_of != OC_NONE)
            row_of[i] = row_of[of->in.join->rec[i].part_of];
    return row_of;
}

static void add_kernels(struct oc_diff_ran *x, unsigned s, const struct oc_diff_recording *of)
{
    const struct oc_profile *p = of->in.profile;
    const uint32_t *row_of = p && p->n_kernel ? rows_of_records(x->d, of) : NULL;
    for (uint32_t i = 0; row_of && i < p->n_kernel; i++) {
        const struct oc_prof_kernel *kernel = &p->kernel[i];
        uint32_t at = kernel->rec == OC_NONE ? OC_NONE : row_of[kernel->rec];
        if (at == OC_NONE)
            continue;
        struct oc_diff_cell *c = &x->d->row[at].side[s];
        uint64_t share = add_to_set(x, "k", s, at, kernel->name);
        c->kernels += share;
        c->n_kernel += share != 0;
        c->kernel = c->kernel ? c->kernel : kernel->name;
    }
}

static const char *kernels_text(struct oc_diff *d, const struct oc_diff_cell *c)
{
    enum { LONGEST = 100 };
    return c->n_kernel == 1 ? oc_printf(&d->arena, "%.*s", LONGEST, c->kernel)
                            : oc_printf(&d->arena, "%u kernels", c->n_kernel);
}

/* Of rows that both sides ran. Sets are compared where both sides have them; records are calls of one model. */
static void compare_ran(struct oc_diff *d, struct oc_diff_row *r)
{
    const struct oc_diff_cell *a = &r->side[0], *b = &r->side[1];
    bool known = a->n_kernel && b->n_kernel, kernels = known && a->kernels != b->kernels;
    bool operators = !known && a->operators != b->operators;
    bool records = !d->by_name && a->records * d->n_of[1] != b->records * d->n_of[0];
    if (r->status == OC_DIFF_ADDED || r->status == OC_DIFF_REMOVED || !a->records || !b->records)
        return;
    if (!kernels && !operators && !records)
        return;
    r->change |= OC_DIFF_KERNELS;
    if (kernels)
        r->what = oc_printf(&d->arena, "%s%s%s -> %s", r->what, *r->what ? "; " : "", kernels_text(d, a),
                            kernels_text(d, b));
    if (d->by_name)
        r->status = OC_DIFF_CHANGED;
}

void oc_diff_add_kernels(struct oc_diff_ran *x)
{
    struct oc_diff *d = x->d;
    for (unsigned s = 0; s < 2; s++)
        for (size_t k = 0; k < d->n_of[s]; k++)
            add_kernels(x, s, &d->of[s][k]);
    for (uint32_t i = 0; i < d->n_row; i++)
        compare_ran(d, &d->row[i]);
    oc_map_free(&x->seen);
    oc_map_free(&x->names);
}

/* ---- parts -------------------------------------------------------------------------------------------- */

const char *oc_diff_cause_name(unsigned cause)
{
    static const char *const name[] = {"work added",
                                       "work removed",
                                       "same work at another speed",
                                       "other kernels for the same work",
                                       "gaps and host",
                                       "copies",
                                       "communication",
                                       "overlap of operators",
                                       "rows without a time"};
    return cause < OC_CAUSES ? name[cause] : "?";
}

/* One part for each cause and place; heap. */
struct parts {
    struct oc_diff_part *part;
    uint32_t n, cap;
};

static void add_part(struct parts *p, unsigned cause, const char *place, double delta_ns, uint32_t rows)
{
    uint32_t i = 0;
    if (delta_ns == 0)
        return;
    while (i < p->n && (p->part[i].cause != cause || !p->part[i].place != !place ||
                        (place && strcmp(p->part[i].place, place) != 0)))
        i++;
    if (i == p->n)
        OC_PUSH(p->part, p->n, p->cap) = (struct oc_diff_part){.cause = (uint8_t)cause, .place = place};
    p->part[i].delta_ns += delta_ns;
    p->part[i].rows += rows;
}

double oc_work_ratio(const double flops[2], const double bytes[2])
{
    if (flops[0] > 0 && flops[1] > 0)
        return flops[1] / flops[0];
    return bytes[0] > 0 && bytes[1] > 0 ? bytes[1] / bytes[0] : (double)NAN;
}

/* Of FLOPs and integer operations, else of bytes. 1: not known. */
static double work_ratio_of_row(const struct oc_diff_row *r)
{
    double flops[2], bytes[2];
    for (unsigned s = 0; s < 2; s++) {
        const struct oc_diff_cell *c = &r->side[s];
        bool known = !c->unknown[OC_DIFF_FLOPS] && !c->unknown[OC_DIFF_OPS];
        flops[s] = known ? (double)c->count[OC_DIFF_FLOPS] + (double)c->count[OC_DIFF_OPS] : (double)NAN;
        bytes[s] = c->unknown[OC_DIFF_BYTES] ? (double)NAN : (double)c->count[OC_DIFF_BYTES];
    }
    double ratio = oc_work_ratio(flops, bytes);
    return isnan(ratio) ? 1 : ratio;
}

/* Whether A and B ran the row in another way: fused, with another layout or data type, by other kernels. */
static bool ran_otherwise(const struct oc_diff_row *r)
{
    const struct oc_diff_cell *a = &r->side[0], *b = &r->side[1];
    bool same_kernels =
        a->n_kernel && b->n_kernel && a->kernels == b->kernels; /* whatever their type is called */
    const unsigned how = (same_kernels ? 0 : OC_DIFF_TYPE) | OC_DIFF_DTYPES | OC_DIFF_INPUTS |
                         OC_DIFF_FUSION | OC_DIFF_KERNELS;
    return r->change & how || !a->records != !b->records;
}

/* A row that both sides have: what its work explains, and the rest. */
static void add_matched(struct parts *p, const struct oc_diff_row *r, double delta_ns)
{
    double a_ns = r->side[0].time_ns, work_ns = a_ns * (work_ratio_of_row(r) - 1);
    add_part(p, work_ns > 0 ? OC_CAUSE_ADDED : OC_CAUSE_REMOVED, r->place, work_ns, 1);
    add_part(p, ran_otherwise(r) ? OC_CAUSE_KERNELS : OC_CAUSE_SPEED, r->place, delta_ns - work_ns, 1);
}

/* A bucket of operators that match no node: as many are taken for the same. */
static unsigned cause_of_bucket(const struct oc_diff *d, const struct oc_diff_row *r)
{
    const struct oc_diff_cell *a = &r->side[0], *b = &r->side[1];
    if (a->records && b->records)
        return a->records * d->n_of[1] == b->records * d->n_of[0] ? OC_CAUSE_SPEED : OC_CAUSE_KERNELS;
    return b->records ? OC_CAUSE_ADDED : OC_CAUSE_REMOVED;
}

static void add_row(struct parts *p, const struct oc_diff *d, const struct oc_diff_row *r)
{
    static const uint8_t whole[] = {[OC_DIFF_HOST] = OC_CAUSE_HOST,
                                    [OC_DIFF_COPIES] = OC_CAUSE_COPIES,
                                    [OC_DIFF_COMMUNICATION] = OC_CAUSE_COMMUNICATION};
    double delta_ns = oc_diff_delta(r, OC_DIFF_TIME);
    bool one_side = r->status == OC_DIFF_ADDED || r->status == OC_DIFF_REMOVED;
    bool lonely = !r->side[0].records != !r->side[1].records;
    if (isnan(delta_ns))
        return;
    if (r->kind == OC_DIFF_HOST || r->kind == OC_DIFF_COPIES || r->kind == OC_DIFF_COMMUNICATION)
        add_part(p, whole[r->kind], r->place, delta_ns, 1);
    else if (r->kind == OC_DIFF_INSERTED && (lonely || r->status == OC_DIFF_BUCKET))
        add_part(p, OC_CAUSE_KERNELS, r->place, delta_ns, 1);
    else if (r->status == OC_DIFF_BUCKET)
        add_part(p, cause_of_bucket(d, r), r->place, delta_ns, 1);
    else if (one_side)
        add_part(p, r->status == OC_DIFF_ADDED ? OC_CAUSE_ADDED : OC_CAUSE_REMOVED, r->place, delta_ns, 1);
    else
        add_matched(p, r, delta_ns);
}

static int by_cause(const void *pa, const void *pb)
{
    const struct oc_diff_part *a = pa, *b = pb;
    int places = strcmp(a->place ? a->place : "", b->place ? b->place : "");
    return a->cause != b->cause ? a->cause - b->cause : places;
}

/* Why the times of the two sides have no difference; NULL: they have one. */
static const char *missing_reason(const struct oc_diff *d)
{
    const struct oc_diff_total *time = &d->total[OC_DIFF_TIME];
    bool runs = true, whole = true;
    for (unsigned s = 0; s < 2; s++)
        for (size_t k = 0; k < d->n_of[s]; k++) {
            const struct oc_profile *p = d->of[s][k].in.profile;
            runs &= p && oc_profile_runs_known(p);
            whole &= p && !oc_profile_runs_known(p);
        }
    if (!d->in[0].profile || !d->in[1].profile)
        return "a side has no recording";
    if (!time->known[0] || !time->known[1])
        return "a side has no times";
    return runs || whole ? NULL
                         : "one side has the time of a run, the other that of an unknown number of runs";
}

/* Sorts the parts that are not 0 into d->parts. Returns their sum. */
static double keep_parts(struct oc_diff *d, struct parts *p)
{
    struct oc_decomposition *out = &d->parts;
    double sum_ns = 0;
    out->part = OC_NEW_ARRAY(&d->arena, (size_t)p->n + 1, struct oc_diff_part);
    for (uint32_t i = 0; i < p->n; i++)
        if (p->part[i].delta_ns != 0)
            out->part[out->n++] = p->part[i];
    qsort(out->part, out->n, sizeof(*out->part), by_cause);
    for (uint32_t i = 0; i < out->n; i++)
        sum_ns += out->part[i].delta_ns;
    free(p->part);
    return sum_ns;
}

/* What files round, each row and the run, goes to the largest part, so that the sum is exact. More than that stays
 * missing, which is an error. */
static void absorb_rounding(struct parts *p, double delta_ns, double most_ns)
{
    struct oc_diff_part *largest = NULL;
    double rest_ns = delta_ns;
    for (uint32_t i = 0; i < p->n; i++) {
        rest_ns -= p->part[i].delta_ns;
        if (!largest || fabs(p->part[i].delta_ns) > fabs(largest->delta_ns))
            largest = &p->part[i];
    }
    if (largest && fabs(rest_ns) <= most_ns)
        largest->delta_ns += rest_ns;
}

/* Whether the rows are of the runs whose latency is known: latency = time - overlap. */
static bool is_of_latency(const struct oc_diff *d)
{
    const struct oc_diff_total *latency = &d->total[OC_DIFF_LATENCY];
    return latency->known[0] && latency->known[1] && !d->in[0].profile->beside && !d->in[1].profile->beside;
}

int oc_diff_decompose(struct oc_diff *d, struct oc_err *err)
{
    struct oc_decomposition *out = &d->parts;
    const struct oc_diff_total *time = &d->total[OC_DIFF_TIME], *latency = &d->total[OC_DIFF_LATENCY];
    const double rounding_ns = 1e-12 * (time->v[0] + time->v[1]);
    struct parts p = {NULL, 0, 0};
    *out = (struct oc_decomposition){.missing = missing_reason(d), .of = OC_DIFF_TIME, .delta_ns = NAN};
    if (out->missing)
        return 0;
    for (uint32_t i = 0; i < d->n_row; i++)
        add_row(&p, d, &d->row[i]);
    out->delta_ns = time->v[1] - time->v[0];
    if (time->unknown_rows)
        add_part(&p, OC_CAUSE_UNKNOWN, NULL, out->delta_ns - time->rows_delta_v, time->unknown_rows);
    if (is_of_latency(d)) {
        double overlap_ns = (time->v[1] - latency->v[1]) - (time->v[0] - latency->v[0]);
        out->of = OC_DIFF_LATENCY;
        out->delta_ns = latency->v[1] - latency->v[0];
        add_part(&p, OC_CAUSE_OVERLAP, NULL,
                 fabs(overlap_ns) > rounding_ns + 2 * OC_ROUNDING_NS ? -overlap_ns : 0, 0);
    }
    absorb_rounding(&p, out->delta_ns, 1e3 * rounding_ns + 2 * OC_ROUNDING_NS * (d->n_row + 1));
    if (!(fabs(keep_parts(d, &p) - out->delta_ns) <= 1e3 * rounding_ns))
        return oc_fail(err, OC_EFORMAT, "the parts of the change do not add up to the change of the %s",
                       out->of == OC_DIFF_LATENCY ? "latency" : "time");
    return 0;
}
