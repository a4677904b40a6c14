#include "estimate/samples.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/diag.h"
#include "profile/profile.h"

#define MIN_TICKS  5
#define MAX_SPREAD 0.5

const char *oc_reject_reason_name(unsigned reason)
{
    static const char *const name[OC_REJECT_COUNT] = {
        [OC_REJECT_UNMATCHED] = "not on a node",
        [OC_REJECT_UNKNOWN] = "counts unknown",
        [OC_REJECT_PART] = "part of a kernel",
        [OC_REJECT_CONTROL] = "contains other kernels",
        [OC_REJECT_TIMER] = "shorter than 5 ticks of the timer",
        [OC_REJECT_SPREAD] = "times spread over half of the median",
        [OC_REJECT_TIMELESS] = "no time",
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
    int32_t warmup = f->warmup >= 0 ? f->warmup : r->opts->warmup;
    const struct oc_profile_opts opts = {
        .format = r->opts->profile_format, .warmup = warmup, .caps = r->opts->caps};
    if (oc_model_load(f->model, r->opts->caps, &r->model, err) ||
        (f->optimized && oc_model_load(f->optimized, r->opts->caps, &r->optimized, err)))
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
    if (s->t_s < MIN_TICKS * tick_s)
        return OC_REJECT_TIMER;
    if (s->t_s <= 0)
        return OC_REJECT_TIMELESS;
    return (s->p90_s - s->p10_s) / s->t_s > MAX_SPREAD ? OC_REJECT_SPREAD : OC_REJECT_COUNT;
}

/* Percentiles are those of the whole record: they do not describe a record's own time when others nest in it,
 * and such records are not used. */
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

static int samples_by_signature(const void *a, const void *b)
{
    const struct oc_sample *x = a, *y = b;
    if (x->kernel.signature != y->kernel.signature)
        return x->kernel.signature < y->kernel.signature ? -1 : 1;
    return (x->t_s > y->t_s) - (x->t_s < y->t_s);
}

static int samples_by_place(const void *a, const void *b)
{
    const struct oc_sample *x = a, *y = b;
    return (x->kernel.node > y->kernel.node) - (x->kernel.node < y->kernel.node);
}

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

static int samples_take_all(struct reading *r, struct oc_err *err)
{
    struct oc_kernel_list list;
    if (open_files(r, err) || samples_analyze(r, err) || check_model(r, err))
        return -1;
    if (r->profile->functions)
        return oc_fail(err, OC_EUNSUPPORTED, "'%s' is a profile of functions, not of a model's operators",
                       r->files->profile);
    samples_add_model(r);
    oc_kernels_of_join(r->join, &r->join->arena, &list);
    for (size_t i = 0; i < list.n; i++)
        samples_take(r, &list.item[i]);
    samples_merge(r);
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

static int samples_read_one(struct oc_samples *out, const struct oc_samples_opts *opts,
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

static int samples_read_all(struct oc_samples *out, const struct oc_samples_opts *opts,
                            struct oc_recordings *files, struct oc_err *err)
{
    struct samples_list all = {0};
    struct oc_arena *a = &out->arena;
    int rc = 0;
    out->set.model = OC_NEW_ARRAY(a, files->n, struct oc_sample_model);
    for (size_t i = 0; i < files->n && !rc; i++) {
        if (opts->progress)
            opts->progress(opts->progress_arg, files->item[i].name);
        rc = samples_read_one(out, opts, &files->item[i], &all, err);
    }
    out->set.item = OC_NEW_ARRAY(a, all.n, struct oc_sample);
    out->set.n = all.n;
    if (all.n)
        memcpy(out->set.item, all.item, all.n * sizeof(*all.item));
    free(all.item);
    return rc;
}

int oc_samples_read(const char *const *path, size_t n, const struct oc_samples_opts *opts,
                    struct oc_samples **out, struct oc_err *err)
{
    OC_C_LOCALE;
    struct oc_recordings files;
    *out = NULL;
    if (oc_recordings_find(path, n, &files, err))
        return -1;
    struct oc_samples *s = oc_xmalloc(sizeof(*s));
    *s = (struct oc_samples){0};
    s->diags.arena = &s->arena;
    s->set.device = opts->device ? oc_strdup(&s->arena, oc_device_info(opts->device).id) : "";
    s->device = opts->device;
    s->set.runtime_version = oc_strdup(&s->arena, opts->runtime_version ? opts->runtime_version : "");
    s->set.threads = opts->threads;
    int rc = samples_read_all(s, opts, &files, err);
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
