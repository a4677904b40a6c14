/* The JSON reader: a cursor over a stream, no tree. */
#include "base/json_read.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_scan.h"
#include "base/unicode.h"
#include "base/units.h"

static int hex4(const char *p, size_t n)
{
    int v = 0;
    if (n < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        char c = p[i];
        char low = (char)(c | 32);
        if (oc_is_digit(c))
            v = v * 16 + (c - '0');
        else if (low >= 'a' && low <= 'f')
            v = v * 16 + (low - 'a' + 10);
        else
            return -1;
    }
    return v;
}

/* \uXXXX at p (after the u); *used is the number of bytes read. An unpaired surrogate becomes U+FFFD. */
static size_t decode_unicode(const char *p, size_t n, char *out, size_t *used)
{
    int hi = hex4(p, n);
    *used = 0;
    if (hi < 0) { /* unknown escapes are kept */
        /* NOLINTNEXTLINE(bugprone-not-null-terminated-result): the caller passes the length */
        memcpy(out, "\\u", 2);
        return 2;
    }
    *used = 4;
    if (hi < 0xd800 || hi > 0xdfff)
        return oc_utf8_put(out, (uint32_t)hi);
    int lo = hi < 0xdc00 && n >= 10 && p[4] == '\\' && p[5] == 'u' ? hex4(p + 6, n - 6) : -1;
    if (lo < 0xdc00 || lo > 0xdfff)
        return oc_utf8_put(out, 0xfffd);
    *used = 10;
    return oc_utf8_put(out, 0x10000 + ((uint32_t)(hi - 0xd800) << 10) + (uint32_t)(lo - 0xdc00));
}

size_t oc_json_unescape(const char *p, size_t n, char *out)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    size_t m = 0;
    for (size_t i = 0; i < n;) {
        if (p[i] != '\\' || i + 1 == n) {
            out[m++] = p[i++];
            continue;
        }
        const char *hit = p[i + 1] ? strchr(from, p[i + 1]) : NULL;
        if (hit) {
            out[m++] = to[hit - from];
        } else if (p[i + 1] == 'u') {
            size_t used;
            m += decode_unicode(p + i + 2, n - i - 2, out + m, &used);
            i += used;
        } else {
            out[m++] = '\\';
            out[m++] = p[i + 1];
        }
        i += 2;
    }
    return m;
}

/* ---- json read -------------------------------------------------------------------------------------- */

#define MAX_DEPTH        256
#define MAX_NUMBER_BYTES 4096

struct oc_json {
    struct oc_stream *stream;
    const char *win; /* the window, its size and the cursor in it */
    size_t n, pos;
    uint64_t base; /* stream offset of win[0] */
    unsigned depth;
    bool at_end, truncated, failed;
    size_t max_string;
    uint64_t error_offset;
    char *scratch; /* decoded strings */
    size_t scratch_cap;
    char kind[MAX_DEPTH]; /* '{' or '[' per level */
    char error[160];
};

/* ---- window and errors ------------------------------------------------------------------------------ */

/* Extends the window by more bytes; the byte at the cursor stays and becomes the first one. */
static bool extend_window(struct oc_json *j)
{
    if (j->at_end)
        return false;
    bool added = oc_stream_fill(j->stream, j->pos, &j->win, &j->n, &j->base);
    j->pos = 0;
    j->at_end = !added;
    return added;
}

static int byte_behind(struct oc_json *j, size_t i)
{
    while (j->pos + i >= j->n)
        if (!extend_window(j))
            return -1;
    return (unsigned char)j->win[j->pos + i];
}

/* Byte at cursor + i, or -1 at the end of the text. */
static inline int byte_at(struct oc_json *j, size_t i)
{
    return j->pos + i < j->n ? (unsigned char)j->win[j->pos + i] : byte_behind(j, i);
}

static bool json_read_fail(struct oc_json *j, size_t ahead, const char *fmt, ...)
{
    if (j->failed)
        return false;
    j->failed = true;
    j->error_offset = j->base + j->pos + ahead;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(j->error, sizeof(j->error), fmt, ap);
    va_end(ap);
    return false;
}

