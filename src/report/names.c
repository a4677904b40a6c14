/* Names of rows, the rows that a text selects, and the words of another tool for what is counted. */
#include "report/names.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/map.h"
#include "base/unicode.h"
#include "base/units.h"
#include "join/join.h"
#include "onnxcost.h"
#include "onnxcost/report.h"
#include "profile/profile.h"
#include "report/python.h"

enum { LABEL_BYTES = 512, MAX_SHOWN = 3, MOST_STAGES = 9 };

/* ---- the name of a row ------------------------------------------------------------------------------ */

/* Of nodes that run as one: the first one with the most operations. */
static uint32_t main_node(const struct oc_analysis *a, const struct oc_join_rec *j)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < j->n_node; i++)
        if (oc_report_node_flo(&a->cost[j->node[i]]) > oc_report_node_flo(&a->cost[j->node[best]]))
            best = i;
    return j->node[best];
}

static const struct oc_join_rec *join_of(const struct oc_report *r, const struct oc_row *row)
{
    const struct oc_join_rec *j =
        r && r->in->join && row->record != OC_NONE ? &r->in->join->rec[row->record] : NULL;
    return j && j->n_node ? j : NULL;
}

const char *oc_row_type(const struct oc_report *r, const struct oc_row *row)
{
    const struct oc_join_rec *j = join_of(r, row);
    if (row->remainder)
        return row->name;
    if (row->type && *row->type)
        return row->type;
    return j ? r->in->model->node[main_node(r->in->analysis, j)].op_type : "(unknown)";
}

/* "/layer1/conv2/Conv +2": its name, and how many others there are. */
static const char *nodes_name(const struct oc_model *m, const struct oc_analysis *a,
                              const struct oc_join_rec *j, struct oc_arena *arena)
{
    char label[LABEL_BYTES];
    const char *name = oc_node_label(m, &m->node[main_node(a, j)], label, sizeof(label));
    return j->n_node > 1 ? oc_printf(arena, "%s +%u", name, j->n_node - 1) : oc_strdup(arena, name);
}

void oc_row_set_name(struct oc_report *r, struct oc_row *row)
{
    const char *runtime = r->in->profile->rec[row->record].name;
    const struct oc_join_rec *j = join_of(r, row);
    row->name = j                         ? nodes_name(r->in->model, r->in->analysis, j, &r->arena)
                : runtime && *runtime     ? runtime
                : row->type && *row->type ? row->type
                                          : "-";
    row->runtime_name = runtime && *runtime && strcmp(runtime, row->name) != 0 ? runtime : NULL;
}

const char *oc_row_members(struct oc_report *r, const struct oc_row *row)
{
    const struct oc_join_rec *j = join_of(r, row);
    if (!j || (j->n_node < 2 && !row->runtime_name))
        return NULL;
    struct oc_buf b = {0};
    char label[LABEL_BYTES];
    for (uint32_t i = 0; i < j->n_node; i++) {
        const struct oc_node *n = &r->in->model->node[j->node[i]];
        oc_buf_printf(&b, "%s%s %s", i ? ", " : "", n->op_type,
                      oc_node_label(r->in->model, n, label, sizeof(label)));
    }
    const char *text =
        oc_printf(&r->arena, "%s; runtime name: %s", b.data, row->runtime_name ? row->runtime_name : "none");
    oc_buf_free(&b);
    return text;
}

/* ---- names of one row ------------------------------------------------------------------------------- */

struct finder {
    const struct oc_names *names;
    enum oc_name_rule rule;
    const char *text;
    struct oc_name_pattern *pattern; /* NULL: not needed, or the text is not a valid expression */
    bool *hit;
    struct oc_err *err, invalid; /* invalid: why there is no pattern */
};

enum kind { AT_POSITION, NAME, ALIAS, INDEX, TYPE, SOURCE_TYPE, CLASS };

