/* The row of a file: of a model or of a profile. */
#include "fleet/scan.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "analyze/analysis.h"
#include "base/ck.h"
#include "base/str.h"
#include "base/units.h"
#include "onnxcost.h"
#include "onnxcost/profile.h"
#include "profile/profile.h"

/* Texts are NULL when zeroed. */
void oc_scan_row_clear(struct oc_scan_row *row)
{
    const struct oc_scan_table *t = &oc_scan_models; /* it has all members */
    *row = (struct oc_scan_row){0};
    for (size_t i = 0; i < t->cells.n; i++) {
        char *at = (char *)row + t->offset[i];
        if (t->cells.column[i].kind == OC_DATUM_U64)
            memcpy(at, &(uint64_t){OC_SCAN_UNKNOWN}, sizeof(uint64_t));
        else if (t->cells.column[i].kind == OC_DATUM_I64)
            memcpy(at, &(int64_t){INT64_MIN}, sizeof(int64_t));
        else if (t->cells.column[i].kind == OC_DATUM_DOUBLE)
            memcpy(at, &(double){NAN}, sizeof(double));
    }
}

static const char *text_or_null(const char *s)
{
    return *s ? s : NULL;
}

/* 0: none, otherwise enum oc_quality + 1. */
static const char *quality_name(unsigned number)
{
    return number ? oc_quality_name(number - 1) : NULL;
}

void oc_scan_result_texts(struct oc_scan_result *r)
{
    r->row.hash = text_or_null(r->hash);
    r->row.producer = text_or_null(r->producer);
    r->row.domains = text_or_null(r->domains);
    r->row.error = text_or_null(r->error);
    r->row.error_file = text_or_null(r->error_file);
    r->row.quality = quality_name(r->quality);
    r->row.peak_quality = quality_name(r->peak_quality);
    r->row.error_code = r->no_memory ? "memory" : r->crashed ? "crash" : oc_code_text(r->error_code);
}

void oc_scan_failed(struct oc_scan_result *r, const struct oc_err *err)
{
    r->error_code = (uint8_t)err->code;
    snprintf(r->error, sizeof(r->error), "%s", err->msg);
    snprintf(r->error_file, sizeof(r->error_file), "%s", err->file);
    r->row.error_line = err->line ? err->line : OC_SCAN_UNKNOWN;
    r->row.error_offset = err->offset_bytes ? err->offset_bytes : OC_SCAN_UNKNOWN;
}

static void add_text(char *out, size_t cap, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void add_text(char *out, size_t cap, const char *fmt, ...)
{
    size_t n = strlen(out);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(out + n, cap - n, fmt, ap);
    va_end(ap);
}

static void take_model(struct oc_scan_result *out, const struct oc_model *m)
{
    const char *version = m->producer_version ? m->producer_version : "";
    out->row.ir_version = m->ir_version;
    snprintf(out->producer, sizeof(out->producer), "%s%s%s", m->producer_name ? m->producer_name : "",
             *version ? " " : "", version);
    for (uint32_t i = 0; i < m->n_opset; i++) {
        if (!*m->opset[i].domain)
            out->row.opset = m->opset[i].version;
        else
            add_text(out->domains, sizeof(out->domains), "%s%s %" PRId64, *out->domains ? ", " : "",
                     m->opset[i].domain, m->opset[i].version);
    }
}

static void take_costs(struct oc_scan_result *out, const struct oc_analysis *a)
{
    struct oc_totals t = *a->total;
    struct oc_scan_row *row = &out->row;
    row->nodes = t.nodes;
    row->unknown_nodes = t.unknown_nodes;
    row->params = t.params;
    row->const_bytes = t.const_bytes;
    row->assumptions = a->n_assumption;
    out->quality = (uint8_t)(t.quality + 1);
    out->peak_quality = (uint8_t)(a->peak.quality + 1);
    if (a->peak.quality != OC_UNKNOWN)
        row->peak_activation_bytes = a->peak.bytes;
    uint64_t bytes;
    row->macs = oc_sum_known(&t, t.macs, t.macs_exact) ? t.macs : OC_SCAN_UNKNOWN;
    row->flops = oc_sum_known(&t, t.flops, t.work_exact) ? t.flops : OC_SCAN_UNKNOWN;
    row->ops = oc_sum_known(&t, t.ops, t.work_exact) ? t.ops : OC_SCAN_UNKNOWN;
    if (oc_add_u64(t.bytes_read_act, t.bytes_read_weight, &bytes) &&
        oc_add_u64(bytes, t.bytes_written, &bytes) && oc_sum_known(&t, bytes, false))
        row->bytes = bytes;
}

static void take_hash(const char *path, struct oc_scan_result *out)
{
    struct oc_file file;
    if (oc_file_map(path, 0, &file, NULL))
        return;
    snprintf(out->hash, sizeof(out->hash), "%016" PRIx64, oc_xxh64(file.data, (size_t)file.size_bytes, 0));
    oc_file_unmap(&file);
}

static int read_model(const struct oc_scan *s, size_t index, struct oc_scan_result *out, struct oc_buf *cells,
                      struct oc_err *err)
{
    const char *path = s->files.item[index].path;
    struct oc_model *m = NULL;
    struct oc_analysis *a = NULL;
    int rc = oc_model_load(path, s->opts.limits, &m, err);
    if (!rc) {
        take_model(out, m);
        rc = oc_analyze(m, &s->analyze, &a, err);
    }
    if (!rc)
        take_costs(out, a);
    if (!rc && s->table == &oc_scan_nodes)
        oc_scan_pack_nodes(
            &(struct oc_scan_source){path, {.model = m, .analysis = a, .device = s->opts.device}}, cells);
    oc_analysis_free(a);
    oc_model_free(m);
    return rc;
}

/* ---- profiles: names ----------------------------------------------------------------------------- */

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

/* ---- profiles: models ---------------------------------------------------------------------------- */

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
    const char *name = oc_base_name(path), *found = NULL;
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

/* ---- profiles: their row ------------------------------------------------------------------------- */

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

/* Of a profile. 0: done; -1: an error, and no cells. */
static int read_scan_profile(const struct oc_scan *s, size_t index, struct oc_scan_result *out,
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

/* ---- one file ------------------------------------------------------------------------------------ */

void oc_scan_one(const struct oc_scan *s, size_t index, bool with_hash, struct oc_scan_result *out,
                 struct oc_buf *cells)
{
    struct oc_err err = {0};
    double start_s = oc_now_s();
    oc_scan_row_clear(&out->row);
    if (s->opts.profiles ? read_scan_profile(s, index, out, cells, &err)
                         : read_model(s, index, out, cells, &err))
        oc_scan_failed(out, &err);
    if (with_hash)
        take_hash(s->files.item[index].path, out);
    out->row.seconds = round((oc_now_s() - start_s) * 1e6) / 1e6;
}
