/* Recordings as samples of kernels, for calibrate and validate. */
#include "estimate/samples.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/c_locale.h"
#include "base/ck.h"
#include "base/diag.h"
#include "base/file.h"
#include "base/str.h"
#include "estimate/predict.h"
#include "onnxcost.h"
#include "onnxcost/estimate.h"
#include "onnxcost/profile.h"
#include "profile/csv_rows.h"
#include "profile/profile.h"

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), k = strlen(end);
    return n >= k && !strcmp(s + n - k, end);
}

static bool is_file(const char *path)
{
    return access(path, R_OK) == 0;
}

/* A file's name without its folder and the suffixes of `onnxcost record`. */
static char *stem_of(struct oc_arena *a, const char *path)
{
    static const char *const suffix[] = {
        ".profile.json.gz", ".profile.json", ".optimized.onnx", ".onnx", ".json.gz", ".json", ".csv"};
    const char *base = oc_base_name(path);
    for (size_t i = 0; i < OC_COUNT(suffix); i++)
        if (ends_with(base, suffix[i]) && strlen(base) > strlen(suffix[i]))
            return oc_strndup(a, base, strlen(base) - strlen(suffix[i]));
    return oc_strdup(a, base);
}

static const char *folder_of(struct oc_arena *a, const char *path)
{
    return oc_strndup(a, path, (size_t)(oc_base_name(path) - path));
}

/* ---- names ------------------------------------------------------------------------------------------ */

/* "Y@..." and "Y.anything", shorter and shorter. */
static bool shorten(char *stem)
{
    char *at = strrchr(stem, '@'), *dot = strrchr(stem, '.');
    char *cut = at > dot ? at : dot;
    if (!cut || cut == stem)
        return false;
    *cut = 0;
    return true;
}

