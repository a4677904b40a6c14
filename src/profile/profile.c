/* Opens profiles, and what all readers need. */
#include "profile/profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/c_locale.h"
#include "base/ck.h"
#include "base/diag.h"
#include "onnxcost.h"
#include "onnxcost/profile.h"
#include "profile/core/kernel_names.h"
#include "profile/core/run_spread.h"
#include "profile/core/timeline.h"

bool oc_record_is_integer(const struct oc_prof_rec *rec)
{
    return rec->n_in && oc_class_is_int(oc_dtype_info(rec->in[0].dtype)->cls);
}

struct oc_prof_rec oc_prof_rec_new(const char *name)
{
    double none = (double)NAN;
    return (struct oc_prof_rec){.name = name,
                                .op_type = "",
                                .provider = "",
                                .precision = "",
                                .unit = "",
                                .index = -1,
                                .parent = OC_NONE,
                                .time_ns = none,
                                .self_ns = none,
                                .kernel_ns = none,
                                .share = none,
                                .host_ns = none,
                                .wait_ns = none,
                                .waits = none,
                                .min_ns = none,
                                .max_ns = none,
                                .median_ns = none,
                                .p10_ns = none,
                                .p90_ns = none,
                                .start_ns = none,
                                .calls_per_run = none,
                                .total_ns = none,
                                .total_kernel_ns = none,
                                .flop = none,
                                .energy_j = none,
                                .bytes = none,
                                .param_bytes = UINT64_MAX,
                                .act_bytes = UINT64_MAX,
                                .out_bytes = UINT64_MAX};
}

struct oc_prof_kernel oc_prof_kernel_new(const char *name, unsigned kind)
{
    double none = (double)NAN;
    return (struct oc_prof_kernel){.name = name,
                                   .precision = "",
                                   .unit = "",
                                   .library = "",
                                   .kind = (uint8_t)kind,
                                   .rec = OC_NONE,
                                   .time_ns = none,
                                   .min_ns = none,
                                   .max_ns = none,
                                   .flop = none,
                                   .bytes = none};
}

/* ---- statistics ------------------------------------------------------------------------------------- */

enum { FEW = 24, MAX_HALVINGS = 64 };

static double middle_of(double a, double b, double c)
{
    if (a < b)
        return b < c ? b : a < c ? c : a;
    return a < c ? a : b < c ? c : b;
}

/* Quicksort: faster than qsort, which calls a function per comparison; there is one value per run and
 * record. */
static void sort_values(double *v, size_t n)
{
    for (unsigned halvings = 0; n > FEW; halvings++) {
        if (halvings == MAX_HALVINGS) { /* worst case: fall back to heap sort */
            qsort(v, n, sizeof(*v), oc_by_double);
            return;
        }
        double pivot = middle_of(v[0], v[n / 2], v[n - 1]);
        size_t i = 0, k = n - 1;
        for (;; i++, k--) {
            while (v[i] < pivot)
                i++;
            while (pivot < v[k])
                k--;
            if (i >= k)
                break;
            double moved = v[i];
            v[i] = v[k];
            v[k] = moved;
        }
        size_t left = k + 1, right = n - left;
        sort_values(left < right ? v : v + left, left < right ? left : right); /* recurse into the smaller
                                                                                * part */
        v += left < right ? left : 0;
        n = left < right ? right : left;
    }
    oc_sort_few(v, n);
}

static double profile_sum_of(const double *v, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += v[i];
    return sum;
}

double oc_stat_of(enum oc_stat stat, double *v, size_t n)
{
    sort_values(v, n);
    switch (stat) {
    case OC_STAT_MEAN:
        return profile_sum_of(v, n) / (double)n;
    case OC_STAT_MIN:
        return v[0];
    case OC_STAT_MAX:
        return v[n - 1];
    case OC_STAT_SUM:
        return profile_sum_of(v, n);
    case OC_STAT_TYPICAL: {
        size_t cut = n / 4, left = n - 2 * cut;
        return profile_sum_of(v + cut, left) / (double)left;
    }
    default:
        return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
    }
}

double oc_percentile_of(const double *sorted, size_t n, double share)
{
    double at = share * (double)(n - 1);
    size_t i = (size_t)at;
    return i + 1 < n ? sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}

