/* Cost breakdowns: how the figures of one operator come about (--why). */
#include "report/headline.h"

#include <string.h>

#include "analyze/receipt.h"
#include "base/units.h"
#include "onnxcost.h"
#include "onnxcost/report.h"
#include "join/join.h"
#include "report/select.h"

enum { LABEL = 13, MAX_LISTED = 16 };

/* Rows for the nodes of the model, so that those that are folded or part of a row are found too. */
static struct oc_row *rows_of_nodes(struct oc_report *r)
{
    const struct oc_model *m = r->in->model;
    struct oc_row *row = OC_NEW_ARRAY(&r->arena, m->n_node, struct oc_row), blank = oc_row_blank();
    char label[256];
    for (uint32_t i = 0; i < m->n_node; i++) {
        row[i] = blank;
        row[i].node = i;
        row[i].type = m->node[i].op_type;
        row[i].name = oc_strdup(&r->arena, oc_node_label(m, &m->node[i], label, sizeof(label)));
    }
    return row;
}

static void add_nodes(struct oc_report *r, const struct oc_row *row, bool *seen)
{
    const struct oc_join_rec *j =
        r->in->join && row->record != OC_NONE ? &r->in->join->rec[row->record] : NULL;
    uint32_t n = j ? j->n_node : row->node != OC_NONE;
    if (!n)
        r->unattributed[r->n_unattributed++] = row;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t node = j ? j->node[i] : row->node;
        if (!seen[node])
            r->why[r->n_why++] = node;
        seen[node] = true;
    }
}

int oc_receipt_nodes(struct oc_report *r, struct oc_err *err)
{
    const struct oc_report_opts *o = r->o;
    if (!o->n_why)
        return 0;
    uint32_t n_node = r->in->model->n_node, n_row = OC_ALL_ROWS(r), n = n_row + n_node;
    struct oc_row *of_node = rows_of_nodes(r);
    bool *seen = OC_NEW_ARRAY(&r->arena, n_node, bool), *hit = OC_NEW_ARRAY(&r->arena, n, bool);
    r->why = OC_NEW_ARRAY(&r->arena, n_node, uint32_t);
    r->unattributed = OC_NEW_ARRAY(&r->arena, n_row * o->n_why, const struct oc_row *);
    for (size_t i = 0; i < o->n_why; i++) {
        memset(hit, 0, n * sizeof(*hit));
        if (oc_report_find(r, OC_NAME_LITERAL, "--why", o->why[i], of_node, n_node, hit, err))
            return -1;
        for (uint32_t k = 0; k < n; k++)
            if (hit[k])
                add_nodes(r, k < n_row ? &r->all.row[k] : &of_node[k - n_row], seen);
    }
    return 0;
}

/* ---- attributes ------------------------------------------------------------------------------------- */

static void receipts_attr_item(struct oc_buf *b, const struct oc_attr *a, uint32_t i)
{
    switch (a->type) {
    case OC_ATTR_FLOAT:
        oc_buf_printf(b, "%g", (double)a->f);
        break;
    case OC_ATTR_INT:
        oc_buf_printf(b, "%lld", (long long)a->i);
        break;
    case OC_ATTR_STRING:
        oc_buf_printf(b, "'%.*s'", (int)(a->s.n < 80 ? a->s.n : 80), a->s.s);
        break;
    case OC_ATTR_INTS:
        oc_buf_printf(b, "%lld", (long long)a->ints[i]);
        break;
    case OC_ATTR_FLOATS:
        oc_buf_printf(b, "%g", (double)a->floats[i]);
        break;
    case OC_ATTR_STRINGS:
        oc_buf_printf(b, "'%.*s'", (int)(a->strings[i].n < 80 ? a->strings[i].n : 80), a->strings[i].s);
        break;
    case OC_ATTR_GRAPH:
    case OC_ATTR_GRAPHS:
        oc_buf_str(b, "graph");
        break;
    default:
        oc_buf_str(b, "tensor");
    }
}

