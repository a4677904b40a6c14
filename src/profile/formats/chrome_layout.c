/* profile/formats/: One reader per format (imp_NAME.c: probe and read), with helpers for formats of one
 * tool. A reader may be changed without touching another one; it keeps the limits of base/diag.h, fails
 * if it finds no time, and has a fuzz target.
 * Private to the folder: chrome_reader.h function_tables.h nsight_tables.h ort_trace.h trt_reading.h. */

#include "profile/formats/chrome_reader.h"

#include <stdlib.h>
#include <string.h>

#include "base/text_scan.h"

enum {
    MAX_LAYOUTS = 32,
    MAX_SLOTS = 48,
    MAX_SPANS = 4,
    WAYS = 64,
    MAX_LAYOUT_BYTES = 4096,
    MAX_KEPT = 768,
    TRIAL = 4096,
    LOOSE_AFTER = 16, /* number of changes */
    NO_FIELD = 255
};

/* A value that varies between events, and the constant text after it. */
struct slot {
    uint16_t at, n;   /* position in `text` of the constant text after the value */
    uint8_t field;    /* NO_FIELD: the value is skipped */
    char kind;        /* '"' string, '[' container, '0' number or literal */
    bool loose;       /* changes often */
    uint16_t changes; /* number of changes between events while the slot is in a span */
};

/* Consecutive slots that rarely change between events of one name: their text is cached, and an event with
 * the same text needs no parsing. */
struct span {
    uint8_t slot, n;          /* first slot and number of slots */
    uint8_t wanted, n_wanted; /* range in layout.wanted: the slots of the span that have a field */
};

/* Cached text of the last event with this name (or another name with the same hash). */
struct way {
    uint32_t spans;  /* generation of the spans it was cached for */
    uint32_t arrays; /* OC_CH_NOTE_ARRAYS */
    struct {
        uint16_t n; /* bytes from the first value to the end of the text after the last one, 0: none */
        char text[MAX_KEPT];
    } span[MAX_SPANS];
    struct {
        uint16_t from, n;
    } value[MAX_SLOTS]; /* position in the text of its span */
};

struct constant {
    uint16_t at, n;
    uint8_t field;
};

/* The layout of an event: the text before the first value, the values, and the text after each. "ph" and
 * "cat" are part of the text, so events of other kinds do not match. */
struct layout {
    char text[MAX_LAYOUT_BYTES];
    struct slot slot[MAX_SLOTS];
    struct span span[MAX_SPANS];
    struct constant constant[4];
    uint8_t wanted[MAX_SLOTS];
    unsigned n_slot, n_span, n_constant;
    uint16_t start_n; /* length of the text before the first value */
    bool whole;
    bool loose_arrays; /* array and object fields change often */
    size_t tries;
    uint32_t fields;   /* bit 1 << field: fields of the layout */
    uint32_t spans;    /* generation counter: incremented when the spans are recomputed */
    uint32_t category; /* OC_CH_NOTE_CATEGORY */
    struct way way[WAYS];
};

struct oc_chrome_layouts {
    size_t tries, hits;
    unsigned n, next;                        /* next: the one to replace */
    unsigned last, before;                   /* layouts of the last two events */
    uint32_t filled;                         /* bit 1 << field: fields that may be set */
    uint8_t after[MAX_LAYOUTS][MAX_LAYOUTS]; /* layout that followed [before][last] last time (prediction) */
    struct layout *layout[MAX_LAYOUTS];
};

struct oc_chrome_layouts *oc_chrome_layouts_new(void)
{
    return oc_xcalloc(1, sizeof(struct oc_chrome_layouts));
}

void oc_chrome_layouts_free(struct oc_chrome_layouts *all)
{
    for (unsigned i = 0; all && i < MAX_LAYOUTS; i++)
        free(all->layout[i]);
    free(all);
}

bool oc_chrome_layouts_pay(const struct oc_chrome_layouts *all)
{
    return all->tries < TRIAL || all->hits * 2 > all->tries;
}

/* ---- ends of values --------------------------------------------------------------------------------- */

/* A quote that closes its string, by the rule of oc_json_raw. */
static inline bool chrome_layout_closes_string(const char *quote, const char *end)
{
    const char *q = quote + 1;
    while (q < end && oc_byte_is((unsigned char)*q, BLANK))
        q++;
    return q >= end || oc_byte_is((unsigned char)*q, ENDS_STRING);
}

/* The position after the string that begins at p. NULL: it is not closed. */
static const char *string_end(const char *p, const char *end)
{
    for (p++; p < end; p++) {
        p += oc_find_quote(p, (size_t)(end - p));
        if (p >= end)
            break;
        if (*p == '\\')
            p++;
        else if (chrome_layout_closes_string(p, end))
            return p + 1;
    }
    return NULL;
}

