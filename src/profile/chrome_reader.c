#include "profile/chrome_reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_escape.h"
#include "base/json_scan.h"
#include "base/units.h"

enum {
    MAX_LAYOUTS = 32,
    MAX_SLOTS = 48,
    MAX_LAYOUT_BYTES = 4096,
    MAX_KEPT = 512,
    MAX_NUMBER = 64,
    TRIAL = 4096,
    NO_FIELD = 255
};

#define MAX_NS ((int64_t)1 << 61)

/* How an event is written: the text before each value that differs between events, and after the last one.
 * "ph" and "cat" are part of the text: events of other kinds do not fit. */
struct slot {
    uint16_t at, n; /* literal before the value, in text */
    uint8_t field;  /* NO_FIELD: the value is only passed over */
    char kind;      /* '"' string, '[' container, '0' number or word */
    uint16_t kept;  /* bytes of the container that stood here last: they are in the layout's kept[] */
};
struct constant {
    uint16_t at, n;
    uint8_t field;
};
struct oc_chrome_layout {
    char text[MAX_LAYOUT_BYTES];
    struct slot slot[MAX_SLOTS];
    struct constant constant[4];
    unsigned n_slot, n_constant;
    uint16_t end_at, end_n; /* literal behind the last value */
    uint32_t next;          /* layout of the event that followed last time */
    bool whole;
    uint32_t note[OC_CH_NOTES];
    char kept[MAX_SLOTS][MAX_KEPT];
};

/* ---- one event, member by member ------------------------------------------------------------------------
 */

struct cursor {
    const char *p, *end;
};

static void blanks(struct cursor *c)
{
    while (c->p < c->end && (is((unsigned char)*c->p, BLANK) || *c->p == ','))
        c->p++;
}

/* A quote that closes its string, as oc_json_raw saw it. */
static bool closes_string(const char *quote, const char *end)
{
    const char *q = quote + 1;
    while (q < end && is((unsigned char)*q, BLANK))
        q++;
    return q >= end || is((unsigned char)*q, ENDS_STRING);
}

/* Behind the string that begins at p, NULL: it does not end. */
static const char *string_end(const char *p, const char *end)
{
    for (p++; p < end; p++) {
        p += find_quote(p, (size_t)(end - p));
        if (p >= end)
            break;
        if (*p == '\\')
            p++;
        else if (closes_string(p, end))
            return p + 1;
    }
    return NULL;
}

static const char *container_end(const char *p, const char *end)
{
    unsigned depth = 0;
    while (p < end) {
        if (*p == '"') {
            p = string_end(p, end);
            if (!p)
                return NULL;
            continue;
        }
        depth += *p == '[' || *p == '{';
        if ((*p == ']' || *p == '}') && --depth == 0)
            return p + 1;
        p++;
    }
    return NULL;
}

static const char *value_end(const char *p, const char *end)
{
    if (p >= end)
        return NULL;
    if (*p == '"')
        return string_end(p, end);
    if (*p == '[' || *p == '{')
        return container_end(p, end);
    const char *q = p;
    while (q < end && !is((unsigned char)*q, ENDS_SCALAR))
        q++;
    return q > p ? q : NULL;
}

static unsigned outer_field(struct oc_str key)
{
    static const char *const name[] = {
        [OC_CH_PH] = "ph",   [OC_CH_CAT] = "cat", [OC_CH_NAME] = "name", [OC_CH_PID] = "pid",
        [OC_CH_TID] = "tid", [OC_CH_TS] = "ts",   [OC_CH_DUR] = "dur",   [OC_CH_ID] = "id"};
    for (unsigned i = 0; i < OC_COUNT(name); i++)
        if (oc_str_eq(key, name[i]))
            return i;
    return NO_FIELD;
}

static unsigned arg_field(const struct oc_chrome *r, struct oc_str key)
{
    for (size_t i = 0; i < r->n_key; i++)
        if (oc_str_eq(key, r->key[i].key))
            return r->key[i].field;
    return NO_FIELD;
}

/* A layout while an event is taken apart; NULL out: it gets too large. */
struct drawing {
    struct oc_chrome_layout *out;
    const char *from; /* text not yet part of a literal */
    size_t n;
};