const char *oc_attr_text(struct oc_arena *arena, const struct oc_attr *a)
{
    struct oc_buf b = {0};
    for (uint32_t i = 0; i < a->n && i < MAX_LISTED; i++) {
        if (i)
            oc_buf_char(&b, ',');
        receipts_attr_item(&b, a, i);
    }
    if (a->n > MAX_LISTED)
        oc_buf_printf(&b, ",... (%u)", a->n);
    const char *text = oc_strdup(arena, b.data ? b.data : "");
    oc_buf_free(&b);
    return text;
}

/* ---- text ------------------------------------------------------------------------------------------- */

struct writer {
    const struct oc_report_in *in;
    struct oc_arena *arena;
    struct oc_buf out;
};

static void receipts_label(struct writer *w, const char *text)
{
    oc_buf_str(&w->out, text);
    oc_buf_pad(&w->out, ' ', strlen(text) < LABEL ? LABEL - strlen(text) : 1);
}

static void receipts_heading(struct writer *w, uint32_t node)
{
    const struct oc_model *m = w->in->model;
    const struct oc_node *n = &m->node[node];
    const struct oc_op *op = w->in->analysis->op[node];
    char name[256];
    oc_buf_printf(&w->out, "%s  (%s, node %u%s%s)\n", oc_node_label(m, n, name, sizeof(name)), n->op_type,
                  node, m->graph[n->graph].scope[0] ? " of " : "", m->graph[n->graph].scope);
    receipts_label(w, "operator");
    oc_buf_printf(&w->out, "%s of %s, version %d", n->op_type, n->domain[0] ? n->domain : "ai.onnx",
                  n->opset);
    if (op)
        oc_buf_printf(&w->out, "; rule since version %d, family %s, class %s", op->since,
                      oc_op_family_name(op), oc_op_class_name(op->op_class));
    oc_buf_char(&w->out, '\n');
    for (uint32_t i = 0; i < n->n_attr; i++) {
        receipts_label(w, i ? "" : "attributes");
        oc_buf_printf(&w->out, "%s = %s\n", n->attr[i].name, oc_attr_text(w->arena, &n->attr[i]));
    }
}

/* The module and the line of the program that the node was exported from. */
static void receipts_origin(struct writer *w, uint32_t node)
{
    struct oc_origin from;
    oc_node_origin(w->in->model, node, w->arena, &from);
    if (from.module) {
        receipts_label(w, "module");
        oc_buf_printf(&w->out, "%s%s%s%s\n", *from.module ? from.module : "(whole model)",
                      from.module_class ? " (" : "", from.module_class ? from.module_class : "",
                      from.module_class ? ")" : "");
    }
    if (from.source) {
        receipts_label(w, "source");
        oc_buf_printf(&w->out, "%s\n", from.source);
    }
}

/* Groups dimensions of the same origin. */
static void receipts_dimensions(struct writer *w, uint32_t value, bool own)
{
    const struct oc_analysis *a = w->in->analysis;
    const struct oc_shape *s = &a->type[value].shape;
    const char *last = NULL;
    if (!s->ranked || s->rank == 0 || own)
        return;
    receipts_label(w, "");
    for (unsigned i = 0; i < s->rank; i++) {
        const char *source = oc_dim_source(a, w->arena, value, i);
        if (last && strcmp(last, source))
            oc_buf_printf(&w->out, " (%s)", last);
        oc_buf_printf(&w->out, "%s%s", i ? ", " : "  ", oc_dim_text(a->exprs, s->dim[i]));
        last = source;
    }
    oc_buf_printf(&w->out, " (%s)\n", last);
}