static bool json_read_cut(struct oc_json *j)
{
    j->truncated = true;
    j->pos = j->n;
    return false;
}

/* Stops reading the text; the stream has the error. */
static bool too_long(struct oc_json *j, size_t n)
{
    oc_stream_over(j->stream, OC_LIMIT_STRING_BYTES, n);
    j->at_end = true;
    return json_read_cut(j);
}

static bool unexpected(struct oc_json *j, int c, const char *wanted)
{
    if (c < 0)
        return json_read_cut(j);
    if (c > 32 && c < 127)
        return json_read_fail(j, 0, "expected %s, found '%c'", wanted, c);
    return json_read_fail(j, 0, "expected %s, found byte 0x%02x", wanted, (unsigned)c);
}

/* Next byte that is not a blank (nor, if requested, a comma); -1 at the end. */
static inline int json_read_skip_blanks(struct oc_json *j, bool commas)
{
    int c = byte_at(j, 0);
    if (!oc_byte_is(c, BLANK) && !(commas && c == ','))
        return c;
    j->pos++;
    if (j->pos + 16 <= j->n) /* writers usually put each event on its own line */
        j->pos += oc_blanks_at(j->win + j->pos, commas ? ',' : ' ');
    while (oc_byte_is(c = byte_at(j, 0), BLANK) || (commas && c == ','))
        j->pos++;
    return c;
}

struct oc_json *oc_json_open(struct oc_stream *s)
{
    struct oc_json *j = oc_xmalloc(sizeof(*j));
    memset(j, 0, offsetof(struct oc_json, kind));
    j->stream = s;
    j->max_string = (size_t)oc_stream_limit(s, OC_LIMIT_STRING_BYTES);
    j->win = "";
    j->error[0] = '\0';
    if (byte_at(j, 0) == 0xef && byte_at(j, 1) == 0xbb && byte_at(j, 2) == 0xbf)
        j->pos += 3;
    return j;
}

void oc_json_close(struct oc_json *j)
{
    if (!j)
        return;
    free(j->scratch);
    free(j);
}

uint64_t oc_json_offset(const struct oc_json *j)
{
    return j->base + j->pos;
}

bool oc_json_truncated(const struct oc_json *j)
{
    return j->truncated;
}

const char *oc_json_error(const struct oc_json *j, uint64_t *offset_bytes)
{
    if (j->failed && offset_bytes)
        *offset_bytes = j->error_offset;
    return j->failed ? j->error : NULL;
}

unsigned oc_json_depth(const struct oc_json *j)
{
    return j->depth;
}

/* ---- tokens ----------------------------------------------------------------------------------------- */

/* Whether the quote at cursor + quote closes its string. */
static inline bool json_read_closes_string(struct oc_json *j, size_t quote)
{
    size_t i = quote + 1;
    int c = byte_at(j, i);
    while (oc_byte_is(c, BLANK))
        c = byte_at(j, ++i);
    return c < 0 || oc_byte_is(c, ENDS_STRING);
}

/* Finds the string that begins with a quote at the cursor: index of its closing quote, or 0 at the end of the
 * text. A member name ends at its first quote: otherwise a name without a colon would swallow the following
 * members. */
static inline size_t scan_string(struct oc_json *j, bool is_name, bool *escaped)
{
    size_t i = 1;
    *escaped = false;
    for (;;) {
        if (j->pos + i < j->n)
            i += oc_find_quote(j->win + j->pos + i, j->n - j->pos - i);
        int c = byte_at(j, i);
        if (c < 0)
            return 0;
        if (c == '\\') {
            *escaped = true;
            if (byte_at(j, i + 1) < 0)
                return 0;
            i += 2;
        } else if (c == '"') {
            if (is_name || json_read_closes_string(j, i))
                return i;
            i++;
        } /* else the window grew: continue */
    }
}

static inline size_t scan_scalar(struct oc_json *j)
{
    size_t i = 0;
    int c;
    while ((c = byte_at(j, i)) >= 0 && !oc_byte_is(c, ENDS_SCALAR))
        i++;
    return i;
}