static void draw_literal(struct drawing *d, const char *to, uint16_t *at, uint16_t *n)
{
    size_t len = (size_t)(to - d->from);
    if (!d->out || d->n + len > MAX_LAYOUT_BYTES) {
        d->out = NULL;
        return;
    }
    memcpy(d->out->text + d->n, d->from, len);
    *at = (uint16_t)d->n;
    *n = (uint16_t)len;
    d->n += len;
}

static void draw_constant(struct drawing *d, unsigned field, const char *p, const char *end)
{
    if (!d->out || d->out->n_constant == OC_COUNT(d->out->constant))
        return;
    size_t at = d->n + (size_t)(p - d->from);
    if (at + (size_t)(end - p) <= MAX_LAYOUT_BYTES)
        d->out->constant[d->out->n_constant++] =
            (struct constant){(uint16_t)at, (uint16_t)(end - p), (uint8_t)field};
}

static void draw_value(struct drawing *d, unsigned field, const char *p, const char *end)
{
    if (field == OC_CH_PH || field == OC_CH_CAT) {
        draw_constant(d, field, p, end);
        return;
    }
    if (d->out && d->out->n_slot == MAX_SLOTS)
        d->out = NULL;
    struct slot s = {.field = (uint8_t)field, .kind = *p == '"' ? '"' : *p == '[' || *p == '{' ? '[' : '0'};
    draw_literal(d, s.kind == '"' ? p + 1 : p, &s.at,
                 &s.n); /* opening and closing quotes belong to literals */
    if (d->out)
        d->out->slot[d->out->n_slot++] = s;
    d->from = s.kind == '"' ? end - 1 : end;
}

static bool take_members(struct oc_chrome *r, struct cursor *c, struct drawing *d, bool args)
{
    c->p++; /* the brace */
    for (blanks(c); c->p < c->end && *c->p == '"'; blanks(c)) {
        const char *key_end = string_end(c->p, c->end);
        if (!key_end)
            return false;
        struct oc_str key = {c->p + 1, (size_t)(key_end - c->p) - 2};
        c->p = key_end;
        while (c->p < c->end && (is((unsigned char)*c->p, BLANK) || *c->p == ':'))
            c->p++;
        if (!args && c->p < c->end && *c->p == '{' && oc_str_eq(key, "args")) {
            if (!take_members(r, c, d, true))
                return false;
            continue;
        }
        const char *end = value_end(c->p, c->end);
        if (!end)
            return false;
        unsigned f = args ? arg_field(r, key) : outer_field(key);
        if (f != NO_FIELD)
            r->f[f] = (struct oc_str){c->p, (size_t)(end - c->p)};
        draw_value(d, f, c->p, end);
        c->p = end;
    }
    if (c->p >= c->end || *c->p != '}')
        return false;
    c->p++;
    return true;
}

static bool pays(const struct oc_chrome *r)
{
    return r->tries < TRIAL || r->hits * 2 > r->tries;
}

static bool take_apart(struct oc_chrome *r, struct oc_str event)
{
    struct cursor c = {event.s, event.s + event.n};
    struct drawing d = {.from = event.s};
    struct oc_chrome_layout *l = &r->layout[r->next_layout];
    l->n_slot = l->n_constant = l->next = 0;
    l->whole = false;
    r->note = NULL;
    memset(l->note, 0xff, sizeof(l->note));
    d.out = pays(r) ? l : NULL;
    if (!take_members(r, &c, &d, false))
        return false;
    draw_literal(&d, c.p, &l->end_at, &l->end_n);
    if (d.out) {
        l->whole = true;
        r->next_layout = (r->next_layout + 1) % MAX_LAYOUTS;
        r->n_layout = r->n_layout < MAX_LAYOUTS ? r->n_layout + 1 : MAX_LAYOUTS;
    }
    return true;
}

/* ---- one event that is written as one before --------------------------------------------------------------
 */

static inline uint64_t load8(const char *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof(v));
    return v;
}

