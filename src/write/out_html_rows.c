/* Rows, columns, nodes and edges of the page's data. */
#include "write/out_html.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/analysis.h"
#include "analyze/receipt.h"
#include "base/map.h"
#include "join/join.h"
#include "onnxcost.h"
#include "report/columns.h"
#include "report/headline.h"

#define EXACT_IN_SCRIPTS ((uint64_t)1 << 53)

void oc_page_u64(struct oc_json_out *w, uint64_t v)
{
    if (v <= EXACT_IN_SCRIPTS) {
        oc_jw_u64(w, v);
        return;
    }
    char text[24];
    snprintf(text, sizeof(text), "%llu", (unsigned long long)v);
    oc_jw_string(w, text);
}

void oc_page_key_u64(struct oc_json_out *w, const char *key, bool known, uint64_t v)
{
    oc_jw_key(w, key);
    if (known)
        oc_page_u64(w, v);
    else
        oc_jw_null(w);
}

/* With at most `digits` significant digits, integers without a decimal point; not finite: null. */
static void page_number(struct oc_json_out *w, double v, int digits)
{
    if (isfinite(v) && v == floor(v) && v >= 0 && v <= (double)EXACT_IN_SCRIPTS) {
        oc_jw_u64(w, (uint64_t)v);
        return;
    }
    double scale = pow(10, digits - 1 - floor(log10(fabs(v))));
    double rounded = round(v * scale) / scale;
    oc_jw_double(w, isfinite(rounded) ? rounded : v);
}

void oc_page_numbers(struct oc_json_out *w, const double *v, size_t n)
{
    oc_jw_begin_array(w);
    for (size_t i = 0; i < n; i++)
        page_number(w, v[i], 10);
    oc_jw_end_array(w);
}

/* The character of an integer from -1 to 59: 'A' to '~' without the backslash, which JSON escapes; '\0': of
 * another one. */
static char character_of(int64_t v)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwxyz{|}~";
    _Static_assert(sizeof(digit) == 1 + 59 + 1 + 1, "a character from -1 to 59 and the null character");
    if (v < -1 || v > 59)
        return '\0';
    return digit[v + 1];
}

/* Integers: one text with a character for each if all are from -1 to 59, otherwise a list. */
static void page_integers(struct oc_json_out *w, const char *key, const int64_t *v, size_t n)
{
    char *text = oc_xmalloc(n + 1);
    size_t i = 0;
    while (i < n && (text[i] = character_of(v[i])) != '\0')
        i++;
    text[i] = '\0';
    if (i == n) {
        oc_key_text(w, key, text);
    } else {
        oc_key_array(w, key);
        for (i = 0; i < n; i++)
            oc_jw_i64(w, v[i]);
        oc_jw_end_array(w);
    }
    free(text);
}

void oc_page_steps(struct oc_json_out *w, const char *key, int64_t *v, size_t n)
{
    for (size_t i = n; i > 1; i--)
        v[i - 1] -= v[i - 2];
    page_integers(w, key, v, n);
}

/* ---- texts ------------------------------------------------------------------------------------------ */

static bool all_the_same(const char *const *text, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        if (text[i] != text[0] && (!text[i] || !text[0] || strcmp(text[i], text[0])))
            return false;
    return n > 1;
}

/* place[i]: index of text i in the list of distinct texts, or -1. Returns the size of the list. */
static uint32_t number_texts(const char *const *text, uint32_t n, struct oc_arena *arena, int64_t *place,
                             const char ***distinct)
{
    struct oc_map seen = {.arena = arena};
    const char **list = NULL;
    uint32_t count = 0, cap = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = count;
        place[i] = -1;
        if (!text[i])
            continue;
        if (oc_map_add(&seen, text[i], strlen(text[i]), &at, NULL)) {
            OC_GROW(list, count, cap);
            list[count++] = text[i];
        }
        place[i] = at;
    }
    oc_map_free(&seen);
    *distinct = list;
    return count;
}

static void column_list(struct oc_json_out *w, const char *key, const char *const *text, uint32_t n)
{
    oc_key_array(w, key);
    for (uint32_t i = 0; i < n; i++)
        oc_jw_string(w, text[i]);
    oc_jw_end_array(w);
}

/* Members of a column of n texts: "dict" and "index" if texts repeat, otherwise "values"; "same" for one
 * value. */
