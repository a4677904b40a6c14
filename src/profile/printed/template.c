/* Templates: compiled to a list of items, matched by backtracking that visits no state twice. */
#include "profile/printed/template.h"

#include <stdlib.h>
#include <string.h>

#include "profile/csv_rows.h"

#define MAX_TEXT   ((size_t)1 << 16) /* longer lines are not printed rows */
#define STACK_BITS 16384

enum { LITERAL, BLANK, ANY, WITHOUT, WORD, WHOLE, NUMBER, TIME, LETTERS, OPTION, OPTION_END };

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* ---- compiling -------------------------------------------------------------------------------------- */

struct making {
    struct oc_template *t;
    oc_template_field *field;
    void *ctx;
    unsigned open[8], depth; /* optional parts that are open */
    const char *wrong;
};

static struct oc_template_item *add_item(struct making *m, unsigned kind)
{
    if (m->t->n == OC_TEMPLATE_ITEMS) {
        m->wrong = "the template has too many parts";
        return &m->t->item[0];
    }
    struct oc_template_item *i = &m->t->item[m->t->n++];
    *i = (struct oc_template_item){.kind = (uint8_t)kind, .field = -1, .text = {"", 0}};
    return i;
}

static void set_kind(struct making *m, struct oc_template_item *i, struct oc_str kind)
{
    static const char letters[] = "winta";
    static const uint8_t kinds[] = {WORD, WHOLE, NUMBER, TIME, LETTERS};
    const char *at = kind.n == 1 ? strchr(letters, kind.s[0]) : NULL;
    if (at) {
        i->kind = kinds[at - letters];
        return;
    }
    i->kind = NUMBER;
    if (oc_str_eq(kind, "cycles"))
        i->unit_ns = OC_TEMPLATE_CYCLES;
    else if (!oc_csv_time_unit(kind, &i->unit_ns))
        m->wrong = "a field has an unknown kind: w, i, n, t, a, or a unit of time";
}

/* "name", "name^chars", "name:kind", "*" */
static void add_field(struct making *m, struct oc_str s)
{
    struct oc_template_item *i = add_item(m, ANY);
    const char *colon = oc_str_chr(s, ':'), *bar = oc_str_chr(s, '^');
    struct oc_str name = bar && (!colon || bar < colon) ? oc_str_before(s, bar)
                         : colon                        ? oc_str_before(s, colon)
                                                        : s;
    if (bar && (!colon || bar < colon)) {
        i->kind = WITHOUT;
        i->text = oc_str_from(s, bar + 1);
    } else if (colon) {
        set_kind(m, i, oc_str_from(s, colon + 1));
    }
    if (!name.n)
        m->wrong = "a field has no name";
    if (name.n && name.s[0] == '*')
        return;
    int field = m->field(m->ctx, name);
    i->field = (int16_t)field;
    if (field < 0)
        m->wrong = "there are too many fields";
}

static void add_option(struct making *m, bool opens)
{
    if (opens && m->depth == OC_COUNT(m->open)) {
        m->wrong = "[[ is nested too deep";
    } else if (opens) {
        m->open[m->depth++] = m->t->n;
        add_item(m, OPTION);
    } else if (!m->depth) {
        m->wrong = "]] has no [[";
    } else {
        add_item(m, OPTION_END);
        m->t->item[m->open[--m->depth]].next = (uint16_t)m->t->n;
    }
}

/* Text up to the next blank, field or bracket of an optional part. */
static struct oc_str add_literal(struct making *m, struct oc_str s)
{
    size_t n = 1;
    while (n < s.n && !is_blank(s.s[n]) && s.s[n] != '{' && !(s.n - n > 1 && memcmp(s.s + n, "[[", 2) == 0) &&
           !(s.n - n > 1 && memcmp(s.s + n, "]]", 2) == 0 && !(s.n - n > 2 && s.s[n + 2] == ']')))
        n++;
    add_item(m, LITERAL)->text = (struct oc_str){s.s, n};
    m->t->fixed += n;
    if (!m->depth && n > m->t->literal.n)
        m->t->literal = (struct oc_str){s.s, n};
    return oc_str_skip(s, n);
}

const char *oc_template_make(struct oc_template *out, const char *text, struct oc_arena *a,
                             oc_template_field *field, void *ctx)
{
    struct oc_template_item item[OC_TEMPLATE_ITEMS];
    struct making m = {.t = out, .field = field, .ctx = ctx};
    *out = (struct oc_template){.item = item, .literal = {"", 0}};
    struct oc_str s = oc_csv_trim(oc_str(text, strlen(text)));
    while (s.n && !m.wrong) {
        const char *close = s.s[0] == '{' ? oc_str_chr(s, '}') : NULL;
        if (close) {
            add_field(&m, oc_str_skip(oc_str_before(s, close), 1));
            s = oc_str_from(s, close + 1);
        } else if (oc_str_starts(s, "[[") || (oc_str_starts(s, "]]") && !oc_str_starts(s, "]]]"))) {
            add_option(&m, s.s[0] == '[');
            s = oc_str_skip(s, 2);
        } else if (is_blank(s.s[0])) {
            add_item(&m, BLANK);
            s = oc_csv_trim(s);
        } else {
            s = add_literal(&m, s);
        }
    }
    if (m.depth && !m.wrong)
        m.wrong = "[[ has no ]]";
    out->item = OC_COPY_ARRAY(a, item, out->n);
    return m.wrong;
}

/* ---- matching --------------------------------------------------------------------------------------- */

struct matching {
    const struct oc_template *t;
    struct oc_str s;
    struct oc_str *got;
    unsigned char *failed; /* bit of (item, position): no match from there */
};

static bool match_at(struct matching *m, unsigned pc, size_t at);

