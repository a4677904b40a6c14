#include "base/wrap.h"

#include <string.h>

#include "base/arena.h"
#include "base/unicode.h"

static void visible(struct oc_buf *b, const char *p, size_t n)
{
    for (const char *end = p + n; p < end;) {
        const char *from = p;
        if (oc_uni_is_hidden(oc_utf8_next(&p, end)))
            oc_buf_char(b, '?');
        else
            oc_buf_add(b, from, (size_t)(p - from));
    }
}

void oc_plain_text(struct oc_buf *b, const char *s)
{
    visible(b, s, strlen(s));
}

/* End of the part that fits in `room` columns, at least one character; after a '/' if there is one. */
static const char *fitting_end(const char *p, const char *end, size_t room)
{
    size_t used = 0;
    const char *next = p, *slash = NULL;
    while (p < end) {
        used += oc_uni_columns(oc_utf8_next(&next, end));
        if (used > room)
            break;
        slash = *p == '/' && next < end && used > room / 2 ? next : slash;
        p = next;
    }
    return slash && p < end ? slash : p;
}

static bool wrap_is_unit(const char *word, size_t n)
{
    static const char *const unit[] = {"%",  "s",     "ms",   "us",     "ns",     "B",   "kB",  "MB",
                                       "GB", "TB",    "KiB",  "MiB",    "GiB",    "TiB", "k",   "M",
                                       "G",  "T",     "MACs", "FLOPs",  "GFLOPs", "MHz", "GHz", "W",
                                       "x",  "nodes", "runs", "points", "FLOP/B"};
    while (n && strchr(",;:.)", word[n - 1]))
        n--;
    for (size_t i = 0; i < OC_COUNT(unit); i++)
        if (strlen(unit[i]) == n && memcmp(unit[i], word, n) == 0)
            return true;
    return n > 2 && memcmp(word + n - 2, "/s", 2) == 0;
}

/* No line break between a number and its unit, or between a sign and the following term. */
static bool is_bound_to_next(const char *word, size_t n, const char *next)
{
    size_t sign = strspn(word, "(<>=~+-");
    if (n == 1 && strchr("+-", *word))
        return true;
    return sign < n && word[sign] >= '0' && word[sign] <= '9' && wrap_is_unit(next, strcspn(next, " "));
}

/* End of the words from `p` that stay on one line. */
static const char *unbroken_end(const char *p)
{
    const char *end = strchrnul(p, ' ');
    while (*end && is_bound_to_next(p, (size_t)(end - p), end + 1)) {
        p = end + 1;
        end = strchrnul(p, ' ');
    }
    return end;
}

void oc_plain_wrap(size_t indent, size_t width, const char *text, FILE *f)
{
    struct oc_buf b = {0};
    size_t room = width > indent + 1 ? width - indent : 1, used = 0;
    for (const char *p = text; *p;) {
        const char *end = unbroken_end(p);
        size_t n = oc_utf8_columns(p, (size_t)(end - p));
        if (n > room) { /* words that do not fit together */
            end = strchrnul(p, ' ');
            n = oc_utf8_columns(p, (size_t)(end - p));
        }
        if (width && used && used + 1 + n > room) {
            oc_buf_printf(&b, "\n%*s", (int)indent, "");
            used = 0;
        } else if (used) {
            oc_buf_char(&b, ' ');
            used++;
        }
        for (const char *cut; width && n > room && (cut = fitting_end(p, end, room)) > p; p = cut) {
            visible(&b, p, (size_t)(cut - p)); /* a word longer than a line */
            oc_buf_printf(&b, "\n%*s", (int)indent, "");
            n -= oc_utf8_columns(p, (size_t)(cut - p));
        }
        visible(&b, p, (size_t)(end - p));
        used += n;
        p = end + (*end == ' ');
    }
    oc_buf_char(&b, '\n');
    fwrite(b.data, 1, b.n, f);
    oc_buf_free(&b);
}

void oc_plain_say(const char *label, size_t label_width, size_t width, const char *text, FILE *f)
{
    fprintf(f, "%-*s", (int)label_width, label);
    oc_plain_wrap(label_width, width, text, f);
}

void oc_plain_say_format(const char *label, size_t label_width, size_t width, FILE *f, const char *fmt, ...)
{
    char text[2048];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    oc_plain_say(label, label_width, width, text, f);
}
