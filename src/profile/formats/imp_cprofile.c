/* Python's cProfile, the file of dump_stats: a marshalled dict of (file, line, function) to (primitive calls, calls,
 * own seconds, seconds with callees, callers), where callers is a dict of the same keys. Objects with a flag are
 * numbered, and references repeat them (marshal 3 and 4). The rows become the text of pstats, which
 * imp_generic_csv.c reads. */
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "profile/profile.h"

extern const struct oc_importer oc_importer_generic_csv;

enum { FLAG_REF = 0x80, MAX_DEPTH = 8, MAX_ITEMS = 8, HEADER_BYTES = 16 };

/* ---- marshal ---------------------------------------------------------------------------------------- */

enum value_kind { V_NONE, V_TEXT, V_INT, V_FLOAT, V_TUPLE, V_DICT };

struct value {
    enum value_kind kind;
    struct oc_str text;
    double number;
    struct value *item; /* of a tuple: n of them; those after MAX_ITEMS are dropped */
    uint32_t n;
};

struct marshal {
    const unsigned char *p, *end;
    struct oc_arena arena;
    struct value **ref, **text; /* heap; text: those that Python 2 repeats by number */
    size_t n_ref, cap_ref, n_text, cap_text;
    size_t budget; /* values that may still be read */
    bool bad;
    void (*pair)(void *ctx, const struct value *key, const struct value *value);
    void *ctx;
};

static struct value *marshal_fail(struct marshal *m)
{
    m->bad = true;
    return NULL;
}

static uint64_t little(struct marshal *m, size_t n)
{
    uint64_t v = 0;
    if ((size_t)(m->end - m->p) < n) {
        m->bad = true;
        return 0;
    }
    for (size_t i = 0; i < n; i++)
        v |= (uint64_t)*m->p++ << 8 * i;
    return v;
}

static void read_text(struct marshal *m, struct value *v, size_t n)
{
    if (m->bad || (size_t)(m->end - m->p) < n) {
        m->bad = true;
        return;
    }
    v->kind = V_TEXT;
    v->text = oc_str((const char *)m->p, n);
    m->p += n;
}

/* Digits of 15 bits; larger numbers than a double resolves do not occur. */
static void read_long(struct marshal *m, struct value *v)
{
    int32_t n = (int32_t)(uint32_t)little(m, 4);
    uint32_t digits = n < 0 ? 0u - (uint32_t)n : (uint32_t)n;
    double scale = 1;
    v->kind = V_INT;
    for (uint32_t i = 0; i < digits && !m->bad; i++) {
        v->number += scale * (double)little(m, 2);
        scale *= 32768;
    }
    v->number = n < 0 ? -v->number : v->number;
}

static void read_float(struct marshal *m, struct value *v)
{
    uint64_t bits = little(m, 8);
    v->kind = V_FLOAT;
    memcpy(&v->number, &bits, sizeof(bits));
}

/* Of marshal 0 and 1: as text. */
static void read_float_text(struct marshal *m, struct value *v)
{
    struct value text = {.n = 0};
    read_text(m, &text, (size_t)little(m, 1));
    v->kind = V_FLOAT;
    if (!m->bad && !oc_parse_double(text.text.s, text.text.n, &v->number))
        m->bad = true;
}

static struct value *read_object(struct marshal *m, unsigned depth);

static void read_tuple(struct marshal *m, struct value *v, size_t n, unsigned depth)
{
    v->kind = V_TUPLE;
    v->item = OC_NEW_ARRAY(&m->arena, MAX_ITEMS, struct value);
    for (size_t i = 0; i < n && !m->bad; i++) {
        const struct value *item = read_object(m, depth + 1);
        if (item && v->n < MAX_ITEMS)
            v->item[v->n++] = *item;
    }
}

