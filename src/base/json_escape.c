#include "base/json_escape.h"

#include <string.h>

static int hex4(const char *p, size_t n)
{
    int v = 0;
    if (n < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        char c = p[i];
        char low = (char)(c | 32);
        if (c >= '0' && c <= '9')
            v = v * 16 + (c - '0');
        else if (low >= 'a' && low <= 'f')
            v = v * 16 + (low - 'a' + 10);
        else
            return -1;
    }
    return v;
}

static size_t put_utf8(char *out, unsigned c)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xc0 | c >> 6);
        out[1] = (char)(0x80 | (c & 63));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xe0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 63));
        out[2] = (char)(0x80 | (c & 63));
        return 3;
    }
    out[0] = (char)(0xf0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 63));
    out[2] = (char)(0x80 | (c >> 6 & 63));
    out[3] = (char)(0x80 | (c & 63));
    return 4;
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
        return put_utf8(out, (unsigned)hi);
    int lo = hi < 0xdc00 && n >= 10 && p[4] == '\\' && p[5] == 'u' ? hex4(p + 6, n - 6) : -1;
    if (lo < 0xdc00 || lo > 0xdfff)
        return put_utf8(out, 0xfffd);
    *used = 10;
    return put_utf8(out, 0x10000 + ((unsigned)(hi - 0xd800) << 10) + (unsigned)(lo - 0xdc00));
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