const char *oc_stat_name(enum oc_stat stat)
{
    static const char *const name[] = {
        [OC_STAT_TYPICAL] = "typical", [OC_STAT_MEAN] = "mean", [OC_STAT_MEDIAN] = "median",
        [OC_STAT_MIN] = "min",         [OC_STAT_MAX] = "max",   [OC_STAT_SUM] = "sum"};
    return (size_t)stat < OC_COUNT(name) ? name[stat] : "?";
}

const char *oc_runs_from_name(enum oc_runs_from from)
{
    static const char *const name[] = {[OC_RUNS_UNKNOWN] = NULL,
                                       [OC_RUNS_MARKED] = "marked",
                                       [OC_RUNS_MEAN] = "mean",
                                       [OC_RUNS_REPEAT] = "repetition",
                                       [OC_RUNS_GIVEN] = "given"};
    return (size_t)from < OC_COUNT(name) ? name[from] : NULL;
}

bool oc_prof_add_device(struct oc_profile *p, const char *name)
{
    if (!*name || strstr(p->device, name)) /* several of one kind */
        return false;
    p->device = *p->device ? oc_printf(&p->arena, "%s + %s", p->device, name) : name;
    return true;
}

uint32_t oc_prof_use_runs(struct oc_profile *p, uint32_t n_run, int32_t warmup)
{
    /* measured: after the first run is left out, the next one is still 15 % slower in the median */
    uint32_t usual = n_run >= 6 ? 2 : n_run >= 2, most = n_run ? n_run - 1 : 0;
    uint32_t drop = !warmup ? usual : warmup < 0 ? 0 : (uint32_t)warmup;
    if (drop > most && n_run)
        oc_diag_add(&p->diags, OC_WARNING, "W-warmup", "",
                    "%u warm-up runs requested, but the file has %u: only the last one is used", drop, n_run);
    drop = drop > most ? most : drop;
    p->runs_total = n_run;
    p->runs_used = n_run - drop;
    return drop;
}

/* ---- sources: files of one measurement -------------------------------------------------------------- */

struct source {
    const struct oc_importer *imp;
    struct oc_source_file *file;
    size_t n;
    const char *label; /* of the lines that are read, if others are a profile too; NULL: all lines */
};

struct sources {
    struct source *source;
    size_t n, cap;
    struct oc_arena arena; /* paths */
};

static bool has_part(const struct source *s, unsigned part)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->file[i].part == part)
            return true;
    return false;
}

/* Length of the path without the part's suffix, SIZE_MAX: it has another suffix. */
static size_t stem(const struct oc_importer *imp, const struct oc_source_file *f)
{
    const char *suffix = f->part < imp->n_part ? imp->part[f->part].suffix : NULL;
    size_t n = strlen(f->path), k = suffix ? strlen(suffix) : 0;
    return k && n > k && strcmp(f->path + n - k, suffix) == 0 ? n - k : SIZE_MAX;
}

static bool same_stem(const struct source *s, const struct oc_source_file *f)
{
    size_t n = stem(s->imp, f);
    for (size_t i = 0; i < s->n && n != SIZE_MAX; i++)
        if (stem(s->imp, &s->file[i]) == n && memcmp(s->file[i].path, f->path, n) == 0)
            return true;
    return false;
}

/* The source that the file belongs to: one with the same stem, otherwise the last one that lacks this
 * part. */
static struct source *find_source(struct sources *all, const struct oc_importer *imp,
                                  const struct oc_source_file *f)
{
    struct source *best = NULL;
    for (size_t i = 0; i < all->n; i++) {
        struct source *s = &all->source[i];
        if (s->imp != imp || imp->n_part < 2 || has_part(s, f->part))
            continue;
        if (same_stem(s, f))
            return s;
        best = s;
    }
    return best;
}

static int profile_add_file(struct source *s, const char *path, const struct oc_probed *how,
                            const struct oc_profile_opts *opts, struct oc_err *err)
{
    struct oc_stream *stream;
    if (oc_stream_open(path, opts->limits, &stream, err) != 0)
        return -1;
    if (oc_log_prefix_any(&how->prefix))
        oc_stream_unwrap(stream, &how->prefix);
    oc_stream_skip(stream, how->skip);
    s->file = oc_xrealloc(s->file, (s->n + 1) * sizeof(*s->file));
    s->file[s->n++] = (struct oc_source_file){.path = path, .s = stream, .part = how->part};
    return 0;
}

