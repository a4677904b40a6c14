/* Descriptions of printed formats: from XML, or from the elements that the build has compiled in, to structures. What a
 * description gets wrong is an error with its line. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/units.h"
#include "base/xml_read.h"
#include "profile/csv_rows.h"
#include "profile/printed/format.h"

#define LEAST_FIXED 8 /* characters of a template that needs no mark before it: fewer are in too many texts */

struct loading {
    const struct oc_xml *x;
    struct oc_arena *a;
    struct oc_printed_format *first, **format_end, *format;
    struct oc_printed_table **table_end, *table;
    const struct oc_printed_column **column_end;
    const struct oc_printed_step **step_end;
    const struct oc_printed_note **note_end;
    const struct oc_printed_check **check_end;
    const struct oc_printed_metric **metric_end;
};

enum {
    E_FORMATS,
    E_FORMAT,
    E_TABLE,
    E_LINE,
    E_CONTEXT,
    E_FACT,
    E_CHECK,
    E_SCALE,
    E_COLUMN,
    E_END,
    E_OF_TABLE, /* what tables and lines have: first the children of tables, then those of lines */
    E_OF_LINE = E_OF_TABLE + 7,
    E_METRIC = E_OF_LINE + 7,
    E_STABLE = E_METRIC + 2,
    E_KINDS
};

/* ---- values of attributes --------------------------------------------------------------------------- */

static struct oc_str text_of(const struct oc_xml_elem *e, const char *name, const char *otherwise)
{
    const char *s = oc_xml_get(e, name);
    s = s ? s : otherwise ? otherwise : "";
    return oc_str(s, strlen(s));
}

static bool is_yes(const struct oc_xml_elem *e, const char *name, const char *value)
{
    const char *s = oc_xml_get(e, name);
    return s && strcmp(s, value) == 0;
}

/* The index of the value in the list, 0 without the attribute; -1: an error. */
static int pick(struct loading *l, const char *name, const char *value, const char *const *list, size_t n,
                int *out)
{
    *out = 0;
    for (size_t i = 0; i < n && value; i++)
        if (strcmp(list[i], value) == 0) {
            *out = (int)i;
            return 0;
        }
    return value ? oc_xml_fail(l->x, "unknown %s '%s'", name, value) : 0;
}

static struct oc_words words_of(struct loading *l, struct oc_str s, char separator)
{
    struct oc_str word[64];
    size_t n = 0;
    bool more = s.n > 0;
    while (more && n < OC_COUNT(word)) {
        more = oc_str_chr(s, separator) != NULL;
        word[n++] = oc_str_take(&s, separator);
    }
    return (struct oc_words){OC_COPY_ARRAY(l->a, word, n), n};
}

static int field_named(void *ctx, struct oc_str name)
{
    struct loading *l = ctx;
    struct oc_printed_format *f = l->format;
    name = oc_csv_trim(name);
    for (unsigned i = 0; i < f->n_field; i++)
        if (f->field[i].n == name.n && memcmp(f->field[i].s, name.s, name.n) == 0)
            return (int)i;
    if (f->n_field == OC_PRINTED_FIELDS)
        return -1;
    f->field[f->n_field] = name;
    return (int)f->n_field++;
}

static int field_of(struct loading *l, struct oc_str name, int *out)
{
    *out = name.n ? field_named(l, name) : -1;
    return name.n && *out < 0 ? oc_xml_fail(l->x, "the format has more than %d fields", OC_PRINTED_FIELDS)
                              : 0;
}

static int template_of(struct loading *l, const char *text, struct oc_template *out)
{
    const char *wrong = oc_template_make(out, text, l->a, field_named, l);
    return wrong ? oc_xml_fail(l->x, "'%s': %s", text, wrong) : 0;
}

/* "type=Conv; lane=device" */
static int sets_of(struct loading *l, struct oc_str s, const struct oc_printed_set **out)
{
    while (s.n) {
        struct oc_str one = oc_csv_trim(oc_str_take(&s, ';')), name = oc_str_take(&one, '=');
        struct oc_printed_set *set = OC_NEW(l->a, struct oc_printed_set);
        if (field_of(l, name, &set->field))
            return -1;
        set->value = oc_csv_trim(one);
        *out = set;
        out = &set->next;
    }
    return 0;
}