static void page_texts(struct oc_json_out *w, const char *const *text, uint32_t n, struct oc_arena *arena)
{
    if (all_the_same(text, n)) {
        oc_key_text(w, "same", text[0]);
        return;
    }
    int64_t *place = OC_NEW_ARRAY(arena, n, int64_t);
    const char **distinct;
    uint32_t count = number_texts(text, n, arena, place, &distinct);
    if (count > n / 2) {
        column_list(w, "values", text, n);
    } else {
        column_list(w, "dict", distinct, count);
        page_integers(w, "index", place, n);
    }
    free(distinct);
}

void oc_page_key_texts(struct oc_json_out *w, const char *key, const char *const *text, uint32_t n,
                       struct oc_arena *arena)
{
    oc_key_object(w, key);
    page_texts(w, text, n, arena);
    oc_jw_end_object(w);
}

/* ---- columns ---------------------------------------------------------------------------------------- */

/* The page computes row numbers and cumulative sums for its own order, and shows outputs with their names. */
static bool left_out(const struct oc_report *r, const struct oc_column *c)
{
    bool number_of_node = !strcmp(c->key, "id") && r->in->analysis && !r->in->join; /* see row_nodes */
    return number_of_node || !strcmp(c->key, "rank") || !strcmp(c->key, "cumulative_fraction") ||
           !strcmp(c->key, "output");
}

static const char *kind_name(unsigned kind)
{
    static const char *const names[] = {
        [OC_FIELD_TEXT] = "text",     [OC_FIELD_COUNT] = "count",       [OC_FIELD_SI] = "si",
        [OC_FIELD_GIGA] = "giga",     [OC_FIELD_BYTES] = "bytes",       [OC_FIELD_TIME] = "time",
        [OC_FIELD_ENERGY] = "energy", [OC_FIELD_FRACTION] = "fraction", [OC_FIELD_RATIO] = "ratio"};
    return names[kind];
}

static void number_cell(struct oc_json_out *w, const struct oc_column *c, const struct oc_field *field)
{
    if (field->whole)
        oc_page_u64(w, field->whole);
    else if (c->kind == OC_FIELD_TIME)
        page_number(w, oc_ns_of(field->number), 10);
    else
        page_number(w, field->number, c->kind == OC_FIELD_COUNT ? 17 : 7);
}

static bool html_rows_same_numbers(const struct oc_field *v, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        /* NAN equals NAN here. */
        /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison,cert-exp42-c,cert-flp37-c) */
        if (v[i].whole != v[0].whole || memcmp(&v[i].number, &v[0].number, sizeof(double)))
            return false;
    return n > 1;
}

enum { FEW = 1000 };

/* A few distinct numbers in many rows are dictionary-encoded, as texts are. */
static bool few_numbers(struct oc_json_out *w, const struct oc_column *c, const struct oc_field *v,
                        uint32_t n, struct oc_arena *arena)
{
    struct oc_map seen = {.arena = arena};
    int64_t *place = OC_NEW_ARRAY(arena, n, int64_t);
    uint32_t first[FEW], count = 0;
    for (uint32_t i = 0; i < n && count <= FEW; i++) {
        uint64_t key[2] = {v[i].whole, 0};
        memcpy(&key[1], &v[i].number, sizeof(double));
        uint32_t at = count;
        if (oc_map_add(&seen, (const char *)key, sizeof(key), &at, NULL) && count++ < FEW)
            first[count - 1] = i;
        place[i] = at;
    }
    oc_map_free(&seen);
    if (count > FEW || count > n / 4)
        return false;
    oc_key_array(w, "dict");
    for (uint32_t i = 0; i < count; i++)
        number_cell(w, c, &v[first[i]]);
    oc_jw_end_array(w);
    page_integers(w, "index", place, n);
    return true;
}

static void numbers(struct oc_json_out *w, const struct oc_column *c, const struct oc_field *v, uint32_t n,
                    struct oc_arena *arena)
{
    if (html_rows_same_numbers(v, n)) {
        oc_jw_key(w, "same");
        number_cell(w, c, &v[0]);
        return;
    }
    if (few_numbers(w, c, v, n, arena))
        return;
    oc_key_array(w, "values");
    for (uint32_t i = 0; i < n; i++)
        number_cell(w, c, &v[i]);
    oc_jw_end_array(w);
}

