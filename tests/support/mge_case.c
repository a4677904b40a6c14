#include "support/mge_case.h"

#include <stdlib.h>
#include <string.h>

#include "write/report_write.h"
#include "onnxcost/profile.h"

extern const struct oc_importer oc_importer_megengine;

static int read_stream(struct oc_stream *s, struct oc_profile *p, struct oc_err *err)
{
    static const struct oc_profile_opts opts = {0};
    p->format = oc_importer_megengine.name;
    p->names.arena = &p->arena;
    p->diags.arena = &p->arena;
    int rc = oc_importer_megengine.read(
        &(struct oc_source){.file = &(struct oc_source_file){.path = "", .s = s}, .n = 1}, &opts, p, err);
    oc_stream_close(s);
    return rc;
}

int mge_read(const char *text, size_t n, struct oc_profile *p, struct oc_err *err)
{
    *p = (struct oc_profile){0};
    return read_stream(oc_stream_mem(text, n), p, err);
}

int mge_read_file(const char *path, struct oc_profile *p, struct oc_err *err)
{
    struct oc_stream *s;
    *p = (struct oc_profile){0};
    return oc_stream_open(path, NULL, &s, err) == 0 ? read_stream(s, p, err) : -1;
}

void mge_free(struct oc_profile *p)
{
    oc_map_free(&p->names);
    oc_diags_free(&p->diags);
    oc_arena_free(&p->arena);
}

static bool parse_flag(struct oc_report_opts *o, const char *arg)
{
    if (strcmp(arg, "--copy-time") == 0)
        o->copy_time = true;
    else if (strcmp(arg, "--show-host") == 0)
        o->show_host = true;
    else if (strcmp(arg, "--dump-only-opr") == 0)
        o->dump_only_opr = true;
    else if (strcmp(arg, "--confluence") == 0 || strcmp(arg, "--wiki") == 0)
        o->confluence = true;
    else
        return false;
    return true;
}

static bool parse_value(struct mge_args *a, const char *arg, const char *value)
{
    const struct {
        const char *name;
        const char **field;
    } text[] = {
        {"--aggregate", &a->opts.aggregate},   {"--aggregate-by", &a->opts.group_by},
        {"--order-by", &a->opts.order_by},     {"--top-end-key", &a->opts.top_end_key},
        {"--min-time", &a->opts.min_time},     {"--max-time", &a->opts.max_time},
        {"--print-only", &a->opts.print_only}, {"--opr-name", &a->name[0]},
        {"--input-dtype", &a->dtype[0]},
    };
    for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++)
        if (strcmp(arg, text[i].name) == 0) {
            *text[i].field = value;
            return true;
        }
    if (strcmp(arg, "--top") == 0 || strcmp(arg, "-t") == 0) {
        a->opts.has_top = true;
        a->opts.top = strtoll(value, NULL, 10);
        return true;
    }
    if (strcmp(arg, "--type") == 0 && a->opts.n_type < 64) {
        a->type[a->opts.n_type++] = value;
        return true;
    }
    return false;
}

bool mge_parse_args(struct mge_args *a, int argc, char **argv)
{
    *a = (struct mge_args){0};
    for (int i = 0; i < argc; i++) {
        if (parse_flag(&a->opts, argv[i]))
            continue;
        if (i + 1 == argc || !parse_value(a, argv[i], argv[i + 1]))
            return false;
        i++;
    }
    a->opts.type = a->type;
    a->opts.name_pattern = a->name;
    a->opts.n_name_pattern = a->name[0] != NULL;
    a->opts.input_dtype = a->dtype;
    a->opts.n_input_dtype = a->dtype[0] != NULL;
    return true;
}

char *mge_report_text(const struct oc_profile *p, const struct oc_report_opts *o, struct oc_err *err)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    int rc = f ? oc_mge_report(p->native, o, f, err) : -1;
    if (f)
        fclose(f);
    if (rc == 0)
        return text;
    free(text);
    return NULL;
}