static int unit_of(struct loading *l, struct oc_str s, double *ns)
{
    *ns = 0;
    if (!s.n || s.s[0] == '@' || oc_str_eq(s, "file"))
        return 0;
    if (oc_str_eq(s, "cycles"))
        *ns = OC_TEMPLATE_CYCLES;
    else if (!oc_printed_unit(s, ns))
        return oc_xml_fail(l->x, "unknown unit '%.*s'", (int)s.n, s.s);
    return 0;
}

/* ---- format ----------------------------------------------------------------------------------------- */

static int on_format(void *user, const struct oc_xml_elem *e)
{
#define ROLE_NAME(id, name) [OC_ROLE_##id] = (name),
    static const char *const role[] = {OC_PRINTED_ROLES(ROLE_NAME)};
#undef ROLE_NAME
    struct loading *l = user;
    struct oc_printed_format *f = l->format = OC_NEW(l->a, struct oc_printed_format);
    for (unsigned i = 0; i < OC_ROLE_COUNT; i++)
        f->field[i] = oc_str(role[i], strlen(role[i]));
    f->n_field = OC_ROLE_COUNT;
    f->name = oc_xml_get(e, "name");
    f->title = oc_xml_get(e, "title");
    f->producer = oc_xml_get(e, "producer");
    f->seen = oc_xml_get(e, "seen");
    f->lost = oc_xml_get(e, "lost");
    f->hint = oc_xml_get(e, "hint");
    f->reader = oc_xml_get(e, "reader");
    f->device = text_of(e, "device", NULL).s;
    f->see = words_of(l, text_of(e, "see", NULL), '|');
    f->json = words_of(l, text_of(e, "json", NULL), '|');
    f->user_locale = is_yes(e, "locale", "user");
    f->prefer_device = is_yes(e, "prefer", "device");
    f->both = is_yes(e, "sides", "both");
    f->first_table = is_yes(e, "read", "first");
    f->means = is_yes(e, "per", "run");
    f->via = oc_xml_get(e, "via");
    f->shapes = oc_xml_get(e, "notation");
    f->given.as = oc_xml_get(e, "as");
    f->given.lane = oc_xml_get(e, "lane");
    f->given.unit = oc_xml_get(e, "unit");
    f->given.level = oc_xml_get(e, "level");
    f->given.after = oc_xml_get(e, "after");
    f->scale_from = f->scale_to = -1;
    l->table_end = &f->table;
    l->note_end = &f->note;
    l->check_end = &f->check;
    *l->format_end = f;
    l->format_end = &f->next;
    return field_of(l, text_of(e, "share-of", NULL), &f->share_of) ||
                   unit_of(l, text_of(e, "default-unit", NULL), &f->default_unit_ns)
               ? -1
               : 0;
}

/* ---- tables and lines ------------------------------------------------------------------------------- */

static const char *const kind_names[] = {"operator", "kernel", "copy", "set", "call", "function"};
static const char *const cells_names[] = {"line", "csv", "rule", "gaps", "words", "bars", "ends"};

