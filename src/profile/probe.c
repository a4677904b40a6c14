/* Selects the importer for a file: the list of importers and their scores for the first bytes. */
#include <string.h>

#include "base/c_locale.h"
#include "base/ascii.h"
#include "base/buf.h"
#include "profile/profile.h"

#define PEEK_BYTES  ((size_t)64 << 10)
#define FIRST_BYTES ((size_t)16) /* enough to recognise a model */

extern const struct oc_importer oc_importer_onnxruntime;
extern const struct oc_importer oc_importer_onnxruntime_memory;
extern const struct oc_importer oc_importer_paddle_trace;
extern const struct oc_importer oc_importer_megengine;
extern const struct oc_importer oc_importer_nsys_sqlite;
extern const struct oc_importer oc_importer_tensorrt;
extern const struct oc_importer oc_importer_openvino;
extern const struct oc_importer oc_importer_paddle_report;
extern const struct oc_importer oc_importer_mindspore;
extern const struct oc_importer oc_importer_kineto;
extern const struct oc_importer oc_importer_mindspore_timeline;
extern const struct oc_importer oc_importer_chrome;
extern const struct oc_importer oc_importer_nsys_csv;
extern const struct oc_importer oc_importer_generic_csv;
extern const struct oc_importer oc_importer_ncu;

/* One per line. */
/* clang-format off */
static const struct oc_importer *const importers[] = {
    &oc_importer_onnxruntime,
    &oc_importer_onnxruntime_memory,
    &oc_importer_paddle_trace,
    &oc_importer_chrome,
    &oc_importer_mindspore_timeline,
    &oc_importer_megengine,
    &oc_importer_nsys_sqlite,
    &oc_importer_tensorrt,
    &oc_importer_openvino,
    &oc_importer_paddle_report,
    &oc_importer_mindspore,
    &oc_importer_kineto,
    &oc_importer_nsys_csv,
    &oc_importer_generic_csv,
    &oc_importer_ncu,
};
/* clang-format on */

const struct oc_importer *const *oc_importers(size_t *n)
{
    *n = OC_COUNT(importers);
    return importers;
}

bool oc_profile_format(size_t index, const char **name, const char **title)
{
    if (index >= OC_COUNT(importers))
        return false;
    *name = importers[index]->name;
    *title = importers[index]->title;
    return true;
}

/* ---- probing ------------------------------------------------------------------------------------------- */

static int read_peek(const char *path, size_t bytes, struct oc_arena *a, struct oc_peek *peek,
                     struct oc_err *err)
{
    const char *data;
    size_t n;
    if (oc_file_peek(path, bytes + 1, a, &data, &n, err) != 0)
        return -1;
    *peek = (struct oc_peek){.path = path, .whole = n <= bytes};
    if (n > bytes)
        n = bytes;
    size_t skip = n >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    while (skip < n && oc_is_space((unsigned char)data[skip]))
        skip++;
    peek->data = data + skip;
    peek->n = n - skip;
    return 0;
}

static int fail_file(struct oc_err *err, const char *path, enum oc_code code, const char *what)
{
    oc_fail(err, code, "cannot read '%s': %s", path, what);
    return oc_err_at(err, path, 0, 0);
}

/* The only importer with the highest score; score 0: none matches. A tie names both. */
static int best_bid(const struct oc_peek *peek, const struct oc_importer **out, struct oc_bid *won,
                    struct oc_err *err)
{
    const struct oc_importer *rival = NULL;
    struct oc_bid best = {0}, second = {0};
    *out = NULL;
    for (size_t i = 0; i < OC_COUNT(importers); i++) {
        struct oc_bid bid = {0};
        importers[i]->probe(peek, &bid);
        if (bid.score > best.score) {
            best = bid;
            *out = importers[i];
            rival = NULL;
        } else if (bid.score && bid.score == best.score) {
            rival = importers[i];
            second = bid;
        }
    }
    *won = best;
    if (!rival)
        return 0;
    oc_fail(err, OC_EFORMAT,
            "cannot read '%s': it may be '%s' (%s) or '%s' (%s): choose one with --profile-format",
            peek->path, (*out)->name, best.reason, rival->name, second.reason);
    return oc_err_at(err, peek->path, 0, 0);
}

static bool is_text(const struct oc_peek *peek)
{
    size_t odd = 0;
    for (size_t i = 0; i < peek->n; i++) {
        unsigned char c = (unsigned char)peek->data[i];
        odd += c < 32 && !oc_is_space(c);
    }
    return odd * 100 <= peek->n;
}

static int unknown_format(const struct oc_peek *peek, struct oc_err *err)
{
    struct oc_buf names = {0};
    for (size_t i = 0; i < OC_COUNT(importers); i++)
        oc_buf_printf(&names, "%s%s", i ? ", " : "", importers[i]->name);
    oc_fail(err, OC_EFORMAT, "cannot read '%s': %s of no known profile format (tried %s)", peek->path,
            is_text(peek) ? "text" : "binary data", names.data);
    oc_buf_free(&names);
    return oc_err_at(err, peek->path, 0, 0);
}

/* ---- files that need an export with the vendor's tool -------------------------------------------------- */

struct advice {
    const char *magic;  /* the first bytes, NULL: any */
    const char *suffix; /* and the end of the name, NULL: any */
    const char *what, *command;
};

#define EXPORT_ENGINE                                                                                        \
    "trtexec --loadEngine=FILE --profilingVerbosity=detailed --exportProfile=x.profile.json "                \
    "--exportLayerInfo=x.graph.json"
