#include "estimate/recordings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/file.h"
#include "profile/csv_rows.h"

static bool recordings_ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), k = strlen(end);
    return n >= k && !strcmp(s + n - k, end);
}

static const char *recordings_base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
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
    const char *base = recordings_base_of(path);
    for (size_t i = 0; i < OC_COUNT(suffix); i++)
        if (recordings_ends_with(base, suffix[i]) && strlen(base) > strlen(suffix[i]))
            return oc_strndup(a, base, strlen(base) - strlen(suffix[i]));
    return oc_strdup(a, base);
}

static const char *recordings_folder_of(struct oc_arena *a, const char *path)
{
    return oc_strndup(a, path, (size_t)(recordings_base_of(path) - path));
}

/* ---- names ------------------------------------------------------------------------------------------ */

/* "Y@..." and "Y.anything", shorter and shorter. */
static bool recordings_shorten(char *stem)
{
    char *at = strrchr(stem, '@'), *dot = strrchr(stem, '.');
    char *cut = at > dot ? at : dot;
    if (!cut || cut == stem)
        return false;
    *cut = 0;
    return true;
}

static const char *recordings_find_model(struct oc_arena *a, const char *profile)
{
    static const char *const above[] = {"", "../"};
    const char *folder = recordings_folder_of(a, profile);
    char *stem = stem_of(a, profile);
    do {
        for (size_t i = 0; i < OC_COUNT(above); i++) {
            const char *path = oc_printf(a, "%s%s%s.onnx", folder, above[i], stem);
            if (is_file(path))
                return path;
        }
    } while (recordings_shorten(stem));
    return NULL;
}

static bool recordings_is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Derives missing values from the file names. */
static int recordings_complete(struct oc_recordings *r, struct oc_recording_files *f, struct oc_err *err)
{
    struct oc_arena *a = &r->arena;
    const char *stem = stem_of(a, f->profile);
    const char *saved = oc_printf(a, "%s%s.optimized.onnx", recordings_folder_of(a, f->profile), stem);
    if (!f->optimized && is_file(saved))
        f->optimized = saved;
    if (!f->model)
        f->model = recordings_find_model(a, f->profile);
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
    while (recordings_is_letter(f->id[n]))
        n++;
    f->family = f->family ? f->family : n ? oc_strndup(a, f->id, n) : f->id;
    return 0;
}

static int recordings_add(struct oc_recordings *r, struct oc_recording_files f, struct oc_err *err)
{
    if (r->n >= OC_MAX_RECORDINGS)
        return oc_fail(err, OC_ELIMIT, "more than %u recordings", OC_MAX_RECORDINGS);
    if (recordings_complete(r, &f, err))
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

static int recordings_read_row(struct list *l, const struct oc_str *field, size_t n)
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
    return recordings_add(l->r, f, l->err);
}

static int recordings_read_rows(struct list *l, bool tabs)
{
    const struct oc_str *field;
    size_t n;
    oc_csv_delimiter(l->csv, tabs ? '\t' : ',');
    bool header = false;
    while (oc_csv_row(l->csv, &field, &n)) {
        bool empty = n == 0 || (n == 1 && !field[0].n) || (field[0].n && field[0].s[0] == '#');
        if (empty)
            continue;
        if (header ? recordings_read_row(l, field, n) : read_header(l, field, n))
            return -1;
        header = true;
    }
    return oc_csv_failed(l->csv) ? oc_csv_error(l->csv, l->err) : 0;
}

static int recordings_read_list(struct oc_recordings *r, const char *path, struct oc_err *err)
{
    struct oc_stream *s;
    if (oc_stream_open(path, NULL, &s, err))
        return -1;
    struct list l = {
        .r = r, .csv = oc_csv_open(s), .folder = recordings_folder_of(&r->arena, path), .err = err};
    int rc = recordings_read_rows(&l, recordings_ends_with(path, ".tsv"));
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
        bool list = recordings_ends_with(path[i], ".csv") || recordings_ends_with(path[i], ".tsv");
        struct oc_recording_files f = {
            .profile = path[i], .model = model, .dims = "", .plain_s = (double)NAN, .warmup = -1};
        if (recordings_ends_with(path[i], ".optimized.onnx"))
            continue; /* kept with its profile */
        if (recordings_ends_with(path[i], ".onnx"))
            model = path[i];
        else
            rc = list ? recordings_read_list(out, path[i], err) : recordings_add(out, f, err);
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