static int on_table(void *user, const struct oc_xml_elem *e)
{
    static const char *const lanes[] = {"host", "device"}, *const bads[] = {"end", "skip", "fail", "damaged"};
    struct loading *l = user;
    struct oc_printed_format *f = l->format;
    const struct oc_printed_table *above = l->table;
    struct oc_printed_table *t = l->table = OC_NEW(l->a, struct oc_printed_table);
    const char *as = oc_xml_get(e, "as"), *lane = oc_xml_get(e, "lane"), *level = oc_xml_get(e, "level");
    int kind, device, bad;
    double number = 1;
    if (pick(l, "kind of rows", as ? as : f->given.as, kind_names, OC_COUNT(kind_names), &kind) ||
        pick(l, "lane", lane ? lane : f->given.lane, lanes, 2, &device) ||
        pick(l, "treatment of bad lines", oc_xml_get(e, "bad"), bads, OC_COUNT(bads), &bad) ||
        field_of(l, text_of(e, "wrap", NULL), &t->wrap) || field_of(l, text_of(e, "keep", NULL), &t->keep))
        return -1;
    level = level ? level : f->given.level;
    if (level &&
        (!oc_parse_double(level, strlen(level), &number) || !(number >= 0 && number < OC_PRINTED_LEVELS)))
        return oc_xml_fail(l->x, "the level '%s' is not a number below %d", level, OC_PRINTED_LEVELS);
    t->format = f;
    t->id = f->n_table++;
    t->kind = (enum oc_printed_kind)kind;
    t->device = device == 1;
    t->bad_skip = bad == 1;
    t->bad_fail = bad == 2;
    t->bad_damaged = bad == 3;
    t->level = (unsigned)number;
    t->report = oc_xml_get(e, "report");
    t->after = text_of(e, "after", f->given.after);
    t->unit = text_of(e, "unit", f->given.unit);
    t->blank_skip = is_yes(e, "blank", "skip");
    t->add_again = is_yes(e, "again", "add");
    t->units_row = is_yes(e, "units", "row");
    t->counts_runs = is_yes(e, "counts", "runs");
    t->calls_runs = is_yes(e, "calls", "runs");
    t->means = oc_xml_get(e, "per") ? is_yes(e, "per", "run") : f->means;
    t->counts_rows = is_yes(e, "counts", "rows");
    t->each = is_yes(e, "each", "yes");
    t->trace = is_yes(e, "trace", "yes");
    l->column_end = &t->column;
    for (const struct oc_printed_column *c = is_yes(e, "columns", "above") ? above->column : NULL; c;
         c = c->next) {
        struct oc_printed_column *own = OC_COPY_ARRAY(l->a, c, 1);
        own->next = NULL;
        *l->column_end = own;
        l->column_end = &own->next;
    }
    l->step_end = &t->step;
    l->metric_end = &t->metric;
    *l->table_end = t;
    l->table_end = &t->next;
    if (unit_of(l, t->unit, &t->unit_ns))
        return -1;
    if (!oc_xml_get(e, "cells")) {
        const char *line = oc_xml_get(e, "line");
        if (template_of(l, line, &t->line))
            return -1;
        if (t->line.fixed < LEAST_FIXED && !t->after.n && !f->see.n)
            return oc_xml_fail(l->x,
                               "'%s' has fewer than %d characters that stand for themselves: give the line a "
                               "mark (after=) that a "
                               "context sets, or the format a text (see=)",
                               line, LEAST_FIXED);
    }
    return 0;
}

/* The same table for each further way to cut its lines. */
static int on_table_end(void *user, const struct oc_xml_elem *e)
{
    struct loading *l = user;
    struct oc_words cells = words_of(l, text_of(e, "cells", NULL), ',');
    if (!l->table->column)
        return oc_xml_fail(l->x, "the table has no columns");
    for (size_t i = 0; i < cells.n; i++) {
        int kind;
        const char *name = oc_strndup(l->a, cells.word[i].s, cells.word[i].n);
        struct oc_printed_table *t = i ? OC_COPY_ARRAY(l->a, l->table, 1) : l->table;
        if (pick(l, "way to cut lines", name, cells_names, OC_COUNT(cells_names), &kind) || !kind)
            return -1;
        t->cells = (enum oc_printed_cells)kind;
        t->bad_fail |= kind == OC_CELLS_CSV && !oc_xml_get(e, "bad");
        t->blank_skip |= kind == OC_CELLS_CSV && !oc_xml_get(e, "blank");
        if (!i)
            continue;
        t->next = NULL;
        *l->table_end = t;
        l->table_end = &t->next;
    }
    return 0;
}

/* The same line in another layout. */
static int on_line_end(void *user, const struct oc_xml_elem *e)
{
    struct loading *l = user;
    if (!oc_xml_get(e, "or"))
        return 0;
    struct oc_printed_table *t = OC_COPY_ARRAY(l->a, l->table, 1);
    t->next = NULL;
    *l->table_end = t;
    l->table_end = &t->next;
    return template_of(l, oc_xml_get(e, "or"), &t->line);
}

