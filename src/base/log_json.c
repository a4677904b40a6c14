/* Lines of JSON that hold a line of text each: {"log":"text\n","stream":"stdout","time":"..."}. */
#include "base/log_json.h"

#include <string.h>

#include "base/arena.h"
#include "base/json_read.h"

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

/* The text of a string after its quote; the end of its line goes. A damaged line is the text up to there. */
void oc_log_json_text(const char *p, const char *end, struct oc_buf *out)
{
    const char *stop = p;
    for (; stop < end && *stop != '"'; stop++)
        stop += *stop == '\\' && stop + 1 < end;
    oc_buf_clear(out);
    oc_buf_add(out, p, (size_t)(stop - p));
    if (out->n)
        out->n = oc_json_unescape(p, out->n, out->data);
    while (out->n && (out->data[out->n - 1] == '\n' || out->data[out->n - 1] == '\r'))
        out->n--;
}