enum oc_json_type oc_json_peek(struct oc_json *j)
{
    if (j->failed)
        return OC_JSON_NONE;
    switch (json_read_skip_blanks(j, false)) {
    case '{':
        return OC_JSON_OBJECT;
    case '[':
        return OC_JSON_ARRAY;
    case '"':
        return OC_JSON_STRING;
    case 't':
        return OC_JSON_TRUE;
    case 'f':
        return OC_JSON_FALSE;
    case 'n':
        return byte_at(j, 1) == 'u' ? OC_JSON_NULL : OC_JSON_NUMBER;
    case 'N':
    case 'I':
    case 'i':
    case '-':
    case '+':
    case '.':
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9':
        return OC_JSON_NUMBER;
    default:
        return OC_JSON_NONE;
    }
}

bool oc_json_enter(struct oc_json *j)
{
    if (j->failed)
        return false;
    int c = json_read_skip_blanks(j, false);
    if (c != '{' && c != '[') {
        oc_json_skip(j);
        return false;
    }
    if (j->depth == MAX_DEPTH)
        return json_read_fail(j, 0, "nested deeper than %d", MAX_DEPTH);
    j->kind[j->depth++] = (char)c;
    j->pos++;
    return true;
}

void oc_json_enter_rest(struct oc_json *j)
{
    if (!j->failed && j->depth < MAX_DEPTH)
        j->kind[j->depth++] = '[';
}

bool oc_json_enter_type(struct oc_json *j, enum oc_json_type type)
{
    if (oc_json_peek(j) == type)
        return oc_json_enter(j);
    oc_json_skip(j);
    return false;
}

/* True when the container of that kind has another element: the cursor is then at it. */
static bool goes_on(struct oc_json *j, char kind)
{
    if (j->failed || !j->depth)
        return false;
    if (j->kind[j->depth - 1] != kind)
        return json_read_fail(j, 0, kind == '{' ? "not in an object" : "not in an array");
    int c = json_read_skip_blanks(j, true);
    if (c == kind + 2) { /* '{' and '}', '[' and ']' differ by two */
        j->pos++;
        j->depth--;
        return false;
    }
    if (c < 0) {
        j->depth--;
        return json_read_cut(j);
    }
    if (c == '}' || c == ']')
        return unexpected(j, c, kind == '{' ? "a member or '}'" : "a value or ']'");
    return true;
}

bool oc_json_item(struct oc_json *j)
{
    return goes_on(j, '[');
}

bool oc_json_member(struct oc_json *j, struct oc_str *key)
{
    if (!goes_on(j, '{'))
        return false;
    int c = json_read_skip_blanks(j, false);
    if (c != '"')
        return unexpected(j, c, "a name");
    bool escaped;
    size_t close = scan_string(j, true, &escaped);
    if (!close) {
        j->depth--;
        return json_read_cut(j);
    }
    if (close - 1 > j->max_string)
        return too_long(j, close - 1);
    size_t i = close + 1;
    while (oc_byte_is(c = byte_at(j, i), BLANK))
        i++;
    *key = (struct oc_str){j->win + j->pos + 1, close - 1};
    if (c != ':') {
        j->pos += i;
        if (c < 0)
            j->depth--;
        return unexpected(j, c, "':'");
    }
    j->pos += i + 1;
    return true;
}

/* ---- strings ---------------------------------------------------------------------------------------- */

static struct oc_str json_read_decode(struct oc_json *j, const char *p, size_t n)
{
    if (j->scratch_cap < n + 8) {
        j->scratch_cap = (n + 8) * 2;
        j->scratch = oc_xrealloc(j->scratch, j->scratch_cap);
    }
    return (struct oc_str){j->scratch, oc_json_unescape(p, n, j->scratch)};
}

bool oc_json_string(struct oc_json *j, struct oc_str *out)
{
    if (j->failed)
        return false;
    if (json_read_skip_blanks(j, false) != '"') {
        oc_json_skip(j);
        return false;
    }
    bool escaped;
    size_t close = scan_string(j, false, &escaped);
    if (!close)
        return json_read_cut(j);
    if (close - 1 > j->max_string)
        return too_long(j, close - 1);
    *out = (struct oc_str){j->win + j->pos + 1, close - 1};
    if (escaped)
        *out = json_read_decode(j, out->s, out->n);
    j->pos += close + 1;
    return true;
}

