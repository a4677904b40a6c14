/* The answer that every report begins with, as sentences: what takes the time of a run, what bounds it, how much
 * of it is lost, and what makes this unsure. Without times it is about the lower bound on the device, without
 * a device of the work. Every figure is one of the measurement, of the rows or of their bounds: nothing is timed
 * or counted here, parts of the time sum to the time of all rows, and operators without a known bound are named
 * by their time like all others. */
#include "report/headline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/str.h"
#include "base/units.h"
#include "hw/hwdb.h"
#include "join/join.h"
#include "onnxcost.h"
#include "onnxcost/report.h"
#include "profile/profile.h"
#include "report/columns.h"
#include "report/names.h"
#include "report/report.h"

const char *const oc_time_part_id_text[OC_PART_COUNT] = {"roofline_ns", "above_roofline_ns", "no_bound_ns",
                                                         "added_ns",    "unmatched_ns",      "outside_ns"};

static const char *verdict_time(struct oc_report *r, double ns)
{
    char text[32];
    return oc_strdup(&r->arena, oc_format_time_ns(ns, text, sizeof(text)));
}

/* ---- parts of the time ------------------------------------------------------------------------------ */

static unsigned part_of_row(const struct oc_report *r, const struct oc_row *row)
{
    if (!isnan(row->roofline_s) && !isnan(oc_row_rate_time_s(row)))
        return OC_PART_ROOFLINE;
    const char *bucket = NULL;
    if (r->in->profile && row->record != OC_NONE)
        bucket = r->in->join ? r->in->join->rec[row->record].bucket : r->in->profile->rec[row->record].bucket;
    return !bucket ? OC_PART_UNBOUND : oc_equal(bucket, "unmatched") ? OC_PART_UNMATCHED : OC_PART_ADDED;
}

/* Rows that are faster than their roofline time reduce the gap of the others, as in the line "hardware". */
static void split_time(struct oc_report *r, const struct oc_headline *h, struct oc_verdict *v)
{
    static const char *const name[OC_PART_COUNT] = {"roofline time",  "above the roofline",
                                                    "no bound known", "runtime-inserted",
                                                    "unmatched",      "outside operators"};
    double roof_ns = 0, rows_ns = 0;
    for (unsigned i = 0; i < OC_PART_COUNT; i++)
        v->part[i].name = name[i];
    v->part[OC_PART_UNBOUND].name = r->in->device ? name[OC_PART_UNBOUND] : "operators";
    for (uint32_t i = 0; i < r->all.n; i++) {
        const struct oc_row *row = &r->all.row[i];
        if (isnan(row->time_s))
            continue;
        struct oc_time_part *part = &v->part[part_of_row(r, row)];
        part->ns += oc_ns_of(row->time_s);
        part->rows++;
        roof_ns += part == &v->part[OC_PART_ROOFLINE] ? oc_ns_of(row->roofline_s) : 0;
    }
    struct oc_time_part *roof = &v->part[OC_PART_ROOFLINE], *above = &v->part[OC_PART_ABOVE];
    for (unsigned i = 0; i < OC_PART_COUNT; i++)
        rows_ns += v->part[i].ns;
    if (roof->ns > roof_ns) {
        *above = (struct oc_time_part){name[OC_PART_ABOVE], roof->ns - roof_ns, roof->rows};
        roof->ns = roof_ns;
    }
    v->run_ns = isnan(h->run_ns) ? h->total_ns : h->run_ns;
    for (uint32_t i = r->all.n; i < OC_ALL_ROWS(r); i++) {
        v->part[OC_PART_OUTSIDE].ns += oc_ns_of(r->all.row[i].time_s);
        v->part[OC_PART_OUTSIDE].rows++;
    }
    v->whole_ns = rows_ns + v->part[OC_PART_OUTSIDE].ns;
}

/* ---- largest rows ----------------------------------------------------------------------------------- */

/* What rows are ranked by: their measured time, their time above the roofline, the roofline time itself where
 * nothing was measured, or their operations where there is no device either. */
enum weight { WEIGHT_TIME, WEIGHT_GAP, WEIGHT_ROOFLINE, WEIGHT_WORK };

/* Nanoseconds, or operations; 0: unknown. */
static double weight_of(const struct oc_row *row, enum weight by)
{
    double v = by == WEIGHT_TIME       ? oc_ns_of(row->time_s)
               : by == WEIGHT_GAP      ? oc_ns_of(row->wasted_s)
               : by == WEIGHT_ROOFLINE ? oc_ns_of(row->roofline_s)
                                       : row->computation;
    return isnan(v) ? 0 : v;
}

