/* From cells to rows: fields, steps (when, split, join), numbers with their units. */
#include "profile/printed/row.h"

#include <math.h>
#include <string.h>

#include "base/str.h"

struct fields {
    const struct oc_printed_table *t;
    struct oc_str f[OC_PRINTED_FIELDS];
    double unit_ns[OC_PRINTED_FIELDS]; /* from the title or the template, 0: none */
    bool whole[OC_PRINTED_FIELDS], whole_ns[OC_PRINTED_FIELDS];
    uint8_t use;
    int use_fact;
};

struct oc_str oc_printed_keep(struct oc_printed_reading *r, struct oc_str s)
{
    return oc_str(oc_intern(&r->names, s.n ? s.s : "", s.n), s.n);
}

/* Of several tables, or recordings, the first one with work of the device counts; without it the first one that is not of
 * calls. */
static bool gives_way(const struct oc_printed_reading *r)
{
    return !r->n || (r->f->first_table && !r->has_device && r->row[0].kind == OC_ROW_CALL);
}

bool oc_printed_begins(struct oc_printed_reading *r, const struct oc_printed_table *t, bool calls)
{
    bool first = r->f->first_table, gives = gives_way(r) && !(calls && r->n),
         again = first ? !gives : r->over || (r->ends_recording && r->n);
    if (t && !first)
        again |= r->has_rows >> (t->id % 64) & 1;
    if (!again && gives)
        r->recordings.n = 0;
    if (again && !r->over)
        r->next = t;
    if (!r->recordings.n || (again && (first || !r->over || !t || t->id == (r->next ? r->next->id : t->id))))
        oc_recording_begins(&r->recordings, r->c);
    r->over = again;
    r->ends_recording = false;
    return !again;
}

void oc_printed_set_fact(struct oc_printed_reading *r, int fact, struct oc_str text, double unit_ns,
                         bool last, bool sum)
{
    struct oc_printed_fact *f = &r->fact[fact];
    double v, cell_ns;
    struct oc_str rest;
    if (f->text && !last && !sum)
        return;
    bool number = oc_printed_plain(text, &v, &rest);
    if (number && oc_printed_unit(rest, &cell_ns))
        unit_ns = cell_ns;
    v = number ? v * (unit_ns > 0 ? unit_ns : 1) : (double)NAN;
    v = oc_printed_clock(text, &cell_ns) ? cell_ns : v;
    f->value = f->text && sum ? f->value + v : v;
    f->text = oc_printed_keep(r, text).s;
    f->line = oc_csv_line_number(r->c);
}

/* ---- steps ------------------------------------------------------------------------------------------ */

static bool is_none(struct oc_str s)
{
    return !s.n || oc_str_eq(s, "N/A") || oc_str_eq(s, "-");
}

static bool word_fits(enum oc_printed_test test, struct oc_str v, struct oc_str word)
{
    switch (test) {
    case OC_IS:
        return v.n == word.n && memcmp(v.s, word.s, word.n) == 0;
    case OC_STARTS:
        return v.n >= word.n && memcmp(v.s, word.s, word.n) == 0;
    case OC_ENDS:
        return v.n >= word.n && memcmp(v.s + v.n - word.n, word.s, word.n) == 0;
    case OC_CAMEL: /* "cudaMalloc" begins with "cuda" and a capital letter */
        return v.n > word.n && memcmp(v.s, word.s, word.n) == 0 && v.s[word.n] >= 'A' && v.s[word.n] <= 'Z';
    default:
        return v.n && oc_find(v.s, v.n, word.s, word.n);
    }
}

static struct oc_str join(struct oc_printed_reading *r, const struct fields *x, struct oc_str of);

static bool test_fits(struct oc_printed_reading *r, const struct fields *x, const struct oc_printed_step *s,
                      enum oc_printed_test test, struct oc_str v)
{
    const struct oc_words *words = &s->test[test];
    double number;
    struct oc_str rest;
    bool any = false, yes = words->n && oc_str_eq(words->word[0], "yes");
    switch (test) {
    case OC_EMPTY:
        return is_none(v) == yes;
    case OC_IS_NUMBER:
        return (v.n && oc_printed_plain(v, &number, &rest)) == yes;
    case OC_ABOVE:
        return v.n && oc_printed_plain(v, &number, &rest) && number > s->limit[test];
    case OC_BELOW:
        return v.n && oc_printed_plain(v, &number, &rest) && number < s->limit[test];
    default:
        v.s = v.n ? v.s : "";
        for (size_t i = 0; i < words->n && !any; i++)
            any = word_fits(test, v,
                            oc_str_starts(words->word[i], "{") ? join(r, x, words->word[i]) : words->word[i]);
        return any != (test == OC_LACKS);
    }
}

