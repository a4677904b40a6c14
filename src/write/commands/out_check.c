/* A check in all formats: table, Markdown, CSV, JSON, annotations of GitHub Actions (of a diff too),
 * JUnit XML, SARIF. */
#include <string.h>

#include "base/diag.h"
#include "base/units.h"
#include "gate/limits.h"
#include "onnxcost.h"
#include "write/commands/page_views.h"
#include "write/tables/table.h"
#include "write/tables/json_keys.h"

/* "passed", "failed", "inconclusive" */
static const char *check_result_name(enum oc_check_result r)
{
    static const char *const name[] = {"passed", "failed", "inconclusive"};
    return name[r];
}

/* Machine-readable name of the limit: "max-macs", "min-efficiency", "forbid". Arena text. */
static const char *check_rule(struct oc_arena *a, const struct oc_limit *l)
{
    const struct oc_gate_info *info = &oc_gate_info[l->metric];
    if (l->metric == OC_GATE_PRESENT || (l->metric == OC_GATE_UNKNOWN && !l->tolerance && !l->at.n))
        return l->metric == OC_GATE_PRESENT ? "forbid" : "no-unknown";
    return oc_printf(a, "%s%s-%s", l->tolerance ? "baseline-" : "", info->least ? "min" : "max", info->name);
}

/* "3 of 4 limits passed, 1 failed" */
static const char *check_summary(struct oc_arena *a, const struct oc_check *c)
{
    const struct oc_check_counts *n = &c->counts;
    const char *text = oc_printf(a, "%zu of %zu limits passed",
                                 n->limits - n->failed - n->unclear - n->undecided, n->limits);
    if (n->failed)
        text = oc_printf(a, "%s, %zu failed", text, n->failed);
    if (n->unclear)
        text = oc_printf(a, "%s, %zu inconclusive", text, n->unclear);
    return n->undecided ? oc_printf(a, "%s, %zu not decided by the recordings", text, n->undecided) : text;
}

static const char *check_origin(struct oc_arena *a, const struct oc_limit *l)
{
    if (!l->file)
        return "command line";
    return l->line ? oc_printf(a, "%s:%u", l->file, l->line) : l->file;
}

/* An assumption of the figures: "dim batch = 1: default"; NULL past the end. Arena text. */
static const char *check_assumption(struct oc_arena *a, const struct oc_check *c, uint32_t i)
{
    const struct oc_analysis *an = c->in->analysis;
    if (i >= an->n_assumption)
        return NULL;
    const struct oc_assumption *x = &an->assumption[i];
    return oc_printf(a, "%s%s%s%s%s%s%s", x->what, x->name && *x->name ? " " : "", x->name ? x->name : "",
                     x->value && *x->value ? " = " : "", x->value ? x->value : "",
                     x->reason && *x->reason ? ": " : "", x->reason ? x->reason : "");
}

/* ---- for people ------------------------------------------------------------------------------------- */

/* Narrower tables leave out what is in brackets: other units, baseline and tolerance. */
enum { FULL_WIDTH = 140 };

static const char *check_cell_text(struct oc_arena *a, const char *text, bool brief)
{
    const char *bracket = brief ? strstr(text, " (") : NULL;
    return bracket ? oc_strndup(a, text, (size_t)(bracket - text)) : text;
}

static struct oc_table check_table(const struct oc_check *c, struct oc_arena *a, bool brief)
{
    struct oc_table t = {.kinds = "ttttc"};
    OC_ROW(&t, "result", "what", "figure", "limit", "from");
    for (size_t i = 0; i < c->n; i++) {
        const struct oc_limit_verdict *v = &c->verdict[i];
        OC_ROW(&t, check_result_name(v->result), v->title, check_cell_text(a, v->value, brief),
               check_cell_text(a, v->bound, brief), check_origin(a, v->limit));
    }
    return t;
}

static void check_write_table(const struct oc_check *c, unsigned width, FILE *f)
{
    struct oc_arena a = {0};
    const char *text;
    struct oc_table t = check_table(c, &a, width && width < FULL_WIDTH);
    t.width_chars = width;
    oc_plain_say("verdict", 14, width, check_summary(&a, c), f);
    for (size_t i = 0; i < c->n; i++)
        if (c->verdict[i].result != OC_CHECK_PASSED)
            oc_plain_say(check_result_name(c->verdict[i].result), 14, width, c->verdict[i].reason, f);
    for (uint32_t i = 0; (text = check_assumption(&a, c, i)); i++)
        oc_plain_say(i ? "" : "assumptions", 14, width, text, f);
    fputc('\n', f);
    oc_table_print(&t, f);
    oc_arena_free(&a);
}