static int profile_add_path(struct sources *all, const char *path, const struct oc_profile_opts *opts,
                            struct oc_err *err)
{
    struct oc_source_file f = {.path = path};
    struct oc_probed how;
    if (oc_profile_probe(path, opts->format, &how, err) != 0 &&
        (!opts->map || opts->format || oc_profile_probe(path, "generic_csv", &how, err) != 0))
        return -1;
    f.part = how.part;
    struct source *s = find_source(all, how.imp, &f);
    if (!s) {
        OC_GROW(all->source, all->n, all->cap);
        s = &all->source[all->n++];
        *s = (struct source){.imp = how.imp};
    }
    if (how.other_labels)
        s->label = oc_strdup(&all->arena, how.prefix.label);
    return profile_add_file(s, path, &how, opts, err);
}

static int profile_add_folder(struct sources *all, const char *path, const struct oc_profile_opts *opts,
                              struct oc_err *err)
{
    const char **file = NULL;
    size_t n = 0;
    int rc = oc_profile_folder(path, &all->arena, &file, &n, err);
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = profile_add_path(all, file[i], opts, err);
    return rc;
}

/* Adds files in the same folder that the importer's parts refer to; skips files of another format. */
static int add_siblings(struct sources *all, struct source *s, const struct oc_profile_opts *opts,
                        struct oc_err *err)
{
    size_t n = stem(s->imp, &s->file[0]);
    for (unsigned part = 0; n != SIZE_MAX && part < s->imp->n_part; part++) {
        struct oc_probed how;
        const char *suffix = s->imp->part[part].suffix;
        if (!suffix || has_part(s, part))
            continue;
        const char *path = oc_printf(&all->arena, "%.*s%s", (int)n, s->file[0].path, suffix);
        if (access(path, R_OK) != 0 || oc_profile_probe(path, NULL, &how, NULL) != 0)
            continue;
        if (how.imp == s->imp && how.part == part && profile_add_file(s, path, &how, opts, err) != 0)
            return -1;
    }
    return 0;
}

/* A column map that no file is read with would change nothing without a word. */
static int check_map(const struct sources *all, const struct oc_profile_opts *opts, struct oc_err *err)
{
    if (!opts->map || !all->n)
        return 0;
    for (size_t i = 0; i < all->n; i++)
        if (strcmp(all->source[i].imp->name, "generic_csv") == 0)
            return 0;
    return oc_fail(
        err, OC_EARG,
        "--map names the columns of a table, but '%.200s' is read as %s: leave out --map, or, for a "
        "table, add --profile-format generic_csv",
        all->source[0].file[0].path, all->source[0].imp->name);
}

static void close_sources(struct sources *all)
{
    for (size_t i = 0; i < all->n; i++) {
        for (size_t k = 0; k < all->source[i].n; k++)
            oc_stream_close(all->source[i].file[k].s);
        free(all->source[i].file);
    }
    free(all->source);
    oc_arena_free(&all->arena);
}

/* ---- conservation of time -------------------------------------------------------------------------- */

void oc_profile_conserved(const struct oc_profile *p, bool device, struct oc_conserved *out)
{
    long double sum[2] = {0, 0}, size = 0;
    bool any = false;
    for (uint32_t i = 0; i < p->n_rec; i++) {
        double ns = device ? p->rec[i].total_kernel_ns : p->rec[i].total_ns;
        if (isnan(ns))
            continue;
        any = true;
        sum[p->rec[i].bucket || p->rec[i].overhead] += (long double)ns;
        size += fabsl((long double)ns);
    }
    double imported_ns = device ? p->imported_kernel_ns : p->imported_ns;
    long double lost = (long double)imported_ns - sum[0] - sum[1];
    if (fabsl(lost) <= 1e-12L * size) /* parts that cancel, each rounded: no time is lost */
        lost = 0;
    *out = (struct oc_conserved){.imported_ns = imported_ns,
                                 .operators_ns = any ? (double)sum[0] : (double)NAN,
                                 .buckets_ns = any ? (double)sum[1] : (double)NAN,
                                 .lost_ns = (double)lost};
}

bool oc_time_is_lost(double lost_ns, double imported_ns)
{
    return fabs(lost_ns) >= 1 && fabs(lost_ns) > 1e-12 * fabs(imported_ns);
}

/* ---- reading ---------------------------------------------------------------------------------------- */