/* Most literals are a key with its punctuation: two words that overlap. */
static inline bool same(const char *p, const char *end, const char *text, size_t n)
{
    if ((size_t)(end - p) < n)
        return false;
    if (n >= 8 && n <= 16)
        return load8(p) == load8(text) && load8(p + n - 8) == load8(text + n - 8);
    return memcmp(p, text, n) == 0;
}

/* Behind the string or number at p. The quote that ends a string is checked with the literal that follows. */
static inline const char *pass_value(const char *p, const char *end, char kind)
{
    if (kind == '0') {
        while (p < end && !is((unsigned char)*p, ENDS_SCALAR))
            p++;
        return p;
    }
    while (p < end) {
        p += find_quote(p, (size_t)(end - p));
        if (p < end && *p == '"')
            return p;
        p += 2;
    }
    return NULL;
}

/* Behind the container at p. Events of one layout often repeat one: then there is nothing to look through. */
static const char *pass_container(struct oc_chrome_layout *l, struct slot *s, const char *p, const char *end)
{
    char *kept = l->kept[s - l->slot];
    if (s->kept && same(p, end, kept, s->kept))
        return p + s->kept;
    const char *behind = p < end && (*p == '[' || *p == '{') ? container_end(p, end) : NULL;
    size_t n = behind ? (size_t)(behind - p) : 0;
    l->note[OC_CH_NOTE_ARRAYS] = OC_NONE;
    s->kept = n <= MAX_KEPT ? (uint16_t)n : 0;
    if (n && s->kept)
        memcpy(kept, p, n);
    return behind;
}

static bool fits(struct oc_chrome *r, struct oc_chrome_layout *l, struct oc_str ahead)
{
    const char *p = ahead.s, *end = ahead.s + ahead.n;
    for (unsigned i = 0; i < l->n_slot; i++) {
        struct slot *s = &l->slot[i];
        if (!same(p, end, l->text + s->at, s->n))
            return false;
        p += s->n;
        const char *value = p;
        p = s->kind == '[' ? pass_container(l, s, p, end) : pass_value(p, end, s->kind);
        if (!p || p >= end)
            return false;
        if (s->field != NO_FIELD) {
            bool quoted = s->kind == '"';
            r->f[s->field] = (struct oc_str){value - quoted, (size_t)(p - value) + 2 * (size_t)quoted};
        }
    }
    if (!same(p, end, l->text + l->end_at, l->end_n))
        return false;
    for (unsigned i = 0; i < l->n_constant; i++)
        r->f[l->constant[i].field] = (struct oc_str){l->text + l->constant[i].at, l->constant[i].n};
    oc_json_step(r->j, (size_t)(p - ahead.s) + l->end_n);
    r->note = l->note;
    return true;
}

static void clear(struct oc_chrome *r)
{
    memset(r->f, 0, sizeof(r->f));
}

/* The layouts, the likely one first. */
static bool take_alike(struct oc_chrome *r)
{
    struct oc_str ahead = oc_json_ahead(r->j);
    uint32_t likely = r->layout[r->last].next;
    r->tries++;
    for (uint32_t i = 0; i <= r->n_layout; i++) {
        uint32_t at = i == 0 ? likely : i - 1;
        if (at >= r->n_layout || !r->layout[at].whole || (i && at == likely))
            continue;
        clear(r);
        if (fits(r, &r->layout[at], ahead)) {
            r->hits++;
            r->layout[r->last].next = at;
            r->last = at;
            return true;
        }
    }
    return false;
}

/* ---- the file -------------------------------------------------------------------------------------------
 */

int oc_chrome_open(struct oc_chrome *r, struct oc_stream *s, const struct oc_chrome_key *key, size_t n_key,
                   struct oc_err *err)
{
    *r = (struct oc_chrome){.j = oc_json_open(s), .key = key, .n_key = n_key};
    r->layout = oc_xmalloc(MAX_LAYOUTS * sizeof(*r->layout));
    enum oc_json_type type = oc_json_peek(r->j);
    if (type != OC_JSON_ARRAY && type != OC_JSON_OBJECT)
        return oc_fail(err, OC_EFORMAT,
                       "expected an array of events, or an object with \"traceEvents\" (offset 0)");
    r->object = type == OC_JSON_OBJECT;
    r->in_array = r->saw_events = !r->object;
    oc_json_enter(r->j);
    return 0;
}

