/* write/commands/: Output of the other commands: out_NAME.c has the texts and the choice of the format,
 * out_NAME_data.c where it is large the JSON, CSV and page, from one list of fields. Pages work without a
 * network, and without scripts where there are no controls; html_page.h has the parts. Figures come from
 * the folder of the command. */

/* Writes the current values of a model as a baseline. Updating preserves hand-set tolerances and limits,
 * comments and order. A value that is now unknown keeps its old entry. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/file.h"
#include "base/str.h"
#include "base/units.h"
#include "gate/limits.h"
#include "onnxcost.h"
#include "onnxcost/gate.h"
#include "write/tables/table.h"

#define MAX_BYTES (1u << 20)

enum { IS, FROM, SPREAD, RUNS, N_ATTRIBUTES };
static const char *const attribute_names[N_ATTRIBUTES] = {"is", "from", "spread", "runs"};

struct figure_text {
    const char
        *text[N_ATTRIBUTES]; /* IS NULL: unknown, or not a metric of baselines; NULL: no such attribute */
    bool written;
};

struct writer {
    struct oc_arena arena;
    struct oc_buf b;
    struct figure_text figure[OC_GATE_METRICS];
    const char *model;
    struct oc_baseline_kept *kept;
};

/* ---- figures ---------------------------------------------------------------------------------------- */

static const char *baseline_number(struct oc_arena *a, enum oc_gate_metric m, struct oc_gate_number n)
{
    char text[40];
    if (oc_gate_is_whole(m))
        return oc_printf(a, "%" PRIu64, n.n);
    oc_format_repr(n.v, text, sizeof(text));
    return oc_gate_info[m].kind == OC_GATE_TIME ? oc_printf(a, "%s ns", text) : oc_strdup(a, text);
}

static void find_figures(struct writer *w, const struct oc_report_in *in, const struct oc_estimate *estimate)
{
    struct oc_figures figures;
    oc_figures_make(&figures, in, estimate, false);
    for (unsigned m = 0; m < OC_GATE_METRICS; m++) {
        struct oc_figure_span s;
        if (!oc_gate_info[m].baseline)
            continue;
        oc_figure(&figures, (enum oc_gate_metric)m, NULL, NULL, &s);
        if (s.bounded) {
            const char **text = w->figure[m].text;
            text[IS] =
                baseline_number(&w->arena, (enum oc_gate_metric)m, oc_gate_info[m].least ? s.lo : s.hi);
            text[FROM] = s.from ? oc_strdup(&w->arena, s.from) : NULL;
            if (s.recorded.latency_ns > 0) {
                text[SPREAD] = oc_printf(&w->arena, "%.4f", s.recorded.spread);
                text[RUNS] = oc_printf(&w->arena, "%u", s.recorded.runs);
            }
        }
        free(s.node);
    }
    oc_figures_free(&figures);
}

static void baseline_write_value(struct writer *w, unsigned m)
{
    oc_buf_str(&w->b, "  <value");
    oc_xml_attribute(&w->b, "metric", oc_gate_info[m].name);
    for (unsigned k = 0; k < N_ATTRIBUTES; k++)
        if (w->figure[m].text[k])
            oc_xml_attribute(&w->b, attribute_names[k], w->figure[m].text[k]);
    oc_buf_str(&w->b, "/>\n");
}

static void write_missing_values(struct writer *w)
{
    for (unsigned m = 0; m < OC_GATE_METRICS; m++)
        if (w->figure[m].text[IS] && !w->figure[m].written)
            baseline_write_value(w, m);
}

static void write_new(struct writer *w)
{
    oc_buf_str(&w->b, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<baseline version=\"1\"");
    if (*w->model)
        oc_xml_attribute(&w->b, "model", w->model);
    oc_xml_attribute(&w->b, "tool", ONNXCOST_VERSION);
    oc_buf_str(&w->b, ">\n");
    write_missing_values(w);
    oc_buf_str(&w->b, "</baseline>\n");
}