static void check_write_markdown(const struct oc_check *c, FILE *f)
{
    struct oc_arena a = {0};
    struct oc_buf b = {0};
    struct oc_table t = check_table(c, &a, false);
    const char *text;
    oc_buf_str(&b, "### onnxcost check: ");
    oc_md_code(&b, *c->in->model->path ? c->in->model->path : "model");
    oc_buf_printf(&b, "\n\n%s\n\n", check_summary(&a, c));
    for (size_t i = 0; i < c->n; i++)
        if (c->verdict[i].result != OC_CHECK_PASSED) {
            oc_buf_str(&b, "- ");
            oc_md_text(&b, c->verdict[i].reason);
            oc_buf_char(&b, '\n');
        }
    for (uint32_t i = 0; (text = check_assumption(&a, c, i)); i++) {
        oc_buf_str(&b, "- assumption: ");
        oc_md_text(&b, text);
        oc_buf_char(&b, '\n');
    }
    oc_buf_char(&b, '\n');
    fwrite(b.data, 1, b.n, f);
    oc_table_markdown(&t, f);
    oc_buf_free(&b);
    oc_arena_free(&a);
}

/* ---- for machines ----------------------------------------------------------------------------------- */

static void field_number(struct oc_fields *o, const char *name, const struct oc_limit *l, bool known,
                         struct oc_gate_number n)
{
    if (!known)
        oc_field_text(o, name, NULL);
    else if (oc_gate_is_whole((enum oc_gate_metric)l->metric))
        oc_field_u64(o, name, n.n);
    else
        oc_field_double(o, name, n.v);
}

static void verdict_fields(struct oc_fields *o, const void *of, size_t i)
{
    static const char *const unit[] = {
        [OC_GATE_COUNT] = "1", [OC_GATE_SIZE] = "B", [OC_GATE_TIME] = "ns", [OC_GATE_SHARE] = "fraction"};
    const struct oc_limit_verdict *v = &((const struct oc_check *)of)->verdict[i];
    const struct oc_limit *l = v->limit;
    bool failed = v->result == OC_CHECK_FAILED;
    oc_field_text(o, "rule", check_rule(&o->arena, l));
    oc_field_text(o, "metric", oc_gate_info[l->metric].name);
    oc_field_text(o, "unit", unit[oc_gate_info[l->metric].kind]);
    oc_field_text(o, "op_type", l->type);
    oc_field_text(o, "module", l->module);
    oc_field_text(o, "result", check_result_name(v->result));
    field_number(o, "limit", l, true, l->at);
    field_number(o, "low", l, true, v->span.lo);
    field_number(o, "high", l, v->span.bounded, v->span.hi);
    field_number(o, "excess", l, failed, v->excess);
    oc_field_text(o, "measured_or_estimated", v->span.from);
    field_number(o, "baseline", l, l->tolerance, l->base);
    oc_field_text(o, "tolerance", l->tolerance ? l->tolerance->text : NULL);
    oc_field_text(o, "file", l->file);
    oc_field_size(o, "line", l->line);
    oc_field_text(o, "see", v->span.name);
    oc_field_text(o, "reason", v->reason);
}

static void check_write_csv(const struct oc_check *c, FILE *f)
{
    oc_row_list_csv(&OC_ROWS(c->n, c, verdict_fields), f);
}

static void check_write_json(const struct oc_check *c, FILE *f)
{
    struct oc_json_out w;
    oc_json_begin(&w, f, "onnxcost.check", 1, c->in->model->path);
    oc_key_text(&w, "profile", c->in->profile ? c->in->profile->path : NULL);
    oc_key_text(&w, "hardware", c->in->device ? oc_device_info(c->in->device)->id : NULL);
    oc_key_bool(&w, "passed", !c->counts.failed && !c->counts.unclear);
    oc_key_u64(&w, "limits", c->counts.limits);
    oc_key_u64(&w, "failed", c->counts.failed);
    oc_key_u64(&w, "cannot_tell", c->counts.unclear); /* member name of version 1 */
    oc_key_u64(&w, "inconclusive", c->counts.unclear);
    oc_key_u64(&w, "undecided", c->counts.undecided);
    oc_row_list_json(&OC_ROWS(c->n, c, verdict_fields), "checks", &w);
    oc_key_array(&w, "assumptions");
    for (uint32_t i = 0; i < c->in->analysis->n_assumption; i++)
        oc_json_assumption(&w, &c->in->analysis->assumption[i]);
    oc_jw_end_array(&w);
    oc_json_end(&w);
}

