/* What onnxcost_types.h declares: errors and warnings with their texts, suggestions for unknown names, options of
 * callers of another version, input limits. */
#include "base/diag.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/c_locale.h"
#include "base/str.h"
#include "base/units.h"

/* ---- errors and warnings ----------------------------------------------------------------------------- */

const char *oc_code_text(enum oc_code code)
{
    static const char *const text[] = {[OC_OK] = NULL,
                                       [OC_EIO] = "io",
                                       [OC_EFORMAT] = "format",
                                       [OC_ELIMIT] = "limit",
                                       [OC_EUNSUPPORTED] = "unsupported",
                                       [OC_EARG] = "argument",
                                       [OC_ENOTFOUND] = "notfound",
                                       [OC_EOUTPUT] = "output",
                                       [OC_ELIBRARY] = "library",
                                       [OC_ESTOPPED] = "stopped",
                                       [OC_EMEMORY] = "memory"};
    return (unsigned)code < sizeof(text) / sizeof(*text) ? text[code] : NULL;
}

int oc_fail(struct oc_err *err, enum oc_code code, const char *fmt, ...)
{
    if (!err)
        return -1;
    *err = (struct oc_err){.code = code};
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
    va_end(ap);
    return -1;
}

int oc_err_prefix(struct oc_err *err, const char *fmt, ...)
{
    if (!err)
        return -1;
    char text[sizeof(err->msg)];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    size_t used = n < 0 ? 0 : (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1;
    const char *part[] = {": ", err->msg};
    for (size_t i = 0; i < 2; i++) {
        size_t len = strnlen(part[i], sizeof(text) - 1 - used);
        memcpy(text + used, part[i], len);
        used += len;
    }
    text[used] = '\0';
    memcpy(err->msg, text, sizeof(text));
    return -1;
}

int oc_err_at(struct oc_err *err, const char *file, uint32_t line, uint64_t offset_bytes)
{
    if (!err)
        return -1;
    if (file)
        snprintf(err->file, sizeof(err->file), "%s", file);
    err->line = line;
    err->offset_bytes = offset_bytes;
    return -1;
}

void oc_diag_add(struct oc_diags *d, enum oc_severity severity, const char *code, const char *where,
                 const char *fmt, ...)
{
    if (d->n >= OC_MAX_DIAGS) {
        d->dropped++;
        return;
    }
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    OC_PUSH(d->item, d->n, d->cap) = (struct oc_diag){.severity = severity,
                                                      .code = code,
                                                      .where = oc_strdup(d->arena, where ? where : ""),
                                                      .text = oc_strdup(d->arena, text)};
}

void oc_diags_drop(struct oc_diags *d, size_t from, const char *codes)
{
    size_t n = from;
    for (size_t i = from; i < d->n; i++)
        if (!oc_set_has(codes, d->item[i].code, strlen(d->item[i].code)))
            d->item[n++] = d->item[i];
    d->n = n;
}

void oc_diags_free(struct oc_diags *d)
{
    free(d->item);
    *d = (struct oc_diags){0};
}

/* ---- unknown names ------------------------------------------------------------------------------------ */

enum {
    MAX_NAME = 64,       /* longer names are compared by their first part */
    MAX_SUGGESTIONS = 3, /* in a message */
    MAX_LIST = 320,      /* characters of valid names in a message */
    PART_SCORE = 3       /* of a name that is part of the other one */
};

char oc_fold_char(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (char)(c + 32);
    return (char)(c == '_' || c == ' ' ? '-' : c);
}

static size_t fold(const char *name, char *out)
{
    size_t n = strnlen(name, MAX_NAME);
    for (size_t i = 0; i < n; i++)
        out[i] = oc_fold_char(name[i]);
    out[n] = '\0';
    return n;
}

static size_t min2(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Optimal string alignment: Levenshtein distance where two swapped neighbours count once. */
static size_t edit_distance(const char *a, size_t n, const char *b, size_t m)
{
    size_t rows[3][MAX_NAME + 1];
    size_t *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= m; j++)
        last[j] = j;
    for (size_t i = 1; i <= n; i++) {
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t d = min2(min2(last[j], row[j - 1]) + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d = min2(d, before[j - 2] + 1);
            row[j] = d;
        }
        size_t *oldest = before;
        before = last;
        last = row;
        row = oldest;
    }
    return last[m];
}

/* Does `text` hold `part` from the start of a word on? */
static bool has_word(const char *text, const char *part)
{
    for (const char *at = text; (at = strstr(at, part)) != NULL; at++)
        if (at == text || strchr("-./: ", at[-1]))
            return true;
    return false;
}

/* 0 is nearest; SIZE_MAX: not near. */
static size_t distance_score(const char *given, size_t n, const char *other)
{
    char name[MAX_NAME + 1];
    size_t m = fold(other, name), d = edit_distance(given, n, name, m);
    size_t most = n < 4 ? 1 : n < 8 ? 2 : n / 3;
    if (d <= most)
        return d;
    bool part = (n >= 2 && has_word(name, given)) || (m >= 4 && has_word(given, name));
    return part ? PART_SCORE : SIZE_MAX;
}

size_t oc_suggest(const char *given, const char *const *name, size_t n, size_t *near, size_t max)
{
    char folded[MAX_NAME + 1];
    size_t length = fold(given, folded), found = 0, at[MAX_SUGGESTIONS + 2] = {0};
    if (max > OC_COUNT(at))
        max = OC_COUNT(at);
    for (size_t i = 0; i < n && length; i++) {
        size_t s = distance_score(folded, length, name[i]), k = found;
        if (s == SIZE_MAX)
            continue;
        for (; k > 0 && at[k - 1] > s; k--)
            if (k < max) {
                at[k] = at[k - 1];
                near[k] = near[k - 1];
            }
        if (k == max)
            continue;
        at[k] = s;
        near[k] = i;
        found += found < max;
    }
    size_t kept = 0; /* next to a close match the others are noise */
    while (kept < found && at[kept] <= at[0] + (at[0] > 1))
        kept++;
    return kept;
}

const char *oc_nearest_name(const char *given, const char *const *valid, size_t n)
{
    size_t near;
    return oc_suggest(given, valid, n, &near, 1) ? valid[near] : NULL;
}

static void add_suggestions(struct oc_buf *text, const struct oc_unknown *u, const char *given)
{
    size_t near[MAX_SUGGESTIONS], n = oc_suggest(given, u->valid, u->n, near, MAX_SUGGESTIONS);
    for (size_t i = 0; i < n; i++)
        oc_buf_printf(text, "%s'%.60s'",
                      i == 0      ? "; did you mean "
                      : i + 1 < n ? ", "
                                  : " or ",
                      u->valid[near[i]]);
    oc_buf_str(text, n ? "?" : ";");
}

static void add_list(struct oc_buf *text, const struct oc_unknown *u)
{
    const char *valid = text->data[text->n - 1] == '?' ? " Valid: " : " valid: ";
    struct oc_buf list = {.max = MAX_LIST};
    for (size_t i = 0; i < u->n; i++)
        oc_buf_printf(&list, "%s%s", i ? ", " : "", u->valid[i]);
    bool all = u->n && !list.overflowed;
    if (all)
        oc_buf_printf(text, "%s%s", valid, list.data);
    if (u->more)
        oc_buf_printf(text, "%s%s", all ? ", " : " ", u->more);
    if (text->data[text->n - 1] == ';')
        text->data[--text->n] = '\0';
    oc_buf_free(&list);
}

int oc_fail_unknown(struct oc_err *err, enum oc_code code, const struct oc_unknown *u)
{
    struct oc_buf text = {0};
    char given[MAX_NAME + 1];
    size_t n = u->given_n ? u->given_n : strlen(u->given);
    n = min2(n, MAX_NAME);
    memcpy(given, u->given, n);
    given[n] = '\0';
    oc_buf_printf(&text, "unknown %s '%s'%s%s", u->what, given, u->where ? " " : "",
                  u->where ? u->where : "");
    add_suggestions(&text, u, given);
    add_list(&text, u);
    oc_fail(err, code, "%s", text.data);
    oc_buf_free(&text);
    return -1;
}

/* ---- options of callers ------------------------------------------------------------------------------- */

#define MOST_BYTES 65536 /* above any struct of options: the size was not set */

int oc_options_read(void *full, size_t bytes, const void *given, struct oc_err *err)
{
    const unsigned char *from = given;
    size_t size = 0;
    memset(full, 0, bytes);
    if (from)
        memcpy(&size, from, sizeof(size));
    if (size && (size < sizeof(size) || size > MOST_BYTES))
        return oc_fail(err, OC_EARG,
                       "size %zu of options is not possible; set it to sizeof, or the options to zero", size);
    if (from)
        memcpy(full, from, size && size < bytes ? size : bytes);
    memcpy(full, &bytes, sizeof(bytes));
    for (size_t i = bytes; i < size; i++)
        if (from[i])
            return oc_fail(
                err, OC_EARG,
                "options of a newer version are set, which this library (%zu of %zu bytes) does not have",
                bytes, size);
    return 0;
}

int oc_options_check(const struct oc_option_range *range, size_t n, struct oc_err *err)
{
    for (size_t i = 0; i < n; i++)
        if (range[i].value < range[i].least || range[i].value > range[i].most)
            return oc_fail(err, OC_EARG, "option %s is %lld: from %lld to %lld are possible", range[i].name,
                           (long long)range[i].value, (long long)range[i].least, (long long)range[i].most);
    return 0;
}

/* ---- input limits ------------------------------------------------------------------------------------- */

#define KI ((uint64_t)1 << 10)
#define MI ((uint64_t)1 << 20)
#define GI ((uint64_t)1 << 30)
#define TI ((uint64_t)1 << 40)

struct input_limit {
    const char *name, *unit;
    uint64_t otherwise, least, most;
    const char *of; /* the counted unit in messages: "more than 5 ..." */
    const char *text;
};

/* `most` is the largest allowed value: it protects derived sizes (bytes, 32-bit indices) from overflow and
 * the stack from exhaustion. */
static const struct input_limit limit_of[] = {
    [OC_LIMIT_FILE_BYTES] = {"file-bytes", "B", TI, 1, INT64_MAX, "bytes",
                             "size of a model, profile or weights file"},
    [OC_LIMIT_DEPTH] = {"depth", "", 64, 1, 256, "levels of nested graphs",
                        "nesting depth of If, Loop and Scan bodies and function calls"},
    [OC_LIMIT_NODES] = {"nodes", "", 4000000, 1, 1000000000, "nodes",
                        "nodes of a model, including bodies and expanded functions"},
    [OC_LIMIT_FUNCTION_NODES] = {"function-nodes", "", 1000000, 1, 1000000000, "nodes from functions",
                                 "nodes created by expanding function calls"},
    [OC_LIMIT_REPEATS] = {"repeats", "", 2000000, 1, 1000000000000, "nodes of loop bodies analysed again",
                          "nodes analysed again because types change between iterations of a loop"},
    [OC_LIMIT_MODEL_MEMORY] = {"model-memory", "B", 4 * GI, MI, INT64_MAX, "bytes of memory for a model",
                               "memory of a model that is loaded; its weights stay in the file"},
    [OC_LIMIT_ANALYSIS_MEMORY] = {"analysis-memory", "B", 4 * GI, MI, INT64_MAX,
                                  "bytes of memory for shapes and values",
                                  "memory of an analysis: shapes, values, costs"},
    [OC_LIMIT_FOLDED_BYTES] = {"folded-bytes", "B", 512 * MI, KI, INT64_MAX, "bytes of tracked values",
                               "memory of values computed before the model runs (constant folding)"},
    [OC_LIMIT_TENSOR_ELEMENTS] = {"tensor-elements", "", TI, 1, INT64_MAX, "elements",
                                  "elements of a constant"},
    [OC_LIMIT_LIST_ELEMENTS] = {"list-elements", "", 16 * MI, 1, 1000000000, "elements",
                                "elements of a list attribute"},
    [OC_LIMIT_EINSUM_OPERANDS] = {"einsum-operands", "", 256, 1, 65536, "operands", "operands of an Einsum"},
    [OC_LIMIT_STRING_BYTES] = {"string-bytes", "B", 64 * MI, 1, INT32_MAX, "bytes in one string",
                               "length of a name in a model, or of a string or event in JSON"},
    [OC_LIMIT_EVENTS] = {"events", "", 64 * MI, 1, 2000000000, "events", "events of a trace"},
    [OC_LIMIT_TABLE_ROWS] = {"table-rows", "", 4 * MI, 1, 1000000000, "rows",
                             "rows of a time table (CSV and printed tables)"},
    [OC_LIMIT_CSV_COLUMNS] = {"csv-columns", "", 8192, 1, 10000000, "columns", "columns of a table"},
    [OC_LIMIT_CSV_ROW_BYTES] = {"csv-row-bytes", "B", 16 * MI, 1, INT32_MAX, "bytes in a row",
                                "length of a row of a table"},
    [OC_LIMIT_GZ_RATIO] = {"gz-ratio", "", 200, 1, 1032, "bytes out of each byte of gzip data",
                           "expansion ratio of .gz files, checked beyond 64 MiB"},
    [OC_LIMIT_GZ_BYTES] = {"gz-bytes", "B", 64 * GI, 1, INT64_MAX, "bytes out of gzip data",
                           "uncompressed size of a .gz file"},
    [OC_LIMIT_GZ_VALUE_BYTES] = {"gz-value-bytes", "B", 256 * MI, KI, 64 * GI,
                                 "bytes in one value of gzip data",
                                 "length of one value or row in a .gz file (held in memory)"},
    [OC_LIMIT_SQLITE_STEPS] = {"sqlite-steps", "", 64, 1, 1000000, "steps for a byte of SQLite's file",
                               "SQLite steps per byte of the file, beyond a million steps"},
    [OC_LIMIT_SQLITE_SECONDS] = {"sqlite-seconds", "s", 600, 1, 1000000, "seconds in SQLite",
                                 "time to read an SQLite file"},
    [OC_LIMIT_REMOTE_BYTES] = {"remote-bytes", "B", 256 * MI, 1, INT64_MAX, "bytes fetched from a server",
                               "what is fetched of a file whose URL is given"},
    [OC_LIMIT_REMOTE_SECONDS] = {"remote-seconds", "s", 600, 1, 1000000, "seconds of requests to a server",
                                 "time of all requests for a file whose URL is given"},
    [OC_LIMIT_INPUT_BYTES] = {"input-bytes", "B", 512 * MI, KI, INT64_MAX, "bytes of inputs for a run",
                              "memory of the inputs that record generates"},
};
_Static_assert(OC_COUNT(limit_of) == OC_LIMIT_COUNT, "a row for each limit");

/* Fixed limits: they depend on each other or size arrays. Tests compare them with the constants in the code.
 */
static const struct input_limit fixed[] = {
    {"tensor-rank", "", 64, 64, 64, "", "dimensions of a tensor"},
    {"type-depth", "", 16, 16, 16, "", "nesting depth of sequences, maps and optionals"},
    {"value-elements", "", 4096, 4096, 4096, "", "elements of a tracked value; larger ones count as unknown"},
    {"loop-state", "", 64, 64, 64, "", "loop-carried values"},
    {"json-depth", "", 256, 256, 256, "", "nesting depth of JSON"},
    {"json-number", "B", 4096, 4096, 4096, "", "digits of a JSON number; longer ones count as absent"},
    {"xml-depth", "", 8, 8, 8, "", "nesting depth of XML; document types and entities are rejected"},
    {"xml-value", "B", 1000, 1000, 1000, "", "length of an XML attribute"},
    {"hardware-file", "B", 16 * MI, 16 * MI, 16 * MI, "", "size of a hardware file"},
    {"calibration-file", "B", 64 * MI, 64 * MI, 64 * MI, "", "size of a calibration file"},
    {"op-rules-file", "B", 4 * MI, 4 * MI, 4 * MI, "", "size of an --op-rules file"},
    {"small-file", "B", MI, MI, MI, "", "size of budget, baseline, --kernel-names and --count weights files"},
    {"mcp-request", "B", MI, MI, MI, "", "length of a message to onnxcost mcp"},
    {"sqlite-value", "B", 16 * MI, 16 * MI, 16 * MI, "", "length of a value in an SQLite file"},
};

uint64_t oc_input_limit(const struct oc_input_limits *limits, enum oc_input_limit which)
{
    uint64_t v = limits ? limits->most[which] : 0;
    return v ? v : limit_of[which].otherwise;
}

const char *oc_input_limit_text(const struct oc_input_limits *limits, enum oc_input_limit which,
                                uint64_t found, char buf[OC_INPUT_LIMIT_TEXT])
{
    const struct input_limit *c = &limit_of[which];
    uint64_t most = oc_input_limit(limits, which);
    char how[64] = "";
    if (most < c->most)
        snprintf(how, sizeof(how), " (--limit %s=N)", c->name);
    if (found)
        snprintf(buf, OC_INPUT_LIMIT_TEXT, "%" PRIu64 " %s: more than %" PRIu64 "%s", found, c->of, most,
                 how);
    else
        snprintf(buf, OC_INPUT_LIMIT_TEXT, "more than %" PRIu64 " %s%s", most, c->of, how);
    return buf;
}

int oc_input_limit_fail(const struct oc_input_limits *limits, enum oc_input_limit which, uint64_t found,
                        struct oc_err *err)
{
    char text[OC_INPUT_LIMIT_TEXT];
    return oc_fail(err, OC_ELIMIT, "%s", oc_input_limit_text(limits, which, found, text));
}

bool oc_input_limit_info(size_t index, struct oc_input_limit_info *out)
{
    if (index >= OC_COUNT(limit_of) + OC_COUNT(fixed))
        return false;
    const struct input_limit *c = index < OC_LIMIT_COUNT ? &limit_of[index] : &fixed[index - OC_LIMIT_COUNT];
    *out = (struct oc_input_limit_info){.name = c->name,
                                        .text = c->text,
                                        .unit = c->unit,
                                        .otherwise = c->otherwise,
                                        .least = c->least,
                                        .most = c->most};
    return true;
}

static int no_such(const char *text, size_t n, struct oc_err *err)
{
    for (size_t i = 0; i < OC_COUNT(fixed); i++)
        if (strlen(fixed[i].name) == n && memcmp(text, fixed[i].name, n) == 0)
            return oc_fail(err, OC_EARG, "--limit %.60s: this limit is fixed and cannot be changed", text);
    const char *names[OC_LIMIT_COUNT + 1] = {[OC_LIMIT_COUNT] = "external-data"};
    for (size_t i = 0; i < OC_LIMIT_COUNT; i++)
        names[i] = limit_of[i].name;
    return oc_fail_unknown(err, OC_EARG,
                           &(struct oc_unknown){.what = "limit",
                                                .given = n ? text : "",
                                                .given_n = n,
                                                .valid = names,
                                                .n = OC_COUNT(names),
                                                .more = "onnxcost help limits explains them"});
}

/* Where files of weights may be. */
static int set_external(struct oc_input_limits *limits, const char *value, struct oc_err *err)
{
    static const char *const names[] = {"inside", "anywhere"};
    limits->external_anywhere = strcmp(value, "anywhere") == 0;
    if (limits->external_anywhere || strcmp(value, "inside") == 0)
        return 0;
    return oc_fail_unknown(err, OC_EARG,
                           &(struct oc_unknown){.what = "value",
                                                .where = "for --limit external-data",
                                                .given = value,
                                                .valid = names,
                                                .n = OC_COUNT(names)});
}

int oc_input_limits_set(struct oc_input_limits *limits, const char *text, struct oc_err *err)
{
    static const char external[] = "external-data=";
    size_t n = strcspn(text, "="), which = 0;
    uint64_t v;
    if (strncmp(text, external, sizeof(external) - 1) == 0)
        return set_external(limits, text + sizeof(external) - 1, err);
    while (which < OC_LIMIT_COUNT &&
           (strlen(limit_of[which].name) != n || memcmp(text, limit_of[which].name, n) != 0))
        which++;
    if (which == OC_LIMIT_COUNT)
        return no_such(text, n, err);
    const struct input_limit *c = &limit_of[which];
    if (!text[n])
        return oc_fail(err, OC_EARG, "--limit %s needs a value: %s=N", c->name, c->name);
    if (!oc_parse_count(text + n + 1, c->unit[0] ? c->unit : NULL, &v))
        return oc_fail(err, OC_EARG, "--limit %.60s: not a number%s%s", text, c->unit[0] ? " of " : "",
                       c->unit);
    if (v < c->least || v > c->most)
        return oc_fail(err, OC_EARG, "--limit %.60s: a number from %" PRIu64 " to %" PRIu64 " is needed",
                       text, c->least, c->most);
    if (limits->size &&
        limits->size < offsetof(struct oc_input_limits, most) + (which + 1) * sizeof(*limits->most))
        return oc_fail(err, OC_EARG, "--limit %.60s: the program was compiled without this limit", text);
    limits->most[which] = v;
    return 0;
}