static const char *find_model(struct oc_arena *a, const char *profile)
{
    static const char *const above[] = {"", "../"};
    const char *folder = folder_of(a, profile);
    char *stem = stem_of(a, profile);
    do {
        for (size_t i = 0; i < OC_COUNT(above); i++) {
            const char *path = oc_printf(a, "%s%s%s.onnx", folder, above[i], stem);
            if (is_file(path))
                return path;
        }
    } while (shorten(stem));
    return NULL;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Derives missing values from the file names. */
static int complete_files(struct oc_recordings *r, struct oc_recording_files *f, struct oc_err *err)
{
    struct oc_arena *a = &r->arena;
    const char *stem = stem_of(a, f->profile);
    const char *saved = oc_printf(a, "%s%s.optimized.onnx", folder_of(a, f->profile), stem);
    if (!f->optimized && is_file(saved))
        f->optimized = saved;
    if (!f->model)
        f->model = find_model(a, f->profile);
    if (!f->model)
        return oc_fail(err, OC_ENOTFOUND,
                       "no model for '%s': '%s.onnx' is not in its folder; name the model before the "
                       "profile, or in a list",
                       f->profile, stem);
    f->name = f->name ? f->name : stem;
    if (!f->id) {
        char *id = stem_of(a, f->model), *at = strchr(id, '@');
        if (at && at > id)
            *at = 0;
        f->id = id;
    }
    size_t n = 0;
    while (is_letter(f->id[n]))
        n++;
    f->family = f->family ? f->family : n ? oc_strndup(a, f->id, n) : f->id;
    return 0;
}

static int add_recording(struct oc_recordings *r, struct oc_recording_files f, struct oc_err *err)
{
    if (r->n >= OC_MAX_RECORDINGS)
        return oc_fail(err, OC_ELIMIT, "more than %u recordings", OC_MAX_RECORDINGS);
    if (complete_files(r, &f, err))
        return -1;
    OC_GROW(r->item, r->n, r->cap);
    r->item[r->n++] = f;
    return 0;
}

/* ---- lists ------------------------------------------------------------------------------------------ */

enum { PROFILE, MODEL, OPTIMIZED, NAME, ID, FAMILY, DIMS, PLAIN_MS, WARMUP, N_COLUMN };
static const char *const columns[N_COLUMN] = {"profile", "model", "optimized", "name",  "id",
                                              "family",  "dims",  "plain_ms",  "warmup"};

struct list {
    struct oc_recordings *r;
    struct oc_csv *csv;
    const char *folder;
    size_t column[N_COLUMN];
    struct oc_err *err;
};

static int read_header(struct list *l, const struct oc_str *field, size_t n)
{
    for (size_t i = 0; i < N_COLUMN; i++)
        l->column[i] = OC_CSV_NONE;
    for (size_t i = 0; i < n; i++) {
        size_t c = 0;
        while (c < N_COLUMN && !oc_csv_same(field[i], columns[c]))
            c++;
        if (c == N_COLUMN)
            return oc_csv_fail(l->csv, l->err,
                               "unknown column '%.*s'; columns: profile, model, optimized, name, id, "
                               "family, dims, plain_ms, warmup",
                               (int)field[i].n, field[i].s);
        if (l->column[c] != OC_CSV_NONE)
            return oc_csv_fail(l->csv, l->err, "column '%s' twice", columns[c]);
        l->column[c] = i;
    }
    return l->column[PROFILE] == OC_CSV_NONE ? oc_csv_fail(l->csv, l->err, "column 'profile' is missing") : 0;
}

/* NULL: empty. */
static const char *text_at(struct list *l, const struct oc_str *field, size_t n, unsigned column)
{
    struct oc_str s = oc_csv_at(field, n, l->column[column]);
    return s.n ? oc_strndup(&l->r->arena, s.s, s.n) : NULL;
}

static const char *path_at(struct list *l, const struct oc_str *field, size_t n, unsigned column)
{
    const char *s = text_at(l, field, n, column);
    return !s || *s == '/' ? s : oc_printf(&l->r->arena, "%s%s", l->folder, s);
}

static int read_row(struct list *l, const struct oc_str *field, size_t n)
{
    struct oc_recording_files f = {.profile = path_at(l, field, n, PROFILE),
                                   .model = path_at(l, field, n, MODEL),
                                   .optimized = path_at(l, field, n, OPTIMIZED),
                                   .name = text_at(l, field, n, NAME),
                                   .id = text_at(l, field, n, ID),
                                   .family = text_at(l, field, n, FAMILY),
                                   .dims = text_at(l, field, n, DIMS),
                                   .plain_s = (double)NAN,
                                   .warmup = -1};
    struct oc_str plain = oc_csv_at(field, n, l->column[PLAIN_MS]);
    struct oc_str warmup = oc_csv_at(field, n, l->column[WARMUP]);
    uint64_t runs;
    if (!f.profile)
        return oc_csv_fail(l->csv, l->err, "no profile is given");
    if (plain.n && (!oc_csv_number(plain, &f.plain_s, NULL) || !(f.plain_s > 0) || isinf(f.plain_s)))
        return oc_csv_fail(l->csv, l->err, "plain_ms is not a time: '%.*s'", (int)plain.n, plain.s);
    f.plain_s *= 1e-3;
    if (warmup.n && (!oc_csv_u64(warmup, &runs) || runs > 1000000))
        return oc_csv_fail(l->csv, l->err, "warmup is not a number of runs: '%.*s'", (int)warmup.n, warmup.s);
    if (warmup.n)
        f.warmup = (int32_t)runs;
    f.dims = f.dims ? f.dims : "";
    return add_recording(l->r, f, l->err);
}

static int read_rows(struct list *l, bool tabs)
{
    const struct oc_str *field;
    size_t n;
    oc_csv_delimiter(l->csv, tabs ? '\t' : ',');
    bool header = false;
    while (oc_csv_row(l->csv, &field, &n)) {
        bool empty = n == 0 || (n == 1 && !field[0].n) || (field[0].n && field[0].s[0] == '#');
        if (empty)
            continue;
        if (header ? read_row(l, field, n) : read_header(l, field, n))
            return -1;
        header = true;
    }
    return oc_csv_failed(l->csv) ? oc_csv_error(l->csv, l->err) : 0;
}

static int read_list(struct oc_recordings *r, const char *path, struct oc_err *err)
{
    struct oc_stream *s;
    if (oc_stream_open(path, NULL, &s, err))
        return -1;
    struct list l = {.r = r, .csv = oc_csv_open(s), .folder = folder_of(&r->arena, path), .err = err};
    int rc = read_rows(&l, ends_with(path, ".tsv"));
    oc_csv_close(l.csv);
    oc_stream_close(s);
    return rc ? oc_err_prefix(err, "cannot read '%s'", path) : 0;
}

int oc_recordings_find(const char *const *path, size_t n, struct oc_recordings *out, struct oc_err *err)
{
    const char *model = NULL;
    int rc = 0;
    *out = (struct oc_recordings){0};
    for (size_t i = 0; i < n && !rc; i++) {
        bool list = ends_with(path[i], ".csv") || ends_with(path[i], ".tsv");
        struct oc_recording_files f = {
            .profile = path[i], .model = model, .dims = "", .plain_s = (double)NAN, .warmup = -1};
        if (ends_with(path[i], ".optimized.onnx"))
            continue; /* kept with its profile */
        if (ends_with(path[i], ".onnx"))
            model = path[i];
        else
            rc = list ? read_list(out, path[i], err) : add_recording(out, f, err);
    }
    if (!rc && !out->n)
        rc = oc_fail(err, OC_EARG, "no profile is given");
    if (rc)
        oc_recordings_free(out);
    return rc;
}

void oc_recordings_free(struct oc_recordings *r)
{
    free(r->item);
    oc_arena_free(&r->arena);
    *r = (struct oc_recordings){0};
}

/* ONNX Runtime's profiler takes three ticks itself; with a higher limit only the slow ones of short kernels would be left. */
#define MIN_TICKS  2
#define MAX_SPREAD 0.5

const char *oc_reject_reason_name(unsigned reason)
{
    static const char *const name[OC_REJECT_COUNT] = {
        [OC_REJECT_UNMATCHED] = "not on a node",
        [OC_REJECT_UNKNOWN] = "counts unknown",
        [OC_REJECT_PART] = "part of a kernel",
        [OC_REJECT_CONTROL] = "contains other kernels",
        [OC_REJECT_TIMER] = "shorter than 2 ticks of the timer",
        [OC_REJECT_SPREAD] = "times spread over half of the median",
        [OC_REJECT_TIMELESS] = "no time",
        [OC_REJECT_SUBNORMAL] = "subnormal weights",
    };
    return reason < OC_REJECT_COUNT ? name[reason] : "?";
}

/* Clock resolution of a profile format (1 us for ONNX Runtime), by the name of the importer, in seconds; 0:
 * negligible. */
static double timer_tick_s(const char *importer)
{
    return strcmp(importer, "onnxruntime") == 0 ? 1e-6 : 0;
}

/* ---- one recording ---------------------------------------------------------------------------------- */

struct reading {
    struct oc_samples *out;
    const struct oc_samples_opts *opts;
    const struct oc_recording_files *files;
    struct oc_model *model, *optimized;
    struct oc_profile *profile;
    struct oc_analysis *analysis;
    struct oc_join *join;
    struct oc_sample *found; /* heap; of this recording */
    size_t n_found, cap;
};

static int open_files(struct reading *r, struct oc_err *err)
{
    const struct oc_recording_files *f = r->files;
    int32_t warmup = f->warmup < 0 ? r->opts->warmup : f->warmup ? f->warmup : OC_WARMUP_NONE;
    const struct oc_profile_opts opts = {
        .format = r->opts->profile_format, .warmup = warmup, .limits = r->opts->limits};
    if (oc_model_load(f->model, r->opts->limits, &r->model, err) ||
        (f->optimized && oc_model_load(f->optimized, r->opts->limits, &r->optimized, err)))
        return -1;
    return oc_profile_open(f->profile, &opts, &r->profile, err);
}

static int samples_analyze(struct reading *r, struct oc_err *err)
{
    struct oc_shape_bind *shape = NULL;
    struct oc_control_bind *control = NULL;
    struct oc_sample_dims dims;
    if (oc_sample_dims_parse(r->files->dims, &r->out->arena, &dims, err))
        return oc_err_prefix(err, "recording '%s'", r->files->name);
    struct oc_analyze_opts opts = {.bind = dims.bind, .n_bind = dims.n};
    opts.n_shape = oc_profile_input_shapes(r->model, r->profile, &shape);
    opts.shape = shape;
    opts.n_control = oc_profile_control(r->model, r->profile, &control);
    opts.control = control;
    int rc = oc_analyze(r->model, &opts, &r->analysis, err);
    rc = rc ? rc : oc_join_make(r->model, r->analysis, r->profile, r->optimized, &r->join, err);
    oc_profile_input_shapes_free(shape, opts.n_shape);
    free(control);
    return rc;
}

/* Times of another model would become samples of this one. */
static int check_model(struct reading *r, struct oc_err *err)
{
    const struct oc_diag *d;
    size_t n = oc_join_diags(r->join, &d);
    for (size_t i = 0; i < n; i++) {
        if (strcmp(d[i].code, OC_DIAG_WRONG_MODEL) == 0)
            return oc_fail(err, OC_EFORMAT, "recording '%.120s': %s [%s]", r->files->name, d[i].text,
                           d[i].code);
        if (strcmp(d[i].code, OC_DIAG_OTHER_MODEL) == 0)
            oc_diag_add(&r->out->diags, OC_WARNING, OC_DIAG_OTHER_MODEL, r->files->name, "%s", d[i].text);
    }
    return 0;
}

static double samples_per_call(double ns, double calls)
{
    return ns * 1e-9 / calls;
}

/* Its own time in a run, device time if recorded. NAN: only that of its launch is known. */
static double own_ns(const struct oc_prof_rec *p)
{
    return p->is_launch ? (double)NAN : isnan(p->kernel_ns) ? p->self_ns : p->kernel_ns;
}

static bool has_nested(const struct oc_profile *p, uint32_t rec)
{
    for (uint32_t i = 0; i < p->n_rec; i++)
        if (p->rec[i].parent == rec)
            return true;
    return false;
}

static enum oc_reject_reason samples_judge(const struct reading *r, const struct oc_kernel_use *u,
                                           const struct oc_sample *s)
{
    const struct oc_prof_rec *p = &r->profile->rec[u->record];
    const struct oc_join_rec *j = &r->join->rec[u->record];
    double tick_s = timer_tick_s(r->profile->format);
    if (!j->n_node && (!p->overhead && (!j->bucket || strcmp(j->bucket, "unmatched") == 0)))
        return OC_REJECT_UNMATCHED;
    if (!(s->t_s >= 0) || isinf(s->t_s))
        return OC_REJECT_TIMELESS;
    if (j->part_of != OC_NONE)
        return OC_REJECT_PART;
    if (has_nested(r->profile, u->record))
        return OC_REJECT_CONTROL;
    if (!u->known || !u->kernel.signature)
        return OC_REJECT_UNKNOWN;
    if (u->kernel.assisted > 0)
        return OC_REJECT_SUBNORMAL;
    if (s->t_s < MIN_TICKS * tick_s)
        return OC_REJECT_TIMER;
    if (s->t_s <= 0)
        return OC_REJECT_TIMELESS;
    return s->p90_s - s->p10_s > MAX_SPREAD * s->t_s + tick_s ? OC_REJECT_SPREAD : OC_REJECT_COUNT;
}

static void samples_take(struct reading *r, const struct oc_kernel_use *u)
{
    struct oc_samples *out = r->out;
    const struct oc_prof_rec *p = &r->profile->rec[u->record];
    double calls = u->calls >= 1 ? u->calls : 1, ns = own_ns(p);
    struct oc_sample s = {.kernel = u->kernel,
                          .model = (uint32_t)out->set.n_model,
                          .t_s = samples_per_call(ns, calls),
                          .p10_s = samples_per_call(p->p10_ns, calls),
                          .p90_s = samples_per_call(p->p90_ns, calls),
                          .runs = p->runs,
                          .repeats = (uint32_t)lrint(calls)};
    enum oc_reject_reason why = samples_judge(r, u, &s);
    double time_s = isfinite(ns) ? ns * 1e-9 : 0;
    out->set.model[out->set.n_model].kernels_s += time_s;
    out->set.model[out->set.n_model].kernels += s.repeats;
    if (s.t_s > 0)
        out->set.model[out->set.n_model].gap_sum += s.repeats * oc_cal_gap_part(s.t_s);
    out->kernels_s += time_s;
    out->n_kernel++;
    if (why != OC_REJECT_COUNT) {
        out->reject[why].n++;
        out->reject[why].time_s += time_s;
        return;
    }
    s.kernel.label = oc_strdup(&out->arena, u->kernel.label ? u->kernel.label : "");
    OC_GROW(r->found, r->n_found, r->cap);
    r->found[r->n_found++] = s;
}

/* ---- equal kernels ---------------------------------------------------------------------------------- */

OC_BY_TWO(samples_by_signature, struct oc_sample, kernel.signature, t_s)

OC_BY(samples_by_place, struct oc_sample, kernel.node)

/* n equal kernels sorted by time: the median of each figure, the label of the first one. */
static struct oc_sample merged(const struct oc_sample *s, size_t n)
{
    struct oc_sample out = s[n / 2];
    const struct oc_sample *low = &s[(n - 1) / 2];
    out.t_s = (out.t_s + low->t_s) / 2;
    out.p10_s = (out.p10_s + low->p10_s) / 2;
    out.p90_s = (out.p90_s + low->p90_s) / 2;
    out.repeats = 0;
    for (size_t i = 0; i < n; i++) {
        out.repeats += s[i].repeats;
        if (s[i].kernel.node < out.kernel.node) {
            out.kernel.node = s[i].kernel.node;
            out.kernel.label = s[i].kernel.label;
        }
    }
    return out;
}

static void samples_merge(struct reading *r)
{
    size_t n = 0;
    if (r->n_found)
        qsort(r->found, r->n_found, sizeof(*r->found), samples_by_signature);
    for (size_t i = 0, end; i < r->n_found; i = end) {
        for (end = i + 1; end < r->n_found; end++)
            if (r->found[end].kernel.signature != r->found[i].kernel.signature)
                break;
        r->found[n++] = merged(&r->found[i], end - i);
    }
    r->n_found = n;
    if (n)
        qsort(r->found, n, sizeof(*r->found), samples_by_place);
}

static void samples_add_model(struct reading *r)
{
    const struct oc_recording_files *f = r->files;
    struct oc_arena *a = &r->out->arena;
    struct oc_totals total;
    oc_analysis_total(r->analysis, &total);
    r->out->set.model[r->out->set.n_model] = (struct oc_sample_model){.name = oc_strdup(a, f->name),
                                                                      .model_id = oc_strdup(a, f->id),
                                                                      .family_id = oc_strdup(a, f->family),
                                                                      .run_s = r->profile->run_ns * 1e-9,
                                                                      .plain_s = f->plain_s,
                                                                      .const_bytes = total.const_bytes};
}

/* The kernels that `estimate` would predict without the profile. */
static void samples_plan(struct reading *r)
{
    struct oc_sample_set *set = &r->out->set;
    struct oc_sample_model *m = &set->model[set->n_model];
    struct oc_kernel_list list;
    if (!r->out->device)
        return;
    oc_fusion_plan(
        r->model, r->analysis,
        oc_fusion_rules_of(r->opts->runtime ? r->opts->runtime : r->profile->format, r->out->device),
        &r->join->arena, &list);
    oc_subnormal_mark(r->model, r->out->device, &list);
    struct oc_planned_kernels *plan = OC_NEW_ARRAY(&r->out->arena, list.n + 1, struct oc_planned_kernels);
    for (size_t i = 0; i < list.n; i++) {
        plan[i] = (struct oc_planned_kernels){list.item[i].kernel, list.item[i].calls, list.item[i].known};
        plan[i].kernel.label = NULL;
    }
    m->plan = plan;
    m->n_plan = list.n;
}

static int samples_take_all(struct reading *r, struct oc_err *err)
{
    struct oc_kernel_list list;
    if (open_files(r, err) || samples_analyze(r, err) || check_model(r, err))
        return -1;
    if (r->profile->functions)
        return oc_fail(err, OC_EUNSUPPORTED, "'%s' is a profile of functions, not of a model's operators",
                       r->files->profile);
    if (oc_machine_is_loaded(&r->profile->machine))
        oc_diag_add(&r->out->diags, OC_WARNING, "W-disturbed", r->files->name,
                    "other processes used the processors while it was recorded: its times may be too long");
    samples_add_model(r);
    oc_kernels_of_join(r->join, &r->join->arena, &list);
    if (r->out->device)
        oc_subnormal_mark(r->model, r->out->device, &list);
    for (size_t i = 0; i < list.n; i++)
        samples_take(r, &list.item[i]);
    samples_merge(r);
    samples_plan(r);
    return 0;
}

static void close_files(struct reading *r)
{
    oc_join_free(r->join);
    oc_analysis_free(r->analysis);
    oc_profile_close(r->profile);
    oc_model_free(r->optimized);
    oc_model_free(r->model);
}

/* ---- public functions ------------------------------------------------------------------------------- */

struct samples_list {
    struct oc_sample *item;
    size_t n, cap;
};

static void samples_append(struct samples_list *l, const struct reading *r)
{
    for (size_t i = 0; i < r->n_found; i++) {
        OC_GROW(l->item, l->n, l->cap);
        l->item[l->n++] = r->found[i];
    }
}

static int read_sample(struct oc_samples *out, const struct oc_samples_opts *opts,
                       const struct oc_recording_files *f, struct samples_list *all, struct oc_err *err)
{
    struct reading r = {.out = out, .opts = opts, .files = f};
    int rc = samples_take_all(&r, err);
    if (!rc && !out->set.n_model)
        out->set.runtime = oc_strdup(&out->arena, opts->runtime ? opts->runtime : r.profile->format);
    if (!rc && !r.n_found)
        oc_diag_add(&out->diags, OC_WARNING, "W-no-samples", f->name, "none of its kernels is usable");
    if (!rc) {
        samples_append(all, &r);
        out->set.n_model++;
    }
    close_files(&r);
    free(r.found);
    return rc;
}

static int read_folder_samples(struct oc_samples *out, const struct oc_samples_opts *opts,
                               struct oc_recordings *files, struct oc_err *err)
{
    struct samples_list all = {0};
    struct oc_arena *a = &out->arena;
    int rc = 0;
    out->set.model = OC_NEW_ARRAY(a, files->n, struct oc_sample_model);
    for (size_t i = 0; i < files->n && !rc; i++) {
        if (opts->progress)
            opts->progress(opts->progress_arg, files->item[i].name, i, files->n);
        rc = read_sample(out, opts, &files->item[i], &all, err);
    }
    out->set.item = OC_NEW_ARRAY(a, all.n, struct oc_sample);
    out->set.n = all.n;
    if (all.n)
        memcpy(out->set.item, all.item, all.n * sizeof(*all.item));
    free(all.item);
    return rc;
}

int oc_samples_read(const char *const *path, size_t n, const struct oc_samples_opts *given,
                    struct oc_samples **out, struct oc_err *err)
{
    OC_ENTRY(err);
    *out = NULL;
    struct oc_samples_opts full, *const opts = &full;
    if (OC_OPTIONS(&full, given, err))
        return -1;
    struct oc_recordings files;
    if (oc_recordings_find(path, n, &files, err))
        return -1;
    struct oc_samples *s = oc_xmalloc(sizeof(*s));
    *s = (struct oc_samples){0};
    s->diags.arena = &s->arena;
    s->set.device = opts->device ? oc_strdup(&s->arena, oc_device_info(opts->device)->id) : "";
    s->device = opts->device;
    s->set.runtime_version = oc_strdup(&s->arena, opts->runtime_version ? opts->runtime_version : "");
    s->set.threads = opts->threads;
    int rc = read_folder_samples(s, opts, &files, err);
    oc_recordings_free(&files);
    if (rc) {
        oc_samples_free(s);
        return -1;
    }
    *out = s;
    return 0;
}

void oc_samples_free(struct oc_samples *s)
{
    if (!s)
        return;
    oc_diags_free(&s->diags);
    oc_arena_free(&s->arena);
    free(s);
}

size_t oc_samples_diags(const struct oc_samples *s, const struct oc_diag **out)
{
    *out = s->diags.item;
    return s->diags.n;
}

/* ---- sample dims ------------------------------------------------------------------------------------ */

static bool samples_parse_number(const char *s, size_t n, int64_t *out)
{
    char text[24], *end;
    if (!n || n >= sizeof(text) || *s < '0' || *s > '9')
        return false;
    memcpy(text, s, n);
    text[n] = 0;
    errno = 0;
    *out = strtoll(text, &end, 10);
    return !errno && !*end;
}

int oc_sample_dims_parse(const char *text, struct oc_arena *a, struct oc_sample_dims *out, struct oc_err *err)
{
    out->bind = OC_NEW_ARRAY(a, strlen(text) / 2 + 1, struct oc_bind);
    out->n = 0;
    for (const char *p = text; *p;) {
        size_t n = strcspn(p, "; "), name = strcspn(p, "=; ");
        int64_t v;
        if (n && (!name || name >= n || !samples_parse_number(p + name + 1, n - name - 1, &v)))
            return oc_fail(err, OC_EFORMAT, "dims '%s': '%.*s' must be NAME=NUMBER", text, (int)n, p);
        if (n)
            out->bind[out->n++] = (struct oc_bind){.symbol = oc_strndup(a, p, name), .value = v};
        p += n + (p[n] != 0);
    }
    return 0;
}
