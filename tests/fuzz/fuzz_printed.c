/* A description of a printed format and, after the byte 0x1e, a text that it reads: both are of the fuzzer. */
#include "fuzz/profile_checks.h"
#include "onnxcost/profile.h"
#include "profile/printed/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct oc_arena a = {0};
    struct oc_err err = {0};
    const struct oc_printed_format *f;
    const uint8_t *end = n ? memchr(data, 0x1e, n) : NULL;
    size_t head = end ? (size_t)(end - data) : n;
    if (oc_printed_parse("fuzz.xml", data, head, &a, &f, &err) == 0)
        for (; end && f; f = f->next) {
            struct oc_importer imp = {.name = f->name, .title = f->title, .printed = f, .in_output = true};
            fuzz_importer(&imp, end + 1, n - head - 1, &(struct oc_profile_opts){0});
        }
    else if (!err.msg[0])
        abort();
    oc_arena_free(&a);
    return 0;
}
