/* diff: two models, or one with two profiles, devices or shapes. */
#include <stdlib.h>
#include <string.h>

#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "onnxcost/estimate.h"
#include "onnxcost/gate.h"
#include "onnxcost/profile.h"
#include "onnxcost/report.h"

struct diff_opts {
    struct cli_list b_dim, b_shape, b_value;
    const char *b_optimized_model;
    bool exit_code;
};

#define AT(field) offsetof(struct diff_opts, field)
static const struct cli_option own_options[] = {
    {"b-dim", 0, CLI_LIST, AT(b_dim), "NAME=N",
     .help = "number for a dimension of the second side (repeatable)", .group = "Differences"},
    {"b-shape", 0, CLI_LIST, AT(b_shape), "INPUT=SHAPE",
     .help = "shape of an input of the second side (repeatable)"},
    {"b-value", 0, CLI_LIST, AT(b_value), "INPUT=VALUE",
     .help = "value of an input of the second side (repeatable)"},
    {"b-optimized-model", 0, CLI_TEXT, AT(b_optimized_model), "FILE",
     .help = "as --optimized-model, for the second profile", .input = true},
    {"exit-code", 0, CLI_FLAG, AT(exit_code), .help = "exit code 1 when the two are different"},
};

struct diff_job {
    const struct cli_opts *o;
    const struct diff_opts *own;
    struct cli_opts of_b;  /* the options with those of --b-dim and so on */
    struct cli_opts means; /* those with --stat mean */
    struct cli_list model, profile;
    const char **recording[2]; /* heap: the paths that the profile of a side names */
    struct cli_side side[2];
    struct oc_report_in *more[2]; /* heap: the recordings of a side but the first */
    struct oc_diff *diff;
    const char *label; /* of the verdict alone; NULL: the whole diff is written */
};

/* ---- who is A, who is B ---------------------------------------------------------------------------- */

/* Whether options are given that say nothing about profiles alone. */
static bool needs_model(const struct cli_opts *o)
{
    return cli_first_given(o, "dim shape value b-dim b-shape b-value optimized-model b-optimized-model");
}

static int sort_files(struct diff_job *j)
{
    const struct cli_opts *o = j->o;
    for (size_t i = 0; i < o->profile.n; i++)
        cli_list_add(&j->profile, o->profile.item[i]);
    for (size_t i = 0; i < o->word.n; i++) {
        enum oc_file_kind kind;
        struct oc_err err;
        if (oc_file_kind(o->word.item[i], &kind, &err))
            return cli_fail_err(&err);
        cli_list_add(kind == OC_FILE_PROFILE ? &j->profile : &j->model, o->word.item[i]);
    }
    if (j->model.n > 2 || (!j->model.n && !j->profile.n))
        return cli_fail(CLI_USAGE,
                        "'diff' needs one or two models, or two profiles: onnxcost diff A.onnx B.onnx, "
                        "onnxcost diff -p A.json -p B.json");
    if (j->profile.n > 2)
        return cli_fail(CLI_USAGE,
                        "'diff' takes one -p for each side, not %zu; several recordings of a side: -p "
                        "a1.json,a2.json, or a folder",
                        j->profile.n);
    if (!j->model.n && j->profile.n == 1)
        return cli_fail(CLI_USAGE,
                        "'diff' without a model needs two profiles: onnxcost diff -p A.json -p B.json");
    if (!j->model.n && needs_model(o))
        return cli_fail(CLI_USAGE,
                        "sizes (--dim, --shape, --value and those of B) and optimized models need a model: "
                        "onnxcost diff MODEL -p A.json -p B.json");
    if (j->model.n == 2 && j->profile.n == 1)
        return cli_fail(CLI_USAGE, "'diff' of two models takes a profile for each of them, or none");
    return 0;
}

/* The first of a list for A, the second for B; one for both. */
static const char **side_value(const struct cli_list *l, unsigned side)
{
    return !l->n ? NULL : &l->item[side < l->n ? side : l->n - 1];
}

static int choose_sides(struct diff_job *j)
{
    const struct cli_opts *o = j->o;
    if (o->hw.n > 2)
        return cli_fail(CLI_USAGE, "'diff' takes one device for each side, not %zu", o->hw.n);
    for (unsigned s = 0; s < 2; s++) {
        struct oc_err err;
        j->side[s].model_path = j->model.n ? *side_value(&j->model, s) : NULL;
        if (j->profile.n && oc_recordings_named(*side_value(&j->profile, s), &j->recording[s],
                                                &j->side[s].n_profile_path, &err))
            return cli_fail_err(&err);
        j->side[s].profile_path = j->recording[s];
        j->side[s].hw = o->hw.n ? *side_value(&o->hw, s) : NULL;
    }
    j->side[0].optimized_path = o->optimized_model;
    j->side[1].optimized_path = j->own->b_optimized_model;
    bool sizes = j->own->b_dim.n || j->own->b_shape.n || j->own->b_value.n;
    if (j->model.n < 2 && j->profile.n < 2 && o->hw.n < 2 && !sizes)
        return cli_fail(CLI_USAGE,
                        "'diff' of one model needs two profiles, two devices, or other sizes for B "
                        "(--b-dim, --b-shape)");
    return 0;
}