/* The nodes that the row covers, and the runtime's name. */
static const char *alias_of(const struct oc_report *r, const struct oc_row *row, uint32_t k, char *label)
{
    const struct oc_join_rec *j = join_of(r, row);
    uint32_t n = j ? j->n_node : 0;
    return k < n    ? oc_node_label(r->in->model, &r->in->model->node[j->node[k]], label, LABEL_BYTES)
           : k == n ? row->runtime_name
                    : NULL;
}

/* The k-th name of a kind that a row has; NULL: no more. label: LABEL_BYTES, for texts that are made. */
static const char *name_of(const struct finder *f, const struct oc_row *row, enum kind kind, uint32_t k,
                           char *label)
{
    const struct oc_report *r = f->names->report;
    const struct oc_join_rec *j = join_of(r, row);
    uint32_t node = j ? main_node(r->in->analysis, j) : row->node;
    if (kind == ALIAS)
        return alias_of(r, row, k, label);
    if (kind == NAME || kind == TYPE || kind == SOURCE_TYPE)
        return k > 0          ? NULL
               : kind == NAME ? row->name
               : kind == TYPE ? oc_row_type(r, row)
                              : row->source_type;
    if (!r || !r->in->analysis || node == OC_NONE)
        return NULL;
    const struct oc_node *n = &r->in->model->node[node];
    if (kind == CLASS)
        return k > 0 ? NULL : oc_op_class_name(r->in->analysis->cost[node].op_class);
    if (j || k > 1 || (k == 1 && n->graph)) /* positions in bodies are not unique */
        return NULL;
    snprintf(label, LABEL_BYTES, k ? "%s_%u" : "%s%u", k ? n->op_type : "", k ? n->file_index : node);
    return label;
}

/* ---- tests of one name: 1, 0, -1: error ------------------------------------------------------------- */

typedef int (*name_test)(const struct finder *f, const char *name);

static int equals(const struct finder *f, const char *name)
{
    return !strcmp(name, f->text);
}

