#include "estimate/sample_dims.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"

static bool parse_number(const char *s, size_t n, int64_t *out)
{
    char text[24], *end;
    if (!n || n >= sizeof(text) || *s < '0' || *s > '9')
        return false;
    memcpy(text, s, n);
    text[n] = 0;
    errno = 0;
    *out = strtoll(text, &end, 10);
    return !errno && !*end;
}

int oc_sample_dims_parse(const char *text, struct oc_arena *a, struct oc_sample_dims *out, struct oc_err *err)
{
    out->bind = OC_NEW_ARRAY(a, strlen(text) / 2 + 1, struct oc_bind);
    out->n = 0;
    for (const char *p = text; *p;) {
        size_t n = strcspn(p, "; "), name = strcspn(p, "=; ");
        int64_t v;
        if (n && (!name || name >= n || !parse_number(p + name + 1, n - name - 1, &v)))
            return oc_fail(err, OC_EFORMAT, "dims '%s': '%.*s' must be NAME=NUMBER", text, (int)n, p);
        if (n)
            out->bind[out->n++] = (struct oc_bind){.symbol = oc_strndup(a, p, name), .value = v};
        p += n + (p[n] != 0);
    }
    return 0;
}