static bool all_fit(struct oc_printed_reading *r, const struct fields *x, const struct oc_printed_step *s,
                    struct oc_str v)
{
    for (unsigned test = 0; test < OC_TESTS; test++)
        if (s->test[test].n && !test_fits(r, x, s, (enum oc_printed_test)test, v))
            return false;
    return true;
}

/* A text that is valid until the next row. */
static struct oc_str join(struct oc_printed_reading *r, const struct fields *x, struct oc_str of)
{
    size_t from = r->n_text, room = sizeof(r->text);
    while (of.n && r->n_text < room) {
        const char *open = oc_str_chr(of, '{'), *close = open ? oc_str_chr(oc_str_from(of, open), '}') : NULL;
        struct oc_str part = close ? oc_str_before(of, open) : of, name = {"", 0};
        of = close ? oc_str_from(of, close + 1) : oc_str_skip(of, of.n);
        if (close)
            name = oc_str_before(oc_str_from(oc_str(open, (size_t)(close - open)), open + 1), close);
        for (unsigned k = 0; k < 2; k++) {
            size_t n = part.n < room - r->n_text ? part.n : room - r->n_text;
            if (n)
                memcpy(r->text + r->n_text, part.s, n);
            r->n_text += n;
            part = (struct oc_str){"", 0};
            for (unsigned i = 0; name.n && !k && i < r->f->n_field; i++)
                if (r->f->field[i].n == name.n && memcmp(r->f->field[i].s, name.s, name.n) == 0)
                    part = x->f[i];
        }
    }
    return oc_csv_trim(oc_str(r->text + from, r->n_text - from));
}

static void split(const struct oc_printed_step *s, struct fields *x)
{
    struct oc_str got[OC_TEMPLATE_ITEMS];
    if (!oc_template_match(&s->by, x->f[s->field], got))
        return;
    for (unsigned i = 0; i < s->by.n; i++) {
        int field = s->by.item[i].field;
        if (field < 0 || !got[i].s)
            continue;
        x->f[field] = got[i];
        x->unit_ns[field] = s->by.item[i].unit_ns != 0 ? s->by.item[i].unit_ns : x->unit_ns[field];
    }
}

/* The use of the row; the first one counts. */
static void run_steps(struct oc_printed_reading *r, struct fields *x)
{
    r->n_text = 0;
    for (const struct oc_printed_step *s = x->t->step; s; s = s->next) {
        if (s->use && x->use)
            continue;
        if (s->what == OC_STEP_SPLIT) {
            split(s, x);
        } else if (s->what == OC_STEP_JOIN) {
            x->f[s->field] = join(r, x, s->of);
        } else if (all_fit(r, x, s, s->field >= 0 ? x->f[s->field] : oc_str("", 0))) {
            for (const struct oc_printed_set *set = s->set; set; set = set->next)
                x->f[set->field] = oc_str_chr(set->value, '{') ? join(r, x, set->value) : set->value;
            x->use = s->use ? s->use : x->use;
            x->use_fact = s->use ? s->use_fact : x->use_fact;
            if (s->use == OC_USE_DROP || s->use == OC_USE_END)
                return;
        }
    }
}

/* ---- numbers ---------------------------------------------------------------------------------------- */

static bool is_time(int role)
{
    return role >= OC_ROLE_FIRST_TIME && role < OC_ROLE_NUMBERS;
}

/* The unit of a time that the cell does not show. */
static double unit_of(const struct oc_printed_reading *r, const struct fields *x, int role)
{
    double ns = 0;
    if (x->unit_ns[role] != 0)
        return x->unit_ns[role];
    if (oc_str_starts(x->t->unit, "@")) {
        for (unsigned i = 0; i < r->f->n_field; i++)
            if (r->f->field[i].n + 1 == x->t->unit.n &&
                memcmp(r->f->field[i].s, x->t->unit.s + 1, r->f->field[i].n) == 0)
                return oc_printed_unit(x->f[i], &ns)                ? ns
                       : oc_csv_same(x->f[i], "cycles")             ? OC_TEMPLATE_CYCLES
                       : oc_csv_same(oc_csv_trim(x->f[i]), "cycle") ? OC_TEMPLATE_CYCLES
                                                                    : 0;
        return 0;
    }
    if (oc_printed_unit(x->f[OC_ROLE_UNIT], &ns))
        return ns;
    return oc_str_eq(x->t->unit, "file") ? r->f->default_unit_ns : x->t->unit_ns;
}

