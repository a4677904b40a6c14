/* --explain-match, and the diff of two conventions. */
#include "write/report_write.h"

#include <inttypes.h>
#include <string.h>

#include "analyze/receipt.h"
#include "base/c_locale.h"
#include "base/unicode.h"
#include "base/units.h"
#include "join/join.h"
#include "onnxcost.h"
#include "onnxcost/report.h"
#include "report/select.h"
#include "write/tables/json_keys.h"
#include "write/tables/table.h"

enum { MAX_NODES = 12, MATCH_LABEL = 10 };

/* row: NULL: the record has none */
static void print_record(struct oc_explainer *x, uint32_t i, const struct oc_row *row, size_t width, FILE *f)
{
    const struct oc_join *j = x->j;
    const struct oc_prof_rec *p = &j->profile->rec[i];
    const struct oc_join_rec *r = &j->rec[i];
    double ns = isnan(p->kernel_ns) ? p->self_ns : p->kernel_ns;
    char buf[64], label[256];
    oc_print_line(f, "%s  (%s%s%s)",
                  row        ? row->name
                  : *p->name ? p->name
                             : "(unnamed)",
                  p->op_type, *p->op_type ? ", " : "",
                  isnan(ns) ? "unknown time" : oc_format_time_ns(ns, buf, sizeof(buf)));
    if (row && row->runtime_name)
        oc_plain_say("  runtime", MATCH_LABEL, width, row->runtime_name, f);
    if (r->n_node) {
        struct oc_buf nodes = {0};
        fprintf(f, "  rule    %s, confidence %.2f\n", r->rule, r->confidence);
        for (uint32_t k = 0; k < r->n_node && k < MAX_NODES; k++)
            oc_buf_printf(&nodes, "%s%s", k ? ", " : "",
                          oc_node_label(j->model, &j->model->node[r->node[k]], label, sizeof(label)));
        if (r->n_node > MAX_NODES)
            oc_buf_printf(&nodes, ", and %u more", r->n_node - MAX_NODES);
        oc_plain_say("  nodes", MATCH_LABEL, width, nodes.data, f);
        oc_buf_free(&nodes);
    } else {
        oc_print_line(f, "  bucket  %s", r->bucket ? r->bucket : "unattributed");
    }
    oc_plain_say("  why", MATCH_LABEL, width, oc_join_explain(x, i), f);
}

/* Records without a row, which no table prints: of buckets, parts of rows. */
static struct oc_row *rows_of_records(struct oc_report *r, uint32_t *n)
{
    const struct oc_profile *p = r->in->profile;
    bool *has_row = OC_NEW_ARRAY(&r->arena, p->n_rec, bool);
    struct oc_row *row = OC_NEW_ARRAY(&r->arena, p->n_rec, struct oc_row);
    *n = 0;
    for (uint32_t i = 0; i < OC_ALL_ROWS(r); i++)
        if (r->all.row[i].record != OC_NONE)
            has_row[r->all.row[i].record] = true;
    for (uint32_t i = 0; i < p->n_rec; i++) {
        if (has_row[i])
            continue;
        row[*n] = oc_row_blank();
        row[*n].record = i;
        row[*n].type = p->rec[i].bucket ? p->rec[i].bucket : p->rec[i].op_type;
        row[*n].name = *p->rec[i].name ? p->rec[i].name : row[*n].type;
        (*n)++;
    }
    return row;
}

int oc_match_select(struct oc_report *r, struct oc_err *err)
{
    const struct oc_report_opts *o = r->o;
    uint32_t n;
    if (!o->n_explain_match)
        return 0;
    const struct oc_row *other = rows_of_records(r, &n);
    uint32_t n_row = OC_ALL_ROWS(r);
    bool *hit = OC_NEW_ARRAY(&r->arena, (size_t)n_row + n, bool);
    for (size_t i = 0; i < o->n_explain_match; i++)
        if (!o->explain_match[i][0])
            memset(hit, true, n_row + n);
        else if (oc_report_find(r, OC_NAME_LITERAL, "--explain-match", o->explain_match[i], other, n, hit,
                                err))
            return -1;
    r->explained = OC_NEW_ARRAY(&r->arena, r->in->profile->n_rec, bool);
    for (uint32_t i = 0; i < n_row + n; i++) {
        const struct oc_row *row = i < n_row ? &r->all.row[i] : &other[i - n_row];
        if (row->record != OC_NONE)
            r->explained[row->record] |= hit[i];
        else if (hit[i])
            r->explained_rest = row;
    }
    return 0;
}