static void receipts_operand(struct writer *w, const char *what, uint32_t slot, uint32_t value,
                             const struct oc_slot_bytes *b)
{
    const struct oc_analysis *a = w->in->analysis;
    bool input = *what == 'i';
    receipts_label(w, oc_printf(w->arena, "%s %u", what, slot));
    if (value == OC_NONE) {
        oc_buf_str(&w->out, "absent\n");
        return;
    }
    const char *kind = !input ? "" : a->is_const[value] ? ", constant" : ", activation";
    oc_buf_printf(&w->out, "%s  %s%s", a->model->value[value].name,
                  oc_type_text(w->arena, a->exprs, &a->type[value]), kind);
    if (input && a->is_const[value] && a->model->value[value].constant)
        oc_buf_printf(&w->out, " (%s)", oc_param_class_name(a->param_class[value]));
    if (b)
        oc_buf_printf(&w->out, ": %s bytes %s", oc_count_text(w->arena, b->moved),
                      input ? "read" : "written");
    if (b && b->why)
        oc_buf_printf(&w->out, " of %s: %s", oc_count_text(w->arena, b->whole), b->why);
    oc_buf_char(&w->out, '\n');
    receipts_dimensions(w, value, !input);
}

static void receipts_operands(struct writer *w, uint32_t node, const struct oc_receipt *r)
{
    const struct oc_node *n = &w->in->model->node[node];
    for (uint32_t i = 0; i < n->n_in; i++)
        receipts_operand(w, "input", i, n->in[i], r ? &r->in[i] : NULL);
    for (uint32_t i = 0; i < n->n_out; i++)
        receipts_operand(w, "output", i, n->out[i], r ? &r->out[i] : NULL);
}

static void receipts_formula(struct writer *w, const struct oc_receipt *r)
{
    const struct oc_formula *f = &r->formula;
    for (uint32_t i = 0; i < f->n_term; i++) {
        const struct oc_formula_term *t = &f->term[i];
        receipts_label(w, i ? "" : "formula");
        oc_buf_printf(&w->out, "%-4s = %s", oc_prim_name(t->prim), t->expr);
        if (t->numbers[strspn(t->numbers, "0123456789")]) /* more than the result itself */
            oc_buf_printf(&w->out, " = %s", t->numbers);
        oc_buf_printf(&w->out, " = %s\n", t->known ? oc_count_text(w->arena, t->value) : "unknown");
    }
    if (f->n_term == 0) {
        receipts_label(w, "formula");
        oc_buf_str(&w->out, "no arithmetic\n");
    }
    for (uint32_t i = 0; i < f->n_name; i++) {
        const struct oc_formula_name *x = &f->name[i];
        receipts_label(w, i ? "" : "where");
        oc_buf_printf(&w->out, "%s = %s%s%s\n", x->name, x->expr ? x->expr : "", x->expr ? " = " : "",
                      x->known ? oc_count_text(w->arena, x->value) : "unknown");
    }
}

static void primitive(struct writer *w, const struct oc_receipt *r, bool *first, unsigned p, bool is_int)
{
    uint64_t n = is_int ? r->cost.hist_i[p] : r->cost.hist_f[p];
    unsigned cls = p == OC_MAC ? r->cost.mac_class : r->cost.rest_class;
    if (!n)
        return;
    receipts_label(w, *first ? "counted" : "");
    *first = false;
    oc_buf_printf(&w->out, "%-4s   %s x %u = %s  %s", oc_prim_name(p), oc_count_text(w->arena, n),
                  r->weight[p], oc_count_text(w->arena, n * r->weight[p]),
                  oc_class_is_int(cls) == is_int ? oc_class_name(cls)
                  : is_int                       ? "integer"
                                                 : "float");
    if (p == OC_DEQ && r->dequantized)
        oc_buf_printf(&w->out, "  (%s of stored weights)", oc_count_text(w->arena, r->dequantized));
    oc_buf_char(&w->out, '\n');
}