static bool has_gaps(const struct oc_report *r)
{
    for (uint32_t i = 0; i < r->all.n; i++)
        if (r->all.row[i].wasted_s > 0 && r->has_time)
            return true;
    return false;
}

static void find_largest(struct oc_report *r, enum weight by, struct oc_verdict *v)
{
    for (uint32_t i = 0; i < r->all.n; i++) {
        const struct oc_row *row = &r->all.row[i];
        double ns = weight_of(row, by);
        uint32_t at = v->n_largest;
        while (at && ns > weight_of(v->largest[at - 1].row, by))
            at--;
        if (at == OC_LARGEST || !(ns > 0))
            continue;
        v->n_largest += v->n_largest < OC_LARGEST;
        memmove(&v->largest[at + 1], &v->largest[at], (v->n_largest - at - 1) * sizeof(*v->largest));
        v->largest[at] = (struct oc_largest){.row = row};
    }
    for (uint32_t i = 0; i < v->n_largest; i++) {
        struct oc_largest *l = &v->largest[i];
        l->time_ns = weight_of(l->row, WEIGHT_TIME);
        l->gap_ns = by == WEIGHT_GAP ? weight_of(l->row, by) : (double)NAN;
    }
}

/* ---- operator types and modules --------------------------------------------------------------------- */

enum { ALL_PARTS = (1u << OC_PART_COUNT) - 1 };
/* Of the time: a smaller part or type is not mentioned; a larger one is called all of it. */
enum { NOTABLE_PERCENT = 5, ALL_PERCENT = 99 };

/* Rows that a sentence speaks of. */
struct scope {
    enum weight by;
    unsigned parts;   /* bit per enum oc_time_part_id */
    const char *type; /* only of this type; NULL: all */
};

struct place { /* rows of one operator type or module */
    const char *key;
    double sum;
    uint32_t rows;
};

static bool in_scope(struct oc_report *r, const struct scope *s, const struct oc_row *row)
{
    return weight_of(row, s->by) != 0 && (!s->type || oc_equal(oc_row_type(r, row), s->type)) &&
           (s->parts == ALL_PARTS || s->parts >> part_of_row(r, row) & 1);
}

/* The type with the largest sum, or with a type in the scope its largest module. Key NULL: there is none. */
static struct place largest_place(struct oc_report *r, const struct oc_rows *rows, const struct scope *s)
{
    struct oc_map seen = {.arena = &r->arena};
    struct place *place = NULL, best = {.key = NULL};
    uint32_t n = 0, cap = 0;
    for (uint32_t i = 0; i < rows->n; i++) {
        struct oc_row room;
        const struct oc_row *row = oc_row_at(r, rows, i, &room);
        const char *key = s->type ? row->group : oc_row_type(r, row);
        uint32_t at = n;
        if (!key || !in_scope(r, s, row))
            continue;
        OC_GROW(place, n, cap);
        if (oc_map_add(&seen, key, strlen(key), &at, NULL))
            place[n++] = (struct place){.key = key};
        place[at].sum += weight_of(row, s->by);
        place[at].rows++;
    }
    for (uint32_t i = 0; i < n; i++)
        best = !i || place[i].sum > best.sum ? place[i] : best;
    oc_map_free(&seen);
    free(place);
    return best;
}

enum { MODULE_DEPTH = 3, MODULE_ROWS = 20000 };

/* ", most of it in /layer4": the module that has a fifth or more of the type's sum, if it is a part of the model
 * that says something, which one with nine tenths does not. "": none. */
static const char *module_text(struct oc_report *r, const struct scope *s, const struct place *of)
{
    struct oc_rows copy = r->all;
    struct scope within = *s;
    within.type = of->key;
    if (!r->in->analysis || r->all.n > MODULE_ROWS)
        return "";
    copy.row = OC_NEW_ARRAY(&r->arena, copy.n, struct oc_row);
    for (uint32_t i = 0; i < copy.n; i++)
        copy.row[i] = *oc_row_at(r, &r->all, i, &copy.row[i]);
    for (unsigned depth = 1; depth <= MODULE_DEPTH; depth++) {
        char key[16];
        struct oc_group_by by[OC_MAX_GROUP_KEYS];
        struct oc_err err;
        size_t n = 0;
        snprintf(key, sizeof(key), "module:%u", depth);
        if (oc_group_by_read("module", key, by, &n, &err))
            return "";
        oc_group_keys(r, by, n, &copy);
        struct place m = largest_place(r, &copy, &within);
        double share = of->sum > 0 ? m.sum / of->sum : 0;
        if (share < 0.2 || !m.key || *m.key == '(')
            return "";
        if (share <= 0.9)
            return share > 0.5 ? oc_printf(&r->arena, ", most of it in %s", m.key)
                               : oc_printf(&r->arena, ", %.0f %% of that in %s", 100 * share, m.key);
    }
    return "";
}