static void texts(struct oc_json_out *w, const struct oc_field *v, uint32_t n, struct oc_arena *arena)
{
    const char **text = OC_NEW_ARRAY(arena, n, const char *);
    for (uint32_t i = 0; i < n; i++)
        text[i] = v[i].text;
    page_texts(w, text, n, arena);
}

/* Tables with times have no space for parameters; the page shows their shares. */
static bool is_extra(const struct oc_report *r, const struct oc_column *c)
{
    return r->in->analysis && r->has_time && !strcmp(c->key, "params");
}

static void html_rows_column(struct oc_json_out *w, struct oc_report *r, const struct oc_column *c)
{
    struct oc_arena scratch = {0};
    struct oc_row room;
    struct oc_line line = {.r = r, .arena = &scratch, .room = &room, .column = c};
    struct oc_field *v = OC_NEW_ARRAY(&scratch, r->shown.n, struct oc_field);
    while (oc_line_next(&line)) {
        v[line.rank].number = NAN;
        c->get(&line, &v[line.rank]);
    }
    oc_jw_begin_object(w);
    oc_key_text(w, "key", c->key);
    oc_key_text(w, "title", oc_work_words(r, c->title));
    oc_key_text(w, "kind", kind_name(c->kind));
    oc_key_bool(w, "shown", (c->use & OC_COL_COMPACT && !is_extra(r, c)) || !strcmp(c->key, "outputs"));
    oc_key_bool(w, "bound", c->quality);
    if (c->kind == OC_FIELD_TEXT)
        texts(w, v, r->shown.n, &scratch);
    else
        numbers(w, c, v, r->shown.n, &scratch);
    oc_jw_end_object(w);
    oc_arena_free(&scratch);
}

static void html_rows_columns(struct oc_json_out *w, struct oc_report *r)
{
    const struct oc_column *c[OC_MAX_COLUMNS];
    size_t n = oc_columns_for(r, OC_COL_COMPACT | OC_COL_CSV, c);
    for (size_t i = 0; i < oc_n_columns && n < OC_MAX_COLUMNS; i++)
        if (is_extra(r, &oc_columns[i]))
            c[n++] = &oc_columns[i];
    oc_key_array(w, "columns");
    for (size_t i = 0; i < n; i++)
        if (!left_out(r, c[i]))
            html_rows_column(w, r, c[i]);
    oc_jw_end_array(w);
}

/* Quality of the counts of each row: a digit of enum oc_quality per row. */
static void qualities(struct oc_json_out *w, const struct oc_report *r, struct oc_arena *arena)
{
    char *digit = OC_NEW_ARRAY(arena, r->shown.n + 1, char);
    for (uint32_t i = 0; i < r->shown.n; i++) {
        struct oc_row room;
        uint8_t q = oc_row_at(r, &r->shown, i, &room)->quality;
        digit[i] = (char)('0' + (q <= OC_UNKNOWN ? q : OC_UNKNOWN));
    }
    oc_key_text(w, "quality", digit);
}

/* ---- nodes ------------------------------------------------------------------------------------------ */

static const struct oc_join_rec *html_rows_joined(const struct oc_report *r, const struct oc_row *row)
{
    return r->in->join && row->record != OC_NONE && row->count == 1 ? &r->in->join->rec[row->record] : NULL;
}

/* By row the nodes that it covers: a number, or a list of several; without a join delta-encoded. */
static void nodes_of_rows(struct oc_json_out *w, const struct oc_report *r, struct oc_arena *arena)
{
    if (!r->in->join) {
        int64_t *node = OC_NEW_ARRAY(arena, r->shown.n, int64_t);
        for (uint32_t i = 0; i < r->shown.n; i++) {
            struct oc_row room;
            uint32_t id = oc_row_at(r, &r->shown, i, &room)->node;
            node[i] = id == OC_NONE ? -1 : (int64_t)id;
        }
        oc_page_steps(w, "row_node_steps", node, r->shown.n);
        return;
    }
    oc_key_array(w, "row_nodes");
    for (uint32_t i = 0; i < r->shown.n; i++) {
        const struct oc_row *row = &r->shown.row[i]; /* of a join */
        const struct oc_join_rec *j = html_rows_joined(r, row);
        if (!j || j->n_node == 1) {
            oc_jw_i64(w, row->node == OC_NONE ? -1 : (int64_t)row->node);
            continue;
        }
        oc_jw_begin_array(w);
        for (uint32_t k = 0; k < j->n_node; k++)
            oc_jw_u64(w, j->node[k]);
        oc_jw_end_array(w);
    }
    oc_jw_end_array(w);
}

