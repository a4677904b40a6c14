/* Weight files: any bytes are read, or rejected with a line. */
#include "analyze/analysis.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct oc_weights w;
    struct oc_err err = {0};
    int rc = oc_weights_read((const char *)data, n, "fuzz", &w, &err);
    if ((rc != 0) != (err.msg[0] != '\0' && err.line))
        abort();
    for (unsigned p = 0; p < OC_PRIM_COUNT && rc == 0; p++)
        if (w.w[p] > 1000000)
            abort();
    return 0;
}
