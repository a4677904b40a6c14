/* The JSON writer. */
#include "base/json_write.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/unicode.h"
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

/* The first byte from s on that may need an escape. */
static const char *plain_end(const char *s)
{
    while ((unsigned char)(*s - 0x20) < 0x7f - 0x20 && *s != '"' && *s != '\\')
        s++;
    return s;
}

/* Writes another character and returns what follows it. What a terminal would interpret instead of showing is written as
 * an equivalent escape; bytes of invalid UTF-8 and of surrogates become U+FFFD each. Not inlined, because most strings
 * have no such character. */
static __attribute__((noinline)) const char *put_special(FILE *f, const char *s)
{
    static const char short_of[] = "\"\\\b\f\n\r\t", letter[] = "\"\\bfnrt";
    const char *next = s;
    uint32_t cp = oc_utf8_next(&next, s + 4); /* ends at a NUL */
    const char *hit = cp < 0x80 ? strchr(short_of, (int)cp) : NULL;
    if (hit) {
        fprintf(f, "\\%c", letter[hit - short_of]);
    } else if (cp >= OC_BAD_BYTE || (cp >= 0xd800 && cp < 0xe000)) {
        fputs("\xef\xbf\xbd", f);
        return s + 1;
    } else if (oc_uni_is_hidden(cp)) {
        fprintf(f, "\\u%04x", (unsigned)cp);
    } else {
        fwrite(s, 1, (size_t)(next - s), f);
    }
    return next;
}

static void json_write_quoted(FILE *f, const char *s)
{
    putc('"', f);
    for (const char *end; (end = plain_end(s)), fwrite(s, 1, (size_t)(end - s), f), *end;)
        s = put_special(f, end);
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