static void vote(struct oc_printed_reading *r, const struct fields *x, int role, struct oc_str s, bool whole)
{
    enum oc_decimal sign = oc_printed_evidence(s, whole);
    if (sign == OC_DECIMALS)
        return;
    r->votes[sign]++;
    if (!whole)
        r->column_votes[((size_t)x->t->id * OC_ROLE_NUMBERS + (size_t)role) * OC_DECIMALS + sign]++;
}

static bool read_number(struct oc_printed_reading *r, const struct fields *x, int role, struct oc_str s,
                        bool whole, struct oc_printed_number *out, struct oc_str *rest)
{
    if (!r->f->user_locale) {
        bool good = oc_printed_plain(s, &out->v[0], rest);
        out->v[1] = out->v[0];
        return good;
    }
    vote(r, x, role, s, whole);
    return oc_printed_number(s, whole, out, rest);
}

/* False: the field is not a number, or a time without a unit. */
static bool number_of(struct oc_printed_reading *r, const struct fields *x, int role,
                      struct oc_printed_number *out, bool *cycles)
{
    struct oc_str s = x->f[role], rest;
    double unit = 1, clock;
    if (is_none(s))
        return false;
    if (is_time(role) && oc_printed_clock(s, &clock)) {
        out->v[0] = out->v[1] = clock;
        return true;
    }
    if (is_time(role))
        unit = unit_of(r, x, role);
    if (role == OC_ROLE_BYTES)
        unit = x->unit_ns[role];
    bool whole = x->whole[role] || (x->whole_ns[role] && unit == 1);
    if (!read_number(r, x, role, s, whole, out, &rest))
        return false;
    if (is_time(role)) {
        double cell_ns;
        if (rest.n && oc_printed_unit(rest, &cell_ns))
            unit = cell_ns;
        else if (rest.n && oc_csv_same(rest, "cycles"))
            unit = OC_TEMPLATE_CYCLES;
        *cycles |= unit < 0;
    }
    for (unsigned i = 0; i < OC_DECIMALS; i++)
        out->v[i] *= fabs(unit);
    return unit != 0;
}

/* ---- rows ------------------------------------------------------------------------------------------- */

static void add_number(struct oc_row_number *list, uint8_t *n, int role, struct oc_printed_number v)
{
    list[(*n)++] = (struct oc_row_number){role, v};
}

static bool has_role(const struct oc_row_number *list, uint8_t n, int role)
{
    for (uint8_t i = 0; i < n; i++)
        if (list[i].role == role)
            return true;
    return false;
}

/* end - start: exact where both are whole, as a clock may count more than 2^53 ns. */
static void add_span(const struct fields *x, struct oc_row_number *list, uint8_t *n, double unit_ns)
{
    uint64_t from, to;
    struct oc_printed_number v;
    const struct oc_row_number *start = NULL, *end = NULL;
    for (uint8_t i = 0; i < *n; i++) {
        start = list[i].role == OC_ROLE_START ? &list[i] : start;
        end = list[i].role == OC_ROLE_END ? &list[i] : end;
    }
    if (!start || !end)
        return;
    bool exact = oc_csv_u64(x->f[OC_ROLE_START], &from) && oc_csv_u64(x->f[OC_ROLE_END], &to) && to >= from;
    for (unsigned i = 0; i < OC_DECIMALS; i++)
        v.v[i] = exact ? (double)(to - from) * unit_ns : end->n.v[i] - start->n.v[i];
    for (uint8_t i = 0; i < *n; i++)
        if (list[i].role == OC_ROLE_DURATION) {
            list[i].n = v;
            return;
        }
    add_number(list, n, OC_ROLE_DURATION, v);
}