/* ---- an older baseline -----------------------------------------------------------------------------------
 *
 * The reader has accepted the text, so that it is well-formed, without document type and character data. */

struct attribute {
    const char *name, *value; /* value: text between the quotes */
    size_t name_n, value_n;
};

struct tag {
    const char *start, *end; /* from '<' to after '>' */
    const char *name;
    size_t name_n;
    bool closing;
    struct attribute attr[8];
    size_t n_attr;
};

static bool baseline_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static size_t name_length(const char *s)
{
    size_t n = 0;
    while (s[n] && !baseline_is_blank(s[n]) && !strchr("=/>", s[n]))
        n++;
    return n;
}

static void scan_tag(const char *p, struct tag *t)
{
    bool closing = p[1] == '/';
    *t = (struct tag){.start = p, .closing = closing, .name = p + 1 + closing};
    t->name_n = name_length(t->name);
    for (p = t->name + t->name_n; *p != '>' && *p;) {
        if (baseline_is_blank(*p) || *p == '/') {
            p++;
            continue;
        }
        struct attribute a = {.name = p, .name_n = name_length(p)};
        const char *open = p + strcspn(p, "\"'"), *close = *open ? strchr(open + 1, *open) : NULL;
        if (!close || t->n_attr == OC_COUNT(t->attr))
            break;
        a.value = open + 1;
        a.value_n = (size_t)(close - a.value);
        t->attr[t->n_attr++] = a;
        p = close + 1;
    }
    t->end = p + (*p == '>');
}

static bool is_named(const char *name, size_t n, const char *text)
{
    return strlen(text) == n && memcmp(name, text, n) == 0;
}

static const struct attribute *find_attribute(const struct tag *t, const char *name)
{
    for (size_t i = 0; i < t->n_attr; i++)
        if (is_named(t->attr[i].name, t->attr[i].name_n, name))
            return &t->attr[i];
    return NULL;
}

/* The tag with n of its attributes replaced; value NULL: the attribute is unchanged. */
static void write_tag(struct writer *w, const struct tag *t, const char *const *name,
                      const char *const *value, unsigned n)
{
    const char *from = t->start, *last = t->end - (t->end[-2] == '/' ? 2 : 1);
    for (size_t i = 0; i < t->n_attr; i++)
        for (unsigned k = 0; k < n; k++)
            if (value[k] && is_named(t->attr[i].name, t->attr[i].name_n, name[k])) {
                oc_buf_add(&w->b, from, (size_t)(t->attr[i].value - from));
                oc_xml_text(&w->b, value[k]);
                from = t->attr[i].value + t->attr[i].value_n;
            }
    oc_buf_add(&w->b, from, (size_t)(last - from));
    for (unsigned k = 0; k < n; k++)
        if (value[k] && !find_attribute(t, name[k]))
            oc_xml_attribute(&w->b, name[k], value[k]);
    oc_buf_add(&w->b, last, (size_t)(t->end - last));
}

static void keep_value(struct writer *w, const char *metric)
{
    char *names = w->kept->names;
    size_t n = strlen(names);
    snprintf(names + n, sizeof(w->kept->names) - n, "%s%s", n ? ", " : "", metric);
    w->kept->n++;
}

static void write_old_value(struct writer *w, const struct tag *t)
{
    const struct attribute *a = find_attribute(t, "metric");
    enum oc_gate_metric m = a ? oc_gate_metric_of(a->value, a->value_n) : OC_GATE_METRICS;
    if (m == OC_GATE_METRICS || !w->figure[m].text[IS]) {
        if (m != OC_GATE_METRICS)
            keep_value(w, oc_gate_info[m].name);
        oc_buf_add(&w->b, t->start, (size_t)(t->end - t->start));
        return;
    }
    w->figure[m].written = true;
    write_tag(w, t, attribute_names, w->figure[m].text, N_ATTRIBUTES);
}

