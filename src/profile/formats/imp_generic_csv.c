/* Tables of functions (function_tables.c), and any table with a column map. Functions are not operators: they are assigned to classes by name and
 * never matched to nodes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "onnxcost/profile.h"
#include "profile/formats/function_tables.h"
#include "profile/printed/printed.h"

struct reading {
    struct oc_csv *c;
    struct oc_profile *p;
    const struct oc_profile_opts *opts;
    struct oc_rec_list list;
    struct oc_column_map map;
    bool per_call; /* the columns are statistics over calls: each call counts as a run */
};

/* ---- column map ------------------------------------------------------------------------------------- */

static const char *const key_name[OC_MAP_KEYS] = {
    [OC_MAP_NAME] = "name",     [OC_MAP_TYPE] = "type",     [OC_MAP_PROVIDER] = "provider",
    [OC_MAP_TIME] = "time",     [OC_MAP_MEAN] = "mean",     [OC_MAP_CALLS] = "calls",
    [OC_MAP_MIN] = "min",       [OC_MAP_MAX] = "max",       [OC_MAP_MEDIAN] = "median",
    [OC_MAP_KERNEL] = "kernel", [OC_MAP_ENERGY] = "energy",
};

static const char *map_key_name(unsigned key)
{
    return key < OC_MAP_KEYS ? key_name[key] : "?";
}

static bool energy_unit(struct oc_str s, double *joule)
{
    static const struct {
        const char *name;
        double joule;
    } units[] = {{"kJ", 1e3},       {"J", 1},          {"mJ", 1e-3}, {"uJ", 1e-6},
                 {"\u00b5J", 1e-6}, {"\u03bcJ", 1e-6}, {"nJ", 1e-9}, {"pJ", 1e-12}};
    for (size_t i = 0; i < OC_COUNT(units); i++)
        if (oc_str_eq(s, units[i].name)) {
            *joule = units[i].joule;
            return true;
        }
    return false;
}

/* The unit of a column in ns, of OC_MAP_ENERGY in J. */
static bool map_unit(unsigned key, struct oc_str text, double *unit)
{
    return key == OC_MAP_ENERGY                        ? energy_unit(text, unit)
           : key >= OC_MAP_TIME && key != OC_MAP_CALLS ? oc_csv_time_unit(text, unit)
                                                       : false;
}

static unsigned key_of(struct oc_str s)
{
    unsigned k = 0;
    while (k < OC_MAP_KEYS && !oc_csv_same(s, key_name[k]))
        k++;
    return k;
}

/* "'CPU Time':ms": splits the column without quotes from the unit. */
static bool take_column(struct oc_str s, struct oc_arena *a, unsigned key, struct oc_column_map *out)
{
    const char *colon = s.n ? memrchr(s.s, ':', s.n) : NULL;
    out->unit[key] = NAN;
    if (colon && map_unit(key, oc_csv_trim(oc_str_from(s, colon + 1)), &out->unit[key]))
        s = oc_csv_trim(oc_str_before(s, colon));
    if (s.n >= 2 && (s.s[0] == '\'' || s.s[0] == '"') && s.s[s.n - 1] == s.s[0])
        s = (struct oc_str){s.s + 1, s.n - 2};
    out->column[key] = oc_strndup(a, s.s, s.n);
    return s.n > 0;
}

/* Text up to the next comma outside quotes. */
static size_t part_length(const char *s)
{
    char quote = '\0';
    size_t i = 0;
    for (; s[i] && (quote || s[i] != ','); i++) {
        if (quote ? s[i] == quote : (s[i] == '\'' || s[i] == '"') && i && s[i - 1] == '=')
            quote = (char)(quote ? 0 : s[i]);
    }
    return i;
}

int oc_column_map_parse(const char *text, struct oc_arena *a, struct oc_column_map *out, struct oc_err *err)
{
    *out = (struct oc_column_map){0};
    while (*text) {
        size_t n = part_length(text);
        struct oc_str part = oc_csv_trim((struct oc_str){text, n});
        const char *equals = oc_str_chr(part, '=');
        size_t k = equals ? (size_t)(equals - part.s) : 0;
        unsigned key = key_of(oc_csv_trim((struct oc_str){part.s, k}));
        if (!equals || key == OC_MAP_KEYS)
            return oc_fail(err, OC_EARG,
                           "--map: '%.*s' is not KEY=COLUMN; the keys are name, type, provider, time, "
                           "mean, calls, min, max, median, kernel, energy",
                           (int)(part.n < 80 ? part.n : 80), part.s);
        if (out->column[key])
            return oc_fail(err, OC_EARG, "--map: '%s' is given twice; give each key once", key_name[key]);
        if (!take_column(oc_csv_trim((struct oc_str){equals + 1, part.n - k - 1}), a, key, out))
            return oc_fail(err, OC_EARG, "--map: '%s' has no column; write %s=COLUMN", key_name[key],
                           key_name[key]);
        text += n + (text[n] == ',');
    }
    if (!out->column[OC_MAP_NAME] || !(out->column[OC_MAP_TIME] || out->column[OC_MAP_MEAN]))
        return oc_fail(err, OC_EARG, "--map needs name=COLUMN and time=COLUMN (or mean=COLUMN)");
    return 0;
}