void oc_out_match(struct oc_report *r, FILE *f)
{
    const struct oc_join *j = r->in->join;
    const struct oc_row **row = OC_NEW_ARRAY(&r->arena, j->profile->n_rec, const struct oc_row *);
    uint32_t n = 0;
    struct oc_explainer x;
    for (uint32_t i = 0; i < OC_ALL_ROWS(r); i++)
        if (r->all.row[i].record != OC_NONE)
            row[r->all.row[i].record] = &r->all.row[i];
    if (r->explained_rest) {
        oc_print_line(f, "%s  (no record)", r->explained_rest->name);
        oc_print_line(f, "  why     time of a run in which no operator runs");
    }
    oc_explainer_init(&x, j, &r->arena);
    for (uint32_t i = 0; i < j->profile->n_rec; i++) {
        if (!r->explained[i])
            continue;
        print_record(&x, i, row[i], r->o->width_chars, f);
        n++;
    }
    oc_explainer_free(&x);
    double all_ns = j->mapped_ns + j->overhead_ns + j->unmatched_ns;
    if (all_ns > 0)
        oc_plain_say_format(
            "", 0, r->o->width_chars, f,
            "%u record%s; operator time: %.1f %% attributed, %.1f %% runtime-inserted, %.1f %% "
            "unattributed (%u record%s)",
            n, oc_plural(n), 100 * j->mapped_ns / all_ns, 100 * j->overhead_ns / all_ns,
            100 * j->unmatched_ns / all_ns, j->n_unmatched, oc_plural(j->n_unmatched));
}

/* ---- out explain ------------------------------------------------------------------------------------ */

/* The difference between two conventions: a table, or JSON. */

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

/* Columns: name, two counts, difference. A reason spans the name and the counts. */
enum { GAP = 2, NUMBERS = 3, VERDICT_LABEL = 10 };

struct layout {
    const struct oc_explanation *x;
    size_t name, number[NUMBERS]; /* widths; 0: not shown */
    size_t reason;                /* longest */
    FILE *f;
};

static const char *explain_number_text(const uint64_t count[2], unsigned column, char *buf, size_t cap)
{
    return column < 2 ? oc_format_count(count[column], buf, cap) : signed_count(difference(count), buf, cap);
}

static void explain_widen(size_t *width, size_t n)
{
    *width = n > *width ? n : *width;
}

static void measure_row(struct layout *l, const char *name, const uint64_t count[2])
{
    char buf[40];
    explain_widen(&l->name, strlen(name));
    for (unsigned i = 0; i < NUMBERS; i++)
        explain_widen(&l->number[i], strlen(explain_number_text(count, i, buf, sizeof(buf))));
}

static void explain_print_row(struct layout *l, const char *name, const uint64_t count[2])
{
    const char *const title[NUMBERS] = {l->x->name[0], l->x->name[1], "difference"};
    char buf[40];
    fprintf(l->f, "%-*s", (int)l->name, name);
    for (unsigned i = 0; i < NUMBERS; i++)
        if (l->number[i])
            fprintf(l->f, "  %*s", (int)l->number[i],
                    count ? explain_number_text(count, i, buf, sizeof(buf)) : title[i]);
    fputc('\n', l->f);
}

static size_t explain_span(const struct layout *l)
{
    size_t width = l->name;
    for (unsigned i = 0; i < 2; i++)
        width += l->number[i] ? GAP + l->number[i] : 0;
    return width;
}

static void explain_fit(struct layout *l, unsigned width_chars)
{
    size_t behind = GAP + l->number[2], room = width_chars > behind ? width_chars - behind : 1;
    for (unsigned i = 2; width_chars && i-- > 0;)
        if (explain_span(l) > room)
            l->number[i] = 0;
    size_t reason = width_chars && l->reason > room ? room : l->reason;
    l->name += reason > explain_span(l) ? reason - explain_span(l) : 0;
}

/* A reason that is wider than the span has lines of its own. */
static void print_reason(const struct layout *l, const struct oc_explain_term *t)
{
    char d[40];
    size_t width = explain_span(l) - GAP;
    bool fits = strlen(t->reason) <= width;
    if (!fits)
        oc_plain_say("", GAP, (unsigned)explain_span(l), t->reason, l->f);
    fprintf(l->f, "  %-*s  %*s\n", (int)width, fits ? t->reason : "", (int)l->number[2],
            signed_count(t->difference, d, sizeof(d)));
}

