#include "fuzz/profile_checks.h"
#include "onnxcost/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

extern const struct oc_importer oc_importer_mindspore;

/* Shapes need times in the same folder: the input once as a table, once as the shapes of one operator. */
static void with_times(const uint8_t *data, size_t n)
{
    static const char times[] = "full_kernel_name,execution_time\nDefault/conv1-Conv2d/Conv2D-op17,0.5\n";
    struct oc_source_file file[] = {{.path = "", .s = oc_stream_mem(times, sizeof(times) - 1), .part = 0},
                                    {.path = "", .s = oc_stream_mem(data, n), .part = 3}};
    struct oc_profile p = {.path = "", .producer = "", .device = ""};
    struct oc_err err = {0};
    p.names.arena = p.diags.arena = &p.arena;
    p.exprs = oc_exprs_new(&p.arena);
    if (oc_importer_mindspore.read(&(struct oc_source){file, 2}, &(struct oc_profile_opts){0}, &p, &err) == 0)
        fuzz_check_profile(&p);
    else if (!err.msg[0])
        abort();
    oc_stream_close(file[0].s);
    oc_stream_close(file[1].s);
    oc_diags_free(&p.diags);
    oc_map_free(&p.names);
    oc_exprs_free(p.exprs);
    oc_arena_free(&p.arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    fuzz_importer(&oc_importer_mindspore, data, n, &(struct oc_profile_opts){0});
    with_times(data, n);
    return 0;
}
