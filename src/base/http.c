#include "base/http.h"

#include <inttypes.h>
#include <string.h>

#include "base/diag.h"
#include "base/str.h"

/* ---- answers ---------------------------------------------------------------------------------------- */

static struct oc_str trim(struct oc_str s)
{
    while (s.n && strchr(" \t\r\n", s.s[s.n - 1]) && s.s[s.n - 1])
        s.n--;
    while (s.n && (*s.s == ' ' || *s.s == '\t')) {
        s.s++;
        s.n--;
    }
    return s;
}

/* A number at the start, which is removed. False: none, or too large. */
static bool take_number(struct oc_str *s, uint64_t *out)
{
    size_t i = 0;
    for (*out = 0; i < s->n && s->s[i] >= '0' && s->s[i] <= '9'; i++)
        if (__builtin_mul_overflow(*out, 10, out) ||
            __builtin_add_overflow(*out, (uint64_t)(s->s[i] - '0'), out))
            return false;
    s->s += i;
    s->n -= i;
    return i > 0;
}

static bool take_char(struct oc_str *s, char c)
{
    if (!s->n || *s->s != c)
        return false;
    s->s++;
    s->n--;
    return true;
}

/* "bytes 0-99/1000"; the total may be '*', and of an empty file the range too. */
static void take_range(struct oc_http_answer *a, struct oc_str s)
{
    if (s.n < 6 || oc_ncasecmp(s.s, "bytes ", 6) != 0)
        return;
    s = trim(oc_str(s.s + 6, s.n - 6));
    bool range = !take_char(&s, '*');
    if (range && (!take_number(&s, &a->from) || !take_char(&s, '-') || !take_number(&s, &a->last)))
        return;
    if (!take_char(&s, '/'))
        return;
    a->has_total = take_number(&s, &a->total) && !s.n;
    a->has_range = range && a->from <= a->last && (!a->has_total || a->last < a->total);
}

static bool is_name(struct oc_str s, const char *name)
{
    return s.s && s.n == strlen(name) && oc_ncasecmp(s.s, name, s.n) == 0;
}

void oc_http_line(struct oc_http_answer *a, const char *line, size_t n)
{
    struct oc_str s = trim(oc_str(line, n));
    if (s.n > 9 && !memcmp(s.s, "HTTP/", 5)) {
        const char *blank = memchr(s.s, ' ', s.n);
        uint64_t status = 0;
        struct oc_str rest = blank ? trim(oc_str(blank, (size_t)(s.s + s.n - blank))) : oc_str("", 0);
        *a = (struct oc_http_answer){0};
        a->status = take_number(&rest, &status) && status < 1000 ? (unsigned)status : 0;
        return;
    }
    const char *colon = memchr(s.s ? s.s : "", ':', s.n);
    if (!colon)
        return;
    struct oc_str key = oc_str(s.s, (size_t)(colon - s.s)), value = trim(oc_str(colon + 1, s.n - key.n - 1));
    if (is_name(key, "content-range"))
        take_range(a, value);
    else if (is_name(key, "content-length"))
        a->has_length = take_number(&value, &a->length) && !value.n;
    else if (is_name(key, "content-encoding"))
        a->compressed = value.n && !is_name(value, "identity");
    else if (is_name(key, "etag") && value.n < sizeof(a->tag))
        snprintf(a->tag, sizeof(a->tag), "%.*s", (int)value.n, value.s);
}

static int fail_status(unsigned status, struct oc_err *err)
{
    switch (status) {
    case 401:
    case 403:
        return oc_fail(err, OC_EIO,
                       "the server refuses it (%u): private, or accepted terms are needed; download it",
                       status);
    case 404:
    case 410:
        return oc_fail(err, OC_EIO, "the server has no such file (%u)", status);
    case 429:
        return oc_fail(err, OC_EIO, "the server has had too many requests (429): wait, or download it");
    default:
        return oc_fail(err, OC_EIO, "the server answers with status %u", status);
    }
}

int oc_http_check(const struct oc_http_answer *a, uint64_t from, uint64_t n, uint64_t size, const char *tag,
                  bool *whole, struct oc_err *err)
{
    *whole = a->status == 200 || (a->status == 416 && from == 0 && a->has_total && !a->total);
    if (!*whole && a->status != 206)
        return fail_status(a->status, err);
    if (a->compressed)
        return oc_fail(err, OC_EIO,
                       "the server compresses it, so that no part can be read alone: download it");
    if (*whole)
        return size == UINT64_MAX
                   ? 0
                   : oc_fail(err, OC_EIO,
                             "the server sends the whole file after it has sent a part: try again");
    if (!a->has_range || !a->has_total)
        return oc_fail(err, OC_EFORMAT, "the server does not say which part of the file it sends");
    if ((size != UINT64_MAX && a->total != size) || (tag && *tag && *a->tag && strcmp(tag, a->tag) != 0))
        return oc_fail(err, OC_EIO, "the file changed on the server while it was read: try again");
    uint64_t end = n < a->total - a->from ? from + n : a->total;
    if (a->from != from || a->last + 1 != end)
        return oc_fail(err, OC_EFORMAT,
                       "the server sends bytes %" PRIu64 " to %" PRIu64 " for a request of %" PRIu64
                       " from %" PRIu64,
                       a->from, a->last, n, from);
    return 0;
}

/* ---- URLs ------------------------------------------------------------------------------------------- */

bool oc_http_is_url(const char *path)
{
    return !strncmp(path, "https://", 8) || !strncmp(path, "http://", 7) || !strncmp(path, "hf:", 3);
}

/* Appends a path; characters with a meaning in URLs are escaped. False: no room. */
static bool add_path(char *out, size_t cap, const char *name, size_t n)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
    size_t at = strlen(out);
    for (size_t i = 0; i < n; i++) {
        if (at + 4 > cap)
            return false;
        at += (size_t)snprintf(out + at, cap - at, strchr(plain, name[i]) ? "%c" : "%%%02X",
                               (unsigned char)name[i]);
    }
    return true;
}

bool oc_http_beside(const char *url, const char *name, char *out, size_t cap)
{
    size_t n = strcspn(url, "?#");
    while (n && url[n - 1] != '/')
        n--;
    return snprintf(out, cap, "%.*s", (int)n, url) < (int)cap && add_path(out, cap, name, strlen(name));
}

bool oc_http_hub(const char *text, const char *endpoint, const char *file, char *out, size_t cap)
{
    if (strncmp(text, "hf:", 3) != 0)
        return false;
    const char *name = text + 3, *slash = strchr(name, '/');
    size_t n = slash ? (size_t)(slash - name) + 1 : 0, all = n ? n + strcspn(slash + 1, "/") : 0;
    const char *at = memchr(name, '@', all), *inner = name[all] ? name + all + 1 : file;
    size_t id = at ? (size_t)(at - name) : all, end = strlen(endpoint);
    while (end && endpoint[end - 1] == '/')
        end--;
    if (n < 2 || id <= n || !*inner || strstr(name, "..") || end + 1 >= cap)
        return false;
    snprintf(out, cap, "%.*s/", (int)end, endpoint);
    return add_path(out, cap, name, id) && add_path(out, cap, "/resolve/", 9) &&
           add_path(out, cap, at ? at + 1 : "main", at ? (size_t)(name + all - at - 1) : 4) &&
           add_path(out, cap, "/", 1) && add_path(out, cap, inner, strlen(inner));
}