/* ---- GitHub Actions --------------------------------------------------------------------------------- */

/* Annotations of GitHub Actions ("workflow commands"):
 *     ::error file=PATH,line=N,title=TITLE::MESSAGE
 * In all parts '%', CR and LF are written as %25, %0D, %0A; in properties also ':' and ',' as %3A, %2C. */

static void add_escaped(struct oc_buf *b, const char *text, const char *special)
{
    for (; *text; text++)
        if (strchr(special, *text))
            oc_buf_printf(b, "%%%02X", (unsigned char)*text);
        else
            oc_buf_char(b, *text);
}

static void add_property(struct oc_buf *b, const char *name, const char *text)
{
    if (!*text)
        return;
    oc_buf_printf(b, "%s%s=", b->data[b->n - 1] == ' ' ? "" : ",", name);
    add_escaped(b, text, "%\r\n:,");
}

/* level: "error", "warning", "notice"; file "": none; line 0: none. */
static void write_annotation(FILE *f, const char *level, const char *file, uint32_t line, const char *title,
                             const char *message)
{
    struct oc_buf b = {0};
    char number[16] = "";
    if (line)
        snprintf(number, sizeof(number), "%u", line);
    oc_buf_printf(&b, "::%s ", level);
    add_property(&b, "file", file);
    add_property(&b, "line", number);
    add_property(&b, "title", title);
    oc_buf_str(&b, "::");
    add_escaped(&b, message, "%\r\n");
    oc_print_line(f, "%s", b.data);
    oc_buf_free(&b);
}

/* A limit from a file is annotated there, one from the command line at the model. */
static void check_github(const struct oc_check *c, FILE *f)
{
    struct oc_arena a = {0};
    for (size_t i = 0; i < c->n; i++) {
        const struct oc_limit_verdict *v = &c->verdict[i];
        const struct oc_limit *l = v->limit;
        if (v->result != OC_CHECK_PASSED)
            write_annotation(f, v->result == OC_CHECK_FAILED ? "error" : "warning",
                             l->file ? l->file : c->in->model->path, l->file ? l->line : 0,
                             oc_printf(&a, "onnxcost check: %s %s", v->title, check_result_name(v->result)),
                             v->reason);
    }
    oc_print_line(f, "%s", check_summary(&a, c));
    oc_arena_free(&a);
}

/* Whether B is shown to be slower, or exceeds A by more than the default tolerance of baselines. */
static bool is_worse(const struct oc_diff *d, unsigned of)
{
    const struct oc_diff_total *t = &d->total[of];
    if (of == OC_DIFF_LATENCY || (of == OC_DIFF_TIME && !isnan(d->latency.ratio)))
        return d->latency.verdict == OC_COMPARED_SLOWER;
    enum oc_gate_metric m = t->is_time ? OC_GATE_LATENCY : OC_GATE_MACS;
    struct oc_tolerance tolerance;
    oc_tolerance_parse(m, oc_gate_info[m].tolerance, &tolerance);
    struct oc_gate_number a = {.n = t->n[0], .v = t->v[0]}, limit = oc_tolerance_limit(m, a, &tolerance);
    return t->is_time ? t->v[1] > limit.v : t->n[1] > limit.n;
}

/* A row of the totals: title, A, B, difference, percent. */
static void annotate_total(struct oc_diff_view *v, unsigned m, const char *const *cell, FILE *f)
{
    const struct oc_diff_total *t = &v->d->total[m];
    bool known = t->known[0] && t->known[1];
    if (!known || (!t->unknown_rows && (t->is_time ? t->v[0] == t->v[1] : t->n[0] == t->n[1])))
        return;
    const char *message = t->unknown_rows ? oc_printf(&v->arena, "%s -> %s (difference unknown: %u rows)",
                                                      cell[1], cell[2], t->unknown_rows)
                                          : oc_printf(&v->arena, "%s -> %s (%s%s%s)", cell[1], cell[2],
                                                      cell[3], *cell[4] ? ", " : "", cell[4]);
    const struct oc_report_in *b = &v->d->in[1];
    const char *parts = m == v->d->parts.of ? oc_diff_parts_text(v) : NULL;
    if (m == OC_DIFF_LATENCY)
        message = oc_printf(&v->arena, "%s: %s", message, oc_compared_text(&v->d->latency, &v->arena));
    if (parts)
        message = oc_printf(&v->arena, "%s; %s", message, parts);
    /* without a model many rows have no counts, and a sum of the others shows nothing */
    bool warns = t->unknown_rows ? !v->d->by_name || t->is_time : is_worse(v->d, m);
    write_annotation(f, warns ? "warning" : "notice", b->model ? b->model->path : b->profile->path, 0,
                     oc_printf(&v->arena, "onnxcost diff: %s", cell[0]), message);
}