/* "total/-/max/min/share", "fact:runs", "row:Computing" */
static int column_roles(struct loading *l, struct oc_str is, struct oc_printed_column *c)
{
    c->fact = c->row = -1;
    if (oc_str_starts(is, "row:")) {
        c->row = 1;
        c->row_name = oc_str_skip(is, 4);
        return 0;
    }
    int field;
    if (oc_str_starts(is, "fact:")) {
        int rc = field_of(l, oc_str_skip(is, 5), &field);
        c->fact = (int16_t)field;
        return rc;
    }
    while (is.n && c->n_role < OC_COUNT(c->role)) {
        struct oc_str one = oc_csv_trim(oc_str_take(&is, '/'));
        if (!oc_str_eq(one, "-") && field_of(l, one, &field))
            return -1;
        c->role[c->n_role++] = oc_str_eq(one, "-") ? -1 : field;
    }
    return 0;
}

static int on_column(void *user, const struct oc_xml_elem *e)
{
    struct loading *l = user;
    struct oc_printed_column *c = OC_NEW(l->a, struct oc_printed_column);
    c->header = words_of(l, text_of(e, "header", NULL), '|');
    c->title = oc_strndup(l->a, c->header.word[0].s, c->header.word[0].n);
    c->optional = is_yes(e, "optional", "yes");
    c->wide = is_yes(e, "wide", "yes");
    c->whole = is_yes(e, "whole", "yes");
    c->whole_ns = is_yes(e, "whole", "ns");
    *l->column_end = c;
    l->column_end = &c->next;
    return column_roles(l, text_of(e, "is", NULL), c) || unit_of(l, text_of(e, "unit", NULL), &c->unit_ns)
               ? -1
               : 0;
}

/* ---- steps ------------------------------------------------------------------------------------------ */

static struct oc_printed_step *add_step(struct loading *l)
{
    struct oc_printed_step *s = OC_NEW(l->a, struct oc_printed_step);
    *l->step_end = s;
    l->step_end = &s->next;
    s->field = s->use_fact = -1;
    return s;
}

static int step_use(struct loading *l, struct oc_str use, struct oc_printed_step *s)
{
    s->use = !use.n                        ? OC_USE_NONE
             : oc_str_eq(use, "drop")      ? OC_USE_DROP
             : oc_str_eq(use, "end")       ? OC_USE_END
             : oc_str_eq(use, "run")       ? OC_USE_RUN
             : oc_str_eq(use, "table-run") ? OC_USE_TABLE_RUN
                                           : OC_USE_FACT;
    return s->use == OC_USE_FACT ? field_of(l, use, &s->use_fact) : 0;
}

static int on_when(void *user, const struct oc_xml_elem *e)
{
    static const char *const tests[OC_TESTS] = {"is",    "starts", "ends",   "has",   "lacks",
                                                "camel", "empty",  "number", "above", "below"};
    struct loading *l = user;
    struct oc_printed_step *s = add_step(l);
    for (unsigned i = 0; i < OC_TESTS; i++) {
        struct oc_str value = text_of(e, tests[i], NULL);
        s->test[i] = words_of(l, value, '|');
        if (i >= OC_ABOVE && value.n && !oc_parse_double(value.s, value.n, &s->limit[i]))
            return oc_xml_fail(l->x, "'%s' is not a number", value.s);
    }
    return field_of(l, text_of(e, "field", NULL), &s->field) || step_use(l, text_of(e, "use", NULL), s) ||
                   sets_of(l, text_of(e, "set", NULL), &s->set)
               ? -1
               : 0;
}

static int on_split(void *user, const struct oc_xml_elem *e)
{
    struct loading *l = user;
    struct oc_printed_step *s = add_step(l);
    s->what = OC_STEP_SPLIT;
    return field_of(l, text_of(e, "field", NULL), &s->field) || template_of(l, oc_xml_get(e, "by"), &s->by)
               ? -1
               : 0;
}