/* Numbers of the row, at most one per role. */
static uint8_t take_numbers(struct oc_printed_reading *r, const struct fields *x, struct oc_row_number *list,
                            bool *cycles)
{
    uint8_t n = 0;
    for (int role = OC_ROLE_FIRST_NUMBER; role < OC_ROLE_NUMBERS; role++) {
        struct oc_printed_number v;
        if (x->f[role].n && number_of(r, x, role, &v, cycles))
            add_number(list, &n, role, v);
    }
    if (x->f[OC_ROLE_END].n && x->f[OC_ROLE_START].n)
        add_span(x, list, &n, fabs(unit_of(r, x, OC_ROLE_END)));
    return n;
}

static bool has_value(const struct oc_printed_reading *r, const struct oc_row_number *list, uint8_t n)
{
    return has_role(list, n, OC_ROLE_TOTAL) || has_role(list, n, OC_ROLE_MEAN) ||
           has_role(list, n, OC_ROLE_DURATION) || has_role(list, n, OC_ROLE_DEVICE) ||
           (r->f->share_of >= 0 && has_role(list, n, OC_ROLE_SHARE));
}

static void add_key(struct oc_buf *key, const struct fields *x, const struct oc_printed_list *of)
{
    for (size_t i = 0; i < of->n; i++) {
        oc_buf_char(key, '\x1f');
        oc_buf_add(key, x->f[of->field[i]].n ? x->f[of->field[i]].s : "", x->f[of->field[i]].n);
    }
}

/* An id names one thing of a recording: if it names another one, the program was started again. */
static bool is_other_recording(struct oc_printed_reading *r, const struct fields *x)
{
    struct oc_buf id = {0}, of = {0};
    uint32_t hash = 2166136261u; /* FNV-1a */
    oc_buf_printf(&id, "%u", x->t->id);
    add_key(&id, x, &x->t->id_fields);
    add_key(&of, x, &x->t->of);
    for (size_t i = 0; i < of.n; i++)
        hash = (hash ^ (unsigned char)of.data[i]) * 16777619u;
    uint32_t value = hash;
    bool other = !oc_map_add(&r->once, id.data, id.n, &value, NULL) && value != hash;
    oc_buf_free(&id);
    oc_buf_free(&of);
    return other;
}

/* Whether a row with the same fields was there. */
static bool is_repeated(struct oc_printed_reading *r, const struct fields *x,
                        const struct oc_printed_list *of, struct oc_str *kept)
{
    struct oc_buf key = {0};
    const char *stored;
    oc_buf_printf(&key, "%u", x->t->id);
    add_key(&key, x, of);
    uint32_t value = (uint32_t)r->n;
    bool fresh = oc_map_add(&r->once, key.data, key.n, &value, &stored);
    if (kept)
        *kept = oc_str(stored, value); /* of a pivot: the row with this key */
    oc_buf_free(&key);
    return !fresh;
}

static enum oc_printed_kind kind_of(const struct fields *x)
{
    static const char *const names[] = {"operator", "kernel", "copy", "set", "call", "function"};
    for (unsigned i = 0; i < OC_COUNT(names); i++)
        if (x->f[OC_ROLE_KIND].n && oc_str_eq(x->f[OC_ROLE_KIND], names[i]))
            return (enum oc_printed_kind)i;
    return x->t->kind;
}

static struct oc_printed_row *push_row(struct oc_printed_reading *r, const struct fields *x,
                                       const struct oc_row_number *number, uint8_t n, size_t indent)
{
    struct oc_printed_row *row = &OC_PUSH(r->row, r->n, r->cap);
    *row = (struct oc_printed_row){.t = x->t,
                                   .kind = (uint8_t)kind_of(x),
                                   .use = x->use,
                                   .use_fact = (int16_t)x->use_fact,
                                   .indent = (int32_t)indent -
                                             (x->t->cells == OC_CELLS_LINE ? 0 : (int32_t)r->base),
                                   .line = oc_csv_line_number(r->c),
                                   .where = oc_csv_offset(r->c)};
    struct oc_row_text text[OC_ROW_TEXTS];
    for (int i = 0; i < OC_ROW_TEXTS; i++)
        if (x->f[i].n)
            text[row->n_text++] = (struct oc_row_text){i, oc_printed_keep(r, x->f[i]).s};
    row->text = row->n_text ? OC_COPY_ARRAY(r->arena, text, row->n_text) : NULL;
    row->device = x->f[OC_ROLE_LANE].n ? oc_str_eq(x->f[OC_ROLE_LANE], "device") : x->t->device;
    row->number = n ? OC_COPY_ARRAY(r->arena, number, n) : NULL;
    row->n_number = n;
    r->has_rows |= (uint64_t)1 << (x->t->id % 64);
    r->has_device |= row->device;
    r->training |= x->f[OC_ROLE_PHASE].n && oc_str_eq(x->f[OC_ROLE_PHASE], "training");
    r->marks += x->t->counts_rows;
    return row;
}