/* Pairs of the outermost one are passed on; others (the callers) are dropped. */
static void read_dict(struct marshal *m, struct value *v, unsigned depth)
{
    v->kind = V_DICT;
    while (!m->bad && m->p < m->end && *m->p != '0') {
        const struct value *key = read_object(m, depth + 1), *value = key ? read_object(m, depth + 1) : NULL;
        if (value && !depth)
            m->pair(m->ctx, key, value);
    }
    if (m->p == m->end)
        m->bad = true;
    else
        m->p++;
}

static void read_content(struct marshal *m, struct value *v, int type, unsigned depth)
{
    switch (type) {
    case 'z':
    case 'Z':
        read_text(m, v, (size_t)little(m, 1));
        break;
    case 'a':
    case 'A':
    case 'u':
    case 't':
    case 's':
        read_text(m, v, (size_t)little(m, 4));
        break;
    case 'i':
        v->kind = V_INT;
        v->number = (double)(int32_t)(uint32_t)little(m, 4);
        break;
    case 'l':
        read_long(m, v);
        break;
    case 'g':
        read_float(m, v);
        break;
    case 'f':
        read_float_text(m, v);
        break;
    case ')':
        read_tuple(m, v, (size_t)little(m, 1), depth);
        break;
    case '(':
        read_tuple(m, v, (size_t)little(m, 4), depth);
        break;
    case '{':
        read_dict(m, v, depth);
        break;
    case 'N':
    case 'T':
    case 'F':
        break;
    default:
        m->bad = true;
    }
}

/* NULL: damaged, or deeper or larger than such a file is. */
static struct value *read_object(struct marshal *m, unsigned depth)
{
    if (m->bad || m->p == m->end || depth > MAX_DEPTH || !m->budget--)
        return marshal_fail(m);
    int type = *m->p++;
    if ((type & ~FLAG_REF) == 'r' || type == 'R') {
        uint64_t at = little(m, 4);
        bool known = !m->bad && at < (type == 'R' ? m->n_text : m->n_ref);
        return !known ? marshal_fail(m) : type == 'R' ? m->text[at] : m->ref[at];
    }
    struct value *v = OC_NEW(&m->arena, struct value);
    if (type & FLAG_REF)
        OC_PUSH(m->ref, m->n_ref, m->cap_ref) = v;
    else if (type == 't')
        OC_PUSH(m->text, m->n_text, m->cap_text) = v;
    read_content(m, v, type & ~FLAG_REF, depth);
    return m->bad ? NULL : v;
}

/* ---- rows ------------------------------------------------------------------------------------------- */

struct rows {
    struct oc_buf text;
    double calls, primitive, seconds;
    size_t n;
};

static bool is_number(const struct value *v)
{
    return (v->kind == V_INT || v->kind == V_FLOAT) && v->number >= 0 && v->number < 1e15;
}

static bool is_row(const struct value *key, const struct value *value)
{
    bool row = key->kind == V_TUPLE && key->n == 3 && key->item[0].kind == V_TEXT &&
               key->item[2].kind == V_TEXT && key->item[1].kind == V_INT && value->kind == V_TUPLE &&
               value->n >= 4;
    for (uint32_t i = 0; i < 4 && row; i++)
        row = is_number(&value->item[i]);
    return row;
}

static void add_text(struct oc_buf *b, struct oc_str s)
{
    for (size_t i = 0; i < s.n; i++)
        oc_buf_char(b, (char)(s.s[i] == '\n' || s.s[i] == '\r' ? ' ' : s.s[i]));
}

/* As pstats prints them: "{built-in method torch.conv2d}", "app/model.py:12(forward)". */
static void take_pair(void *ctx, const struct value *key, const struct value *value)
{
    struct rows *r = ctx;
    const struct value *v = value->item;
    if (!is_row(key, value))
        return;
    struct oc_str file = key->item[0].text, name = key->item[2].text;
    oc_buf_printf(&r->text, "%.0f/%.0f %.9f 0 %.9f 0 ", v[1].number, v[0].number, v[2].number, v[3].number);
    if (oc_str_eq(file, "~") && name.n > 2 && name.s[0] == '<' && name.s[name.n - 1] == '>') {
        oc_buf_char(&r->text, '{');
        add_text(&r->text, oc_str(name.s + 1, name.n - 2));
        oc_buf_str(&r->text, "}\n");
    } else {
        add_text(&r->text, file);
        oc_buf_printf(&r->text, ":%.0f(", key->item[1].number);
        add_text(&r->text, name);
        oc_buf_str(&r->text, ")\n");
    }
    r->primitive += v[0].number;
    r->calls += v[1].number;
    r->seconds += v[2].number;
    r->n++;
}

