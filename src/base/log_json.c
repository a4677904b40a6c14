/* Lines of JSON that hold a line of text each: {"log":"text\n","stream":"stdout","time":"..."}. */
#include "base/log_json.h"

#include <string.h>

#include "base/arena.h"
#include "base/unicode.h"

/* After the string that begins at s, or the end of the text. */
static const char *string_end(const char *s, const char *end)
{
    for (s++; s < end && *s != '"'; s++)
        s += *s == '\\' && s + 1 < end;
    return s < end ? s + 1 : end;
}

/* After the value that begins at s: a string, an object, an array or a word. */
static const char *value_end(const char *s, const char *end)
{
    size_t depth = 0;
    while (s < end && (depth || (*s != ',' && *s != '}'))) {
        depth += *s == '{' || *s == '[';
        depth -= depth && (*s == '}' || *s == ']');
        s = *s == '"' ? string_end(s, end) : s + 1;
    }
    return s;
}

/* The text of the line after its quote: the member with the name that Docker (log), systemd (MESSAGE), Google's cloud
 * (textPayload), or loggers of programs give it. NULL: no such line. */
const char *oc_log_json(struct oc_str line)
{
    static const char *const name[] = {"log", "message", "msg", "MESSAGE", "textPayload", "event"};
    const char *s = line.s + 1, *end = line.s + line.n;
    if (line.n < 2 || line.s[0] != '{')
        return NULL;
    while (s < end) {
        while (s < end && (*s == ' ' || *s == ','))
            s++;
        const char *key = s + 1, *after = s < end && *s == '"' ? string_end(s, end) : end;
        for (s = after; s < end && (*s == ' ' || *s == ':');)
            s++;
        for (size_t i = 0; s < end && *s == '"' && i < OC_COUNT(name); i++)
            if ((size_t)(after - key) == strlen(name[i]) + 1 && memcmp(key, name[i], strlen(name[i])) == 0)
                return s + 1;
        s = value_end(s, end);
        if (s < end && *s == '}')
            return NULL;
    }
    return NULL;
}

static uint32_t hex4(const char *s)
{
    uint32_t v = 0;
    for (unsigned i = 0; i < 4; i++) {
        int c = s[i] | 32;
        if (!oc_is_digit(s[i]) && !(c >= 'a' && c <= 'f'))
            return UINT32_MAX;
        v = v * 16 + (uint32_t)(oc_is_digit(s[i]) ? s[i] - '0' : c - 'a' + 10);
    }
    return v;
}

/* The text of a string after its quote; the end of its line goes. A damaged line is the text up to there. */
void oc_log_json_text(const char *p, const char *end, struct oc_buf *out)
{
    static const char plain[] = "\"\\/bfnrt", value[] = "\"\\/\b\f\n\r\t";
    oc_buf_clear(out);
    while (p < end && *p != '"') {
        const char *at = *p == '\\' && p + 1 < end ? strchr(plain, p[1]) : NULL;
        uint32_t cp = *p == '\\' && end - p > 6 && p[1] == 'u' ? hex4(p + 2) : UINT32_MAX;
        char utf8[4];
        if (cp != UINT32_MAX) {
            oc_buf_add(out, utf8, oc_utf8_put(utf8, cp >= 0xd800 && cp < 0xe000 ? 0xfffd : cp));
            p += 6;
        } else {
            oc_buf_char(out, (char)(at && *at ? value[at - plain] : *p));
            p += at && *at ? 2 : 1;
        }
    }
    while (out->n && (out->data[out->n - 1] == '\n' || out->data[out->n - 1] == '\r'))
        out->n--;
}
