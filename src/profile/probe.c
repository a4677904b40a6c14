/* Selects the importer for a file: the list of importers and their scores for the first bytes. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/c_locale.h"
#include "base/file.h"
#include "base/str.h"
#include "onnxcost/profile.h"
#include "profile/printed/printed.h"
#include "profile/profile.h"

#define PEEK_BYTES  ((size_t)64 << 10)
#define LATE_BYTES  ((size_t)64 << 20)
#define MAX_TRIES   8            /* lines that may begin a JSON text */
#define FIRST_BYTES ((size_t)16) /* enough to recognise a model */

/* One per line. */
/* clang-format off */
#define IMPORTERS(X) \
    X(onnxruntime) \
    X(onnxruntime_memory) \
    X(paddle_trace) \
    X(chrome) \
    X(mindspore_timeline) \
    X(ascend_timeline) \
    X(megengine) \
    X(nsys_sqlite) \
    X(rocpd) \
    X(rocprof_json) \
    X(xplane) \
    X(tensorrt) \
    X(openvino) \
    X(paddle_report) \
    X(mindspore) \
    X(kineto) \
    X(generic_csv) \
    X(cprofile) \
    X(ncu) \
    X(qnn_optrace) \
    X(deepspeed) \
    X(tvm) \
    X(tvm_json) \
    X(onnxruntime_csv)
/* clang-format on */

#define DECLARE(id) extern const struct oc_importer oc_importer_##id;
#define LIST(id)    &oc_importer_##id,

IMPORTERS(DECLARE)
static const struct oc_importer *const readers[] = {IMPORTERS(LIST)};

/* Readers in C, then the printed formats. */
static const struct oc_importer **importers;
static size_t n_importer;
static struct oc_arena memory;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void list_importers(void)
{
    size_t n;
    const struct oc_importer *printed = oc_printed_importers(&n);
    const struct oc_importer **list =
        OC_NEW_ARRAY(&memory, OC_COUNT(readers) + n, const struct oc_importer *);
    memcpy(list, readers, sizeof(readers));
    for (size_t i = 0; i < n; i++)
        list[OC_COUNT(readers) + i] = &printed[i];
    n_importer = OC_COUNT(readers) + n;
    importers = list;
}

const struct oc_importer *const *oc_importers(size_t *n)
{
    pthread_once(&once, list_importers);
    *n = n_importer;
    return importers;
}

void oc_importer_probe(const struct oc_importer *imp, const struct oc_peek *peek, struct oc_bid *bid)
{
    if (imp->printed)
        oc_printed_probe(imp->printed, peek, bid);
    else
        imp->probe(peek, bid);
}

int oc_importer_read(const struct oc_importer *imp, const struct oc_source *src,
                     const struct oc_profile_opts *opts, struct oc_profile *out, struct oc_err *err)
{
    return imp->printed ? oc_printed_read_profile(imp->printed, src, opts, out, err)
                        : imp->read(src, opts, out, err);
}

bool oc_profile_format(size_t index, const char **name, const char **title)
{
    size_t n;
    (void)oc_importers(&n);
    if (index >= n)
        return false;
    *name = importers[index]->name;
    *title = importers[index]->title;
    return true;
}

bool oc_profile_format_facts(size_t index, const char **seen, const char **lost)
{
    size_t n;
    (void)oc_importers(&n);
    if (index >= n)
        return false;
    *seen = importers[index]->seen ? importers[index]->seen : "";
    *lost = importers[index]->lost ? importers[index]->lost : "";
    return true;
}

/* ---- probing ---------------------------------------------------------------------------------------- */

bool oc_peek_has_line(const struct oc_peek *p, bool (*is_line)(struct oc_str line))
{
    struct oc_str text = oc_str(p->data, p->n), line;
    while (oc_str_line(&text, &line))
        if (line.n && is_line(line))
            return true;
    return false;
}