void oc_diff_github(struct oc_diff_view *v, FILE *f)
{
    struct oc_table t;
    size_t row = 1;
    oc_diff_totals(v, &t);
    for (unsigned m = 0; m < OC_DIFF_METRICS; m++)
        if (v->has[m])
            annotate_total(v, m, &t.cell[t.n_col * row++], f);
    oc_print_line(f, "%s", oc_diff_sentence(v));
    oc_table_free(&t);
}

/* ---- JUnit XML -------------------------------------------------------------------------------------- */
/* A check as JUnit XML: a test suite with one test case per limit. The time of a latency test case is the
 * latency; of others 0. */

static void junit_seconds(struct oc_buf *b, double ns)
{
    char text[40];
    oc_format_repr(ns / 1e9, text, sizeof(text));
    oc_xml_attribute(b, "time", strchr(text, 'e') || strchr(text, 'n') ? "0" : text);
}

static double junit_time_of(const struct oc_limit_verdict *v)
{
    bool known = v->limit->metric == OC_GATE_LATENCY && v->span.bounded && v->span.exact;
    return known ? v->span.hi.v : 0;
}

static void junit_counts(struct oc_buf *b, const struct oc_check *c)
{
    double longest = 0;
    for (size_t i = 0; i < c->n; i++)
        longest = junit_time_of(&c->verdict[i]) > longest ? junit_time_of(&c->verdict[i]) : longest;
    oc_buf_printf(b, " tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"0\"", c->counts.limits,
                  c->counts.failed + c->counts.unclear);
    junit_seconds(b, longest);
}

static void property(struct oc_buf *b, const char *name, const char *value)
{
    oc_buf_str(b, "      <property");
    oc_xml_attribute(b, "name", name);
    oc_xml_attribute(b, "value", value);
    oc_buf_str(b, "/>\n");
}

static void properties(struct oc_buf *b, const struct oc_check *c, struct oc_arena *a)
{
    const struct oc_report_in *in = c->in;
    const char *text;
    oc_buf_str(b, "    <properties>\n");
    property(b, "model", in->model->path);
    if (in->profile)
        property(b, "profile", in->profile->path);
    if (in->device)
        property(b, "hardware", oc_device_info(in->device)->id);
    for (uint32_t i = 0; (text = check_assumption(a, c, i)); i++)
        property(b, "assumption", text);
    oc_buf_str(b, "    </properties>\n");
}

static void test_case(struct oc_buf *b, const struct oc_limit_verdict *v, struct oc_arena *a)
{
    oc_buf_str(b, "    <testcase classname=\"onnxcost.check\"");
    oc_xml_attribute(b, "name", oc_printf(a, "%s %s", v->title, v->bound));
    junit_seconds(b, junit_time_of(v));
    if (v->result == OC_CHECK_PASSED || (v->result == OC_CHECK_INCONCLUSIVE && v->comparison.n[0])) {
        oc_buf_str(b, ">\n      <system-out>");
        oc_xml_text(b, v->reason);
        oc_buf_str(b, "</system-out>\n    </testcase>\n");
        return;
    }
    oc_buf_str(b, ">\n      <failure");
    oc_xml_attribute(b, "type", check_result_name(v->result));
    oc_xml_attribute(b, "message", v->reason);
    oc_buf_char(b, '>');
    oc_xml_text(b, v->reason);
    oc_buf_str(b, "</failure>\n    </testcase>\n");
}

static void check_junit(const struct oc_check *c, FILE *f)
{
    struct oc_buf b = {0};
    struct oc_arena a = {0};
    oc_buf_str(&b, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"onnxcost check\"");
    junit_counts(&b, c);
    oc_buf_str(&b, ">\n  <testsuite");
    oc_xml_attribute(&b, "name", *c->in->model->path ? c->in->model->path : "model");
    junit_counts(&b, c);
    oc_buf_str(&b, ">\n");
    properties(&b, c, &a);
    for (size_t i = 0; i < c->n; i++)
        test_case(&b, &c->verdict[i], &a);
    oc_buf_str(&b, "  </testsuite>\n</testsuites>\n");
    fwrite(b.data, 1, b.n, f);
    oc_buf_free(&b);
    oc_arena_free(&a);
}

