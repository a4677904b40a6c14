/* The MegEngine importer and every format of its report. */
#include <stdlib.h>

#include "write/report_write.h"
#include "onnxcost/profile.h"
#include "onnxcost/report.h"

extern const struct oc_importer oc_importer_megengine;
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void report(const struct oc_profile *p, const struct oc_report_opts *o)
{
    struct oc_err err = {0};
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    if (oc_mge_report(p->native, o, f, &err) != 0 && err.code == OC_EARG)
        abort(); /* the options are valid */
    fclose(f);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const char *const dtype[] = {"Float32"};
    static const struct oc_profile_opts opts = {0};
    static const struct oc_report_opts forms[] = {
        {.has_top = true, .show_host = true, .copy_time = true},
        {.has_top = true, .confluence = true, .order_by = "+in_shapes", .top_end_key = "kern"},
        {.has_top = true, .aggregate = "mean", .group_by = "type", .order_by = "flops"},
        {.dump_only_opr = true, .input_dtype = dtype, .n_input_dtype = 1, .order_by = "+opr_id"},
    };
    struct oc_profile p = {.format = oc_importer_megengine.name};
    struct oc_err err = {0};
    p.names.arena = p.diags.arena = &p.arena;
    struct oc_stream *s = oc_stream_mem(data, n);
    if (oc_importer_megengine.read(
            &(struct oc_source){.file = &(struct oc_source_file){.path = "", .s = s}, .n = 1}, &opts, &p,
            &err) == 0)
        for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
            report(&p, &forms[i]);
    oc_stream_close(s);
    oc_map_free(&p.names);
    oc_diags_free(&p.diags);
    oc_arena_free(&p.arena);
    return 0;
}