/* Calls `row` for each type; prints or measures the reasons. */
static void put_types(struct layout *l, void (*row)(struct layout *, const char *, const uint64_t *))
{
    char name[128];
    for (uint32_t i = 0; i < l->x->n_type; i++) {
        const struct oc_explain_type *t = &l->x->type[i];
        if (!t->count[0] && !t->count[1])
            continue;
        snprintf(name, sizeof(name), "%.80s (%" PRIu64 ")", t->op_type, t->nodes);
        row(l, name, t->count);
        for (uint32_t k = 0; k < t->n_term; k++) {
            if (row == explain_print_row)
                print_reason(l, &t->term[k]);
            explain_widen(&l->reason, strlen(t->term[k].reason) + GAP);
        }
    }
    row(l, "all", l->x->count);
}

/* The two counts, and the largest reason for their difference. */
static void explain_write_verdict(const struct oc_explanation *x, unsigned width_chars, FILE *f)
{
    char first[40], second[40], change[40];
    const struct oc_explain_term *largest = NULL;
    for (uint32_t i = 0; i < x->n_type; i++)
        for (uint32_t k = 0; k < x->type[i].n_term; k++) {
            const struct oc_explain_term *t = &x->type[i].term[k];
            if (!largest || imaxabs(t->difference) > imaxabs(largest->difference))
                largest = t;
        }
    oc_format_count(x->count[0], first, sizeof(first));
    oc_format_count(x->count[1], second, sizeof(second));
    bool equal = x->count[0] == x->count[1] || !largest;
    oc_plain_say_format(
        "verdict", VERDICT_LABEL, width_chars, f, "%s counts %s, %s %s%s%s%s%s", x->name[0], first,
        x->name[1], second, equal ? "" : "; the largest reason: ", equal ? "" : largest->reason,
        equal ? "" : ", ", equal ? "" : signed_count(largest->difference, change, sizeof(change)));
    fputc('\n', f);
}

static void explain_write_text(const struct oc_explanation *x, unsigned width_chars, FILE *f)
{
    static const char first[] = "operator type, reason";
    struct layout l = {.x = x,
                       .name = strlen(first),
                       .number = {strlen(x->name[0]), strlen(x->name[1]), strlen("difference")},
                       .f = f};
    put_types(&l, measure_row);
    explain_fit(&l, width_chars);
    explain_write_verdict(x, width_chars, f);
    explain_print_row(&l, first, NULL);
    put_types(&l, explain_print_row);
    if (!l.number[1])
        fprintf(f, "(not shown at %u columns: %s%s%s; use --width or -f json)\n", width_chars,
                l.number[0] ? "" : x->name[0], l.number[0] ? "" : ", ", x->name[1]);
}

static void write_type(struct oc_json_out *w, const struct oc_explain_type *t)
{
    oc_jw_begin_object(w);
    oc_key_text(w, "op_type", t->op_type);
    oc_key_text(w, "domain", t->domain);
    oc_key_u64(w, "nodes", t->nodes);
    oc_key_u64(w, "first", t->count[0]);
    oc_key_u64(w, "second", t->count[1]);
    oc_key_array(w, "terms");
    for (uint32_t k = 0; k < t->n_term; k++) {
        oc_jw_begin_object(w);
        oc_key_text(w, "reason", t->term[k].reason);
        oc_key_i64(w, "difference", t->term[k].difference);
        oc_jw_end_object(w);
    }
    oc_jw_end_array(w);
    oc_jw_end_object(w);
}

static void explain_write_json(const struct oc_explanation *x, const struct oc_model *m, FILE *f)
{
    struct oc_json_out w;
    oc_json_begin(&w, f, "onnxcost.diff.conventions", 1, m->path);
    oc_key_array(&w, "conventions");
    oc_jw_string(&w, x->name[0]);
    oc_jw_string(&w, x->name[1]);
    oc_jw_end_array(&w);
    oc_key_u64(&w, "first", x->count[0]);
    oc_key_u64(&w, "second", x->count[1]);
    oc_key_i64(&w, "difference", difference(x->count));
    oc_key_array(&w, "types");
    for (uint32_t i = 0; i < x->n_type; i++)
        write_type(&w, &x->type[i]);
    oc_jw_end_array(&w);
    oc_json_end(&w);
}

int oc_convention_diff_write(const struct oc_model *model, const struct oc_analysis *first,
                             const struct oc_analysis *second, const char *format, unsigned width_chars,
                             FILE *f, struct oc_err *err)
{
    OC_ENTRY(err);
    const struct oc_analysis *const both[2] = {first, second};
    struct oc_explanation x;
    bool json = format && strcmp(format, "json") == 0;
    if (!json && format && strcmp(format, "table"))
        return oc_fail(err, OC_EARG, "a diff of conventions comes as table or json, not as %s", format);
    if (oc_explain(both, &x, err))
        return -1;
    if (json)
        explain_write_json(&x, model, f);
    else
        explain_write_text(&x, width_chars, f);
    oc_explanation_free(&x);
    return 0;
}