/* Names of nodes; null if the node has its own row with that name. */
static void html_rows_node_names(struct oc_json_out *w, const struct oc_report *r, struct oc_arena *arena)
{
    const struct oc_model *m = r->in->model;
    const char **name = OC_NEW_ARRAY(arena, m->n_node, const char *);
    for (uint32_t i = 0; i < m->n_node; i++) {
        char label[512];
        name[i] = *m->node[i].name ? m->node[i].name
                                   : oc_strdup(arena, oc_node_label(m, &m->node[i], label, sizeof(label)));
    }
    for (uint32_t i = 0; i < r->shown.n; i++) {
        struct oc_row room;
        const struct oc_row *row =
            oc_row_at(r, &r->shown, i, &room); /* without a name: its label is that of the node */
        bool own = row->node != OC_NONE && name[row->node] && !r->in->join;
        if (own && (!row->name || !strcmp(row->name, name[row->node])))
            name[row->node] = NULL;
    }
    oc_page_key_texts(w, "name", name, m->n_node, arena);
}

static void node_types(struct oc_json_out *w, const struct oc_report *r, struct oc_arena *arena)
{
    const struct oc_model *m = r->in->model;
    const char **type = OC_NEW_ARRAY(arena, m->n_node, const char *);
    for (uint32_t i = 0; i < m->n_node; i++)
        type[i] = m->node[i].op_type;
    oc_page_key_texts(w, "type", type, m->n_node, arena);
}

/* ---- cost breakdowns -------------------------------------------------------------------------------- */

/* "MAC = N*M*... = 1*64*... = 118,013,952" per line; NULL: no cost of its own. */
static const char *formula_text(struct oc_recount *recount, uint32_t node, struct oc_arena *arena)
{
    struct oc_receipt receipt;
    struct oc_buf b = {0};
    if (!oc_recount_node(recount, node, true, &receipt))
        return NULL;
    for (uint32_t i = 0; i < receipt.formula.n_term; i++) {
        const struct oc_formula_term *t = &receipt.formula.term[i];
        oc_buf_printf(&b, "%s%s = %s", i ? "\n" : "", oc_prim_name(t->prim), t->expr);
        if (t->numbers[strspn(t->numbers, "0123456789")])
            oc_buf_printf(&b, " = %s", t->numbers);
        if (t->known)
            oc_buf_printf(&b, " = %llu", (unsigned long long)t->value);
        else
            oc_buf_str(&b, " = unknown");
    }
    const char *text = b.n ? oc_strndup(arena, b.data, b.n) : "no arithmetic";
    oc_buf_free(&b);
    return text;
}

/* For each node of a row; null for others. */
static void formulas(struct oc_json_out *w, const struct oc_report *r, const bool *wanted,
                     struct oc_arena *arena)
{
    const struct oc_model *m = r->in->model;
    const char **text = OC_NEW_ARRAY(arena, m->n_node, const char *);
    struct oc_recount *recount = oc_recount_new(r->in->analysis);
    for (uint32_t i = 0; i < m->n_node; i++)
        text[i] = wanted[i] ? formula_text(recount, i, arena) : NULL;
    oc_recount_free(recount);
    oc_page_key_texts(w, "formula", text, m->n_node, arena);
}

static bool *nodes_with_rows(const struct oc_report *r, struct oc_arena *arena)
{
    bool *with = OC_NEW_ARRAY(arena, r->in->model->n_node, bool);
    for (uint32_t i = 0; i < r->shown.n; i++) {
        struct oc_row room;
        const struct oc_row *row = oc_row_at(r, &r->shown, i, &room);
        const struct oc_join_rec *j = html_rows_joined(r, row);
        if (row->node != OC_NONE)
            with[row->node] = true;
        for (uint32_t k = 0; j && k < j->n_node; k++)
            with[j->node[k]] = true;
    }
    return with;
}

/* Complete cost breakdowns as printed by --why, for the rows with the most time or work up to a limit. */
enum { MAX_RECEIPTS = 2000 };