static void write_root(struct writer *w, const struct tag *t)
{
    bool empty = t->end[-2] == '/';
    write_tag(w, t, (const char *const[]){"model", "tool"},
              (const char *const[]){*w->model ? w->model : NULL, ONNXCOST_VERSION}, 2);
    if (!empty)
        return;
    w->b.n -= strlen("/>");
    oc_buf_str(&w->b, ">\n");
    write_missing_values(w);
    oc_buf_str(&w->b, "</baseline>");
}

static void write_root_end(struct writer *w, const struct tag *t)
{
    if (w->b.n && w->b.data[w->b.n - 1] != '\n')
        oc_buf_char(&w->b, '\n');
    write_missing_values(w);
    oc_buf_add(&w->b, t->start, (size_t)(t->end - t->start));
}

/* Copies one tag, comment or processing instruction; returns the text after it. */
static const char *write_markup(struct writer *w, const char *open)
{
    struct tag t;
    bool comment = strncmp(open, "<!--", 4) == 0;
    if (comment || open[1] == '?') {
        const char *close = strstr(open, comment ? "-->" : "?>");
        const char *end = close ? close + (comment ? 3 : 2) : open + strlen(open);
        oc_buf_add(&w->b, open, (size_t)(end - open));
        return end;
    }
    scan_tag(open, &t);
    if (is_named(t.name, t.name_n, "baseline"))
        (t.closing ? write_root_end : write_root)(w, &t);
    else if (is_named(t.name, t.name_n, "value") && !t.closing)
        write_old_value(w, &t);
    else
        oc_buf_add(&w->b, t.start, (size_t)(t.end - t.start));
    return t.end;
}

static void write_update(struct writer *w, const char *text)
{
    for (const char *open; (open = strchr(text, '<')) != NULL;) {
        oc_buf_add(&w->b, text, (size_t)(open - text));
        text = write_markup(w, open);
    }
    oc_buf_str(&w->b, text);
}

/* ---- public ----------------------------------------------------------------------------------------- */

static int check_baseline(const char *name, const void *data, size_t n, struct oc_err *err)
{
    struct oc_budget *b;
    if (oc_budget_make(&b, err))
        return -1;
    int rc = oc_baseline_read_mem(b, name, data, n, NULL, 0, err);
    oc_budget_free(b);
    return rc;
}

/* Text of an older baseline; NULL: there is none. */
static int baseline_read_old(struct writer *w, const char *path, const char **text, struct oc_err *err)
{
    struct oc_file file;
    struct oc_err cause;
    *text = NULL;
    if (!path || oc_file_map(path, MAX_BYTES, &file, &cause) || !file.size_bytes)
        return 0;
    size_t n = (size_t)file.size_bytes;
    int rc = check_baseline(path, file.data, n, &cause);
    if (rc)
        oc_fail(err, OC_EFORMAT, "%s; an existing file is updated only if it is a baseline", cause.msg);
    else
        *text = oc_strndup(&w->arena, (const char *)file.data, n);
    oc_file_unmap(&file);
    return rc;
}

int oc_baseline_write(const struct oc_report_in *in, const struct oc_estimate *estimate, const char *old_path,
                      struct oc_baseline_kept *kept, FILE *f, struct oc_err *err)
{
    struct oc_baseline_kept unused = {0};
    struct writer w = {.kept = kept ? kept : &unused};
    const char *old;
    *w.kept = (struct oc_baseline_kept){0};
    if (!in->model || !in->analysis || (in->profile && !in->join))
        return oc_fail(err, OC_EARG, "a baseline needs a model, and a profile needs to be joined to it");
    w.model = oc_base_name(in->model->path);
    int rc = baseline_read_old(&w, old_path, &old, err);
    if (!rc) {
        find_figures(&w, in, estimate);
        if (old)
            write_update(&w, old);
        else
            write_new(&w);
        rc = check_baseline(old_path ? old_path : "baseline", w.b.data, w.b.n, err);
    }
    if (!rc)
        fwrite(w.b.data, 1, w.b.n, f);
    oc_buf_free(&w.b);
    oc_arena_free(&w.arena);
    return rc;
}