/* ---- skip values ------------------------------------------------------------------------------------ */

/* State of a container being skipped: one bit per level, and whether the scan is inside a string. */
struct nest {
    uint64_t is_array[MAX_DEPTH / 64];
    unsigned depth;
    bool in_string;
};

static inline bool nest_step(struct oc_json *j, struct nest *t, char c, size_t at)
{
    if (c == '{' || c == '[') {
        if (t->depth + j->depth >= MAX_DEPTH)
            return json_read_fail(j, at, "nested deeper than %d", MAX_DEPTH);
        uint64_t bit = (uint64_t)1 << (t->depth % 64), *word = &t->is_array[t->depth / 64];
        *word = c == '[' ? *word | bit : *word & ~bit;
        t->depth++;
        return true;
    }
    t->depth--;
    bool array = t->is_array[t->depth / 64] >> (t->depth % 64) & 1;
    return array == (c == ']') ? true
                               : json_read_fail(j, at, "'%c' does not close '%c'", c, array ? '[' : '{');
}

/* Processes one structural byte at cursor + i. Returns the bytes consumed, 0 on error. */
static inline size_t json_read_step(struct oc_json *j, struct nest *t, char c, size_t i)
{
    if (t->in_string) {
        if (c == '\\')
            return 2;
        if (c == '"')
            t->in_string = !json_read_closes_string(j, i);
        return 1;
    }
    t->in_string = c == '"';
    if ((c | 0x20) == '{' || (c | 0x20) == '}')
        return nest_step(j, t, c, i) ? 1 : 0;
    return 1;
}

/* Processes the 64 bytes at cursor + i. Returns the bytes consumed (up to the end of the container), 0 on
 * error. */
static size_t step_block(struct oc_json *j, struct nest *t, size_t i)
{
    struct oc_scan_block b = oc_scan_64(j->win + j->pos + i);
    uint64_t live = ~(uint64_t)0, bits;
    size_t k, taken = 64;
    while ((bits = (b.quote | (t->in_string ? b.escape : b.structure)) & live) != 0) {
        k = (size_t)__builtin_ctzll(bits);
        size_t used = json_read_step(j, t, j->win[j->pos + i + k], i + k);
        if (!used || !t->depth)
            return used ? k + 1 : 0;
        if (k + used >= 64) {
            taken = k + used;
            break;
        }
        live = ~(uint64_t)0 << (k + used);
    }
    return taken;
}

/* Length of the container at the cursor, 0 on error. Without `keep` the cursor advances (the length counts
 * from there), so that the window need not hold the whole value. */
static size_t scan_container(struct oc_json *j, bool keep)
{
    struct nest t = {.depth = 0};
    size_t i = 0;
    do {
        if (!keep && j->pos + i <= j->n) {
            j->pos += i;
            i = 0;
        }
        size_t used;
        if (j->pos + i + 64 <= j->n) {
            used = step_block(j, &t, i);
        } else {
            int c = byte_at(j, i);
            if (c < 0)
                return (size_t)json_read_cut(j);
            used = json_read_step(j, &t, (char)c, i);
        }
        if (!used)
            return 0;
        i += used;
    } while (t.depth);
    return i;
}

static bool scan_value(struct oc_json *j, bool keep, size_t *len)
{
    if (j->failed)
        return false;
    int c = json_read_skip_blanks(j, false);
    bool escaped;
    switch (c) {
    case '{':
    case '[':
        *len = scan_container(j, keep);
        return *len != 0;
    case '"':
        *len = scan_string(j, false, &escaped) + 1;
        return *len > 1 ? true : json_read_cut(j);
    default:
        *len = c < 0 ? 0 : scan_scalar(j);
        return *len ? true : unexpected(j, c, "a value");
    }
}

bool oc_json_skip(struct oc_json *j)
{
    size_t len;
    if (!scan_value(j, false, &len))
        return false;
    j->pos += len;
    return true;
}