/* Finds the columns in a header. False: one is missing. */
static bool column_map_find(struct oc_column_map *m, const struct oc_str *field, size_t n)
{
    for (unsigned k = 0; k < OC_MAP_KEYS; k++) {
        struct oc_str unit;
        double own;
        m->at[k] = OC_CSV_NONE;
        if (!m->column[k])
            continue;
        m->at[k] = oc_csv_column(field, n, m->column[k]);
        if (m->at[k] == OC_CSV_NONE)
            return false;
        (void)oc_csv_split_unit(field[m->at[k]], &unit);
        if (isnan(m->unit[k]) && map_unit(k, unit, &own))
            m->unit[k] = own;
    }
    return true;
}

/* ---- delimited tables ------------------------------------------------------------------------------- */

static bool generic_csv_is_header(void *ctx, const struct oc_str *f, size_t n)
{
    return column_map_find(ctx, f, n);
}

/* A time in ns or an energy in J. NAN: the column is not mapped, or the field is empty. */
static int generic_csv_amount(struct reading *r, const struct oc_str *f, size_t n, unsigned key, double *v,
                              struct oc_err *err)
{
    bool energy = key == OC_MAP_ENERGY;
    *v = NAN;
    struct oc_str unit, s = oc_csv_at(f, n, r->map.at[key]);
    if (!s.n)
        return 0;
    double scale = r->map.unit[key];
    bool ok = oc_csv_number(s, v, &unit) && *v >= 0 && *v < 1e15;
    if (ok && unit.n)
        ok = map_unit(key, unit, &scale);
    if (!ok)
        return oc_csv_fail(r->c, err, "column '%s': '%.*s' is not %s", r->map.column[key],
                           (int)(s.n < 80 ? s.n : 80), s.s, energy ? "an energy" : "a time");
    if (isnan(scale) && *v > 0)
        return oc_csv_fail(r->c, err, "column '%s' has no unit: add it to the map, as in %s='%s':%s",
                           r->map.column[key], map_key_name(key), r->map.column[key], energy ? "mJ" : "ms");
    *v = !(*v > 0)   ? 0
         : scale < 1 ? *v / round(1 / scale)
                     : *v * scale; /* 9 mJ are 0.009 J, not 0.009000000000000001 */
    return 0;
}

struct cells {
    double time_ns, mean_ns, min_ns, max_ns, median_ns, kernel_ns, energy_j;
    uint64_t calls;
};

static int read_cells(struct reading *r, const struct oc_str *f, size_t n, struct cells *v,
                      struct oc_err *err)
{
    struct oc_str calls = oc_csv_at(f, n, r->map.at[OC_MAP_CALLS]);
    v->calls = 0;
    if ((calls.n && oc_csv_cell_count(r->c, r->map.column[OC_MAP_CALLS], calls, &v->calls, err)) ||
        generic_csv_amount(r, f, n, OC_MAP_TIME, &v->time_ns, err) ||
        generic_csv_amount(r, f, n, OC_MAP_MEAN, &v->mean_ns, err) ||
        generic_csv_amount(r, f, n, OC_MAP_MIN, &v->min_ns, err) ||
        generic_csv_amount(r, f, n, OC_MAP_MAX, &v->max_ns, err) ||
        generic_csv_amount(r, f, n, OC_MAP_MEDIAN, &v->median_ns, err) ||
        generic_csv_amount(r, f, n, OC_MAP_KERNEL, &v->kernel_ns, err) ||
        generic_csv_amount(r, f, n, OC_MAP_ENERGY, &v->energy_j, err))
        return -1;
    double times = v->calls ? (double)v->calls : 1;
    if (isnan(v->time_ns))
        v->time_ns = v->mean_ns * times;
    if (isnan(v->mean_ns))
        v->mean_ns = v->time_ns / times;
    return 0;
}

static void generic_csv_fill_times(struct reading *r, const struct cells *v, struct oc_prof_rec *rec)
{
    rec->total_ns = v->time_ns;
    rec->total_kernel_ns = v->kernel_ns;
    rec->energy_j =
        r->per_call && r->map.column[OC_MAP_TIME] && v->calls ? v->energy_j / (double)v->calls : v->energy_j;
    rec->calls = v->calls;
    oc_rec_time(rec, r->per_call ? v->mean_ns : v->time_ns);
    rec->kernel_ns = r->per_call && v->calls ? v->kernel_ns / (double)v->calls : v->kernel_ns;
    rec->host_ns = rec->time_ns;
    rec->runs = r->per_call && v->calls && v->calls < UINT32_MAX ? (uint32_t)v->calls : 1;
    rec->calls_per_run = r->per_call ? 1 : v->calls ? (double)v->calls : (double)NAN;
    if (!isnan(v->min_ns))
        rec->min_ns = v->min_ns;
    if (!isnan(v->max_ns))
        rec->max_ns = v->max_ns;
    if (!isnan(v->median_ns))
        rec->median_ns = v->median_ns;
}

