/* The JSON writer. */
#include "base/json_write.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/units.h"

static void new_line(const struct oc_json_out *w)
{
    static const char blanks[] = "\n                                                                ";
    size_t n = 1 + 2 * (size_t)w->depth;
    if (w->pretty && n < sizeof(blanks))
        fwrite(blanks, 1, n, w->f);
    else if (w->pretty)
        fprintf(w->f, "\n%*s", (int)(n - 1), "");
}

/* Writes the separator before a value or a key: comma, line break. */
static void write_separator(struct oc_json_out *w)
{
    if (w->after_key) {
        w->after_key = false;
        return;
    }
    if (w->need_comma)
        putc(',', w->f);
    if (w->depth)
        new_line(w);
}

static void json_write_begin(struct oc_json_out *w, char c)
{
    write_separator(w);
    putc(c, w->f);
    w->depth++;
    w->need_comma = false;
}

static void json_write_end(struct oc_json_out *w, char c)
{
    w->depth--;
    if (w->need_comma)
        new_line(w);
    putc(c, w->f);
    w->need_comma = true;
}

static void json_write_plain(struct oc_json_out *w, const char *text)
{
    write_separator(w);
    fputs(text, w->f);
    w->need_comma = true;
}

void oc_jw_begin_object(struct oc_json_out *w)
{
    json_write_begin(w, '{');
}

void oc_jw_end_object(struct oc_json_out *w)
{
    json_write_end(w, '}');
}

void oc_jw_begin_array(struct oc_json_out *w)
{
    json_write_begin(w, '[');
}

void oc_jw_end_array(struct oc_json_out *w)
{
    json_write_end(w, ']');
}

/* Length of the well-formed UTF-8 sequence at s (Unicode table 3-7), 0 if there is none. */
static unsigned utf8_len(const unsigned char *s)
{
    static const struct {
        unsigned char first, last, low, high; /* lead bytes, bounds of the second byte */
        unsigned n;
    } row[] = {{0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
               {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
               {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4}};
    if (s[0] < 0x80)
        return 1;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        if (s[0] < row[i].first || s[0] > row[i].last)
            continue;
        if (s[1] < row[i].low || s[1] > row[i].high)
            return 0;
        for (unsigned k = 2; k < row[i].n; k++)
            if ((s[k] & 0xc0) != 0x80)
                return 0;
        return row[i].n;
    }
    return 0;
}

/* The n-byte code point at s if a terminal would interpret it instead of showing it (C1 controls, line ends,
 * bidirectional controls); such characters are written as an equivalent escape. 0: none. */
static unsigned hidden_at(const unsigned char *s, unsigned n)
{
    if (n == 1)
        return *s < 0x20 || *s == 0x7f ? *s : 0;
    unsigned cp = n == 2   ? (s[0] & 0x1fu) << 6 | (s[1] & 0x3fu)
                  : n == 3 ? (s[0] & 0x0fu) << 12 | (s[1] & 0x3fu) << 6 | (s[2] & 0x3fu)
                           : 0;
    bool turns = cp == 0x61c || cp == 0x200e || cp == 0x200f || (cp >= 0x2028 && cp <= 0x202e) ||
                 (cp >= 0x2066 && cp <= 0x2069);
    return (cp >= 0x80 && cp < 0xa0) || turns ? cp : 0;
}

/* Number of bytes at s that need no escape. */
static size_t plain_run(const unsigned char *s)
{
    size_t n = 0;
    while (s[n] >= 0x20 && s[n] < 0x7f && s[n] != '"' && s[n] != '\\')
        n++;
    return n;
}

static void json_write_quoted(FILE *f, const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    static const char short_of[] = "\"\\\b\f\n\r\t", letter[] = "\"\\bfnrt";
    putc('"', f);
    for (size_t run; (run = plain_run(s)), fwrite(s, 1, run, f), s += run, *s;) {
        unsigned n = utf8_len(s);
        const char *hit = n == 1 ? strchr(short_of, *s) : NULL;
        if (hit)
            fprintf(f, "\\%c", letter[hit - short_of]);
        else if (hidden_at(s, n))
            fprintf(f, "\\u%04x", hidden_at(s, n));
        else if (n == 0)
            fputs("\xef\xbf\xbd", f);
        else
            fwrite(s, 1, n, f);
        s += n ? n : 1;
    }
    putc('"', f);
}

void oc_jw_key(struct oc_json_out *w, const char *key)
{
    write_separator(w);
    json_write_quoted(w->f, key);
    fputs(w->pretty ? ": " : ":", w->f);
    w->after_key = true;
}

void oc_jw_string(struct oc_json_out *w, const char *s)
{
    if (!s) {
        oc_jw_null(w);
        return;
    }
    write_separator(w);
    json_write_quoted(w->f, s);
    w->need_comma = true;
}

void oc_jw_u64(struct oc_json_out *w, uint64_t v)
{
    char text[24], *end = text + sizeof(text) - 1;
    *end = '\0';
    json_write_plain(w, oc_put_digits(end, v));
}

void oc_jw_i64(struct oc_json_out *w, int64_t v)
{
    write_separator(w);
    fprintf(w->f, "%" PRId64, v);
    w->need_comma = true;
}

void oc_jw_double(struct oc_json_out *w, double v)
{
    char text[32] = "null";
    if (isfinite(v))
        oc_format_repr(v, text, sizeof(text));
    json_write_plain(w, text);
}

void oc_jw_bool(struct oc_json_out *w, bool v)
{
    json_write_plain(w, v ? "true" : "false");
}

void oc_jw_null(struct oc_json_out *w)
{
    json_write_plain(w, "null");
}

void oc_jw_raw(struct oc_json_out *w, const char *json)
{
    json_write_plain(w, json);
}
