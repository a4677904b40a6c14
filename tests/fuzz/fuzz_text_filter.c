/* The text filter: any bytes, with and without the prefix found in them, are read to their end; the text is
 * not longer than UTF-8 can be, and no line end appears. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/log_prefix.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void run(const uint8_t *src, size_t n, const struct oc_log_prefix *prefix, size_t drop)
{
    const char *data;
    size_t left = 0, all = 0;
    enum oc_text_encoding encoding = oc_text_encoding(src, n);
    struct oc_text_filter *f = oc_text_filter_open(src, n, encoding, prefix);
    while (oc_text_filter_more(f, left < drop ? left : drop, true, &data, &left)) {
        if (left && data[left - 1] == '\n' && encoding == OC_TEXT_BYTES && !memchr(src, '\n', n))
            abort();
        all = left;
    }
    if (all > 2 * n || oc_text_filter_taken(f) != n)
        abort();
    oc_text_filter_close(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct oc_log_prefix found;
    oc_log_prefix_of((const char *)data, n, &found);
    if (found.n > OC_LOG_PARTS)
        abort();
    run(data, n, NULL, 0);
    run(data, n, oc_log_prefix_any(&found) ? &found : NULL, 0);
    run(data, n, oc_log_prefix_any(&found) ? &found : NULL, 3);
    if (oc_log_form_of((const char *)data, n, 75, &found))
        run(data, n, &found, 0);
    return 0;
}