static void receipts_histogram(struct writer *w, const struct oc_receipt *r, const struct oc_node_cost *k)
{
    const char *convention = w->in->analysis->counting->convention;
    bool first = true;
    for (unsigned p = 0; p < OC_PRIM_COUNT; p++) {
        primitive(w, r, &first, p, false);
        primitive(w, r, &first, p, true);
    }
    receipts_label(w, k->ops && !k->flops ? "OPs" : "FLOPs");
    oc_buf_str(&w->out, oc_count_text(w->arena, r->flops));
    if (convention)
        oc_buf_printf(&w->out, "  (as %s counts: %s%s)", convention,
                      r->parts.macs ? oc_printf(w->arena, "%u per MAC, else ", (unsigned)r->parts.unit) : "",
                      r->parts.mac_text ? r->parts.mac_text : r->parts.rest_text);
    oc_buf_char(&w->out, '\n');
}

static void receipts_totals(struct writer *w, const struct oc_node_cost *k)
{
    static const char *const quality[] = {"exact", "upper bound", "lower bound", "estimate", "unknown"};
    receipts_label(w, "parameters");
    oc_buf_printf(&w->out, "%s\n", oc_count_text(w->arena, k->params));
    receipts_label(w, "executions");
    oc_buf_str(&w->out, oc_count_text(w->arena, k->trips));
    if (k->quality != OC_UNKNOWN)
        oc_buf_printf(&w->out, ": %s FLOPs, %s bytes in total", oc_count_text(w->arena, k->flops + k->ops),
                      oc_count_text(w->arena, k->rd_act + k->rd_wt + k->wr));
    oc_buf_char(&w->out, '\n');
    receipts_label(w, "quality");
    oc_buf_printf(&w->out, "%s%s%s\n", quality[k->quality], k->note ? ": " : "", k->note ? k->note : "");
}

static void one_text(struct writer *w, struct oc_recount *recount, uint32_t node)
{
    const struct oc_node_cost *k = &w->in->analysis->cost[node];
    struct oc_receipt r;
    bool counted = oc_recount_node(recount, node, true, &r);
    receipts_heading(w, node);
    receipts_origin(w, node);
    receipts_operands(w, node, counted ? &r : NULL);
    if (counted) {
        receipts_formula(w, &r);
        receipts_histogram(w, &r, k);
    } else if (oc_node_reason(k)) {
        receipts_label(w, "cost");
        oc_buf_printf(&w->out, "%s\n", oc_node_reason(k));
    }
    receipts_totals(w, k);
}

const char **oc_receipt_texts(const struct oc_report_in *in, const uint32_t *node, size_t n,
                              struct oc_arena *arena)
{
    const char **text = OC_NEW_ARRAY(arena, n, const char *);
    struct writer w = {.in = in, .arena = arena};
    struct oc_recount *recount = oc_recount_new(in->analysis);
    for (size_t i = 0; i < n; i++) {
        oc_buf_clear(&w.out);
        one_text(&w, recount, node[i]);
        text[i] = oc_strndup(arena, w.out.data, w.out.n);
    }
    oc_buf_free(&w.out);
    oc_recount_free(recount);
    return text;
}

void oc_receipts_text(struct oc_report *r, FILE *f)
{
    const char **text = oc_receipt_texts(r->in, r->why, r->n_why, &r->arena);
    for (size_t i = 0; i < r->n_why; i++)
        fprintf(f, "%s%s", i ? "\n" : "", text[i]);
    for (size_t i = 0; i < r->n_unattributed; i++) {
        const struct oc_row *row = r->unattributed[i];
        if (i || r->n_why)
            fputc('\n', f);
        oc_print_line(f, "%s  (%s)", row->name, oc_row_type(r, row));
        oc_print_line(f,
                      row->remainder
                          ? "%-*snone: time of no operator%s%s"
                          : "%-*snone: it covers no node of the model%s%s; --explain-match says why",
                      LABEL, "cost", row->rule ? ", " : "", row->rule ? row->rule : "");
    }
}