static int on_join(void *user, const struct oc_xml_elem *e)
{
    struct loading *l = user;
    struct oc_printed_step *s = add_step(l);
    s->what = OC_STEP_JOIN;
    s->of = text_of(e, "of", NULL);
    return field_of(l, text_of(e, "into", NULL), &s->field);
}

static int list_of(struct loading *l, struct oc_str s, char separator, struct oc_printed_list *out)
{
    while (s.n && out->n < OC_COUNT(out->field))
        if (field_of(l, oc_str_take(&s, separator), &out->field[out->n++]))
            return -1;
    return 0;
}

static int on_first(void *user, const struct oc_xml_elem *e)
{
    struct loading *l = user;
    struct oc_printed_list *list = OC_NEW(l->a, struct oc_printed_list);
    l->table->first = list;
    return list_of(l, text_of(e, "of", NULL), ',', list);
}

static int on_stable(void *user, const struct oc_xml_elem *e)
{
    struct loading *l = user;
    return list_of(l, text_of(e, "key", NULL), ',', &l->table->id_fields) ||
                   list_of(l, text_of(e, "of", NULL), ',', &l->table->of)
               ? -1
               : 0;
}

static int on_end(void *user, const struct oc_xml_elem *e)
{
    struct loading *l = user;
    l->table->has_end = true;
    return template_of(l, oc_xml_get(e, "line"), &l->table->end);
}

static int on_also(void *user, const struct oc_xml_elem *e)
{
    struct loading *l = user;
    struct oc_printed_also *also = OC_NEW(l->a, struct oc_printed_also);
    int kind;
    l->table->also = also;
    if (pick(l, "kind of rows", oc_xml_get(e, "as"), kind_names, OC_COUNT(kind_names), &kind))
        return -1;
    also->kind = (enum oc_printed_kind)kind;
    return field_of(l, text_of(e, "name", NULL), &also->name) ||
                   field_of(l, text_of(e, "calls", "calls"), &also->calls)
               ? -1
               : 0;
}

static int on_nest(void *user, const struct oc_xml_elem *e)
{
    struct loading *l = user;
    l->table->nest = true;
    l->table->inner_drop = is_yes(e, "inner", "drop");
    return is_yes(e, "by", "indent") ? 0 : oc_xml_fail(l->x, "rows are nested by=\"indent\"");
}

static int on_pivot(void *user, const struct oc_xml_elem *e)
{
    struct loading *l = user;
    return list_of(l, text_of(e, "key", NULL), ',', &l->table->key);
}

static int on_metric(void *user, const struct oc_xml_elem *e)
{
    struct loading *l = user;
    struct oc_printed_metric *m = OC_NEW(l->a, struct oc_printed_metric);
    struct oc_str take = text_of(e, "take", NULL);
    m->name = words_of(l, text_of(e, "name", NULL), '|');
    *l->metric_end = m;
    l->metric_end = &m->next;
    while (take.n && m->role.n < OC_COUNT(m->role.field)) {
        struct oc_str one = oc_str_take(&take, ' '), role = oc_str_take(&one, '=');
        if (field_of(l, role, &m->role.field[m->role.n++]) || field_of(l, one, &m->from.field[m->from.n++]))
            return -1;
    }
    return 0;
}

/* ---- lines around tables, checks -------------------------------------------------------------------- */

static int on_note(void *user, const struct oc_xml_elem *e)
{
    struct loading *l = user;
    struct oc_printed_note *n = OC_NEW(l->a, struct oc_printed_note);
    n->fact = e->kind == E_FACT;
    n->hint = oc_xml_get(e, "hint");
    n->mark = text_of(e, "mark", NULL);
    n->counts_runs = is_yes(e, "counts", "runs");
    n->new_recording = is_yes(e, "new", "recording");
    n->new_if_changed = is_yes(e, "new", "changed");
    n->goes_on = is_yes(e, "ends", "no");
    n->before = is_yes(e, "keep", "before");
    n->later = is_yes(e, "keep", "after");
    n->last = is_yes(e, "keep", "last") || n->before;
    n->sum = is_yes(e, "keep", "sum");
    *l->note_end = n;
    l->note_end = &n->next;
    return template_of(l, oc_xml_get(e, "line"), &n->line) || sets_of(l, text_of(e, "set", NULL), &n->set)
               ? -1
               : 0;
}

