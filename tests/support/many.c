#include "support/many.h"

#include <string.h>

#include "base/arena.h"

char *t_many(const char *before, const char *part, size_t n, const char *after)
{
    struct oc_buf b = {0};
    size_t head = strcspn(part, "#");
    oc_buf_str(&b, before);
    for (size_t i = 0; i < n; i++) {
        oc_buf_add(&b, part, head);
        if (part[head])
            oc_buf_printf(&b, "%07zu%s", i, part + head + 1);
    }
    oc_buf_str(&b, after);
    return b.data;
}
