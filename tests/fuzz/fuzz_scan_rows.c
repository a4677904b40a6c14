#include <stdio.h>
#include <stdlib.h>

#include "fleet/scan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Rows of an earlier scan of the files named by the seeds. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const char *const path[] = {"/dev/null", "m/a.onnx", "m/b.onnx"};
    struct oc_scan *scan;
    struct oc_err err = {0};
    oc_scan_open(path, OC_COUNT(path), &(struct oc_scan_opts){.jobs = 1, .hash = OC_SCAN_HASH_OFF}, &scan,
                 NULL);
    for (size_t i = 0; i < scan->files.n; i++) { /* as if they existed */
        scan->files.item[i].error = 0;
        scan->files.item[i].size_bytes = 100 + i;
        scan->files.item[i].mtime_ns = 5;
    }
    snprintf(scan->settings, sizeof(scan->settings), "0123456789abcdef");
    struct oc_stream *text = oc_stream_mem(data, n);
    if (oc_scan_keep_from(scan, text, &err) && !err.msg[0])
        abort();
    for (size_t i = 0; i < scan->files.n; i++)
        if (scan->kept[i] && scan->kept[i]->size_bytes != 100 + i)
            abort();
    oc_stream_close(text);
    oc_scan_free(scan);
    return 0;
}