static int on_check(void *user, const struct oc_xml_elem *e)
{
    struct loading *l = user;
    struct oc_printed_check *c = OC_NEW(l->a, struct oc_printed_check);
    struct oc_str hundred = text_of(e, "hundred", NULL), within = text_of(e, "within", "2");
    c->what = oc_xml_get(e, "rows")    ? OC_CHECK_ROWS
              : hundred.n              ? OC_CHECK_HUNDRED
              : oc_xml_get(e, "agree") ? OC_CHECK_AGREE
              : oc_xml_get(e, "by")    ? OC_CHECK_BY
                                       : OC_CHECK_SUM;
    c->device = is_yes(e, "sum", "device");
    c->both = is_yes(e, "sum", "all");
    c->per_run = is_yes(e, "per", "run");
    c->known = oc_xml_get(e, "known");
    *l->check_end = c;
    l->check_end = &c->next;
    if ((hundred.n && !oc_parse_double(hundred.s, hundred.n, &c->hundred)) ||
        !oc_parse_double(within.s, within.n, &c->within))
        return oc_xml_fail(l->x, "a figure of the check is not a number");
    if (field_of(l, text_of(e, c->what == OC_CHECK_ROWS ? "rows" : "is", NULL), &c->is) ||
        field_of(l, text_of(e, "plus", NULL), &c->plus))
        return -1;
    if (c->is < 0 && (c->what == OC_CHECK_SUM || c->what == OC_CHECK_ROWS))
        return oc_xml_fail(l->x, "the check has nothing to compare with: give is=FACT");
    return 0;
}

static int on_scale(void *user, const struct oc_xml_elem *e)
{
    struct loading *l = user;
    return field_of(l, text_of(e, "from", NULL), &l->format->scale_from) ||
                   field_of(l, text_of(e, "to", NULL), &l->format->scale_to)
               ? -1
               : 0;
}

/* ---- documents -------------------------------------------------------------------------------------- */

#define ROWS_OF(first, elem)                                                                                 \
    [(first)] = {.name = "when",                                                                             \
                 .parent = (elem),                                                                           \
                 .required = "",                                                                             \
                 .optional = "field use is starts ends has lacks camel empty number above below set",        \
                 .start = on_when},                                                                          \
    [(first) +                                                                                               \
        1] = {.name = "split", .parent = (elem), .required = "field by", .optional = "", .start = on_split}, \
    [(first) +                                                                                               \
        2] = {.name = "join", .parent = (elem), .required = "into of", .optional = "", .start = on_join},    \
    [(first) +                                                                                               \
        3] = {.name = "first", .parent = (elem), .required = "of", .optional = "", .start = on_first},       \
    [(first) + 4] = {.name = "also",                                                                         \
                     .parent = (elem),                                                                       \
                     .required = "as name",                                                                  \
                     .optional = "calls",                                                                    \
                     .start = on_also},                                                                      \
    [(first) +                                                                                               \
        5] = {.name = "nest", .parent = (elem), .required = "by inner", .optional = "", .start = on_nest},   \
    [(first) +                                                                                               \
        6] = {.name = "pivot", .parent = (elem), .required = "key", .optional = "", .start = on_pivot}

