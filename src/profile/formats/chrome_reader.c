/* The reader of the Trace Event Format. */
#include "profile/formats/chrome_reader.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_scan.h"
#include "base/json_read.h"
#include "base/str.h"
#include "base/units.h"

enum { MAX_NUMBER = 64, MAX_DIGITS = 18, AT_HAND = 1 << 14 };

#define MAX_NS ((int64_t)1 << 61)

/* ---- faults ----------------------------------------------------------------------------------------- */

bool oc_faults_broken(struct oc_event_faults *x, struct oc_json *j)
{
    uint64_t offset;
    const char *why = oc_json_error(j, &offset);
    if (!why)
        return false;
    if (!x->broken++) {
        x->first_broken = offset;
        snprintf(x->broken_why, sizeof(x->broken_why), "%s", why);
    }
    return true;
}

void oc_faults_bad(struct oc_event_faults *x, const char *why, uint64_t where, size_t number)
{
    if (x->bad++)
        return;
    x->first_bad = where;
    x->first_bad_number = number;
    snprintf(x->bad_why, sizeof(x->bad_why), "%s", why);
}

void oc_faults_warn(const struct oc_event_faults *x, struct oc_json *j, const struct oc_stream *s,
                    struct oc_profile *p)
{
    struct oc_diags *d = &p->diags;
    const char *damaged = oc_stream_error(s);
    if (x->broken)
        oc_diag_add(d, OC_WARNING, "W-broken-event", "",
                    "%zu broken events were skipped, the first: %s (offset %llu)", x->broken, x->broken_why,
                    (unsigned long long)x->first_broken);
    const char *number = x->first_bad_number ? oc_printf(&p->arena, "event %zu: ", x->first_bad_number) : "";
    if (x->bad)
        oc_diag_add(d, OC_WARNING, "W-bad-event", "",
                    "%zu events were skipped, the first: %s%s (offset %llu)", x->bad, number, x->bad_why,
                    (unsigned long long)x->first_bad);
    if (damaged)
        oc_diag_add(d, OC_WARNING, "W-damaged", "", "%s", damaged);
    if (oc_json_truncated(j)) {
        p->truncated = true;
        oc_diag_add(d, OC_WARNING, "W-truncated", "",
                    "the file is truncated: %zu complete events are used (offset %llu)", x->number,
                    (unsigned long long)x->last_offset);
    }
}

/* ---- file ------------------------------------------------------------------------------------------- */

int oc_chrome_open(struct oc_chrome *r, struct oc_stream *s, const struct oc_chrome_key *key, size_t n_key,
                   struct oc_err *err)
{
    *r = (struct oc_chrome){.j = oc_json_open(s), .key = key, .n_key = n_key};
    r->layouts = oc_chrome_layouts_new();
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
    oc_chrome_layouts_free(r->layouts);
}

/* Skips members of the outer object up to the events. False: no more members. */
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

/* Recovers from an error: skips to the next event. Outside the events: to the end. */
static bool recover(struct oc_chrome *r)
{
    return oc_faults_broken(&r->faults, r->j) && r->in_array && oc_json_resync(r->j, r->object ? 2 : 1);
}

static void clear(struct oc_chrome *r)
{
    memset(r->f, 0, sizeof(r->f));
    memset(r->note, 0, sizeof(r->note));
}

static bool chrome_reader_read_event(struct oc_chrome *r)
{
    struct oc_str event;
    enum oc_json_type type = oc_json_peek(r->j); /* to the closing brace */
    r->where = oc_json_offset(r->j);
    if (type == OC_JSON_OBJECT && oc_chrome_layouts_pay(r->layouts)) {
        size_t n = oc_chrome_take_alike(r, oc_json_ahead(r->j, AT_HAND));
        oc_json_step(r->j, n);
        if (n)
            return true;
    }
    clear(r);
    if (!oc_json_raw(r->j, &event))
        return false;
    if (type == OC_JSON_OBJECT && !oc_chrome_take_apart(r, event)) {
        clear(r);
        oc_chrome_bad(r, "it is not valid JSON");
    }
    return true;
}

bool oc_chrome_next(struct oc_chrome *r)
{
    do {
        while (to_events(r)) {
            if (oc_json_item(r->j)) {
                if (!chrome_reader_read_event(r))
                    break;
                r->faults.number++;
                r->faults.last_offset = oc_json_offset(r->j);
                return true;
            }
            if (oc_json_error(r->j, NULL) || oc_json_truncated(r->j))
                break;
            r->in_array = false; /* end of the array */
            if (!r->object)
                break;
        }
    } while (!oc_json_truncated(r->j) && recover(r));
    return false;
}

void oc_chrome_bad(struct oc_chrome *r, const char *why)
{
    oc_faults_bad(&r->faults, why, r->where, r->faults.number);
}

