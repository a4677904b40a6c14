#include "write/commands/out_check.h"

#include <string.h>

#include "base/diag.h"
#include "onnxcost.h"
#include "write/tables/grid.h"
#include "write/tables/json_keys.h"
#include "write/tables/plain_table.h"

const char *oc_check_result_name(enum oc_check_result r)
{
    static const char *const name[] = {"passed", "failed", "inconclusive"};
    return name[r];
}

const char *oc_check_rule(struct oc_arena *a, const struct oc_limit *l)
{
    const struct oc_gate_info *info = &oc_gate_info[l->metric];
    if (l->metric == OC_GATE_PRESENT || (l->metric == OC_GATE_UNKNOWN && !l->tolerance && !l->at.n))
        return l->metric == OC_GATE_PRESENT ? "forbid" : "no-unknown";
    return oc_printf(a, "%s%s-%s", l->tolerance ? "baseline-" : "", info->least ? "min" : "max", info->name);
}

const char *oc_check_summary(struct oc_arena *a, const struct oc_check *c)
{
    const struct oc_check_counts *n = &c->counts;
    const char *text =
        oc_printf(a, "%zu of %zu limits passed", n->limits - n->failed - n->unclear, n->limits);
    if (n->failed)
        text = oc_printf(a, "%s, %zu failed", text, n->failed);
    return n->unclear ? oc_printf(a, "%s, %zu inconclusive", text, n->unclear) : text;
}

static const char *check_origin(struct oc_arena *a, const struct oc_limit *l)
{
    if (!l->file)
        return "command line";
    return l->line ? oc_printf(a, "%s:%u", l->file, l->line) : l->file;
}

const char *oc_check_assumption(struct oc_arena *a, const struct oc_check *c, uint32_t i)
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

static void fill_sheet(const struct oc_check *c, struct oc_arena *a, bool brief, struct oc_sheet *s)
{
    static const char *const head[] = {"result", "what", "figure", "limit", "from"};
    *s = (struct oc_sheet){.kinds = "ttttc", .head = head};
    for (size_t i = 0; i < c->n; i++) {
        const struct oc_limit_verdict *v = &c->verdict[i];
        const char *cell[] = {oc_check_result_name(v->result), v->title, check_cell_text(a, v->value, brief),
                              check_cell_text(a, v->bound, brief), check_origin(a, v->limit)};
        oc_sheet_row(s, cell);
    }
}

static void check_write_table(const struct oc_check *c, unsigned width, FILE *f)
{
    struct oc_arena a = {0};
    const char *text;
    struct oc_sheet s;
    fill_sheet(c, &a, width && width < FULL_WIDTH, &s);
    oc_sheet_plain(&s, width, false, f);
    fputc('\n', f);
    for (size_t i = 0; i < c->n; i++)
        if (c->verdict[i].result != OC_CHECK_PASSED)
            oc_plain_say(oc_check_result_name(c->verdict[i].result), 14, width, c->verdict[i].reason, f);
    oc_plain_say("summary", 14, width, oc_check_summary(&a, c), f);
    for (uint32_t i = 0; (text = oc_check_assumption(&a, c, i)); i++)
        oc_plain_say(i ? "" : "assumptions", 14, width, text, f);
    oc_sheet_free(&s);
    oc_arena_free(&a);
}