bool oc_json_raw(struct oc_json *j, struct oc_str *text)
{
    size_t len;
    if (!scan_value(j, true, &len))
        return false;
    if (len > j->max_string)
        return too_long(j, len);
    *text = (struct oc_str){j->win + j->pos, len};
    j->pos += len;
    return true;
}

struct oc_str oc_json_ahead(struct oc_json *j, size_t at_least)
{
    while (j->n - j->pos < at_least && extend_window(j))
        continue;
    return (struct oc_str){j->win + j->pos, j->failed ? 0 : j->n - j->pos};
}

void oc_json_step(struct oc_json *j, size_t bytes)
{
    if (!j->failed && bytes <= j->n - j->pos)
        j->pos += bytes;
}

/* ---- numbers ---------------------------------------------------------------------------------------- */

/* The text of a number, or of a string that contains one. */
static bool json_read_number_text(struct oc_json *j, struct oc_str *text)
{
    enum oc_json_type type = oc_json_peek(j);
    if (type == OC_JSON_STRING)
        return oc_json_string(j, text);
    if (type == OC_JSON_NUMBER)
        return oc_json_raw(j, text) && text->n <= MAX_NUMBER_BYTES;
    oc_json_skip(j);
    return false;
}

static bool small_int(struct oc_str t, int64_t *out)
{
    size_t i = t.n && t.s[0] == '-';
    if (t.n == i || t.n - i > 18)
        return false;
    int64_t v = 0;
    for (size_t k = i; k < t.n; k++) {
        unsigned d = (unsigned)(t.s[k] - '0');
        if (d > 9)
            return false;
        v = v * 10 + (int64_t)d;
    }
    *out = i ? -v : v;
    return true;
}

bool oc_json_i64(struct oc_json *j, int64_t *out)
{
    struct oc_str t;
    double d;
    if (!json_read_number_text(j, &t))
        return false;
    if (small_int(t, out) || oc_parse_i64(t.s, t.n, out))
        return true;
    static const double least = -9223372036854775808.0; /* -2^63 is allowed; 2^63 is not */
    if (!oc_parse_double(t.s, t.n, &d) || d != floor(d) || !(d >= least && d < -least))
        return false;
    *out = (int64_t)d;
    return true;
}

bool oc_json_double(struct oc_json *j, double *out)
{
    struct oc_str t;
    return json_read_number_text(j, &t) && oc_parse_double(t.s, t.n, out);
}

bool oc_json_bool(struct oc_json *j, bool *out)
{
    enum oc_json_type type = oc_json_peek(j);
    if (!oc_json_skip(j) || (type != OC_JSON_TRUE && type != OC_JSON_FALSE))
        return false;
    *out = type == OC_JSON_TRUE;
    return true;
}

/* ---- repair ----------------------------------------------------------------------------------------- */

/* Whether the value after the byte at the cursor is an object; *blanks: number of blanks and commas before
 * it. */
static bool object_follows(struct oc_json *j, size_t *blanks)
{
    size_t i = 1;
    int c;
    while (oc_byte_is(c = byte_at(j, i), BLANK) || c == ',')
        i++;
    *blanks = i - 1;
    return c == '{';
}

bool oc_json_resync(struct oc_json *j, unsigned depth)
{
    char last = 0, before = 0; /* the last two bytes that are not blank */
    if (!depth || depth > MAX_DEPTH)
        return false;
    j->failed = false;
    for (int c; (c = byte_at(j, 0)) >= 0; j->pos++) {
        size_t blanks = 0;
        bool line = c == '\n' && (last == ',' || last == '[' || last == '}');
        bool inline_end = c == ',' && last == '}' && before == '}';
        if ((line || inline_end) && object_follows(j, &blanks)) {
            j->pos += 1 + blanks;
            j->depth = depth;
            j->kind[depth - 1] = '[';
            return true;
        }
        j->pos += blanks; /* already examined */
        if (!oc_byte_is(c, BLANK)) {
            before = last;
            last = (char)c;
        }
    }
    j->depth = 0;
    return false;
}
