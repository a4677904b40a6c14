/* A profile as a file of a scan: which files are profiles, which model belongs to one, and its row. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/str.h"
#include "fleet/scan.h"
#include "onnxcost.h"
#include "onnxcost/profile.h"
#include "profile/profile.h"

/* ---- names ------------------------------------------------------------------------------------------ */

static bool ends_with(const char *name, size_t n, const char *end)
{
    size_t k = strlen(end);
    return n > k && !oc_ncasecmp(name + n - k, end, k);
}

bool oc_scan_is_profile_name(const char *name)
{
    static const char *const ends[] = {".json", ".csv",    ".tsv", ".txt",
                                       ".log",  ".sqlite", ".db",  ".xplane.pb"};
    size_t n = strlen(name);
    n -= ends_with(name, n, ".gz") ? 3 : 0;
    for (size_t i = 0; i < OC_COUNT(ends); i++)
        if (ends_with(name, n, ends[i]))
            return true;
    return false;
}

/* ---- models ----------------------------------------------------------------------------------------- */

static const char *model_in(struct oc_arena *a, const char *folder, size_t n_folder, const char *stem,
                            size_t n)
{
    struct stat st;
    const char *slash = n_folder && folder[n_folder - 1] != '/' ? "/" : "";
    const char *path = oc_printf(a, "%.*s%s%.*s.onnx", (int)n_folder, folder, slash, (int)n, stem);
    return stat(path, &st) || S_ISDIR(st.st_mode) ? NULL : path;
}

/* The longest beginning of the name, up to a dot, that is a model. */
static const char *model_of(const struct oc_scan *s, const char *path, struct oc_arena *scratch)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *found = NULL;
    for (size_t n = strlen(name); n > 0 && !found; n--) {
        if (name[n] != '.')
            continue;
        found = model_in(scratch, path, (size_t)(name - path), name, n);
        for (size_t i = 0; i < s->opts.n_models && !found; i++)
            found = model_in(scratch, s->opts.models[i], strlen(s->opts.models[i]), name, n);
    }
    return found;
}

void oc_scan_find_models(struct oc_scan *s)
{
    s->model_of = OC_NEW_ARRAY(&s->arena, s->files.n + 1, const char *);
    for (size_t i = 0; i < s->files.n; i++) {
        struct oc_arena scratch = {0};
        const char *found = model_of(s, s->files.item[i].path, &scratch);
        s->model_of[i] = found ? oc_strdup(&s->arena, found) : NULL;
        oc_arena_free(&scratch);
    }
}

/* ---- its row ---------------------------------------------------------------------------------------- */

/* Everything that one row needs. */
struct pair {
    struct oc_profile *profile;
    struct oc_model *model;
    struct oc_analysis *analysis;
    struct oc_join *join;
    struct oc_shape_bind *recorded, *shape; /* shape: the user's and those of the profile */
    size_t n_recorded;
    struct oc_control_bind *control;
};

static bool is_named(const struct oc_analyze_opts *o, const char *input)
{
    for (size_t i = 0; i < o->n_shape; i++)
        if (!strcmp(o->shape[i].input, input))
            return true;
    return false;
}

/* What the user states precedes what the profile recorded. */
static struct oc_analyze_opts analyze_opts(const struct oc_scan *s, struct pair *p)
{
    struct oc_analyze_opts o = s->analyze;
    p->n_recorded = oc_profile_input_shapes(p->model, p->profile, &p->recorded);
    p->shape = oc_xmalloc((o.n_shape + p->n_recorded + 1) * sizeof(*p->shape));
    size_t n = 0;
    for (; n < o.n_shape; n++)
        p->shape[n] = o.shape[n];
    for (size_t i = 0; i < p->n_recorded; i++)
        if (!is_named(&o, p->recorded[i].input))
            p->shape[n++] = p->recorded[i];
    o.shape = p->shape;
    o.n_shape = n;
    if (!o.n_control) {
        o.n_control = oc_profile_control(p->model, p->profile, &p->control);
        o.control = p->control;
    }
    return o;
}

static int join_model(const struct oc_scan *s, struct pair *p, struct oc_err *err)
{
    struct oc_analyze_opts o = analyze_opts(s, p);
    return oc_analyze(p->model, &o, &p->analysis, err) ||
                   oc_join_make(p->model, p->analysis, p->profile, NULL, &p->join, err) ||
                   oc_join_sizes(p->analysis, &o, NULL, p->join, err)
               ? -1
               : 0;
}

static void free_pair(struct pair *p)
{
    oc_join_free(p->join);
    oc_analysis_free(p->analysis);
    oc_model_free(p->model);
    oc_profile_close(p->profile);
    oc_profile_input_shapes_free(p->recorded, p->n_recorded);
    free(p->shape);
    free(p->control);
}

int oc_scan_read_profile(const struct oc_scan *s, size_t index, struct oc_scan_result *out,
                         struct oc_buf *cells, struct oc_err *err)
{
    const char *model = s->model_of[index];
    struct pair p = {.profile = NULL};
    int rc = model ? oc_model_load(model, s->opts.limits, &p.model, err) : 0;
    struct oc_operator_names *operators = !rc && model ? oc_operator_names_make(p.model) : NULL;
    const struct oc_profile_opts opts = {
        .limits = s->opts.limits, .by_node = model != NULL, .operators = operators};
    rc = rc ? rc : oc_profile_open(s->files.item[index].path, &opts, &p.profile, err);
    oc_operator_names_free(operators);
    if (!rc && model)
        rc = join_model(s, &p, err);
    if (!rc) {
        const struct oc_scan_source source = {model,
                                              {.model = p.model,
                                               .analysis = p.analysis,
                                               .profile = p.profile,
                                               .join = p.join,
                                               .device = s->opts.device}};
        snprintf(out->producer, sizeof(out->producer), "%s", p.profile->producer);
        if (s->table == &oc_scan_nodes)
            oc_scan_pack_nodes(&source, cells);
        else
            oc_scan_pack_profile(&source, cells);
    }
    free_pair(&p);
    return rc;
}
