/* The difference between two conventions: a table, or JSON. */
#include <string.h>

#include "base/c_locale.h"
#include "analyze/explain.h"
#include "base/units.h"
#include "onnxcost.h"
#include "write/json_keys.h"

enum { NAME = 23, NUMBER = 18 }; /* 80 columns */

static const char *signed_count(int64_t v, char *buf, size_t cap)
{
    char digits[32];
    snprintf(buf, cap, "%s%s",
             v < 0   ? "-"
             : v > 0 ? "+"
                     : "",
             oc_format_count(v < 0 ? 0 - (uint64_t)v : (uint64_t)v, digits, sizeof(digits)));
    return buf;
}

static int64_t difference(const uint64_t count[2])
{
    return (int64_t)(count[1] - count[0]);
}

static void row(FILE *f, const char *name, const uint64_t count[2])
{
    char a[40], b[40], d[40];
    fprintf(f, "%-*s %*s %*s %*s\n", NAME, name, NUMBER, oc_format_count(count[0], a, sizeof(a)), NUMBER,
            oc_format_count(count[1], b, sizeof(b)), NUMBER, signed_count(difference(count), d, sizeof(d)));
}

static void write_text(const struct oc_explanation *x, FILE *f)
{
    char name[128], d[40];
    fprintf(f, "%-*s %*s %*s %*s\n", NAME, "operator type, reason", NUMBER, x->name[0], NUMBER, x->name[1],
            NUMBER, "difference");
    for (uint32_t i = 0; i < x->n_type; i++) {
        const struct oc_explain_type *t = &x->type[i];
        if (!t->count[0] && !t->count[1])
            continue;
        snprintf(name, sizeof(name), "%.80s (%llu)", t->op_type, (unsigned long long)t->nodes);
        row(f, name, t->count);
        for (uint32_t k = 0; k < t->n_term; k++)
            fprintf(f, "  %-*s %*s\n", NAME + 2 * NUMBER, t->term[k].reason, NUMBER,
                    signed_count(t->term[k].difference, d, sizeof(d)));
    }
    row(f, "all", x->count);
}

static void write_type(struct oc_json_out *w, const struct oc_explain_type *t)
{
    oc_jw_begin_object(w);
    oc_key_text(w, "op_type", t->op_type);
    oc_key_text(w, "domain", t->domain);
    oc_key_u64(w, "nodes", t->nodes);
    oc_key_u64(w, "first", t->count[0]);
    oc_key_u64(w, "second", t->count[1]);
    oc_jw_key(w, "terms");
    oc_jw_begin_array(w);
    for (uint32_t k = 0; k < t->n_term; k++) {
        oc_jw_begin_object(w);
        oc_key_text(w, "reason", t->term[k].reason);
        oc_jw_key(w, "difference");
        oc_jw_i64(w, t->term[k].difference);
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
    oc_jw_end_object(w);
}

static void write_json(const struct oc_explanation *x, const struct oc_model *m, FILE *f)
{
    struct oc_json_out w = {.f = f, .pretty = true};
    oc_jw_begin_object(&w);
    oc_key_text(&w, "schema", "onnxcost.explain");
    oc_key_u64(&w, "version", 1);
    oc_key_text(&w, "model", m->path);
    oc_jw_key(&w, "conventions");
    oc_jw_begin_array(&w);
    oc_jw_string(&w, x->name[0]);
    oc_jw_string(&w, x->name[1]);
    oc_jw_end_array(&w);
    oc_key_u64(&w, "first", x->count[0]);
    oc_key_u64(&w, "second", x->count[1]);
    oc_jw_key(&w, "difference");
    oc_jw_i64(&w, difference(x->count));
    oc_jw_key(&w, "types");
    oc_jw_begin_array(&w);
    for (uint32_t i = 0; i < x->n_type; i++)
        write_type(&w, &x->type[i]);
    oc_jw_end_array(&w);
    oc_jw_end_object(&w);
    fputc('\n', f);
}

int oc_explain_write(const struct oc_model *model, const struct oc_analysis *first,
                     const struct oc_analysis *second, const char *format, FILE *f, struct oc_err *err)
{
    OC_C_LOCALE;
    const struct oc_analysis *const both[2] = {first, second};
    struct oc_explanation x;
    bool json = format && strcmp(format, "json") == 0;
    if (!json && format && strcmp(format, "table"))
        return oc_fail(err, OC_EARG, "an explanation comes as table or json, not as %s", format);
    if (oc_explain(both, &x, err))
        return -1;
    if (json)
        write_json(&x, model, f);
    else
        write_text(&x, f);
    oc_explanation_free(&x);
    return 0;
}