/* A row of one metric goes into the row with its key. */
static int take_metric(struct oc_printed_reading *r, struct fields *x, size_t indent)
{
    const struct oc_printed_metric *m = x->t->metric;
    struct oc_row_number list[OC_ROLE_NUMBERS];
    struct oc_str at;
    bool cycles = false, fits = false;
    for (; m && !fits; m = fits ? m : m->next)
        for (size_t i = 0; i < m->name.n && !fits; i++)
            fits = word_fits(OC_IS, x->f[OC_ROLE_METRIC], m->name.word[i]);
    if (!m)
        return 1; /* another metric */
    for (size_t i = 0; i < m->role.n; i++)
        x->f[m->role.field[i]] = x->f[m->from.field[i]];
    double unit;
    if (!oc_printed_unit(x->f[OC_ROLE_UNIT_OF], &unit))
        return 1;
    for (size_t i = 0; i < m->role.n; i++)
        x->unit_ns[m->role.field[i]] = unit;
    uint8_t n = take_numbers(r, x, list, &cycles);
    if (!has_value(r, list, n))
        return 0;
    if (!is_repeated(r, x, &x->t->key, &at))
        push_row(r, x, list, n, indent);
    return 1;
}

/* The text of each role that a column or a template gave is in x. */
static int finish_row(struct oc_printed_reading *r, struct fields *x, size_t indent)
{
    struct oc_row_number list[OC_ROLE_NUMBERS + 1];
    bool cycles = false;
    run_steps(r, x);
    if (x->use == OC_USE_DROP)
        return 1;
    if (x->use == OC_USE_END) {
        r->t = NULL;
        return 1;
    }
    if (x->t->metric)
        return take_metric(r, x, indent);
    uint8_t n = take_numbers(r, x, list, &cycles);
    bool counted = is_none(x->f[OC_ROLE_CALLS]) || has_role(list, n, OC_ROLE_CALLS);
    if (!has_value(r, list, n) || !counted) /* other cells than the titles say */
        return 0;
    if (x->t->first && is_repeated(r, x, x->t->first, NULL))
        return 1;
    if (x->t->id_fields.n && !r->over)
        r->ends_recording |= is_other_recording(r, x);
    if (r->ends_recording || !r->recordings.n ? !oc_printed_begins(r, NULL, kind_of(x) == OC_ROW_CALL)
                                              : r->over)
        return 1; /* of a recording after the first */
    if (r->most && r->n >= r->most) {
        r->rc = oc_csv_too_many(r->c, r->err);
        return -1;
    }
    push_row(r, x, list, n, indent)->cycles = cycles;
    for (const struct oc_printed_also *also = x->t->also; also; also = also->next) {
        x->f[OC_ROLE_NAME] = x->f[also->name];
        x->f[OC_ROLE_CALLS] = x->f[also->calls];
        n = take_numbers(r, x, list, &cycles);
        push_row(r, x, list, n, indent)->kind = (uint8_t)also->kind;
    }
    return 1;
}

static void begin_fields(const struct oc_printed_reading *r, const struct oc_printed_table *t,
                         struct fields *x)
{
    size_t n = r->f->n_field;
    x->t = t;
    x->use = OC_USE_NONE;
    x->use_fact = -1;
    memcpy(x->f, r->carry, n * sizeof(*x->f));
    memset(x->unit_ns, 0, n * sizeof(*x->unit_ns));
    memset(x->whole, 0, n * sizeof(*x->whole));
    memset(x->whole_ns, 0, n * sizeof(*x->whole_ns));
}

/* Values in stars, as authors of pages emphasize them: "** 59.577ms**". Names may have stars. */
static struct oc_str without_stars(struct oc_str s)
{
    while (s.n && (s.s[0] == '*' || s.s[0] == ' '))
        s = oc_str_skip(s, 1);
    while (s.n && (s.s[s.n - 1] == '*' || s.s[s.n - 1] == ' '))
        s.n--;
    return s;
}