/* Scans the 64 bytes at p, at nesting `depth`. Returns the position to continue at; *done: the container
 * is closed there. NULL: it is not closed. */
static inline const char *container_block(const char *p, const char *end, unsigned *depth, bool *done)
{
    struct oc_scan_block b = oc_scan_64(p);
    uint64_t bits = b.quote | b.structure;
    while (bits) {
        unsigned k = (unsigned)__builtin_ctzll(bits);
        if (b.quote >> k & 1) {
            const char *behind = string_end(p + k, end);
            if (!behind || behind - p >= 64)
                return behind;
            bits &= ~(uint64_t)0 << (behind - p);
            continue;
        }
        bits &= bits - 1;
        if ((p[k] | 0x20) == '{') {
            ++*depth;
        } else if (--*depth == 0) {
            *done = true;
            return p + k + 1;
        }
    }
    return p + 64;
}

static const char *container_end(const char *p, const char *end)
{
    unsigned depth = 0;
    bool done = false;
    while (p && end - p >= 64) {
        p = container_block(p, end, &depth, &done);
        if (done)
            return p;
    }
    while (p && p < end) {
        if (*p == '"') {
            p = string_end(p, end);
            continue;
        }
        depth += (*p | 0x20) == '{';
        if ((*p | 0x20) == '}' && --depth == 0)
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
    const char *q = oc_scalar_end(p, end);
    return q > p ? q : NULL;
}

/* ---- parsing an event member by member -------------------------------------------------------------- */

struct cursor {
    const char *p, *end;
};

static void chrome_layout_blanks(struct cursor *c)
{
    while (c->p < c->end && (oc_byte_is((unsigned char)*c->p, BLANK) || *c->p == ','))
        c->p++;
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

static unsigned chrome_layout_arg_field(const struct oc_chrome *r, struct oc_str key)
{
    for (size_t i = 0; i < r->n_key; i++)
        if (oc_str_eq(key, r->key[i].key))
            return r->key[i].field;
    return NO_FIELD;
}

/* A layout under construction while an event is parsed; NULL out: it is too large. */
struct drawing {
    struct layout *out;
    const char *from; /* text not yet added to the layout */
    size_t n;
};

/* Appends the text up to `to`, after the last value or at the start. */
static void draw_text(struct drawing *d, const char *to)
{
    size_t len = (size_t)(to - d->from);
    if (!d->out || d->n + len > MAX_LAYOUT_BYTES) {
        d->out = NULL;
        return;
    }
    struct layout *l = d->out;
    memcpy(l->text + d->n, d->from, len);
    if (l->n_slot) {
        l->slot[l->n_slot - 1].at = (uint16_t)d->n;
        l->slot[l->n_slot - 1].n = (uint16_t)len;
    } else {
        l->start_n = (uint16_t)len;
    }
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
    char kind = '0';
    if (*p == '"')
        kind = '"';
    else if (*p == '[' || *p == '{')
        kind = '[';
    draw_text(d, kind == '"' ? p + 1 : p); /* opening and closing quotes are part of the constant text */
    if (d->out && d->out->n_slot == MAX_SLOTS)
        d->out = NULL;
    if (d->out)
        d->out->slot[d->out->n_slot++] = (struct slot){.field = (uint8_t)field, .kind = kind};
    d->from = kind == '"' ? end - 1 : end;
}

static bool take_members(struct oc_chrome *r, struct cursor *c, struct drawing *d, bool args)
{
    c->p++; /* the opening brace */
    for (chrome_layout_blanks(c); c->p < c->end && *c->p == '"'; chrome_layout_blanks(c)) {
        const char *key_end = string_end(c->p, c->end);
        if (!key_end)
            return false;
        struct oc_str key = {c->p + 1, (size_t)(key_end - c->p) - 2};
        c->p = key_end;
        while (c->p < c->end && (oc_byte_is((unsigned char)*c->p, BLANK) || *c->p == ':'))
            c->p++;
        if (!args && c->p < c->end && *c->p == '{' && oc_str_eq(key, "args")) {
            if (!take_members(r, c, d, true))
                return false;
            continue;
        }
        const char *end = value_end(c->p, c->end);
        if (!end)
            return false;
        unsigned f = args ? chrome_layout_arg_field(r, key) : outer_field(key);
        if (f != NO_FIELD) {
            r->f[f] = (struct oc_str){c->p, (size_t)(end - c->p)};
            r->layouts->layout[r->layouts->next]->fields |= (uint32_t)1 << f;
        }
        draw_value(d, f, c->p, end);
        c->p = end;
    }
    if (c->p >= c->end || *c->p != '}')
        return false;
    c->p++;
    return true;
}

static bool may_be_kept(const struct slot *s)
{
    return !s->loose && s->field != OC_CH_NAME && s->field != OC_CH_TS && s->field != OC_CH_DUR;
}

static void find_wanted(struct layout *l)
{
    unsigned at = 0;
    for (unsigned k = 0; k < l->n_span; k++) {
        struct span *span = &l->span[k];
        span->wanted = (uint8_t)at;
        for (unsigned i = span->slot; i < span->slot + (unsigned)span->n; i++)
            if (l->slot[i].field != NO_FIELD)
                l->wanted[at++] = (uint8_t)i;
        span->n_wanted = (uint8_t)(at - span->wanted);
    }
}

static void find_spans(struct layout *l)
{
    l->spans++;
    l->n_span = 0;
    l->loose_arrays = false;
    for (unsigned i = 0; i < l->n_slot; i++) {
        const struct slot *s = &l->slot[i];
        struct span *last = l->n_span ? &l->span[l->n_span - 1] : NULL;
        if (may_be_kept(s) && last && last->slot + last->n == (int)i)
            last->n++;
        else if (may_be_kept(s) && l->n_span < MAX_SPANS)
            l->span[l->n_span++] = (struct span){.slot = (uint8_t)i, .n = 1};
        else
            l->loose_arrays |= s->kind == '[' && s->field != NO_FIELD;
    }
    find_wanted(l);
}

bool oc_chrome_take_apart(struct oc_chrome *r, struct oc_str event)
{
    struct oc_chrome_layouts *all = r->layouts;
    struct cursor c = {event.s, event.s + event.n};
    struct drawing d = {.from = event.s};
    if (!all->layout[all->next])
        all->layout[all->next] = oc_xcalloc(1, sizeof(struct layout));
    struct layout *l = all->layout[all->next];
    l->n_slot = l->n_constant = 0;
    l->tries = 0;
    l->fields = 0;
    l->whole = false;
    memset(r->note, 0, sizeof(r->note));
    memset(r->f, 0, sizeof(r->f));
    all->filled = UINT32_MAX;
    l->category = OC_NONE;
    d.out = oc_chrome_layouts_pay(all) ? l : NULL;
    if (!take_members(r, &c, &d, false))
        return false;
    draw_text(&d, c.p);
    if (d.out) {
        find_spans(l);
        l->whole = true;
        all->next = (all->next + 1) % MAX_LAYOUTS;
        all->n = all->n < MAX_LAYOUTS ? all->n + 1 : MAX_LAYOUTS;
    }
    return true;
}

/* ---- parsing an event with a memoised layout -------------------------------------------------------- */

/* The position after the value at p. The closing quote of a string is checked together with the text that
 * follows. */
static inline const char *pass_value(const char *p, const char *end, char kind)
{
    if (kind == '0')
        return oc_scalar_end(p, end);
    if (kind == '[')
        return p < end && (*p == '[' || *p == '{') ? container_end(p, end) : NULL;
    while (p < end) {
        p += oc_find_quote(p, (size_t)(end - p));
        if (p < end && *p == '"')
            return p;
        p += 2;
    }
    return NULL;
}

static inline bool chrome_layout_starts_with(const char *p, const char *end, const char *text, size_t n)
{
    return (size_t)(end - p) >= n && oc_same(p, text, n);
}

static inline void set_field(struct oc_chrome *r, const struct slot *s, const char *value, size_t n)
{
    size_t quote = s->kind == '"';
    if (s->field != NO_FIELD)
        r->f[s->field] = (struct oc_str){value - quote, n + 2 * quote};
}

/* Parses the slot's value at p and checks the text after it. */
static inline const char *take_slot(struct oc_chrome *r, const struct layout *l, const struct slot *s,
                                    const char *p, const char *end)
{
    const char *behind = pass_value(p, end, s->kind);
    if (!behind || behind >= end || !chrome_layout_starts_with(behind, end, l->text + s->at, s->n))
        return NULL;
    set_field(r, s, p, (size_t)(behind - p));
    return behind + s->n;
}

static struct way *way_of(struct layout *l, const char *name, size_t n)
{
    uint64_t mix = n;
    if (n >= 8)
        mix ^= oc_load8(name + n - 8) ^ oc_load8(name + n / 2 - 4) << 1;
    else
        memcpy((char *)&mix + 1, name, n);
    struct way *way = &l->way[mix * 0x9e3779b97f4a7c15u >> 32 & (WAYS - 1)];
    if (way->spans != l->spans) {
        way->spans = l->spans;
        way->arrays = OC_NONE;
        for (unsigned i = 0; i < MAX_SPANS; i++)
            way->span[i].n = 0;
    }
    return way;
}

/* Parses a span whose text differs from the cached one and updates the cache. */
static const char *take_changed(struct oc_chrome *r, struct layout *l, struct way *way, unsigned at,
                                const char *p, const char *end)
{
    const struct span *span = &l->span[at];
    const char *start = p;
    char *kept = way->span[at].text;
    bool loosened = false, had = way->span[at].n != 0;
    way->span[at].n = 0; /* invalid until the whole span is parsed */
    for (unsigned i = span->slot; i < span->slot + (unsigned)span->n; i++) {
        struct slot *s = &l->slot[i];
        const char *behind = take_slot(r, l, s, p, end);
        if (!behind)
            return NULL;
        size_t n = (size_t)(behind - p) - s->n, from = (size_t)(p - start);
        bool same = had && n == way->value[i].n && oc_same(p, kept + way->value[i].from, n);
        if (had && !same && s->changes < UINT16_MAX)
            s->changes++;
        s->loose = s->changes > LOOSE_AFTER && s->changes > l->tries / 4;
        loosened |= s->loose;
        if (!same && s->kind == '[' && s->field != NO_FIELD)
            way->arrays = OC_NONE;
        way->value[i].from = (uint16_t)(from < MAX_KEPT ? from : 0);
        way->value[i].n = (uint16_t)(n < MAX_KEPT ? n : 0);
        p = behind;
    }
    if (loosened)
        find_spans(l);
    else if (p - start <= MAX_KEPT)
        memcpy(kept, start, way->span[at].n = (uint16_t)(p - start));
    return p;
}

static inline const char *take_span(struct oc_chrome *r, struct layout *l, struct way *way, unsigned at,
                                    const char *p, const char *end)
{
    const struct span *span = &l->span[at];
    if (!way->span[at].n || !chrome_layout_starts_with(p, end, way->span[at].text, way->span[at].n))
        return take_changed(r, l, way, at, p, end);
    const uint8_t *wanted = l->wanted + span->wanted;
    for (unsigned i = 0; i < span->n_wanted; i++)
        set_field(r, &l->slot[wanted[i]], p + way->value[wanted[i]].from, way->value[wanted[i]].n);
    return p + way->span[at].n;
}

static inline void clear_fields(struct oc_chrome *r, uint32_t fields)
{
    for (; fields; fields &= fields - 1) {
        unsigned f = (unsigned)__builtin_ctz(fields);
        if (f < OC_CH_COUNT)
            r->f[f].n = 0;
    }
}

/* Length of the event, 0: it does not match the layout. */
static size_t match_layout(struct oc_chrome *r, struct layout *l, struct oc_str ahead)
{
    const char *p = ahead.s, *end = ahead.s + ahead.n;
    struct way *way = NULL;
    unsigned next_span = 0;
    if (!chrome_layout_starts_with(p, end, l->text, l->start_n))
        return 0;
    clear_fields(r, r->layouts->filled & ~l->fields);
    r->layouts->filled = l->fields;
    p += l->start_n;
    l->tries++;
    for (unsigned i = 0; i < l->n_slot && p;) {
        const struct slot *s = &l->slot[i];
        if (next_span < l->n_span && l->span[next_span].slot == i) {
            i += l->span[next_span].n;
            way = way ? way : way_of(l, "", 0); /* the name follows later or is absent */
            p = take_span(r, l, way, next_span++, p, end);
            continue;
        }
        const char *value = p;
        p = take_slot(r, l, s, p, end);
        if (s->field == OC_CH_NAME && p)
            way = way ? way : way_of(l, value, (size_t)(p - value) - s->n);
        i++;
    }
    if (!p)
        return 0;
    for (unsigned i = 0; i < l->n_constant; i++)
        r->f[l->constant[i].field] = (struct oc_str){l->text + l->constant[i].at, l->constant[i].n};
    r->note[OC_CH_NOTE_CATEGORY] = &l->category;
    r->note[OC_CH_NOTE_ARRAYS] = l->loose_arrays || !way ? NULL : &way->arrays;
    return (size_t)(p - ahead.s);
}

/* Tries the predicted layout first. */
size_t oc_chrome_take_alike(struct oc_chrome *r, struct oc_str ahead)
{
    struct oc_chrome_layouts *all = r->layouts;
    unsigned likely = all->after[all->before][all->last];
    all->tries++;
    for (unsigned i = 0; i <= all->n; i++) {
        unsigned at = i == 0 ? likely : i - 1;
        size_t n;
        if (at >= all->n || !all->layout[at]->whole || (i && at == likely))
            continue;
        if ((n = match_layout(r, all->layout[at], ahead)) == 0)
            continue;
        all->hits++;
        all->after[all->before][all->last] = (uint8_t)at;
        all->before = all->last;
        all->last = at;
        return n;
    }
    return 0;
}

size_t oc_chrome_alike(const struct oc_chrome *r)
{
    return r->layouts->hits;
}