#define EXPORT_NSYS   "nsys export --type sqlite --output x.sqlite FILE"
#define EXPORT_QDSTRM "QdstrmImporter -i FILE, then nsys export --type sqlite"
#define EXPORT_NCU    "ncu --import FILE --csv --page raw"

static const struct advice advices[] = {
    {"QDSTRM", NULL, "an Nsight Systems recording", EXPORT_QDSTRM},
    {NULL, ".qdstrm", "an Nsight Systems recording", EXPORT_QDSTRM},
    {NULL, ".nsys-rep", "an Nsight Systems report", EXPORT_NSYS},
    {NULL, ".qdrep", "an Nsight Systems report", EXPORT_NSYS},
    {"NVR\0", NULL, "an Nsight Compute report", EXPORT_NCU},
    {NULL, ".ncu-rep", "an Nsight Compute report", EXPORT_NCU},
    {"ftrt", NULL, "a TensorRT engine", EXPORT_ENGINE},
    {"ptrt", NULL, "a TensorRT engine", EXPORT_ENGINE},
    {NULL, ".trt", "a TensorRT engine", EXPORT_ENGINE},
    {NULL, ".engine", "a TensorRT engine", EXPORT_ENGINE},
    {NULL, ".plan", "a TensorRT engine", EXPORT_ENGINE},
    {"PERFILE2", NULL, "a perf recording", "perf report --stdio -n -t, -i FILE"},
    {NULL, ".pstats", "Python's profile data",
     "python3 -c 'import pstats; pstats.Stats(\"FILE\").print_stats()'"},
};

static bool ends_with(const char *s, const char *suffix)
{
    size_t n = strlen(s), k = strlen(suffix);
    return n >= k && strcmp(s + n - k, suffix) == 0;
}

/* The export command for a binary file that only the vendor's tool can read; NULL: not such a file. */
static const struct advice *advice_for(const struct oc_peek *peek)
{
    for (size_t i = 0; i < OC_COUNT(advices); i++) {
        const struct advice *a = &advices[i];
        size_t n = a->magic ? strlen(a->magic) : 0;
        if (peek->n >= n && (!n || memcmp(peek->data, a->magic, n) == 0) &&
            (!a->suffix || ends_with(peek->path, a->suffix)) && (n || !is_text(peek)))
            return a;
    }
    return NULL;
}

static int fail_with_export(const struct oc_peek *peek, const struct advice *a, struct oc_err *err)
{
    oc_fail(err, OC_EFORMAT, "cannot read '%s': it is %s; export it with: %s", peek->path, a->what,
            a->command);
    return oc_err_at(err, peek->path, 0, 0);
}

static const struct oc_importer *importer_named(const char *name)
{
    for (size_t i = 0; i < OC_COUNT(importers); i++)
        if (strcmp(importers[i]->name, name) == 0)
            return importers[i];
    return NULL;
}

bool oc_profile_format_known(const char *name)
{
    return importer_named(name) != NULL;
}

int oc_profile_probe(const char *path, const char *format, const struct oc_importer **out, unsigned *part,
                     struct oc_err *err)
{
    struct oc_arena a = {0};
    struct oc_peek peek;
    struct oc_bid bid = {0};
    int rc = read_peek(path, PEEK_BYTES, &a, &peek, err);
    *out = NULL;
    if (rc == 0 && peek.n == 0)
        rc = fail_file(err, path, OC_EFORMAT, "file is empty");
    if (rc == 0 && format) {
        *out = importer_named(format);
        if (*out)
            (*out)->probe(&peek, &bid);
        else
            rc = oc_fail(err, OC_EARG, "unknown profile format '%s'", format);
    } else if (rc == 0) {
        rc = best_bid(&peek, out, &bid, err);
        const struct advice *advice = rc == 0 && !bid.score ? advice_for(&peek) : NULL;
        if (advice)
            rc = fail_with_export(&peek, advice, err);
        else if (rc == 0 && !bid.score)
            rc = unknown_format(&peek, err);
    }
    *part = bid.part;
    oc_arena_free(&a);
    return rc;
}

/* Most models begin with ir_version, field 1 as a varint: a control character that no profile begins with.
 * Other models are detected by excluding known formats. */
static bool begins_as_model(const struct oc_peek *peek)
{
    return peek->n >= 2 && peek->data[0] == 0x08 && peek->data[1] > 0;
}

/* Whether any importer matches. */
static bool is_profile(const struct oc_peek *peek)
{
    const struct oc_importer *imp;
    struct oc_bid bid;
    return best_bid(peek, &imp, &bid, NULL) != 0 || bid.score;
}

int oc_file_kind(const char *path, enum oc_file_kind *out, struct oc_err *err)
{
    OC_C_LOCALE;
    struct oc_arena a = {0};
    struct oc_peek peek;
    int rc = read_peek(path, FIRST_BYTES, &a, &peek, err);
    if (rc == 0 && begins_as_model(&peek))
        *out = OC_FILE_MODEL;
    else if (rc == 0 && (rc = read_peek(path, PEEK_BYTES, &a, &peek, err)) == 0)
        *out = (peek.n && is_text(&peek)) || is_profile(&peek) || advice_for(&peek) ? OC_FILE_PROFILE
                                                                                    : OC_FILE_MODEL;
    oc_arena_free(&a);
    return rc;
}
