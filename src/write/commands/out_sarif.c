/* A check as SARIF 2.1.0: one rule per kind of limit, one result per limit that failed or is inconclusive,
 * located in the model file and at the nodes involved. */
#include <string.h>

#include "onnxcost.h"
#include "write/commands/out_check.h"
#include "write/tables/json_keys.h"

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
    oc_key_text(&s->w, "result", oc_check_result_name(v->result));
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
        s->rule[i] = oc_check_rule(&s->arena, s->c->verdict[i].limit);
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

void oc_check_sarif(const struct oc_check *c, FILE *f)
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