static int matches(const struct finder *f, const char *name)
{
    return f->pattern ? oc_pattern_match(f->pattern, name, f->err) : 0;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* The name as a table shows it: without blanks at its ends, and with '?' for characters that could move the cursor.
 * NULL: as it is. */
static const char *shown_name(const char *name, struct oc_arena *a)
{
    size_t n = strlen(name);
    bool plain = !n || !(is_blank(name[0]) || is_blank(name[n - 1]));
    for (size_t i = 0; i < n && plain; i++)
        plain = name[i] >= ' ' && name[i] <= '~';
    if (plain)
        return NULL;
    char *shown = oc_make_visible(oc_strdup(a, name + strspn(name, " \t")));
    for (n = strlen(shown); n && is_blank(shown[n - 1]);)
        shown[--n] = '\0';
    return shown;
}

static int as_shown(const struct finder *f, const char *name, name_test test)
{
    struct oc_arena scratch = {0};
    int hit = test(f, name);
    const char *shown = hit ? NULL : shown_name(name, &scratch);
    hit = shown ? test(f, shown) : hit;
    oc_arena_free(&scratch);
    return hit;
}

static int is_same(const struct finder *f, const char *name)
{
    return as_shown(f, name, equals);
}

static int is_match(const struct finder *f, const char *name)
{
    return as_shown(f, name, matches);
}

static int has_part(const struct finder *f, const char *name)
{
    return *f->text && strstr(name, f->text);
}

/* ---- stages ----------------------------------------------------------------------------------------- */

/* Adds the rows from `from` to `to` to the hits; 1: there are some, -1: error. */
static int over_rows(const struct finder *f, uint32_t from, uint32_t to, enum kind kind, name_test test)
{
    char label[LABEL_BYTES];
    const char *name;
    int any = 0;
    for (uint32_t i = from; i < to; i++) {
        int hit = 0;
        for (uint32_t k = 0; !hit && (name = name_of(f, f->names->row[i], kind, k, label)) != NULL; k++)
            hit = test(f, name);
        if (hit < 0)
            return -1;
        f->hit[i] |= hit > 0;
        any |= hit;
    }
    return any;
}

static bool read_position(const char *text, uint64_t *at)
{
    return *text == '#' && oc_parse_u64(text + 1, strlen(text + 1), at) && *at > 0;
}

bool oc_name_is_position(const char *text)
{
    return read_position(text, &(uint64_t){0});
}

static int by_position(const struct finder *f)
{
    uint64_t at;
    uint32_t n = f->names->n_table;
    if (!f->names->table || !read_position(f->text, &at))
        return 0;
    if (at > n)
        return oc_fail(f->err, OC_EARG, "%s '%.40s': the table has %u row%s", f->names->option, f->text, n,
                       oc_plural(n));
    for (uint32_t i = 0; i < n; i++)
        f->hit[i] |= f->names->row[i] == f->names->table[at - 1];
    return 1;
}

#define EXPRESSIONS                                                                                          \
    {NAME, is_match}, {ALIAS, is_same},                                                                      \
    {                                                                                                        \
        ALIAS, is_match                                                                                      \
    }
#define TYPES                                                                                                \
    {TYPE, is_same}, {SOURCE_TYPE, is_same},                                                                 \
    {                                                                                                        \
        CLASS, is_same                                                                                       \
    }

static const struct stage {
    enum kind kind;
    name_test test;
} stages[][MOST_STAGES] = {
    [OC_NAME_OPERATOR] = {{NAME, is_same}, {AT_POSITION}, EXPRESSIONS, TYPES},
    [OC_NAME_KEY] = {{NAME, is_same}, {AT_POSITION}, TYPES, EXPRESSIONS},
    [OC_NAME_LITERAL] = {{NAME, is_same}, {AT_POSITION}, {ALIAS, is_same}, {INDEX, is_same}, TYPES},
    [OC_NAME_CLASS] = {{CLASS, is_same}},
    [OC_NAME_TYPE] =
        {{TYPE, is_same}, {SOURCE_TYPE, is_same}, {AT_POSITION}, {NAME, is_same}, {ALIAS, is_same}},
    [OC_NAME_MEGENGINE] = {{NAME, is_match}, {NAME, is_same}},
    [OC_NAME_MEGENGINE_TYPE] = {{TYPE, is_same}},
};

/* ---- messages --------------------------------------------------------------------------------------- */

struct found { /* different names */
    const char **name;
    size_t n, cap;
    struct oc_map seen;
    struct oc_arena arena;
};

static enum kind printed_kind(const struct finder *f)
{
    return f->rule == OC_NAME_TYPE || f->rule == OC_NAME_MEGENGINE_TYPE ? TYPE
           : f->rule == OC_NAME_CLASS                                   ? CLASS
                                                                        : NAME;
}

/* Those of the hits, or of all rows. */
static void add_found(struct found *v, const struct finder *f, enum kind kind, bool hits)
{
    char label[LABEL_BYTES];
    for (uint32_t i = 0; i < f->names->n; i++) {
        const char *name = hits && !f->hit[i] ? NULL : name_of(f, f->names->row[i], kind, 0, label);
        if (!name || !*name || !oc_map_add(&v->seen, name, strlen(name), &(uint32_t){0}, NULL))
            continue;
        OC_GROW(v->name, v->n, v->cap);
        v->name[v->n++] = oc_strdup(&v->arena, name);
    }
}

static void free_found(struct found *v)
{
    free(v->name);
    oc_map_free(&v->seen);
    oc_arena_free(&v->arena);
}

/* Fails if the hits have several names. */
static int check_one_name(const struct finder *f)
{
    struct found v = {.seen.arena = &v.arena};
    struct oc_buf list = {0};
    add_found(&v, f, printed_kind(f), true);
    for (size_t i = 0; i < v.n && i < MAX_SHOWN; i++)
        oc_buf_printf(&list, "%s'%.160s'", i ? ", " : "", v.name[i]);
    int rc = v.n <= 1 ? 0
                      : oc_fail(f->err, OC_EARG, "%s '%.80s' is part of %zu names: %s%s; give one of them%s",
                                f->names->option, f->text, v.n, list.data, v.n > MAX_SHOWN ? " ..." : "",
                                f->pattern ? oc_printf(&v.arena, ", or '.*%.80s' for all", f->text) : "");
    oc_buf_free(&list);
    free_found(&v);
    return rc;
}

static int fail_not_found(const struct finder *f)
{
    struct found v = {.seen.arena = &v.arena};
    const struct oc_report *r = f->names->report;
    enum kind kind = printed_kind(f);
    char where[40];
    if (f->invalid.code)
        return oc_fail(f->err, f->invalid.code, "%s", f->invalid.msg);
    add_found(&v, f, kind, false);
    if (kind == NAME)
        add_found(&v, f, ALIAS, false);
    if (f->rule == OC_NAME_KEY)
        add_found(&v, f, TYPE, false);
    snprintf(where, sizeof(where), "for %s", f->names->option);
    oc_fail_unknown(f->err, OC_EARG,
                    &(struct oc_unknown){.what = kind == TYPE    ? "operator type"
                                                 : kind == CLASS ? "operator class"
                                                                 : "operator",
                                         .where = where,
                                         .given = f->text,
                                         .valid = v.name,
                                         .n = v.n,
                                         .more = kind == NAME           ? "-f csv lists the names"
                                                 : r && r->in->analysis ? "the types of this model"
                                                                        : "the types of this profile"});
    free_found(&v);
    return -1;
}

/* ---- find ------------------------------------------------------------------------------------------- */

/* Of the rows of the table, else of the others. */
static int by_part(const struct finder *f)
{
    bool name = printed_kind(f) == NAME;
    int n = over_rows(f, 0, f->names->n_table, printed_kind(f), has_part);
    if (!n && name)
        n = over_rows(f, 0, f->names->n_table, ALIAS, has_part);
    if (!n && name)
        n = over_rows(f, f->names->n_table, f->names->n, NAME, has_part);
    return n && check_one_name(f) ? -1 : n;
}

static int by_stages(struct finder *f)
{
    int n = 0;
    for (const struct stage *s = stages[f->rule]; s < stages[f->rule] + MOST_STAGES && !n; s++) {
        if (s->test == is_match && !f->pattern && !f->invalid.code &&
            oc_pattern_compile(f->text, &f->pattern, &f->invalid) && f->invalid.code != OC_EARG)
            return oc_fail(f->err, f->invalid.code, "%s", f->invalid.msg);
        n = s->kind == AT_POSITION ? by_position(f) : over_rows(f, 0, f->names->n, s->kind, s->test);
    }
    return n || f->rule >= OC_NAME_MEGENGINE ? n : by_part(f);
}

int oc_names_find(const struct oc_names *names, enum oc_name_rule rule, const char *text, bool *hit,
                  struct oc_err *err)
{
    bool *own = oc_xcalloc((size_t)names->n + 1, sizeof(*own));
    struct finder f = {.names = names, .rule = rule, .text = text, .hit = own, .err = err};
    int n = by_stages(&f), rc = n > 0 ? 0 : n < 0 ? -1 : fail_not_found(&f);
    if (n == 0 && rule >= OC_NAME_MEGENGINE && !f.invalid.code)
        rc = 1;
    for (uint32_t i = 0; i < names->n && !rc; i++)
        hit[i] |= own[i];
    oc_pattern_free(f.pattern);
    free(own);
    return rc;
}

/* ---- words ------------------------------------------------------------------------------------------- */

const char *oc_work_words(struct oc_report *r, const char *text)
{
    static const char ours[] = "FLOP";
    const struct oc_analysis *a = r->in->analysis;
    const char *unit = oc_convention_unit(a ? a->counting->convention : NULL), *at;
    if (strcmp(unit, ours) == 0)
        return text;
    while ((at = strstr(text, ours)))
        text = oc_printf(&r->arena, "%.*s%s%s", (int)(at - text), text, unit, at + strlen(ours));
    return text;
}
