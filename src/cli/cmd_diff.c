#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/devices.h"
#include "cli/output.h"
#include "onnxcost/gate.h"
#include "onnxcost/profile.h"

struct diff_job {
    const struct cli_opts *o;
    struct cli_opts of_b; /* the options with those of --b-dim and so on */
    struct cli_list model, profile;
    struct cli_side side[2];
    struct oc_diff *diff;
};

static void add(struct cli_list *l, const char *text)
{
    l->item = cli_xrealloc(l->item, (l->n + 1) * sizeof(*l->item));
    l->item[l->n++] = text;
}

/* ---- who is A, who is B ----------------------------------------------------------------------------- */

static int sort_files(struct diff_job *j)
{
    const struct cli_opts *o = j->o;
    for (size_t i = 0; i < o->profile.n; i++)
        add(&j->profile, o->profile.item[i]);
    for (size_t i = 0; i < o->word.n; i++) {
        enum oc_file_kind kind;
        struct oc_err err;
        if (oc_file_kind(o->word.item[i], &kind, &err))
            return cli_fail_err(&err);
        add(kind == OC_FILE_PROFILE ? &j->profile : &j->model, o->word.item[i]);
    }
    if (!j->model.n || j->model.n > 2)
        return cli_fail(CLI_USAGE, "'diff' needs one or two models: onnxcost diff A.onnx B.onnx");
    if (j->profile.n > 2)
        return cli_fail(CLI_USAGE, "'diff' takes a profile for each side, not %zu", j->profile.n);
    if (j->model.n == 2 && j->profile.n == 1)
        return cli_fail(CLI_USAGE, "'diff' of two models takes a profile for each of them, or none");
    return 0;
}

/* The first of a list for A, the second for B; one for both. */
static const char *side_value(const struct cli_list *l, unsigned side)
{
    return !l->n ? NULL : l->item[side < l->n ? side : l->n - 1];
}

static int choose_sides(struct diff_job *j)
{
    const struct cli_opts *o = j->o;
    if (o->hw.n > 2)
        return cli_fail(CLI_USAGE, "'diff' takes one device for each side, not %zu", o->hw.n);
    for (unsigned s = 0; s < 2; s++) {
        j->side[s].model_path = side_value(&j->model, s);
        j->side[s].profile_path = side_value(&j->profile, s);
        j->side[s].hw = side_value(&o->hw, s);
    }
    j->side[0].optimized_path = o->optimized_model;
    j->side[1].optimized_path = o->b_optimized_model;
    bool sizes = o->b_dim.n || o->b_shape.n || o->b_value.n;
    if (j->model.n < 2 && j->profile.n < 2 && o->hw.n < 2 && !sizes)
        return cli_fail(CLI_USAGE,
                        "'diff' of one model needs two profiles, two devices, or other sizes for B "
                        "(--b-dim, --b-shape)");
    return 0;
}

/* ---- sizes of B ------------------------------------------------------------------------------------- */

static bool names_same(const char *a, const char *b)
{
    const char *eq_a = strrchr(a, '='), *eq_b = strrchr(b, '=');
    return eq_a && eq_b && eq_a - a == eq_b - b && strncmp(a, b, (size_t)(eq_a - a)) == 0;
}

/* What holds for both, but for what B has of its own. */
static struct cli_list of_b(const struct cli_list *both, const struct cli_list *own)
{
    struct cli_list l = {0};
    for (size_t i = 0; i < both->n; i++) {
        bool again = false;
        for (size_t k = 0; k < own->n; k++)
            again |= names_same(both->item[i], own->item[k]);
        if (!again)
            add(&l, both->item[i]);
    }
    for (size_t k = 0; k < own->n; k++)
        add(&l, own->item[k]);
    return l;
}

static int open_sides(struct diff_job *j)
{
    const struct cli_opts *o = j->o;
    j->of_b = *o;
    j->of_b.dim = of_b(&o->dim, &o->b_dim);
    j->of_b.shape = of_b(&o->shape, &o->b_shape);
    j->of_b.value = of_b(&o->value, &o->b_value);
    int rc = cli_side_open(o, &j->side[0]);
    if (rc)
        return rc;
    if (j->model.n == 1)
        j->side[1].same_model = j->side[0].in.model;
    return cli_side_open(&j->of_b, &j->side[1]);
}

/* ---- result ----------------------------------------------------------------------------------------- */

static int make(struct diff_job *j)
{
    struct oc_err err;
    const struct oc_diff_opts opts = {.cache = !j->o->cache || strcmp(j->o->cache, "off")};
    return oc_diff_make(&j->side[0].in, &j->side[1].in, &opts, &j->diff, &err) ? cli_fail_err(&err) : 0;
}

static int write_markdown(const void *diff, FILE *f, struct oc_err *err)
{
    return oc_diff_write(diff, &(struct oc_diff_write_opts){.format = "markdown"}, f, err);
}

static int write_diff(struct diff_job *j)
{
    const struct cli_opts *o = j->o;
    struct cli_output out;
    struct oc_err err;
    int rc = cli_output_open(o->output, &out);
    if (rc)
        return rc;
    char *made = cli_page_made(o);
    const struct oc_diff_write_opts opts = {.format = cli_format(o),
                                            .sort = o->sort,
                                            .has_top = o->top.set,
                                            .top = o->top.v,
                                            .width_chars = cli_width(&out, &o->width),
                                            .color = cli_color(&out, o->color),
                                            .made = made};
    int failed = oc_diff_write(j->diff, &opts, out.f, &err);
    free(made);
    rc = cli_output_finish(&out, failed, &err);
    rc = rc ? rc : cli_step_summary(o, write_markdown, j->diff);
    if (rc)
        return rc;
    return o->exit_code && oc_diff_info(j->diff)->different ? CLI_FINDINGS : CLI_OK;
}

int cmd_diff(const struct cli_opts *o)
{
    static int (*const steps[])(struct diff_job *) = {sort_files, choose_sides, open_sides, make, write_diff};
    struct diff_job j = {.o = o};
    int rc = 0;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && !rc; i++)
        rc = steps[i](&j);
    oc_diff_free(j.diff);
    cli_side_close(&j.side[1]);
    cli_side_close(&j.side[0]);
    free(j.of_b.dim.item);
    free(j.of_b.shape.item);
    free(j.of_b.value.item);
    free(j.model.item);
    free(j.profile.item);
    return rc;
}
