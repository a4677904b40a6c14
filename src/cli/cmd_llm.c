#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/output.h"
#include "cli/shapes.h"

enum { PROMPT = 512, GENERATE = 128, MAX_DEVICES = 64 };

struct view {
    const struct cli_opts *o;
    struct cli_shapes shapes;
    struct oc_model *model;
    struct oc_hwdb *db;
    const struct oc_device *device[MAX_DEVICES];
    size_t n_device;
    struct oc_llm *llm;
};

/* --hw takes several, separated by commas. */
static int find_devices(struct view *v)
{
    const char *p = v->o->hw;
    if (!p && v->o->hw_set.n)
        return cli_fail(CLI_USAGE, "--hw-set changes a device: name it with --hw");
    while (p) {
        size_t n = strcspn(p, ",");
        char *name = strndup(p, n);
        if (!name)
            return cli_fail(CLI_ENVIRONMENT, "out of memory");
        int rc = v->n_device == MAX_DEVICES ? cli_fail(CLI_USAGE, "--hw: more than %d devices", MAX_DEVICES)
                                            : cli_find_device(v->o, name, &v->db, &v->device[v->n_device++]);
        free(name);
        if (rc)
            return rc;
        p = p[n] ? p + n + 1 : NULL;
    }
    return 0;
}

static int64_t number_or(const struct cli_int *n, int64_t otherwise)
{
    return n->set ? n->v : otherwise;
}

static int make(struct view *v)
{
    struct oc_err err;
    if (v->o->word.n != 1)
        return cli_fail(CLI_USAGE, "'llm' needs one model: onnxcost llm MODEL");
    if (v->o->default_dim.set && v->o->default_dim.v < 1)
        return cli_fail(CLI_USAGE, "--default-dim needs a number of at least 1, not %lld",
                        (long long)v->o->default_dim.v);
    int rc = cli_shapes_parse(v->o, NULL, 0, &v->shapes);
    if (!rc)
        rc = find_devices(v);
    if (rc)
        return rc;
    if (oc_model_load(v->o->word.item[0], NULL, &v->model, &err))
        return cli_fail_err(&err);
    struct oc_analyze_opts analyze = cli_analyze_opts(v->o, &v->shapes);
    struct oc_llm_opts opts = {.analyze = &analyze,
                               .batch = number_or(&v->o->batch, 1),
                               .prompt = number_or(&v->o->prompt, PROMPT),
                               .generate = number_or(&v->o->generate, GENERATE),
                               .device = v->device,
                               .n_device = v->n_device};
    return oc_llm_make(v->model, &opts, &v->llm, &err) ? cli_fail_err(&err) : 0;
}

static int write_view(const struct view *v)
{
    const char *format = v->o->format && !strcmp(v->o->format, "compact") ? "table" : v->o->format;
    struct cli_output out;
    struct oc_err err;
    int rc = cli_output_open(v->o->output, &out);
    if (rc)
        return rc;
    int failed = oc_llm_write(v->llm, format, out.f, &err) ? cli_fail_err(&err) : 0;
    rc = cli_output_close(&out, !failed);
    return failed ? failed : rc;
}

int cmd_llm(const struct cli_opts *o)
{
    struct view v = {.o = o};
    int rc = make(&v);
    if (!rc)
        rc = write_view(&v);
    oc_llm_free(v.llm);
    cli_shapes_free(&v.shapes);
    oc_model_free(v.model);
    oc_hwdb_free(v.db);
    return rc;
}