static const struct oc_xml_spec specs[E_KINDS] = {
    [E_FORMATS] = {.name = "formats", .parent = OC_XML_ROOT, .required = "version", .optional = ""},
    [E_FORMAT] = {.name = "format",
                  .parent = E_FORMATS,
                  .label = "name",
                  .required = "name title producer",
                  .optional =
                      "seen lost hint device see json locale prefer read sides via per as lane unit level "
                      "after share-of default-unit notation reader",
                  .start = on_format},
    [E_TABLE] =
        {.name = "table",
         .parent = E_FORMAT,
         .required = "cells",
         .optional =
             "as lane level per after unit blank bad again units counts calls trace each wrap report columns",
         .start = on_table,
         .end = on_table_end},
    [E_LINE] = {.name = "line",
                .parent = E_FORMAT,
                .required = "line",
                .optional = "as lane level per after unit keep bad counts trace each report or",
                .start = on_table,
                .end = on_line_end},
    [E_CONTEXT] = {.name = "context",
                   .parent = E_FORMAT,
                   .required = "line",
                   .optional = "mark set counts new ends hint",
                   .start = on_note},
    [E_FACT] =
        {.name = "fact", .parent = E_FORMAT, .required = "line", .optional = "keep set", .start = on_note},
    [E_CHECK] = {.name = "check",
                 .parent = E_FORMAT,
                 .required = "",
                 .optional = "sum is plus per hundred agree by rows within known",
                 .start = on_check},
    [E_SCALE] =
        {.name = "scale", .parent = E_FORMAT, .required = "from to", .optional = "", .start = on_scale},
    [E_COLUMN] = {.name = "column",
                  .parent = E_TABLE,
                  .label = "header",
                  .required = "header",
                  .optional = "is unit optional wide whole",
                  .start = on_column},
    [E_END] = {.name = "end", .parent = E_TABLE, .required = "line", .optional = "", .start = on_end},
    ROWS_OF(E_OF_TABLE, E_TABLE),
    ROWS_OF(E_OF_LINE, E_LINE),
    [E_METRIC] = {.name = "metric",
                  .parent = E_OF_TABLE + 6,
                  .required = "name take",
                  .optional = "",
                  .start = on_metric},
    [E_STABLE] =
        {.name = "stable", .parent = E_LINE, .required = "key of", .optional = "", .start = on_stable},
    [E_METRIC + 1] = {.name = "metric",
                      .parent = E_OF_LINE + 6,
                      .required = "name take",
                      .optional = "",
                      .start = on_metric},
};
static const struct oc_xml_format document = {specs, E_KINDS, "1", 1u << 20};

#include "printed_formats.h" /* made from *.xml of this folder */

static struct oc_arena memory;
static struct oc_printed_format *built_in;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load_built_in(void)
{
    struct loading l = {.a = &memory, .first = NULL};
    struct oc_err err = {0};
    l.format_end = &l.first;
    for (size_t i = 0; i < OC_COUNT(printed_documents); i++)
        if (oc_xml_replay(&document, printed_documents[i].name, printed_documents[i].token,
                          printed_documents[i].n, &memory, &l, &l.x, &err) != 0)
            abort(); /* a unit test reads them all */
    built_in = l.first;
}

const struct oc_printed_format *oc_printed_formats(void)
{
    pthread_once(&once, load_built_in);
    return built_in;
}

const struct oc_printed_format *oc_printed_named(const char *name)
{
    const struct oc_printed_format *f = oc_printed_formats();
    while (strcmp(f->name, name) != 0)
        f = f->next;
    return f;
}

int oc_printed_parse(const char *name, const void *data, size_t n, struct oc_arena *a,
                     const struct oc_printed_format **out, struct oc_err *err)
{
    struct loading l = {.a = a, .first = NULL};
    l.format_end = &l.first;
    int rc = oc_xml_read(&document, name, data, n, a, &l, &l.x, err);
    if (rc == 0 && !l.first)
        rc = oc_fail(err, OC_EFORMAT, "cannot read '%s': it describes no format", name);
    *out = l.first;
    return rc;
}

int oc_printed_load(const char *path, const struct oc_printed_format **out, struct oc_err *err)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct oc_arena of_user;
    struct oc_file file;
    if (oc_file_map(path, document.max_bytes, &file, err) != 0)
        return -1;
    pthread_mutex_lock(&lock);
    int rc = oc_printed_parse(path, file.data, (size_t)file.size_bytes, &of_user, out, err);
    pthread_mutex_unlock(&lock);
    oc_file_unmap(&file);
    return rc;
}