void oc_chrome_close(struct oc_chrome *r)
{
    oc_json_close(r->j);
    oc_buf_free(&r->text);
    free(r->layout);
}

/* Over the outer object's members to its events. False: they are over. */
static bool to_events(struct oc_chrome *r)
{
    struct oc_str key;
    while (!r->in_array && r->object && oc_json_member(r->j, &key)) {
        if (oc_str_eq(key, "traceEvents") && oc_json_peek(r->j) == OC_JSON_ARRAY) {
            oc_json_enter(r->j);
            r->in_array = r->saw_events = true;
        } else if (!r->other || !r->other(r->ctx, key, r->j)) {
            oc_json_skip(r->j);
        }
    }
    return r->in_array;
}

/* After an error in an event: to the next one. Outside the events: the end. */
static bool recover(struct oc_chrome *r)
{
    const char *why = oc_json_error(r->j, NULL);
    if (!why)
        return false;
    if (!r->broken++) {
        oc_json_error(r->j, &r->first_broken);
        snprintf(r->broken_why, sizeof(r->broken_why), "%s", why);
    }
    return r->in_array && oc_json_resync(r->j, r->object ? 2 : 1);
}

static bool read_event(struct oc_chrome *r)
{
    struct oc_str event;
    enum oc_json_type type = oc_json_peek(r->j); /* to the brace */
    r->where = oc_json_offset(r->j);
    if (type == OC_JSON_OBJECT && r->n_layout && pays(r) && take_alike(r))
        return true;
    clear(r);
    if (!oc_json_raw(r->j, &event))
        return false;
    if (type == OC_JSON_OBJECT && !take_apart(r, event)) {
        clear(r);
        oc_chrome_bad(r, "members cannot be told apart");
    }
    return true;
}

bool oc_chrome_next(struct oc_chrome *r)
{
    do {
        while (to_events(r)) {
            if (oc_json_item(r->j)) {
                if (!read_event(r))
                    break;
                r->number++;
                r->last_offset = oc_json_offset(r->j);
                return true;
            }
            if (oc_json_error(r->j, NULL) || oc_json_truncated(r->j))
                break;
            r->in_array = false; /* the array ended */
            if (!r->object)
                break;
        }
    } while (!oc_json_truncated(r->j) && recover(r));
    return false;
}

void oc_chrome_bad(struct oc_chrome *r, const char *why)
{
    if (r->bad++)
        return;
    r->first_bad = r->where;
    r->first_bad_number = r->number;
    snprintf(r->bad_why, sizeof(r->bad_why), "%s", why);
}

void oc_chrome_findings(struct oc_chrome *r, const struct oc_stream *s, struct oc_profile *p)
{
    struct oc_diags *d = &p->diags;
    const char *damaged = oc_stream_error(s);
    if (r->broken)
        oc_diag_add(d, OC_WARNING, "W-broken-event", "",
                    "%zu broken events left out, the first: %s (offset %llu)", r->broken, r->broken_why,
                    (unsigned long long)r->first_broken);
    if (r->bad)
        oc_diag_add(d, OC_WARNING, "W-bad-event", "",
                    "%zu events left out, the first: event %zu: %s (offset %llu)", r->bad,
                    r->first_bad_number, r->bad_why, (unsigned long long)r->first_bad);
    if (damaged)
        oc_diag_add(d, OC_WARNING, "W-damaged", "", "%s", damaged);
    if (oc_json_truncated(r->j)) {
        p->truncated = true;
        oc_diag_add(
            d, OC_WARNING, "W-truncated", "",
            "file ends in the middle: %zu complete events are used, the rest is missing (offset %llu)",
            r->number, (unsigned long long)r->last_offset);
    }
}

/* ---- values ---------------------------------------------------------------------------------------------
 */

static struct oc_str unquoted(struct oc_str v)
{
    if (v.n >= 2 && v.s[0] == '"')
        return (struct oc_str){v.s + 1, v.n - 2};
    return v;
}