static int generic_csv_take_row(struct reading *r, const struct oc_str *f, size_t n, struct oc_err *err)
{
    struct oc_str name = oc_csv_at(f, n, r->map.at[OC_MAP_NAME]);
    struct cells v;
    if (read_cells(r, f, n, &v, err) != 0)
        return -1;
    if (!name.n || isnan(v.time_ns)) /* a total, or a line between tables */
        return 0;
    if (r->list.n >= oc_csv_max_rows(r->c))
        return oc_csv_too_many(r->c, err);
    struct oc_prof_rec *rec = oc_rec_add(&r->list);
    rec->name = oc_prof_text(r->p, name);
    if (r->p->functions)
        oc_function_classify(r->p, r->opts, oc_csv_at(f, n, r->map.at[OC_MAP_PROVIDER]), rec);
    else
        rec->provider = oc_prof_text(r->p, oc_csv_at(f, n, r->map.at[OC_MAP_PROVIDER]));
    if (r->map.column[OC_MAP_TYPE])
        rec->op_type = oc_prof_text(r->p, oc_csv_at(f, n, r->map.at[OC_MAP_TYPE]));
    rec->where = oc_csv_offset(r->c);
    generic_csv_fill_times(r, &v, rec);
    r->p->imported_ns += v.time_ns;
    if (!isnan(v.kernel_ns))
        r->p->imported_kernel_ns += v.kernel_ns;
    return 0;
}

static int no_header(struct reading *r, struct oc_err *err)
{
    const struct oc_column_map *m = &r->map;
    if (oc_csv_failed(r->c))
        return oc_csv_error(r->c, err);
    return oc_fail(err, OC_EFORMAT,
                   "no header line with the columns '%s' and '%s': name the columns with --map",
                   m->column[OC_MAP_NAME], m->column[m->column[OC_MAP_TIME] ? OC_MAP_TIME : OC_MAP_MEAN]);
}

static int read_delimited(struct reading *r, struct oc_err *err)
{
    const struct oc_str *f;
    size_t n, width;
    int rc = 0;
    if (oc_column_map_parse(r->opts->map, &r->p->arena, &r->map, err) != 0)
        return -1;
    if (!oc_csv_find(r->c, generic_csv_is_header, &r->map, &f, &n))
        return no_header(r, err);
    width = n;
    r->per_call = r->map.column[OC_MAP_MEAN] || r->map.column[OC_MAP_MEDIAN] || r->map.column[OC_MAP_MIN];
    r->p->functions = !r->map.column[OC_MAP_TYPE];
    r->p->imported_kernel_ns = r->map.column[OC_MAP_KERNEL] ? 0 : (double)NAN;
    while (rc == 0 && oc_csv_row(r->c, &f, &n)) {
        if (n && n < width && oc_csv_cut(r->c))
            oc_prof_cut(r->p, r->c);
        else if (n)
            rc = generic_csv_take_row(r, f, n, err);
    }
    return rc == 0 && oc_csv_failed(r->c) ? oc_csv_error(r->c, err) : rc;
}

/* ---- importer --------------------------------------------------------------------------------------- */

static void generic_csv_finish(struct reading *r)
{
    struct oc_profile *p = r->p;
    p->time_kind = p->event       ? oc_printf(&p->arena, "shares of %s of functions", p->event)
                   : p->functions ? "CPU time of functions"
                                  : "time";
    p->stat = r->per_call ? OC_STAT_MEAN : OC_STAT_SUM;
    /* a column of the user's --map has times of one run, or of --iterations, by which oc_profile_open divides */
    bool divided = !r->per_call && r->opts->iterations;
    p->runs_from = p->functions || !r->opts->map || divided ? OC_RUNS_UNKNOWN
                   : r->per_call                            ? OC_RUNS_MEAN
                                                            : OC_RUNS_GIVEN;
    p->runs_total = p->runs_from == OC_RUNS_GIVEN;
    if (!*p->producer)
        p->producer = "table";
    oc_rec_list_end(&r->list, p);
}

static int read_generic(const struct oc_source *src, const struct oc_profile_opts *opts,
                        struct oc_profile *out, struct oc_err *err)
{
    struct reading r = {.c = oc_csv_open(src->file[0].s), .p = out, .opts = opts};
    out->imported_ns = 0;
    int rc = opts->map ? read_delimited(&r, err) : oc_functions_read(r.c, opts, out, &r.list, err);
    if (rc == 0)
        generic_csv_finish(&r);
    oc_csv_close(r.c);
    free(r.list.rec);
    return rc;
}

static void probe_generic(const struct oc_peek *peek, struct oc_bid *bid)
{
    oc_printed_bid("functions", peek, 80, bid);
}

const struct oc_importer oc_importer_generic_csv = {
    .name = "generic_csv",
    .title = "CPU functions: VTune, perf, gprof, pstats; tables with --map",
    .seen = "gprof, perf, VTune (text) and pstats of several systems",
    .lost = "call graphs",
    .in_output = true,
    .probe = probe_generic,
    .read = read_generic,
};
