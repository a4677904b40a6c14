/* Any lines as the head of a server's answer: what is accepted has exactly the bytes of the request. Any text
 * as the name of a model of the hub: the URL is one of the endpoint. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check_answer(const char *text, size_t n)
{
    static const uint64_t from[] = {0, 65536, UINT64_MAX - 5}, bytes[] = {1, 65536};
    struct oc_http_answer a = {0};
    for (const char *p = text, *end = text + n; p < end;) {
        const char *line = memchr(p, '\n', (size_t)(end - p));
        size_t k = line ? (size_t)(line - p) + 1 : (size_t)(end - p);
        oc_http_line(&a, p, k);
        p += k;
    }
    for (size_t i = 0; i < 6; i++) {
        struct oc_err err = {0};
        bool whole;
        uint64_t at = from[i / 2], want = bytes[i % 2];
        if (oc_http_check(&a, at, want, i ? 100000 : UINT64_MAX, i ? "\"1\"" : NULL, &whole, &err)) {
            if (!err.msg[0])
                abort();
        } else if (!whole && (a.from != at || a.last < at || a.last - at >= want || a.last >= a.total ||
                              (i && a.total != 100000))) {
            abort();
        }
    }
}

static void check_names(const char *text)
{
    static const char endpoint[] = "https://host.example/";
    char url[256];
    if (oc_http_hub(text, endpoint, "config.json", url, sizeof(url)) &&
        (strncmp(url, endpoint, sizeof(endpoint) - 1) != 0 || strpbrk(url + 8, " \n?#@") ||
         strstr(url, "..")))
        abort();
    if (oc_http_beside("https://host.example/a/b.json?x=/y", text, url, sizeof(url)) &&
        (strncmp(url, "https://host.example/a/", 23) != 0 || strpbrk(url, " \n?#")))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char *text = malloc(n + 1);
    if (!text)
        abort();
    memcpy(text, data, n);
    text[n] = '\0';
    check_answer(text, n);
    check_names(text);
    free(text);
    return 0;
}
