#include "base/input_limits.h"

#include <inttypes.h>
#include <string.h>

#include "base/diag.h"
#include "base/units.h"

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
    {"small-file", "B", MI, MI, MI, "", "size of budget, baseline, --kernel-names and --weights files"},
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
    const char *names[OC_LIMIT_COUNT];
    for (size_t i = 0; i < OC_LIMIT_COUNT; i++)
        names[i] = limit_of[i].name;
    return oc_fail_unknown(err, OC_EARG,
                           &(struct oc_unknown){.what = "limit",
                                                .given = n ? text : "",
                                                .given_n = n,
                                                .valid = names,
                                                .n = OC_LIMIT_COUNT,
                                                .more = "onnxcost help limits explains them"});
}

int oc_input_limits_set(struct oc_input_limits *limits, const char *text, struct oc_err *err)
{
    size_t n = strcspn(text, "="), which = 0;
    uint64_t v;
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