/* ---- SARIF ------------------------------------------------------------------------------------------ */

/* A check as SARIF 2.1.0: one rule per kind of limit, one result per limit that failed or is inconclusive,
 * located in the model file and at the nodes involved. */

struct sarif {
    struct oc_json_out w;
    const struct oc_check *c;
    struct oc_arena arena;
    const char **rule; /* indexed by verdict */
    const char **id;   /* the rules, each once */
    uint32_t n_id;
};

/* A path as URI with special characters as %XX. "" without a file. */
static const char *uri_of(struct oc_arena *a, const char *path)
{
    struct oc_buf b = {0};
    oc_buf_str(&b, *path == '/' ? "file://" : "");
    for (const unsigned char *p = (const unsigned char *)path; *p; p++) {
        bool plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') ||
                     strchr("-._~/", *p);
        oc_buf_printf(&b, plain ? "%c" : "%%%02X", *p);
    }
    const char *uri = oc_strndup(a, b.data ? b.data : "", b.n);
    oc_buf_free(&b);
    return uri;
}

static uint32_t rule_index(const struct sarif *s, const char *id)
{
    uint32_t i = 0;
    while (i < s->n_id && strcmp(s->id[i], id) != 0)
        i++;
    return i;
}

static void text_object(struct sarif *s, const char *key, const char *text)
{
    oc_key_object(&s->w, key);
    oc_key_text(&s->w, "text", text);
    oc_jw_end_object(&s->w);
}

static const char *sarif_about(struct sarif *s, const struct oc_limit *l)
{
    const struct oc_gate_info *info = &oc_gate_info[l->metric];
    if (l->metric == OC_GATE_PRESENT)
        return "forbidden operators";
    if (l->metric == OC_GATE_UNKNOWN && !l->at.n)
        return "every executed operator has a cost";
    return oc_printf(&s->arena, "%s %s", info->name,
                     l->tolerance  ? "is within its tolerance of the baseline"
                     : info->least ? "does not fall below its limit"
                                   : "does not exceed its limit");
}

static void driver(struct sarif *s)
{
    oc_key_object(&s->w, "tool");
    oc_key_object(&s->w, "driver");
    oc_key_text(&s->w, "name", "onnxcost");
    oc_key_text(&s->w, "version", ONNXCOST_VERSION);
    oc_key_array(&s->w, "rules");
    for (size_t i = 0, next = 0; i < s->c->n; i++) {
        if (rule_index(s, s->rule[i]) != next)
            continue;
        next++;
        oc_jw_begin_object(&s->w);
        oc_key_text(&s->w, "id", s->rule[i]);
        text_object(s, "shortDescription", sarif_about(s, s->c->verdict[i].limit));
        oc_jw_end_object(&s->w);
    }
    oc_jw_end_array(&s->w);
    oc_jw_end_object(&s->w);
    oc_jw_end_object(&s->w);
}

/* A model is binary: results refer to line 1. */
static void location(struct sarif *s, const char *uri, const struct oc_node *node, const char *name)
{
    oc_jw_begin_object(&s->w);
    if (*uri) {
        oc_key_object(&s->w, "physicalLocation");
        oc_key_object(&s->w, "artifactLocation");
        oc_key_text(&s->w, "uri", uri);
        oc_jw_end_object(&s->w);
        oc_key_object(&s->w, "region");
        oc_key_u64(&s->w, "startLine", 1);
        oc_jw_end_object(&s->w);
        oc_jw_end_object(&s->w);
    }
    if (name) {
        const char *scope = node ? s->c->in->model->graph[node->graph].scope : "";
        oc_key_array(&s->w, "logicalLocations");
        oc_jw_begin_object(&s->w);
        oc_key_text(&s->w, "name", name);
        oc_key_text(&s->w, "fullyQualifiedName", *scope ? oc_printf(&s->arena, "%s/%s", scope, name) : name);
        oc_key_text(&s->w, "kind", "object");
        oc_jw_end_object(&s->w);
        oc_jw_end_array(&s->w);
    }
    oc_jw_end_object(&s->w);
}