static struct oc_profile *new_profile(const struct source *s, const struct oc_profile_opts *opts)
{
    struct oc_profile *p = oc_xmalloc(sizeof(*p));
    *p = (struct oc_profile){.format = s->imp->name,
                             .producer = "",
                             .device = "",
                             .stat = opts->stat,
                             .runs_used = 1,
                             .run_ns = NAN,
                             .busy_ns = NAN,
                             .device_busy_ns = NAN,
                             .imported_ns = NAN,
                             .imported_kernel_ns = NAN};
    p->names.arena = p->diags.arena = &p->arena;
    p->path = oc_strdup(&p->arena, s->file[0].path);
    if (opts->limits)
        p->limits = *opts->limits;
    p->exprs = oc_exprs_new(&p->arena);
    if (s->label)
        oc_diag_add(
            &p->diags, OC_WARNING, "W-several-profiles", "",
            "the lines of several processes are profiles: only those with the label '%s' are read; save "
            "each to its own file",
            s->label);
    return p;
}

/* Every importer sums its input before it groups it into records; no time may be lost. */
static void check_conserved(struct oc_profile *p)
{
    for (int device = 0; device < 2; device++) {
        struct oc_conserved c;
        oc_profile_conserved(p, device != 0, &c);
        if (oc_time_is_lost(c.lost_ns, c.imported_ns))
            oc_diag_add(&p->diags, OC_ERROR, "E-conservation", "",
                        "internal error: of %.0f ns of %s time in the file, the records differ by %.0f ns",
                        c.imported_ns, device ? "device" : "host", -c.lost_ns);
    }
}

/* Times of a whole recording become means over the runs that the user counts. */
static void divide_rec(struct oc_prof_rec *r, double n)
{
    double *const part[] = {&r->time_ns, &r->self_ns, &r->kernel_ns, &r->host_ns,
                            &r->wait_ns, &r->flop,    &r->bytes,     &r->energy_j};
    for (size_t i = 0; i < OC_COUNT(part); i++)
        *part[i] /= n;
    r->min_ns = r->max_ns = r->median_ns = r->p10_ns = r->p90_ns = NAN;
    r->calls_per_run = (double)r->calls / n;
    r->runs = (uint32_t)n;
    r->has_macs = r->has_macs && r->macs % (uint64_t)n == 0;
    r->macs /= (uint64_t)n;
}

static void use_iterations(struct oc_profile *p, uint32_t n)
{
    if (!n || p->functions || p->runs_from == OC_RUNS_GIVEN)
        return;
    if (p->runs_from != OC_RUNS_UNKNOWN) {
        oc_diag_add(&p->diags, OC_WARNING, "W-iterations", "",
                    "--iterations %u is ignored: the runs of this profile are %s", n,
                    p->runs_from == OC_RUNS_MEAN ? "averaged by its source" : "marked in it");
        return;
    }
    oc_diags_drop(&p->diags, 0, " W-no-run ");
    for (uint32_t i = 0; i < p->n_rec; i++)
        divide_rec(&p->rec[i], n);
    for (uint32_t i = 0; i < p->n_kernel; i++)
        p->kernel[i].time_ns /= n;
    p->busy_ns = p->device_busy_ns = p->run_ns = NAN;
    p->runs_total = p->runs_used = n;
    p->runs_from = OC_RUNS_GIVEN;
    p->stat = OC_STAT_MEAN;
}

/* A reader that has one value for a record has no minimum, median or maximum over runs, unless there was one run. */
static void forget_spread(struct oc_profile *p)
{
    for (uint32_t i = 0; i < p->n_rec && !p->runs_total; i++) {
        struct oc_prof_rec *r = &p->rec[i];
        const struct {
            double *ns;
            enum oc_stat stat; /* whose value it is; OC_STAT_SUM: of none */
        } of[] = {{&r->min_ns, OC_STAT_MIN},
                  {&r->p10_ns, OC_STAT_SUM},
                  {&r->median_ns, OC_STAT_MEDIAN},
                  {&r->p90_ns, OC_STAT_SUM},
                  {&r->max_ns, OC_STAT_MAX}};
        for (size_t k = 0; k < OC_COUNT(of); k++)
            if (*of[k].ns == r->time_ns && (of[k].stat == OC_STAT_SUM || p->stat != of[k].stat))
                *of[k].ns = NAN;
    }
}