struct heavy {
    double key;
    uint32_t row;
};

static int html_rows_by_key(const void *a, const void *b)
{
    const struct heavy *x = a, *y = b;
    return x->key != y->key ? (x->key < y->key) - (x->key > y->key) : (x->row > y->row) - (x->row < y->row);
}

static uint32_t heaviest(const struct oc_report *r, uint32_t *node, struct oc_arena *arena)
{
    struct heavy *order = OC_NEW_ARRAY(arena, r->shown.n, struct heavy);
    bool *taken = OC_NEW_ARRAY(arena, r->in->model->n_node, bool);
    uint32_t n = 0;
    struct oc_row room;
    for (uint32_t i = 0; i < r->shown.n; i++) {
        const struct oc_row *row = oc_row_at(r, &r->shown, i, &room);
        double key = r->has_time ? row->time_s : row->computation;
        order[i] = (struct heavy){isnan(key) ? -1 : key, i};
    }
    if (r->shown.n)
        qsort(order, r->shown.n, sizeof(*order), html_rows_by_key);
    for (uint32_t i = 0; i < r->shown.n && n < MAX_RECEIPTS; i++) {
        const struct oc_row *row = oc_row_at(r, &r->shown, order[i].row, &room);
        const struct oc_join_rec *j = html_rows_joined(r, row);
        const uint32_t *id = j ? j->node : &row->node;
        uint32_t n_id = j ? j->n_node : row->node != OC_NONE;
        for (uint32_t k = 0; k < n_id && n < MAX_RECEIPTS; k++)
            if (!taken[id[k]]) {
                taken[id[k]] = true;
                node[n++] = id[k];
            }
    }
    return n;
}

static void html_rows_receipts(struct oc_json_out *w, struct oc_report *r)
{
    struct oc_arena scratch = {0};
    uint32_t *node = OC_NEW_ARRAY(&scratch, MAX_RECEIPTS, uint32_t), n = heaviest(r, node, &scratch);
    const char **text = oc_receipt_texts(r->in, node, n, &scratch);
    for (uint32_t i = 0; i < n; i++) {
        char key[16];
        snprintf(key, sizeof(key), "%u", node[i]);
        oc_key_text(w, key, text[i]);
    }
    oc_arena_free(&scratch);
}

void oc_page_receipts(struct oc_json_out *w, struct oc_report *r)
{
    oc_jw_begin_object(w);
    if (r->in->analysis)
        html_rows_receipts(w, r);
    oc_jw_end_object(w);
}

void oc_page_rows(struct oc_json_out *w, struct oc_report *r)
{
    struct oc_arena scratch = {0};
    oc_key_u64(w, "rows", r->shown.n);
    oc_key_u64(w, "rows_of_all", r->all.n);
    oc_key_bool(w, "grouped", oc_report_grouped(r->o));
    qualities(w, r, &scratch);
    oc_arena_free(&scratch);
    html_rows_columns(w, r);
    if (!r->in->analysis)
        return;
    nodes_of_rows(w, r, &scratch);
    oc_arena_free(&scratch);
    oc_key_object(w, "nodes");
    html_rows_node_names(w, r, &scratch);
    oc_arena_free(&scratch);
    node_types(w, r, &scratch);
    oc_arena_free(&scratch);
    formulas(w, r, nodes_with_rows(r, &scratch), &scratch);
    oc_arena_free(&scratch);
    oc_jw_end_object(w);
}

/* ---- edges ------------------------------------------------------------------------------------------ */

/* The edges of the page's graphs: which node reads the result of which other, with type and bytes. */

struct edges {
    const struct oc_report *r;
    struct oc_arena arena;
    struct oc_map types; /* text of a type to its index */
    const char **text;   /* of the types */
    uint64_t *bytes;     /* of a value of the type, OC_NO_BYTES: unknown */
    int64_t *to, *back;  /* by edge; back: how many nodes before the reader; beyond the first: an input */
    int64_t *type;
    uint32_t *of_value; /* by value: the index of its type + 1 */
    uint32_t n_type, cap_text, cap_bytes, n, cap_to, cap_back, cap_type;
};

#define OC_NO_BYTES UINT64_MAX