/* ---- values ----------------------------------------------------------------------------------------- */

struct oc_str oc_chrome_text(struct oc_chrome *r, unsigned f)
{
    struct oc_str v = oc_chrome_unquoted(r->f[f]);
    if (!v.n || !memchr(v.s, '\\', v.n))
        return v;
    oc_buf_clear(&r->text);
    oc_buf_pad(&r->text, ' ', v.n + 8);
    return (struct oc_str){r->text.data, oc_json_unescape(v.s, v.n, r->text.data)};
}

/* Fast path: most numbers are a few digits. */
static inline bool digits(struct oc_str v, uint64_t *out)
{
    uint64_t n = 0;
    size_t i = 0;
    if (v.n <= 16)
        return oc_digits(v.s, v.n, out);
    for (; i < v.n && i < MAX_DIGITS && (unsigned)(v.s[i] - '0') <= 9; i++)
        n = n * 10 + (uint64_t)(v.s[i] - '0');
    if (i < v.n)
        return false;
    *out = n;
    return true;
}

/* Fast path for 123.456, the usual form of times. */
static inline bool three_places(struct oc_str v, int64_t *thousandth)
{
    uint64_t whole, part;
    if (v.n < 5 || v.n > 20 || v.s[v.n - 4] != '.' || !oc_digits(v.s, v.n - 4, &whole) ||
        !oc_digits(v.s + v.n - 3, 3, &part) || whole > (uint64_t)MAX_NS / 1000)
        return false;
    *thousandth = (int64_t)(whole * 1000 + part);
    return true;
}

/* Parses digits with an optional sign and fraction that fit 18 places: the value times 1000, and the
 * remainder. */