/* ---- importer --------------------------------------------------------------------------------------- */

/* A dict whose first key is a tuple of three that begins with a text. */
static void cprofile_probe(const struct oc_peek *p, struct oc_bid *bid)
{
    static const char text[] = "zZaAuts";
    const unsigned char *b = (const unsigned char *)p->raw;
    if (p->n_raw <= HEADER_BYTES || (b[0] & ~FLAG_REF) != '{')
        return;
    bool small = (b[1] & ~FLAG_REF) == ')' && b[2] == 3,
         large = (b[1] & ~FLAG_REF) == '(' && memcmp(b + 2, "\3\0\0", 4) == 0;
    const char *of = memchr(text, b[small ? 3 : 6] & ~FLAG_REF, sizeof(text) - 1);
    if ((small || large) && of)
        *bid = (struct oc_bid){.score = 90, .reason = "marshalled dict of (file, line, function)"};
}

/* All bytes of the stream. */
static struct oc_str whole_of(struct oc_stream *s)
{
    const char *data = "";
    size_t n = 0;
    uint64_t offset;
    while (oc_stream_fill(s, 0, &data, &n, &offset))
        continue;
    return oc_str(data, n);
}

static int cprofile_read(const struct oc_source *src, const struct oc_profile_opts *opts,
                         struct oc_profile *out, struct oc_err *err)
{
    struct rows rows = {.n = 0};
    struct oc_str all = whole_of(src->file[0].s);
    struct marshal m = {.p = (const unsigned char *)all.s,
                        .end = (const unsigned char *)all.s + all.n,
                        .budget = (size_t)oc_input_limit(&out->limits, OC_LIMIT_EVENTS),
                        .pair = take_pair,
                        .ctx = &rows};
    read_object(&m, 0);
    uint64_t where = (uint64_t)((const char *)m.p - all.s);
    struct oc_buf text = {0};
    oc_buf_printf(&text, "%.0f function calls (%.0f primitive calls) in %.9f seconds\n\n", rows.calls,
                  rows.primitive, rows.seconds);
    oc_buf_str(&text, "ncalls tottime percall cumtime percall filename:lineno(function)\n");
    oc_buf_add(&text, rows.text.data ? rows.text.data : "", rows.text.n);
    int rc = rows.n ? 0
                    : oc_fail(err, OC_EFORMAT, "has no functions of Python's profiler (offset %llu)",
                              (unsigned long long)where);
    struct oc_stream *s = oc_stream_mem(text.data, text.n);
    const struct oc_source_file file = {.path = src->file[0].path, .s = s};
    if (rc == 0)
        rc = oc_importer_generic_csv.read(&(struct oc_source){.file = &file, .n = 1}, opts, out, err);
    if (rc == 0 && m.bad) {
        out->truncated = true;
        oc_diag_add(&out->diags, OC_WARNING, "W-truncated", "",
                    "the file is truncated or damaged: %zu functions are used (offset %llu)", rows.n,
                    (unsigned long long)where);
    }
    oc_stream_close(s);
    oc_buf_free(&text);
    oc_buf_free(&rows.text);
    oc_arena_free(&m.arena);
    free(m.ref);
    free(m.text);
    return rc;
}

const struct oc_importer oc_importer_cprofile = {
    .name = "cprofile",
    .title = "Python cProfile, pstats: dump_stats (binary)",
    .seen = "Python 3.11, every version of marshal",
    .lost = "callers; time with callees",
    .probe = cprofile_probe,
    .read = cprofile_read,
};