/* "53 Conv", "1 Softmax". */
static const char *place_text(struct oc_report *r, const struct place *p)
{
    return oc_printf(&r->arena, "%u %s", p->rows, p->key);
}

/* "71", "99.8": a part that is not all of it does not read as 100. */
static const char *percent_text(struct oc_report *r, double share)
{
    bool near = share > 0.99 && share < 1;
    return oc_printf(&r->arena, "%.*f", near, 100 * (share < 1 ? share : 1));
}

/* ", 71 % of it in 52 Conv, most of it in /layer4" */
static const char *where_text(struct oc_report *r, double whole, const struct scope *s)
{
    struct place type = largest_place(r, &r->all, s);
    if (!type.key || !(whole > 0))
        return "";
    double share = type.sum / whole;
    if (100 * share < NOTABLE_PERCENT)
        return "";
    return oc_printf(&r->arena, ", %s %% of it in %s%s", percent_text(r, share), place_text(r, &type),
                     module_text(r, s, &type));
}

/* ---- sentences -------------------------------------------------------------------------------------- */

static bool is_notable(const struct oc_verdict *v, double ns)
{
    return ns * 100 >= NOTABLE_PERCENT * v->whole_ns;
}

/* The largest remainder row by its name, "(gaps)", if it is more than half of it. */
static const char *outside_name(const struct oc_report *r, double ns)
{
    for (uint32_t i = r->all.n; i < OC_ALL_ROWS(r); i++)
        if (oc_ns_of(r->all.row[i].time_s) > ns / 2)
            return r->all.row[i].name;
    return NULL;
}

/* ". 25.1 ms have no known bound, 24.0 ms of it in 64 AllReduce": a part of the time that is notable. */
static const char *part_text(struct oc_report *r, const struct oc_verdict *v, unsigned id)
{
    static const char *const what[OC_PART_COUNT] = {
        [OC_PART_UNBOUND] = "have no known bound",
        [OC_PART_ADDED] = "are in operators that the runtime inserted",
        [OC_PART_UNMATCHED] = "belong to no node of the model",
        [OC_PART_OUTSIDE] = "are outside operators",
    };
    struct oc_arena *a = &r->arena;
    double ns = v->part[id].ns;
    if (!is_notable(v, ns))
        return "";
    const char *text = oc_printf(a, ". %s %s", verdict_time(r, ns), what[id]);
    if (id == OC_PART_OUTSIDE) {
        const char *name = outside_name(r, ns);
        return name && strcmp(name, OC_OUTSIDE_OPERATORS) != 0 ? oc_printf(a, "%s, most of it %s", text, name)
                                                               : text;
    }
    struct place type = largest_place(r, &r->all, &(struct scope){WEIGHT_TIME, 1u << id, NULL});
    return !type.key ? text
                     : oc_printf(a, "%s, %s of it in %s", text,
                                 type.sum * 100 >= ALL_PERCENT * ns ? "all" : verdict_time(r, type.sum),
                                 place_text(r, &type));
}

/* The name without what follows it: "Intel Xeon Processor" of "Intel Xeon Processor, 1 thread, measured". */
static const char *device_name(struct oc_report *r)
{
    const char *name = r->in->device->info->name;
    return oc_strndup(&r->arena, name, strcspn(name, ","));
}

/* ", bound by vector (63 %)": what limits most of the time of the rows with a bound. */
static const char *limit_text(struct oc_report *r, const struct oc_row_bounds *b)
{
    if (!b->n_share)
        return "";
    double percent = 100 * oc_bound_fraction(b, &b->share[0]);
    return oc_equal(b->share[0].name, oc_bound_name(OC_BOUND_UNKNOWN))
               ? oc_printf(&r->arena, ", bound unknown (%.0f %%)", percent)
               : oc_printf(&r->arena, ", bound by %s (%.0f %%)", oc_bound_short(b->share[0].name), percent);
}