static void check_write_markdown(const struct oc_check *c, FILE *f)
{
    struct oc_arena a = {0};
    struct oc_buf b = {0};
    struct oc_sheet s;
    const char *text;
    fill_sheet(c, &a, false, &s);
    oc_buf_str(&b, "### onnxcost check: ");
    oc_md_code(&b, *c->in->model->path ? c->in->model->path : "model");
    oc_buf_printf(&b, "\n\n%s\n\n", oc_check_summary(&a, c));
    for (size_t i = 0; i < c->n; i++)
        if (c->verdict[i].result != OC_CHECK_PASSED) {
            oc_buf_str(&b, "- ");
            oc_md_text(&b, c->verdict[i].reason);
            oc_buf_char(&b, '\n');
        }
    for (uint32_t i = 0; (text = oc_check_assumption(&a, c, i)); i++) {
        oc_buf_str(&b, "- assumption: ");
        oc_md_text(&b, text);
        oc_buf_char(&b, '\n');
    }
    oc_buf_char(&b, '\n');
    fwrite(b.data, 1, b.n, f);
    oc_sheet_markdown(&s, f);
    oc_sheet_free(&s);
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

static void check_fill(struct oc_fields *o, const struct oc_limit_verdict *v)
{
    static const char *const unit[] = {
        [OC_GATE_COUNT] = "1", [OC_GATE_SIZE] = "B", [OC_GATE_TIME] = "ns", [OC_GATE_SHARE] = "fraction"};
    const struct oc_limit *l = v->limit;
    bool failed = v->result == OC_CHECK_FAILED;
    oc_field_text(o, "rule", oc_check_rule(&o->arena, l));
    oc_field_text(o, "metric", oc_gate_info[l->metric].name);
    oc_field_text(o, "unit", unit[oc_gate_info[l->metric].kind]);
    oc_field_text(o, "op_type", l->type);
    oc_field_text(o, "module", l->module);
    oc_field_text(o, "result", oc_check_result_name(v->result));
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
    struct oc_fields o = {0};
    for (size_t i = 0; i < c->n; i++) {
        oc_fields_begin(&o);
        check_fill(&o, &c->verdict[i]);
        oc_fields_end(&o);
    }
    oc_fields_csv(&o, "1", f);
    oc_fields_free(&o);
}

static void check_write_json(const struct oc_check *c, FILE *f)
{
    struct oc_json_out w;
    struct oc_fields o = {.json = &w};
    oc_json_begin(&w, f, "onnxcost.check", 1, c->in->model->path);
    oc_key_text(&w, "profile", c->in->profile ? c->in->profile->path : NULL);
    oc_key_text(&w, "hardware", c->in->device ? oc_device_info(c->in->device)->id : NULL);
    oc_key_bool(&w, "passed", !c->counts.failed && !c->counts.unclear);
    oc_key_u64(&w, "limits", c->counts.limits);
    oc_key_u64(&w, "failed", c->counts.failed);
    oc_key_u64(&w, "cannot_tell", c->counts.unclear); /* member name of version 1 */
    oc_key_u64(&w, "inconclusive", c->counts.unclear);
    oc_key_array(&w, "checks");
    for (size_t i = 0; i < c->n; i++) {
        oc_fields_begin(&o);
        check_fill(&o, &c->verdict[i]);
        oc_fields_end(&o);
    }
    oc_jw_end_array(&w);
    oc_key_array(&w, "assumptions");
    for (uint32_t i = 0; i < c->in->analysis->n_assumption; i++) {
        const struct oc_assumption *x = &c->in->analysis->assumption[i];
        oc_fields_begin(&o);
        oc_field_text(&o, "what", x->what);
        oc_field_text(&o, "name", x->name);
        oc_field_text(&o, "value", x->value);
        oc_field_text(&o, "reason", x->reason);
        oc_fields_end(&o);
    }
    oc_jw_end_array(&w);
    oc_json_end(&w);
    oc_fields_free(&o);
}

/* ---- choice ----------------------------------------------------------------------------------------- */

int oc_check_write(const struct oc_check *c, const char *format, unsigned width_chars, FILE *out,
                   struct oc_err *err)
{
    static const struct {
        const char *name;
        void (*write)(const struct oc_check *c, FILE *f);
    } forms[] = {{"csv", check_write_csv},     {"json", check_write_json}, {"markdown", check_write_markdown},
                 {"md", check_write_markdown}, {"junit", oc_check_junit},  {"sarif", oc_check_sarif},
                 {"github", oc_check_github}};
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
