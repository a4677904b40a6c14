#include <string.h>

#include "fuzz/profile_checks.h"
#include "profile/formats/function_tables.h"
#include "onnxcost/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

extern const struct oc_importer oc_importer_generic_csv, oc_importer_cprofile;

/* The input as a column map, too. */
static void check_map(const uint8_t *data, size_t n)
{
    struct oc_arena a = {0};
    struct oc_column_map map;
    struct oc_err err = {0};
    const char *text = oc_strndup(&a, (const char *)data, n < 4096 ? n : 4096);
    if (oc_column_map_parse(text, &a, &map, &err) != 0 && !err.msg[0])
        abort();
    oc_arena_free(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const char map[] = "name=Function,time='CPU Time':ms,calls=Calls,min=Min,kernel=GPU";
    fuzz_importer(&oc_importer_generic_csv, data, n, &(struct oc_profile_opts){0});
    fuzz_importer(&oc_importer_generic_csv, data, n, &(struct oc_profile_opts){.map = map});
    fuzz_importer(&oc_importer_generic_csv, data, n,
                  &(struct oc_profile_opts){.map = "name=Function,time=CPU Time"});
    fuzz_importer(&oc_importer_cprofile, data, n, &(struct oc_profile_opts){0});
    check_map(data, n);
    return 0;
}
