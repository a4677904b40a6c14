/* Kernel names: any bytes as a file of rows are read or rejected with a location; any name is looked up in
 * the result and in the built-in rows. */
#include <stdlib.h>
#include <string.h>

#include "profile/core/kernel_names.h"
#include "onnxcost/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct oc_kernel_names *own;
    struct oc_kernel_facts f;
    struct oc_err err = {0};
    int rc = oc_kernel_names_read_mem("fuzz.xml", data, n, &own, &err);
    if ((rc != 0) != (err.msg[0] != '\0') || (rc != 0) != (own == NULL))
        abort();
    char *text = malloc(n + 1);
    if (!text)
        abort();
    memcpy(text, data, n);
    text[n] = '\0';
    oc_kernel_facts(own, text, &f);
    if (!f.precision || !f.unit || !f.op_class || !f.library || !f.algorithm)
        abort();
    oc_kernel_match(text, "sm80_xmma_fprop_implicit_gemm_f16f16_f16f16_f16_nhwckrsc");
    free(text);
    oc_kernel_names_free(own);
    return 0;
}