/* ". 11.6 ms of the lost 12.1 ms are in 53 Conv, most of it in /layer4" */
static const char *lost_text(struct oc_report *r, double lost)
{
    const struct scope gaps = {WEIGHT_GAP, ALL_PARTS, NULL};
    struct place type = largest_place(r, &r->all, &gaps);
    if (!type.key)
        return "";
    const char *all = verdict_time(r, lost),
               *text = type.sum * 100 >= ALL_PERCENT * lost
                           ? oc_printf(&r->arena, "%s are lost, all of it", all)
                           : oc_printf(&r->arena, "%s of the lost %s are", verdict_time(r, type.sum), all);
    return oc_printf(&r->arena, ". %s in %s%s", text, place_text(r, &type), module_text(r, &gaps, &type));
}

/* ", 76 % of what NVIDIA T4 can do", and where the rest of it is lost; operators without a known bound are not
 * part of this. */
static const char *roofline_text(struct oc_report *r, const struct oc_verdict *v)
{
    struct oc_arena *a = &r->arena;
    double roof = v->part[OC_PART_ROOFLINE].ns, lost = v->part[OC_PART_ABOVE].ns, timed = roof + lost;
    const char *device = device_name(r);
    struct oc_row_bounds b;
    oc_bounds_of(r, &b);
    if (!(lost > 0))
        return oc_printf(a,
                         ". The operators take less than their roofline time on %s: its device file does not "
                         "describe what the run used",
                         device);
    if (!is_notable(v, timed))
        return oc_printf(a, ". Operators with a known bound take only %s of it", verdict_time(r, timed));
    const char *all =
        is_notable(v, v->whole_ns - timed)
            ? oc_printf(a, ". Operators with a known bound take %s of it", verdict_time(r, timed))
            : "";
    return oc_printf(a, "%s, %s%.0f %% of what %s can do%s%s", all, b.partial ? "at least " : "",
                     100 * roof / timed, device, limit_text(r, &b), lost_text(r, lost));
}

/* What a difference must exceed to be more than noise. */
static const char *doubt_text(struct oc_report *r)
{
    const struct oc_run_spread *s = &r->in->profile->spread;
    return s->n >= OC_LEAST_FOR_SPREAD && oc_run_spread_noisy(s)
               ? oc_printf(&r->arena, ". The runs spread by %.0f %%: smaller differences are noise",
                           100 * oc_run_spread_share(s))
               : "";
}

/* "; its axis is not the last (expected gain 10.7 to 11.3 ms)" */
static const char *cause_text(struct oc_report *r, const struct oc_anomaly *one)
{
    struct oc_arena *a = &r->arena;
    if (!one->cause)
        return "";
    if (!(one->gain_high_ns > 0))
        return oc_printf(a, "; %s", one->cause);
    const char *high = verdict_time(r, one->gain_high_ns);
    const char *gain = one->gain_low_ns > 0
                           ? oc_printf(a, "%s to %s", verdict_time(r, one->gain_low_ns), high)
                           : oc_printf(a, "at most %s", high);
    return oc_printf(a, "; %s (expected gain %s)", one->cause, gain);
}

/* ". Softmax /dfl/Softmax takes 11.9 ms, 11.3 ms more than rows of its class suggest": the largest anomaly, and why. */
static const char *anomaly_text(struct oc_report *r, const struct oc_verdict *v)
{
    struct oc_arena *a = &r->arena;
    const struct oc_anomaly *one = v->anomaly;
    if (!v->n_anomaly)
        return "";
    const char *rest = v->n_anomaly == 1 ? "" : oc_printf(a, "; and %u more such rows", v->n_anomaly - 1);
    return oc_printf(a, ". %s %s takes %s, %s more than rows of its class suggest%s%s",
                     oc_row_type(r, one->row), one->row->name, verdict_time(r, one->time_ns),
                     verdict_time(r, one->lost_ns), cause_text(r, one), rest);
}