static uint32_t type_of(struct edges *e, uint32_t value)
{
    const struct oc_analysis *a = e->r->in->analysis;
    const struct oc_type *t = &a->type[value];
    if (e->of_value[value])
        return e->of_value[value] - 1;
    const char *text = oc_type_text(&e->arena, a->exprs, t);
    uint32_t at = e->n_type, n = at;
    bool added = oc_map_add(&e->types, text, strlen(text), &at, NULL);
    e->of_value[value] = at + 1;
    if (!added)
        return at;
    OC_GROW(e->text, n, e->cap_text);
    OC_GROW(e->bytes, n, e->cap_bytes);
    e->text[n] = text;
    if (!oc_type_bytes(t, &e->bytes[n]))
        e->bytes[n] = OC_NO_BYTES;
    e->n_type++;
    return at;
}

static void add_edge(struct edges *e, uint32_t reader, uint32_t value, const uint32_t *input_no)
{
    const struct oc_value *v = &e->r->in->model->value[value];
    bool input = v->producer == OC_NONE && v->graph == 0 && v->graph_input;
    uint32_t n = e->n;
    if (v->constant || (v->producer == OC_NONE && !input))
        return;
    OC_GROW(e->to, n, e->cap_to);
    OC_GROW(e->back, n, e->cap_back);
    OC_GROW(e->type, n, e->cap_type);
    e->to[n] = reader;
    e->back[n] = input ? (int64_t)reader + 1 + input_no[value] : (int64_t)reader - v->producer;
    e->type[n] = type_of(e, value);
    e->n++;
}

/* The values that a node reads, each once; of a node with bodies also what these read. */
static void edges_of_node(struct edges *e, uint32_t node, const uint32_t *input_no)
{
    const struct oc_model *m = e->r->in->model;
    const struct oc_node *n = &m->node[node];
    for (uint32_t i = 0; i < n->n_in; i++) {
        bool again = n->in[i] == OC_NONE;
        for (uint32_t k = 0; k < i && k < 16 && !again; k++)
            again = n->in[k] == n->in[i];
        if (!again)
            add_edge(e, node, n->in[i], input_no);
    }
    for (uint32_t c = oc_first_capture(m->capture, m->n_capture, node);
         c < m->n_capture && m->capture[c].node == node; c++)
        add_edge(e, node, m->capture[c].value, input_no);
}

static void write_edges(struct oc_json_out *w, struct edges *e)
{
    const struct oc_model *m = e->r->in->model;
    oc_key_array(w, "inputs");
    for (uint32_t i = 0; i < m->graph[0].n_input; i++)
        oc_jw_string(w, m->value[m->graph[0].input[i]].name);
    oc_jw_end_array(w);
    oc_key_array(w, "types");
    for (uint32_t i = 0; i < e->n_type; i++)
        oc_jw_string(w, e->text[i]);
    oc_jw_end_array(w);
    oc_key_array(w, "bytes");
    for (uint32_t i = 0; i < e->n_type; i++)
        if (e->bytes[i] == OC_NO_BYTES)
            oc_jw_null(w);
        else
            oc_page_u64(w, e->bytes[i]);
    oc_jw_end_array(w);
    oc_page_steps(w, "to_steps", e->to, e->n);
    page_integers(w, "back", e->back, e->n);
    page_integers(w, "type", e->type, e->n);
}

void oc_page_edges(struct oc_json_out *w, struct oc_report *r)
{
    struct edges e = {.r = r, .types.arena = &e.arena};
    if (!r->in->analysis || oc_report_grouped(r->o))
        return;
    const struct oc_model *m = r->in->model;
    e.of_value = OC_NEW_ARRAY(&e.arena, (size_t)m->n_value + 1, uint32_t);
    uint32_t *input_no = OC_NEW_ARRAY(&e.arena, (size_t)m->n_value + 1, uint32_t);
    for (uint32_t i = 0; i < m->graph[0].n_input; i++)
        input_no[m->graph[0].input[i]] = i;
    for (uint32_t i = 0; i < m->n_node; i++)
        edges_of_node(&e, i, input_no);
    oc_key_object(w, "edges");
    write_edges(w, &e);
    oc_jw_end_object(w);
    oc_map_free(&e.types);
    free(e.text);
    free(e.bytes);
    free(e.to);
    free(e.back);
    free(e.type);
    oc_arena_free(&e.arena);
}