/* Without known runs there is no run time; the operators of a run take no longer than the run. */
static void check_runs(struct oc_profile *p)
{
    const char *what = NULL;
    if (!oc_profile_runs_known(p) && !isnan(p->run_ns))
        what = "a run time without a known number of runs";
    else if (p->runs_from == OC_RUNS_UNKNOWN && p->runs_total)
        what = "a number of runs from no source";
    else if (p->busy_ns > p->run_ns * (1 + 1e-9) + 1)
        what = "operators that take longer than the run";
    else if (p->runs_total && p->runs_used > p->runs_total)
        what = "more runs used than there are";
    if (!what)
        return;
    oc_diag_add(&p->diags, OC_ERROR, "E-runs", "", "internal error: the reader of %s reports %s", p->format,
                what);
    p->run_ns = p->busy_ns = p->device_busy_ns = NAN;
    p->runs_from = OC_RUNS_UNKNOWN;
    p->runs_total = 0;
}

/* Whether and where the caller's flag stopped reading. */
static bool describe_stop(const struct source *s, const struct oc_profile *p, char *text, size_t cap)
{
    uint64_t done = 0, all = 0;
    bool stopped = p->stopped;
    for (size_t i = 0; i < s->n; i++) {
        uint64_t read_bytes, all_bytes;
        stopped |= oc_stream_stopped(s->file[i].s, &read_bytes, &all_bytes);
        done += read_bytes;
        all += all_bytes;
    }
    if (p->stopped)
        snprintf(text, cap, "reading was stopped after %llu rows of a file of %llu bytes",
                 (unsigned long long)p->stopped_rows, (unsigned long long)all);
    else
        snprintf(text, cap, "reading was stopped after %llu of %llu bytes", (unsigned long long)done,
                 (unsigned long long)all);
    return stopped;
}

/* The truncation that the importer reported was caused by the stop. */
static void mark_partial(struct oc_profile *p, const char *text)
{
    oc_diags_drop(&p->diags, 0, " W-truncated ");
    p->truncated = true;
    oc_diag_add(&p->diags, OC_WARNING, "W-partial", "", "%s: the file is only a part of the measurement",
                text);
}

void oc_prof_over(struct oc_profile *p, enum oc_input_limit which)
{
    p->which = p->over ? p->which : which;
    p->over = true;
}

/* An exceeded limit truncates the text; the importer's error about the truncation is dropped. */
static int check_limits(const struct source *s, const struct oc_profile *p, struct oc_err *err)
{
    for (size_t i = 0; i < s->n; i++)
        if (oc_stream_check(s->file[i].s, err) != 0)
            return oc_err_at(err, s->file[i].path, 0, 0);
    return p->over ? oc_input_limit_fail(&p->limits, p->which, 0, err) : 0;
}

/* A reader that recognizes a file and finds no time in it did not understand it: a report of 0 ns would be
 * wrong. */
static int check_time(const struct source *s, const struct oc_profile *p, struct oc_err *err)
{
    bool any =
        s->imp->may_lack_time || p->event || p->imported_ns > 0 || p->imported_kernel_ns > 0 || p->run_ns > 0;
    for (uint32_t i = 0; i < p->n_rec && !any; i++)
        any = p->rec[i].total_ns > 0 || p->rec[i].total_kernel_ns > 0;
    return any ? 0
               : oc_fail(err, OC_EFORMAT,
                         "recognized as %s (%s), but it contains no time; record it again, or name another "
                         "format with --profile-format",
                         s->imp->name, s->imp->title);
}

/* A recording of copies alone, for example. */
static void warn_of_no_operators(struct oc_profile *p)
{
    uint32_t i = 0;
    while (i < p->n_rec && p->rec[i].bucket)
        i++;
    if (p->n_rec && i == p->n_rec)
        oc_diag_add(&p->diags, OC_WARNING, "W-no-operators", "",
                    "the file has no times of operators or kernels: all its time is '%s'", p->rec[0].bucket);
}