/* ---- sizes of B ------------------------------------------------------------------------------------ */

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
            cli_list_add(&l, both->item[i]);
    }
    for (size_t k = 0; k < own->n; k++)
        cli_list_add(&l, own->item[k]);
    return l;
}

static int open_both(struct diff_job *j)
{
    int rc = cli_side_open(j->o, &j->side[0]);
    if (rc)
        return rc;
    if (j->model.n == 1)
        j->side[1].same_model = j->side[0].model;
    return cli_side_open(&j->of_b, &j->side[1]);
}

/* Whether some recordings have only means, and others the chosen statistic. */
static bool statistics_differ(const struct diff_job *j)
{
    bool means = false, others = false;
    for (unsigned s = 0; s < 2; s++)
        for (size_t i = 0; i < j->side[s].profiles.n; i++) {
            bool mean = oc_profile_stat(j->side[s].profiles.item[i]) == OC_STAT_MEAN;
            means |= mean;
            others |= !mean;
        }
    return means && others;
}

static int open_sides(struct diff_job *j)
{
    const struct cli_opts *o = j->o;
    const struct cli_side asked[2] = {j->side[0], j->side[1]};
    j->of_b = *o;
    j->of_b.dim = of_b(&o->dim, &j->own->b_dim);
    j->of_b.shape = of_b(&o->shape, &j->own->b_shape);
    j->of_b.value = of_b(&o->value, &j->own->b_value);
    int rc = open_both(j);
    if (rc || !statistics_differ(j) || o->stat)
        return rc;
    for (unsigned s = 2; s-- > 0;) {
        cli_side_close(&j->side[s]);
        j->side[s] = asked[s];
    }
    j->means = *o;
    j->means.stat = j->of_b.stat = "mean";
    j->o = &j->means;
    return open_both(j);
}

/* ---- result ---------------------------------------------------------------------------------------- */

/* The recordings of a side but the first. Returns how many. */
static size_t add_recordings(struct diff_job *j, unsigned s)
{
    const struct cli_side *side = &j->side[s];
    size_t n = side->profiles.n ? side->profiles.n - 1 : 0;
    j->more[s] = cli_xcalloc(n, sizeof(*j->more[s]));
    for (size_t i = 0; i < n; i++) {
        j->more[s][i] = side->in;
        j->more[s][i].profile = side->profiles.item[i + 1];
        j->more[s][i].join = side->join ? side->join[i + 1] : NULL;
    }
    return n;
}

static int make_diff(struct diff_job *j)
{
    struct oc_err err;
    struct oc_diff_opts opts = {.cache = !cli_is(j->o->cache, "off")};
    opts.n_more_a = add_recordings(j, 0);
    opts.n_more_b = add_recordings(j, 1);
    opts.more_a = j->more[0];
    opts.more_b = j->more[1];
    return oc_diff_make(&j->side[0].in, &j->side[1].in, &opts, &j->diff, &err) ? cli_fail_err(&err) : 0;
}

static int write_diff_markdown(const void *diff, FILE *f, struct oc_err *err)
{
    return oc_diff_write(diff, &(struct oc_diff_write_opts){.format = "markdown"}, f, err);
}

static int put_diff(const void *job, const struct cli_output *out, struct oc_err *err)
{
    const struct diff_job *j = job;
    const struct cli_opts *o = j->o;
    const struct oc_diff_write_opts opts = {.format = o->format,
                                            .sort = o->sort,
                                            .has_top = o->top.set,
                                            .top = o->top.v,
                                            .width_chars = cli_width(out, &o->width),
                                            .color = cli_color(out, o->color),
                                            .made = o->made};
    return oc_diff_write(j->diff, &opts, out->f, err);
}

static int write_diff(struct diff_job *j)
{
    const struct cli_opts *o = j->o;
    int rc = cli_output_write(o->output, put_diff, j);
    rc = rc ? rc : cli_step_summary(o, write_diff_markdown, j->diff);
    if (rc)
        return rc;
    return j->own->exit_code && oc_diff_info(j->diff)->different ? CLI_FINDINGS : CLI_OK;
}

static int put_verdict(const void *job, const struct cli_output *out, struct oc_err *err)
{
    const struct diff_job *j = job;
    const char *note, *verdict = oc_diff_verdict(j->diff, &note);
    static const char *const start[] = {"session", "first run"};
    (void)err;
    fprintf(out->f, "%-12s%s%s%s\n", j->label, verdict ? verdict : "not compared: a recording has no latency",
            verdict ? ". " : "", verdict ? note : "");
    for (unsigned i = 0; i < 2; i++)
        if (oc_diff_start(j->diff, i > 0))
            fprintf(out->f, "  %-10s%s\n", start[i], oc_diff_start(j->diff, i > 0));
    return 0;
}

static int print_verdict(struct diff_job *j)
{
    return cli_output_write(NULL, put_verdict, j);
}