static size_t take_number(struct oc_str s)
{
    size_t i = s.n && (s.s[0] == '-' || s.s[0] == '+'), from = i;
    while (i < s.n && (oc_is_digit(s.s[i]) || s.s[i] == '.' || s.s[i] == ','))
        i++;
    if (i == from)
        return 0;
    size_t e = i + (i < s.n && (s.s[i] == 'e' || s.s[i] == 'E')), digits = e;
    if (e > i && e < s.n && (s.s[e] == '-' || s.s[e] == '+'))
        digits = ++e;
    while (e > i && e < s.n && oc_is_digit(s.s[e]))
        e++;
    return e > digits ? e : i;
}

static bool is_letter(unsigned char c)
{
    return oc_is_alpha(c) || c == '_';
}

/* The longest text of this kind; the shortest one in *least. */
static size_t take_kind(unsigned kind, struct oc_str s, struct oc_str barred, size_t *least)
{
    size_t i = 0;
    *least = 1;
    switch (kind) {
    case WITHOUT:
        *least = 0;
        while (i < s.n && !oc_str_chr(barred, s.s[i]))
            i++;
        return i;
    case WORD:
        while (i < s.n && !is_blank(s.s[i]))
            i++;
        return i;
    case WHOLE:
        while (i < s.n && (oc_is_digit(s.s[i]) || s.s[i] == ','))
            i++;
        return i;
    case LETTERS:
        while (i < s.n && is_letter((unsigned char)s.s[i]))
            i++;
        return i;
    default:
        return take_number(s);
    }
}

/* A number and its unit, perhaps after blanks. */
static size_t take_time(struct oc_str s)
{
    size_t i = take_number(s), from;
    while (i && i < s.n && is_blank(s.s[i]))
        i++;
    from = i;
    while (i && i < s.n && (is_letter((unsigned char)s.s[i]) || (unsigned char)s.s[i] >= 0x80))
        i++;
    return i > from ? i : 0;
}

static bool take_any(struct matching *m, unsigned pc, size_t at)
{
    const struct oc_template_item *i = &m->t->item[pc], *next = i + 1;
    bool literal = pc + 1 < m->t->n && next->kind == LITERAL;
    for (size_t end = at + (i->field >= 0); end <= m->s.n; end++) {
        if (pc + 1 == m->t->n)
            end = m->s.n;
        if (literal) {
            const char *found = oc_find(m->s.s + end, m->s.n - end, next->text.s, next->text.n);
            if (!found)
                return false;
            end = (size_t)(found - m->s.s);
        }
        if (match_at(m, pc + 1, end)) {
            m->got[pc] = oc_csv_trim(oc_str(m->s.s + at, end - at));
            return true;
        }
    }
    return false;
}

static bool take_field(struct matching *m, unsigned pc, size_t at)
{
    const struct oc_template_item *i = &m->t->item[pc];
    struct oc_str rest = oc_str_skip(m->s, at);
    size_t least = 0, n = i->kind == TIME ? take_time(rest) : take_kind(i->kind, rest, i->text, &least);
    if (i->kind == TIME || i->kind == NUMBER || i->kind == WHOLE) { /* a part of a number is another number */
        for (least = n ? n : 1; least > 1 && strchr(".,", rest.s[least - 1]);)
            least--;
    }
    for (; n + 1 > least; n--) {
        if (match_at(m, pc + 1, at + n)) {
            m->got[pc] = oc_csv_trim(oc_str(rest.s, n));
            return true;
        }
        if (!n)
            break;
    }
    return false;
}

static bool match_item(struct matching *m, unsigned pc, size_t at)
{
    const struct oc_template_item *i = &m->t->item[pc];
    switch (i->kind) {
    case LITERAL:
        return m->s.n - at >= i->text.n && memcmp(m->s.s + at, i->text.s, i->text.n) == 0 &&
               match_at(m, pc + 1, at + i->text.n);
    case BLANK: {
        size_t from = at;
        while (at < m->s.n && is_blank(m->s.s[at]))
            at++;
        return at > from && match_at(m, pc + 1, at);
    }
    case OPTION:
        return match_at(m, pc + 1, at) || match_at(m, i->next, at);
    case OPTION_END:
        return match_at(m, pc + 1, at);
    case ANY:
        return take_any(m, pc, at);
    default:
        return take_field(m, pc, at);
    }
}

static bool match_at(struct matching *m, unsigned pc, size_t at)
{
    if (pc == m->t->n)
        return at == m->s.n;
    size_t bit = (size_t)pc * (m->s.n + 1) + at;
    if (m->failed[bit / 8] >> (bit % 8) & 1)
        return false;
    if (match_item(m, pc, at))
        return true;
    m->failed[bit / 8] |= (unsigned char)(1u << (bit % 8));
    return false;
}

bool oc_template_match(const struct oc_template *t, struct oc_str text, struct oc_str got[OC_TEMPLATE_ITEMS])
{
    unsigned char few[STACK_BITS / 8];
    struct matching m = {.t = t, .s = oc_csv_trim(text), .got = got};
    if (!t->n || m.s.n > MAX_TEXT ||
        (t->literal.n && !(m.s.n && oc_find(m.s.s, m.s.n, t->literal.s, t->literal.n))))
        return false;
    size_t bytes = ((size_t)t->n * (m.s.n + 1) + 7) / 8;
    m.failed = bytes <= sizeof(few) ? memset(few, 0, bytes) : oc_xcalloc(bytes, 1);
    m.s.s = m.s.n ? m.s.s : "";
    for (unsigned i = 0; i < t->n; i++)
        got[i] = (struct oc_str){NULL, 0};
    bool fits = match_at(&m, 0, 0);
    if (m.failed != few)
        free(m.failed);
    return fits;
}