static const char *measured_text(struct oc_report *r, const struct oc_headline *h, struct oc_verdict *v)
{
    static const uint8_t rest[] = {OC_PART_UNBOUND, OC_PART_ADDED, OC_PART_UNMATCHED, OC_PART_OUTSIDE};
    static const struct scope times = {WEIGHT_TIME, ALL_PARTS, NULL};
    struct oc_arena *a = &r->arena;
    bool bounded = r->in->device && v->part[OC_PART_ROOFLINE].rows;
    const struct oc_profile *p = r->in->profile;
    bool whole = isnan(h->run_ns) || p->stat == OC_STAT_SUM;
    const char *text = oc_printf(a, "%s %s%s", verdict_time(r, v->run_ns),
                                 whole ? oc_printf(a, "over %s", oc_headline_runs_text(p, a)) : "per run",
                                 bounded ? roofline_text(r, v) : where_text(r, v->whole_ns, &times));
    text = oc_printf(a, "%s%s", text, anomaly_text(r, v));
    for (size_t i = !bounded; i < OC_COUNT(rest); i++)
        text = oc_printf(a, "%s%s", text, part_text(r, v, rest[i]));
    if (r->in->device && !bounded)
        text = oc_printf(a, "%s. No operator has a known bound on %s", text, device_name(r));
    if (p->beside)
        text = oc_printf(a, "%s; %s", text, p->beside);
    else if (v->whole_ns > v->run_ns * 1.0001)
        text = oc_printf(a, "%s. Operators overlap: their times add up to %s", text,
                         verdict_time(r, v->whole_ns));
    return oc_printf(a, "%s%s", text, doubt_text(r));
}

/* The lower bound, which holds for any runtime, and the sum over operators that nothing fuses, which is none. */
static const char *bound_text(struct oc_report *r)
{
    struct oc_arena *a = &r->arena;
    struct oc_row_bounds b;
    oc_bounds_of(r, &b);
    const char *text = isnan(r->bound_s) ? NULL
                                         : oc_printf(a, "At least %s per run on %s",
                                                     verdict_time(r, oc_ns_of(r->bound_s)), device_name(r));
    if (isnan(b.roof_s))
        return text;
    const char *unfused = oc_printf(a, "%s%s unfused", b.partial || b.missing ? "at least " : "",
                                    verdict_time(r, oc_ns_of(b.roof_s)));
    text = text ? oc_printf(a, "%s; %s", text, unfused) : oc_printf(a, "On %s %s", device_name(r), unfused);
    return oc_printf(a, "%s%s%s", text, limit_text(r, &b),
                     where_text(r, oc_ns_of(b.roof_s), &(struct scope){WEIGHT_ROOFLINE, ALL_PARTS, NULL}));
}

/* The type with the most operations where the rows are not kept (oc_few_rows_do). */
static const char *type_of_totals(struct oc_report *r)
{
    const struct oc_type_total *most = r->in->analysis->by_type;
    double work = (double)most->flops + (double)most->ops;
    return oc_printf(&r->arena, ", %s %% of it in %u %s", percent_text(r, work / r->total_flo),
                     (unsigned)most->nodes, most->op_type);
}

/* Of a model alone: "8.22 GFLOP per run, 99 % of it in 53 Conv, most of it in /layer3". NULL: no work is known. */
static const char *work_text(struct oc_report *r)
{
    static const char *const word[] = {
        [OC_UPPER] = "At most ", [OC_LOWER] = "At least ", [OC_EST] = "About "};
    const struct scope work = {WEIGHT_WORK, ALL_PARTS, NULL};
    const struct oc_totals *t = r->in->analysis->total;
    unsigned quality = t->unknown_nodes ? OC_LOWER : t->work_exact ? OC_EXACT : t->quality;
    if (!(r->total_flo > 0))
        return NULL;
    return oc_printf(&r->arena, "%s%s per run%s",
                     quality < OC_COUNT(word) && word[quality] ? word[quality] : "",
                     oc_si_text(&r->arena, r->total_flo, t->ops ? "OP" : oc_work_words(r, "FLOP")),
                     r->all.row || r->all.node ? where_text(r, r->total_flo, &work) : type_of_totals(r));
}

void oc_verdict_of(struct oc_report *r, struct oc_verdict *out)
{
    struct oc_headline h;
    const char *mismatch[OC_MAX_MISMATCHES];
    *out = (struct oc_verdict){.whole_ns = (double)NAN, .run_ns = (double)NAN};
    oc_headline_of(r, &h);
    if (oc_mismatches(r->in, mismatch))
        return;
    if (h.total_ns > 0 && r->has_time && !r->in->profile->functions) {
        split_time(r, &h, out);
        out->n_anomaly = oc_anomalies_of(r, &out->anomaly);
        find_largest(r, has_gaps(r) ? WEIGHT_GAP : WEIGHT_TIME, out);
        out->text = measured_text(r, &h, out);
    } else if (!r->in->profile && r->in->device)
        out->text = bound_text(r);
    if (!out->text && !r->in->profile && r->in->analysis)
        out->text = work_text(r);
}