struct oc_str oc_chrome_text(struct oc_chrome *r, unsigned f)
{
    struct oc_str v = unquoted(r->f[f]);
    if (!v.n || !memchr(v.s, '\\', v.n))
        return v;
    oc_buf_clear(&r->text);
    oc_buf_pad(&r->text, ' ', v.n + 8);
    return (struct oc_str){r->text.data, oc_json_unescape(v.s, v.n, r->text.data)};
}

bool oc_chrome_is(const struct oc_chrome *r, unsigned f, const char *text)
{
    return oc_str_eq(unquoted(r->f[f]), text);
}

/* Digits, perhaps with a sign and a fraction, that fit 18 places: the value times 1000 and what is left of
 * it.
 */
static bool plain_number(struct oc_str v, int64_t *thousandth, double *rest)
{
    if (!v.n)
        return false;
    const char *p = v.s, *end = v.s + v.n;
    bool minus = *p == '-';
    int64_t whole = 0, part = 0, scale = 1;
    p += minus;
    const char *from = p;
    for (; p < end && (unsigned)(*p - '0') <= 9; p++) {
        whole = whole * 10 + (*p - '0');
        if (whole > MAX_NS / 1000)
            return false;
    }
    if (p == from)
        return false;
    if (p < end && *p == '.') {
        const char *dot = p++;
        for (; p < end && (unsigned)(*p - '0') <= 9 && p - dot <= 9; p++) {
            part = part * 10 + (*p - '0');
            scale *= 10;
        }
        while (p < end && (unsigned)(*p - '0') <= 9)
            p++;
    }
    if (p != end)
        return false;
    *thousandth = whole * 1000 + (scale == 1000 ? part : part * 1000 / scale);
    *rest = scale == 1000 ? 0 : (double)(part * 1000 % scale) / (double)scale;
    if (minus) {
        *thousandth = -*thousandth;
        *rest = -*rest;
    }
    return true;
}

bool oc_chrome_ts_ns(const struct oc_chrome *r, unsigned f, int64_t *out)
{
    struct oc_str v = unquoted(r->f[f]);
    if (v.n > 3 && memcmp(v.s + v.n - 3, " us", 3) == 0)
        v.n -= 3;
    double rest, d;
    if (plain_number(v, out, &rest)) {
        *out += rest >= 0.5 ? 1 : rest <= -0.5 ? -1 : 0;
        return true;
    }
    if (!v.n || v.n > MAX_NUMBER || !oc_parse_double(v.s, v.n, &d) || !(fabs(d) < (double)MAX_NS / 1000))
        return false;
    *out = (int64_t)llround(d * 1000);
    return true;
}

bool oc_chrome_dur_ns(const struct oc_chrome *r, unsigned f, double *out)
{
    struct oc_str v = unquoted(r->f[f]);
    int64_t ns;
    double rest;
    if (plain_number(v, &ns, &rest)) {
        *out = (double)ns + rest;
        return true;
    }
    if (!v.n || v.n > MAX_NUMBER || !oc_parse_double(v.s, v.n, out) || !(fabs(*out) < (double)MAX_NS / 1000))
        return false;
    *out *= 1000;
    return true;
}

bool oc_chrome_i64(const struct oc_chrome *r, unsigned f, int64_t *out)
{
    struct oc_str v = unquoted(r->f[f]);
    double d;
    if (v.n && oc_parse_i64(v.s, v.n, out))
        return true;
    if (!v.n || v.n > MAX_NUMBER || !oc_parse_double(v.s, v.n, &d) || d != floor(d) || !(fabs(d) < 0x1p63))
        return false;
    *out = (int64_t)d;
    return true;
}

static bool hex_number(struct oc_str v, uint64_t *out)
{
    uint64_t n = 0;
    if (v.n < 3 || v.n > 18 || v.s[0] != '0' || (v.s[1] | 32) != 'x')
        return false;
    for (size_t i = 2; i < v.n; i++) {
        int c = v.s[i] | 32;
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
            return false;
        n = n << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    *out = n;
    return true;
}

bool oc_chrome_u64(const struct oc_chrome *r, unsigned f, uint64_t *out)
{
    struct oc_str v = unquoted(r->f[f]);
    return v.n && (oc_parse_u64(v.s, v.n, out) || hex_number(v, out));
}