static bool chrome_reader_plain_number(struct oc_str v, int64_t *thousandth, double *rest)
{
    *rest = 0;
    if (three_places(v, thousandth))
        return true;
    if (!v.n)
        return false;
    const char *p = v.s, *end = v.s + v.n;
    bool minus = *p == '-';
    int64_t whole = 0, part = 0, scale = 1;
    p += minus;
    const char *from = p;
    for (; p < end && (unsigned)(*p - '0') <= 9 && p - from < MAX_DIGITS; p++)
        whole = whole * 10 + (*p - '0');
    if (p == from || whole > MAX_NS / 1000)
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
    struct oc_str v = oc_chrome_unquoted(r->f[f]);
    if (v.n > 3 && memcmp(v.s + v.n - 3, " us", 3) == 0)
        v.n -= 3;
    if (v.n > 2 && memcmp(v.s + v.n - 2, "\\t", 2) == 0) /* msprof: keeps spreadsheets from rounding */
        v.n -= 2;
    double rest, d;
    if (chrome_reader_plain_number(v, out, &rest)) {
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
    struct oc_str v = oc_chrome_unquoted(r->f[f]);
    int64_t ns;
    double rest;
    if (chrome_reader_plain_number(v, &ns, &rest)) {
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
    struct oc_str v = oc_chrome_unquoted(r->f[f]);
    uint64_t n;
    double d;
    if (digits(v, &n)) {
        *out = (int64_t)n;
        return true;
    }
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
    struct oc_str v = oc_chrome_unquoted(r->f[f]);
    return digits(v, out) || (v.n && (oc_parse_u64(v.s, v.n, out) || hex_number(v, out)));
}

/* ---- chrome lanes ----------------------------------------------------------------------------------- */

enum { MAX_THREADS = 1 << 16 };

int64_t oc_chrome_id(const struct oc_chrome *r, unsigned field)
{
    int64_t id = 0;
    if (!oc_chrome_has(r, field) || oc_chrome_i64(r, field, &id))
        return id;
    const char *p = r->f[field].s, *end = p + r->f[field].n;
    bool quoted = *p == '"';
    p += quoted;
    end -= quoted;
    const char *q = p;
    if (end - p > 7 && memcmp(p, "stream ", 7) == 0)
        q += 7;
    for (; q < end && isdigit((unsigned char)*q) && id < INT64_C(1) << 50; q++)
        id = id * 10 + (*q - '0');
    if (q > p && isdigit((unsigned char)q[-1]) && (q == end || *q == '('))
        return id;
    uint64_t h = 1469598103934665603u;
    for (; p < end; p++)
        h = (h ^ (unsigned char)*p) * 1099511628211u;
    return -1 - (int64_t)(h >> 24);
}

void oc_chrome_note_thread(struct oc_chrome_lanes *l, struct oc_chrome *r, unsigned name_field,
                           struct oc_profile *p)
{
    if (!oc_chrome_is(r, OC_CH_NAME, "thread_name") || !oc_chrome_has(r, name_field) || l->n == MAX_THREADS)
        return;
    struct oc_str name = oc_chrome_text(r, name_field);
    OC_GROW(l->thread, l->n, l->cap);
    l->thread[l->n++] = (struct oc_chrome_thread){oc_chrome_id(r, OC_CH_PID), oc_chrome_id(r, OC_CH_TID),
                                                  oc_intern(&p->names, name.s, name.n)};
}

uint16_t oc_chrome_lane(struct oc_chrome_lanes *l, struct oc_timeline *t, const struct oc_lane *lane)
{
    unsigned d = lane->device;
    const struct oc_lane *last = &l->last[d].lane;
    if (!l->last[d].known || last->process != lane->process || last->device_id != lane->device_id ||
        last->id != lane->id) {
        l->last[d].lane = *lane;
        l->last[d].index = oc_timeline_lane(t, lane);
        l->last[d].known = true;
    }
    return l->last[d].index;
}

uint16_t oc_chrome_lane_at(struct oc_chrome_lanes *l, const struct oc_chrome *r, struct oc_timeline *t,
                           int64_t process, bool device, const unsigned field[2])
{
    const struct oc_str a = r->f[field[0]], b = r->f[field[1]];
    struct oc_chrome_written *w = &l->written[device];
    if (w->known && w->process == process && a.n == w->n[0] && b.n == w->n[1] &&
        oc_same(a.s, w->text[0], a.n) && oc_same(b.s, w->text[1], b.n))
        return w->index;
    int64_t owner = oc_chrome_id(r, field[0]);
    struct oc_lane lane = {.device = device,
                           .process = device ? process : owner,
                           .device_id = device ? owner : OC_NO_ID,
                           .id = oc_chrome_id(r, field[1])};
    w->process = process;
    w->index = oc_chrome_lane(l, t, &lane);
    w->known = a.n <= sizeof(w->text[0]) && b.n <= sizeof(w->text[1]);
    if (w->known) {
        memcpy(w->text[0], a.n ? a.s : "", w->n[0] = (uint8_t)a.n);
        memcpy(w->text[1], b.n ? b.s : "", w->n[1] = (uint8_t)b.n);
    }
    return w->index;
}

static int by_ids(const void *a, const void *b)
{
    const struct oc_chrome_thread *x = a, *y = b;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return (x->tid > y->tid) - (x->tid < y->tid);
}

static void name_lanes(const struct oc_chrome_lanes *l, struct oc_timeline *t)
{
    if (l->n)
        qsort(l->thread, l->n, sizeof(*l->thread), by_ids);
    for (uint32_t i = 0; i < t->n_lane && l->n; i++) {
        struct oc_lane *lane = &t->lane[i];
        struct oc_chrome_thread key = {.pid = lane->device ? lane->device_id : lane->process,
                                       .tid = lane->id};
        const struct oc_chrome_thread *found = bsearch(&key, l->thread, l->n, sizeof(key), by_ids);
        if (found && !lane->name[0])
            lane->name = found->name;
    }
}

void oc_chrome_leave_out(struct oc_chrome_left_out *x, struct oc_str category)
{
    if (!x->n++)
        snprintf(x->category, sizeof(x->category), "%.*s",
                 !category.n       ? 4
                 : category.n < 40 ? (int)category.n
                                   : 40,
                 category.n ? category.s : "none");
}

void oc_chrome_read(struct oc_chrome *r, struct oc_chrome_lanes *l, unsigned name_field,
                    const struct oc_timeline *t, const char *(*take)(void *ctx), void *ctx)
{
    while (oc_chrome_next(r) && !t->full) {
        if (oc_chrome_is(r, OC_CH_PH, "X")) {
            const char *why = take(ctx);
            if (why)
                oc_chrome_bad(r, why);
        } else if (oc_chrome_is(r, OC_CH_PH, "M")) {
            oc_chrome_note_thread(l, r, name_field, t->profile);
        }
    }
}

void oc_chrome_describe(struct oc_chrome *r, const struct oc_stream *s, const struct oc_timeline *t,
                        const struct oc_chrome_left_out *x)
{
    struct oc_diags *d = &t->profile->diags;
    oc_faults_warn(&r->faults, r->j, s, t->profile);
    if (x && x->n)
        oc_diag_add(d, OC_INFO, "I-category", "",
                    "%zu events of unsupported categories were skipped, the first: %s", x->n, x->category);
}

int oc_chrome_finish(struct oc_chrome *r, struct oc_chrome_lanes *l, struct oc_timeline *t, int rc,
                     const struct oc_profile_opts *opts, const struct oc_timeline_rules *rules)
{
    if (rc == 0)
        name_lanes(l, t);
    rc = oc_timeline_close(t, rc, opts, rules);
    oc_chrome_close(r);
    free(l->thread);
    return rc;
}