static int profile_read_source(const struct source *s, const struct oc_profile_opts *opts,
                               struct oc_profile **out, struct oc_err *err)
{
    struct oc_profile *p = new_profile(s, opts);
    struct oc_source src = {.file = s->file, .n = s->n};
    char where[128];
    for (size_t i = 0; i < s->n; i++)
        oc_stream_watch(s->file[i].s, opts->stop, opts->reading);
    int rc = oc_importer_read(s->imp, &src, opts, p, err);
    rc = rc ? rc : check_time(s, p, err);
    bool stopped = describe_stop(s, p, where, sizeof(where));
    bool told = rc != 0 && err && err->code == OC_ELIMIT; /* with a position */
    if ((!told && check_limits(s, p, err) != 0) || rc != 0) {
        if (stopped)
            oc_fail(err, OC_ESTOPPED, "%s, which contain nothing to report", where);
        if (err && !err->file[0])
            oc_err_at(err, p->path, err->line, err->offset_bytes);
        oc_err_prefix(err, "cannot read '%s'", err && err->file[0] ? err->file : p->path);
        oc_profile_close(p);
        return -1;
    }
    if (stopped)
        mark_partial(p, where);
    check_conserved(p);
    warn_of_no_operators(p);
    use_iterations(p, opts->iterations);
    check_runs(p);
    forget_spread(p);
    oc_profile_name_kernels(p, opts->kernel_names);
    *out = p;
    return 0;
}

int oc_profile_from_mem(const struct oc_importer *imp, const void *data, size_t n,
                        const struct oc_profile_opts *opts, struct oc_profile **out, struct oc_err *err)
{
    struct oc_source_file file = {.path = "", .s = oc_stream_mem(data, n)};
    struct source s = {.imp = imp, .file = &file, .n = 1};
    oc_stream_set_limits(file.s, opts->limits);
    int rc = profile_read_source(&s, opts, out, err);
    oc_stream_close(file.s);
    return rc;
}

static int check_numbers(const struct oc_profile_opts *o, struct oc_err *err)
{
    const struct oc_option_range range[] = {{"warmup", o->warmup, OC_WARMUP_NONE, INT32_MAX},
                                            {"iterations", o->iterations, 0, INT32_MAX},
                                            {"stat", (int64_t)o->stat, OC_STAT_TYPICAL, OC_STAT_SUM}};
    return oc_options_check(range, OC_COUNT(range), err);
}

int oc_profile_open_all(const char *const *path, size_t n, const struct oc_profile_opts *given,
                        struct oc_profile ***out, size_t *n_out, struct oc_err *err)
{
    struct sources all = {0};
    struct oc_profile **list = NULL;
    int rc = 0;
    *out = NULL;
    *n_out = 0;
    struct oc_profile_opts o;
    struct oc_input_limits limits;
    if (OC_OPTIONS(&o, given, err) || OC_OPTIONS(&limits, o.limits, err) || check_numbers(&o, err))
        return -1;
    o.limits = &limits;
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = (oc_is_folder(path[i]) ? profile_add_folder : profile_add_path)(&all, path[i], &o, err);
    rc = rc ? rc : check_map(&all, &o, err);
    for (size_t i = 0; i < all.n && rc == 0; i++)
        rc = add_siblings(&all, &all.source[i], &o, err);
    list = oc_xmalloc((all.n + 1) * sizeof(*list));
    for (size_t i = 0; i < all.n && rc == 0; i++) {
        rc = profile_read_source(&all.source[i], &o, &list[i], err);
        *n_out += rc == 0;
    }
    close_sources(&all);
    if (rc == 0) {
        *out = list;
        return 0;
    }
    for (; *n_out; --*n_out)
        oc_profile_close(list[*n_out - 1]);
    free(list);
    return -1;
}

int oc_profile_open(const char *path, const struct oc_profile_opts *opts, struct oc_profile **out,
                    struct oc_err *err)
{
    OC_ENTRY(err);
    struct oc_profile **list;
    size_t n;
    *out = NULL;
    if (oc_profile_open_all(&path, 1, opts, &list, &n, err) != 0)
        return -1;
    *out = list[0];
    for (size_t i = 1; i < n; i++)
        oc_profile_close(list[i]);
    free(list);
    return 0;
}

void oc_profile_close(struct oc_profile *p)
{
    if (!p)
        return;
    oc_timeline_free(p->timeline);
    oc_diags_free(&p->diags);
    oc_map_free(&p->names);
    oc_exprs_free(p->exprs);
    oc_arena_free(&p->arena);
    free(p);
}

const char *oc_profile_importer(const struct oc_profile *p)
{
    return p->format;
}

enum oc_stat oc_profile_stat(const struct oc_profile *p)
{
    return p->stat;
}

/* A model number distinguishes a device from a kind of device ("CPU", "CUDA"). */
const char *oc_profile_device(const struct oc_profile *p)
{
    return strpbrk(p->device, "0123456789") ? p->device : NULL;
}

size_t oc_profile_diags(const struct oc_profile *p, const struct oc_diag **out)
{
    *out = p->diags.item;
    return p->diags.n;
}