static void take_cell(struct oc_printed_reading *r, const struct oc_open_column *o, struct oc_str cell,
                      struct fields *x)
{
    const struct oc_printed_column *c = o->c;
    double unit = o->unit_ns != 0 ? o->unit_ns : c->unit_ns;
    if (c->fact >= 0 && r->n) /* a table of the run follows those of its operators */
        oc_printed_set_fact(r, c->fact, cell, unit, false, false);
    for (unsigned i = 0; i < c->n_role; i++) {
        struct oc_str part = c->n_role > 1 ? oc_csv_trim(oc_str_take(&cell, '/')) : cell;
        int role = c->role[i];
        if (role < 0)
            continue;
        x->f[role] = role >= OC_ROLE_FIRST_NUMBER ? without_stars(part) : part;
        x->unit_ns[role] = unit;
        x->whole[role] = c->whole;
        x->whole_ns[role] = c->whole_ns;
    }
}

int oc_printed_take_cells(struct oc_printed_reading *r, const struct oc_str *cell, size_t n, size_t indent)
{
    struct fields x;
    int took = 0, kinds = 0;
    size_t marks = r->marks;
    begin_fields(r, r->t, &x);
    for (size_t i = 0; i < r->n_open; i++) {
        if (r->open[i].cell < n)
            take_cell(r, &r->open[i], cell[r->open[i].cell], &x);
        kinds += r->open[i].c->row >= 0;
    }
    for (size_t i = 0; i < r->n_open && kinds; i++) { /* a row for each column */
        const struct oc_open_column *o = &r->open[i];
        struct fields one = x;
        if (o->c->row < 0 || o->cell >= n)
            continue;
        one.f[OC_ROLE_NAME] = o->c->row_name;
        one.f[OC_ROLE_TOTAL] = cell[o->cell];
        one.unit_ns[OC_ROLE_TOTAL] = o->unit_ns != 0 ? o->unit_ns : o->c->unit_ns;
        took |= finish_row(r, &one, indent);
        r->marks = marks + (took > 0 && r->t->counts_rows); /* the line is one run */
    }
    if (!kinds)
        took = finish_row(r, &x, indent);
    r->table_rows += took > 0;
    return took;
}

int oc_printed_take_line(struct oc_printed_reading *r, const struct oc_printed_table *t,
                         const struct oc_str *got, size_t indent)
{
    struct fields x;
    begin_fields(r, t, &x);
    for (unsigned i = 0; i < t->line.n; i++) {
        const struct oc_template_item *item = &t->line.item[i];
        if (item->field < 0 || !got[i].s)
            continue;
        x.f[item->field] = got[i];
        x.unit_ns[item->field] = item->unit_ns;
        if (item->field == t->keep)
            r->carry[t->keep] = oc_printed_keep(r, got[i]);
    }
    r->score += r->begun >> (t->id % 64) & 1 ? 0 : t->line.fixed;
    r->begun |= (uint64_t)1 << (t->id % 64);
    int took = finish_row(r, &x, indent);
    if (took == 0) {
        r->bad[t->level]++;
        r->cut |= oc_csv_cut(r->c);
    }
    return took;
}

void oc_printed_wrap(struct oc_printed_reading *r, struct oc_str more)
{
    struct oc_printed_row *row = &r->row[r->n - 1];
    for (uint8_t i = 0; i < row->n_text; i++)
        if (row->text[i].role == r->t->wrap)
            row->text[i].text = oc_printf(r->arena, "%s%.*s", row->text[i].text, (int)more.n, more.s);
}

/* ---- values ----------------------------------------------------------------------------------------- */

static enum oc_decimal sign_of(const struct oc_printed_reading *r, const struct oc_printed_row *row, int role)
{
    const unsigned *own =
        &r->column_votes[((size_t)row->t->id * OC_ROLE_NUMBERS + (size_t)role) * OC_DECIMALS];
    const unsigned *v = own[0] + own[1] ? own : r->votes;
    return v[OC_COMMA] > v[OC_POINT] ? OC_COMMA : OC_POINT;
}

double oc_printed_value(const struct oc_printed_reading *r, const struct oc_printed_row *row, int role)
{
    for (uint8_t i = 0; i < row->n_number; i++)
        if (row->number[i].role == role)
            return row->number[i].n.v[sign_of(r, row, role)];
    return NAN;
}
