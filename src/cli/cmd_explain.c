#include <stdio.h>

#include "cli/cli.h"
#include "cli/output.h"
#include "cli/arguments.h"
#include "onnxcost/report.h"

/* Two analyses that differ in their convention alone; one name given: ours is the first. */
struct pair {
    const struct cli_opts *o;
    struct cli_shapes shapes;
    struct oc_model *model;
    struct oc_analysis *analysis[2];
};

static int explain_analyze(struct pair *p)
{
    const struct cli_list *names = &p->o->convention;
    struct oc_err err;
    if (p->o->word.n != 1 || names->n < 1 || names->n > 2)
        return cli_fail(CLI_USAGE,
                        "'explain' needs a model and two conventions: onnxcost explain MODEL --convention A "
                        "--convention B");
    int rc = cli_shapes_parse(p->o, NULL, 0, &p->shapes);
    if (!rc)
        rc = cli_load_model(p->o->word.item[0], p->o, &p->model);
    if (rc)
        return rc;
    struct oc_analyze_opts opts = cli_analyze_opts(p->o, &p->shapes);
    for (int i = 0; i < 2; i++) {
        opts.convention = names->n == 2 ? names->item[i] : i ? names->item[0] : NULL;
        if (oc_analyze(p->model, &opts, &p->analysis[i], &err))
            return cli_fail_err(&err);
    }
    return 0;
}

static int write_explanation(const struct pair *p)
{
    struct cli_output out;
    struct oc_err err;
    int rc = cli_output_open(p->o->output, &out);
    if (rc)
        return rc;
    return cli_output_finish(&out,
                             oc_explain_write(p->model, p->analysis[0], p->analysis[1], p->o->format,
                                              cli_width(&out, &p->o->width), out.f, &err),
                             &err);
}

int cmd_explain(const struct cli_opts *o)
{
    struct pair p = {.o = o};
    int rc = explain_analyze(&p);
    if (!rc)
        rc = write_explanation(&p);
    cli_shapes_free(&p.shapes);
    oc_analysis_free(p.analysis[0]);
    oc_analysis_free(p.analysis[1]);
    oc_model_free(p.model);
    return rc;
}
