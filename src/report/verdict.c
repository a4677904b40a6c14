#include "report/headline.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/units.h"
#include "hw/hwdb.h"
#include "join/join.h"
#include "onnxcost.h"
#include "report/columns.h"
#include "report/row_roof.h"

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
        part->ns += oc_ns_of(row->time_s) / r->runs;
        part->rows++;
        roof_ns += part == &v->part[OC_PART_ROOFLINE] ? oc_ns_of(row->roofline_s) / r->runs : 0;
    }
    struct oc_time_part *roof = &v->part[OC_PART_ROOFLINE], *above = &v->part[OC_PART_ABOVE];
    for (unsigned i = 0; i < OC_PART_COUNT; i++)
        rows_ns += v->part[i].ns;
    if (roof->ns > roof_ns) {
        *above = (struct oc_time_part){name[OC_PART_ABOVE], roof->ns - roof_ns, roof->rows};
        roof->ns = roof_ns;
    }
    v->run_ns = isnan(h->run_ns) ? h->total_ns : h->run_ns;
    if (v->run_ns > rows_ns)
        v->part[OC_PART_OUTSIDE].ns = v->run_ns - rows_ns;
    v->whole_ns = rows_ns + v->part[OC_PART_OUTSIDE].ns;
}

/* ---- largest rows ----------------------------------------------------------------------------------- */

static double weight_ns(const struct oc_report *r, const struct oc_row *row, bool gaps)
{
    double s = gaps ? row->wasted_s : row->time_s;
    return isnan(s) ? 0 : oc_ns_of(s) / r->runs;
}

static bool has_gaps(const struct oc_report *r)
{
    for (uint32_t i = 0; i < r->all.n; i++)
        if (r->all.row[i].wasted_s > 0 && r->has_time)
            return true;
    return false;
}

static void find_largest(struct oc_report *r, bool gaps, struct oc_verdict *v)
{
    for (uint32_t i = 0; i < r->all.n; i++) {
        const struct oc_row *row = &r->all.row[i];
        double ns = weight_ns(r, row, gaps);
        uint32_t at = v->n_largest;
        while (at && ns > weight_ns(r, v->largest[at - 1].row, gaps))
            at--;
        if (at == OC_LARGEST || !(ns > 0))
            continue;
        v->n_largest += v->n_largest < OC_LARGEST;
        memmove(&v->largest[at + 1], &v->largest[at], (v->n_largest - at - 1) * sizeof(*v->largest));
        v->largest[at] = (struct oc_largest){.row = row};
    }
    for (uint32_t i = 0; i < v->n_largest; i++) {
        struct oc_largest *l = &v->largest[i];
        l->label = oc_row_label(r, l->row);
        l->time_ns = weight_ns(r, l->row, false);
        l->gap_ns = gaps ? weight_ns(r, l->row, true) : (double)NAN;
    }
}

/* ---- where ------------------------------------------------------------------------------------------ */

struct place { /* rows of one operator type or module */
    const char *key;
    double ns;
    uint32_t rows;
};

/* The key with the largest sum; only rows of `type` where it is given. */
static struct place largest_place(struct oc_report *r, struct oc_rows *rows, bool gaps, const char *type)
{
    struct oc_map seen = {.arena = &r->arena};
    struct place *place = OC_NEW_ARRAY(&r->arena, rows->n + 1, struct place);
    uint32_t n = 0, best = 0;
    for (uint32_t i = 0; i < rows->n; i++) {
        const struct oc_row *row = &rows->row[i];
        const char *key = type ? row->group : oc_row_type(r, row);
        uint32_t at = n;
        if (!key || isnan(row->time_s) || (type && !oc_equal(oc_row_type(r, row), type)))
            continue;
        if (oc_map_add(&seen, key, strlen(key), &at, NULL))
            place[n++] = (struct place){.key = key};
        place[at].ns += weight_ns(r, row, gaps);
        place[at].rows++;
    }
    for (uint32_t i = 1; i < n; i++)
        best = place[i].ns > place[best].ns ? i : best;
    oc_map_free(&seen);
    return place[best];
}

enum { MODULE_DEPTH = 3, MODULE_ROWS = 20000 };

/* ", 58 % of that in /layer4": the module that has most of the type's sum, if it is a part of the model that
 * says something. "": none. */