/* ---- diff of two conventions ------------------------------------------------------------------------ */

struct convention_job {
    const struct cli_opts *o;
    struct cli_side side;
    struct oc_analysis *analysis[2]; /* they differ in their convention alone */
};

static int analyze_conventions(struct convention_job *j)
{
    const struct cli_opts *o = j->o;
    struct oc_err err;
    if (o->word.n != 1 || o->convention.n != 2 ||
        cli_first_given(o, "profile hw b-dim b-shape b-value sort top exit-code"))
        return cli_fail(
            CLI_USAGE,
            "two conventions compare the counts of one model, without profiles, devices, sizes of B, "
            "--sort, --top and --exit-code: onnxcost diff MODEL --convention A --convention B");
    j->side.model_path = o->word.item[0];
    int rc = cli_side_read(o, &j->side);
    if (rc)
        return rc;
    struct oc_analyze_opts opts = cli_analyze_opts(o, &j->side.shapes);
    for (size_t i = 0; i < 2; i++) {
        opts.convention = o->convention.item[i];
        if (oc_analyze(j->side.model, &opts, &j->analysis[i], &err))
            return cli_fail_err(&err);
    }
    return 0;
}

static int put_conventions(const void *job, const struct cli_output *out, struct oc_err *err)
{
    const struct convention_job *j = job;
    return oc_convention_diff_write(j->side.model, j->analysis[0], j->analysis[1], j->o->format,
                                    cli_width(out, &j->o->width), out->f, err);
}

static int diff_conventions(const struct cli_opts *o)
{
    struct convention_job j = {.o = o};
    int rc = analyze_conventions(&j);
    rc = rc ? rc : cli_output_write(o->output, put_conventions, &j);
    oc_analysis_free(j.analysis[0]);
    oc_analysis_free(j.analysis[1]);
    cli_side_close(&j.side);
    return rc;
}

static int diff_with(const struct cli_opts *o, const char *label)
{
    int (*const steps[])(struct diff_job *) = {sort_files, choose_sides, open_sides, make_diff,
                                               label ? print_verdict : write_diff};
    struct diff_job j = {.o = o, .own = o->own, .label = label};
    int rc = 0;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && !rc; i++)
        rc = steps[i](&j);
    oc_diff_free(j.diff);
    for (unsigned s = 2; s-- > 0;) {
        cli_side_close(&j.side[s]);
        free(j.recording[s]);
        free(j.more[s]);
    }
    free(j.of_b.dim.item);
    free(j.of_b.shape.item);
    free(j.of_b.value.item);
    free(j.model.item);
    free(j.profile.item);
    return rc;
}

int cli_diff_recordings(const struct cli_opts *o, const char *b_optimized_model, const char *label)
{
    struct diff_opts own = {.b_optimized_model = b_optimized_model};
    struct cli_opts diff = *o;
    diff.own = &own;
    return diff_with(&diff, label);
}

static int run_diff(const struct cli_opts *o)
{
    return o->convention.n > 1 ? diff_conventions(o) : diff_with(o, NULL);
}

const struct cli_command cmd_diff = {
    .name = "diff",
    .phrase = "compare two models, profiles, devices or shapes",
    .use = {{"onnxcost diff A.onnx B.onnx | [MODEL] -p A.json -p B.json | MODEL --hw A --hw B",
             "two models, or one with two profiles, devices or shapes, or two profiles without a model: what "
             "was added, removed and changed"},
            {"onnxcost diff MODEL --convention A --convention B",
             "the difference between two ways of counting, term by term"}},
    .run = run_diff,
    .usual = "profile hw dim b-dim b-shape convention sort top exit-code format output",
    .sets = CLI_MODEL,
    .options = "profile profile-format optimized-model warmup iterations stat hw hw-set no-tf32 cache top "
               "embed sort",
    .own = CLI_OWN(own_options, struct diff_opts),
    .formats = "table|csv|json|markdown|md|html|github",
    .example = {{"onnxcost diff old.onnx new.onnx", "operators added, removed and changed"},
                {"onnxcost diff resnet50.onnx -p a.json -p b.json", "the times and fusions of two profiles"},
                {"onnxcost diff -p before.json -p after.json", "the same of profiles without a model"}},
    .tool =
        {{"diff", "Two models or profiles: is one slower, why; what was added, removed, changed.", "a! b!",
          "dim top", .more = "hw sort" CLI_TOOL_SHAPES CLI_TOOL_COUNTS,
          .brief =
              "latency=totals.latency:verdict,a,b,delta,ratio,ratio_interval,order,recordings_for_3_percent "
              "decomposition:part,place,delta_ns,rows rows_by_status "
              "macs=totals.macs:a,b,delta flops=totals.flops:a,b,delta bytes=totals.bytes:a,b,delta "
              "params=totals.params:a,b,delta peak_activation_bytes=totals.peak_activation_bytes:a,b,delta "
              "rows:status,name_a,name_b,op_type_b,flops_delta,time_a_ns,time_b_ns,what",
          .top = "10", .place = 8}},
};