static void locations(struct sarif *s, const struct oc_limit_verdict *v, const char *uri)
{
    const struct oc_model *m = s->c->in->model;
    char label[512];
    oc_key_array(&s->w, "locations");
    for (uint32_t i = 0; i < v->span.n_node; i++) {
        const struct oc_node *n = &m->node[v->span.node[i]];
        location(s, uri, n, oc_node_label(m, n, label, sizeof(label)));
    }
    if (!v->span.n_node)
        location(s, uri, NULL, v->span.name);
    oc_jw_end_array(&s->w);
}

static void result(struct sarif *s, size_t i, const char *uri)
{
    const struct oc_limit_verdict *v = &s->c->verdict[i];
    oc_jw_begin_object(&s->w);
    oc_key_text(&s->w, "ruleId", s->rule[i]);
    oc_key_u64(&s->w, "ruleIndex", rule_index(s, s->rule[i]));
    oc_key_text(&s->w, "level", v->result == OC_CHECK_FAILED ? "error" : "warning");
    text_object(s, "message", v->reason);
    locations(s, v, uri);
    oc_key_object(&s->w, "partialFingerprints");
    oc_key_text(&s->w, "limit/v1", oc_printf(&s->arena, "%s %s", s->rule[i], v->title));
    oc_jw_end_object(&s->w);
    oc_key_object(&s->w, "properties");
    oc_key_text(&s->w, "result", check_result_name(v->result));
    oc_key_text(&s->w, "figure", v->value);
    oc_key_text(&s->w, "limit", v->bound);
    oc_jw_end_object(&s->w);
    oc_jw_end_object(&s->w);
}

static void find_rules(struct sarif *s)
{
    s->rule = OC_NEW_ARRAY(&s->arena, s->c->n + 1, const char *);
    s->id = OC_NEW_ARRAY(&s->arena, s->c->n + 1, const char *);
    for (size_t i = 0; i < s->c->n; i++) {
        s->rule[i] = check_rule(&s->arena, s->c->verdict[i].limit);
        if (rule_index(s, s->rule[i]) == s->n_id)
            s->id[s->n_id++] = s->rule[i];
    }
}

static void sarif_run(struct sarif *s)
{
    const char *uri = uri_of(&s->arena, s->c->in->model->path);
    oc_jw_begin_object(&s->w);
    driver(s);
    oc_key_text(&s->w, "columnKind", "utf16CodeUnits");
    if (*uri) {
        oc_key_array(&s->w, "artifacts");
        oc_jw_begin_object(&s->w);
        oc_key_object(&s->w, "location");
        oc_key_text(&s->w, "uri", uri);
        oc_jw_end_object(&s->w);
        oc_jw_end_object(&s->w);
        oc_jw_end_array(&s->w);
    }
    oc_key_array(&s->w, "results");
    for (size_t i = 0; i < s->c->n; i++)
        if (s->c->verdict[i].result != OC_CHECK_PASSED)
            result(s, i, uri);
    oc_jw_end_array(&s->w);
    oc_jw_end_object(&s->w);
}

static void check_sarif(const struct oc_check *c, FILE *f)
{
    struct sarif s = {.w = {.f = f, .pretty = true}, .c = c};
    find_rules(&s);
    oc_jw_begin_object(&s.w);
    oc_key_text(&s.w, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    oc_key_text(&s.w, "version", "2.1.0");
    oc_key_array(&s.w, "runs");
    sarif_run(&s);
    oc_jw_end_array(&s.w);
    oc_jw_end_object(&s.w);
    fputc('\n', f);
    oc_arena_free(&s.arena);
}

/* ---- formats ---------------------------------------------------------------------------------------- */

int oc_check_write(const struct oc_check *c, const char *format, unsigned width_chars, FILE *out,
                   struct oc_err *err)
{
    static const struct {
        const char *name;
        void (*write)(const struct oc_check *c, FILE *f);
    } forms[] = {{"csv", check_write_csv},     {"json", check_write_json}, {"markdown", check_write_markdown},
                 {"md", check_write_markdown}, {"junit", check_junit},     {"sarif", check_sarif},
                 {"github", check_github}};
    if (!format || strcmp(format, "table") == 0) {
        check_write_table(c, width_chars, out);
        return 0;
    }
    for (size_t i = 0; i < OC_COUNT(forms); i++)
        if (strcmp(forms[i].name, format) == 0) {
            forms[i].write(c, out);
            return 0;
        }
    return oc_fail(err, OC_EARG,
                   "check has no format '%s'; valid: table, csv, json, markdown, junit, sarif, github",
                   format);
}