static const char *module_text(struct oc_report *r, const struct place *of, bool gaps)
{
    struct oc_rows copy = r->all;
    if (!r->in->analysis || r->all.n > MODULE_ROWS)
        return "";
    copy.row = OC_NEW_ARRAY(&r->arena, copy.n, struct oc_row);
    memcpy(copy.row, r->all.row, copy.n * sizeof(*copy.row));
    for (unsigned depth = 1; depth <= MODULE_DEPTH; depth++) {
        char key[16];
        struct oc_group_by by[OC_MAX_GROUP_KEYS];
        struct oc_err err;
        size_t n = 0;
        snprintf(key, sizeof(key), "module:%u", depth);
        if (oc_group_by_read("module", key, by, &n, &err))
            return "";
        oc_group_keys(r, by, n, &copy);
        struct place m = largest_place(r, &copy, gaps, of->key);
        double share = of->ns > 0 ? m.ns / of->ns : 0;
        if (share < 0.2 || !m.key || *m.key == '(')
            return "";
        if (share <= 0.9)
            return oc_printf(&r->arena, ", %.0f %% of that in %s", 100 * share, m.key);
    }
    return "";
}

/* "71 % of it in 52 Conv, 58 % of that in /layer4" */
static const char *where_text(struct oc_report *r, double whole_ns, bool gaps)
{
    struct place type = largest_place(r, &r->all, gaps, NULL);
    if (!type.key || !(whole_ns > 0))
        return "";
    double share = type.ns / whole_ns;
    return oc_printf(&r->arena, "%.0f %% of it in %u %s%s", 100 * (share < 1 ? share : 1), type.rows,
                     type.key, module_text(r, &type, gaps));
}

/* ---- sentence --------------------------------------------------------------------------------------- */

enum { NOTABLE_PERCENT = 5 }; /* of the time: smaller parts are not mentioned */

static const char *part_text(struct oc_report *r, const struct oc_verdict *v, unsigned id)
{
    const struct oc_time_part *p = &v->part[id];
    return p->ns * 100 >= NOTABLE_PERCENT * v->whole_ns
               ? oc_printf(&r->arena, "; %s %s", verdict_time(r, p->ns), p->name)
               : "";
}

static const char *measured_text(struct oc_report *r, const struct oc_headline *h, struct oc_verdict *v)
{
    struct oc_arena *a = &r->arena;
    const struct oc_time_part *roof = &v->part[OC_PART_ROOFLINE], *above = &v->part[OC_PART_ABOVE];
    const char *text = oc_printf(a, "%s %s", verdict_time(r, v->run_ns),
                                 isnan(h->run_ns) ? "over an unknown number of runs" : "per run");
    if (!r->in->device)
        text = oc_printf(a, "%s; %s", text, where_text(r, v->whole_ns, false));
    else if (!roof->rows)
        text = oc_printf(a, "%s; no bound of any operator on %s is known", text, r->in->device->info->name);
    else if (!(above->ns > 0))
        text = oc_printf(a,
                         "%s, less than the roofline time on %s: its device file does not describe what "
                         "the run used",
                         text, r->in->device->info->name);
    else
        text = oc_printf(a, "%s; the operators reach %.0f %% of the roofline of %s; %s above it, %s", text,
                         100 * roof->ns / (roof->ns + above->ns), r->in->device->info->name,
                         verdict_time(r, above->ns), where_text(r, above->ns, true));
    static const uint8_t rest[] = {OC_PART_UNBOUND, OC_PART_ADDED, OC_PART_UNMATCHED, OC_PART_OUTSIDE};
    for (size_t i = !r->in->device; i < OC_COUNT(rest); i++)
        text = oc_printf(a, "%s%s", text, part_text(r, v, rest[i]));
    if (v->whole_ns > v->run_ns * 1.0001)
        text =
            oc_printf(a, "%s; operators overlap: their times sum to %s", text, verdict_time(r, v->whole_ns));
    return text;
}

static const char *bound_text(struct oc_report *r)
{
    struct oc_row_bounds b;
    oc_bounds_of(r, &b);
    if (isnan(r->bound_s) && isnan(b.roof_s))
        return NULL;
    const char *text = oc_printf(&r->arena, "At least %s per run on %s",
                                 verdict_time(r, oc_ns_of(isnan(r->bound_s) ? b.roof_s : r->bound_s)),
                                 r->in->device->info->name);
    if (!isnan(r->bound_s) && !isnan(b.roof_s))
        text = oc_printf(&r->arena, "%s; unfused %s", text, verdict_time(r, oc_ns_of(b.roof_s)));
    return b.n_share ? oc_printf(&r->arena, "%s, bound by %s (%.0f %%)", text, b.share[0].name,
                                 100 * oc_bound_fraction(&b, &b.share[0]))
                     : text;
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
        find_largest(r, has_gaps(r), out);
        out->text = measured_text(r, &h, out);
    } else if (!r->in->profile && r->in->device)
        out->text = bound_text(r);
}