bool oc_peek_has_later(const struct oc_peek *p, const char *text)
{
    static const struct oc_input_limits any = {.most = {[OC_LIMIT_FILE_BYTES] = INT64_MAX}};
    struct oc_stream *s;
    const char *data;
    size_t n, overlap = strlen(text) - 1, used = 0;
    uint64_t offset;
    bool found = oc_peek_has(p, text);
    if (found || p->whole || oc_stream_open(p->path, &any, &s, NULL) != 0)
        return found;
    while (!found && oc_stream_fill(s, used, &data, &n, &offset)) {
        found = oc_str_has(oc_str(data, n), text);
        used = n > overlap ? n - overlap : 0;
    }
    oc_stream_close(s);
    return found;
}

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
    peek->raw = data;
    peek->n_raw = n;
    peek->data = data + skip;
    peek->n = n - skip;
    return 0;
}

static int fail_as(struct oc_err *err, const char *path, const struct oc_signature *is, const char *wanted)
{
    oc_fail(err, OC_EFORMAT, "cannot read '%s': this is %s, not %s: %s", path, is->what, wanted, is->todo);
    return oc_err_at(err, path, 0, 0);
}

/* The only importer with the highest score; score 0: none matches. A tie names both. */
static int probe_best_of(const struct oc_peek *peek, bool in_output, const struct oc_importer **out,
                         struct oc_bid *won, struct oc_err *err)
{
    const struct oc_importer *rival = NULL;
    struct oc_bid best = {0}, second = {0};
    size_t n;
    const struct oc_importer *const *list = oc_importers(&n);
    *out = NULL;
    for (size_t i = 0; i < n; i++) {
        struct oc_bid bid = {0};
        if (!in_output || list[i]->in_output)
            oc_importer_probe(list[i], peek, &bid);
        if (bid.score > best.score || (bid.score == best.score && bid.fine > best.fine)) {
            best = bid;
            *out = list[i];
            rival = NULL;
        } else if (bid.score && bid.score == best.score && bid.fine == best.fine) {
            rival = list[i];
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

static int best_bid(const struct oc_peek *peek, const struct oc_importer **out, struct oc_bid *won,
                    struct oc_err *err)
{
    return probe_best_of(peek, false, out, won, err);
}

/* Most models begin with their ir_version, field 1 as a varint: a control character that no profile begins
 * with. The others are found by what they are not. */
static bool begins_as_model(const struct oc_peek *peek)
{
    return peek->n >= 2 && peek->data[0] == 0x08 && peek->data[1] > 0;
}

/* Text of no known format: says how it begins, and what describes a table that it may be. */
static void fail_text(const struct oc_peek *peek, struct oc_err *err)
{
    enum { SHOWN = 40 };
    const char *s = peek->data, *end = s + peek->n;
    while (s < end && oc_is_space((unsigned char)*s))
        s++;
    size_t n = 0;
    while (n < SHOWN && s + n < end && (unsigned char)s[n] >= ' ')
        n++;
    while (n && n < (size_t)(end - s) && ((unsigned char)s[n] & 0xc0) == 0x80)
        n--; /* no part of a character */
    bool json = s < end && (*s == '{' || *s == '[');
    oc_fail(err, OC_EFORMAT, "cannot read '%s': text of no known profile format: it begins '%.*s'; %s",
            peek->path, (int)n, s,
            json ? "onnxcost help profiles lists what is read"
                 : "--map names the columns of a CSV table, --profile-format FILE.xml describes a printed "
                   "table; onnxcost help profiles lists what is read");
}

/* No reader accepts the file: the message names its format if it is recognised. */
static int unknown_format(const struct oc_peek *peek, struct oc_err *err)
{
    const struct oc_signature *is = oc_recognize(peek->path, peek->raw, peek->n_raw);
    if (is)
        return fail_as(err, peek->path, is, "a profile");
    if (begins_as_model(peek))
        oc_fail(
            err, OC_EFORMAT,
            "cannot read '%s': this is an ONNX model, not a profile: give the model first and its profile "
            "with --profile",
            peek->path);
    else if (!oc_is_text(peek->data, peek->n))
        oc_fail(err, OC_EFORMAT,
                "cannot read '%s': binary data of no known profile format; onnxcost help profiles lists what "
                "is read",
                peek->path);
    else
        fail_text(peek, err);
    return oc_err_at(err, peek->path, 0, 0);
}

const struct oc_importer *oc_importer_named(const char *name)
{
    size_t n;
    const struct oc_importer *const *list = oc_importers(&n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i]->name, name) == 0)
            return list[i];
    return NULL;
}

static int no_such_format(const char *name, struct oc_err *err)
{
    size_t n;
    const struct oc_importer *const *list = oc_importers(&n);
    const char **names = oc_xcalloc(n, sizeof(*names));
    for (size_t i = 0; i < n; i++)
        names[i] = list[i]->name;
    int rc = oc_fail_unknown(err, OC_EARG,
                             &(struct oc_unknown){.what = "profile format",
                                                  .given = name,
                                                  .valid = names,
                                                  .n = n,
                                                  .more = "onnxcost help profiles lists them"});
    free(names);
    return rc;
}

/* "tables.xml": a file of descriptions. */
static bool is_description(const char *format)
{
    size_t n = strlen(format);
    return n > 4 && strcmp(format + n - 4, ".xml") == 0;
}

int oc_profile_format_check(const char *name, struct oc_err *err)
{
    const struct oc_importer *list;
    size_t n;
    if (is_description(name))
        return oc_printed_importers_of(name, &list, &n, err);
    return oc_importer_named(name) ? 0 : no_such_format(name, err);
}

/* The bytes without what logging tools put around them. */
static void unwrap_lines(const struct oc_peek *peek, struct oc_arena *a, const struct oc_log_prefix *prefix,
                         struct oc_peek *out)
{
    const char *data;
    size_t n;
    struct oc_text_filter *f = oc_text_filter_open(peek->data, peek->n, OC_TEXT_BYTES, prefix);
    oc_text_filter_more(f, 0, true, &data, &n);
    *out = *peek;
    out->data = out->raw = oc_strndup(a, data, n);
    out->n = out->n_raw = n;
    oc_text_filter_close(f);
}

/* Probes the lines without their prefix: those of each process alone, as their lines may be mixed, then all.
 * only: this importer, NULL: every one. */
static int probe_unwrapped(const struct oc_peek *peek, const struct oc_importer *only, struct oc_arena *a,
                           struct oc_probed *out, struct oc_bid *bid, struct oc_err *err)
{
    char label[OC_LOG_LABELS][OC_LOG_LABEL];
    struct oc_log_prefix prefix;
    oc_log_prefix_of(peek->data, peek->n, &prefix);
    size_t n = prefix.n ? oc_log_labels(peek->data, peek->n, &prefix, label) : 0;
    n = n > 1 ? n : 0;
    for (size_t i = 0; oc_log_prefix_any(&prefix) && i <= n && !(bid->score && (i == n || out->other_labels));
         i++) {
        const struct oc_importer *imp = only;
        struct oc_bid one = {0};
        struct oc_peek inside;
        memcpy(prefix.label, i < n ? label[i] : "", i < n ? sizeof(label[i]) : 1);
        unwrap_lines(peek, a, &prefix, &inside);
        if (only)
            oc_importer_probe(only, &inside, &one);
        else if (best_bid(&inside, &imp, &one, err) != 0)
            return -1;
        out->other_labels |= one.score && bid->score;
        if (!one.score || bid->score)
            continue;
        *bid = one;
        out->imp = imp;
        out->prefix = prefix;
    }
    return 0;
}

/* Probes the lines without the form that all, else most of them begin with, if no reader found a row in them as they are. */
static int probe_without_form(const struct oc_peek *peek, struct oc_arena *a, struct oc_probed *out,
                              struct oc_bid *bid, struct oc_err *err)
{
    static const unsigned percent[] = {100, 75};
    bool text = oc_is_text(peek->data, peek->n) && (!bid->score || out->imp->in_output);
    for (size_t i = 0; i < OC_COUNT(percent) && text && bid->score <= OC_BID_NO_ROWS; i++) {
        const struct oc_importer *imp;
        struct oc_bid one;
        struct oc_peek inside;
        struct oc_log_prefix prefix;
        if (!oc_log_form_of(peek->data, peek->n, percent[i], &prefix))
            continue;
        unwrap_lines(peek, a, &prefix, &inside);
        if (probe_best_of(&inside, true, &imp, &one, err) != 0)
            return -1;
        if (one.score > bid->score) {
            *out = (struct oc_probed){.imp = imp, .prefix = prefix};
            *bid = one;
        }
    }
    return 0;
}

/* Importers of printed output may find their lines after a prefix too, but the prefix is then part of names, and
 * the lines of several processes are added up. */
static int prefer_unwrapped(const struct oc_peek *peek, struct oc_arena *a, struct oc_probed *out,
                            struct oc_bid *bid, struct oc_err *err)
{
    struct oc_probed inside = *out;
    struct oc_bid one = {0};
    if (!bid->score || !out->imp->in_output)
        return 0;
    int rc = probe_unwrapped(peek, NULL, a, &inside, &one, err);
    if (one.score >= bid->score) {
        *out = inside;
        *bid = one;
    }
    return rc;
}

/* The next line that begins with '{', or with '[' and nothing or '{' after it; NULL: none. */
static const char *next_json(const char *s, const char *end)
{
    while ((s = memchr(s, '\n', (size_t)(end - s))) && ++s < end) {
        const char *p = s + (*s == '[');
        while (p > s && p < end && oc_is_space((unsigned char)*p))
            p++;
        if (p < end && (*p == '{' || *s == '{'))
            return s;
    }
    return NULL;
}

static int probe_wrapped(const struct oc_peek *peek, struct oc_arena *a, struct oc_probed *out,
                         struct oc_bid *bid, struct oc_err *err)
{
    struct oc_peek inside;
    unsigned tries = 0;
    int rc = probe_unwrapped(peek, NULL, a, out, bid, err);
    if (rc || bid->score)
        return rc;
    const char *s = peek->data, *end = peek->data + peek->n;
    while (!rc && !bid->score && tries++ < MAX_TRIES && (s = next_json(s, end))) {
        inside =
            (struct oc_peek){.path = peek->path, .data = s, .n = (size_t)(end - s), .whole = peek->whole};
        inside.raw = inside.data;
        inside.n_raw = inside.n;
        out->skip = (size_t)(s - peek->raw);
        rc = best_bid(&inside, &out->imp, bid, err);
    }
    return rc;
}

/* Tables that a program printed after more other output than the first bytes. */
static int probe_later(const struct oc_peek *peek, struct oc_probed *out, struct oc_bid *bid,
                       struct oc_err *err)
{
    static const struct oc_input_limits any = {.most = {[OC_LIMIT_FILE_BYTES] = INT64_MAX}};
    struct oc_stream *s;
    struct oc_peek later = {.path = peek->path};
    uint64_t offset = 0;
    size_t used = 0;
    int rc = 0;
    if (peek->whole || !oc_is_text(peek->data, peek->n) || peek->data[0] == '{' || peek->data[0] == '[')
        return 0;
    if (oc_stream_open(peek->path, &any, &s, err) != 0)
        return -1;
    out->skip = 0;
    while (rc == 0 && !bid->score && offset < LATE_BYTES &&
           oc_stream_fill(s, used, &later.data, &later.n, &offset)) {
        if (later.n > LATE_BYTES)
            later.n = LATE_BYTES;
        const char *lf = memrchr(later.data, '\n', later.n);
        later.raw = later.data;
        later.n_raw = later.n;
        rc = probe_best_of(&later, true, &out->imp, bid, err);
        used = lf ? (size_t)(lf + 1 - later.data) : later.n;
    }
    oc_stream_close(s);
    return rc;
}

/* Of the formats that a file describes the one that fits best; the first if none does. */
static int probe_described(const struct oc_peek *peek, const char *path, struct oc_arena *a,
                           const struct oc_importer **out, struct oc_err *err)
{
    const struct oc_importer *list;
    struct oc_bid best = {0};
    size_t n;
    if (oc_printed_importers_of(path, &list, &n, err) != 0)
        return -1;
    *out = list;
    for (size_t i = 0; i < n; i++) {
        struct oc_bid bid = {0};
        struct oc_probed probed = {0};
        oc_importer_probe(&list[i], peek, &bid);
        if (!bid.score && probe_unwrapped(peek, &list[i], a, &probed, &bid, err) != 0)
            return -1;
        if (bid.score > best.score || (bid.score == best.score && bid.fine > best.fine)) {
            best = bid;
            *out = &list[i];
        }
    }
    return 0;
}

static int probe_named(const struct oc_peek *peek, const char *format, struct oc_arena *a,
                       struct oc_probed *out, struct oc_bid *bid, struct oc_err *err)
{
    out->imp = is_description(format) ? NULL : oc_importer_named(format);
    if (is_description(format) && probe_described(peek, format, a, &out->imp, err) != 0)
        return -1;
    if (!out->imp)
        return no_such_format(format, err);
    oc_importer_probe(out->imp, peek, bid);
    return bid->score ? prefer_unwrapped(peek, a, out, bid, err)
                      : probe_unwrapped(peek, out->imp, a, out, bid, err);
}

int oc_profile_probe(const char *path, const char *format, struct oc_probed *out, struct oc_err *err)
{
    struct oc_arena a = {0};
    struct oc_peek peek;
    struct oc_bid bid = {0};
    int rc = read_peek(path, PEEK_BYTES, &a, &peek, err);
    *out = (struct oc_probed){.imp = NULL};
    if (rc == 0 && peek.n == 0) {
        oc_fail(err, OC_EFORMAT, "cannot read '%s': the file is empty; give a profile", path);
        rc = oc_err_at(err, path, 0, 0);
    }
    if (rc == 0 && format) {
        rc = probe_named(&peek, format, &a, out, &bid, err);
    } else if (rc == 0) {
        rc = best_bid(&peek, &out->imp, &bid, err);
        if (rc == 0)
            rc = prefer_unwrapped(&peek, &a, out, &bid, err);
        if (rc == 0 && !bid.score)
            rc = probe_wrapped(&peek, &a, out, &bid, err);
        if (rc == 0)
            rc = probe_without_form(&peek, &a, out, &bid, err);
        if (rc == 0 && !bid.score)
            rc = probe_later(&peek, out, &bid, err);
        if (rc == 0 && !bid.score)
            rc = unknown_format(&peek, err);
    }
    out->part = bid.part;
    oc_arena_free(&a);
    return rc;
}

/* By one importer or more. */
static bool is_profile(const struct oc_peek *peek)
{
    const struct oc_importer *imp;
    struct oc_bid bid;
    return best_bid(peek, &imp, &bid, NULL) != 0 || bid.score;
}

int oc_file_kind(const char *path, enum oc_file_kind *out, struct oc_err *err)
{
    OC_ENTRY(err);
    struct oc_arena a = {0};
    struct oc_peek peek;
    const struct oc_signature *is;
    if (oc_http_is_url(path) || (oc_is_folder(path) && oc_model_of_folder(path, &a))) {
        *out = OC_FILE_MODEL;
        oc_arena_free(&a);
        return 0;
    }
    if (oc_is_folder(path)) {
        const char **file;
        size_t n;
        int found = oc_profile_folder(path, &a, &file, &n, err);
        *out = OC_FILE_PROFILE;
        oc_arena_free(&a);
        return found;
    }
    int rc = read_peek(path, FIRST_BYTES, &a, &peek, err);
    if (rc == 0 && (begins_as_model(&peek) || oc_described_by(path, peek.raw, peek.n_raw)))
        *out = OC_FILE_MODEL;
    else if (rc == 0 && (rc = read_peek(path, PEEK_BYTES, &a, &peek, err)) == 0) {
        bool described = oc_described_by(path, peek.raw, peek.n_raw);
        bool text = peek.n && oc_is_text(peek.data, peek.n) && !described;
        is = described ? NULL : oc_recognize(path, peek.raw, peek.n_raw);
        bool profile = (text && !is) || is_profile(&peek); /* which format: found out when it is opened */
        if (!profile && is)
            rc = fail_as(err, path, is, "an ONNX model or a profile");
        else
            *out = profile ? OC_FILE_PROFILE : OC_FILE_MODEL;
    }
    oc_arena_free(&a);
    return rc;
}

const char *oc_profile_recognize(const char *path)
{
    OC_C_LOCALE;
    struct oc_probed probed;
    return oc_profile_probe(path, NULL, &probed, NULL) || !probed.imp ? NULL : probed.imp->name;
}
